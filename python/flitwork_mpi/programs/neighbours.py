"""Communicators with a topology, and their collectives among neighbours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from typing_extensions import Self

from flitwork_mpi.programs.buffer import Buffer, blocks, message, same_blocks, typed_blocks
from flitwork_mpi.programs.collective_data import Block, fill_block
from flitwork_mpi.programs.comm import Comm
from flitwork_mpi.programs.errors import fault
from flitwork_mpi.programs.persistent import Persistent
from flitwork_mpi.programs.pickling import dump, load
from flitwork_mpi.programs.request import Request
from flitwork_mpi.programs.status import PROC_NULL, UNDEFINED
from flitwork_mpi.programs.wire import Wire
from flitwork_mpi.programs.world import Operation

_Work = Callable[[], None]


class Topocomm(Comm):
    """A communicator whose ranks have neighbours: those that they hear from, and those that they tell."""

    is_topo = True

    def __new__(cls, of: object = None, *rest: Any, **more: Any) -> Self:
        """The same communicator again, if it has this topology."""
        if isinstance(of, Comm) and of and not (of.is_topo and cls.topology in (UNDEFINED, of.topology)):
            raise TypeError(f"expecting a {cls.__name__}, not a {type(of).__name__}")
        return super().__new__(cls, of, *rest, **more)

    @property
    def inoutedges(self) -> tuple[list[int], list[int]]:
        """The neighbours of who calls, as sources and as destinations."""
        raise fault("TOPOLOGY", "a communicator without a topology")

    @property
    def inedges(self) -> list[int]:
        """Neighbours that messages come from."""
        return self.inoutedges[0]

    @property
    def outedges(self) -> list[int]:
        """Neighbours that messages go to."""
        return self.inoutedges[1]

    @property
    def degrees(self) -> tuple[int, int]:
        """How many sources and how many destinations."""
        sources, destinations = self.inoutedges
        return len(sources), len(destinations)

    @property
    def indegree(self) -> int:
        """How many sources."""
        return self.degrees[0]

    @property
    def outdegree(self) -> int:
        """How many destinations."""
        return self.degrees[1]

    # Buffers.

    def Neighbor_allgather(self, sendbuf: Any, recvbuf: Any) -> None:
        """The buffers of all neighbours."""
        self._all_gathered("Neighbor_allgather", sendbuf, recvbuf, False)()

    def Neighbor_allgatherv(self, sendbuf: Any, recvbuf: Any) -> None:
        """:meth:`Neighbor_allgather` of different lengths."""
        self._all_gathered("Neighbor_allgatherv", sendbuf, recvbuf, True)()

    def Neighbor_alltoall(self, sendbuf: Any, recvbuf: Any) -> None:
        """A block to each neighbour, and one from each."""
        self._all_to_all("Neighbor_alltoall", sendbuf, recvbuf, False)()

    def Neighbor_alltoallv(self, sendbuf: Any, recvbuf: Any) -> None:
        """:meth:`Neighbor_alltoall` of different lengths."""
        self._all_to_all("Neighbor_alltoallv", sendbuf, recvbuf, True)()

    def Neighbor_alltoallw(self, sendbuf: Any, recvbuf: Any) -> None:
        """:meth:`Neighbor_alltoallv` with a datatype for each block; displacements in bytes."""
        self._all_to_all_typed("Neighbor_alltoallw", sendbuf, recvbuf)()

    def Ineighbor_allgather(self, sendbuf: Any, recvbuf: Any) -> Request:
        """:meth:`Neighbor_allgather`, started."""
        return self._start(self._all_gathered("Neighbor_allgather", sendbuf, recvbuf, False), "Ineighbor_allgather")

    def Ineighbor_allgatherv(self, sendbuf: Any, recvbuf: Any) -> Request:
        """:meth:`Neighbor_allgatherv`, started."""
        return self._start(self._all_gathered("Neighbor_allgatherv", sendbuf, recvbuf, True), "Ineighbor_allgatherv")

    def Ineighbor_alltoall(self, sendbuf: Any, recvbuf: Any) -> Request:
        """:meth:`Neighbor_alltoall`, started."""
        return self._start(self._all_to_all("Neighbor_alltoall", sendbuf, recvbuf, False), "Ineighbor_alltoall")

    def Ineighbor_alltoallv(self, sendbuf: Any, recvbuf: Any) -> Request:
        """:meth:`Neighbor_alltoallv`, started."""
        return self._start(self._all_to_all("Neighbor_alltoallv", sendbuf, recvbuf, True), "Ineighbor_alltoallv")

    def Ineighbor_alltoallw(self, sendbuf: Any, recvbuf: Any) -> Request:
        """:meth:`Neighbor_alltoallw`, started."""
        return self._start(self._all_to_all_typed("Neighbor_alltoallw", sendbuf, recvbuf), "Ineighbor_alltoallw")

    def Neighbor_allgather_init(self, sendbuf: Any, recvbuf: Any, info: Any = None) -> Persistent:
        """:meth:`Neighbor_allgather`, to be started again and again."""
        return Persistent.made_by(lambda: self.Ineighbor_allgather(sendbuf, recvbuf))

    def Neighbor_allgatherv_init(self, sendbuf: Any, recvbuf: Any, info: Any = None) -> Persistent:
        """:meth:`Neighbor_allgatherv`, to be started again and again."""
        return Persistent.made_by(lambda: self.Ineighbor_allgatherv(sendbuf, recvbuf))

    def Neighbor_alltoall_init(self, sendbuf: Any, recvbuf: Any, info: Any = None) -> Persistent:
        """:meth:`Neighbor_alltoall`, to be started again and again."""
        return Persistent.made_by(lambda: self.Ineighbor_alltoall(sendbuf, recvbuf))

    def Neighbor_alltoallv_init(self, sendbuf: Any, recvbuf: Any, info: Any = None) -> Persistent:
        """:meth:`Neighbor_alltoallv`, to be started again and again."""
        return Persistent.made_by(lambda: self.Ineighbor_alltoallv(sendbuf, recvbuf))

    def Neighbor_alltoallw_init(self, sendbuf: Any, recvbuf: Any, info: Any = None) -> Persistent:
        """:meth:`Neighbor_alltoallw`, to be started again and again."""
        return Persistent.made_by(lambda: self.Ineighbor_alltoallw(sendbuf, recvbuf))

    def _all_gathered(self, name: str, sendbuf: Any, recvbuf: Any, each: bool) -> _Work:
        come, go = self.degrees
        room = blocks(recvbuf, come) if each else same_blocks(recvbuf, come, of_each=True)
        return self._exchanged(name, [message(sendbuf)] * go, [room.block(place) for place in range(come)])

    def _all_to_all(self, name: str, sendbuf: Any, recvbuf: Any, each: bool) -> _Work:
        come, go = self.degrees
        given = blocks(sendbuf, go) if each else same_blocks(sendbuf, go, of_each=True)
        room = blocks(recvbuf, come) if each else same_blocks(recvbuf, come, of_each=True)
        return self._exchanged(
            name, [given.block(place) for place in range(go)], [room.block(place) for place in range(come)]
        )

    def _all_to_all_typed(self, name: str, sendbuf: Any, recvbuf: Any) -> _Work:
        come, go = self.degrees
        return self._exchanged(name, typed_blocks(sendbuf, go), typed_blocks(recvbuf, come))

    def _exchanged(self, name: str, given: Sequence[Buffer], room: Sequence[Buffer]) -> _Work:
        wire, data = self._wire(name), [Block(block.pack(), block.datatype.signature) for block in given]

        def work() -> None:
            for place, came in enumerate(self._with_neighbours(wire, data, len)):
                if came is not None:
                    fill_block(room[place], came)

        return work

    # Python objects.

    def neighbor_allgather(self, sendobj: Any) -> list[Any]:
        """The objects of all neighbours."""
        return self._object_neighbours([sendobj] * self.outdegree, "neighbor_allgather")

    def neighbor_alltoall(self, sendobj: Sequence[Any]) -> list[Any]:
        """An object to each neighbour, and one from each."""
        given = [*sendobj]
        if len(given) != self.outdegree:
            raise ValueError(f"expecting {self.outdegree} items, got {len(given)}")
        return self._object_neighbours(given, "neighbor_alltoall")

    def _object_neighbours(self, given: Sequence[Any], name: str) -> list[Any]:
        data = [dump(one) for one in given]
        found = self._with_neighbours(self._wire(name), data, len)
        return [None if one is None else load(one) for one in found]

    # Messages.

    def _sending_order(self, count: int) -> Sequence[int]:
        """In which order to send to ``count`` destinations: what matters where a rank is a neighbour twice."""
        return range(count)

    def _with_neighbours(self, wire: Wire, data: Sequence[Any], length: Callable[[Any], int]) -> list[Any]:
        """Sends each destination its data; what came from each source, ``None`` from nobody."""
        sources, destinations = self.inoutedges
        received = [None if rank == PROC_NULL else wire.receive(rank) for rank in sources]
        sent: list[Operation] = []
        for place in self._sending_order(len(destinations)):
            if destinations[place] != PROC_NULL:
                sent.append(wire.send(destinations[place], data[place], length(data[place])))
        wire.process.wait(*[one for one in received if one is not None], *sent)
        return [None if one is None else wire.data(one) for one in received]
