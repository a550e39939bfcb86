"""Messages between simulated ranks: what arrives, in which order, and what is refused."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import flitwork as fw
import numpy as np
import pytest
from flitwork.cli import app
from flitwork_mpi.programs import MPI
from flitwork_mpi.programs.world import Clock, me
from typer.testing import CliRunner


def test_data_arrive_as_they_were_when_they_were_sent() -> None:
    def program(comm: Any) -> Any:
        other = 1 - comm.rank
        data = np.arange(5) + 10 * comm.rank
        request = comm.Isend(data, dest=other, tag=3)
        data[:] = -1
        room, status = np.zeros(5, dtype=data.dtype), MPI.Status()
        comm.Recv(room, source=other, tag=3, status=status)
        request.Wait()
        return room.tolist(), status.Get_source(), status.Get_tag(), status.Get_count(MPI.INT64_T)

    found = fw.mpi.run(program, ranks=2)
    assert found.returns == [([10, 11, 12, 13, 14], 1, 3, 5), ([0, 1, 2, 3, 4], 0, 3, 5)]
    assert (found.messages, found.bytes) == (2, 80)


def test_time_is_that_of_the_network() -> None:
    def program(comm: Any, nbytes: int) -> float:
        before = MPI.Wtime()
        comm.Send(bytearray(nbytes), 1) if comm.rank == 0 else comm.Recv(bytearray(nbytes), 0)
        return float(1e9 * (MPI.Wtime() - before))

    net = fw.Torus(2, units=fw.Units(flit_bytes=8, cycle_ns=2.0))
    short, long = (fw.mpi.run(program, nbytes, ranks=2, network=net) for nbytes in (8, 8000))
    # 999 more flits of 2 ns each, in packets of 100.
    assert long.returns[1] - short.returns[1] == pytest.approx(2 * 999)
    assert long.time_ns == pytest.approx(long.returns[1])
    empty = fw.mpi.run(program, 0, ranks=2, network=net)
    assert empty.result.row["packets"] == 1 and empty.bytes == 0


def test_any_source_any_tag_and_the_order_of_one_sender() -> None:
    def program(comm: Any) -> Any:
        if comm.rank:
            for tag in (5, 4, 3):
                comm.send((comm.rank, tag), dest=0, tag=tag)
            return None
        status = MPI.Status()
        found = [comm.recv(status=status) for _ in range(3 * (comm.size - 1))]
        assert (status.source, status.tag) == found[-1]
        return found

    (found, *_) = fw.mpi.run(program, ranks=4).returns
    for sender in (1, 2, 3):
        assert [tag for rank, tag in found if rank == sender] == [5, 4, 3]


def test_a_tag_picks_its_message_and_a_communicator_keeps_to_itself() -> None:
    def program(comm: Any) -> Any:
        other = comm.Dup()
        if comm.rank == 0:
            other.send("in the copy", 1, tag=1)
            comm.send("first", 1, tag=1)
            comm.send("second", 1, tag=2)
            return None
        return [comm.recv(tag=2), comm.recv(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG), other.recv(source=0)]

    assert fw.mpi.run(program, ranks=2).returns[1] == ["second", "first", "in the copy"]


def test_requests_one_of_several_some_and_all() -> None:
    def program(comm: Any) -> Any:
        if comm.rank:
            fw.mpi.compute(1000 * comm.rank)
            comm.send(comm.rank, 0)
            return None
        requests = [comm.irecv(source=rank) for rank in range(comm.size - 1, 0, -1)]
        place, first = MPI.Request.waitany(requests)
        seen = [(place, first, round(MPI.Wtime() * 1e9 / 1000))]
        while (some := MPI.Request.waitsome(requests))[0]:
            seen += [(p, v, round(MPI.Wtime() * 1e9 / 1000)) for p, v in zip(*some, strict=True)]
        assert MPI.Request.Waitany(requests) == MPI.UNDEFINED and some == (None, None)
        assert MPI.Request.Testall(requests) and MPI.Request.Waitall(requests)
        return seen

    assert fw.mpi.run(program, ranks=4).returns[0] == [(2, 1, 1), (1, 2, 2), (0, 3, 3)]


def test_tests_and_probes_let_time_pass_and_see_what_happens_when_it_happens() -> None:
    def program(comm: Any) -> Any:
        if comm.rank == 0:
            fw.mpi.compute(5500)
            comm.Send(np.arange(3.0), 1, tag=7)
            fw.mpi.compute(5500)
            comm.Send(np.arange(4.0), 1, tag=8)
            return None
        room, status, polls = np.empty(3), MPI.Status(), 0
        request = comm.Irecv(room, source=0, tag=7)
        while not request.Test(status):
            polls += 1
        tested = MPI.Wtime()
        assert not comm.Iprobe(source=0, tag=9) and 5 <= polls <= 6
        comm.Probe(tag=8, status=status)
        more = np.empty(status.Get_count(MPI.DOUBLE))
        comm.Recv(more, tag=8)
        return tested, MPI.Wtime(), room.tolist(), more.tolist()

    tested, probed, room, more = fw.mpi.run(program, ranks=2).returns[1]
    assert 5.5e-6 < tested < 5.52e-6 and 11e-6 < probed < 11.05e-6
    assert room == [0, 1, 2] and more == [0, 1, 2, 3]


def test_a_synchronous_send_waits_for_its_receive_and_a_plain_one_does_not() -> None:
    def program(comm: Any) -> Any:
        times = []
        for send in (comm.ssend, comm.send):
            comm.barrier()
            before = MPI.Wtime()
            if comm.rank == 0:
                send("x", 1)
            else:
                fw.mpi.compute(500)
                comm.recv(source=0)
            times.append(round(1e9 * (MPI.Wtime() - before)))
        return times

    synchronous, plain = fw.mpi.run(program, ranks=2).returns[0]
    assert plain < 10 and 500 <= synchronous < 520


def test_matched_probes_and_receives_that_are_taken_back() -> None:
    def program(comm: Any) -> Any:
        if comm.rank == 0:
            comm.send("a", 1, tag=1)
            comm.Send(np.array([1.5]), 1, tag=2)
            return None
        never, status = comm.irecv(source=0, tag=99), MPI.Status()
        message = comm.mprobe(status=status)
        room = np.empty(1)
        matched = comm.Mprobe(tag=2)
        matched.free()  # which gives up no message that is still to be received
        matched.Recv(room)
        assert comm.Improbe() is None
        never.Cancel()
        never.Wait(status)
        return message.recv(), room[0], status.Is_cancelled()

    assert fw.mpi.run(program, ranks=2).returns[1] == ("a", 1.5, True)


def test_nobody_and_oneself() -> None:
    def program(comm: Any) -> Any:
        status, room = MPI.Status(), np.zeros(1)
        comm.Sendrecv(np.ones(1), MPI.PROC_NULL, recvbuf=room, source=MPI.PROC_NULL, status=status)
        assert comm.recv(source=MPI.PROC_NULL) is None and room[0] == 0
        assert (status.source, status.tag, status.Get_count()) == (MPI.PROC_NULL, MPI.ANY_TAG, 0)
        request = comm.isend("me", comm.rank)
        found = comm.recv(source=comm.rank)
        request.wait()
        data = np.array([comm.rank])
        comm.Sendrecv_replace(data, (comm.rank + 1) % comm.size, source=(comm.rank - 1) % comm.size)
        return found, int(data[0])

    assert fw.mpi.run(program, ranks=3).returns == [("me", 2), ("me", 0), ("me", 1)]


def test_non_blocking_collectives_go_on_while_the_program_waits_elsewhere() -> None:
    def program(comm: Any) -> Any:
        total = np.zeros(1)
        barrier, reduction = comm.Ibarrier(), comm.Iallreduce(np.array([1.0]), total)
        got = comm.sendrecv(comm.rank, comm.rank ^ 1, source=comm.rank ^ 1)
        comm.Probe() if comm.rank == 0 else comm.send("p", 0) if comm.rank == 1 else None
        if comm.rank == 0:
            comm.recv()
        MPI.Request.Waitall([barrier, reduction])
        return got, total[0]

    assert fw.mpi.run(program, ranks=4).returns == [(1, 4), (0, 4), (3, 4), (2, 4)]


@pytest.mark.parametrize(
    ("send", "receive", "fault"),
    [
        (np.zeros(4), np.zeros(2), "ERR_TRUNCATE: a message of 32 bytes, and room for 16"),
        (np.zeros(4), np.zeros(4, dtype=int), "ERR_TYPE: a message of float64 elements was received as int64"),
        (np.zeros((4, 4))[:, 1], np.zeros(4), "not contiguous"),
        ([np.zeros(2), 3, MPI.DOUBLE], np.zeros(4), "ERR_BUFFER: the buffer has 16 bytes, and 24 are needed"),
        (np.array(["a"], dtype=object), np.zeros(4), "ERR_TYPE: no MPI datatype"),
    ],
)
def test_messages_that_do_not_fit_are_refused(send: Any, receive: Any, fault: str) -> None:
    def program(comm: Any) -> None:
        comm.Send(send, 1) if comm.rank == 0 else comm.Recv(receive, 0)

    with pytest.raises(fw.mpi.ProgramError, match=fault) as error:
        fw.mpi.run(program, ranks=2)
    assert __file__ in error.value.traceback and "flitwork/mpi/world" not in error.value.traceback.split("\n")[1]


@pytest.mark.parametrize(
    ("program", "fault"),
    [
        (lambda comm: comm.send(1, dest=2), "ERR_RANK: the destination is 2, of 2 ranks"),
        (lambda comm: comm.recv(source=-5), "ERR_RANK: the source is -5"),
        (lambda comm: comm.send(1, dest=0, tag=-3), "ERR_TAG"),
        (lambda comm: comm.bcast(1, root=7), "ERR_ROOT: the root is 7, of 2 ranks"),
        (lambda comm: comm.scatter([1], root=comm.rank), "expecting 2 items, got 1"),
        (lambda comm: comm.Alltoall(np.zeros(3), np.zeros(3)), "ERR_COUNT: 3 elements cannot be divided among 2"),
        (lambda comm: comm.Spawn("x"), "MPI.Comm.Spawn is not supported by the simulated communicator"),
        (lambda comm: MPI.Grequest.Start(), "MPI.Grequest.Start is not supported by the simulated communicator"),
        (lambda comm: MPI.COMM_NULL.Barrier(), "ERR_COMM"),
    ],
)
def test_calls_that_make_no_sense_are_refused_by_name(program: Any, fault: str) -> None:
    with pytest.raises(fw.mpi.ProgramError, match=fault):
        fw.mpi.run(program, ranks=2)


def test_ranks_that_wait_for_each_other_are_named_with_their_lines() -> None:
    def program(comm: Any) -> None:
        comm.recv(source=(comm.rank + 1) % comm.size, tag=4)

    with pytest.raises(fw.mpi.ProgramDeadlock) as error:
        fw.mpi.run(program, ranks=3)
    line = program.__code__.co_firstlineno + 1
    text = str(error.value)
    assert "3 of 3 ranks cannot go on" in text and "rank 0 -> rank 1 -> rank 2 -> rank 0" in text
    assert f"rank 1: recv at {__file__}:{line}: waits for a message from rank 2, tag 4" in text


def test_ranks_that_are_not_in_a_collective_are_missed() -> None:
    def program(comm: Any) -> None:
        if comm.rank:
            comm.Ibarrier().Wait()

    with pytest.raises(
        fw.mpi.ProgramDeadlock,
        match=r"rank 1: Wait for Ibarrier of .*:\d+ at .*:\d+: waits for a message from rank 0, in a",
    ):
        fw.mpi.run(program, ranks=2)


def test_ranks_that_poll_for_what_never_comes_are_named_at_the_limit() -> None:
    def program(comm: Any) -> None:
        while not comm.Iprobe(source=1 - comm.rank):
            pass

    with pytest.raises(
        fw.mpi.ProgramUnfinished, match=r"5000 cycles(.|\n)*rank 1: Iprobe at .*test_mpi_messages.py:\d+"
    ):
        fw.mpi.run(program, ranks=2, max_cycles=5000)


def test_messages_that_nobody_receives_are_named() -> None:
    def program(comm: Any) -> None:
        comm.send("x", (comm.rank + 1) % 2, tag=6) if comm.rank else comm.irecv(source=1, tag=5)

    with pytest.raises(fw.mpi.UnmatchedMessages, match=r"message of rank 1 to rank 0, tag 6(.|\n)*|receive of rank 0"):
        fw.mpi.run(program, ranks=2)


def test_an_exception_in_a_rank_names_it() -> None:
    def program(comm: Any) -> None:
        comm.barrier()
        if comm.rank == 2:
            raise ValueError("this one")
        comm.barrier()

    with pytest.raises(fw.mpi.ProgramError, match="rank 2: ValueError: this one") as error:
        fw.mpi.run(program, ranks=4)
    assert error.value.rank == 2 and isinstance(error.value.__cause__, ValueError)
    with pytest.raises(SystemExit, match=r"rank 1 called Abort\(7\)"):
        fw.mpi.run(lambda comm: comm.Abort(7) if comm.rank else comm.recv(), ranks=2)


def test_ranks_that_do_not_fit_are_refused() -> None:
    with pytest.raises(fw.ConfigError, match="ranks = 5: expected at most 4"):
        fw.mpi.run(print, ranks=5, network=fw.Torus(2, 2))
    where = lambda comm: MPI.Get_processor_name()  # noqa: E731
    found = fw.mpi.run(where, ranks=5, network=fw.Torus(2, 2), host=fw.Host(ranks_per_terminal=2))
    assert found.returns == [f"terminal-{place}" for place in (0, 0, 1, 1, 2)]
    with pytest.raises(fw.mpi.ProgramError, match="no rank program is running"):
        MPI.COMM_WORLD.Get_rank()


def test_two_runs_are_the_same_run() -> None:
    def program(comm: Any) -> Any:
        return comm.allgather(np.random.rand()), comm.rank

    one, two = (fw.mpi.run(program, ranks=6) for _ in range(2))
    assert (one.result.digest, one.returns, one.finish_ns) == (two.result.digest, two.returns, two.finish_ns)
    assert len(set(one.returns[0][0])) == 6


def test_time_passes_for_a_rank_that_does_nothing_but_ask_for_it() -> None:
    def program(comm: Any, seconds: float) -> tuple[float, float]:
        began, loops = MPI.Wtime(), 0.0
        for _ in range(3 * Clock.PATIENCE):
            before = MPI.Wtime()
            # Two lines that ask are no loop that waits.
            loops += MPI.Wtime() - before
        while MPI.Wtime() < began + seconds:
            pass
        return loops, MPI.Wtime() - began

    run = fw.mpi.run(program, 1e-4, ranks=2)
    assert all(loops == 0 and 1e-4 <= spun < 1.02e-4 for loops, spun in run.returns)
    with pytest.raises(fw.mpi.ProgramUnfinished, match="rank 0: Wtime at "):
        fw.mpi.run(program, 1.0, ranks=2, run=fw.Run(max_cycles=10**5))


def test_whole_numbers_may_come_with_a_point_as_with_mpi4py() -> None:
    def program(comm: Any) -> Any:
        other, room = 1.0 - comm.rank, np.zeros(2)
        assert comm.sendrecv(comm.rank, np.float64(other), 3.7, source=other, recvtag=3.2) == other
        comm.Isend(np.ones(1), other, tag=4.0).Wait()
        comm.Recv(room[:1], source=other)
        comm.Gatherv(np.ones(1), [room, np.ones(2), [0.0, 1.0], MPI.DOUBLE], root=0.0)
        grid = comm.Create_cart([2], [True])
        assert grid.Shift(0.0, 1.0) == (other, other) and grid.Get_coords(1.0) == [1]
        assert comm.Get_group().Range_incl([(0.0, 1.0, 1)]).size == MPI.Compute_dims(2.0, 1)[0] == 2
        for wrong in (None, "0"):
            with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
                comm.send(1, dest=wrong)
            with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
                comm.bcast(1, root=wrong)
        return comm.bcast(comm.rank, root=1.0), comm.Split(comm.rank / 2, 0).size, comm.reduce(1, root=0.5), room[0]

    assert fw.mpi.run(program, ranks=2).returns == [(1, 2, 2, 1), (1, 2, None, 1)]


def test_ranks_know_which_thread_is_theirs() -> None:
    def program(comm: Any) -> tuple[bool, list[bool]]:
        found: list[bool] = []
        other = threading.Thread(target=lambda: found.append(MPI.Is_thread_main()))
        other.start()
        other.join()
        return MPI.Is_thread_main(), found

    assert fw.mpi.run(program, ranks=2).returns == 2 * [(True, [False])]


def test_ranks_that_sleep_and_compute_for_long_are_no_hurry_to_the_run() -> None:
    def program(comm: Any) -> float:
        time.sleep(1 + comm.rank)
        fw.mpi.compute(5e9)
        comm.Barrier()
        with pytest.raises(ValueError, match="non-negative"):
            time.sleep(-1)
        return float(MPI.Wtime())

    began, sleep = time.monotonic(), time.sleep
    run = fw.mpi.run(program, ranks=2)
    assert all(7 < ended < 7.001 for ended in run.returns)
    assert time.sleep is sleep and time.monotonic() < began + 6
    machine = fw.Torus(2, 2, units=fw.Units(cycle_ns=1, flit_bytes=16))
    with pytest.raises(fw.mpi.ProgramUnfinished, match=r"not complete after 100000 cycles"):
        fw.mpi.run(program, ranks=2, run=fw.Run(max_ns="100 us"), network=machine)


def test_a_rank_that_polls_in_vain_is_told_soon() -> None:
    polls = 0

    def program(comm: Any) -> None:
        nonlocal polls
        if comm.rank == 0:
            request = comm.irecv(source=1)
            while not request.test()[0]:
                fw.mpi.compute(1000)
                polls += 1

    with pytest.raises(fw.mpi.ProgramUnfinished, match=r"(?s)not complete after 10{12} cycles.*rank 0: test at"):
        fw.mpi.run(program, ranks=2)
    assert 10_000 < polls < 20_000


def test_polls_stay_within_their_longest() -> None:
    def program(comm: Any) -> float:
        process = me()
        process.patience = 0.99 * 2.0**32
        for _ in range(100):
            process.poll_again()
        return process.patience

    run = fw.mpi.run(program, ranks=1)
    assert run.returns == [2.0**32] and 99 * 2**32 < run.time_ns < 100 * 2**32


def test_messages_that_nobody_receives_may_be_ignored() -> None:
    def program(comm: Any) -> int:
        comm.isend("late", (comm.rank + 1) % comm.size, tag=4)
        return int(comm.rank)

    with pytest.raises(fw.mpi.UnmatchedMessages, match="--unmatched ignored"):
        fw.mpi.run(program, ranks=3)
    run = fw.mpi.run(program, ranks=3, unmatched="ignored")
    assert run.returns == [0, 1, 2] and run.result.status == "complete"
    assert "a message of rank 2 to rank 0, tag 4" in run.unmatched and "--unmatched" not in run.unmatched
    with pytest.raises(fw.ConfigError, match="one of messages, error, ignored"):
        fw.mpi.run(program, ranks=3, unmatched="warn")


def test_receives_that_get_no_message_are_a_warning_unless_they_are_to_be_an_error() -> None:
    def program(comm: Any) -> int:
        comm.Irecv(np.zeros(4), MPI.ANY_SOURCE, tag=9)
        return int(comm.rank)

    with pytest.warns(UserWarning, match=r"a receive of rank 1 from any rank, tag 9, posted at .*test_mpi_messages"):
        run = fw.mpi.run(program, ranks=2)
    assert run.returns == [0, 1] and run.exit_code == 0 and "a receive of rank 0" in run.unmatched
    with pytest.raises(fw.mpi.UnmatchedMessages, match="a receive of rank 0"):
        fw.mpi.run(program, ranks=2, unmatched="error")
    assert "a receive of rank 0" in fw.mpi.run(program, ranks=2, unmatched="ignored").unmatched


def test_messages_under_way_when_ranks_end_find_their_receives() -> None:
    def program(comm: Any, left: bool) -> None:
        comm.Irecv(np.zeros(4), (comm.rank + 1) % comm.size, 0)
        if left:
            comm.Irecv(np.zeros(4), (comm.rank + 1) % comm.size, 1)
        comm.Send(np.ones(4), (comm.rank - 1) % comm.size, 0)

    whole = fw.mpi.run(program, False, ranks=4)
    with pytest.warns(UserWarning, match="a receive of rank 3 from rank 0, tag 1") as warned:
        run = fw.mpi.run(program, True, ranks=4)
    said = str(warned[0].message)
    assert "tag 0" not in said and "a message" not in said and said.count("a receive") == 4
    assert (run.messages, run.bytes, run.finish_ns) == (whole.messages, whole.bytes, whole.finish_ns)
    assert run.result.digest == whole.result.digest


def test_messages_under_way_at_the_limit_of_cycles_are_not_left_over() -> None:
    def program(comm: Any) -> None:
        comm.Irecv(bytearray(64), (comm.rank + 1) % comm.size, 0)
        comm.Send(bytearray(64), (comm.rank - 1) % comm.size, 0)

    with pytest.raises(fw.mpi.ProgramUnfinished, match="all ranks have ended"):
        fw.mpi.run(program, ranks=4, max_cycles=5)


def test_a_deadlock_names_only_what_is_missing() -> None:
    def program(comm: Any) -> None:
        if comm.rank == 0:
            wanted = [comm.Irecv(bytearray(8), 1, tag) for tag in (0, 1)]
            MPI.Request.Waitall(wanted)
        else:
            comm.Send(bytearray(8), 0, 0)

    with pytest.raises(fw.mpi.ProgramDeadlock) as caught:
        fw.mpi.run(program, ranks=2)
    assert "from rank 1, tag 1" in str(caught.value) and "tag 0" not in str(caught.value)


def test_a_run_with_receives_left_over_is_complete_and_can_be_explained(tmp_path: Path) -> None:
    script, stored = tmp_path / "script.py", tmp_path / "run.parquet"
    lines = ("from mpi4py import MPI", "import numpy as np", "comm = MPI.COMM_WORLD")
    script.write_text("\n".join([*lines, "comm.Irecv(np.zeros(4), MPI.ANY_SOURCE)", "comm.Barrier()"]))
    words = ["mpi", "simulate", "-n", "4", "--json", "--explain", "--save", str(stored), str(script)]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0 and "a receive of rank 0 from any rank" in done.stderr, done.output
    found = json.loads(done.stdout)
    assert found["status"] == "complete" and found["explanation"]
    assert fw.Result.load(stored).status == "complete" and "interrupted" not in repr(fw.Result.load(stored))


def test_the_command_warns_of_receives_and_ends_with_0(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("from mpi4py import MPI\nMPI.COMM_WORLD.irecv(source=0, tag=3)\n")
    for option, code, said in (([], 0, "warning"), (["--unmatched", "error"], 1, "error")):
        done = CliRunner().invoke(app, ["mpi", "simulate", "-n", "2", "-q", *option, str(script)])
        assert done.exit_code == code, done.output
        assert said in done.stderr and "a receive of rank 1 from rank 0, tag 3" in done.stderr
