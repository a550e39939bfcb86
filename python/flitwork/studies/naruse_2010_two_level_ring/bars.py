"""Bars side by side, with lines for what the seeds span."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes


@dataclass(frozen=True)
class Bars:
    """The bars of one colour: a value for each group, and how far lines go below and above it."""

    label: str
    colour: str
    values: pd.Series[float]
    below: pd.Series[float] | None = None
    above: pd.Series[float] | None = None

    @classmethod
    def of(cls, label: str, colour: str, mean: pd.Series[float], low: pd.Series[float], high: pd.Series[float]) -> Bars:
        """Means, with lines from the lowest to the highest. Rounding may put the mean of equal values beside them."""
        return cls(label, colour, mean, (mean - low).clip(lower=0), (high - mean).clip(lower=0))


def draw_groups(ax: Axes, groups: Sequence[str], bars: Sequence[Bars], lying: bool = False) -> None:
    """Draws the bars of each group side by side, upright or from top to bottom."""
    width = 0.8 / len(bars)
    for number, of in enumerate(bars):
        places = np.arange(len(groups)) + width * (number - (len(bars) - 1) / 2)
        spread = None if of.below is None or of.above is None else [of.below.to_numpy(), of.above.to_numpy()]
        values = of.values.to_numpy()
        if lying:
            ax.barh(places, values, width, xerr=spread, color=of.colour, label=of.label)
        else:
            ax.bar(places, values, width, yerr=spread, color=of.colour, label=of.label)
    if lying:
        ax.set_yticks(range(len(groups)), groups)
        ax.invert_yaxis()
    else:
        ax.set_xticks(range(len(groups)), groups)
