"""What the paper leaves open: each reading changes one choice; how the claims fare under each."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from flitwork.plot.drawn import tell
from flitwork.studies.claims import Claim, load_claims
from flitwork.studies.yokota_2010_unsteady import measures
from flitwork.studies.yokota_2010_unsteady.measures import by_seed, rows

_LENGTH = measures.LINEAR_FROM
#: Experiments with bursts, and those with the steady state.
_BURSTS = ["sensitivity", "sensitivity-joint", "sensitivity-limited", "sensitivity-wormhole", "sensitivity-router"]
_STEADY = ["sensitivity-steady", "sensitivity-joint-steady", "sensitivity-wormhole-steady", "sensitivity-router-steady"]
#: Readings with both changes of the injection side, and more: they stand last.
_BOTH, _AND = "VC 0, transit first", "both; "
_CLAIMS = {claim.id: claim for claim in load_claims(Path(__file__).with_name("claims.toml"))}

#: Column of the table and the claim that judges it, if there is anything to compare with.
COLUMNS: dict[str, Claim | None] = {
    "F2 df: kept at Rc": _CLAIMS["F2.collapse"],
    "F2 dp, cl: kept at Rc": None,
    "F4 shfl: slope do/adaptive": _CLAIMS["F4.slope-shfl"],
    "F4 brot: slope do/adaptive": _CLAIMS["F4.slope-brot"],
    "F8 brev: do/others": _CLAIMS["F8.brev"],
    "F8 brot: do/others": _CLAIMS["F8.brot"],
    "F8 trns, rpar, rsel: spread over brev's, brot's": _CLAIMS["F8.little-trns"],
    "F9b correlation": _CLAIMS["F9b.correlation"],
    "shfl: duration of do [cycles]": None,
    "shfl: duration of dp [cycles]": None,
}


def table(results: pd.DataFrame) -> pd.DataFrame:
    """One row a reading, one column a number; readings that concern bursts alone share their first's steady state."""
    bursts, steady = (results[results["experiment"].isin(names)] for names in (_BURSTS, _STEADY))
    readings = sorted(bursts["reading"].drop_duplicates(), key=_is_joint)
    measured = set(steady["reading"])
    found = {}
    for reading in readings:
        same = _BOTH if _is_joint(reading) else readings[0]
        curves = steady[steady["reading"] == (reading if reading in measured else same)]
        found[reading] = _numbers(bursts[bursts["reading"] == reading], curves)
    return pd.DataFrame.from_dict(found, orient="index", columns=list(COLUMNS))


def _is_joint(reading: str) -> bool:
    return reading == _BOTH or reading.startswith(_AND)


def _numbers(bursts: pd.DataFrame, steady: pd.DataFrame) -> list[float]:
    by_length = by_seed(bursts, "completion_cycles", "l").mean(axis=1)
    duration = by_length.xs(_LENGTH, level="l")
    curves = steady.sort_values("share").groupby(["pattern", "algorithm"])
    kept, rc = (pd.Series({key: f(one) for key, one in curves}) for f in (measures.kept, measures.critical))
    spread = [measures.spread_over_doubled(duration, p) for p in measures.LITTLE]
    return [
        float(kept.xs("df", level=1).min()),
        float(min(kept.xs("dp", level=1).min(), kept.xs("cl", level=1).min())),
        *(measures.slope_over_adaptive(by_length[p]) for p in ("shuffle", "bit_rotation")),
        *(measures.order_over_adaptive(duration[p]) for p in measures.DOUBLED),
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
    for x, (name, claim) in enumerate(COLUMNS.items()):
        for y, reading in enumerate(numbers.index):
            value = float(numbers.loc[reading, name])
            fits = claim.agrees(value) if claim else None
            hits[reading] += fits is True
            _cell(ax, x, y, f"{value:.2f}" if value < 100 else f"{value:.0f}", fits)
    ax.set_xlim(0, len(COLUMNS))
    ax.set_ylim(len(numbers), 0)
    ax.set_xticks(
        np.arange(len(COLUMNS)) + 0.5,
        [_heading(name, claim) for name, claim in COLUMNS.items()],
        fontsize=8,
        rotation=45,
        ha="left",
    )
    ax.xaxis.tick_top()
    ax.axhline(sum(not _is_joint(reading) for reading in numbers.index), color="0.2", linewidth=1.2)
    labels = [f"{reading}   ({hits[reading]})" for reading in numbers.index]
    ax.set_yticks(np.arange(len(numbers)) + 0.5, labels, fontsize=10)
    ax.grid(False)
    ax.tick_params(length=0)
    for side in ax.spines.values():
        side.set_visible(False)
    tell(figure, numbers.rename_axis("reading").reset_index())
    n = int(rows(results, "sensitivity")["N"].iloc[0])
    ax.set_xlabel(
        f"{n} × {n}. Blue and bold: agrees with the paper; orange: does not; grey: nothing to compare with.\n"
        "In brackets: how many agree. Rows change one choice of the first, or several that they name; "
        f"below the line, both: {_BOTH}.",
        fontsize=9,
    )
    return figure


def _cell(ax: Axes, x: int, y: int, text: str, fits: bool | None) -> None:
    colour = {None: "#f2f2f2", True: "#9ecae9", False: "#ffbf86"}[fits]
    ax.add_patch(Rectangle((x, y), 1, 1, facecolor=colour, edgecolor="white", linewidth=2))
    ax.text(x + 0.5, y + 0.5, text, ha="center", va="center", fontsize=10, fontweight="bold" if fits else "normal")


def _heading(name: str, claim: Claim | None) -> str:
    name = re.sub(r"^F(\w+)", r"figure \1", name).replace(": ", ":\n", 1)
    if claim is None:
        return name
    sign = {"equal": "", "at_least": "≥ ", "at_most": "≤ "}[claim.relation]
    whose = "our limit" if claim.limit == "ours" else "paper"
    return f"{name}\n{whose} {sign}{claim.paper:g}"
