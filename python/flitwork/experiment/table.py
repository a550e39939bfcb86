"""The tidy table of a study: one row a point, its axes and its seed first, then what came out."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from flitwork.base import parquet
from flitwork.base.libraries import np, pd
from flitwork.base.output_files import write_atomically, write_csv
from flitwork.experiment.archive import HasRow
from flitwork.experiment.columns import Columns, cell
from flitwork.experiment.expression import evaluate
from flitwork.experiment.jobs import Failure, Job
from flitwork.experiment.point import Point
from flitwork.experiment.study_file import StudyFile


def tidy(jobs: Sequence[Job], results: Mapping[str, HasRow]) -> pd.DataFrame:
    """All points that have a result."""
    rows = [
        {**_axes(point), **results[job.hash].row, "seed": point.seed}
        for job in jobs
        if job.hash in results
        for point in job.points
    ]
    return pd.DataFrame(rows)


def study_table(
    jobs: Sequence[Job], results: Mapping[str, HasRow], study: StudyFile, known: Mapping[str, Columns]
) -> pd.DataFrame:
    """The table of a study in the order of its experiments, with the columns that it derives.

    Where no point of an experiment has a result, the columns are there all the same.
    """
    table = tidy(jobs, results)
    # In the order of the rows first: that is how the columns of the table have always stood.
    missing = dict.fromkeys(name for columns in known.values() for name in columns.names if name not in table.columns)
    for name in missing:
        table[name] = pd.Series(dtype="float64")
    order = {experiment.id: i for i, experiment in enumerate(study.experiments)}
    table = table.sort_values("experiment", key=lambda ids: ids.map(order), kind="stable").reset_index(drop=True)
    for i, experiment in enumerate(study.experiments):
        rows = table["experiment"] == experiment.id
        for name, text in experiment.columns.items() if rows.any() else ():
            numbers = known[experiment.id].numbers
            part = {number: pd.to_numeric(table.loc[rows, number]) for number in numbers if number in table.columns}
            value = evaluate(text, part, f"experiments[{i}].columns.{name}")
            # What is divided by 0 has no value.
            table.loc[rows, name] = value.replace([np.inf, -np.inf], np.nan) if isinstance(value, pd.Series) else value
    return table


def _axes(point: Point) -> dict[str, object]:
    return {"experiment": point.experiment, **{name: cell(value) for name, value in point.params.items()}}


def save_table(table: pd.DataFrame, folder: Path) -> list[Path]:
    """``results.parquet`` and ``results.csv``."""
    mixed = table.copy()
    for name in mixed.columns:
        kinds = {type(v) for v in mixed[name].dropna()}
        if len(kinds) > 1 and str in kinds:
            mixed[name] = mixed[name].map(lambda v: v if pd.isna(v) else str(v))
    stored = parquet.to_bytes(mixed)
    return [
        write_atomically(folder / "results.parquet", lambda file: file.write(stored)),
        write_csv(mixed, folder / "results.csv"),
    ]


def save_failures(failures: Sequence[Failure], folder: Path) -> list[Path]:
    """``failures.csv``: the points that have no result, and why. Without failures there is no such file."""
    path = folder / "failures.csv"
    if not failures:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
        return []
    rows = [
        {
            **_axes(point),
            "seed": point.seed,
            "error": type(failure.error).__name__,
            "message": str(failure.error),
            "plan_hash": failure.job.hash,
        }
        for failure in failures
        for point in failure.job.points
    ]
    return [write_csv(pd.DataFrame(rows), path)]
