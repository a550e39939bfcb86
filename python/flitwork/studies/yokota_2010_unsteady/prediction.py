"""Does the steady state predict the burst? Correlations, ranks, and indices of our own against the critical load."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd

from flitwork.base.statistics import half_width_95
from flitwork.questions.indices import COARSEST_STEP
from flitwork.studies.claims import Finding
from flitwork.studies.yokota_2010_unsteady import measures
from flitwork.studies.yokota_2010_unsteady.measures import (
    ALGORITHMS,
    BySeed,
    by_seed,
    correlated,
    correlation,
    over_seeds,
    rows,
)
from flitwork.studies.yokota_2010_unsteady.quarter import slowest_quarter

_DRAWS = 1000


def claim(key: str, found: tuple[float, float], note: str = "") -> Finding:
    """A number with its interval, if there is one."""
    return Finding(id=key, ours=found[0], ci=0.0 if math.isnan(found[1]) else found[1], note=note)


def claims(results: pd.DataFrame) -> list[Finding]:
    """Figure 9, the ranks of figure 8, and two of our indices."""
    rc = measures.steady(results, measures.critical)
    slowest, fairest = measures.steady(results, measures.slowest), measures.steady(results, measures.fairest)
    limited = by_seed(rows(results, "limited"), "completion_cycles", "share")
    duration = by_seed(rows(results, "bursts"), "completion_cycles")
    return [
        Finding(id="F8.ranking", ours=reranked(rc, duration)),
        _correlated("F9a.correlation", measures.critical_unsteady, rc, limited),
        _correlated("F9b.correlation", _speed, rc, duration),
        _on_axis("F9b.x", rc, (0.2, 0.7)),
        _on_axis("F9b.y", 1000 / duration, (0.4, 1.4)),
        _correlated("index.slowest", _speed, slowest, duration),
        better("index.fairest", fairest, rc, duration),
    ]


def quarter(results: pd.DataFrame, points: Path) -> Finding:
    """Our index against rc; it needs the stored runs."""
    duration, rc = by_seed(rows(results, "bursts"), "completion_cycles"), measures.steady(results, measures.critical)
    return better("index.quarter", slowest_quarter(results, points), rc, duration)


def better(key: str, index: BySeed, rc: BySeed, duration: BySeed) -> Finding:
    """Whether an index predicts the bursts better than rc: paired, and by more than the choice of patterns explains."""
    mine, other, speed = index.mean(axis=1), rc.mean(axis=1), _speed(duration.mean(axis=1))
    low, high = over_patterns(lambda a, b, c: correlated(a, c) - correlated(b, c), mine, other, speed)
    ours, theirs = correlation(mine, speed), correlation(other, speed)
    note = f"{ours:.2f} against {theirs:.2f}: {ours - theirs:+.2f}, {low:+.2f} to {high:+.2f} over patterns"
    return Finding(id=key, ours=low > 0, note=note)


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

    Each table has a row for each pattern and algorithm; all rows of a pattern go together. The statistic gets an array
    for each table, with NaN where the table has no row, and the same order in all of them.
    """
    algorithms, patterns = (list(tables[0].index.unique(name)) for name in ("algorithm", "pattern"))
    # A row a pattern.
    wide = [table.unstack("algorithm").reindex(index=patterns, columns=algorithms).to_numpy(float) for table in tables]
    picks = np.random.default_rng(1).integers(len(patterns), size=(_DRAWS, len(patterns)))
    low, high = np.nanquantile([statistic(*(one[pick].ravel() for one in wide)) for pick in picks], [0.025, 0.975])
    return float(low), float(high)


def _on_axis(key: str, values: BySeed, axis: tuple[float, float]) -> Finding:
    """The share of the points of figure 9 (b) that its axis can show."""
    four = values[values.index.get_level_values("algorithm").isin(ALGORITHMS)]
    mean = four.mean(axis=1)
    return claim(
        key, over_seeds(lambda mean: float(mean.between(*axis).mean()), four), f"{mean.min():.2f} to {mean.max():.2f}"
    )


def _correlated(
    key: str, of_mean: Callable[[pd.Series[float]], pd.Series[float]], index: BySeed, duration: BySeed
) -> Finding:
    """Correlation of an index of the steady state with what ``of_mean`` makes of the mean durations."""
    low, high = over_patterns(correlated, index.mean(axis=1), of_mean(duration.mean(axis=1)))
    found = over_seeds(lambda a, b: correlation(a, of_mean(b)), index, duration)
    return claim(key, found, f"{low:.2f} to {high:.2f} over patterns")


def _speed(duration: pd.Series[float]) -> pd.Series[float]:
    return 1000 / duration
