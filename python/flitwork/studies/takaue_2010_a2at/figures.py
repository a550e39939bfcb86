"""The paper's figures 3 to 7 with its axes, and those of the questions that it leaves open."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from flitwork.base.statistics import error_bars
from flitwork.plot.drawn import tell
from flitwork.plot.style import COLOURS, MARKERS, save, style
from flitwork.studies.takaue_2010_a2at.drawing import SYNC_NAMES, below, from_zero, line, sizes, whiskers
from flitwork.studies.takaue_2010_a2at.four_controllers import stalls, ways
from flitwork.studies.takaue_2010_a2at.measures import SENSITIVITY, by_buffer, over_n, rows, sensitivity
from flitwork.studies.takaue_2010_a2at.variants import spread

_NAMES = {"a2at": "A2AT", "a2and": "A2AND", "a2and_x_inner": "A2AND, x inner", "mesh": "mesh", "torus": "torus"}
_THEORY = "time / theory for one controller"


def figures(results: pd.DataFrame, outdir: Path) -> list[Path]:
    """Draws all figures for which there are results."""
    there = set(results["experiment"])
    points = outdir.parent / "points"
    drawn: list[Path] = []
    with style():
        for number, title in ((3, "VC = destinations"), (4, "2 VCs, async"), (5, "2 VCs, local sync")):
            drawn += save(_by_size(results, f"fig{number}", f"Figure {number}: {title}"), outdir, f"fig{number}")
        drawn += save(_figure_6(results), outdir, "fig6")
        drawn += save(_figure_7(results), outdir, "fig7")
        drawn += save(_sensitivity(results), outdir, "sensitivity")
        drawn += save(stalls(results, points), outdir, "stalls")
        drawn += save(ways(results), outdir, "nct4")
        if "age" in there:
            drawn += save(_age(results), outdir, "age")
        drawn += save(_beyond(results), outdir, "beyond")
        drawn += save(_ties(results), outdir, "ties")
    return drawn


def _by_size(results: pd.DataFrame, experiment: str, title: str) -> Figure:
    figure, ax = plt.subplots()
    for i, net in enumerate(("mesh", "torus")):
        for algorithm in ("a2at", "a2and"):
            values = over_n(results, experiment, net=net, algorithm=algorithm)
            line(ax, values, f"{_NAMES[net]}, {_NAMES[algorithm]}", i, algorithm == "a2and", i)
            whiskers(ax, spread(results, experiment, net=net, algorithm=algorithm), i)
        values = over_n(results, experiment, net=net, algorithm="a2and_x_inner")
        line(ax, values, f"{_NAMES[net]}, {_NAMES['a2and_x_inner']}", i + 2, True, i + 2)
        whiskers(ax, spread(results, experiment, net=net, algorithm="a2and_x_inner"), i + 2)
    from_zero(ax)
    ax.axhline(1, color="0.35", linewidth=1)
    sizes(ax, results, experiment)
    ax.set_ylabel(_THEORY)
    ax.set_title(title)
    below(figure, ax, 2)
    return figure


def _figure_6(results: pd.DataFrame) -> Figure:
    figure, ax = plt.subplots()
    for i, n in enumerate((11, 17)):
        free, local = by_buffer(results, n)
        if free.empty:
            continue
        line(ax, free, f"N = {n}, async", i, False, i)
        line(ax, local, f"N = {n}, local sync", i, True, i)
    from_zero(ax)
    ax.axhline(1, color="0.35", linewidth=1)
    ax.axvline(200, color="0.35", linewidth=1, linestyle=":")
    ax.text(203, 0.02, "2 packets", color="0.35", fontsize=9)
    ax.set_xlabel("buffer of a VC [flits]")
    ax.set_ylabel(_THEORY)
    ax.set_title("Figure 6: the buffers of a torus, 2 VCs")
    below(figure, ax, 2)
    return figure


def _figure_7(results: pd.DataFrame) -> Figure:
    figure, axes = plt.subplots(1, 2, figsize=(11, 5.0), sharey=True)
    theory = {"mesh": {"1": 1.0, "2 and 4": 0.75}, "torus": {"1": 1.0, "2": 0.5, "4": 0.375}}
    for ax, net in zip(axes, ("mesh", "torus"), strict=True):
        for i, nct in enumerate((1, 2, 4)):
            for sync in ("async", "local_sliding"):
                values = over_n(results, "fig7", net=net, nct=nct, sync=sync)
                line(ax, values, f"NCT = {nct}, {SYNC_NAMES[sync]}", i, sync == "async", i)
                whiskers(ax, spread(results, "fig7", net=net, nct=nct, sync=sync), i)
        for which, level in theory[net].items():
            ax.axhline(level, color="0.35", linewidth=1, linestyle=":")
            # Beside the panel: inside, curves run under any place.
            ax.text(1.01, level, f"theory, NCT = {which}", transform=ax.get_yaxis_transform(), va="center", fontsize=8,
                    color="0.35")  # fmt: skip
        sizes(ax, results, "fig7")
        ax.set_title(f"Figure 7: {net}, buffers of 200 flits")
    from_zero(max(axes, key=lambda ax: float(ax.get_ylim()[1])))
    axes[0].set_ylabel(_THEORY)
    below(figure, axes[0], 3)
    return figure


def _sensitivity(results: pd.DataFrame) -> Figure:
    table = sensitivity(results)
    hits = dict.fromkeys(table.index, 0)
    figure, ax = plt.subplots(figsize=(13, 0.42 * len(table) + 3.4))
    colours = {None: "#f2f2f2", True: "#9ecae9", False: "#ffbf86"}
    for x, claim in enumerate(SENSITIVITY.values()):
        for y, reading in enumerate(table.index):
            value = float(table.loc[reading, claim.id])
            fits = None if claim.paper is None else claim.agrees(value)
            hits[reading] += fits is True
            ax.add_patch(Rectangle((x, y), 1, 1, facecolor=colours[fits], edgecolor="white", linewidth=2))
            ax.text(x + 0.5, y + 0.5, f"{value:.2f}", ha="center", va="center", fontsize=10,
                    fontweight="bold" if fits else "normal")  # fmt: skip
    headings = [name if of.paper is None else f"{name}\npaper: {of.paper:.2f}" for name, of in SENSITIVITY.items()]
    ax.set_xlim(0, len(SENSITIVITY))
    ax.set_ylim(len(table), 0)
    ax.set_xticks(np.arange(len(SENSITIVITY)) + 0.5, headings, fontsize=9, rotation=90)
    ax.xaxis.tick_top()
    tell(figure, table.rename_axis("reading").reset_index())
    sizes = ", ".join(map(str, sorted(rows(results, "sensitivity")["N"].astype(int).unique())))
    figure.suptitle(
        f"What each open choice does to the numbers of the paper (means over N = {sizes}; times over the theory)"
    )
    labels = [f"{reading}   ({hits[reading]})" for reading in table.index]
    ax.set_yticks(np.arange(len(table)) + 0.5, labels, fontsize=10)
    ax.grid(False)
    ax.tick_params(length=0)
    for side in ax.spines.values():
        side.set_visible(False)
    ax.set_xlabel("blue and bold: agrees with the paper; orange: does not; grey: nothing to compare with. "
                  "In brackets: how many agree.", fontsize=9)  # fmt: skip
    return figure


def _age(results: pd.DataFrame) -> Figure:
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharey=True)
    for ax, buffer in zip(axes, (20, 200), strict=True):
        for i, fairness in enumerate(rows(results, "age")["fairness"].drop_duplicates()):
            line(ax, over_n(results, "age", fairness=fairness, buffer=buffer), fairness, i, False, i)
        ax.axhline(1, color="0.35", linewidth=1)
        sizes(ax, results, "age")
        ax.set_title(f"A2AT, torus, buffers of {buffer} flits")
    axes[0].set_ylabel(_THEORY)
    from_zero(max(axes, key=lambda ax: float(ax.get_ylim()[1])))
    below(figure, axes[0], 4)
    return figure


def _beyond(results: pd.DataFrame) -> Figure:
    part = results[results["experiment"].isin(["beyond", "largest"])]
    tori = list(part["torus"].drop_duplicates())
    figure, ax = plt.subplots(figsize=(10, 4.4))
    pairs = [(router, name) for router in part["router"].drop_duplicates() for name in ("a2at", "a2and")]
    width = 0.8 / len(pairs)
    for i, (router, algorithm) in enumerate(pairs):
        shown = part[(part["router"] == router) & (part["workload.algorithm"] == algorithm)]
        distance = shown.set_index("torus")["ratio_to_bound"]
        at = np.arange(len(tori)) + (i - (len(pairs) - 1) / 2) * width
        hatch = "//" if algorithm == "a2and" else None
        bars = ax.bar(at, distance.reindex(tori), width, label=f"{_NAMES[algorithm]}, {router}", color=COLOURS[i // 2],
                      alpha=0.55 if hatch else 1, hatch=hatch, edgecolor="white")  # fmt: skip
        if algorithm == "a2at":
            ax.bar_label(bars, fmt="%.2f", fontsize=8, rotation=90, padding=2)
    ax.axhline(1, color="0.2", linewidth=1)
    ax.set_xticks(np.arange(len(tori)), [name.replace("x", " × ") for name in tori])
    ax.set_xlabel("size of the torus [routers]")
    ax.set_ylabel("time / lower bound")
    ax.set_title("Beyond the paper: 2 controllers a dimension, messages of 20 flits, buffers of 40")
    ax.set_ylim(top=1.25 * ax.get_ylim()[1])
    ax.legend(fontsize=9, ncols=2, loc="upper left")
    ax.grid(axis="x", visible=False)
    return figure


def _ties(results: pd.DataFrame) -> Figure:
    figure, ax = plt.subplots(figsize=(7.4, 4.4))
    part = rows(results, "ties")
    for i, tie in enumerate(part["tie"].drop_duplicates()):
        grouped = part[part["tie"] == tie].groupby("N")["time_of_bisection"]
        bars = error_bars(grouped)
        label = tie if bars is None else f"{tie}: mean of 3 seeds, 95 %"
        ax.errorbar(list(grouped.mean().index), grouped.mean().to_numpy(), yerr=bars, color=COLOURS[i],
                    marker=MARKERS[i], capsize=3, label=label)  # fmt: skip
    ax.axhline(1, color="0.35", linewidth=1)
    sizes(ax, results, "ties")
    ax.set_ylabel("time / bisection bound")
    ax.set_title("Half-way round an even ring: the tie rules, NCT = 4")
    below(figure, ax, 4)
    return figure
