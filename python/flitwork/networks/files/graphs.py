"""Graphs of networkx, and GraphML by it.

Nodes are routers. A node whose attribute ``kind`` is ``host`` or ``terminal`` is a terminal at the router that it is
joined to; else the attribute ``terminals`` of a router says how many it has. Edges are cables, those of a directed
graph channels. Their attributes ``latency_cycles``, ``latency_ns`` and ``cycles_per_flit`` are kept, and so are the
attributes ``x`` and ``y`` of routers, their places on a page.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flitwork import _core
from flitwork.base import extensions, input_files
from flitwork.base.errors import ConfigError
from flitwork.networks.files.listed import OF_LINKS, Listed

if TYPE_CHECKING:
    import networkx

_HOSTS = ("host", "terminal")
#: Attributes of edges that keep the order of cables, which their ports follow, the end that is named first, and in
#: directed graphs which two edges make a cable; and that of nodes which keeps the number of a router.
_NUMBER, _FIRST, _CABLE, _ROUTER = "flitwork_number", "flitwork_first", "flitwork_cable", "flitwork_router"
#: Fields that a graph keeps as attributes of its own.
_OF_GRAPH = ("routers", "terminals_per_router")


def listed(graph: networkx.Graph[Any], where: str) -> Listed:
    """The network in a graph."""
    found = Listed(where)
    hosts = {}
    for node, own in graph.nodes(data=True):
        if str(own.get("kind", "")).lower() in _HOSTS:
            hosts[node] = own
            continue
        found.router(node)
        if _ROUTER in own:
            found.numbers[node] = _whole(own[_ROUTER], f"{_ROUTER} of {node}", where)
        if "terminals" in own:
            found.terminals[node] = _whole(own["terminals"], f"terminals of {node}", where)
        if "x" in own and "y" in own:
            found.positions[node] = (_real(own["x"], f"x of {node}", where), _real(own["y"], f"y of {node}", where))
    if hosts and found.terminals:
        value = f"{len(hosts)} hosts, and terminals of {next(iter(found.terminals))}"
        raise ConfigError(where, value, "either nodes of kind host, or the attribute terminals")
    edges = [*graph.edges(data=True)]
    if edges and all(_NUMBER in own for _, _, own in edges):
        edges.sort(key=lambda edge: _real(edge[2][_NUMBER], _NUMBER, where))
    at: dict[Any, Any] = {}
    cables: set[Any] = set()
    for one, other, own in edges:
        place = f"edge {one} - {other}"
        if one in hosts or other in hosts:
            host, router = (one, other) if one in hosts else (other, one)
            if router in hosts:
                raise ConfigError(where, f"{host} - {router}", "a host at a router, not at another host")
            if at.setdefault(host, router) != router:
                expected = f"a host at one router; it is at {at[host]}, too"
                raise ConfigError(where, f"{host} at {router}", expected, "write a node for each of its adapters")
            continue
        kept = {name: _link(name, own[name], place, where) for name in OF_LINKS if name in own}
        if str(own.get(_FIRST, "")) == str(other) != str(one) and not graph.is_directed():
            one, other = other, one
        if _CABLE in own and graph.is_directed():
            if own[_CABLE] not in cables:
                cables.add(own[_CABLE])
                found.cable(one, other, place, **kept)
            continue
        (found.channel if graph.is_directed() else found.cable)(one, other, place, **kept)
    for host in hosts:
        if host not in at:
            raise ConfigError(where, f"host {host}", "an edge from each host to its router")
        found.hosts.append((at[host], str(host)))
    if not cables and not graph.graph.get(_CABLE):
        found.join_directions()
    found.said = {name: _whole(graph.graph[name], name, where) for name in _OF_GRAPH if name in graph.graph}
    return found


def _link(name: str, value: Any, place: str, where: str) -> Any:
    what = f"{name} of {place}"
    return _real(value, what, where) if name == "latency_ns" else _whole(value, what, where)


def _whole(value: Any, what: str, where: str) -> int:
    number = _real(value, what, where)
    if number != int(number) or number < 0:
        raise ConfigError(where, f"{what} = {value}", "a whole number of at least 0")
    return int(number)


def _real(value: Any, what: str, where: str) -> float:
    try:
        number = float(value)
        if number == number and abs(number) < 1e18:
            return number
    except (TypeError, ValueError):
        pass
    raise ConfigError(where, f"{what} = {value}", "a number")


def read_graphml(file: Path, where: str) -> Listed:
    """The network in a GraphML file."""
    extensions.needs("report")
    import networkx

    input_files.check_memory(file, where, input_files.checked(file, where, "a GraphML file") * 50)
    with input_files.reading(file, where, "a GraphML file"):
        if file.read_bytes().count(b"<graph ") > 1:
            raise ConfigError(
                where, file, "one graph: this file has several, or graphs within nodes", "flatten it first"
            )
        return listed(networkx.read_graphml(file), where)


def graph_of(topology: dict[str, Any]) -> networkx.Graph[Any]:
    """The graph of a table ``network.topology`` of any kind; see :func:`flitwork.networks.exchange.to_networkx`."""
    extensions.needs("report")
    import networkx

    text = without_physical(topology)
    channels, at = _core.channels(text), _core.terminals(text)
    routers = len(at["network_ports"])
    names: Any = topology.get("names") or range(routers)
    router_of = at["router"].tolist()
    found = Listed()
    written = ("cables" in topology or "channels" in topology) and "without" not in topology
    if written:
        _as_written(found, topology)
    else:
        columns = ("router", "to_router", "latency_cycles", "cycles_per_flit")
        for source, target, latency, cycles in zip(*(channels[name].tolist() for name in columns), strict=True):
            own = {"latency_cycles": latency} if latency >= 0 else {}
            found.channel(source, target, "", **own, **({"cycles_per_flit": cycles} if cycles > 1 else {}))
        found.join_directions()
    directed = bool(found.channels)
    graph = networkx.MultiDiGraph() if directed else networkx.MultiGraph()
    if directed:
        graph.graph[_CABLE] = True
    hosts = terminal_names_of(topology, router_of)
    both = {str(name) for name in names} & {str(host) for host in hosts}
    if both:
        raise ConfigError("network.topology.terminal_names", min(both), "other names than those of the routers")
    counts = Counter(router_of)
    uneven = "terminals" in topology if written else len({counts[router] for router in range(routers)}) > 1
    if written:
        graph.graph.update({name: topology[name] for name in _OF_GRAPH if name in topology})
    elif not uneven:
        graph.graph.update(terminals_per_router=counts[0])
    for router in range(routers):
        place = dict(zip("xy", topology["positions"][router], strict=True)) if topology.get("positions") else {}
        count = {"terminals": counts[router]} if uneven and not hosts else {}
        graph.add_node(names[router], **{_ROUTER: router}, **place, **count)
    number = 0
    for cable, (one, other, own, _) in enumerate(found.cables):
        ends = [(one, other), (other, one)] if directed else [(one, other)]
        for source, target in ends:
            mark = {_CABLE: cable} if directed else {_FIRST: str(names[one])}
            graph.add_edge(names[source], names[target], **{_NUMBER: number}, **mark, **own)
            number += 1
    for one, other, own, _ in found.channels:
        graph.add_edge(names[one], names[other], **{_NUMBER: number}, **own)
        number += 1
    for name, router in zip(hosts, router_of, strict=False):
        graph.add_node(name, kind="host")
        graph.add_edge(names[router], name, **{_NUMBER: number})
    return graph


def terminal_names_of(topology: Mapping[str, Any], router_of: list[int]) -> Sequence[str]:
    """The names of the terminals that work, which are at the routers ``router_of``; nothing where they have none."""
    names: Sequence[str] = topology.get("terminal_names", ())
    if not names or "without" not in topology:
        return names
    whole = _core.terminals(without_physical({key: one for key, one in topology.items() if key != "without"}))
    out, working = {*topology["without"].get("terminals", ())}, {*router_of}
    at = zip(names, whole["router"].tolist(), strict=True)
    return [name for number, (name, router) in enumerate(at) if number not in out and router in working]


def without_physical(topology: Mapping[str, Any]) -> str:
    """A table ``network.topology`` as JSON without what is in ns: where channels lie does not depend on it."""
    return json.dumps({name: value for name, value in topology.items() if not name.endswith("_ns")})


def _as_written(found: Listed, topology: dict[str, Any]) -> None:
    """The cables and channels of a topology ``graph`` in their order."""
    for kind, add in (("cable", found.cable), ("channel", found.channel)):
        for i, (one, other) in enumerate(topology.get(f"{kind}s", ())):
            own = {name: topology[f"{kind}_{name}"][i] for name in OF_LINKS if topology.get(f"{kind}_{name}")}
            add(one, other, "", **own)
