"""How figures look: colours that colour-blind readers can tell apart, marks that differ too, readable labels."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal, TypeVar

import matplotlib.pyplot as plt
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatter
from pandas import DataFrame

from flitwork.base.errors import ConfigError
from flitwork.base.output_files import write_atomically, write_csv
from flitwork.plot.drawn import drawn_numbers

T = TypeVar("T")

#: Okabe and Ito's palette without yellow, which is too pale for lines.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
#: Seven more for figures with many lines, after Tol's muted palette; none is also in ``COLOURS``.
MORE_COLOURS = ("#332288", "#882255", "#117733", "#999933", "#44AA99", "#AA4499", "#7F7F7F")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
#: For loads: perceptually uniform, readable in grey.
LOAD_MAP = "viridis"
#: For channels without any load.
IDLE = "0.86"

_RC: dict[Any, Any] = {
    "figure.figsize": (6.4, 4.2),
    "figure.dpi": 110,
    "savefig.dpi": 150,
    "figure.constrained_layout.use": True,
    "font.size": 11,
    "axes.titlesize": 12,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.alpha": 0.3,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "lines.markersize": 5.5,
    "svg.fonttype": "none",
    "svg.hashsalt": "flitwork",
    "axes.prop_cycle": cycler(color=COLOURS),
}


@contextmanager
def style() -> Iterator[None]:
    """Inside, figures look like flitwork's."""
    with plt.rc_context(_RC):
        yield


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """``name.png`` and ``name.svg`` in ``folder``, and beside them ``name.csv`` with the numbers; closes the figure.

    Gives the paths of the pictures. Files that are there are replaced.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*constrained_layout.*")
        png = write_atomically(folder / f"{name}.png", lambda file: figure.savefig(file, format="png"))
        # Its layout is kept: finding it takes as long as drawing.
        figure.set_layout_engine("none")
        svg = write_atomically(
            folder / f"{name}.svg", lambda file: figure.savefig(file, format="svg", metadata={"Date": None})
        )
    numbers = drawn_numbers(figure)
    if len(numbers):
        write_csv(numbers, folder / f"{name}.csv")
    plt.close(figure)
    return [png, svg]


def forget(folder: Path, name: str) -> None:
    """Removes the pictures that an earlier run left under a name that has no picture now."""
    for ending in ("png", "svg", "gif", "csv"):
        with suppress(OSError):
            (folder / f"{name}.{ending}").unlink(missing_ok=True)


def save_with_tables(figure: Figure, name: str, tables: Mapping[str, DataFrame], folder: Path) -> list[Path]:
    """Each of ``tables`` as CSV and the figure ``name`` in ``folder``."""
    written = [write_csv(table, folder / f"{title}.csv") for title, table in tables.items()]
    return [*written, *save(figure, folder, name)]


def together(name: str, first: T, compared: Mapping[str, T]) -> dict[str, T]:
    """What is drawn in one figure, by the name in the legend: ``first`` first, then what it is compared with."""
    for other, value in compared.items():
        if other == name:
            hint = f"this one is called {name} already; write {name}_2=..., for example"
            raise ConfigError(f"plot.{other}", "given", "a name that nothing else in the figure has", hint)
        if not isinstance(value, type(first)):
            raise ConfigError(f"plot.{other}", repr(value), f"a {type(first).__name__} to draw beside this one")
    return {name: first, **compared}


class _Plain(LogFormatter):
    """Numbers as they are, where they would stand as ``5 x 10^0``."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        return f"{x:,.6g}" if super().__call__(x, pos) else ""


def logarithmic(ax: Axes, which: Literal["x", "y"]) -> None:
    """Makes an axis logarithmic; its numbers are written out."""
    if which == "x":
        ax.set_xscale("log")
    else:
        ax.set_yscale("log")
    axis = ax.xaxis if which == "x" else ax.yaxis
    axis.set_major_formatter(_Plain())
    axis.set_minor_formatter(_Plain(minor_thresholds=(1, 0.4)))
