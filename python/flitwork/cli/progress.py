"""How far a command is, on standard error: many simulations, and one that takes long."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from flitwork import _core
from flitwork.cli.heartbeat import alive

if TYPE_CHECKING:
    from rich.progress import Progress

    from flitwork.experiment import Watcher
    from flitwork.results.result import Progress as Told

#: One simulation shows how far it is after so many seconds, and where there is no terminal every so many.
_PATIENCE_SECONDS = 1.0
_LINE_SECONDS = 5.0


def watcher(patient: bool = False) -> Watcher:
    """The watcher that suits where standard error goes; a ``patient`` one says nothing of what is over soon."""
    from flitwork.experiment.display import Bar, Lines

    if patient:
        return Bar(_PATIENCE_SECONDS) if sys.stderr.isatty() else Lines(quiet=True)
    return Bar() if sys.stderr.isatty() else Lines()


def cycles_to_simulate(plan: _core.Plan) -> int | None:
    """How long an open loop with a fixed measurement lasts at least [cycles]; of others it is not known before."""
    return plan.fixed_cycles


@contextmanager
def shown(what: str, cycles: int | None = None) -> Iterator[Told]:
    """Shows how far one piece of work is if it takes long; it is told as a simulation tells it.

    Its share is that of the packets, or where their number is not known that of ``cycles``; without both the cycle
    alone is shown. Work that begins anew at an earlier cycle is judged anew.
    """
    one = _One(what, cycles)
    with alive(f"{what}: no cycle yet") as begun:

        def told(cycle: int, done: int, total: int | None) -> bool:
            begun()
            return one.told(cycle, done, total)

        try:
            yield told
        finally:
            one.end()


class _One:
    def __init__(self, what: str, cycles: int | None) -> None:
        self.what, self.cycles = what, cycles
        self.began = time.monotonic()
        self.last = self.began
        self.first, self.cycle = self.began, 0
        self.bar: Progress | None = None

    def told(self, cycle: int, done: int, total: int | None) -> bool:
        """Is told about 20 times a second."""
        now = time.monotonic()
        share = _share(done, total) if total else _share(cycle, self.cycles)
        if cycle < self.cycle:
            self.first = now
        self.cycle = cycle
        left = (now - self.first) * (1 - share) / share if share else None
        if sys.stderr.isatty():
            if now - self.began >= _PATIENCE_SECONDS:
                self._draw(cycle, share, left)
        elif now - self.last >= _LINE_SECONDS:
            from flitwork.experiment.display import say

            self.last = now
            say(", ".join([f"{self.what}: cycle {cycle:,}", *_words(share, left)]))
        return True

    def _draw(self, cycle: int, share: float | None, left: float | None) -> None:
        if self.bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

            columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("cycle {task.fields[cycle]:,}"))
            console = Console(stderr=True)
            self.bar = Progress(
                *columns, TimeElapsedColumn(), TextColumn("[cyan]{task.fields[left]}"), console=console, transient=True
            )
            self.task = self.bar.add_task(self.what, total=None, cycle=0, left="")
            self.bar.start()
        words = ", ".join(_words(share, left))
        total = None if share is None else 1.0
        self.bar.update(self.task, completed=share or 0.0, total=total, cycle=cycle, left=words)

    def end(self) -> None:
        """Removes the bar."""
        if self.bar:
            self.bar.stop()


def _share(done: float, total: float | None) -> float | None:
    """What share of the work is done; ``None`` if that is not known, as where it goes on beyond what was expected."""
    return done / total if total and done < total else None


def _words(share: float | None, left: float | None) -> list[str]:
    from flitwork.experiment.display import time_left

    # Rounded down: it is not at its end before it ends.
    percent = [] if share is None else [f"{math.floor(100 * share)}%"]
    return percent if left is None else [*percent, time_left(left)]
