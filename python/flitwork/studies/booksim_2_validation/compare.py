"""Our curves beside BookSim's: differences, what they may be, and where each network saturates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from flitwork.base.statistics import half_width_95

CURVE = ["topology", "routing", "traffic", "packet_flits"]
POINT = [*CURVE, "offered_load"]
#: Largest difference of the mean packet latency and of the accepted load, unless it is within ``STANDARD_ERRORS``.
LATENCY_PERCENT = 2.0
ACCEPTED_PERCENT = 1.0
STANDARD_ERRORS = 3.0
#: Largest difference of either measure of saturation.
SATURATION_PERCENT = 3.0
#: Up to this share of the saturation throughput the agreement is required.
JUDGED_SHARE = 0.9
#: A point is saturated where less than this share of the offered load is accepted, or where a run was cut short.
ACCEPTED_SHARE = 0.97
#: The second measure of saturation: the load at which the mean latency is this many times the one without traffic.
KNEE = 3.0
#: Experiments that measure curves.
_CURVES = ("mesh", "torus", "patterns", "valiant", "min_adapt", "fat_tree_nca", "fat_tree_anca")
_TREE = "k_ary_n_tree"
_OURS = {
    "workload": "traffic",
    "workload.packet_flits": "packet_flits",
    "workload.offered_load": "offered_load",
    "packet_latency_mean_cycles": "latency",
    "accepted_load_flits_per_cycle": "accepted",
    "offered_load_flits_per_cycle": "injected",
}
_BOOKSIM = {"packet_latency_cycles": "latency", "accepted_load": "accepted", "injected_load": "injected"}


@cache
def booksim() -> pd.DataFrame:
    """BookSim's results, one row a run; ``booksim.csv`` says with which settings."""
    return pd.read_csv(Path(__file__).with_name("booksim.csv"), comment="#")


def comparison(results: pd.DataFrame) -> pd.DataFrame:
    """One row a load of a curve: both means with their errors, the differences in percent, and whether they agree.

    ``waiting`` is the mean latency without what the same packets would have taken alone: what contention added.
    """
    theirs = _means(booksim().rename(columns=_BOOKSIM))
    both = theirs.add_suffix("_booksim").join(ours(results).add_suffix("_ours"), how="inner").reset_index()
    for what in ("latency", "accepted", "waiting"):
        both[f"{what}_percent"] = 100 * (both[f"{what}_ours"] / both[f"{what}_booksim"] - 1)
        error = np.hypot(both[f"{what}_se_booksim"], both[f"{what}_se_ours"])
        both[f"{what}_z"] = (both[f"{what}_ours"] - both[f"{what}_booksim"]) / error
    both["stable"] = both["stable_booksim"] & both["stable_ours"]
    both["share"] = both["offered_load"] / both.groupby(CURVE)["accepted_booksim"].transform("max")
    both["saturated"] = ~both["stable"] | (both["accepted_booksim"] < ACCEPTED_SHARE * both["offered_load"])
    both["judged"] = ~both["saturated"] & (both["share"] <= JUDGED_SHARE)
    for what, percent in (("latency", LATENCY_PERCENT), ("accepted", ACCEPTED_PERCENT)):
        near = both[f"{what}_percent"].abs() <= percent
        both[f"{what}_agrees"] = near | (both[f"{what}_z"].abs() <= STANDARD_ERRORS)
    return both


def ours(results: pd.DataFrame) -> pd.DataFrame:
    """Our means by curve and load, also at loads where BookSim was not run."""
    runs = results[results["experiment"].isin(_CURVES)].rename(columns=_OURS)
    routing = runs.get("routing", pd.Series(index=runs.index, dtype=str)).fillna("dimension_order")
    topology = runs["topology"].replace(_TREE, "fat tree")
    # BookSim knows two: what may still grow, a little, is not unstable.
    stable = runs["status"] != "saturated"
    return _means(runs.astype({"packet_flits": int}).assign(topology=topology, routing=routing, stable=stable))


def name(curve: Mapping[Any, Any]) -> str:
    """A curve in words: ``mesh, 4 flits``, ``torus, transpose``, ``fat tree, random_up``."""
    if curve["traffic"] != "uniform":
        return f"{curve['topology']}, {curve['traffic'].replace('_', ' ')}"
    if curve["routing"] != "dimension_order":
        return f"{curve['topology']}, {curve['routing']}"
    return f"{curve['topology']}, {curve['packet_flits']} flit{'s' if curve['packet_flits'] != 1 else ''}"


def key(curve: Mapping[Any, Any]) -> str:
    """A curve in the names of claims: ``mesh-4``, ``torus-transpose``, ``fat_tree-random_up``."""
    return re.sub(r" flits?$", "", name(curve)).replace(", ", "-").replace(" ", "_")


def rules(results: pd.DataFrame) -> pd.DataFrame:
    """One row a changed rule: what it does to the latency at one point of the mesh and the torus [%]."""
    runs = results[results["experiment"] == "rules"]
    means = runs.groupby(["topology", "rule"], sort=False)["packet_latency_mean_cycles"].mean().unstack("topology")
    return 100 * (means / means.loc["none"] - 1).drop("none")


def _means(runs: pd.DataFrame) -> pd.DataFrame:
    """Mean, standard error and half width of the 95 % confidence interval over the seeds of each point."""
    alone = without_contention(runs["mean_hops"], runs["packet_flits"])
    grouped = runs.assign(waiting=runs["latency"] - alone).groupby(POINT, sort=False)
    table = pd.DataFrame({"seeds": grouped.size(), "stable": grouped["stable"].min().astype(bool)})
    for what in ("latency", "accepted", "injected", "waiting"):
        table[what] = grouped[what].mean()
        table[f"{what}_se"] = grouped[what].sem()
        table[f"{what}_ci"] = grouped[what].apply(half_width_95)
    return table


def without_contention(hops: pd.Series[float], flits: pd.Series[float]) -> pd.Series[float]:
    """Latency of packets that meet no other, in the router of the curves."""
    return 2 + 5 * (hops + 1) + flits - 1


def saturation(points: pd.DataFrame, lines: pd.DataFrame) -> pd.DataFrame:
    """One row a curve: the accepted load under overload, and the load at which the latency is ``KNEE`` times its least.

    ``points`` is a :func:`comparison`; the highest load of each curve lies beyond saturation. ``beyond_percent`` is the
    largest difference of the accepted load over all loads beyond saturation. ``lines`` is :func:`ours`: our knee comes
    from all our loads. It is NaN for a simulator whose loads do not bracket it.
    """
    theirs = _means(booksim().rename(columns=_BOOKSIM))
    knees = {
        whose: {values: knee(curve.reset_index()) for values, curve in means.groupby(CURVE)}
        for whose, means in (("booksim", theirs), ("ours", lines))
    }
    rows = []
    for values, curve in points.groupby(CURVE, sort=False):
        last = curve.iloc[-1]
        row = {"offered_load": last["offered_load"]}
        for whose in ("booksim", "ours"):
            row[f"throughput_{whose}"] = last[f"accepted_{whose}"]
            row[f"throughput_ci_{whose}"] = last[f"accepted_ci_{whose}"]
            row[f"knee_{whose}"] = knees[whose][values]
        for what in ("throughput", "knee"):
            row[f"{what}_percent"] = 100 * (row[f"{what}_ours"] / row[f"{what}_booksim"] - 1)
        beyond = curve.loc[curve["saturated"], "accepted_percent"]
        row["beyond_percent"] = beyond.loc[beyond.abs().idxmax()]
        rows.append({**dict(zip(CURVE, values, strict=True)), **row})
    return pd.DataFrame(rows)


def waiting_at_equal_load(curve: pd.DataFrame) -> pd.Series[float]:
    """Difference of the waiting [%] at the load that BookSim's seeds really injected, along the slope of our curve.

    ``curve`` is one curve of a :func:`comparison`, without saturated points. NaN where that load was not recorded.
    """
    waiting, load = np.log(curve["waiting_ours"].to_numpy()), np.log(curve["injected_ours"].to_numpy())
    moved = np.exp(np.gradient(waiting, load) * (np.log(curve["injected_booksim"].to_numpy()) - load))
    percent: pd.Series[float] = 100 * (curve["waiting_ours"] * moved / curve["waiting_booksim"] - 1)
    return percent


def knee(curve: pd.DataFrame) -> float:
    """Load at which the latency is ``KNEE`` times that of the lowest load; 1 / latency is linear between the points.

    ``curve`` has one row an offered load. A point that is not stable has no latency: where the last stable
    load does not reach the knee yet, it is NaN, because nothing but the place of the next load would tell where it is.
    """
    curve = curve.sort_values("offered_load")
    last = int(curve["stable"].cumprod().sum())
    load, rate = curve["offered_load"].to_numpy(float)[:last], 1 / curve["latency"].to_numpy(float)[:last]
    beyond = np.flatnonzero(rate <= rate[0] / KNEE) if last else np.array([], dtype=int)
    if not beyond.size:
        return float("nan")
    i = int(beyond[0])
    share = (rate[i - 1] - rate[0] / KNEE) / (rate[i - 1] - rate[i])
    return float(load[i - 1] + share * (load[i] - load[i - 1]))
