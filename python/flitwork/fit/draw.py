"""Pictures of a fit: the times with the model through them, and what is left; the numbers beside them as CSV."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flitwork.base.libraries import np, pd
from flitwork.fit.predicting import with_times
from flitwork.fit.result import Fit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LABELS = {
    "bytes": "bytes to each other rank",
    "ranks": "ranks",
    "ranks_per_server": "ranks per server",
    "total_bytes": "bytes of all ranks",
}
_SHORT = {"bytes": "bytes", "ranks": "ranks", "ranks_per_server": "per server", "total_bytes": "bytes in all"}
_MOST_SERIES = 9
#: From this ratio of the largest to the least an axis is logarithmic.
_LOGARITHMIC = 50
_ON_A_LINE = 80


def draw_fit(fit: Fit) -> Figure:
    """Above the times and the model with its confidence interval, below the residuals."""
    import matplotlib.pyplot as plt

    from flitwork.plot.style import COLOURS, MARKERS, MORE_COLOURS, style

    x, by = _axes(fit)
    points = _with_total(fit.points)
    drawn = set()
    with style():
        figure, (above, below) = plt.subplots(2, 1, figsize=(6.4, 6.8), sharex=True, height_ratios=(3, 2))
        for i, (name, rows) in enumerate(_series(points, by)):
            look: Any = {"color": (*COLOURS, *MORE_COLOURS)[i]}
            _dots(fit, rows, (above, below), x, name, {"marker": MARKERS[i % len(MARKERS)], **look})
            line = with_times(fit, _grid(rows, x, by))
            above.plot(line[x], line["seconds"], label=f"model, {name}" if name else "model", **look)
            above.fill_between(line[x], line["low"], line["high"], alpha=0.2, linewidth=0, **look)
            drawn |= set(rows.index)
        others = points[~points.index.isin(drawn)]
        if len(others):
            _dots(fit, others, (above, below), x, "others", {"marker": ".", "color": "0.6"})
        _finish(above, below, fit, x, points)
        handles, labels = above.get_legend_handles_labels()
        shown = [i for i, label in enumerate(labels) if label == "model" or not label.startswith("model")]
        figure.legend(
            [handles[i] for i in shown], [labels[i] for i in shown], loc="outside lower center",
            ncols=3, fontsize="small",
        )  # fmt: skip
    return figure


def _dots(fit: Fit, rows: pd.DataFrame, panels: tuple[Axes, Axes], x: str, name: str, look: Mapping[str, Any]) -> None:
    """The times above, and what the model leaves of them below."""
    panels[0].plot(rows[x], rows["seconds"], label=name or "measured", linestyle="none", **look)
    panels[1].plot(rows[x], _shown_residuals(fit, rows), label=name or "residuals", linestyle="none", **look)


def save_pictures(fits: Sequence[Fit], folder: Path) -> list[Path]:
    """A picture of each fit (``fit_total_exchange_alltoall.png`` and so on) and its numbers; gives the PNG files.

    Files that are there are replaced.
    """
    from flitwork.plot.style import save

    names = [re.sub(r"[^A-Za-z0-9.]+", "_", f"fit {fit.model_name} {fit.title}").strip("_")[:100] for fit in fits]
    return [
        path
        for i, (fit, name) in enumerate(zip(fits, names, strict=True))
        for path in save(draw_fit(fit), folder, f"{name}_{i + 1}" if names.count(name) > 1 else name)
        if path.suffix == ".png"
    ]


def _with_total(points: pd.DataFrame) -> pd.DataFrame:
    return points.assign(total_bytes=(points["bytes"] * points["ranks"] ** 2).round(6))


def _axes(fit: Fit) -> tuple[str, list[str]]:
    """What is drawn to the right, and what tells the lines apart: as few lines as can be."""
    points = _with_total(fit.points)
    used = [name for name in fit.model.uses if points[name].nunique() > 1] or [fit.model.uses[0]]
    layouts = [(x, [name for name in used if name != x]) for x in used]
    if "ranks" in used and "bytes" in used:
        layouts.append(("ranks", ["total_bytes", *(name for name in used if name not in ("ranks", "bytes"))]))
    return min(layouts, key=lambda way: points.groupby(way[1]).ngroups if way[1] else 1)


def _series(points: pd.DataFrame, by: Sequence[str]) -> Iterator[tuple[str, pd.DataFrame]]:
    if not by:
        yield "", points
        return
    groups = list(points.groupby(list(by)))
    # Too many lines say nothing: some of them, evenly chosen, the ends among them.
    shown = np.unique(np.linspace(0, len(groups) - 1, min(len(groups), _MOST_SERIES)).round().astype(int))
    for i in shown:
        values, rows = groups[i]
        yield ", ".join(f"{value:,.6g} {_SHORT[name]}" for name, value in zip(by, values, strict=True)), rows


def _grid(rows: pd.DataFrame, x: str, by: Sequence[str]) -> pd.DataFrame:
    """Places along a line, between the least and the largest that was measured."""
    low, high = float(rows[x].min()), float(rows[x].max())
    if low > 0 and high / low > _LOGARITHMIC:
        places = np.geomspace(low, high, _ON_A_LINE)
    else:
        places = np.linspace(low, high, _ON_A_LINE)
    first = {name: float(rows[name].iloc[0]) for name in ("bytes", "ranks", "ranks_per_server")}
    grid = pd.DataFrame({**first, x: places})
    if "total_bytes" in by:
        grid["bytes"] = float(rows["total_bytes"].iloc[0]) / grid["ranks"] ** 2
    return grid


def _shown_residuals(fit: Fit, rows: pd.DataFrame) -> Any:
    return rows["residual"] / rows["fitted"] * 100 if fit.errors == "relative" else rows["residual"]


def _finish(above: Axes, below: Axes, fit: Fit, x: str, points: pd.DataFrame) -> None:
    from flitwork.plot.style import logarithmic

    low, high = float(points[x].min()), float(points[x].max())
    if low > 0 and high / low > _LOGARITHMIC:
        logarithmic(above, "x")
    seconds = points["seconds"]
    if fit.points["fitted"].min() > 0 and float(seconds.max() / seconds.min()) > _LOGARITHMIC:
        above.set_yscale("log")
    above.set_title(f"{fit.model_name}: {fit.title}" if fit.title else fit.model_name)
    above.set_ylabel("seconds")
    below.set_title("residuals")
    below.axhline(0, color="0.4", linewidth=1)
    below.set_ylabel("residual [% of the model]" if fit.errors == "relative" else "residual [s]")
    below.set_xlabel(_LABELS[x])
