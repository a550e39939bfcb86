"""The steps of a collective, carried out with the data of a rank.

The simulator says what a rank does in each step (``_core.CollectiveSteps``): to whom it sends which blocks, from whom
it receives which, whether it adds what comes to what it has, and whether it waits. A rank *holds* blocks by their
numbers; what a block is made of, and how it travels, a *load* says (:mod:`flitwork_mpi.programs.collective_data`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import ceil
from typing import Any, Protocol

from flitwork import _core

from flitwork_mpi.programs.wire import Wire
from flitwork_mpi.programs.world import Operation

#: One step: to whom, which blocks; from whom, which blocks; whether it adds, and whether it waits.
Step = tuple[int | None, Sequence[int] | None, int | None, Sequence[int] | None, bool, bool]
#: Steps and listed blocks of a rank, and of all ranks of all algorithms together, that are kept.
_MOST_OF_RANK, _MOST = 256, 2**20
#: Operations whose length is that of a vector, which an algorithm may cut.
_ON_VECTORS = ("broadcast", "reduce", "allreduce", "scan")


class Load(Protocol):
    """What blocks are made of."""

    #: Whether what comes is combined with what there is, which may take time.
    adds_up: bool

    def packed(self, block_data: dict[int, Any], blocks: Sequence[int]) -> tuple[Any, int]:
        """Blocks as a message, and its length [bytes]. What is in it does not change any more."""

    def placed(self, block_data: dict[int, Any], blocks: Sequence[int], data: Any, adds: bool) -> None:
        """Puts what came where it belongs."""


class Steps:
    """An algorithm for so many ranks."""

    _kept_in_all = 0

    def __init__(
        self,
        operation: str,
        algorithm: str,
        ranks: int,
        root: int,
        topology: str | None,
        terminals: tuple[int, ...] | None,
        required: bool,
    ) -> None:
        # First: an algorithm that is refused is taken away, too.
        self._kept: dict[int, list[Step]] = {}
        self._made = None
        self.name, self.pieces, self.in_order, self.count = algorithm, 1, True, 0
        if ranks > 1:
            made = self._made = _core.CollectiveSteps(operation, algorithm, ranks, root, topology, terminals, required)
            self.name, self.pieces, self.in_order, self.count = made.name, made.pieces, made.in_order, made.steps
        #: Whether it cuts the data.
        self.cuts = operation in _ON_VECTORS and self.pieces > 1

    def of(self, rank: int) -> Iterable[Step]:
        """What a rank does, step by step. Short lists are kept; long ones are made again when they are needed."""
        kept, made = self._kept.get(rank), self._made
        if kept is not None or made is None:
            return kept or ()
        steps = (made.step(rank, step) for step in range(self.count))
        if self.count > _MOST_OF_RANK:
            return steps
        found = [*steps]
        size = self.count + sum(len(blocks) for step in found for blocks in (step[1], step[3]) if type(blocks) is list)
        if size <= _MOST_OF_RANK and Steps._kept_in_all + size <= _MOST:
            Steps._kept_in_all += size
            self._kept[rank] = found
        return found

    def __del__(self) -> None:
        Steps._kept_in_all -= sum(map(len, self._kept.values()))


@lru_cache(maxsize=1024)
def steps_of(
    operation: str,
    algorithm: str,
    ranks: int,
    root: int,
    topology: str | None = None,
    terminals: tuple[int, ...] | None = None,
    required: bool = False,
) -> Steps:
    """The algorithm of this name; where it is not defined for so many ranks, the one that takes its place.

    ``topology`` and ``terminals`` (that of each rank) are for algorithms that go by them. Raises
    :class:`flitwork.ConfigError` where one that is ``required`` is not defined.
    """
    return Steps(operation, algorithm, ranks, root, topology, terminals, required)


def carry_out(wire: Wire, steps: Steps, block_data: dict[int, Any], load: Load) -> None:
    """Does what a rank has to. ``block_data`` are its blocks: those that it has first, and in the end should have."""
    started: list[Operation] = []
    due: list[tuple[Operation, Sequence[int], bool]] = []
    for to, sent, source, comes, adds, waits in steps.of(wire.rank):
        if source is not None and comes is not None:
            operation = wire.receive(source)
            started.append(operation)
            due.append((operation, comes, adds))
        if to is not None and sent is not None:
            data, nbytes = load.packed(block_data, sent)
            started.append(wire.send(to, data, nbytes))
        if waits and started:
            _complete(wire, started, due, block_data, load)
            started, due = [], []
    if started:
        _complete(wire, started, due, block_data, load)


def _complete(
    wire: Wire,
    started: list[Operation],
    due: list[tuple[Operation, Sequence[int], bool]],
    block_data: dict[int, Any],
    load: Load,
) -> None:
    process = wire.process
    process.wait(*started)
    for operation, blocks, adds in due:
        load.placed(block_data, blocks, wire.data(operation), adds)
    rate = process.world.reduce_cycles_per_flit
    if rate and load.adds_up:
        added = [operation.message for operation, _, adds in due if adds]
        flits = sum(process.world.flits(message.nbytes) for message in added if message is not None)
        if flits:
            process.compute(ceil(flits * rate))
