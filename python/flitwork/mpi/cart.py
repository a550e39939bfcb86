"""Communicators on a grid."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np

from flitwork.mpi.buffer import Blocks, blocks, message, same_blocks
from flitwork.mpi.channel import new_context
from flitwork.mpi.comm import COMM_NULL, Comm
from flitwork.mpi.errors import fault
from flitwork.mpi.status import PROC_NULL
from flitwork.mpi.world import Process, me

CART = 1


class Cartcomm(Comm):
    """Ranks on a grid, the last dimension fastest."""

    is_topo = True
    topology = CART

    dims: list[int]
    periods: list[bool]

    @classmethod
    def on(cls, ranks: Sequence[int], context: int, dims: list[int], periods: list[bool]) -> Cartcomm:
        """Those ranks on a grid."""
        made = cls(ranks, context)
        made.dims, made.periods = dims, periods
        return made

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.dims)

    dim = ndim

    @property
    def coords(self) -> list[int]:
        """Coordinates of who calls."""
        return self.Get_coords(self.Get_rank())

    @property
    def topo(self) -> tuple[list[int], list[int], list[int]]:
        """As :meth:`Get_topo`."""
        return self.Get_topo()

    def Get_dim(self) -> int:
        """Number of dimensions."""
        return len(self.dims)

    def Get_topo(self) -> tuple[list[int], list[int], list[int]]:
        """Sizes, whether each dimension is periodic, and the coordinates of who calls."""
        return list(self.dims), [int(one) for one in self.periods], self.coords

    def Get_coords(self, rank: int) -> list[int]:
        """Coordinates of a rank."""
        if not 0 <= rank < int(np.prod(self.dims, dtype=int)):
            raise fault("RANK", f"rank {rank} of a grid {'x'.join(map(str, self.dims))}")
        found = []
        for size in reversed(self.dims):
            rank, place = divmod(rank, size)
            found.append(place)
        return found[::-1]

    def Get_cart_rank(self, coords: Sequence[int]) -> int:
        """The rank with these coordinates; in periodic dimensions they go round."""
        if len(coords) != len(self.dims):
            raise fault("ARG", f"{len(coords)} coordinates in {len(self.dims)} dimensions")
        rank = 0
        for place, size, periodic in zip(coords, self.dims, self.periods, strict=True):
            if not periodic and not 0 <= place < size:
                raise fault("ARG", f"coordinate {place} in a dimension of {size} that is not periodic")
            rank = rank * size + place % size
        return rank

    def Shift(self, direction: int, disp: int) -> tuple[int, int]:
        """Source and destination of a shift along a dimension; ``MPI.PROC_NULL`` beyond an edge."""
        if not 0 <= direction < len(self.dims):
            raise fault("DIMS", f"direction {direction} of {len(self.dims)} dimensions")
        return self._beside(direction, -disp), self._beside(direction, disp)

    def _beside(self, direction: int, disp: int) -> int:
        coords = self.coords
        coords[direction] += disp
        if not self.periods[direction] and not 0 <= coords[direction] < self.dims[direction]:
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
        dims = [size for size, one in zip(self.dims, kept, strict=True) if one]
        return Cartcomm.on(members, context, dims, [p for p, one in zip(self.periods, kept, strict=True) if one])

    def _made(self, process: Process, ranks: list[int], call: int, part: int) -> Comm:
        context = new_context(process.world, (self._context, call, part))
        if len(ranks) == self._size(process):
            return Cartcomm.on(ranks, context, list(self.dims), list(self.periods))
        return Comm(ranks, context, "")

    # Neighbours: down and up in each dimension.

    @property
    def inoutedges(self) -> tuple[list[int], list[int]]:
        """The neighbours, as sources and as destinations."""
        found = [rank for d in range(len(self.dims)) for rank in self.Shift(d, 1)]
        return found, list(found)

    def Neighbor_allgather(self, sendbuf: Any, recvbuf: Any) -> None:
        """The buffers of all neighbours."""
        own, near = message(sendbuf), self.inoutedges[0]
        self._neighbours([own] * len(near), same_blocks(recvbuf, len(near), of_each=True), "Neighbor_allgather")

    def Neighbor_alltoall(self, sendbuf: Any, recvbuf: Any) -> None:
        """A block to each neighbour, and one from each."""
        count = len(self.inoutedges[0])
        given = same_blocks(sendbuf, count, of_each=True)
        room = same_blocks(recvbuf, count, of_each=True)
        self._neighbours([given.block(i) for i in range(count)], room, "Neighbor_alltoall")

    def Neighbor_alltoallv(self, sendbuf: Any, recvbuf: Any) -> None:
        """:meth:`Neighbor_alltoall` of different lengths."""
        count = len(self.inoutedges[0])
        given = blocks(sendbuf, count)
        self._neighbours([given.block(i) for i in range(count)], blocks(recvbuf, count), "Neighbor_alltoallv")

    def _neighbours(self, given: list[Any], room: Blocks, name: str) -> None:
        wire, near = self._wire(name), self.inoutedges[0]
        others = [(i, rank) for i, rank in enumerate(near) if rank != PROC_NULL]
        received = {i: wire.receive(rank) for i, rank in others}
        data = [given[i].pack() for i, _ in others]
        # What goes down comes from above: the other block of the dimension is sent first.
        order = sorted(range(len(others)), key=lambda at: others[at][0] ^ 1)
        sent = [wire.send(others[at][1], data[at], data[at].size) for at in order]
        wire.process.wait(*received.values(), *sent)
        for i, operation in received.items():
            room.block(i).unpack(wire.data(operation))

    def neighbor_allgather(self, sendobj: Any) -> list[Any]:
        """The objects of all neighbours."""
        return self._object_neighbours([sendobj] * len(self.inoutedges[0]), "neighbor_allgather")

    def neighbor_alltoall(self, sendobj: Sequence[Any]) -> list[Any]:
        """An object to each neighbour, and one from each."""
        return self._object_neighbours([*sendobj], "neighbor_alltoall")

    def _object_neighbours(self, given: list[Any], name: str) -> list[Any]:
        wire, near = self._wire(name), self.inoutedges[0]
        received = [None if rank == PROC_NULL else wire.receive(rank) for rank in near]
        sent = []
        for i in sorted(range(len(near)), key=lambda i: i ^ 1):
            if near[i] != PROC_NULL:
                data = pickle.dumps(given[i], -1)
                sent.append(wire.send(near[i], data, len(data)))
        wire.process.wait(*[one for one in received if one is not None], *sent)
        return [None if one is None else pickle.loads(wire.data(one)) for one in received]


def made(comm: Comm, dims: Any, periods: Any) -> Comm:
    """The ranks of a communicator on a grid; those that are too many get ``MPI.COMM_NULL``."""
    sizes = [int(dims)] if isinstance(dims, (int, np.integer)) else [int(size) for size in dims]
    around = [False] * len(sizes) if periods is None else periods
    around = [bool(around)] * len(sizes) if isinstance(around, (int, np.integer)) else [bool(one) for one in around]
    if len(around) != len(sizes):
        raise fault("DIMS", f"{len(sizes)} sizes, and {len(around)} of them are said to be periodic or not")
    process = me()
    _, call = comm._agreed("Create_cart", None)
    count = int(np.prod(sizes, dtype=int))
    ranks = comm._ranks(process)
    if count > len(ranks) or count < 1:
        raise fault("DIMS", f"a grid {'x'.join(map(str, sizes))} has {count} places, for {len(ranks)} ranks")
    if comm._rank(process) >= count:
        return COMM_NULL
    return Cartcomm.on(list(ranks[:count]), new_context(process.world, (comm._context, call, "cart")), sizes, around)


def compute_dims(nnodes: int, dims: int | Sequence[int]) -> list[int]:
    """Sizes whose product is ``nnodes``, as even as can be, the largest first; those that are not 0 stay."""
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
