"""Figures 2, 3 and 9: the steady state, and what it says about bursts."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from flitwork.plot.drawn import tell
from flitwork.studies.yokota_2010_unsteady import measures
from flitwork.studies.yokota_2010_unsteady.drawing import COLOURS, MARKERS, of_all_patterns, panels, size, titled
from flitwork.studies.yokota_2010_unsteady.measures import ALGORITHMS, PATTERNS, by_seed, rows

#: Flits of a packet, and the cycles over which the paper counts packets.
_FLITS, _WINDOW = 8, 100


def figure_2(results: pd.DataFrame) -> Figure:
    """Packets received in 100 cycles by all terminals over the offered load; large open diamonds: rc."""
    part = rows(results, "steady")
    part = part.assign(packets=part["accepted_load_flits_per_cycle"] * part["N"] ** 2 * _WINDOW / _FLITS)
    most = 8 / part["N"].iloc[0] * part["N"].iloc[0] ** 2 * _WINDOW / _FLITS
    figure, found = panels(
        f"Figure 2: throughput of the steady state, {size(results, 'steady')}",
        "offered load r / Rc (large diamonds: rc)",
        "packets received in 100 cycles",
    )
    of_all_patterns(figure, found, part, "share", "packets")
    rc = measures.steady(results, measures.critical).mean(axis=1)
    for algorithm, ax in found.items():
        ax.plot([0, 1], [0, most], color="0.35", linewidth=0.8, linestyle=":")
        ax.set_ylim(0, most * 1.02)
        for i, pattern in enumerate(PATTERNS):
            curve = (
                part[(part["algorithm"] == algorithm) & (part["pattern"] == pattern)].groupby("share")["packets"].mean()
            )
            at = rc[pattern][algorithm]
            height = float(np.interp(at, curve.index, curve.to_numpy()))
            ax.plot(at, height, "D", markersize=11, fillstyle="none", color=COLOURS[i], markeredgewidth=1.3, zorder=5)
        if algorithm in ("dp", "cl"):
            right = ax.secondary_yaxis("right", functions=(lambda y: y / most, lambda y: y * most))
            right.set_ylabel("accepted load / Rc")
    return figure


def figure_3(results: pd.DataFrame) -> Figure:
    """NPM over rc: a line a pattern, from do over dp and df to cl."""
    rc = measures.steady(results, measures.critical).mean(axis=1)
    npm = measures.steady(results, measures.npm).mean(axis=1) * 1000
    figure, ax = plt.subplots(figsize=(7.4, 5))
    for i, (pattern, short) in enumerate(PATTERNS.items()):
        names = list(ALGORITHMS)
        x, y = rc[pattern][names].to_numpy(), npm[pattern][names].to_numpy()
        ax.plot(x, y, color=COLOURS[i], marker=MARKERS[i], label=short, linewidth=1.2)
        for name, at_x, at_y in zip(names, x, y, strict=True):
            ax.annotate(name, (at_x, at_y), xytext=(4, 3), textcoords="offset points", fontsize=7, color=COLOURS[i])
    ax.set_xlabel("critical load rc / Rc")
    ax.set_ylabel("NPM [10⁻³ (flits/cycle/terminal)² / cycle]")
    titled(figure, f"Figure 3: NPM over rc, {size(results, 'steady')}")
    ax.legend(ncols=2, loc="upper left")
    return figure


def figure_9(results: pd.DataFrame) -> Figure:
    """The critical load of bursts and their performance over the critical load of the steady state.

    Without the bursts at a limited rate it is the latter alone.
    """
    rc = measures.steady(results, measures.critical).mean(axis=1)
    performance = 1000 / by_seed(rows(results, "bursts"), "completion_cycles").mean(axis=1)
    shown = {"b": (performance, "1000 cycles / duration (l = 10)")}
    limited = by_seed(rows(results, "limited"), "completion_cycles", "share")
    if not limited.empty:
        shown = {"a": (measures.critical_unsteady(limited.mean(axis=1)), "rc of bursts / Rc"), **shown}
    figure, axes = plt.subplots(1, len(shown), figsize=(max(6.4, 5 * len(shown)), 4.8), squeeze=False)
    for ax, (name, (values, label)) in zip(axes.flat, shown.items(), strict=True):
        _correlated(ax, rc, values)
        ax.set_ylabel(label)
        ax.set_title(f"({name}) correlation {measures.correlation(rc, values):.2f}")
    first = axes.flat[0]
    for j, algorithm in enumerate(ALGORITHMS):
        first.plot([], [], marker=MARKERS[j], color="0.35", linestyle="none", label=algorithm)
    for i, short in enumerate(PATTERNS.values()):
        first.plot([], [], color=COLOURS[i], linewidth=5, label=short)
    figure.legend(*first.get_legend_handles_labels(), loc="outside lower center", ncols=3 * len(shown))
    what = f"Figure 9: does the steady state predict the burst? {size(results, 'steady')}; lines: least squares"
    titled(figure, what)
    named = [pd.DataFrame({"rc of the steady state / Rc": rc, label: values}) for values, label in shown.values()]
    tell(figure, pd.concat(named, axis="columns").loc[:, lambda t: ~t.columns.duplicated()].reset_index())
    return figure


def _correlated(ax: Axes, rc: pd.Series[float], values: pd.Series[float]) -> None:
    """A point a pattern and algorithm, and the straight line through them."""
    for j, algorithm in enumerate(ALGORITHMS):
        for i, pattern in enumerate(PATTERNS):
            at = (pattern, algorithm)
            ax.plot(rc[at], values[at], marker=MARKERS[j], color=COLOURS[i], linestyle="none")
    x, y = rc.to_numpy(float), values[rc.index].to_numpy(float)
    ends = np.array([x.min(), x.max()])
    ax.plot(ends, np.polyval(np.polyfit(x, y, 1), ends), color="0.35", linewidth=0.9)
    ax.set_xlabel("rc of the steady state / Rc")
