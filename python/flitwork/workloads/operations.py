"""What ranks are told to do while they run, as values, and their one check: each field by its path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from flitwork import _core
from flitwork.base.arguments import several, whole
from flitwork.base.errors import ConfigError, did_you_mean

#: Networks of a machine that a message may go by, in the order in which the simulator counts them.
NETWORKS = tuple(_core.message_networks())
#: The simulator keeps the number after it for "any".
MOST_NUMBER = 2**32 - 2
MOST_AMOUNT = 2**40


class Plain(NamedTuple):
    """An operation as plain numbers, all of them checked."""

    kind: int
    peer: int | None
    amount: int
    in_units: bool
    tag: int | None
    after: list[int]
    step: int = 0
    via: int = 0

    @property
    def row(self) -> tuple[int, int | None, int, int | None, int, Sequence[int], bool, int]:
        """As a simulation that runs takes it: it knows no steps."""
        return self.kind, self.peer, self.amount, self.tag, 0, self.after, self.in_units, self.via


@dataclass(frozen=True)
class Send:
    """Send ``flits`` flits, or ``bytes``, to rank ``to``; the rank goes on. Complete when the last flit has left.

    ``after``: operations of the rank, by number, that must be complete before it starts. What is in bytes takes as many
    flits as ``units.flit_bytes`` of the network says, at least one. ``step``: the step of the algorithm that the
    message belongs to; loads are added up by step.

    ``network``: by which network of the machine it goes. ``bus``: over ``network.bus``, in a transfer of its own;
    ``bus_next``: behind the message before it in the same transfer, as of a scatter function; ``bus_same``: together
    with the message before it, as the same data for another rank, as of a broadcast function. ``tree``: news of one
    flit over ``network.barrier_tree``.
    """

    to: int
    flits: int | None = None
    tag: int = 0
    after: Sequence[int] = ()
    bytes: int | None = field(default=None, kw_only=True)
    step: int | None = field(default=None, kw_only=True)
    network: Literal["network", "bus", "bus_next", "bus_same", "tree"] = field(default="network", kw_only=True)


@dataclass(frozen=True)
class Receive:
    """Receive the next message of rank ``source`` with ``tag``, at most so long; the rank goes on at once.

    It is posted when the operations ``after`` are complete.

    ``None`` as source or tag: any. Complete when the whole message has arrived.
    """

    source: int | None
    flits: int | None = None
    tag: int | None = 0
    after: Sequence[int] = ()
    bytes: int | None = field(default=None, kw_only=True)
    step: int | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class Compute:
    """Occupy the rank for ``cycles`` cycles, or ``ns`` ns by ``units.cycle_ns`` of the network."""

    cycles: int | None = None
    after: Sequence[int] = ()
    ns: int | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class Wait:
    """Go on only when the operations ``after`` are complete."""

    after: Sequence[int]


Operation = Send | Receive | Compute | Wait


def plain_operations(operations: Any, path: str = "operations") -> list[Plain]:
    """Operations as plain numbers; a field that cannot be used is a :class:`ConfigError` with its path."""
    given = several(path, operations, "a list of fw.Send, fw.Receive, fw.Compute or fw.Wait")
    return [_plain(f"{path}[{i}]", operation) for i, operation in enumerate(given)]


def _plain(path: str, operation: Any) -> Plain:
    match operation:
        case Send(to, flits, tag, after):
            other, tagged = _number(f"{path}.to", to), _number(f"{path}.tag", tag)
            return Plain(
                _core.Kind.SEND,
                other,
                *_amount(path, "flits", flits, "bytes", operation.bytes, 1),
                tagged,
                _after(path, after),
                _step(path, operation.step),
                _network(path, operation.network),
            )
        case Receive(source, flits, tag, after):
            asked, kind = _number_or_any(f"{path}.source", source), _number_or_any(f"{path}.tag", tag)
            length = _amount(path, "flits", flits, "bytes", operation.bytes, 1)
            step = _step(path, operation.step)
            return Plain(_core.Kind.RECEIVE, asked, *length, kind, _after(path, after), step)
        case Compute(cycles, after):
            time = _amount(path, "cycles", cycles, "ns", operation.ns, 0)
            return Plain(_core.Kind.COMPUTE, None, *time, None, _after(path, after))
        case Wait(after):
            return Plain(_core.Kind.WAIT, None, 0, False, None, _after(path, after))
    raise ConfigError(path, repr(operation), "a Send, Receive, Compute or Wait", "for example fw.Send(1, flits=8)")


def _number(path: str, value: Any) -> int:
    return whole(path, value, 0, MOST_NUMBER)


def _number_or_any(path: str, value: Any) -> int | None:
    return None if value is None else whole(path, value, 0, MOST_NUMBER, "None for any")


def _amount(path: str, name: str, value: Any, unit: str, in_unit: Any, least: int) -> tuple[int, bool]:
    """How much, by one of two names, and whether it is by the second."""
    if in_unit is None:
        return whole(f"{path}.{name}", value, least, MOST_AMOUNT), False
    if value is not None:
        raise ConfigError(f"{path}.{unit}", repr(in_unit), f"{name} or {unit}, not both", "leave one of them out")
    return whole(f"{path}.{unit}", in_unit, 0, MOST_AMOUNT), True


def _step(path: str, value: int | None) -> int:
    return 0 if value is None else _number(f"{path}.step", value)


def _network(path: str, value: Any) -> int:
    if value not in NETWORKS:
        expected = f"one of {', '.join(NETWORKS)}"
        raise ConfigError(f"{path}.network", repr(value), expected, did_you_mean(str(value), NETWORKS))
    return NETWORKS.index(value)


def _after(path: str, values: Any) -> list[int]:
    path = f"{path}.after"
    given = several(path, values, "a list of operations, by number")
    return [_number(f"{path}[{i}]", value) for i, value in enumerate(given)]
