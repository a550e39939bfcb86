"""The phases of a schedule on the network: how each loads the channels, and the ways of one rank's messages."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from flitwork import _core
from flitwork.bound import plan
from flitwork.errors import ConfigError
from flitwork.plot.layout import Layout, draw_channels, layout
from flitwork.plot.style import style
from flitwork.spec import Network
from flitwork.workloads import Workload

_ACCENT = "#D55E00"


def phases(network: Network, workload: Workload, which: Sequence[int] | None = None, rank: int | None = None) -> Figure:
    """Draws some phases of a schedule (by default 8 spread over all): one panel each.

    Channels are coloured by their load in messages; the ways of the messages of ``rank`` (by default the rank in the
    middle) are drawn over them. A phase is as many messages of each rank as a network interface has ports.
    """
    return phases_of(plan(network, workload), which, rank)


def phases_of(planned: _core.Plan, which: Sequence[int] | None = None, rank: int | None = None) -> Figure:
    """:func:`phases` of a plan that exists."""
    spec = json.loads(planned.json)["spec"]
    place = layout(spec["network"]["topology"])
    group = spec["network"]["nic"]["ports"]
    messages = planned.messages()
    number = messages["phase"] // group
    count = int(number.max()) + 1
    chosen = list(which) if which is not None else sorted({round(i * (count - 1) / 7) for i in range(8)})
    for phase in chosen:
        if not 0 <= phase < count:
            raise ConfigError("phase", phase, f"0 to {count - 1}")
    concentration = spec["network"]["topology"]["terminals_per_router"]
    sources, destinations = messages["from"] // concentration, messages["to"] // concentration
    middle = place.middle if rank is None else rank
    loads, ways = [], []
    for phase in chosen:
        rows = np.flatnonzero(number == phase)
        load, way = _loads(planned, place, sources[rows], destinations[rows], middle)
        loads.append(load)
        ways.append(way)
    top = max(float(np.max(load)) for load in loads)
    across = min(4, len(chosen))
    down = -(-len(chosen) // across)
    left, right, bottom, high = place.extent
    with style():
        size = (3.0 * across + 1.0, 3.0 * down * max(0.45, (high - bottom) / (right - left)) + 0.9)
        figure, axes = plt.subplots(down, across, figsize=size, squeeze=False, sharex=True, sharey=True)
        for ax, phase, load, way in zip(axes.flat, chosen, loads, ways, strict=False):
            width = place.line_width(2.6)
            lines = draw_channels(ax, place, load, top, width)
            _draw_way(ax, place, way, middle, width)
            ax.set_title(f"phase {phase}: max {load.max():g}", fontsize=10)
        for ax in axes.flat[len(chosen) :]:
            ax.set_visible(False)
        for ax in axes.flat:
            ax.label_outer()
        ticks = MaxNLocator(nbins=8, integer=True)
        bar = figure.colorbar(lines, ax=axes, shrink=0.8, pad=0.01, ticks=ticks)
        bar.set_label("load of the channel [messages]")
        name = spec["workload"].get("algorithm", spec["workload"]["kind"])
        kind = f"{spec['network']['topology']['kind']} {'x'.join(map(str, place.size))}"
        figure.suptitle(f"{name} on {kind}: {len(chosen)} of {count} phases, ways of rank {middle} in orange")
    return figure


def _loads(
    planned: _core.Plan, place: Layout, sources: np.ndarray[Any, Any], destinations: np.ndarray[Any, Any], rank: int
) -> tuple[np.ndarray[Any, Any], list[tuple[int, int]]]:
    """Messages over each ``[router, port]``, and the channels on the ways of ``rank``."""
    load = np.zeros((len(place.xy), 2 * len(place.size)))
    way: list[tuple[int, int]] = []
    for source, destination in zip(sources.tolist(), destinations.tolist(), strict=True):
        routers, ports, _ = planned.path(source, destination)
        np.add.at(load, (routers, ports), 1)
        if source == rank:
            way += zip(routers.tolist(), ports.tolist(), strict=True)
    return load, way


def _draw_way(ax: Axes, place: Layout, way: list[tuple[int, int]], rank: int, width: float) -> None:
    on_way = set(way)
    for i, (router, port) in enumerate(zip(place.router.tolist(), place.port.tolist(), strict=True)):
        if (router, port) in on_way:
            (x0, y0), (x1, y1) = place.segments[i]
            arrow = {"arrowstyle": "-|>", "color": _ACCENT, "linewidth": 0.6 * width, "shrinkA": 0, "shrinkB": 0}
            ax.annotate("", (x1, y1), (x0, y0), arrowprops={**arrow, "mutation_scale": 5 + 2 * width}, zorder=4)
    ax.scatter(place.xy[rank, 0], place.xy[rank, 1], s=(4 * width) ** 2, color=_ACCENT, zorder=5, linewidths=0)
