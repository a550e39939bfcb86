"""Runs what a configuration says, and sums up what BookSim sums up."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, Any

from flitwork import _core
from flitwork.booksim.mapping import explained, specification
from flitwork.booksim.phases import Phases
from flitwork.booksim.settings import Settings
from flitwork.errors import ConfigError, DeadlockError
from flitwork.plain import to_json

if TYPE_CHECKING:
    from flitwork.result import Progress, Result

_STATISTICS = ("mean", "min", "max")


@dataclass(frozen=True)
class Spread:
    """An average, the least and the greatest; of rates also the nodes that have them."""

    average: float
    minimum: float
    maximum: float
    minimum_node: int | None = None
    maximum_node: int | None = None


@dataclass(frozen=True)
class Sample:
    """One simulation."""

    plan: _core.Plan
    phases: Phases
    #: What the simulator has summed up.
    values: dict[str, Any]
    #: What the simulation has counted of the traffic: see ``Simulation.tally``.
    tally: dict[str, Any]
    #: Flits that arrived in the measurement, by terminal.
    ejected_flits: list[int]
    wall_seconds: float

    @cached_property
    def spec(self) -> dict[str, Any]:
        """The resolved specification."""
        return self._plan["spec"]  # type: ignore[no-any-return]

    @property
    def seed(self) -> int:
        """Its seed."""
        return int(self.spec["run"]["seed"])

    @property
    def completion_cycles(self) -> int:
        """How long it took [cycles]."""
        return int(self.values["completion_cycles"])

    @property
    def plan_hash(self) -> str:
        """The fingerprint of its plan."""
        return self.plan.hash

    @cached_property
    def result(self) -> Result:
        """The same as a result, without its long columns."""
        from flitwork.bound import Bound
        from flitwork.result import Result

        return Result(self._plan, self.values, {}, Bound.of(self.plan), self.wall_seconds)

    @cached_property
    def _plan(self) -> dict[str, Any]:
        return json.loads(self.plan.json)  # type: ignore[no-any-return]

    @property
    def packet_latency(self) -> Spread:
        """From creation to arrival of the tail [cycles]."""
        return self._latency("packet_latency")

    @property
    def network_latency(self) -> Spread:
        """From injection of the head to arrival of the tail [cycles]."""
        return self._latency("network_latency")

    @cached_property
    def flit_latency(self) -> Spread:
        """From injection of a flit to its arrival [cycles].

        As in BookSim of all flits that arrived from the start of the measurement to the end of the run, whenever they
        were created.
        """
        if "flit_latency_cycles" in self.tally:
            return _spread(*self.tally["flit_latency_cycles"])
        of_packets = (self.tally[f"late_network_latency_{what}cycles"] for what in ("", "min_", "max_"))
        return _spread(self.tally["late_packets"], *of_packets)

    @cached_property
    def fragmentation(self) -> Spread:
        """Cycles from the arrival of a packet's head to that of its tail, beyond one a flit [cycles]."""
        if "fragmentation_cycles" in self.tally:
            return _spread(*self.tally["fragmentation_cycles"])
        none = math.nan if math.isnan(self.packet_latency.average) else 0.0
        return Spread(none, none, none)

    @cached_property
    def injected_packets(self) -> Spread:
        """Packets whose head entered the network in the measurement [packets/cycle/node]."""
        return self._rate(self.tally["injected_packets"])

    @cached_property
    def accepted_packets(self) -> Spread:
        """Packets whose tail arrived in the measurement [packets/cycle/node]."""
        return self._rate(self.tally["accepted_packets"])

    @cached_property
    def injected_flits(self) -> Spread:
        """Flits of the packets that entered [flits/cycle/node]."""
        return self._rate(self.tally["injected_flits"])

    @cached_property
    def accepted_flits(self) -> Spread:
        """Flits that arrived in the measurement [flits/cycle/node]."""
        return self._rate(self.ejected_flits)

    @property
    def hops(self) -> float:
        """Mean number of routers on the way: channels and one more."""
        hops = self.values["mean_hops"]
        return math.nan if hops is None else float(hops) + 1

    def unstable(self, latency_thres: float) -> str:
        """Why BookSim would call it unstable; empty if it would not."""
        if not self.phases.drain:
            return ""
        if 0 <= latency_thres < self.packet_latency.average:
            return f"Average latency for class 0 exceeded {latency_thres:g} cycles. Aborting simulation."
        if self.completion_cycles >= self.spec["run"]["max_cycles"]:
            return "The packets of the measurement had not all arrived at the limit of cycles."
        return ""

    def _latency(self, name: str) -> Spread:
        summary = self.values[name]
        mean, least, most = (summary[f"{what}_cycles"] if summary["count"] else math.nan for what in _STATISTICS)
        return Spread(float(mean), float(least), float(most))

    def _rate(self, counts: Sequence[int]) -> Spread:
        cycles, least, most = self.phases.end - self.phases.start, min(counts), max(counts)
        mean = sum(counts) / cycles / len(counts)
        return Spread(mean, least / cycles, most / cycles, counts.index(least), counts.index(most))


def _spread(count: int, total: int, least: int, most: int) -> Spread:
    return Spread(total / count, float(least), float(most)) if count else Spread(math.nan, math.nan, math.nan)


def _one_flit(workload: dict[str, Any]) -> bool:
    """Whether each packet is a flit: the latencies of packets are then those of flits, which need not be counted."""
    lengths = workload["packet_flits"]
    return all(one["flits"] == 1 for one in lengths) if isinstance(lengths, list) else bool(lengths == 1)


def plan(settings: Settings, phases: Phases, seed: int, threads: int | str = 1) -> _core.Plan:
    """The plan of one simulation, with these ``run.threads``; an error is about the keys that say what is wrong."""
    spec = specification(settings, phases, seed)
    if threads != 1:
        spec["run"]["threads"] = threads
    try:
        return _core.Plan(to_json(spec))
    except ConfigError as error:
        raise explained(settings, error) from None


def samples(settings: Settings, progress: Progress | None = None, threads: int | str = 1) -> Iterator[Sample]:
    """The simulations of a configuration, ``sim_count`` of them, with seeds that follow each other.

    Each measures one more period until BookSim would stop. The results are the same for any number of ``threads``.
    """
    if settings["sim_count"] < 1:
        raise settings.error("sim_count", "at least 1")
    first = Phases.of(settings)
    for seed in range(settings["seed"], settings["seed"] + settings["sim_count"]):
        try:
            sample = _sample(settings, first, seed, progress, threads)
        except DeadlockError:
            if plan(settings, first, seed, threads).threads == 1:
                raise
            sample = None
        # One thread says who waits for whom in a deadlock. Not in the handler: it keeps the first simulation.
        yield sample or _sample(settings, first, seed, progress, 1)


def _sample(settings: Settings, phases: Phases, seed: int, progress: Progress | None, threads: int | str) -> Sample:
    """One simulation, which goes on where its measurement is not long enough. It keeps no record of a packet."""
    made, started = plan(settings, phases, seed, threads), perf_counter()
    simulation = _core.Simulation(made, tally=True, flits=not _one_flit(json.loads(made.json)["spec"]["workload"]))
    tallies = [_tally(simulation, cycle, progress) for cycle in phases.looks]
    while not phases.last(settings, tallies):
        phases = phases.longer()
        made = plan(settings, phases, seed, threads)
        simulation.extend(made)
        tallies.append(_tally(simulation, phases.end, progress))
    tally = _tally(simulation, None, progress)
    values, columns = simulation.finish(arrays=False)
    wall_seconds = perf_counter() - started
    return Sample(made, phases, json.loads(values), tally, columns["ejected_flits"], wall_seconds)


def _tally(simulation: _core.Simulation, cycle: int | None, progress: Progress | None) -> dict[str, Any]:
    """What has been counted before a cycle, or when the run is over."""
    simulation.advance(cycle, progress)
    return simulation.tally
