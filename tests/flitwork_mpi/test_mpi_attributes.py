"""What programs keep at communicators and datatypes, and data that they pack by hand."""

from __future__ import annotations

from typing import Any

import flitwork as fw
import numpy as np
import pytest
from flitwork_mpi.programs import MPI


@pytest.mark.parametrize("kind", ["communicator", "datatype"])
def test_attributes_follow_copies_as_their_keys_say(kind: str) -> None:
    def program(comm: Any) -> Any:
        holder: Any = comm.Dup() if kind == "communicator" else MPI.INT.Dup()
        gone: list[Any] = []

        def copied(of: Any, key: int, value: Any) -> Any:
            assert of == holder
            return NotImplemented if value == "not this" else f"copy of {value}"

        def deleted(of: Any, key: int, value: Any) -> None:
            gone.append(value)

        plain, kept, made = (
            holder.Create_keyval(),
            holder.Create_keyval(copy_fn=True),
            holder.Create_keyval(copied, deleted),
        )
        assert len({plain, kept, made, MPI.KEYVAL_INVALID}) == 4
        for key in (plain, kept, made):
            assert holder.Get_attr(key) is None
            holder.Set_attr(key, f"of {comm.rank}")
        copy = holder.Dup()
        found = [copy.Get_attr(key) for key in (plain, kept, made)]
        holder.Set_attr(made, "not this")
        assert holder.Dup().Get_attr(made) is None and gone == [f"of {comm.rank}"]
        holder.Delete_attr(made)
        copy.Free()
        assert gone[1:] == ["not this", f"copy of of {comm.rank}"] and holder.Get_attr(made) is None
        # A key that is given up is of no use; what it keeps stays until its holder goes.
        holder.Set_attr(made, "last")
        assert holder.Free_keyval(made) == MPI.KEYVAL_INVALID
        for use, *arguments in ((holder.Set_attr, made, 1), (holder.Get_attr, made), (holder.Free_keyval, made)):
            with pytest.raises(MPI.Exception, match="MPI_ERR_KEYVAL"):
                use(*arguments)
        holder.Free()
        assert gone[-1] == "last"
        return found

    assert fw.mpi.run(program, ranks=2).returns == [[None, f"of {rank}", f"copy of of {rank}"] for rank in range(2)]


def test_what_functions_of_keys_raise_is_printed_and_the_call_has_failed(capsys: pytest.CaptureFixture[str]) -> None:
    def wrong(*_: Any) -> None:
        raise ZeroDivisionError("of mine")

    def program(comm: Any) -> None:
        for key, call in ((comm.Create_keyval(wrong), comm.Dup), (comm.Create_keyval(None, wrong), comm.Free)):
            comm.Set_attr(key, 1)
            with pytest.raises(MPI.Exception, match=r"MPI_ERR_OTHER: a function of key .* raised ZeroDivisionError"):
                call()
            comm.Delete_attr(key)

    fw.mpi.run(lambda comm: program(comm.Dup()), ranks=1)
    assert capsys.readouterr().err.count("ZeroDivisionError: of mine") == 2


def test_each_rank_keeps_its_own() -> None:
    def program(comm: Any) -> Any:
        key = comm.Create_keyval()
        comm.Set_attr(key, comm.rank)
        MPI.INT.Set_attr(MPI.INT.Create_keyval(), comm.rank)
        comm.Barrier()
        assert comm.Get_attr(MPI.TAG_UB) > 2**20 and comm.Get_attr(MPI.WTIME_IS_GLOBAL)
        assert comm.Get_attr(MPI.UNIVERSE_SIZE) == comm.size and comm.Get_attr(MPI.APPNUM) is None
        for use, *given in ((comm.Set_attr, MPI.TAG_UB, 3), (comm.Delete_attr, MPI.KEYVAL_INVALID)):
            with pytest.raises(MPI.Exception, match="MPI_ERR_KEYVAL"):
                use(*given)
        return comm.Get_attr(key)

    assert fw.mpi.run(program, ranks=3).returns == [0, 1, 2]


def test_attributes_of_the_rank_itself_go_when_it_is_through() -> None:
    gone = []

    def program(comm: Any) -> None:
        key = MPI.COMM_SELF.Create_keyval(delete_fn=lambda of, key, value: gone.append(value))
        MPI.COMM_SELF.Set_attr(key, comm.rank)
        MPI.Finalize()
        MPI.Finalize()

    fw.mpi.run(program, ranks=2)
    assert sorted(gone) == [0, 1]


def test_packed_by_hand_and_sent() -> None:
    def program(comm: Any) -> Any:
        column = MPI.DOUBLE.Create_vector(3, 1, 3)
        packed = bytearray(MPI.INT.Pack_size(2, comm) + column.Pack_size(1, comm))
        numbers, matrix = np.array([comm.rank, 7], dtype="i"), np.arange(9.0).reshape(3, 3)
        if comm.rank == 0:
            at = MPI.INT.Pack(numbers, packed, 0, comm)
            assert column.Pack(matrix, packed, at, comm) == len(packed) == 32
            comm.Send([packed, MPI.PACKED], 1)
            return None
        comm.Recv([packed, MPI.PACKED], 0)
        numbers[:], matrix[:] = -1, -1
        at = MPI.INT.Unpack(packed, 0, numbers, comm)
        assert column.Unpack(packed, at, matrix, comm) == 32
        return numbers.tolist(), matrix.tolist()

    numbers, matrix = fw.mpi.run(program, ranks=2).returns[1]
    assert numbers == [0, 7] and matrix == [[0, -1, -1], [3, -1, -1], [6, -1, -1]]


@pytest.mark.parametrize(("kind", "code"), [(MPI.INT, ">i4"), (MPI.DOUBLE, ">f8"), (MPI.C_DOUBLE_COMPLEX, ">c16")])
def test_packed_in_the_order_of_bytes_that_machines_share(kind: Any, code: str) -> None:
    given = np.arange(3).astype(code.replace(">", "="))
    packed = np.zeros(kind.Pack_external_size("external32", 3), np.uint8)
    assert kind.Pack_external("external32", given, packed, 0) == packed.size
    assert packed.tobytes() == given.astype(code).tobytes()
    back = np.zeros_like(given)
    assert kind.Unpack_external("external32", packed, 0, back) == packed.size and back.tolist() == given.tolist()


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (lambda data: MPI.INT.Pack(data, bytearray(7), 0, MPI.COMM_SELF), "8 bytes from byte 0 on, in a buffer of 7"),
        (lambda data: MPI.INT.Unpack(bytearray(8), 1, data, MPI.COMM_SELF), "8 bytes from byte 1 on, in a buffer of 8"),
        (lambda data: MPI.INT.Pack(data, bytearray(9), -1, MPI.COMM_SELF), "from byte -1 on"),
        (lambda data: MPI.INT.Pack(data, bytes(8), 0, MPI.COMM_SELF), "cannot be written to"),
        (lambda data: MPI.INT.Pack_external("native", data, bytearray(8), 0), "'native'.*external32"),
        (lambda data: MPI.DOUBLE_INT.Pack_external("external32", bytearray(16), bytearray(16), 0), "several types"),
    ],
)
def test_what_cannot_be_packed(wrong: Any, text: str) -> None:
    with pytest.raises(MPI.Exception, match=text):
        wrong(np.arange(2, dtype="i"))
