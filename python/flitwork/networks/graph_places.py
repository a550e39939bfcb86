"""Where the routers of a graph are drawn that says nothing of it: in rows, in groups on a circle, or by forces.

Pictures alone depend on this.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

from flitwork import _core
from flitwork.base import extensions
from flitwork.base.libraries import np
from flitwork.networks.files import without_physical

if TYPE_CHECKING:
    import networkx as nx
    from numpy.typing import NDArray

Floats: TypeAlias = "NDArray[np.float64]"
Ints: TypeAlias = "NDArray[np.int64]"
#: Routers are in groups where so large a share of the channels is within groups, beyond what chance makes [modularity].
_GROUPED = 0.4
#: and each group has so large a share of the channels that could be in it.
_DENSE = 0.5
#: Sets of routers of which each has a channel to each other one, that are looked at.
_MOST_CLIQUES = 20_000
#: Most routers that are placed by all distances, which needs SciPy; more are placed by forces.
_BY_DISTANCES = 200
#: Distance between the rows of switches in levels [routers].
_ROW = 2.0
_SEED = 1
#: Most routers that are placed: forces take long beyond it.
_MOST_PLACED = 800


def graph_places(routers: int, channels: dict[str, Ints]) -> Floats:
    """Places ``[router, 2]``; neighbours are about 1 apart. The same graph always gets the same places.

    Where routers are in groups (those of a dragonfly), each group is a circle and the groups lie on a circle.
    """
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(range(routers))
    graph.add_edges_from(zip(channels["router"].tolist(), channels["to_router"].tolist(), strict=True))
    groups = _groups(graph)
    return _circles(graph, groups) if groups else _spread(graph)


def placed(topology: Mapping[str, Any]) -> Mapping[str, Any]:
    """``network.topology`` with a place for each router, where it is of kind ``graph`` and has none.

    Switches in levels, as leaves and spines have them, stand in rows, those with terminals below. Other graphs are as
    :func:`graph_places` has them, which needs networkx; without it they stay as they are.
    """
    if topology.get("kind") != "graph" or topology.get("positions"):
        return topology
    # The places are those of the whole network, so that pictures with and without faults can be compared.
    text = without_physical({name: value for name, value in topology.items() if name != "without"})
    channels, at = _core.channels(text), _core.terminals(text)
    routers = len(at["network_ports"])
    links = np.stack([channels["router"], channels["to_router"]], axis=1).astype(int)
    levels = _levels(routers, links.tolist(), {*at["router"].tolist()})
    if levels is not None:
        places = _rows(levels, links.tolist())
    elif extensions.is_complete("report") and routers <= _MOST_PLACED:
        places = graph_places(routers, {name: channels[name].astype(int) for name in ("router", "to_router")}).tolist()
    else:
        return topology
    return {**topology, "positions": places}


def _levels(routers: int, links: list[list[int]], with_terminals: set[int]) -> list[int] | None:
    """How many cables each router is above one with terminals; ``None`` where some cable stays within a level."""
    if len(with_terminals) == routers:
        return None
    level = [0 if router in with_terminals else -1 for router in range(routers)]
    for below in range(routers):
        above = {there for here, there in links if level[here] == below and level[there] < 0}
        for router in above:
            level[router] = below + 1
        if not above:
            break
    apart = all(abs(level[one] - level[other]) == 1 for one, other in links)
    return level if apart and min(level) == 0 else None


def _rows(levels: list[int], links: list[list[int]]) -> list[list[float]]:
    """Rows of equal width, each router near the middle of those that it is joined to below."""
    below: dict[int, list[int]] = {}
    for upper, lower in links:
        if levels[upper] > levels[lower]:
            below.setdefault(upper, []).append(lower)
    width = max(levels.count(level) for level in levels)
    x = [0.0] * len(levels)
    for level in range(max(levels) + 1):
        row = [router for router, one in enumerate(levels) if one == level]
        if level:
            row.sort(key=lambda router: (sum(x[lower] for lower in below[router]) / len(below[router]), router))
        for i, router in enumerate(row):
            x[router] = (i + 0.5) * width / len(row)
    return [[x[router], _ROW * level] for router, level in enumerate(levels)]


def _groups(graph: nx.Graph) -> list[list[int]]:
    """The groups, each in order of its routers; none where there are none worth the name."""
    import networkx as nx

    if graph.number_of_edges() < 3:
        return []
    communities = nx.community.louvain_communities(graph, seed=_SEED)
    for found in (_cliques(graph), [sorted(one) for one in communities]):
        dense = all(len(one) > 2 and nx.density(graph.subgraph(one)) >= _DENSE for one in found)
        if len(found) > 2 and dense and nx.community.modularity(graph, found) >= _GROUPED:
            return sorted(found)
    return []


def _cliques(graph: nx.Graph) -> list[list[int]]:
    """Groups in which each router has a channel to each other one, if these are all routers."""
    import networkx as nx

    largest = sorted(islice(nx.find_cliques(graph), _MOST_CLIQUES), key=lambda one: (-len(one), sorted(one)))
    found, grouped = [], set[int]()
    for one in largest:
        if len(one) > 2 and grouped.isdisjoint(one):
            found.append(sorted(one))
            grouped.update(one)
    return found if len(grouped) == graph.number_of_nodes() else []


def _circles(graph: nx.Graph, groups: list[list[int]]) -> Floats:
    largest = max(map(len, groups))
    radius = 0.5 / math.sin(math.pi / largest)
    around = max(3.0 * radius, len(groups) * 3.2 * radius / (2 * math.pi))
    found = np.zeros((graph.number_of_nodes(), 2))
    for number, group in enumerate(groups):
        turn = math.pi / 2 - 2 * math.pi * number / len(groups)
        for inner, router in enumerate(group):
            # The first router of each group is the outermost one.
            angle = turn - 2 * math.pi * inner / len(group)
            found[router] = (
                around * math.cos(turn) + radius * math.cos(angle),
                around * math.sin(turn) + radius * math.sin(angle),
            )
    return found


def _spread(graph: nx.Graph) -> Floats:
    import networkx as nx

    count = graph.number_of_nodes()
    if count == 1:
        return np.zeros((1, 2))
    if count <= _BY_DISTANCES and nx.is_connected(graph) and extensions.is_complete("fit"):
        places = nx.kamada_kawai_layout(graph)
    else:
        places = nx.spring_layout(graph, seed=_SEED, iterations=40)
    found = np.array([places[router] for router in range(count)])
    edges = np.array(graph.edges()).reshape(-1, 2)
    if not len(edges):
        return found * math.sqrt(count)
    lengths = np.linalg.norm(found[edges[:, 0]] - found[edges[:, 1]], axis=1)
    return found / max(float(np.median(lengths)), 1e-9)
