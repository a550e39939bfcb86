"""Communicators on graphs: one that all ranks know, and one of which each rank knows its own neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from flitwork_mpi.programs.channel import new_context
from flitwork_mpi.programs.comm import COMM_NULL, Comm
from flitwork_mpi.programs.errors import fault
from flitwork_mpi.programs.neighbours import Topocomm
from flitwork_mpi.programs.status import PROC_NULL, UNDEFINED
from flitwork_mpi.programs.world import me

GRAPH, DIST_GRAPH = 2, 3


class _Weights:
    """``MPI.UNWEIGHTED`` and ``MPI.WEIGHTS_EMPTY``."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


UNWEIGHTED, WEIGHTS_EMPTY = _Weights("MPI.UNWEIGHTED"), _Weights("MPI.WEIGHTS_EMPTY")


class Graphcomm(Topocomm):
    """Ranks on a graph that all of them know: the neighbours of rank ``r`` are ``edges[index[r - 1]:index[r]]``."""

    topology = GRAPH

    index: list[int]
    edges: list[int]

    @classmethod
    def on(cls, ranks: Sequence[int], context: int, index: list[int], edges: list[int]) -> Graphcomm:
        """The ranks of a communicator on a graph."""
        made = cls(ranks, context)
        made.index, made.edges = index, edges
        return made

    def _copied(self, ranks: Sequence[int], context: int) -> Comm:
        made = self._alike(ranks, context)
        made.index, made.edges = self.index, self.edges
        return made

    def Get_dims(self) -> tuple[int, int]:
        """How many nodes and edges."""
        return len(self.index), len(self.edges)

    dims = property(Get_dims)

    @property
    def nnodes(self) -> int:
        """How many nodes."""
        return len(self.index)

    @property
    def nedges(self) -> int:
        """How many edges."""
        return len(self.edges)

    def Get_topo(self) -> tuple[list[int], list[int]]:
        """The graph: where the neighbours of each rank end, and all of them."""
        return list(self.index), list(self.edges)

    topo = property(Get_topo)

    def Get_neighbors(self, rank: int) -> list[int]:
        """The neighbours of a rank."""
        if not 0 <= rank < len(self.index):
            raise fault("RANK", f"rank {rank} of a graph of {len(self.index)} nodes")
        first = self.index[rank - 1] if rank else 0
        return self.edges[first : self.index[rank]]

    def Get_neighbors_count(self, rank: int) -> int:
        """How many neighbours a rank has."""
        return len(self.Get_neighbors(rank))

    @property
    def neighbors(self) -> list[int]:
        """The neighbours of who calls."""
        return self.Get_neighbors(self.Get_rank())

    @property
    def nneighbors(self) -> int:
        """How many neighbours who calls has."""
        return len(self.neighbors)

    @property
    def inoutedges(self) -> tuple[list[int], list[int]]:
        """The neighbours of who calls, as sources and as destinations."""
        return self.neighbors, self.neighbors


@dataclass(frozen=True)
class _Around:
    """Whom a rank hears from, and whom it tells; the weights of both, if there are any."""

    sources: list[int]
    destinations: list[int]
    weights: tuple[list[int], list[int]] | None


class Distgraphcomm(Topocomm):
    """Ranks on a directed graph, of which each knows its own edges."""

    topology = DIST_GRAPH

    _around: _Around

    @classmethod
    def on(cls, ranks: Sequence[int], context: int, around: _Around) -> Distgraphcomm:
        """The ranks of a communicator on a graph, of which each gives its own edges."""
        made = cls(ranks, context)
        made._around = around
        return made

    def _copied(self, ranks: Sequence[int], context: int) -> Comm:
        made = self._alike(ranks, context)
        made._around = self._around
        return made

    def Get_dist_neighbors_count(self) -> tuple[int, int, bool]:
        """How many sources and destinations, and whether edges have weights."""
        return (*self.degrees, self._around.weights is not None)

    def Get_dist_neighbors(self) -> tuple[list[int], list[int], tuple[list[int], list[int]] | None]:
        """Sources, destinations, and the weights of both (``None`` where there are none)."""
        return list(self._around.sources), list(self._around.destinations), self._around.weights

    @property
    def inoutedges(self) -> tuple[list[int], list[int]]:
        """The neighbours of who calls, as sources and as destinations."""
        return list(self._around.sources), list(self._around.destinations)


def on_graph(comm: Comm, index: Sequence[int], edges: Sequence[int]) -> Comm:
    """The ranks of a communicator on a graph; those that are too many get ``MPI.COMM_NULL``."""
    ends, others = _graph(comm, index, edges)
    _, call = comm._agreed("Create_graph", None)
    if comm._rank(me()) >= len(ends):
        return COMM_NULL
    context = new_context(me().world, (comm._context, call, "graph"))
    return Graphcomm.on([*comm._ranks(me())[: len(ends)]], context, ends, others)


def mapped(comm: Comm, index: Sequence[int], edges: Sequence[int]) -> int:
    """The rank that who calls would have on a graph."""
    ends, _ = _graph(comm, index, edges)
    rank = comm._rank(me())
    return rank if rank < len(ends) else UNDEFINED


def _graph(comm: Comm, index: Sequence[int], edges: Sequence[int]) -> tuple[list[int], list[int]]:
    """Where the neighbours of each node end, and all of them."""
    ends, ranks = [int(end) for end in index], comm._size(me())
    others = [int(rank) for rank in edges]
    # An index that begins with 0 is that of a sparse matrix: it has one entry more.
    if ends and ends[0] == 0 and ends[-1] == len(others):
        ends = ends[1:]
    if len(ends) > ranks:
        raise fault("ARG", f"a graph of {len(ends)} nodes, for {ranks} ranks")
    if any(low > high for low, high in pairwise([0, *ends])) or (ends[-1] if ends else 0) != len(others):
        raise fault("ARG", f"the index {ends} does not rise to the number of edges, {len(others)}")
    return ends, _checked(others, len(ends), "an edge")


def on_adjacent(comm: Comm, sources: Any, destinations: Any, source_weights: Any, weights: Any) -> Distgraphcomm:
    """Each rank says whom it hears from, and whom it tells."""
    ranks = comm._ranks(me())
    come = _checked([int(rank) for rank in sources or ()], len(ranks), "a source")
    go = _checked([int(rank) for rank in destinations or ()], len(ranks), "a destination")
    both = _weights(source_weights, len(come)), _weights(weights, len(go))
    # Where there are no edges there is nothing to weigh.
    heavy = any(one is not None for one in both)
    kept = (both[0] or [], both[1] or []) if heavy else None
    _, call = comm._agreed("Create_dist_graph_adjacent", None)
    context = new_context(me().world, (comm._context, call, "adjacent"))
    return Distgraphcomm.on([*ranks], context, _Around(come, go, kept))


def on_edges(comm: Comm, sources: Any, degrees: Any, destinations: Any, weights: Any) -> Distgraphcomm:
    """Each rank names some edges of the graph, those of others, too."""
    ranks = comm._ranks(me())
    begins = _checked([int(rank) for rank in sources], len(ranks), "a source")
    counts = [int(degrees)] * len(begins) if isinstance(degrees, int) else [int(count) for count in degrees]
    ends = _checked([int(rank) for rank in destinations], len(ranks), "a destination")
    if len(counts) != len(begins) or sum(counts) != len(ends):
        raise ValueError(f"{len(begins)} sources with {sum(counts)} edges in all, and {len(ends)} destinations")
    heavy = _weights(weights, len(ends))
    firsts = [source for source, count in zip(begins, counts, strict=True) for _ in range(count)]
    named = [*zip(firsts, ends, heavy or [1] * len(ends), strict=True)]
    gathered, call = comm._agreed("Create_dist_graph", (named, heavy is not None))
    edges, mine = [edge for some, _ in gathered for edge in some], comm._rank(me())
    come = [(source, weight) for source, to, weight in edges if to == mine]
    go = [(to, weight) for source, to, weight in edges if source == mine]
    kept = ([weight for _, weight in come], [weight for _, weight in go]) if any(one for _, one in gathered) else None
    around = _Around([rank for rank, _ in come], [rank for rank, _ in go], kept)
    return Distgraphcomm.on([*ranks], new_context(me().world, (comm._context, call, "edges")), around)


def _weights(given: Any, count: int) -> list[int] | None:
    """The weights of so many edges; ``None`` where they have none."""
    if given is None or given is UNWEIGHTED:
        return None
    if given is WEIGHTS_EMPTY:
        if count:
            raise ValueError(f"MPI.WEIGHTS_EMPTY for {count} edges")
        return []
    found = [int(given)] * count if isinstance(given, int) else [int(weight) for weight in given]
    if len(found) != count:
        raise ValueError(f"{len(found)} weights for {count} edges")
    return found


def _checked(ranks: list[int], count: int, what: str) -> list[int]:
    for rank in ranks:
        if rank != PROC_NULL and not 0 <= rank < count:
            raise fault("RANK", f"{what} is {rank}, of {count} ranks")
    return ranks
