"""How far timetables are from the bound, and how much faster than algorithms by steps."""

from __future__ import annotations

import pandas as pd

from flitwork.studies.claims import Finding
from flitwork.studies.contention_free_alltoall.measures import TIMETABLE, ratios

#: From which size of a square on, and up to which, each claim looks.
_SQUARES = {"squares.5": (5, 5), "squares.6-7": (6, 7), "squares.8": (8, 8), "squares.9": (9, 99)}


def claims(results: pd.DataFrame) -> list[Finding]:
    """Every claim of ``claims.toml``; what was not run has no value."""
    table = ratios(results)
    ours = table[table["schedule"] == TIMETABLE]
    squares = ours[ours["experiment"] == "squares"]
    found = {name: squares[squares["side"].between(*sides)]["ratio"].max() for name, sides in _SQUARES.items()}
    meshes = ours[ours["experiment"] == "meshes"]
    small = meshes["side"] < 5
    found["meshes.4"], found["meshes"] = meshes[small]["ratio"].max(), meshes[~small]["ratio"].max()
    for claim, experiment in (
        ("squares.long", "long"), ("cubes", "cubes"), ("trees", "trees"), ("dragonflies", "dragonflies"),
    ):  # fmt: skip
        found[claim] = ours[ours["experiment"] == experiment]["ratio"].max()
    by_steps = table[(table["schedule"] != TIMETABLE) & (table["experiment"] == "trees")]
    found["trees.by-steps"] = by_steps["ratio"].max()
    found["faster"] = _faster(table[(table["experiment"] == "squares") & (table["side"] >= 7)])
    return [Finding(id=name, ours=float(value)) for name, value in found.items() if pd.notna(value)]


def _faster(squares: pd.DataFrame) -> float:
    by_steps = squares[squares["schedule"] != TIMETABLE].groupby("network")["ratio"].min()
    ours = squares[squares["schedule"] == TIMETABLE].set_index("network")["ratio"]
    return float((by_steps / ours).min())
