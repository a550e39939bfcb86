"""Times of the study as a table for fits, the least of ten measurements, and what orders of a total exchange gain."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from flitwork.fit import Fit, fit_model
from flitwork.studies.rows import rows as rows_where

RELATIVE, ONE_WAY = "relative", "relative, one way"
#: The orders of absolute designation, none of which the paper names.
ABSOLUTE = {"cell": "absolute: cell k", "shift": "absolute: me + k", "xor": "absolute: me XOR k"}
#: By the bus, by figures 3 and 4.
BUS = ("broadcast", "scatter", "gather")
#: Times per byte that the hardware cannot beat [s/B].
T_NET, B_NET = 40e-9, 20e-9
_SAME = ["operation", "order", "bytes", "ranks"]


def rows(results: pd.DataFrame, experiment: str) -> pd.DataFrame:
    """The runs of an experiment that ended."""
    found = rows_where(results, {"experiment": experiment})
    return found[found["us"].notna()] if "us" in found else found.iloc[:0]


def measured(results: pd.DataFrame, *experiments: str) -> pd.DataFrame:
    """A row a run of these experiments: operation, order, bytes, ranks, seconds, seed."""
    table = pd.concat([rows(results, name) for name in experiments])
    if table.empty:
        return pd.DataFrame(columns=[*_SAME, "seconds", "seed"])
    order = table["order"].fillna("") if "order" in table else ""
    return pd.DataFrame(
        {
            "operation": table["workload.operation"],
            "order": order,
            "bytes": table["message_bytes"].astype(float),
            "ranks": (2 * table["columns"]).astype(int),
            "seconds": table["us"].astype(float) * 1e-6,
            "seed": table["seed"],
        }
    )


def least(table: pd.DataFrame) -> pd.DataFrame:
    """The paper's rule: of all measurements of one thing the least."""
    return table.groupby(_SAME)["seconds"].min().reset_index()


def fitted(table: pd.DataFrame, model: str) -> Fit:
    """A model on the least times of one operation and one order."""
    return fit_model(least(table)[["bytes", "ranks", "seconds"]], model)


def lines(results: pd.DataFrame, what: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """What figure 3 (``what`` is ``lengths``) or 4 (``cells``) shows of each operation: its name and its times."""
    by_bus = measured(results, what)
    for operation in BUS:
        part = by_bus[by_bus["operation"] == operation]
        if len(part):
            yield operation, part
    exchanges = measured(results, f"exchange_{what}")
    for order in (RELATIVE, *ABSOLUTE.values()):
        part = exchanges[exchanges["order"] == order]
        if len(part):
            yield f"total exchange, {order}", part


def totals(results: pd.DataFrame, order: str = RELATIVE) -> Iterator[tuple[int, pd.DataFrame]]:
    """What figure 5 shows: each total size [KiB] and the times of one order."""
    table = rows(results, "exchange_total")
    if table.empty:
        return
    table = table[table["order"] == order]
    for size in sorted(table["total_KiB"].unique()):
        yield int(size), measured(table[table["total_KiB"] == size], "exchange_total")


def positions(results: pd.DataFrame, experiment: str) -> pd.DataFrame:
    """Figure 2: the least time [us] by length and cell."""
    table = rows(results, experiment)
    if table.empty:
        return pd.DataFrame(columns=["KiB", "cell", "us"])
    return table.groupby(["KiB", "cell"])["us"].min().reset_index()


def one_message(results: pd.DataFrame) -> pd.DataFrame:
    """The least times of a message from cell 0 to the last cell over the torus, as a table for fits."""
    table = rows(results, "cell_to_cell")
    if table.empty:
        return pd.DataFrame(columns=[*_SAME, "seconds"])
    last = table[table["cell"] == table["cell"].max()]
    return pd.DataFrame(
        {
            "operation": "point_to_point",
            "order": "",
            "bytes": 1024.0 * last["KiB"],
            "ranks": 2,
            "seconds": 1e-6 * last["us"].astype(float),
        }
    )


def gains(table: pd.DataFrame, relative: str = RELATIVE, by: list[str] | None = None) -> pd.DataFrame:
    """By how much relative order is shorter than each absolute one: columns of ``by``, order, gain.

    ``table`` has the least time of each order in a column ``seconds``.
    """
    keys = by or ["bytes", "ranks"]
    wide = table.pivot_table(index=keys, columns="order", values="seconds", aggfunc="min")
    found = [
        (1 - wide[relative] / wide[name]).dropna().rename("gain").reset_index().assign(order=name)
        for name in ABSOLUTE.values()
        if relative in wide and name in wide
    ]
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=[*keys, "gain", "order"])


def searched(results: pd.DataFrame, experiment: str = "search") -> pd.DataFrame:
    """The search without noise: KiB, start-up [us], rate of an end [MB/s], order, seconds."""
    table = rows(results, experiment)
    if table.empty:
        return pd.DataFrame(columns=["KiB", "startup_us", "rate_mb_per_s", "order", "seconds", "reading"])
    return pd.DataFrame(
        {
            "KiB": table["KiB"],
            "startup_us": 0.16 * table["startup_cycles"],
            "rate_mb_per_s": 25 * table["host.read_flits_per_cycle"].clip(upper=1000),
            "order": table["order"],
            "seconds": 1e-6 * table["us"],
            "reading": table.get("reading", ""),
        }
    )
