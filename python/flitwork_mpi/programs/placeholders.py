"""Names of mpi4py for calls that the simulated communicator lacks: a program may name them, only calling them fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from flitwork_mpi.programs.channel import Channel
from flitwork_mpi.programs.comm import Comm, Intercomm
from flitwork_mpi.programs.errors import not_supported
from flitwork_mpi.programs.group import Group
from flitwork_mpi.programs.persistent import Persistent
from flitwork_mpi.programs.request import Request
from flitwork_mpi.programs.window import Win

#: Functions of the module.
_FUNCTIONS = (
    *("Iflush_buffer", "Open_port", "Close_port", "Publish_name", "Unpublish_name", "Lookup_name", "Register_datarep"),
    *("Get_abi_info", "Get_abi_fortran_info", "Get_hw_resource_info"),
)
#: Methods of classes that have others.
_METHODS: Mapping[type, tuple[str, ...]] = {
    Channel: (
        *("Revoke", "Is_revoked", "Get_failed", "Ack_failed", "Agree", "Iagree", "Shrink", "Ishrink", "Attach_buffer"),
        *("Detach_buffer", "Flush_buffer", "Iflush_buffer", "Psend_init", "Precv_init", "Join"),
    ),
    Comm: ("Create_intercomm", "Spawn", "Spawn_multiple", "Accept", "Connect"),
    Group: ("Create_from_session_pset",),
    Intercomm: ("Create_from_groups",),
    Persistent: ("Pready", "Pready_range", "Pready_list", "Parrived"),
    Win: ("Attach", "Detach"),
}


def refusing(name: str) -> Callable[..., NoReturn]:
    """A function that fails where it is called, with ``name`` in the error."""

    def refused(*_: Any, **__: Any) -> NoReturn:
        raise not_supported(name)

    refused.__name__ = refused.__qualname__ = name.rpartition(".")[2]
    refused.__doc__ = f"Raises an error: the simulated communicator has no ``{name}``."
    return refused


class _Absent(type):
    """The type of classes that can be named, but neither made nor asked for anything."""

    def __call__(cls, *_: Any, **__: Any) -> NoReturn:
        raise not_supported(f"MPI.{cls.__name__}")

    def __getattr__(cls, name: str) -> Any:
        return _of(cls, name)


def _of(owner: type, name: str) -> Callable[..., NoReturn]:
    if name.startswith("_"):
        raise AttributeError(f"type object {owner.__name__!r} has no attribute {name!r}")
    return refusing(f"MPI.{owner.__name__}.{name}")


class Session(metaclass=_Absent):
    """``MPI.Session``: a name for annotations and ``isinstance``; every call of it raises an error."""

    def __getattr__(self, name: str) -> Any:
        return _of(Session, name)

    def __bool__(self) -> bool:
        return False

    def __reduce__(self) -> str:
        return "SESSION_NULL"


class Grequest(Request, metaclass=_Absent):
    """``MPI.Grequest``: a name for annotations and ``isinstance``; every call of it raises an error."""

    Start = refusing("MPI.Grequest.Start")
    Complete = refusing("MPI.Grequest.Complete")


#: What has the names of mpi4py's module.
PLACEHOLDERS: Mapping[str, Any] = {
    **{name: refusing(f"MPI.{name}") for name in _FUNCTIONS},
    "Session": Session,
    "SESSION_NULL": object.__new__(Session),
    "Grequest": Grequest,
}

for _owner, _names in _METHODS.items():
    for _name in _names:
        _shown = {Channel: "Comm", Persistent: "Prequest"}.get(_owner, _owner.__name__)
        setattr(_owner, _name, refusing(f"MPI.{_shown}.{_name}"))
