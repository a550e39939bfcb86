"""Collectives of Python objects, which travel by pickle."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from flitwork_mpi.programs.algorithms import pick
from flitwork_mpi.programs.channel import Channel
from flitwork_mpi.programs.collective_data import MOVED, SIGNAL, Objects, Values
from flitwork_mpi.programs.errors import fault
from flitwork_mpi.programs.integers import integer
from flitwork_mpi.programs.operations import allgathered, allreduced, exchanged, reduced, scanned
from flitwork_mpi.programs.pickling import dump, load
from flitwork_mpi.programs.reduction import OPS, Op
from flitwork_mpi.programs.steps import carry_out
from flitwork_mpi.programs.world import Message

_SUM = OPS["SUM"]


class ObjectCollectives(Channel):
    """The lower-case collectives. Lengths are not known beforehand: algorithms are chosen as for short ones."""

    def barrier(self) -> None:
        """Waits for all ranks."""
        wire = self._wire("barrier")
        carry_out(wire, pick(wire, "barrier", 0), {}, SIGNAL)

    def bcast(self, obj: Any, root: int = 0) -> Any:
        """The object of the root."""
        wire = self._wire("bcast")
        root = checked_root(root, wire.size)
        block_data = {0: dump(obj)} if wire.rank == root else {}
        carry_out(wire, pick(wire, "bcast", 0, root, cuts=False), block_data, MOVED)
        return obj if wire.rank == root else load(block_data[0])

    def gather(self, sendobj: Any, root: int = 0) -> list[Any] | None:
        """The objects of all ranks, on the root."""
        wire = self._wire("gather")
        root = checked_root(root, wire.size)
        block_data = {wire.rank: dump(sendobj)}
        carry_out(wire, pick(wire, "gather", 0, root), block_data, MOVED)
        return [load(block_data[rank]) for rank in range(wire.size)] if wire.rank == root else None

    def scatter(self, sendobj: Iterable[Any] | None, root: int = 0) -> Any:
        """Object ``r`` of the root's, on rank ``r``."""
        wire = self._wire("scatter")
        root = checked_root(root, wire.size)
        block_data: dict[int, Any] = {}
        if wire.rank == root:
            block_data = dict(enumerate(dump(one) for one in one_for_each(sendobj, wire.size)))
        carry_out(wire, pick(wire, "scatter", 0, root), block_data, MOVED)
        return load(block_data[wire.rank])

    def allgather(self, sendobj: Any) -> list[Any]:
        """The objects of all ranks."""
        return [load(one) for one in allgathered(self._wire("allgather"), dump(sendobj), 0)]

    def alltoall(self, sendobj: Iterable[Any] | None) -> list[Any]:
        """Object ``d`` of rank ``s``, as object ``s`` of rank ``d``."""
        wire = self._wire("alltoall")
        data = [dump(one) for one in one_for_each(sendobj, wire.size)]
        return [load(one) for one in exchanged(wire, pick(wire, "alltoallv", 0), data)]

    def reduce(self, sendobj: Any, op: Any = _SUM, root: int = 0) -> Any:
        """The objects of all ranks combined, on the root; ``op`` may be any function of two."""
        wire = self._wire("reduce")
        root = checked_root(root, wire.size)
        return reduced(wire, sendobj, _values(op), root, 0, False)

    def allreduce(self, sendobj: Any, op: Any = _SUM) -> Any:
        """The objects of all ranks combined."""
        return allreduced(self._wire("allreduce"), sendobj, _values(op), 0, False)

    def scan(self, sendobj: Any, op: Any = _SUM) -> Any:
        """The objects of all ranks up to this one combined."""
        return scanned(self._wire("scan"), sendobj, _values(op), True, 0)

    def exscan(self, sendobj: Any, op: Any = _SUM) -> Any:
        """The objects of all ranks before this one combined; ``None`` on rank 0."""
        return scanned(self._wire("exscan"), sendobj, _values(op), False, 0)


def loaded(came: Message) -> Any:
    """The object that a message brings: ``None`` of one without data."""
    return load(came.data) if came.nbytes else None


def _values(op: Any) -> Values:
    # What is no operation of MPI's might not commute.
    return Objects(op, op.commutes if isinstance(op, Op) else False)


def one_for_each(objects: Iterable[Any] | None, ranks: int) -> list[Any]:
    """An object for each rank: ``None`` where none are given."""
    found = [None] * ranks if objects is None else [*objects]
    if len(found) != ranks:
        raise ValueError(f"expecting {ranks} items, got {len(found)}")
    return found


def checked_root(root: Any, ranks: int) -> int:
    """The root of a collective."""
    found = integer(root)
    if not 0 <= found < ranks:
        raise fault("ROOT", f"the root is {found}, of {ranks} ranks")
    return found
