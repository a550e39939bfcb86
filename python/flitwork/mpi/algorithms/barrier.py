"""Barriers."""

from __future__ import annotations

from flitwork.mpi.wire import Wire


def dissemination(wire: Wire) -> None:
    """In round ``k`` a rank tells the one ``2^k`` places on (Hensgen, Finkel and Manber 1988)."""
    step = 1
    while step < wire.size:
        wire.exchange((wire.rank + step) % wire.size, None, 0, (wire.rank - step) % wire.size)
        step *= 2


def tree(wire: Wire) -> None:
    """Up a binomial tree to rank 0, and down again."""
    step = 1
    while step < wire.size and not wire.rank & step:
        if wire.rank + step < wire.size:
            wire.get(wire.rank + step)
        step *= 2
    if wire.rank:
        wire.put(wire.rank - step, None, 0)
        wire.get(wire.rank - step)
    for part in _down(step):
        if wire.rank + part < wire.size:
            wire.put(wire.rank + part, None, 0)


def _down(step: int) -> list[int]:
    return [1 << bit for bit in reversed(range(step.bit_length() - 1))]
