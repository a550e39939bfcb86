"""How far one-cycle details move what the claims are about: the tables of the figures, varied.

The simulations of the figures contain no chance. The experiments ``...-varied`` repeat them with a few flits of other
traffic, drawn by a seed: before t = 0, so that the pointers of the arbiters stand elsewhere, and while the messages are
sent, so that flits are a cycle late in some places. A variant is the table of the figures with the times of one seed.
Sizes that were not varied (the largest: they cost too much) move by the share by which the nearest one does that was.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from flitwork.studies.takaue_2010_a2at.measures import rows

_VARIED = "-varied"
_COMPLETION = "completion_cycles"
_TIMES = (_COMPLETION, "time", "time_of_theory", "time_of_bound")
#: What tells the curves of a figure apart, besides N.
_CURVES = {
    "fig3": ["net", "workload.algorithm"],
    "fig4": ["net", "workload.algorithm"],
    "fig5": ["net", "workload.algorithm"],
    "fig6": ["network.router.buffer_flits", "workload.sync"],
    "fig7": ["net", "nct", "workload.sync"],
    "nct4": ["way"],
}


def variants(results: pd.DataFrame) -> list[pd.DataFrame]:
    """The results once for each seed of the varied experiments; none where nothing was varied."""
    times = [name for name in _TIMES if name in results]
    results = results.reset_index(drop=True).astype(dict.fromkeys(times, float))
    varied = results[results["experiment"].str.contains(_VARIED, regex=False)]
    factors = {row: shares for figure in _CURVES for row, shares in _factors(results, figure)}
    tables = []
    for k in range(varied["seed"].nunique() if factors else 0):
        table = results.copy()
        # A figure that fewer seeds were run of uses them again.
        moved = pd.Series({row: shares[k % len(shares)] for row, shares in factors.items()})
        table.loc[moved.index, times] = table.loc[moved.index, times].mul(moved, axis=0)
        tables.append(table)
    return tables


def _factors(results: pd.DataFrame, figure: str) -> Iterator[tuple[Any, np.ndarray[Any, Any]]]:
    """By what each seed multiplies the times of a row of a figure."""
    for curve, mine in rows(results, figure).groupby(_CURVES[figure]):
        varied = _varied(results, figure, **dict(zip(_CURVES[figure], curve, strict=True)))
        by_size = {n: of.sort_values("seed")[_COMPLETION].to_numpy(float) for n, of in varied.groupby("N")}
        for row, n, single in zip(mine.index, mine["N"], mine[_COMPLETION], strict=True):
            if by_size:
                nearest = min(by_size, key=lambda size: (abs(size - n), size))
                times = by_size[nearest]
                yield row, times / (single if nearest == n else np.median(times))


def spread(results: pd.DataFrame, figure: str, column: str = "time", **where: object) -> pd.DataFrame:
    """``min`` and ``max`` of a column over the variants, by N, where a curve was varied."""
    return _varied(results, figure, **where).groupby("N")[column].agg(["min", "max"])


def _varied(results: pd.DataFrame, figure: str, **where: object) -> pd.DataFrame:
    """The varied runs of a figure; its largest size may have an experiment of its own."""
    names = [name for name in results["experiment"].unique() if name.startswith(figure + _VARIED)]
    return rows(results, names, **where)
