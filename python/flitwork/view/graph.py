"""Places of the routers of a graph that says nothing of a shape: groups of a dragonfly, or by forces."""

from __future__ import annotations

import math
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

import networkx as nx

from flitwork.base.libraries import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Floats: TypeAlias = "NDArray[np.float64]"
Ints: TypeAlias = "NDArray[np.int64]"
#: Routers are in groups where so large a share of the channels is within groups, beyond what chance makes [modularity].
_GROUPED = 0.4
#: and each group has so large a share of the channels that could be in it.
_DENSE = 0.5
#: Sets of routers of which each has a channel to each other one, that are looked at.
_MOST_CLIQUES = 20_000
#: Most routers that are placed by all distances; more are placed by forces.
_BY_DISTANCES = 200
_SEED = 1


def graph_places(routers: int, channels: dict[str, Ints]) -> Floats:
    """Places ``[router, 2]``; neighbours are about 1 apart. The same graph always gets the same places.

    Where routers are in groups (those of a dragonfly), each group is a circle and the groups lie on a circle.
    """
    graph = nx.Graph()
    graph.add_nodes_from(range(routers))
    graph.add_edges_from(zip(channels["router"].tolist(), channels["to_router"].tolist(), strict=True))
    groups = _groups(graph)
    return _circles(graph, groups) if groups else _spread(graph)


def _groups(graph: nx.Graph) -> list[list[int]]:
    """The groups, each in order of its routers; none where there are none worth the name."""
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
    count = graph.number_of_nodes()
    if count == 1:
        return np.zeros((1, 2))
    if count <= _BY_DISTANCES and nx.is_connected(graph):
        places = nx.kamada_kawai_layout(graph)
    else:
        places = nx.spring_layout(graph, seed=_SEED, iterations=40)
    found = np.array([places[router] for router in range(count)])
    edges = np.array(graph.edges()).reshape(-1, 2)
    if not len(edges):
        return found * math.sqrt(count)
    lengths = np.linalg.norm(found[edges[:, 0]] - found[edges[:, 1]], axis=1)
    return found / max(float(np.median(lengths)), 1e-9)
