"""The numbers in a figure: what its lines, bars, marks and maps show, as one table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.category import StrCategoryLocator
from matplotlib.collections import PathCollection, QuadMesh
from matplotlib.container import BarContainer, ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedLocator

#: The columns of the table; the last three only where something is in them.
_COLUMNS = ("panel", "series", "x", "y", "low", "high", "value")

Row = dict[str, Any]
#: Tables of figures that are drawn by hand: of cells with words in them, or arrows.
_NUMBERS: WeakKeyDictionary[Figure, pd.DataFrame] = WeakKeyDictionary()


def tell(figure: Figure, numbers: pd.DataFrame) -> None:
    """Says what a figure shows where lines, bars, marks and maps do not: the table that is stored beside it."""
    _NUMBERS[figure] = numbers


def drawn_numbers(figure: Figure) -> pd.DataFrame:
    """A row for each point of each line, bar, mark and cell of a map; empty where a figure has none.

    ``panel`` is the title of the panel (its number where it has none), ``x`` and ``y`` are places on its axes, by name
    where the axis has names, ``low`` and ``high`` the ends of error bars, ``value`` that of a cell. Lines without a
    name in the legend are only help for the eye, and not in the table. Where :func:`tell` has said what the figure
    shows, it is that table.
    """
    if figure in _NUMBERS:
        return _NUMBERS[figure]
    panels = [ax for ax in figure.axes if ax.get_label() != "<colorbar>"]
    rows = [
        {"panel": ax.get_title() or number, **row} for number, ax in enumerate(panels, start=1) for row in _panel(ax)
    ]
    table = pd.DataFrame(rows, columns=list(_COLUMNS))
    return table.drop(columns=[name for name in _COLUMNS[4:] if table[name].isna().all()])


def _panel(ax: Axes) -> Iterator[Row]:
    inside: set[int] = set()
    for container in ax.containers:
        if isinstance(container, ErrorbarContainer):
            inside.update(id(part) for part in (container.lines[0], *container.lines[1]))
            yield from _error_bars(ax, container)
        elif isinstance(container, BarContainer):
            yield from _bars(ax, container)
    for line in ax.get_lines():
        named = not str(line.get_label()).startswith("_")
        if named and id(line) not in inside and line.get_transform() == ax.transData:
            yield from ({"series": line.get_label(), "x": x, "y": y} for x, y in _points(ax, line))
    for image in ax.get_images():
        yield from _cells(ax, image.get_array())
    for collection in ax.collections:
        if isinstance(collection, PathCollection):
            points = np.ma.getdata(collection.get_offsets())
            yield from ({"series": collection.get_label(), "x": x, "y": y} for x, y in _placed(ax, points))
        elif isinstance(collection, QuadMesh):
            yield from _cells(ax, collection.get_array())


def _points(ax: Axes, line: Line2D) -> Iterator[tuple[Any, Any]]:
    """The points of a line; those that were drawn by name are numbers in what it draws."""
    yield from _placed(ax, np.column_stack([np.asarray(part, dtype=float) for part in line.get_data(orig=False)]))


def _placed(ax: Axes, points: Any) -> Iterator[tuple[Any, Any]]:
    """Points, by name along an axis of words."""
    words = [_names(axis) if _of_words(axis) else {} for axis in (ax.xaxis, ax.yaxis)]
    for x, y in points:
        yield _named(x, words[0]), _named(y, words[1])


def _of_words(axis: Axis) -> bool:
    return isinstance(axis.get_major_locator(), StrCategoryLocator)


def _error_bars(ax: Axes, container: ErrorbarContainer) -> Iterator[Row]:
    line, _, bars = container.lines
    if line is None:
        return
    ends = bars[0].get_segments() if len(bars) == 1 else []
    for i, (x, y) in enumerate(_points(ax, line)):
        row = {"series": container.get_label(), "x": x, "y": y}
        # Of lines that lie there is nothing to tell in these columns.
        if i < len(ends) and len(ends[i]) == 2 and ends[i][0][0] == ends[i][1][0]:
            row.update(low=ends[i][0][1], high=ends[i][1][1])
        yield row


def _bars(ax: Axes, container: BarContainer) -> Iterator[Row]:
    lying = container.orientation == "horizontal"
    names = _names(ax.yaxis if lying else ax.xaxis)
    ends = container.errorbar.lines[2][0].get_segments() if container.errorbar else []
    for i, patch in enumerate(container.patches):
        if not isinstance(patch, Rectangle):
            continue
        place = patch.get_y() + patch.get_height() / 2 if lying else patch.get_x() + patch.get_width() / 2
        value = patch.get_width() if lying else patch.get_height()
        row: Row = {"series": container.get_label(), "x": _named(place, names), "y": value}
        if i < len(ends) and len(ends[i]) == 2:
            row.update(low=ends[i][0][int(not lying)], high=ends[i][1][int(not lying)])
        yield row


def _cells(ax: Axes, array: Any) -> Iterator[Row]:
    if array is None or np.ndim(array) != 2:
        return
    columns, rows = _names(ax.xaxis), _names(ax.yaxis)
    cells: np.ndarray[Any, Any] = np.ma.filled(np.ma.asarray(array, dtype=float), np.nan)
    for (row, column), value in np.ndenumerate(cells):
        yield {"series": "map", "x": _named(column, columns), "y": _named(row, rows), "value": value}


def _names(axis: Axis) -> dict[float, str]:
    """What stands at the ticks, where somebody has chosen it or the axis is one of words."""
    if not (_of_words(axis) or isinstance(axis.get_major_locator(), FixedLocator)):
        return {}
    texts = [label.get_text() for label in axis.get_ticklabels()]
    return dict(zip((float(place) for place in axis.get_ticklocs()), texts, strict=False))


def _named(place: float, names: dict[float, str]) -> float | str:
    """The name of the group in which something stands."""
    nearest = min(names, key=lambda tick: abs(tick - place), default=None)
    return place if nearest is None or abs(nearest - place) >= 0.5 else names[nearest].replace("\n", " ")
