"""How bursts and the split of the overhead were chosen: figures 3 and 10 alone, by the rule of the README."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from flitwork.studies.claims import Finding
from flitwork.studies.naruse_2010_two_level_ring.measures import (
    RING,
    TWO_LEVEL,
    specification,
    tidy,
)

#: What figure 3 says of the ring [MB/s], by ranks a server: the middle of its ranges.
FIGURE_3 = {1: 1650.0, 2: 1550.0, 4: 1550.0, 8: 1550.0}
#: What figure 10 says of 24 servers of 8 ranks [MB/s].
FIGURE_10 = {RING: 1534.0, TWO_LEVEL: 1904.0}
#: Candidates within so many points of the best one are ties.
TIE = 0.2
_SERVERS, _RANKS, _COST = 24, 8, 104
_BURST, _PART = "network.nic.service.burst_packets", "per_message"


def deviations(results: pd.DataFrame) -> pd.DataFrame:
    """Ours over the paper's, less 1: a row for each (burst, cycles of a message), a column for each of six numbers."""
    ring, two = tidy(results, "choice"), tidy(results, "choice_two_level")
    if ring.empty or two.empty:
        return pd.DataFrame()
    ring, two = (table.astype({_BURST: int, _PART: int}) for table in (ring, two))
    means = ring.pivot_table("mb_per_s", [_BURST, _PART], "Nlp")
    largest = ring[(ring["servers"] == _SERVERS) & (ring["Nlp"] == _RANKS)]
    found = {f"Ring, {ranks}": means[ranks] / paper for ranks, paper in FIGURE_3.items()}
    for name, part, algorithm in (("Ring, 24 x 8", largest, RING), ("2-Level Ring, 24 x 8", two, TWO_LEVEL)):
        found[name] = part.groupby([_BURST, _PART])["mb_per_s"].mean() / FIGURE_10[algorithm]
    return pd.DataFrame(found) - 1


def objective(results: pd.DataFrame) -> pd.Series[float]:
    """The root mean square of the deviations [%], by (burst, cycles of a message)."""
    found = deviations(results)
    squares = (found**2).mean(axis=1)
    return 100 * squares**0.5 if len(found) else pd.Series(dtype=float)


def chosen(objectives: pd.Series[float]) -> tuple[int, int]:
    """Burst and cycles of a message: the shortest burst of those that tie with the best, then nearest to half."""
    ties = objectives[objectives <= objectives.min() + TIE].index
    burst, part = min(ties, key=lambda pair: (pair[0], abs(pair[1] - _COST / 2), objectives[pair]))
    return int(burst), int(part)


def claims(results: pd.DataFrame) -> Iterator[Finding]:
    """The claim ``C.rule``."""
    values = objective(results)
    if len(values):
        service = specification("npb")["network"]["nic"]["service"]
        used = service["burst_packets"], service["message_overhead_cycles"]
        yield Finding(id="C.rule", ours=float(used == chosen(values)))


def draw(results: pd.DataFrame) -> Figure | None:
    """The objective of each candidate; a frame around the one that was chosen."""
    values = objective(results)
    if values.empty:
        return None
    cells = values.unstack(_PART).sort_index()
    figure, ax = plt.subplots(figsize=(5.6, 3.8), layout="constrained")
    image = ax.imshow(cells, cmap="cividis_r", aspect="auto")
    for (row, column), value in np.ndenumerate(cells.to_numpy()):
        ink = "white" if value > cells.to_numpy().mean() else "black"
        ax.text(column, row, f"{value:.1f}", ha="center", va="center", color=ink)
    burst, part = chosen(values)
    parts, bursts = ([int(one) for one in names] for names in (cells.columns, cells.index))
    place = (parts.index(part) - 0.5, bursts.index(burst) - 0.5)
    ax.add_patch(Rectangle(place, 1, 1, fill=False, edgecolor="red", linewidth=2))
    ax.set_xticks(range(len(parts)), [str(one) for one in parts])
    ax.set_yticks(range(len(bursts)), [str(one) for one in bursts])
    ax.grid(visible=False)
    ax.set_xlabel(f"cycles of a message, of {_COST} [cycles]")
    ax.set_ylabel("packets of a queue pair\nin a row")
    ax.set_title("Messages of 1 MiB; red: chosen", fontsize="medium")
    figure.colorbar(image, ax=ax, label="deviation from figures 3 and 10 [%]")
    return figure
