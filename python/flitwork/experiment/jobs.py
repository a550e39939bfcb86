"""From points to jobs: every point is planned before anything runs; points with equal plans share one simulation."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from flitwork import _core
from flitwork.errors import ConfigError, SimulationError
from flitwork.experiment.points import Point
from flitwork.spec import Prepared, prepare


@dataclass(frozen=True)
class Job:
    """One simulation and the points that are answered by it.

    It keeps the specification, not the plan: the schedules of hundreds of plans would fill the memory.
    """

    spec: Prepared
    hash: str
    work: float
    memory_bytes: int
    points: tuple[Point, ...]

    def plan(self) -> _core.Plan:
        """Its plan, made anew."""
        return self.spec.plan()


@dataclass(frozen=True)
class Failure:
    """A simulation that could not be finished, and why."""

    job: Job
    error: SimulationError

    def __str__(self) -> str:
        return "\n".join(f"{point.label}: {self.error}" for point in self.job.points)


def plan_points(points: Iterable[Point]) -> list[Job]:
    """Plans every point, so that an error comes before anything runs. Equal plans are one job."""
    jobs: dict[str, Job] = {}
    tables: dict[str, _core.Table] = {}
    for point in points:
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
    memory = int(description["estimated_memory_bytes"])
    return Job(spec, plan.hash, estimated_work(plan), memory, (point,))


def estimated_work(plan: _core.Plan) -> float:
    """Flit-hops that a plan will take, roughly: good enough to start the longest first and to guess the time left.

    A terminal without anything to do is taken for a tenth of a flit-hop in each cycle.
    """
    description = json.loads(plan.json)
    spec, terminals = description["spec"], description["derived"]["terminals"]
    topology, workload, run = spec["network"]["topology"], spec["workload"], spec["run"]
    wrap = topology.get("wrap") or [topology["kind"] == "torus"] * len(topology["size"])
    hops = 1 + sum(n / (4 if w else 3) for n, w in zip(topology["size"], wrap, strict=True))
    beside = spec.get("background", {}).get("offered_load", 0.0)
    if "offered_load" in workload:
        # A steady run takes at least this long.
        prefix, phases = ("min_", run["steady"]) if "steady" in run else ("", run)
        cycles = phases[f"{prefix}warmup_cycles"] + phases[f"{prefix}measurement_cycles"]
        return float(terminals * cycles * ((workload["offered_load"] + beside) * hops + 0.1))
    if workload["kind"] == "trace":
        work, cycles = _of_trace(plan, workload["packets"]["rows"] * hops)
    else:
        flits, rate = _sent(workload, terminals)
        capacity = min(2 * len(topology["size"]) / hops, description["derived"]["controllers"])
        work, cycles = terminals * flits * hops, flits / min(rate or capacity, capacity)
    if beside:
        cycles += run["warmup_cycles"]
    return float(work + terminals * cycles * (beside * hops + 0.1))


def _of_trace(plan: _core.Plan, packet_hops: float) -> tuple[float, float]:
    """Flit-hops and least cycles of a trace, whose flits a plan does not have: by what it brings to the channels."""
    derived, bound = json.loads(plan.json)["derived"], json.loads(plan.bound())
    # The most loaded channel has about twice the load of the others.
    flit_hops = derived["routers"] * derived["network_ports"] * (bound["channel_load_cycles"] or 0.0) / 2
    return max(packet_hops, flit_hops), bound["tightest_cycles"]


def _sent(workload: Mapping[str, Any], terminals: int) -> tuple[float, float]:
    """What a terminal sends [flits], and at which rate at most [flits/cycle] (0: at any)."""
    if workload["kind"] == "burst":
        return workload["packets"] * _mean_flits(workload["packet_flits"]), workload["rate"]
    return terminals * workload.get("message_flits", 1), 0.0


def _mean_flits(packet_flits: int | Sequence[Mapping[str, float]]) -> float:
    """Mean length of a packet [flits]."""
    if isinstance(packet_flits, int):
        return packet_flits
    total = sum(one["share"] for one in packet_flits)
    return sum(one["flits"] * one["share"] for one in packet_flits) / total
