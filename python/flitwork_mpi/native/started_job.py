"""A launcher and the ranks that it starts: run to their end, or ended with this process, whatever happens.

Launchers end their ranks when they are interrupted, but not all of them, not always: ranks may ignore signals, and a
launcher that is killed may leave its ranks behind, in sessions of their own. All processes of a job on this machine
carry a mark in their environment, by which they are found.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import IO

import psutil
from flitwork.base.signals import signals_raise

MARK = "FLITWORK_MPI_JOB"
#: How long a launcher may take after Ctrl-C, after SIGTERM and after SIGKILL, and ranks that outlive it after each.
_LAUNCHER_SECONDS = 5.0
_RANK_SECONDS = 2.0
_PR_SET_PDEATHSIG = 1
Stream = int | IO[str] | IO[bytes] | None


class Launched:
    """A job that a command starts. Use it in a ``with``: all its processes on this machine end with that.

    While it runs, SIGTERM and SIGHUP raise ``SystemExit``, so that it is ended for them, too. Where this process is
    killed, the launcher gets SIGTERM (on Linux); ranks that ignore what it then sends them go on. What ranks of a job
    that came to its end (exit code 0) have left running on purpose goes on.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str] | None = None,
        alone: bool = False,
        stdin: Stream = None,
        stdout: Stream = None,
        stderr: Stream = None,
    ) -> None:
        """``alone``: in a session of its own, where Ctrl-C does not reach it. Raises ``OSError`` as ``Popen`` does."""
        self.mark = f"{os.getpid()}-{uuid.uuid4().hex}"
        self._reached_by_interrupts = not alone
        self._signals = contextlib.ExitStack()
        self.process = subprocess.Popen(
            list(command), stdin=stdin, stdout=stdout, stderr=stderr, text=True, errors="replace",
            env={**os.environ, **(environment or {}), MARK: self.mark}, start_new_session=alone,
            preexec_fn=_dies_with_us,
        )  # fmt: skip

    def __enter__(self) -> Launched:
        self._signals.enter_context(signals_raise())
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            self.end(error)
        finally:
            self._signals.close()

    def wait(self, seconds: float | None = None) -> int:
        """The exit code of the launcher. Raises ``subprocess.TimeoutExpired`` where it takes longer than that."""
        return self.process.wait(seconds)

    def end(self, error: BaseException | None = None) -> None:
        """Ends what still runs, within half a minute; ``error``: why, if there is a reason.

        Another Ctrl-C makes the next, harder step come at once.
        """
        if error is None and self.process.poll() == 0:
            return
        steps = [self.process.terminate, self.process.kill]
        if isinstance(error, KeyboardInterrupt) and self._reached_by_interrupts:
            # A launcher that is told twice may leave its ranks alone: it gets time for what it was told by Ctrl-C.
            steps.insert(0, lambda: None)
        for step in steps:
            if self.process.poll() is not None:
                break
            step()
            with contextlib.suppress(subprocess.TimeoutExpired, KeyboardInterrupt, SystemExit):
                self.process.wait(_LAUNCHER_SECONDS)
        self._end_ranks()

    def _end_ranks(self) -> None:
        """Ranks that outlive their launcher: most notice that it is gone, the others are ended."""
        for step in (lambda process: None, psutil.Process.terminate, psutil.Process.kill):
            left = self.processes()
            for process in left:
                with contextlib.suppress(psutil.Error):
                    step(process)
            with contextlib.suppress(KeyboardInterrupt, SystemExit):
                psutil.wait_procs(left, _RANK_SECONDS)

    def processes(self) -> list[psutil.Process]:
        """All processes of this job that run on this machine."""
        return list(_marked(self.mark))


def _marked(mark: str) -> Iterator[psutil.Process]:
    for process in psutil.process_iter():
        # What others run cannot be looked into, and what has ended has no environment.
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get(MARK) == mark:
                yield process


#: Looked up here: between fork and exec nothing may be loaded.
_PRCTL = ctypes.PyDLL(None).prctl if sys.platform == "linux" else None


def _dies_with_us() -> None:
    """Between fork and exec: the launcher gets SIGTERM when this process is gone, however it went."""
    if _PRCTL is not None:
        _PRCTL(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
