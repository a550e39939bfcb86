"""An open file of several ranks: it is opened once, as all ranks run in one process."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Callable, Iterator

from flitwork_mpi.programs.errors import Exception_, fault

_NAMES = "CREATE RDONLY WRONLY RDWR DELETE_ON_CLOSE UNIQUE_OPEN EXCL APPEND SEQUENTIAL"
#: How a file is opened, a bit each, by the ends of MPI's names.
MODES = {name: 1 << bit for bit, name in enumerate(_NAMES.split())}
MODE_CREATE, MODE_RDONLY, MODE_WRONLY, MODE_RDWR, MODE_DELETE_ON_CLOSE, _, MODE_EXCL, MODE_APPEND, MODE_SEQUENTIAL = (
    MODES.values()
)
#: What the system says, as classes of MPI's errors.
_CLASSES = {
    errno.ENOENT: "NO_SUCH_FILE",
    errno.EEXIST: "FILE_EXISTS",
    errno.EACCES: "ACCESS",
    errno.EPERM: "ACCESS",
    errno.EROFS: "READ_ONLY",
    errno.ENOSPC: "NO_SPACE",
    errno.ENAMETOOLONG: "BAD_FILE",
    errno.EISDIR: "BAD_FILE",
    errno.ENOTDIR: "BAD_FILE",
}


def of_system(error: OSError) -> Exception_:
    """An error of the system as one of MPI."""
    return fault(_CLASSES.get(error.errno or 0, "IO"), str(error))


class SharedFile:
    """A file, the pointer that all its ranks share, and how many ranks have it open."""

    def __init__(self, path: str, amode: int, ranks: int) -> None:
        _check(amode)
        self.path, self.amode, self.users = path, amode, ranks
        #: Ordered accesses under way: where each began, and how many ranks have not asked yet.
        self._turns: dict[int, list[int]] = {}
        self._file = io.FileIO(path, _mode(amode), opener=_opener(amode))
        #: Where the pointers of ranks begin, and where the pointer that all share stands [bytes that the view shows].
        self.begin = self.pointer = self.size() if amode & MODE_APPEND else 0

    def size(self) -> int:
        """Length of the file [bytes]."""
        return os.fstat(self._file.fileno()).st_size

    def resize(self, nbytes: int) -> None:
        """Cuts it off, or adds zeros."""
        try:
            self._file.truncate(nbytes)
        except OSError as error:
            raise of_system(error) from None

    def turn(self, call: int, nbytes: int, ranks: int) -> int:
        """Where an ordered access of all ranks begins; the first that asks moves the pointer behind it."""
        if call not in self._turns:
            self._turns[call] = [self.pointer, ranks]
            self.pointer += nbytes
        found = self._turns[call]
        found[1] -= 1
        if not found[1]:
            del self._turns[call]
        return found[0]

    def read(self, runs: Iterator[tuple[int, int]]) -> bytearray:
        """The bytes of some runs, as far as the file has them."""
        found = bytearray()
        try:
            for place, length in runs:
                self._file.seek(place)
                wanted = len(found) + length
                while len(found) < wanted:
                    part = self._file.read(wanted - len(found))
                    if not part:
                        return found
                    found += part
        except OSError as error:
            raise of_system(error) from None
        return found

    def write(self, runs: Iterator[tuple[int, int]], data: memoryview) -> None:
        """Puts data into some runs."""
        begin = 0
        try:
            for place, length in runs:
                self._file.seek(place)
                end = begin + length
                while begin < end:
                    begin += self._file.write(data[begin:end])
        except OSError as error:
            raise of_system(error) from None

    def leave(self) -> None:
        """A rank closes it; the last one really."""
        self.users -= 1
        if self.users:
            return
        self._file.close()
        if self.amode & MODE_DELETE_ON_CLOSE:
            try:
                os.unlink(self.path)
            except OSError as error:
                raise of_system(error) from None


def _check(amode: int) -> None:
    ways = [name for name in ("RDONLY", "WRONLY", "RDWR") if amode & MODES[name]]
    if len(ways) != 1:
        one = "one of MPI.MODE_RDONLY, MODE_WRONLY and MODE_RDWR is needed"
        raise fault("AMODE", f"{one}, and the mode {amode} has {' and '.join(ways) or 'none'}")
    if amode & MODE_RDONLY and amode & (MODE_CREATE | MODE_EXCL):
        raise fault("AMODE", "MPI.MODE_RDONLY goes neither with MODE_CREATE nor with MODE_EXCL")
    if amode & MODE_RDWR and amode & MODE_SEQUENTIAL:
        raise fault("AMODE", "MPI.MODE_RDWR does not go with MODE_SEQUENTIAL")


def _mode(amode: int) -> str:
    return "rb" if amode & MODE_RDONLY else "wb" if amode & MODE_WRONLY else "r+b"


def _opener(amode: int) -> Callable[[str, int], int]:
    flags = os.O_RDONLY if amode & MODE_RDONLY else os.O_WRONLY if amode & MODE_WRONLY else os.O_RDWR
    if amode & MODE_CREATE:
        flags |= os.O_CREAT
    if amode & MODE_EXCL:
        flags |= os.O_EXCL
    # What Python's mode would add, such as cutting the file off, is not MPI's.
    return lambda path, _: os.open(path, flags | getattr(os, "O_BINARY", 0), 0o666)
