"""Requests: what has been started and is waited for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from flitwork.mpi.errors import not_supported
from flitwork.mpi.status import ANY_SOURCE, ANY_TAG, PROC_NULL, UNDEFINED, Status
from flitwork.mpi.world import Fiber, Message, Operation, Process, me

#: Puts a message where it belongs; returns what a lower-case method does.
Finish = Callable[[Message], Any]


class Request:
    """A send, a receive or a collective that has been started."""

    def __init__(
        self,
        waits: Operation | Fiber | None = None,
        finish: Finish | None = None,
        source_of: Callable[[int], int] = int,
    ) -> None:
        self._waits, self._finish, self._source_of = waits, finish, source_of
        self._active = True
        self._cancelled = False
        self._value: Any = None

    # One request.

    def Wait(self, status: Status | None = None) -> bool:
        """Waits for it."""
        self._wait(status)
        return True

    def wait(self, status: Status | None = None) -> Any:
        """Waits for it, and returns the object that came."""
        return self._wait(status)

    def Test(self, status: Status | None = None) -> bool:
        """Whether it is complete. If not, the rank goes on when something happens to it, or a while later."""
        if not self._is_done():
            poll(me())
        if not self._is_done():
            return False
        self._complete(status)
        return True

    def test(self, status: Status | None = None) -> tuple[bool, Any]:
        """As :meth:`Test`, with the object that came."""
        return (True, self._value) if self.Test(status) else (False, None)

    def Get_status(self, status: Status | None = None) -> bool:
        """Whether it is complete; it can be waited for all the same."""
        if not self._is_done():
            poll(me())
        done = self._is_done()
        if done and status is not None:
            self._tell(status)
        return done

    get_status = Get_status

    def Cancel(self) -> None:
        """Takes back a receive that has no message."""
        waits = self._waits
        if not isinstance(waits, Operation) or waits.sends:
            raise not_supported("MPI.Request.Cancel of anything but a receive")
        self._cancelled = me().cancel(waits)

    cancel = Cancel

    def Free(self) -> None:
        """Gives it up: it completes by itself."""
        self._active = False

    def _is_done(self) -> bool:
        return not self._active or self._waits is None or self._waits.done

    def _wait(self, status: Status | None) -> Any:
        if not self._is_done() and self._waits is not None:
            me().wait(self._waits)
        return self._complete(status)

    def _complete(self, status: Status | None) -> Any:
        if status is not None:
            self._tell(status)
        if not self._active:
            return self._value
        self._active = False
        waits = self._waits
        if isinstance(waits, Fiber):
            self._value = waits.result
        elif waits is not None and waits.message is not None and self._finish is not None:
            self._value = self._finish(waits.message)
        return self._value

    def _tell(self, status: Status) -> None:
        waits = self._waits
        if isinstance(waits, Operation) and waits.message is not None:
            message = waits.message
            status.set(self._source_of(message.source), message.tag, message.nbytes)
        elif self._waits is None and self._active:
            status.set(PROC_NULL, ANY_TAG, 0)
        else:
            status.set(ANY_SOURCE, ANY_TAG, 0)
        status.cancelled = self._cancelled

    def __bool__(self) -> bool:
        return self._active

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Request) and not self._active and not other._active)

    __hash__ = object.__hash__

    # Several requests.

    @classmethod
    def Waitall(cls, requests: Sequence[Request], statuses: list[Status] | None = None) -> bool:
        """Waits for all of them."""
        cls.waitall(requests, statuses)
        return True

    @classmethod
    def waitall(cls, requests: Sequence[Request], statuses: list[Status] | None = None) -> list[Any]:
        """Waits for all of them; the objects that came."""
        open_ones = [one._waits for one in requests if one._active and one._waits is not None]
        if open_ones:
            me().wait(*open_ones)
        return [one._complete(status) for one, status in zip(requests, _room(requests, statuses), strict=False)]

    @classmethod
    def Waitany(cls, requests: Sequence[Request], status: Status | None = None) -> int:
        """Waits for one of them; its index."""
        return cls.waitany(requests, status)[0]

    @classmethod
    def waitany(cls, requests: Sequence[Request], status: Status | None = None) -> tuple[int, Any]:
        """Waits for one of them; its index and the object that came."""
        if not any(one._active for one in requests):
            return UNDEFINED, None
        cls._wait_for_one(requests)
        place = _first_done(requests)
        return place, requests[place]._complete(status)

    @classmethod
    def Waitsome(cls, requests: Sequence[Request], statuses: list[Status] | None = None) -> list[int] | None:
        """Waits for at least one of them; the indices of all that are complete."""
        return cls.waitsome(requests, statuses)[0]

    @classmethod
    def waitsome(
        cls, requests: Sequence[Request], statuses: list[Status] | None = None
    ) -> tuple[list[int] | None, list[Any] | None]:
        """As :meth:`Waitsome`, with the objects that came."""
        if not any(one._active for one in requests):
            return None, None
        cls._wait_for_one(requests)
        return cls._take_done(requests, statuses)

    @classmethod
    def Testall(cls, requests: Sequence[Request], statuses: list[Status] | None = None) -> bool:
        """Whether all are complete; see :meth:`Test`."""
        return cls.testall(requests, statuses)[0]

    @classmethod
    def testall(
        cls, requests: Sequence[Request], statuses: list[Status] | None = None
    ) -> tuple[bool, list[Any] | None]:
        """As :meth:`Testall`, with the objects that came."""
        if not all(one._is_done() for one in requests):
            poll(me())
        if not all(one._is_done() for one in requests):
            return False, None
        return True, cls.waitall(requests, statuses)

    @classmethod
    def Testany(cls, requests: Sequence[Request], status: Status | None = None) -> tuple[int, bool]:
        """Index of one that is complete, and whether there is one; see :meth:`Test`."""
        return cls.testany(requests, status)[:2]

    @classmethod
    def testany(cls, requests: Sequence[Request], status: Status | None = None) -> tuple[int, bool, Any]:
        """As :meth:`Testany`, with the object that came."""
        if not any(one._active for one in requests):
            return UNDEFINED, True, None
        if _first_done(requests) < 0:
            poll(me())
        place = _first_done(requests)
        if place < 0:
            return UNDEFINED, False, None
        return place, True, requests[place]._complete(status)

    @classmethod
    def Testsome(cls, requests: Sequence[Request], statuses: list[Status] | None = None) -> list[int] | None:
        """Indices of those that are complete, perhaps none; see :meth:`Test`."""
        return cls.testsome(requests, statuses)[0]

    @classmethod
    def testsome(
        cls, requests: Sequence[Request], statuses: list[Status] | None = None
    ) -> tuple[list[int] | None, list[Any] | None]:
        """As :meth:`Testsome`, with the objects that came."""
        if not any(one._active for one in requests):
            return None, None
        if _first_done(requests) < 0:
            poll(me())
        return cls._take_done(requests, statuses)

    @staticmethod
    def _wait_for_one(requests: Sequence[Request]) -> None:
        if _first_done(requests) < 0:
            me().wait_any([one._waits for one in requests if one._active and one._waits is not None])

    @staticmethod
    def _take_done(requests: Sequence[Request], statuses: list[Status] | None) -> tuple[list[int], list[Any]]:
        places = [place for place, one in enumerate(requests) if one._active and one._is_done()]
        room = _room(places, statuses)
        return places, [requests[place]._complete(status) for place, status in zip(places, room, strict=False)]

    def __getattr__(self, name: str) -> Any:
        if name[:1].isupper():
            raise not_supported(f"MPI.Request.{name}")
        raise AttributeError(name)


def _first_done(requests: Sequence[Request]) -> int:
    return next((place for place, one in enumerate(requests) if one._active and one._is_done()), -1)


def _room(requests: Sequence[Any], statuses: list[Status] | None) -> list[Status | None]:
    """A status for each request; a list that is too short is made longer."""
    if statuses is None:
        return [None] * len(requests)
    statuses += [Status() for _ in range(len(requests) - len(statuses))]
    return [*statuses]


def poll(process: Process) -> None:
    """Tells the simulator what has been started, and goes on when something happens to the rank."""
    process.flush()
    process.poll(process.world.poll_cycles)


def done_at_once() -> Request:
    """The request of a message to or from ``MPI.PROC_NULL``."""
    return Request()


REQUEST_NULL = Request()
REQUEST_NULL.Free()
