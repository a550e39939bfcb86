"""Scatters: block ``r`` of the root's, on rank ``r``."""

from __future__ import annotations

from typing import Any

from flitwork.mpi.wire import Wire, total


def linear(wire: Wire, blocks: list[Any] | None, root: int) -> Any:
    """From the root to each."""
    if wire.rank != root or blocks is None:
        return wire.get(root)
    others = [rank for rank in range(wire.size) if rank != root]
    wire.process.wait(*[wire.send(rank, blocks[rank], len(blocks[rank])) for rank in others])
    return blocks[root]


def binomial(wire: Wire, blocks: list[Any] | None, root: int) -> Any:
    """A binomial tree: a rank is sent all blocks of the ranks below it."""
    size, place = wire.size, (wire.rank - root) % wire.size
    step = 1
    while step < size and not place & step:
        step *= 2
    # The blocks of this rank and of those below it, from the root on.
    mine = [blocks[(root + i) % size] for i in range(size)] if blocks is not None and not place else []
    if place:
        mine = wire.get((wire.rank - step) % size)
    started = []
    step >>= 1
    while step:
        if place + step < size:
            part = mine[step : 2 * step]
            started.append(wire.send((wire.rank + step) % size, part, total(part)))
        step >>= 1
    wire.process.wait(*started)
    return mine[0]
