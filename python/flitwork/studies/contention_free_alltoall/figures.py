"""Every network and every schedule, over the bound; and what late ranks cost."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from flitwork.plot.style import COLOURS, MARKERS, save, style
from flitwork.studies.contention_free_alltoall.measures import KEPT, TIMETABLE, WAITS, disturbed, ratios

_WORDS = {TIMETABLE: "timetable: no flit waits", "a2at": "A2AT", "a2a": "simple spread"}
_LATE_WORDS = {
    TIMETABLE: "timetable", KEPT: "timetable, late sends kept", WAITS: "timetable that begins when all have started",
    "a2at": "A2AT", "simple_spread": "simple spread", "pairwise_shift": "pairwise exchange",
}  # fmt: skip


def figures(results: pd.DataFrame, outdir: Path) -> list[Path]:
    """Draws both figures, of the runs that there are."""
    table, late = ratios(results), disturbed(results)
    with style():
        found = save(_over_the_bound(table), outdir, "over-the-bound") if len(table) else []
        return found + (save(_late(late), outdir, "late-ranks") if len(late) else [])


def _late(late: pd.DataFrame) -> Figure:
    lengths = sorted({int(length) for length in late["packet_flits"]})
    # A figure of one pair of axes is too narrow for two columns of words.
    columns, height = (1, 5) if len(lengths) == 1 else (2, 4.2)
    figure, axes = plt.subplots(
        1, 2 * len(lengths), figsize=(4.5 * len(lengths), height), layout="constrained", sharey=True, squeeze=False,
        width_ratios=[3, 1] * len(lengths),
    )  # fmt: skip
    for number, length in enumerate(lengths):
        of_starts, of_detours = axes[0][2 * number : 2 * number + 2]
        for (schedule, words), colour, marker in zip(_LATE_WORDS.items(), COLOURS, MARKERS, strict=False):
            runs = late[(late["schedule"] == schedule) & (late["packet_flits"] == length)]
            starts, detours = runs[runs["late"].notna()], runs[runs["late"].isna()]
            look = {"color": colour, "marker": marker, "capsize": 2}
            of_starts.errorbar(starts["late"], starts["ratio"], starts["interval"].fillna(0), label=words, **look)
            places = [0.5] * len(detours)
            of_detours.errorbar(places, detours["ratio"], detours["interval"].fillna(0), linestyle="", **look)
        of_starts.set(
            xlabel="latest start [% of the bound]", title=f"packets of {length} flit{'s' if length > 1 else ''}"
        )
        of_detours.set(xlabel="detours", xticks=[], xlim=(0, 1))
    for ax in axes[0]:
        ax.axhline(1, color="black", linewidth=1)
    axes[0][0].set(ylabel="completion time over the lower bound", ylim=(0, None))
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=columns)
    return figure


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
