"""What ranks are told to do while they run, as values, and their one check: each field by its path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flitwork.arguments import several, whole
from flitwork.errors import ConfigError

#: The simulator keeps the number after it for "any".
_MOST_NUMBER = 2**32 - 2
_MOST_AMOUNT = 2**40

#: As the simulator takes it: what, the other rank, flits or cycles, tag, operations that it waits for.
Plain = tuple[str, int | None, int, int | None, list[int]]


@dataclass(frozen=True)
class Send:
    """Send ``flits`` flits to rank ``to``; the rank goes on at once. Complete when the last flit has left.

    ``after``: operations of the rank, by number, that must be complete before it starts.
    """

    to: int
    flits: int
    tag: int = 0
    after: Sequence[int] = ()


@dataclass(frozen=True)
class Receive:
    """Receive the next message of rank ``source`` with ``tag``, at most ``flits`` flits; the rank goes on at once.

    ``None`` as source or tag: any. Complete when the whole message has arrived.
    """

    source: int | None
    flits: int
    tag: int | None = 0
    after: Sequence[int] = ()


@dataclass(frozen=True)
class Compute:
    """Occupy the rank for ``cycles`` cycles."""

    cycles: int
    after: Sequence[int] = ()


@dataclass(frozen=True)
class Wait:
    """Go on only when the operations ``after`` are complete."""

    after: Sequence[int]


Operation = Send | Receive | Compute | Wait


def plain_operations(operations: Any) -> list[Plain]:
    """Operations as the simulator takes them; a field that cannot be used is a :class:`ConfigError` with its path."""
    given = several("operations", operations, "a list of fw.Send, fw.Receive, fw.Compute or fw.Wait")
    return [_plain(f"operations[{i}]", operation) for i, operation in enumerate(given)]


def _plain(path: str, operation: Any) -> Plain:
    match operation:
        case Send(to, flits, tag, after):
            return (
                "send",
                _number(f"{path}.to", to),
                _flits(path, flits),
                _number(f"{path}.tag", tag),
                _after(path, after),
            )
        case Receive(source, flits, tag, after):
            other, tagged = _number_or_any(f"{path}.source", source), _number_or_any(f"{path}.tag", tag)
            return "receive", other, _flits(path, flits), tagged, _after(path, after)
        case Compute(cycles, after):
            return "compute", None, whole(f"{path}.cycles", cycles, 0, _MOST_AMOUNT), None, _after(path, after)
        case Wait(after):
            return "wait", None, 0, None, _after(path, after)
    raise ConfigError(path, repr(operation), "a Send, Receive, Compute or Wait", "for example fw.Send(1, flits=8)")


def _number(path: str, value: Any) -> int:
    return whole(path, value, 0, _MOST_NUMBER)


def _number_or_any(path: str, value: Any) -> int | None:
    return None if value is None else whole(path, value, 0, _MOST_NUMBER, "None for any")


def _flits(path: str, value: Any) -> int:
    return whole(f"{path}.flits", value, 1, _MOST_AMOUNT)


def _after(path: str, values: Any) -> list[int]:
    path = f"{path}.after"
    given = several(path, values, "a list of operations, by number")
    return [_number(f"{path}[{i}]", value) for i, value in enumerate(given)]
