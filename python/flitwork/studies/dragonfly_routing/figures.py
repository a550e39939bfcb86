"""Accepted load and latency by offered load, of both networks under both kinds of traffic."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from flitwork.plot.style import COLOURS, MARKERS, save, style
from flitwork.studies.dragonfly_routing.measures import ROUTINGS, curves

_TITLES = {
    "dragonfly_worst": "dragonfly, each group to the next", "dragonfly_uniform": "dragonfly, uniform",
    "hyperx_worst": "HyperX, each router to the next", "hyperx_uniform": "HyperX, uniform",
}  # fmt: skip
#: Latencies beyond that are those of sources that wait [cycles].
_MOST_LATENCY = 60


def figures(results: pd.DataFrame, outdir: Path) -> list[Path]:
    """Draws the figure, of the runs that there are."""
    if not len(results):
        return []
    with style():
        return save(_curves(curves(results)), outdir, "curves")


def _curves(table: pd.DataFrame) -> Figure:
    shown = [experiment for experiment in _TITLES if experiment in set(table["experiment"])]
    figure, axes = plt.subplots(
        2, len(shown), figsize=(3.1 * len(shown), 5.6), layout="constrained", squeeze=False, sharey="row", sharex="col"
    )
    for column, experiment in enumerate(shown):
        accepted, latency = axes[0][column], axes[1][column]
        for routing, colour, marker in zip(ROUTINGS, COLOURS, MARKERS, strict=False):
            runs = table[(table["experiment"] == experiment) & (table["routing"] == routing)].sort_values("offered")
            look = {"color": colour, "marker": marker, "capsize": 2}
            if len(runs):
                accepted.errorbar(
                    runs["offered"], runs["accepted"], runs["accepted_interval"].fillna(0), label=routing, **look
                )
                latency.errorbar(runs["offered"], runs["latency"], runs["latency_interval"].fillna(0), **look)
        accepted.axline((0, 0), slope=1, color="black", linewidth=0.8, linestyle=":")
        accepted.set(title=_TITLES[experiment], xlim=(0, None), ylim=(0, 1))
        latency.set(xlabel="offered load [flits/cycle/terminal]", ylim=(0, _MOST_LATENCY))
    axes[0][0].set(ylabel="accepted load")
    axes[1][0].set(ylabel="packet latency [cycles]")
    handles = {label: handle for ax in axes[0] for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=len(handles))
    return figure
