"""The paper's figures 3, 10, 11 and 12, redrawn, and what switches and jitter make of the ring."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from flitwork.plot.style import COLOURS, MARKERS, save, style
from flitwork.questions.head_of_line import hol_model
from flitwork.studies.naruse_2010_two_level_ring import breakdown, choice, npb, phase, trees, unequal
from flitwork.studies.naruse_2010_two_level_ring.bars import Bars, draw_groups
from flitwork.studies.naruse_2010_two_level_ring.measures import (
    LINK,
    NAMES,
    READINGS,
    RING,
    TWO_LEVEL,
    bandwidth,
    ranks_in_words,
    setting,
    size_in_words,
    tidy,
)
from flitwork.studies.naruse_2010_two_level_ring.steps import step_times

_LINES = dict(zip(NAMES, ("--", "-", ":"), strict=True))
#: Table 3, the choice of the reading, and figures of experiments that the paper does not have.
_BEYOND: dict[str, Callable[[pd.DataFrame], Figure | None]] = {
    "choice": choice.draw,
    "programs": npb.draw,
    "phase": phase.draw,
    "trees": trees.draw,
    "unequal": unequal.draw,
}
_LABEL = "bandwidth of a server [MB/s]"


def figures(results: pd.DataFrame, outdir: Path) -> list[Path]:
    """Draws all figures for which there are results."""
    drawn: list[Path] = []
    with style():
        for reading, words in READINGS.items():
            end = reading.replace("_", "-")
            table = bandwidth(results, f"servers{reading}")
            if len(table):
                drawn += save(_over_servers(table, words), outdir, f"fig10{end}")
            table = bandwidth(results, f"lengths{reading}")
            if len(table):
                drawn += save(_over_lengths(table, words), outdir, f"fig11{end}")
            steps = step_times(results, outdir.parent / "points", f"steps{reading}")
            if len(steps):
                drawn += save(_steps(steps, tidy(results, f"steps{reading}"), words), outdir, f"fig4{end}")
        shares = breakdown.draw(breakdown.measured(results, outdir.parent))
        if shares is not None:
            drawn += save(shares, outdir, "fig13")
        for name in ("jitter", "switches"):
            part = tidy(results, name)
            if len(part):
                drawn += save(_by_setting(part), outdir, name)
        for name, beyond in _BEYOND.items():
            found = beyond(results)
            if found is not None:
                drawn += save(found, outdir, name)
    return drawn


def _over_servers(table: pd.DataFrame, words: str) -> Figure:
    """Figures 3 and 10: dashed the ring, solid the 2-Level Ring."""
    figure, ax = plt.subplots(figsize=(6.4, 4.8), layout="constrained")
    for number, ranks in enumerate(sorted(table.index.unique("Nlp"))):
        part = table.xs(ranks, level="Nlp").droplevel("KiB")
        for algorithm in (RING, TWO_LEVEL):
            label = f"{NAMES[algorithm]}, {ranks_in_words(ranks)}"
            ax.plot(
                part.index,
                part[algorithm],
                _LINES[algorithm],
                color=COLOURS[number],
                marker=MARKERS[number],
                label=label,
            )
    most = int(max(table.index.unique("Nlp")))
    if most > 1:
        servers = sorted(table.index.unique("servers"))
        model = [LINK * hol_model(servers=n, ranks_per_server=most).utilisation for n in servers]
        ax.plot(servers, model, color="0.5", linewidth=1, label=f"Ring, {ranks_in_words(most)}, by the paper's model")
    ax.axhline(LINK, color="0.8", linewidth=1)
    ax.set_xlabel("servers")
    ax.set_ylabel(_LABEL)
    ax.set_xticks(sorted(table.index.unique("servers")))
    size = size_in_words(max(table.index.unique("KiB")))
    ax.set_title(f"Messages of {size}; {words}\n(grey above: the link)", fontsize="medium")
    figure.legend(loc="outside lower center", ncols=2, fontsize="small", handlelength=3)
    return figure


def _over_lengths(table: pd.DataFrame, words: str) -> Figure:
    """Figures 11 and 12: a panel for each number of ranks."""
    ranks = sorted(table.index.unique("Nlp"))
    figure, axes = plt.subplots(
        1, len(ranks), figsize=(2.6 * len(ranks) + 0.8, 3.4), sharey=True, squeeze=False, layout="constrained"
    )
    for ax, count in zip(axes[0], ranks, strict=True):
        part = table.xs(count, level="Nlp").droplevel("servers")
        for number, algorithm in enumerate(table.columns):
            ax.plot(
                part.index, part[algorithm], _LINES[algorithm], color=COLOURS[number], marker=MARKERS[number],
                label=NAMES[algorithm],
            )  # fmt: skip
        ax.set_xscale("log", base=2)
        ax.set_xticks(part.index[::2], [str(kib) for kib in part.index[::2]])
        ax.set_xlabel("message [KiB]")
        ax.set_title(ranks_in_words(count), fontsize="medium")
    axes[0][0].set_ylabel(_LABEL)
    axes[0][0].set_ylim(0, 1.05 * float(table.to_numpy().max()))
    figure.suptitle(f"{max(table.index.unique('servers'))} servers, {words}")
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def _steps(times: pd.DataFrame, runs: pd.DataFrame, words: str) -> Figure:
    """Figures 4, 6 and 9: mean over the seeds."""
    ranks = int(runs["Nlp"].max())
    mean = times.groupby("algorithm").mean()
    figure, ax = plt.subplots(figsize=(7.2, 3.8), layout="constrained")
    for number, algorithm in enumerate((RING, TWO_LEVEL)):
        ax.plot(mean.columns, mean.loc[algorithm], color=COLOURS[number], marker=".", label=NAMES[algorithm])
    model = hol_model(servers=int(runs["servers"].max()), ranks_per_server=ranks).ring_steps
    ax.plot(range(len(model)), model, color="0.5", linewidth=1, label="Ring, by the paper's model")
    ax.set_xticks(range(0, len(model) + 1, ranks))
    ax.set_ylim(bottom=0)
    ax.set_xlabel("step")
    ax.set_ylabel(f"time of a step, relative to\nsteps that are multiples of {ranks}")
    ax.set_title(f"{setting(runs)}, a barrier behind each step\n{words}", fontsize="medium")
    figure.legend(loc="outside lower center", ncols=3)
    return figure


def _by_setting(table: pd.DataFrame) -> Figure:
    """A pair of bars for each setting; lines span the seeds."""
    settings = list(dict.fromkeys(table["setting"]))
    found = table.groupby(["setting", "algorithm"])["mb_per_s"].agg(["mean", "min", "max"])
    figure, ax = plt.subplots(figsize=(6.8, 0.42 * len(settings) + 1.3), layout="constrained")
    bars = []
    for number, algorithm in enumerate((RING, TWO_LEVEL)):
        rows = found.xs(algorithm, level="algorithm").reindex(settings)
        bars.append(Bars.of(NAMES[algorithm], COLOURS[number], rows["mean"], rows["min"], rows["max"]))
    draw_groups(ax, settings, bars, lying=True)
    ax.axvline(LINK, color="0.6", linewidth=1)
    ax.set_xlabel(_LABEL)
    ax.set_title(setting(table), fontsize="medium")
    figure.legend(loc="outside lower center", ncols=2)
    return figure
