"""Fat trees: what oversubscription makes of the gain of the 2-Level Ring."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from flitwork.plot.style import COLOURS, MARKERS
from flitwork.studies.claims import Finding
from flitwork.studies.naruse_2010_two_level_ring.measures import (
    AGGREGATION,
    LINK,
    NAMES,
    RING,
    TWO_LEVEL,
    over_seeds,
    setting,
    tidy,
)

_SWITCH, _EXCHANGE = "one switch", "pairwise_xor"
_NAMES = {
    RING: NAMES[RING],
    TWO_LEVEL: NAMES[TWO_LEVEL],
    AGGREGATION: NAMES[AGGREGATION],
    _EXCHANGE: "pairwise exchange",
}


def of_trees(results: pd.DataFrame, column: str, seeds: bool = False) -> pd.DataFrame:
    """A column, mean over the seeds or of each: a row for each (net, oversubscription), a column for each algorithm."""
    table = tidy(results, "trees")
    if table.empty:
        return pd.DataFrame()
    rows = ["net", "over", "seed"] if seeds else ["net", "over"]
    found = table.astype({"over": int}).pivot_table(column, rows, "algorithm", "mean", sort=False)
    return found.reindex(columns=[name for name in _NAMES if name in found])


def claims(results: pd.DataFrame) -> Iterator[Finding]:
    """The claims ``F.*``."""
    rates = of_trees(results, "mb_per_s")
    if rates.empty:
        return
    both, trees = rates[[RING, TWO_LEVEL]], rates.drop(index=_SWITCH, level="net")
    full = both.drop(index=_SWITCH, level="net").xs(1, level="over").to_numpy()
    switch = both.xs(_SWITCH, level="net").to_numpy()
    yield Finding(id="F.switch", ours=float(np.abs(full / switch - 1).max()))
    gain = (trees[TWO_LEVEL] / trees[RING]).unstack("over").sort_index(axis=1)
    yield Finding(id="F.gain-falls", ours=float((gain.diff(axis=1).iloc[:, 1:] < 0).to_numpy().mean()))
    most = of_trees(results, "mb_per_s", seeds=True).xs(4, level="over")
    yield _largest("F.gain-4", most[TWO_LEVEL] / most[RING])
    yield _largest("F.bound-4", of_trees(results, "ratio_to_bound", seeds=True).xs(4, level="over")[TWO_LEVEL])


def _largest(name: str, values: pd.Series[float]) -> Finding:
    """The largest mean over the seeds, by net."""
    by_net = values.unstack("net")
    return over_seeds(name, by_net[by_net.mean().idxmax()])


def draw(results: pd.DataFrame) -> Figure | None:
    """Bandwidth over oversubscription, a panel for each tree, and the gain of the 2-Level Ring."""
    rates = of_trees(results, "mb_per_s")
    if rates.empty:
        return None
    # Of an all-to-all the bound is the same for all algorithms that send the data of each pair by itself.
    limits = (rates * of_trees(results, "ratio_to_bound"))[TWO_LEVEL]
    over = sorted(rates.index.unique("over"))
    nets = [net for net in dict.fromkeys(rates.index.get_level_values("net")) if net != _SWITCH]
    figure, axes = plt.subplots(1, len(nets) + 1, figsize=(9.6, 3.9), layout="constrained")
    for ax, net in zip(axes, nets, strict=False):
        part, bound = rates.loc[net], limits.loc[net]
        ax.plot(bound.index, bound, color="0.6", linewidth=1, label="bound: channels and servers")
        for number, algorithm in enumerate(rates.columns):
            look = {"color": COLOURS[number], "marker": MARKERS[number]}
            ax.plot(part.index, part[algorithm], label=_NAMES[algorithm], **look)
        ax.set_ylim(0, 1.05 * LINK)
        ax.set_title(f"tree of {net}", fontsize="medium")
    axes[0].set_ylabel("bandwidth of a server [MB/s]")
    gain = 100 * (rates[TWO_LEVEL] / rates[RING] - 1)
    for number, net in enumerate(nets):
        part = gain.loc[net]
        axes[-1].plot(part.index, part, color=COLOURS[4 + number], marker=MARKERS[4 + number], label=net)
    axes[-1].axhline(float(gain.xs(_SWITCH, level="net").iloc[0]), color="0.6", linestyle=":", label=_SWITCH)
    axes[-1].axhline(0, color="0.8", linewidth=1)
    axes[-1].set_ylabel("2-Level Ring faster than Ring [%]")
    axes[-1].set_title("gain", fontsize="medium")
    axes[-1].legend(fontsize="small", loc="lower left")
    for ax in axes:
        ax.set_xscale("log", base=2)
        ax.set_xticks(over, [str(value) for value in over], minor=False)
        ax.set_xlabel("oversubscription")
    figure.suptitle(setting(tidy(results, "trees")), fontsize="medium")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, fontsize="small")
    return figure
