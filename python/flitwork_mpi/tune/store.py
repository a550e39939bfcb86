"""Measured rows, each on the disk when it is finished, so that a measurement goes on where it was interrupted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from flitwork.base import parquet
from flitwork.base.errors import ConfigError
from flitwork.base.libraries import pd
from flitwork.base.output_files import write_atomically, write_csv
from flitwork.measurements import COLUMNS

from flitwork_mpi.tune.table import read_measurements

#: What tells a row from the others.
_KEY = ("operation", "algorithm", "bytes", "ranks", "ranks_per_server", "mpi", "version")


class Stored:
    """The rows that are finished, in a file if there is one."""

    def __init__(self, file: Path | None) -> None:
        if file is not None and file.suffix.lower() not in (".csv", ".parquet"):
            raise ConfigError("output", file, "a file .csv or .parquet", "the ending of its name says what it is")
        self.file = file
        self.rows: list[dict[str, Any]] = []
        if file is not None and file.exists():
            self.rows = [{str(k): v for k, v in row.items()} for row in read_measurements(file).to_dict("records")]
        self._have = {self._key(row) for row in self.rows}

    @staticmethod
    def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(row[name] for name in _KEY)

    def has(self, row: Mapping[str, Any]) -> bool:
        """Whether there is a row of the same operation, algorithm, bytes, ranks and library."""
        return self._key(row) in self._have

    def add(self, row: Mapping[str, Any]) -> None:
        """Adds a row, which is on the disk when this returns."""
        self.rows.append({name: row[name] for name in COLUMNS})
        self._have.add(self._key(row))
        if self.file is None:
            return
        table = self.table()
        if self.file.suffix.lower() == ".csv":
            write_csv(table, self.file)
        else:
            write_atomically(self.file, lambda opened: opened.write(parquet.to_bytes(table)))

    def of(self, rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
        """The stored rows of the operation, algorithm, bytes, ranks and library of one of ``rows``, in their order.

        Raises :class:`KeyError` for one that is not there.
        """
        have = {self._key(row): row for row in self.rows}
        return pd.DataFrame([have[self._key(row)] for row in rows], columns=[*COLUMNS])

    def table(self) -> pd.DataFrame:
        """All rows."""
        return pd.DataFrame(self.rows, columns=[*COLUMNS])
