"""What a rank asks of windows, and when it is done: between fences, under locks, or between a start and its end."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from flitwork_mpi.programs.buffer import Buffer, fill, message
from flitwork_mpi.programs.comm import Comm
from flitwork_mpi.programs.errors import fault
from flitwork_mpi.programs.group import Group
from flitwork_mpi.programs.predefined import of_spec
from flitwork_mpi.programs.reduction import OPS, Op
from flitwork_mpi.programs.request import Request
from flitwork_mpi.programs.status import PROC_NULL
from flitwork_mpi.programs.window_server import LOCK_EXCLUSIVE, LOCK_SHARED, Access, Lock, Place, Unlock
from flitwork_mpi.programs.world import Message, Operation, me

NO_CHECK, NO_STORE, NO_PUT, NO_PRECEDE, NO_SUCCEED = 1024, 2048, 4096, 8192, 16384
_REPLACE, _NO_OP, _SUM = OPS["REPLACE"], OPS["NO_OP"], OPS["SUM"]
#: Tags of what ranks tell each other beside requests and answers: that a window may be used, and that it was.
_POSTED, _COMPLETED = 0, 1


class Accesses:
    """What can be done with the windows of a communicator's ranks."""

    _null = False
    #: Communicators for what is asked, for the answers, and for what ranks tell each other.
    _requests: Comm
    _replies: Comm
    _signals: Comm
    #: Size and unit of each rank's memory.
    _sizes: list[tuple[int, int]]

    def _begin(self) -> None:
        """Nothing has been asked for."""
        #: What has been asked of each rank and not been answered.
        self._open: dict[int, list[Request]] = defaultdict(list)
        self._numbers = 0
        #: Which windows may be used: all of them after a fence, those that are locked, and those of a start.
        self._fenced = self._locks_all = False
        self._locked: set[int] = set()
        self._started: list[int] = []
        self._posted: list[Request] = []

    # What is asked for.

    def Put(self, origin: Any, target_rank: int, target: Any = None) -> None:
        """Puts data into the window of a rank."""
        self.Rput(origin, target_rank, target)

    def Get(self, origin: Any, target_rank: int, target: Any = None) -> None:
        """Gets data out of the window of a rank: they are there when the access has been completed."""
        self.Rget(origin, target_rank, target)

    def Accumulate(self, origin: Any, target_rank: int, target: Any = None, op: Op = _SUM) -> None:
        """Combines data with those in the window of a rank."""
        self.Raccumulate(origin, target_rank, target, op)

    def Get_accumulate(self, origin: Any, result: Any, target_rank: int, target: Any = None, op: Op = _SUM) -> None:
        """:meth:`Accumulate`; what was there before comes into ``result``."""
        self.Rget_accumulate(origin, result, target_rank, target, op)

    def Fetch_and_op(self, origin: Any, result: Any, target_rank: int, target_disp: int = 0, op: Op = _SUM) -> None:
        """:meth:`Get_accumulate` of one element."""
        if target_rank == PROC_NULL:
            return
        room = _one("result", result)
        data = room if op == _NO_OP and origin is None else _one("origin", origin, room.datatype)
        self.Rget_accumulate(data, room, target_rank, (target_disp, 1, room.datatype), op)

    def Compare_and_swap(self, origin: Any, compare: Any, result: Any, target_rank: int, target_disp: int = 0) -> None:
        """Puts one element where another one is; what was there before comes into ``result``."""
        if target_rank == PROC_NULL:
            return
        room = _one("result", result)
        data, expected = _one("origin", origin, room.datatype), _one("compare", compare, room.datatype)
        place = self._place((target_disp, 1, data.datatype), data, target_rank)
        self._request(target_rank, Access(place, data.pack(), where=expected.pack(), reads=True), data.nbytes, room)

    def Rput(self, origin: Any, target_rank: int, target: Any = None) -> Request:
        """:meth:`Put`, with a request."""
        return self.Raccumulate(origin, target_rank, target, _REPLACE)

    def Rget(self, origin: Any, target_rank: int, target: Any = None) -> Request:
        """:meth:`Get`, with a request."""
        if target_rank == PROC_NULL:
            return Request.of(None)
        room = message(origin)
        return self._request(target_rank, Access(self._place(target, room, target_rank), reads=True), 0, room)

    def Raccumulate(self, origin: Any, target_rank: int, target: Any = None, op: Op = _SUM) -> Request:
        """:meth:`Accumulate`, with a request."""
        if target_rank == PROC_NULL:
            return Request.of(None)
        data = message(origin)
        return self._request(target_rank, Access(self._place(target, data, target_rank), data.pack(), op), data.nbytes)

    def Rget_accumulate(self, origin: Any, result: Any, target_rank: int, target: Any = None, op: Op = _SUM) -> Request:
        """:meth:`Get_accumulate`, with a request."""
        if target_rank == PROC_NULL:
            return Request.of(None)
        room, data = message(result), None if op == _NO_OP else message(origin)
        place = self._place(target, room, target_rank)
        access = Access(place, None if data is None else data.pack(), op, reads=True)
        return self._request(target_rank, access, 0 if data is None else data.nbytes, room)

    def _place(self, target: Any, origin: Buffer, rank: int) -> Place:
        """Where in the window: ``None``, a displacement, or ``(displacement, count, datatype)``."""
        parts: list[Any] = [] if target is None else [target] if np.ndim(target) == 0 else [*target]
        kind = of_spec(parts[2]) if len(parts) > 2 else origin.datatype
        count = int(parts[1]) if len(parts) > 1 else origin.nbytes // kind.size if kind.size else 0
        size, unit = self._sizes[self._check_rank(rank)]
        found = Place(int(parts[0]) * unit if parts else 0, count, kind)
        if count < 0 or found.start < 0 or found.end > size:
            text = f"bytes {found.start} to {found.end} of the window of rank {rank}, which has {size}"
            raise fault("RMA_RANGE", text)
        if origin.nbytes != count * kind.size:
            raise fault("COUNT", f"{origin.nbytes} bytes here, and {count * kind.size} in the window of rank {rank}")
        return found

    def _check_use(self) -> None:
        if self._null:
            raise fault("WIN", "the window is MPI.WIN_NULL")

    def _check_rank(self, rank: int) -> int:
        self._check_use()
        if not 0 <= rank < len(self._sizes):
            raise fault("RANK", f"the target is {rank}, of {len(self._sizes)} ranks of the window")
        return rank

    def _request(self, rank: int, what: Any, nbytes: int, room: Buffer | None = None) -> Request:
        """Asks a rank for something; its answer comes into ``room``."""
        if isinstance(what, Access) and rank not in self._locked:
            if self._locks_all:
                self._lock(rank, LOCK_SHARED)
            elif not self._fenced and rank not in self._started:
                raise fault("RMA_SYNC", f"the window of rank {rank} is used outside of Fence, Lock and Start")
        number = self._numbers
        self._numbers = (number + 1) % 2**31

        def finish(came: Message) -> None:
            if room is not None:
                fill(room, came.data, None)

        answer = Request.of(self._replies._receive(rank, number), finish)
        me().send(self._requests._message(rank, number, nbytes, what, None))
        self._open[rank].append(answer)
        return answer

    def _answer(self, request: Message, data: Any) -> None:
        """Answers a rank that asked: its number is the tag."""
        nbytes = 0 if data is None else data.size
        process = me()
        process.send(Message(process.rank, request.source, request.tag, self._replies._context, nbytes, data, None))

    # When it is done.

    def Fence(self, assertion: int = 0) -> None:
        """All that was asked for is done, on all ranks."""
        self._check_use()
        if self._locked or self._locks_all:
            raise fault("RMA_SYNC", "a fence while windows are locked")
        self._complete_all()
        self._signals._barrier("Win.Fence")()
        self._fenced = not assertion & NO_SUCCEED

    def Lock(self, rank: int, lock_type: int = LOCK_EXCLUSIVE, assertion: int = 0) -> None:
        """Waits until the window of a rank may be used: alone, or by others that share it, too."""
        if rank != PROC_NULL:
            self._lock(self._check_rank(rank), lock_type)

    def Unlock(self, rank: int) -> None:
        """All that was asked of a rank is done, and others may use its window."""
        if rank == PROC_NULL:
            return
        if rank not in self._locked:
            raise fault("RMA_SYNC", f"the window of rank {rank} is not locked")
        self.Flush(rank)
        self._locked.remove(rank)
        self._request(rank, Unlock(), 0)
        self.Flush(rank)

    def Lock_all(self, assertion: int = 0) -> None:
        """The windows of all ranks may be used; each is locked, for sharing, when it is used first."""
        self._check_use()
        if self._locked or self._locks_all:
            raise fault("RMA_SYNC", "windows are locked already")
        self._locks_all = True

    def Unlock_all(self) -> None:
        """All that was asked for is done, and others may use all windows."""
        if not self._locks_all:
            raise fault("RMA_SYNC", "there was no Lock_all")
        self._locks_all = False
        for rank in sorted(self._locked):
            self.Unlock(rank)

    def _lock(self, rank: int, kind: int) -> None:
        if rank in self._locked:
            raise fault("RMA_SYNC", f"the window of rank {rank} is locked already")
        self._locked.add(rank)
        self._request(rank, Lock(kind), 0)
        self.Flush(rank)

    def Flush(self, rank: int) -> None:
        """All that was asked of a rank is done."""
        if rank != PROC_NULL:
            Request.Waitall(self._open.pop(self._check_rank(rank), []))

    def Flush_all(self) -> None:
        """All that was asked for is done."""
        self._complete_all()

    Flush_local, Flush_local_all = Flush, Flush_all

    def Sync(self) -> None:
        """Nothing: there is one copy of the memory."""

    def Post(self, group: Group, assertion: int = 0) -> None:
        """The ranks of a group may use the window of this one."""
        places = self._places(group)
        self._posted = [Request.of(self._signals._receive(place, _COMPLETED)) for place in places]
        for place in places:
            self._tell(place, _POSTED)

    def Start(self, group: Group, assertion: int = 0) -> None:
        """Waits until the windows of a group may be used."""
        self._started = self._places(group)
        Request.Waitall([Request.of(self._signals._receive(place, _POSTED)) for place in self._started])

    def Complete(self) -> None:
        """All that was asked of those ranks is done, and they hear so."""
        for place in self._started:
            self.Flush(place)
        Request.Waitall([Request.of(self._tell(place, _COMPLETED)) for place in self._started])
        self._started = []

    def Wait(self) -> bool:
        """Waits until the group has used the window."""
        Request.Waitall(self._posted)
        self._posted = []
        return True

    def Test(self) -> bool:
        """Whether the group has used the window."""
        done = Request.Testall(self._posted)
        if done:
            self._posted = []
        return done

    def _tell(self, place: int, what: int) -> Operation:
        return me().send(self._signals._message(place, what, 0, b"", None))

    def _places(self, group: Group) -> list[int]:
        return group.Translate_ranks(None, self._signals.Get_group())

    def _complete_all(self) -> None:
        for rank in [*self._open]:
            self.Flush(rank)


def _one(what: str, spec: Any, kind: Any = None) -> Buffer:
    """A buffer of one element, and of a datatype if that is said."""
    found = message(spec)
    if found.count != 1:
        raise ValueError(f"the {what} has {found.count} elements, and one is expected")
    if kind is not None and found.datatype.signature != kind.signature:
        raise ValueError(f"the {what} is of {found.datatype.label}, and {kind.label} is expected")
    return found
