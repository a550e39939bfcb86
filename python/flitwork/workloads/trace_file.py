"""Traces: tables of packets with the columns cycle, source, destination and flits, from files and from memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from flitwork import _core
from flitwork.base.errors import ConfigError
from flitwork.base.libraries import np, pd
from flitwork.base.table_file import (
    check_size,
    first_wrong,
    header_of,
    needs_columns,
    read_csv,
    read_npy,
    read_parquet,
    shape_of,
    short,
    shown_cell,
)

COLUMNS = ("cycle", "source", "destination", "flits")
_EXPECTED = f"the columns {', '.join(COLUMNS)}"
#: Bytes that reading takes at most, for each byte of a CSV or NumPy file, and for each row of a Parquet file.
_PER_BYTE, _PER_ROW = 4, 64

Array: TypeAlias = "np.ndarray[Any, Any]"


def trace_table(value: Any, path: str) -> _core.Table:
    """A trace from a data frame, a table of columns, a structured array, or rows of four numbers."""
    if isinstance(value, pd.DataFrame):
        return _table({name: value[name] for name in _checked(value.columns, path)}, path)
    if isinstance(value, Mapping):
        return _table({name: value[name] for name in _checked(value, path)}, path)
    try:
        array = np.asarray(value)
    except ValueError:
        raise ConfigError(path, "rows of different lengths", f"rows with {_EXPECTED}") from None
    return _table(_columns_of(array, path), path)


def read_trace(file: Path, path: str) -> _core.Table:
    """A trace from a file; errors name columns and rows, not their places in the file."""
    readers = {".csv": _csv, ".npy": _npy, ".parquet": _parquet}
    ending = file.suffix.lower()
    if ending not in readers:
        expected = "a file .csv, .npy or .parquet"
        raise ConfigError(f"{path}.file", file, expected, "the ending of its name says what it is")
    return _table(readers[ending](file, path), f"{path}.packets")


def _table(columns: Mapping[str, Any], path: str) -> _core.Table:
    numbers = [whole_numbers(columns[name], name, path) for name in COLUMNS]
    try:
        return _core.Table.trace(*numbers)
    except ConfigError as error:
        raise error.within(path.removesuffix("packets")) from None


def whole_numbers(column: Any, name: str, path: str) -> Array:
    """A column as 64-bit integers; anything else in it is an error with its row."""
    array = np.asarray(column)
    if array.ndim != 1:
        shown = f"{shape_of(array)} values" if array.ndim else short(column)
        raise ConfigError(f"{path}.{name}", shown, "a column of whole numbers: one value a row")
    if array.dtype.kind not in "iufOUS":
        raise ConfigError(f"{path}.{name}", f"values of type {array.dtype}", "whole numbers")
    if array.dtype.kind in "iu" and (array.dtype != np.uint64 or (array <= 2**63 - 1).all()):
        return np.ascontiguousarray(array, dtype=np.int64)
    row = first_wrong(array)
    if row is None:
        numbers = array.astype(np.float64)
        wrong = np.flatnonzero(~(np.abs(numbers) < 2**63) | (numbers != np.floor(numbers)))
        row = int(wrong[0]) if len(wrong) else None
    if row is not None:
        raise ConfigError(f"{path}[{row}].{name}", shown_cell(array[row]), "a whole number")
    return numbers.astype(np.int64)


def _checked(names: Iterable[Any], path: str, hint: str = "") -> Sequence[str]:
    """The columns of a trace, which must be among ``names``."""
    needs_columns(names, COLUMNS, path, _EXPECTED, hint)
    return COLUMNS


def _columns_of(array: Array, path: str) -> dict[str, Array]:
    if array.dtype.names:
        return {name: array[name] for name in _checked(array.dtype.names, path)}
    if array.ndim != 2 or array.shape[1] != len(COLUMNS):
        shown = f"{shape_of(array)} numbers" if array.ndim else short(array.item())
        raise ConfigError(path, shown, f"rows of {len(COLUMNS)} numbers: {', '.join(COLUMNS)}")
    return {name: array[:, i] for i, name in enumerate(COLUMNS)}


def _csv(file: Path, path: str) -> Mapping[str, Any]:
    check_size(file, path, _PER_BYTE)
    hint = f"the first line names the columns: {','.join(COLUMNS)}"
    empty = f"the file is empty; {hint}"
    _checked(header_of(file, path, _EXPECTED, empty), f"{path}.packets", hint)
    table = read_csv(file, path, _EXPECTED, empty, named=True)
    return {name: table[name] for name in COLUMNS}


def _npy(file: Path, path: str) -> Mapping[str, Any]:
    return _columns_of(read_npy(file, path, _PER_BYTE), f"{path}.packets")


def _parquet(file: Path, path: str) -> Mapping[str, Any]:
    table = read_parquet(file, path, _PER_ROW, lambda names: _checked(names, f"{path}.packets"))
    return {name: table[name].to_numpy() for name in COLUMNS}
