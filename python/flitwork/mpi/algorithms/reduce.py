"""Reductions to a root."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from flitwork.mpi.algorithms import gather, reduce_scatter
from flitwork.mpi.algorithms.values import Values
from flitwork.mpi.wire import Wire


def binomial(wire: Wire, value: Any, values: Values, root: int) -> Any:
    """A binomial tree. Where the operation does not commute its root is rank 0, which sends the result on."""
    size = wire.size
    top = root if values.commutes else 0
    place, step = (wire.rank - top) % size, 1
    while step < size:
        if place & step:
            values.put(wire, (wire.rank - step) % size, value)
            break
        if place + step < size:
            value = values.combine(value, values.get(wire, (wire.rank + step) % size))
        step *= 2
    if top != root:
        if wire.rank == top:
            values.put(wire, root, value)
        elif wire.rank == root:
            value = values.get(wire, top)
    return value if wire.rank == root else None


def linear(wire: Wire, value: Any, values: Values, root: int) -> Any:
    """From each to the root, which combines them in order."""
    if wire.rank != root:
        values.put(wire, root, value)
        return None
    found = [value if rank == root else values.get(wire, rank) for rank in range(wire.size)]
    return reduce(values.combine, found)


def rabenseifner(wire: Wire, value: Any, values: Values, root: int) -> Any:
    """Reduce-scatter by recursive halving, then a gather of the pieces (Rabenseifner 2004)."""
    pieces = reduce_scatter.halving(wire, value, values)
    found = gather.binomial(wire, _Piece(pieces), root)
    if found is None:
        return None
    return np.concatenate([piece for one in found for piece in one.pieces])


class _Piece:
    """Pieces of an array, long as they are in bytes."""

    def __init__(self, pieces: list[Any]) -> None:
        self.pieces = pieces

    def __len__(self) -> int:
        return sum(piece.nbytes for piece in self.pieces)
