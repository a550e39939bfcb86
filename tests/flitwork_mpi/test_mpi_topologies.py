"""Grids and graphs of simulated ranks, and collectives among neighbours."""

from __future__ import annotations

from typing import Any

import flitwork as fw
import numpy as np
import pytest
from flitwork_mpi.programs import MPI

#: A star of four: the middle knows all, the others the middle.
STAR = [3, 4, 5, 6], [1, 2, 3, 0, 0, 0]


def on_ring(comm: Any) -> Any:
    """Every rank hears from the one before it, and from the one before that."""
    before, behind = [(comm.rank - d) % comm.size for d in (1, 2)], [(comm.rank + d) % comm.size for d in (1, 2)]
    return comm.Create_dist_graph_adjacent(before, behind)


TOPOLOGIES = {
    "grid": lambda comm: comm.Create_cart([comm.size], periods=True),
    "graph": lambda comm: comm.Create_graph(*STAR),
    "distributed graph": on_ring,
}


@pytest.mark.parametrize("kind", TOPOLOGIES)
@pytest.mark.parametrize("way", ["", "I", "init"])
def test_neighbours_get_what_is_theirs(kind: str, way: str) -> None:
    """Who sends what to whom is written down by all, and compared with what came."""

    def call(near: Any, name: str, *given: Any) -> None:
        if way == "init":
            request = getattr(near, f"{name}_init")(*given)
            for _ in range(2):
                request.Start()
                request.Wait()
            request.Free()
        elif way == "I":
            getattr(near, f"I{name[0].lower()}{name[1:]}")(*given).Wait()
        else:
            getattr(near, name)(*given)

    def program(comm: Any) -> None:
        near = TOPOLOGIES[kind](comm)
        rank, (sources, destinations) = near.rank, near.inoutedges
        assert (near.indegree, near.outdegree) == near.degrees == (len(sources), len(destinations))
        assert near.is_topo and near.Get_topology() == near.topology and near.inedges == sources
        room = np.full(2 * len(sources), -1.0)
        call(near, "Neighbor_allgather", np.array([rank, rank + 0.5]), room)
        gathered = [number for source in sources for number in (source, source + 0.5)]
        assert room.tolist() == gathered
        counts, places = [2] * len(sources), [2 * at for at in range(len(sources))]
        room[:] = -1
        call(near, "Neighbor_allgatherv", np.array([rank, rank + 0.5]), [room, counts, places, MPI.DOUBLE])
        assert room.tolist() == gathered
        # A number that says from whom to whom.
        given = np.array([10.0 * rank + to for to in destinations])
        expected = [10.0 * source + rank for source in sources]
        got = np.full(len(sources), -1.0)
        call(near, "Neighbor_alltoall", given, got)
        assert got.tolist() == expected
        got[:] = -1
        ones = [[1] * len(given), [*range(len(given))]], [[1] * len(got), [*range(len(got))]]
        call(near, "Neighbor_alltoallv", [given, *ones[0], MPI.DOUBLE], [got, *ones[1], MPI.DOUBLE])
        assert got.tolist() == expected
        got[:] = -1
        typed = [
            [memory, [1] * len(memory), [8 * at for at in range(len(memory))], [MPI.DOUBLE] * len(memory)]
            for memory in (given, got)
        ]
        call(near, "Neighbor_alltoallw", *typed)
        assert got.tolist() == expected
        assert near.neighbor_allgather(f"of {rank}") == [f"of {source}" for source in sources]
        assert near.neighbor_alltoall([(rank, to) for to in destinations]) == [(source, rank) for source in sources]

    fw.mpi.run(program, ranks=4)


def test_graphs_that_all_ranks_know() -> None:
    def program(comm: Any) -> Any:
        assert comm.Graph_map(*STAR) == (comm.rank if comm.rank < 4 else MPI.UNDEFINED)
        # The form of sparse matrices, with a 0 in front, is taken, too.
        star = comm.Create_graph([0, *STAR[0]], STAR[1])
        if star == MPI.COMM_NULL:
            return None
        assert isinstance(star, MPI.Graphcomm) and star.Get_topo() == STAR == star.topo
        assert star.Get_dims() == star.dims == (4, 6) == (star.nnodes, star.nedges)
        assert star.Get_neighbors(0) == [1, 2, 3] and star.Get_neighbors_count(1) == 1
        assert star.Dup().neighbors == star.neighbors and star.nneighbors == len(star.neighbors)
        return star.neighbors

    assert fw.mpi.run(program, ranks=5).returns == [[1, 2, 3], [0], [0], [0], None]


def test_graphs_of_which_ranks_know_their_own_edges() -> None:
    def program(comm: Any) -> Any:
        # Rank 0 names all edges of a ring, with weights; the others none.
        ring = [*range(comm.size)], [1] * comm.size, [(rank + 1) % comm.size for rank in range(comm.size)]
        named = ring if comm.rank == 0 else ([], [], [])
        made = comm.Create_dist_graph(*named, weights=[*range(comm.size)] if comm.rank == 0 else MPI.WEIGHTS_EMPTY)
        assert isinstance(made, MPI.Distgraphcomm) and made.Get_dist_neighbors_count() == (1, 1, True)
        plain = comm.Create_dist_graph(*named)
        assert plain.Get_dist_neighbors_count() == (1, 1, False) and plain.Get_dist_neighbors()[2] is None
        heavy = comm.Create_dist_graph_adjacent([comm.rank], [comm.rank], [7], [8])
        assert heavy.Dup().Get_dist_neighbors() == ([comm.rank], [comm.rank], ([7], [8]))
        return made.Get_dist_neighbors()

    assert fw.mpi.run(program, ranks=3).returns == [
        ([2], [1], ([2], [0])),
        ([0], [2], ([0], [1])),
        ([1], [0], ([1], [2])),
    ]


def test_a_grid_that_is_split_is_no_grid() -> None:
    def program(comm: Any) -> Any:
        assert comm.Cart_map([2, 1]) == (comm.rank if comm.rank < 2 else MPI.UNDEFINED)
        cart = comm.Create_cart([3])
        for made in (cart.Split(0, cart.rank), cart.Split(cart.rank), cart.Create(cart.Get_group())):
            assert type(made) is MPI.Intracomm and not made.is_topo and made.Get_topology() == MPI.UNDEFINED
        copy = cart.Dup()
        assert isinstance(copy, MPI.Cartcomm) and copy.dims == cart.dims
        return cart.Split(0, -cart.rank).allgather(cart.rank)

    assert fw.mpi.run(program, ranks=3).returns == [[2, 1, 0]] * 3


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (lambda comm: comm.Create_graph([1, 2, 3], [0, 0, 0]), "3 nodes, for 2 ranks"),
        (lambda comm: comm.Create_graph([2, 1], [0, 1]), "does not rise"),
        (lambda comm: comm.Create_graph([1, 2], [1, 5]), "an edge is 5"),
        (lambda comm: comm.Graph_map([1], [0, 0]), "number of edges, 2"),
        (lambda comm: comm.Create_graph([1, 2], [1, 0]).Get_neighbors(2), "rank 2 of a graph of 2 nodes"),
        (lambda comm: comm.Cart_map([3]), "3 places, for 2 ranks"),
        (lambda comm: comm.Create_cart([-1, -2]), "-1x-2"),
        (lambda comm: comm.Create_dist_graph_adjacent([9], []), "a source is 9"),
        (lambda comm: comm.Create_dist_graph_adjacent([0], [], [1, 2], []), "2 weights for 1 edges"),
        (lambda comm: comm.Create_dist_graph([0], [2], [1]), "2 edges in all, and 1 destinations"),
        (lambda comm: on_ring(comm).neighbor_alltoall([1]), "expecting 2 items, got 1"),
        (lambda comm: on_ring(comm).Neighbor_alltoall(np.zeros(3), np.zeros(2)), "3 elements cannot be divided"),
        (lambda comm: comm.Create_cart([2]).Shift(1, 1), "direction 1 of 1"),
        (lambda comm: MPI.Graphcomm(comm), "expecting a Graphcomm, not a Comm"),
    ],
)
def test_topologies_that_cannot_be(wrong: Any, text: str) -> None:
    with pytest.raises(fw.mpi.ProgramError, match=text):
        fw.mpi.run(wrong, ranks=2)


def test_a_communicator_that_has_been_given_up_is_null() -> None:
    def program(comm: Any) -> Any:
        made = comm.Dup()
        cart = comm.Create_cart([comm.size])
        late = made.irecv(source=0)
        made.send("under way", 0) if comm.rank == 0 else late.Cancel()
        made.Free()
        status = MPI.Status()
        found = late.wait(status)
        cart.Free()
        for one in (made, cart):
            assert not one and one == MPI.COMM_NULL and isinstance(one, MPI.Intracomm)
            for use in (one.Barrier, one.Get_rank, one.Free, one.Dup, lambda one=one: one.recv()):
                with pytest.raises(MPI.Exception, match="MPI_ERR_COMM"):
                    use()
        with pytest.raises(MPI.Exception, match="cannot be freed"):
            comm.Free()
        return found, status.source, comm.allreduce(1)

    assert fw.mpi.run(program, ranks=2).returns == [("under way", 0, 2), (None, -1, 2)]


def test_a_copy_that_is_started() -> None:
    def program(comm: Any) -> Any:
        made, request = comm.Idup()
        request.Wait()
        assert made.Compare(comm) == MPI.Comm.Compare(made, comm) == MPI.CONGRUENT
        return made.allgather(made.rank)

    assert fw.mpi.run(program, ranks=3).returns == [[0, 1, 2]] * 3


def test_groups_that_are_null_or_empty() -> None:
    def program(comm: Any) -> None:
        group = comm.Get_group()
        copy = MPI.Group(group)
        group.Free()
        assert not group and group == MPI.GROUP_NULL and copy and copy.Compare(comm.group) == MPI.IDENT
        assert MPI.GROUP_EMPTY and MPI.GROUP_EMPTY.size == 0 and MPI.GROUP_EMPTY != MPI.GROUP_NULL
        for use in (group.Get_size, group.Free):
            with pytest.raises(MPI.Exception, match="MPI_ERR_GROUP"):
                use()

    fw.mpi.run(program, ranks=2)
