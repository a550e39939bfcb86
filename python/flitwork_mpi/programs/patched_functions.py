"""Functions of Python's own modules that do something else while ranks run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from flitwork_mpi.programs.world import Process, here


@contextmanager
def patched(module: Any, name: str, by: Callable[[Any], Any]) -> Iterator[None]:
    """Within its ``with``, ``module.name`` is ``by`` of what it was; nothing where there is no such function."""
    kept = getattr(module, name, None)
    if kept is None:
        yield
        return
    setattr(module, name, by(kept))
    try:
        yield
    finally:
        setattr(module, name, kept)


def running_rank() -> Process | None:
    """The rank whose program runs; none in a process that a rank has forked."""
    process = here.process
    return process if process is not None and process.world.pid == os.getpid() else None
