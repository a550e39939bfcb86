"""Claims and figures in processes of their own, while the simulations of the next study run."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from flitwork.base.libraries import pd
from flitwork.studies.claims import Finding
from flitwork.studies.reproduce import Reproduction, Simulated, claims_of, draw_figures

T = TypeVar("T")
#: What a process gives: the value, and what it warned of.
_WithWarnings = tuple[T, list[str]]

#: One for the claims of a study, one for its figures.
_PROCESSES = 2


@dataclass(frozen=True)
class Pending:
    """A study whose claims are being judged and whose figures are being drawn."""

    simulated: Simulated
    claims: Future[_WithWarnings[list[Finding]]] | None
    figures: Future[_WithWarnings[list[Path]]] | None

    @property
    def ready(self) -> bool:
        """Whether :meth:`result` need not wait."""
        return all(one is None or one.done() for one in (self.claims, self.figures))

    def result(self) -> Reproduction:
        """The verdicts and figures; waits for them."""
        made = self.simulated.made
        return self.simulated.judged(
            lambda: _result_of(self.claims, lambda: claims_of(*made)),
            lambda: _result_of(self.figures, lambda: draw_figures(*made)),
        )


class Judges:
    """Processes that judge and draw; :func:`judges` makes them."""

    def __init__(self, pool: ProcessPoolExecutor) -> None:
        self._pool = pool

    def take(self, simulated: Simulated) -> Pending:
        """Begins with a study, and does not wait for what comes of it."""
        made = simulated.made
        return Pending(simulated, self._begun(claims_of, *made), self._begun(draw_figures, *made))

    def _begun(
        self, use: Callable[[str, pd.DataFrame, Path], T], name: str, table: pd.DataFrame, folder: Path
    ) -> Future[_WithWarnings[T]] | None:
        try:
            return self._pool.submit(_with_warnings, use, name, table, folder)
        except BrokenProcessPool:
            return None


@contextlib.contextmanager
def judges() -> Iterator[Judges]:
    """Inside, there are processes that judge and draw; what they have not begun at an error is left."""
    others = multiprocessing.active_children()
    context = multiprocessing.get_context("spawn")  # simulations have threads, which a fork would not survive
    pool = ProcessPoolExecutor(_PROCESSES, mp_context=context, initializer=_prepared)
    try:
        yield Judges(pool)
    except BaseException:
        for process in multiprocessing.active_children():
            if process not in others:
                process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _prepared() -> None:
    """In a process, at its beginning: Ctrl-C is the parent's to answer, and it does not outlive the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent:
        parent.join()
        os._exit(1)


def _with_warnings(use: Callable[..., T], *made: Any) -> _WithWarnings[T]:
    """In a process: what ``use`` gives, and what it warned of."""
    with warnings.catch_warnings(record=True) as caught:
        return use(*made), [str(one.message) for one in caught]


def _result_of(future: Future[_WithWarnings[T]] | None, here: Callable[[], T]) -> T:
    """What a process gave. If it was killed, for want of memory for example, the work is done ``here``."""
    try:
        value, said = future.result() if future else (here(), [])
    except BrokenProcessPool:
        return here()
    for message in said:
        warnings.warn(message, stacklevel=2)
    return value
