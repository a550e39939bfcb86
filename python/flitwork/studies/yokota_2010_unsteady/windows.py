"""Packets received over time (figures 5 and 7): the shape of a burst, with intervals over its trials."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from flitwork.results.result import Result

Array: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"

_DRAWS = 200
#: Around here the slowest of many terminals decide, and few packets are left to count.
_BULK = (0.1, 0.9)


@dataclass(frozen=True)
class Trials:
    """Packets received in windows of ``window`` cycles from t = 0: one row of ``packets`` for each trial."""

    window: int
    packets: Array

    @property
    def mean(self) -> Array:
        """Packets received in each window, mean over the trials."""
        return np.asarray(self.packets.mean(axis=0))

    @property
    def middle(self) -> Array:
        """The middle of each window [cycles]."""
        return (np.arange(self.packets.shape[1]) + 0.5) * self.window

    def drawn(self, chance: np.random.Generator) -> Trials:
        """A sample of as many trials, drawn from these with replacement."""
        picks = chance.integers(len(self.packets), size=len(self.packets))
        return Trials(self.window, self.packets[picks])


def received(part: pd.DataFrame, points: Path) -> Trials:
    """What the runs in ``part`` received, each with its own seed."""
    return _received(tuple(part["plan_hash"]), points)


@lru_cache(maxsize=64)
def _received(hashes: tuple[str, ...], points: Path) -> Trials:
    runs = [Result.load(points / f"{key}.parquet").deliveries for key in hashes]
    packets = np.zeros((len(runs), max(len(run) for run in runs)))
    for row, run in zip(packets, runs, strict=True):
        row[: len(run)] = run["packets"]
    longest = max(runs, key=len)["start_cycle"].to_numpy()
    return Trials(int(longest[1] - longest[0]) if len(longest) > 1 else 1, packets)


def over_trials(statistic: Callable[..., float], *series: Trials) -> tuple[float, float]:
    """A statistic of several series, and half the width of its 95 % interval by a bootstrap over the trials of each."""
    chance = np.random.default_rng(1)
    drawn = [statistic(*(one.drawn(chance) for one in series)) for _ in range(_DRAWS)]
    low, high = np.nanquantile(drawn, [0.025, 0.975])
    return statistic(*series), float(high - low) / 2


def end(trials: Trials, share: float) -> float:
    """The time until that share of the packets has arrived [cycles]."""
    total = np.concatenate(([0.0], np.cumsum(trials.mean)))
    return float(np.interp(share * total[-1], total, np.arange(len(total)) * trials.window))


def shape(trials: Trials, bins: int = 20) -> Array:
    """The share of packets received in each of ``bins`` equal parts of the time until 99 % have arrived."""
    total = np.concatenate(([0.0], np.cumsum(trials.mean)))
    edges = np.arange(len(total)) * float(trials.window)
    return np.diff(np.interp(np.linspace(0, end(trials, 0.99), bins + 1), edges, total / total[-1]))


def distance(a: Array, b: Array) -> float:
    """Total variation between two shapes: the share of packets that would have to arrive at another time."""
    return float(np.abs(a - b).sum() / 2)


def largest_distance(*series: Trials) -> float:
    """The largest distance between what two series receive over the same time, as shares of their packets."""
    longest = max(one.packets.shape[1] for one in series)
    shares = [np.pad(one.mean, (0, longest - one.packets.shape[1])) / one.mean.sum() for one in series]
    return max(distance(a, b) for a in shares for b in shares)


def dip(trials: Trials) -> float:
    """How far the packets a window rise again after they fell: the lower of two peaks over the valley between them.

    1 where there is one peak only. Windows are averaged in threes, without the first and the last tenth of the packets.
    The largest of all windows: chance alone gives more than 1, see :func:`dip_by_chance`.
    """
    smooth = np.convolve(trials.mean, np.ones(3) / 3, mode="same")
    inside = smooth[_bulk(trials)]
    if len(inside) < 3:
        return 1.0
    before = np.maximum.accumulate(inside)
    after = np.maximum.accumulate(inside[::-1])[::-1]
    return float((np.minimum(before, after) / np.maximum(inside, 1e-9)).max())


def dip_by_chance(trials: Trials) -> float:
    """The :func:`dip` that 97.5 % of flat profiles with as many windows, trials and packets stay below.

    Packets arrive independently of each other, at the same rate all the time.
    """
    inside = _bulk(trials)
    flat = np.full(round(inside.sum() / (_BULK[1] - _BULK[0])), trials.mean[inside].sum() / max(inside.sum(), 1))
    chance, n = np.random.default_rng(1), len(trials.packets)
    drawn = [dip(Trials(trials.window, chance.poisson(flat * n)[None, :] / n)) for _ in range(_DRAWS)]
    return float(np.quantile(drawn, 0.975))


def has_second_peak(of: Trials) -> tuple[bool, str]:
    """Whether packets received fall and rise further than by chance, and the numbers.

    It must hold at the lower end of the 95 % interval over the trials.
    ."""
    value, half = over_trials(dip, of)
    flat = dip_by_chance(of)
    return value - half > flat, f"{value:.2f} ± {half:.2f}, flat {flat:.2f}"


def _bulk(trials: Trials) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """The windows without the first and the last tenth of the packets."""
    total = np.cumsum(trials.mean) / trials.mean.sum()
    return np.asarray((total > _BULK[0]) & (total < _BULK[1]))
