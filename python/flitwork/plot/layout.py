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
from flitwork.base.errors import ConfigError
from flitwork.networks.graph_places import placed
from flitwork.plot.style import IDLE, LOAD_MAP

#: Share of the distance between two routers that the two directions of a cable may be wide.
_WIDTH = 0.135
_MAX_DRAWN = 4096


@dataclass(frozen=True)
class Layout:
    """The place of every router and channel; the two directions of a cable lie side by side, traffic keeps right.

    ``segments[i]`` is drawn for channel ``channel[i]``, in the order of :attr:`flitwork.Result.channels`. A channel
    that wraps has two segments, one stub at each end. ``undrawn`` says what is not on the page. ``terminals`` are drawn
    where the network places them apart from their routers, each with a line to the router ``router_of_terminal``.
    """

    xy: np.ndarray[Any, Any]
    segments: np.ndarray[Any, Any]
    channel: np.ndarray[Any, Any]
    axes: tuple[str, str]
    undrawn: str
    terminals: np.ndarray[Any, Any]
    router_of_terminal: np.ndarray[Any, Any]

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """Left, right, bottom, top of what is drawn."""
        drawn = np.concatenate([self.xy, self.terminals])
        low, high = drawn.min(axis=0) - 0.7, drawn.max(axis=0) + 0.7
        return low[0], high[0], low[1], high[1]

    def nearest_to_middle(self, routers: np.ndarray[Any, Any]) -> int:
        """Which of ``routers`` is the nearest to the middle, as an index."""
        # Of several that are as near, the one to the right and above.
        aim = (self.xy.min(axis=0) + self.xy.max(axis=0)) / 2 + 0.01
        return int(np.argmin(((self.xy[routers] - aim) ** 2).sum(axis=1)))

    def line_width(self, inches: float) -> float:
        """Width of a channel [points] on a panel of that width, so that the two directions of a cable do not touch."""
        left, right, _, _ = self.extent
        return min(5.0, _WIDTH * inches * 72 / (right - left))


def layout(topology: Mapping[str, Any]) -> Layout:
    """The layout of ``network.topology``."""
    found = _core.drawing(json.dumps(placed(topology)))
    name = " ".join([str(topology.get("kind")), "x".join(map(str, topology.get("size", ())))]).strip()
    if found is None:
        expected = "a topology that says where it lies on a page, as grids of at most 3 dimensions do"
        raise ConfigError("network.topology", name, expected, "the drawing of a topology is made with its channels")
    if len(found["routers"]) > _MAX_DRAWN:
        shown = f"{name} of {len(found['routers'])} routers"
        raise ConfigError("network.topology", shown, f"at most {_MAX_DRAWN} routers to draw")
    axes = (str(found["axes"][0]), str(found["axes"][1]))
    of_terminals = found["terminals"], found["router_of_terminal"]
    return Layout(found["routers"], found["segments"], found["channel"], axes, str(found["note"]), *of_terminals)


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
    inches = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted()).width
    _draw_terminals(ax, place, width, 72 * inches / (right - left))
    ax.set_xlim(left, right)
    ax.set_ylim(bottom, high)
    ax.set_aspect("equal")
    ax.grid(False)
    ax.set_xlabel(place.axes[0])
    ax.set_ylabel(place.axes[1])
    ax.set_yticks(_ticks(place.xy[:, 1]) if place.axes[1] else [])
    # Where planes lie side by side, what is across is no coordinate.
    ax.set_xticks([] if place.undrawn or not place.axes[0] else _ticks(place.xy[:, 0]))
    return lines


def _draw_terminals(ax: Axes, place: Layout, width: float, scale: float) -> None:
    """Terminals with their numbers, each with a line to its router: their channels have no load of their own.

    ``scale`` is about how many points a unit of the drawing has: neighbours do not cover each other.
    """
    if not len(place.terminals):
        return
    cables = np.stack([place.xy[place.router_of_terminal], place.terminals], axis=1)
    ax.add_collection(LineCollection(list(cables), colors=IDLE, linewidths=width / 2, zorder=1))
    x, y = place.terminals.T
    apart = np.linalg.norm(place.terminals[:, None] - place.terminals, axis=2)
    nearest = apart[apart > 0].min(initial=np.inf) * scale
    box = min(max(3 * width, 8.0), 0.9 * nearest)
    ax.scatter(x, y, s=box**2, marker="s", color="white", edgecolors="0.25", linewidths=0.8, zorder=3)
    for terminal, (at_x, at_y) in enumerate(place.terminals):
        ax.text(at_x, at_y, str(terminal), ha="center", va="center", fontsize=min(7.0, 0.6 * box), zorder=4)


def _ticks(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    different: np.ndarray[Any, Any] = np.unique(values)
    return different[:: max(1, len(different) // 8)]
