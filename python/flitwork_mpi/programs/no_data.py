"""Data that are not there: of a run without data (``fw.mpi.run(data=False)``) only their lengths travel."""

from __future__ import annotations

from typing import Any


class Absent:
    """An array of bytes that has a length and no data."""

    __slots__ = ("nbytes",)

    def __init__(self, nbytes: int) -> None:
        self.nbytes = nbytes

    @property
    def size(self) -> int:
        """Number of bytes."""
        return self.nbytes

    def __len__(self) -> int:
        return self.nbytes

    def __getitem__(self, part: slice) -> Absent:
        return Absent(len(range(*part.indices(self.nbytes))))

    def __repr__(self) -> str:
        return f"<{self.nbytes} bytes that are not there>"


def absent_of(pieces: Any) -> Absent:
    """Several as one."""
    return Absent(sum(piece.nbytes for piece in pieces))


def longer(low: Absent, high: Absent) -> Absent:
    """What combines two operands."""
    return low if low.nbytes >= high.nbytes else high
