"""The phases of a schedule on the network: how each loads the channels, and the routes of one rank's messages."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from flitwork import _core
from flitwork.base.arguments import several, whole
from flitwork.base.errors import ConfigError
from flitwork.networks.faults import working_topology
from flitwork.planning.bound import plan
from flitwork.planning.specification import Host, Network
from flitwork.plot.layout import Layout, draw_channels, layout
from flitwork.plot.style import style
from flitwork.workloads.workload import Workload

_ACCENT = "#D55E00"


def phases(
    network: Network,
    workload: Workload,
    which: Sequence[int] | None = None,
    rank: int | None = None,
    host: Host | Mapping[str, Any] | None = None,
) -> Figure:
    """Draws some phases of a schedule (by default 8 spread over all): one panel each.

    Channels are coloured by their load in messages; the routes of the messages of ``rank`` (by default the rank in the
    middle) are drawn over them. A phase is as many messages of each rank as a network interface has ports. Titles say
    the highest load that is drawn, and that of the channels that are not (those in z of three dimensions). ``host`` as
    for :func:`flitwork.simulate`: how many ranks each terminal has.
    """
    return phases_of(plan(network, workload, host), which, rank)


def phases_of(planned: _core.Plan, which: Sequence[int] | None = None, rank: int | None = None) -> Figure:
    """:func:`phases` of a plan that exists."""
    known = planned.contents()
    described, place = known["described"], layout(working_topology(known["spec"]["network"]))
    messages = planned.messages()
    number = messages["phase"] // described["nic_ports"]
    if not len(number):
        raise ConfigError("workload", described["workload"], "a schedule whose messages are known before it runs")
    count = int(number.max()) + 1
    asked = several("which", which, "a list of phases") if which is not None else None
    chosen = sorted({round(i * (count - 1) / 7) for i in range(8)}) if asked is None else asked
    if not chosen:
        raise ConfigError("which", "nothing", "at least one phase")
    chosen = [whole("phase", phase, 0, count - 1) for phase in chosen]
    router_of = planned.router_of_terminal()[planned.terminal_of_rank()]
    sources, destinations = router_of[messages["from"]], router_of[messages["to"]]
    shown = place.nearest_to_middle(router_of) if rank is None else whole("rank", rank, 0, len(router_of) - 1)
    of_shown = messages["from"] == shown
    channels = _Channels(planned, _core.channels(json.dumps(described["topology"])))
    loads, routes = [], []
    for phase in chosen:
        rows = np.flatnonzero(number == phase)
        load, route = channels.loads(sources[rows], destinations[rows], of_shown[rows])
        loads.append(load)
        routes.append(route)
    drawn = np.unique(place.channel).astype(int)
    if not len(drawn):
        raise ConfigError("network.topology.kind", described["topology"]["kind"], "channels between routers to draw")
    top = max(float(np.max(load[drawn])) for load in loads)
    left, right, bottom, high = place.extent
    flat = (high - bottom) / (right - left)
    # A wide network has half a line to itself.
    panel, most = (6.0, 2) if flat < 0.4 else (3.0, 4)
    across = min(most, len(chosen))
    down = -(-len(chosen) // across)
    with style():
        size = (panel * across + 1.0, down * max(1.35, panel * flat + 0.3) + 0.9)
        figure, axes = plt.subplots(down, across, figsize=size, squeeze=False, sharex=True, sharey=True)
        for ax, phase, load, route in zip(axes.flat, chosen, loads, routes, strict=False):
            width = place.line_width(panel - 0.4)
            lines = draw_channels(ax, place, load, top, width)
            _draw_route(ax, place, route, int(router_of[shown]), width)
            ax.set_title(f"phase {phase}: {_highest(load, drawn)}", fontsize=10)
        for ax in axes.flat[len(chosen) :]:
            ax.set_visible(False)
        for ax in axes.flat:
            ax.label_outer()
        ticks = MaxNLocator(nbins=8, integer=True)
        bar = figure.colorbar(lines, ax=axes, shrink=0.8, pad=0.01, ticks=ticks)
        bar.set_label("load of the channel [messages]")
        name = f"{described['workload']} on {described['topology']['kind']} {described['size']}"
        title = f"{name}: {len(chosen)} of {count} phases, routes of rank {shown} in orange"
        figure.suptitle(f"{title}\n{place.undrawn}" if place.undrawn else title)
    return figure


def _highest(load: np.ndarray[Any, Any], drawn: np.ndarray[Any, Any]) -> str:
    """The highest load of the channels that are drawn, and of the others."""
    others = np.delete(load, drawn)
    return f"max {load[drawn].max():g}" + (f" (not drawn: {others.max():g})" if len(others) else "")


class _Channels:
    """The channels of a plan by router and output port."""

    def __init__(self, planned: _core.Plan, table: Mapping[str, np.ndarray[Any, Any]]) -> None:
        self.planned = planned
        self.count = len(table["router"])
        self.number = {
            place: i for i, place in enumerate(zip(table["router"].tolist(), table["port"].tolist(), strict=True))
        }

    def loads(
        self, sources: np.ndarray[Any, Any], destinations: np.ndarray[Any, Any], of_shown: np.ndarray[Any, Any]
    ) -> tuple[np.ndarray[Any, Any], set[int]]:
        """Messages over each channel, and the channels on the routes of those ``of_shown``."""
        load = np.zeros(self.count)
        on_routes: set[int] = set()
        for source, destination, shown in zip(sources.tolist(), destinations.tolist(), of_shown.tolist(), strict=True):
            routers, ports, _ = self.planned.path(source, destination)
            route = [self.number[place] for place in zip(routers.tolist(), ports.tolist(), strict=True)]
            np.add.at(load, np.array(route, dtype=int), 1)
            if shown:
                on_routes.update(route)
        return load, on_routes


def _draw_route(ax: Axes, place: Layout, route: set[int], router: int, width: float) -> None:
    for channel, ((x0, y0), (x1, y1)) in zip(place.channel.tolist(), place.segments, strict=True):
        if channel in route:
            arrow = {"arrowstyle": "-|>", "color": _ACCENT, "linewidth": 0.6 * width, "shrinkA": 0, "shrinkB": 0}
            ax.annotate("", (x1, y1), (x0, y0), arrowprops={**arrow, "mutation_scale": 5 + 2 * width}, zorder=4)
    ax.scatter(place.xy[router, 0], place.xy[router, 1], s=(4 * width) ** 2, color=_ACCENT, zorder=5, linewidths=0)
