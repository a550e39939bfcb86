"""Traces: tables of packets with the columns cycle, source, destination and flits, from files and from memory."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from flitwork import _core
from flitwork.errors import ConfigError, did_you_mean

COLUMNS = ("cycle", "source", "destination", "flits")
_EXPECTED = f"the columns {', '.join(COLUMNS)}"
_MEMORY_SHARE = 0.75
#: Bytes that reading takes at most, for each byte of a CSV file and for each row of another one.
_PER_CSV_BYTE, _PER_ROW = 4, 64

Array = np.ndarray[Any, Any]


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
    if file.suffix not in readers:
        expected = "a file .csv, .npy or .parquet"
        raise ConfigError(f"{path}.file", file, expected, "the ending of its name says what it is")
    return _table(readers[file.suffix](file, path), f"{path}.packets")


def _table(columns: Mapping[str, Any], path: str) -> _core.Table:
    numbers = [_whole(columns[name], name, path) for name in COLUMNS]
    try:
        return _core.Table.trace(*numbers)
    except ConfigError as error:
        raise error.within(path.removesuffix("packets")) from None


def _whole(column: Any, name: str, path: str) -> Array:
    """A column as 64-bit integers; anything else in it is an error with its row."""
    array = np.asarray(column)
    if array.dtype.kind in "iub" and (array.dtype != np.uint64 or (array <= 2**63 - 1).all()):
        return np.ascontiguousarray(array, dtype=np.int64)
    numbers = np.asarray(pd.to_numeric(pd.Series(array.ravel()), errors="coerce"), dtype=np.float64)
    wrong = ~(np.abs(numbers) < 2**63) | (numbers != np.floor(numbers))
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        cell = array.ravel()[row]
        shown = "nothing" if pd.isna(cell) else f'"{cell}"' if isinstance(cell, str) else str(cell)
        raise ConfigError(f"{path}[{row}].{name}", shown, "a whole number")
    return numbers.astype(np.int64)


def _checked(names: Iterable[Any], path: str, hint: str = "") -> Sequence[str]:
    """The columns of a trace, which must be among ``names``."""
    found = [str(name) for name in names]
    missing = [name for name in COLUMNS if name not in found]
    if missing:
        others = [name for name in found if name not in COLUMNS]
        hint = next(filter(None, (did_you_mean(name, COLUMNS) for name in others)), hint)
        raise ConfigError(path, f"columns {', '.join(found) or 'none'}", f"{_EXPECTED}; no {missing[0]}", hint)
    return COLUMNS


def _columns_of(array: Array, path: str) -> dict[str, Array]:
    if array.dtype.names:
        return {name: array[name] for name in _checked(array.dtype.names, path)}
    if array.ndim != 2 or array.shape[1] != len(COLUMNS):
        shape = " x ".join(map(str, array.shape))
        raise ConfigError(path, f"{shape or 'one'} numbers", f"rows of {len(COLUMNS)} numbers: {', '.join(COLUMNS)}")
    return {name: array[:, i] for i, name in enumerate(COLUMNS)}


def _csv(file: Path, path: str) -> Mapping[str, Any]:
    check_memory(file, path, file.stat().st_size * _PER_CSV_BYTE)
    hint = f"the first line names the columns: {','.join(COLUMNS)}"
    try:
        header = pd.read_csv(file, nrows=0, skipinitialspace=True).columns
        _checked(header, f"{path}.packets", hint)
        with warnings.catch_warnings():
            # Pandas would drop what a line has beyond the columns.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            table = pd.read_csv(file, index_col=False, skip_blank_lines=False, skipinitialspace=True)
    except pd.errors.EmptyDataError:
        raise ConfigError(f"{path}.file", file, _EXPECTED, f"the file is empty; {hint}") from None
    except ConfigError:
        raise
    except (OSError, ValueError, pd.errors.ParserWarning) as error:
        because = str(error).strip().rpartition("C error: ")[2]
        raise ConfigError(f"{path}.file", file, f"a table with commas between its columns ({because})") from None
    while len(table) and table.iloc[-1].isna().all():
        table = table.iloc[:-1]
    return {name: table[name] for name in COLUMNS}


def _npy(file: Path, path: str) -> Mapping[str, Any]:
    check_memory(file, path, file.stat().st_size * 4)
    try:
        array = np.load(file, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        because = str(error).splitlines()[0] if str(error) else "empty"
        raise ConfigError(f"{path}.file", file, f"an array of NumPy ({because})", "numpy.save writes one") from None
    return _columns_of(np.asarray(array), f"{path}.packets")


def _parquet(file: Path, path: str) -> Mapping[str, Any]:
    try:
        with pq.ParquetFile(file) as found:
            check_memory(file, path, found.metadata.num_rows * _PER_ROW)
            _checked(found.schema_arrow.names, f"{path}.packets")
            table = found.read(columns=list(COLUMNS))
    except (OSError, pa.ArrowException) as error:
        because = str(error).splitlines()[0]
        raise ConfigError(f"{path}.file", file, f"a Parquet file ({because})") from None
    return {name: table[name].to_numpy() for name in COLUMNS}


def check_memory(file: Path, path: str, needed: int) -> None:
    """Refuses a file that needs more memory than there is, before it is read."""
    limit = _MEMORY_SHARE * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > limit:
        expected = f"a file that can be read with {limit / 1e6:,.0f} MB"
        raise ConfigError(f"{path}.file", file, expected, f"this one needs about {needed / 1e6:,.0f} MB")
