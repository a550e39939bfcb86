"""How the figures of this study are drawn: curves over N, heights from zero, legends where no curve can cross them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from flitwork.plot.style import COLOURS, MARKERS
from flitwork.studies.takaue_2010_a2at.measures import rows

SYNC_NAMES = {"async": "async", "local": "local sync", "local_sliding": "local sync (sliding)"}


def line(ax: Axes, values: pd.Series[float], label: str, colour: int, dashed: bool = False, mark: int = 0) -> None:
    """A curve over N, or over what ``values`` has as its index."""
    look: dict[str, Any] = {"color": COLOURS[colour], "marker": MARKERS[mark], "linestyle": "--" if dashed else "-"}
    ax.plot(
        values.index, values.to_numpy(), label=label, markerfacecolor="white" if dashed else COLOURS[colour], **look
    )


def whiskers(ax: Axes, range_of: pd.DataFrame, colour: int) -> None:
    """From the lowest to the highest of the varied runs, at the sizes that were varied."""
    ax.vlines(range_of.index, range_of["min"], range_of["max"], color=COLOURS[colour], linewidth=1.2, zorder=1)
    ax.plot(range_of.index, range_of, color=COLOURS[colour], marker="_", markersize=6, linestyle="", zorder=1)


def from_zero(ax: Axes) -> None:
    """The axis of times begins at 0; the highest mark stands clear of its end."""
    highest = max(np.nanmax(line.get_ydata()) for line in ax.get_lines())
    ax.set_ylim(0, 1.06 * float(highest))


def below(figure: Figure, ax: Axes, columns: int) -> None:
    """The legend of ``ax`` under the figure, where no curve can cross it."""
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=columns, fontsize=9)


def sizes(ax: Axes, results: pd.DataFrame, experiment: str) -> None:
    """The axis of N, with a tick at each size of an experiment."""
    ax.set_xticks(sorted(rows(results, experiment)["N"].unique()))
    strokes = "\nstrokes: lowest to highest of the varied runs" if ax.collections else ""
    ax.set_xlabel(f"N (network of N × N){strokes}")
