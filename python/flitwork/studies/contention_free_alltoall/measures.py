"""Completion over the bound, by network and schedule; and with ranks that are late."""

from __future__ import annotations

import math
import re

import pandas as pd

from flitwork.base.statistics import half_width_95

#: What a timetable is called among the algorithms.
TIMETABLE = "timetable"
#: Timetables whose ranks keep late sends, and those that begin when all ranks have started.
KEPT, WAITS = "timetable, late sends kept", "timetable that waits for all"


def ratios(results: pd.DataFrame) -> pd.DataFrame:
    """A row a run: ``experiment`` (without ``_by_steps``), ``network``, ``side``, ``schedule`` and ``ratio``.

    ``side`` is the longest side of a grid [routers], 0 of other networks. Runs with late ranks are left out.
    """
    results = results[~results["experiment"].astype(str).str.startswith(_DISTURBED)]
    rows = [
        {
            "experiment": str(run["experiment"]).removesuffix("_by_steps"),
            "network": _name(run),
            "side": max(_size(run), default=0),
            "schedule": run["workload.algorithm"] if _said(run, "workload.algorithm") else TIMETABLE,
            "ratio": float(run["ratio_to_bound"]),
        }
        for _, run in results.iterrows()
    ]
    return pd.DataFrame(rows, columns=["experiment", "network", "side", "schedule", "ratio"])


#: The experiments with late ranks.
_DISTURBED = ("late", "detours")


def disturbed(results: pd.DataFrame) -> pd.DataFrame:
    """A row for each schedule and disturbance on 9 x 9: mean over the seeds, and half its 95 % interval.

    Columns ``schedule``, ``packet_flits``, ``late`` (latest start, % of the bound; NaN with detours), ``ratio``
    (completion over the bound), ``interval`` and ``runs``.
    """
    runs = results[results["experiment"].astype(str).str.startswith(_DISTURBED)]
    rows = [
        {
            "schedule": _schedule(run),
            "packet_flits": int(run["workload.packet_flits"]),
            # With detours nothing is said of starts: NaN.
            "late": 100 * float(run.get("late", math.nan)) * run["ratio_to_bound"] / run["completion_cycles"],
            "ratio": float(run["ratio_to_bound"]),
        }
        for _, run in runs.iterrows()
    ]
    table = pd.DataFrame(rows, columns=["schedule", "packet_flits", "late", "ratio"])
    groups = table.groupby(["schedule", "packet_flits", table["late"].round(6)], dropna=False)["ratio"]
    return groups.agg(ratio="mean", interval=half_width_95, runs="count").reset_index()


def _schedule(run: pd.Series) -> str:
    if _said(run, "workload.algorithm"):
        return str(run["workload.algorithm"])
    if run["experiment"] == "late_waits":
        return WAITS
    return KEPT if run.get("host.late_sends") == "keep" else TIMETABLE


def _said(run: pd.Series, name: str) -> bool:
    return name in run and isinstance(run[name], str)


def _size(run: pd.Series) -> tuple[int, ...]:
    """Routers along each dimension; empty where there are none."""
    return tuple(int(size) for size in re.findall(r"\d+", str(run.get("network.topology.size", ""))))


def _name(run: pd.Series) -> str:
    kind = str(run["experiment"]).removesuffix("_by_steps")
    size = " x ".join(map(str, _size(run)))
    if kind == "trees":
        return f"fat tree, {4 ** int(run['levels'])} terminals"
    if kind == "graphs":
        return str(run["net"])
    if kind == "dragonflies":
        h = int(run["h"])
        return f"dragonfly, {2 * h * (2 * h * h + 1)} terminals"
    return {"meshes": f"{size} mesh", "long": f"{size}, packets of 20"}.get(kind, size)
