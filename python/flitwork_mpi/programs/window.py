"""``MPI.Win``: memory of a rank that others read and change by messages of the simulated network.

Whatever a rank asks another for is a message, and is answered by one: with data, or with nothing but the signal that it
is done. A rank serves others while it is in a call that waits.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from typing_extensions import Self

from flitwork_mpi.programs import attributes
from flitwork_mpi.programs.buffer import as_bytes
from flitwork_mpi.programs.channel import new_context
from flitwork_mpi.programs.comm import COMM_SELF, Comm
from flitwork_mpi.programs.errhandler import Handled
from flitwork_mpi.programs.errors import Refusing, fault, not_supported
from flitwork_mpi.programs.foreign_memory import BOTTOM
from flitwork_mpi.programs.group import Group
from flitwork_mpi.programs.handle import Handle
from flitwork_mpi.programs.info import Info
from flitwork_mpi.programs.memory import Memory
from flitwork_mpi.programs.status import PROC_NULL
from flitwork_mpi.programs.window_access import Accesses
from flitwork_mpi.programs.window_server import Server
from flitwork_mpi.programs.world import me

FLAVOR_CREATE, FLAVOR_ALLOCATE, FLAVOR_DYNAMIC, FLAVOR_SHARED = range(1, 5)
SEPARATE, UNIFIED = 1, 2
KEY_BASE, KEY_SIZE, KEY_DISP_UNIT, KEY_FLAVOR, KEY_MODEL = range(11, 16)


class Win(Accesses, Handled, Handle, attributes.Attributed, metaclass=Refusing):
    """A window: the memory of each rank of a communicator that the others may read and change.

    Without a window, and once it has been given up, it is ``MPI.WIN_NULL``; of another one it is the same one again.
    """

    def __init__(self, of: Win | None = None) -> None:
        if of is None:
            self._null, self.name = True, "MPI_WIN_NULL"
        elif not isinstance(of, Win):
            raise TypeError(f"expecting a window, not {type(of).__name__}")

    def _begin_as(self, comm: Comm, memory: Any, flavor: int, sizes: list[tuple[int, int]], call: int) -> Self:
        process = me()
        self._null, self.name, self._info = False, "", Info.Create()
        self._comm, self._memory, self._flavor = comm, memory, flavor
        #: Size and unit of each rank's memory.
        self._sizes = sizes
        #: The memory of each rank, where all ranks reach it.
        self._parts: list[Any] = []
        key = (comm._context, call)
        ranks = [*comm._ranks(process)]
        self._requests, self._replies, self._signals = (
            Comm(ranks, new_context(process.world, (*key, what)), "a window")
            for what in ("requests", "replies", "signals")
        )
        # What waits for answers is told apart in reports.
        process.world.store.setdefault("windows", set()).add(self._replies._context)
        self._begin()
        self._server = Server(process, memory, self._requests._context, self._answer)
        self._server.start()
        # Also a copy can be given up.
        self._at_end = self.Free
        process.at_end.append(self._at_end)
        return self

    # Making and giving up.

    @classmethod
    def Create(cls, memory: Any, disp_unit: int = 1, info: Any = None, comm: Comm = COMM_SELF) -> Win:
        """Memory that is there."""
        nothing = memory is None or memory is BOTTOM
        view = np.empty(0, np.uint8) if nothing else as_bytes(memory, True)[0]
        if not view.flags.writeable:
            raise fault("BUFFER", "the memory of a window cannot be written to")
        return cls._made(comm, view, disp_unit, FLAVOR_CREATE)

    @classmethod
    def Allocate(cls, size: int, disp_unit: int = 1, info: Any = None, comm: Comm = COMM_SELF) -> Win:
        """Makes a window of ``size`` bytes."""
        return cls._made(comm, Memory.allocate(size), disp_unit, FLAVOR_ALLOCATE)

    @classmethod
    def Create_dynamic(cls, info: Any = None, comm: Comm = COMM_SELF) -> Win:
        """Windows without memory, to which it is attached, are not supported."""
        raise not_supported("MPI.Win.Create_dynamic")

    @classmethod
    def Allocate_shared(cls, size: int, disp_unit: int = 1, info: Any = None, comm: Comm = COMM_SELF) -> Win:
        """Makes a window of ``size`` bytes that ranks of a terminal share; see :meth:`Shared_query`."""
        world = me().world
        terminals = {world.terminal_of(rank) for rank in comm._ranks(me())}
        if len(terminals) > 1:
            those = "Split_type(MPI.COMM_TYPE_SHARED) groups those that do (how many: --ranks-per-terminal)"
            raise fault("RMA_SHARED", f"ranks of {len(terminals)} terminals share no memory; {those}")
        sizes, call = comm._agreed("Win.Allocate_shared", (size, disp_unit))
        kept = world.store.setdefault("shared", {})
        ends = np.cumsum([0, *(one for one, _ in sizes)]).tolist()
        if (comm._context, call) not in kept:
            kept[comm._context, call] = Memory.allocate(ends[-1])
        whole = kept[comm._context, call]
        parts = [whole[first:last] for first, last in pairwise(ends)]
        made = cls()._begin_as(comm, parts[comm.Get_rank()], FLAVOR_SHARED, sizes, call)
        made._parts = parts
        return made

    @classmethod
    def _made(cls, comm: Comm, memory: Any, disp_unit: int, flavor: int) -> Win:
        sizes, call = comm._agreed("Win", (memory.size, disp_unit))
        return cls()._begin_as(comm, memory, flavor, sizes, call)

    def Free(self) -> None:
        """Gives it up, when all ranks do."""
        self._check_use()
        self._complete_all()
        self._signals._barrier("Win.Free")()
        attributes.remove_all(self)
        self._server.stop()
        self._null = True
        me().at_end.remove(self._at_end)

    def Shared_query(self, rank: int) -> tuple[Memory, int]:
        """The memory of a rank of a shared window and its unit; of the first that has any for ``MPI.PROC_NULL``."""
        if self._flavor != FLAVOR_SHARED:
            raise fault("RMA_FLAVOR", "the window was not made by Allocate_shared")
        if rank == PROC_NULL:
            rank = next((place for place, part in enumerate(self._parts) if part.size), 0)
        self._check_rank(rank)
        return self._parts[rank], self._sizes[rank][1]

    # What it is.

    @property
    def group(self) -> Group:
        """The group of the window's ranks."""
        return self.Get_group()

    def Get_group(self) -> Group:
        """The group of the window's ranks."""
        return self._comm.Get_group()

    @property
    def group_size(self) -> int:
        """How many ranks."""
        return len(self._sizes)

    @property
    def group_rank(self) -> int:
        """This rank among them."""
        return self._signals.Get_rank()

    @property
    def attrs(self) -> tuple[int, int, int]:
        """Where the memory is, its size and its unit."""
        size, unit = self._sizes[self.group_rank]
        return int(np.asarray(self._memory).__array_interface__["data"][0]), size, unit

    @property
    def flavor(self) -> int:
        """How the window was made."""
        return self._flavor

    @property
    def model(self) -> int:
        """``MPI.WIN_UNIFIED``: there is one copy of the memory."""
        return UNIFIED

    def tomemory(self) -> Memory:
        """The memory of this rank."""
        self._check_use()
        return np.asarray(self._memory).view(Memory)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self._memory, dtype=dtype)

    def Get_attr(self, keyval: int) -> Any:
        """An attribute, or ``None``."""
        known = (*self.attrs, self._flavor, UNIFIED)
        return known[keyval - KEY_BASE] if KEY_BASE <= keyval <= KEY_MODEL else super().Get_attr(keyval)

    def Get_name(self) -> str:
        """The name of the window."""
        return self.name

    def Set_name(self, name: str) -> None:
        """Gives it a name."""
        self.name = name

    def Set_info(self, info: Info) -> None:
        """Keeps hints; a later call adds to them."""
        self._check_use()
        self._info.update(info or {})

    def Get_info(self) -> Info:
        """The hints that were kept."""
        self._check_use()
        return self._info.Dup()

    info = property(Get_info, Set_info)

    def _handled(self) -> Any:
        self._check_use()
        return id(self)

    def __bool__(self) -> bool:
        return not self._null

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Win) and self._null and other._null)

    __hash__ = object.__hash__

    def __getattr__(self, name: str) -> Any:
        if name[:1].isupper():
            raise not_supported(f"MPI.Win.{name}")
        raise AttributeError(name)


WIN_NULL = Win()
