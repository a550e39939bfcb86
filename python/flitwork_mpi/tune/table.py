"""The table of measurements from which rules are made: every column there, algorithms readable, data verified."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flitwork.base.errors import ConfigError, did_you_mean
from flitwork.base.libraries import pd
from flitwork.base.table_file import shown_cell
from flitwork.measurements import COLUMNS, Defaults, check_columns, check_numbers, read_rows

from flitwork_mpi.tune.names import check_parameters, named
from flitwork_mpi.tune.openmpi_file import COLLECTIVES
from flitwork_mpi.tune.rule import MOST_RANKS, OPERATIONS, Choice

_NUMBERS = ("bytes", "ranks", "ranks_per_server", "seconds", "low", "high", "repetitions")
_LEAST = {"bytes": 0, "ranks": 1, "ranks_per_server": 1, "repetitions": 0}
#: By how much an end of an interval may lie on the wrong side of its time: tables are stored with fewer digits.
_ROUNDED = 1e-6
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
    return checked(read_rows(path, Defaults(ranks, ranks_per_server, algorithm, mpi, version)), str(Path(path)))


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
    _check_ranks(table, file)
    # Columns of Parquet files may hold decimal numbers, and None for what is not known.
    times: dict[str, Any] = {
        name: [float("nan") if pd.isna(value) else float(value) for value in table[name]]
        for name in ("seconds", "low", "high")
    }
    table = table.assign(**times)
    _check_intervals(table, file)
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


def _check_ranks(table: pd.DataFrame, file: str) -> None:
    """Refuses numbers of ranks that no communicator has."""
    for name in ("ranks", "ranks_per_server"):
        for number, ranks in enumerate(table[name], 1):
            if ranks > MOST_RANKS:
                expected = f"a whole number, at least 1 and at most {MOST_RANKS}"
                raise ConfigError(f"{file}: row {number}: {name}", ranks, expected, "MPI counts ranks in an int")


def _check_intervals(table: pd.DataFrame, file: str) -> None:
    """Refuses intervals that do not contain their time."""
    for number, (low, seconds, high) in enumerate(zip(table["low"], table["seconds"], table["high"], strict=True), 1):
        for name, end, where in (("low", low, "at most"), ("high", high, "at least")):
            beyond = low - seconds if name == "low" else seconds - high
            # An end that is not known is NaN, which no comparison holds for.
            if beyond > _ROUNDED * seconds:
                expected = f"a number, {where} that of seconds, {seconds:g}"
                raise ConfigError(f"{file}: row {number}: {name}", end, expected, "low <= seconds <= high")


def _check_names(table: pd.DataFrame, file: str) -> None:
    """Refuses rows that would never become a rule, or one that no reader accepts: misspelt names, wrong parameters.

    Rows of other operations may stand there.
    """
    right: set[tuple[str, str]] = set()
    for number, (operation, algorithm) in enumerate(zip(table["operation"], table["algorithm"], strict=True), 1):
        place = f"{file}: row {number}"
        if not isinstance(operation, str) or not operation.strip():
            expected = "the name of an operation"
            raise ConfigError(f"{place}: operation", shown_cell(operation), expected, ", ".join(OPERATIONS))
        if operation in OPERATIONS:
            if (operation, str(algorithm)) not in right:
                _check_algorithm(f"{place}: algorithm", operation, Choice.read(str(algorithm)))
                right.add((operation, str(algorithm)))
        elif operation not in COLLECTIVES and (hint := did_you_mean(operation, OPERATIONS)):
            raise ConfigError(f"{place}: operation", operation, "the name of an operation", hint)


def _check_algorithm(path: str, operation: str, choice: Choice) -> None:
    known = named(operation)
    if choice.algorithm not in known:
        hint = did_you_mean(choice.algorithm, known)
        raise ConfigError(path, choice.algorithm, f"one of {', '.join(known)}", hint)
    check_parameters(path, choice)
