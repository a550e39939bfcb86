"""What the paper leaves open: each reading changes one choice; how the claims fare under each."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from flitwork.studies.claims import Claim
from flitwork.studies.yokota_2010_unsteady import measures
from flitwork.studies.yokota_2010_unsteady.measures import ADAPTIVE, ALGORITHMS, by_seed, rows

_LENGTH = 10
_LONGER = 50
_LITTLE = ("transpose", "random_pairs", "random_selection")
_STEADY = "sensitivity-steady"

#: Column of the table and how the paper's statement is judged; without a number there is nothing to compare with.
COLUMNS = (
    Claim(id="F2 df: kept at Rc", paper=0.9, relation="at_most"),
    Claim(id="F2 dp, cl: kept at Rc", paper=0.9, relation="at_least"),
    Claim(id="F4 shfl: slope do/adaptive", paper=1.1, relation="at_least"),
    Claim(id="F4 brot: slope do/adaptive", paper=1.1, relation="at_least"),
    Claim(id="F8 brev: do/others", paper=2.0, tolerance=0.25, relative=True),
    Claim(id="F8 brot: do/others", paper=2.0, tolerance=0.25, relative=True),
    Claim(id="F8 trns, rpar, rsel: spread", paper=1.3, relation="at_most"),
    Claim(id="F9b correlation", paper=0.93, tolerance=0.05),
    Claim(id="shfl: duration of do [cycles]"),
    Claim(id="shfl: duration of dp [cycles]"),
)


def table(results: pd.DataFrame) -> pd.DataFrame:
    """One row a reading, one column a number; readings that concern bursts alone share the first's steady state."""
    bursts, steady = rows(results, "sensitivity"), rows(results, _STEADY)
    readings = list(bursts["reading"].drop_duplicates())
    found = {}
    for reading in readings:
        curves = steady[steady["reading"] == (reading if reading in set(steady["reading"]) else readings[0])]
        found[reading] = _numbers(bursts[bursts["reading"] == reading], curves)
    return pd.DataFrame.from_dict(found, orient="index", columns=[column.id for column in COLUMNS])


def _numbers(bursts: pd.DataFrame, steady: pd.DataFrame) -> list[float]:
    duration = by_seed(bursts[bursts["l"] == _LENGTH], "completion_cycles").mean(axis=1)
    longer = by_seed(bursts[bursts["l"] == _LONGER], "completion_cycles").mean(axis=1)
    adaptive, names = list(ADAPTIVE), list(ALGORITHMS)
    curves = steady.sort_values("share").groupby(["pattern", "algorithm"])
    kept, rc = (pd.Series({key: f(one) for key, one in curves}) for f in (measures.kept, measures.critical))
    slope = {p: longer[p] - duration[p] for p in ("shuffle", "bit_rotation")}
    spread = [float(duration[p][names].max() / duration[p][names].min()) for p in _LITTLE]
    return [
        float(kept.xs("df", level=1).min()),
        float(min(kept.xs("dp", level=1).min(), kept.xs("cl", level=1).min())),
        *(float(slope[p]["do"] / slope[p][adaptive].mean()) for p in slope),
        *(float(duration[p]["do"] / duration[p][adaptive].mean()) for p in ("bit_reverse", "bit_rotation")),
        max(spread),
        measures.correlation(rc.rename_axis(["pattern", "algorithm"]), 1000 / duration),
        float(duration["shuffle"]["do"]),
        float(duration["shuffle"]["dp"]),
    ]


def drawn(results: pd.DataFrame) -> Figure:
    """The table as a figure."""
    numbers = table(results)
    figure, ax = plt.subplots(figsize=(13, 0.42 * len(numbers) + 2.6))
    hits = dict.fromkeys(numbers.index, 0)
    for x, column in enumerate(COLUMNS):
        for y, reading in enumerate(numbers.index):
            value = float(numbers.loc[reading, column.id])
            fits = None if column.paper is None else bool(column.model_copy(update={"ours": value}).holds)
            hits[reading] += fits is True
            _cell(ax, x, y, f"{value:.0f}" if column.paper is None else f"{value:.2f}", fits)
    ax.set_xlim(0, len(COLUMNS))
    ax.set_ylim(len(numbers), 0)
    ax.set_xticks(np.arange(len(COLUMNS)) + 0.5, [_heading(c) for c in COLUMNS], fontsize=8, rotation=45, ha="left")
    ax.xaxis.tick_top()
    labels = [f"{reading}   ({hits[reading]})" for reading in numbers.index]
    ax.set_yticks(np.arange(len(numbers)) + 0.5, labels, fontsize=10)
    ax.grid(False)
    ax.tick_params(length=0)
    for side in ax.spines.values():
        side.set_visible(False)
    n = int(rows(results, "sensitivity")["N"].iloc[0])
    ax.set_xlabel(
        f"{n} × {n}. Blue and bold: agrees with the paper; orange: does not; grey: nothing to compare with.\n"
        "In brackets: how many agree. Each but the first row changes one choice.",
        fontsize=9,
    )
    return figure


def _cell(ax: Axes, x: int, y: int, text: str, fits: bool | None) -> None:
    colour = {None: "#f2f2f2", True: "#9ecae9", False: "#ffbf86"}[fits]
    ax.add_patch(Rectangle((x, y), 1, 1, facecolor=colour, edgecolor="white", linewidth=2))
    ax.text(x + 0.5, y + 0.5, text, ha="center", va="center", fontsize=10, fontweight="bold" if fits else "normal")


def _heading(column: Claim) -> str:
    sign = {"equal": "", "at_least": "≥ ", "at_most": "≤ "}[column.relation]
    return column.id.replace(": ", ":\n", 1) + ("" if column.paper is None else f"\npaper {sign}{column.paper:g}")
