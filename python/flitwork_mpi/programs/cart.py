"""Communicators on a grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from flitwork_mpi.programs.channel import new_context
from flitwork_mpi.programs.comm import COMM_NULL, Comm
from flitwork_mpi.programs.errors import fault
from flitwork_mpi.programs.integers import integer
from flitwork_mpi.programs.neighbours import Topocomm
from flitwork_mpi.programs.status import PROC_NULL, UNDEFINED
from flitwork_mpi.programs.world import me

CART = 1


class Cartcomm(Topocomm):
    """Ranks on a grid, the last dimension fastest."""

    topology = CART

    _dims: list[int]
    _periods: list[bool]

    @classmethod
    def on(cls, ranks: Sequence[int], context: int, dims: list[int], periods: list[bool]) -> Cartcomm:
        """The ranks of a communicator on a grid."""
        made = cls(ranks, context)
        made._dims, made._periods = dims, periods
        return made

    @property
    def dims(self) -> list[int]:
        """Sizes of the dimensions."""
        return list(self._dims)

    @property
    def periods(self) -> list[bool]:
        """Whether each dimension is periodic."""
        return list(self._periods)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self._dims)

    dim = ndim

    @property
    def coords(self) -> list[int]:
        """Coordinates of who calls."""
        return self.Get_coords(self.Get_rank())

    @property
    def topo(self) -> tuple[list[int], list[int], list[int]]:
        """Dimensions, periods and coordinates, as :meth:`Get_topo` gives them."""
        return self.Get_topo()

    def Get_dim(self) -> int:
        """Number of dimensions."""
        return len(self._dims)

    def Get_topo(self) -> tuple[list[int], list[int], list[int]]:
        """Sizes, whether each dimension is periodic, and the coordinates of who calls."""
        return self.dims, [int(one) for one in self._periods], self.coords

    def Get_coords(self, rank: int) -> list[int]:
        """Coordinates of a rank."""
        rank = integer(rank)
        if not 0 <= rank < int(np.prod(self._dims, dtype=int)):
            raise fault("RANK", f"rank {rank} of a grid {'x'.join(map(str, self._dims))}")
        found = []
        for size in reversed(self._dims):
            rank, place = divmod(rank, size)
            found.append(place)
        return found[::-1]

    def Get_cart_rank(self, coords: Sequence[int]) -> int:
        """The rank with these coordinates; in periodic dimensions they go round."""
        if len(coords) != len(self._dims):
            raise ValueError(f"{len(coords)} coordinates in {len(self._dims)} dimensions")
        rank = 0
        for place, size, periodic in zip(coords, self._dims, self._periods, strict=True):
            if not periodic and not 0 <= place < size:
                raise fault("ARG", f"coordinate {place} in a dimension of {size} that is not periodic")
            rank = rank * size + place % size
        return rank

    def Shift(self, direction: int, disp: int) -> tuple[int, int]:
        """Source and destination of a shift along a dimension; ``MPI.PROC_NULL`` beyond an edge."""
        direction, disp = integer(direction), integer(disp)
        if not 0 <= direction < len(self._dims):
            raise fault("DIMS", f"direction {direction} of {len(self._dims)} dimensions")
        return self._beside(direction, -disp), self._beside(direction, disp)

    def _beside(self, direction: int, disp: int) -> int:
        coords = self.coords
        coords[direction] += disp
        if not self._periods[direction] and not 0 <= coords[direction] < self._dims[direction]:
            return PROC_NULL
        return self.Get_cart_rank(coords)

    def Sub(self, remain_dims: Sequence[bool]) -> Cartcomm:
        """Grids of some of the dimensions, one for each place in the others."""
        kept = [bool(one) for one in remain_dims]
        coords, process = self.coords, me()
        place = tuple(c for c, one in zip(coords, kept, strict=True) if not one)
        _, call = self._agreed("Sub", None)
        ranks = self._ranks(process)
        members = [
            ranks[rank]
            for rank in range(len(ranks))
            if tuple(c for c, one in zip(self.Get_coords(rank), kept, strict=True) if not one) == place
        ]
        context = new_context(process.world, (self._context, call, place))
        dims = [size for size, one in zip(self._dims, kept, strict=True) if one]
        return Cartcomm.on(members, context, dims, [p for p, one in zip(self._periods, kept, strict=True) if one])

    def _copied(self, ranks: Sequence[int], context: int) -> Comm:
        made = self._alike(ranks, context)
        made._dims, made._periods = self._dims, self._periods
        return made

    @property
    def inoutedges(self) -> tuple[list[int], list[int]]:
        """The neighbours, down and up in each dimension, as sources and as destinations."""
        found = [rank for d in range(len(self._dims)) for rank in self.Shift(d, 1)]
        return found, list(found)

    def _sending_order(self, count: int) -> Sequence[int]:
        # What goes down comes from above: the other block of the dimension is sent first.
        return sorted(range(count), key=lambda place: place ^ 1)


def made(comm: Comm, dims: Any, periods: Any) -> Comm:
    """The ranks of a communicator on a grid; those that are too many get ``MPI.COMM_NULL``."""
    sizes, around = _grid(comm, dims, periods)
    process = me()
    _, call = comm._agreed("Create_cart", None)
    count = int(np.prod(sizes, dtype=int))
    if comm._rank(process) >= count:
        return COMM_NULL
    context = new_context(process.world, (comm._context, call, "cart"))
    return Cartcomm.on(list(comm._ranks(process)[:count]), context, sizes, around)


def mapped(comm: Comm, dims: Any, periods: Any) -> int:
    """The rank that who calls would have on a grid."""
    sizes, _ = _grid(comm, dims, periods)
    rank = comm._rank(me())
    return rank if rank < int(np.prod(sizes, dtype=int)) else UNDEFINED


def _grid(comm: Comm, dims: Any, periods: Any) -> tuple[list[int], list[bool]]:
    """Sizes of a grid that has no more places than there are ranks, and which of its dimensions are periodic."""
    sizes = [int(dims)] if isinstance(dims, (int, np.integer)) else [int(size) for size in dims]
    around = [False] * len(sizes) if periods is None else periods
    around = [bool(around)] * len(sizes) if isinstance(around, (int, np.integer)) else [bool(one) for one in around]
    if len(around) != len(sizes):
        raise ValueError(f"{len(sizes)} sizes, and {len(around)} of them are said to be periodic or not")
    count, ranks = int(np.prod(sizes, dtype=int)), comm._size(me())
    if count > ranks or any(size < 1 for size in sizes):
        raise fault("DIMS", f"a grid {'x'.join(map(str, sizes))} has {count} places, for {ranks} ranks")
    return sizes, around


def compute_dims(nnodes: int, dims: int | Sequence[int]) -> list[int]:
    """Sizes whose product is ``nnodes``, as even as can be, the largest first; those that are not 0 stay."""
    nnodes = integer(nnodes)
    given = [0] * dims if isinstance(dims, int) else [int(size) for size in dims]
    fixed = int(np.prod([size for size in given if size], dtype=int))
    if fixed < 1 or nnodes % fixed:
        raise fault("DIMS", f"{nnodes} ranks do not fit in dimensions {given}")
    free = given.count(0)
    if not free:
        if fixed != nnodes:
            raise fault("DIMS", f"{nnodes} ranks do not fit in dimensions {given}")
        return given
    found = iter(_even(nnodes // fixed, free))
    return [size or next(found) for size in given]


def _even(count: int, parts: int) -> list[int]:
    """A number as a product of so many, as even as can be, the largest first."""
    if parts == 1:
        return [count]
    best: list[int] = []
    for size in range(1, count + 1):
        if count % size:
            continue
        rest = _even(count // size, parts - 1)
        if size >= rest[0] and (not best or size < best[0]):
            best = [size, *rest]
    return best
