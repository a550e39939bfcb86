"""What collectives carry: blocks that only move, and values that are combined on their way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from flitwork_mpi.programs.buffer import Buffer
from flitwork_mpi.programs.datatype import check_type
from flitwork_mpi.programs.errors import fault
from flitwork_mpi.programs.no_data import Absent, absent_of
from flitwork_mpi.programs.pickling import dump, load

#: Ranks ``first`` up to ``end``, and what their values combine to.
Run = tuple[int, int, Any]


class Block:
    """The data of a block that moves, and the signature of its elements."""

    __slots__ = ("data", "signature")

    def __init__(self, data: Any, signature: str) -> None:
        self.data, self.signature = data, signature

    @property
    def size(self) -> int:
        """Length of the block [bytes]."""
        return len(self.data)

    def __len__(self) -> int:
        return len(self.data)


class Moved:
    """Blocks that arrive as they leave: anything that has a length [bytes]."""

    adds_up = False

    def packed(self, block_data: dict[int, Any], blocks: Sequence[int]) -> tuple[Any, int]:
        """The blocks, one behind the other."""
        data = [block_data[block] for block in blocks]
        return data, sum(map(len, data))

    def placed(self, block_data: dict[int, Any], blocks: Sequence[int], data: Any, adds: bool) -> None:
        """Keeps what came."""
        block_data.update(zip(blocks, data, strict=True))


class Signal:
    """Nothing: that it comes is all there is."""

    adds_up = False

    def packed(self, block_data: dict[int, Any], blocks: Sequence[int]) -> tuple[Any, int]:
        """A message without data."""
        return None, 0

    def placed(self, block_data: dict[int, Any], blocks: Sequence[int], data: Any, adds: bool) -> None:
        """Nothing to keep."""


MOVED, SIGNAL = Moved(), Signal()


class Values:
    """Arrays that are combined. ``combine(low, high)`` is given the value of the lower ranks first.

    A rank holds of each block a list of runs of consecutive ranks; where the operation commutes there is only one, and
    what is between its ranks does not matter. ``before``, where it is a list, gathers what comes from other ranks.
    """

    adds_up = True

    def __init__(self, combine: Callable[[Any, Any], Any], commutes: bool = True, unit: int = 1) -> None:
        self.combine, self.commutes = combine, commutes
        #: Elements of an array that belong together.
        self.unit = unit
        #: What the elements are, where that is known.
        self.signature: str | None = None
        self.before: list[Run] | None = None

    def first(self, rank: int, pieces: Sequence[Any]) -> dict[int, list[Run]]:
        """What a rank holds in the beginning."""
        return {block: [(rank, rank + 1, piece)] for block, piece in enumerate(pieces)}

    def packed(self, block_data: dict[int, Any], blocks: Sequence[int]) -> tuple[Any, int]:
        """The values of the blocks."""
        runs = [only(block_data[block]) for block in blocks]
        return (self.signature, runs), sum(value.nbytes for _, _, value in runs)

    def placed(self, block_data: dict[int, Any], blocks: Sequence[int], data: Any, adds: bool) -> None:
        """Keeps what came, or combines it with what there is: as many elements of the same type."""
        signature, runs = data
        check_type(signature, self.signature, "a block", "was combined with one of")
        for block, (_, _, value) in zip(blocks, runs, strict=True):
            kept = block_data[block][0][2] if adds and block_data[block] else value
            if value.size != kept.size:
                raise fault("COUNT", f"{value.size} elements were to be combined with {kept.size}")
        self._place(block_data, blocks, runs, adds)

    def _place(self, block_data: dict[int, Any], blocks: Sequence[int], runs: Sequence[Run], adds: bool) -> None:
        for block, came in zip(blocks, runs, strict=True):
            if adds:
                if self.before is not None:
                    self.before = self._joined(self.before, came)
                block_data[block] = self._joined(block_data[block], came)
            else:
                block_data[block] = [came]

    def _joined(self, runs: list[Run], came: Run) -> list[Run]:
        """Runs with one more; those that are neighbours become one."""
        if not runs:
            return [came]
        if self.commutes:
            low, high = sorted((runs[0], came), key=lambda run: run[0])
            return [(low[0], high[1], self.combine(low[2], high[2]))]
        found: list[Run] = []
        for run in sorted([*runs, came], key=lambda run: run[0]):
            if found and found[-1][1] == run[0]:
                first, _, value = found[-1]
                found[-1] = (first, run[1], self.combine(value, run[2]))
            else:
                found.append(run)
        return found

    def cut(self, value: Any, parts: int) -> list[Any]:
        """An array in so many pieces."""
        return cut(value, parts, self.unit)


class Objects(Values):
    """Python objects, which travel by pickle."""

    def packed(self, block_data: dict[int, Any], blocks: Sequence[int]) -> tuple[Any, int]:
        """The pickled values of the blocks."""
        runs = [only(block_data[block]) for block in blocks]
        data = [(first, end, dump(value)) for first, end, value in runs]
        return data, sum(len(one) for _, _, one in data)

    def placed(self, block_data: dict[int, Any], blocks: Sequence[int], data: Any, adds: bool) -> None:
        """Keeps what came, or combines it with what there is."""
        self._place(block_data, blocks, [(first, end, load(one)) for first, end, one in data], adds)


def only(runs: list[Run]) -> Run:
    """The only run of a list of one."""
    if len(runs) != 1:
        raise fault("INTERN", "values of ranks that are no neighbours")
    return runs[0]


def cut(data: Any, parts: int, unit: int = 1) -> list[Any]:
    """Data in so many pieces, the first longer by one unit, as the simulator cuts vectors."""
    if parts == 1:
        return [data]
    share, rest = divmod(len(data) // unit, parts)
    ends = [0, *accumulate((share + (part < rest)) * unit for part in range(parts))]
    return [data[first:last] for first, last in pairwise(ends)]


def joined(pieces: Sequence[Any]) -> Any:
    """Pieces as one array."""
    if isinstance(pieces[0], Absent):
        return absent_of(pieces)
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def fill_block(room: Buffer, block: Block) -> None:
    """Puts a block that came where it belongs, if it fits and is of its type."""
    if block.size:
        check_type(block.signature, room.datatype.signature, "a block", "was received as")
    put(room, block.data)


def put(room: Buffer, data: Any) -> None:
    """Puts data where they belong, if they fit."""
    if data.size > room.nbytes:
        raise fault("TRUNCATE", f"{data.size} bytes came, and there is room for {room.nbytes}")
    room.unpack(data)
