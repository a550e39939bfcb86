"""How figures look: colours that colour-blind readers can tell apart, marks that differ too, readable labels."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib

from flitwork.files import write_atomically

matplotlib.use("Agg", force=False)

import matplotlib.pyplot as plt
from cycler import cycler
from matplotlib.figure import Figure

#: Okabe and Ito's palette without yellow, which is too pale for lines.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
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
    """``name.png`` and ``name.svg`` in ``folder``; closes the figure."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*constrained_layout.*")
        paths = [
            write_atomically(folder / f"{name}.png", lambda file: figure.savefig(file, format="png")),
            write_atomically(
                folder / f"{name}.svg", lambda file: figure.savefig(file, format="svg", metadata={"Date": None})
            ),
        ]
    plt.close(figure)
    return paths
