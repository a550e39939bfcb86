"""What to choose: the fastest algorithm of each case as a map; and what that rests on: pacing under other readings."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from flitwork.plot.drawn import tell
from flitwork.plot.style import COLOURS
from flitwork.studies.shibamura_2012_pacing.measures import CASE, complete, means

_ORDER = ("pwx", "ring", "ssprd", "bruck", "btfly")
#: What red, green and blue add to the brightness of a colour, on which text is black or white.
_BRIGHTNESS = (0.299, 0.587, 0.114)


def best(table: pd.DataFrame) -> pd.DataFrame:
    """The fastest algorithm and pacing of each case and imbalance; ``margin``: how much longer the next one takes.

    ``table`` is what :func:`measures.tidy` gives for one reading; cases that some algorithm lacks are left out.
    """
    times = means(complete(table))
    cases = []
    for key, part in times.groupby([*CASE, "percent"]):
        fastest = part.loc[part.groupby("algorithm")["ms"].idxmin()].sort_values("ms")
        if len(fastest) > 1:
            first, second = fastest.iloc[0], fastest.iloc[1]
            found = {"algorithm": first["algorithm"], "paced": first["paced"], "margin": second["ms"] / first["ms"] - 1}
            cases.append({**dict(zip([*CASE, "percent"], key, strict=True)), **found})
    return pd.DataFrame(cases)


def drawn_map(table: pd.DataFrame, words: str) -> Figure:
    """A panel for each imbalance and number of dimensions: nodes to the right, sizes upwards, a colour a choice."""
    chosen = best(table)
    dims, percents = sorted(chosen["dims"].unique()), sorted(chosen["percent"].unique())
    shape = (max(2.5 * len(percents) + 0.5, 6.0), 2.3 * len(dims) + 1.0)
    figure, grid = plt.subplots(len(dims), len(percents), figsize=shape, squeeze=False, layout="constrained")
    for i, d in enumerate(dims):
        for j, percent in enumerate(percents):
            part = chosen[(chosen["dims"] == d) & (chosen["percent"] == percent)]
            _panel(grid[i, j], part, f"{d}-D, imbalance {percent} %")
            if j == 0:
                grid[i, j].set_ylabel("message [KiB]")
            if i == len(dims) - 1:
                grid[i, j].set_xlabel("nodes")
    used = [name for name in _ORDER if name in set(chosen["algorithm"])]
    shown = [Patch(color=COLOURS[_ORDER.index(name)], label=name) for name in used]
    figure.legend(handles=shown, loc="outside lower center", ncols=len(used))
    figure.suptitle(
        f"The fastest algorithm; P: with pacing; %: how much longer the next algorithm takes\nbruck, btfly: {words}",
        fontsize="small",
    )
    tell(figure, chosen)
    return figure


def _panel(ax: Axes, part: pd.DataFrame, title: str) -> None:
    nodes, sizes = sorted(part["nodes"].unique()), sorted(part["KiB"].unique())
    for _, row in part.iterrows():
        x, y = nodes.index(row["nodes"]), sizes.index(row["KiB"])
        colour = COLOURS[_ORDER.index(row["algorithm"])]
        ax.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=colour, edgecolor="white", linewidth=1.5))
        text = f"{'P' if row['paced'] else '-'}\n{100 * row['margin']:.0f} %"
        ink = "black" if np.dot(to_rgb(colour), _BRIGHTNESS) > 0.55 else "white"
        ax.text(x, y, text, ha="center", va="center", color=ink, fontsize="x-small")
    ax.set_xlim(-0.5, len(nodes) - 0.5)
    ax.set_ylim(-0.5, len(sizes) - 0.5)
    ax.set_xticks(range(len(nodes)), [str(n) for n in nodes], fontsize="x-small")
    ax.set_yticks(range(len(sizes)), [str(n) for n in sizes], fontsize="x-small")
    ax.set_title(title, fontsize="small")
    ax.grid(False)


def drawn_gains(gain: pd.DataFrame, words: str) -> Figure:
    """The table of :func:`measures.gains_by` as a figure: blue where pacing is faster, orange where it is slower."""
    figure, ax = plt.subplots(figsize=(0.72 * gain.shape[1] + 2.8, 0.42 * len(gain) + 2.2), layout="constrained")
    reach = max(float(np.nanmax(np.abs(np.log(gain.to_numpy())))), 0.01)
    for y, reading in enumerate(gain.index):
        for x, column in enumerate(gain.columns):
            value = float(gain.loc[reading, column])
            share = 0.5 - 0.5 * np.log(value) / reach
            colour = plt.get_cmap("PuOr_r")(1 - (0.15 + 0.7 * share)) if np.isfinite(value) else "0.95"
            ax.add_patch(Rectangle((x, y), 1, 1, facecolor=colour, edgecolor="white", linewidth=2))
            bold = "bold" if value > 1 else "normal"
            ax.text(x + 0.5, y + 0.5, f"{value:.2f}", ha="center", va="center", fontsize=9, fontweight=bold)
    ax.set_xlim(0, gain.shape[1])
    ax.set_ylim(len(gain), 0)
    heads = [f"{int(column[0])}-D, {int(column[1])}: {column[2]}" for column in gain.columns]
    ax.set_xticks(np.arange(gain.shape[1]) + 0.5, heads, fontsize=8, rotation=45, ha="left")
    ax.xaxis.tick_top()
    ax.set_yticks(np.arange(len(gain)) + 0.5, list(gain.index), fontsize=9)
    ax.tick_params(length=0)
    ax.grid(False)
    for side in ax.spines.values():
        side.set_visible(False)
    cells = [(reading, *column, gain.loc[reading, column]) for reading in gain.index for column in gain.columns]
    tell(figure, pd.DataFrame(cells, columns=["reading", *gain.columns.names, "gain"]))
    ax.set_xlabel(f"Time without pacing over time with it; bold: pacing is faster. {words}", fontsize=9)
    return figure
