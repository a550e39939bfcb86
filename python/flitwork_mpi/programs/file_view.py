"""What a rank sees of a file: its part by a datatype, one behind the other."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from flitwork_mpi.programs.datatype import Datatype
from flitwork_mpi.programs.errors import fault, not_supported
from flitwork_mpi.programs.predefined import NAMED

#: Bytes whose places are looked up at a time.
_AT_ONCE = 1 << 20


class View:
    """From byte ``disp`` of a file on, one ``filetype`` behind the other: of each only what is not a gap is seen.

    Positions count the bytes that are seen; those of programs are in elements of ``etype``.
    """

    def __init__(self, disp: int = 0, etype: Datatype = NAMED["BYTE"], filetype: Datatype | None = None) -> None:
        filetype = etype if filetype is None else filetype
        for kind in (etype, filetype):
            if not kind:
                raise fault("TYPE", "a view of MPI.DATATYPE_NULL")
        if disp < 0:
            raise fault("ARG", f"the displacement of a view is {disp} bytes, and at least 0 is allowed")
        if not etype.size or not filetype.size or filetype.size % etype.size:
            those = f"{filetype.size} bytes in the filetype, {etype.size} in the etype"
            raise fault("ARG", f"a filetype must be a whole number of etype elements: {those}")
        if not filetype.contiguous and (filetype.extent <= 0 or (np.diff(filetype.offsets) <= 0).any()):
            raise fault("ARG", "a filetype goes through the file forwards: its displacements must increase")
        # What programs give up later stays.
        self.disp = disp
        self.etype, self.filetype = (kind if kind.predefined else kind.again() for kind in (etype, filetype))

    def place(self, position: int) -> int:
        """The byte of the file at a position."""
        kind = self.filetype
        if kind.contiguous:
            return self.disp + position
        tile, within = divmod(position, kind.size)
        return self.disp + tile * kind.extent + int(kind.offsets[within])

    def position(self, place: int) -> int:
        """How many bytes are seen before a byte of the file, up to a whole element of the etype."""
        before, kind = max(place - self.disp, 0), self.filetype
        if not kind.contiguous:
            # Of each byte of the datatype: how many repetitions have it before that place.
            before = int(np.maximum(-(-(before - kind.offsets) // kind.extent), 0).sum())
        size = self.etype.size
        return -(-before // size) * size

    def runs(self, position: int, nbytes: int) -> Iterator[tuple[int, int]]:
        """Where so many bytes from a position on lie: the first byte and the length of each run."""
        kind = self.filetype
        if kind.contiguous:
            yield self.disp + position, nbytes
            return
        for first in range(position, position + nbytes, _AT_ONCE):
            seen = np.arange(first, min(first + _AT_ONCE, position + nbytes))
            tiles, within = np.divmod(seen, kind.size)
            places = self.disp + tiles * kind.extent + kind.offsets[within]
            ends = np.flatnonzero(np.diff(places) != 1) + 1
            for run in np.split(places, ends):
                yield int(run[0]), len(run)


def checked_datarep(datarep: str | None) -> None:
    """Refuses representations of data other than that of memory."""
    if datarep not in (None, "native", "internal"):
        raise not_supported(f"the representation {datarep!r} of data in an MPI.File")
