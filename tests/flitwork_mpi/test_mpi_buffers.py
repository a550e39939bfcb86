"""Buffers as mpi4py programs spell them."""

from __future__ import annotations

import array
from typing import Any, ClassVar

import flitwork as fw
import numpy as np
import pytest
from flitwork_mpi.programs import MPI


@pytest.mark.parametrize(
    "spelled",
    [
        lambda room, counts, places: (room, counts),
        lambda room, counts, places: [room, counts, MPI.DOUBLE],
        lambda room, counts, places: (room, tuple(counts), tuple(places), MPI.DOUBLE),
        lambda room, counts, places: [room, (counts, places), MPI.DOUBLE],
        lambda room, counts, places: [room, counts.tolist(), places.tolist(), "d"],
    ],
)
def test_counts_and_places(spelled: Any) -> None:
    def program(comm: Any) -> Any:
        counts = np.arange(1, comm.size + 1)
        places = np.cumsum(counts) - counts
        room = np.full(counts.sum(), -1.0) if comm.rank == 0 else None
        comm.Gatherv(np.full(comm.rank + 1, float(comm.rank)), spelled(room, counts, places))
        return room if room is None else room.tolist()

    assert fw.mpi.run(program, ranks=3).returns == [[0, 1, 1, 2, 2, 2], None, None]


def test_whatever_has_a_buffer() -> None:
    def program(comm: Any) -> Any:
        text, number = bytearray(b"abcd" if comm.rank == 0 else b"...."), np.array(5 * (comm.rank == 0), dtype="i")
        comm.Bcast([text, MPI.CHAR])
        comm.Bcast([number, MPI.INT])
        given, room = array.array("d", [comm.rank]), array.array("d", [0])
        comm.Allreduce([given, MPI.DOUBLE], [room, MPI.DOUBLE])
        columns = np.asfortranarray(np.arange(6.0).reshape(2, 3) * (comm.rank == 0))
        comm.Bcast(columns)
        flags, both = np.array([True, comm.rank == 0]), np.empty(2, dtype=bool)
        comm.Allreduce(flags, both, op=MPI.LAND)
        waves, total = np.array([1j, comm.rank]), np.empty(2, dtype=complex)
        comm.Allreduce(waves, total)
        return bytes(text), int(number), room[0], columns.tolist(), both.tolist(), total.tolist()

    for found in fw.mpi.run(program, ranks=3).returns:
        assert found == (b"abcd", 5, 3, [[0, 1, 2], [3, 4, 5]], [True, False], [3j, 3])


def test_values_with_their_places() -> None:
    """Elements of a type that NumPy has no name for, with the datatype said."""

    def program(comm: Any) -> Any:
        pair = np.dtype([("value", "d"), ("place", "i4")], align=True)
        mine, best = np.array([(comm.rank % 2, comm.rank)], dtype=pair), np.empty(1, dtype=pair)
        comm.Allreduce([mine, MPI.DOUBLE_INT], [best, MPI.DOUBLE_INT], op=MPI.MAXLOC)
        plain, lowest = np.array([7 - comm.rank, comm.rank], dtype="i"), np.empty(2, dtype="i")
        comm.Allreduce([plain, 1, MPI.TWOINT], [lowest, 1, MPI.TWOINT], op=MPI.MINLOC)
        return best.tolist(), lowest.tolist()

    assert fw.mpi.run(program, ranks=4).returns == [([(1.0, 1)], [4, 3])] * 4


class Tensor:
    """What shares its memory by DLPack, and in no other manner."""

    def __init__(self, array: Any, device: int = 1) -> None:
        self.array, self.device = array, device

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device, 0

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)


class OldTensor(Tensor):
    """The same, of a library that knows of no versions."""

    def __dlpack__(self, **options: Any) -> Any:
        if options:
            raise TypeError("unexpected keyword")
        return self.array.__dlpack__()


@pytest.mark.parametrize("kind", [Tensor, OldTensor])
@pytest.mark.parametrize("order", ["C", "F"])
def test_tensors_are_buffers(kind: Any, order: Any) -> None:
    def program(comm: Any) -> Any:
        given, got = np.full((2, 3), float(comm.rank), order=order), np.zeros((2, 3), order=order)
        comm.Sendrecv(kind(given), 1 - comm.rank, recvbuf=[kind(got), MPI.DOUBLE], source=1 - comm.rank)
        total = np.zeros((2, 3), order=order)
        comm.Allreduce(kind(given), kind(total))
        return got.tolist(), total.tolist()

    assert fw.mpi.run(program, ranks=2).returns == [([[other] * 3] * 2, [[1] * 3] * 2) for other in (1, 0)]


def test_buffers_that_cannot_be() -> None:
    class OnGpu:
        __cuda_array_interface__: ClassVar[dict[str, Any]] = {}

    def program(comm: Any) -> None:
        numbers = np.zeros((4, 4))
        for wrong, error, text in (
            (None, TypeError, "not NoneType"),
            (Tensor(numbers, device=2), NotImplementedError, "device type 2"),
            (OnGpu(), NotImplementedError, "__cuda_array_interface__"),
            (Tensor(numbers[:, ::2]), ValueError, "not contiguous"),
            (numbers[:, ::2], ValueError, "not contiguous"),
            (object(), TypeError, "not object"),
            (MPI.BOTTOM, TypeError, "not Bottom"),
            ([numbers, -1, MPI.DOUBLE], ValueError, "count -1"),
            ([numbers, (1, -2), MPI.DOUBLE], ValueError, "displacement -2"),
            ([numbers, 1.5, MPI.DOUBLE], TypeError, "integer"),
            ([MPI.BOTTOM, 1], MPI.Exception, "MPI.BOTTOM needs a datatype"),
            ([MPI.BOTTOM, 1, MPI.INT], MPI.Exception, "no datum is at address 0"),
            (MPI.IN_PLACE, MPI.Exception, "MPI.IN_PLACE is for collectives"),
        ):
            with pytest.raises(error, match=text):
                comm.Send(wrong, 0)
        readonly = numbers.copy()
        readonly.flags.writeable = False
        with pytest.raises(MPI.Exception, match="cannot be written to"):
            comm.Recv(readonly, comm.rank)

    fw.mpi.run(program, ranks=1)


def test_addresses_instead_of_a_buffer() -> None:
    """Parts of two arrays as one message, by a datatype of their addresses."""

    def program(comm: Any) -> Any:
        first, second = np.full(3, comm.rank, dtype="i"), np.full(2, comm.rank + 0.5)
        places = [MPI.Get_address(first), MPI.Get_address(second)]
        both = MPI.Datatype.Create_struct([2, 2], places, [MPI.INT, MPI.DOUBLE]).Commit()
        comm.Bcast([MPI.BOTTOM, 1, both], root=1)
        own = MPI.INT.Create_hindexed([1], [MPI.Get_address(first) + 8]).Commit()
        ranks = np.zeros(comm.size, dtype="i")
        kinds = [MPI.INT.Create_hindexed([1], [MPI.Get_address(ranks[place:])]) for place in range(comm.size)]
        comm.Alltoallw([MPI.BOTTOM, [own] * comm.size], [MPI.BOTTOM, kinds])
        comm.Send([MPI.BOTTOM, 0, MPI.BYTE], MPI.PROC_NULL)
        comm.Isend([MPI.BOTTOM, 0, MPI.BYTE], comm.rank)
        comm.Recv([None, 0, MPI.BYTE], comm.rank)
        with pytest.raises(MPI.Exception, match="not for equal blocks"):
            comm.Allgather([MPI.BOTTOM, 1, own], [MPI.BOTTOM, 1, own])
        return first.tolist(), second.tolist(), ranks.tolist()

    found = fw.mpi.run(program, ranks=3).returns
    assert found == [([1, 1, rank], [1.5, 1.5], [0, 1, 2]) for rank in range(3)]
    assert MPI.Get_address(MPI.BOTTOM) == 0 and MPI.Aint_diff(MPI.Aint_add(64, 8), 64) == 8


def test_memory_that_programs_ask_for() -> None:
    memory = MPI.memory.allocate(8)
    memory[0:3] = b"abc"
    memory[3] = 100
    same = MPI.memory.fromaddress(memory.address, memory.nbytes)
    assert same.tobytes() == b"abcd" + bytes(4) == MPI.Alloc_mem(8).tobytes().replace(bytes(4), b"abcd", 1)
    assert np.frombuffer(memory, "i4").size == 2 and same.cast("i").tolist() == np.frombuffer(memory, "i4").tolist()
    given = bytearray(b"xyz")
    seen, fixed = MPI.memory(given), MPI.memory.frombuffer(given, readonly=True)
    seen[0] = 65
    assert given == b"Ayz" and fixed.readonly and not seen.readonly and fixed.tobytes() == b"Ayz"
    assert seen and not MPI.memory() and isinstance(fixed, MPI.memory)
    for wrong in (3, [1], None):
        with pytest.raises(TypeError):
            MPI.memory(wrong)
    with pytest.raises(ValueError, match="negative"):
        MPI.memory.allocate(-1)
