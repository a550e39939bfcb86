"""What is known of a message that has come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from typing_extensions import Self

from flitwork_mpi.programs.datatype import Datatype
from flitwork_mpi.programs.errors import fault
from flitwork_mpi.programs.predefined import NAMED, of_spec

ANY_SOURCE, ANY_TAG, PROC_NULL, ROOT, UNDEFINED = -1, -1, -2, -3, -32766
#: The largest tag.
TAG_UB = 2**31 - 1


#: What a status has, in the order in which Fortran has it here.
_FIELDS = ("source", "tag", "error", "nbytes", "cancelled")
#: Places in what :meth:`Status.py2f` gives, and its length.
FORTRAN = {"F_SOURCE": 0, "F_TAG": 1, "F_ERROR": 2, "F_STATUS_SIZE": len(_FIELDS)}


class Status:
    """Source, tag, length and error of a message."""

    def __init__(self, status: Status | None = None) -> None:
        self.source, self.tag, self.error, self.nbytes, self.cancelled = ANY_SOURCE, ANY_TAG, 0, 0, False
        if status is not None:
            if not isinstance(status, Status):
                raise TypeError(f"expecting a status, not {type(status).__name__}")
            for name in _FIELDS:
                setattr(self, name, getattr(status, name))

    def set(self, source: int, tag: int, nbytes: int) -> None:
        """Says of which message it is."""
        self.source, self.tag, self.error, self.nbytes, self.cancelled = source, tag, 0, nbytes, False

    def Get_source(self) -> int:
        """Rank that sent it."""
        return self.source

    def Set_source(self, source: int) -> None:
        """Changes the source."""
        self.source = source

    def Get_tag(self) -> int:
        """The tag of the message."""
        return self.tag

    def Set_tag(self, tag: int) -> None:
        """Changes the tag."""
        self.tag = tag

    def Get_error(self) -> int:
        """The error class of the operation."""
        return self.error

    def Set_error(self, error: int) -> None:
        """Changes the error class."""
        self.error = error

    def Get_count(self, datatype: Any = NAMED["BYTE"]) -> int:
        """Elements of a datatype; ``MPI.UNDEFINED`` where it is no whole number."""
        size = _kind(datatype).size
        return UNDEFINED if size and self.nbytes % size else self.nbytes // size if size else 0

    def Get_elements(self, datatype: Any) -> int:
        """Elements of the named type that a datatype is made of."""
        kind = _kind(datatype)
        size = kind.dtype.itemsize if kind.dtype is not None else 1
        return UNDEFINED if self.nbytes % size else self.nbytes // size

    def Set_elements(self, datatype: Any, count: int) -> None:
        """Changes the length, to so many elements of the named type that a datatype is made of."""
        kind = _kind(datatype)
        self.nbytes = count * (kind.dtype.itemsize if kind.dtype is not None else 1)

    def Is_cancelled(self) -> bool:
        """Whether its request was cancelled."""
        return self.cancelled

    def Set_cancelled(self, flag: bool) -> None:
        """Changes whether its request was cancelled."""
        self.cancelled = bool(flag)

    def tomemory(self) -> memoryview:
        """The numbers of the status in memory; writing to them changes the status."""
        if not isinstance(self, _InMemory):
            numbers = np.array(self.py2f())
            self.__dict__.clear()
            self.__class__, self.__dict__["memory"] = _InMemory, numbers
        return memoryview(self.__dict__["memory"])

    def py2f(self) -> list[int]:
        """The numbers of the status."""
        return [int(getattr(self, name)) for name in _FIELDS]

    @classmethod
    def f2py(cls, arg: Sequence[int]) -> Self:
        """A status of these numbers."""
        made = cls()
        for name, number in zip(_FIELDS, arg, strict=True):
            setattr(made, name, number)
        return made

    def __eq__(self, other: object) -> bool:
        return self.py2f() == other.py2f() if isinstance(other, Status) else NotImplemented

    __hash__ = object.__hash__

    is_cancelled = property(Is_cancelled, Set_cancelled)
    count = property(Get_count, lambda self, count: self.Set_elements(NAMED["BYTE"], count))


class _InMemory(Status):
    """A status whose numbers are in memory that others write to."""

    def __getattribute__(self, name: str) -> Any:
        return int(self.__dict__["memory"][_FIELDS.index(name)]) if name in _FIELDS else super().__getattribute__(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _FIELDS:
            self.__dict__["memory"][_FIELDS.index(name)] = value
        else:
            super().__setattr__(name, value)


def _kind(datatype: Any) -> Datatype:
    found: Datatype = of_spec(datatype)
    if not found:
        raise fault("TYPE", "the datatype is MPI.DATATYPE_NULL")
    return found
