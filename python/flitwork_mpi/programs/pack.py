"""Data packed into a buffer by hand, and taken out of it again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flitwork_mpi.programs.errors import fault
from flitwork_mpi.programs.no_data import Absent

if TYPE_CHECKING:
    from flitwork_mpi.programs.buffer import Buffer
    from flitwork_mpi.programs.datatype import Datatype

_PORTABLE = "external32"


class Packing:
    """What a datatype does with buffers of one's own: ``position`` is a byte of the packed one; the next is returned.

    Of the other buffer all elements are meant that it has.
    """

    extent: int
    size: int
    dtype: np.dtype[Any] | None
    label: str

    def Pack(self, inbuf: Any, outbuf: Any, position: int, comm: object = None) -> int:
        """Puts the elements of ``inbuf`` behind each other into ``outbuf``, from ``position`` on."""
        return _write(outbuf, position, _elements(self, inbuf).pack())

    def Unpack(self, inbuf: Any, position: int, outbuf: Any, comm: object = None) -> int:
        """Fills ``outbuf`` with the elements that are packed in ``inbuf`` from ``position`` on."""
        room = _elements(self, outbuf)
        data = _read(inbuf, position, room.nbytes)
        room.unpack(data)
        return position + room.nbytes

    def Pack_size(self, count: int, comm: object = None) -> int:
        """Bytes of so many elements, packed."""
        return count * self.size

    def Pack_external(self, datarep: str, inbuf: Any, outbuf: Any, position: int) -> int:
        """Packs as :meth:`Pack`, in the order of bytes that all machines share."""
        _check_portable(datarep)
        return _write(outbuf, position, self._swapped(_elements(self, inbuf).pack()))

    def Unpack_external(self, datarep: str, inbuf: Any, position: int, outbuf: Any) -> int:
        """Unpacks as :meth:`Unpack` what :meth:`Pack_external` has packed."""
        _check_portable(datarep)
        room = _elements(self, outbuf)
        room.unpack(self._swapped(_read(inbuf, position, room.nbytes)))
        return position + room.nbytes

    def Pack_external_size(self, datarep: str, count: int) -> int:
        """Bytes of so many elements, packed by :meth:`Pack_external`."""
        _check_portable(datarep)
        return count * self.size

    def _swapped(self, data: Any) -> Any:
        """Data with the most significant byte of each element first, or back again."""
        if isinstance(data, Absent):
            return data
        if self.dtype is None or self.dtype.names:
            raise fault("TYPE", f"{self.label} cannot be packed as {_PORTABLE}: its elements are of several types")
        # A complex number is two numbers.
        unit = self.dtype.itemsize // (2 if self.dtype.kind == "c" else 1)
        return data if np.little_endian is False else data.reshape(-1, unit)[:, ::-1].reshape(-1)


def _elements(kind: Any, memory: Any) -> Buffer:
    """All elements of a datatype that a buffer has."""
    from flitwork_mpi.programs.buffer import Buffer, as_bytes

    view, _ = as_bytes(memory, True)
    datatype: Datatype = kind
    return Buffer(view, view.size // datatype.extent if datatype.extent else 0, datatype)


def _write(memory: Any, position: int, data: Any) -> int:
    from flitwork_mpi.programs.buffer import as_bytes

    view, _ = as_bytes(memory, True)
    _check_room(view, position, len(data))
    if not view.flags.writeable:
        raise fault("BUFFER", "the buffer to pack into cannot be written to")
    if not isinstance(data, Absent):
        view[position : position + len(data)] = data
    return position + len(data)


def _read(memory: Any, position: int, count: int) -> NDArray[np.uint8]:
    from flitwork_mpi.programs.buffer import as_bytes

    view, _ = as_bytes(memory, True)
    _check_room(view, position, count)
    return view[position : position + count]


def _check_room(view: NDArray[np.uint8], position: int, count: int) -> None:
    if position < 0 or position + count > view.size:
        raise fault("TRUNCATE", f"{count} bytes from byte {position} on, in a buffer of {view.size}")


def _check_portable(datarep: str) -> None:
    if datarep != _PORTABLE:
        raise fault("ARG", f"data are represented as {datarep!r}, and {_PORTABLE!r} is known")
