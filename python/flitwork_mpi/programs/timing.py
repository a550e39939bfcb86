"""What the time between two calls costs: nothing, what a program states, or what it took here."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from threading import get_ident
from time import thread_time_ns
from typing import Any, SupportsIndex

from flitwork.base.errors import ConfigError
from flitwork.running.simulation import Kind

from flitwork_mpi.programs.patched_functions import patched, running_rank
from flitwork_mpi.programs.world import CORE, Fiber, Message, Operation, Place, Process, World, me

KINDS = ("zero", "measured")


class Measured(Process):
    """A rank whose program takes as long as it does here, times ``scale``. Results differ from run to run."""

    scale = 1.0

    def __init__(self, world: World, rank: int) -> None:
        super().__init__(world, rank)
        self._since = 0

    def settle(self) -> None:
        """The clock is up to date."""
        self._charge()
        self.flush()

    def send(self, message: Message, synchronous: bool = False, place: Place | None = None) -> Operation:
        """Starts to send a message."""
        self._charge()
        return super().send(message, synchronous, place)

    def receive(self, source: int | None, tag: int | None, context: int, place: Place | None = None) -> Operation:
        """Posts a receive."""
        self._charge()
        return super().receive(source, tag, context, place)

    def go(self) -> None:
        """Lets its fibers go on; their time begins now."""
        self._since = thread_time_ns()
        super().go()

    def _tell(
        self, kind: int, amount: int, source: int | None = None, tag: int | None = None, context: int = 0
    ) -> None:
        self._charge()
        super()._tell(kind, amount, source, tag, context)

    def _block(self, mode: int, operations: Sequence[Operation | Fiber]) -> None:
        if mode != CORE:
            self._charge()
        super()._block(mode, operations)
        self._since = thread_time_ns()

    def _charge(self) -> None:
        """What it has used since it went on."""
        cycles = round((thread_time_ns() - self._since) * self.scale / self.world.cycle_ns)
        if cycles:
            self.tasks.append((Kind.COMPUTE, None, cycles, None, 0, ()))
            self.issued += 1
        self._since = thread_time_ns()


def process_type(kind: str, scale: float) -> type[Process]:
    """Ranks whose time is reckoned so."""
    if kind not in KINDS:
        raise ConfigError("compute", kind, f"one of {', '.join(KINDS)}")
    if not scale >= 0:
        raise ConfigError("compute_scale", scale, "a number of at least 0")
    return type("Process", (Measured,), {"scale": scale}) if kind == "measured" else Process


def compute(ns: float) -> None:
    """Occupies the rank that calls for so many ns of simulated time."""
    try:
        time = float(ns)
    except (TypeError, ValueError):
        time = -1.0
    if not time >= 0:
        raise ConfigError("compute", repr(ns), "a time in ns, at least 0")
    process = me()
    cycles = round(time / process.world.cycle_ns)
    if cycles:
        process.compute(cycles)


def slept_by_ranks() -> AbstractContextManager[None]:
    """Within its ``with``, ``time.sleep`` of a rank is simulated time. Threads and other processes sleep as ever."""

    def sleeping(sleep: Callable[[Any], None]) -> Callable[[Any], None]:
        def sleeps(seconds: float | SupportsIndex, /) -> None:
            process = running_rank()
            if process is None or process.world.thread != get_ident():
                return sleep(seconds)
            length = float(seconds)
            if not length >= 0:
                raise ValueError("sleep length must be non-negative")
            return compute(length * 1e9)

        return sleeps

    return patched(time, "sleep", sleeping)
