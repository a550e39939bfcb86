"""What each rank has for itself though all run in one process: streams, arguments, its folder, what it does at exit."""

from __future__ import annotations

import atexit
import os
import sys
import traceback
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from flitwork_mpi.programs.errors import Abort
from flitwork_mpi.programs.patched_functions import patched, running_rank
from flitwork_mpi.programs.world import Process, here

#: A function that is called at exit, with its arguments.
_Call = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]


class PerRankState:
    """Changes the arguments, the streams and the working directory whenever another rank goes on."""

    def __init__(self) -> None:
        self._of: dict[int, tuple[Any, ...]] = {}
        self._outside: tuple[Any, ...] | None = None
        #: Working directories of ranks that have changed theirs, and the one that the others have.
        self._folders: dict[int, str] = {}
        self._folder = ""
        self._change = os.chdir

    def enter(self, rank: int) -> None:
        """A rank goes on."""
        if self._outside is None:
            self._outside = _of_sys()
        _to_sys(self._of.get(rank, self._outside))
        if self._folders:
            self._change(self._folders.get(rank, self._folder))

    def leave(self, rank: int) -> None:
        """Keeps the state of a rank that waits."""
        self._of[rank] = _of_sys()

    def remove(self) -> None:
        """All as it was."""
        if self._outside is not None:
            _to_sys(self._outside)
        if self._folders:
            self._change(self._folder)

    @contextmanager
    def changed_by_ranks(self) -> Iterator[None]:
        """Within its ``with``, ``os.chdir`` is for the rank that calls it."""

        def changing(to: Callable[[Any], None]) -> Callable[[Any], None]:
            def goes(path: Any) -> None:
                process = running_rank()
                if process is None:
                    return to(path)
                if not self._folders:
                    self._folder = os.getcwd()
                to(path)
                self._folders[process.rank] = os.getcwd()
                return None

            return goes

        with patched(os, "chdir", changing), patched(os, "fchdir", changing):
            yield


def _of_sys() -> tuple[Any, ...]:
    return sys.argv, sys.stdin, sys.stdout, sys.stderr, sys.excepthook


def _to_sys(state: tuple[Any, ...]) -> None:
    sys.argv, sys.stdin, sys.stdout, sys.stderr, sys.excepthook = state


@contextmanager
def registered_by_ranks(modules: Collection[str]) -> Iterator[None]:
    """Within its ``with``, what programs give to ``atexit`` is for the rank that runs: it calls it at its end.

    ``modules``: those that each rank has for itself. Of others, which all ranks share, it is what their functions
    register, such as a pool that sends its workers home; what they register when they are imported, and what Python's
    own modules register, is called at the end of the command, as ever.
    """

    def registering(register: Callable[..., Any]) -> Callable[..., Any]:
        def registers(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
            process = here.process
            if process is None or not _is_of_rank(sys._getframe(1), modules):
                return register(function, *args, **kwargs)
            if not callable(function):
                raise TypeError("the first argument must be callable")
            _calls(process).append((function, args, kwargs))
            return function

        return registers

    def unregistering(unregister: Callable[..., Any]) -> Callable[..., Any]:
        def unregisters(function: Callable[..., Any]) -> None:
            unregister(function)
            if here.process is not None:
                calls = _calls(here.process)
                calls[:] = [one for one in calls if one[0] != function]

        return unregisters

    with patched(atexit, "register", registering), patched(atexit, "unregister", unregistering):
        yield


def _is_of_rank(caller: FrameType, modules: Collection[str]) -> bool:
    name = str(caller.f_globals.get("__name__"))
    shared = name.partition(".")[0] in sys.stdlib_module_names or caller.f_code.co_name == "<module>"
    return name in modules or (bool(modules) and not shared)


def _calls(process: Process) -> list[_Call]:
    found: list[_Call] = process.store.setdefault("at exit", [])
    return found


def call_at_exit(process: Process) -> None:
    """Calls what the rank has registered, the last one first; one that raises is printed, and the others are called."""
    calls = _calls(process)
    process.leaving = process.issued
    while calls:
        function, args, kwargs = calls.pop()
        try:
            function(*args, **kwargs)
        except Abort:
            raise
        except SystemExit:
            continue
        except Exception as error:
            print(f"Exception ignored in atexit callback: {function!r}", file=sys.stderr)
            trace = error.__traceback__
            traceback.print_exception(type(error), error, trace.tb_next if trace else None)
