"""Datatypes: where the bytes of one element lie.

A datatype is a list of byte offsets, in the order in which they travel, an extent (the distance of two elements), and a
signature (what it is made of), by which the types of a send and of its receive are compared.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flitwork_mpi.programs import attributes
from flitwork_mpi.programs.distribution import owned
from flitwork_mpi.programs.envelope import Decoded, recorded, remade
from flitwork_mpi.programs.errors import Refusing, fault, not_supported
from flitwork_mpi.programs.handle import Handle
from flitwork_mpi.programs.pack import Packing

ORDER_C, ORDER_FORTRAN = 56, 57
#: Signatures that match any other: bytes, and what is packed or pickled.
_ANY = "bytes"
#: What all that is ``MPI.DATATYPE_NULL`` has in common.
_NULL = object()
#: Bytes of the largest datatype with gaps: of each the place is kept, in 8 bytes.
_MOST_BYTES = 2**28


class Datatype(Packing, Decoded, Handle, attributes.Attributed, metaclass=Refusing):
    """A datatype. ``offsets`` are those of its bytes, ``None`` where they lie one behind the other from 0 on.

    Without a name it is ``MPI.DATATYPE_NULL``; of another datatype it is the same one again.
    """

    def __init__(
        self,
        name: str | Datatype = "DATATYPE_NULL",
        size: int = 0,
        extent: int | None = None,
        offsets: NDArray[np.int64] | None = None,
        *,
        lower: int = 0,
        signature: str = _ANY,
        dtype: np.dtype[Any] | None = None,
        predefined: bool = False,
    ) -> None:
        if isinstance(name, Datatype):
            return
        if not isinstance(name, str):
            raise TypeError(f"expecting a datatype, not {type(name).__name__}")
        self.label, self.size, self.lb = name, size, lower
        self.extent = size if extent is None else extent
        self.signature, self.dtype = signature, dtype
        self.predefined = predefined or name == "DATATYPE_NULL"
        self._offsets, self._called = offsets, ""
        #: Those that have it in common are one datatype.
        self._itself = _NULL if name == "DATATYPE_NULL" else object()
        #: Whether elements lie one behind the other without gaps.
        self.contiguous = offsets is None and self.extent == size and lower == 0

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """The offset of each of its bytes."""
        return np.arange(self.size, dtype=np.int64) if self._offsets is None else self._offsets

    @property
    def ub(self) -> int:
        """Upper bound [bytes]."""
        return self.lb + self.extent

    @property
    def true_lb(self) -> int:
        """Offset of its first byte [bytes]."""
        return int(self._offsets.min()) if self.size and self._offsets is not None else 0

    @property
    def true_extent(self) -> int:
        """From its first to its last byte [bytes]."""
        if self._offsets is None:
            return self.size
        return int(self._offsets.max()) + 1 - self.true_lb if self.size else 0

    @property
    def true_ub(self) -> int:
        """Behind its last byte [bytes]."""
        return self.true_lb + self.true_extent

    @property
    def is_predefined(self) -> bool:
        """Whether the datatype is one of the named ones."""
        return self.predefined

    def Get_size(self) -> int:
        """Bytes of data in one element."""
        return self.size

    def Get_extent(self) -> tuple[int, int]:
        """Lower bound and extent [bytes]."""
        return self.lb, self.extent

    def Get_true_extent(self) -> tuple[int, int]:
        """Offset of the first byte, and from there to the last [bytes]."""
        return self.true_lb, self.true_extent

    def Get_name(self) -> str:
        """The name that was given to it, or that of MPI."""
        return self._called or (f"MPI_{self.label}" if self.predefined and self.label else "")

    def Set_name(self, name: str) -> None:
        """Gives it a name."""
        self._called = name

    name = property(Get_name, Set_name)

    def Commit(self) -> Datatype:
        """Makes it ready for use; returns itself."""
        self._check()
        return self

    def Free(self) -> None:
        """Gives it up: it is ``MPI.DATATYPE_NULL`` from now on. What is under way with it goes on."""
        self._check()
        if self.predefined:
            raise fault("TYPE", f"MPI.{self.label} cannot be freed")
        attributes.remove_all(self)
        self._itself = _NULL

    def _is_of_mpi(self) -> bool:
        return self.predefined

    def _check(self) -> None:
        if not self:
            raise fault("TYPE", "the datatype is MPI.DATATYPE_NULL")

    @recorded
    def Dup(self) -> Datatype:
        """A copy."""
        self._check()
        made = self.again()
        attributes.copy(self, made)
        return made

    Create_dup = Dup

    def again(self) -> Datatype:
        """A copy of the datatype, without the attributes that programs keep at it."""
        made = self._spread(self.label, self.size, self.extent, self._offsets, self.lb)
        made.recipe = self.recipe
        return made

    @recorded
    def Create_contiguous(self, count: int) -> Datatype:
        """``count`` elements, one behind the other."""
        return self.Create_vector(count, 1, 1)

    @recorded
    def Create_vector(self, count: int, blocklength: int, stride: int) -> Datatype:
        """``count`` blocks of ``blocklength`` elements; ``stride`` elements from one to the next."""
        return self.Create_hvector(count, blocklength, stride * self.extent)

    @recorded
    def Create_hvector(self, count: int, blocklength: int, stride: int) -> Datatype:
        """A datatype of blocks at equal distances, as :meth:`Create_vector`; ``stride`` in bytes."""
        _natural("count", count)
        _natural("blocklength", blocklength)
        if self.contiguous and (stride == blocklength * self.extent or count < 2):
            nbytes = count * blocklength * self.size
            return self._spread(f"vector({self.label})", nbytes, nbytes, None, 0)
        _few(count * blocklength * self.size)
        starts = np.arange(count)[:, None] * stride + np.arange(blocklength)[None, :] * self.extent
        return self._at(f"vector({self.label})", starts.ravel())

    @recorded
    def Create_indexed(self, blocklengths: Sequence[int], displacements: Sequence[int]) -> Datatype:
        """Blocks of so many elements, each so many elements from the start."""
        return self.Create_hindexed(blocklengths, [place * self.extent for place in displacements])

    @recorded
    def Create_hindexed(self, blocklengths: Sequence[int], displacements: Sequence[int]) -> Datatype:
        """A datatype of blocks of given lengths, as :meth:`Create_indexed`; displacements in bytes."""
        if len(blocklengths) != len(displacements):
            raise ValueError(f"{len(blocklengths)} block lengths and {len(displacements)} displacements")
        pairs = zip(displacements, blocklengths, strict=True)
        _few(sum(blocklengths) * self.size)
        blocks = [place + np.arange(length) * self.extent for place, length in pairs]
        return self._at(f"indexed({self.label})", np.concatenate([np.empty(0, np.int64), *blocks]).astype(np.int64))

    @recorded
    def Create_indexed_block(self, blocklength: int, displacements: Sequence[int]) -> Datatype:
        """Blocks of one length."""
        return self.Create_indexed([blocklength] * len(displacements), displacements)

    @recorded
    def Create_hindexed_block(self, blocklength: int, displacements: Sequence[int]) -> Datatype:
        """A datatype of blocks of one length, as :meth:`Create_indexed_block`; displacements in bytes."""
        return self.Create_hindexed([blocklength] * len(displacements), displacements)

    @recorded
    def Create_subarray(
        self, sizes: Sequence[int], subsizes: Sequence[int], starts: Sequence[int], order: int = ORDER_C
    ) -> Datatype:
        """A part of an array of ``sizes`` elements: ``subsizes`` of them from ``starts`` on."""
        if not len(sizes) == len(subsizes) == len(starts):
            raise ValueError("sizes, subsizes and starts have different lengths")
        for whole, part, start in zip(sizes, subsizes, starts, strict=True):
            if part < 1 or start < 0 or start + part > whole:
                raise fault("ARG", f"a subarray of {part} elements from {start} on does not fit in {whole}")
        parts = [np.arange(start, start + part) for start, part in zip(starts, subsizes, strict=True)]
        return self._of_array("subarray", sizes, parts, order)

    @recorded
    def Create_darray(
        self,
        size: int,
        rank: int,
        gsizes: Sequence[int],
        distribs: Sequence[int],
        dargs: Sequence[int],
        psizes: Sequence[int],
        order: int = ORDER_C,
    ) -> Datatype:
        """What a rank has of an array of ``gsizes`` elements that is distributed over a grid of ranks."""
        return self._of_array("darray", gsizes, owned(size, rank, gsizes, distribs, dargs, psizes), order)

    def _of_array(self, name: str, sizes: Sequence[int], parts: Sequence[NDArray[np.int64]], order: int) -> Datatype:
        """The elements of an array that have these indices in each dimension."""
        _few(math.prod(sizes) * max(self.size, 1))
        letter = "F" if order == ORDER_FORTRAN else "C"
        places = np.arange(int(np.prod(sizes)), dtype=np.int64).reshape(sizes, order=letter)  # type: ignore[call-overload]
        chosen = places[np.ix_(*parts)].ravel(order=letter)
        return self._at(f"{name}({self.label})", chosen * self.extent, 0, int(np.prod(sizes)) * self.extent)

    @staticmethod
    @recorded
    def Create_struct(
        blocklengths: Sequence[int], displacements: Sequence[int], datatypes: Sequence[Datatype]
    ) -> Datatype:
        """Blocks of different datatypes, each so many bytes from the start."""
        if not len(blocklengths) == len(displacements) == len(datatypes) or not datatypes:
            raise ValueError("block lengths, displacements and datatypes have different lengths, or there are none")
        _few(sum(length * kind.size for length, kind in zip(blocklengths, datatypes, strict=True)))
        parts = [
            kind.Create_contiguous(length)._at("part", np.array([place], dtype=np.int64))
            for length, place, kind in zip(blocklengths, displacements, datatypes, strict=True)
        ]
        offsets = np.concatenate([part.offsets for part in parts])
        lower, upper = min(part.lb for part in parts), max(part.ub for part in parts)
        # Elements lie as a compiler lays them out: as far apart as the strictest of them asks for.
        strict = max(kind.alignment for kind in datatypes)
        extent = -(-(upper - lower) // strict) * strict
        same = len({kind.signature for kind in datatypes}) == 1
        signature = datatypes[0].signature if same else _ANY
        dtype = datatypes[0].dtype if same else None
        return Datatype("struct", len(offsets), extent, offsets, lower=lower, signature=signature, dtype=dtype)

    @recorded
    def Create_resized(self, lb: int, extent: int) -> Datatype:
        """This datatype with another lower bound and extent [bytes]."""
        if self._offsets is None:
            return self._spread(f"resized({self.label})", self.size, extent, None, lb)
        return self._derived(f"resized({self.label})", self._offsets, lb, extent)

    Resized = Create_resized

    @staticmethod
    def Create_f90_integer(r: int) -> Datatype:
        """Integers of so many decimal digits."""
        from flitwork_mpi.programs.sized_types import integer

        return integer(r)

    @staticmethod
    def Create_f90_real(p: int, r: int) -> Datatype:
        """Real numbers of so many digits and exponents up to ``r``."""
        from flitwork_mpi.programs.sized_types import real

        return real(p, r)

    @staticmethod
    def Create_f90_complex(p: int, r: int) -> Datatype:
        """Complex numbers of two such real numbers."""
        from flitwork_mpi.programs.sized_types import complex_

        return complex_(p, r)

    @staticmethod
    def Match_size(typeclass: int, size: int) -> Datatype:
        """The datatype of Fortran of a class and so many bytes."""
        from flitwork_mpi.programs.sized_types import matching

        return matching(typeclass, size)

    @staticmethod
    def Get_value_index(value: Datatype, index: Datatype) -> Datatype:
        """The datatype of a value and where it is, for ``MPI.MAXLOC``."""
        from flitwork_mpi.programs.sized_types import pair

        return pair(value, index)

    @staticmethod
    def fromcode(code: str) -> Datatype:
        """The datatype of NumPy's character."""
        from flitwork_mpi.programs.predefined import of_code

        return of_code(code)

    def _at(
        self, name: str, starts: NDArray[np.int64], lower: int | None = None, extent: int | None = None
    ) -> Datatype:
        """One element of this type at each of ``starts`` [bytes]."""
        offsets = (starts[:, None] + self.offsets[None, :]).ravel()
        if lower is None or extent is None:
            lower = int(starts.min()) + self.lb if len(starts) else 0
            extent = int(starts.max()) + self.ub - lower if len(starts) else 0
        return self._derived(name, offsets, lower, extent)

    def _derived(self, name: str, offsets: NDArray[np.int64], lower: int, extent: int) -> Datatype:
        plain = lower == 0 and len(offsets) == extent and bool((offsets == np.arange(extent)).all())
        return self._spread(name, len(offsets), extent, None if plain else offsets, lower)

    def _spread(self, name: str, size: int, extent: int, offsets: NDArray[np.int64] | None, lower: int) -> Datatype:
        """Elements of the same kind, in other places."""
        dtype, signature = self.dtype, self.signature
        return Datatype(name, size, extent, offsets, lower=lower, signature=signature, dtype=dtype)

    def __getattr__(self, name: str) -> Any:
        if name[:1].isupper():
            raise not_supported(f"MPI.Datatype.{name}")
        raise AttributeError(name)

    def __repr__(self) -> str:
        return f"<MPI.Datatype {self.label}>"

    def __reduce_ex__(self, protocol: Any) -> str | tuple[Any, ...]:
        from flitwork_mpi.programs.predefined import named

        if self and self.recipe.combiner != "NAMED":
            return remade, (self.recipe,)
        constant = named(self.label if self else "DATATYPE_NULL")
        return (named, (self.label,)) if self is constant else (type(self), (constant,))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Datatype) and self._itself is other._itself

    def __hash__(self) -> int:
        return hash(self._itself)

    def __bool__(self) -> bool:
        return self._itself is not _NULL


def matches(sent: str | None, wanted: str | None) -> bool:
    """Whether data of one signature may be received as another."""
    return sent == wanted or sent in (None, _ANY) or wanted in (None, _ANY)


def check_type(sent: str | None, wanted: str | None, what: str, how: str) -> None:
    """Refuses ``what`` of one signature where another is wanted; ``how`` they meet."""
    if not matches(sent, wanted):
        raise fault("TYPE", f"{what} of {_spelled(sent)} elements {how} {_spelled(wanted)}")


def _spelled(signature: str | None) -> str:
    try:
        return np.dtype(signature).name
    except TypeError:
        # That of a pair is its name.
        return str(signature)


def _few(nbytes: int) -> None:
    """The place of each byte is kept, where there are gaps."""
    if nbytes > _MOST_BYTES:
        raise fault("NO_MEM", f"a datatype of {nbytes:,} bytes with gaps, and at most {_MOST_BYTES:,} can be kept")


def _natural(what: str, number: int) -> None:
    if number < 0:
        raise fault("ARG", f"{what} is {number}")
