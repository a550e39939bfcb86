"""Tables in Parquet files, read and written by the compiled half: no library needs to be installed for them.

:func:`read_parquet` makes a data frame of any file with plain columns. Of a file that pandas wrote it keeps the index
and the types. Pandas and other programs read what :func:`to_bytes` writes. Kinds of values have the names of Apache
Arrow.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from flitwork import _core
from flitwork.base.input_files import check_memory, checked, reading
from flitwork.base.libraries import np, pd
from flitwork.base.memory import usable_bytes

#: What columns hold that are read; others are refused by their names.
READ = "numbers, truth values, texts, dates or times in each row"
#: Types of NumPy by the kinds that are the same.
_TYPES = {
    **{f"{sign}int{bits}": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    **{"bool": "bool", "halffloat": "float16", "float": "float32", "double": "float64"},
}
_KINDS = {name: kind for kind, name in _TYPES.items() if kind != "halffloat"}
#: Types of pandas by kinds, for numbers that may be missing.
_MASKED = {
    **{f"{sign}int{bits}": f"{sign.upper()}Int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    **{"bool": "boolean", "float": "Float32", "double": "Float64"},
}
#: What pandas calls a kind in its own metadata, and the type of NumPy beside it.
_OF_PANDAS = {"string": ("unicode", "object"), "null": ("empty", "object")}
_UNNAMED = re.compile(r"__index_level_\d+__")
_ARROW = "ARROW:schema"


@dataclass(frozen=True)
class Column:
    """Values of one kind: those of ``valid`` are there (``None``: all); ``lengths`` says how many each row has."""

    kind: str
    values: Any
    valid: Any = None
    lengths: Any = None

    def to_list(self) -> list[Any]:
        """The values as Python has them, ``None`` where there is none."""
        found = self.values.tolist() if isinstance(self.values, np.ndarray) else list(self.values)
        if self.valid is None:
            return found
        return [value if is_there else None for value, is_there in zip(found, self.valid.tolist(), strict=True)]


def read_parquet(path: str | Path) -> pd.DataFrame:
    """The table in a Parquet file, with the index and the types that pandas has noted in it.

    Columns are numbers, truth values, texts, dates or times. A file that cannot be read is a
    :class:`flitwork.ConfigError` that names the file, and the column where it is one.
    """
    file = Path(path)
    checked(file, "file", "a Parquet file")
    with reading(file, "file", "a Parquet file"):
        stored = _core.ParquetFile(file)
        check_memory(file, "file", stored.unpacked_bytes)
        return frame(stored)


def names(stored: _core.ParquetFile) -> list[str]:
    """The names of the columns."""
    return [name for name, _, _ in stored.columns]


def metadata(stored: _core.ParquetFile) -> dict[str, str]:
    """Keys and values that the file has beside its columns."""
    return {key: value for key, value in stored.metadata.items() if key != _ARROW}


def columns(stored: _core.ParquetFile) -> dict[str, Column]:
    """All columns as they are stored, those with lists, too. Raises :class:`ValueError` where one cannot be read."""
    return {name: _column(stored, number) for number, name in enumerate(names(stored))}


def frame(stored: _core.ParquetFile, wanted: Sequence[str] | None = None) -> pd.DataFrame:
    """The table, or the ``wanted`` columns of it. Raises :class:`ValueError` where a column cannot be read."""
    described = _described(stored)
    about = {
        str(one.get("field_name", one.get("name"))): one
        for one in _listed(described, "columns")
        if isinstance(one, Mapping)
    }
    found: list[tuple[str, Any]] = []
    for number, (name, kind, listed) in enumerate(stored.columns):
        if wanted is not None and name not in wanted:
            continue
        if kind is None or listed:
            raise ValueError(f"column {name}: expected {READ}, this one is nested or of another kind")
        column = _column(stored, number)
        try:
            found.append((name, _as_pandas(column, about.get(name, {}))))
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise ValueError(f"column {name}: expected values of kind {column.kind} ({error})") from None
    table = pd.DataFrame(dict(enumerate(one for _, one in found)), index=range(stored.rows))
    table.columns = pd.Index([name for name, _ in found])
    return _with_index(table, described) if wanted is None else table[_in_order([*table.columns], wanted)]


def _in_order(names: list[str], wanted: Sequence[str]) -> list[str]:
    return [name for name in dict.fromkeys(wanted) if name in names]


def _column(stored: _core.ParquetFile, number: int) -> Column:
    name, kind, _ = stored.columns[number]
    if kind is None:
        raise ValueError(f"column {name}: expected {READ}, this one is nested or of another kind")
    values, valid, lengths = stored.read(number, int(usable_bytes()))
    try:
        return Column(kind, _narrow(kind, values, valid), valid, lengths)
    except (ArithmeticError, TypeError, ValueError) as error:
        raise ValueError(f"column {name}: expected values of kind {kind} ({error})") from None


def _narrow(kind: str, values: Any, valid: Any) -> Any:
    """Values as they are stored, as those of their kind."""
    if kind == "halffloat":
        return np.frombuffer(b"".join(value or b"\0\0" for value in values), "<f2")
    if kind in _TYPES:
        return values.astype(_TYPES[kind], copy=False)
    if kind.startswith("timestamp"):
        return values.view(f"datetime64[{_unit(kind)}]")
    if kind.startswith("date32"):
        return values.astype("datetime64[D]").astype(object)
    if kind.startswith("decimal"):
        places = int(kind.rstrip(")").rpartition(" ")[2])
        return np.array([_decimal(value, places) for value in values.tolist()] + [None], dtype=object)[:-1]
    if kind == "null":
        return np.full(len(values), None, dtype=object)
    return values


def _unit(kind: str) -> str:
    return kind.partition("[")[2][:2]


def _decimal(value: int | bytes | None, places: int) -> Decimal | None:
    if value is None:
        return None
    number = int.from_bytes(value, "big", signed=True) if isinstance(value, bytes) else value
    return Decimal(number).scaleb(-places)


def _described(stored: _core.ParquetFile) -> dict[str, Any]:
    """What pandas has noted; nothing where it is none of its files."""
    try:
        found = json.loads(stored.metadata.get("pandas", "{}"))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _listed(described: Mapping[str, Any], name: str) -> list[Any]:
    found = described.get(name)
    return found if isinstance(found, list) else []


def _as_pandas(column: Column, about: Mapping[str, Any]) -> Any:
    """A column as one of a data frame: missing numbers are NaN, unless pandas has noted a type that knows nothing."""
    noted, values, valid = str(about.get("numpy_type", "")), column.values, column.valid
    if column.kind in _TYPES:
        if noted == _MASKED.get(column.kind):
            return _masked(values, valid, noted)
        if noted.startswith("timedelta64[") and column.kind == "int64":
            return pd.Series(_without(values.view(noted), valid, np.timedelta64("NaT")))
        if valid is None:
            return pd.Series(values, copy=False)
        if column.kind == "bool":
            return pd.Series(_without(values.astype(object), valid, None), dtype=object)
        return pd.Series(_without(values if values.dtype.kind == "f" else values.astype("float64"), valid, np.nan))
    if column.kind.startswith("timestamp"):
        return _times(column, about.get("metadata"))
    if column.kind == "string":
        return pd.Series(values, dtype="string" if noted == "string" else _text())
    return pd.Series(values if valid is None else _without(values, valid, None), dtype=object)


def _without(values: Any, valid: Any, missing: Any) -> Any:
    """The values with ``missing`` where there is none."""
    return values if valid is None else np.where(valid, values, np.array(missing, dtype=values.dtype))


def _masked(values: Any, valid: Any, noted: str) -> Any:
    made: Any = pd.array(values, dtype=noted)
    if valid is not None:
        made[~valid] = pd.NA
    return pd.Series(made)


def _times(column: Column, about: Any) -> Any:
    found = pd.Series(_without(column.values, column.valid, np.datetime64("NaT")))
    if "tz=" not in column.kind:
        return found
    zone = about.get("timezone") if isinstance(about, Mapping) else None
    return found.dt.tz_localize("UTC").dt.tz_convert(zone or "UTC")


def _text() -> Any:
    """The type that pandas gives to texts: later versions have one of their own."""
    return pd.Series(["text"]).dtype


def _with_index(table: pd.DataFrame, described: Mapping[str, Any]) -> pd.DataFrame:
    """The table with the index that pandas has noted, and with numbers as names where they were numbers."""
    levels = _listed(described, "index_columns")
    if levels and all(isinstance(level, str) and level in table.columns for level in levels):
        table = table.set_index(list(levels))
        table.index.names = [None if _UNNAMED.fullmatch(level) else level for level in levels]
    elif len(levels) == 1 and isinstance(levels[0], Mapping) and levels[0].get("kind") == "range":
        start, stop, step, name = (levels[0].get(key) for key in ("start", "stop", "step", "name"))
        if all(isinstance(one, int) for one in (start, stop, step)) and step:
            index = pd.RangeIndex(start, stop, step, name=name)
            table = table.set_axis(index) if len(index) == len(table) else table
    labels = _listed(described, "column_indexes")
    if len(labels) == 1 and isinstance(labels[0], Mapping) and labels[0].get("numpy_type") == "int64":
        numbers = [int(name) if re.fullmatch(r"-?\d+", str(name)) else name for name in table.columns]
        table.columns = pd.Index(numbers)
    return table


def of_frame(table: pd.DataFrame) -> dict[str, Column]:
    """The columns of a data frame, without its index: NaN is a value that is missing."""
    return {str(name): _of_series(str(name), table[name]) for name in table.columns}


def _of_series(name: str, series: Any) -> Column:
    kind = str(series.dtype).lower().replace("boolean", "bool")
    if kind not in _KINDS:
        return of_values(name, series.tolist())
    there = ~series.isna().to_numpy()
    valid = None if there.all() else there
    values = series.to_numpy() if isinstance(series.dtype, np.dtype) else series.to_numpy(kind, na_value=0)
    return Column(_KINDS[kind], values, valid)


def of_rows(rows: Sequence[Mapping[str, Any]]) -> dict[str, Column]:
    """The columns of rows, in the order in which they come first: ``None`` is a value that is missing, NaN is none."""
    return {
        name: of_values(name, [row.get(name) for row in rows], nan_is_missing=False)
        for name in dict.fromkeys(name for row in rows for name in row)
    }


def of_values(name: str, values: Sequence[Any], nan_is_missing: bool = True) -> Column:
    """A column of values of Python; raises :class:`ValueError` where they are of several types."""
    there = np.array([not _is_missing(value, nan_is_missing) for value in values], dtype=bool)
    found = [value.item() if isinstance(value, np.generic) else value for value in values]
    types = {type(value) for value, is_there in zip(found, there, strict=True) if is_there}
    valid = None if there.all() else there
    if types == {str}:
        texts = [value if is_there else None for value, is_there in zip(found, there, strict=True)]
        return Column("string", texts, valid)
    numbers = [value if is_there else 0 for value, is_there in zip(found, there, strict=True)]
    if not types:
        return Column("null", np.zeros(len(found), dtype=np.int32), there)
    if types == {bool}:
        return Column("bool", np.array(numbers, dtype=bool), valid)
    if types == {int}:
        kind = "uint64" if max(numbers) >= 1 << 63 else "int64"
        return Column(kind, np.array(numbers, dtype=kind), valid)
    if types <= {int, float}:
        return Column("double", np.array(numbers, dtype=np.float64), valid)
    several = ", ".join(sorted(one.__name__ for one in types))
    raise ValueError(f"column {name}: expected numbers, truth values or texts, all of one type (there are: {several})")


def _is_missing(value: Any, nan_is_missing: bool) -> bool:
    return value is None or value is pd.NA or value is pd.NaT or (nan_is_missing and value != value)


def of_list(array: Any) -> Column:
    """A column of one row, which has the numbers of an array."""
    return Column(_KINDS[str(array.dtype)], array, None, np.array([len(array)], dtype=np.int64))


def to_bytes(table: pd.DataFrame | Mapping[str, Column], about: Mapping[str, str] | None = None) -> bytes:
    """A table as a Parquet file, without the index of a data frame; ``about`` is stored beside it."""
    noted = dict(about or {})
    if isinstance(table, pd.DataFrame):
        found = of_frame(table)
        types = {str(name): str(kind) for name, kind in table.dtypes.items()}
        noted["pandas"] = noted_types({name: (one.kind, types[name]) for name, one in found.items()}, len(table))
    else:
        found = dict(table)
    schema = [(name, one.kind, one.lengths is None, one.lengths is not None) for name, one in found.items()]
    return _core.parquet_bytes(schema, [given(one) for one in found.values()], list(noted.items()))


def given(column: Column) -> tuple[Any, Any, Any]:
    """A column as the compiled half takes it."""
    return _widened(column.kind, column.values), column.valid, column.lengths


def _widened(kind: str, values: Any) -> Any:
    """The reverse of :func:`_narrow`, for the kinds that are written."""
    if kind in ("int8", "int16", "uint8", "uint16"):
        values = values.astype(np.int32)
    elif kind in ("uint32", "uint64"):
        values = np.ascontiguousarray(values).view(f"int{kind[-2:]}")
    return np.ascontiguousarray(values) if isinstance(values, np.ndarray) else values


def noted_types(kinds: Mapping[str, tuple[str, str]], rows: int | None) -> str:
    """What pandas notes in its files: the kinds of columns, their types in a data frame, and an index that counts rows.

    Without ``rows``, whose number may not be known yet, there is no index.
    """
    named = []
    for name, (kind, noted) in kinds.items():
        pandas_type, numpy_type = _OF_PANDAS.get(kind, (_TYPES.get(kind, kind), noted))
        numpy_type = noted if noted in ("str", "string") else numpy_type
        one = {"pandas_type": pandas_type, "numpy_type": numpy_type, "metadata": None}
        named.append({"name": name, "field_name": name, **one})
    label = {"name": None, "field_name": None, "pandas_type": "unicode", "numpy_type": "object", "metadata": None}
    index = [] if rows is None else [{"kind": "range", "name": None, "start": 0, "stop": rows, "step": 1}]
    created = {"library": "flitwork", "version": _core.__version__}
    # As of pandas: it reads what later versions of itself have noted by this number.
    return json.dumps(
        {
            "index_columns": index,
            "column_indexes": [label],
            "columns": named,
            "creator": created,
            "pandas_version": pd.__version__,
        }
    )
