"""What the twist gains, by reading of the paper, and how near to the bound each network comes."""

from __future__ import annotations

import pandas as pd

from flitwork.studies.claims import Finding
from flitwork.studies.twisted_torus.measures import (
    LARGE,
    MANY_PORTS,
    REGULAR,
    REGULAR_HOPS,
    REGULAR_LASH,
    SMALL,
    TWISTED,
    TWISTED_HOPS,
    accepted,
    all_to_alls,
    by_steps,
    gain,
    loads,
    timetable_gain,
)

#: What claims call each size.
NAMES = {SMALL: "4x4x8", LARGE: "4x8x8"}
#: The networks that each reading compares.
_READINGS = {"": (REGULAR, TWISTED), ".lash": (REGULAR_LASH, TWISTED), ".hop-classes": (REGULAR_HOPS, TWISTED_HOPS)}
#: The networks of which each claim takes the fastest algorithm over its bound.
_FASTEST = {"regular": REGULAR, "twisted": TWISTED, "twisted.hop-classes": TWISTED_HOPS}


def claims(results: pd.DataFrame) -> list[Finding]:
    """Every claim of ``claims.toml``; what was not run has no value."""
    if not len(results):
        return []
    table = all_to_alls(results)
    runs, transit_first = by_steps(table), table[table["experiment"] == "transit_first"]
    found: dict[str, float | None] = {}
    for size, name in NAMES.items():
        for reading, nets in _READINGS.items():
            found[f"{name}{reading}"] = gain(runs, size, *nets)
        found[f"{name}.transit-first"] = gain(transit_first, size, REGULAR, TWISTED)
        found[f"{name}.timetable"] = timetable_gain(table, size)
    most = accepted(results).groupby("net")["accepted"].max()
    found["4x4x8.uniform"] = _over(most.get(TWISTED), most.get(REGULAR))
    found["4x4x8.uniform.hop-classes"] = _over(most.get(TWISTED_HOPS), most.get(REGULAR))
    found["one-port"] = gain(runs, SMALL, REGULAR, TWISTED, ports=1)
    found["one-port.hop-classes"] = gain(runs, SMALL, REGULAR_HOPS, TWISTED_HOPS, ports=1)
    found["one-port.schedules"] = timetable_gain(table, SMALL, "timetables_one_port")
    found |= _of_bounds(set(table["size"])) | _over_bounds(table) | _of_ports(table)
    return [Finding(id=name, ours=float(value)) for name, value in found.items() if pd.notna(value)]


def _of_bounds(sizes: set[str]) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    costs = []
    for size in sorted(sizes):
        regular, (lash, twisted) = loads(size, "torus")[1], loads(size, "twisted_torus")
        found[f"bound.{NAMES[size]}"] = regular / twisted
        costs.append(lash / twisted)
    return found | {"lash-load": max(costs, default=None)}


def _over_bounds(table: pd.DataFrame) -> dict[str, float | None]:
    runs = by_steps(table)
    best = runs[runs["ports"] == MANY_PORTS].groupby(["size", "net"])["ratio"].min()
    found: dict[str, float | None] = {
        f"fastest.{claim}": best.xs(net, level="net").max() for claim, net in _FASTEST.items() if (SMALL, net) in best
    }
    for experiment, claim in (("timetables", "timetables"), ("timetables_one_port", "timetables.one-port")):
        found[claim] = table[table["experiment"] == experiment]["ratio"].max()
    first = table[(table["experiment"] == "transit_first") & (table["net"] == TWISTED)]
    found["fastest.twisted.transit-first"] = first[first["ports"] == MANY_PORTS]["ratio"].max()
    vcs = table[(table["experiment"] == "vcs") & (table["net"] == TWISTED)]
    many = vcs[vcs["vcs"] == vcs["vcs"].max()]
    return found | {"many-vcs": many["ratio"].max()}


def _of_ports(table: pd.DataFrame) -> dict[str, float | None]:
    runs = table[(table["experiment"] == "small") & (table["schedule"] == "pairwise_shift")]
    times = runs.pivot_table(index="net", columns="ports", values="cycles")
    if not {1, MANY_PORTS} <= set(times.columns):
        return {}
    return {"pairwise": (times[MANY_PORTS] / times[1]).min()}


def _over(value: float | None, other: float | None) -> float | None:
    return None if value is None or other is None else value / other
