"""Persistent requests: a send or a receive that is started again and again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from flitwork.mpi.request import Request


class Persistent(Request):
    """A request that is not active until it is started, and can be started once it is complete."""

    def __init__(self, make: Callable[[], Request]) -> None:
        super().__init__()
        self._make = make
        self._active = self._freed = False

    def Free(self) -> None:
        """Gives it up."""
        self._freed, self._active = True, False

    def __bool__(self) -> bool:
        return not self._freed

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = Request.__hash__

    def Start(self) -> None:
        """Starts it."""
        made = self._make()
        self._waits, self._finish, self._source_of = made._waits, made._finish, made._source_of
        self._active, self._value = True, None

    @classmethod
    def Startall(cls, requests: Sequence[Persistent]) -> None:
        """Starts all of them."""
        for one in requests:
            one.Start()
