"""Gathers: the block of every rank, on the root."""

from __future__ import annotations

from typing import Any

from flitwork.mpi.wire import Wire, total


def linear(wire: Wire, block: Any, root: int) -> list[Any] | None:
    """From each to the root."""
    if wire.rank != root:
        wire.put(root, block, len(block))
        return None
    received = {rank: wire.receive(rank) for rank in range(wire.size) if rank != root}
    wire.process.wait(*received.values())
    return [block if rank == root else wire.data(received[rank]) for rank in range(wire.size)]


def binomial(wire: Wire, block: Any, root: int) -> list[Any] | None:
    """A binomial tree: a rank sends all blocks of the ranks below it at once."""
    size, place = wire.size, (wire.rank - root) % wire.size
    mine, step = [block], 1
    while step < size:
        if place & step:
            wire.put((wire.rank - step) % size, mine, total(mine))
            return None
        if place + step < size:
            mine = [*mine, *wire.get((wire.rank + step) % size)]
        step *= 2
    return [mine[(rank - root) % size] for rank in range(size)]
