"""From points to jobs: every point is planned before anything runs; points with equal plans share one simulation.

The plan that is made for the hash is the one that runs: a job keeps it until then, where memory allows. A worker in
another process makes its own from the specification; the plan made here gives the hash and is not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from flitwork import _core
from flitwork.base.errors import ConfigError, SimulationError
from flitwork.base.memory import usable_bytes
from flitwork.experiment.point import Point
from flitwork.planning.specification import Prepared, prepare

#: Share of the usable memory that plans take at most while they wait for their runs.
_KEPT_SHARE = 0.25


class Kept:
    """A plan that waits for its run, which takes it."""

    def __init__(self, plan: _core.Plan | None = None) -> None:
        self._plan = plan

    def take(self) -> _core.Plan | None:
        """The plan, once."""
        plan, self._plan = self._plan, None
        return plan


class Keeper:
    """Keeps plans until memory for them is used up; it keeps none for runs in ``another_process``."""

    def __init__(self, another_process: bool = False) -> None:
        self._room = 0.0 if another_process else _KEPT_SHARE * usable_bytes()

    def keep(self, plan: _core.Plan) -> Kept:
        """The plan, or nothing where there is no room for it."""
        needed = plan.own_bytes
        if needed > self._room:
            return Kept()
        self._room -= needed
        return Kept(plan)


@dataclass(frozen=True)
class Job:
    """One simulation and the points that are answered by it.

    It keeps the specification, and the plan until it runs or :meth:`release` gives it up. Where there was no room for
    the plan, it is made anew: the schedules of hundreds of plans would fill the memory.
    """

    spec: Prepared
    hash: str
    work: float  # flit-hops, roughly
    seconds: float  # of one core, roughly
    memory_bytes: int
    points: tuple[Point, ...]
    kept: Kept = field(default_factory=Kept, compare=False, repr=False)

    @classmethod
    def of(cls, spec: Prepared, plan: _core.Plan, point: Point, keeper: Keeper) -> Job:
        """The job of a point that has been planned."""
        work, seconds = plan.estimated_work
        # What was read from files is in the tables.
        spec = replace(spec, read={})
        return cls(spec, plan.hash, work, seconds, plan.memory_bytes, (point,), keeper.keep(plan))

    def plan(self, threads: int = 1) -> _core.Plan:
        """Its plan, for one run.

        Unless ``run.threads`` says on how many threads, it is as many as pay, ``threads`` at most.
        """
        plan = self.kept.take() or self.spec.plan()
        paid = 1 if self.spec.states_threads else plan.threads_that_pay(threads)
        return plan if paid == 1 else plan.on_threads(paid)

    def release(self) -> None:
        """Nothing of it will run: its result is known."""
        self.kept.take()


@dataclass(frozen=True)
class Failure:
    """A simulation that could not be finished, and why."""

    job: Job
    error: SimulationError

    def __str__(self) -> str:
        return "\n".join(f"{point.label}: {self.error}" for point in self.job.points)


def plan_points(
    points: Sequence[Point],
    tell: Callable[[int, int], None] | None = None,
    *,
    another_process: bool = False,
    planned: Iterable[Job] = (),
) -> list[Job]:
    """Plans every point, so that an error comes before anything runs. Equal plans are one job.

    ``tell`` is told before each point how many are planned, of how many, and at the end that nothing is left.
    ``another_process``: whether other processes run them, which make their own plans. ``planned``: jobs of points that
    are not planned again.
    """
    tell = tell or (lambda planned, total: None)
    try:
        return _planned(points, tell, Keeper(another_process), {job.spec: job for job in planned})
    finally:
        tell(len(points), len(points))


def _planned(
    points: Sequence[Point], tell: Callable[[int, int], None], keeper: Keeper, known: dict[Prepared, Job]
) -> list[Job]:
    jobs: dict[str, Job] = {}
    tables: dict[str, _core.Table] = {}
    for i, point in enumerate(points):
        tell(i, len(points))
        try:
            job = _job(point, tables, keeper, known)
        except ConfigError as error:
            raise error.within(f"{point.path}: {point.label}: ") from None
        same = jobs.get(job.hash)
        jobs[job.hash] = replace(same, points=(*same.points, point)) if same else job
    return list(jobs.values())


def _job(point: Point, tables: dict[str, _core.Table], keeper: Keeper, known: dict[Prepared, Job]) -> Job:
    """The job of a point. ``tables`` has those of the points before: what is the same is kept once.

    What is ``known`` of the same specification is not planned again.
    """
    spec = prepare(point.spec)
    spec = replace(spec, tables=tuple(tables.setdefault(table.sha256, table) for table in spec.tables))
    found = known.get(spec)
    if found is None:
        found = Job.of(spec, spec.checked_plan(), point, keeper)
        known[found.spec] = found
    return replace(found, points=(point,))
