"""The command `flitwork` in a fork of a process that has loaded it: most of a short command's time is that of loading libraries.

Each command still has a process, a folder, an environment and an exit code of its own. What starts anew (signals, imports, closed streams, limits)
is tested with `COMMAND` of common.py instead.
"""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

#: What commands load sooner or later.
LIBRARIES = ("numpy", "pandas", "scipy.stats", "matplotlib.pyplot", "rich.progress", "flitwork.cli")


class Server:
    """A process that starts commands; `run` is `subprocess.run` of one."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
        )

    def run(
        self, args: list[str], cwd: Path, environment: dict[str, str], timeout: float
    ) -> subprocess.CompletedProcess[str]:
        assert self.process.stdin and self.process.stdout
        with tempfile.TemporaryDirectory(prefix="fork-") as folder:
            order = {"args": args, "cwd": str(cwd), "environment": environment, "timeout": timeout, "folder": folder}
            print(json.dumps(order), file=self.process.stdin, flush=True)
            code = json.loads(self.process.stdout.readline())
            out, err = (Path(folder, name).read_text("utf-8") for name in ("out", "err"))
        if code is None:
            raise subprocess.TimeoutExpired(args, timeout, out, err)
        return subprocess.CompletedProcess(args, code, out, err)

    def close(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()


def serve() -> None:
    """Carries out the orders on standard input, one after the other."""
    for library in LIBRARIES:
        __import__(library)
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            carry_out(order)
        print(json.dumps(wait(child, order["timeout"])), flush=True)


def wait(child: int, timeout: float) -> int | None:
    """The exit code of a process; `None` if it had to be killed."""
    end = time.monotonic() + timeout
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
        if time.monotonic() > end:
            os.kill(child, 9)
            os.waitpid(child, 0)
            return None
        time.sleep(0.002)
    return os.waitstatus_to_exitcode(ended[1])


def carry_out(order: dict[str, Any]) -> None:
    """In the fork: what `python -m flitwork` does."""
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["environment"])
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    for number, name in ((1, "out"), (2, "err")):
        file = os.open(os.path.join(order["folder"], name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, number)
        os.close(file)
    sys.argv = ["flitwork", *order["args"]]
    code: object = 0
    try:
        runpy.run_module("flitwork", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        code = end.code
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    if isinstance(code, str):
        print(code, file=sys.stderr)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


if __name__ == "__main__":
    serve()
