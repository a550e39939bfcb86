"""Buffers as mpi4py programs spell them."""

from __future__ import annotations

import array
from typing import Any

import flitwork as fw
import numpy as np
import pytest
from flitwork.mpi import MPI


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
