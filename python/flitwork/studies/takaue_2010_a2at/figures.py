"""The paper's figures 3 to 7 with its axes, and those of the questions that it leaves open."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from flitwork.plot.style import COLOURS, MARKERS, save, style
from flitwork.result import Result
from flitwork.statistics import error_bars
from flitwork.studies.takaue_2010_a2at.measures import SENSITIVITY, by_buffer, over_n, rows, sensitivity

_NAMES = {"a2at": "A2AT", "a2and": "A2AND", "a2and_x_inner": "A2AND, x inner", "mesh": "Mesh", "torus": "Torus"}
_SYNC = {"async": "async", "local": "local sync", "local_sliding": "local sync (sliding)"}
_THEORY = "time / theory for one controller"
_REASONS = {
    "no_credit": "no credit: buffer ahead is full",
    "no_vc": "no VC: all are held by other packets",
    "input_port_busy": "crossbar input busy",
    "lost_switch": "lost the crossbar output",
    "ejection_port_busy": "ejection port busy",
    "no_ejection_vc": "no ejection VC",
    "lost_vc_allocation": "lost the VC",
    "pipeline": "in the pipeline",
    "source_no_credit": "source: no credit",
    "source_waits_for_sync": "source: waits for sync",
}


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
        drawn += save(_stalls(results, points), outdir, "stalls")
        drawn += save(_ways(results), outdir, "nct4")
        if "age" in there:
            drawn += save(_age(results), outdir, "age")
        drawn += save(_beyond(results), outdir, "beyond")
        drawn += save(_ties(results), outdir, "ties")
    return drawn


def _line(ax: Axes, values: pd.Series[float], label: str, colour: int, dashed: bool = False, mark: int = 0) -> None:
    look: dict[str, Any] = {"color": COLOURS[colour], "marker": MARKERS[mark], "linestyle": "--" if dashed else "-"}
    ax.plot(
        values.index, values.to_numpy(), label=label, markerfacecolor="white" if dashed else COLOURS[colour], **look
    )


def _sizes(ax: Axes, results: pd.DataFrame, experiment: str) -> None:
    ax.set_xticks(sorted(rows(results, experiment)["N"].unique()))
    ax.set_xlabel("N (network of N × N)")


def _by_size(results: pd.DataFrame, experiment: str, title: str) -> Figure:
    figure, ax = plt.subplots()
    for i, net in enumerate(("mesh", "torus")):
        for algorithm in ("a2at", "a2and"):
            values = over_n(results, experiment, net=net, algorithm=algorithm)
            _line(ax, values, f"{_NAMES[net]} {_NAMES[algorithm]}", i, algorithm == "a2and", i)
        values = over_n(results, experiment, net=net, algorithm="a2and_x_inner")
        _line(ax, values, f"{_NAMES[net]} {_NAMES['a2and_x_inner']}", i + 2, True, i + 2)
    ax.axhline(1, color="0.35", linewidth=1)
    ax.set_ylim(bottom=0)
    _sizes(ax, results, experiment)
    ax.set_ylabel(_THEORY)
    ax.set_title(title)
    ax.legend(ncols=2, loc="lower right")
    return figure


def _figure_6(results: pd.DataFrame) -> Figure:
    figure, ax = plt.subplots()
    for i, n in enumerate((11, 17)):
        free, local = by_buffer(results, n)
        if free.empty:
            continue
        _line(ax, free, f"N = {n}, async", i, False, i)
        _line(ax, local, f"N = {n}, local sync", i, True, i)
    ax.axhline(1, color="0.35", linewidth=1)
    ax.axvline(200, color="0.35", linewidth=1, linestyle=":")
    ax.text(203, 0.02, "2 packets", color="0.35", fontsize=9)
    ax.set_ylim(bottom=0)
    ax.set_xlabel("buffer of a VC [flits]")
    ax.set_ylabel(_THEORY)
    ax.set_title("Figure 6: the buffers of a torus, 2 VCs")
    ax.legend(loc="lower left", bbox_to_anchor=(0, 0.06))
    return figure


def _figure_7(results: pd.DataFrame) -> Figure:
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), sharey=True)
    theory = {"mesh": {1: 1.0, 2: 0.75}, "torus": {1: 1.0, 2: 0.5, 4: 0.375}}
    for ax, net in zip(axes, ("mesh", "torus"), strict=True):
        for i, nct in enumerate((1, 2, 4)):
            for sync in ("async", "local_sliding"):
                values = over_n(results, "fig7", net=net, nct=nct, sync=sync)
                _line(ax, values, f"NCT = {nct}, {_SYNC[sync]}", i, sync == "async", i)
        for nct, level in theory[net].items():
            ax.axhline(level, color="0.35", linewidth=1, linestyle=":")
            also = " and 4" if net == "mesh" and nct == 2 else ""
            ax.text(0.99, level, f"theory, NCT = {nct}{also}", transform=ax.get_yaxis_transform(), ha="right",
                    va="bottom", fontsize=8, color="0.35")  # fmt: skip
        _sizes(ax, results, "fig7")
        ax.set_title(f"Figure 7: {_NAMES[net]}, buffers of 200 flits")
        ax.set_ylim(bottom=0)
    axes[0].set_ylabel(_THEORY)
    axes[1].legend(loc="lower left", fontsize=8, ncols=2)
    return figure


def _sensitivity(results: pd.DataFrame) -> Figure:
    table = sensitivity(results)
    hits = dict.fromkeys(table.index, 0)
    figure, ax = plt.subplots(figsize=(13, 0.42 * len(table) + 3.4))
    colours = {None: "#f2f2f2", True: "#9ecae9", False: "#ffbf86"}
    for x, claim in enumerate(SENSITIVITY.values()):
        for y, reading in enumerate(table.index):
            value = float(table.loc[reading, claim.id])
            fits = None if claim.paper is None else claim.model_copy(update={"ours": value}).holds
            hits[reading] += fits is True
            ax.add_patch(Rectangle((x, y), 1, 1, facecolor=colours[fits], edgecolor="white", linewidth=2))
            ax.text(x + 0.5, y + 0.5, f"{value:.2f}", ha="center", va="center", fontsize=10,
                    fontweight="bold" if fits else "normal")  # fmt: skip
    headings = [name if of.paper is None else f"{name}\npaper: {of.paper:.2f}" for name, of in SENSITIVITY.items()]
    ax.set_xlim(0, len(SENSITIVITY))
    ax.set_ylim(len(table), 0)
    ax.set_xticks(np.arange(len(SENSITIVITY)) + 0.5, headings, fontsize=9, rotation=90)
    ax.xaxis.tick_top()
    labels = [f"{reading}   ({hits[reading]})" for reading in table.index]
    ax.set_yticks(np.arange(len(table)) + 0.5, labels, fontsize=10)
    ax.grid(False)
    ax.tick_params(length=0)
    for side in ax.spines.values():
        side.set_visible(False)
    ax.set_xlabel("blue and bold: agrees with the paper; orange: does not; grey: nothing to compare with. "
                  "In brackets: how many agree. Each but the first row changes one choice.", fontsize=9)  # fmt: skip
    return figure


def _stalls(results: pd.DataFrame, points: Path) -> Figure:
    part = rows(results, "stalls")
    n = int(part["N"].max())
    part = part[part["N"] == n].sort_values(["workload.sync", "nct"], ascending=[True, True])
    figure, axes = plt.subplots(1, 3, figsize=(13, 4.6), sharey=True)
    labels = [f"NCT = {row.nct:.0f}, {_SYNC[str(row.sync)]}"
              for row in part.rename(columns={"workload.sync": "sync"}).itertuples()]  # fmt: skip
    reports = [Result.load(points / f"{key}.parquet") for key in part["plan_hash"]]
    columns = ("flit_cycles", "tail_flit_cycles", "idle_ejection_flit_cycles")
    titles = ("all flits", "tails", "at the destination, an ejection port idle")
    for ax, column, title in zip(axes, columns, titles, strict=True):
        start = np.zeros(len(reports))
        for i, (reason, text) in enumerate(_REASONS.items()):
            values = np.array([
                of.stalls.set_index("reason")[column].to_dict()[reason] / of.completion_cycles / n**2 for of in reports
            ])  # fmt: skip
            ax.barh(
                labels,
                values,
                left=start,
                color=(*COLOURS, "#882255", "#999999", "#F0E442")[i],
                label=text,
                height=0.7,
                edgecolor="white",
            )
            start += values
        ax.set_title(title)
        ax.set_xlabel("standing still a router, mean over the run")
        ax.grid(axis="y", visible=False)
    axes[0].invert_yaxis()
    figure.suptitle(f"Why flits stand still: A2AT on the {n} × {n} torus, 2 VCs, buffers of 200 flits")
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4, fontsize=8.5)
    return figure


def _ways(results: pd.DataFrame) -> Figure:
    figure, ax = plt.subplots(figsize=(9, 4.8))
    ways = list(rows(results, "nct4")["way"].drop_duplicates())
    for i, way in enumerate(ways):
        values = over_n(results, "nct4", "time_of_bound", way=way)
        _line(ax, values, way, i % len(COLOURS), i >= len(COLOURS), i % len(MARKERS))
    ax.axhspan(1, 1.15, color="0.85", zorder=0, label="within 1.15 of the bound")
    _sizes(ax, results, "nct4")
    ax.set_ylabel("time / N(N² − 1)/8 messages")
    ax.set_ylim(bottom=0.9)
    ax.set_title("Four controllers on a torus: what brings A2AT to the bound")
    ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=9)
    return figure


def _age(results: pd.DataFrame) -> Figure:
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharey=True)
    for ax, buffer in zip(axes, (20, 200), strict=True):
        for i, fairness in enumerate(rows(results, "age")["fairness"].drop_duplicates()):
            _line(ax, over_n(results, "age", fairness=fairness, buffer=buffer), fairness, i, False, i)
        ax.axhline(1, color="0.35", linewidth=1)
        _sizes(ax, results, "age")
        ax.set_title(f"A2AT, torus, buffers of {buffer} flits")
    axes[0].set_ylabel(_THEORY)
    axes[0].set_ylim(bottom=0)
    axes[0].legend(loc="lower left")
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
    ax.set_ylabel("time / lower bound")
    ax.set_title("Beyond the paper: 2 controllers a dimension, messages of 20 flits, buffers of 40")
    ax.set_ylim(top=1.25 * ax.get_ylim()[1])
    ax.legend(fontsize=9, ncols=2, loc="upper left")
    ax.grid(axis="x", visible=False)
    return figure


def _ties(results: pd.DataFrame) -> Figure:
    figure, ax = plt.subplots(figsize=(8.4, 4.2))
    part = rows(results, "ties")
    for i, tie in enumerate(part["tie"].drop_duplicates()):
        grouped = part[part["tie"] == tie].groupby("N")["time_of_bisection"]
        ax.errorbar(list(grouped.mean().index), grouped.mean().to_numpy(), yerr=error_bars(grouped),
                    color=COLOURS[i], marker=MARKERS[i], capsize=3, label=tie)  # fmt: skip
    ax.axhline(1, color="0.35", linewidth=1)
    _sizes(ax, results, "ties")
    ax.set_ylabel("time / bisection bound")
    ax.set_title("Half way round an even ring: the tie rules, NCT = 4")
    ax.legend(title="tie rule; random: 3 seeds, 95 %", loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure
