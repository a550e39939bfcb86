"""Figures 4 to 8 and 10: bursts."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from flitwork.base.statistics import half_width_95
from flitwork.studies.rows import rows as select
from flitwork.studies.yokota_2010_unsteady.drawing import COLOURS, line, of_all_patterns, panels, size, titled
from flitwork.studies.yokota_2010_unsteady.measures import ALGORITHMS, PATTERNS, rows
from flitwork.studies.yokota_2010_unsteady.readings import COLUMN
from flitwork.studies.yokota_2010_unsteady.windows import end, received


def figure_4(results: pd.DataFrame) -> Figure:
    """Duration over the length of the burst."""
    title = f"Figure 4: duration of a burst, background of 0.2 Rc, {size(results, 'lengths')}"
    figure, found = panels(title, "packets a terminal, l", "duration [cycles]")
    of_all_patterns(figure, found, rows(results, "lengths"), "l", "completion_cycles")
    found["do"].set(xscale="log", yscale="log")
    return figure


def figure_5(results: pd.DataFrame, points: Path, scaled: bool) -> Figure:
    """Packets received over time for several lengths; ``scaled``: over time as a share of the burst."""
    part = rows(results, "windows")
    figure, found = panels(
        f"Figure 5: packets received over time, shfl, background of 0.2 Rc, {size(results, 'windows')}, "
        f"mean of {part['seed'].nunique()} trials",
        "time / time until 99.5 % have arrived" if scaled else "time, until 99.5 % have arrived [cycles]",
        "packets received a cycle",
        sharex=scaled,
        sharey=False,
    )
    for algorithm, ax in found.items():
        for i, length in enumerate(sorted(part["l"].unique())):
            trials = received(select(part, {"algorithm": algorithm, "l": length}), points)
            time = trials.middle / (end(trials, 0.995) if scaled else 1)
            ax.plot(time, trials.mean / trials.window, color=COLOURS[i], label=f"l = {length:.0f}", linewidth=1.3)
        if scaled:
            ax.set_xlim(0, 1.1)
        else:
            ax.set_xlim(0, end(trials, 0.995))
            ax.locator_params(axis="x", nbins=6)
    figure.legend(*found["do"].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def figure_6(results: pd.DataFrame) -> Figure:
    """Performance over the rate at which the packets of a burst are created."""
    title = f"Figure 6: bursts at a limited rate, l = 10, no background, {size(results, 'limited')}"
    figure, found = panels(title, "rate of creation r / Rc", "1000 cycles / duration")
    of_all_patterns(figure, found, rows(results, "limited"), "share", "performance")
    found["do"].set_ylim(bottom=0)
    return figure


def figure_7(results: pd.DataFrame, points: Path) -> Figure:
    """Packets received over time: a panel a pattern, a line an algorithm."""
    part = rows(results, "bursts")
    figure, axes = plt.subplots(2, 2, figsize=(10, 7.4))
    titled(
        figure,
        f"Figure 7: packets received over time, l = 10, background of 0.2 Rc, {size(results, 'bursts')}, "
        f"mean of {part['seed'].nunique()} trials",
    )
    for ax, pattern in zip(axes.flat, ("transpose", "shuffle", "bit_rotation", "random_pairs"), strict=True):
        series = [received(select(part, {"algorithm": a, "pattern": pattern}), points) for a in ALGORITHMS]
        for i, (algorithm, trials) in enumerate(zip(ALGORITHMS, series, strict=True)):
            ax.plot(trials.middle, trials.mean / trials.window, color=COLOURS[i], label=algorithm, linewidth=1.3)
        ax.set(
            title=PATTERNS[pattern],
            xlabel="time, until 99.5 % have arrived [cycles]",
            ylabel="packets received a cycle",
        )
        ax.set_xlim(0, max(end(trials, 0.995) for trials in series))
    figure.legend(*axes.flat[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def figure_8(results: pd.DataFrame) -> Figure:
    """Durations: a group of bars a pattern, a bar an algorithm."""
    part = rows(results, "bursts")
    names = list(dict.fromkeys(part["algorithm"]))
    figure, ax = plt.subplots(figsize=(10, 4.6))
    width = 0.8 / len(names)
    for i, algorithm in enumerate(names):
        groups = select(part, {"algorithm": algorithm}).groupby("pattern")["completion_cycles"]
        mean, half = groups.mean().reindex(list(PATTERNS)), groups.apply(half_width_95).reindex(list(PATTERNS))
        at = np.arange(len(PATTERNS)) + (i - (len(names) - 1) / 2) * width
        ax.bar(at, mean, width, yerr=half, label=algorithm, color=COLOURS[i], error_kw={"elinewidth": 0.9})
    ax.set_xticks(range(len(PATTERNS)), list(PATTERNS.values()))
    ax.grid(axis="x", visible=False)
    ax.set_ylabel("duration [cycles]")
    titled(
        figure,
        f"Figure 8: bursts of 10 packets, background of 0.2 Rc, {size(results, 'bursts')}, "
        f"mean of {part['seed'].nunique()} trials",
    )
    ax.legend(ncols=len(names), loc="upper center", bbox_to_anchor=(0.5, -0.1))
    return figure


def figure_10(results: pd.DataFrame) -> Figure:
    """Durations over N; as in the paper the lines are least squares, they do not join the points."""
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), sharey=True)
    part = rows(results, "sizes")
    for ax, pattern, name in zip(axes, ("transpose", "bit_reverse"), "ab", strict=True):
        for i, algorithm in enumerate(ALGORITHMS):
            of = select(part, {"pattern": pattern, "algorithm": algorithm})
            line(ax, of, "N", "completion_cycles", algorithm, i, linestyle="none")
            n, cycles = of["N"].to_numpy(float), of["completion_cycles"].to_numpy(float)
            ends = np.array([n.min(), n.max()])
            ax.plot(ends, np.polyval(np.polyfit(n, cycles, 1), ends), color=COLOURS[i], linewidth=1.2)
        ax.set(title=f"({name}) {PATTERNS[pattern]}", xlabel="N (network of N × N); lines: least squares")
        sizes = sorted(part["N"].unique())
        ax.set_xticks(sizes, [f"{n:.0f}" for n in sizes])
    axes[0].set_ylim(bottom=0)
    axes[0].set_ylabel("duration [cycles]")
    axes[0].legend()
    side = part[COLUMN].iloc[0]
    titled(figure, "Figure 10: size of the network, l = 10, background of 0.2 Rc" + (f", {side}" if side else ""))
    return figure
