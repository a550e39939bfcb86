"""What the paper says of its lines and orders, asked of the machine that was measured: values for ``on_mpi.toml``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import pandas as pd
from flitwork.studies.claims import Finding
from flitwork.studies.makino_1997_ap1000.measures import ABSOLUTE, RELATIVE, gains, least

#: What is shown of an operation: over what, its name and its times.
Series: TypeAlias = "tuple[str, str, pd.DataFrame]"
_LINES_OVER_RANKS = ("scatter", "gather", f"total exchange, {RELATIVE}")


def claims(series: Sequence[Series], fits: pd.DataFrame) -> list[Finding]:
    """A value for every claim; what was not measured has none."""
    of_cells = fits[(fits["over"] == "cells") & fits["what"].isin(_LINES_OVER_RANKS)]
    found = {
        "here.F2": _spread(part for over, _, one in series if over == "peers" for _, part in one.groupby("bytes")),
        "here.F3.linear": _least_r_squared(fits[fits["over"] == "lengths"]),
        "here.F4.linear": _least_r_squared(of_cells),
        "here.F4.broadcast": _spread(one for over, name, one in series if (over, name) == ("cells", "broadcast")),
        "here.F5.linear": _least_r_squared(fits[fits["over"] == "total"]),
        **_orders(measured_gains(series)),
    }
    return [Finding(id=name, ours=value) for name, value in found.items() if value is not None]


def measured_gains(series: Sequence[Series]) -> pd.DataFrame:
    """By how much relative order is shorter than each absolute one: bytes, ranks, gain, order."""
    parts = [part for over, name, part in series if over in ("lengths", "cells") and name.startswith("total")]
    table = least(pd.concat(parts))
    # Two ranks have one order.
    return gains(table[table["ranks"] > 2])


def _spread(parts: Iterable[pd.DataFrame]) -> float | None:
    """The longest time over the shortest, less 1: of all parts the largest."""
    found = [float(part["seconds"].max() / part["seconds"].min() - 1) for part in parts if len(part) > 1]
    return max(found, default=None)


def _least_r_squared(fits: pd.DataFrame) -> float | None:
    return float(fits["R², here"].min()) if len(fits) else None


def _orders(found: pd.DataFrame) -> dict[str, float | None]:
    on_all = found[found["ranks"] == found["ranks"].max()]
    most = {name: on_all.loc[on_all["order"] == order, "gain"].max() for name, order in ABSOLUTE.items()}
    cell = found.loc[found["order"] == ABSOLUTE["cell"], "gain"]
    return {
        **{f"here.gain.{name}": float(value) if pd.notna(value) else None for name, value in most.items()},
        "here.never-longer": float((cell >= 0).mean()) if len(cell) else None,
    }
