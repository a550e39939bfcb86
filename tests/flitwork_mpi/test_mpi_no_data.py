"""Runs without data: buffers stay as they are, lengths travel, and so do objects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import flitwork as fw
import numpy as np
import pytest
from flitwork.cli import app
from flitwork_mpi.programs import MPI
from typer.testing import CliRunner


def everything(comm: Any, count: int) -> dict[str, Any]:
    """Messages and collectives of buffers and of objects, some of a derived datatype."""
    rank, size = comm.rank, comm.size
    right, left = (rank + 1) % size, (rank - 1) % size
    own, room, status = np.full(count, rank + 1.0), np.full(count * size, -1.0), MPI.Status()
    column = MPI.DOUBLE.Create_vector(count // 2, 1, 2).Commit()
    comm.Sendrecv([own, 1, column], right, 5, room, left, 5, status)
    request = comm.Irecv(room, MPI.ANY_SOURCE, 7)
    comm.Send(own, right, 7)
    request.Wait()
    comm.Allgather(own, room)
    comm.Alltoall(np.zeros(count * size), room)
    comm.Alltoallv([np.zeros(size * 3), [r % 3 for r in range(size)]], [room, [rank % 3] * size])
    for root in range(size):
        comm.Bcast(room[:count], root)
        comm.Gather(own, room if rank == root else None, root)
        comm.Scatter(room if rank == root else None, own.copy(), root)
        comm.Reduce(own, room[:count] if rank == root else None, MPI.SUM, root)
    comm.Allreduce(own, room[:count])
    comm.Allreduce(MPI.IN_PLACE, room[:count], MPI.MAX)
    comm.Reduce_scatter_block(room, own.copy())
    comm.Reduce_scatter(room, own.copy())
    comm.Scan(own, room[:count])
    comm.Iallreduce(own, room[:count]).Wait()
    half = comm.Split(rank % 2)
    half.Barrier()
    words = comm.allreduce(f"{rank} ", op=lambda a, b: a + b)
    comm.Barrier()
    got = (status.Get_source(), status.Get_tag(), status.Get_count(MPI.DOUBLE))
    return {"room": room, "status": got, "half": half.size, "words": words, "time": MPI.Wtime()}


@pytest.mark.parametrize(("ranks", "count"), [(2, 4), (5, 2000), (8, 40)])
def test_the_same_messages_go_at_the_same_times(ranks: int, count: int) -> None:
    with_data, without = (fw.mpi.run(everything, count, ranks=ranks, data=data) for data in (True, False))
    assert without.result.digest == with_data.result.digest
    assert (without.time_ns, without.messages, without.bytes) == (
        with_data.time_ns,
        with_data.messages,
        with_data.bytes,
    )
    for ours, theirs in zip(without.returns, with_data.returns, strict=True):
        assert (ours.pop("room") == -1).all() and not (theirs.pop("room") == -1).all()
        assert ours == theirs


def test_buffers_need_no_memory() -> None:
    """A message of 2 GB from no buffer at all."""

    def program(comm: Any) -> int:
        status = MPI.Status()
        if comm.rank == 0:
            comm.Send([None, 2**31, MPI.BYTE], 1)
        else:
            comm.Recv([None, 2**31, MPI.BYTE], 0, status=status)
        count: int = status.Get_count(MPI.BYTE)
        return count

    net = fw.Torus(2, 2, units=fw.Units(flit_bytes=2**19))
    assert fw.mpi.run(program, ranks=2, network=net, data=False).returns[1] == 2**31
    with pytest.raises(fw.mpi.ProgramError, match="the buffer has 0 bytes"):
        fw.mpi.run(program, ranks=2, network=net)


def test_what_does_not_fit_is_still_refused() -> None:
    def program(comm: Any, count: int, kind: str) -> None:
        if comm.rank == 0:
            comm.Send(np.zeros(4), 1)
        else:
            comm.Recv(np.zeros(count, kind), 0)

    with pytest.raises(fw.mpi.ProgramError, match="32 bytes, and room for 24"):
        fw.mpi.run(program, 3, "d", ranks=2, data=False)
    with pytest.raises(fw.mpi.ProgramError, match="float64 elements was received as"):
        fw.mpi.run(program, 8, "i", ranks=2, data=False)


def test_option_of_the_command_line(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from mpi4py import MPI\nimport numpy as np\nroom = np.zeros(3)\n"
        "MPI.COMM_WORLD.Allreduce(np.ones(3), room)\nprint('sum', room.sum())\n"
    )
    for option, total in (([], "6.0"), (["--no-data"], "0.0")):
        done = CliRunner().invoke(app, ["mpi", "simulate", "-n", "2", "-q", *option, str(script)])
        assert done.exit_code == 0 and f"[0] sum {total}" in done.output, done.output


class OnGpu:
    """An array of CuPy or Numba: its memory is at an address that this process must not read."""

    def __init__(self, shape: tuple[int, ...], typestr: str, strides: tuple[int, ...] | None = None) -> None:
        self.__cuda_array_interface__ = {
            "shape": shape, "typestr": typestr, "strides": strides, "data": (64, False), "version": 3,
        }  # fmt: skip


class ByDlpack:
    """A tensor on another device, which only DLPack tells of."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, 0)

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__()


@pytest.mark.parametrize(
    "made",
    [lambda n: OnGpu((n,), "<f8"), lambda n: OnGpu((2, n // 2), "<f8", (8, 16)), lambda n: ByDlpack(np.zeros(n))],
    ids=["cuda", "cuda, first index fastest", "dlpack"],
)
def test_buffers_of_a_gpu_are_taken_by_shape_and_type(made: Any) -> None:
    def program(comm: Any, buffer: Any) -> list[Any]:
        size, rank, status = comm.size, comm.rank, MPI.Status()
        comm.Sendrecv(buffer(6), 1 - rank, 0, buffer(8), 1 - rank, 0, status)
        comm.Allreduce(buffer(6), buffer(6))
        comm.Alltoall(buffer(4 * size), buffer(4 * size))
        comm.Alltoallv([buffer(4), [1, 3]], [buffer(6), [1, 1] if rank == 0 else [3, 3]])
        comm.Bcast([buffer(6), 4, MPI.DOUBLE], 0)
        comm.Allgather(MPI.IN_PLACE, buffer(4 * size))
        return [status.Get_count(MPI.DOUBLE), MPI.Wtime()]

    def arrays(program_: Any) -> Any:
        return fw.mpi.run(program_, np.zeros, ranks=2, data=False)

    ours = fw.mpi.run(program, made, ranks=2, data=False)
    assert ours.returns == arrays(program).returns and ours.returns[0][0] == 6
    with pytest.raises(fw.mpi.ProgramError, match=r"memory of (a GPU|another device).*--no-data"):
        fw.mpi.run(program, made, ranks=2)


def test_buffers_of_a_gpu_with_gaps_or_of_another_type_are_refused() -> None:
    def program(comm: Any, sent: Any) -> None:
        if comm.rank == 0:
            comm.Send(sent, 1)
        else:
            comm.Recv(np.zeros(4, "i4"), 0)

    with pytest.raises(fw.mpi.ProgramError, match="not contiguous"):
        fw.mpi.run(program, OnGpu((4,), "<f8", (16,)), ranks=2, data=False)
    with pytest.raises(fw.mpi.ProgramError, match="float64 elements was received as"):
        fw.mpi.run(program, OnGpu((2,), "<f8"), ranks=2, data=False)
