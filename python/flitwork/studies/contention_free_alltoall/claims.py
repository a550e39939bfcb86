"""How far timetables are from the bound, and how much faster than algorithms by steps."""

from __future__ import annotations

import pandas as pd

from flitwork.studies.claims import Finding
from flitwork.studies.contention_free_alltoall.measures import KEPT, TIMETABLE, WAITS, disturbed, ratios

#: From which size of a square on, and up to which, each claim looks.
_SQUARES = {"squares.5": (5, 5), "squares.6-7": (6, 7), "squares.8": (8, 8), "squares.9": (9, 99)}


#: Which networks of other shapes each claim is about: those that are alike at all nodes, and others.
_GRAPHS = {"graphs": "circulant|HyperX|hypercube", "graphs.random": "random", "graphs.twisted": "twisted"}

#: Which schedule and length of packets each claim of late ranks is about, and whether of late starts or of detours.
_LATE = {
    "late": (TIMETABLE, 1, "starts"), "late.waits": (WAITS, 1, "starts"), "late.kept": (KEPT, 1, "starts"),
    "late.long.waits": (WAITS, 20, "starts"), "late.long.kept": (KEPT, 20, "starts"),
    "detours.kept": (KEPT, 1, "detours"), "detours.long.kept": (KEPT, 20, "detours"),
}  # fmt: skip


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
    graphs = ours[ours["experiment"] == "graphs"]
    for claim, words in _GRAPHS.items():
        found[claim] = graphs[graphs["network"].str.contains(words)]["ratio"].max()
    by_steps = table[(table["schedule"] != TIMETABLE) & (table["experiment"] == "trees")]
    found["trees.by-steps"] = by_steps["ratio"].max()
    found["faster"] = _faster(table[(table["experiment"] == "squares") & (table["side"] >= 7)])
    late = disturbed(results)
    found |= {name: _worst(late, *case) for name, case in _LATE.items()}
    return [Finding(id=name, ours=float(value)) for name, value in found.items() if pd.notna(value)]


def _worst(late: pd.DataFrame, schedule: str, packet_flits: int, what: str) -> float:
    """The largest mean over the seeds, of those disturbances."""
    runs = late[(late["schedule"] == schedule) & (late["packet_flits"] == packet_flits)]
    runs = runs[runs["late"] > 0] if what == "starts" else runs[runs["late"].isna()]
    return float(runs["ratio"].max())


def _faster(squares: pd.DataFrame) -> float:
    by_steps = squares[squares["schedule"] != TIMETABLE].groupby("network")["ratio"].min()
    ours = squares[squares["schedule"] == TIMETABLE].set_index("network")["ratio"]
    return float((by_steps / ours).min())
