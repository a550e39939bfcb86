"""Schedules as tables: a row for each operation of each rank, from data frames and files.

Columns: ``rank``, ``operation`` (send, receive, compute, wait), ``peer`` (-1: any), ``flits`` or ``bytes`` of a
message, ``cycles`` or ``ns`` of a computation, ``tag`` (-1: any), ``step``, ``network`` (of a send: network, bus,
bus_next, bus_same or tree), and ``after``: what the operation waits for, by number within its rank, with blanks
between. An empty cell stands for nothing, or 0; the rows of a rank are in program order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

from flitwork import _core
from flitwork.base.errors import ConfigError, ScheduleError, did_you_mean
from flitwork.base.libraries import np, pd
from flitwork.base.table_file import (
    as_numbers,
    check_size,
    header_of,
    names_once,
    read_csv,
    read_parquet,
    short,
    shown_cell,
)
from flitwork.workloads.operation_columns import ANY, operations
from flitwork.workloads.operations import NETWORKS

#: What an operation is, in the order in which the simulator counts them.
_NAMES = tuple(_core.operation_kinds())
#: What tables may have that are read; programs of other formats have tasks as well.
KINDS = _NAMES[: _core.Kind.WAIT + 1]
SIZES, TIMES = ("flits", "bytes"), ("cycles", "ns")
COLUMNS = ("rank", "operation", "peer", *SIZES, *TIMES, "tag", "step", "network", "after")
_EXPECTED = "columns rank, operation and, as needed, peer, flits or bytes, cycles or ns, tag, step, network, after"
_MOST, _MOST_AMOUNT = ANY - 1, 2**40
#: Bytes that reading takes at most, for each byte of a CSV file, and for each row of a Parquet file.
_PER_BYTE, _PER_ROW = 12, 400

#: What an operation waits for that may start at once.
_NOTHING: Sequence[int] = ()

Array: TypeAlias = "np.ndarray[Any, Any]"


def schedule_table(value: Any, path: str, name: str = "schedule") -> _core.Table:
    """A schedule from a data frame, or a table of columns; what is wrong is named by row and column."""
    if isinstance(value, Mapping):
        try:
            value = pd.DataFrame(value)
        except ValueError as error:
            raise ConfigError(path, f"columns that do not fit each other ({error})", _EXPECTED) from None
    if not isinstance(value, pd.DataFrame):
        raise ConfigError(path, short(value), f"a data frame with {_EXPECTED}", "or use fw.Schedule")
    _check_names([str(column) for column in value.columns], path)
    if not len(value):
        raise ConfigError(path, "0 rows", "at least one operation")
    return _table(_Rows(value, path), path, name)


def read_schedule(file: Path, path: str) -> _core.Table:
    """A schedule from a file .csv or .parquet; its name is that of the file."""
    readers = {".csv": _csv, ".parquet": _parquet}
    ending = file.suffix.lower()
    if ending not in readers:
        raise ConfigError(f"{path}.file", file, "a file .csv or .parquet", "the ending of its name says what it is")
    return schedule_table(readers[ending](file, path), f"{path}.schedule", file.stem)


def table_frame(table: _core.Table) -> pd.DataFrame:
    """The operations of a schedule as a data frame that :func:`schedule_table` takes."""
    found, (in_bytes, in_ns) = table.operations(), table.in_units
    kind, via = found.kind, found.via
    message = kind <= _core.Kind.RECEIVE
    compute = np.isin(kind, (_core.Kind.COMPUTE, _core.Kind.TASK, _core.Kind.WAIT_UNTIL))
    amount = pd.array(found.amount, dtype="Int64")
    counts = found.operations
    columns = {
        "rank": np.repeat(np.arange(len(counts), dtype=np.uint32), counts.astype(np.int64)),
        "operation": np.array(_NAMES, dtype=object)[kind],
        "peer": pd.Series(pd.array(_any_as_minus_one(found.peer), dtype="Int64")).where(message),
        SIZES[in_bytes]: pd.Series(amount).where(message),
        TIMES[in_ns]: pd.Series(amount).where(compute),
        "tag": pd.Series(pd.array(_any_as_minus_one(found.tag), dtype="Int64")).where(message),
        "step": found.step,
        **({"network": _networks(kind, via)} if via.any() else {}),
        "after": _texts(found.dependencies, found.after),
    }
    return pd.DataFrame(columns)


def _any_as_minus_one(column: Array) -> Array:
    return np.where(column == ANY, -1, column.astype(np.int64))


def _texts(dependencies: Array, after: Array) -> list[str]:
    """The numbers that each operation waits for, with blanks between."""
    texts, numbers = [""] * len(dependencies), [*map(str, after.tolist())]
    rows = np.flatnonzero(dependencies)
    ends = np.cumsum(dependencies[rows], dtype=np.int64).tolist()
    for row, start, end in zip(rows.tolist(), [0, *ends], ends, strict=False):
        texts[row] = " ".join(numbers[start:end])
    return texts


def _networks(kind: Array, via: Array) -> Array:
    """By which network each send goes; empty for what is none."""
    names = np.array(NETWORKS, dtype=object)[via]
    names[kind != _core.Kind.SEND] = None
    return np.asarray(names)


class _Rows:
    """The columns of a schedule as the simulator takes them; rows of one rank stand together."""

    def __init__(self, frame: pd.DataFrame, path: str) -> None:
        self.path, self.frame = path, frame
        self.rank = self._numbers("rank", _MOST)
        self.kind = self._kinds()
        peers = self._numbers("peer", _MOST, least=-1, empty=-1)
        message, compute = self.kind <= _core.Kind.RECEIVE, self.kind == _core.Kind.COMPUTE
        tags = self._numbers("tag", _MOST, least=-1)
        for column, name in ((peers, "peer"), (tags, "tag")):
            wrong = np.flatnonzero((self.kind == _core.Kind.SEND) & (column < 0))
            if len(wrong):
                raise self._wrong(int(wrong[0]), name, "any", "a number: a message is sent to one rank, with one tag")
        self.peer = np.where(message, np.where(peers < 0, ANY, peers), 0)
        self.tag = np.where(message, np.where(tags < 0, ANY, tags), 0)
        self.in_bytes, sizes = self._amounts(SIZES, message, "a length")
        self.in_ns, times = self._amounts(TIMES, compute, "a duration")
        self.amount = np.where(message, sizes, np.where(compute, times, 0))
        self.step = self._numbers("step", _MOST)
        self.via = self._via()
        self.dependencies, self.after = self._after()

    def _wrong(self, row: int, name: str, value: Any, expected: str) -> ConfigError:
        return ConfigError(f"{self.path}[{row}].{name}", value, expected)

    def _numbers(self, name: str, most: int, least: int = 0, empty: int | None = 0) -> Array:
        """A column of whole numbers; an empty cell is ``empty``, which may be forbidden (``None``)."""
        if name not in self.frame:
            return np.full(len(self.frame), 0 if empty is None else empty, dtype=np.int64)
        column = self.frame[name]
        numbers = as_numbers(column).to_numpy(dtype=np.float64, na_value=np.nan)
        missing = column.isna().to_numpy()
        if not pd.api.types.is_numeric_dtype(column.dtype):
            missing = missing | (column.astype(str).str.strip() == "").to_numpy()
        with np.errstate(invalid="ignore"):
            wrong = ~(numbers == np.floor(numbers)) | (numbers < least) | (numbers > most)
        wrong &= ~missing
        if empty is None:
            wrong |= missing
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            shown = "nothing" if missing[row] else shown_cell(column.iloc[row])
            raise self._wrong(row, name, shown, f"a whole number, {least} to {most:,}")
        return np.where(missing, 0 if empty is None else empty, numbers).astype(np.int64)

    def _kinds(self) -> Array:
        words = self.frame["operation"].astype(str).str.strip()
        codes = words.map({kind: i for i, kind in enumerate(KINDS)})
        wrong = np.flatnonzero(codes.isna().to_numpy())
        if len(wrong):
            raise self._wrong(int(wrong[0]), "operation", words.iloc[wrong[0]], f"one of {', '.join(KINDS)}")
        return codes.to_numpy(dtype=np.int64)

    def _via(self) -> Array:
        """By which network each operation goes; an empty cell is that of routers and channels."""
        if "network" not in self.frame:
            return np.zeros(len(self.frame), dtype=np.int64)
        column = self.frame["network"]
        words = column.where(column.notna(), "").astype(str).str.strip().replace("", NETWORKS[0])
        codes = words.map({name: i for i, name in enumerate(NETWORKS)})
        wrong = np.flatnonzero(codes.isna().to_numpy())
        if len(wrong):
            raise self._wrong(int(wrong[0]), "network", words.iloc[wrong[0]], f"one of {', '.join(NETWORKS)}")
        other = np.flatnonzero((codes.to_numpy() > 0) & (self.kind != _core.Kind.SEND))
        if len(other):
            raise self._wrong(int(other[0]), "network", words.iloc[other[0]], "nothing: only a send goes by a network")
        return codes.to_numpy(dtype=np.int64)

    def _amounts(self, names: tuple[str, str], needed: Array, what: str) -> tuple[bool, Array]:
        """Sizes or times, and whether they are in the second of the two units."""
        given = [name for name in names if name in self.frame]
        if len(given) > 1:
            expected = f"{names[0]} or {names[1]}, one unit for the whole schedule"
            raise ConfigError(self.path, f"columns {' and '.join(given)}", expected)
        if not given and needed.any():
            row = int(np.flatnonzero(needed)[0])
            raise self._wrong(row, names[0], "nothing", f"{what}: a column {names[0]} or {names[1]}")
        name = given[0] if given else names[0]
        amounts = self._numbers(name, _MOST_AMOUNT)
        if given and (empty := needed & self.frame[name].isna().to_numpy()).any():
            raise self._wrong(int(np.flatnonzero(empty)[0]), name, "nothing", what)
        return name == names[1], amounts

    def _after(self) -> tuple[Array, Array]:
        """How many operations each waits for, and all of them, one operation's behind the other's."""
        if "after" not in self.frame:
            return np.zeros(len(self.frame), dtype=np.int64), np.empty(0, dtype=np.int64)
        cells = self.frame["after"].tolist()
        # Most wait for nothing, which needs no look at the single cell.
        waits = [
            _NOTHING if type(cell) is str and not cell else self._waits(row, cell) for row, cell in enumerate(cells)
        ]
        dependencies = np.fromiter(map(len, waits), np.int64, len(waits))
        return dependencies, np.fromiter(chain.from_iterable(waits), np.int64, int(dependencies.sum()))

    def _waits(self, row: int, cell: Any) -> list[int]:
        if isinstance(cell, float) and cell.is_integer():
            # A column of one number a row is read as numbers.
            cell = int(cell)
        words = [] if cell is None or cell is pd.NA or cell != cell else str(cell).split()
        if not all(word.isdecimal() and int(word) <= _MOST for word in words):
            raise self._wrong(row, "after", short(cell), "numbers of operations of the rank, with blanks between")
        return [int(word) for word in words]


def _table(rows: _Rows, path: str, name: str) -> _core.Table:
    named = rows.peer[rows.peer != ANY]
    ranks = max(int(rows.rank.max()), int(named.max()) if len(named) else 0) + 1
    if ranks > 4 * len(rows.rank) + 1024:
        raise ConfigError(path, f"{ranks:,} ranks", "ranks with something to do", "ranks count from 0")
    order = np.argsort(rows.rank, kind="stable")
    names = ("kind", "peer", "amount", "tag", "step", "via", "dependencies")
    columns = {name: getattr(rows, name)[order] for name in names}
    # What each waits for moves with it.
    before, moved = (np.cumsum(counts) - counts for counts in (rows.dependencies, columns["dependencies"]))
    after = rows.after[np.arange(len(rows.after)) + np.repeat(before[order] - moved, columns["dependencies"])]
    counts = np.bincount(rows.rank, minlength=ranks)
    try:
        return _core.Table.schedule(name, (rows.in_bytes, rows.in_ns), operations(counts, **columns, after=after))
    except ScheduleError as error:
        raise ConfigError(path, name, "a schedule that makes sense", str(error)) from None


def _check_names(names: list[str], path: str) -> None:
    names_once(names, COLUMNS, path)
    missing = [name for name in ("rank", "operation") if name not in names]
    unknown = [name for name in names if name not in COLUMNS]
    if missing or unknown:
        shown = f"column {unknown[0]}" if unknown else f"columns {', '.join(names) or 'none'}"
        hint = did_you_mean(unknown[0], COLUMNS) if unknown else f"no column {missing[0]}"
        raise ConfigError(path, shown, _EXPECTED, hint)


def _csv(file: Path, path: str) -> pd.DataFrame:
    check_size(file, path, _PER_BYTE)
    hint = "the first line names the columns, for example rank,operation,peer,flits"
    _check_names(header_of(file, path, _EXPECTED, f"the file is empty; {hint}"), f"{path}.schedule")
    return read_csv(file, path, _EXPECTED, hint, named=True)


def _parquet(file: Path, path: str) -> pd.DataFrame:
    return read_parquet(file, path, _PER_ROW)
