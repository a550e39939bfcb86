"""The paper's figures with its axes."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from flitwork.plot.style import COLOURS, MARKERS, save, style
from flitwork.statistics import half_width_95
from flitwork.studies.yokota_2010_unsteady import measures
from flitwork.studies.yokota_2010_unsteady.measures import ADAPTIVE, ALGORITHMS, PATTERNS, by_seed, received, rows
from flitwork.studies.yokota_2010_unsteady.paths import path_maps

_COLOURS = (*COLOURS, "#999999")
_MARKERS = (*MARKERS, "*")
_TITLES = {"do": "(a) do", "dp": "(b) dp", "df": "(c) df", "cl": "(d) cl"}
_SHARE = "offered load r / Rc"


def figures(results: pd.DataFrame, outdir: Path) -> list[Path]:
    """Draws figures 1 to 10."""
    points = outdir.parent / "points"
    with style():
        drawn = {
            "fig1": path_maps(),
            "fig2": _figure_2(results),
            "fig3": _figure_3(results),
            "fig4": _figure_4(results),
            "fig5": _figure_5(results, points),
            "fig6": _figure_6(results),
            "fig7": _figure_7(results, points),
            "fig8": _figure_8(results),
            "fig9": _figure_9(results),
            "fig10": _figure_10(results),
        }
        return [path for name, figure in drawn.items() for path in save(figure, outdir, name)]


def _panels(title: str, sharey: bool = True) -> tuple[Figure, dict[str, Axes]]:
    """One panel an algorithm."""
    figure, axes = plt.subplots(2, 2, figsize=(10, 7.4), sharex=True, sharey=sharey)
    figure.suptitle(title)
    panels = dict(zip(ALGORITHMS, axes.flat, strict=True))
    for algorithm, ax in panels.items():
        ax.set_title(_TITLES[algorithm])
    return figure, panels


def _line(ax: Axes, part: pd.DataFrame, x: str, y: str, label: str, look: int, dashed: bool = False) -> None:
    """Means over the seeds with their 95 % intervals; with two seeds from the lower to the higher."""
    groups = part.groupby(x)[y]
    mean = groups.mean()
    half = groups.apply(half_width_95)
    two = part["seed"].nunique() < 3
    ax.errorbar(
        mean.index,
        mean.to_numpy(),
        yerr=[mean - groups.min(), groups.max() - mean] if two else half.to_numpy(),
        label=label,
        color=_COLOURS[look],
        marker=_MARKERS[look],
        markersize=4,
        linewidth=1.4,
        elinewidth=0.8,
        linestyle="--" if dashed else "-",
        markerfacecolor="white" if dashed else _COLOURS[look],
    )


def _of_all_patterns(figure: Figure, panels: dict[str, Axes], part: pd.DataFrame, x: str, y: str) -> None:
    for algorithm, ax in panels.items():
        for i, (pattern, short) in enumerate(PATTERNS.items()):
            _line(ax, rows_of(part, algorithm=algorithm, pattern=pattern), x, y, short, i)
    figure.legend(*panels["do"].get_legend_handles_labels(), loc="outside lower center", ncols=8)


def rows_of(part: pd.DataFrame, **where: str | float) -> pd.DataFrame:
    """The rows in which the columns have these values."""
    for name, value in where.items():
        part = part[part[name] == value]
    return part


def _size(results: pd.DataFrame, experiment: str) -> str:
    n = int(rows(results, experiment)["N"].iloc[0])
    return f"{n} × {n}"


def _figure_2(results: pd.DataFrame) -> Figure:
    figure, panels = _panels(f"Figure 2: accepted load, {_size(results, 'steady')}")
    _of_all_patterns(figure, panels, rows(results, "steady"), "share", "accepted_share")
    for algorithm, ax in panels.items():
        ax.plot([0, 1], [0, 1], color="0.35", linewidth=0.8, linestyle=":")
        ax.set_ylim(0, 1.02)
        if algorithm in ("df", "cl"):
            ax.set_xlabel(_SHARE)
        if algorithm in ("do", "df"):
            ax.set_ylabel("accepted load / Rc")
    return figure


def _figure_3(results: pd.DataFrame) -> Figure:
    rc = measures.steady(results, measures.critical).mean(axis=1)
    npm = measures.steady(results, measures.npm).mean(axis=1) * 1000
    figure, ax = plt.subplots(figsize=(7.4, 5))
    for i, (pattern, short) in enumerate(PATTERNS.items()):
        names = list(ALGORITHMS)
        x, y = rc[pattern][names].to_numpy(), npm[pattern][names].to_numpy()
        ax.plot(x, y, color=_COLOURS[i], marker=_MARKERS[i], label=short, linewidth=1.2)
        for name, at_x, at_y in zip(names, x, y, strict=True):
            ax.annotate(name, (at_x, at_y), xytext=(4, 3), textcoords="offset points", fontsize=7, color=_COLOURS[i])
    ax.set_xlabel("critical load rc / Rc")
    ax.set_ylabel("NPM [10⁻³ (flits/cycle/terminal)² / cycle]")
    ax.set_title(f"Figure 3: NPM over rc, {_size(results, 'steady')}")
    ax.legend(ncols=2, loc="upper left")
    return figure


def _figure_4(results: pd.DataFrame) -> Figure:
    figure, panels = _panels(f"Figure 4: duration of a burst, background of 0.2 Rc, {_size(results, 'lengths')}")
    _of_all_patterns(figure, panels, rows(results, "lengths"), "l", "completion_cycles")
    for algorithm, ax in panels.items():
        ax.set(xscale="log", yscale="log")
        if algorithm in ("df", "cl"):
            ax.set_xlabel("packets a terminal, l")
        if algorithm in ("do", "df"):
            ax.set_ylabel("duration [cycles]")
    return figure


def _figure_5(results: pd.DataFrame, points: Path) -> Figure:
    figure, panels = _panels(f"Figure 5: packets received over time, shfl, {_size(results, 'windows')}", sharey=False)
    part = rows(results, "windows")
    for algorithm, ax in panels.items():
        for i, length in enumerate(sorted(part["l"].unique())):
            start, counts = received(rows_of(part, algorithm=algorithm, l=length), points)
            window = start[1] - start[0]
            end = np.interp(0.995, np.cumsum(counts) / counts.sum(), start + window)
            ax.plot((start + window / 2) / end, counts / window, color=_COLOURS[i], label=f"l = {length:.0f}")
        ax.set_xlim(0, 1.1)
        if algorithm in ("df", "cl"):
            ax.set_xlabel("time / time until 99.5 % have arrived")
        if algorithm in ("do", "df"):
            ax.set_ylabel("packets received a cycle")
    figure.legend(*panels["do"].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def _figure_6(results: pd.DataFrame) -> Figure:
    figure, panels = _panels(f"Figure 6: bursts at a limited rate, l = 10, {_size(results, 'limited')}")
    _of_all_patterns(figure, panels, rows(results, "limited"), "share", "performance")
    for algorithm, ax in panels.items():
        ax.set_ylim(bottom=0)
        if algorithm in ("df", "cl"):
            ax.set_xlabel("rate of creation r / Rc")
        if algorithm in ("do", "df"):
            ax.set_ylabel("1000 / duration [1/cycle]")
    return figure


def _figure_7(results: pd.DataFrame, points: Path) -> Figure:
    figure, axes = plt.subplots(2, 2, figsize=(10, 7.4))
    figure.suptitle(f"Figure 7: packets received over time, l = 10, {_size(results, 'bursts')}")
    part = rows(results, "bursts")
    for ax, pattern in zip(axes.flat, ("transpose", "shuffle", "bit_rotation", "random_pairs"), strict=True):
        for i, algorithm in enumerate(ALGORITHMS):
            start, counts = received(rows_of(part, algorithm=algorithm, pattern=pattern), points)
            window = start[1] - start[0]
            ax.plot(start + window / 2, counts / window, color=_COLOURS[i], label=algorithm)
        ax.set_title(PATTERNS[pattern])
        ax.set_xlabel("time [cycles]")
        ax.set_ylabel("packets received a cycle")
    figure.legend(*axes.flat[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def _figure_8(results: pd.DataFrame) -> Figure:
    part = rows(results, "bursts")
    names = list(dict.fromkeys(part["algorithm"]))
    figure, ax = plt.subplots(figsize=(10, 4.6))
    width = 0.8 / len(names)
    for i, algorithm in enumerate(names):
        groups = rows_of(part, algorithm=algorithm).groupby("pattern")["completion_cycles"]
        mean, half = groups.mean()[list(PATTERNS)], groups.apply(half_width_95)[list(PATTERNS)]
        at = np.arange(len(PATTERNS)) + (i - (len(names) - 1) / 2) * width
        ax.bar(at, mean, width, yerr=half, label=algorithm, color=_COLOURS[i], error_kw={"elinewidth": 0.9})
    ax.set_xticks(range(len(PATTERNS)), list(PATTERNS.values()))
    ax.grid(axis="x", visible=False)
    ax.set_ylabel("duration [cycles]")
    ax.set_title(f"Figure 8: bursts of 10 packets, background of 0.2 Rc, {_size(results, 'bursts')}")
    ax.legend(ncols=len(names), loc="upper center", bbox_to_anchor=(0.5, -0.1))
    return figure


def _figure_9(results: pd.DataFrame) -> Figure:
    rc = measures.steady(results, measures.critical).mean(axis=1)
    unsteady = measures.critical_unsteady(by_seed(rows(results, "limited"), "completion_cycles", "share").mean(axis=1))
    performance = 1000 / by_seed(rows(results, "bursts"), "completion_cycles").mean(axis=1)
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.8))
    labels = ("rc of bursts / Rc", "1000 / duration, l = 10 [1/cycle]")
    for ax, values, label, name in zip(axes, (unsteady, performance), labels, "ab", strict=True):
        for j, algorithm in enumerate(ALGORITHMS):
            for i, pattern in enumerate(PATTERNS):
                at = (pattern, algorithm)
                ax.plot(rc[at], values[at], marker=_MARKERS[j], color=_COLOURS[i], linestyle="none")
        ax.set_xlabel("rc of the steady state / Rc")
        ax.set_ylabel(label)
        ax.set_title(f"({name}) correlation {measures.correlation(rc, values):.2f}")
    for j, algorithm in enumerate(ALGORITHMS):
        axes[0].plot([], [], marker=_MARKERS[j], color="0.35", linestyle="none", label=algorithm)
    for i, short in enumerate(PATTERNS.values()):
        axes[0].plot([], [], color=_COLOURS[i], linewidth=5, label=short)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=6)
    figure.suptitle(f"Figure 9: does the steady state predict the burst? {_size(results, 'steady')}")
    return figure


def _figure_10(results: pd.DataFrame) -> Figure:
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), sharey=True)
    part = rows(results, "sizes")
    for ax, pattern, name in zip(axes, ("transpose", "bit_reverse"), "ab", strict=True):
        for i, algorithm in enumerate(("do", *ADAPTIVE)):
            of = rows_of(part, pattern=pattern, algorithm=algorithm)
            _line(ax, of, "N", "completion_cycles", algorithm, i)
            n, cycles = of["N"].to_numpy(float), of["completion_cycles"].to_numpy(float)
            fit = np.polyfit(n, cycles, 1)
            ax.plot(n[[0, -1]], np.polyval(fit, n[[0, -1]]), color=_COLOURS[i], linewidth=0.8, linestyle=":")
        ax.set(title=f"({name}) {PATTERNS[pattern]}", xlabel="N (network of N × N); dotted: least squares")
        sizes = sorted(part["N"].unique())
        ax.set_xticks(sizes, [f"{n:.0f}" for n in sizes])
    axes[0].set_ylim(bottom=0)
    axes[0].set_ylabel("duration [cycles]")
    axes[0].legend()
    figure.suptitle("Figure 10: size of the network, l = 10, background of 0.2 Rc")
    return figure
