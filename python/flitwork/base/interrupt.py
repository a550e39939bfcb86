"""Ctrl-C while the command ``flitwork`` still loads: "interrupted" and exit code 130, as ever after, and no traceback.

The package is loaded before any code of its command line can catch an interrupt, so it imports this module first. Only
where the program is the command does it do anything; a program that imports flitwork keeps its own ways.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

EXIT_CODE = 130


def _is_command() -> bool:
    """Whether this is the console script, or ``python -m flitwork``, whose name is not known yet at first."""
    program = sys.argv[0] if sys.argv else ""
    if program == "-m" and "-m" in sys.orig_argv:
        return sys.orig_argv[sys.orig_argv.index("-m") + 1] == "flitwork"
    return Path(program).stem == "flitwork" or Path(program).parts[-2:] == ("flitwork", "__main__.py")


def _leave(*_: object) -> None:
    os.write(2, b"interrupted\n")
    # Nothing is open yet; an exception would have to pass through libraries that are half imported.
    os._exit(EXIT_CODE)


def loaded() -> None:
    """From now on an interrupt is a ``KeyboardInterrupt`` again; of several within a second one is."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, _interrupt)


_AT_ONCE_SECONDS = 1.0
_last: list[float] = []


def _interrupt(*_: object) -> None:
    # Whoever is impatient does not mean to interrupt what closes files and ends processes.
    now = time.monotonic()
    if not _last or now - _last[-1] > _AT_ONCE_SECONDS:
        _last[:] = [now]
        raise KeyboardInterrupt


def over() -> None:
    """The command ends: from now on interrupts change nothing."""
    if _is_command() and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)


if (
    _is_command()
    and threading.current_thread() is threading.main_thread()
    # Elsewhere it is ignored, as in what a shell runs in the background, or somebody else's.
    and signal.getsignal(signal.SIGINT) is signal.default_int_handler
):
    signal.signal(signal.SIGINT, _leave)
