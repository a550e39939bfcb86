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
from flitwork.base.errors import ConfigError
from flitwork.booksim.mapping import explained, specification
from flitwork.booksim.phases import Phases
from flitwork.booksim.settings import Settings
from flitwork.values.plain import to_json

if TYPE_CHECKING:
    from flitwork.results.result import Progress, Result

_STATISTICS = ("mean", "min", "max")
#: BookSim looks at the mean latency so often in the drain [cycles].
_DRAIN_CYCLES = 1000


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
    #: Why BookSim would have given up, and whether it would have done so before the measurement.
    gave_up: str = ""
    in_warm_up: bool = False

    @cached_property
    def spec(self) -> dict[str, Any]:
        """The resolved specification."""
        return self._plan["spec"]  # type: ignore[no-any-return]

    @property
    def seed(self) -> int:
        """The seed of the simulation."""
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
        """The simulation as a result, without its long columns."""
        from flitwork.planning.bound import Bound
        from flitwork.results.result import Result

        return Result(self._plan, self.values, {}, Bound.of(self.plan), self.wall_seconds)

    @cached_property
    def _plan(self) -> dict[str, Any]:
        return self.plan.contents()

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

    @property
    def unstable(self) -> str:
        """Why BookSim would call it unstable; empty if it would not."""
        if self.gave_up:
            return self.gave_up
        if self.phases.drain and self.completion_cycles >= self.spec["run"]["max_cycles"]:
            return "The packets of the measurement had not all arrived at the limit of cycles."
        return ""

    @property
    def status(self) -> str:
        """``saturated`` where it is unstable; else what the simulation says: see :attr:`flitwork.Result.status`."""
        return "saturated" if self.unstable else str(self.values["status"])

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
        yield _sample(settings, first, seed, progress, threads)


def _sample(settings: Settings, phases: Phases, seed: int, progress: Progress | None, threads: int | str) -> Sample:
    """One simulation, which goes on where its measurement is not long enough. It keeps no record of a packet."""
    started = perf_counter()
    made = plan(settings, phases, seed, threads)
    running = _Running(made, settings, progress)
    tallies = running.warm_up(phases)
    if running.gave_up:
        # What BookSim prints then is of the periods since it began its averages anew.
        phases = phases.given_up_in_warm_up(running.now)
        made = plan(settings, phases, seed, threads)
        again = _Running(made, settings, progress)
        again.finish(phases)
        return again.sample(made, phases, started, running.gave_up, in_warm_up=True)
    while not running.gave_up:
        period = len(tallies) - 1
        if period > phases.measured:
            phases = phases.longer()
            made = plan(settings, phases, seed, threads)
            running.simulation.extend(made)
        tallies.append(running.measure(phases, period))
        if period >= phases.measured and phases.last(settings, tallies):
            break
    if running.gave_up:
        phases = phases.cut(running.now)
        made = plan(settings, phases, seed, threads)
    running.finish(phases)
    return running.sample(made, phases, started, running.gave_up)


class _Running:
    """A simulation that gives up where BookSim does: where the mean latency of its packets passes ``latency_thres``.

    BookSim looks at the end of every period, and in the drain every 1000 cycles. To the packets that have arrived since
    its averages began it adds each flit under way, with the time since its packet was created.
    """

    def __init__(self, made: _core.Plan, settings: Settings, progress: Progress | None) -> None:
        # Of packets of one flit the tally has it already.
        flits = not _one_flit(made.contents()["spec"]["workload"])
        self.simulation = _core.Simulation(made, tally=True, flits=flits)
        self.limit: float = settings["latency_thres"] if settings["sim_type"] == "latency" else -1.0
        self.progress = progress
        self.gave_up = ""

    @property
    def now(self) -> int:
        return self.simulation.now

    def warm_up(self, phases: Phases) -> list[dict[str, Any]]:
        """What had been counted when the averages of the last period began, and at the end of it."""
        since = now = self.simulation.tally
        for period in range(phases.warmup):
            # In the warm-up they start anew every second period.
            since = since if period % 2 else now
            now = self._advance((period + 1) * phases.period_cycles)
            arrived = {name: now[name] - since[name] for name in ("packet_latency_cycles", "packets")}
            if self._gives_up(arrived["packet_latency_cycles"], arrived["packets"], now):
                break
        return [since, now]

    def measure(self, phases: Phases, period: int) -> dict[str, Any]:
        """What had been counted at the end of a period of the measurement, from 1 on."""
        return self._look(phases.start + period * phases.period_cycles)

    def finish(self, phases: Phases) -> None:
        """To the end of the run."""
        if phases.drain and self.limit >= 0:
            while not self.gave_up and self.simulation.advance(self.now + _DRAIN_CYCLES, self.progress) != "ended":
                self._look(self.now)
        if not self.gave_up:
            self.simulation.advance(None, self.progress)

    def sample(
        self, made: _core.Plan, phases: Phases, started: float, gave_up: str, in_warm_up: bool = False
    ) -> Sample:
        """What came of it."""
        self.simulation.stop()
        tally = self.simulation.tally
        values, columns = self.simulation.finish(arrays=False)
        ejected: list[int] = columns["ejected_flits"]
        wall_seconds = perf_counter() - started
        return Sample(made, phases, json.loads(values), tally, ejected, wall_seconds, gave_up, in_warm_up)

    def _look(self, cycle: int) -> dict[str, Any]:
        now = self._advance(cycle)
        self._gives_up(now["measured_packet_latency_cycles"], now["measured_packets"], now)
        return now

    def _advance(self, cycle: int) -> dict[str, Any]:
        self.simulation.advance(cycle, self.progress)
        return self.simulation.tally

    def _gives_up(self, latency_cycles: int, packets: int, now: dict[str, Any]) -> bool:
        flits = now["under_way_flits"]
        waited = (self.now * flits - now["under_way_created_cycles"]) % 2**64
        if self.limit >= 0 and latency_cycles + waited > self.limit * (packets + flits):
            self.gave_up = f"Average latency for class 0 exceeded {self.limit:g} cycles. Aborting simulation."
        return bool(self.gave_up)
