"""Runs points on all cores: longest first, each stored as soon as it is finished, stoppable at any time."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from typing import Any

from flitwork import _core
from flitwork.errors import ConfigError, SimulationError
from flitwork.experiment.points import Point
from flitwork.experiment.store import Store
from flitwork.result import Result, run_plan
from flitwork.spec import to_json

_TICK_SECONDS = 0.1
_MEMORY_SHARE = 0.75


@dataclass(frozen=True)
class Job:
    """One simulation and the points that are answered by it.

    It keeps the specification, not the plan: the schedules of hundreds of plans would fill the memory.
    """

    spec: str
    hash: str
    work: float
    memory_bytes: int
    points: tuple[Point, ...]

    def plan(self) -> _core.Plan:
        """Its plan, made anew."""
        return _core.Plan(self.spec)


@dataclass
class Status:
    """How far a run is; work is in arbitrary units that are proportional to time."""

    total: int
    stored: int = 0
    done: int = 0
    failed: int = 0
    work: float = 0.0
    work_done: float = 0.0
    started: float = field(default_factory=time.monotonic)

    @property
    def seconds_left(self) -> float | None:
        """Estimate from the work done so far; ``None`` as long as there is nothing to judge by."""
        elapsed = time.monotonic() - self.started
        if self.work_done <= 0 or elapsed < 1:
            return None
        return max(self.work - self.work_done, 0.0) * elapsed / self.work_done


class Watcher:
    """Is told about the progress of a run. This one says nothing."""

    def begin(self, status: Status) -> None:
        """All points are planned; the run starts."""

    def tick(self, status: Status) -> None:
        """Called several times a second, and after each finished point."""

    def finished(self, job: Job, result: Result) -> None:
        """One point is finished and stored."""

    def end(self, status: Status) -> None:
        """The run is over, also when it was interrupted."""


def plan_points(points: Iterable[Point]) -> list[Job]:
    """Plans every point, so that an error comes before anything runs. Equal plans are one job."""
    jobs: dict[str, Job] = {}
    for point in points:
        try:
            job = _job(point)
        except ConfigError as error:
            raise error.within(f"{point.path}: {point.label}: ") from None
        same = jobs.get(job.hash)
        jobs[job.hash] = replace(same, points=(*same.points, point)) if same else job
    return list(jobs.values())


def _job(point: Point) -> Job:
    spec = to_json(point.spec)
    plan = _core.Plan(spec)
    description = json.loads(plan.json)
    memory = int(description["estimated_memory_bytes"])
    return Job(spec, plan.hash, estimated_work(description), memory, (point,))


def estimated_work(plan: Mapping[str, Any]) -> float:
    """Flit-hops that a plan will take, roughly: good enough to start the longest first and to guess the time left."""
    network, workload, run = (plan["spec"][key] for key in ("network", "workload", "run"))
    topology, terminals = network["topology"], plan["derived"]["terminals"]
    wrap = topology.get("wrap") or [topology["kind"] == "torus"] * len(topology["size"])
    hops = 1 + sum(n / (4 if w else 3) for n, w in zip(topology["size"], wrap, strict=True))
    if workload["kind"] == "uniform":
        cycles = run["warmup_cycles"] + run["measurement_cycles"]
        return float(terminals * cycles * (workload["offered_load"] * hops + 0.1))
    return float(terminals * terminals * workload.get("message_flits", 1) * hops)


def execute(
    jobs: Sequence[Job], store: Store | None = None, workers: int | None = None, watcher: Watcher | None = None
) -> dict[str, Result]:
    """The result of every job by plan hash. What the store has already is not computed again.

    On ``KeyboardInterrupt`` the running simulations stop within a fraction of a second; what is finished stays stored.
    A simulation that fails does not stop the others; the first failure is raised at the end.
    """
    watcher = watcher or Watcher()
    results = {job.hash: found for job in jobs if store and (found := store.get(job.hash))}
    left = sorted((job for job in jobs if job.hash not in results), key=lambda job: -job.work)
    status = Status(len(jobs), stored=len(results), done=len(results), work=sum(job.work for job in left))
    watcher.begin(status)
    try:
        if left:
            _Run(left, store, status, watcher, results).go(_workers(left, workers))
    finally:
        watcher.end(status)
    return results


def _workers(jobs: Sequence[Job], wanted: int | None) -> int:
    """As many threads as there are cores, fewer where so many simulations would not fit into memory together."""
    workers = max(1, min(wanted or available_cores(), len(jobs)))
    memory = sorted((job.memory_bytes for job in jobs), reverse=True)
    limit = _MEMORY_SHARE * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    while workers > 1 and sum(memory[:workers]) > limit:
        workers -= 1
    return workers


def available_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Run:
    """One run of a pool of threads; the simulator works without the interpreter lock."""

    def __init__(
        self, jobs: Sequence[Job], store: Store | None, status: Status, watcher: Watcher, results: dict[str, Result]
    ) -> None:
        self.jobs = jobs
        self.store = store
        self.status = status
        self.watcher = watcher
        self.results = results
        self.stop = threading.Event()
        self.progress: dict[str, float] = {}
        self.finished_work = 0.0

    def go(self, workers: int) -> None:
        failures: list[SimulationError] = []
        with ThreadPoolExecutor(workers, thread_name_prefix="flitwork") as pool:
            waiting = {pool.submit(self._one, job): job for job in self.jobs}
            try:
                while waiting:
                    finished, _ = wait(waiting, timeout=_TICK_SECONDS, return_when=FIRST_COMPLETED)
                    for future in finished:
                        self._collect(waiting.pop(future), future, failures)
                    self.status.work_done = self.finished_work + sum(list(self.progress.values()))
                    self.watcher.tick(self.status)
            except BaseException:
                self.stop.set()
                pool.shutdown(wait=True, cancel_futures=True)
                raise
        if failures:
            raise failures[0]

    def _collect(self, job: Job, future: Future[Result], failures: list[SimulationError]) -> None:
        self.progress.pop(job.hash, None)
        self.finished_work += job.work
        try:
            result = future.result()
        except SimulationError as error:
            self.status.failed += 1
            failures.append(type(error)(f"{job.points[0].label}: {error}"))
            return
        self.status.done += 1
        self.results[job.hash] = result
        self.watcher.finished(job, result)

    def _one(self, job: Job) -> Result:
        """In a thread: runs one job, unless another process has stored it in the meantime, and stores it."""
        found = self.store.get(job.hash) if self.store else None
        if found:
            return found

        def progress(_cycle: int, done: int, total: int | None) -> bool:
            if total:
                self.progress[job.hash] = job.work * min(done / total, 1.0)
            return not self.stop.is_set()

        result = run_plan(job.plan(), progress)
        if self.store:
            self.store.put(result)
        return result
