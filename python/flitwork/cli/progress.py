"""How far a run is: a bar with the time left on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from flitwork.cli.output import note
from flitwork.experiment import Job, Status, Watcher
from flitwork.result import Result

_LINE_SECONDS = 5.0


def watcher() -> Watcher:
    """The watcher that suits where standard error goes."""
    return Bar() if sys.stderr.isatty() else Lines()


def duration(seconds: float) -> str:
    """``3 min 20 s``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


class Bar(Watcher):
    """A progress bar."""

    def __init__(self) -> None:
        self.progress = Progress(
            TextColumn("simulating"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("points[red]{task.fields[failed]}[/]"),
            TimeElapsedColumn(),
            TextColumn("[cyan]{task.fields[left]}"),
            console=Console(stderr=True),
        )
        self.task = self.progress.add_task("run", left="", failed="")

    def begin(self, status: Status) -> None:
        """Shows the bar."""
        if status.stored:
            note(f"{status.stored} of {status.total} points are stored already")
        self.progress.start()
        self.tick(status)

    def tick(self, status: Status) -> None:
        """Moves the bar: by work, so that long points count more; the number beside it counts points."""
        left = status.seconds_left
        shown = "" if left is None else f"about {duration(left)} left"
        self.progress.update(self.task, completed=status.done, total=status.total, left=shown, failed=_failed(status))

    def end(self, status: Status) -> None:
        """Leaves the bar as it is."""
        self.progress.update(self.task, completed=status.done, total=status.total, left="", failed=_failed(status))
        self.progress.stop()


class Lines(Watcher):
    """A line every few seconds."""

    def __init__(self) -> None:
        self.last = 0.0

    def begin(self, status: Status) -> None:
        """Says what there is to do."""
        stored = f", {status.stored} stored already" if status.stored else ""
        note(f"{status.total} points{stored}")
        self.last = time.monotonic()

    def tick(self, status: Status) -> None:
        """Says how far it is, if it has not done so lately."""
        if time.monotonic() - self.last >= _LINE_SECONDS:
            self.last = time.monotonic()
            left = status.seconds_left
            note(
                f"{status.done} of {status.total} points{_failed(status)}"
                + ("" if left is None else f", about {duration(left)} left")
            )

    def finished(self, job: Job, result: Result) -> None:
        """Nothing: a line a point would be too much."""

    def end(self, status: Status) -> None:
        """Says how far it came."""
        note(f"{status.done} of {status.total} points are stored{_failed(status)}")


def _failed(status: Status) -> str:
    return f", {status.failed} failed" if status.failed else ""
