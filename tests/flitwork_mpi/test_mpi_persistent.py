"""Collectives that are started again and again: what they give is what their blocking forms give."""

from __future__ import annotations

from typing import Any

import flitwork as fw
import numpy as np
import pytest
from flitwork_mpi.programs import MPI

RANKS = 3
#: The arguments of each, of a buffer that is sent and one that is received.
CALLS: dict[str, Any] = {
    "Barrier": lambda comm, given, got: (),
    "Bcast": lambda comm, given, got: (got if comm.rank else given, 0),
    "Gather": lambda comm, given, got: (given[:1], got if comm.rank == 1 else None, 1),
    "Gatherv": lambda comm, given, got: (given[: comm.rank + 1], [got, [1, 2, 3]] if comm.rank == 1 else None, 1),
    "Scatter": lambda comm, given, got: (given[:3] if comm.rank == 1 else None, got[:1], 1),
    "Scatterv": lambda comm, given, got: ([given, [1, 2, 3]] if comm.rank == 1 else None, got[: comm.rank + 1], 1),
    "Allgather": lambda comm, given, got: (given[:2], got),
    "Allgatherv": lambda comm, given, got: (given[: comm.rank + 1], [got, [1, 2, 3]]),
    "Alltoall": lambda comm, given, got: (given, got),
    "Alltoallv": lambda comm, given, got: ([given, [2] * RANKS], [got, [2] * RANKS]),
    "Alltoallw": lambda comm, given, got: tuple(
        [memory, [1] * RANKS, [16 * rank for rank in range(RANKS)], [MPI.DOUBLE] * RANKS] for memory in (given, got)
    ),
    "Reduce": lambda comm, given, got: (given, got if comm.rank == 2 else None, MPI.MAX, 2),
    "Allreduce": lambda comm, given, got: (given, got),
    "Reduce_scatter_block": lambda comm, given, got: (given, got[:2]),
    "Reduce_scatter": lambda comm, given, got: (given, got[: comm.rank + 1]),
    "Scan": lambda comm, given, got: (given, got),
    "Exscan": lambda comm, given, got: (given, got, MPI.PROD),
}


@pytest.mark.parametrize("name", CALLS)
def test_started_again_with_other_data(name: str) -> None:
    def program(comm: Any) -> None:
        given, got, expected = np.zeros(6), np.zeros(6), np.zeros(6)
        request = getattr(comm, f"{name}_init")(*CALLS[name](comm, given, got))
        assert isinstance(request, MPI.Prequest) and request != MPI.REQUEST_NULL
        for turn in range(3):
            given[:] = np.arange(6.0) + 10 * comm.rank + 100 * turn
            got[:] = expected[:] = -1
            getattr(comm, name)(*CALLS[name](comm, given, expected))
            request.Start()
            request.Wait()
            assert request
            np.testing.assert_array_equal(got, expected)
        request.Free()
        assert request == MPI.REQUEST_NULL

    fw.mpi.run(program, ranks=RANKS)


def test_several_at_once_and_beside_messages() -> None:
    def program(comm: Any) -> Any:
        total, everyone, room = np.zeros(1), np.zeros(comm.size), np.zeros(1)
        mine, left, right = np.array([comm.rank + 1.0]), (comm.rank - 1) % comm.size, (comm.rank + 1) % comm.size
        requests = [
            comm.Allreduce_init(mine, total),
            comm.Allgather_init(mine, everyone),
            comm.Recv_init(room, left),
            comm.Send_init(mine, right),
        ]
        for _ in range(2):
            MPI.Prequest.Startall(requests)
            MPI.Request.Waitall(requests)
            mine += 1
        return total[0], everyone.tolist(), room[0]

    found = fw.mpi.run(program, ranks=4).returns
    assert found == [(14, [2, 3, 4, 5], [5, 2, 3, 4][rank]) for rank in range(4)]


def test_counts_are_agreed_on_when_it_is_made() -> None:
    """Starting it waits for nobody: here rank 1 starts only once it has heard from rank 0, which has started."""

    def program(comm: Any) -> Any:
        given, got = np.arange(3.0), np.zeros(1 if comm.rank else 2)
        request = comm.Reduce_scatter_init(given, got)
        if comm.rank == 0:
            request.Start()
            comm.send("after the start", 1)
        else:
            comm.recv(source=0)
            request.Start()
        request.Wait()
        return got.tolist()

    assert fw.mpi.run(program, ranks=2).returns == [[0, 2], [4]]
