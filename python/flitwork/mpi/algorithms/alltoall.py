"""All-to-alls: block ``d`` of rank ``s``, as block ``s`` of rank ``d``."""

from __future__ import annotations

from typing import Any

from flitwork.mpi.wire import Wire, total


def pairwise(wire: Wire, blocks: list[Any]) -> list[Any]:
    """In step ``k`` a rank sends to the one ``k`` places on and receives from the one ``k`` places back."""
    size, rank = wire.size, wire.rank
    found = [blocks[rank]] * size
    for step in range(1, size):
        to, source = (rank + step) % size, (rank - step) % size
        found[source] = wire.exchange(to, blocks[to], len(blocks[to]), source)
    return found


def pairwise_xor(wire: Wire, blocks: list[Any]) -> list[Any]:
    """In step ``k`` ranks ``r`` and ``r xor k`` exchange; no power of two: :func:`pairwise`."""
    size, rank = wire.size, wire.rank
    if size & (size - 1):
        return pairwise(wire, blocks)
    found = [blocks[rank]] * size
    for step in range(1, size):
        other = rank ^ step
        found[other] = wire.exchange(other, blocks[other], len(blocks[other]), other)
    return found


def simple_spread(wire: Wire, blocks: list[Any]) -> list[Any]:
    """All messages are started at once, to the next rank first."""
    size, rank = wire.size, wire.rank
    received = {(rank - step) % size: wire.receive((rank - step) % size) for step in range(1, size)}
    ahead = [(rank + step) % size for step in range(1, size)]
    sent = [wire.send(to, blocks[to], len(blocks[to])) for to in ahead]
    wire.process.wait(*received.values(), *sent)
    return [blocks[rank] if source == rank else wire.data(received[source]) for source in range(size)]


def bruck(wire: Wire, blocks: list[Any]) -> list[Any]:
    """``ceil(log2 n)`` rounds, in each of which about half of the blocks go ``2^k`` places on (Bruck et al. 1997)."""
    size, rank = wire.size, wire.rank
    # Block i goes i places on.
    mine = [blocks[(rank + i) % size] for i in range(size)]
    step = 1
    while step < size:
        moved = [i for i in range(size) if i & step]
        part = [mine[i] for i in moved]
        for i, block in zip(
            moved, wire.exchange((rank + step) % size, part, total(part), (rank - step) % size), strict=True
        ):
            mine[i] = block
        step *= 2
    return [mine[(rank - source) % size] for source in range(size)]
