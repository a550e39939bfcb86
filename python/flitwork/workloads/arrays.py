"""Numbers that come from files and arrays: permutations, traffic matrices, traces, schedules, detours."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from flitwork import _core
from flitwork.base.errors import ConfigError
from flitwork.base.libraries import np
from flitwork.base.table_file import check_size, first_wrong, read_csv, read_npy, shape_of, short, shown_cell
from flitwork.values.schema import number_fields
from flitwork.workloads.detour_file import detour_table, read_detours
from flitwork.workloads.schedule_file import read_schedule, schedule_table
from flitwork.workloads.timetable_file import read_timetable, timetable_of
from flitwork.workloads.trace_file import read_trace, trace_table

_SHAPES = {"destinations": "one destination for each terminal", "matrix": "a row for each source"}
_TABLES: dict[str, Callable[[Any, str], _core.Table]] = {
    "packets": trace_table,
    "schedule": schedule_table,
    "detours": detour_table,
    "timetable": timetable_of,
}
_READERS: dict[str, Callable[[Path, str], _core.Table]] = {
    "packets": read_trace,
    "schedule": read_schedule,
    "detours": read_detours,
    "timetable": read_timetable,
}
_INDEX = re.compile(r"\[(\d+)\]")
_CACHED = 8
#: Bytes that reading takes at most, for each byte of a file.
_PER_BYTE = 5

Array: TypeAlias = "np.ndarray[Any, Any]"
Place = Callable[[list[int]], str]


@dataclass(frozen=True)
class Read:
    """Numbers as a specification has them, and the words for the place in their file that an index stands for."""

    value: Any
    place: Place


def with_numbers(spec: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Read]]:
    """A specification with the numbers of its files in their place, and what was read by the path of its field.

    Arrays become tables. A file that cannot be used is a :class:`ConfigError`.
    """
    found: dict[str, Any] = dict(spec)
    read: dict[str, Read] = {}
    for section in ("workload", "background"):
        node = found.get(section)
        if isinstance(node, Mapping):
            pattern = node.get("pattern")
            if isinstance(pattern, Mapping):
                node = {**node, "pattern": _filled(pattern, f"{section}.pattern", read)}
            found[section] = _filled(node, section, read)
    host = found.get("host")
    if isinstance(host, Mapping) and isinstance(host.get("noise"), Mapping):
        found["host"] = {**host, "noise": _filled(host["noise"], "host.noise", read)}
    return found, read


def located(error: ConfigError, read: Mapping[str, Read]) -> ConfigError:
    """This error with the place in the file that its numbers come from."""
    for path, numbers in read.items():
        if error.path.startswith(path):
            place = numbers.place([int(index) for index in _INDEX.findall(error.path[len(path) :])])
            return ConfigError(error.path, f"{error.value} ({place})", error.expected, error.hint)
    return error


def field_of(kind: str) -> str:
    """The field that holds the numbers of a kind of table; empty where it has none."""
    return number_fields().get(kind, ("", ""))[0]


def table_of(kind: str, value: Any, path: str) -> Any:
    """What stands in the field of ``kind`` for ``value``: arrays and lists of a matrix or a trace become a table."""
    _, numbers = number_fields()[kind]
    if numbers == "destinations" or isinstance(value, _core.Table) or _is_digest(value):
        return value
    if numbers in _TABLES:
        return _TABLES[numbers](value, path)
    try:
        array = np.asarray(value)
    except ValueError:
        raise ConfigError(path, short(value), "a square matrix", "all rows need the same length") from None
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise ConfigError(path, short(value), "a square matrix of numbers", "rows are sources, columns destinations")
    return _matrix(array, path)


def _is_digest(value: Any) -> bool:
    return isinstance(value, Mapping) and "sha256" in value


def _filled(node: Mapping[str, Any], path: str, read: dict[str, Read]) -> dict[str, Any]:
    """``node`` without a file, if it has a field for its numbers."""
    kind, filled = str(node.get("kind")), dict(node)
    field = field_of(kind)
    file = filled.pop("file", None)
    if not field or (file is None and field not in node):
        return dict(node)
    if file is None:
        return {**filled, field: table_of(kind, node[field], f"{path}.{field}")}
    if field in node:
        raise ConfigError(f"{path}.file", file, f"either a file or {field}", "take one of the two out")
    if not isinstance(file, (str, os.PathLike)):
        raise ConfigError(f"{path}.file", repr(file), "the name of a file")
    numbers = _read(Path(file), kind, path)
    read[f"{path}.{field}"] = numbers
    return {**filled, field: numbers.value}


def _read(file: Path, kind: str, path: str) -> Read:
    try:
        found = file.stat()
    except OSError as error:
        because = error.strerror or str(error)
        raise ConfigError(f"{path}.file", file, f"a file that can be read ({because})", "check the name") from None
    return _read_once(file, (found.st_mtime_ns, found.st_size, found.st_ino), kind, path)


@lru_cache(maxsize=_CACHED)
def _read_once(file: Path, version: tuple[int, int, int], kind: str, path: str) -> Read:
    """The numbers in a file; ``version`` changes with its contents."""
    name, numbers = number_fields()[kind]
    field = f"{path}.{name}"
    if numbers in _READERS:
        read = _READERS[numbers]
        # The first line of a CSV file names the columns.
        word, first = ("line", 2) if _ending(file) == ".csv" else ("row", 0)
        return _located(lambda: read(file, path), field, lambda index: _place(file, index, (word,), first))
    array, place = _array(file, path, field, numbers)
    if numbers == "destinations":
        place = _in_a_list(place, len(array) == 1)
        return _located(lambda: _permutation(array, field), field, place)
    return _located(lambda: _matrix(array, field), field, place)


def _located(read: Callable[[], Any], field: str, place: Place) -> Read:
    """What ``read`` returns; its errors about ``field`` name the place in the file."""
    try:
        return Read(read(), place)
    except ConfigError as error:
        raise located(error, {field: Read(None, place)}) from None


def _in_a_list(place: Place, one_row: bool) -> Place:
    """The place of a number in a list that stands in one row, or in one column."""
    return lambda index: place(index and ([0, *index] if one_row else [*index, 0]))


def _array(file: Path, path: str, field: str, numbers: str) -> tuple[Array, Place]:
    """A file as an array of two dimensions."""
    if _ending(file) == ".npy":
        return _npy(file, path, field, numbers), lambda index: _place(file, index, ("row", "column"), 0)
    if _ending(file) == ".csv":
        return _csv(file, path, field), lambda index: _place(file, index, ("line", "column"), 1)
    raise ConfigError(f"{path}.file", file, "a file .csv or .npy", "the ending of its name says what it is")


def _ending(file: Path) -> str:
    return file.suffix.lower()


def _place(file: Path, index: Sequence[int], words: Sequence[str], first: int) -> str:
    named = [f"{word} {i + first}" for word, i in zip(words, index, strict=False)]
    return ", ".join([file.name, *named])


def _npy(file: Path, path: str, field: str, numbers: str) -> Array:
    array = read_npy(file, path, _PER_BYTE)
    if array.dtype.kind not in "biuf" or not 1 <= array.ndim <= 2:
        shown = f"{array.shape} of {array.dtype} ({file.name})"
        raise ConfigError(field, shown, f"an array of numbers: {_SHAPES[numbers]}")
    return array if array.ndim == 2 else array[:, None]


def _csv(file: Path, path: str, field: str) -> Array:
    check_size(file, path, _PER_BYTE)
    table = read_csv(file, path, "numbers, separated by commas", "the file is empty")
    for column in table.columns:
        row = first_wrong(table[column])
        if row is not None:
            place = _place(file, [row, int(column)], ("line", "column"), 1)
            value = shown_cell(table[column].iloc[row])
            raise ConfigError(field, f"{value} ({place})", "a number", "numbers are separated by commas")
    array = table.to_numpy()
    return array if array.dtype.kind in "iuf" else array.astype(np.float64)


def _permutation(array: Array, field: str) -> list[int]:
    if 1 not in array.shape:
        raise ConfigError(field, f"{shape_of(array)} numbers", _SHAPES["destinations"], "one number a line")
    flat = array.ravel()
    wrong = np.flatnonzero((flat != np.floor(flat)) | (flat < 0) | (flat >= 2**32))
    if len(wrong):
        raise ConfigError(f"{field}[{wrong[0]}]", flat[wrong[0]], "the number of a terminal", "they count from 0")
    return [int(destination) for destination in flat]


def _matrix(array: Array, field: str) -> _core.Table:
    try:
        return _core.Table.matrix(np.ascontiguousarray(array, dtype=np.float64))
    except ConfigError as error:
        named = ConfigError(
            error.path.replace("weights", field.rpartition(".")[2], 1), error.value, error.expected, error.hint
        )
        raise named.within(field.rpartition(".")[0] + ".") from None
