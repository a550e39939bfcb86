"""Handles: the numbers that stand for what programs hold, by which they find it again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from typing_extensions import Self

from flitwork_mpi.programs.errors import fault
from flitwork_mpi.programs.world import me


class Handle:
    """What has a number on each rank, from when it is asked for. Made of another one, it is the same one again."""

    #: Gives it up; of what cannot be given up at all, ``_is_of_mpi`` says so.
    Free: Callable[[], None]

    def __new__(cls, of: object = None, *_: Any, **__: Any) -> Self:
        """An object; of another one, which classes of programs make here, what that one stands for."""
        made = object.__new__(cls)
        if isinstance(of, Handle):
            made.__dict__.update(of.__dict__)
        return made

    def free(self) -> None:
        """Frees the object as :meth:`Free`; does nothing to a null object or one of MPI's own."""
        if self and not self._is_of_mpi():
            self.Free()

    def _is_of_mpi(self) -> bool:
        """Whether it cannot be given up."""
        return False

    def toint(self) -> int:
        """A number for it."""
        numbers, holders = _known()
        if self not in numbers:
            numbers[self] = len(holders)
            holders.append(self)
        return numbers[self]

    @classmethod
    def fromint(cls, arg: int) -> Any:
        """What has this number."""
        _, holders = _known()
        if not 0 <= arg < len(holders) or not isinstance(holders[arg], cls):
            raise fault("ARG", f"{arg} is the number of no {cls.__name__} of this rank")
        return holders[arg]

    py2f, handle = toint, property(toint)
    f2py = fromhandle = fromint


def _known() -> tuple[dict[Any, int], list[Any]]:
    found: tuple[dict[Any, int], list[Any]] = me().store.setdefault("handles", ({}, []))
    return found
