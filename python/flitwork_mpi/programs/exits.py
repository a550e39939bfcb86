"""``os._exit`` of a rank: ranks share one process, which it would end without a word, so it is an error of the rank."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from threading import get_ident
from typing import NoReturn

from flitwork_mpi.programs.errors import Exited
from flitwork_mpi.programs.patched_functions import patched, running_rank
from flitwork_mpi.programs.world import user_line


def exits_of_ranks() -> AbstractContextManager[None]:
    """Within its ``with``, ``os._exit`` ends the run; after ``MPI.Finalize`` it ends its rank, with that exit code.

    A process that a rank has forked ends as ever.
    """

    def leaving(end_process: Callable[[int], NoReturn]) -> Callable[[int], NoReturn]:
        def leave(status: int) -> NoReturn:
            process = running_rank()
            if process is None:
                end_process(status)
            world = process.world
            if process.finalized and get_ident() == world.thread:
                raise SystemExit(status)
            world.fail(process, Exited(process.rank, status, user_line(sys._getframe(1))))
            if get_ident() != world.thread:
                # The thread ends, and the run when its rank calls MPI the next time.
                raise SystemExit
            world.hub.switch()
            raise SystemExit(status)

        return leave

    return patched(os, "_exit", leaving)
