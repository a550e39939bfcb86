"""Servers with unequal numbers of ranks: how far algorithms are from what the busiest server needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from flitwork.plot.style import COLOURS
from flitwork.studies.claims import Finding
from flitwork.studies.naruse_2010_two_level_ring.bars import Bars, draw_groups
from flitwork.studies.naruse_2010_two_level_ring.measures import NAMES, RING, TWO_LEVEL, size_in_words

_BIRKHOFF = "birkhoff"
_NAMES = {RING: NAMES[RING], TWO_LEVEL: NAMES[TWO_LEVEL], _BIRKHOFF: "birkhoff"}
_PLAIN, _BARRIERS = False, True


def _runs(results: pd.DataFrame) -> pd.DataFrame:
    table = results[(results["experiment"] == "unequal") & results["completion_cycles"].notna()]
    table = table.rename(columns={"workload.algorithm": "algorithm"})
    return table.assign(barriers=table["workload.step_barriers"].astype(bool)) if len(table) else table


def over_bound(results: pd.DataFrame, statistic: Literal["mean", "min", "max"] = "mean") -> pd.DataFrame:
    """Time over the bound, by (barriers, ranks of the servers): a column for each algorithm."""
    table = _runs(results)
    if table.empty:
        return pd.DataFrame()
    found = table.pivot_table("ratio_to_bound", ["barriers", "ranks"], "algorithm", statistic, sort=False)
    return found.reindex(columns=list(_NAMES))


def claims(results: pd.DataFrame) -> Iterator[Finding]:
    """The claims ``U.*``."""
    found = over_bound(results)
    if found.empty:
        return
    plain, met = found.loc[_PLAIN], found.loc[_BARRIERS]
    yield Finding(id="U.ring", ours=float((plain[TWO_LEVEL] <= plain[RING]).mean()))
    yield Finding(id="U.barriers", ours=float(met[_BIRKHOFF].max()))
    yield Finding(id="U.two-level", ours=float((met[_BIRKHOFF] <= met[TWO_LEVEL]).mean()))
    yield Finding(id="U.free", ours=float((plain[_BIRKHOFF] <= plain[TWO_LEVEL]).mean()))


def draw(results: pd.DataFrame) -> Figure | None:
    """Bars of time over the bound, a panel without and one with barriers; lines span the seeds."""
    found = over_bound(results)
    if found.empty:
        return None
    low, high = over_bound(results, "min"), over_bound(results, "max")
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.8), sharey=True, layout="constrained")
    for ax, barriers in zip(axes, (_PLAIN, _BARRIERS), strict=True):
        mean, least, most = (table.loc[barriers] for table in (found, low, high))
        bars = [
            Bars.of(label, COLOURS[number], mean[algorithm], least[algorithm], most[algorithm])
            for number, (algorithm, label) in enumerate(_NAMES.items())
        ]
        draw_groups(ax, list(mean.index), bars)
        ax.axhline(1, color="0.4", linewidth=1)
        ax.set_xlabel("ranks of the servers")
        ax.set_title("a barrier behind each step" if barriers else "no barriers", fontsize="medium")
    axes[0].set_ylabel("time over the bound\n(what the busiest server needs)")
    figure.suptitle(_setting(_runs(results)), fontsize="medium")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def _setting(table: pd.DataFrame) -> str:
    """How many ranks on how many servers, and the messages."""
    # Of a placement the table says how many ranks each server has: "kind=counts, ranks=4x4x4".
    counts = str(table["host.placement"].iloc[0]).rpartition("ranks=")[2].split("x")
    size = size_in_words(int(table["KiB"].max()))
    return f"{sum(map(int, counts))} ranks on {len(counts)} servers, messages of {size}"
