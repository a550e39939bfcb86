"""Buffers as mpi4py programs write them: an array, or a list of it with counts, displacements and a datatype."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flitwork_mpi.programs.datatype import Datatype, check_type
from flitwork_mpi.programs.errors import fault
from flitwork_mpi.programs.foreign_memory import BOTTOM, at_addresses, elsewhere, shared
from flitwork_mpi.programs.integers import integer
from flitwork_mpi.programs.no_data import Absent
from flitwork_mpi.programs.predefined import NAMED, of_dtype, of_spec
from flitwork_mpi.programs.world import here

_BYTE = NAMED["BYTE"]
Bytes = NDArray[np.uint8]


class InPlace:
    """``MPI.IN_PLACE``: the data are in the other buffer."""

    def __repr__(self) -> str:
        return "MPI.IN_PLACE"

    def __reduce__(self) -> str:
        return "IN_PLACE"


IN_PLACE = InPlace()


class BufferAutomatic:
    """``MPI.BUFFER_AUTOMATIC``: buffered sends find their own memory, as they do here in any case."""

    def __repr__(self) -> str:
        return "MPI.BUFFER_AUTOMATIC"

    def __reduce__(self) -> str:
        return "BUFFER_AUTOMATIC"


AUTOMATIC = BufferAutomatic()


class Buffer:
    """``count`` elements of a datatype in memory, from byte ``start`` on."""

    __slots__ = ("array", "count", "datatype", "start", "view")

    def __init__(self, view: Bytes, count: int, datatype: Datatype, start: int = 0, array: Any = None) -> None:
        self.view, self.count, self.datatype, self.start, self.array = view, count, datatype, start, array

    @property
    def nbytes(self) -> int:
        """Bytes of data."""
        return self.count * self.datatype.size

    def pack(self) -> Any:
        """A copy of the data, without gaps."""
        world = here.world
        if world is not None and not world.carries:
            return Absent(self.nbytes)
        kind = self.datatype
        if kind.contiguous:
            end = self.start + self.count * kind.size
            if end > self.view.size:
                raise _too_small(end, self.view.size)
            return self.view[self.start : end].copy()
        found: Bytes = self.view[self._places(self.count)]
        return found

    def unpack(self, data: Any, first: int = 0) -> None:
        """Puts data without gaps where they belong, from element ``first`` on."""
        kind = self.datatype
        if isinstance(data, Absent):
            return
        if not self.view.flags.writeable:
            raise _readonly()
        if kind.contiguous:
            start = self.start + first * kind.size
            if start + data.size > self.view.size:
                raise _too_small(start + data.size, self.view.size)
            self.view[start : start + data.size] = data
        elif data.size:
            count = -(-data.size // kind.size)
            self.view[self._places(count, first)[: data.size]] = data

    def _places(self, count: int, first: int = 0) -> NDArray[np.int64]:
        kind = self.datatype
        places = (np.arange(first, first + count)[:, None] * kind.extent + kind.offsets[None, :]).ravel() + self.start
        if places.size and (places.max() >= self.view.size or places.min() < 0):
            raise _too_small(int(places.max()) + 1, self.view.size)
        return places

    def part(self, first: int, count: int) -> Buffer:
        """``count`` elements from element ``first`` on."""
        return Buffer(self.view, count, self.datatype, self.start + first * self.datatype.extent)


class Blocks:
    """A buffer of one block for each rank: ``counts`` elements, ``places`` elements from the start."""

    __slots__ = ("counts", "datatype", "places", "view")

    def __init__(self, view: Bytes, counts: Sequence[int], places: Sequence[int], datatype: Datatype) -> None:
        self.view, self.counts, self.places, self.datatype = view, counts, places, datatype

    def block(self, rank: int) -> Buffer:
        """The block of a rank."""
        return Buffer(self.view, self.counts[rank], self.datatype, self.places[rank] * self.datatype.extent)

    def pack(self) -> list[Any]:
        """A copy of each block, without gaps."""
        return [self.block(rank).pack() for rank in range(len(self.counts))]


def _too_small(needed: int, size: int) -> Exception:
    return fault("BUFFER", f"the buffer has {size} bytes, and {needed} are needed")


def as_bytes(memory: Any, said: bool = False) -> tuple[Bytes, Datatype]:
    """The bytes of what can be a buffer, and the datatype of its elements, which does not matter if it is ``said``."""
    if isinstance(memory, np.ndarray):
        kind = _BYTE if said else of_dtype(memory.dtype)
        if memory.flags.c_contiguous:
            return memory.reshape(-1).view(np.uint8), kind
        if memory.flags.f_contiguous:
            return memory.T.reshape(-1).view(np.uint8), kind
        raise ValueError("ndarray is not contiguous")
    if isinstance(memory, np.generic):
        return as_bytes(np.asarray(memory), said)
    try:
        view = memoryview(memory)
    except TypeError:
        if here.world is not None and not here.world.carries and (out := elsewhere(memory)) is not None:
            return out.view(), _BYTE if said or out.dtype is None else of_dtype(out.dtype)
        found = shared(memory)
        if found is not None:
            array, known = found
            return as_bytes(array, said or not known)
        if hasattr(memory, "__array__"):
            return as_bytes(np.asarray(memory), said)
        raise TypeError(f"expecting buffer or list/tuple, not {type(memory).__name__}") from None
    if not view.contiguous:
        raise ValueError("the buffer is not contiguous")
    return as_bytes(np.asarray(view), said or isinstance(memory, (bytes, bytearray)))


def _said_bytes(memory: Any, kind: Any) -> tuple[Bytes, Datatype]:
    """The bytes of memory that stands in a list, none of ``None`` and ``BOTTOM``, and the datatype of its elements."""
    if memory is not None and memory is not BOTTOM:
        view, own = as_bytes(memory, kind is not None)
        return view, own if kind is None else of_spec(kind)
    if kind is None and memory is BOTTOM:
        raise fault("TYPE", "MPI.BOTTOM needs a datatype: [MPI.BOTTOM, count, datatype]")
    return np.empty(0, np.uint8), _BYTE if kind is None else of_spec(kind)


def _absolute(count: int, datatype: Datatype, start: int = 0) -> Buffer:
    """``count`` elements of a datatype whose displacements are addresses."""
    if not count * datatype.size:
        return Buffer(np.empty(0, np.uint8), 0, datatype)
    reach = (count - 1) * datatype.extent
    low = datatype.true_lb + start + min(reach, 0)
    high = datatype.true_lb + datatype.true_extent + start + max(reach, 0)
    return Buffer(at_addresses(low, high), count, datatype, start - low)


def message(spec: Any) -> Buffer:
    """One message: ``data``, ``[data, type]``, ``[data, count, type]`` or ``[data, (count, place), type]``."""
    if isinstance(spec, np.ndarray) and spec.flags.c_contiguous:
        kind = of_dtype(spec.dtype)
        return Buffer(spec.reshape(-1).view(np.uint8), spec.size, kind, 0, spec)
    if isinstance(spec, Buffer):
        return spec
    if isinstance(spec, InPlace):
        raise fault("BUFFER", "MPI.IN_PLACE is for collectives, of gather, scatter and reduce for the root")
    if not isinstance(spec, (list, tuple)):
        view, kind = as_bytes(spec)
        return Buffer(view, view.size // kind.size, kind, 0, spec)
    memory, counts, places, kind = _parts(spec)
    view, datatype = _said_bytes(memory, kind)
    if isinstance(counts, (list, tuple)) and places is None:
        counts, places = counts if len(counts) == 2 else (counts[0], 0)
    start = _natural("displacement", places or 0) * datatype.extent
    counts = None if counts is None else _natural("count", counts)
    if memory is BOTTOM:
        return _absolute(counts or 0, datatype, start)
    count = _all_of(view.size - start, datatype) if counts is None else counts
    return Buffer(view, count, datatype, start)


def room(spec: Any) -> Buffer:
    """One message that is to be received."""
    found = message(spec)
    if not found.view.flags.writeable:
        raise _readonly()
    return found


def _readonly() -> Exception:
    return fault("BUFFER", "the buffer of a receive cannot be written to")


def _natural(what: str, number: Any) -> int:
    """A number of elements."""
    found = operator.index(number)
    if found < 0:
        raise ValueError(f"a buffer with the {what} {found}")
    return found


def _all_of(size: int, datatype: Datatype) -> int:
    """Elements in so many bytes."""
    if not datatype.extent:
        return 0
    if not datatype.contiguous:
        return max((size - datatype.true_lb - datatype.true_extent) // datatype.extent + 1, 0)
    if size % datatype.size:
        raise fault("BUFFER", f"a buffer of {size} bytes is no number of elements of {datatype.size} bytes")
    return size // datatype.size


def _parts(spec: Sequence[Any]) -> tuple[Any, Any, Any, Any]:
    """Memory, counts, displacements, datatype; ``None`` where not said. Two in a tuple are counts and displacements."""
    if len(spec) == 2:
        memory, second = spec
        if isinstance(second, (Datatype, str, np.dtype, type)):
            return memory, None, None, second
        if isinstance(second, tuple) and len(second) == 2:
            return memory, second[0], second[1], None
        return memory, second, None, None
    if len(spec) == 3:
        memory, second, kind = spec
        if isinstance(second, tuple) and len(second) == 2:
            return memory, second[0], second[1], kind
        return memory, second, None, kind
    if len(spec) == 4:
        memory, counts, places, kind = spec
        return memory, counts, places, kind
    raise ValueError(f"a buffer is a list of 2 to 4 things, not of {len(spec)}")


def same_blocks(spec: Any, ranks: int, *, of_each: bool = False) -> Blocks:
    """A buffer of one equally large block for each rank; ``of_each``: what is written is the count of one block."""
    found = message(spec)
    if found.start < 0:
        raise _of_one_block()
    whole = not (isinstance(spec, (list, tuple)) and len(spec) > 2 and of_each)
    if whole and found.count % ranks:
        raise fault("COUNT", f"{found.count} elements cannot be divided among {ranks} ranks")
    count = found.count // ranks if whole else found.count
    places = [rank * count for rank in range(ranks)]
    return Blocks(found.view[found.start :], [count] * ranks, places, found.datatype)


def blocks(spec: Any, ranks: int) -> Blocks:
    """A buffer of blocks with counts and displacements: ``[data, counts, places, type]`` and its shorter forms."""
    if not isinstance(spec, (list, tuple)):
        as_bytes(spec)
        spec = [spec, None, None, None]
    memory, counts, places, kind = _parts(spec)
    view, datatype = _said_bytes(memory, kind)
    if counts is None:
        count = _all_of(view.size, datatype)
        share, rest = divmod(count, ranks)
        counts = [share + (rank < rest) for rank in range(ranks)]
    elif np.ndim(counts) == 0:
        counts = [counts] * ranks
    counts = [_natural("count", integer(count)) for count in counts]
    if len(counts) != ranks:
        raise fault("COUNT", f"{len(counts)} counts for {ranks} ranks")
    if places is None:
        places = [0, *np.cumsum(counts)[:-1].tolist()]
    elif np.ndim(places) == 0:
        places = [rank * operator.index(places) for rank in range(ranks)]
    places = [integer(place) for place in places]
    if len(places) != ranks:
        raise fault("COUNT", f"{len(places)} displacements for {ranks} ranks")
    if memory is BOTTOM and any(counts):
        raise _of_one_block()
    return Blocks(view, counts, places, datatype)


def typed_blocks(spec: Any, ranks: int) -> list[Buffer]:
    """A buffer of blocks with a datatype each: ``[data, counts, places, types]``; displacements in bytes."""
    memory, counts, places, kinds = _parts(spec)
    if kinds is None and isinstance(counts, (list, tuple)) and counts and isinstance(counts[0], Datatype):
        counts, kinds = None, counts
    if kinds is None:
        raise fault("TYPE", "a datatype for each rank is missing")
    view, _ = _said_bytes(memory, _BYTE)
    counts = [1] * ranks if counts is None else counts
    places = [0] * ranks if places is None else places
    if not len(counts) == len(places) == len(kinds) == ranks:
        raise fault("COUNT", f"counts, displacements and datatypes for {ranks} ranks are needed")
    return [
        _absolute(_natural("count", count), of_spec(kind), int(place))
        if memory is BOTTOM
        else Buffer(view, _natural("count", count), of_spec(kind), int(place))
        for count, place, kind in zip(counts, places, kinds, strict=True)
    ]


def _of_one_block() -> Exception:
    return fault("BUFFER", "MPI.BOTTOM is for one message or a block with a datatype of its own, not for equal blocks")


def fill(buffer: Buffer, data: Any, signature: str | None) -> None:
    """Puts what arrived into the buffer of a receive, if it fits and is of its type; objects are bytes."""
    if isinstance(data, (bytes, bytearray)):
        data = np.frombuffer(data, np.uint8)
    if data.size > buffer.nbytes:
        raise fault("TRUNCATE", f"a message of {data.size} bytes, and room for {buffer.nbytes} in its receive")
    if data.size:
        check_type(signature, buffer.datatype.signature, "a message", "was received as")
    buffer.unpack(data)
