"""The paper's figures 2 to 6, redrawn: times with and without pacing, and how much longer imbalance makes them."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from flitwork.plot.style import COLOURS, MARKERS, save, style
from flitwork.studies.shibamura_2012_pacing import choice
from flitwork.studies.shibamura_2012_pacing.measures import Blocks, Router, gains_by, means, tidy

_ORDER = ("pwx", "ring", "ssprd", "bruck", "btfly")
#: The readings, in words.
_ROUTERS: dict[Router, str] = {"pipelined": "pipelined router", "at_front": "stages at the front"}
_BLOCKS: dict[Blocks, str] = {"doubling": "rounds of 2^k blocks", "a2a": "rounds of P/2 blocks"}
_BARS = {False: ("without pacing", "0.65"), True: ("paced by overlap", COLOURS[0])}

#: Tables of the speed-up by pacing: the experiments, what their rows are, and what all runs share.
_TABLES = (
    ("readings", "reading", "128 nodes, messages of 16 KiB"),
    ("noise", "noise", "Messages of 16 KiB"),
)


def figures(results: pd.DataFrame, outdir: Path) -> list[Path]:
    """Draws all figures for which there are results."""
    drawn: list[Path] = []
    with style():
        for router, of_router in _ROUTERS.items():
            for blocks, of_blocks in _BLOCKS.items():
                table = tidy(results, blocks, router)
                if table["algorithm"].isin(("bruck", "btfly")).any():
                    words, name = f"{of_blocks}, {of_router}", blocks if router == "pipelined" else f"{blocks}-at-front"
                    drawn += _of_reading(table, words, outdir, name)
        for name, row, words in _TABLES:
            if results["experiment"].str.startswith(name).any():
                drawn += save(choice.drawn_gains(gains_by(results, name, row), words), outdir, name)
    return drawn


def _of_reading(table: pd.DataFrame, words: str, outdir: Path, name: str) -> list[Path]:
    """The figures of one reading of the router, and of bruck and butterfly."""
    times = means(table)
    drawn = save(_times(times[times["percent"] == 0], words), outdir, f"times-{name}")
    late = times[times["percent"] > 0]
    if len(late):
        drawn += save(_longer(late, words), outdir, f"imbalance-{name}")
        drawn += save(choice.drawn_map(table, words), outdir, f"choice-{name}")
    return drawn


def _panels(table: pd.DataFrame) -> tuple[Figure, dict[tuple[int, int], Axes]]:
    """A row of panels for each number of dimensions, a column for each number of nodes."""
    dims, nodes = sorted(table["dims"].unique()), sorted(table["nodes"].unique())
    # The legend of five algorithms needs its room.
    size = (max(3.2 * len(nodes) + 0.6, 7.2), 2.7 * len(dims) + 0.9)
    figure, grid = plt.subplots(len(dims), len(nodes), figsize=size, squeeze=False, layout="constrained")
    panels = {(int(d), int(n)): grid[i, j] for i, d in enumerate(dims) for j, n in enumerate(nodes)}
    for (d, n), ax in panels.items():
        ax.set_title(f"{d}-D torus, {n:,} nodes", fontsize="medium")
    return figure, panels


def _label_left(panels: dict[tuple[int, int], Axes], label: str) -> None:
    first = min(nodes for _, nodes in panels)
    for (_, nodes), ax in panels.items():
        if nodes == first:
            ax.set_ylabel(label)


def _times(table: pd.DataFrame, words: str) -> Figure:
    """Figure 3: completion of each algorithm, at the smallest message."""
    table = table[table["KiB"] == table["KiB"].min()]
    figure, panels = _panels(table)
    for (dims, nodes), ax in panels.items():
        part = table[(table["dims"] == dims) & (table["nodes"] == nodes)].set_index(["algorithm", "paced"])["ms"]
        for paced, (label, colour) in _BARS.items():
            places = [i + (0.2 if paced else -0.2) for i in range(len(_ORDER))]
            heights = [part.get((name, paced), float("nan")) for name in _ORDER]
            ax.bar(places, heights, 0.4, color=colour, label=label)
        for i, name in enumerate(_ORDER):
            if (name, False) not in part.index and (name, True) not in part.index:
                ax.text(i, 0.02, "not run", rotation=90, ha="center", color="0.35", fontsize="small",
                        transform=ax.get_xaxis_transform())  # fmt: skip
        ax.set_xticks(range(len(_ORDER)), _ORDER)
        ax.set_xlim(-0.6, len(_ORDER) - 0.4)
        ax.set_ylim(bottom=0)
    _label_left(panels, "completion [ms]")
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    figure.suptitle(f"Messages of {table['KiB'].min()} KiB; bruck and btfly: {words}")
    return figure


def _longer(table: pd.DataFrame, words: str) -> Figure:
    """Figures 2, 5 and 6: how much longer imbalance makes it."""
    table = table[table["KiB"] == table["KiB"].min()]
    figure, panels = _panels(table)
    percents = sorted(table["percent"].unique())
    for (dims, nodes), ax in panels.items():
        ax.plot([0, *percents], [0, *percents], color="0.8", linewidth=1)
        for i, name in enumerate(_ORDER):
            for paced in (False, True):
                chosen = (table["dims"] == dims) & (table["nodes"] == nodes) & (table["algorithm"] == name)
                part = table[chosen & (table["paced"] == paced)].sort_values("percent")
                label = f"{name}, paced" if paced else name
                line = "--" if paced else "-"
                ax.plot(part["percent"], 100 * part["longer"], line, color=COLOURS[i], marker=MARKERS[i], label=label)
        ax.axhline(0, color="0.35", linewidth=1)
        ax.set_xlabel("imbalance [% of T0]")
    _label_left(panels, "longer than T0 [%]")
    figure.legend(
        *ax.get_legend_handles_labels(), loc="outside lower center", ncols=5, fontsize="small", columnspacing=1
    )
    about = f"Messages of {table['KiB'].min()} KiB; grey: as late as the last rank\nbruck and btfly: {words}"
    figure.suptitle(about, fontsize="medium")
    return figure
