"""Communicators, groups, grids, datatypes and persistent requests of simulated ranks."""

from __future__ import annotations

from typing import Any

import flitwork as fw
import numpy as np
import pytest
from flitwork_mpi.programs import MPI


def test_split_by_color_and_key() -> None:
    def program(comm: Any) -> Any:
        part = comm.Split(color=comm.rank % 2, key=-comm.rank)
        none = comm.Split(MPI.UNDEFINED if comm.rank else 0)
        assert (none == MPI.COMM_NULL) == bool(comm.rank) and bool(none) != bool(comm.rank)
        return part.rank, part.size, part.allgather(comm.rank), part.Get_group().Translate_ranks()

    found = fw.mpi.run(program, ranks=5).returns
    assert found[0] == (2, 3, [4, 2, 0], [4, 2, 0]) and found[3] == (0, 2, [3, 1], [3, 1])


def test_groups_and_the_communicators_made_of_them() -> None:
    def program(comm: Any) -> Any:
        everyone = comm.Get_group()
        odd = everyone.Incl([1, 3])
        rest = everyone.Excl([1, 3])
        assert MPI.Group.Union(odd, rest).Get_size() == comm.size and MPI.Group.Compare(odd, rest) == MPI.UNEQUAL
        made = comm.Create(odd)
        total = made.allreduce(comm.rank) if made != MPI.COMM_NULL else None
        alone = comm.Create_group(rest) if comm.rank in (0, 2) else None
        copy = comm.Dup()
        assert MPI.Comm.Compare(comm, copy) == MPI.CONGRUENT and MPI.Comm.Compare(comm, comm) == MPI.IDENT
        return total, alone and alone.gather(comm.rank), MPI.COMM_SELF.allreduce(comm.rank), MPI.COMM_SELF.rank

    found = fw.mpi.run(program, ranks=4).returns
    assert found == [(None, [0, 2], 0, 0), (4, None, 1, 0), (None, None, 2, 0), (4, None, 3, 0)]


def test_ranks_of_a_terminal_are_found_together() -> None:
    def program(comm: Any) -> Any:
        node = comm.Split_type(MPI.COMM_TYPE_SHARED)
        return node.rank, node.size

    found = fw.mpi.run(program, ranks=6, network=fw.Torus(2, 2), host=fw.Host(ranks_per_terminal=2))
    assert found.returns == [(0, 2), (1, 2)] * 3


def test_hints_are_kept() -> None:
    def program(comm: Any) -> Any:
        hints = MPI.Info.Create({"a": "1"})
        hints["b"] = "2"
        copy = hints.Dup()
        hints.Delete("a")
        assert (hints.Get("a"), hints.Get_nkeys(), hints.Get_nthkey(0), dict(copy)) == (
            None,
            1,
            "b",
            {"a": "1", "b": "2"},
        )
        assert "b" in hints and hints.items() and hints != copy and MPI.INFO_NULL == MPI.INFO_NULL
        made = comm.Dup_with_info(hints)
        again = made.Dup()
        hints.Free()
        assert not hints and not MPI.INFO_NULL and MPI.INFO_ENV is not None
        return dict(again.Get_info()), dict(comm.Get_info())

    assert fw.mpi.run(program, ranks=2).returns == [({"b": "2"}, {})] * 2


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        (lambda hints: hints.Delete("a"), "ERR_INFO_NOKEY"),
        (lambda hints: hints.Set("", "x"), "ERR_INFO_KEY"),
        (lambda hints: hints.Set("a" * 256, "x"), "ERR_INFO_KEY"),
        (lambda hints: hints.Set("a", 3), "ERR_INFO_VALUE"),
        (lambda hints: hints.Get_nthkey(0), "ERR_ARG"),
        (lambda hints: MPI.INFO_NULL.Get("a"), "ERR_INFO"),
    ],
)
def test_hints_that_cannot_be(wrong: Any, name: str) -> None:
    with pytest.raises(MPI.Exception, match=name) as raised:
        wrong(MPI.Info.Create())
    assert raised.value.Get_error_class() == getattr(MPI, name)


def test_grids() -> None:
    def program(comm: Any) -> Any:
        cart = comm.Create_cart([2, 3], periods=[False, True])
        if cart == MPI.COMM_NULL:
            return None
        row = cart.Sub([False, True])
        assert cart.Get_cart_rank(cart.coords) == cart.rank and isinstance(cart, MPI.Cartcomm) and cart.Get_dim() == 2
        near = cart.neighbor_allgather(cart.rank)
        room = np.full(4, -1.0)
        cart.Neighbor_alltoall(np.arange(4.0) + 10 * cart.rank, room)
        return cart.Shift(0, 1), cart.Shift(1, 1), row.allgather(cart.rank), near, room.tolist()

    found = fw.mpi.run(program, ranks=7).returns
    assert found[6] is None
    assert found[0] == ((MPI.PROC_NULL, 3), (2, 1), [0, 1, 2], [None, 3, 2, 1], [-1, 30, 23, 12])
    assert found[4] == ((1, MPI.PROC_NULL), (3, 5), [3, 4, 5], [1, None, 3, 5], [11, -1, 33, 52])
    assert [MPI.Compute_dims(n, 2) for n in (12, 16, 7)] == [[4, 3], [4, 4], [7, 1]]
    assert MPI.Compute_dims(12, [0, 2, 0]) == [3, 2, 2]


def test_a_grid_of_two_tells_its_neighbours_apart() -> None:
    """Both neighbours are the same rank: what goes down comes from above."""

    def program(comm: Any) -> Any:
        cart = comm.Create_cart([comm.size], periods=[True])
        return cart.neighbor_alltoall([f"{cart.rank} down", f"{cart.rank} up"])

    assert fw.mpi.run(program, ranks=2).returns == [["1 up", "1 down"], ["0 up", "0 down"]]


def columns(side: int) -> Any:
    """A column of a matrix, as far from the next as the next column."""
    return MPI.DOUBLE.Create_vector(side, 1, side).Create_resized(0, 8).Commit()


def test_derived_datatypes_pick_what_they_say() -> None:
    side = 4
    matrix = np.arange(16.0).reshape(side, side)
    part = MPI.DOUBLE.Create_subarray([4, 4], [2, 2], [1, 1])
    column = columns(side)
    assert (part.Get_size(), part.Get_extent()) == (32, (0, 128)) and column.Get_extent() == (0, 8)
    assert MPI.INT.Create_contiguous(3).Get_size() == 12
    pair = MPI.Datatype.Create_struct([1, 1], [0, 8], [MPI.INT, MPI.DOUBLE])
    assert (pair.Get_size(), pair.Get_extent()) == (12, (0, 16))

    def program(comm: Any) -> Any:
        if comm.rank == 0:
            comm.Send([matrix, 1, part], 1)
            comm.Send([matrix, 2, column], 1)
            comm.Send([matrix, 4, MPI.DOUBLE.Create_indexed_block(1, [3])], 1)
            return None
        inner, transposed, room = np.zeros(4), np.zeros((side, side)), np.zeros((side, side))
        comm.Recv(inner)
        comm.Recv([transposed, 8, MPI.DOUBLE])
        status = MPI.Status()
        comm.Recv([room, 4, column], status=status)
        assert status.Get_count(MPI.DOUBLE) == 4 and status.Get_count(column) == 1
        return inner.tolist(), transposed[:2].tolist(), room[:, 0].tolist()

    inner, transposed, room = fw.mpi.run(program, ranks=2).returns[1]
    assert inner == [5, 6, 9, 10] and transposed == matrix.T[:2].tolist() and room == [3, 4, 5, 6]


def test_a_transpose_by_alltoallw_of_subarrays() -> None:
    def program(comm: Any) -> Any:
        size, n = comm.size, 2 * comm.size
        mine = (np.arange(2)[:, None] + 2 * comm.rank) * 100.0 + np.arange(n)
        room = np.zeros((n, 2))
        given = [MPI.DOUBLE.Create_subarray([2, n], [2, 2], [0, 2 * r]).Commit() for r in range(size)]
        wanted = [MPI.DOUBLE.Create_subarray([n, 2], [2, 2], [2 * r, 0]).Commit() for r in range(size)]
        ones, zeros = [1] * size, [0] * size
        comm.Alltoallw([mine, (ones, zeros), given], [room, (ones, zeros), wanted])
        return bool((room == np.arange(n)[:, None] * 100.0 + np.arange(2) + 2 * comm.rank).all())

    assert all(fw.mpi.run(program, ranks=3).returns)


def test_persistent_requests() -> None:
    def program(comm: Any) -> Any:
        data, room = np.zeros(1), np.zeros(1)
        requests = [comm.Send_init(data, 1 - comm.rank), comm.Recv_init(room, 1 - comm.rank)]
        seen = []
        for step in range(3):
            data[0] = 10 * comm.rank + step
            MPI.Prequest.Startall(requests)
            MPI.Request.Waitall(requests)
            seen.append(int(room[0]))
        assert requests[0] != MPI.REQUEST_NULL
        return seen

    assert fw.mpi.run(program, ranks=2).returns == [[10, 11, 12], [0, 1, 2]]


def test_measured_time_passes_and_stated_time_is_added() -> None:
    def program(comm: Any) -> float:
        before = MPI.Wtime()
        sum(range(20_000))
        fw.mpi.compute(1000)
        return float(MPI.Wtime() - before)

    zero, measured = (fw.mpi.run(program, ranks=2, compute=kind).returns[1] for kind in ("zero", "measured"))
    assert zero == pytest.approx(1e-6) and measured > 2e-5
    with pytest.raises(fw.ConfigError, match="compute = free"):
        fw.mpi.run(program, ranks=2, compute="free")


def test_classes_of_programs_may_wrap_communicators() -> None:
    class Loud(MPI.Intracomm):  # type: ignore[misc, name-defined]
        def twice(self) -> int:
            return int(2 * self.allreduce(1))

    assert fw.mpi.run(lambda comm: (Loud(comm).twice(), Loud(MPI.COMM_SELF).twice()), ranks=3).returns == [(6, 2)] * 3
