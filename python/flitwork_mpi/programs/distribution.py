"""Arrays that are distributed over a grid of ranks: which indices a rank has."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from flitwork_mpi.programs.errors import fault

BLOCK, CYCLIC, NONE, DEFAULT = 121, 122, 123, -49767


def owned(
    size: int, rank: int, gsizes: Sequence[int], distribs: Sequence[int], dargs: Sequence[int], psizes: Sequence[int]
) -> list[NDArray[np.int64]]:
    """The indices in each dimension of what a rank of a grid has, whose last dimension is the fastest."""
    if not len(gsizes) == len(distribs) == len(dargs) == len(psizes):
        raise ValueError("gsizes, distribs, dargs and psizes have different lengths")
    if int(np.prod(psizes, dtype=int)) != size or not 0 <= rank < size:
        raise fault("ARG", f"rank {rank} of {size}, on a grid {'x'.join(map(str, psizes))}")
    places = np.unravel_index(rank, tuple(psizes))
    return [_share(*one) for one in zip(gsizes, distribs, dargs, psizes, map(int, places), strict=True)]


def _share(length: int, how: int, unit: int, parts: int, place: int) -> NDArray[np.int64]:
    indices = np.arange(length, dtype=np.int64)
    if how == NONE and parts == 1:
        return indices
    if how == BLOCK:
        block = -(-length // parts) if unit == DEFAULT else unit
        if block * parts < length:
            raise fault("ARG", f"{parts} blocks of {block} elements are fewer than {length}")
        return indices[place * block : (place + 1) * block]
    if how == CYCLIC:
        block = 1 if unit == DEFAULT else unit
        if block > 0:
            mine: NDArray[np.int64] = indices[indices // block % parts == place]
            return mine
    raise fault("ARG", f"a dimension on {parts} ranks, distributed as {how} by {unit}")
