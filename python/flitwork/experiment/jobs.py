"""From points to jobs: every point is planned before anything runs; points with equal plans share one simulation."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from flitwork import _core
from flitwork.base.errors import ConfigError, SimulationError
from flitwork.experiment.point import Point
from flitwork.planning.specification import Prepared, prepare


@dataclass(frozen=True)
class Job:
    """One simulation and the points that are answered by it.

    It keeps the specification, not the plan: the schedules of hundreds of plans would fill the memory.
    """

    spec: Prepared
    hash: str
    work: float  # flit-hops, roughly
    seconds: float  # of one core, roughly
    memory_bytes: int
    points: tuple[Point, ...]

    def plan(self, threads: int = 1) -> _core.Plan:
        """Its plan, made anew; unless ``run.threads`` says how many, on as many threads as pay, ``threads`` at most."""
        plan = self.spec.plan()
        paid = plan.threads_that_pay(threads)
        spec = json.loads(self.spec.text) if paid > 1 else {}
        if paid == 1 or "threads" in spec.get("run", {}):
            return plan
        spec.setdefault("run", {})["threads"] = paid
        return replace(self.spec, text=json.dumps(spec)).plan()


@dataclass(frozen=True)
class Failure:
    """A simulation that could not be finished, and why."""

    job: Job
    error: SimulationError

    def __str__(self) -> str:
        return "\n".join(f"{point.label}: {self.error}" for point in self.job.points)


def plan_points(points: Sequence[Point], tell: Callable[[int, int], None] | None = None) -> list[Job]:
    """Plans every point, so that an error comes before anything runs. Equal plans are one job.

    ``tell`` is told before each point how many are planned, of how many, and at the end that nothing is left.
    """
    tell = tell or (lambda planned, total: None)
    try:
        return _planned(points, tell)
    finally:
        tell(len(points), len(points))


def _planned(points: Sequence[Point], tell: Callable[[int, int], None]) -> list[Job]:
    jobs: dict[str, Job] = {}
    tables: dict[str, _core.Table] = {}
    for i, point in enumerate(points):
        tell(i, len(points))
        try:
            job = _job(point, tables)
        except ConfigError as error:
            raise error.within(f"{point.path}: {point.label}: ") from None
        same = jobs.get(job.hash)
        jobs[job.hash] = replace(same, points=(*same.points, point)) if same else job
    return list(jobs.values())


def _job(point: Point, tables: dict[str, _core.Table]) -> Job:
    """The job of a point. ``tables`` has those of the points before: what is the same is kept once."""
    spec, plan = prepare(point.spec)
    spec = replace(spec, tables=tuple(tables.setdefault(table.sha256, table) for table in spec.tables))
    description = json.loads(plan.json)
    described, memory = description["described"], int(description["estimated_memory_bytes"])
    work, seconds = (float(described[name]) for name in ("estimated_work_flit_hops", "estimated_seconds"))
    return Job(spec, plan.hash, work, seconds, memory, (point,))
