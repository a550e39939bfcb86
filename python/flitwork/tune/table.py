"""The table of measurements from which rules are made: every column there, algorithms readable, data verified."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flitwork.errors import ConfigError, did_you_mean
from flitwork.libraries import pd
from flitwork.measurements import COLUMNS, Told, check_columns, check_numbers, read_rows
from flitwork.tune.names import named
from flitwork.tune.openmpi_file import COLLECTIVES
from flitwork.tune.rule import OPERATIONS, Choice

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
    return checked(read_rows(path, Told(ranks, ranks_per_server, algorithm, mpi, version)), str(Path(path)))


def checked(table: pd.DataFrame, file: str) -> pd.DataFrame:
    """``table`` with all columns in order and of their types, or an error with the row (from 1)."""
    check_columns(table, file, tuple(name for name in COLUMNS if name not in _MAY_MISS))
    table = table.assign(**{name: value for name, value in _MAY_MISS.items() if name not in table})[[*COLUMNS]]
    for name in _NUMBERS:
        given = table[name] if name not in ("low", "high") else table[name].dropna()
        check_numbers(given, name, file, whole_from=_LEAST.get(name))
    for number, name in enumerate(table["algorithm"], 1):
        try:
            Choice.read(str(name))
        except (ValueError, IndexError):
            expected = "a name, and parameters as name=number"
            raise ConfigError(f"{file}: row {number}: algorithm", name, expected, "bruck radix=4") from None
    _check_names(table, file)
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


def _check_names(table: pd.DataFrame, file: str) -> None:
    """Refuses misspelt names: such rows would never become a rule. Rows of other operations may stand there."""
    for number, (operation, algorithm) in enumerate(zip(table["operation"], table["algorithm"], strict=True), 1):
        place = f"{file}: row {number}"
        if operation in OPERATIONS:
            name, known = str(algorithm).split()[0], named(str(operation))
            if name not in known:
                expected = f"one of {', '.join(known)}"
                raise ConfigError(f"{place}: algorithm", name, expected, did_you_mean(name, known))
        elif operation not in COLLECTIVES and (hint := did_you_mean(str(operation), OPERATIONS)):
            raise ConfigError(f"{place}: operation", operation, "the name of an operation", hint)
