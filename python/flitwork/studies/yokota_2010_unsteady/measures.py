"""The numbers that the paper plots and quotes, from the table of the study."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from flitwork import _core
from flitwork.planning.bound import Bound
from flitwork.planning.specification import Torus, simulation, to_json
from flitwork.questions import indices
from flitwork.studies.rows import rows as select
from flitwork.workloads.workload import traffic

ALGORITHMS = ("do", "dp", "df", "cl")
ADAPTIVE = ALGORITHMS[1:]
#: From this length on durations should be linear in the length of the burst (figure 4).
LINEAR_FROM = 10
#: The paper's names of the patterns.
PATTERNS = {
    "transpose": "trns",
    "shuffle": "shfl",
    "bit_complement": "bcmp",
    "bit_reverse": "brev",
    "bit_rotation": "brot",
    "uniform": "rand",
    "random_pairs": "rpar",
    "random_selection": "rsel",
}
#: Patterns of figure 8 in which do takes about twice as long as the others, and in which the algorithms differ little.
DOUBLED = ("bit_reverse", "bit_rotation")
LITTLE = ("transpose", "random_pairs", "random_selection")
_CELL = ["pattern", "algorithm"]
_DRAWS = 200

BySeed: TypeAlias = "pd.DataFrame"


def rows(results: pd.DataFrame, experiment: str, **where: Any) -> pd.DataFrame:
    """The rows of one experiment in which the columns have these values."""
    return select(results, {"experiment": experiment, **where})


def by_seed(part: pd.DataFrame, column: str, *more: str) -> BySeed:
    """A column with one row for each pattern and algorithm (and ``more`` columns), one column for each seed."""
    return part.pivot_table(index=[*_CELL, *more], columns="seed", values=column)


def steady(results: pd.DataFrame, number: Callable[[pd.DataFrame], float]) -> BySeed:
    """A number of each steady curve: one row for each pattern and algorithm, one column for each seed."""
    curves = rows(results, "steady").sort_values("share").groupby([*_CELL, "seed"])
    return pd.Series({key: number(one) for key, one in curves}).rename_axis([*_CELL, "seed"]).unstack()


def critical(curve: pd.DataFrame) -> float:
    """``rc`` of a curve as a share of Rc; where the slope never fell to half, the last load.

    Over the load that was offered in the measurement: what chance adds to it, it adds to the accepted load, too.
    """
    capacity = 8 / float(curve["N"].iloc[0])
    offered = curve["offered_load_flits_per_cycle"].to_numpy() / capacity
    return indices.critical_load(offered, curve["accepted_share"].to_numpy(), 1.0).load


def npm(curve: pd.DataFrame) -> float:
    """The network performance measure of a curve [(flits/cycle/terminal)^2/cycle]; saturated latencies are infinite."""
    capacity = 8 / float(curve["N"].iloc[0])
    latency = curve["packet_latency_mean_cycles"].where(curve["status"] != "saturated", math.inf)
    load, accepted = curve["share"].to_numpy() * capacity, curve["accepted_load_flits_per_cycle"].to_numpy()
    return indices.npm(load, accepted, latency.to_numpy(), capacity)


def kept(curve: pd.DataFrame) -> float:
    """The accepted load at Rc over the highest accepted load: below 1 where the network collapses."""
    return float(curve["accepted_share"].iloc[-1] / curve["accepted_share"].max())


def slowest(curve: pd.DataFrame) -> float:
    """What the slowest terminal delivers at the highest offered load, as a share of Rc."""
    return float(curve["slowest_share"].iloc[-1])


def fairest(curve: pd.DataFrame) -> float:
    """The most that the slowest terminal delivers at any offered load, as a share of Rc."""
    return float(curve["slowest_share"].max())


@lru_cache
def bound(n: int, pattern: str, seed: int = 1) -> float:
    """The load at which dimension order fills its most loaded channel, as a share of Rc.

    Which virtual channels a packet takes makes no difference to its way, so this is the bound of either division.
    """
    network = Torus(n, n, vcs=2, routing="dimension_order", classes="entered")
    work = traffic(pattern, offered_load=0.01, packet_flits=8)
    planned = _core.Plan(to_json(simulation(network, work, {"seed": seed})))
    return Bound.of(planned).saturation_load * n / 8


def critical_unsteady(durations: pd.Series[float]) -> pd.Series[float]:
    """``rc`` of 1000/duration over r for each pattern and algorithm, as a share of Rc."""
    found = {}
    for key, one in durations.groupby(level=_CELL):
        share = one.index.get_level_values("share").to_numpy(float)
        found[key] = indices.critical_load(share, 1000 / one.to_numpy(float), 1.0).load
    return pd.Series(found).rename_axis(_CELL)


def correlation(x: pd.Series[float], y: pd.Series[float]) -> float:
    """Pearson's correlation over the patterns and algorithms that both have; 0 if one of them never changes."""
    common = x.index.intersection(y.index)
    return correlated(x[common].to_numpy(float), y[common].to_numpy(float))


def correlated(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> float:
    """The correlation of two arrays over the places in which both have a number; NaN with fewer than three."""
    both = np.isfinite(x) & np.isfinite(y)
    a, b = x[both], y[both]
    if len(a) < 3:
        return np.nan
    return float(np.corrcoef(a, b)[0, 1]) if np.ptp(a) > 0 and np.ptp(b) > 0 else 0.0


def largest_over_smallest(values: pd.Series[float]) -> float:
    """How far the algorithms (or whatever the values belong to) are apart: a ratio."""
    return float(values.max() / values.min())


def spread_over_doubled(durations: pd.Series[float], pattern: str) -> float:
    """Longest over shortest of the four algorithms with one pattern, over the lesser of those where do takes double."""
    by_pattern = durations.unstack("algorithm")[list(ALGORITHMS)]
    spread = by_pattern.max(axis=1) / by_pattern.min(axis=1)
    return float(spread[pattern] / spread[list(DOUBLED)].min())


def order_over_adaptive(durations: pd.Series[float]) -> float:
    """Duration by dimension order over the mean of the adaptive algorithms."""
    return float(durations["do"] / durations[list(ADAPTIVE)].mean())


def slope_over_adaptive(durations: pd.Series[float]) -> float:
    """Cycles that each packet beyond the tenth takes by dimension order, over the mean of the adaptive algorithms."""
    last = durations.index.get_level_values("l").max()
    slope = durations.xs(last, level="l") - durations.xs(LINEAR_FROM, level="l")
    return order_over_adaptive(slope)


def over_seeds(statistic: Callable[..., float], *tables: BySeed) -> tuple[float, float]:
    """A statistic of the means over seeds, and half the width of its 95 % interval by a bootstrap over the seeds.

    With two or three seeds the interval is too narrow: it tells the order of magnitude only. With a single seed of any
    of the tables nothing is known about what that table adds to it: NaN.
    """
    value = float(statistic(*(table.mean(axis=1) for table in tables)))
    if any(table.shape[1] < 2 for table in tables):
        return value, np.nan
    chance = np.random.default_rng(1)
    drawn = []
    for _ in range(_DRAWS):
        drawn.append(float(statistic(*(_mean_of_draw(table, chance) for table in tables))))
    low, high = np.nanquantile(drawn, [0.025, 0.975])
    return value, float(high - low) / 2


def _mean_of_draw(table: BySeed, chance: np.random.Generator) -> pd.Series[float]:
    """The means over as many seeds as there are, drawn with replacement."""
    drawn = table.to_numpy()[:, chance.integers(table.shape[1], size=table.shape[1])]
    # What `mean` of a table does with gaps, without the table, which would take most of the time of all verdicts.
    known = ~np.isnan(drawn)
    with np.errstate(invalid="ignore"):
        return pd.Series(np.where(known, drawn, 0.0).sum(axis=1) / known.sum(axis=1), table.index)
