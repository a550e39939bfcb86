"""Results that come with a study, so that nobody has to simulate all of it again to see or extend it.

An archive has one row a point: what :attr:`flitwork.Result.row` says, without the records of the run. A point is known
by its specification as the study states it, so an option that flitwork gains later does not make it another point.
Whether this version still gives the same is not taken on trust: :func:`different` simulates points again and compares
digests.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from flitwork import _core
from flitwork.base import parquet
from flitwork.base.errors import ResultFileError
from flitwork.base.input_files import because
from flitwork.base.output_files import write_atomically
from flitwork.experiment.execute import Watcher, execute
from flitwork.experiment.jobs import Job
from flitwork.experiment.point import Point
from flitwork.results.columns import with_ranks

_KEY = "point"


class HasRow(Protocol):
    """A result, as tables see it."""

    @property
    def row(self) -> Mapping[str, Any]:
        """The columns of :attr:`flitwork.Result.row`."""


@dataclass(frozen=True)
class ArchivedResult:
    """The row of a result that was simulated elsewhere."""

    row: Mapping[str, Any]


class Archive:
    """The published rows of a study, by point."""

    def __init__(self, rows: Mapping[str, Mapping[str, Any]]) -> None:
        self._rows = dict(rows)

    def __len__(self) -> int:
        return len(self._rows)

    @classmethod
    def load(cls, path: Path) -> Archive:
        """The archive in a file. One that cannot be read is a :class:`~flitwork.base.errors.ResultFileError`."""
        try:
            columns = {name: one.to_list() for name, one in parquet.columns(_core.ParquetFile(path)).items()}
            keys = columns.pop(_KEY)
            return cls(
                {key: dict(zip(columns, row, strict=True)) for key, *row in zip(keys, *columns.values(), strict=True)}
            )
        except Exception as error:
            raise ResultFileError(f"{path}: cannot be read as published results ({because(error)})") from None

    def of(self, jobs: Sequence[Job], without: Sequence[str] = ()) -> dict[str, ArchivedResult]:
        """The results of those jobs that it has, by plan hash; not those of the experiments ``without``."""
        found = {}
        for job in jobs:
            if any(point.experiment in without for point in job.points):
                continue
            row = next((row for point in job.points if (row := self._rows.get(_key(point)))), None)
            if row is not None:
                found[job.hash] = ArchivedResult(with_ranks(row, job.points[0].spec))
        return found

    def with_results(self, jobs: Sequence[Job], results: Mapping[str, HasRow]) -> Archive:
        """The same with the results of these jobs, by plan hash, as far as there are any."""
        new = {_key(point): results[job.hash].row for job in jobs if job.hash in results for point in job.points}
        return Archive({**self._rows, **new})

    def save(self, path: Path) -> Path:
        """Writes it, at once or not at all: equal results make equal files. A file that is there is replaced."""
        # How long a point took says something of another machine.
        rows = [
            {_KEY: key, **{name: value for name, value in row.items() if name != "wall_seconds" and value is not None}}
            for key, row in sorted(self._rows.items())
        ]
        stored = parquet.to_bytes(parquet.of_rows(rows))
        return write_atomically(path, lambda file: file.write(stored))


def different(
    jobs: Sequence[Job],
    archived: Mapping[str, ArchivedResult],
    count: int,
    *,
    seed: int = 1,
    most_work: float = float("inf"),
    watcher: Watcher | None = None,
) -> list[str]:
    """Simulates ``count`` points of an archive again, drawn at random, and gives the labels of those that differ.

    ``archived`` is what :meth:`Archive.of` gives. Points of more than ``most_work`` flit-hops are not drawn.
    """
    mine = [job for job in jobs if job.hash in archived and job.work <= most_work]
    drawn = random.Random(seed).sample(mine, min(count, len(mine)))
    done = execute(drawn, watcher=watcher)
    return [
        job.points[0].label
        for job in drawn
        if job.hash not in done.results or done.results[job.hash].row["digest"] != archived[job.hash].row["digest"]
    ]


def _key(point: Point) -> str:
    text = json.dumps(point.spec, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:24]
