"""What is known of a message that has come."""

from __future__ import annotations

from typing import Any

from flitwork.mpi.datatype import Datatype
from flitwork.mpi.errors import fault
from flitwork.mpi.predefined import NAMED, of_spec

ANY_SOURCE, ANY_TAG, PROC_NULL, ROOT, UNDEFINED = -1, -1, -2, -3, -32766
#: The largest tag.
TAG_UB = 2**31 - 1


class Status:
    """Source, tag, length and error of a message."""

    def __init__(self, status: Status | None = None) -> None:
        self.source, self.tag, self.error, self.nbytes, self.cancelled = ANY_SOURCE, ANY_TAG, 0, 0, False
        if status is not None:
            if not isinstance(status, Status):
                raise TypeError(f"expecting a status, not {type(status).__name__}")
            self.__dict__.update(status.__dict__)

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
        """Its tag."""
        return self.tag

    def Set_tag(self, tag: int) -> None:
        """Changes the tag."""
        self.tag = tag

    def Get_error(self) -> int:
        """Its error class."""
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

    is_cancelled = property(Is_cancelled, Set_cancelled)
    count = property(Get_count, lambda self, count: self.Set_elements(NAMED["BYTE"], count))


def _kind(datatype: Any) -> Datatype:
    found: Datatype = of_spec(datatype)
    if not found:
        raise fault("TYPE", "the datatype is MPI.DATATYPE_NULL")
    return found
