"""Where routers and channels lie on the page, as the simulator says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from flitwork import _core
from flitwork.errors import ConfigError
from flitwork.plot.style import IDLE, LOAD_MAP

#: Share of the distance between two routers that the two directions of a cable may be wide.
_WIDTH = 0.135
_MAX_DRAWN = 4096


@dataclass(frozen=True)
class Layout:
    """The place of every router and channel; the two directions of a cable lie side by side, traffic keeps right.

    ``segments[i]`` is drawn for channel ``channel[i]``, in the order of :attr:`flitwork.Result.channels`. A channel
    that wraps has two segments, one stub at each end. ``undrawn`` says what is not on the page.
    """

    xy: np.ndarray[Any, Any]
    segments: np.ndarray[Any, Any]
    channel: np.ndarray[Any, Any]
    axes: tuple[str, str]
    undrawn: str

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """Left, right, bottom, top of what is drawn."""
        low, high = self.xy.min(axis=0) - 0.7, self.xy.max(axis=0) + 0.7
        return low[0], high[0], low[1], high[1]

    @property
    def middle(self) -> int:
        """The router in the middle."""
        # Of several that are as near, the one to the right and above.
        aim = (self.xy.min(axis=0) + self.xy.max(axis=0)) / 2 + 0.01
        return int(np.argmin(((self.xy - aim) ** 2).sum(axis=1)))

    def line_width(self, inches: float) -> float:
        """Width of a channel [points] on a panel of that width, so that the two directions of a cable do not touch."""
        left, right, _, _ = self.extent
        return min(5.0, _WIDTH * inches * 72 / (right - left))


def layout(topology: Mapping[str, Any]) -> Layout:
    """The layout of ``network.topology``."""
    found = _core.drawing(json.dumps(topology))
    if found is None or len(found["routers"]) > _MAX_DRAWN:
        expected = f"a network of at most 3 dimensions and {_MAX_DRAWN} routers to draw"
        raise ConfigError("network.topology.size", "x".join(map(str, topology.get("size", ()))), expected)
    axes = (str(found["axes"][0]), str(found["axes"][1]))
    return Layout(found["routers"], found["segments"], found["channel"], axes, str(found["note"]))


def colour_channels(lines: LineCollection, place: Layout, loads: np.ndarray[Any, Any]) -> None:
    """Gives every channel the colour of its load; one without load is grey."""
    shown = loads[place.channel]
    lines.set_array(np.where(shown == 0, np.nan, shown))


def draw_channels(ax: Axes, place: Layout, loads: np.ndarray[Any, Any], top: float, width: float) -> LineCollection:
    """Draws every channel in the colour of its load, ``loads[channel]``, and the routers; returns the channels."""
    lines = LineCollection(
        list(place.segments),
        cmap=matplotlib.colormaps[LOAD_MAP].with_extremes(bad=IDLE),
        linewidths=width,
        capstyle="butt",
    )
    colour_channels(lines, place, loads)
    lines.set_clim(0, top)
    ax.add_collection(lines)
    ax.scatter(place.xy[:, 0], place.xy[:, 1], s=(2.2 * width) ** 2, color="0.25", zorder=3, linewidths=0)
    left, right, bottom, high = place.extent
    ax.set_xlim(left, right)
    ax.set_ylim(bottom, high)
    ax.set_aspect("equal")
    ax.grid(False)
    ax.set_xlabel(place.axes[0])
    ax.set_ylabel(place.axes[1])
    ax.set_yticks(_ticks(place.xy[:, 1]))
    # Where planes lie side by side, what is across is no coordinate.
    ax.set_xticks([] if place.undrawn else _ticks(place.xy[:, 0]))
    return lines


def _ticks(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    different: np.ndarray[Any, Any] = np.unique(values)
    return different[:: max(1, len(different) // 8)]
