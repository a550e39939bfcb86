"""The table of measurements: one layout for what is measured here, simulated, or printed by other benchmarks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from flitwork.errors import ConfigError, did_you_mean
from flitwork.table_file import first_wrong, read_csv, read_parquet
from flitwork.tune.benchmarks import Told, recognised, rows
from flitwork.tune.rule import Choice
from flitwork.tune.text import read_text

#: The columns: unit and meaning.
COLUMNS: Mapping[str, str] = {
    "operation": "alltoall, alltoallv, ...",
    "algorithm": "bruck radix=4; library: what the MPI library chooses; openmpi:pairwise: one of its own",
    "bytes": "[bytes] that a rank sends to each other one",
    "ranks": "of the communicator",
    "ranks_per_server": "ranks on each server",
    "seconds": "[s] of one call",
    "low": "[s] lower end of the interval of seconds; NaN: not known",
    "high": "[s] upper end",
    "repetitions": "calls that were timed",
    "verified": "whether all data were right",
    "mpi": "openmpi, mpich, ..., or simulated",
    "version": "of that library",
}
_NUMBERS = ("bytes", "ranks", "ranks_per_server", "seconds", "low", "high", "repetitions")
_LEAST = {"bytes": 0, "ranks": 1, "ranks_per_server": 1, "repetitions": 0}
_MAY_MISS: Mapping[str, Any] = {
    "low": float("nan"),
    "high": float("nan"),
    "repetitions": 1,
    "ranks_per_server": 1,
    "verified": True,
    "mpi": "",
    "version": "",
}
_ROW_BYTES = 1000


def read_measurements(
    path: str | Path,
    *,
    ranks: int | None = None,
    ranks_per_server: int = 1,
    algorithm: str = "library",
    mpi: str = "",
    version: str = "",
) -> pd.DataFrame:
    """Measurements from a file, whose format is recognised; a table with :data:`flitwork.tune.COLUMNS`.

    A stored table, ``.csv`` or ``.parquet``: ``operation``, ``algorithm``, ``bytes``, ``ranks`` and ``seconds`` are
    needed, the others have defaults. What the OSU micro-benchmarks print, with or without ``-f``, and the Intel MPI
    Benchmarks: what such a text does not say, the arguments do (``ranks`` of OSU's, ``algorithm``).

    What is wrong is a :class:`flitwork.ConfigError` that names the row of a table or the line of a text.
    """
    file = Path(path)
    what = "a table with columns " + ", ".join(COLUMNS)
    if file.suffix.lower() == ".parquet":
        return checked(read_parquet(file, "measurements", _ROW_BYTES), str(file))
    text = read_text(file)
    kind = recognised(text)
    if kind is not None:
        told = Told(ranks, ranks_per_server, algorithm, mpi, version)
        return checked(pd.DataFrame(rows(text, kind, str(file), told)), str(file))
    hint = "flitwork mpi bench writes one"
    return checked(read_csv(file, "measurements", what, hint, named=True), str(file))


def checked(table: pd.DataFrame, file: str) -> pd.DataFrame:
    """``table`` with all columns in order and of their types, or an error with the row (from 1)."""
    for name in table.columns:
        if name not in COLUMNS:
            raise ConfigError(f"{file}: {name}", "unknown column", ", ".join(COLUMNS), did_you_mean(str(name), COLUMNS))
    missing = [name for name in COLUMNS if name not in table and name not in _MAY_MISS]
    if missing:
        raise ConfigError(f"{file}: {missing[0]}", "missing", f"a column {missing[0]}", COLUMNS[missing[0]])
    table = table.assign(**{name: value for name, value in _MAY_MISS.items() if name not in table})[[*COLUMNS]]
    if not len(table):
        raise ConfigError(file, "no rows", "a row for each measurement", "flitwork mpi bench writes them")
    for name in _NUMBERS:
        _check_numbers(table[name], name, file)
    for number, name in enumerate(table["algorithm"], 1):
        try:
            Choice.read(str(name))
        except (ValueError, IndexError):
            expected = "a name, and parameters as name=number"
            raise ConfigError(f"{file}: row {number}: algorithm", name, expected, "bruck radix=4") from None
    words = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False}
    truth = [words.get(str(value).lower()) for value in table["verified"]]
    if None in truth:
        row = truth.index(None)
        raise ConfigError(f"{file}: row {row + 1}: verified", table["verified"].iloc[row], "True or False")
    whole = {name: "int64" for name in _LEAST}
    text: dict[str, Any] = {
        name: ["" if pd.isna(value) else str(value) for value in table[name]] for name in ("mpi", "version")
    }
    return table.assign(**{**text, "verified": truth}).astype(whole)


def _check_numbers(column: pd.Series[Any], name: str, file: str) -> None:
    given = column if name not in ("low", "high") else column.dropna()
    wrong = first_wrong(given)
    if wrong is not None:
        raise ConfigError(f"{file}: row {given.index[wrong] + 1}: {name}", given.iloc[wrong], "a number", COLUMNS[name])
    least = _LEAST.get(name, 0)
    for index, value in given.items():
        whole = name not in _LEAST or float(value).is_integer()
        if not whole or not least <= float(value) < float("inf") or (name == "seconds" and value <= 0):
            expected = f"a whole number, at least {least}" if name in _LEAST else "a time above 0 s"
            raise ConfigError(f"{file}: row {int(str(index)) + 1}: {name}", value, expected, COLUMNS[name])
