"""What a rank does with its window for others: a fiber beside its program carries out what they ask for.

It goes on while its rank is in a call that waits, as in a library without a thread of its own for progress.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flitwork_mpi.programs.buffer import Buffer
from flitwork_mpi.programs.datatype import Datatype
from flitwork_mpi.programs.no_data import Absent
from flitwork_mpi.programs.reduction import OPS, Op, as_raw, typed
from flitwork_mpi.programs.world import Message, Operation, Process

LOCK_EXCLUSIVE, LOCK_SHARED = 1, 2
_REPLACE = OPS["REPLACE"]


@dataclass(frozen=True)
class Place:
    """Elements of a window: from which byte on, how many, of which datatype."""

    start: int
    count: int
    datatype: Datatype

    @property
    def end(self) -> int:
        """The byte behind the last one."""
        kind = self.datatype
        return self.start + ((self.count - 1) * kind.extent + kind.true_lb + kind.true_extent if self.count else 0)


@dataclass(frozen=True)
class Access:
    """What is done with elements of a window: data come in, or are read, or both."""

    place: Place
    #: Data that come, ``None`` where elements are only read.
    data: Any = None
    op: Op = _REPLACE
    #: Elements change only where they are these.
    where: Any = None
    reads: bool = False


@dataclass(frozen=True)
class Lock:
    """Asks for the window, alone or with others."""

    kind: int


class Unlock:
    """Gives it up."""


def carry_out(memory: Any, access: Access) -> Any:
    """Does what is asked for with the memory of a window; what was there before, if it is read."""
    place, data = access.place, access.data
    room = Buffer(memory, place.count, place.datatype, place.start)
    before = room.pack() if access.reads or access.where is not None or access.op != _REPLACE else None
    if data is not None and not isinstance(data, Absent):
        if access.where is not None and before is not None:
            if before.tobytes() == access.where.tobytes():
                room.unpack(data)
        elif access.op == _REPLACE:
            room.unpack(data)
        else:
            kind = place.datatype
            room.unpack(as_raw(access.op.combine(kind)(typed(before, kind), typed(data, kind))))
    return before if access.reads else None


class Server:
    """The fiber that serves the window of a rank, and who has locked it."""

    def __init__(self, process: Process, memory: Any, context: int, reply: Callable[[Message, Any], None]) -> None:
        self._process, self._memory, self._context, self._reply = process, memory, context, reply
        self._holders: dict[int, int] = {}
        self._waiting: deque[tuple[Message, int]] = deque()
        self._stopped = False
        self._next: Operation | None = None

    def start(self) -> None:
        """From now on others are served."""
        self._process.spawn(self._serve, "window")

    def stop(self) -> None:
        """Nobody asks any more."""
        self._stopped = True
        if self._next is not None:
            self._process.cancel(self._next)

    def _serve(self) -> None:
        while True:
            self._next = self._process.receive(None, None, self._context)
            self._process.wait(self._next)
            message = self._next.message
            if self._stopped or message is None:
                return
            self._answer(message, message.data)

    def _answer(self, message: Message, access: Any) -> None:
        if isinstance(access, Lock):
            self._waiting.append((message, access.kind))
            self._grant()
        elif isinstance(access, Unlock):
            self._holders.pop(message.source, None)
            self._reply(message, None)
            self._grant()
        else:
            self._reply(message, carry_out(self._memory, access))

    def _grant(self) -> None:
        """Lets those in who can be, in the order in which they came."""
        while self._waiting:
            message, kind = self._waiting[0]
            if self._holders and (kind == LOCK_EXCLUSIVE or LOCK_EXCLUSIVE in self._holders.values()):
                return
            self._waiting.popleft()
            self._holders[message.source] = kind
            self._reply(message, None)
