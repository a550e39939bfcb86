"""The calls that read and write an ``MPI.File``: by an offset, by the rank's own pointer, by that of all ranks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from flitwork_mpi.programs import buffer
from flitwork_mpi.programs.errors import fault, not_supported
from flitwork_mpi.programs.file_view import View
from flitwork_mpi.programs.no_data import Absent
from flitwork_mpi.programs.request import Request
from flitwork_mpi.programs.shared_file import MODE_RDONLY, MODE_SEQUENTIAL, MODE_WRONLY, SharedFile
from flitwork_mpi.programs.status import ANY_SOURCE, ANY_TAG, Status
from flitwork_mpi.programs.world import me

#: Where an access begins, when it is known how many bytes it is of [bytes that the view shows].
Where = Callable[[int], int]


class FileAccess:
    """Reads and writes, all done when they are called."""

    _file: SharedFile
    _view: View
    _position: int
    _split: tuple[str, int] | None
    _usable: Callable[[], SharedFile]
    _meet: Callable[..., Any]
    _rank_here: Callable[[], int]

    # By an offset, in elements of the etype.

    def Read_at(self, offset: int, buf: Any, status: Status | None = None) -> None:
        """Reads from an offset on."""
        _tell(status, self._read(buf, self._explicit(offset)))

    def Write_at(self, offset: int, buf: Any, status: Status | None = None) -> None:
        """Writes from an offset on."""
        _tell(status, self._write(buf, self._explicit(offset)))

    def Read_at_all(self, offset: int, buf: Any, status: Status | None = None) -> None:
        """The same of all ranks; each goes on when all have read."""
        self.Read_at(offset, buf, status)
        self._meet("File.Read_at_all")

    def Write_at_all(self, offset: int, buf: Any, status: Status | None = None) -> None:
        """The same of all ranks; each goes on when all have written."""
        self.Write_at(offset, buf, status)
        self._meet("File.Write_at_all")

    def Iread_at(self, offset: int, buf: Any) -> Request:
        """Reads from an offset on."""
        return Request.of_access(self._read(buf, self._explicit(offset)))

    def Iwrite_at(self, offset: int, buf: Any) -> Request:
        """Writes from an offset on."""
        return Request.of_access(self._write(buf, self._explicit(offset)))

    Iread_at_all, Iwrite_at_all = Iread_at, Iwrite_at

    # By the rank's own pointer.

    def Read(self, buf: Any, status: Status | None = None) -> None:
        """Reads where the pointer stands."""
        _tell(status, self._read_on(buf))

    def Write(self, buf: Any, status: Status | None = None) -> None:
        """Writes where the pointer stands."""
        _tell(status, self._write_on(buf))

    def Read_all(self, buf: Any, status: Status | None = None) -> None:
        """The same of all ranks; each goes on when all have read."""
        self.Read(buf, status)
        self._meet("File.Read_all")

    def Write_all(self, buf: Any, status: Status | None = None) -> None:
        """The same of all ranks; each goes on when all have written."""
        self.Write(buf, status)
        self._meet("File.Write_all")

    def Iread(self, buf: Any) -> Request:
        """Reads where the pointer stands."""
        return Request.of_access(self._read_on(buf))

    def Iwrite(self, buf: Any) -> Request:
        """Writes where the pointer stands."""
        return Request.of_access(self._write_on(buf))

    Iread_all, Iwrite_all = Iread, Iwrite

    # By the pointer that all ranks share.

    def Read_shared(self, buf: Any, status: Status | None = None) -> None:
        """Reads where the pointer of all ranks stands."""
        _tell(status, self._read(buf, self._advance_shared))

    def Write_shared(self, buf: Any, status: Status | None = None) -> None:
        """Writes where the pointer of all ranks stands."""
        _tell(status, self._write(buf, self._advance_shared))

    def Iread_shared(self, buf: Any) -> Request:
        """Reads where the pointer of all ranks stands."""
        return Request.of_access(self._read(buf, self._advance_shared))

    def Iwrite_shared(self, buf: Any) -> Request:
        """Writes where the pointer of all ranks stands."""
        return Request.of_access(self._write(buf, self._advance_shared))

    def Read_ordered(self, buf: Any, status: Status | None = None) -> None:
        """All ranks read, one behind the other in the order of ranks."""
        _tell(status, self._read(buf, self._in_turn("File.Read_ordered")))

    def Write_ordered(self, buf: Any, status: Status | None = None) -> None:
        """All ranks write, one behind the other in the order of ranks."""
        _tell(status, self._write(buf, self._in_turn("File.Write_ordered")))

    # Begun and ended.

    def Read_at_all_begin(self, offset: int, buf: Any) -> None:
        """Begins :meth:`Read_at_all`."""
        self._begin_split("Read_at_all", lambda: self._read(buf, self._explicit(offset)))

    def Write_at_all_begin(self, offset: int, buf: Any) -> None:
        """Begins :meth:`Write_at_all`."""
        self._begin_split("Write_at_all", lambda: self._write(buf, self._explicit(offset)))

    def Read_all_begin(self, buf: Any) -> None:
        """Begins :meth:`Read_all`."""
        self._begin_split("Read_all", lambda: self._read_on(buf))

    def Write_all_begin(self, buf: Any) -> None:
        """Begins :meth:`Write_all`."""
        self._begin_split("Write_all", lambda: self._write_on(buf))

    def Read_ordered_begin(self, buf: Any) -> None:
        """Begins :meth:`Read_ordered`."""
        self._begin_split("Read_ordered", lambda: self._read(buf, self._in_turn("File.Read_ordered_begin")))

    def Write_ordered_begin(self, buf: Any) -> None:
        """Begins :meth:`Write_ordered`."""
        self._begin_split("Write_ordered", lambda: self._write(buf, self._in_turn("File.Write_ordered_begin")))

    def Read_at_all_end(self, buf: Any, status: Status | None = None) -> None:
        """Ends :meth:`Read_at_all`."""
        self._end_split("Read_at_all", status)

    def Write_at_all_end(self, buf: Any, status: Status | None = None) -> None:
        """Ends :meth:`Write_at_all`."""
        self._end_split("Write_at_all", status)

    def Read_all_end(self, buf: Any, status: Status | None = None) -> None:
        """Ends :meth:`Read_all`."""
        self._end_split("Read_all", status)

    def Write_all_end(self, buf: Any, status: Status | None = None) -> None:
        """Ends :meth:`Write_all`."""
        self._end_split("Write_all", status)

    def Read_ordered_end(self, buf: Any, status: Status | None = None) -> None:
        """Ends :meth:`Read_ordered`."""
        self._end_split("Read_ordered", status)

    def Write_ordered_end(self, buf: Any, status: Status | None = None) -> None:
        """Ends :meth:`Write_ordered`."""
        self._end_split("Write_ordered", status)

    def _begin_split(self, name: str, moves: Callable[[], int]) -> None:
        self._usable()
        if self._split is not None:
            raise fault("OTHER", f"{name}_begin before the end of {self._split[0]}_begin")
        self._split = name, moves()

    def _end_split(self, name: str, status: Status | None) -> None:
        self._usable()
        if self._split is None or self._split[0] != name:
            begun = "nothing was begun" if self._split is None else f"{self._split[0]}_begin was begun"
            raise fault("OTHER", f"{name}_end, but {begun}")
        nbytes, self._split = self._split[1], None
        _tell(status, nbytes)
        self._meet(f"File.{name}_end")

    # Where an access begins.

    def _explicit(self, offset: int) -> Where:
        self._refuse_sequential()
        if offset < 0:
            raise fault("ARG", f"the offset is {offset}, and at least 0 is allowed")
        return lambda nbytes: offset * self._view.etype.size

    def _individual(self, nbytes: int) -> int:
        self._refuse_sequential()
        return self._position

    def _advance_shared(self, nbytes: int) -> int:
        """Where the pointer of all ranks stands; it goes on."""
        shared = self._usable()
        begin = shared.pointer
        shared.pointer = begin + nbytes
        return begin

    def _in_turn(self, name: str) -> Where:
        def where(nbytes: int) -> int:
            given: list[int]
            given, call = self._meet(name, nbytes)
            begin = self._usable().turn(call, sum(given), len(given))
            return begin + sum(given[: self._rank_here()])

        return where

    def _refuse_sequential(self) -> None:
        if self._usable().amode & MODE_SEQUENTIAL:
            raise fault("UNSUPPORTED_OPERATION", "a file of MPI.MODE_SEQUENTIAL has only the pointer of all ranks")

    # Reading and writing.

    def _read_on(self, buf: Any) -> int:
        nbytes = self._read(buf, self._individual)
        self._position += nbytes
        return nbytes

    def _write_on(self, buf: Any) -> int:
        nbytes = self._write(buf, self._individual)
        self._position += nbytes
        return nbytes

    def _read(self, buf: Any, where: Where) -> int:
        shared = self._usable()
        if shared.amode & MODE_WRONLY:
            raise fault("ACCESS", f"{shared.path} was opened with MPI.MODE_WRONLY: it cannot be read")
        into = buffer.room(buf)
        nbytes = self._whole(into.nbytes)
        found = shared.read(self._view.runs(where(nbytes), nbytes))
        into.unpack(np.frombuffer(found, np.uint8))
        me().world.file_bytes += len(found)
        return len(found)

    def _write(self, buf: Any, where: Where) -> int:
        shared = self._usable()
        if shared.amode & MODE_RDONLY:
            raise fault("READ_ONLY", f"{shared.path} was opened with MPI.MODE_RDONLY: it cannot be written")
        data = buffer.message(buf).pack()
        if isinstance(data, Absent):
            raise not_supported("MPI.File in a run without data")
        nbytes = self._whole(data.size)
        shared.write(self._view.runs(where(nbytes), nbytes), memoryview(data))
        me().world.file_bytes += nbytes
        return nbytes

    def _whole(self, nbytes: int) -> int:
        size = self._view.etype.size
        if nbytes % size:
            raise fault("ARG", f"{nbytes} bytes are not a whole number of etype elements of {size} bytes")
        return nbytes


def _tell(status: Status | None, nbytes: int) -> None:
    if status is not None:
        status.set(ANY_SOURCE, ANY_TAG, nbytes)
