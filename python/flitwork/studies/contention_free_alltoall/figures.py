"""One figure: every network, every schedule, over the bound."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from flitwork.plot.style import COLOURS, MARKERS, save, style
from flitwork.studies.contention_free_alltoall.measures import TIMETABLE, ratios

_WORDS = {TIMETABLE: "timetable: no flit waits", "a2at": "A2AT", "a2a": "simple spread"}


def figures(results: pd.DataFrame, outdir: Path) -> list[Path]:
    """Draws the figure of all runs."""
    table = ratios(results)
    if not len(table):
        return []
    with style():
        return save(_over_the_bound(table), outdir, "over-the-bound")


def _over_the_bound(table: pd.DataFrame) -> Figure:
    networks = list(dict.fromkeys(table["network"]))
    figure, ax = plt.subplots(figsize=(8, 1.2 + 0.26 * len(networks)), layout="constrained")
    for (schedule, words), colour, marker in zip(_WORDS.items(), COLOURS, MARKERS, strict=False):
        part = table[table["schedule"] == schedule]
        places = [networks.index(name) for name in part["network"]]
        ax.plot(part["ratio"], places, marker, color=colour, label=words)
    ax.axvline(1, color="black", linewidth=1)
    ax.set(yticks=range(len(networks)), yticklabels=networks, xlabel="completion time over the lower bound")
    ax.invert_yaxis()
    ax.set_xlim(left=0.9)
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure
