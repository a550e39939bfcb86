"""Reduce-scatters: block ``r`` of the reduction, on rank ``r``."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from flitwork.mpi.algorithms.fold import Fold
from flitwork.mpi.algorithms.values import Values
from flitwork.mpi.wire import Wire


def pairwise(wire: Wire, blocks: list[Any], values: Values) -> Any:
    """Each rank is sent its block by all others, one a step."""
    size, rank = wire.size, wire.rank
    found = {rank: blocks[rank]}
    for step in range(1, size):
        to, source = (rank + step) % size, (rank - step) % size
        found[source] = values.exchange(wire, to, blocks[to], source)
    return reduce(values.combine, [found[source] for source in range(size)])


def by_root(wire: Wire, blocks: list[Any], values: Values) -> Any:
    """Reduced to rank 0 block by block, which sends each on."""
    size, rank = wire.size, wire.rank
    if rank:
        for block in blocks:
            values.put(wire, 0, block)
        return values.get(wire, 0)
    mine = [[block, *(None for _ in range(size - 1))] for block in blocks]
    for source in range(1, size):
        for row in mine:
            row[source] = values.get(wire, source)
    reduced = [reduce(values.combine, row) for row in mine]
    for to in range(1, size):
        values.put(wire, to, reduced[to])
    return reduced[0]


def halving(wire: Wire, value: Any, values: Values) -> list[Any]:
    """Recursive halving of an array in pieces: rank ``r`` is left with the pieces whose order is that of ranks.

    Ranks beyond a power of two hand their array to a neighbour first and have no piece.
    """
    fold = Fold(wire)
    value = fold.before(value, values)
    if fold.idle:
        return []
    place = fold.place
    pieces = values.cut(value, fold.places)
    first, count = 0, fold.places
    while count > 1:
        count //= 2
        other = place ^ count
        peer = fold.rank(other)
        upper = bool(place & count)
        kept, given = (first + count, first) if upper else (first, first + count)
        sent = np.concatenate(pieces[given : given + count])
        came = values.cut_like(values.exchange(wire, peer, sent, peer), pieces[kept : kept + count])
        for i, piece in enumerate(came):
            pieces[kept + i] = values.joined(place, pieces[kept + i], other, piece)
        first = kept
    return [pieces[first]]
