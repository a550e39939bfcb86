"""The tidy table of a study: one row a point, its axes and its seed first, then what came out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from flitwork.errors import ConfigError
from flitwork.experiment.execute import Job
from flitwork.experiment.expression import evaluate
from flitwork.experiment.study_file import StudyFile
from flitwork.files import write_atomically
from flitwork.result import Result


def tidy(jobs: Sequence[Job], results: Mapping[str, Result], study: StudyFile | None = None) -> pd.DataFrame:
    """All points that have a result, with the columns that the study derives."""
    rows = [
        {"experiment": point.experiment, **_scalars(point.params), **results[job.hash].row, "seed": point.seed}
        for job in jobs
        if job.hash in results
        for point in job.points
    ]
    table = pd.DataFrame(rows)
    if study is None or table.empty:
        return table
    order = {e.id: i for i, e in enumerate(study.experiments)}
    table = table.sort_values("experiment", key=lambda ids: ids.map(order), kind="stable").reset_index(drop=True)
    for i, experiment in enumerate(study.experiments):
        for name, text in experiment.columns.items():
            _derive(table, table["experiment"] == experiment.id, name, text, f"experiments[{i}].columns.{name}")
    return table


def _derive(table: pd.DataFrame, rows: pd.Series[bool], name: str, text: str, path: str) -> None:
    if not rows.any():
        return
    part = table[rows]
    names = {str(c): part[c] for c in part.columns if pd.api.types.is_numeric_dtype(part[c].infer_objects())}
    value = evaluate(text, names, path)
    if name in table.columns and table.loc[rows, name].notna().any():
        raise ConfigError(path, f'"{name}"', "a name that no other column has")
    table.loc[rows, name] = value


def _scalars(params: Mapping[str, Any]) -> dict[str, Any]:
    """The axes of a point as cells: a list becomes ``9x9``-like text."""
    return {k: "x".join(map(str, v)) if isinstance(v, list) else v for k, v in params.items()}


def save_table(table: pd.DataFrame, folder: Path) -> list[Path]:
    """``results.parquet`` and ``results.csv``."""
    mixed = table.copy()
    for name in mixed.columns:
        kinds = {type(v) for v in mixed[name].dropna()}
        if len(kinds) > 1 and str in kinds:
            mixed[name] = mixed[name].map(lambda v: v if pd.isna(v) else str(v))
    arrow = pa.Table.from_pandas(mixed, preserve_index=False)
    return [
        write_atomically(folder / "results.parquet", lambda file: pq.write_table(arrow, file, compression="zstd")),
        write_atomically(folder / "results.csv", lambda file: file.write(mixed.to_csv(index=False).encode())),
    ]
