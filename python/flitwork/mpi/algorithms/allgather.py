"""All-gathers: the block of every rank, on every rank."""

from __future__ import annotations

from typing import Any

from flitwork.mpi.wire import Wire, total


def ring(wire: Wire, block: Any) -> list[Any]:
    """Each block goes round the ring, one place a round."""
    size, rank = wire.size, wire.rank
    found = [block] * size
    for step in range(1, size):
        block = wire.exchange((rank + 1) % size, block, len(block), (rank - 1) % size)
        found[(rank - step) % size] = block
    return found


def bruck(wire: Wire, block: Any) -> list[Any]:
    """Any number of ranks in ``ceil(log2 n)`` rounds, in which what a rank has doubles (Bruck et al. 1997)."""
    size, rank = wire.size, wire.rank
    mine, step = [block], 1
    while step < size:
        part = mine[: size - step]
        mine = [*mine, *wire.exchange((rank - step) % size, part, total(part), (rank + step) % size)]
        step *= 2
    return [mine[(i - rank) % size] for i in range(size)]


def recursive_doubling(wire: Wire, block: Any) -> list[Any]:
    """Partners at distances 1, 2, 4, ...; a number of ranks that is no power of two goes by :func:`bruck`."""
    size, rank = wire.size, wire.rank
    if size & (size - 1):
        return bruck(wire, block)
    mine, step = [block], 1
    while step < size:
        other = wire.exchange(rank ^ step, mine, total(mine), rank ^ step)
        mine = [*other, *mine] if rank & step else [*mine, *other]
        step *= 2
    return mine
