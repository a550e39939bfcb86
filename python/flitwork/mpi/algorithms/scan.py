"""Prefix reductions: those of all ranks up to this one, and of all before it."""

from __future__ import annotations

from typing import Any

from flitwork.mpi.algorithms.values import Values
from flitwork.mpi.wire import Wire


def recursive_doubling(wire: Wire, value: Any, values: Values) -> tuple[Any, Any]:
    """In round ``k`` a rank hands what it has to the one ``2^k`` places on (Hillis and Steele 1986).

    Returns the reduction of the ranks before this one (``None`` on rank 0), and that with its own.
    """
    size, rank = wire.size, wire.rank
    before, found, step = None, value, 1
    while step < size:
        sent = values.start(wire, rank + step, found) if rank + step < size else None
        if rank >= step:
            came = values.get(wire, rank - step)
            before = came if before is None else values.combine(came, before)
            found = values.combine(came, found)
        if sent is not None:
            wire.process.wait(sent)
        step *= 2
    return before, found


def linear(wire: Wire, value: Any, values: Values) -> tuple[Any, Any]:
    """From rank to rank."""
    before = values.get(wire, wire.rank - 1) if wire.rank else None
    found = value if before is None else values.combine(before, value)
    if wire.rank + 1 < wire.size:
        values.put(wire, wire.rank + 1, found)
    return before, found
