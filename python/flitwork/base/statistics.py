"""Means over repetitions, and how well they are known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from flitwork import _core
from flitwork.base.libraries import np, pd

if TYPE_CHECKING:
    from pandas.core.groupby import SeriesGroupBy


def half_width_95(values: pd.Series[float] | np.ndarray[Any, Any]) -> float:
    """Half the width of the 95 % confidence interval of the mean, by Student's t; NaN for fewer than two values.

    One value says nothing of how far the next would lie from it.
    """
    values = np.asarray(values, dtype=float)
    if len(values) < 2:
        return math.nan
    if (values == values[0]).all():
        # Their computed mean may differ from them in the last bit.
        return 0.0
    return float(_core.student_t(0.95, len(values) - 1) * values.std(ddof=1) / math.sqrt(len(values)))


def error_bars(groups: SeriesGroupBy[Any, Any]) -> np.ndarray[Any, Any] | None:
    """:func:`half_width_95` of every group; ``None`` where none has a width: there are no bars to draw."""
    widths = groups.apply(half_width_95).to_numpy(dtype=float)
    return widths if np.nan_to_num(widths).any() else None


def median_interval_95(values: Sequence[float]) -> tuple[float, float]:
    """The 95 % confidence interval of the median by order statistics, whatever the distribution; NaN below six values.

    The number of values below the median is binomial: the interval leaves less than 2.5 % of it out at either end.
    """
    count, rank, below = len(values), 0, 1
    # `below` of 2^count ways have at most `rank` values below the median: the first rank that has 2.5 % of them.
    while 40 * below < 2**count:
        rank += 1
        below += math.comb(count, rank)
    if rank == 0:
        return math.nan, math.nan
    ordered = sorted(values)
    return float(ordered[rank - 1]), float(ordered[count - rank])
