"""One layout for what is measured here, simulated, or printed by other benchmarks; what all its readers check."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flitwork.base.errors import ConfigError, did_you_mean
from flitwork.base.formats import GENERAL, check_format
from flitwork.base.libraries import pd
from flitwork.base.table_file import first_wrong, header_of, names_once, read_csv, read_parquet
from flitwork.measurements.benchmarks import Defaults, recognised, rows
from flitwork.measurements.text import read_text

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
_ROW_BYTES = 1000
#: Endings that say nothing of what is in a text.
_TEXTS = (".csv", ".txt", ".out", ".log", "")
#: What no time, size or count exceeds: sums and squares of such numbers are still finite.
MOST = 1e18
_LEAST_SECONDS = 1 / MOST


def read_rows(path: str | Path, defaults: Defaults) -> pd.DataFrame:
    """The rows of a file, whose format is recognised: CSV, Parquet, or a text of OSU's or Intel's benchmarks.

    Nothing but the format is checked; what such a text does not say is ``defaults``.
    """
    file = Path(path)
    what = "a table with columns " + ", ".join(COLUMNS)
    if file.suffix.lower() == ".parquet":
        return read_parquet(file, "measurements", _ROW_BYTES)
    text = read_text(file)
    if not text.strip():
        raise ConfigError(str(file), "an empty file", what, "flitwork mpi bench writes one")
    kind = recognised(text)
    if kind is not None:
        return pd.DataFrame(rows(text, kind, str(file), defaults))
    first = text.lstrip().splitlines()[0]
    check_format(file, "measurements", what, GENERAL if file.suffix.lower() in _TEXTS else ("a table",))
    if first.startswith("#"):
        expected = "the names of the columns, or a text of OSU's or Intel's benchmarks from its title on"
        raise ConfigError(
            f"{file}: row of names", first[:60], expected, "a table has no lines of comments: take them out"
        )
    for found, mark in (("semicolons", ";"), ("tabs", "\t")):
        if mark in first and "," not in first:
            expected = "commas between the columns, and a point in numbers"
            raise ConfigError(f"{file}: row of names", f"{found} between the columns", expected, "export it again so")
    names = header_of(file, "measurements", what, "flitwork mpi bench writes one")
    names_once(names, names, str(file))
    return read_csv(file, "measurements", what, "flitwork mpi bench writes one", named=True)


def check_columns(table: pd.DataFrame, file: str, needed: tuple[str, ...], known: Mapping[str, str] = COLUMNS) -> None:
    """``table`` has rows, no column but those of ``known``, and all that are ``needed``."""
    for name in table.columns:
        if name not in known:
            raise ConfigError(f"{file}: {name}", "unknown column", ", ".join(known), did_you_mean(str(name), known))
    missing = [name for name in needed if name not in table]
    if missing:
        raise ConfigError(f"{file}: {missing[0]}", "missing", f"a column {missing[0]}", known[missing[0]])
    if not len(table):
        raise ConfigError(file, "no rows", "a row for each measurement", "flitwork mpi bench writes them")


def check_numbers(
    column: pd.Series[Any], name: str, file: str, *, whole_from: int | None = None, about: str = ""
) -> None:
    """Every value is a number: whole and at least ``whole_from``, or without it at least 0; ``seconds`` above 0
    (at least 1e-18).

    What is wrong is an error with the row, from 1.
    """
    about = about or COLUMNS.get(name, "")
    wrong = first_wrong(column)
    if wrong is not None:
        raise ConfigError(f"{file}: row {column.index[wrong] + 1}: {name}", column.iloc[wrong], "a number", about)
    least = whole_from or 0
    for index, value in column.items():
        whole = whole_from is None or float(value).is_integer()
        if not whole or not least <= float(value) <= MOST or (name == "seconds" and value < _LEAST_SECONDS):
            number = "a time above 0 s" if name == "seconds" else f"a number, at least {least}"
            number += f", at least {_LEAST_SECONDS:g}" if name == "seconds" and 0 < value < _LEAST_SECONDS else ""
            expected = f"a whole number, at least {least}" if whole_from is not None else number
            expected += f", and at most {MOST:g}" if float(value) > MOST else ""
            raise ConfigError(f"{file}: row {int(str(index)) + 1}: {name}", value, expected, about)
