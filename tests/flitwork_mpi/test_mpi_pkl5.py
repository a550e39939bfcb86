"""``mpi4py.util.pkl5``: objects whose long buffers are messages of their own."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import flitwork as fw
import numpy as np
import pytest
from flitwork_mpi.programs import MPI
from flitwork_mpi.programs.pkl5 import pkl5_module

pkl5: Any = pkl5_module()


def long(rank: int, number: int = 0) -> Any:
    """An array that travels on its own."""
    return np.full(2**15 + number, rank + 100.0 * number)


def is_long(found: Any, rank: int, number: int = 0) -> bool:
    return len(found) == 2**15 + number and bool((found == rank + 100.0 * number).all())


def test_a_long_buffer_is_a_message_and_a_short_one_is_not() -> None:
    def program(comm: Any, *objects: Any) -> int:
        comm, received = pkl5.Intracomm(comm), 0
        for obj in objects:
            if comm.rank == 0:
                comm.send(obj, 1, tag=3)
            else:
                status = MPI.Status()
                assert len(comm.recv(source=0, status=status)) == len(obj)
                assert (status.source, status.tag) == (0, 3)
                received += status.Get_count()
        return received

    # The threshold is 256 KiB.
    long_ones = ([long(0), "x", long(0, 1)], [2**18, 2**18 + 8]), (long(0), [2**18])
    for obj, lengths in (("short", []), (np.zeros(2**15 - 1), []), *long_ones):
        found = fw.mpi.run(program, obj, ranks=2)
        found_long: list[Any] = []
        stream = pickle.dumps(obj, 5, buffer_callback=found_long.append if lengths else None)
        head = 8 * (1 + len(lengths)) + len(stream)
        assert (found.messages, found.bytes, found.returns[1]) == (1 + len(lengths), head + sum(lengths), head)


def test_what_arrives_is_as_it_was_and_belongs_to_the_receiver() -> None:
    fixed = np.arange(2.0**15)
    fixed.flags.writeable = False
    objects = [
        None, "text", long(1), long(1).reshape(2, -1), np.asfortranarray(long(1).reshape(2, -1)), long(1)[::2], fixed,
        {"a": [long(1), long(1, 1)]}, np.zeros(2**18, dtype=[("a", "i4"), ("b", "f8")]), pickle.PickleBuffer(b"x" * 2**18),
    ]  # fmt: skip

    def program(comm: Any) -> None:
        comm = pkl5.Intracomm(comm)
        right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
        for obj in objects:
            found = comm.sendrecv(obj, right, source=left)
            if isinstance(obj, np.ndarray):
                assert (found == obj).all() and found.flags.writeable == obj.flags.writeable
                assert found.dtype == obj.dtype and found.flags.f_contiguous >= obj.flags.f_contiguous
            elif isinstance(obj, dict):
                assert is_long(found["a"][0], 1) and is_long(found["a"][1], 1, 1)
            elif isinstance(obj, pickle.PickleBuffer):
                assert bytes(found) == bytes(obj)
            else:
                assert found == obj
        own = long(comm.rank)
        requests = [comm.isend(own, right), comm.ibsend(own, right)]
        own[:] = -1
        for _ in requests:
            found = comm.recv(source=left)
            assert is_long(found, left)
            found[:] = -2
        assert pkl5.Request.waitall(requests) == [None, None] and (own == -1).all()

    for ranks in (1, 3):
        fw.mpi.run(program, ranks=ranks)
    fw.mpi.run(program, ranks=3, data=False)


def test_objects_of_many_senders_do_not_mix() -> None:
    def program(comm: Any) -> None:
        comm = pkl5.Intracomm(comm)
        if comm.rank:
            for number in range(3):
                comm.send([long(comm.rank, number)] * (1 + number % 2) + [long(comm.rank, 7)], 0, tag=number)
            return
        order: dict[int, list[int]] = {}
        for _ in range(3 * (comm.size - 1)):
            status = MPI.Status()
            found = comm.recv(status=status)
            assert is_long(found[0], status.source, status.tag) and is_long(found[-1], status.source, 7)
            order.setdefault(status.source, []).append(status.tag)
        assert all(tags == [0, 1, 2] for tags in order.values())

    fw.mpi.run(program, ranks=5)


def test_matched_probes_keep_the_buffers_of_their_objects() -> None:
    def program(comm: Any) -> Any:
        comm, status = pkl5.Intracomm(comm), MPI.Status()
        if comm.rank == 0:
            comm.recv(source=1)
            for number in range(3):
                comm.send([long(0, number), long(0, number)], 1, tag=5)
            return None
        assert comm.improbe() is None
        comm.send("go", 0)
        first = comm.mprobe(0, status=status)
        assert (status.source, status.tag) == (0, 5) and first == pkl5.Message(first) != MPI.MESSAGE_NULL
        while (second := pkl5.Message.iprobe(comm)) is None:
            pass
        assert first != second and comm.recv()[1].size == 2**15 + 2
        request = second.irecv()
        assert not second and second == MPI.MESSAGE_NULL == first.__class__()
        request.cancel()
        found = request.wait(status)
        assert is_long(found[0], 0, 1) and status.tag == 5 and status.Get_count() > 0
        assert request.test() == (True, None) and request == MPI.REQUEST_NULL
        with pytest.raises(MPI.Exception, match="cannot be received"):
            second.recv()
        first.free()
        return is_long(first.recv()[1], 0)

    assert fw.mpi.run(program, ranks=2).returns[1]


def test_requests_for_several_objects() -> None:
    def program(comm: Any) -> None:
        comm = pkl5.Intracomm(comm)
        if comm.rank == 0:
            fw.mpi.compute(2500)
            for number in range(3):
                request = comm.mprobe(1, number).irecv()
                assert is_long(request.wait(), 1, number)
                assert not request
            comm.send(long(0), 1)
            return
        requests = [comm.issend(long(1, number), 0, number) for number in range(3)]
        assert all(requests) and requests[0] != requests[1] and requests[0] == pkl5.Request(requests[0])
        assert not requests[0].get_status() and requests[0].test() == (False, None)
        assert pkl5.Request.testall(requests) == (False, None) and not pkl5.Request.get_status_all(requests)
        statuses: list[Any] = [MPI.Status()]
        while not pkl5.Request.get_status_all(requests, statuses):
            pass
        assert len(statuses) == 3 and all(requests)
        assert pkl5.Request.testall(requests) == (True, [None] * 3) and not any(requests)
        with pytest.raises(MPI.Exception, match="REQUEST_NULL cannot be freed"):
            requests[0].Free()
        requests[0].free()
        with pytest.raises(MPI.Exception, match="not active"):
            requests[0].cancel()
        taken, statuses = comm.mprobe(0).irecv(), []
        (found,) = pkl5.Request.waitall([taken], statuses)
        assert is_long(found, 0) and statuses[0].source == 0

    fw.mpi.run(program, ranks=2)


def test_a_synchronous_send_waits_for_its_receive() -> None:
    def program(comm: Any) -> float:
        comm = pkl5.Intracomm(comm)
        if comm.rank == 0:
            before = MPI.Wtime()
            comm.bsend("x", 1)
            comm.ssend(long(0), 1)
            return float(MPI.Wtime() - before)
        comm.recv()
        fw.mpi.compute(50_000)
        return len(comm.recv())

    assert fw.mpi.run(program, ranks=2).returns[0] > 50e-6


def test_nobody_and_nothing() -> None:
    def program(comm: Any) -> None:
        comm, status = pkl5.Intracomm(comm), MPI.Status()
        comm.send(long(0), MPI.PROC_NULL)
        request = comm.isend("x", MPI.PROC_NULL)
        assert request and request.wait() is None and not request
        assert comm.recv(source=MPI.PROC_NULL, status=status) is None and status.source == MPI.PROC_NULL
        assert comm.sendrecv("x", MPI.PROC_NULL, source=MPI.PROC_NULL) is None
        message = comm.mprobe(MPI.PROC_NULL)
        assert message == MPI.MESSAGE_NO_PROC != MPI.MESSAGE_NULL and message == pkl5.Message(MPI.MESSAGE_NO_PROC)
        assert message.recv(status) is None and message == MPI.MESSAGE_NULL and status.source == MPI.PROC_NULL
        assert comm.improbe(MPI.PROC_NULL).irecv().wait() is None
        assert pkl5.Request() == MPI.REQUEST_NULL == pkl5.Request(MPI.REQUEST_NULL) and pkl5.Request().get_status()
        for made in (pkl5.Request, pkl5.Message):
            assert made() != "nothing"
            with pytest.raises(TypeError):
                made("nothing")
        assert isinstance(comm.Dup(), pkl5.Intracomm) and isinstance(comm, MPI.Intracomm)
        assert not pkl5.Intracomm(MPI.COMM_NULL) and pkl5.Intracomm(comm) == MPI.COMM_WORLD

    fw.mpi.run(program, ranks=2)


def collectives(comm: Any) -> None:
    """All of them, of objects with none to three buffers."""

    def several(rank: int, more: int = 0) -> list[Any]:
        return [rank, *(long(rank, number) for number in range((rank + more) % 4))]

    def are(found: Any, rank: int, more: int = 0) -> bool:
        right = found[0] == rank and len(found) == 1 + (rank + more) % 4
        right = right and all(is_long(one, rank, number) for number, one in enumerate(found[1:]))
        # Whoever got it may do with it as he likes.
        for one in found[1:]:
            one[:] = -1
        return right

    comm = pkl5.Intracomm(comm)
    rank, size = comm.rank, comm.size
    for root in range(size):
        found = comm.bcast(several(root, 2) if rank == root else None, root)
        assert are(found, root, 2)
        found = comm.gather(several(rank), root)
        assert all(are(one, source) for source, one in enumerate(found)) if rank == root else found is None
        assert are(comm.scatter((several(to, 1) for to in range(size)) if rank == root else None, root), rank, 1)
    assert all(are(one, source) for source, one in enumerate(comm.allgather(several(rank))))
    found = comm.alltoall([several(rank, to) for to in range(size)])
    assert all(are(one, source, rank) for source, one in enumerate(found))
    assert comm.scatter(None) is None and comm.alltoall(None) == [None] * size
    assert comm.allreduce(rank) == size * (size - 1) // 2


@pytest.mark.parametrize("ranks", [1, 2, 5])
def test_collectives(ranks: int) -> None:
    fw.mpi.run(collectives, ranks=ranks)


def test_collectives_by_other_algorithms_and_without_data() -> None:
    chosen = {"bcast": "linear", "allgather": "ring", "gather": "linear", "alltoallv": "a2at"}
    fw.mpi.run(collectives, ranks=4, algorithms=chosen, data=False)


def test_buffers_of_collectives_are_messages() -> None:
    def program(comm: Any, name: str) -> None:
        comm = pkl5.Intracomm(comm)
        getattr(comm, name)([long(0)] * comm.size if name in ("scatter", "alltoall") else long(0))

    plain = {"gather": 3, "scatter": 3, "alltoall": 12}
    for name, messages in plain.items():
        found = fw.mpi.run(program, name, ranks=4)
        assert found.messages == 2 * messages, name
        assert 0 < found.bytes - messages * long(0).nbytes < 16 * 256, name
    # As `Bcast` of a buffer: a scatter and an all-gather.
    assert fw.mpi.run(program, "bcast", ranks=4, algorithms={"bcast": "binomial"}).messages == 6
    assert fw.mpi.run(program, "bcast", ranks=4).messages > 6


def test_each_rank_says_what_is_long() -> None:
    def program(comm: Any) -> Any:
        comm = pkl5.Intracomm(comm)
        before = pkl5.pickle
        if comm.rank == 0:
            pkl5.pickle.THRESHOLD = 0
            comm.send(np.arange(3), 1)
            pkl5.pickle = pkl5.Pickle(threshold=16)
            comm.send([np.arange(1), np.arange(2)], 1)
            pkl5.pickle = before
            return pkl5.pickle.THRESHOLD, MPI.pickle.THRESHOLD
        fw.mpi.compute(1000)
        assert comm.recv().tolist() == [0, 1, 2] and [one.tolist() for one in comm.recv()] == [[0], [0, 1]]
        return pkl5.pickle.THRESHOLD, pkl5.Pickle().THRESHOLD

    found = fw.mpi.run(program, ranks=2)
    assert found.returns == [(0, 2**18), (2**18, 2**18)] and found.messages == 4
    data, (buffer,) = MPI.Pickle(threshold=-1).dumps_oob(np.arange(3))
    assert type(buffer) is MPI.buffer and MPI.pickle.loads_oob(data, [buffer]).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda comm: comm.irecv(source=0), "RuntimeError: mpi4py.util.pkl5 has no irecv"),
        (lambda comm: pkl5.Intercomm(comm), "mpi4py.util.pkl5.Intercomm is not supported by the simulated"),
        (lambda comm: comm.Create_intercomm(0, comm, 1), "Create_intercomm is not supported by the simulated"),
        (lambda comm: MPI.COMM_SELF.isend("x", 0) and pkl5.Intracomm(MPI.COMM_SELF).recv(), "MPI_ERR_TYPE"),
        (lambda comm: MPI.COMM_SELF.Isend(b"", 0) and pkl5.Intracomm(MPI.COMM_SELF).mprobe(), "not sent by mpi4py"),
        (lambda comm: comm.bcast(1, root=2), "the root is 2"),
        (lambda comm: comm.gather(1, root=-1), "the root is -1"),
        (lambda comm: comm.scatter([1], root=comm.rank), "expecting 2 items, got 1"),
        (lambda comm: comm.alltoall([1]), "expecting 2 items, got 1"),
        (lambda comm: comm.allgather(1) if comm.rank else comm.alltoall(None), "pkl5.allgather"),
        (lambda comm: pkl5.Intracomm(MPI.COMM_NULL).mprobe(0), "MPI.COMM_NULL"),
        (lambda comm: comm.send(1, 2), "the destination is 2"),
    ],
)
def test_what_is_refused(wrong: Callable[[Any], Any], said: str) -> None:
    with pytest.raises(fw.mpi.ProgramError, match=said):
        fw.mpi.run(lambda comm: wrong(pkl5.Intracomm(comm)), ranks=2)
