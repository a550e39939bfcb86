"""Routings that users write as functions, equal-cost multi-path, packet spraying, and packets that overtake others."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from typing import Any

import flitwork as fw
import networkx
import numpy as np
import pytest
from flitwork import _core
from flitwork.explain.collisions import even_loads
from flitwork.results.reordering import most_waiting

WORK = fw.collective("all_to_all", "simple_spread", message_flits=24, packet_flits=4)
#: Two leaves with eight terminals each below four spines.
LEAVES = fw.Graph(cables=[(leaf, spine) for leaf in (0, 1) for spine in (2, 3, 4, 5)], terminals=[8, 8, 0, 0, 0, 0])
RECORD = fw.Run(record=fw.Record(packets=True))


def by_xy(router: int, came_from: int | None, vc_set: int | None, destination: int) -> int:
    """Dimension order on a 4 x 4 mesh."""
    (x, y), (to_x, to_y) = (divmod(one, 4)[::-1] for one in (router, destination))
    return router + ((to_x > x) - (to_x < x) or 4 * ((to_y > y) - (to_y < y)))


def west_first(router: int, came_from: int | None, vc_set: int | None, destination: int) -> list[int]:
    """The turn model on a 4 x 4 mesh: all hops towards -x first, then any shortest path."""
    (x, y), (to_x, to_y) = (divmod(one, 4)[::-1] for one in (router, destination))
    if to_x < x:
        return [router - 1]
    return [router + 1] * (to_x > x) + [router + 4 * (1 if to_y > y else -1)] * (to_y != y)


def test_a_function_of_dimension_order_is_dimension_order() -> None:
    mesh = fw.Mesh(4, 4, vcs=2)
    ours = fw.compile_routing(mesh, by_xy)
    one, other = (fw.simulate(net, WORK, run=RECORD) for net in (mesh, mesh.replace(routing=ours)))
    assert one.completion_cycles == other.completion_cycles > 0
    assert one.packets["arrived_cycle"].equals(other.packets["arrived_cycle"])
    assert fw.bound(mesh, WORK).channel_load_cycles == fw.bound(mesh.replace(routing=ours), WORK).channel_load_cycles


@pytest.mark.parametrize("selection", ["most_credits", "random", "round_robin"])
def test_an_adaptive_function_runs_with_one_virtual_channel(selection: str) -> None:
    mesh = fw.Mesh(4, 4, vcs=1)
    routing = fw.compile_routing(mesh, west_first, selection=selection)
    result = fw.simulate(mesh.replace(routing=routing), WORK, run=RECORD)
    assert result.row["packets"] == 16 * 15 * 6
    # Some pairs use several paths, and all of them are shortest.
    packets = result.packets
    hops = [abs(a % 4 - b % 4) + abs(a // 4 - b // 4) for a, b in zip(packets["src"], packets["dst"], strict=True)]
    assert packets["hops"].tolist() == hops


def test_sets_and_an_escape_channel() -> None:
    """Any shortest path in set 1; dimension order in set 0, which is not left again: Duato's protocol."""
    mesh = fw.Mesh(4, 4, vcs=2, switching="virtual_cut_through", buffer_flits=8)

    def adaptive(router: int, came_from: int | None, vc_set: int | None, destination: int) -> list[tuple[int, int]]:
        escape = (by_xy(router, None, None, destination), 0)
        if vc_set == 0:
            return [escape]
        (x, y), (to_x, to_y) = (divmod(one, 4)[::-1] for one in (router, destination))
        across = [(router + (1 if to_x > x else -1), 1)] if to_x != x else []
        return [*across, *([(router + 4 * (1 if to_y > y else -1), 1)] if to_y != y else []), escape]

    routing = fw.compile_routing(mesh, adaptive, sets=2)
    assert routing.sets == 2
    assert fw.simulate(mesh.replace(routing=routing), WORK).row["packets"] == 16 * 15 * 6


def test_a_function_by_which_packets_wait_for_each_other_is_refused() -> None:
    ring = fw.Torus(5, vcs=1)
    routing = fw.compile_routing(ring, lambda router, came_from, vc_set, destination: (router + 1) % 5)
    with pytest.raises(fw.ConfigError, match="cycle"):
        fw.simulate(ring.replace(routing=routing), WORK)
    # With a dateline they cannot.
    routing = fw.compile_routing(
        ring, lambda router, came_from, vc_set, destination: ((router + 1) % 5, int(router == 4 or vc_set == 1)), sets=2
    )
    assert fw.simulate(ring.replace(routing=routing, vcs=2), WORK).completion_cycles > 0


def test_functions_that_make_no_routing() -> None:
    ring = fw.Torus(5, vcs=2)

    def refused(route: Any, **options: Any) -> str:
        with pytest.raises(fw.ConfigError) as error:
            routing = fw.compile_routing(ring, route, **options)
            fw.simulate(ring.replace(routing=routing), WORK)
        return str(error.value)

    assert refused(3).startswith("route = 3: expected a function")
    assert refused(lambda *at: 1, sets=0).startswith("sets = 0: expected a whole number of at least 1")
    for answer in (None, [], "1", 1.5, True, [1, None], (1, 2, "x")):
        assert "expected a router, a pair of router and set, or several of these" in refused(lambda *at, a=answer: a)
    assert refused(lambda *at: 3).startswith("route(1, None, None, 0) = 3: expected a router next to router 1: 0, 2")
    assert "expected a router next to router" in refused(lambda *at: at[0])
    assert "expected a set from 0 to 0" in refused(lambda *at: ((at[0] + 1) % 5, 1))
    assert "expected a set from 0 to 1" in refused(lambda *at: ((at[0] + 1) % 5, -1), sets=2)
    there_and_back = refused(lambda *at: (at[0] + 1) % 5 if at[0] in (0, 2) else (at[0] - 1) % 5)
    assert "expected rows by which every packet can arrive" in there_and_back


def test_rows_come_from_files_of_studies_too() -> None:
    rows = fw.compile_routing(fw.Mesh(4, 4, vcs=1), west_first).rows
    network = {"topology": {"kind": "mesh", "size": [4, 4]}, "routing": {"kind": "relation", "rows": rows}}
    assert fw.Network("mesh", size=(4, 4), routing=json.loads(json.dumps(network))["routing"]).spec["routing"]["rows"]


def test_pairs_keep_to_one_path_and_packets_do_not() -> None:
    spread = {}
    for kind in ("ecmp", "spray"):
        result = fw.simulate(LEAVES.replace(routing=kind, vcs=1), WORK, run=RECORD)
        up = result.channels[result.channels["router"] < 2]
        spread[kind] = up["flits"].max() / up["flits"].mean()
        late = result.reordering
        assert late.empty if kind == "ecmp" else late["reordered_packets"].sum() > 0
    # 64 pairs on 4 cables by hash; 384 packets at random.
    assert spread["spray"] < spread["ecmp"]
    seeds = {
        fw.bound(LEAVES.replace(routing=fw.routing.Ecmp(seed=seed)), WORK).channel_load_cycles for seed in range(8)
    }
    assert len(seeds) > 1
    assert min(seeds) >= 64 * 24 / 4


def test_explain_says_how_hashes_collide() -> None:
    result = fw.simulate(LEAVES.replace(routing="ecmp"), WORK)
    busiest = result.channels["flits"].max()
    even = 64 * 24 / 4
    assert f"carried {busiest:,} flits, {busiest / even:.2f} times as many" in fw.explain(result).text
    assert "Hashes" not in fw.explain(fw.simulate(LEAVES.replace(routing="spray"), WORK)).text


@pytest.mark.parametrize("seed", range(12))
def test_even_loads_are_those_of_every_shortest_path(seed: int) -> None:
    draw = random.Random(seed)
    graph = networkx.gnm_random_graph(n := draw.randint(4, 9), draw.randint(8, 16), seed=seed).to_directed()
    ends = np.array(list(graph.edges))
    demand = np.array([[draw.randint(0, 9) * (a != b) for b in range(n)] for a in range(n)], dtype=float)
    for a in range(n):
        for b in range(n):
            if not networkx.has_path(graph, a, b):
                demand[a, b] = 0
    expected: defaultdict[tuple[int, int], float] = defaultdict(float)
    for a, b in zip(*np.nonzero(demand), strict=True):
        paths = [path[1:] for path in networkx.all_shortest_paths(graph, a, b)]
        # Divided anew at each router on the way.
        parts: list[tuple[tuple[int, ...], float]] = [((int(a),), demand[a, b])]
        for _ in range(len(paths[0])):
            longer = []
            for walked, flits in parts:
                done = len(walked) - 1
                behind = {path[done] for path in paths if tuple(path[:done]) == walked[1:]}
                for to in behind:
                    expected[walked[-1], int(to)] += flits / len(behind)
                    longer.append(((*walked, int(to)), flits / len(behind)))
            parts = longer
    found = even_loads(ends[:, 0], ends[:, 1], demand)
    assert found == pytest.approx([expected[int(a), int(b)] for a, b in ends])


def test_reordering_is_what_a_count_of_overtaken_packets_gives() -> None:
    net = fw.Torus(4, 4, routing="duato", vcs=6, switching="virtual_cut_through", buffer_flits=8)
    result = fw.simulate(net, fw.uniform(offered_load=0.5, packet_flits=3), run=RECORD.replace(measurement_cycles=800))
    packets = result.packets.dropna(subset=["arrived_cycle"])
    late: dict[Any, int] = {}
    waiting: dict[Any, int] = {}
    for pair, of_pair in packets.groupby(["src", "dst"]):
        arrivals = sorted(zip(of_pair["arrived_cycle"], of_pair["sequence"], strict=True))
        order = [number for _, number in arrivals]
        late[pair] = sum(any(before > number for before in order[:i]) for i, number in enumerate(order))
        here: set[int] = set()
        expected, most = sorted(order), 0
        for number in order:
            here.add(number)
            while expected and expected[0] in here:
                here.remove(expected.pop(0))
            most = max(most, len(here))
        waiting[pair] = most
        assert most_waiting(np.array(order)) == most
    table = result.reordering.set_index(["src", "dst"])
    assert len(table) > 0
    assert table["reordered_packets"].to_dict() == {pair: n for pair, n in late.items() if n}
    assert table["waiting_packets_max"].to_dict() == {pair: waiting[pair] for pair, n in late.items() if n}
    with pytest.raises(fw.ConfigError, match=r"run\.record\.packets"):
        _ = fw.simulate(net, WORK).reordering


def test_a_rail_optimised_cluster() -> None:
    net = fw.RailOptimized(servers_per_leaf=2, gpus_per_server=4, spines=2, network_cycles_per_flit=9, vcs=4)
    result = fw.simulate(net, fw.collective("all_to_all", "pairwise_shift", message_flits=8))
    assert result.row["packets"] > 0
    ends = _core.channels(json.dumps(net.topology))
    assert sorted(Counter(ends["cycles_per_flit"].tolist()).items()) == [(1, 2 * 8), (9, 2 * (8 + 4 * 2))]
    rails = fw.RailOptimized(servers_per_leaf=4, gpus_per_server=8, vcs=4)
    assert fw.simulate(rails, fw.collective("all_to_all", "pairwise_shift", message_flits=8)).completion_cycles > 0
