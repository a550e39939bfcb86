"""Windows of simulated ranks: what others put into them and get out of them, and when."""

from __future__ import annotations

from typing import Any

import flitwork as fw
import numpy as np
import pytest
from flitwork_mpi.programs import MPI


def test_put_and_get_between_fences() -> None:
    def program(comm: Any) -> Any:
        memory, right, left = np.full(4, -1.0), (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
        window = MPI.Win.Create(memory, 8, comm=comm)
        got = np.zeros(2)
        window.Fence()
        window.Put(np.array([comm.rank, comm.rank + 0.5]), right, 1)
        window.Put(np.zeros(9), MPI.PROC_NULL)
        window.Fence()
        assert memory.tolist() == [-1, left, left + 0.5, -1]
        window.Get(got, right, (1, 2, MPI.DOUBLE))
        window.Fence(MPI.MODE_NOSUCCEED)
        window.Free()
        assert not window and window == MPI.WIN_NULL
        return got.tolist()

    assert fw.mpi.run(program, ranks=3).returns == [[rank, rank + 0.5] for rank in range(3)]


def test_columns_go_into_columns() -> None:
    def program(comm: Any) -> Any:
        memory = np.zeros((3, 3))
        window = MPI.Win.Create(memory, 8, comm=comm)
        column = MPI.DOUBLE.Create_vector(3, 1, 3).Commit()
        window.Fence()
        if comm.rank == 0:
            window.Put([np.arange(1.0, 10).reshape(3, 3), 1, column], 1, (2, 1, column))
            window.Put(np.full(2, 7.0), 1, (0, 2, MPI.DOUBLE))
        window.Fence()
        return memory.tolist()

    assert fw.mpi.run(program, ranks=2).returns[1] == [[7, 7, 1], [0, 0, 4], [0, 0, 7]]


@pytest.mark.parametrize("ranks", [2, 5])
def test_a_counter_gives_every_number_once(ranks: int) -> None:
    def program(comm: Any) -> Any:
        window = MPI.Win.Allocate(8 if comm.rank == 0 else 0, 8, comm=comm)
        one, taken, mine = np.ones(1, dtype="i8"), np.zeros(1, dtype="i8"), []
        for _ in range(3):
            window.Lock(0)
            window.Fetch_and_op(one, taken, 0)
            window.Unlock(0)
            mine.append(int(taken[0]))
        window.Free()
        return mine

    found = fw.mpi.run(program, ranks=ranks).returns
    assert sorted(number for mine in found for number in mine) == [*range(3 * ranks)]


def test_who_locks_alone_is_alone() -> None:
    """Read, wait, write: without the lock additions would be lost."""

    def program(comm: Any, kind: int) -> Any:
        window = MPI.Win.Allocate(8, comm=comm)
        number = np.zeros(1)
        for _ in range(4):
            window.Lock(1, kind)
            window.Get(number, 1)
            window.Flush(1)
            fw.mpi.compute(300)
            window.Put(number + 1, 1)
            window.Unlock(1)
        comm.Barrier()
        return float(np.frombuffer(window.tomemory(), "d")[0])

    assert fw.mpi.run(program, MPI.LOCK_EXCLUSIVE, ranks=4).returns[1] == 16
    assert fw.mpi.run(program, MPI.LOCK_SHARED, ranks=4).returns[1] < 16


def test_accumulate_and_swap() -> None:
    def program(comm: Any) -> Any:
        memory = np.array([10.0, 20.0])
        window, before = MPI.Win.Create(memory, 8, comm=comm), np.zeros(2)
        window.Fence()
        window.Accumulate(np.array([comm.rank + 1.0, 1.0]), 0, op=MPI.SUM)
        window.Fence()
        total = memory.tolist()
        window.Get_accumulate(np.array([1.0, 100.0]), before, comm.rank, op=MPI.MAX)
        window.Fence()
        found = np.zeros(1)
        window.Lock_all()
        window.Compare_and_swap(np.array([-1.0]), before[:1], found, comm.rank)
        window.Flush_all()
        swapped = found[0], memory[0]
        window.Compare_and_swap(np.array([-2.0]), np.array([5.0]), found, comm.rank)
        window.Get_accumulate(None, before, comm.rank, op=MPI.NO_OP)
        window.Unlock_all()
        return total, swapped, found[0], before.tolist(), memory.tolist()

    total, swapped, kept, read, memory = fw.mpi.run(program, ranks=3).returns[0]
    assert total == [16, 23] and swapped == (16, -1) and kept == -1 and read == memory == [-1, 100]


def test_from_post_and_start_to_their_ends() -> None:
    def program(comm: Any) -> Any:
        memory = np.zeros(comm.size)
        window = MPI.Win.Create(memory, 8, comm=comm)
        group = comm.Get_group()
        if comm.rank:
            window.Start(group.Incl([0]))
            fw.mpi.compute(100 * comm.rank)
            window.Put(np.array([float(comm.rank)]), 0, comm.rank)
            window.Complete()
        else:
            window.Post(group.Excl([0]))
            tested = 0
            while not window.Test():
                tested += 1
            assert tested
        return memory.tolist()

    assert fw.mpi.run(program, ranks=3).returns[0] == [0, 1, 2]


def test_requests_of_single_accesses() -> None:
    def program(comm: Any) -> Any:
        window, room = MPI.Win.Allocate(16, 8, comm=comm), np.zeros(1)
        window.Lock_all()
        window.Rput(np.array([comm.rank + 1.0]), 1 - comm.rank, 1).Wait()
        window.Raccumulate(np.array([10.0]), 1 - comm.rank, 1).Wait()
        request = window.Rget(room, 1 - comm.rank, 1)
        request.Wait()
        assert not request and window.Rget(None, MPI.PROC_NULL).Test()
        window.Unlock_all()
        return room[0]

    assert fw.mpi.run(program, ranks=2).returns == [11, 12]


def test_a_window_is_served_while_its_rank_waits_and_not_while_it_computes() -> None:
    def program(comm: Any) -> Any:
        window, room = MPI.Win.Allocate(8, comm=comm), np.zeros(1)
        comm.Barrier()
        before = MPI.Wtime()
        if comm.rank == 0:
            window.Lock(1)
            window.Get(room, 1)
            window.Unlock(1)
        else:
            fw.mpi.compute(50_000)
        return MPI.Wtime() - before

    assert fw.mpi.run(program, ranks=2).returns[0] > 50e-6


def test_memory_that_ranks_of_a_terminal_share() -> None:
    def program(comm: Any) -> Any:
        node = comm.Split_type(MPI.COMM_TYPE_SHARED)
        window = MPI.Win.Allocate_shared(8 if node.rank == 0 else 0, 8, comm=node)
        memory, unit = window.Shared_query(MPI.PROC_NULL)
        numbers = np.ndarray(buffer=memory, dtype="i4", shape=2)
        assert unit == 8 and window.flavor == MPI.WIN_FLAVOR_SHARED
        numbers[node.rank] = comm.rank
        node.Barrier()
        return numbers.tolist()

    found = fw.mpi.run(program, ranks=4, network=fw.Torus(2, 2), host=fw.Host(ranks_per_terminal=2)).returns
    assert found == [[0, 1], [0, 1], [2, 3], [2, 3]]
    with pytest.raises(fw.mpi.ProgramError, match="2 terminals share no memory"):
        fw.mpi.run(lambda comm: MPI.Win.Allocate_shared(8, comm=comm), ranks=2)


def test_what_a_window_is() -> None:
    def program(comm: Any) -> Any:
        window = MPI.Win.Allocate(24, 8, comm=comm)
        memory = window.tomemory()
        assert window.attrs[1:] == (24, 8) and window.Get_attr(MPI.WIN_SIZE) == 24 and window.Get_attr(MPI.WIN_BASE)
        assert window.group.Compare(comm.group) == MPI.IDENT and window.group_rank == comm.rank
        assert (window.Get_attr(MPI.WIN_MODEL), window.flavor) == (MPI.WIN_UNIFIED, MPI.WIN_FLAVOR_ALLOCATE)
        memory[0:3] = b"abc"
        key = MPI.Win.Create_keyval(delete_fn=lambda of, key, value: gone.append(value))
        window.Set_attr(key, comm.rank)
        return bytes(memory[:3])

    gone: list[int] = []
    # Windows that programs leave open are given up at their ends.
    assert fw.mpi.run(program, ranks=2).returns == [b"abc"] * 2 and sorted(gone) == [0, 1]


def test_without_data_lengths_travel() -> None:
    def program(comm: Any) -> float:
        window = MPI.Win.Create(np.zeros(1000), 8, comm=comm)
        window.Fence()
        window.Put(np.ones(1000), 1 - comm.rank)
        window.Accumulate(np.ones(1000), 1 - comm.rank)
        window.Fence()
        return float(MPI.Wtime())

    assert fw.mpi.run(program, ranks=2, data=False).returns == fw.mpi.run(program, ranks=2).returns


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (lambda window, one: window.Put(one, 1), "outside of Fence, Lock and Start"),
        (
            lambda window, one: (window.Lock(1), window.Put(one, 1, 2)),
            "bytes 16 to 24 of the window of rank 1, which has 16",
        ),
        (lambda window, one: (window.Lock(1), window.Put(one, 1, -1)), "bytes -8"),
        (lambda window, one: (window.Lock(1), window.Put(one, 1, (0, 2, MPI.DOUBLE))), "8 bytes here, and 16"),
        (lambda window, one: window.Lock(2), "the target is 2, of 2 ranks"),
        (lambda window, one: (window.Lock(0), window.Lock(0)), "locked already"),
        (lambda window, one: window.Unlock(0), "is not locked"),
        (lambda window, one: window.Unlock_all(), "no Lock_all"),
        (lambda window, one: (window.Lock(0), window.Fence()), "while windows are locked"),
        (lambda window, one: window.Shared_query(0), "not made by Allocate_shared"),
        (lambda window, one: MPI.Win.Create(b"12345678"), "cannot be written to"),
        (lambda window, one: MPI.Win.Create_dynamic(), "MPI.Win.Create_dynamic is not supported"),
        (lambda window, one: window.Attach(one), "MPI.Win.Attach is not supported"),
        (lambda window, one: MPI.WIN_NULL.Fence(), "MPI_ERR_WIN"),
    ],
)
def test_what_windows_refuse(wrong: Any, text: str) -> None:
    def program(comm: Any) -> None:
        window = MPI.Win.Allocate(16, 8, comm=comm)
        if comm.rank == 0:
            wrong(window, np.ones(1))

    with pytest.raises(fw.mpi.ProgramError, match=text):
        fw.mpi.run(program, ranks=2)


def test_ranks_that_wait_for_each_others_windows() -> None:
    def program(comm: Any) -> None:
        window = MPI.Win.Allocate(8, comm=comm)
        window.Lock(comm.rank)
        comm.Barrier()
        window.Lock(1 - comm.rank)

    with pytest.raises(fw.mpi.ProgramDeadlock, match=r"rank 0: Lock at .*test_mpi_windows.py") as raised:
        fw.mpi.run(program, ranks=2)
    assert "the window of rank 1" in str(raised.value)


def test_a_rank_that_ends_where_others_wait_at_a_fence() -> None:
    def program(comm: Any) -> None:
        window = MPI.Win.Allocate(8, comm=comm)
        if comm.rank:
            window.Fence()

    with pytest.raises(fw.mpi.ProgramError, match=r"Win.Fence here, where rank 0 .*Win.Free|Win.Free here.*Win.Fence"):
        fw.mpi.run(program, ranks=2)
