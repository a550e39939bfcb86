"""The module ``MPI`` of mpi4py programs: names, and what the simulated communicator does not have."""

from __future__ import annotations

import sys
import types
from threading import get_ident
from typing import Any

from flitwork_mpi.programs import (
    attributes,
    distribution,
    dtlib,
    errhandler,
    error_codes,
    errors,
    file,
    graph,
    group,
    info,
    shared_file,
    sized_types,
    status,
    window,
    window_server,
)
from flitwork_mpi.programs.buffer import AUTOMATIC, IN_PLACE, as_bytes
from flitwork_mpi.programs.cart import CART, Cartcomm, compute_dims
from flitwork_mpi.programs.comm import (
    COMM_NULL,
    COMM_SELF,
    COMM_TYPE_HW_GUIDED,
    COMM_TYPE_HW_UNGUIDED,
    COMM_TYPE_RESOURCE_GUIDED,
    COMM_TYPE_SHARED,
    COMM_WORLD,
    KEY_APPNUM,
    KEY_HOST,
    KEY_IO,
    KEY_LASTUSEDCODE,
    KEY_TAG_UB,
    KEY_UNIVERSE_SIZE,
    KEY_WTIME_IS_GLOBAL,
    Comm,
    Intercomm,
)
from flitwork_mpi.programs.datatype import ORDER_C, ORDER_FORTRAN, Datatype
from flitwork_mpi.programs.envelope import COMBINERS
from flitwork_mpi.programs.foreign_memory import BOTTOM
from flitwork_mpi.programs.matched_probe import MESSAGE_NO_PROC, MESSAGE_NULL
from flitwork_mpi.programs.matched_probe import Message as MatchedMessage
from flitwork_mpi.programs.memory import Memory
from flitwork_mpi.programs.neighbours import Topocomm
from flitwork_mpi.programs.persistent import Persistent
from flitwork_mpi.programs.pickling import PICKLE, Pickle
from flitwork_mpi.programs.pkl5 import pkl5_module
from flitwork_mpi.programs.placeholders import PLACEHOLDERS
from flitwork_mpi.programs.predefined import BY_CODE, NAMED
from flitwork_mpi.programs.reduction import OPS, Op
from flitwork_mpi.programs.request import REQUEST_NULL, Request
from flitwork_mpi.programs.status import Status
from flitwork_mpi.programs.world import here, me

#: What a program sees as the version of mpi4py.
VERSION = "4.0.0"


def Wtime() -> float:
    """Simulated time [s]. It passes for a line that asks for nothing else, again and again."""
    process = me()
    process.settle()
    world = process.world
    process.clock.count_call(process, sys._getframe(1))
    return world.now * world.cycle_ns * 1e-9


def Wtick() -> float:
    """Length of a cycle [s]."""
    return me().world.cycle_ns * 1e-9


def Get_processor_name() -> str:
    """The terminal that the rank runs on."""
    process = me()
    return f"terminal-{process.world.terminal_of(process.rank)}"


def Init() -> None:
    """Nothing: ranks begin initialised."""


def Init_thread(required: int = 3) -> int:
    """Nothing: ranks begin initialised, with ``MPI.THREAD_FUNNELED`` at most."""
    return min(required, Query_thread())


def Is_initialized() -> bool:
    """Yes."""
    return True


def Finalize() -> None:
    """The rank is through with MPI: attributes of ``MPI.COMM_SELF`` go."""
    process = me()
    if not process.finalized:
        attributes.remove_all(COMM_SELF)
    process.finalized = True


def Is_finalized() -> bool:
    """Whether the rank has called :func:`Finalize`."""
    return me().finalized


def Query_thread() -> int:
    """``MPI.THREAD_FUNNELED``: a rank may have threads, and the one that runs its program calls."""
    return 1


def Is_thread_main() -> bool:
    """Whether the calling thread is that of the ranks: the one that calls MPI."""
    return here.world is None or here.world.thread == get_ident()


def Get_version() -> tuple[int, int]:
    """The version of the standard that the calls are those of."""
    return (4, 0)


def Get_abi_version() -> tuple[int, int]:
    """The version of the standard's binary interface that values of constants would be those of."""
    return (1, 0)


def Get_library_version() -> str:
    """What stands behind."""
    return "flitwork: simulated ranks"


def Get_address(location: Any) -> int:
    """The address of a buffer."""
    if location is None or location is BOTTOM:
        return 0
    if hasattr(location, "__cuda_array_interface__"):
        return int(location.__cuda_array_interface__["data"][0])
    return int(as_bytes(location, True)[0].__array_interface__["data"][0])


def Aint_add(base: int, disp: int) -> int:
    """An address so many bytes further on."""
    return base + disp


def Aint_diff(addr1: int, addr2: int) -> int:
    """From one address to another [bytes]."""
    return addr1 - addr2


def Attach_buffer(buf: Any = None) -> None:
    """Keeps a buffer: sends need none."""
    me().store["buffer"] = buf


def Detach_buffer() -> Any:
    """The buffer that was kept."""
    return me().store.pop("buffer", None)


def Flush_buffer() -> None:
    """Nothing: buffered sends are complete when they return."""


def Alloc_mem(size: int, info: Any = info.INFO_NULL) -> Memory:
    """Allocates memory [bytes]."""
    return Memory.allocate(size)


def Free_mem(mem: Any) -> None:
    """Nothing: memory is given back by itself."""


def Pcontrol(level: int) -> None:
    """Nothing."""


def get_vendor() -> tuple[str, tuple[int, int, int]]:
    """What stands behind, and its version."""
    return "flitwork", (0, 1, 0)


def _typecode(datatype: Datatype) -> str | None:
    """NumPy's character of a datatype, if it has one."""
    return datatype.tocode() if datatype and datatype.element is not None else None


def _typealign(datatype: Datatype) -> int | None:
    """How a named datatype lies in memory [bytes]."""
    return datatype.alignment if datatype and (datatype.predefined or datatype.element is not None) else None


def _names() -> dict[str, Any]:
    functions = (
        *(Wtime, Wtick, Get_processor_name, Init, Init_thread, Is_initialized, Finalize, Is_finalized, Query_thread),
        *(Is_thread_main, Get_version, Get_library_version, Get_address),
        *(Aint_add, Aint_diff, Get_abi_version),
        *(error_codes.Get_error_class, error_codes.Get_error_string),
        *(error_codes.Add_error_class, error_codes.Add_error_code, error_codes.Add_error_string),
        *(error_codes.Remove_error_class, error_codes.Remove_error_code, error_codes.Remove_error_string),
        *(Attach_buffer, Detach_buffer, Flush_buffer, Alloc_mem, Free_mem, Pcontrol, get_vendor),
    )
    found: dict[str, Any] = {function.__name__: function for function in functions}
    found.update(
        Comm=Comm, Intracomm=Comm, Intercomm=Intercomm, Topocomm=Topocomm, Cartcomm=Cartcomm,
        Graphcomm=graph.Graphcomm, Distgraphcomm=graph.Distgraphcomm, Group=group.Group, Status=Status, Op=Op,
        Request=Request, Prequest=Persistent, Pickle=Pickle,
        memory=Memory, buffer=Memory, Datatype=Datatype, Message=MatchedMessage, Exception=errors.Exception_,
        COMM_WORLD=COMM_WORLD, COMM_SELF=COMM_SELF, COMM_NULL=COMM_NULL, REQUEST_NULL=REQUEST_NULL,
        MESSAGE_NULL=MESSAGE_NULL, MESSAGE_NO_PROC=MESSAGE_NO_PROC,
        GROUP_EMPTY=group.GROUP_EMPTY, GROUP_NULL=group.GROUP_NULL, IN_PLACE=IN_PLACE, BOTTOM=BOTTOM,
        Compute_dims=compute_dims, Errhandler=errhandler.Errhandler, **errhandler.CONSTANTS,
        THREAD_SINGLE=0, THREAD_FUNNELED=1, THREAD_SERIALIZED=2, THREAD_MULTIPLE=3, VERSION=4, SUBVERSION=0,
        MAX_PROCESSOR_NAME=256, MAX_PORT_NAME=1024, MAX_OBJECT_NAME=128,
        MAX_LIBRARY_VERSION_STRING=8192, MAX_PSET_NAME_LEN=256, MAX_STRINGTAG_LEN=256, MAX_ERROR_STRING=512,
        BSEND_OVERHEAD=0, KEYVAL_INVALID=attributes.KEYVAL_INVALID,
        **{f"COMBINER_{name}": number for name, number in COMBINERS.items()}, **sized_types.CLASSES,
        DISTRIBUTE_BLOCK=distribution.BLOCK, DISTRIBUTE_CYCLIC=distribution.CYCLIC,
        DISTRIBUTE_NONE=distribution.NONE, DISTRIBUTE_DFLT_DARG=distribution.DEFAULT,
        ORDER_C=ORDER_C, ORDER_FORTRAN=ORDER_FORTRAN, ORDER_F=ORDER_FORTRAN, CART=CART, GRAPH=graph.GRAPH,
        DIST_GRAPH=graph.DIST_GRAPH, UNWEIGHTED=graph.UNWEIGHTED, WEIGHTS_EMPTY=graph.WEIGHTS_EMPTY,
        COMM_TYPE_SHARED=COMM_TYPE_SHARED, COMM_TYPE_HW_GUIDED=COMM_TYPE_HW_GUIDED,
        COMM_TYPE_HW_UNGUIDED=COMM_TYPE_HW_UNGUIDED, COMM_TYPE_RESOURCE_GUIDED=COMM_TYPE_RESOURCE_GUIDED,
        BottomType=type(BOTTOM), InPlaceType=type(IN_PLACE), BufferAutomaticType=type(AUTOMATIC),
        BUFFER_AUTOMATIC=AUTOMATIC, TAG_UB=KEY_TAG_UB, HOST=KEY_HOST, IO=KEY_IO, APPNUM=KEY_APPNUM,
        WTIME_IS_GLOBAL=KEY_WTIME_IS_GLOBAL, UNIVERSE_SIZE=KEY_UNIVERSE_SIZE, LASTUSEDCODE=KEY_LASTUSEDCODE,
        Info=info.Info, INFO_NULL=info.INFO_NULL, INFO_ENV=info.INFO_ENV,
        Win=window.Win, WIN_NULL=window.WIN_NULL, WIN_BASE=window.KEY_BASE, WIN_SIZE=window.KEY_SIZE,
        WIN_DISP_UNIT=window.KEY_DISP_UNIT, WIN_CREATE_FLAVOR=window.KEY_FLAVOR, WIN_FLAVOR=window.KEY_FLAVOR,
        WIN_MODEL=window.KEY_MODEL,
        WIN_FLAVOR_CREATE=window.FLAVOR_CREATE, WIN_FLAVOR_ALLOCATE=window.FLAVOR_ALLOCATE,
        WIN_FLAVOR_DYNAMIC=window.FLAVOR_DYNAMIC, WIN_FLAVOR_SHARED=window.FLAVOR_SHARED,
        WIN_SEPARATE=window.SEPARATE, WIN_UNIFIED=window.UNIFIED,
        LOCK_EXCLUSIVE=window_server.LOCK_EXCLUSIVE, LOCK_SHARED=window_server.LOCK_SHARED,
        MODE_NOCHECK=1024, MODE_NOSTORE=2048, MODE_NOPUT=4096, MODE_NOPRECEDE=8192, MODE_NOSUCCEED=16384,
        **{f"MODE_{name}": mode for name, mode in shared_file.MODES.items()}, File=file.File, FILE_NULL=file.FILE_NULL,
        SEEK_SET=file.SEEK_SET, SEEK_CUR=file.SEEK_CUR, SEEK_END=file.SEEK_END,
        DISPLACEMENT_CURRENT=file.DISPLACEMENT_CURRENT, DISP_CUR=file.DISPLACEMENT_CURRENT,
        MAX_DATAREP_STRING=file.MAX_DATAREP_STRING,
        MAX_INFO_KEY=info.MAX_KEY, MAX_INFO_VAL=info.MAX_VALUE,
        IDENT=group.IDENT, CONGRUENT=group.CONGRUENT, SIMILAR=group.SIMILAR, UNEQUAL=group.UNEQUAL,
    )  # fmt: skip
    found.update({name: getattr(status, name) for name in ("ANY_SOURCE", "ANY_TAG", "PROC_NULL", "ROOT", "UNDEFINED")})
    found.update({name if name == "SUCCESS" else f"ERR_{name}": code for name, code in errors.CLASSES.items()})
    found.update(status.FORTRAN)
    # Programs look datatypes up by NumPy's character.
    return {
        **PLACEHOLDERS,
        **NAMED,
        **OPS,
        **found,
        "_typedict": BY_CODE,
        "_typecode": _typecode,
        "_typealign": _typealign,
    }


class _Mpi(types.ModuleType):
    """A module that says of what it does not have that it does not."""

    def __getattr__(self, name: str) -> Any:
        if name[:1].isupper():
            raise errors.not_supported(f"MPI.{name}")
        raise AttributeError(f"module 'mpi4py.MPI' has no attribute {name!r}")


class _Rc(types.ModuleType):
    """``mpi4py.rc``: whatever is set there makes no difference."""

    # As mpi4py has them.
    initialize = threads = fast_reduce = recv_mprobe = True
    finalize, thread_level, irecv_bufsz, errors = None, "multiple", 32768, "exception"

    def __init__(self, **options: Any) -> None:
        super().__init__("mpi4py.rc")
        self(**options)

    def __call__(self, **options: Any) -> None:
        """Sets options."""
        for name, value in options.items():
            setattr(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        """Options are those that there are: one that is misspelt would make no difference anywhere."""
        if not name.startswith("__") and not hasattr(_Rc, name):
            raise TypeError(f"mpi4py.rc has no option {name!r}")
        super().__setattr__(name, value)


def mpi_module() -> types.ModuleType:
    """The module ``MPI``."""
    found = _Mpi("mpi4py.MPI", "MPI on simulated ranks.")
    found.__dict__.update(_names(), __file__="<flitwork>", pickle=PICKLE)
    return found


def mpi4py_modules(mpi: types.ModuleType) -> dict[str, types.ModuleType]:
    """``mpi4py`` and what of it programs import."""
    package = types.ModuleType("mpi4py", "mpi4py on simulated ranks.")
    rc = _Rc()
    package.__dict__.update(
        __path__=["<flitwork>"],
        __version__=VERSION,
        __file__="<flitwork>",
        MPI=mpi,
        rc=rc,
        get_include=lambda: "",
        get_config=dict,
    )
    types_of_numpy = types.ModuleType("mpi4py.util.dtlib", dtlib.__doc__)
    types_of_numpy.__dict__.update(
        from_numpy_dtype=dtlib.from_numpy_dtype, to_numpy_dtype=dtlib.to_numpy_dtype, __file__="<flitwork>"
    )
    pkl5 = pkl5_module()
    util = types.ModuleType("mpi4py.util", "What mpi4py adds to MPI.")
    util.__dict__.update(__path__=[], __file__="<flitwork>", dtlib=types_of_numpy, pkl5=pkl5)
    package.__dict__.update(util=util)
    return {
        "mpi4py": package, "mpi4py.MPI": mpi, "mpi4py.rc": rc,
        "mpi4py.util": util, "mpi4py.util.dtlib": types_of_numpy, "mpi4py.util.pkl5": pkl5,
    }  # fmt: skip


MPI = mpi_module()
sys.modules.setdefault("flitwork_mpi.programs.MPI", MPI)
