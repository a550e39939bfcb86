"""Reductions whose result is on all ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

from flitwork.mpi.algorithms import bcast, reduce, reduce_scatter
from flitwork.mpi.algorithms.fold import Fold
from flitwork.mpi.algorithms.values import Values
from flitwork.mpi.wire import Wire


def recursive_doubling(wire: Wire, value: Any, values: Values) -> Any:
    """Partners at distances 1, 2, 4, ...; ranks beyond a power of two have a neighbour do it for them."""
    fold = Fold(wire)
    value, step = fold.before(value, values), 1
    while step < fold.places and not fold.idle:
        other = fold.place ^ step
        peer = fold.rank(other)
        value = values.joined(fold.place, value, other, values.exchange(wire, peer, value, peer))
        step *= 2
    return fold.after(value, values)


def rabenseifner(wire: Wire, value: Any, values: Values) -> Any:
    """Reduce-scatter by recursive halving, then the pieces are gathered by recursive doubling (Rabenseifner 2004)."""
    fold, mine = Fold(wire), reduce_scatter.halving(wire, value, values)
    found, step = (mine[0] if mine else None), 1
    while step < fold.places and not fold.idle:
        peer = fold.rank(fold.place ^ step)
        theirs = values.exchange(wire, peer, found, peer)
        found = np.concatenate([theirs, found] if fold.place & step else [found, theirs])
        step *= 2
    return fold.after(found, values)


def ring(wire: Wire, value: Any, values: Values) -> Any:
    """Pieces go round the ring twice: reduced first, then as they are."""
    size, rank = wire.size, wire.rank
    pieces = values.cut(value, size)
    right, left = (rank + 1) % size, (rank - 1) % size
    for step in range(size - 1):
        came = values.exchange(wire, right, pieces[(rank - step) % size], left)
        place = (rank - step - 1) % size
        pieces[place] = values.combine(came, pieces[place])
    for step in range(size - 1):
        pieces[(rank - step) % size] = values.exchange(wire, right, pieces[(rank + 1 - step) % size], left)
    return np.concatenate(pieces)


def reduce_bcast(wire: Wire, value: Any, values: Values) -> Any:
    """A reduction to rank 0, and a broadcast."""
    found = reduce.binomial(wire, value, values, 0)
    box = bcast.binomial(wire, None if found is None else Boxed(values, found), 0)
    return box.value


class Boxed:
    """A value, long as it is in bytes."""

    def __init__(self, values: Values, value: Any) -> None:
        self.value = value
        self._size = values.nbytes(value)

    def __len__(self) -> int:
        return self._size
