"""Error classes and codes that a program adds to those of MPI, each rank for itself."""

from __future__ import annotations

from dataclasses import dataclass

from flitwork_mpi.programs.errors import CLASSES, Exception_, fault
from flitwork_mpi.programs.world import here, me

_LAST = CLASSES["LASTCODE"]


@dataclass
class _Added:
    """The class of a code, itself of a class; and what it means."""

    of_class: int
    text: str = ""


def added() -> dict[int, _Added]:
    """The classes and codes of this rank."""
    process = here.process
    found: dict[int, _Added] = {} if process is None else process.store.setdefault("errors", {})
    return found


def last_used() -> int:
    """The largest code of this rank: ``MPI.LASTUSEDCODE``."""
    return max(added(), default=_LAST)


def Add_error_class() -> int:
    """A new error class."""
    me()
    number = last_used() + 1
    added()[number] = _Added(number)
    return number


def Add_error_code(errorclass: int) -> int:
    """A new error code of a class."""
    me()
    number = last_used() + 1
    added()[number] = _Added(errorclass)
    return number


def Add_error_string(errorcode: int, string: str) -> None:
    """Says what a class or a code that was added means."""
    _one(errorcode).text = string


def Remove_error_string(errorcode: int) -> None:
    """Says no longer what a class or a code that was added means."""
    if not _one(errorcode).text:
        raise fault("ARG", f"nothing was said of {errorcode}")
    _one(errorcode).text = ""


def Remove_error_class(errorclass: int) -> None:
    """Gives up a class that was added, and that no code is of."""
    if _one(errorclass).of_class != errorclass:
        raise fault("ARG", f"{errorclass} is a code, not a class")
    _remove(errorclass)


def Remove_error_code(errorcode: int) -> None:
    """Gives up a code that was added."""
    if _one(errorcode).of_class == errorcode:
        raise fault("ARG", f"{errorcode} is a class, not a code")
    _remove(errorcode)


def Get_error_class(errorcode: int) -> int:
    """The class of an error code."""
    return Exception_(errorcode).Get_error_class()


def Get_error_string(errorcode: int) -> str:
    """An error class or code in words."""
    return Exception_(errorcode).Get_error_string()


def _one(errorcode: int) -> _Added:
    if errorcode not in added():
        raise fault("ARG", f"{errorcode} was not added by this rank")
    return added()[errorcode]


def _remove(errorcode: int) -> None:
    of_it = [code for code, one in added().items() if one.of_class == errorcode and code != errorcode]
    if _one(errorcode).text or of_it:
        raise fault("ARG", f"{errorcode} is in use: it has a text, or codes")
    del added()[errorcode]
