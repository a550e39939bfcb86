"""Files that simulated ranks open together: what is where in them, and when."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import flitwork as fw
import numpy as np
import pytest
from flitwork_mpi.programs import MPI

NEW = MPI.MODE_CREATE | MPI.MODE_RDWR


def test_each_rank_writes_its_part_and_reads_that_of_the_next(tmp_path: Path) -> None:
    def program(comm: Any) -> Any:
        file = MPI.File.Open(comm, tmp_path / "parts", NEW)
        file.Write_at_all(comm.rank * 24, np.full(3, comm.rank + 0.5))
        got, status, right = np.zeros(3), MPI.Status(), (comm.rank + 1) % comm.size
        file.Read_at_all(right * 24, got, status)
        assert (file.size, file.amode, file.group_size) == (comm.size * 24, NEW, comm.size)
        assert (file.group_rank, status.Get_count(MPI.DOUBLE)) == (comm.rank, 3)
        file.Close()
        assert not file and file == MPI.FILE_NULL
        return got.tolist()

    found = fw.mpi.run(program, ranks=3)
    assert found.returns == [[rank + 0.5] * 3 for rank in (1, 2, 0)] and found.file_bytes == 2 * 3 * 24
    assert np.fromfile(tmp_path / "parts").tolist() == [0.5] * 3 + [1.5] * 3 + [2.5] * 3


def test_a_view_shows_every_other_piece(tmp_path: Path) -> None:
    """As in mpi4py's tutorial: rank r has items r, r + P, r + 2P of a file."""

    def program(comm: Any) -> Any:
        file = MPI.File.Open(comm, tmp_path / "pieces", NEW)
        kind = MPI.INT.Create_vector(4, 1, comm.size).Create_resized(0, 4 * 4 * comm.size).Commit()
        file.Set_view(comm.rank * 4, MPI.INT, kind)
        kind.Free()
        file.Write_all(np.arange(6, dtype="i4") * 10 + comm.rank)
        where = file.Get_position(), file.Get_byte_offset(5), file.Get_view()[0]
        got = np.zeros(4, "i4")
        file.Read_at(1, got)
        file.Seek(-2, MPI.SEEK_CUR)
        file.Read(got[:1])
        file.Seek(0, MPI.SEEK_END)
        end = file.Get_position()
        file.Close()
        return where, got.tolist(), end

    found = fw.mpi.run(program, ranks=3).returns
    for rank, (where, got, end) in enumerate(found):
        assert where == (6, rank * 4 + 5 * 12, rank * 4) and end == 6
        assert got == [40 + rank, 20 + rank, 30 + rank, 40 + rank]
    pieces = np.fromfile(tmp_path / "pieces", "i4").reshape(6, 3)
    assert pieces.tolist() == [[10 * i, 10 * i + 1, 10 * i + 2] for i in range(6)]


def test_blocks_of_a_matrix_come_together(tmp_path: Path) -> None:
    def program(comm: Any) -> None:
        row, column = divmod(comm.rank, 2)
        kind = MPI.DOUBLE.Create_subarray([4, 6], [2, 3], [2 * row, 3 * column]).Commit()
        file = MPI.File.Open(comm, tmp_path / "matrix", MPI.MODE_CREATE | MPI.MODE_WRONLY)
        file.Set_view(0, MPI.DOUBLE, kind)
        file.Write_all(np.arange(24.0).reshape(4, 6)[2 * row : 2 * row + 2, 3 * column : 3 * column + 3].copy())
        file.Close()

    fw.mpi.run(program, ranks=4)
    assert np.fromfile(tmp_path / "matrix").tolist() == [*range(24)]


def test_a_common_pointer_gives_every_place_once_and_ordered_ones_by_rank(tmp_path: Path) -> None:
    def program(comm: Any) -> Any:
        file = MPI.File.Open(comm, tmp_path / "log", NEW)
        file.Write_ordered(f"{comm.rank}".encode() * (comm.rank + 1))
        comm.Barrier()
        at = file.Get_position_shared()
        comm.Barrier()
        for _ in range(3):
            file.Write_shared(b"abc"[comm.rank : comm.rank + 1])
        file.Seek_shared(0)
        mine = bytearray(comm.rank + 1)
        file.Read_ordered(mine)
        file.Close()
        return at, bytes(mine)

    assert fw.mpi.run(program, ranks=3).returns == [(6, b"0"), (6, b"11"), (6, b"222")]
    text = (tmp_path / "log").read_bytes()
    assert text.startswith(b"011222") and sorted(text[6:]) == sorted(b"aaabbbccc")


def test_requests_and_calls_in_two_parts(tmp_path: Path) -> None:
    def program(comm: Any) -> Any:
        file, status = MPI.File.Open(comm, tmp_path / "both", NEW), MPI.Status()
        MPI.Request.Waitall([file.Iwrite_at(2 * comm.rank, b"xy"), file.Iwrite_at(2 * comm.rank + 1, b"z")])
        file.Sync()
        comm.Barrier()
        got = bytearray(6)
        file.Iread(got).Wait(status)
        file.Read_at_all_begin(0, got[:1])
        file.Read_at_all_end(got, status)
        file.Close()
        return bytes(got), status.count

    assert fw.mpi.run(program, ranks=2).returns == [(b"xzxz\0\0", 1)] * 2


def test_what_lies_behind_the_end_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "short").write_bytes(b"12345")

    def program(comm: Any) -> Any:
        file, status, got = MPI.File.Open(comm, tmp_path / "short"), MPI.Status(), bytearray(b"........")
        file.Seek(3)
        file.Read(got, status)
        return bytes(got), status.count, file.Get_position()

    # It is open at the end of the program, and closed then.
    assert fw.mpi.run(program, ranks=2).returns == [(b"45......", 2, 5)] * 2


def test_sizes_appending_and_files_that_go(tmp_path: Path) -> None:
    path = tmp_path / "some"

    def program(comm: Any) -> Any:
        file = MPI.File.Open(comm, path, NEW | MPI.MODE_EXCL)
        file.Preallocate(10)
        file.Set_size(4)
        file.Close()
        more = MPI.File.Open(comm, path, MPI.MODE_WRONLY | MPI.MODE_APPEND | MPI.MODE_DELETE_ON_CLOSE)
        at, size = more.Get_position(), more.Get_size()
        more.Write_ordered(b"!")
        comm.Barrier()
        text = path.read_bytes()
        more.Close()
        return at, size, text, path.exists()

    assert fw.mpi.run(program, ranks=2).returns[1] == (4, 4, b"\0\0\0\0!!", False)


def test_files_of_one_rank_and_of_the_folder_that_a_rank_is_in(tmp_path: Path) -> None:
    def program(comm: Any) -> Any:
        folder = tmp_path / f"of{comm.rank}"
        folder.mkdir()
        os.chdir(folder)
        file = MPI.File.Open(MPI.COMM_SELF, "own", NEW)
        comm.Barrier()
        file.Write(str(comm.rank).encode())
        file.Close()
        MPI.File.Delete("own") if comm.rank == 0 else None

    fw.mpi.run(program, ranks=3)
    assert [one.read_text() for one in sorted(tmp_path.glob("of*/own"))] == ["1", "2"]


def test_pointers_begin_where_the_file_ended_when_it_was_opened(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"12345")

    def program(comm: Any) -> Any:
        file = MPI.File.Open(comm, tmp_path / "log", MPI.MODE_RDWR | MPI.MODE_APPEND)
        if comm.rank == 0:
            file.Write(b"header")
        at = file.Get_position(), file.Get_position_shared()
        file.Set_atomicity(True)
        atomic = file.Get_atomicity()
        file.Set_atomicity(False)
        file.Close()
        return at, atomic

    found = fw.mpi.run(program, ranks=4).returns
    assert found == [((11, 5), True), *[((5, 5), True)] * 3]


def test_copies_and_classes_of_programs_are_the_same_file(tmp_path: Path) -> None:
    class Log(MPI.File):  # type: ignore[misc, name-defined]
        def __init__(self, of: Any, title: str = "") -> None:
            super().__init__(of)

    def program(comm: Any) -> Any:
        file = Log.Open(comm, tmp_path / "log", NEW)
        same = MPI.File(file)
        file.Set_view(comm.rank, MPI.BYTE, MPI.BYTE.Create_resized(0, comm.size))
        request = MPI.Request(file.Iwrite(b"abcd"))
        status = MPI.Status()
        request.Wait(status)
        assert same == file and hash(same) == hash(file) and same.toint() == file.toint()
        at = same.Get_position()
        same.Close()
        return type(file) is Log, at, status.count, bool(file)

    assert fw.mpi.run(program, ranks=2).returns == [(True, 4, 4, False)] * 2
    assert (tmp_path / "log").read_bytes() == b"aabbccdd"


def test_the_end_of_a_view_whose_pieces_do_not_begin_at_0(tmp_path: Path) -> None:
    (tmp_path / "numbers").write_bytes(bytes(48))

    def program(comm: Any) -> Any:
        file = MPI.File.Open(comm, tmp_path / "numbers")
        file.Set_view(0, MPI.INT, MPI.INT.Create_indexed([1], [3]))
        file.Seek(0, MPI.SEEK_END)
        end, status, got = file.Get_position(), MPI.Status(), np.zeros(20, "i4")
        file.Read_at(0, got, status)
        with pytest.raises(MPI.Exception, match="its displacements must increase"):
            file.Set_view(0, MPI.INT, MPI.INT.Create_hindexed([1], [0]).Create_resized(0, 0))
        return end, status.Get_count(MPI.INT)

    assert fw.mpi.run(program, ranks=1).returns == [(9, 9)]


def _open(amode: int = NEW, name: str = "file") -> Any:
    return lambda comm, folder: MPI.File.Open(comm, folder / name, amode)


@pytest.mark.parametrize(
    ("program", "fault"),
    [
        (_open(MPI.MODE_RDONLY, "none"), "ERR_NO_SUCH_FILE: .*none"),
        (_open(NEW | MPI.MODE_EXCL), "ERR_FILE_EXISTS"),
        (_open(MPI.MODE_CREATE), "ERR_AMODE: one of MPI.MODE_RDONLY, MODE_WRONLY and MODE_RDWR is needed, .* has none"),
        (_open(MPI.MODE_RDONLY | MPI.MODE_WRONLY), "has RDONLY and WRONLY"),
        (_open(MPI.MODE_RDONLY | MPI.MODE_CREATE), "goes neither with MODE_CREATE"),
        (_open(MPI.MODE_RDWR | MPI.MODE_SEQUENTIAL), "does not go with MODE_SEQUENTIAL"),
        (_open(MPI.MODE_RDWR, ""), "ERR_BAD_FILE"),
        (lambda comm, folder: MPI.File.Open(comm, folder / str(comm.rank), NEW), "ERR_NOT_SAME"),
        (lambda comm, folder: _open(MPI.MODE_RDONLY)(comm, folder).Write(b"x"), "ERR_READ_ONLY: .*MODE_RDONLY"),
        (lambda comm, folder: _open(MPI.MODE_RDONLY)(comm, folder).Set_size(1), "ERR_READ_ONLY"),
        (lambda comm, folder: _open(MPI.MODE_WRONLY)(comm, folder).Read(bytearray(1)), "ERR_ACCESS: .*MODE_WRONLY"),
        (lambda comm, folder: _open()(comm, folder).Write_at(-1, b"x"), "ERR_ARG: the offset is -1"),
        (lambda comm, folder: _open()(comm, folder).Seek(-1), "the pointer would stand 1 bytes before the view"),
        (lambda comm, folder: _open()(comm, folder).Seek(0, 7), "7 is none of MPI.SEEK_SET"),
        (
            lambda comm, folder: _open()(comm, folder).Set_view(0, MPI.INT, MPI.SHORT),
            "must be a whole number of etype elements",
        ),
        (lambda comm, folder: _open()(comm, folder).Set_view(-8), "the displacement of a view is -8 bytes"),
        (lambda comm, folder: _open()(comm, folder).Set_view(0, datarep="external32"), "'external32' .* not supported"),
        (lambda comm, folder: _open()(comm, folder).Read_all_end(b""), "ERR_OTHER: Read_all_end, but nothing"),
        (lambda comm, folder: MPI.FILE_NULL.Get_size(), "ERR_FILE"),
        (lambda comm, folder: MPI.File.Delete(folder / "none"), "ERR_NO_SUCH_FILE"),
    ],
)
def test_calls_that_make_no_sense_are_refused_by_name(program: Any, fault: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"1234")
    with pytest.raises(fw.mpi.ProgramError, match=fault):
        fw.mpi.run(lambda comm: program(comm, tmp_path), ranks=2)


def test_elements_are_whole_and_sequential_files_have_one_pointer(tmp_path: Path) -> None:
    def program(comm: Any) -> Any:
        file = MPI.File.Open(comm, tmp_path / "words", NEW)
        file.Set_view(0, MPI.INT)
        with pytest.raises(MPI.Exception, match="3 bytes are not a whole number of etype elements of 4 bytes"):
            file.Write(b"abc")
        file.Close()
        tape = MPI.File.Open(comm, tmp_path / "words", MPI.MODE_WRONLY | MPI.MODE_SEQUENTIAL)
        with pytest.raises(MPI.Exception, match="has only the pointer of all ranks"):
            tape.Write(b"abcd")
        tape.Write_ordered(bytes([65 + comm.rank]))
        tape.Set_view(MPI.DISPLACEMENT_CURRENT)
        tape.Write_ordered(bytes([97 + comm.rank]))
        tape.Close()

    fw.mpi.run(program, ranks=2)
    assert (tmp_path / "words").read_bytes() == b"ABab"


def test_runs_without_data_have_no_files(tmp_path: Path) -> None:
    with pytest.raises(fw.mpi.ProgramError, match=r"MPI.File in a run without data is not supported"):
        fw.mpi.run(lambda comm: MPI.File.Open(comm, tmp_path / "x", NEW), ranks=2, data=False)
