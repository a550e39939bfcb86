"""Collectives whose data are in the other buffer: ``MPI.IN_PLACE``, and ``None`` where it may stand."""

from __future__ import annotations

from typing import Any

import flitwork as fw
import numpy as np
import pytest
from flitwork_mpi.programs import MPI

#: Each is called with a full send buffer by rank 2, with ``None`` by rank 1, with ``MPI.IN_PLACE`` by rank 0.
RANKS = 3


def spelled(comm: Any, given: Any) -> Any:
    return (MPI.IN_PLACE, None, given)[comm.rank]


def allgather(comm: Any, call: Any) -> Any:
    room = np.full(RANKS, -1.0)
    room[comm.rank] = comm.rank
    call(spelled(comm, room[comm.rank :][:1].copy()), room)
    return room.tolist()


def alltoall(comm: Any, call: Any) -> Any:
    room = np.arange(3.0) + 10 * comm.rank
    call(spelled(comm, room.copy()), room)
    return room.tolist()


def alltoallw(comm: Any, call: Any) -> Any:
    room = np.arange(3.0) + 10 * comm.rank
    typed = [[1] * RANKS, [8 * rank for rank in range(RANKS)], [MPI.DOUBLE] * RANKS]
    call(spelled(comm, [room.copy(), *typed]), [room, *typed])
    return room.tolist()


def reduction(comm: Any, call: Any) -> Any:
    room = np.array([comm.rank + 1.0])
    call(spelled(comm, room.copy()), room)
    return room.tolist()


def block(comm: Any, call: Any) -> Any:
    room = np.arange(3.0) + comm.rank
    given = spelled(comm, room.copy())
    call(given, room if comm.rank < 2 else room[:1])
    return room[:1].tolist()


def parts(comm: Any, call: Any) -> Any:
    room = np.arange(3.0) + comm.rank
    given = spelled(comm, room.copy())
    call(given, room if comm.rank < 2 else room[:1], [1] * RANKS)
    return room[:1].tolist()


GATHERED, EXCHANGED = [[0, 1, 2]] * 3, [[rank, 10 + rank, 20 + rank] for rank in range(3)]
CALLS = [
    ("Allgather", allgather, GATHERED),
    ("Allgatherv", allgather, GATHERED),
    ("Alltoall", alltoall, EXCHANGED),
    ("Alltoallv", alltoall, EXCHANGED),
    ("Alltoallw", alltoallw, EXCHANGED),
    ("Allreduce", reduction, [[6]] * 3),
    ("Scan", reduction, [[1], [3], [6]]),
    ("Exscan", reduction, [[1], [1], [3]]),
    ("Reduce_scatter_block", block, [[3], [6], [9]]),
    ("Reduce_scatter", parts, [[3], [6], [9]]),
]


@pytest.mark.parametrize("started", [False, True])
@pytest.mark.parametrize(("name", "calls", "expected"), CALLS)
def test_in_place_and_none_on_some_ranks(name: str, calls: Any, expected: Any, started: bool) -> None:
    def program(comm: Any) -> Any:
        if started:
            return calls(comm, lambda *given: getattr(comm, f"I{name.lower()}")(*given).Wait())
        return calls(comm, getattr(comm, name))

    assert fw.mpi.run(program, ranks=RANKS).returns == expected


@pytest.mark.parametrize("place", [None, MPI.IN_PLACE])
def test_in_place_at_the_root(place: Any) -> None:
    def program(comm: Any) -> Any:
        root = comm.rank == 1
        mine, found = np.array([comm.rank + 1.0]), []
        for name in ("Gather", "Gatherv"):
            room = np.array([0, 2.0, 0]) if root else None
            getattr(comm, name)(place if root else mine, room, root=1)
            found.append(room if room is None else room.tolist())
        for name in ("Scatter", "Scatterv"):
            got = np.zeros(1)
            getattr(comm, name)(np.arange(3.0) if root else None, place if root else got, root=1)
            found.append(got.tolist())
        total = mine.copy()
        comm.Reduce(place if root else mine, total if root else None, root=1)
        return [*found, total.tolist()]

    found = fw.mpi.run(program, ranks=RANKS).returns
    assert found[1] == [[1, 2, 3], [1, 2, 3], [0], [0], [6]]
    assert found[2] == [None, None, [2], [2], [3]]


@pytest.mark.parametrize(
    ("wrong", "error", "text"),
    [
        (lambda comm, one, all_: comm.Gather(None, all_, root=1), TypeError, "not NoneType"),
        (lambda comm, one, all_: comm.Gather(MPI.IN_PLACE, all_, root=1), MPI.Exception, "for the root"),
        (lambda comm, one, all_: comm.Scatter(all_, MPI.IN_PLACE, root=1), MPI.Exception, "for the root"),
        (lambda comm, one, all_: comm.Reduce(None, one, root=1), TypeError, "not NoneType"),
        (lambda comm, one, all_: comm.Reduce(MPI.IN_PLACE, one, root=1), MPI.Exception, "for the root"),
        (lambda comm, one, all_: comm.Gather(one, None, root=0), TypeError, "not NoneType"),
        (lambda comm, one, all_: comm.Bcast(None), TypeError, "not NoneType"),
        (lambda comm, one, all_: comm.Allgather(one, None), TypeError, "not NoneType"),
        (lambda comm, one, all_: comm.Allgatherv(one, None), TypeError, "not NoneType"),
        (lambda comm, one, all_: comm.Allreduce(one, MPI.IN_PLACE), MPI.Exception, "MPI.IN_PLACE is for"),
        (lambda comm, one, all_: comm.Reduce_scatter(MPI.IN_PLACE, all_), MPI.Exception, "recvcounts"),
        (lambda comm, one, all_: comm.Reduce_scatter(None, all_), MPI.Exception, "recvcounts"),
    ],
)
def test_where_it_may_not_stand(wrong: Any, error: Any, text: str) -> None:
    def program(comm: Any) -> None:
        if comm.rank == 0:
            wrong(comm, np.zeros(1), np.zeros(2))

    with pytest.raises(fw.mpi.ProgramError, match=text) as raised:
        fw.mpi.run(program, ranks=2)
    assert isinstance(raised.value.__cause__, error)
