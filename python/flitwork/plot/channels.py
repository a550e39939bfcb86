"""How busy the channels were over time: one still picture of all of them, one animation on the network."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.animation import FuncAnimation, PillowWriter
from matplotlib.figure import Figure

from flitwork.errors import ConfigError
from flitwork.plot.layout import colour_channels, draw_channels, layout
from flitwork.plot.style import LOAD_MAP, style
from flitwork.result import Result

_LABEL = "utilisation [flits/cycle]"


def _utilisation(result: Result) -> np.ndarray[Any, Any]:
    """``[window, channel]`` in flits per cycle; the last window may be shorter."""
    windows = result.channel_windows
    if windows is None or not len(windows):
        hint = "simulate with channel_window_cycles=500, for example"
        raise ConfigError("run.record.channel_window_cycles", 0, "windows to draw", hint)
    lengths = np.full(len(windows), float(result.channel_window_cycles))
    rest = result.end_cycle - result.channel_window_cycles * (len(windows) - 1)
    lengths[-1] = min(max(rest, 1), result.channel_window_cycles)
    busy: np.ndarray[Any, Any] = windows / lengths[:, None]
    return busy


def channel_heatmap(result: Result) -> Figure:
    """Every channel over time: a row a channel, grouped by channel class, coloured by its utilisation.

    Time counts from t = 0; where a background runs before that, from a negative number on.
    """
    busy = _utilisation(result)
    names = result.channels["class"].to_numpy()
    classes = [name for name in result.described["channel_classes"] if (names == name).any()]
    with style():
        figure, axes = plt.subplots(
            len(classes) + 1,
            1,
            figsize=(8.5, 1.6 + 1.15 * (len(classes) + 1)),
            sharex=True,
            squeeze=False,
            height_ratios=[1.1, *([1] * len(classes))],
        )
        edges = (
            np.minimum(np.arange(len(busy) + 1) * result.channel_window_cycles, result.end_cycle) - result.start_cycle
        )
        mean_ax = axes[0, 0]
        for name in classes:
            mean_ax.stairs(busy[:, names == name].mean(axis=1), edges, label=name, baseline=None, linewidth=1.4)
        mean_ax.set_ylabel("mean\n[flits/cycle]")
        mean_ax.set_ylim(0, 1.05)
        mean_ax.legend(ncols=len(classes), fontsize=9, loc="lower right", bbox_to_anchor=(1.0, 0.97), borderpad=0)
        for ax, name in zip(axes[1:, 0], classes, strict=True):
            rows = busy[:, names == name].T
            image = ax.pcolormesh(edges, np.arange(len(rows) + 1), rows, cmap=LOAD_MAP, vmin=0, vmax=1, rasterized=True)
            ax.grid(False)
            ax.set_ylabel(f"{name}\n[channel]")
        axes[-1, 0].set_xlabel("time [cycles]")
        axes[-1, 0].set_xlim(-result.start_cycle, result.completion_cycles)
        figure.colorbar(image, ax=axes[1:], pad=0.01, shrink=0.9).set_label(_LABEL)
        figure.suptitle(f"Utilisation of the channels: {result.title}")
    return figure


def channel_snapshot(result: Result, window: int | None = None) -> Figure:
    """The network with its channels coloured by utilisation: over the measurement, or in one window."""
    place = layout(result.spec["network"]["topology"])
    loads = result.channel_utilisation if window is None else _utilisation(result)[window]
    with style():
        figure, ax = plt.subplots(figsize=_page(place.extent))
        lines = draw_channels(ax, place, loads, 1.0, place.line_width(0.8 * figure.get_figwidth()))
        figure.colorbar(lines, ax=ax, shrink=0.8, pad=0.02).set_label(_LABEL)
        whole = ("from t = 0 on" if result.start_cycle else "whole run") if result.runs_to_completion else "measurement"
        when = whole if window is None else f"window {window}"
        ax.set_title(f"{result.title}\n{when}{'; ' + place.undrawn if place.undrawn else ''}", fontsize=10)
    return figure


def channel_animation(result: Result, path: str | Path, frames_per_second: int = 8, max_frames: int = 120) -> Path:
    """The same over time, as an animated GIF; neighbouring windows are joined where there would be too many frames."""
    busy = _utilisation(result)
    join = math.ceil(len(busy) / max_frames)
    frames = [busy[i : i + join].mean(axis=0) for i in range(0, len(busy), join)]
    place = layout(result.spec["network"]["topology"])
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with style():
        figure, ax = plt.subplots(figsize=_page(place.extent), dpi=80)
        lines = draw_channels(ax, place, frames[0], 1.0, place.line_width(0.8 * figure.get_figwidth()))
        figure.colorbar(lines, ax=ax, shrink=0.8, pad=0.02).set_label(_LABEL)
        title = ax.set_title("", fontsize=10)

        def draw(i: int) -> tuple[Any, ...]:
            start = i * join * result.channel_window_cycles
            stop = min(start + join * result.channel_window_cycles, result.end_cycle)
            start, stop = start - result.start_cycle, stop - result.start_cycle
            colour_channels(lines, place, frames[i])
            title.set_text(f"{result.title}\ncycles {start:,} to {stop:,}")
            return lines, title

        draw(0)
        figure.canvas.draw()
        figure.set_layout_engine("none")
        FuncAnimation(figure, draw, frames=len(frames)).save(path, writer=PillowWriter(fps=frames_per_second), dpi=80)
        plt.close(figure)
    return path


def _page(extent: tuple[float, float, float, float]) -> tuple[float, float]:
    left, right, bottom, top = extent
    width = 6.4 if right - left <= 1.5 * (top - bottom) else 10.0
    return width, min(7.5, max(2.2, 0.84 * width * (top - bottom) / (right - left) + 0.9))
