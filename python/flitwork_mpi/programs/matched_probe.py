"""Messages that a probe has taken: ``MPI.Message``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from typing_extensions import Self

from flitwork_mpi.programs.buffer import fill, room
from flitwork_mpi.programs.errors import fault, not_supported
from flitwork_mpi.programs.handle import Handle
from flitwork_mpi.programs.objects import loaded
from flitwork_mpi.programs.request import Request
from flitwork_mpi.programs.status import Status
from flitwork_mpi.programs.world import Operation

if TYPE_CHECKING:
    from flitwork_mpi.programs.point_to_point import PointToPoint


class Message(Handle):
    """A message that only ``Recv`` of this object gets; ``MPI.MESSAGE_NULL`` once that has been called."""

    #: The receive that has taken it, ``None`` of nobody's; and what tells its sender in the communicator.
    _taken: tuple[Operation | None, Callable[[int], int]] | None = None

    def __new__(cls, message: Message | None = None) -> Self:
        """``MPI.MESSAGE_NULL``, or the same message again."""
        made = object.__new__(cls)
        if message is not None:
            made._taken = message._taken
        return made

    def _is_of_mpi(self) -> bool:
        # MPI has no call that gives one up: it is received.
        return True

    @classmethod
    def of(cls, operation: Operation | None, source_of: Callable[[int], int]) -> Self:
        """The message of a receive; ``None`` from nobody."""
        made = cls()
        made._taken = operation, source_of
        return made

    @classmethod
    def Probe(cls, comm: PointToPoint, source: int = -1, tag: int = -1, status: Status | None = None) -> Self:
        """Waits for a message and takes it, as ``comm.Mprobe``."""
        return cls(comm.Mprobe(source, tag, status))

    @classmethod
    def Iprobe(cls, comm: PointToPoint, source: int = -1, tag: int = -1, status: Status | None = None) -> Self | None:
        """Takes a message that has arrived, as ``comm.Improbe``; ``None`` where there is none."""
        found = comm.Improbe(source, tag, status)
        return None if found is None else cls(found)

    probe, iprobe = Probe, Iprobe

    def Recv(self, buf: Any, status: Status | None = None) -> None:
        """Receives it into a buffer."""
        self.Irecv(buf)._wait(status)

    def Irecv(self, buf: Any) -> Request:
        """Receives the message into a buffer, as :meth:`Recv`, by a request."""
        operation, source_of = self._given_up()
        if operation is None:
            return Request.of(None)
        into = room(buf)
        return Request.of(operation, lambda came: fill(into, came.data, came.signature), source_of)

    def recv(self, status: Status | None = None) -> Any:
        """Receives it as an object."""
        return self.irecv().wait(status)

    def irecv(self) -> Request:
        """Receives the object, as :meth:`recv`, by a request."""
        operation, source_of = self._given_up()
        return Request.of(operation, loaded, source_of)

    def _given_up(self) -> tuple[Operation | None, Callable[[int], int]]:
        if self._taken is None:
            raise fault("REQUEST", "MPI.MESSAGE_NULL cannot be received")
        taken = self._taken
        if self is not MESSAGE_NO_PROC:
            self._taken = None
        return taken

    def __bool__(self) -> bool:
        return self._taken is not None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Message):
            return NotImplemented
        mine, its = self._taken, other._taken
        return (mine and mine[0]) is (its and its[0]) and (mine is None) == (its is None)

    __hash__ = object.__hash__

    def __reduce__(self) -> str | tuple[Any, ...]:
        for name, constant in (("MESSAGE_NULL", MESSAGE_NULL), ("MESSAGE_NO_PROC", MESSAGE_NO_PROC)):
            if self is constant:
                return name
            if self == constant:
                return type(self), (constant,)
        raise ValueError("a message that has been taken cannot be pickled")

    def __getattr__(self, name: str) -> Any:
        if name[:1].isupper():
            raise not_supported(f"MPI.Message.{name}")
        raise AttributeError(name)


MESSAGE_NULL = Message()
#: What a probe of ``MPI.PROC_NULL`` takes.
MESSAGE_NO_PROC = Message.of(None, int)
