"""Table 3: NPB FT and IS, computed from simulated all-to-alls and simulated as programs that compute between them."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from flitwork.base.statistics import half_width_95
from flitwork.plot.style import COLOURS
from flitwork.studies.claims import Finding
from flitwork.studies.naruse_2010_two_level_ring.bars import Bars, draw_groups
from flitwork.studies.naruse_2010_two_level_ring.measures import (
    READINGS,
    RING,
    TWO_LEVEL,
    bandwidth,
    in_claims,
    ranks_in_words,
    tidy,
)

_RANKS = 8
#: Benchmark and class: KiB of a message, all-to-alls, time with the ring [s]. Table 3 has the two times of FT B in the
#: wrong order (its Gop/s agree with the other).
NPB = {
    "FT.B": (32, 21, 1.177),
    "FT.C": (128, 21, 4.691),
    "FT.D": (2048, 26, 117.2),
    "IS.B": (8, 10, 0.112),
    "IS.C": (32, 10, 0.486),
    "IS.D": (512, 10, 8.551),
}
#: The paper's gains [%].
PAPER = pd.Series({"FT.B": 6.1, "FT.C": 7.1, "FT.D": 6.1, "IS.B": 1.9, "IS.C": 5.5, "IS.D": 7.0})


def computed(results: pd.DataFrame, reading: str) -> pd.Series[float]:
    """Gains by the 2-Level Ring [%]: the time between all-to-alls is what the paper's ring leaves over, and stays."""
    table = bandwidth(results, f"npb{reading}")
    if table.empty:
        return pd.Series(dtype=float)
    table = table.reset_index(["servers", "Nlp"])
    table = table[table["Nlp"] == _RANKS]
    servers = int(table["servers"].iloc[0])
    gains = {}
    for name, (kib, count, with_ring) in NPB.items():
        if kib not in table.index:
            continue
        megabytes = 1024 * kib * (servers - 1) * _RANKS * _RANKS / 1e6
        saved = megabytes / float(table[RING][kib]) - megabytes / float(table[TWO_LEVEL][kib])
        gains[name] = 100 * (with_ring / (with_ring - count * saved) - 1)
    return pd.Series(gains)


def simulated(results: pd.DataFrame, reading: str) -> pd.DataFrame:
    """The programs: a row for each benchmark, columns gain [%], ci of it, ring (time over the paper's)."""
    table = tidy(results, f"program{reading}")
    if table.empty:
        return pd.DataFrame()
    times = table.pivot_table("time_s", ["benchmark", "seed"], "algorithm", "mean")
    gain = (100 * (times[RING] / times[TWO_LEVEL] - 1)).unstack("seed")
    several = gain.shape[1] > 1
    ci = [half_width_95(row) if several else 0.0 for row in gain.to_numpy()]
    paper = pd.Series({name: seconds for name, (_, _, seconds) in NPB.items()})
    ring = (times[RING].groupby("benchmark").mean() / paper).reindex(gain.index)
    return pd.DataFrame({"gain": gain.mean(axis=1), "ci": ci, "ring": ring})


def claims(results: pd.DataFrame) -> Iterator[Finding]:
    """The claims ``T3.*`` and ``N.*``."""
    for reading in READINGS:
        suffix = in_claims(reading)
        gains = computed(results, reading)
        for name, gain in gains.items():
            yield Finding(id=f"T3.{name}{suffix}", ours=float(gain))
        found = simulated(results, reading)
        if found.empty:
            continue
        yield Finding(id=f"N.ring{suffix}", ours=float((found["ring"] - 1).abs().max()))
        if len(gains):
            yield Finding(id=f"N.same{suffix}", ours=float((found["gain"] - gains).dropna().abs().max()))
        if len(found) == len(NPB):
            yield Finding(id=f"N.paper{suffix}", ours=float((found["gain"] - PAPER).abs().max()))
            sort = found["gain"][["IS.B", "IS.C", "IS.D"]]
            yield Finding(id=f"N.grows{suffix}", ours=float(np.mean(np.diff(sort.to_numpy()) > 0)))


def draw(results: pd.DataFrame) -> Figure | None:
    """Gains of the paper, computed, and of simulated programs, a panel for each reading."""
    readings = [reading for reading in READINGS if len(simulated(results, reading))]
    if not readings:
        return None
    figure, axes = plt.subplots(
        1, len(readings), figsize=(4.0 * len(readings), 3.9), sharey=True, squeeze=False, layout="constrained"
    )
    for ax, reading in zip(axes[0], readings, strict=True):
        found = simulated(results, reading)
        names = [name for name in NPB if name in found.index]
        gain, ci = found["gain"][names], found["ci"][names]
        bars = [
            Bars("paper", "0.6", PAPER[names]),
            Bars("computed from single all-to-alls", COLOURS[0], computed(results, reading).reindex(names)),
            Bars("simulated as a program", COLOURS[1], gain, below=ci, above=ci),
        ]
        draw_groups(ax, [name.replace(".", " ") for name in names], bars)
        ax.axhline(0, color="0.4", linewidth=1)
        ax.set_title(READINGS[reading].replace(", ", ",\n"), fontsize="medium")
        ax.set_xlabel("benchmark and class")
    axes[0][0].set_ylabel("2-Level Ring faster than Ring [%]")
    table = tidy(results, f"program{readings[0]}")
    servers = f"{table['servers'].max()} servers of {ranks_in_words(table['Nlp'].max())}"
    figure.suptitle(f"NPB on {servers}: the whole benchmark", fontsize="medium")
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure
