"""Latency over load, ours as lines and BookSim's as markers; below, how far they are apart."""

from __future__ import annotations

from pathlib import Path

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
    ours,
    saturation,
)

NAME = "validation-booksim"
_TOP_CYCLES = 130
_WIDEST_PERCENT = 10
_LOAD = "offered load [flits/cycle/terminal]"


def figures(results: pd.DataFrame, outdir: Path) -> list[Path]:
    """The figure of the comparison."""
    with style():
        return save(_figure(comparison(results), ours(results).reset_index()), outdir, NAME)


def _figure(points: pd.DataFrame, lines: pd.DataFrame) -> Figure:
    figure, axes = plt.subplots(
        3, 2, figsize=(9.2, 8.6), sharex="col", sharey="row", height_ratios=[2.2, 1.2, 1.5], squeeze=False
    )
    for column, topology in enumerate(("mesh", "torus")):
        curves = points[points["topology"] == topology]
        latency, difference, accepted = axes[:, column]
        for i, (flits, curve) in enumerate(curves.groupby("packet_flits")):
            name = f"{flits} flit{'s' if flits != 1 else ''} a packet"
            line = lines[(lines["topology"] == topology) & (lines["packet_flits"] == flits)]
            _line(latency, line, "latency", i, f"flitwork, {name}")
            _marks(latency, curve[curve["stable_booksim"]], "latency", i, f"BookSim 2, {name}")
            _difference(difference, curve, i)
            _line(accepted, line, "accepted", i)
            _marks(accepted, curve, "accepted", i)
        _judged(latency, difference, accepted, saturation(points), topology)
        latency.set_title(f"8 × 8 {topology}")
        accepted.set_xlabel(_LOAD)
    first, second, third = axes[:, 0]
    first.set_ylabel("mean packet latency [cycles]")
    first.set_ylim(0, _TOP_CYCLES)
    second.set_ylabel("difference of\nlatency [%]")
    second.set_ylim(-_WIDEST_PERCENT, _WIDEST_PERCENT)
    third.set_ylabel("accepted load\n[flits/cycle/terminal]")
    third.set_ylim(bottom=0)
    third.set_xlim(left=0)
    axes[2, 1].set_xlim(left=0)
    first.legend(loc="upper left", fontsize=9)
    second.legend(loc="lower left", fontsize=9)
    return figure


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


def _judged(latency: Axes, difference: Axes, accepted: Axes, ends: pd.DataFrame, topology: str) -> None:
    """The band of what is allowed, and for each curve where the requirement ends."""
    difference.axhspan(-LATENCY_PERCENT, LATENCY_PERCENT, color="0.88", zorder=0, label=f"± {LATENCY_PERCENT:g} %")
    difference.axhline(0, color="0.35", linewidth=1)
    rows = ends[ends["topology"] == topology].set_index(CURVE)["throughput_booksim"]
    for i, throughput in enumerate(rows):
        for ax in (latency, difference, accepted):
            label = f"{100 * JUDGED_SHARE:g} % of saturation" if i == 0 and ax is difference else None
            end = JUDGED_SHARE * throughput
            ax.axvline(end, color=COLOURS[i], linestyle=":", linewidth=1.2, zorder=1, label=label)
