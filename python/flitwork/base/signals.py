"""Signals that end a process: what runs in a ``with`` of these is closed properly first."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any

#: What ends a process that does not look; Ctrl-C is Python's own KeyboardInterrupt.
_SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


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
    """Within a ``with`` of it signals that have a handler in Python wait, but where they are :meth:`allowed`.

    There a signal is handled at once. If its handler raises, the others wait from then on: nothing that has to be done
    before the end is left half done, however impatient somebody is. At the end those that wait are handled, but for
    more of the one that raised. Outside the main thread it does nothing: no signal is handled there.
    """

    def __init__(self) -> None:
        self._before: dict[int, Callable[[int, FrameType | None], Any]] = {}
        self._came: list[int] = []
        self._allowed = False
        self._over = False
        #: The signal whose handler has raised, as far as is known.
        self._raised: int | None = None

    def __enter__(self) -> SignalsWait:
        if threading.current_thread() is threading.main_thread():
            try:
                for number in signal.valid_signals():
                    handler = signal.getsignal(number)
                    if callable(handler):
                        self._before[number] = handler
                        signal.signal(number, self._handle)
            except BaseException:
                self.__exit__()
                raise
        return self

    def __exit__(self, *_: object) -> None:
        # What comes between these lines is handled at once.
        self._over = True
        for number, handler in self._before.items():
            # A handler may have put another one in its place.
            if signal.getsignal(number) == self._handle:
                signal.signal(number, handler)
        self._handle_all([number for number in dict.fromkeys(self._came) if number != self._raised])

    @contextlib.contextmanager
    def allowed(self) -> Iterator[None]:
        """Signals are handled in what runs within, also those that came before."""
        # If one has raised, somebody has caught that, and goes on.
        self._raised, self._allowed = None, True
        try:
            while self._came:
                self._handle(self._came.pop(0), None)
            yield
        finally:
            self._allowed = False

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._over:
            self._before[number](number, frame)
        elif self._allowed:
            self._allowed, self._raised = False, number
            self._before[number](number, frame)
            self._allowed, self._raised = True, None
        else:
            self._came.append(number)

    def _handle_all(self, numbers: Sequence[int]) -> None:
        """Handles signals that have waited, whatever the handlers of some of them raise."""
        for place, number in enumerate(numbers):
            handler = signal.getsignal(number)
            try:
                if callable(handler):
                    handler(number, None)
            except BaseException:
                self._handle_all(numbers[place + 1 :])
                raise


def _leave(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
