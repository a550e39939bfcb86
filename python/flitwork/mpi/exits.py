"""``os._exit`` of a rank: ranks share one process, which it would end without a word, so it is an error of the rank."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import NoReturn

from flitwork.mpi.errors import Exited
from flitwork.mpi.world import here, user_line


@contextmanager
def exits_of_ranks() -> Iterator[None]:
    """As long as ranks run, ``os._exit`` ends the run; after ``MPI.Finalize`` it ends its rank, with that exit code.

    A process that a rank has forked ends as ever.
    """
    end_process, own = os._exit, os.getpid()

    def leave(status: int) -> NoReturn:
        process = here.process
        if process is None or os.getpid() != own:
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

    os._exit = leave
    try:
        yield
    finally:
        os._exit = end_process
