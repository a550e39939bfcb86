"""How long BookSim warms up and measures: whole sample periods, until the averages change little."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from flitwork.booksim.settings import Settings
from flitwork.values.plain import Spec

#: So many periods in a row must change little.
ENOUGH = 3


@dataclass(frozen=True)
class Phases:
    """``warmup`` periods of ``period_cycles``, then ``measured`` ones, at most ``most``."""

    period_cycles: int
    warmup: int
    measured: int
    most: int
    drain: bool

    @classmethod
    def of(cls, settings: Settings) -> Phases:
        """Phases as short as the settings allow."""
        if settings["sim_type"] not in ("latency", "throughput"):
            hint = "flitwork has no batches" if settings["sim_type"] == "batch" else ""
            raise settings.error("sim_type", "latency or throughput", hint)
        if settings["sample_period"] < 1:
            raise settings.error("sample_period", "at least 1 cycle")
        warmup = settings["warmup_periods"]
        if warmup < 1:
            hint = "0 is BookSim's warm-up by thresholds, which flitwork does not have"
            raise settings.error("warmup_periods", "at least 1", hint)
        most = settings["max_samples"] - warmup
        if most < 1:
            raise settings.error("max_samples", f"more than the {warmup} periods of the warm-up", "nothing is measured")
        return cls(settings["sample_period"], warmup, min(ENOUGH, most), most, settings["sim_type"] == "latency")

    @property
    def start(self) -> int:
        """First cycle of the measurement."""
        return self.warmup * self.period_cycles

    @property
    def end(self) -> int:
        """First cycle after it."""
        return self.start + self.measured * self.period_cycles

    @property
    def run(self) -> Spec:
        """The table ``run``, without the seed. Where nothing is drained the run ends with the measurement."""
        run = {"warmup_cycles": self.start, "measurement_cycles": self.end - self.start}
        return run if self.drain else {**run, "max_cycles": self.end}

    def longer(self) -> Phases:
        """These phases with one period more."""
        return replace(self, measured=self.measured + 1)

    def cut(self, cycle: int) -> Phases:
        """The measurement ends with the period before ``cycle``, if it has not ended earlier; nothing is drained."""
        return replace(self, measured=min(self.measured, max((cycle - self.start) // self.period_cycles, 1)))

    def given_up_in_warm_up(self, cycle: int) -> Phases:
        """BookSim gave up at the end of a period of the warm-up: its averages are of this and perhaps one before."""
        periods = cycle // self.period_cycles
        begin = (periods - 1) // 2 * 2
        return replace(self, warmup=begin, measured=periods - begin, drain=False)

    def last(self, settings: Settings, tallies: Sequence[Mapping[str, Any]]) -> bool:
        """Whether BookSim would end its measurement here: three periods in a row changed little, or there are no more.

        ``tallies`` are what a simulation had counted where the averages of the end of the warm-up began, at the start
        of the measurement, and at the end of each of its periods.
        """
        latency_limit = settings["stopping_thres"] if self.drain else -1.0
        accepted_limit = settings["acc_stopping_thres"]
        if self.measured >= self.most or (latency_limit < 0 and accepted_limit < 0):
            return True
        *before, last = (
            not (0 <= latency_limit < latency) and not (0 <= accepted_limit < accepted)
            for latency, accepted in self._changes(tallies)
        )
        return last and all(before[-(ENOUGH - 1) :])

    def _changes(self, tallies: Sequence[Mapping[str, Any]]) -> Iterator[tuple[float, float]]:
        """For each period measured: by what share latency and accepted load differ from those a period before.

        They are means from the start of the measurement on; those before it are of the end of the warm-up.
        """
        first, start, *measured = tallies
        # In the warm-up the averages start anew every second period.
        begin = (self.warmup - 1) // 2 * 2 * self.period_cycles
        seen = {name: start[name] - first[name] for name in ("packets", "packet_latency_cycles", "flits")}
        previous = _mean(seen["packet_latency_cycles"], seen["packets"]), seen["flits"] / (self.start - begin)
        for period, now in enumerate(measured, 1):
            latency = _mean(now["measured_packet_latency_cycles"], now["measured_packets"])
            current = latency, (now["flits"] - start["flits"]) / (period * self.period_cycles)
            yield _change(previous[0], current[0]), _change(previous[1], current[1])
            previous = current


def _mean(total: int, count: int) -> float:
    return total / count if count else math.nan


def _change(before: float, now: float) -> float:
    return abs(now - before) / now if now else math.nan
