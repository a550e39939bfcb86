"""How busy the channels were over time: one still picture of all of them, one animation on the network."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from flitwork.base.arguments import whole
from flitwork.base.errors import ConfigError
from flitwork.base.output_files import write_atomically
from flitwork.networks.faults import working_topology
from flitwork.plot.layout import Layout, colour_channels, draw_channels, layout
from flitwork.plot.style import LOAD_MAP, style
from flitwork.results.result import Progress, Result

_LABEL = "utilisation [flits/cycle]"
#: Ends of the scale of loads: the first that no load exceeds.
_ENDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
#: Rows of a panel whose router is named.
_NAMED_ROWS = 5


def _windows(result: Result) -> np.ndarray[Any, Any]:
    """Flits, ``[window, channel]``; an error where there is nothing to draw."""
    if not len(result.channels):
        kind = result.described["topology"]["kind"]
        raise ConfigError("network.topology.kind", f'"{kind}"', "a network with channels between routers")
    windows = result.channel_windows
    if windows is None or not len(windows):
        hint = "simulate with channel_window_cycles=500, for example"
        raise ConfigError("run.record.channel_window_cycles", 0, "windows to draw", hint)
    return windows


def _utilisation(result: Result) -> np.ndarray[Any, Any]:
    """``[window, channel]`` in flits per cycle; the last window may be shorter."""
    busy: np.ndarray[Any, Any] = _windows(result) / np.diff(result.channel_window_edges)[:, None]
    return busy


def _scale_end(loads: np.ndarray[Any, Any]) -> float:
    """Where the scale of loads ends: at 1, or where all loads are light at a round number above them."""
    highest = float(loads.max(initial=0.0))
    return next((end for end in _ENDS if 0 < highest <= end), _ENDS[-1])


def _common_scale_end(busy: np.ndarray[Any, Any], edges: np.ndarray[Any, Any]) -> float:
    """The same for windows. A few cycles at the end in which a packet passes do not make light loads heavy."""
    lengths = np.diff(edges)
    return _scale_end(busy[lengths >= lengths.max() / 2])


def _beyond(loads: np.ndarray[Any, Any], top: float) -> str:
    """Whether the scale has an arrow at its end."""
    return "max" if loads.max() > top else "neither"


def _when(result: Result, start: int, stop: int) -> str:
    """``cycles 0 to 99``, from t = 0 on, of the cycles before ``stop``."""
    return f"cycles {start - result.start_cycle:,} to {stop - 1 - result.start_cycle:,}"


def _titled(result: Result, when: str, place: Layout) -> str:
    return f"{result.title}\n{when}{'; ' + place.undrawn if place.undrawn else ''}"


def channel_heatmap(result: Result) -> Figure:
    """Every channel over time: a row a channel, grouped by channel class, coloured by its utilisation.

    Rows are named by the router that the channel leaves. Time counts from t = 0; where a background runs before that,
    from a negative number on. The scale ends at 1, or lower where all loads are light.
    """
    busy = _utilisation(result)
    names = result.channels["class"].to_numpy()
    routers = result.channels["router"].to_numpy()
    classes = [name for name in result.described["channel_classes"] if (names == name).any()]
    edges = result.channel_window_edges - result.start_cycle
    top = _common_scale_end(busy, edges)
    with style():
        figure, axes = plt.subplots(
            len(classes) + 1,
            1,
            figsize=(8.5, 1.6 + 1.15 * (len(classes) + 1)),
            sharex=True,
            squeeze=False,
            height_ratios=[1.1, *([1] * len(classes))],
        )
        mean_ax = axes[0, 0]
        for name in classes:
            mean_ax.stairs(busy[:, names == name].mean(axis=1), edges, label=name, baseline=None, linewidth=1.4)
        mean_ax.set_ylabel("mean\n[flits/cycle]")
        mean_ax.set_ylim(0, 1.05 * top)
        mean_ax.legend(ncols=len(classes), fontsize=9, loc="lower right", bbox_to_anchor=(1.0, 0.97), borderpad=0)
        for ax, name in zip(axes[1:, 0], classes, strict=True):
            rows = busy[:, names == name].T
            lines = np.arange(len(rows) + 1)
            image = ax.pcolormesh(edges, lines, rows, cmap=LOAD_MAP, vmin=0, vmax=top, rasterized=True)
            _name_rows(ax, name, routers[names == name])
        axes[-1, 0].set_xlabel("time [cycles]")
        axes[-1, 0].set_xlim(edges[0], edges[-1])
        figure.colorbar(image, ax=axes[1:], pad=0.01, shrink=0.9, extend=_beyond(busy, top)).set_label(_LABEL)
        figure.suptitle(f"Utilisation of the channels: {result.title}")
    return figure


def _name_rows(ax: Axes, name: str, routers: np.ndarray[Any, Any]) -> None:
    """The number of the router that it leaves beside some of the channels of a class."""
    rows = np.unique(np.linspace(0, len(routers) - 1, min(len(routers), _NAMED_ROWS)).round().astype(int))
    ax.grid(False)
    ax.set_yticks(rows + 0.5, [str(router) for router in routers[rows]], fontsize=9)
    ax.set_ylabel(f"{name}\nof router")


def channel_snapshot(result: Result, window: int | None = None) -> Figure:
    """The network with its channels coloured by utilisation: over the measurement, or in one window.

    The scale ends at 1, or lower where all loads are light.
    """
    place = layout(working_topology(result.spec["network"]))
    if window is None:
        loads = result.channel_utilisation
        whole_run = "from t = 0 on" if result.start_cycle else "whole run"
        when = whole_run if result.runs_to_completion else "measurement"
    else:
        busy = _utilisation(result)
        number = whole("window", window, 0, len(busy) - 1)
        loads, edges = busy[number], result.channel_window_edges
        when = f"window {number}: {_when(result, edges[number], edges[number + 1])}"
    with style():
        figure, ax = plt.subplots(figsize=_page(place.extent))
        lines = draw_channels(ax, place, loads, _scale_end(loads), place.line_width(0.8 * figure.get_figwidth()))
        figure.colorbar(lines, ax=ax, shrink=0.8, pad=0.02).set_label(_LABEL)
        ax.set_title(_titled(result, when, place), fontsize=10)
    return figure


def channel_animation(
    result: Result,
    path: str | Path,
    frames_per_second: int = 8,
    max_frames: int = 120,
    progress: Progress | None = None,
) -> Path:
    """The map of channels over time, as an animated GIF; neighbouring windows are joined if there are too many frames.

    All frames have one scale. ``progress(cycle, done, total)`` is told about each frame.
    A file that is there is replaced.
    """
    whole("frames_per_second", frames_per_second, 1, 100)
    edges, frames = _joined(result, whole("max_frames", max_frames, 1, 100_000))
    place = layout(working_topology(result.spec["network"]))
    with style():
        figure, ax = plt.subplots(figsize=_page(place.extent), dpi=80)
        canvas = FigureCanvasAgg(figure)
        top, width = _common_scale_end(frames, edges), place.line_width(0.8 * figure.get_figwidth())
        lines = draw_channels(ax, place, frames[0], top, width)
        figure.colorbar(lines, ax=ax, shrink=0.8, pad=0.02, extend=_beyond(frames, top)).set_label(_LABEL)
        title = ax.set_title("", fontsize=10)
        pictures = []
        for i, loads in enumerate(frames):
            if progress:
                progress(int(edges[i]), i, len(frames))
            colour_channels(lines, place, loads)
            title.set_text(_titled(result, _when(result, edges[i], edges[i + 1]), place))
            canvas.draw()  # type: ignore[no-untyped-call]
            # The first picture says where everything stands.
            figure.set_layout_engine("none")
            pixels = np.asarray(canvas.buffer_rgba())  # type: ignore[no-untyped-call]
            pictures.append(Image.fromarray(pixels).convert("RGB"))
        plt.close(figure)
    how: dict[str, Any] = {"save_all": True, "duration": 1000 // frames_per_second, "loop": 0}
    first, *others = pictures
    return write_atomically(Path(path), lambda file: first.save(file, "GIF", append_images=others, **how))


def _joined(result: Result, most: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Edges and utilisation ``[frame, channel]`` of so many frames at most, each of equally many windows."""
    windows, edges = _windows(result), result.channel_window_edges
    first = np.arange(0, len(windows), math.ceil(len(windows) / most))
    edges = edges[[*first, len(windows)]]
    frames: np.ndarray[Any, Any] = np.add.reduceat(windows.astype(float), first, axis=0) / np.diff(edges)[:, None]
    return edges, frames


def _page(extent: tuple[float, float, float, float]) -> tuple[float, float]:
    left, right, bottom, top = extent
    width = 6.4 if right - left <= 1.5 * (top - bottom) else 10.0
    return width, min(7.5, max(2.9, 0.84 * width * (top - bottom) / (right - left) + 0.9))
