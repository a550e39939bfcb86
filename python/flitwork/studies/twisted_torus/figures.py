"""Completion over the bound by schedule, what the twist gains by reading, and what virtual channels change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from flitwork.plot.style import COLOURS, MARKERS, save, style
from flitwork.studies.twisted_torus.claims import NAMES, claims
from flitwork.studies.twisted_torus.measures import (
    LARGE,
    MANY_PORTS,
    RANDOM_ORDER,
    REGULAR,
    REGULAR_HOPS,
    REGULAR_LASH,
    SMALL,
    TIMETABLE,
    TWISTED,
    TWISTED_HOPS,
    accepted,
    all_to_alls,
    by_steps,
)

_WORDS = {
    REGULAR: "regular, dimension order", REGULAR_LASH: "regular, lash", REGULAR_HOPS: "regular, hop classes",
    TWISTED: "twisted, lash", TWISTED_HOPS: "twisted, hop classes",
}  # fmt: skip
#: Regular tori in blue with hollow marks, twisted ones in red with full ones.
_LOOKS: dict[str, dict[str, Any]] = {
    net: {"color": COLOURS[0] if net.startswith("regular") else COLOURS[1], "marker": marker,
          "markerfacecolor": "white" if net.startswith("regular") else COLOURS[1]}
    for net, marker in zip(_WORDS, MARKERS, strict=False)
}  # fmt: skip
_SCHEDULES = {
    TIMETABLE: "synthesised schedule", RANDOM_ORDER: "random order", "simple_spread": "simple spread",
    "xor_spread": "XOR spread", "by_number": "by number", "a2at": "A2AT (grids)", "a2and": "A2AND (grids)",
    "pairwise_shift": "pairwise, ring", "pairwise_xor": "pairwise, XOR", "bruck": "Bruck", "butterfly": "butterfly",
}  # fmt: skip
_PORTS = {1: "1 port", MANY_PORTS: f"{MANY_PORTS} ports (synthesised: 1 or 2)"}
#: The claims of what the twist gains, after the size.
_GAINS = {
    "bound": "bounds, best of all routings", ".timetable": "synthesised schedules",
    "": "lash, dimension order", ".lash": "lash on both",
    ".transit-first": "lash, dimension order; transit first", ".hop-classes": "hop classes on both",
    ".uniform": "uniform: lash, dimension order", ".uniform.hop-classes": "uniform: hop classes, dimension order",
}  # fmt: skip
#: Marks on the axis of completion over the bound.
_RATIOS = (1, 1.5, 2, 3, 5, 10, 20)
#: What the paper says, and the tolerance of the claims.
_TOLERANCE = 0.1
_PAPER = {SMALL: 1.63, LARGE: 1.31}


def figures(results: pd.DataFrame, outdir: Path) -> list[Path]:
    """Draws the figures of which there are runs."""
    if not len(results):
        return []
    table, uniform = all_to_alls(results), accepted(results)
    with style():
        found = {"gain": _gain(results), "over-the-bound": _over_the_bound(table)}
        # The smaller version has one number of virtual channels and no uniform traffic: nothing to compare.
        if len(uniform):
            found["virtual-channels"] = _virtual_channels(table, uniform)
        return [path for name, figure in found.items() for path in save(figure, outdir, name)]


def _gain(results: pd.DataFrame) -> Figure:
    ours = {finding.id: float(finding.ours or 0) for finding in claims(results)}
    of = {size: {row: f"bound.{name}" if row == "bound" else f"{name}{row}" for row in _GAINS}
          for size, name in NAMES.items()}  # fmt: skip
    sizes = [size for size, names in of.items() if any(name in ours for name in names.values())]
    rows = [row for row in _GAINS if any(of[size][row] in ours for size in sizes)]
    figure, axes = plt.subplots(
        1, len(sizes), figsize=(2.4 + 3.4 * len(sizes), 3.6), layout="constrained", squeeze=False, sharex=True,
        sharey=True,
    )  # fmt: skip
    widest = max(ours[name] for size in sizes for name in of[size].values() if name in ours)
    for ax, size in zip(axes[0], sizes, strict=True):
        found = [(place, ours[of[size][row]]) for place, row in enumerate(rows) if of[size][row] in ours]
        places, values = zip(*found, strict=True)
        colours = ["0.45" if rows[place] == "bound" else COLOURS[1] for place in places]
        ax.barh(places, values, color=colours, height=0.66)
        for place, value in found:
            ax.text(0.05, place, f"{value:.2f}", va="center", color="white", fontweight="bold", fontsize=10)
        paper = _PAPER[size]
        ax.axvspan(
            paper * (1 - _TOLERANCE), paper * (1 + _TOLERANCE), color=COLOURS[0], alpha=0.2, linewidth=0, zorder=0
        )
        ax.axvline(paper, color=COLOURS[0], linestyle="--", label=f"TPU v4: {paper} ± {_TOLERANCE:.0%}")
        ax.axvline(1, color="black", linewidth=1)
        ax.set(title=size, xlabel="twisted over regular (speed, load)", xlim=(0, max(2, 1.04 * widest)))
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2))
    axes[0][0].set_yticks(range(len(rows)), [_GAINS[row] for row in rows])
    axes[0][0].set(ylabel="routing of twisted, regular")
    axes[0][0].invert_yaxis()
    return figure


def _over_the_bound(table: pd.DataFrame) -> Figure:
    timetables = table[table["schedule"] == TIMETABLE]
    two = timetables["experiment"] == "timetables"
    # That of a regular torus uses one port, which is enough for it.
    one_port = timetables[~two | (timetables["net"] == REGULAR)]
    shown = pd.concat([timetables[two].assign(ports=MANY_PORTS), one_port, by_steps(table)])
    sizes = [size for size in (SMALL, LARGE) if size in set(shown["size"])]
    ports = [number for number in (1, MANY_PORTS) if number in set(shown["ports"])]
    schedules = {size: _ran(shown[shown["size"] == size]) for size in sizes}
    heights = [len(schedules[size]) for size in sizes]
    figure, axes = plt.subplots(
        len(sizes), len(ports), figsize=(4.6 * len(ports), 1.0 + 0.36 * sum(heights) + 0.5 * len(sizes)),
        layout="constrained", squeeze=False, sharex=True, sharey="row", height_ratios=heights,
    )  # fmt: skip
    for row, size in zip(axes, sizes, strict=True):
        for ax, number in zip(row, ports, strict=True):
            part = shown[(shown["size"] == size) & (shown["ports"] == number)]
            _schedules(ax, part, schedules[size])
            ax.set(title=f"{size}, {_PORTS[number]}")
        row[0].set_yticks(range(len(schedules[size])), [_SCHEDULES[name] for name in schedules[size]])
        row[0].set_ylim(len(schedules[size]) - 0.4, -0.6)
    for ax in axes[-1]:
        ax.set(xlabel="completion time over the bound", xscale="log", xlim=(0.9, None))
        ax.set_xticks(_RATIOS, [f"{ratio:g}" for ratio in _RATIOS])
        ax.minorticks_off()
    _legend(figure, axes)
    return figure


def _ran(runs: pd.DataFrame) -> list[str]:
    return [name for name in _SCHEDULES if name in set(runs["schedule"])]


def _schedules(ax: Axes, runs: pd.DataFrame, schedules: list[str]) -> None:
    for number, (net, words) in enumerate(_WORDS.items()):
        part = runs[runs["net"] == net]
        places = [schedules.index(name) + 0.14 * (number - 2) for name in part["schedule"]]
        if len(part):
            ax.plot(part["ratio"], places, linestyle="", label=words, **_LOOKS[net])
    ax.axvline(1, color="black", linewidth=1)


def _virtual_channels(table: pd.DataFrame, uniform: pd.DataFrame) -> Figure:
    runs = table[table["experiment"] == "vcs"]
    figure, axes = plt.subplots(1, 2, figsize=(9.2, 4.2), layout="constrained", squeeze=False)
    for net, words in _WORDS.items():
        part = runs[runs["net"] == net].sort_values("vcs")
        if len(part):
            axes[0][0].plot(part["vcs"], part["ratio"], label=words, **_LOOKS[net])
        part = uniform[uniform["net"] == net].sort_values("offered")
        if len(part):
            axes[0][1].errorbar(
                part["offered"], part["accepted"], part["interval"].fillna(0), capsize=2, label=words, **_LOOKS[net]
            )
    axes[0][0].set(
        title=f"{SMALL}: simple spread, {MANY_PORTS} ports", xlabel="virtual channels", xscale="log",
        yscale="log", ylabel="completion time over the bound", ylim=(0.9, None),
    )  # fmt: skip
    axes[0][0].set_yticks(_RATIOS, [f"{ratio:g}" for ratio in _RATIOS])
    axes[0][0].set_xticks(sorted(set(runs["vcs"])), [str(number) for number in sorted(set(runs["vcs"]))])
    axes[0][0].minorticks_off()
    axes[0][0].axhline(1, color="black", linewidth=1)
    for ax in axes[0][1:]:
        ax.axline((0, 0), slope=1, color="black", linewidth=0.8, linestyle=":")
        ax.set(
            title=f"{SMALL}: uniform traffic", xlabel="offered load [flits/cycle/terminal]", ylabel="accepted load",
            xlim=(0.2, None), ylim=(0, None),
        )  # fmt: skip
    _legend(figure, axes)
    return figure


def _legend(figure: Figure, axes: np.ndarray[Any, Any]) -> None:
    handles = {label: handle for ax in axes.flat
               for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}  # fmt: skip
    words = [word for word in _WORDS.values() if word in handles]
    figure.legend([handles[word] for word in words], words, loc="outside lower center", ncols=3)
