"""Runs jobs on an engine: longest first, each stored as soon as it is finished, stoppable at any time."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from flitwork.base.errors import SimulationError, StorageError
from flitwork.experiment.engines import Engine, LocalEngine, Outcome
from flitwork.experiment.jobs import Failure, Job
from flitwork.experiment.store import Store
from flitwork.results.result import Result


@dataclass
class Status:
    """How far a run is; work is the estimated time of a core [s], so only its shares are to be trusted."""

    total: int
    stored: int = 0
    done: int = 0
    failed: int = 0
    work: float = 0.0
    work_done: float = 0.0
    started: float = field(default_factory=time.monotonic)

    @property
    def seconds_left(self) -> float | None:
        """Estimate from the work done so far.

        ``None`` as long as there is nothing to judge by, and where simulations go on beyond the work that was expected.
        """
        elapsed = time.monotonic() - self.started
        if self.work_done <= 0 or elapsed < 1 or self.work_done >= self.work:
            return None
        return (self.work - self.work_done) * elapsed / self.work_done


class Watcher:
    """Is told about the progress of a run. This one says nothing."""

    def planning(self, planned: int, total: int) -> None:
        """Called before each point is planned, and once when all are, or one cannot be: then both numbers are equal."""

    def begin(self, status: Status) -> None:
        """All points are planned; the run starts."""

    def tick(self, status: Status) -> None:
        """Called several times a second, and after each finished point."""

    def finished(self, job: Job, result: Result) -> None:
        """One point is finished and stored."""

    def end(self, status: Status) -> None:
        """The run is over, also when it was interrupted."""


def default_watcher() -> Watcher:
    """A bar on a terminal and in a notebook; nothing elsewhere."""
    from flitwork.experiment.display import watcher_of_a_program

    return watcher_of_a_program()


@dataclass(frozen=True)
class Execution:
    """What came of the jobs: the results by plan hash, and the jobs that failed."""

    results: dict[str, Result]
    failures: list[Failure]


def execute(
    jobs: Sequence[Job],
    store: Store | None = None,
    engine: Engine | None = None,
    watcher: Watcher | None = None,
    kept: dict[str, Result] | None = None,
) -> Execution:
    """Runs every job that the store has no result of.

    Results go into ``kept`` if it is given; they stay there when the run is interrupted.
    On ``KeyboardInterrupt`` the running simulations stop within a fraction of a second; what is finished stays stored.
    A simulation that fails does not stop the others; a full disk does.
    """
    watcher = watcher or default_watcher()
    done = Execution({} if kept is None else kept, [])
    done.results.update({job.hash: found for job in jobs if store and (found := store.get(job.hash))})
    for job in jobs:
        if job.hash in done.results:
            job.release()
    left = sorted((job for job in jobs if job.hash not in done.results), key=lambda job: -job.seconds)
    status = Status(len(jobs), stored=len(done.results), done=len(done.results), work=sum(job.seconds for job in left))
    try:
        watcher.begin(status)
        if left:
            _run(left, store, engine or LocalEngine(), done, status, watcher)
    except StorageError as error:
        # The points that are left would be simulated for nothing.
        raise StorageError(f"{error}: it continues with what is stored") from None
    finally:
        watcher.end(status)
    order = {job.hash: i for i, job in enumerate(jobs)}
    done.failures.sort(key=lambda failure: order[failure.job.hash])
    return done


def _run(
    jobs: Sequence[Job], store: Store | None, engine: Engine, done: Execution, status: Status, watcher: Watcher
) -> None:
    finished_work = 0.0
    with contextlib.closing(engine.run(jobs, store)) as outcomes:
        for outcome in outcomes:
            if outcome is not None:
                finished_work += outcome.job.seconds
                _collect(outcome, done, status, watcher)
            status.work_done = finished_work + engine.work_under_way()
            watcher.tick(status)


def _collect(outcome: Outcome, done: Execution, status: Status, watcher: Watcher) -> None:
    if isinstance(outcome.result, SimulationError):
        status.failed += 1
        done.failures.append(Failure(outcome.job, outcome.result))
        return
    status.done += 1
    done.results[outcome.job.hash] = outcome.result
    watcher.finished(outcome.job, outcome.result)
