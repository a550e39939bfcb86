"""The engine of one machine: a pool of threads, as the simulator works without the interpreter lock."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from flitwork.base.errors import ConfigError, SimulationError
from flitwork.base.memory import usable_bytes
from flitwork.experiment.engines.engine import TICK_SECONDS, Engine, Outcome, Outcomes
from flitwork.experiment.jobs import Job
from flitwork.experiment.store import Store
from flitwork.results.result import Result, run_plan


class LocalEngine(Engine):
    """Runs on the cores of this machine: ``threads`` simulations at once, as many as there are cores by default.

    Where there are fewer simulations, those that gain by it share out the rest.
    """

    def __init__(self, threads: int | None = None) -> None:
        self.threads = check_jobs(threads)
        self.stop = threading.Event()
        self.under_way: dict[str, float] = {}

    def run(self, jobs: Sequence[Job], store: Store | None) -> Outcomes:
        """Runs the jobs; a stop takes a fraction of a second."""
        self.stop.clear()
        at_once = _fitting(jobs, self.threads)
        pool = ThreadPoolExecutor(at_once, thread_name_prefix="flitwork")
        try:
            shares = _shares(len(jobs), at_once, min(self.threads or available_cores(), available_cores()))
            waiting = {pool.submit(self._one, job, store, share): job for job, share in zip(jobs, shares, strict=True)}
            while waiting:
                finished, _ = wait(waiting, timeout=TICK_SECONDS, return_when=FIRST_COMPLETED)
                for future in finished:
                    job = waiting.pop(future)
                    self.under_way.pop(job.hash, None)
                    yield Outcome(job, _result(future))
                yield None
        finally:
            self.stop.set()
            pool.shutdown(wait=True, cancel_futures=True)

    def work_under_way(self) -> float:
        """What the running simulations have reported."""
        return sum(list(self.under_way.values()))

    def _one(self, job: Job, store: Store | None, threads: int) -> Result:
        """In a thread: runs one job on ``threads`` at most and stores it, unless another process has stored it."""
        found = store.get(job.hash) if store else None
        if found:
            job.release()
            return found

        def progress(_cycle: int, done: int, total: int | None) -> bool:
            if total:
                self.under_way[job.hash] = job.seconds * min(done / total, 1.0)
            return not self.stop.is_set()

        result = run_plan(job.plan(threads), progress)
        if store:
            store.put(result)
        return result


def _result(future: Future[Result]) -> Result | SimulationError:
    try:
        return future.result()
    except SimulationError as error:
        return error


def check_jobs(jobs: int | None) -> int | None:
    """``jobs`` if it is a number of simulations at once, or ``None``."""
    if jobs is None or (isinstance(jobs, int) and not isinstance(jobs, bool) and jobs >= 1):
        return jobs
    raise ConfigError("jobs", repr(jobs), "a whole number of at least 1", "leave it out to use all cores")


def _fitting(jobs: Sequence[Job], wanted: int | None) -> int:
    """As many threads as there are cores, fewer where so many simulations would not fit into memory together."""
    threads = max(1, min(wanted or available_cores(), len(jobs)))
    memory = sorted((job.memory_bytes for job in jobs), reverse=True)
    while threads > 1 and sum(memory[:threads]) > usable_bytes():
        threads -= 1
    return threads


def _shares(jobs: int, at_once: int, threads: int) -> list[int]:
    """How many threads each of the jobs may take where so many run at once.

    If all run at once, the first ones, which are the longest, have one each of what is left over.
    """
    share, over = divmod(max(threads, at_once), at_once)
    return [share + (jobs == at_once and number < over) for number in range(jobs)]


def available_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
