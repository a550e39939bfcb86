"""Networks from files and graphs, and into them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flitwork.base.errors import ConfigError
from flitwork.base.output_files import write_atomically
from flitwork.networks.faults import working_topology
from flitwork.networks.files import are_forwarding_tables, graph_of, listed
from flitwork.networks.network import Network, check_network

if TYPE_CHECKING:
    import networkx

__all__ = ["from_networkx", "read_network", "to_networkx", "write_network"]


def read_network(
    file: str | os.PathLike[str], /, *, forwarding: str | os.PathLike[str] | None = None, **options: Any
) -> Network:
    """A network from a file: ``fw.read_network("cluster.ibnet", router=fw.Router(vcs=4))``.

    Formats: GraphML, an edge list in CSV (``a,b`` a line for a cable, or columns ``from,to`` for channels, with further
    columns ``latency_cycles``, ``latency_ns``, ``cycles_per_flit``, ``cables``), what ``ibnetdiscover`` prints, nets of
    ibsim, BookSim's anynet, fat trees of htsim (``.topo``), and networks of ASTRA-sim's analytical backend (YAML). The
    contents decide which it is. Names of routers and terminals are kept. The last two say how fast channels are: that
    sets ``units.channel_bytes_per_s``, with flits of 64 bytes, if ``units`` does not say it.

    ``forwarding`` is a file with the forwarding tables of the switches, as ``ibroute``, ``dump_lfts.sh``, ``dump_fts``
    or opensm print them, beside what ``ibnetdiscover`` prints. The routing is then ``table``.

    ``options`` are those of ``fw.Graph``: ``router``, ``routing``, ``channel`` and others; ``terminals_per_router`` if
    the file does not say which terminals there are (default 1). A file that cannot be used is a
    :class:`~flitwork.ConfigError` with the line.
    """
    if not isinstance(file, (str, os.PathLike)):
        raise ConfigError("file", repr(file), "the name of a file")
    if forwarding is not None:
        if not isinstance(forwarding, (str, os.PathLike)):
            raise ConfigError("forwarding", repr(forwarding), "the name of a file")
        if "routing" in options:
            raise ConfigError(
                "forwarding", forwarding, "either forwarding tables or routing", "take one of the two out"
            )
        if not are_forwarding_tables(Path(forwarding)):
            raise ConfigError("forwarding", forwarding, "forwarding tables as ibroute prints them: Unicast lids [...]")
        options["routing"] = {"kind": "table", "file": forwarding}
    return Network("graph", file=file, **options)


def write_network(network: Network, file: str | os.PathLike[str], /) -> Path:
    """Writes the routers, cables and terminals of a network as GraphML, which :func:`read_network` reads back.

    A network of kind ``graph`` that is read back is the same one: its plans have the same hash. Any other topology is
    read back as a ``graph`` with its routers and cables. What is not of the topology (buffers, routing) is not written.
    Needs networkx.
    """
    path = Path(file)
    if path.suffix.lower() != ".graphml":
        raise ConfigError("file", file, "a name that ends in .graphml")
    graph = to_networkx(network)
    import networkx

    return write_atomically(path, lambda handle: networkx.write_graphml(graph, handle))


def from_networkx(graph: networkx.Graph[Any], /, **options: Any) -> Network:
    """A network from a graph of networkx: ``fw.from_networkx(networkx.petersen_graph(), router=fw.Router(vcs=4))``.

    Nodes are routers, edges cables; in a directed graph edges are channels, and two opposite ones that are alike make a
    cable. Parallel edges of a multigraph are parallel cables. A node with ``kind="host"`` is a terminal at the router
    that it is joined to; without such nodes the node attribute ``terminals`` says how many terminals a router has, and
    without any of these each has ``terminals_per_router`` (default 1). Edge attributes: ``latency_cycles`` [cycles],
    ``latency_ns`` [ns], ``cycles_per_flit``. Node attributes ``x`` and ``y``: the place on a page.

    ``options`` are those of ``fw.Graph``: ``router``, ``routing``, ``channel`` and others. A graph that makes no
    network is a :class:`~flitwork.ConfigError`.
    """
    if isinstance(graph, type) or not hasattr(graph, "is_directed") or not hasattr(graph, "is_multigraph"):
        raise ConfigError("graph", type(graph).__name__, "a graph of networkx")
    return Network("graph", **{**listed(graph, "graph").fields(), **options})


def to_networkx(network: Network) -> networkx.Graph[Any]:
    """The routers, cables and terminals of a network as a graph of networkx, which :func:`from_networkx` reads back.

    Any topology will do. The graph is undirected (a ``MultiGraph``) if every channel has its opposite, else directed.
    Nodes are the names of the routers, or their numbers. Terminals with names are nodes of ``kind="host"``; else the
    attribute ``terminals`` of a node counts them, or ``terminals_per_router`` of the graph if all are alike. Edges keep
    ``latency_cycles`` and ``cycles_per_flit`` where these differ from the others.
    """
    check_network(network)
    return graph_of(working_topology(network.spec))
