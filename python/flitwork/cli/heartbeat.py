"""Lines on standard error while something works."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: Time between two lines.
LINE_SECONDS = 5.0


@contextmanager
def alive(what: str) -> Iterator[Callable[[], None]]:
    """Says every few seconds that ``what`` goes on, until the block ends or what it gives is called."""
    over, began, stream = threading.Event(), time.monotonic(), sys.stderr

    def tick() -> None:
        while not over.wait(LINE_SECONDS):
            # Whoever has closed standard error does not want to know.
            with contextlib.suppress(OSError, ValueError):
                stream.write(f"{what}: {time.monotonic() - began:.0f} s\n")
                stream.flush()

    thread = threading.Thread(target=tick, name="flitwork-alive", daemon=True)
    # Lines are worth no failure where the limits of the process allow no further thread.
    with contextlib.suppress(RuntimeError):
        thread.start()
    try:
        yield over.set
    finally:
        over.set()
        if thread.ident is not None:
            thread.join()


def now_and_then(seconds: float = LINE_SECONDS) -> Callable[[Callable[[], str]], None]:
    """A function that writes what it is given as a line, but no more often than that; text is made only then."""
    last = time.monotonic()

    def line(text: Callable[[], str]) -> None:
        nonlocal last
        if time.monotonic() - last >= seconds:
            last = time.monotonic()
            sys.stderr.write(f"{text()}\n")
            sys.stderr.flush()

    return line
