"""Does the steady state predict the burst? Correlations, ranks, and indices of our own against the critical load."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd

from flitwork.indices import COARSEST_STEP
from flitwork.statistics import half_width_95
from flitwork.studies.claims import Claim
from flitwork.studies.yokota_2010_unsteady import measures
from flitwork.studies.yokota_2010_unsteady.measures import (
    ALGORITHMS,
    BySeed,
    by_seed,
    correlation,
    over_seeds,
    rows,
)
from flitwork.studies.yokota_2010_unsteady.quarter import slowest_quarter

_DRAWS = 1000


def claim(key: str, found: tuple[float, float], note: str = "") -> Claim:
    """A number with its interval, if there is one."""
    return Claim(id=key, ours=found[0], ci=0.0 if math.isnan(found[1]) else found[1], note=note)


def claims(results: pd.DataFrame) -> list[Claim]:
    """Figure 9, the ranks of figure 8, and two of our indices."""
    rc = measures.steady(results, measures.critical)
    slowest, fairest = measures.steady(results, measures.slowest), measures.steady(results, measures.fairest)
    limited = by_seed(rows(results, "limited"), "completion_cycles", "share")
    duration = by_seed(rows(results, "bursts"), "completion_cycles")
    return [
        Claim(id="F8.ranking", ours=reranked(rc, duration)),
        _correlated("F9a.correlation", lambda a, b: correlation(a, measures.critical_unsteady(b)), rc, limited),
        _correlated("F9b.correlation", _predicts, rc, duration),
        _on_axis("F9b.x", rc, (0.2, 0.7)),
        _on_axis("F9b.y", 1000 / duration, (0.4, 1.4)),
        _correlated("index.slowest", _predicts, slowest, duration),
        better("index.fairest", fairest, rc, duration),
    ]


def quarter(results: pd.DataFrame, points: Path) -> Claim:
    """Our index against rc; it needs the stored runs."""
    duration, rc = by_seed(rows(results, "bursts"), "completion_cycles"), measures.steady(results, measures.critical)
    return better("index.quarter", slowest_quarter(results, points), rc, duration)


def better(key: str, index: BySeed, rc: BySeed, duration: BySeed) -> Claim:
    """Whether an index predicts the bursts better than rc: paired, and by more than the choice of patterns explains."""
    means = [table.mean(axis=1) for table in (index, rc, duration)]
    low, high = over_patterns(lambda a, b, c: _predicts(a, c) - _predicts(b, c), *means)
    ours, theirs = _predicts(means[0], means[2]), _predicts(means[1], means[2])
    note = f"{ours:.2f} against {theirs:.2f}: {ours - theirs:+.2f}, {low:+.2f} to {high:+.2f} over patterns"
    return Claim(id=key, ours=low > 0, note=note)


def reranked(rc: BySeed, duration: BySeed) -> float:
    """Patterns in which an algorithm that bends later takes longer than another, as a share of all.

    Counted only where both differences can be told: the critical loads by more than a step of the offered loads,
    the durations by more than the 95 % interval over the trials. NaN with a single trial.
    """
    if duration.shape[1] < 2:
        return math.nan
    load, mean, half = rc.mean(axis=1), duration.mean(axis=1), duration.apply(half_width_95, axis=1)
    patterns = rc.index.unique("pattern")
    swapped = [
        any(
            load[p][a] - load[p][b] > COARSEST_STEP and mean[p][a] - mean[p][b] > math.hypot(half[p][a], half[p][b])
            for a, b in permutations(ALGORITHMS, 2)
        )
        for p in patterns
    ]
    return float(np.mean(swapped))


def over_patterns(statistic: Callable[..., float], *tables: pd.Series[float]) -> tuple[float, float]:
    """The 95 % interval of a statistic over patterns, by a bootstrap: what other patterns might have given.

    Each table has a row for each pattern and algorithm (and perhaps more); all rows of a pattern go together.
    """
    patterns = tables[0].index.unique("pattern")
    # A column a pattern; whatever is drawn, the rows have the same names.
    wide = [table.unstack("pattern")[list(patterns)] for table in tables]
    names = [_renumbered(one) for one in wide]
    chance = np.random.default_rng(1)
    drawn = []
    for _ in range(_DRAWS):
        picks = chance.integers(len(patterns), size=len(patterns))
        values = (one.to_numpy()[:, picks].ravel(order="F") for one in wide)
        drawn.append(statistic(*(pd.Series(v, n).dropna() for v, n in zip(values, names, strict=True))))
    low, high = np.nanquantile(drawn, [0.025, 0.975])
    return float(low), float(high)


def _renumbered(wide: pd.DataFrame) -> pd.MultiIndex:
    """The names of the rows of a table that has a column a pattern, with 0, 1, ... for the patterns."""
    inner = wide.index.to_frame(index=False)
    blocks = pd.concat({i: inner for i in range(wide.shape[1])}, names=["pattern"])
    return pd.MultiIndex.from_frame(blocks.reset_index("pattern"))


def _on_axis(key: str, values: BySeed, axis: tuple[float, float]) -> Claim:
    """The share of the points of figure 9 (b) that its axis can show."""
    four = values[values.index.get_level_values("algorithm").isin(ALGORITHMS)]
    mean = four.mean(axis=1)
    return claim(
        key, over_seeds(lambda mean: float(mean.between(*axis).mean()), four), f"{mean.min():.2f} to {mean.max():.2f}"
    )


def _correlated(key: str, statistic: Callable[..., float], *tables: BySeed) -> Claim:
    low, high = over_patterns(statistic, *(table.mean(axis=1) for table in tables))
    return claim(key, over_seeds(statistic, *tables), f"{low:.2f} to {high:.2f} over patterns")


def _predicts(index: pd.Series[float], duration: pd.Series[float]) -> float:
    """Correlation of an index of the steady state with 1000/duration."""
    return correlation(index, 1000 / duration)
