"""Runs what a configuration says, and sums up what BookSim sums up."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from flitwork import _core
from flitwork.booksim.mapping import explained, specification
from flitwork.booksim.phases import Phases
from flitwork.booksim.settings import Settings
from flitwork.errors import ConfigError
from flitwork.result import Progress, Result, run_plan
from flitwork.spec import to_json


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

    result: Result
    phases: Phases

    @property
    def packet_latency(self) -> Spread:
        """From creation to arrival of the tail [cycles]."""
        return self._latency("packet_latency")

    @property
    def network_latency(self) -> Spread:
        """From injection of the head to arrival of the tail [cycles]."""
        return self._latency("network_latency")

    @cached_property
    def one_flit(self) -> bool:
        """Whether each packet is a flit: the records of packets say then what BookSim measures of flits."""
        lengths = self.result.spec["workload"]["packet_flits"]
        return all(one["flits"] == 1 for one in lengths) if isinstance(lengths, list) else lengths == 1

    @cached_property
    def flit_latency(self) -> Spread:
        """From injection of a flit to its arrival [cycles], NaN unless each packet is a flit.

        As in BookSim of all flits that arrived from the start of the measurement to the end of the run, whenever they
        were created.
        """
        packets = self.result.packets
        arrived = packets[(packets["arrived_cycle"] >= self.phases.start).fillna(False)]
        if not self.one_flit or arrived.empty:
            return Spread(math.nan, math.nan, math.nan)
        cycles = arrived["network_latency_cycles"].astype(float)
        return Spread(float(cycles.mean()), float(cycles.min()), float(cycles.max()))

    @property
    def fragmentation(self) -> Spread:
        """Cycles in which a packet's flits arrive and it does not [cycles]: 0 for one flit, NaN (unknown) for more."""
        none = 0.0 if self.one_flit and not math.isnan(self.packet_latency.average) else math.nan
        return Spread(none, none, none)

    @cached_property
    def injected_packets(self) -> Spread:
        """Packets whose head entered the network in the measurement [packets/cycle/node]."""
        return self._rate(np.bincount(self._within("injected_cycle")["src"], minlength=self._nodes))

    @cached_property
    def accepted_packets(self) -> Spread:
        """Packets whose tail arrived in the measurement [packets/cycle/node]."""
        return self._rate(np.bincount(self._within("arrived_cycle")["dst"], minlength=self._nodes))

    @cached_property
    def injected_flits(self) -> Spread:
        """Flits of the packets that entered [flits/cycle/node]."""
        entered = self._within("injected_cycle")
        return self._rate(np.bincount(entered["src"], weights=entered["flits"], minlength=self._nodes))

    @cached_property
    def accepted_flits(self) -> Spread:
        """Flits that arrived in the measurement [flits/cycle/node]."""
        return self._rate(self.result.columns["ejected_flits"])

    @property
    def hops(self) -> float:
        """Mean number of routers on the way: channels and one more."""
        return float(self.result.row["mean_hops"]) + 1

    def unstable(self, latency_thres: float) -> str:
        """Why BookSim would call it unstable; empty if it would not."""
        if not self.phases.drain:
            return ""
        if 0 <= latency_thres < self.packet_latency.average:
            return f"Average latency for class 0 exceeded {latency_thres:g} cycles. Aborting simulation."
        if self.result.completion_cycles >= self.result.spec["run"]["max_cycles"]:
            return "The packets of the measurement had not all arrived at the limit of cycles."
        return ""

    @property
    def _nodes(self) -> int:
        return int(self.result.plan["derived"]["terminals"])

    def _latency(self, name: str) -> Spread:
        row = self.result.row
        mean, least, most = (float(row[f"{name}_{what}_cycles"]) for what in ("mean", "min", "max"))
        return Spread(mean, least, most)

    def _within(self, column: str) -> pd.DataFrame:
        """The packets of which something happened in the measurement."""
        cycles = self.result.packets[column]
        return self.result.packets[
            (cycles >= self.phases.start).fillna(False) & (cycles < self.phases.end).fillna(False)
        ]

    def _rate(self, counts: np.ndarray[Any, Any]) -> Spread:
        rates = counts / (self.phases.end - self.phases.start)
        least, most = int(rates.argmin()), int(rates.argmax())
        return Spread(float(rates.mean()), float(rates[least]), float(rates[most]), least, most)


def plan(settings: Settings, phases: Phases, seed: int, packets: bool = False) -> _core.Plan:
    """The plan of one simulation; an error is about the keys that say what is wrong."""
    spec = specification(settings, phases, seed)
    if packets:
        spec["run"]["record"] = {"packets": True}
    try:
        return _core.Plan(to_json(spec))
    except ConfigError as error:
        raise explained(settings, error) from None


def samples(settings: Settings, progress: Progress | None = None) -> Iterator[Sample]:
    """The simulations of a configuration, ``sim_count`` of them, with seeds that follow each other.

    Each is run again with one more period until BookSim would stop: the same cycles, and some more.
    """
    if settings["sim_count"] < 1:
        raise settings.error("sim_count", "at least 1")
    first = Phases.of(settings)
    for i in range(settings["sim_count"]):
        phases = first
        result = run_plan(plan(settings, phases, settings["seed"] + i, packets=True), progress)
        while not phases.last(settings, result):
            phases = phases.longer()
            result = run_plan(plan(settings, phases, settings["seed"] + i, packets=True), progress)
        yield Sample(result, phases)
