"""What the figures of this study have in common: one panel an algorithm, one colour and mark a pattern."""

from __future__ import annotations

import textwrap

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from flitwork.base.statistics import half_width_95
from flitwork.plot.style import COLOURS as _COLOURS
from flitwork.plot.style import MARKERS as _MARKERS
from flitwork.studies.rows import rows as select
from flitwork.studies.yokota_2010_unsteady.measures import ALGORITHMS, PATTERNS, rows
from flitwork.studies.yokota_2010_unsteady.readings import COLUMN

COLOURS = (*_COLOURS, "#999999")
MARKERS = (*_MARKERS, "*")
_CHARACTERS_AN_INCH = 10
TITLES = {"do": "(a) do", "dp": "(b) dp", "df": "(c) df", "cl": "(d) cl"}


def panels(
    title: str, xlabel: str, ylabel: str, sharex: bool = True, sharey: bool = True
) -> tuple[Figure, dict[str, Axes]]:
    """One panel an algorithm."""
    figure, axes = plt.subplots(2, 2, figsize=(10, 7.4), sharex=sharex, sharey=sharey)
    titled(figure, title)
    found = dict(zip(ALGORITHMS, axes.flat, strict=True))
    for algorithm, ax in found.items():
        ax.set_title(TITLES[algorithm])
        if algorithm in ("df", "cl"):
            ax.set_xlabel(xlabel)
        if algorithm in ("do", "df"):
            ax.set_ylabel(ylabel)
    return figure, found


def titled(figure: Figure, title: str) -> None:
    """A title in as many lines as it needs."""
    figure.suptitle(textwrap.fill(title, round(_CHARACTERS_AN_INCH * figure.get_figwidth())))


def of_all_patterns(figure: Figure, found: dict[str, Axes], part: pd.DataFrame, x: str, y: str) -> None:
    """A line a pattern in each panel, and the legend below."""
    for algorithm, ax in found.items():
        for i, (pattern, short) in enumerate(PATTERNS.items()):
            line(ax, select(part, {"algorithm": algorithm, "pattern": pattern}), x, y, short, i)
    figure.legend(*found["do"].get_legend_handles_labels(), loc="outside lower center", ncols=8)


def line(ax: Axes, part: pd.DataFrame, x: str, y: str, label: str, look: int, linestyle: str = "-") -> None:
    """Means over the seeds with their 95 % intervals; with two seeds from the lower to the higher."""
    groups = part.groupby(x)[y]
    mean = groups.mean()
    half = groups.apply(half_width_95)
    two = part["seed"].nunique() < 3
    ax.errorbar(
        mean.index,
        mean.to_numpy(),
        yerr=[mean - groups.min(), groups.max() - mean] if two else half.to_numpy(),
        label=label,
        color=COLOURS[look],
        marker=MARKERS[look],
        markersize=4,
        linewidth=1.4,
        elinewidth=0.8,
        linestyle=linestyle,
    )


def size(results: pd.DataFrame, experiment: str) -> str:
    """``32 × 32``: the network of an experiment, and the reading if it is not the first."""
    first = rows(results, experiment).iloc[0]
    return ", ".join(text for text in (f"{first['N']:.0f} × {first['N']:.0f}", first[COLUMN]) if text)
