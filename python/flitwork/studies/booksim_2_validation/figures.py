"""Latency over load up to saturation, ours as lines and BookSim's as markers; below, how far they are apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from flitwork.plot.style import COLOURS, MARKERS, save, style
from flitwork.studies.booksim_2_validation.compare import (
    CURVE,
    JUDGED_SHARE,
    LATENCY_PERCENT,
    comparison,
    name,
    ours,
)

NAME = "validation-booksim"
_TOP_CYCLES = 130
_WIDEST_PERCENT = 10
_LOAD = "offered load [flits/cycle/terminal]"
#: The title of each column and which curves it shows, two at most.
_COLUMNS: dict[str, dict[str, str | list[str]]] = {
    "8 × 8 mesh": {"topology": "mesh", "routing": ["dimension_order"], "traffic": ["uniform"]},
    "8 × 8 torus": {"topology": "torus", "routing": ["dimension_order"], "traffic": ["uniform"]},
    "8 × 8 torus, permutations": {"topology": "torus", "traffic": ["bit_complement", "transpose"]},
    "8 × 8 mesh, other routing": {"topology": "mesh", "routing": ["valiant", "min_adapt"]},
    "fat trees of 16 terminals": {"topology": "fat tree", "routing": ["random_up", "adaptive_up"]},
}


def figures(results: pd.DataFrame, outdir: Path) -> list[Path]:
    """The figure of the comparison."""
    with style():
        return save(_figure(comparison(results), ours(results).reset_index()), outdir, NAME)


def _figure(points: pd.DataFrame, lines: pd.DataFrame) -> Figure:
    width = 1.0 + 4.2 * len(_COLUMNS)
    figure, axes = plt.subplots(
        3, len(_COLUMNS), figsize=(width, 9.2), sharex="col", sharey="row", height_ratios=[2.2, 1.2, 1.5], squeeze=False
    )
    for column, (title, chosen) in zip(axes.T, _COLUMNS.items(), strict=True):
        latency, difference, accepted = column
        shown, theirs = _of(points, chosen), _of(lines, chosen)
        for i, (values, curve) in enumerate(shown.groupby(CURVE, sort=False)):
            label = name(curve.iloc[0].to_dict()).split(", ")[1]
            same = (theirs[CURVE] == list(values)).all(axis=1)
            line = theirs[same].sort_values("offered_load")
            _line(latency, line[line["stable"]], "latency", i, f"flitwork, {label}")
            _marks(latency, curve[curve["stable_booksim"]], "latency", i, f"BookSim 2, {label}")
            _difference(difference, curve, i)
            _line(accepted, line, "accepted", i)
            _marks(accepted, curve, "accepted", i)
            _judged(column, curve, i)
        difference.axhspan(-LATENCY_PERCENT, LATENCY_PERCENT, color="0.88", zorder=0, label=f"± {LATENCY_PERCENT:g} %")
        difference.axhline(0, color="0.35", linewidth=1)
        # Above the panel: inside, a curve that rises crosses it.
        latency.legend(
            title=title,
            title_fontsize=12,
            fontsize=9,
            ncols=2,
            columnspacing=1,
            loc="lower center",
            bbox_to_anchor=(0.5, 1.0),
        )
        accepted.set_xlabel(_LOAD)
        accepted.set_xlim(left=0)
    first, second, third = axes[:, 0]
    first.set_ylabel("mean packet latency [cycles]")
    first.set_ylim(0, _TOP_CYCLES)
    second.set_ylabel("difference of\nlatency [%]")
    second.set_ylim(-_WIDEST_PERCENT, _WIDEST_PERCENT)
    third.set_ylabel("accepted load\n[flits/cycle/terminal]")
    third.set_ylim(bottom=0)
    figure.legend(*second.get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=9)
    return figure


def _of(table: pd.DataFrame, chosen: dict[str, str | list[str]]) -> pd.DataFrame:
    for column, values in chosen.items():
        table = table[table[column].isin([values] if isinstance(values, str) else values)]
    return table


def _line(ax: Axes, line: pd.DataFrame, what: str, i: int, name: str | None = None) -> None:
    ax.plot(line["offered_load"], line[what], color=COLOURS[i], linestyle=("-", "--")[i], label=name)


def _marks(ax: Axes, curve: pd.DataFrame, what: str, i: int, name: str | None = None) -> None:
    ax.errorbar(
        curve["offered_load"],
        curve[f"{what}_booksim"],
        yerr=curve[f"{what}_se_booksim"],
        fmt=MARKERS[i],
        color=COLOURS[i],
        markerfacecolor="white",
        capsize=3,
        label=name,
    )


def _difference(ax: Axes, curve: pd.DataFrame, i: int) -> None:
    """Percent, with the standard error of the difference."""
    there = curve[~curve["saturated"]]
    error = 100 * np.hypot(there["latency_se_booksim"], there["latency_se_ours"]) / there["latency_booksim"]
    shift = (-0.0035, 0.0035)[i]
    ax.errorbar(
        there["offered_load"] + shift,
        there["latency_percent"],
        yerr=error,
        fmt=MARKERS[i],
        color=COLOURS[i],
        markerfacecolor="white",
        capsize=3,
    )


def _judged(axes: np.ndarray[Any, Any], curve: pd.DataFrame, i: int) -> None:
    """Where the requirement ends for a curve."""
    end = JUDGED_SHARE * curve["accepted_booksim"].max()
    for row, ax in enumerate(axes):
        label = f"{100 * JUDGED_SHARE:g} % of saturation, in the colour of its curve" if i == 0 and row == 1 else None
        ax.axvline(end, color=COLOURS[i], linestyle=":", linewidth=1.2, zorder=1, label=label)
