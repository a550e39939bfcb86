"""Equal-cost multi-path routing: loads of channels against those of flows spread evenly over all shortest paths."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from flitwork import _core
from flitwork.base.libraries import np
from flitwork.networks.faults import working_topology
from flitwork.results.result import Result

if TYPE_CHECKING:
    from numpy.typing import NDArray

Floats: TypeAlias = "NDArray[np.float64]"
#: Most routers of a network for which loads are added up.
_MOST_ROUTERS = 2048


@dataclass(frozen=True)
class Collisions:
    """The busiest channel of a run, and of its packets spread evenly."""

    router: int
    port: int
    #: What it carried, and what the busiest channel would carry with even shares [flits].
    flits: int
    even_flits: float


def collisions(result: Result) -> Collisions | None:
    """The collisions of a run that recorded packets; ``None`` if its routing is not ``ecmp`` or it has no packets."""
    routing = result.spec["network"].get("routing") or {}
    packets, channels = result.packets, result.channels
    if routing.get("kind") != "ecmp" or packets.empty or channels.empty:
        return None
    router_of = _core.terminals(json.dumps(working_topology(result.spec["network"])))["router"].astype(np.int64)
    routers = int(max(router_of.max(), channels["router"].max(), channels["to_router"].max())) + 1
    if routers > _MOST_ROUTERS:
        return None
    # What was still on its way at the end may or may not have passed a channel.
    packets = packets[packets["arrived_cycle"].notna()]
    demand: Floats = np.zeros((routers, routers))
    np.add.at(demand, (router_of[packets["src"]], router_of[packets["dst"]]), packets["flits"].to_numpy(float))
    even = even_loads(channels["router"].to_numpy(np.int64), channels["to_router"].to_numpy(np.int64), demand)
    busiest = int(channels["flits"].to_numpy().argmax())
    row: Any = channels.iloc[busiest]
    return Collisions(int(row["router"]), int(row["port"]), int(row["flits"]), float(even.max()))


def even_loads(tails: NDArray[np.int64], heads: NDArray[np.int64], demand: Floats) -> Floats:
    """Flits on each channel if every router divides what it sends on evenly among the channels on shortest paths.

    ``tails`` and ``heads``: the routers at both ends of each channel; ``demand[source router, destination router]``.
    """
    loads: Floats = np.zeros(len(tails))
    for dst in np.flatnonzero(demand.sum(axis=0)):
        hops = _hops_to(int(dst), tails, heads, len(demand))
        nearer = np.flatnonzero((hops[tails] > 0) & (hops[heads] == hops[tails] - 1))
        share = 1.0 / np.maximum(np.bincount(tails[nearer], minlength=len(demand)), 1)
        flow: Floats = demand[:, dst].copy()
        flow[dst] = 0.0
        # From the farthest routers on: what comes to a router is complete before it is divided.
        for away in range(int(hops.max()), 0, -1):
            here = nearer[hops[tails[nearer]] == away]
            sent = flow[tails[here]] * share[tails[here]]
            loads[here] += sent
            np.add.at(flow, heads[here], sent)
    return loads


def _hops_to(dst: int, tails: NDArray[np.int64], heads: NDArray[np.int64], routers: int) -> NDArray[np.int64]:
    """Channels from each router to ``dst`` on a shortest path; -1 where there is none."""
    hops = np.full(routers, -1, dtype=np.int64)
    hops[dst] = 0
    away = 0
    while True:
        away += 1
        found = tails[(hops[heads] == away - 1) & (hops[tails] == -1)]
        if not len(found):
            return hops
        hops[found] = away
