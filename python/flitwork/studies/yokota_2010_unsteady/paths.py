"""Figure 1: the routes of packets by dimension order on 8 x 8, coloured by virtual channel."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from flitwork import _core
from flitwork.planning.specification import Torus, simulation, to_json
from flitwork.plot.drawn import tell
from flitwork.plot.style import COLOURS
from flitwork.studies.yokota_2010_unsteady.measures import PATTERNS
from flitwork.workloads.workload import traffic

_SHOWN = ("transpose", "shuffle", "bit_complement", "bit_reverse", "bit_rotation")
#: East, west, north, south: one step through each port.
_STEPS = ((1, 0), (-1, 0), (0, 1), (0, -1))


def destination(pattern: str, source: int, bits: int) -> int:
    """Where a permutation of addresses of ``bits`` bits sends ``source``."""
    half, top = bits // 2, (1 << bits) - 1
    if pattern == "transpose":
        return (source >> half | source << half) & top
    if pattern == "shuffle":
        return (source << 1 | source >> (bits - 1)) & top
    if pattern == "bit_rotation":
        return (source >> 1 | source << (bits - 1)) & top
    if pattern == "bit_complement":
        return source ^ top
    return int(f"{source:0{bits}b}"[::-1], 2)


def path_maps(n: int = 8) -> Figure:
    """Every channel of the torus by pattern: its width is the number of routes that use it, its colour their VC."""
    figure, axes = plt.subplots(2, 3, figsize=(11, 7.6))
    rows = []
    for ax, pattern in zip(axes.flat, _SHOWN, strict=False):
        for (router, port, vc), ways in channels(pattern, n).items():
            _arrow(ax, router % n, router // n, port, vc, ways)
            dx, dy = _STEPS[port]
            rows.append((PATTERNS[pattern], router % n, router // n, dx, dy, vc, ways))
        ax.plot(*np.meshgrid(np.arange(n), np.arange(n)), "s", color="0.25", markersize=3.5, linestyle="none")
        ax.set(title=PATTERNS[pattern], aspect="equal", xlabel="x", ylabel="y", xticks=range(n), yticks=range(n))
        ax.grid(visible=False)
    blank = axes.flat[-1]
    blank.axis("off")
    lines = [
        Line2D([], [], color=COLOURS[vc], linewidth=4, label=f"VC {vc}: {vc} datelines crossed") for vc in range(3)
    ]
    blank.legend(
        handles=lines, loc="center", fontsize=12, title="width: packets that pass\nhalf channels at the rim: wraps"
    )
    tell(figure, pd.DataFrame(rows, columns=["pattern", "x", "y", "to_x", "to_y", "vc", "routes"]))
    figure.suptitle(f"Figure 1: routes by dimension order, {n} × {n} torus")
    return figure


def channels(pattern: str, n: int) -> dict[tuple[int, int, int], int]:
    """How many of the ways of a permutation leave a router by a port in a virtual channel: ``(router, port, VC)``."""
    network = Torus(n, n, vcs=3, routing="dimension_order", classes="crossed")
    plan = _core.Plan(to_json(simulation(network, traffic(pattern, offered_load=0.01))))
    bits = 2 * int(plan.contents()["spec"]["network"]["topology"]["size"][0] - 1).bit_length()
    used: dict[tuple[int, int, int], int] = {}
    for source in range(n * n):
        for hop in zip(
            *(column.tolist() for column in plan.path(source, destination(pattern, source, bits))), strict=True
        ):
            used[hop] = used.get(hop, 0) + 1
    return used


def _arrow(ax: Any, x: int, y: int, port: int, vc: int, ways: int) -> None:
    """A channel beside the line between two routers: the two directions and the three VCs each have their own place."""
    dx, dy = _STEPS[port]
    aside = (0.08 + 0.08 * vc) * (1 if port % 2 == 0 else -1)
    to_side = (aside if dx == 0 else 0.0, aside if dy == 0 else 0.0)
    length = 0.9
    ax.plot(
        [x + 0.05 * dx + to_side[0], x + length * dx + to_side[0]],
        [y + 0.05 * dy + to_side[1], y + length * dy + to_side[1]],
        color=COLOURS[vc],
        linewidth=0.5 + 0.8 * ways,
        solid_capstyle="butt",
    )
