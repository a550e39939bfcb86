"""Requests: what has been started and is waited for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from typing_extensions import Self

from flitwork_mpi.programs.errors import fault, not_supported
from flitwork_mpi.programs.handle import Handle
from flitwork_mpi.programs.status import ANY_SOURCE, ANY_TAG, PROC_NULL, UNDEFINED, Status
from flitwork_mpi.programs.world import Fiber, Message, Operation, Process, me

#: Puts a message where it belongs; returns what a lower-case method does.
Finish = Callable[[Message], Any]


class Request(Handle):
    """A send, a receive or a collective that has been started; ``MPI.REQUEST_NULL`` when it is complete.

    ``Request(other)`` is the same one again, in another class.
    """

    _waits: Operation | Fiber | None = None
    _finish: Finish | None = None
    _source_of: Callable[[int], int] = int
    _active = _cancelled = False
    #: Bytes of an access to a file, which is complete when it is made.
    _accessed: int | None = None

    def __new__(cls, request: Request | None = None) -> Self:
        """``MPI.REQUEST_NULL``, or the same request again."""
        made = object.__new__(cls)
        if request is not None:
            made.__dict__ = request.__dict__
        return made

    @classmethod
    def of(
        cls, waits: Operation | Fiber | None, finish: Finish | None = None, source_of: Callable[[int], int] = int
    ) -> Request:
        """A request that waits for an operation, for a fiber, or for nothing (a message to or from nobody).

        The result of a fiber may be the message that has come.
        """
        made = object.__new__(cls)
        made._waits, made._finish, made._source_of, made._active = waits, finish, source_of, True
        return made

    @classmethod
    def of_access(cls, nbytes: int) -> Request:
        """A request of an access to a file, of so many bytes."""
        made = cls.of(None)
        made._accessed = nbytes
        return made

    # One request.

    def Wait(self, status: Status | None = None) -> bool:
        """Waits for it."""
        self._wait(status)
        return True

    def wait(self, status: Status | None = None) -> Any:
        """Waits for it, and returns the object that came."""
        return self._wait(status)

    def Test(self, status: Status | None = None) -> bool:
        """Whether the request is complete. If not, the rank goes on when something happens to it, or a while later."""
        return Request.test(self, status)[0]

    def test(self, status: Status | None = None) -> tuple[bool, Any]:
        """Whether the request is complete, as :meth:`Test`, with the object that came."""
        if not self._is_done():
            poll(me())
        return (True, self._complete(status)) if self._is_done() else (False, None)

    def Get_status(self, status: Status | None = None) -> bool:
        """Whether the request is complete; it stays usable."""
        if not self._is_done():
            poll(me())
        done = self._is_done()
        if done and status is not None:
            self._tell(status)
        return done

    get_status = Get_status

    def Cancel(self) -> None:
        """Takes back a receive that has no message yet. A send goes on: it is complete when it would have been."""
        if not self._active:
            raise fault("REQUEST", "a request that is not active cannot be cancelled")
        if isinstance(self._waits, Fiber):
            raise fault("REQUEST", "only receives and sends can be cancelled")
        if self._waits is not None and not self._waits.sends:
            self._cancelled = me().cancel(self._waits)

    cancel = Cancel

    def Free(self) -> None:
        """Gives it up: it completes by itself."""
        if self._is_null:
            raise fault("REQUEST", "MPI.REQUEST_NULL cannot be freed")
        self._active = False

    def free(self) -> None:
        """Frees as :meth:`Free`, also a request that may have been freed or completed."""
        if not self._is_null:
            self.Free()

    @property
    def _is_null(self) -> bool:
        return not self._active

    def _message(self) -> Message | None:
        """The message that has come, once it is complete."""
        waits = self._waits
        if isinstance(waits, Fiber):
            return waits.result if isinstance(waits.result, Message) else None
        return None if waits is None else waits.message

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
            return None
        self._active = False
        waits = self._waits
        if isinstance(waits, Operation) and not waits.sends and not waits.paid:
            me().received((waits,))
        message = self._message()
        if message is not None and self._finish is not None:
            return self._finish(message)
        return self._waits.result if message is None and isinstance(self._waits, Fiber) else None

    def _tell(self, status: Status) -> None:
        message = self._message() if self._active else None
        if message is not None:
            status.set(self._source_of(message.source), message.tag, message.nbytes)
        elif self._accessed is not None and self._active:
            status.set(ANY_SOURCE, ANY_TAG, self._accessed)
        elif self._waits is None and self._active:
            status.set(PROC_NULL, ANY_TAG, 0)
        else:
            status.set(ANY_SOURCE, ANY_TAG, 0)
        status.cancelled = self._active and self._cancelled

    def __bool__(self) -> bool:
        return not self._is_null

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Request):
            return NotImplemented
        return self.__dict__ is other.__dict__ or (self._is_null and other._is_null)

    __hash__ = object.__hash__

    def __reduce__(self) -> str | tuple[Any, ...]:
        if self is REQUEST_NULL:
            return "REQUEST_NULL"
        raise ValueError("a request cannot be pickled")

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
        return [one._complete(status) for one, status in zip(requests, statuses_for(requests, statuses), strict=False)]

    @classmethod
    def Waitany(cls, requests: Sequence[Request], status: Status | None = None) -> int:
        """Waits for one of them; its index."""
        return cls.waitany(requests, status)[0]

    @classmethod
    def waitany(cls, requests: Sequence[Request], status: Status | None = None) -> tuple[int, Any]:
        """Waits for one of them; its index and the object that came."""
        if _is_idle(requests, status):
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
        """Waits for at least one request, as :meth:`Waitsome`, with the objects that came."""
        if _is_idle(requests):
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
        """Whether all requests are complete, as :meth:`Testall`, with the objects that came."""
        return (True, cls.waitall(requests, statuses)) if _all_done(requests) else (False, None)

    @classmethod
    def Testany(cls, requests: Sequence[Request], status: Status | None = None) -> tuple[int, bool]:
        """Index of one that is complete, and whether there is one; see :meth:`Test`."""
        return cls.testany(requests, status)[:2]

    @classmethod
    def testany(cls, requests: Sequence[Request], status: Status | None = None) -> tuple[int, bool, Any]:
        """Whether a request is complete, as :meth:`Testany`, with the object that came."""
        if _is_idle(requests, status):
            return UNDEFINED, True, None
        place = _found_done(requests)
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
        """Which requests are complete, as :meth:`Testsome`, with the objects that came."""
        if _is_idle(requests):
            return None, None
        _found_done(requests)
        return cls._take_done(requests, statuses)

    @classmethod
    def Get_status_any(cls, requests: Sequence[Request], status: Status | None = None) -> tuple[int, bool]:
        """Whether a request is complete, as :meth:`Testany`; all stay usable."""
        if _is_idle(requests, status):
            return UNDEFINED, True
        place = _found_done(requests)
        if place < 0:
            return UNDEFINED, False
        return place, requests[place].Get_status(status)

    @classmethod
    def Get_status_all(cls, requests: Sequence[Request], statuses: list[Status] | None = None) -> bool:
        """Whether all requests are complete, as :meth:`Testall`; they stay usable."""
        if not _all_done(requests):
            return False
        for one, status in zip(requests, statuses_for(requests, statuses), strict=False):
            one.Get_status(status)
        return True

    @classmethod
    def Get_status_some(cls, requests: Sequence[Request], statuses: list[Status] | None = None) -> list[int] | None:
        """Which requests are complete, as :meth:`Testsome`; all stay usable."""
        if _is_idle(requests):
            return None
        _found_done(requests)
        places = [place for place, one in enumerate(requests) if one._active and one._is_done()]
        for place, status in zip(places, statuses_for(places, statuses), strict=False):
            requests[place].Get_status(status)
        return places

    get_status_any, get_status_all, get_status_some = Get_status_any, Get_status_all, Get_status_some

    @staticmethod
    def _wait_for_one(requests: Sequence[Request]) -> None:
        if _first_done(requests) < 0:
            me().wait_any([one._waits for one in requests if one._active and one._waits is not None])

    @staticmethod
    def _take_done(requests: Sequence[Request], statuses: list[Status] | None) -> tuple[list[int], list[Any]]:
        places = [place for place, one in enumerate(requests) if one._active and one._is_done()]
        room = statuses_for(places, statuses)
        return places, [requests[place]._complete(status) for place, status in zip(places, room, strict=False)]

    def __getattr__(self, name: str) -> Any:
        if name[:1].isupper():
            raise not_supported(f"MPI.Request.{name}")
        raise AttributeError(name)


def _is_idle(requests: Sequence[Request], status: Status | None = None) -> bool:
    """Whether none of them is active; there is no message then that a status could be of."""
    if any(one._active for one in requests):
        return False
    if status is not None:
        status.set(ANY_SOURCE, ANY_TAG, 0)
    return True


def _first_done(requests: Sequence[Request]) -> int:
    return next((place for place, one in enumerate(requests) if one._active and one._is_done()), -1)


def _found_done(requests: Sequence[Request]) -> int:
    """The same; where there is none, the rank goes on when something happens to it, or a while later."""
    if _first_done(requests) < 0:
        poll(me())
    return _first_done(requests)


def _all_done(requests: Sequence[Request]) -> bool:
    if not all(one._is_done() for one in requests):
        poll(me())
    return all(one._is_done() for one in requests)


def statuses_for(requests: Sequence[Any], statuses: list[Status] | None) -> list[Status | None]:
    """A status for each request; a list that is too short is made longer, a tuple is not."""
    if statuses is None:
        return [None] * len(requests)
    missing = len(requests) - len(statuses)
    if isinstance(statuses, list):
        statuses += [Status() for _ in range(missing)]
        return [*statuses]
    return [*statuses, *[None] * missing]


def poll(process: Process) -> None:
    """Tells the simulator what has been started, and goes on when something happens to the rank."""
    process.flush()
    process.poll_again()


REQUEST_NULL = Request()
