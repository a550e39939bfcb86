"""Collectives of Python objects, which travel by pickle."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

from flitwork.mpi.algorithms import pick
from flitwork.mpi.algorithms.values import Objects, Values
from flitwork.mpi.channel import Channel
from flitwork.mpi.errors import fault
from flitwork.mpi.reduction import OPS, Op
from flitwork.mpi.world import me

_SUM = OPS["SUM"]


class ObjectCollectives(Channel):
    """The lower-case collectives. Lengths are not known beforehand: algorithms are chosen as for short ones."""

    def barrier(self) -> None:
        """Waits for all ranks."""
        _pick("barrier")(self._wire("barrier"))

    def bcast(self, obj: Any, root: int = 0) -> Any:
        """The object of the root."""
        wire = self._wire("bcast")
        _check_root(root, wire.size)
        data = _pick("bcast")(wire, _dump(obj) if wire.rank == root else None, root)
        return obj if wire.rank == root else pickle.loads(data)

    def gather(self, sendobj: Any, root: int = 0) -> list[Any] | None:
        """The objects of all ranks, on the root."""
        wire = self._wire("gather")
        _check_root(root, wire.size)
        found = _pick("gather")(wire, _dump(sendobj), root)
        return None if found is None else [pickle.loads(one) for one in found]

    def scatter(self, sendobj: Sequence[Any] | None, root: int = 0) -> Any:
        """Object ``r`` of the root's, on rank ``r``."""
        wire = self._wire("scatter")
        _check_root(root, wire.size)
        blocks = None
        if wire.rank == root:
            blocks = [_dump(one) for one in _for_each(sendobj, wire.size)]
        return pickle.loads(_pick("scatter")(wire, blocks, root))

    def allgather(self, sendobj: Any) -> list[Any]:
        """The objects of all ranks."""
        return [pickle.loads(one) for one in _pick("allgather")(self._wire("allgather"), _dump(sendobj))]

    def alltoall(self, sendobj: Sequence[Any]) -> list[Any]:
        """Object ``d`` of rank ``s``, as object ``s`` of rank ``d``."""
        wire = self._wire("alltoall")
        blocks = [_dump(one) for one in _for_each(sendobj, wire.size)]
        return [pickle.loads(one) for one in _pick("alltoallv")(wire, blocks)]

    def reduce(self, sendobj: Any, op: Any = _SUM, root: int = 0) -> Any:
        """The objects of all ranks combined, on the root; ``op`` may be any function of two."""
        wire = self._wire("reduce")
        _check_root(root, wire.size)
        return _pick("reduce")(wire, sendobj, _values(op), root)

    def allreduce(self, sendobj: Any, op: Any = _SUM) -> Any:
        """The objects of all ranks combined."""
        return _pick("allreduce")(self._wire("allreduce"), sendobj, _values(op))

    def scan(self, sendobj: Any, op: Any = _SUM) -> Any:
        """The objects of all ranks up to this one combined."""
        return _pick("scan")(self._wire("scan"), sendobj, _values(op))[1]

    def exscan(self, sendobj: Any, op: Any = _SUM) -> Any:
        """The objects of all ranks before this one combined; ``None`` on rank 0."""
        return _pick("exscan")(self._wire("exscan"), sendobj, _values(op))[0]


def _pick(collective: str) -> Any:
    return pick(collective, me().world.algorithms, 0, pieces=False)


def _dump(obj: Any) -> bytes:
    return pickle.dumps(obj, -1)


def _values(op: Any) -> Values:
    # What is no operation of MPI's might not commute.
    return Objects(op, op.commutes if isinstance(op, Op) else False)


def _for_each(objects: Sequence[Any] | None, ranks: int) -> list[Any]:
    found = [] if objects is None else [*objects]
    if len(found) != ranks:
        raise ValueError(f"expecting {ranks} items, got {len(found)}")
    return found


def _check_root(root: int, ranks: int) -> None:
    if not 0 <= root < ranks:
        raise fault("ROOT", f"the root is {root}, of {ranks} ranks")
