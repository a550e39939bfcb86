"""Collectives of buffers, blocking and not.

Each is prepared (buffers read and checked, the call numbered) and then carried out: at once, or in a fiber of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from flitwork_mpi.programs.algorithms import pick
from flitwork_mpi.programs.buffer import IN_PLACE, Blocks, Buffer, blocks, message, same_blocks, typed_blocks
from flitwork_mpi.programs.channel import Channel
from flitwork_mpi.programs.collective_data import MOVED, SIGNAL, Block, Values, cut, fill_block, joined, only, put
from flitwork_mpi.programs.datatype import Datatype, matches
from flitwork_mpi.programs.errors import fault
from flitwork_mpi.programs.no_data import Absent, longer
from flitwork_mpi.programs.objects import checked_root
from flitwork_mpi.programs.operations import agreed, allgathered, allreduced, exchanged, reduced, scanned
from flitwork_mpi.programs.reduction import OPS, Op, as_raw, typed
from flitwork_mpi.programs.request import Request
from flitwork_mpi.programs.steps import carry_out
from flitwork_mpi.programs.wire import Wire

_SUM = OPS["SUM"]
Work = Callable[[], None]


class Prepared(Channel):
    """What each collective does, as a function without arguments."""

    def _barrier(self, name: str) -> Work:
        wire = self._wire(name)
        return lambda: carry_out(wire, pick(wire, "barrier", 0), {}, SIGNAL)

    def _bcast(self, name: str, buf: Any, root: int) -> Work:
        wire, room = self._wire(name), message(buf)
        root = checked_root(root, wire.size)
        steps = pick(wire, "bcast", room.nbytes, root)
        signature, block_data = room.datatype.signature, dict[int, Block]()
        if wire.rank == root:
            block_data.update(enumerate(Block(piece, signature) for piece in cut(room.pack(), steps.pieces)))

        def work() -> None:
            carry_out(wire, steps, block_data, MOVED)
            if wire.rank != root:
                fill_block(
                    room,
                    Block(joined([block_data[piece].data for piece in range(steps.pieces)]), block_data[0].signature),
                )

        return work

    def _gather(self, name: str, sendbuf: Any, recvbuf: Any, root: int, each: bool) -> Work:
        wire = self._wire(name)
        root = checked_root(root, wire.size)
        room = None
        if wire.rank == root:
            room = blocks(recvbuf, wire.size) if each else same_blocks(recvbuf, wire.size, of_each=True)
        operand = _own(sendbuf, room, wire)
        steps = pick(wire, "gatherv" if each else "gather", operand.size, root)

        def work() -> None:
            block_data = {wire.rank: operand}
            carry_out(wire, steps, block_data, MOVED)
            if room is not None:
                _fill_blocks(room, [block_data[rank] for rank in range(wire.size)])

        return work

    def _scatter(self, name: str, sendbuf: Any, recvbuf: Any, root: int, each: bool) -> Work:
        wire = self._wire(name)
        root = checked_root(root, wire.size)
        given = None
        if wire.rank == root:
            given = blocks(sendbuf, wire.size) if each else same_blocks(sendbuf, wire.size, of_each=True)
        block_data = {} if given is None else dict(enumerate(_blocks_of(given)))
        room = None if given is not None and _in_place(recvbuf) else message(recvbuf)
        steps = pick(wire, "scatterv" if each else "scatter", 0 if room is None else room.nbytes, root)

        def work() -> None:
            carry_out(wire, steps, block_data, MOVED)
            if room is not None:
                fill_block(room, block_data[wire.rank])

        return work

    def _allgather(self, name: str, sendbuf: Any, recvbuf: Any, each: bool) -> Work:
        wire = self._wire(name)
        room = blocks(recvbuf, wire.size) if each else same_blocks(recvbuf, wire.size, of_each=True)
        operand = _own(sendbuf, room, wire)
        nbytes = sum(room.counts) * room.datatype.size
        return lambda: _fill_blocks(room, allgathered(wire, operand, nbytes))

    def _alltoall(self, name: str, sendbuf: Any, recvbuf: Any, each: bool) -> Work:
        wire = self._wire(name)
        of = blocks if each else lambda spec, ranks: same_blocks(spec, ranks, of_each=True)
        room = of(recvbuf, wire.size)
        data = _blocks_of(room if _in_place(sendbuf) else of(sendbuf, wire.size))
        steps = pick(wire, "alltoallv", 0) if each else pick(wire, "alltoall", data[0].size)
        return lambda: _fill_blocks(room, exchanged(wire, steps, data))

    def _alltoallw(self, name: str, sendbuf: Any, recvbuf: Any) -> Work:
        wire = self._wire(name)
        room = typed_blocks(recvbuf, wire.size)
        given = room if _in_place(sendbuf) else typed_blocks(sendbuf, wire.size)
        data, steps = [_block_of(one) for one in given], pick(wire, "alltoallw", 0)

        def work() -> None:
            for block, came in zip(room, exchanged(wire, steps, data), strict=True):
                fill_block(block, came)

        return work

    def _reduce(self, name: str, sendbuf: Any, recvbuf: Any, op: Op, root: int) -> Work:
        wire = self._wire(name)
        root = checked_root(root, wire.size)
        room = message(recvbuf) if wire.rank == root else None
        operand = _operand(sendbuf, room)
        value, values = _value(operand, op)

        def work() -> None:
            found = reduced(wire, value, values, root, operand.nbytes, _in_pieces(operand, op, wire))
            if room is not None:
                put(room, as_raw(found))

        return work

    def _allreduce(self, name: str, sendbuf: Any, recvbuf: Any, op: Op) -> Work:
        wire, room = self._wire(name), message(recvbuf)
        operand = _operand(sendbuf, room)
        value, values = _value(operand, op)
        cuts = _in_pieces(operand, op, wire)
        return lambda: put(room, as_raw(allreduced(wire, value, values, operand.nbytes, cuts)))

    def _reduce_scatter(self, name: str, sendbuf: Any, recvbuf: Any, counts: list[int] | None, op: Op) -> Work:
        wire, room = self._wire(name), message(recvbuf)
        operand = room if _in_place(sendbuf) else message(sendbuf)
        _check_same(operand, room)
        value, values = _value(operand, op)
        units = len(value) // values.unit
        if counts is None and units % wire.size:
            raise fault("COUNT", f"{units} elements cannot be divided among {wire.size} ranks")
        counts = [units // wire.size] * wire.size if counts is None else counts
        if len(counts) != wire.size or sum(counts) > units:
            raise fault("COUNT", f"counts {counts} for {wire.size} ranks and {units} elements")
        ends = np.cumsum([0, *counts]) * values.unit
        parts = [value[first:last] for first, last in pairwise(ends)]
        steps = pick(wire, "reduce_scatter", operand.nbytes, in_order=not op.commutes)

        def work() -> None:
            block_data = values.first(wire.rank, parts)
            carry_out(wire, steps, block_data, values)
            put(room, as_raw(only(block_data[wire.rank])[2]))

        return work

    def _scan(self, name: str, sendbuf: Any, recvbuf: Any, op: Op, inclusive: bool) -> Work:
        wire, room = self._wire(name), message(recvbuf)
        value, values = _value(_operand(sendbuf, room), op)

        def work() -> None:
            result = scanned(wire, value, values, inclusive, room.nbytes)
            if result is not None:
                put(room, as_raw(result))

        return work


class Collectives(Prepared):
    """The upper-case collectives."""

    def Barrier(self) -> None:
        """Waits for all ranks."""
        self._barrier("Barrier")()

    def Ibarrier(self) -> Request:
        """Starts to wait for all ranks."""
        return self._start(self._barrier("Ibarrier"), "Ibarrier")

    def Bcast(self, buf: Any, root: int = 0) -> None:
        """The buffer of the root, on all ranks."""
        self._bcast("Bcast", buf, root)()

    def Ibcast(self, buf: Any, root: int = 0) -> Request:
        """:meth:`Bcast`, started."""
        return self._start(self._bcast("Ibcast", buf, root), "Ibcast")

    def Gather(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> None:
        """The buffers of all ranks, one behind the other on the root."""
        self._gather("Gather", sendbuf, recvbuf, root, False)()

    def Igather(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> Request:
        """:meth:`Gather`, started."""
        return self._start(self._gather("Igather", sendbuf, recvbuf, root, False), "Igather")

    def Gatherv(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> None:
        """:meth:`Gather` of different lengths."""
        self._gather("Gatherv", sendbuf, recvbuf, root, True)()

    def Igatherv(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> Request:
        """:meth:`Gatherv`, started."""
        return self._start(self._gather("Igatherv", sendbuf, recvbuf, root, True), "Igatherv")

    def Scatter(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> None:
        """Parts of the root's buffer, one to each rank."""
        self._scatter("Scatter", sendbuf, recvbuf, root, False)()

    def Iscatter(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> Request:
        """:meth:`Scatter`, started."""
        return self._start(self._scatter("Iscatter", sendbuf, recvbuf, root, False), "Iscatter")

    def Scatterv(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> None:
        """:meth:`Scatter` of different lengths."""
        self._scatter("Scatterv", sendbuf, recvbuf, root, True)()

    def Iscatterv(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> Request:
        """:meth:`Scatterv`, started."""
        return self._start(self._scatter("Iscatterv", sendbuf, recvbuf, root, True), "Iscatterv")

    def Allgather(self, sendbuf: Any, recvbuf: Any) -> None:
        """The buffers of all ranks, one behind the other on each."""
        self._allgather("Allgather", sendbuf, recvbuf, False)()

    def Iallgather(self, sendbuf: Any, recvbuf: Any) -> Request:
        """:meth:`Allgather`, started."""
        return self._start(self._allgather("Iallgather", sendbuf, recvbuf, False), "Iallgather")

    def Allgatherv(self, sendbuf: Any, recvbuf: Any) -> None:
        """:meth:`Allgather` of different lengths."""
        self._allgather("Allgatherv", sendbuf, recvbuf, True)()

    def Iallgatherv(self, sendbuf: Any, recvbuf: Any) -> Request:
        """:meth:`Allgatherv`, started."""
        return self._start(self._allgather("Iallgatherv", sendbuf, recvbuf, True), "Iallgatherv")

    def Alltoall(self, sendbuf: Any, recvbuf: Any) -> None:
        """Block ``d`` of rank ``s``, as block ``s`` of rank ``d``."""
        self._alltoall("Alltoall", sendbuf, recvbuf, False)()

    def Ialltoall(self, sendbuf: Any, recvbuf: Any) -> Request:
        """:meth:`Alltoall`, started."""
        return self._start(self._alltoall("Ialltoall", sendbuf, recvbuf, False), "Ialltoall")

    def Alltoallv(self, sendbuf: Any, recvbuf: Any) -> None:
        """:meth:`Alltoall` of different lengths."""
        self._alltoall("Alltoallv", sendbuf, recvbuf, True)()

    def Ialltoallv(self, sendbuf: Any, recvbuf: Any) -> Request:
        """:meth:`Alltoallv`, started."""
        return self._start(self._alltoall("Ialltoallv", sendbuf, recvbuf, True), "Ialltoallv")

    def Alltoallw(self, sendbuf: Any, recvbuf: Any) -> None:
        """:meth:`Alltoallv` with a datatype for each block; displacements in bytes."""
        self._alltoallw("Alltoallw", sendbuf, recvbuf)()

    def Ialltoallw(self, sendbuf: Any, recvbuf: Any) -> Request:
        """:meth:`Alltoallw`, started."""
        return self._start(self._alltoallw("Ialltoallw", sendbuf, recvbuf), "Ialltoallw")

    def Reduce(self, sendbuf: Any, recvbuf: Any, op: Op = _SUM, root: int = 0) -> None:
        """The buffers of all ranks combined, on the root."""
        self._reduce("Reduce", sendbuf, recvbuf, op, root)()

    def Ireduce(self, sendbuf: Any, recvbuf: Any, op: Op = _SUM, root: int = 0) -> Request:
        """:meth:`Reduce`, started."""
        return self._start(self._reduce("Ireduce", sendbuf, recvbuf, op, root), "Ireduce")

    def Allreduce(self, sendbuf: Any, recvbuf: Any, op: Op = _SUM) -> None:
        """The buffers of all ranks combined, on each."""
        self._allreduce("Allreduce", sendbuf, recvbuf, op)()

    def Iallreduce(self, sendbuf: Any, recvbuf: Any, op: Op = _SUM) -> Request:
        """:meth:`Allreduce`, started."""
        return self._start(self._allreduce("Iallreduce", sendbuf, recvbuf, op), "Iallreduce")

    def Reduce_scatter(self, sendbuf: Any, recvbuf: Any, recvcounts: list[int] | None = None, op: Op = _SUM) -> None:
        """The buffers of all ranks combined, a part on each."""
        self._reduce_scatter("Reduce_scatter", sendbuf, recvbuf, self._counts(sendbuf, recvbuf, recvcounts), op)()

    def Ireduce_scatter(
        self, sendbuf: Any, recvbuf: Any, recvcounts: list[int] | None = None, op: Op = _SUM
    ) -> Request:
        """:meth:`Reduce_scatter`, started."""
        counts = self._counts(sendbuf, recvbuf, recvcounts)
        return self._start(self._reduce_scatter("Ireduce_scatter", sendbuf, recvbuf, counts, op), "Ireduce_scatter")

    def _counts(self, sendbuf: Any, recvbuf: Any, counts: list[int] | None) -> list[int]:
        """How much each rank gets; where nobody says so, each tells the others how much it has room for."""
        if counts is not None:
            return [int(count) for count in counts]
        if _in_place(sendbuf):
            raise fault("ARG", "recvcounts have to be said where a buffer is in place")
        return agreed(self._wire("Reduce_scatter counts"), message(recvbuf).count)

    def Reduce_scatter_block(self, sendbuf: Any, recvbuf: Any, op: Op = _SUM) -> None:
        """:meth:`Reduce_scatter` in equal parts."""
        self._reduce_scatter("Reduce_scatter_block", sendbuf, recvbuf, None, op)()

    def Ireduce_scatter_block(self, sendbuf: Any, recvbuf: Any, op: Op = _SUM) -> Request:
        """:meth:`Reduce_scatter_block`, started."""
        work = self._reduce_scatter("Ireduce_scatter_block", sendbuf, recvbuf, None, op)
        return self._start(work, "Ireduce_scatter_block")

    def Scan(self, sendbuf: Any, recvbuf: Any, op: Op = _SUM) -> None:
        """The buffers of all ranks up to this one combined."""
        self._scan("Scan", sendbuf, recvbuf, op, True)()

    def Iscan(self, sendbuf: Any, recvbuf: Any, op: Op = _SUM) -> Request:
        """:meth:`Scan`, started."""
        return self._start(self._scan("Iscan", sendbuf, recvbuf, op, True), "Iscan")

    def Exscan(self, sendbuf: Any, recvbuf: Any, op: Op = _SUM) -> None:
        """The buffers of all ranks before this one combined; nothing is received on rank 0."""
        self._scan("Exscan", sendbuf, recvbuf, op, False)()

    def Iexscan(self, sendbuf: Any, recvbuf: Any, op: Op = _SUM) -> Request:
        """:meth:`Exscan`, started."""
        return self._start(self._scan("Iexscan", sendbuf, recvbuf, op, False), "Iexscan")


def _in_place(buf: Any) -> bool:
    """Whether the data are in the other buffer: ``None`` says so, too, where ``MPI.IN_PLACE`` may stand."""
    return buf is None or buf is IN_PLACE


def _own(sendbuf: Any, room: Blocks | None, wire: Wire) -> Block:
    """The block of this rank: in the buffer to send, or already in its place."""
    if room is None or not _in_place(sendbuf):
        return _block_of(message(sendbuf))
    return _block_of(room.block(wire.rank))


def _block_of(buffer: Buffer) -> Block:
    return Block(buffer.pack(), buffer.datatype.signature)


def _blocks_of(given: Blocks) -> list[Block]:
    signature = given.datatype.signature
    return [Block(data, signature) for data in given.pack()]


def _operand(sendbuf: Any, room: Buffer | None) -> Buffer:
    if room is not None and _in_place(sendbuf):
        return room
    operand = message(sendbuf)
    if room is not None and operand.count != room.count:
        raise ValueError(f"mismatch in send count {operand.count} and receive count {room.count}")
    if room is not None:
        _check_same(operand, room)
    return operand


def _check_same(operand: Buffer, room: Buffer) -> None:
    """What is combined and its result are of one type."""
    if not matches(operand.datatype.signature, room.datatype.signature):
        raise ValueError(f"mismatch in send type {operand.datatype.label} and receive type {room.datatype.label}")


def _value(operand: Buffer, op: Op) -> tuple[Any, Values]:
    """A buffer as an array, and how two such are combined."""
    kind: Datatype = operand.datatype
    data, combine = typed(operand.pack(), kind), op.combine(kind)
    if isinstance(data, Absent):
        values = Values(longer, op.commutes, max(kind.size, 1))
    else:
        unit = kind.size // kind.dtype.itemsize if kind.dtype is not None and kind.size else 1
        values = Values(combine, op.commutes, max(unit, 1))
    values.signature = kind.signature
    return data, values


def _in_pieces(operand: Buffer, op: Op, wire: Wire) -> bool:
    """Whether a reduction can be cut: the operation commutes, works element by element, and there are enough."""
    return op.commutes and op.function is None and operand.count >= wire.size


def _fill_blocks(room: Blocks, found: list[Any]) -> None:
    for rank, data in enumerate(found):
        fill_block(room.block(rank), data)
