"""What can be wrong with rank programs."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from functools import total_ordering
from types import TracebackType
from typing import Any

from flitwork.base.errors import FlitworkError, ScheduleError, SimulationError

_CLASSES = """
SUCCESS BUFFER COUNT TYPE TAG COMM RANK REQUEST ROOT GROUP OP TOPOLOGY DIMS ARG UNKNOWN TRUNCATE OTHER INTERN PENDING
IN_STATUS INFO INFO_KEY INFO_VALUE INFO_NOKEY KEYVAL ACCESS AMODE ASSERT BAD_FILE BASE CONVERSION DISP DUP_DATAREP
FILE_EXISTS FILE_IN_USE FILE IO LOCKTYPE NAME NO_MEM NOT_SAME NO_SPACE NO_SUCH_FILE PORT QUOTA READ_ONLY RMA_CONFLICT
RMA_SYNC SERVICE SIZE SPAWN UNSUPPORTED_DATAREP UNSUPPORTED_OPERATION WIN RMA_RANGE RMA_ATTACH RMA_SHARED RMA_FLAVOR
SESSION PROC_ABORTED VALUE_TOO_LARGE ERRHANDLER ABI REVOKED PROC_FAILED PROC_FAILED_PENDING LASTCODE
"""
#: Error classes, as numbers of the MPI standard's names.
CLASSES: Mapping[str, int] = {name: number for number, name in enumerate(_CLASSES.split())}


@total_ordering
class Exception_(RuntimeError):
    """``MPI.Exception``: a call that cannot be carried out. It compares as its error code, a number."""

    def __init__(self, ierr: int = 0, text: str = "") -> None:
        self._code = CLASSES["UNKNOWN"] if ierr < 0 else int(ierr)
        self._class, self._text, self._more = *_meaning(self._code), text
        if text:
            self._text = f"{self._text}: {text}"
        super().__init__(self._text)

    def Get_error_class(self) -> int:
        """The error class."""
        return self._class

    def Get_error_code(self) -> int:
        """The error code, which is the class if no program has added it."""
        return self._code

    def Get_error_string(self) -> str:
        """What is wrong."""
        return self._text

    error_class = property(Get_error_class)
    error_code = property(Get_error_code)
    error_string = property(Get_error_string)

    def __int__(self) -> int:
        return self._code

    def __bool__(self) -> bool:
        return self._code != CLASSES["SUCCESS"]

    def __eq__(self, other: object) -> bool:
        return int(other) == self._code if isinstance(other, (Exception_, int)) else NotImplemented

    def __lt__(self, other: object) -> bool:
        return self._code < int(other) if isinstance(other, (Exception_, int)) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._code)

    def __repr__(self) -> str:
        return f"MPI.Exception({self._code})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self._code, self._more)


Exception_.__name__ = Exception_.__qualname__ = "Exception"


# Pickle finds functions by their names, and the class has that of mpi4py.
def _again(code: int, text: str) -> Exception_:
    return Exception_(code, text)


def _meaning(code: int) -> tuple[int, str]:
    """The class of a code, and what it means."""
    from flitwork_mpi.programs.error_codes import added

    one = added().get(code)
    if one is not None:
        return one.of_class, one.text
    names = {number: name for name, number in CLASSES.items()}
    known = code if code in names else CLASSES["OTHER"]
    return known, f"MPI_ERR_{names[known]}"


def fault(name: str, text: str) -> Exception_:
    """An error of class ``MPI.ERR_<name>``."""
    return Exception_(CLASSES[name], text)


class NotSupported(NotImplementedError, AttributeError):
    """A part of MPI that the simulated communicator does not have: ``hasattr`` says so, too."""


#: What can be done without parts of MPI, by the beginnings of their names.
_INSTEAD = {
    ("Spawn", "Connect", "Accept", "Open_port"): "all ranks begin together (their number: -n, or ranks=)",
    ("Create_intercomm", "Create_from_groups", "Join"): "ranks of all groups reach each other by MPI.COMM_WORLD",
    ("Session",): "MPI.COMM_WORLD is there from the beginning",
    ("futures",): "ranks can ask one of them for tasks, by send and recv",
}


def not_supported(what: str) -> NotSupported:
    """The error for a part of MPI that the simulated communicator does not have."""
    return NotSupported(unsupported(what))


def unsupported(what: str) -> str:
    """The error for what the simulated communicator lacks, with what can be done instead."""
    parts = what.split(".")[::-1]
    found = (text for part in parts for names, text in _INSTEAD.items() if part.startswith(names))
    instead = next((f": {text}" for text in found), "")
    return f"{what} is not supported by the simulated communicator{instead}"


class Refusing(type):
    """The type of classes that say of what they do not have that they do not."""

    def __getattr__(cls, name: str) -> Any:
        if name[:1].isupper():
            raise not_supported(f"MPI.{cls.__name__}.{name}")
        raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")


class Abort(SystemExit):
    """A rank has called ``Abort``: the run ends with its exit code."""

    def __init__(self, rank: int, code: int) -> None:
        self.rank = rank
        super().__init__(code)

    def __str__(self) -> str:
        return f"rank {self.rank} called Abort({self.code})"


class ProgramError(FlitworkError):
    """A rank program raised, or cannot be run. ``rank`` and ``traceback`` say where; the cause is the exception."""

    rank: int | None = None
    traceback: str = ""

    @classmethod
    def of(cls, rank: int, error: BaseException) -> ProgramError:
        """The error for an exception in a rank."""
        frames = frames_of_program(error.__traceback__)
        lines = traceback.format_exception(type(error), error, frames)
        found = cls(f"rank {rank}: {type(error).__name__}: {error}")
        found.rank, found.traceback = rank, "".join(lines)
        return found


class Exited(ProgramError):
    """A rank has called ``os._exit`` before ``MPI.Finalize``: the run ends, as a job of real MPI does."""

    def __init__(self, rank: int, code: int, where: str) -> None:
        super().__init__(
            f"rank {rank} ended with exit status {code} by os._exit at {where}, without MPI.Finalize: the run ends"
        )
        self.rank, self.code = rank, code


class ProgramDeadlock(ProgramError, ScheduleError):
    """Ranks wait for each other, or for messages that nobody sends; the message says who, for whom and where."""


class ProgramUnfinished(ProgramError, SimulationError):
    """The limit of cycles came first, as where ranks poll for what never comes; the message says where they are."""


class UnmatchedMessages(ProgramError, ScheduleError):
    """All ranks have ended, and messages were never received, or receives never got one."""

    messages = False

    @classmethod
    def left(cls, text: str, *, messages: bool) -> UnmatchedMessages:
        """The error for what was left; ``messages``: not only receives."""
        found = cls(text)
        found.messages = messages
        return found

    def is_error(self, unmatched: str) -> bool:
        """Whether a run ends with it, for a value of ``unmatched`` of :func:`flitwork.mpi.run`."""
        return unmatched == "error" or (unmatched == "messages" and self.messages)


def frames_of_program(trace: TracebackType | None) -> Any:
    """The part of a traceback from the first line of the program on."""
    found = trace
    while found is not None and _is_ours(found):
        found = found.tb_next
    return found or trace


def _is_ours(trace: TracebackType) -> bool:
    name = str(trace.tb_frame.f_globals.get("__name__", ""))
    return name.startswith(("flitwork.", "flitwork_mpi.")) or name == "importlib._bootstrap" or name == "runpy"
