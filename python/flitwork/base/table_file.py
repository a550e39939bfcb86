"""Files of numbers, CSV tables and arrays of NumPy, read so that nothing is dropped or taken for what it is not."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

from flitwork import _core
from flitwork.base import input_files, parquet
from flitwork.base.errors import ConfigError, did_you_mean
from flitwork.base.libraries import np, pd

_SHORT = 60
#: More digits than a floating-point number can have.
_MOST_DIGITS = 300

Array: TypeAlias = "np.ndarray[Any, Any]"


def check_size(file: Path, path: str, bytes_per_byte: int) -> None:
    """Refuses a file that takes more memory than there is, at up to ``bytes_per_byte`` for each of its bytes."""
    input_files.check_memory(file, f"{path}.file", input_files.checked(file, f"{path}.file", "a file") * bytes_per_byte)


def read_csv(file: Path, path: str, expected: str, empty_hint: str, named: bool = False) -> pd.DataFrame:
    """A table with commas between its columns; with ``named`` the first line has their names.

    A cell is a number, empty (NaN), or the text that stands there: ``nan`` and ``NA`` are no numbers. Empty lines at
    the end do not count. ``path`` is that of the table that names the file, ``expected`` what the file should hold.
    """
    try:
        with warnings.catch_warnings():
            # Pandas would drop what a line has beyond the columns.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            table = _read(file, header=0 if named else None, index_col=False if named else None)
    except pd.errors.EmptyDataError:
        raise ConfigError(f"{path}.file", file, expected, empty_hint) from None
    except Exception as error:
        because = input_files.because(error).rpartition("C error: ")[2]
        raise ConfigError(f"{path}.file", file, f"a table with commas between its columns ({because})") from None
    while len(table) and table.iloc[-1].isna().all():
        table = table.iloc[:-1]
    texts = [name for name in table.columns if table[name].dtype.kind not in "iufb"]
    if texts:
        numbers = {name: _numbers_where_possible(table[name]) for name in texts}
        table = pd.DataFrame({name: numbers.get(name, table[name]) for name in table.columns})
    return table


def header_of(file: Path, path: str, expected: str, empty_hint: str) -> list[str]:
    """The names in the first line of a CSV file as they stand there, also where two are the same."""
    try:
        first = _read(file, header=None, nrows=1, dtype=str)
    except pd.errors.EmptyDataError:
        raise ConfigError(f"{path}.file", file, expected, empty_hint) from None
    except Exception as error:
        raise ConfigError(f"{path}.file", file, f"{expected} ({input_files.because(error)})") from None
    return ["" if pd.isna(name) else str(name) for name in first.iloc[0]]


def _read(file: Path, **options: Any) -> pd.DataFrame:
    # Only an empty cell is nothing: pandas would also drop nan, NA, NULL and others.
    found: pd.DataFrame = pd.read_csv(
        file, skip_blank_lines=False, skipinitialspace=True, keep_default_na=False, na_values=[""], **options
    )
    return found


def _numbers_where_possible(column: pd.Series[Any]) -> pd.Series[Any]:
    """Pandas leaves a whole column as text because of one cell: its numbers as numbers, that cell as it stands."""
    numbers = as_numbers(column)
    return numbers.astype(object).where(numbers.notna() | column.isna(), column.astype(str))


def as_numbers(column: pd.Series[Any]) -> pd.Series[Any]:
    """The numbers of a column; NaN for what is none, or has hundreds of digits."""
    try:
        return pd.to_numeric(column, errors="coerce")
    except OverflowError:
        return pd.to_numeric(column.where(column.astype(str).str.len() <= _MOST_DIGITS), errors="coerce")


def first_wrong(column: Any) -> int | None:
    """The first value of a column of any type that is no number; truth values, dates and text are none."""
    array = np.asarray(column)
    if array.dtype.kind in "iuf":
        wrong = np.flatnonzero(array != array)
        return int(wrong[0]) if len(wrong) else None
    if array.dtype.kind != "O":
        return 0 if len(array) else None
    return next((row for row, value in enumerate(array) if not _is_number(value)), None)


def _is_number(value: Any) -> bool:
    number = isinstance(value, (int, float, Decimal, np.integer, np.floating)) and not isinstance(value, bool)
    return number and bool(value == value)


def read_npy(file: Path, path: str, bytes_per_byte: int) -> Array:
    """An array of NumPy; reading takes up to ``bytes_per_byte`` bytes for each byte of the file."""
    check_size(file, path, bytes_per_byte)
    with input_files.reading(file, f"{path}.file", "an array of NumPy", "numpy.save writes one"):
        # Mapped first: a file that claims to be longer than it is asks for no memory.
        array = np.load(file, mmap_mode="r", allow_pickle=False)
        if not isinstance(array, np.ndarray):
            raise ConfigError(f"{path}.file", file, "an array of NumPy", "this is a collection of several")
        return np.array(array)


def read_parquet(
    file: Path, path: str, bytes_per_row: int, check: Callable[[list[str]], Sequence[str] | None] = lambda _: None
) -> pd.DataFrame:
    """A table from a Parquet file; reading takes up to ``bytes_per_row`` bytes for each row.

    ``check`` sees the names of the columns before any of them is read, and gives those to read; ``None``: all.
    """
    where = f"{path}.file"
    input_files.checked(file, where, "a Parquet file")
    with input_files.reading(file, where, "a Parquet file"):
        stored = _core.ParquetFile(file)
        input_files.check_memory(file, where, max(stored.rows * bytes_per_row, stored.unpacked_bytes))
        return parquet.frame(stored, check(parquet.names(stored)))


def shown_cell(value: Any) -> str:
    """A cell as an error shows it."""
    if isinstance(value, str):
        return f'"{value}"'
    return "nothing" if value is None or value is pd.NA or value != value else short(value)


def short(value: Any) -> str:
    """A value on one line, cut where it is long."""
    text = " ".join((str(value) if np.isscalar(value) else repr(value)).split())
    return text if len(text) <= _SHORT else f"{text[: _SHORT - 3]}..."


def shape_of(array: Array) -> str:
    """``3 x 4``."""
    return " x ".join(map(str, array.shape))


def names_once(names: Sequence[str], wanted: Sequence[str], path: str) -> None:
    """Refuses names of columns of which a wanted one stands twice."""
    for name in wanted:
        if list(names).count(name) > 1:
            raise ConfigError(path, f"column {name} twice", "each column once", "take one of the two out")


def needs_columns(names: Iterable[Any], wanted: Sequence[str], path: str, expected: str, hint: str = "") -> None:
    """Refuses names of columns without each of ``wanted`` exactly once; others do not matter."""
    found = [str(name) for name in names]
    names_once(found, wanted, path)
    missing = [name for name in wanted if name not in found]
    if missing:
        others = [name for name in found if name not in wanted]
        hint = next(filter(None, (did_you_mean(name, wanted) for name in others)), hint)
        raise ConfigError(path, f"columns {', '.join(found) or 'none'}", f"{expected}; no {missing[0]}", hint)
