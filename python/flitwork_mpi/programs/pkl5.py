"""``mpi4py.util.pkl5``: communicators that send the long buffers of objects as messages of their own.

What is pickled, and in which parts, says :mod:`flitwork_mpi.programs.out_of_band`. Messages between two ranks are the
head of an object and then its buffers, all with one tag, so that who has the head receives as many more of its sender.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from typing_extensions import Self

from flitwork_mpi.programs.algorithms import pick
from flitwork_mpi.programs.collective_data import MOVED, cut, joined
from flitwork_mpi.programs.comm import Comm as CommOfMpi
from flitwork_mpi.programs.errors import fault, not_supported
from flitwork_mpi.programs.matched_probe import MESSAGE_NO_PROC, MESSAGE_NULL
from flitwork_mpi.programs.matched_probe import Message as MessageOfMpi
from flitwork_mpi.programs.memory import Memory
from flitwork_mpi.programs.objects import checked_root, one_for_each
from flitwork_mpi.programs.operations import allgathered, exchanged
from flitwork_mpi.programs.out_of_band import lengths_of, pickle_of_rank, put_together, set_pickle, taken_apart
from flitwork_mpi.programs.pickling import Pickle
from flitwork_mpi.programs.request import REQUEST_NULL, statuses_for
from flitwork_mpi.programs.request import Request as RequestOfMpi
from flitwork_mpi.programs.status import ANY_SOURCE, ANY_TAG, PROC_NULL, Status
from flitwork_mpi.programs.steps import carry_out
from flitwork_mpi.programs.wire import Wire
from flitwork_mpi.programs.world import Message as Arriving
from flitwork_mpi.programs.world import Operation, me


class Request:
    """The messages of an object that have been started; ``MPI.REQUEST_NULL`` is equal to it when they are complete.

    ``Request(other)`` is the same one again, also of one of MPI's.
    """

    #: A request of MPI's for each message, and whether they bring an object.
    _parts: tuple[RequestOfMpi, ...] = (REQUEST_NULL,)
    _brings = False

    def __init__(self, request: Request | RequestOfMpi | None = None) -> None:
        if isinstance(request, Request):
            self._parts, self._brings = request._parts, request._brings
        elif isinstance(request, RequestOfMpi):
            self._parts = (request,)
        elif request is not None:
            raise TypeError(f"expecting a request, not {type(request).__name__}")

    @classmethod
    def of(cls, parts: Iterable[RequestOfMpi], brings: bool = False) -> Request:
        """A request that is complete when all of its parts are."""
        made = cls()
        made._parts, made._brings = tuple(parts), brings
        return made

    def wait(self, status: Status | None = None) -> Any:
        """Waits for it, and returns the object that came."""
        head, *buffers = RequestOfMpi.waitall(self._parts, None if status is None else [status])
        return put_together(head, buffers) if self._brings and head is not None else head

    def test(self, status: Status | None = None) -> tuple[bool, Any]:
        """Whether the request is complete, and its object. If not, the rank goes on when something happens to it."""
        return (True, self.wait(status)) if self.get_status() else (False, None)

    def get_status(self, status: Status | None = None) -> bool:
        """Whether the request is complete; it stays usable."""
        return RequestOfMpi.Get_status_all(self._parts, None if status is None else [status])

    def cancel(self) -> None:
        """Nothing of a request that is active: sends go on, and what is received has been matched already."""
        if not self:
            raise fault("REQUEST", "a request that is not active cannot be cancelled")

    def Free(self) -> None:
        """Gives it up: it completes by itself."""
        if not self:
            raise fault("REQUEST", "MPI.REQUEST_NULL cannot be freed")
        self.free()

    def free(self) -> None:
        """Frees as :meth:`Free`, also a request that may have been freed or completed."""
        for part in self._parts:
            part.free()

    @classmethod
    def waitall(cls, requests: Sequence[Request], statuses: list[Status] | None = None) -> list[Any]:
        """Waits for all of them; the objects that came."""
        return [one.wait(status) for one, status in zip(requests, statuses_for(requests, statuses), strict=False)]

    @classmethod
    def testall(
        cls, requests: Sequence[Request], statuses: list[Status] | None = None
    ) -> tuple[bool, list[Any] | None]:
        """Whether all are complete, and the objects that came; see :meth:`test`."""
        return (True, cls.waitall(requests, statuses)) if cls.get_status_all(requests) else (False, None)

    @classmethod
    def get_status_all(cls, requests: Sequence[Request], statuses: list[Status] | None = None) -> bool:
        """Whether all requests are complete, as :meth:`testall`; they stay usable."""
        if not RequestOfMpi.Get_status_all([part for one in requests for part in one._parts]):
            return False
        for one, status in zip(requests, statuses_for(requests, statuses), strict=False):
            one.get_status(status)
        return True

    def __bool__(self) -> bool:
        return any(self._parts)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, RequestOfMpi):
            return self == Request(other)
        if not isinstance(other, Request):
            return NotImplemented
        return self._parts == other._parts or not (self or other)

    __hash__ = object.__hash__


class Message:
    """An object that a matched probe has taken; ``MPI.MESSAGE_NULL`` once it has been received.

    ``Message(other)`` is the same one again.
    """

    #: The receive that has taken it. One from nobody has parts, too.
    _taken: Request | None = None
    _from_nobody = False

    def __init__(self, message: Message | MessageOfMpi | None = None) -> None:
        if isinstance(message, Message):
            self.__dict__ = message.__dict__
        elif message is not None and message == MESSAGE_NO_PROC:
            self._taken, self._from_nobody = Request.of([RequestOfMpi.of(None)]), True
        elif message is not None and message != MESSAGE_NULL:
            raise TypeError(f"expecting a message of mpi4py.util.pkl5, not {type(message).__name__}")

    @classmethod
    def of(cls, taken: Request) -> Message:
        """The message of a receive."""
        made = cls()
        made._taken = taken
        return made

    @classmethod
    def probe(cls, comm: Comm, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None) -> Self:
        """Waits for a message and takes it, as ``comm.mprobe``."""
        return cls(comm.mprobe(source, tag, status))

    @classmethod
    def iprobe(
        cls, comm: Comm, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None
    ) -> Self | None:
        """Takes a message that has arrived, as ``comm.improbe``; ``None`` where there is none."""
        found = comm.improbe(source, tag, status)
        return None if found is None else cls(found)

    def recv(self, status: Status | None = None) -> Any:
        """Receives it."""
        return self.irecv().wait(status)

    def irecv(self) -> Request:
        """Receives the object, as :meth:`recv`, by a request."""
        taken = self._taken
        if taken is None:
            raise fault("REQUEST", "MPI.MESSAGE_NULL cannot be received")
        self._taken, self._from_nobody = None, False
        return taken

    def free(self) -> None:
        """Nothing: a message that has been taken is to be received."""

    def __bool__(self) -> bool:
        return self._taken is not None

    def __eq__(self, other: object) -> bool:
        if isinstance(other, MessageOfMpi):
            return self._from_nobody if other == MESSAGE_NO_PROC else not (self or other)
        if not isinstance(other, Message):
            return NotImplemented
        return self._taken is other._taken or (self._from_nobody and other._from_nobody)

    __hash__ = object.__hash__


class Comm(CommOfMpi):
    """A communicator whose objects travel in parts. What is not here is as ``MPI.Comm`` has it."""

    # Messages.

    def recv(self, buf: Any = None, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None) -> Any:
        """Receives an object. ``buf`` makes no difference."""
        return self._received(self._receive(source, tag), status)

    def irecv(self, buf: Any = None, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> Any:
        """An error: how many messages an object is made of is not known before the first has come."""
        raise RuntimeError("mpi4py.util.pkl5 has no irecv: use mprobe() or improbe(), and irecv() of its message")

    def sendrecv(
        self,
        sendobj: Any,
        dest: int,
        sendtag: int = 0,
        recvbuf: Any = None,
        source: int = ANY_SOURCE,
        recvtag: int = ANY_TAG,
        status: Status | None = None,
    ) -> Any:
        """Sends one object and receives another."""
        # What cannot be sent must leave no receive behind.
        messages = self._apart(sendobj, dest, sendtag)
        head = self._receive(source, recvtag)
        sent = _sent(messages)
        found = self._received(head, status)
        me().wait(*sent)
        return found

    def mprobe(  # type: ignore[override]
        self, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None
    ) -> Message:
        """Waits for an object and takes it: ``message.recv()``."""
        return self._taken(self._probed(source, tag), status)

    def improbe(  # type: ignore[override]
        self, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Status | None = None
    ) -> Message | None:
        """Takes an object, if the head of one has come."""
        came = self._look(source, tag)
        return None if came is None and source != PROC_NULL else self._taken(came, status)

    # Collectives. Heads go as objects do. Then buffers follow, as they do where their lengths are known.

    def bcast(self, obj: Any, root: int = 0) -> Any:
        """The object of the root: its head, then each buffer by an algorithm for its length."""
        wire = self._wire("pkl5.bcast")
        root = checked_root(root, wire.size)
        head, buffers = taken_apart(obj) if wire.rank == root else (b"", [])
        block_data: dict[int, Any] = {0: head} if wire.rank == root else {}
        carry_out(wire, pick(wire, "bcast", 0, root, cuts=False), block_data, MOVED)
        lengths = lengths_of(block_data[0])
        given = buffers if wire.rank == root else [None] * len(lengths)
        came = [self._bcast_of_buffer(one, nbytes, root) for one, nbytes in zip(given, lengths, strict=True)]
        return obj if wire.rank == root else put_together(block_data[0], came)

    def _bcast_of_buffer(self, buffer: Memory | None, nbytes: int, root: int) -> Memory:
        wire = self._wire("pkl5.bcast of a buffer")
        steps = pick(wire, "bcast", nbytes, root)
        block_data: dict[int, Any] = {} if buffer is None else dict(enumerate(cut(buffer, steps.pieces)))
        carry_out(wire, steps, block_data, MOVED)
        if buffer is not None:
            return buffer
        pieces = [block_data[piece] for piece in range(steps.pieces)]
        # A piece is that of all ranks.
        return Memory(pieces[0].copy() if len(pieces) == 1 else joined(pieces))

    def gather(self, sendobj: Any, root: int = 0) -> list[Any] | None:
        """The objects of all ranks, on the root, to which each rank sends its buffers."""
        wire = self._wire("pkl5.gather")
        root = checked_root(root, wire.size)
        head, buffers = taken_apart(sendobj)
        heads: dict[int, Any] = {wire.rank: head}
        carry_out(wire, pick(wire, "gather", 0, root), heads, MOVED)
        found = self._exchanged({root: buffers}, heads if wire.rank == root else {})
        return found if wire.rank == root else None

    def scatter(self, sendobj: Iterable[Any] | None, root: int = 0) -> Any:
        """Object ``r`` of the root's, on rank ``r``, to which the root sends its buffers."""
        wire = self._wire("pkl5.scatter")
        root = checked_root(root, wire.size)
        heads: dict[int, Any] = {}
        buffers: dict[int, list[Memory]] = {}
        if wire.rank == root:
            for rank, one in enumerate(one_for_each(sendobj, wire.size)):
                heads[rank], buffers[rank] = taken_apart(one)
        carry_out(wire, pick(wire, "scatter", 0, root), heads, MOVED)
        return self._exchanged(buffers, {root: heads[wire.rank]})[0]

    def allgather(self, sendobj: Any) -> list[Any]:
        """The objects of all ranks: their heads, then the first buffers of all, the second ones, ..."""
        wire = self._wire("pkl5.allgather")
        head, buffers = taken_apart(sendobj)
        heads = allgathered(wire, head, 0)
        lengths = [lengths_of(one) for one in heads]
        found: list[list[Memory]] = [[] for _ in heads]
        for number in range(max(map(len, lengths))):
            mine = buffers[number] if number < len(buffers) else Memory()
            nbytes = sum(of_rank[number] for of_rank in lengths if number < len(of_rank))
            came = allgathered(self._wire("pkl5.allgather of a buffer"), mine, nbytes)
            for rank, of_rank in enumerate(lengths):
                if number < len(of_rank):
                    # What came is that of all ranks.
                    found[rank].append(came[rank].copy())
        return [put_together(one, its) for one, its in zip(heads, found, strict=True)]

    def alltoall(self, sendobj: Iterable[Any] | None) -> list[Any]:
        """Object ``d`` of rank ``s``, as object ``s`` of rank ``d``; each sends the others its buffers."""
        wire = self._wire("pkl5.alltoall")
        parts = [taken_apart(one) for one in one_for_each(sendobj, wire.size)]
        heads = exchanged(wire, pick(wire, "alltoallv", 0), [head for head, _ in parts])
        return self._exchanged({to: buffers for to, (_, buffers) in enumerate(parts)}, dict(enumerate(heads)))

    def _exchanged(self, buffers: Mapping[int, list[Memory]], heads: Mapping[int, bytes]) -> list[Any]:
        """Sends buffers to ranks, the next one first; the objects of which there are heads, with the buffers that come.

        All ranks call.
        """
        wire = self._wire("pkl5.buffers")
        comes = {
            source: [wire.receive(source) for _ in lengths_of(head)]
            for source, head in heads.items()
            if source != wire.rank
        }
        started = [operation for its in comes.values() for operation in its]
        for to in sorted(buffers, key=lambda rank: (rank - wire.rank) % wire.size):
            if to != wire.rank:
                started += [wire.send(to, buffer, buffer.nbytes) for buffer in buffers[to]]
        wire.process.wait(*started)
        return [
            put_together(heads[source], _data(wire, comes[source]) if source in comes else buffers[source])
            for source in sorted(heads)
        ]

    # Parts of an object.

    def _send_object(self, obj: Any, dest: int, tag: int, synchronous: bool = False) -> Sequence[Operation]:
        return _sent(self._apart(obj, dest, tag), synchronous)

    def _sending(self, sent: Sequence[Operation]) -> Request:  # type: ignore[override]
        return Request.of([RequestOfMpi.of(one) for one in sent] or [RequestOfMpi.of(None)])

    def _apart(self, obj: Any, dest: int, tag: int) -> list[Arriving]:
        """An object as messages; none to nobody."""
        if dest == PROC_NULL:
            return []
        head, buffers = taken_apart(obj)
        return [self._message(dest, tag, len(head), head, None)] + [
            self._message(dest, tag, buffer.nbytes, buffer, None) for buffer in buffers
        ]

    def _received(self, head: Operation | None, status: Status | None) -> Any:
        """The object of a receive of its head; ``None`` from nobody."""
        if head is None:
            if status is not None:
                self._say(status, None)
            return None
        me().wait(head)
        return self._receiving(head, head.message).wait(status)

    def _receiving(self, head: Operation, came: Arriving | None) -> Request:
        """Receives the buffers that belong to a head, too."""
        if came is None:
            raise fault("INTERN", "a receive without a message")
        process = me()
        more = [process.receive(came.source, came.tag, came.context) for _ in lengths_of(came.data)]
        return Request.of([RequestOfMpi.of(one, _data_of, self._place) for one in (head, *more)], True)

    def _taken(self, came: Arriving | None, status: Status | None) -> Message:
        if status is not None:
            self._say(status, came)
        if came is None:
            return Message(MESSAGE_NO_PROC)
        lengths_of(came.data)
        # It is the first message of its sender with its tag, and its buffers are the next ones.
        return Message.of(self._receiving(me().receive(came.source, came.tag, came.context), came))


class Intracomm(Comm):
    """A communicator of the ranks of one: ``pkl5.Intracomm(MPI.COMM_WORLD)``."""


class Intercomm(Comm):
    """The class of communicators between two groups, of which there is none."""

    def __init__(self, comm: CommOfMpi | None = None) -> None:
        if comm:
            raise not_supported("mpi4py.util.pkl5.Intercomm")
        super().__init__(comm)


def _data_of(came: Arriving) -> Any:
    return came.data


def _data(wire: Wire, operations: Iterable[Operation]) -> list[Memory]:
    return [wire.data(operation) for operation in operations]


def _sent(messages: Iterable[Arriving], synchronous: bool = False) -> list[Operation]:
    process = me()
    return [process.send(message, synchronous) for message in messages]


class _Pkl5(types.ModuleType):
    """The module; each rank has its own ``pickle``."""

    @property
    def pickle(self) -> Pickle:
        """How objects travel, and from how many bytes on a buffer does on its own (``THRESHOLD``)."""
        return pickle_of_rank()

    @pickle.setter
    def pickle(self, pickle: Pickle) -> None:
        set_pickle(pickle)


def pkl5_module() -> types.ModuleType:
    """The module ``mpi4py.util.pkl5``."""
    found = _Pkl5("mpi4py.util.pkl5", __doc__)
    kinds = (Request, Message, Comm, Intracomm, Intercomm, Pickle)
    found.__dict__.update({kind.__name__: kind for kind in kinds}, __file__="<flitwork>")
    return found
