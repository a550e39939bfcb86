"""A study from its file to its tables and figures."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from flitwork.base.errors import ConfigError
from flitwork.base.libraries import pd
from flitwork.base.output_files import could_be_folder, writable_folder, write_atomically
from flitwork.experiment.archive import Archive, HasRow
from flitwork.experiment.engines import Engine, make_engine
from flitwork.experiment.execute import Watcher, default_watcher, execute
from flitwork.experiment.jobs import Failure, Job, plan_points
from flitwork.experiment.points import check_names, expand, known_columns
from flitwork.experiment.store import Store
from flitwork.experiment.study_file import StudyFile
from flitwork.experiment.table import save_failures, save_table, study_table
from flitwork.results.result import Result

_SHOWN_FAILURES = 20
#: In the folder of the results: which study file they are of.
_RECORD = "study.json"


@dataclass(frozen=True)
class StudyRun:
    """What a run of a study gave and where it lies.

    A point whose simulation failed is in ``failures`` and not in ``rows`` and ``table``. One whose result was taken
    from an archive is in these, and not in ``results``.
    """

    study: StudyFile
    out: Path
    jobs: list[Job]
    rows: Mapping[str, HasRow]
    results: Mapping[str, Result]
    failures: list[Failure]
    table: pd.DataFrame
    files: list[Path]
    figures: list[Path]


def plan_study(
    study: StudyFile, quick: bool = False, watcher: Watcher | None = None, *, another_process: bool = False
) -> list[Job]:
    """Plans every point of a study and checks every name in its file, so that errors come before anything runs.

    ``another_process`` as for :func:`plan_points`.
    """
    jobs = plan_points(expand(study, quick), watcher.planning if watcher else None, another_process=another_process)
    check_names(study)
    return jobs


def run_study(
    study: StudyFile,
    out: str | Path | None = None,
    *,
    quick: bool = False,
    jobs: int | None = None,
    engine: str = "local",
    scheduler: str | None = None,
    watcher: Watcher | None = None,
    archive: Archive | None = None,
    run_again: Sequence[str] = (),
) -> StudyRun:
    """Plans every point, runs what is not stored in ``out`` yet, and writes the tables and the declared figures.

    ``out`` is ``results/NAME`` by default, that of the smaller version ``results/NAME-quick``. The same call continues
    what was interrupted. A folder with the tables of another study file is refused.
    Simulations that fail are left out of tables and figures; a warning lists them, and so do ``failures`` and the file
    ``failures.csv``.

    ``engine`` is ``local`` (``jobs`` simulations at once, all cores by default) or ``dask``: then the workers of the
    Dask scheduler at the address ``scheduler`` simulate, and everything else stays as it is.

    Points that are in ``archive`` are not simulated, except those of the experiments ``run_again``.
    """
    from flitwork.experiment.curves import check_plots_can_be_drawn, draw_plots

    if not isinstance(study, StudyFile):
        raise ConfigError("study", repr(study), "what fw.load_study returns", f"fw.run_study(fw.load_study({study!r}))")
    runs_on = make_engine(engine, scheduler, jobs)
    watcher = watcher or default_watcher()
    could_be_folder(Path(out) if out else default_folder(study, quick))
    plans = plan_study(study, quick, watcher, another_process=runs_on.another_process)
    folder = writable_folder(Path(out) if out else default_folder(study, quick))
    _take_folder(folder, study)
    known = known_columns(study, quick)
    check_plots_can_be_drawn(study, known)
    plans, rows, failures = _in_stages(study, quick, plans, _Means(Store(folder), runs_on, watcher, archive, run_again))
    table = study_table(plans, rows, study, known)
    files = save_table(table, folder) + save_failures(failures, folder)
    if failures:
        warnings.warn(explained(failures, plans), stacklevel=2)
    figures = draw_plots(study, table, folder / "figures")
    results = {key: found for key, found in rows.items() if isinstance(found, Result)}
    return StudyRun(study, folder, plans, rows, results, failures, table, files, figures)


@dataclass(frozen=True)
class _Means:
    """Where results come from."""

    store: Store
    engine: Engine
    watcher: Watcher
    archive: Archive | None
    run_again: Sequence[str]

    def execute(self, jobs: list[Job]) -> tuple[dict[str, HasRow], list[Failure]]:
        archived: dict[str, HasRow] = {}
        if self.archive:
            simulated = {job.hash for job in jobs if self.store.path(job.hash).exists()}
            archived.update(self.archive.of([job for job in jobs if job.hash not in simulated], self.run_again))
        left = [job for job in jobs if job.hash not in archived]
        for job in jobs:
            if job.hash in archived:
                job.release()
        done = execute(left, self.store, self.engine, self.watcher)
        return {**archived, **done.results}, done.failures


def _in_stages(
    study: StudyFile, quick: bool, plans: list[Job], means: _Means
) -> tuple[list[Job], dict[str, HasRow], list[Failure]]:
    """Runs the experiments that look up nothing, then those that need results of them."""
    later = {experiment.id for experiment in study.experiments if experiment.found}
    if not later:
        return plans, *means.execute(plans)
    first = [job for job in plans if any(point.experiment not in later for point in job.points)]
    done, failures = means.execute(first)
    rows = {point.label: done[job.hash].row for job in first if job.hash in done for point in job.points}
    plans = plan_points(
        expand(study, quick, rows),
        means.watcher.planning,
        another_process=means.engine.another_process,
        planned=plans,
    )
    # What is stored by now is not run again.
    known = {failure.job.hash for failure in failures}
    second, more = means.execute([job for job in plans if job.hash not in known])
    return plans, second, [*failures, *more]


def _take_folder(folder: Path, study: StudyFile) -> None:
    """Notes whose tables lie in ``folder``; those of another study are not replaced."""
    if study.path is None:
        return
    record, mine = folder / _RECORD, study.path.resolve()
    other = _noted(record)
    if other and not _same_study(other, mine):
        expected = f"a study of its own: the tables in {folder} are those of {other}"
        hint = "rename one of the two, or choose another folder with --out (in Python out=...)"
        raise ConfigError("study.name", f'"{study.study.name}"', expected, hint)
    write_atomically(record, lambda file: file.write(json.dumps(dict(file=str(mine))).encode()))


def _noted(record: Path) -> Path | None:
    """The study file whose tables lie beside ``record``, if it is known and still there."""
    try:
        found = Path(json.loads(record.read_text(encoding="utf-8"))["file"])
        return found if found.is_file() else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _same_study(one: Path, other: Path) -> bool:
    return one.resolve() == other or one.read_bytes() == other.read_bytes()


def default_folder(study: StudyFile, quick: bool) -> Path:
    """Where the results of a study go."""
    return Path("results") / (f"{study.study.name}-quick" if quick else study.study.name)


def explained(failures: Sequence[Failure], jobs: Sequence[Job]) -> str:
    """Which points failed and why, for people."""
    failed = sum(len(failure.job.points) for failure in failures)
    lines = [f"{failed} of {sum(len(job.points) for job in jobs)} points failed and are not in the tables:"]
    lines += [f"  {line}" for failure in failures for line in str(failure).splitlines()]
    if len(failures) > _SHOWN_FAILURES:
        lines[1 + _SHOWN_FAILURES :] = ["  ... (failures.csv has all of them)"]
    return "\n".join(lines)
