"""What a reader would not forgive in a picture, as checks of a figure: each returns the faults that it finds."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import Bbox

#: So many pixels two boxes may share: letters do not fill theirs.
_TOUCH = 2.0


def faults(figure: Figure) -> list[str]:
    """Everything that is wrong with a figure."""
    figure.canvas.draw()
    return [*_collisions(figure), *_cut(figure), *_covered(figure), *_axes(figure), *_legends(figure)]


def _texts(figure: Figure) -> Iterator[tuple[str, Bbox]]:
    """Every text that is drawn, with its box in pixels."""
    ticks: set[Text] = set()
    shown: set[Text] = set()
    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            ticks.update(label for which in ("major", "minor") for label in axis.get_ticklabels(which=which))
            low, high = sorted(axis.get_view_interval())
            if ax.get_visible() and axis.get_visible():
                for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
                    if low <= tick.get_loc() <= high:
                        shown.update(label for label in (tick.label1, tick.label2) if label.get_visible())
    for text in figure.findobj(Text):
        hidden = text in ticks and text not in shown
        parent = text.axes
        if (
            not hidden
            and text.get_visible()
            and str(text.get_text()).strip()
            and (parent is None or parent.get_visible())
        ):
            yield str(text.get_text()), text.get_window_extent()


def _collisions(figure: Figure) -> Iterator[str]:
    for (a, one), (b, other) in itertools.combinations(_texts(figure), 2):
        shared = Bbox.intersection(one, other)
        if shared is not None and shared.width > _TOUCH and shared.height > _TOUCH:
            yield f"{a!r} and {b!r} overlap"


def _cut(figure: Figure) -> Iterator[str]:
    page = figure.bbox
    for text, box in _texts(figure):
        if box.x0 < page.x0 - 1 or box.x1 > page.x1 + 1 or box.y0 < page.y0 - 1 or box.y1 > page.y1 + 1:
            yield f"{text!r} is cut at the edge of the page"


def _points(ax: Axes, line: Line2D) -> np.ndarray:
    """Pixels along a curve, where it is drawn."""
    data = line.get_transform().transform(np.asarray(line.get_xydata(), dtype=float))
    data = data[np.isfinite(data).all(axis=1)]
    if len(data) > 1 and line.get_linestyle() not in ("None", "", " "):
        steps = np.linspace(0, 1, 200)[:, None]
        data = np.concatenate([a + (b - a) * steps for a, b in itertools.pairwise(data)])
    box = ax.bbox
    inside = (
        (data[:, 0] >= box.x0 - 1)
        & (data[:, 0] <= box.x1 + 1)
        & (data[:, 1] >= box.y0 - 1)
        & (data[:, 1] <= box.y1 + 1)
    )
    found: np.ndarray = data[inside]
    return found


def _covered(figure: Figure) -> Iterator[str]:
    """Legends, and words within a panel, that a curve crosses."""
    for ax in figure.axes:
        legend = ax.get_legend()
        boxes = [(f"the legend of {ax.get_title()!r}", legend.get_window_extent())] if legend else []
        boxes += [(repr(text.get_text()), text.get_window_extent()) for text in ax.texts if text.get_text()]
        for line in ax.get_lines():
            points = _points(ax, line)
            for name, box in boxes:
                if len(points):
                    within = (points > [box.x0 + 1, box.y0 + 1]) & (points < [box.x1 - 1, box.y1 - 1])
                    if within.all(axis=1).any():
                        yield f"{name} is crossed by {line.get_label()!r}"


def _axes(figure: Figure) -> Iterator[str]:
    """Panels whose axes have no name, and curves of one look."""
    for ax in figure.axes:
        if not ax.get_visible() or not (ax.lines or ax.patches):
            continue
        for which, axis in (("x", ax.xaxis), ("y", ax.yaxis)):
            shared = [other for other in _shared(ax, which) if getattr(other, f"{which}axis").label.get_text()]
            words = [label.get_text() for label in axis.get_ticklabels() if label.get_text()]
            named = any(not _is_number(word) for word in words)
            if words and not shared and not named:
                yield f"the {which} axis of {ax.get_title()!r} has no name"
        looks: dict[tuple[object, ...], str] = {}
        for line in ax.get_lines():
            label = str(line.get_label())
            look = (line.get_color(), line.get_linestyle(), line.get_marker(), line.get_markerfacecolor())
            if not label.startswith("_") and looks.setdefault(look, label) != label:
                yield f"{label!r} looks like {looks[look]!r}"


def _shared(ax: Axes, which: str) -> list[Axes]:
    siblings = ax.get_shared_x_axes() if which == "x" else ax.get_shared_y_axes()
    return [ax, *siblings.get_siblings(ax)]


def _is_number(word: str) -> bool:
    return word.replace("−", "-").replace(",", "").lstrip("-").replace(".", "", 1).isdigit() or word.startswith("$")


def _legends(figure: Figure) -> Iterator[str]:
    """Names in legends that no picture has: error bars where there are none, bars and curves that cannot be seen."""
    legends = [legend for ax in figure.axes if (legend := ax.get_legend())] + list(figure.legends)
    if any(len(ax.get_legend_handles_labels()[1]) > 1 for ax in figure.axes) and not legends:
        yield "several curves and no legend"
    named = {text.get_text() for legend in legends for text in legend.get_texts()}
    for ax in figure.axes:
        for bars in ax.containers:
            if isinstance(bars, ErrorbarContainer) and bars.has_yerr and str(bars.get_label()) in named:
                lengths = [np.ptp(segment[:, 1]) for stem in bars.lines[2] for segment in stem.get_segments()]
                if not any(length > 0 for length in lengths):
                    yield f"{bars.get_label()!r} has error bars in the legend only"
    for legend in legends:
        yield from _twice(legend)


def _twice(legend: Legend) -> Iterator[str]:
    texts = [text.get_text() for text in legend.get_texts()]
    for text in {text for text in texts if texts.count(text) > 1}:
        yield f"{text!r} stands twice in a legend"
