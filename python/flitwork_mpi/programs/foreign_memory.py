"""Memory of other libraries: tensors that are shared by DLPack, and addresses that a datatype says (``MPI.BOTTOM``)."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from flitwork_mpi.programs.errors import fault, not_supported

#: Memory that the processor reads and writes, as DLPack numbers devices.
_CPU = 1
#: No datum lies below: the first page of memory belongs to nobody.
_FIRST_ADDRESS = 4096
_WITHOUT_DATA = "runs without data take it: --no-data, data=False"


class Bottom:
    """``MPI.BOTTOM``: the displacements of the datatype are addresses."""

    def __int__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "MPI.BOTTOM"

    def __reduce__(self) -> str:
        return "BOTTOM"


BOTTOM = Bottom()


def shared(tensor: Any) -> tuple[NDArray[Any], bool] | None:
    """A tensor as an array on the same memory, and whether NumPy knows its elements, which are bytes to it if not.

    ``None`` of what is no tensor.
    """
    if hasattr(tensor, "__dlpack__") and hasattr(tensor, "__dlpack_device__"):
        return _shared_by_dlpack(tensor)
    if hasattr(tensor, "__cuda_array_interface__"):
        raise not_supported(f"a buffer in the memory of a GPU (__cuda_array_interface__; {_WITHOUT_DATA})")
    return None


def _shared_by_dlpack(tensor: Any) -> tuple[NDArray[Any], bool]:
    device = int(tensor.__dlpack_device__()[0])
    if device != _CPU:
        raise not_supported(
            f"a buffer in the memory of another device (DLPack's device type {device}; {_WITHOUT_DATA})"
        )
    memory = _DLPackArray(_capsule_of(tensor))
    return memory.array(), memory.known


def _capsule_of(tensor: Any) -> Any:
    try:
        return tensor.__dlpack__(max_version=(1, 0), copy=False)
    except TypeError:
        # Of an older library, which knows of no versions, nor of memory that must not be written to.
        return tensor.__dlpack__()


@dataclass(frozen=True)
class Elsewhere:
    """A buffer that this process cannot read: how many bytes, of which type (``None``: one that NumPy lacks)."""

    nbytes: int
    dtype: np.dtype[Any] | None
    readonly: bool = False

    def view(self) -> NDArray[np.uint8]:
        """An array of as many bytes, for runs that need lengths alone: all are one byte, which is not the buffer's."""
        one = np.zeros(1, np.uint8)
        return np.lib.stride_tricks.as_strided(one, (self.nbytes,), (0,), writeable=not self.readonly)


def elsewhere(tensor: Any) -> Elsewhere | None:
    """Shape and type of a buffer of a GPU or another device, without a look at its data; ``None`` of any other."""
    if hasattr(tensor, "__cuda_array_interface__"):
        interface = tensor.__cuda_array_interface__
        dtype = np.dtype(interface["typestr"])
        return _elsewhere(interface["shape"], dtype, interface.get("strides"), bool(interface["data"][1]))
    if hasattr(tensor, "__dlpack__") and hasattr(tensor, "__dlpack_device__"):
        if int(tensor.__dlpack_device__()[0]) == _CPU:
            return None
        memory = _DLPackArray(_capsule_of(tensor))
        interface = memory.__array_interface__
        found = _elsewhere(
            interface["shape"], np.dtype(interface["typestr"]), interface["strides"], interface["data"][1]
        )
        return found if memory.known else replace(found, dtype=None)
    return None


def _elsewhere(shape: Sequence[int], dtype: np.dtype[Any], strides: Sequence[int] | None, readonly: bool) -> Elsewhere:
    count = math.prod(shape)
    if strides is not None and count and not _is_contiguous(shape, strides, dtype.itemsize):
        raise ValueError("the buffer is not contiguous")
    return Elsewhere(count * dtype.itemsize, None if dtype.kind == "V" else dtype, readonly)


def _is_contiguous(shape: Sequence[int], strides: Sequence[int], itemsize: int) -> bool:
    """Whether elements lie one behind the other, the last index or the first one running fastest."""

    def dense(sizes: Iterable[tuple[int, int]]) -> bool:
        step = itemsize
        for size, stride in sizes:
            if size > 1 and stride != step:
                return False
            step *= size
        return True

    pairs = [*zip(shape, strides, strict=True)]
    return dense(pairs[::-1]) or dense(pairs)


class _Tensor(ctypes.Structure):
    """What DLPack says of a tensor."""

    _fields_: ClassVar = [
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Versioned(ctypes.Structure):
    """The same, with its version."""

    _fields_: ClassVar = [
        ("version", ctypes.c_uint32 * 2),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    ]


#: Kinds of elements, as NumPy writes them, by DLPack's number and how many make one (two numbers make a complex one).
_KINDS = {(0, 1): "i", (1, 1): "u", (2, 1): "f", (2, 2): "c", (5, 1): "c", (6, 1): "b"}
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


class _DLPackArray:
    """The memory of a capsule, which is kept as long as the memory is in use, and not taken out of it."""

    def __init__(self, capsule: Any) -> None:
        self._capsule, readonly = capsule, False
        if "dltensor_versioned" in repr(capsule):
            versioned = _Versioned.from_address(_pointer(capsule, b"dltensor_versioned"))
            found, readonly = versioned.tensor, bool(versioned.flags & 1)
        else:
            found = _Tensor.from_address(_pointer(capsule, b"dltensor"))
        size, kind = found.bits * found.lanes // 8, _KINDS.get((found.code, found.lanes))
        shape = tuple(found.shape[: found.ndim]) if found.ndim else ()
        strides = tuple(step * size for step in found.strides[: found.ndim]) if found.ndim and found.strides else None
        #: Whether NumPy knows its elements.
        self.known = kind is not None
        if kind is None:
            kind, shape, strides, size = "u", (*shape, size), None if strides is None else (*strides, 1), 1
        self._shape, self._kind = shape, np.dtype(f"{kind}{size}")
        self.__array_interface__: dict[str, Any] = {
            "version": 3,
            "typestr": self._kind.str,
            "shape": shape,
            "strides": strides,
            "data": ((found.data or 0) + found.byte_offset, readonly),
        }

    def array(self) -> NDArray[Any]:
        """It, as an array."""
        shape: tuple[int, ...] = self._shape
        return np.asarray(self) if all(shape) else np.empty(shape, self._kind)


def at_addresses(low: int, high: int) -> NDArray[np.uint8]:
    """The bytes from address ``low`` up to ``high``, of which only those may be touched that a datatype names."""
    if low < _FIRST_ADDRESS:
        raise fault("BUFFER", f"no datum is at address {low}; with MPI.BOTTOM displacements are addresses")
    return np.ctypeslib.as_array((ctypes.c_ubyte * (high - low)).from_address(low))
