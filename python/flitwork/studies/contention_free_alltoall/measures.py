"""Completion over the bound, by network and schedule."""

from __future__ import annotations

import re

import pandas as pd

#: What a timetable is called among the algorithms.
TIMETABLE = "timetable"


def ratios(results: pd.DataFrame) -> pd.DataFrame:
    """A row a run: ``experiment`` (without ``_by_steps``), ``network``, ``side``, ``schedule`` and ``ratio``.

    ``side`` is the longest side of a grid [routers], 0 of other networks.
    """
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
    if kind == "dragonflies":
        h = int(run["h"])
        return f"dragonfly, {2 * h * (2 * h * h + 1)} terminals"
    return {"meshes": f"{size} mesh", "long": f"{size}, packets of 20"}.get(kind, size)
