"""Where routers and channels lie on the page: a grid as it is, planes of three dimensions side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from flitwork.errors import ConfigError
from flitwork.plot.style import IDLE, LOAD_MAP

_APART = 0.09
_STUB = 0.42
_GAP = 1.6
_MAX_DRAWN = 4096


@dataclass(frozen=True)
class Layout:
    """The place of every router and channel; the two directions of a cable lie side by side, traffic keeps right.

    ``segments[i]`` is drawn for the channel of output port ``port[i]`` of router ``router[i]``. A channel that wraps
    has two segments, one stub at each end.
    """

    size: tuple[int, ...]
    xy: np.ndarray[Any, Any]
    segments: np.ndarray[Any, Any]
    router: np.ndarray[Any, Any]
    port: np.ndarray[Any, Any]

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """Left, right, bottom, top of what is drawn."""
        low, high = self.xy.min(axis=0) - 0.7, self.xy.max(axis=0) + 0.7
        return low[0], high[0], low[1], high[1]

    @property
    def middle(self) -> int:
        """The router in the middle."""
        return int(sum(n // 2 * int(np.prod(self.size[:d])) for d, n in enumerate(self.size)))

    def line_width(self, inches: float) -> float:
        """Width of a channel [points] on a panel of that width, so that the two directions of a cable do not touch."""
        left, right, _, _ = self.extent
        return min(5.0, 1.5 * _APART * inches * 72 / (right - left))

    @property
    def undrawn(self) -> str:
        """What a reader has to know about the channels that are not on the page."""
        return "" if len(self.size) < 3 else "channels within the planes; planes side by side"


def layout(topology: Mapping[str, Any]) -> Layout:
    """The layout of ``network.topology``."""
    size = tuple(topology["size"])
    if len(size) > 3 or int(np.prod(size)) > _MAX_DRAWN:
        expected = f"a network of at most 3 dimensions and {_MAX_DRAWN} routers to draw"
        raise ConfigError("network.topology.size", "x".join(map(str, size)), expected)
    wrap = topology.get("wrap") or [topology["kind"] == "torus"] * len(size)
    nx, ny = size[0], size[1] if len(size) > 1 else 1
    ids: np.ndarray[Any, Any] = np.arange(int(np.prod(size)))
    x, y, plane = ids % nx, ids // nx % ny, ids // (nx * ny)
    xy = np.stack([x + plane * (nx - 1 + _GAP), y], axis=1).astype(float)
    found: list[tuple[Any, Any, int, int]] = []
    for d, (length, at, wraps) in enumerate(zip((nx, ny)[: len(size)], (x, y), wrap, strict=False)):
        step = np.array([1.0, 0.0]) if d == 0 else np.array([0.0, 1.0])
        stride = 1 if d == 0 else nx
        for sign, port in ((1, 2 * d), (-1, 2 * d + 1)):
            aside = _APART * np.array([step[1], -step[0]]) * sign
            for router in ids if length > 1 else ():
                here = xy[router] + aside
                if 0 <= at[router] + sign < length:
                    found.append((tuple(here), tuple(here + sign * step), router, port))
                elif wraps:
                    far = xy[router - sign * (length - 1) * stride] + aside
                    found.append((tuple(here), tuple(here + _STUB * sign * step), router, port))
                    found.append((tuple(far - _STUB * sign * step), tuple(far), router, port))
    segments = np.array([[a, b] for a, b, _, _ in found]).reshape(-1, 2, 2)
    return Layout(size, xy, segments, *(np.array([f[k] for f in found], dtype=int) for k in (2, 3)))


def colour_channels(lines: LineCollection, place: Layout, loads: np.ndarray[Any, Any]) -> None:
    """Gives every channel the colour of its load; one without load is grey."""
    shown = loads[place.router, place.port]
    lines.set_array(np.where(shown == 0, np.nan, shown))


def draw_channels(ax: Axes, place: Layout, loads: np.ndarray[Any, Any], top: float, width: float) -> LineCollection:
    """Draws every channel in the colour of its load, ``loads[router, port]``, and the routers; returns the channels."""
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
    ax.set_xlabel("x [router]")
    ax.set_ylabel("y [router]" if len(place.size) > 1 else "")
    ax.set_yticks(np.unique(place.xy[:, 1])[:: max(1, len(np.unique(place.xy[:, 1])) // 8)])
    if len(place.size) > 2:
        ax.set_xticks([])
    else:
        ax.set_xticks(np.unique(place.xy[:, 0])[:: max(1, len(np.unique(place.xy[:, 0])) // 8)])
    return lines
