"""Curves that a study file declares: y over x, one line a series, one panel a value of a column."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from flitwork.base.errors import ConfigError, did_you_mean
from flitwork.base.statistics import error_bars
from flitwork.experiment.columns import Columns
from flitwork.experiment.study_file import Plot, StudyFile
from flitwork.plot.labels import label, short
from flitwork.plot.style import COLOURS, MARKERS, forget, logarithmic, save, style

_SATURATED = "saturated"
#: Longest legend that stands in a panel.
_MOST_INSIDE = 6


def draw_plots(study: StudyFile, table: pd.DataFrame, folder: Path) -> list[Path]:
    """Every plot of the study as PNG and SVG; a plot whose experiments were all left out is left out too."""
    paths: list[Path] = []
    for i, plot in enumerate(study.plots):
        rows = select(table, plot, f"plots[{i}]")
        if len(rows):
            paths += save(curves(rows, plot), folder, plot.id)
        else:
            forget(folder, plot.id)
    return paths


def check_plots_can_be_drawn(study: StudyFile, known: Mapping[str, Columns]) -> None:
    """Draws every plot once with the values of the axes and results made up: what fails here would fail after hours."""
    for i, plot in enumerate(study.plots):
        shown = [_made_up(known[name], plot) for name in plot.experiments if name in known]
        rows = select(pd.concat(shown), plot, f"plots[{i}]") if shown else pd.DataFrame()
        if rows.empty:
            continue
        before = set(plt.get_fignums())
        try:
            curves(rows, plot).draw_without_rendering()
        except (ValueError, TypeError, ArithmeticError, RuntimeError) as error:
            because = str(error).strip().split("\n")[0]
            raise ConfigError(f"plots[{i}]", f'"{plot.id}"', "a plot that can be drawn", because) from None
        finally:
            for number in set(plt.get_fignums()) - before:
                plt.close(number)


def _made_up(columns: Columns, plot: Plot) -> pd.DataFrame:
    """Rows with the columns that a plot names: a row for each combination of axes that it tells apart."""
    table = pd.DataFrame(dict(columns.values))
    for name in {plot.x, plot.y, *_series(plot), *plot.where, *([plot.panels] if plot.panels else [])} - set(table):
        wanted = plot.where.get(name, 1.0 if name in columns.numbers else "complete")
        table[name] = wanted[0] if isinstance(wanted, list) else wanted
    return table.drop_duplicates([plot.x, plot.y, *_series(plot), *([plot.panels] if plot.panels else []), *plot.where])


def select(table: pd.DataFrame, plot: Plot, path: str) -> pd.DataFrame:
    """The rows that a plot shows."""
    if table.empty:
        return table
    rows = table[table["experiment"].isin(plot.experiments)]
    named = [("x", plot.x), ("y", plot.y), *(("series", name) for name in _series(plot))]
    named += [("panels", plot.panels)] if plot.panels else []
    named += [(f"where.{name}", name) for name in plot.where]
    for key, name in named:
        if len(rows) and name not in rows.columns:
            expected = f"a column of the results: {', '.join(map(str, table.columns))}"
            raise ConfigError(f"{path}.{key}", f'"{name}"', expected, did_you_mean(name, map(str, table.columns)))
    for name, wanted in plot.where.items():
        rows = rows[rows[name].isin(wanted if isinstance(wanted, list) else [wanted])]
    return rows


def curves(rows: pd.DataFrame, plot: Plot) -> Figure:
    """The figure of a declared plot."""
    panels = list(rows[plot.panels].drop_duplicates()) if plot.panels else [None]
    names = _series(plot)
    keys = list(rows[names].drop_duplicates().itertuples(index=False, name=None)) if names else [()]
    across = min(len(panels), 3)
    down = -(-len(panels) // across)
    size = (6.4 if len(panels) == 1 else 4.6 * across, 4.2 * down)
    with style():
        figure, axes = plt.subplots(down, across, squeeze=False, sharey=True, figsize=size)
        for ax, panel in zip(axes.flat, panels, strict=False):
            shown = rows if panel is None else rows[rows[plot.panels] == panel]
            for i, key in enumerate(keys):
                _line(ax, shown[(shown[names] == list(key)).all(axis=1)] if names else shown, plot, key, i)
            _dress(ax, plot)
            if plot.xscale == "linear" and pd.api.types.is_numeric_dtype(rows[plot.x]):
                # What has whole values only, as sizes have, gets no tick between them.
                whole = bool((rows[plot.x].dropna() % 1 == 0).all())
                ax.xaxis.set_major_locator(MaxNLocator(nbins=5 if across > 1 else 9, integer=whole))
            if panel is not None:
                value = _literally(str(panel))
                ax.set_title(value if isinstance(panel, str) else f"{short(str(plot.panels))} = {value}")
        for ax in axes.flat[len(panels) :]:
            ax.set_visible(False)
        for ax in axes[:, 0]:
            ax.set_ylabel(plot.ylabel or label(plot.y))
        if len(keys) > 1 or plot.lines:
            _legend(figure, axes.flat, names if len(keys) > 1 else [])
        if plot.title:
            figure.suptitle(plot.title) if panels != [None] else axes.flat[0].set_title(plot.title)
    return figure


def _literally(text: str) -> str:
    """``text`` for matplotlib, which reads what stands between dollars as mathematics."""
    return text.replace("$", r"\$")


def _series(plot: Plot) -> list[str]:
    return [plot.series] if isinstance(plot.series, str) else plot.series


def _legend(figure: Figure, axes: Iterable[Axes], names: Sequence[str]) -> None:
    """One legend for all panels, in the first or, if long, below: every line has its name, wherever it is drawn."""
    panels = list(axes)
    found = {name: handle for ax in panels for handle, name in zip(*ax.get_legend_handles_labels(), strict=True)}
    hollow = found.pop(_SATURATED, None)
    found = found if hollow is None else {**found, _SATURATED: hollow}
    look: dict[str, Any] = {"title": ", ".join(map(short, names)), "fontsize": 9, "title_fontsize": 9}
    if len(found) <= _MOST_INSIDE:
        panels[0].legend(list(found.values()), list(found), **look)
    else:
        # No corner of a panel is free of curves for so long a list.
        figure.legend(list(found.values()), list(found), loc="outside lower center", ncols=4, **look)


def _line(ax: Axes, rows: pd.DataFrame, plot: Plot, key: Sequence[Any], index: int) -> None:
    if rows.empty:
        return
    grouped = rows.groupby(plot.x, sort=not isinstance(rows[plot.x].iloc[0], str))[plot.y]
    mean = grouped.mean()
    look: dict[str, Any] = {
        "color": COLOURS[index % len(COLOURS)],
        "marker": MARKERS[index % len(MARKERS)],
        "linestyle": ("-", "--", ":")[index // len(COLOURS) % 3],
        "label": _literally(", ".join(map(str, key))) or None,
    }
    x, y, bars = list(mean.index), mean.to_numpy(float), error_bars(grouped)
    below = None if bars is None else np.where(y >= 0, np.minimum(bars, y), bars)
    beyond = _saturated(rows, plot.x, mean.index)
    # A latency beyond saturation grows with the length of the run: it is no value of the curve.
    joined = np.where(beyond, math.nan, y) if "latency" in plot.y else y
    ax.errorbar(x, joined, yerr=None if below is None or bars is None else [below, bars], capsize=3, **look)
    if beyond.any():
        look.update(linestyle="", markerfacecolor="white", zorder=3, label=None)
        ax.plot([at for at, out in zip(x, beyond, strict=True) if out], y[beyond], **look)
        ax.plot([], [], linestyle="", marker="o", color="0.35", markerfacecolor="white", label=_SATURATED)


def _saturated(rows: pd.DataFrame, x: str, at: pd.Index[Any]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Whether one of the runs of each mark is saturated."""
    if "status" not in rows.columns:
        return np.zeros(len(at), dtype=bool)
    return (rows["status"] == "saturated").groupby(rows[x]).any().reindex(at).to_numpy(bool)


def _dress(ax: Axes, plot: Plot) -> None:
    for line in plot.lines:
        ax.axhline(line.y, color="0.35", linestyle="--", linewidth=1.1, label=line.label or None, zorder=1)
    if plot.xscale == "log":
        logarithmic(ax, "x")
    if plot.yscale == "log":
        logarithmic(ax, "y")
    if plot.xlim:
        ax.set_xlim(*plot.xlim)
    if plot.ylim:
        ax.set_ylim(*plot.ylim)
    ax.set_xlabel(plot.xlabel or label(plot.x))
