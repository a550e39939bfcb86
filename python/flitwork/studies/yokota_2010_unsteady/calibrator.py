"""Which reading of the router: the highest accepted load of uniform traffic over N, by the rule in ``README.md``."""

from __future__ import annotations

import math

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from flitwork.base.statistics import half_width_95
from flitwork.plot.drawn import tell
from flitwork.studies.claims import Finding
from flitwork.studies.rows import rows as select
from flitwork.studies.yokota_2010_unsteady.drawing import line, titled

EXPERIMENTS = ("calibrator", "calibrator-64", "calibrator-128")
#: The readings, and how many assumptions each adds to the paper.
ASSUMPTIONS = {
    "equal": 0,
    "switch held": 1,
    "transit first": 1,
    "oldest first": 1,
    "transit first, switch held": 2,
    "oldest first, switch held": 2,
    "transit first, own crossbar inputs": 2,
}
_TITLES = {"do": "(a) do", "dp": "(b) dp", "cl": "(c) cl"}


def highest(results: pd.DataFrame) -> pd.DataFrame:
    """The highest accepted load over Rc: a row for each reading, routing, N and seed."""
    part = results[results["experiment"].isin(EXPERIMENTS)]
    keys = ["reading", "algorithm", "N", "seed"]
    return part.groupby(keys)["accepted_share"].max().rename("highest").reset_index()


def distances(results: pd.DataFrame) -> pd.DataFrame:
    """How far each reading is from Rc in the largest network: mean over the routings, and its 95 % interval."""
    found = highest(results)
    found = found[found["N"] == found["N"].max()]
    by_seed = found.assign(away=(found["highest"] - 1).abs()).groupby(["reading", "seed"])["away"].mean()
    groups = by_seed.groupby("reading")
    return pd.DataFrame({"distance": groups.mean(), "half": groups.apply(half_width_95)})


def chosen(of: pd.DataFrame) -> str:
    """The reading that the rule names, from what :func:`distances` gives."""
    found = {
        str(name): (float(away), float(half))
        for name, away, half in zip(of.index, of["distance"], of["half"], strict=True)
    }
    most = sum(found[min(found, key=lambda name: found[name][0])])
    near = [name for name, (away, half) in found.items() if away - half <= most]
    return min(near, key=lambda name: (ASSUMPTIONS[name], found[name][0]))


def claims(results: pd.DataFrame, reading: str) -> list[Finding]:
    """The paper's statement about N, under one reading; nothing where it was not run."""
    found = select(highest(results), {"reading": reading}) if "accepted_share" in results else pd.DataFrame()
    if found.empty:
        return []
    by_n = found.groupby(["N", "seed"])["highest"].mean().groupby("N")
    mean, half = by_n.mean(), by_n.apply(half_width_95)
    shown = ", ".join(f"{n:.0f}: {value:.3f}" for n, value in mean.items())
    step = mean.diff().iloc[1:]
    to = list(mean.index).index(step.idxmin())
    return [
        Finding(
            id="S2.rises",
            ours=float(step.min()),
            ci=math.hypot(half.iloc[to], half.iloc[to - 1]),
            note=f"highest accepted load over Rc by N: {shown}",
        ),
        Finding(id="S2.near", ours=float(mean.iloc[-1]), ci=float(half.iloc[-1]), note=f"N = {mean.index[-1]:.0f}"),
    ]


def drawn(results: pd.DataFrame, first: str) -> Figure:
    """Highest accepted load over N: a panel a routing, a line a reading."""
    found = highest(results)
    figure, axes = plt.subplots(1, len(_TITLES), figsize=(12, 5), sharey=True)
    for ax, (algorithm, title) in zip(axes, _TITLES.items(), strict=True):
        for i, reading in enumerate(ASSUMPTIONS):
            part = select(found, {"algorithm": algorithm, "reading": reading})
            if not part.empty:
                line(ax, part, "N", "highest", reading, i)
        ax.axhline(1, color="0.35", linewidth=0.8, linestyle=":")
        ax.set(title=title, xscale="log", xlabel="N (network of N × N)")
        sizes = sorted(found["N"].unique())
        ax.set_xticks(sizes, [f"{n:.0f}" for n in sizes])
        ax.minorticks_off()
    axes[0].set_ylabel("highest accepted load / Rc")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    titled(figure, f"Uniform traffic: highest accepted load, VC 0 at injection. First reading: {first}")
    tell(figure, found)
    return figure
