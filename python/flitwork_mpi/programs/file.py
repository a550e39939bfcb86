"""``MPI.File``: files that all ranks of a communicator open together.

The files are real ones; ranks read and write them in the order in which the simulation comes to their calls. There is
no model of a storage system: an access takes no simulated time. What takes time is that ranks wait for each other, in
collective calls.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from typing_extensions import Self

from flitwork_mpi.programs.channel import new_context
from flitwork_mpi.programs.comm import Comm
from flitwork_mpi.programs.datatype import Datatype
from flitwork_mpi.programs.errhandler import Handled
from flitwork_mpi.programs.errors import Refusing, fault, not_supported
from flitwork_mpi.programs.file_access import FileAccess
from flitwork_mpi.programs.file_view import View, checked_datarep
from flitwork_mpi.programs.group import Group
from flitwork_mpi.programs.handle import Handle
from flitwork_mpi.programs.info import Info
from flitwork_mpi.programs.predefined import NAMED, of_spec
from flitwork_mpi.programs.shared_file import MODE_RDONLY, MODE_SEQUENTIAL, SharedFile, of_system
from flitwork_mpi.programs.world import me

SEEK_SET, SEEK_CUR, SEEK_END = 600, 602, 604
#: In a file of ``MPI.MODE_SEQUENTIAL``: a view begins where the pointer of all ranks stands.
DISPLACEMENT_CURRENT = -54278278
#: Characters of the longest name of a representation of data.
MAX_DATAREP_STRING = 128


class File(FileAccess, Handled, Handle, metaclass=Refusing):
    """A file that the ranks of a communicator have opened.

    Without one, and once it is closed, it is ``MPI.FILE_NULL``; of another one it is the same one again.
    """

    _comm: Comm
    _info: Info
    _at_end: Callable[[], None]
    _atomic = False
    _null = True

    def __new__(cls, of: object = None, *_: Any, **__: Any) -> Self:
        """``MPI.FILE_NULL``, or the same file again, in another class perhaps."""
        made = object.__new__(cls)
        if isinstance(of, File):
            made.__dict__ = of.__dict__
        return made

    def __init__(self, of: File | None = None) -> None:
        if of is not None and not isinstance(of, File):
            raise TypeError(f"expecting a file, not {type(of).__name__}")

    # Opening and closing.

    @classmethod
    def Open(cls, comm: Comm, filename: Any, amode: int = MODE_RDONLY, info: Any = None) -> Self:
        """Opens a file; all ranks of the communicator call, with the same name and mode."""
        process = me()
        if not process.world.carries:
            raise not_supported("MPI.File in a run without data")
        path = os.path.abspath(os.fsdecode(filename))
        gathered, call = comm._agreed("File.Open", (os.path.realpath(path), amode))
        if any(one != gathered[0] for one in gathered):
            raise fault("NOT_SAME", f"ranks open one file in one mode together, but they gave {sorted(set(gathered))}")
        ranks = [*comm._ranks(process)]
        # The constructor of a class of the program is not called.
        made = cls.__new__(cls)
        # Ranks may have communicators of their own with one context.
        key = (comm._context, call, ranks[0])
        made._comm = Comm(ranks, new_context(process.world, (*key, "file")), "a file")
        made._file = made._open_once((*key, "opened"), path, amode)
        made._null, made._info, made._split = False, Info.Create(), None
        made.Set_info(info)
        made._view, made._position = View(), made._file.begin
        made._at_end = made._leave
        process.at_end.append(made._at_end)
        return made

    def _open_once(self, key: tuple[Any, ...], path: str, amode: int) -> SharedFile:
        """What the first rank that comes here has opened; its error is that of all."""
        kept = me().world.store.setdefault("files", {})
        if key not in kept:
            try:
                found: Any = SharedFile(path, amode, self._comm.Get_size())
            except OSError as error:
                found = error
            kept[key] = [found, self._comm.Get_size()]
        kept[key][1] -= 1
        found, left = kept[key]
        if not left:
            del kept[key]
        if isinstance(found, OSError):
            raise of_system(found)
        shared: SharedFile = found
        return shared

    def Close(self) -> None:
        """Closes it, when all ranks do."""
        self._usable()
        self._meet("File.Close")
        me().at_end.remove(self._at_end)
        self._leave()

    Free = Close

    def _leave(self) -> None:
        self._null = True
        self._file.leave()

    @classmethod
    def Delete(cls, filename: Any, info: Any = None) -> None:
        """Removes a file."""
        try:
            os.unlink(os.fsdecode(filename))
        except OSError as error:
            raise of_system(error) from None

    # What it is.

    def Get_size(self) -> int:
        """Length of the file [bytes]."""
        return self._usable().size()

    size = property(Get_size)

    def Set_size(self, size: int) -> None:
        """Cuts it off, or makes it longer by zeros; all ranks call."""
        self._changes_size(size).resize(size)
        self._meet("File.Set_size")

    def Preallocate(self, size: int) -> None:
        """Makes it at least so long; all ranks call."""
        shared = self._changes_size(size)
        if size > shared.size():
            shared.resize(size)
        self._meet("File.Preallocate")

    def _changes_size(self, size: int) -> SharedFile:
        shared = self._usable()
        if size < 0:
            raise fault("ARG", f"the size is {size}, and at least 0 is allowed")
        if shared.amode & MODE_RDONLY:
            raise fault("READ_ONLY", f"{shared.path} was opened with MPI.MODE_RDONLY: its length cannot change")
        return shared

    def Get_amode(self) -> int:
        """The mode in which the file was opened."""
        return self._usable().amode

    amode = property(Get_amode)

    def Get_group(self) -> Group:
        """The group of the ranks that opened the file."""
        self._usable()
        return self._comm.Get_group()

    group = property(Get_group)

    @property
    def group_size(self) -> int:
        """How many ranks."""
        return self.Get_group().Get_size()

    @property
    def group_rank(self) -> int:
        """This rank among them."""
        return self._rank_here()

    def _rank_here(self) -> int:
        self._usable()
        return self._comm.Get_rank()

    def Set_info(self, info: Any) -> None:
        """Keeps hints; a later call adds to them."""
        self._usable()
        self._info.update(info or {})

    def Get_info(self) -> Info:
        """The hints that were kept."""
        self._usable()
        return self._info.Dup()

    info = property(Get_info, Set_info)

    # What a rank sees of it, and where its pointers stand.

    def Set_view(
        self,
        disp: int = 0,
        etype: Any = NAMED["BYTE"],
        filetype: Any = None,
        datarep: str | None = None,
        info: Any = None,
    ) -> None:
        """From now on this rank sees of the file what ``filetype`` shows from byte ``disp`` on; all ranks call."""
        shared = self._usable()
        checked_datarep(datarep)
        if shared.amode & MODE_SEQUENTIAL:
            self._meet("File.Set_view")
            disp = self._view.place(shared.pointer) if disp == DISPLACEMENT_CURRENT else disp
        self._view = View(disp, of_spec(etype), None if filetype is None else of_spec(filetype))
        self._position = 0
        self.Set_info(info)
        self._meet("File.Set_view")
        # Behind the wait, so that no rank has begun to use it.
        shared.pointer = 0
        self._meet("File.Set_view")

    def Get_view(self) -> tuple[int, Datatype, Datatype, str]:
        """Displacement [bytes], etype, filetype, and how data are represented."""
        self._usable()
        view = self._view
        kinds = (kind if kind.predefined else kind.again() for kind in (view.etype, view.filetype))
        return view.disp, *kinds, "native"  # type: ignore[return-value]

    def Seek(self, offset: int, whence: int = SEEK_SET) -> None:
        """Moves the rank's own pointer, by elements of the etype."""
        self._refuse_sequential()
        self._position = self._sought(offset, whence, self._position)

    def Get_position(self) -> int:
        """Where the rank's own pointer stands, in elements of the etype."""
        self._refuse_sequential()
        return self._position // self._view.etype.size

    def Seek_shared(self, offset: int, whence: int = SEEK_SET) -> None:
        """Moves the pointer of all ranks, by elements of the etype; all ranks call."""
        shared = self._usable()
        gathered, _ = self._meet("File.Seek_shared", (offset, whence))
        if any(one != gathered[0] for one in gathered):
            raise fault("NOT_SAME", f"ranks move their common pointer together, but they gave {sorted(set(gathered))}")
        found = self._sought(offset, whence, shared.pointer)
        # All have seen where it was.
        self._meet("File.Seek_shared")
        shared.pointer = found

    def Get_position_shared(self) -> int:
        """Where the pointer of all ranks stands, in elements of the etype."""
        return self._usable().pointer // self._view.etype.size

    def _sought(self, offset: int, whence: int, now: int) -> int:
        ends = {SEEK_SET: 0, SEEK_CUR: now, SEEK_END: self._view.position(self._usable().size())}
        if whence not in ends:
            raise fault("ARG", f"{whence} is none of MPI.SEEK_SET, SEEK_CUR and SEEK_END")
        found: int = ends[whence] + offset * self._view.etype.size
        if found < 0:
            raise fault("ARG", f"the pointer would stand {-found} bytes before the view")
        return found

    def Get_byte_offset(self, offset: int) -> int:
        """The byte of the file at an offset of the view."""
        self._refuse_sequential()
        if offset < 0:
            raise fault("ARG", f"the offset is {offset}, and at least 0 is allowed")
        return self._view.place(offset * self._view.etype.size)

    def Get_type_extent(self, datatype: Any) -> int:
        """The extent of a datatype in the file [bytes]."""
        self._usable()
        return of_spec(datatype).extent

    # What others see.

    def Set_atomicity(self, flag: bool) -> None:
        """Kept: accesses are one after the other, whatever it is; all ranks call."""
        self._usable()
        self._atomic = bool(flag)
        self._meet("File.Set_atomicity")

    def Get_atomicity(self) -> bool:
        """What was kept."""
        self._usable()
        return self._atomic

    atomicity = property(Get_atomicity, Set_atomicity)

    def Sync(self) -> None:
        """What was written is seen by all anyway; all ranks call."""
        self._usable()
        self._meet("File.Sync")

    # Inside.

    def _usable(self) -> SharedFile:
        if self._null:
            raise fault("FILE", "the file is MPI.FILE_NULL, or closed")
        return self._file

    def _meet(self, name: str, value: Any = None) -> tuple[list[Any], int]:
        """What all ranks give, when all are there, and the number of the call."""
        return self._comm._agreed(name, value)

    def _handled(self) -> Any:
        return "FILE_NULL" if self._null else id(self.__dict__)

    def __bool__(self) -> bool:
        return not self._null

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, File):
            return NotImplemented
        return self.__dict__ is other.__dict__ or (self._null and other._null)

    def __hash__(self) -> int:
        return id(self.__dict__)

    def __reduce__(self) -> str:
        if self is FILE_NULL:
            return "FILE_NULL"
        raise ValueError("a file cannot be pickled")

    def __getattr__(self, name: str) -> Any:
        if name[:1].isupper():
            raise not_supported(f"MPI.File.{name}")
        raise AttributeError(name)


FILE_NULL = File()
