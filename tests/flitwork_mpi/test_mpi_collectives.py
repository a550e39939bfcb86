"""Collectives on simulated ranks against NumPy, for several numbers of ranks and every algorithm."""

from __future__ import annotations

import functools
import json
import operator
from typing import Any

import flitwork as fw
import numpy as np
import pytest
from flitwork import _core
from flitwork_mpi.programs import MPI
from flitwork_mpi.programs.algorithms import TABLE

ROWS = json.loads(_core.components())["collectives"]

RANKS = (1, 2, 3, 5, 8, 13)


def given(rank: int, count: int) -> Any:
    """What a rank has to contribute: small numbers, so that sums and products are exact."""
    return (np.arange(count) * 7 + rank * 3) % 5 + 1.0


def _both(kinds: str, call: Any) -> Any:
    """A program whose ranks have buffers of one kind or the other."""
    first, second = (np.dtype(kind) for kind in kinds.split())
    return lambda comm: call(comm, np.ones(4, first if comm.rank == 0 else second))


@pytest.mark.parametrize(
    ("program", "fault"),
    [
        (
            lambda comm: comm.Allreduce(np.ones(4), np.ones(4, "i8")),
            "mismatch in send type DOUBLE and receive type LONG",
        ),
        (lambda comm: comm.Scan(np.ones(4), np.ones(4, "i8")), "mismatch in send type"),
        (lambda comm: comm.Reduce(np.ones(4), np.ones(4, "f4")), "mismatch in send type"),
        (lambda comm: comm.Reduce_scatter_block(np.ones(4), np.ones(2, "i8")), "mismatch in send type"),
        (_both("f8 i8", lambda comm, data: comm.Allreduce(data, data.copy())), "ERR_TYPE: a block of .* was combined"),
        (_both("f8 i8", lambda comm, data: comm.Bcast(data)), "ERR_TYPE: a block of float64 .* received as int64"),
        (_both("f8 i8", lambda comm, data: comm.Gather(data, np.ones(8))), "ERR_TYPE: a block of int64"),
        (_both("f8 i8", lambda comm, data: comm.Scatter(data, data[:2].copy())), "ERR_TYPE"),
        (_both("f8 i8", lambda comm, data: comm.Allgather(data, np.ones(8))), "ERR_TYPE"),
        (lambda comm: comm.Alltoall(np.ones(4), np.ones(4, "i8")), "ERR_TYPE: a block of float64"),
        (lambda comm: comm.Ibcast(np.ones(2, "f4" if comm.rank else "i4")).Wait(), "ERR_TYPE: a block of int32"),
        (
            lambda comm: comm.Create_cart([2]).Neighbor_allgather(np.ones(4), np.ones(8, "i8")),
            "ERR_TYPE: a block of float64",
        ),
        (
            lambda comm: comm.Allreduce(np.ones(3 + comm.rank), np.ones(3 + comm.rank)),
            "ERR_COUNT: . elements were to be combined with",
        ),
        (
            lambda comm: comm.Bcast([np.ones(4), MPI.FLOAT_INT if comm.rank else MPI.DOUBLE_INT]),
            "ERR_TYPE: a block of DOUBLE_INT elements was received as FLOAT_INT",
        ),
    ],
)
def test_elements_of_another_type_or_count_are_refused(program: Any, fault: str) -> None:
    with pytest.raises(fw.mpi.ProgramError, match=fault):
        fw.mpi.run(program, ranks=2)


def test_the_type_of_a_reduction_is_checked_without_data_too() -> None:
    call = _both("f8 i8", lambda comm, data: comm.Allreduce(data, data.copy()))
    with pytest.raises(fw.mpi.ProgramError, match="ERR_TYPE"):
        fw.mpi.run(call, ranks=2, data=False)


def test_pairs_of_numbers_of_one_type_are_two_of_it() -> None:
    def program(comm: Any) -> Any:
        data = np.array([7, 9], "i4") if comm.rank == 0 else np.zeros(2, "i4")
        comm.Bcast([data, 1, MPI.TWOINT] if comm.rank == 0 else data)
        return data.tolist()

    assert fw.mpi.run(program, ranks=3).returns == [[7, 9]] * 3


def test_bytes_are_of_any_type() -> None:
    def program(comm: Any) -> Any:
        data = np.arange(2.0) if comm.rank == 0 else np.zeros(2)
        comm.Bcast(data if comm.rank == 0 else [data, MPI.BYTE])
        return data.tolist()

    assert fw.mpi.run(program, ranks=3).returns == [[0, 1]] * 3


@pytest.mark.parametrize("ranks", RANKS)
def test_objects(ranks: int) -> None:
    def program(comm: Any) -> dict[str, Any]:
        rank, size = comm.rank, comm.size
        comm.barrier()
        last = size - 1
        return {
            "bcast": comm.bcast({"from": rank} if rank == last else None, root=last),
            "gather": comm.gather(rank**2, root=last),
            "scatter": comm.scatter([f"to {r}" for r in range(size)] if rank == last else None, root=last),
            "allgather": comm.allgather(str(rank)),
            "alltoall": comm.alltoall([(rank, r) for r in range(size)]),
            "reduce": comm.reduce(rank, op=MPI.MAX, root=last),
            "words": comm.allreduce(f"{rank} ", op=operator.add),
            "scan": comm.scan(f"{rank} ", op=operator.add),
            "exscan": comm.exscan(rank),
            "place": comm.allreduce((rank % 3, rank), op=MPI.MAXLOC),
        }

    for rank, found in enumerate(fw.mpi.run(program, ranks=ranks).returns):
        everyone = range(ranks)
        last = rank == ranks - 1
        assert found == {
            "bcast": {"from": ranks - 1},
            "gather": [r**2 for r in everyone] if last else None,
            "scatter": f"to {rank}",
            "allgather": [str(r) for r in everyone],
            "alltoall": [(r, rank) for r in everyone],
            "reduce": ranks - 1 if last else None,
            "words": "".join(f"{r} " for r in everyone),
            "scan": "".join(f"{r} " for r in range(rank + 1)),
            "exscan": sum(range(rank)) if rank else None,
            "place": max(((r % 3, r) for r in everyone), key=lambda pair: (pair[0], -pair[1])),
        }


def check_moves(comm: Any, count: int, start: str) -> None:
    """The collectives that move data. ``start`` is I for those that are started and waited for."""

    def call(name: str, *args: Any) -> None:
        request = getattr(comm, start + name.lower() if start else name)(*args)
        if start:
            request.Wait()

    rank, size = comm.rank, comm.size
    own, everything = given(rank, count), np.concatenate([given(r, count) for r in range(size)])
    for root in {0, size - 1}:
        data = given(root, count) if rank == root else np.zeros(count)
        call("Bcast", data, root)
        np.testing.assert_array_equal(data, given(root, count))
        room = np.zeros(size * count)
        call("Gather", own, room if rank == root else None, root)
        if rank == root:
            np.testing.assert_array_equal(room, everything)
        part = np.zeros(count)
        call("Scatter", everything if rank == root else None, part, root)
        np.testing.assert_array_equal(part, own)
        counts = [r % 3 for r in range(size)]
        short = np.arange(counts[rank]) + 10.0 * rank
        packed = np.concatenate([np.arange(n) + 10.0 * r for r, n in enumerate(counts)])
        room = np.zeros(sum(counts))
        call("Gatherv", short, [room, counts] if rank == root else None, root)
        if rank == root:
            np.testing.assert_array_equal(room, packed)
        part = np.zeros(counts[rank])
        call("Scatterv", [packed, counts, None, MPI.DOUBLE] if rank == root else None, part, root)
        np.testing.assert_array_equal(part, short)
    room = np.zeros(size * count)
    call("Allgather", own, room)
    np.testing.assert_array_equal(room, everything)
    room = np.zeros(sum(counts))
    call("Allgatherv", short, (room, (counts, None)))
    np.testing.assert_array_equal(room, packed)
    blocks = np.arange(size * count) + 1000.0 * rank
    room = np.zeros_like(blocks)
    call("Alltoall", blocks, room)
    np.testing.assert_array_equal(room.reshape(size, -1)[:, :1].T, [np.arange(size) * 1000.0 + rank * count])
    out = [np.full((rank + r) % 3, rank * 100.0 + r) for r in range(size)]
    expected = np.concatenate([np.full((rank + r) % 3, r * 100.0 + rank) for r in range(size)])
    room = np.zeros_like(expected)
    sizes = [(rank + r) % 3 for r in range(size)]
    call("Alltoallv", [np.concatenate(out), sizes], [room, sizes])
    np.testing.assert_array_equal(room, expected)


def check_reductions(comm: Any, count: int, start: str) -> None:
    def call(name: str, *args: Any, **more: Any) -> None:
        request = getattr(comm, start + name.lower() if start else name)(*args, **more)
        if start:
            request.Wait()

    rank, size = comm.rank, comm.size
    own, table = given(rank, count), np.array([given(r, count) for r in range(size)])
    for op, function in ((MPI.SUM, np.sum), (MPI.PROD, np.prod), (MPI.MAX, np.max), (MPI.MIN, np.min)):
        room = np.zeros(count)
        call("Allreduce", own, room, op)
        np.testing.assert_array_equal(room, function(table, axis=0))
    room = np.zeros(count)
    call("Reduce", own, room if rank == size - 1 else None, MPI.SUM, size - 1)
    np.testing.assert_array_equal(room, table.sum(axis=0) if rank == size - 1 else 0)
    room = own.copy()
    call("Allreduce", MPI.IN_PLACE, room)
    np.testing.assert_array_equal(room, table.sum(axis=0))
    call("Scan", own, room)
    np.testing.assert_array_equal(room, table[: rank + 1].sum(axis=0))
    room[:] = -1
    call("Exscan", own, room)
    np.testing.assert_array_equal(room, table[:rank].sum(axis=0) if rank else -1)
    blocks = np.arange(size * count) * (rank + 1.0)
    part = np.zeros(count)
    call("Reduce_scatter_block", blocks, part)
    whole = np.arange(size * count) * (size * (size + 1) / 2)
    np.testing.assert_array_equal(part, whole[rank * count : (rank + 1) * count])
    call("Reduce_scatter", blocks, part, [count] * size)
    np.testing.assert_array_equal(part, whole[rank * count : (rank + 1) * count])


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("start", ["", "I"])
def test_buffers(ranks: int, start: str) -> None:
    def program(comm: Any) -> None:
        for count in (1, 40):
            check_moves(comm, count, start)
            check_reductions(comm, count, start)
        comm.Ibarrier().Wait() if start else comm.Barrier()

    fw.mpi.run(program, ranks=ranks)


@pytest.mark.parametrize(("collective", "algorithm"), [(c, name) for c, row in TABLE.items() for name in row.names])
def test_every_algorithm(collective: str, algorithm: str) -> None:
    """Each row of the table on a power of two and on an odd number of ranks, with data large enough to be cut."""

    def program(comm: Any) -> None:
        comm.Barrier()
        check_moves(comm, 20, "")
        check_reductions(comm, 20, "")

    defined_on = next(row["defined_on"] for row in ROWS if row["name"] == algorithm)
    for ranks in (4,) if "power" in defined_on or "grid" in defined_on else (4, 7, 13):
        network = fw.Torus(2, 2, units=fw.Units(flit_bytes=1)) if "grid" in defined_on else None
        run = fw.mpi.run(program, ranks=ranks, network=network, algorithms={collective: algorithm})
        assert run.messages > 0


def product(a: Any, b: Any, _: Any) -> None:
    """Of matrices of two rows: it depends on the order."""
    left, right = (np.frombuffer(one, dtype="d").reshape(-1, 2, 2) for one in (a, b))
    right[:] = left @ right


#: What a reduction that does not commute may be asked to go by: those that cannot keep the order give way to others.
REDUCTIONS = [(c, name) for c in ("reduce", "allreduce", "reduce_scatter", "scan") for name in TABLE[c].names]


@pytest.mark.parametrize(("collective", "algorithm"), REDUCTIONS)
def test_the_order_of_ranks_is_kept_where_an_operation_does_not_commute(collective: str, algorithm: str) -> None:
    def program(comm: Any) -> Any:
        op = MPI.Op.Create(product, commute=False)
        own = np.array([[1.0, comm.rank], [0.5, 1.0]])
        everywhere, room, before, part = np.zeros((4, 2, 2))
        comm.Allreduce(own, everywhere, op)
        comm.Reduce(own, room, op, root=comm.size - 1)
        comm.Scan(own, before, op)
        comm.Reduce_scatter_block(np.array([own * (1 + to) for to in range(comm.size)]), part, op)
        words = comm.reduce(f"{comm.rank} ", op=operator.add, root=comm.size // 2)
        return everywhere, room, before, part, words

    for ranks in RANKS:
        factors = [np.array([[1.0, r], [0.5, 1.0]]) for r in range(ranks)]
        whole = functools.reduce(np.matmul, factors)
        found = fw.mpi.run(program, ranks=ranks, algorithms={collective: algorithm}).returns
        for rank, (everywhere, room, before, part, words) in enumerate(found):
            np.testing.assert_allclose(everywhere, whole)
            np.testing.assert_allclose(room, whole if rank == ranks - 1 else 0)
            np.testing.assert_allclose(before, functools.reduce(np.matmul, factors[: rank + 1]))
            np.testing.assert_allclose(part, whole * float(1 + rank) ** ranks)
            assert words == ("".join(f"{r} " for r in range(ranks)) if rank == ranks // 2 else None)


def test_large_data_take_other_algorithms_than_small_ones() -> None:
    def program(comm: Any, count: int) -> None:
        comm.Allreduce(np.ones(count), np.empty(count))

    small, large = (fw.mpi.run(program, count, ranks=8) for count in (2, 4096))
    assert small.messages == 8 * 3 and large.messages == 8 * 6
    assert large.bytes < 8 * 3 * 4096 * 8


def test_algorithms_that_do_not_exist_are_refused() -> None:
    with pytest.raises(fw.ConfigError, match=r"algorithms.bcast = binomail.*did you mean `binomial`"):
        fw.mpi.run(print, ranks=2, algorithms={"bcast": "binomail"})
    with pytest.raises(fw.ConfigError, match=r"did you mean `bcast`"):
        fw.mpi.run(print, ranks=2, algorithms={"bcas": "binomial"})


def test_ranks_that_call_different_collectives_are_told() -> None:
    def program(comm: Any) -> None:
        comm.Barrier() if comm.rank else comm.bcast(1)

    with pytest.raises(fw.mpi.ProgramError, match=r"rank .*(bcast|Barrier) here, where rank"):
        fw.mpi.run(program, ranks=2, algorithms={"barrier": "tree", "bcast": "binomial"})
