"""The figures about four controllers: why flits stand still, and what comes near the bound."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from flitwork.plot.style import COLOURS, MARKERS, MORE_COLOURS
from flitwork.results.result import Result
from flitwork.studies.takaue_2010_a2at.drawing import SYNC_NAMES, sizes
from flitwork.studies.takaue_2010_a2at.measures import BEST_WAY, BEST_WAY_16, over_n, rows

#: Why a flit stands still: in words, colour and hatch. What happens at the source is hatched.
_REASONS = {
    "no_credit": ("no credit: buffer ahead is full", COLOURS[0], None),
    "no_vc": ("no VC: all are held by other packets", COLOURS[1], None),
    "input_port_busy": ("crossbar input busy", COLOURS[2], None),
    "lost_switch": ("lost the crossbar output", COLOURS[3], None),
    "ejection_port_busy": ("ejection port busy", COLOURS[4], None),
    "no_ejection_vc": ("no ejection VC", COLOURS[5], None),
    "lost_vc_allocation": ("lost the VC", COLOURS[6], None),
    "pipeline": ("in the pipeline", "#882255", None),
    "source_no_credit": ("source: no credit", "0.75", "//"),
    "source_waits_for_sync": ("source: waits for sync", "#F0E442", "\\\\"),
}
#: Columns of the report: the heading of the panel, and in how many routers flits are counted.
_STANDING = {
    "flit_cycles": ("all flits", 1),
    "tail_flit_cycles": ("of these: tails", 1000),
    "idle_ejection_flit_cycles": ("of these: at the destination,\nwhile an ejection port is idle", 1000),
}
#: The ways of four controllers that come near the bound, and how they are called: each letter stands for a whole line.
_NEAR = {
    "8 VCs, age-based": "8 VCs, 2 crossbar inputs, age-based",
    "8 VCs, crossbar inputs 4, age-based": "A: 8 VCs, 4 crossbar inputs, age-based",
    "... and packets of 25": "B: A with packets of 25 flits",
    "... and buffers of 20": "B with buffers of 20 flits",
    BEST_WAY: "B with buffers of 400 flits",
    BEST_WAY_16: "B with 16 VCs, 8 crossbar inputs",
}


def stalls(results: pd.DataFrame, points: Path) -> Figure:
    """Why flits stand still with one, two and four controllers, from the stored runs in ``points``."""
    part = rows(results, "stalls")
    n = int(part["N"].max())
    part = part[part["N"] == n].sort_values(["workload.sync", "nct"], ascending=[True, True])
    labels = [f"NCT = {row.nct:.0f}, {SYNC_NAMES[str(row.sync)]}"
              for row in part.rename(columns={"workload.sync": "sync"}).itertuples()]  # fmt: skip
    reports = [Result.load(points / f"{key}.parquet") for key in part["plan_hash"]]
    standing = {
        column: pd.DataFrame([of.stalls.set_index("reason")[column] / of.completion_cycles / n**2 for of in reports])
        for column in _STANDING
    }
    return stall_bars(
        standing, labels, f"Why flits stand still: A2AT on the {n} × {n} torus, 2 VCs, buffers of 200 flits"
    )


def stall_bars(standing: dict[str, pd.DataFrame], labels: list[str], title: str) -> Figure:
    """A panel for each of ``_STANDING``: flits a router by reason (columns) in each case (rows)."""
    figure, axes = plt.subplots(1, 3, figsize=(13, 4.9), sharey=True)
    shown = [reason for reason in _REASONS if any(_visible(values, [reason]) for values in standing.values())]
    others = [reason for reason in _REASONS if reason not in shown]
    bars = {reason: ([reason], *_REASONS[reason]) for reason in shown}
    if any(_visible(values, others) for values in standing.values()):
        bars["others"] = (others, "other reasons", "white", None)
    for ax, (column, (heading, routers)) in zip(axes, _STANDING.items(), strict=True):
        start = np.zeros(len(labels))
        for columns, text, colour, hatch in bars.values():
            values = routers * standing[column][columns].sum(axis=1).to_numpy()
            ax.barh(labels, values, left=start, color=colour, hatch=hatch, label=text, height=0.7, edgecolor="0.25",
                    linewidth=0.5)  # fmt: skip
            start += values
        ax.set_title(heading)
        ax.set_xlabel("flits a router" if routers == 1 else f"flits in {routers:,} routers")
        ax.set_xlim(0, 1.03 * start.max() or 1)
        ax.grid(axis="y", visible=False)
    axes[0].invert_yaxis()
    figure.suptitle(
        f"{title}; means over the run\nThe right two panels show small parts of the left one, in 1,000 routers"
    )
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4, fontsize=9)
    return figure


def _visible(values: pd.DataFrame, reasons: list[str]) -> bool:
    """Whether the bars of these reasons are wide enough to be seen."""
    return bool(values[reasons].sum(axis=1).max() > 0.004 * values.sum(axis=1).max())


def ways(results: pd.DataFrame) -> Figure:
    """What brings four controllers to the bound: a curve a configuration."""
    figure, axes = plt.subplots(1, 2, figsize=(11, 5.6))
    all_ways = list(rows(results, "nct4")["way"].drop_duplicates())
    far = {way: way.replace("crossbar inputs 4", "4 crossbar inputs") for way in all_ways if way not in _NEAR}
    near = {way: name for way, name in _NEAR.items() if way in all_ways}
    # No look stands for two ways, in whichever panel.
    looks = iter(zip((*COLOURS, *MORE_COLOURS), (*MARKERS, *MARKERS), strict=False))
    for ax, shown in zip(axes, (far, near), strict=True):
        for way, name in shown.items():
            values = over_n(results, "nct4", "time_of_bound", way=way)
            colour, marker = next(looks)
            ax.plot(values.index, values.to_numpy(), label=name, color=colour, marker=marker)
        sizes(ax, results, "nct4")
        ax.set_ylabel("time / theory for four controllers")
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2 if shown is far else 1, fontsize=9)
    axes[1].axhspan(1, 1.15, color="0.88", zorder=0)
    axes[1].set_ylim(bottom=1)
    axes[0].set_title("what does not suffice")
    axes[1].set_title("what comes near the bound (grey: within 1.15)")
    figure.suptitle("A2AT with four controllers on a torus, buffers of 200 flits unless said")
    return figure
