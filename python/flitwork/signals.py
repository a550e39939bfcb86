"""Signals that end a process: what runs in a ``with`` of these is closed properly first."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

#: What ends a process that does not look; Ctrl-C is Python's own KeyboardInterrupt.
_SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
_ALL = [signal.SIGINT, *_SIGNALS]


@contextlib.contextmanager
def signals_raise() -> Iterator[None]:
    """SIGTERM and SIGHUP raise ``SystemExit``; where they are ignored (``nohup``) or handled they still are.

    Outside the main thread it does nothing: only that one may say what happens at a signal.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    for number, handler in before.items():
        if handler == signal.SIG_DFL:
            signal.signal(number, _leave)
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler == signal.SIG_DFL:
                signal.signal(number, handler)


class SignalsWait:
    """Within a ``with`` of it Ctrl-C, SIGTERM and SIGHUP wait, but where they are :meth:`allowed`.

    There the first one raises, or whatever its handler does. From then on all others wait: nothing that has to be done
    before the end is left half done, however impatient somebody is. What has come and raised nothing is handled at the
    end. Outside the main thread it does nothing: no signal is handled there.
    """

    def __init__(self) -> None:
        self._before: dict[int, Any] = {}
        self._came: list[int] = []
        self._allowed = False
        self._raised = False

    def __enter__(self) -> SignalsWait:
        if threading.current_thread() is threading.main_thread():
            for number in _ALL:
                # A handler that is not Python's could not be put back.
                if (handler := signal.getsignal(number)) is not None:
                    self._before[number] = handler
                    signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        if not self._raised:
            for number in dict.fromkeys(self._came):
                signal.raise_signal(number)

    @contextlib.contextmanager
    def allowed(self) -> Iterator[None]:
        """Signals may raise in what runs within, also one that has come before."""
        self._allowed = not self._raised
        try:
            while self._came and self._allowed:
                self._handle(self._came.pop(0), None)
            yield
        finally:
            self._allowed = False

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if not self._allowed:
            self._came.append(number)
            return
        handler = self._before[number]
        if handler == signal.SIG_IGN:
            return
        self._allowed, self._raised = False, True
        if handler == signal.SIG_DFL:
            signal.signal(number, handler)
            signal.raise_signal(number)
        else:
            handler(number, frame)
        self._allowed, self._raised = True, False


def _leave(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
