"""A job of the benchmark program: started by a launcher, told what to time by its standard input, ended."""

from __future__ import annotations

import contextlib
import queue
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import IO

from flitwork.base.errors import SimulationError

from flitwork_mpi.native.started_job import Launched

_END_SECONDS = 5.0
_LAST_LINES = 12


class BenchError(SimulationError):
    """A job of the benchmark ended, or did not answer in time; the message has what it said."""


@dataclass(frozen=True)
class Job:
    """What rank 0 says at the beginning: ranks, the fewest and the most on a server, and the library's own words."""

    ranks: int
    fewest: int
    most: int
    library: str


class Session:
    """A running job. Use it in a ``with``; the job ends with it, whatever happens."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], timeout_seconds: float) -> None:
        self.command = list(command)
        self.timeout_seconds = timeout_seconds
        self.errors: IO[str] = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115
        self.lines: queue.Queue[str | None] = queue.Queue()
        try:
            self.launched = Launched(
                self.command, environment=environment, alone=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
            )  # fmt: skip
        except OSError as error:
            self.errors.close()
            raise BenchError(f"{command[0]} cannot be started: {error.strerror or error}") from None
        self.process = self.launched.process
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self) -> Session:
        self.launched.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            self.end(kindly=kind is None)
        finally:
            self.launched.__exit__(kind, error, at)

    def _read(self) -> None:
        assert self.process.stdout
        with contextlib.suppress(ValueError, OSError):
            for line in self.process.stdout:
                self.lines.put(line)
        self.lines.put(None)

    def job(self) -> Job:
        """What the job is; to be asked first."""
        ranks, fewest, most, _, library = self._answer("job", 4)
        return Job(int(ranks), int(fewest), int(most), library.strip())

    def times(
        self, operation: str, message_bytes: int, count: int, ranks: int | None = None
    ) -> tuple[list[float], bool]:
        """Times ``count`` calls among the first ``ranks`` ranks, or all: seconds each, and whether all data were right.

        Operations: alltoall, alltoallv, broadcast, scatter, gather; point_to_point, from the first rank to the last.
        """
        among = "" if ranks is None else f" {ranks}"
        self._tell(f"run {operation} {message_bytes} {count}{among}\n")
        (answer,) = self._answer("times", 0)
        right, *times = answer.split()
        return [float(time) for time in times], right == "1"

    def _tell(self, line: str) -> None:
        assert self.process.stdin
        try:
            self.process.stdin.write(line)
            self.process.stdin.flush()
        except (OSError, ValueError):
            raise self._ended("") from None

    def _answer(self, word: str, splits: int) -> list[str]:
        """The rest of the next line that begins with ``word``; what else is printed is passed over."""
        while True:
            try:
                line = self.lines.get(timeout=self.timeout_seconds)
            except queue.Empty:
                raise self._ended(f"no answer within {self.timeout_seconds:g} s") from None
            if line is None:
                raise self._ended("")
            first, _, rest = line.partition(" ")
            if first == word:
                return rest.split(maxsplit=splits) if splits else [rest]

    def _ended(self, why: str) -> BenchError:
        self.end(kindly=False)
        code = self.process.returncode
        text = "\n".join(self.said()[-_LAST_LINES:])
        because = why or f"it ended with exit code {code}"
        said = f":\n{text}" if text else ""
        return BenchError(f"{' '.join(self.command)}: {because}{said}")

    def said(self) -> list[str]:
        """The lines on standard error so far; all of them when the job has ended."""
        self.errors.seek(0)
        return self.errors.read().strip().splitlines()

    def end(self, kindly: bool = True) -> None:
        """Ends the job: asks it to, then makes it."""
        if kindly and self.process.poll() is None:
            with contextlib.suppress(BenchError):
                self._tell("quit\n")
        with contextlib.suppress(OSError):
            if self.process.stdin:
                self.process.stdin.close()
        if kindly:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.launched.wait(_END_SECONDS)
        self.launched.end()
