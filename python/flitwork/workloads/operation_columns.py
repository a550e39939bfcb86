"""Operations of all ranks as the columns that the simulator takes: an array for each field.

Usual operations are read field by field, which takes about a microsecond for each. Unusual and wrong operations are
read one by one: this names the place of a fault.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from operator import attrgetter
from typing import Any, TypeAlias

from flitwork import _core
from flitwork.base.errors import ConfigError
from flitwork.base.libraries import np
from flitwork.workloads.operations import (
    MOST_AMOUNT,
    MOST_NUMBER,
    NETWORKS,
    Compute,
    Plain,
    Receive,
    Send,
    Wait,
    plain_operations,
)

Array: TypeAlias = "np.ndarray[Any, Any]"
#: As columns, and whether sizes are in bytes, and times in ns.
Columns = tuple[tuple[bool, bool], _core.Operations]
#: As columns write "any".
ANY = 2**32 - 1
_KIND = {
    Send: _core.Kind.SEND,
    Receive: _core.Kind.RECEIVE,
    Compute: _core.Kind.COMPUTE,
    Wait: _core.Kind.WAIT,
}
_VIA = {name: code for code, name in enumerate(NETWORKS)}


def columns_of(programs: Sequence[Any]) -> Columns:
    """The operations of each rank. A field that cannot be used is a :class:`flitwork.ConfigError` with its path."""
    if not programs:
        raise ConfigError("programs", "nothing", "a list of operations for at least one rank")
    # They may be read twice, which an iterator cannot.
    given = [program if isinstance(program, (list, tuple)) else _listed(program) for program in programs]
    try:
        return _by_field(given)
    except _NotPlain:
        return _by_operation(given)


def operations(counts: Sequence[int] | Array, **columns: Any) -> _core.Operations:
    """Columns of any kind of whole numbers as the simulator takes them."""
    dtypes = {"kind": np.uint8, "via": np.uint8, "amount": np.uint64}
    arrays = {name: np.asarray(column).astype(dtypes.get(name, np.uint32)) for name, column in columns.items()}
    return _core.Operations(np.asarray(counts).astype(np.uint64), **arrays)


def _listed(program: Any) -> Any:
    """A list of what is iterated over; of all else itself, for the error."""
    return list(program) if hasattr(program, "__next__") else program


class _NotPlain(Exception):
    """An operation that has to be looked at on its own."""


def _by_field(programs: list[Any]) -> Columns:
    if any(type(program) not in (list, tuple) for program in programs):
        raise _NotPlain
    flat = list(chain.from_iterable(programs))
    try:
        kind = np.fromiter(map(_KIND.__getitem__, map(type, flat)), np.uint8, len(flat))
    except KeyError:
        raise _NotPlain from None
    columns = {name: np.zeros(len(flat), np.int64) for name in ("peer", "amount", "tag", "step", "via")}
    sends, receives, computations = (
        _Some(flat, np.flatnonzero(kind == code), columns) for code in (_KIND[Send], _KIND[Receive], _KIND[Compute])
    )
    sends.put("peer", sends.numbers("to"))
    sends.put("tag", sends.numbers("tag"))
    sends.put("via", sends.networks())
    receives.put("peer", receives.numbers("source", ANY))
    receives.put("tag", receives.numbers("tag", ANY))
    for some in (sends, receives):
        some.put("step", some.numbers("step", 0))
    messages = [some for some in (sends, receives) if some.operations]
    in_bytes = _amounts(messages, "flits", "bytes", 1)
    in_ns = _amounts([computations] if computations.operations else [], "cycles", "ns", 0)
    waits = [operation.after for operation in flat]
    if not {tuple, list} >= set(map(type, waits)):
        raise _NotPlain
    after = _numbers(list(chain.from_iterable(waits)), 0, MOST_NUMBER)
    dependencies = np.fromiter(map(len, waits), np.int64, len(flat))
    counts = [len(program) for program in programs]
    return (in_bytes, in_ns), operations(counts, kind=kind, **columns, dependencies=dependencies, after=after)


class _Some:
    """The operations of one kind, and their rows in the columns."""

    def __init__(self, flat: list[Any], rows: Array, columns: dict[str, Array]) -> None:
        self.operations = [flat[row] for row in rows.tolist()]
        self.rows, self.columns = rows, columns

    def values(self, field: str) -> list[Any]:
        return list(map(attrgetter(field), self.operations))

    def numbers(self, field: str, instead: int | None = None) -> Array:
        """A field; ``instead`` of ``None``, if that may be."""
        values = self.values(field)
        if instead is not None and None in values:
            # What is none is told from a number that equals the one in its place.
            missing = [value is None for value in values]
            values = [0 if value is None else value for value in values]
            return np.where(missing, instead, _numbers(values, 0, MOST_NUMBER))
        return _numbers(values, 0, MOST_NUMBER)

    def networks(self) -> Array:
        values = self.values("network")
        try:
            return np.fromiter(map(_VIA.__getitem__, values), np.int64, len(values))
        except (KeyError, TypeError):
            raise _NotPlain from None

    def put(self, column: str, values: Array) -> None:
        self.columns[column][self.rows] = values


def _amounts(groups: list[_Some], name: str, unit: str, least: int) -> bool:
    """Sets the amounts of operations that are all by one of two names; whether it is the second."""
    if not groups:
        return False
    in_unit = getattr(groups[0].operations[0], unit) is not None
    given, other = (unit, name) if in_unit else (name, unit)
    for some in groups:
        if any(value is not None for value in some.values(other)):
            raise _NotPlain
        some.put("amount", _numbers(some.values(given), 0 if in_unit else least, MOST_AMOUNT))
    return in_unit


def _numbers(values: list[Any], least: int, most: int) -> Array:
    if not all(kind is int or issubclass(kind, np.integer) for kind in set(map(type, values))):
        raise _NotPlain
    try:
        found = np.array(values, dtype=np.int64)
    except OverflowError:
        raise _NotPlain from None
    if len(found) and not (least <= found.min() and found.max() <= most):
        raise _NotPlain
    return found


def _by_operation(programs: list[Any]) -> Columns:
    rows = [plain_operations(program, f"programs[{rank}]") for rank, program in enumerate(programs)]
    kinds = _core.Kind
    in_bytes = _unit(rows, (kinds.SEND, kinds.RECEIVE), "bytes", "flits")
    in_ns = _unit(rows, (kinds.COMPUTE,), "ns", "cycles")
    flat = [row for program in rows for row in program]
    return (in_bytes, in_ns), operations(
        [len(program) for program in rows],
        kind=[row.kind for row in flat],
        peer=[_or_any(row, row.peer) for row in flat],
        amount=[row.amount for row in flat],
        tag=[_or_any(row, row.tag) for row in flat],
        step=[row.step for row in flat],
        via=[row.via for row in flat],
        dependencies=[len(row.after) for row in flat],
        after=[op for row in flat for op in row.after],
    )


def _or_any(row: Plain, value: int | None) -> int:
    """A rank or a tag; of operations that have none 0."""
    if value is None:
        return ANY if row.kind == _core.Kind.RECEIVE else 0
    return value


def _unit(rows: Sequence[list[Plain]], kinds: Sequence[int], in_units: str, plain: str) -> bool:
    """Whether operations of these kinds are in bytes, or ns; one that differs from the first is an error."""
    first = None
    for rank, program in enumerate(rows):
        for op, row in enumerate(program):
            if row.kind not in kinds:
                continue
            if first is None:
                first = row.in_units
            if row.in_units != first:
                names = (in_units, plain) if row.in_units else (plain, in_units)
                expected = f"{names[1]}, as the operations before it"
                raise ConfigError(
                    f"programs[{rank}][{op}].{names[0]}", row.amount, expected, "use one unit in a schedule"
                )
    return bool(first)
