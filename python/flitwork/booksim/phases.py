"""How long BookSim warms up and measures: whole sample periods, until the averages change little."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pandas as pd

from flitwork.booksim.settings import Settings
from flitwork.result import Result
from flitwork.workloads import Spec

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
        """As short as the settings allow."""
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
        """One period more."""
        return replace(self, measured=self.measured + 1)

    def last(self, settings: Settings, result: Result) -> bool:
        """Whether BookSim would end its measurement here: three periods in a row changed little, or there are no more.

        ``result`` needs the records of its packets.
        """
        latency_limit = settings["stopping_thres"] if self.drain else -1.0
        accepted_limit = settings["acc_stopping_thres"]
        if self.measured >= self.most or (latency_limit < 0 and accepted_limit < 0):
            return True
        *before, last = (
            not (0 <= latency_limit < latency) and not (0 <= accepted_limit < accepted)
            for latency, accepted in self._changes(result.packets)
        )
        return last and all(before[-(ENOUGH - 1) :])

    def _changes(self, packets: pd.DataFrame) -> Iterator[tuple[float, float]]:
        """For each period measured: by what share latency and accepted load differ from those a period before.

        They are means from the start of the measurement; in the warm-up BookSim starts anew every second period.
        """
        arrived = packets["arrived_cycle"].astype(float)
        begin = (self.warmup - 1) // 2 * 2 * self.period_cycles
        seen = packets[(arrived >= begin) & (arrived < self.start)]
        previous = _averages(seen, self.start - begin)
        for period in range(1, self.measured + 1):
            now = self.start + period * self.period_cycles
            delivered = packets[(arrived >= self.start) & (arrived < now)]
            measured = delivered[delivered["created_cycle"].astype(float) >= self.start]
            current = _averages(measured, 1)[0], _averages(delivered, now - self.start)[1]
            yield _change(previous[0], current[0]), _change(previous[1], current[1])
            previous = current


def _averages(packets: pd.DataFrame, cycles: int) -> tuple[float, float]:
    latency = float(packets["packet_latency_cycles"].astype(float).mean()) if len(packets) else math.nan
    return latency, float(packets["flits"].sum()) / cycles


def _change(before: float, now: float) -> float:
    return abs(now - before) / now if now else math.nan
