"""How far a run is: a bar with the time left on a terminal or in a notebook, a line now and then elsewhere."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
import time

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from flitwork.experiment.execute import Status, Watcher

_LINE_SECONDS = 5.0
#: A program shows a bar when it has run for so long; a command that plans does, too.
_PATIENCE_SECONDS = 1.0


def watcher_of_a_program() -> Watcher:
    """What a script or a notebook shows where it names no watcher: nothing where nobody looks."""
    console = Console(stderr=True)
    if console.is_jupyter:
        return Bar(_PATIENCE_SECONDS) if importlib.util.find_spec("ipywidgets") else Lines(quiet=True)
    return Bar(_PATIENCE_SECONDS) if console.is_terminal else Watcher()


def duration(seconds: float) -> str:
    """``3 min 20 s``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


def time_left(seconds: float) -> str:
    """``about 20 s left``; of what still goes on it is never nothing."""
    return f"about {duration(max(seconds, 1.0))} left"


def say(text: str) -> None:
    """A line on standard error, in one piece."""
    stream = sys.stderr
    with contextlib.suppress(OSError):
        console = Console(stderr=True, highlight=False, width=None if stream.isatty() else 200)
        console.print(text, soft_wrap=True, markup=False)


class Bar(Watcher):
    """A progress bar. With ``patience_seconds`` it appears only after that time, and it is removed at the end."""

    def __init__(self, patience_seconds: float = 0.0) -> None:
        self.patience_seconds = patience_seconds
        self.began = time.monotonic()
        self.progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("points[red]{task.fields[failed]}[/]"),
            TimeElapsedColumn(),
            TextColumn("[cyan]{task.fields[left]}"),
            console=Console(stderr=True),
            transient=patience_seconds > 0,
        )
        self.task = self.progress.add_task("simulating", left="", failed="")

    def planning(self, planned: int, total: int) -> None:
        """Shows that there is much to plan, if that takes long."""
        if planned == total:
            self.progress.update(self.task, completed=total, left="")
            self.progress.stop()
            return
        self._show(max(self.patience_seconds, _PATIENCE_SECONDS))
        left = _left(planned, total, time.monotonic() - self.began)
        self.progress.update(self.task, description="planning", completed=planned, total=total, left=left, failed="")

    def begin(self, status: Status) -> None:
        """Shows the bar."""
        if status.stored and not self.patience_seconds:
            say(f"{status.stored} of {status.total} points are stored already")
        self.progress.reset(self.task, description="simulating", total=status.total, left="", failed="")
        self.tick(status)

    def tick(self, status: Status) -> None:
        """Moves the bar: by work, so that long points count more; the number beside it counts points."""
        self._show(self.patience_seconds)
        left = status.seconds_left
        shown = "" if left is None else time_left(left)
        self.progress.update(self.task, completed=status.done, total=status.total, left=shown, failed=_failed(status))

    def end(self, status: Status) -> None:
        """Leaves the bar as it is."""
        self.progress.update(self.task, completed=status.done, total=status.total, left="", failed=_failed(status))
        self.progress.stop()

    def _show(self, patience_seconds: float) -> None:
        if time.monotonic() - self.began >= patience_seconds:
            self.progress.start()


class Lines(Watcher):
    """A line every few seconds; with ``quiet`` nothing before the first of them."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self.last = time.monotonic()

    def planning(self, planned: int, total: int) -> None:
        """Says how many points there are to plan, if that takes long."""
        if self._due():
            say(f"{planned} of {total} points are planned")

    def begin(self, status: Status) -> None:
        """Says what there is to do."""
        stored = f", {status.stored} stored already" if status.stored else ""
        if not self.quiet:
            say(f"{status.total} points{stored}")
        self.last = time.monotonic()

    def tick(self, status: Status) -> None:
        """Says how far it is, if it has not done so lately."""
        if self._due():
            left = status.seconds_left
            say(
                f"{status.done} of {status.total} points{_failed(status)}"
                + ("" if left is None else f", {time_left(left)}")
            )

    def end(self, status: Status) -> None:
        """Says how far it came."""
        if not self.quiet:
            say(f"{status.done} of {status.total} points are stored{_failed(status)}")

    def _due(self) -> bool:
        due = time.monotonic() - self.last >= _LINE_SECONDS
        if due:
            self.last = time.monotonic()
        return due


def _left(done: float, total: float, elapsed: float) -> str:
    return time_left((total - done) * elapsed / done) if done and elapsed >= 1 else ""


def _failed(status: Status) -> str:
    return f", {status.failed} failed" if status.failed else ""
