"""Latency and accepted load over offered load."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from flitwork.plot.style import COLOURS, MARKERS, style

_LOAD = "load_flits_per_cycle"
_ACCEPTED = "accepted_load_flits_per_cycle"
_UNIT = "[flits/cycle/terminal]"
#: The axis of latencies ends at this many times the lowest: beyond it every curve goes up.
_HIGHEST = 6.0


def load_curves(
    curves: Mapping[str, tuple[pd.DataFrame, tuple[float, float]]], capacity: float, title: str = ""
) -> Figure:
    """Both panels; a curve is its points, one row a load, and the loads between which the network saturates.

    Filled marks are steady, hollow ones saturated (accepted load only: their latency has no steady value). A shaded
    band is where a network saturates; error bars are 95 % confidence intervals, cut off at 0.
    """
    with style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.2))
        top = _highest(points for points, _ in curves.values())
        left.set_ylim(0, top)
        for i, (name, (points, (low, high))) in enumerate(curves.items()):
            look: dict[str, Any] = {"color": COLOURS[i % len(COLOURS)], "marker": MARKERS[i % len(MARKERS)]}
            _latency(left, points, top, look, name)
            _accepted(right, points, look, name)
            if not math.isinf(high):
                for ax in (left, right):
                    # Its edge is seen where the band is narrower than a line.
                    ax.axvspan(
                        low,
                        high,
                        facecolor=to_rgba(look["color"], 0.15),
                        edgecolor=to_rgba(look["color"], 0.4),
                        linewidth=1,
                    )
        _dress(left, right, curves, capacity)
        if title:
            figure.suptitle(title, fontsize=11)
    return figure


def _highest(curves: Iterable[pd.DataFrame]) -> float:
    """The upper end of the axis of latencies."""
    points = pd.concat(list(curves))
    latencies = points["packet_latency_mean_cycles"].to_numpy(float)
    if not np.isfinite(latencies).any():
        return 1.0
    bars = np.nan_to_num(points["packet_latency_ci_half_width_cycles"].to_numpy(float))
    return float(min(1.1 * np.nanmax(latencies + bars), _HIGHEST * np.nanmin(latencies)))


def _bars(values: pd.Series[float], half: pd.Series[float]) -> np.ndarray[Any, Any]:
    """Error bars for matplotlib: below and above; neither loads nor latencies are negative."""
    return np.stack([np.minimum(half, values), half])


def _latency(ax: Axes, points: pd.DataFrame, top: float, look: dict[str, Any], name: str) -> None:
    steady = points[points["status"] != "saturated"]
    latency = steady["packet_latency_mean_cycles"]
    # Bars of points above the axis would fill the picture.
    bars = steady["packet_latency_ci_half_width_cycles"].where(latency <= top).fillna(0)
    ax.errorbar(steady[_LOAD], latency, yerr=_bars(latency, bars), capsize=2, label=name, **look)


def _accepted(ax: Axes, points: pd.DataFrame, look: dict[str, Any], name: str) -> None:
    bars = points["accepted_load_ci_half_width_flits_per_cycle"].fillna(0)
    ax.errorbar(points[_LOAD], points[_ACCEPTED], yerr=_bars(points[_ACCEPTED], bars), capsize=2, label=name, **look)
    saturated = points[points["status"] == "saturated"]
    ax.plot(saturated[_LOAD], saturated[_ACCEPTED], linestyle="", markerfacecolor="white", zorder=3, **look)


def _dress(
    left: Axes, right: Axes, curves: Mapping[str, tuple[pd.DataFrame, tuple[float, float]]], capacity: float
) -> None:
    end = max(float(points[_LOAD].max()) for points, _ in curves.values())
    right.plot([0, end], [0, end], color="0.35", linestyle="--", linewidth=1.1, label="accepted = offered", zorder=1)
    if capacity <= 1.05 * end:
        right.axvline(capacity, color="0.35", linestyle=":", linewidth=1.1, label="capacity")
    for ax in (left, right):
        ax.set_xlabel(f"offered load {_UNIT}")
        ax.set_xlim(0, 1.02 * end)
    left.set_ylabel("mean packet latency [cycles]")
    right.set_ylabel(f"accepted load {_UNIT}")
    right.set_ylim(0)
    if any((points["status"] == "saturated").any() for points, _ in curves.values()):
        hollow: dict[str, Any] = {"marker": "o", "markerfacecolor": "white", "linestyle": ""}
        right.plot([], [], color="0.35", label="saturated", **hollow)
        right.fill(
            [],
            [],
            facecolor=to_rgba("0.35", 0.15),
            edgecolor=to_rgba("0.35", 0.4),
            linewidth=1,
            label="saturates in here",
        )
    right.legend(fontsize=9)
