"""The paper's figures 2 to 5 with their fits, and what relative order gains over start-up and end-point rate."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from flitwork.fit import Fit
from flitwork.plot.style import COLOURS, MARKERS, MORE_COLOURS, logarithmic, save, style
from flitwork.studies.makino_1997_ap1000.measures import (
    ABSOLUTE,
    fitted,
    gains,
    least,
    lines,
    positions,
    searched,
    totals,
)

_MANY_COLOURS = (*COLOURS, *MORE_COLOURS)
_ON_A_CURVE = 60
#: Gains from here on are written in white, their colours are dark.
_DARK = 0.33
_FROM = (("host_to_cell", "from the host, by the bus"), ("cell_to_cell", "from cell 0, by the torus"))


def figures(results: pd.DataFrame, outdir: Path) -> list[Path]:
    """Draws all figures for which there are results."""
    drawn: list[Path] = []
    with style():
        if len(positions(results, "host_to_cell")):
            drawn += save(_positions(results), outdir, "figure-2")
        for what, name, title in (
            ("lengths", "figure-3", "16 cells"),
            ("cells", "figure-4", "Messages of one size over the number of cells"),
        ):
            parts = dict(lines(results, what))
            if parts:
                drawn += save(_lines(parts, what, title), outdir, name)
        parts = {f"{size:,} KiB in all": part for size, part in totals(results)}
        if parts:
            drawn += save(_totals(parts), outdir, "figure-5")
        if len(searched(results)):
            drawn += save(_map(searched(results)), outdir, "map")
    return drawn


def _positions(results: pd.DataFrame) -> Figure:
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True, layout="constrained")
    for ax, (experiment, words) in zip(axes, _FROM, strict=True):
        for i, (size, part) in enumerate(positions(results, experiment).groupby("KiB")):
            ax.plot(part["cell"], part["us"], color=COLOURS[i], marker=MARKERS[i], label=f"{size} KiB")
        ax.set(xlabel="cell", title=words)
        logarithmic(ax, "y")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes[0].set_ylabel("time of a message [us]")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def _shown(fit: Fit, what: str) -> str:
    """The formula of a fit in us and KiB, or cells."""
    if what == "lengths":
        slope = f"{1e6 * 1024 * fit.value('a'):.4g} us/KiB · m"
    else:
        slope = f"{1e6 * fit.value('a'):.4g} us · n"
    start = 1e6 * fit.value("t0")
    return f"{slope} {'-' if start < 0 else '+'} {abs(start):.4g} us, R² {fit.r_squared:.3f}"


def _lines(parts: dict[str, pd.DataFrame], what: str, title: str) -> Figure:
    figure, ax = plt.subplots(figsize=(9, 4.6), layout="constrained")
    _draw_lines(ax, parts, what, title)
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize="x-small")
    return figure


def _draw_lines(ax: Axes, parts: dict[str, pd.DataFrame], what: str, title: str) -> None:
    column, label = ("bytes", "message [KiB]") if what == "lengths" else ("ranks", "cells")
    unit = 1024 if what == "lengths" else 1
    for i, (name, part) in enumerate(parts.items()):
        table = least(part).sort_values(column)
        x, us = table[column] / unit, 1e6 * table["seconds"]
        colour, marker = _MANY_COLOURS[i % len(_MANY_COLOURS)], MARKERS[i % len(MARKERS)]
        constant = what == "cells" and us.max() < 1.02 * us.min()
        if what == "cells":
            name = f"{name}, {table['bytes'].iloc[0] / 1024:g} KiB"
        if len(table) < 3 or constant:
            ax.plot(x, us, marker, color=colour, linestyle="-" if constant else "none", label=name)
            continue
        fit = fitted(part, "linear_bytes" if what == "lengths" else "linear_ranks")
        ax.plot(x, us, marker, color=colour, linestyle="none", label=f"{name}: {_shown(fit, what)}")
        _curve(ax, fit, _between(table, column), column, unit, colour)
    ax.set(xlabel=label, ylabel="time [us]", yscale="log", title=title)
    if what == "lengths":
        ax.set_xscale("log", base=2)


def _between(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """Places from the least to the largest: on a logarithmic axis a line is a curve between two points."""
    ends = table[column].min(), table[column].max()
    first = {name: float(table[name].iloc[0]) for name in ("bytes", "ranks")}
    return pd.DataFrame({**first, column: np.geomspace(*ends, _ON_A_CURVE)})


def _curve(ax: Axes, fit: Fit, places: pd.DataFrame, column: str, unit: int, colour: str) -> None:
    us = 1e6 * fit.seconds(places)
    ax.plot(places[column] / unit, np.where(us > 0, us, np.nan), color=colour, linewidth=1)


def _totals(parts: dict[str, pd.DataFrame]) -> Figure:
    figure, ax = plt.subplots(figsize=(7.2, 4.2), layout="constrained")
    _draw_totals(ax, parts, "Total exchange in relative order")
    ax.legend(fontsize="small")
    return figure


def _draw_totals(ax: Axes, parts: dict[str, pd.DataFrame], title: str) -> None:
    for i, (name, part) in enumerate(parts.items()):
        table, fit = least(part).sort_values("ranks"), fitted(part, "total_exchange")
        shown = f"a {1e9 * fit.value('a'):.3g} ns/B, t0 {1e6 * fit.value('t0'):.3g} us, R² {fit.r_squared:.3f}"
        ax.plot(table["ranks"], 1e6 * table["seconds"], MARKERS[i], color=COLOURS[i], label=f"{name}: {shown}")
        places = _between(table, "ranks")
        in_all = float((table["bytes"] * table["ranks"] ** 2).max())
        _curve(ax, fit, places.assign(bytes=in_all / places["ranks"] ** 2), "ranks", 1, COLOURS[i])
    ax.set(xlabel="cells", ylabel="time [us]", yscale="log", title=title)


def side_by_side(
    results: pd.DataFrame, series: Sequence[tuple[str, str, pd.DataFrame]], machine: str, outdir: Path
) -> list[Path]:
    """Figures 3 to 5 twice: of the simulated AP1000 and, from ``series`` (what, name, times), of ``machine``."""
    drawn: list[Path] = []
    messages = next(part for over, _, part in series if over == "peers")
    simulated = {what: dict(lines(results, what)) for what in ("lengths", "cells")}
    simulated["total"] = {f"{size:,} KiB in all": part for size, part in totals(results)}
    with style():
        drawn += save(_messages(results, messages, machine), outdir, "mpi-figure-2")
        for what, name in (("lengths", "mpi-figure-3"), ("cells", "mpi-figure-4"), ("total", "mpi-figure-5")):
            here = {label: part for over, label, part in series if over == what and len(part)}
            figure, axes = plt.subplots(1, 2, figsize=(12, 5.6), layout="constrained")
            for ax, parts, title in zip(axes, (simulated[what], here), ("simulated AP1000", machine), strict=True):
                if what == "total":
                    _draw_totals(ax, parts, title)
                else:
                    _draw_lines(ax, parts, what, title)
                # Below its own panel, so that the formulas of both can be read.
                if parts:
                    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), fontsize="x-small")
            if what != "lengths":
                axes[1].xaxis.set_major_locator(MaxNLocator(integer=True))
            axes[1].set_xlabel(axes[1].get_xlabel().replace("cells", "ranks"))
            drawn += save(figure, outdir, name)
    return drawn


def _messages(results: pd.DataFrame, measured: pd.DataFrame, machine: str) -> Figure:
    """One message by the number of who receives it: cells of the simulated machine, and ranks of this one."""
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    here = measured.assign(KiB=measured["bytes"] / 1024, cell=measured["ranks"] - 1, us=1e6 * measured["seconds"])
    for ax, table in zip(axes, (positions(results, "cell_to_cell"), here), strict=True):
        for i, (size, part) in enumerate(table.sort_values("cell").groupby("KiB")):
            ax.plot(part["cell"], part["us"], color=COLOURS[i], marker=MARKERS[i], label=f"{size:g} KiB")
        ax.set(yscale="log", ylabel="time of a message [us]")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.legend(fontsize="small")
    axes[0].set(xlabel="cell", title="simulated AP1000, from cell 0")
    axes[1].set(xlabel="rank", title=f"{machine}, from rank 0")
    return figure


def _map(table: pd.DataFrame) -> Figure:
    """What relative order gains over each absolute one, by start-up and rate, a panel for each length of messages."""
    found = gains(table, by=["KiB", "startup_us", "rate_mb_per_s"])
    sizes, orders = sorted(found["KiB"].unique()), list(ABSOLUTE.values())
    figure, axes = plt.subplots(
        len(orders),
        len(sizes),
        figsize=(3.4 * len(sizes) + 1.4, 2.5 * len(orders)),
        squeeze=False,
        layout="constrained",
    )
    for i, order in enumerate(orders):
        for j, size in enumerate(sizes):
            part = found[(found["order"] == order) & (found["KiB"] == size)]
            wide = part.pivot_table(index="rate_mb_per_s", columns="startup_us", values="gain")
            ax = axes[i, j]
            drawn = ax.imshow(100 * wide, cmap="RdBu", vmin=-50, vmax=50, origin="lower", aspect="auto")
            for (y, x), gain in np.ndenumerate(wide.to_numpy()):
                ink = "white" if abs(gain) > _DARK else "black"
                ax.text(x, y, f"{100 * gain:.0f}", ha="center", va="center", fontsize="x-small", color=ink)
            ax.set_xticks(range(len(wide.columns)), [f"{value:.0f}" for value in wide.columns])
            ax.set_yticks(range(len(wide.index)), [f"{v:g}" if v < 1000 else "no limit" for v in wide.index])
            ax.set_title(f"{order}, {size:g} KiB", fontsize="small")
            ax.grid(visible=False)
    for ax in axes[-1]:
        ax.set_xlabel("start-up [us]")
    for ax in axes[:, 0]:
        ax.set_ylabel("rate of an end [MB/s]")
    figure.colorbar(drawn, ax=axes, label="relative order is shorter by [%]", shrink=0.7)
    return figure
