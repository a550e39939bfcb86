"""Persistent requests: a send, a receive or a collective that is started again and again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from flitwork_mpi.programs.errors import fault
from flitwork_mpi.programs.request import Request


class Persistent(Request):
    """A request that is not active until it is started, and can be started once it is complete.

    It is ``MPI.REQUEST_NULL`` from when it is freed on, and not before.
    """

    _make: Callable[[], Request] | None = None

    def __new__(cls, request: Request | None = None) -> Persistent:
        """``MPI.REQUEST_NULL``, or the same request again."""
        if request and not isinstance(request, Persistent):
            raise TypeError(f"expecting a persistent request, not a {type(request).__name__}")
        return super().__new__(cls, request)

    @classmethod
    def made_by(cls, make: Callable[[], Request]) -> Persistent:
        """A request that starts what ``make`` starts."""
        made = cls()
        made._make = make
        return made

    @property
    def _is_null(self) -> bool:
        return self._make is None

    def Free(self) -> None:
        """Gives it up."""
        super().Free()
        self._make = None

    def Start(self) -> None:
        """Starts it."""
        if self._make is None:
            raise fault("REQUEST", "MPI.REQUEST_NULL cannot be started")
        if self._active:
            raise fault("REQUEST", "a request that is active cannot be started again")
        begun = self._make()
        self._waits, self._finish, self._source_of = begun._waits, begun._finish, begun._source_of
        self._active, self._cancelled = True, False

    @classmethod
    def Startall(cls, requests: Sequence[Persistent]) -> None:
        """Starts all of them."""
        for one in requests:
            one.Start()
