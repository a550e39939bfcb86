"""Detours: tables of the times in which ranks have no CPU, with the columns rank, start_cycles and duration_cycles."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flitwork import _core
from flitwork.base.errors import ConfigError
from flitwork.base.libraries import pd
from flitwork.base.table_file import (
    check_size,
    header_of,
    names_once,
    needs_columns,
    read_csv,
    read_parquet,
    short,
)
from flitwork.workloads.trace_file import whole_numbers

COLUMNS = ("rank", "start_cycles", "duration_cycles")
_EXPECTED = f"the columns {', '.join(COLUMNS)}"
#: Bytes that reading takes at most, for each byte of a CSV file, and for each row of a Parquet file.
_PER_BYTE, _PER_ROW = 4, 64


def detours(table: pd.DataFrame | Mapping[str, Any]) -> _core.Table:
    """Detours for ``fw.noise.File(detours=...)``, from a data frame or a table of columns.

    Columns: ``rank``, ``start_cycles`` (from the start of the ranks) and ``duration_cycles`` (at least 1), all whole
    numbers, in any order of rows; detours of a rank that touch or overlap are one.
    """
    return detour_table(table, "detours")


def detour_table(value: Any, path: str) -> _core.Table:
    """Reads a table of detours; errors begin with ``path``."""
    if not isinstance(value, (pd.DataFrame, Mapping)):
        raise ConfigError(path, short(value), f"a data frame with {_EXPECTED}")
    needs_columns(value, COLUMNS, path, _EXPECTED)
    columns = [whole_numbers(value[name], name, path) for name in COLUMNS]
    try:
        return _core.Table.detours(*columns)
    except ConfigError as error:
        raise error.within(path.removesuffix("detours")) from None


def read_detours(file: Path, path: str) -> _core.Table:
    """Detours from a file .csv or .parquet; errors name columns and rows, not their places in the file."""
    readers = {".csv": _csv, ".parquet": _parquet}
    ending = file.suffix.lower()
    if ending not in readers:
        raise ConfigError(f"{path}.file", file, "a file .csv or .parquet", "the ending of its name says what it is")
    return detour_table(readers[ending](file, path), f"{path}.detours")


def _csv(file: Path, path: str) -> pd.DataFrame:
    check_size(file, path, _PER_BYTE)
    empty = f"the file is empty; the first line names the columns: {','.join(COLUMNS)}"
    names_once(header_of(file, path, _EXPECTED, empty), COLUMNS, f"{path}.detours")
    return read_csv(file, path, _EXPECTED, empty, named=True)


def _parquet(file: Path, path: str) -> pd.DataFrame:
    return read_parquet(file, path, _PER_ROW)
