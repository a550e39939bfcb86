"""How long bursts take, and what is received while they last."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from flitwork.plot.style import COLOURS, MARKERS, logarithmic, style

_PACKETS, _RATE = "packets_per_terminal", "rate_flits_per_cycle"
_LINES = ("-", "--", ":", "-.")
#: So many lengths of bursts are all named at the axis.
_MOST_NAMED = 6
#: Curves of so many windows have a mark at each.
_MOST_MARKED = 25


def bursts(shown: Mapping[str, tuple[pd.DataFrame, pd.DataFrame]], title: str = "") -> Figure:
    """Durations over the packets of a terminal, or over the rate where only that differs; packets received over time.

    Each of ``shown`` is the points and the deliveries of a :class:`flitwork.Burst`. Bars are 95 % confidence intervals,
    hollow marks the lower bounds. The right panel is there if what was received was recorded.
    """
    over_time = any(len(deliveries) for _, deliveries in shown.values())
    with style():
        figure, axes = plt.subplots(
            1, 2 if over_time else 1, squeeze=False, figsize=(9.6, 4.2) if over_time else (6.4, 4.2)
        )
        _durations(axes[0, 0], {name: points for name, (points, _) in shown.items()})
        if over_time:
            _deliveries(axes[0, 1], {name: deliveries for name, (_, deliveries) in shown.items()})
        if title:
            # A long line over one panel is broken behind the network.
            figure.suptitle(title if over_time else title.replace(": ", ":\n", 1), fontsize=11)
    return figure


def _durations(ax: Axes, shown: Mapping[str, pd.DataFrame]) -> None:
    lengths = {length for points in shown.values() for length in points[_PACKETS]}
    rates = {rate for points in shown.values() for rate in points[_RATE]}
    x, series = (_RATE, _PACKETS) if len(lengths) == 1 and len(rates) > 1 else (_PACKETS, _RATE)
    several = len(lengths if series == _PACKETS else rates) > 1
    i = 0
    for name, points in shown.items():
        for value, rows in points.groupby(series):
            look: dict[str, Any] = {"color": COLOURS[i % len(COLOURS)], "marker": MARKERS[i % len(MARKERS)]}
            label = f"{name}, {_series_name(series, value)}" if several else name
            widths = rows["mean_ci_half_width_cycles"].fillna(0)
            error = widths if widths.any() else None
            ax.errorbar(rows[x], rows["mean_duration_cycles"], yerr=error, capsize=3, label=label, **look)
            look.update(linestyle=":", markerfacecolor="white", linewidth=1.0)
            ax.plot(rows[x], rows["bound_cycles"], zorder=1, **look)
            i += 1
    ax.plot([], [], color="0.35", linestyle=":", marker="o", markerfacecolor="white", label="lower bound")
    if x == _PACKETS:
        logarithmic(ax, "x")
        if len(lengths) <= _MOST_NAMED:
            ax.set_xticks(sorted(lengths), [f"{length:g}" for length in sorted(lengths)])
            ax.set_xticks([], minor=True)
    logarithmic(ax, "y")
    ax.set_xlabel("packets a terminal" if x == _PACKETS else "rate [flits/cycle/terminal]")
    ax.set_ylabel("duration [cycles]")
    ax.legend(fontsize=9)


def _deliveries(ax: Axes, shown: Mapping[str, pd.DataFrame]) -> None:
    windows = []
    for i, (name, deliveries) in enumerate(shown.items()):
        for j, ((length, rate), rows) in enumerate(deliveries.groupby([_PACKETS, _RATE])):
            words = [name, _series_name(_PACKETS, length)] + ([_series_name(_RATE, rate)] if rate else [])
            colour, line = COLOURS[(i + j) % len(COLOURS)], _LINES[i % len(_LINES)]
            # A single window is no line: where windows are few, each has a mark.
            marker = MARKERS[j % len(MARKERS)] if len(rows) <= _MOST_MARKED else None
            ax.plot(rows["start_cycle"], rows["mean_packets"], color=colour, linestyle=line, marker=marker,
                    clip_on=False, label=", ".join(words))  # fmt: skip
            windows += list(rows["start_cycle"].diff().dropna().unique())
    ax.set_xlabel("start of the window [cycles]")
    width = {int(window) for window in windows}
    ax.set_ylabel(f"packets received in {width.pop()} cycles" if len(width) == 1 else "packets received in a window")
    ax.set_xlim(0)
    ax.set_ylim(0)
    ax.legend(fontsize=9)


def _series_name(series: str, value: Any) -> str:
    return f"{value:g} packet{'' if value == 1 else 's'}" if series == _PACKETS else f"rate {value:g}"
