"""``MPI.memory``: bytes that a program asks for, or that it looks at."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self

from flitwork_mpi.programs.buffer import as_bytes
from flitwork_mpi.programs.foreign_memory import at_addresses


class Memory(np.ndarray[Any, np.dtype[np.uint8]]):
    """Bytes, as an array that has what ``MPI.memory`` has: of a buffer, those of the buffer."""

    def __new__(cls, buf: Any = b"") -> Self:
        """The bytes of what can be a buffer."""
        return _bytes_of(buf).view(cls)

    @classmethod
    def allocate(cls, nbytes: int, clear: bool = False) -> Self:
        """Memory of ``nbytes`` bytes, all 0."""
        if nbytes < 0:
            raise ValueError("expecting non-negative size")
        return np.zeros(nbytes, np.uint8).view(cls)

    @classmethod
    def frombuffer(cls, buf: Any, readonly: bool = False) -> Self:
        """The bytes of what can be a buffer."""
        found = _bytes_of(buf).view(cls)
        return found.toreadonly() if readonly else found

    @classmethod
    def fromaddress(cls, address: int, nbytes: int, readonly: bool = False) -> Self:
        """Memory of ``nbytes`` bytes from an address on."""
        found = (at_addresses(address, address + nbytes) if nbytes else np.empty(0, np.uint8)).view(cls)
        return found.toreadonly() if readonly else found

    @property
    def address(self) -> int:
        """The address of the memory."""
        return int(self.__array_interface__["data"][0])

    @property
    def obj(self) -> Any:
        """The object whose memory this is."""
        return self.base

    @property
    def format(self) -> str:
        """Bytes."""
        return "B"

    @property
    def readonly(self) -> bool:
        """Whether the memory cannot be written to."""
        return not self.flags.writeable

    def cast(self, format: str, shape: Any = None) -> memoryview:
        """This memory as elements of another type."""
        view = self.data
        return view.cast(format) if shape is None else view.cast(format, shape)  # type: ignore[call-overload, no-any-return]

    def toreadonly(self) -> Self:
        """This memory, not to be written to."""
        found = self.view()
        found.flags.writeable = False
        return found

    def release(self) -> None:
        """Nothing: memory is given back by itself."""

    def __getitem__(self, where: Any) -> Any:
        """A part of it, or one byte as a number."""
        found = super().__getitem__(where)
        return int(found) if isinstance(found, np.integer) else found

    def __setitem__(self, where: Any, value: Any) -> None:
        """Bytes of a buffer are taken as they are, a number is one byte."""
        if not isinstance(value, (int, np.integer, np.ndarray)):
            value = _bytes_of(value)
        super().__setitem__(where, value)

    def __bool__(self) -> bool:
        return self.size > 0


def _bytes_of(buf: Any) -> NDArray[np.uint8]:
    if isinstance(buf, (list, tuple)) or (np.isscalar(buf) and not isinstance(buf, (bytes, memoryview))):
        raise TypeError(f"a bytes-like object is required, not {type(buf).__name__!r}")
    return as_bytes(buf, True)[0]
