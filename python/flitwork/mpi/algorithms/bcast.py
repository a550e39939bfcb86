"""Broadcasts: ``data`` of the root, on all ranks."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from flitwork.mpi.algorithms import allgather, scatter
from flitwork.mpi.wire import Wire


def binomial(wire: Wire, data: Any, root: int) -> Any:
    """A binomial tree: every round doubles those that have the data."""
    size, place = wire.size, (wire.rank - root) % wire.size
    step = 1
    while step < size and not place & step:
        step *= 2
    if place:
        data = wire.get((wire.rank - step) % size)
    started = []
    step >>= 1
    while step:
        if place + step < size:
            started.append(wire.send((wire.rank + step) % size, data, len(data)))
        step >>= 1
    wire.process.wait(*started)
    return data


def linear(wire: Wire, data: Any, root: int) -> Any:
    """From the root to each."""
    if wire.rank != root:
        return wire.get(root)
    others = [rank for rank in range(wire.size) if rank != root]
    wire.process.wait(*[wire.send(rank, data, len(data)) for rank in others])
    return data


def scatter_allgather(wire: Wire, data: Any, root: int) -> Any:
    """The data cut into a piece for each rank, scattered by a binomial tree and gathered in a ring (van de Geijn)."""
    pieces = None
    if wire.rank == root:
        bounds = [len(data) * rank // wire.size for rank in range(wire.size + 1)]
        pieces = [data[first:last] for first, last in pairwise(bounds)]
    return np.concatenate(allgather.ring(wire, scatter.binomial(wire, pieces, root)))
