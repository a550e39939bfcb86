"""A study from its file to its tables and figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from flitwork.experiment.execute import Job, Watcher, execute, plan_points
from flitwork.experiment.points import expand
from flitwork.experiment.store import Store
from flitwork.experiment.study_file import StudyFile
from flitwork.experiment.table import save_table, tidy
from flitwork.files import writable_folder
from flitwork.result import Result


@dataclass(frozen=True)
class StudyRun:
    """What a run of a study gave and where it lies."""

    study: StudyFile
    out: Path
    jobs: list[Job]
    results: Mapping[str, Result]
    table: pd.DataFrame
    files: list[Path]
    figures: list[Path]


def run_study(
    study: StudyFile,
    out: str | Path | None = None,
    *,
    quick: bool = False,
    jobs: int | None = None,
    watcher: Watcher | None = None,
) -> StudyRun:
    """Plans every point, runs what is not stored in ``out`` yet, and writes the tables and the declared figures.

    ``out`` is ``results/<name of the study>`` by default. The same call continues what was interrupted.
    """
    from flitwork.plot.curves import draw_plots

    folder = writable_folder(Path(out) if out else Path("results") / study.study.name)
    plans = plan_points(expand(study, quick))
    results = execute(plans, Store(folder), jobs, watcher)
    table = tidy(plans, results, study)
    files = save_table(table, folder)
    figures = draw_plots(study, table, folder / "figures")
    return StudyRun(study, folder, plans, results, table, files, figures)
