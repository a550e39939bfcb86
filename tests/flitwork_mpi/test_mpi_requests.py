"""What a request is before, while and after it is active, and messages that probes have taken."""

from __future__ import annotations

import pickle
from typing import Any

import flitwork as fw
import numpy as np
import pytest
from flitwork_mpi.programs import MPI


def test_a_request_is_null_when_it_is_complete() -> None:
    def program(comm: Any) -> None:
        other = 1 - comm.rank
        status = MPI.Status()
        receive, send = comm.irecv(source=other), comm.isend("word", other)
        again = MPI.Request(receive)
        assert receive and again == receive and receive not in (send, MPI.REQUEST_NULL)
        assert receive.wait(status) == "word" and status.source == other
        assert not receive and not again and receive == MPI.REQUEST_NULL == MPI.Request()
        # Of what is complete there is nothing more to be had.
        assert receive.wait(status) is None and (status.source, status.tag) == (MPI.ANY_SOURCE, MPI.ANY_TAG)
        assert receive.test() == (True, None)
        send.Wait()
        receive.free()
        with pytest.raises(MPI.Exception, match="MPI_ERR_REQUEST"):
            receive.Free()
        assert MPI.REQUEST_NULL != 0 and MPI.REQUEST_NULL is not None

    fw.mpi.run(program, ranks=2)


def test_a_persistent_request_is_not_null_until_it_is_freed() -> None:
    def program(comm: Any) -> Any:
        other, room = 1 - comm.rank, np.zeros(1)
        receive = comm.Recv_init(room, other)
        send = comm.Send_init(np.array([comm.rank + 1.0]), other)
        found = []
        for _ in range(2):
            assert receive and receive != MPI.REQUEST_NULL and receive != send
            status = MPI.Status()
            assert receive.Test(status) and status.source == MPI.ANY_SOURCE
            MPI.Prequest.Startall([receive, send])
            with pytest.raises(MPI.Exception, match="active"):
                send.Start()
            MPI.Request.Waitall([receive, send], [status])
            assert status.source == other
            found.append(float(room[0]))
            room[0] = 0
        assert MPI.Request.Waitany([receive, send]) == MPI.UNDEFINED
        same = MPI.Prequest(receive)
        assert same == receive and isinstance(same, MPI.Prequest)
        for one in (receive, send):
            one.Free()
            assert not one and one == MPI.REQUEST_NULL
            with pytest.raises(MPI.Exception, match="MPI_ERR_REQUEST"):
                one.Start()
        started = comm.Ibarrier()
        with pytest.raises(TypeError, match="persistent"):
            MPI.Prequest(started)
        started.Wait()
        return found

    assert fw.mpi.run(program, ranks=2).returns == [[2, 2], [1, 1]]


def test_what_can_be_cancelled() -> None:
    def program(comm: Any) -> None:
        status = MPI.Status()
        receive = comm.Irecv(np.zeros(1), comm.rank)
        receive.Cancel()
        receive.Wait(status)
        assert status.Is_cancelled() and not receive
        # A send is not taken back.
        send = comm.issend("late", comm.rank)
        send.cancel()
        assert not send.Test() and comm.recv(source=comm.rank) == "late"
        send.Wait(status)
        assert not status.Is_cancelled()
        barrier = comm.Ibarrier()
        for one in (barrier, send):
            with pytest.raises(MPI.Exception, match="MPI_ERR_REQUEST"):
                one.Cancel()
        barrier.Wait()

    fw.mpi.run(program, ranks=2)


def test_send_and_receive_in_one_request() -> None:
    def program(comm: Any) -> Any:
        right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
        given, got, status = np.full(3, float(comm.rank)), np.empty(3), MPI.Status()
        request = comm.Isendrecv(given, right, 4, got, left, 4)
        assert request
        request.Wait(status)
        assert not request and (status.source, status.tag, status.Get_count(MPI.DOUBLE)) == (left, 4, 3)
        comm.Isendrecv_replace(given, left, source=right).Wait()
        half = np.full(1, -1.0)
        comm.Isendrecv(given[:1], MPI.PROC_NULL, recvbuf=None, source=MPI.PROC_NULL).Wait(status)
        assert status.source == MPI.PROC_NULL
        # One side to nobody, in a line instead of a ring.
        up, down = (rank if 0 <= rank < comm.size else MPI.PROC_NULL for rank in (comm.rank + 1, comm.rank - 1))
        comm.Isendrecv(got[:1], up, recvbuf=half, source=down).Wait()
        return got[0], given[0], half[0]

    assert fw.mpi.run(program, ranks=3).returns == [(2, 1, -1), (0, 2, 2), (1, 0, 0)]


def test_a_transfer_in_one_request_takes_the_time_of_its_blocking_form() -> None:
    def program(comm: Any, started: bool) -> None:
        other, given, got = comm.rank ^ 1, np.zeros(1000), np.empty(1000)
        if started:
            comm.Isendrecv(given, other, recvbuf=got, source=other).Wait()
        else:
            comm.Sendrecv(given, other, recvbuf=got, source=other)

    assert fw.mpi.run(program, True, ranks=4).finish_ns == fw.mpi.run(program, False, ranks=4).finish_ns


def test_a_message_without_data_is_no_object() -> None:
    def program(comm: Any) -> Any:
        comm.Isend([None, 0, "B"], comm.rank)
        comm.Isend([pickle.dumps("object"), "B"], comm.rank)
        return comm.recv(None, comm.rank), comm.irecv(None, comm.rank).wait()

    assert fw.mpi.run(program, ranks=1).returns == [(None, "object")]


def test_room_for_an_object_may_be_said() -> None:
    def program(comm: Any) -> None:
        for room in (64, bytearray(64)):
            comm.isend("short", comm.rank)
            with pytest.warns(UserWarning, match="'buf' argument is deprecated"):
                assert comm.recv(room, comm.rank) == "short"
        comm.isend("x" * 100, comm.rank)
        with pytest.raises(MPI.Exception, match=r"MPI_ERR_TRUNCATE.* room for 64"):
            comm.irecv(64, comm.rank).wait()
        assert comm.irecv(0, MPI.PROC_NULL).wait() is None

    fw.mpi.run(program, ranks=1)


def test_messages_that_probes_have_taken() -> None:
    def program(comm: Any) -> Any:
        comm.Isend(np.arange(2.0), comm.rank)
        comm.isend("object", comm.rank)
        status, room = MPI.Status(), np.empty(2)
        first = MPI.Message.Probe(comm, status=status)
        second = MPI.Message.probe(comm)
        assert first and second and first != second and first != MPI.MESSAGE_NULL and status.Get_count(MPI.DOUBLE) == 2
        assert MPI.Message.Iprobe(comm) is None and second.recv() == "object"
        first.Recv(room)
        assert first == MPI.MESSAGE_NULL and not first
        with pytest.raises(MPI.Exception, match="MESSAGE_NULL"):
            first.Recv(room)
        nobody = comm.Improbe(MPI.PROC_NULL, status=status)
        assert nobody == MPI.MESSAGE_NO_PROC and nobody and status.source == MPI.PROC_NULL
        assert comm.mprobe(MPI.PROC_NULL).recv() is None
        nobody.Recv(None)
        assert nobody == MPI.MESSAGE_NULL != MPI.MESSAGE_NO_PROC
        return room.tolist()

    assert fw.mpi.run(program, ranks=1).returns == [[0, 1]]


def test_nobody_needs_no_buffer() -> None:
    def program(comm: Any) -> None:
        nobody = MPI.PROC_NULL
        comm.Send(None, nobody)
        comm.Recv(None, nobody)
        comm.Sendrecv(None, nobody, recvbuf=None, source=nobody)
        for request in (comm.Isend(None, nobody), comm.Irecv(None, nobody), comm.Issend(None, nobody)):
            assert request
            request.Wait()

    fw.mpi.run(program, ranks=1)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda comm, room: comm.Sendrecv(room, 9, recvbuf=room, source=comm.rank),
        lambda comm, room: comm.Sendrecv(room, comm.rank, -5, recvbuf=room, source=comm.rank),
        lambda comm, room: comm.Sendrecv([room, -1, MPI.DOUBLE], comm.rank, recvbuf=room, source=comm.rank),
        lambda comm, room: comm.Isendrecv(None, comm.rank, recvbuf=room, source=comm.rank),
        lambda comm, room: comm.sendrecv(lambda: None, comm.rank, source=comm.rank),
    ],
)
def test_what_cannot_be_sent_leaves_no_receive_behind(wrong: Any) -> None:
    def program(comm: Any) -> Any:
        room = np.zeros(1)
        try:
            wrong(comm, room)
        except Exception:
            return comm.sendrecv("next", comm.rank, source=comm.rank)

    assert fw.mpi.run(program, ranks=2).returns == ["next"] * 2


def test_a_status_can_be_copied_and_changed() -> None:
    status = MPI.Status()
    status.source, status.tag, status.is_cancelled = 3, 4, True
    status.Set_elements(MPI.DOUBLE, 2)
    for copy in (MPI.Status(status), pickle.loads(pickle.dumps(status))):
        status.count = 5
        assert (copy.source, copy.tag, copy.count, copy.Get_count(MPI.DOUBLE), copy.Is_cancelled()) == (
            3,
            4,
            16,
            2,
            True,
        )
        status.count = 16


@pytest.mark.parametrize("name", ["SUM", "MAXLOC", "INT", "DOUBLE_INT", "BOOL", "IN_PLACE", "BOTTOM", "REQUEST_NULL"])
def test_constants_stay_what_they_are_when_they_travel(name: str) -> None:
    constant = getattr(MPI, name)
    assert pickle.loads(pickle.dumps(constant)) is constant


def test_datatypes_travel() -> None:
    def program(comm: Any) -> Any:
        column = comm.bcast(MPI.INT.Create_vector(2, 1, 3) if comm.rank == 0 else None)
        return column.Get_size(), column.Get_extent()

    assert fw.mpi.run(program, ranks=2).returns == [(8, (0, 16))] * 2
