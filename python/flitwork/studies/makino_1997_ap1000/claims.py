"""Our values for the claims of ``claims.toml``."""

from __future__ import annotations

import pandas as pd

from flitwork.studies.claims import Finding
from flitwork.studies.makino_1997_ap1000.measures import (
    ABSOLUTE,
    B_NET,
    BUS,
    ONE_WAY,
    RELATIVE,
    T_NET,
    fitted,
    gains,
    least,
    lines,
    measured,
    positions,
    searched,
    totals,
)

#: Those of the paper's machine.
_CELLS = 16
_EXCHANGES = ("exchange_lengths", "exchange_cells", "exchange_total")


def claims(results: pd.DataFrame) -> list[Finding]:
    """Every claim; what was not run has no value."""
    found = {**_positions(results), **_lines(results), **_orders(results), **_search(results)}
    varied = _readings(results)
    return [
        Finding(id=name, ours=value, variants=varied if name == "TE.readings" else [])
        for name, value in {**found, "TE.readings": varied[0] if varied else None}.items()
        if value is not None
    ]


def _positions(results: pd.DataFrame) -> dict[str, float | None]:
    """Figure 2: the longest time over the shortest, less 1, of all lengths the largest."""
    found: dict[str, float | None] = {}
    for name, experiment in (("F2.host", "host_to_cell"), ("F2.cell", "cell_to_cell")):
        spread = positions(results, experiment).groupby("KiB")["us"].agg(lambda us: us.max() / us.min() - 1)
        found[name] = float(spread.max()) if len(spread) else None
    return found


def _lines(results: pd.DataFrame) -> dict[str, float | None]:
    """Figures 3 to 5: the least R squared, the floors of the hardware, and how constant a broadcast is."""
    by_length = {name: fitted(part, "linear_bytes") for name, part in lines(results, "lengths")}
    cells = dict(lines(results, "cells"))
    by_cells = {name: fitted(part, "linear_ranks") for name, part in cells.items() if name != "broadcast"}
    wanted = [fit for name, fit in by_cells.items() if name in BUS or name.endswith(f", {RELATIVE}")]
    broadcast = least(cells["broadcast"])["seconds"] if "broadcast" in cells else None
    in_all = [fitted(part, "total_exchange") for _, part in totals(results)]
    exchange = by_length.get(f"total exchange, {RELATIVE}")
    messages = {"broadcast": 1, "scatter": _CELLS - 1, "gather": _CELLS - 1}
    floors = [by_length[name].value("a") / (B_NET * messages[name]) for name in BUS if name in by_length]
    floors += [exchange.value("a") / (15 * T_NET)] if exchange else []
    return {
        "F3.linear": min((fit.r_squared for fit in by_length.values()), default=None),
        "F4.linear": min((fit.r_squared for fit in wanted), default=None),
        "F4.broadcast": float(broadcast.max() / broadcast.min() - 1) if broadcast is not None else None,
        "F5.linear": min((fit.r_squared for fit in in_all), default=None),
        "floors": min(floors, default=None),
    }


def _orders(results: pd.DataFrame) -> dict[str, float | None]:
    """Relative and absolute order: of all that was measured the most that is gained."""
    table = least(measured(results, *_EXCHANGES))
    # Two cells have one order.
    table = table[table["ranks"] > 2]
    found = gains(table)
    cell = found[found["order"] == ABSOLUTE["cell"]]
    on_all, one_way = found[found["ranks"] == _CELLS], gains(table[table["ranks"] == _CELLS], ONE_WAY)
    one_way = one_way[one_way["order"] == ABSOLUTE["cell"]]
    most = {name: on_all.loc[on_all["order"] == order, "gain"].max() for name, order in ABSOLUTE.items()}
    return {
        **{f"TE.gain.{name}": float(value) for name, value in most.items() if pd.notna(value)},
        "TE.gain.one-way": float(one_way["gain"].max()) if len(one_way) else None,
        "TE.gain.any": float(cell["gain"].max()) if len(cell) else None,
        "TE.never-longer": float((cell["gain"] >= 0).mean()) if len(cell) else None,
    }


def _search(results: pd.DataFrame) -> dict[str, float | None]:
    """Over start-up and end-point rate: the share of points at which the paper's 30 % holds within ten points."""
    table = searched(results)
    if table.empty:
        return {}
    by = ["KiB", "startup_us", "rate_mb_per_s"]
    found = gains(table, by=by)
    within = {name: found.loc[found["order"] == order, "gain"].between(0.2, 0.4) for name, order in ABSOLUTE.items()}
    one_way = gains(table, ONE_WAY, by=by)
    return {
        **{f"map.{name}": float(share.mean()) for name, share in within.items()},
        "map.one-way": float(one_way["gain"].max()),
    }


def _readings(results: pd.DataFrame) -> list[float | bool]:
    """The gain over ``cell k`` under other buffers and packets."""
    table = searched(results, "readings")
    found = gains(table, by=["reading"])
    cell = found[found["order"] == ABSOLUTE["cell"]].set_index("reading")["gain"]
    return [float(gain) for gain in cell.sort_index(key=lambda names: names != "this study")]
