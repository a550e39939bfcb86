"""The space-time diagram: what each rank does in each cycle, and the critical path across it."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from flitwork.base.libraries import np, plt
from flitwork.explain.causes import covered
from flitwork.explain.records import Ints
from flitwork.explain.stretches import Stretch
from flitwork.plot.style import style

#: Most columns of the picture, each a stretch of time.
_COLUMNS = 1600
#: Activities from the bottom up: of two in one place the later one shows.
_COLOURS = {
    "nothing": "#ffffff",
    "waiting": "#d9d9d9",
    "sending": "#56B4E9",
    "computing": "#009E73",
    "late start": "#E69F00",
}
_PATH = "#b2182b"


def space_time(
    activities: dict[str, tuple[Ints, Ints, Ints]], path: list[Stretch], ranks: int, cycles: int, title: str
) -> Figure:
    """Ranks from the top down, time to the right [cycles], coloured by what a rank does; the critical path on top.

    A rank waits where it neither computes nor sends and its program is not over. A message of the path is a line from
    its sender, when its injection port took the packet, to its receiver, when that had arrived.
    """
    columns = max(1, min(_COLUMNS, cycles))
    shown = np.zeros((ranks, columns), dtype=np.int8)
    for number, name in enumerate(_COLOURS):
        if name in activities:
            shown[covered(activities[name], ranks, columns, cycles)] = number
    with style():
        figure, ax = plt.subplots(figsize=(9.0, min(8.0, max(2.6, 1.5 + 0.22 * ranks))))
        colours = ListedColormap(list(_COLOURS.values()))
        extent = (0.0, float(max(cycles, 1)), ranks - 0.5, -0.5)
        ax.imshow(
            shown, cmap=colours, vmin=0, vmax=len(_COLOURS) - 1, aspect="auto", interpolation="nearest", extent=extent
        )
        _draw_path(ax, path)
        ax.set_xlim(0, max(cycles, 1))
        ax.set_ylim(ranks - 0.5, -0.5)
        ax.set_xlabel("time [cycles]")
        ax.set_ylabel("rank")
        ax.grid(False)
        present = [name for number, name in enumerate(_COLOURS) if number and (shown == number).any()]
        handles: list[Patch | Line2D] = [Patch(color=_COLOURS[name], label=name) for name in present]
        handles.append(Line2D([], [], color=_PATH, label="critical path"))
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), fontsize=9)
        ax.set_title(title)
    return figure


def _draw_path(ax: Axes, path: list[Stretch]) -> None:
    lines = [[(one.begin, one.rank), (one.end, one.to_rank)] for one in path]
    for width, colour in ((3.4, "white"), (1.6, _PATH)):
        ax.add_collection(LineCollection(lines, colors=colour, linewidths=width, capstyle="round", zorder=3))
