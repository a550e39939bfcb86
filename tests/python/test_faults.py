"""Networks without some of their cables, routers and terminals."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import flitwork as fw
import networkx as nx
import pytest
from common import Cli
from flitwork import _core
from flitwork.networks.faults import working_topology
from flitwork.networks.files.filled import WITH_NUMBERS
from flitwork.plot.channels import channel_snapshot
from flitwork.plot.layout import layout


def _cables(graph: nx.MultiGraph) -> Counter[frozenset[Any]]:
    """How many cables join each two routers."""
    return Counter(frozenset((a, b)) for a, b, _ in graph.edges)


def test_what_is_left_is_what_networkx_leaves() -> None:
    draw, joined, refused = random.Random(3), 0, 0
    for _ in range(40):
        whole: Any = draw.choice(
            [
                fw.Torus(4, 5), fw.Mesh(3, 4, 2), fw.KAryNTree(k=3, levels=2), fw.Hyperx(3, 3),
                fw.Dragonfly(routers_per_group=3, global_channels_per_router=1), fw.Graph(cables=[(0, 1), (1, 2), (0, 2)]),
            ]
        )  # fmt: skip
        graph = nx.MultiGraph(fw.to_networkx(whole))
        cables = draw.sample([(a, b) for a, b, _ in graph.edges], 2)
        router = draw.choice(sorted(graph.nodes))
        expected = graph.copy()
        for a, b in cables:
            expected.remove_edge(a, b)
        expected.remove_node(router)
        ends = [node for node, data in expected.nodes(data=True) if data.get("terminals", 1)]
        try:
            left = nx.MultiGraph(fw.to_networkx(whole.replace(without=fw.Without(cables=cables, routers=[router]))))
        except fw.ConfigError as error:
            assert "no path from" in str(error) or "no terminal is left" in str(error)
            assert len(ends) < 2 or not all(nx.has_path(expected, ends[0], end) for end in ends)
            refused += 1
            continue
        assert _cables(left) == _cables(expected)
        assert all(nx.has_path(expected, ends[0], end) for end in ends)
        joined += 1
    assert joined > 10 and refused > 3


def test_faults_cost_time_and_are_in_the_hash() -> None:
    work = fw.all_to_all("a2a", message_flits=24)
    rows = []
    for faults in (0, 3, 6):
        net = fw.Torus(5, 5, vcs=6, routing="lash", without=fw.Without(random_cables=faults, seed=2))
        done = fw.simulate(net, work)
        assert done.row["ratio_to_bound"] >= 1 and done.row["terminals"] == 25
        rows.append(done.row)
    assert rows[0]["mean_hops"] < rows[1]["mean_hops"] < rows[2]["mean_hops"]
    assert len({row["digest"] for row in rows}) == 3
    whole = fw.simulate(fw.Torus(5, 5, vcs=6, routing="lash"), work)
    assert whole.row["digest"] == rows[0]["digest"]


def test_a_terminal_that_is_out_sends_nothing() -> None:
    net = fw.Torus(4, 4, vcs=4, without=fw.Without(terminals=[5]))
    done = fw.simulate(net, fw.all_to_all("a2a", message_flits=4))
    assert done.row["terminals"] == 15 and done.row["packets"] == 15 * 14


@pytest.mark.parametrize(
    ("network", "says"),
    [
        ({"routing": "dimension_order"}, "network.routing.kind = dimension_order: expected a network that is a grid"),
        ({"without": {"cables": [[0, 2]]}}, "network.without.cables[0] = [0, 2]: expected two routers with a cable"),
        ({"without": {"cable": [[0, 1]]}}, "network.without.cable"),
        ({"without": {"cables": [[0, 1, 2]]}}, "network.without.cables[0]"),
        ({"without": {"routers": [-1]}}, "network.without.routers[0] = -1"),
        ({"without": {"cable_rate": 2}}, "network.without.cable_rate = 2"),
        ({"without": {"random_cables": 99}}, "network.without.random_cables = 99: expected at most the 32"),
        ({"without": {"cables": [[0, 1], [0, 3], [0, 4], [0, 12]]}}, "network.without = no path from router"),
    ],
)
def test_what_makes_no_sense_is_named(network: dict[str, Any], says: str) -> None:
    options = {"without": {"cables": [[0, 1]]}, "vcs": 4, **network}
    with pytest.raises(fw.ConfigError) as error:
        fw.simulate(fw.Torus(4, 4, **options), fw.uniform(offered_load=0.1))
    assert str(error.value).startswith(says), error.value


def test_algorithms_for_grids_are_refused() -> None:
    net = fw.Torus(4, 4, vcs=4, without=fw.Without(cables=[(0, 1)]))
    with pytest.raises(fw.ConfigError, match="expected an algorithm for any network"):
        fw.simulate(net, fw.all_to_all("a2at", message_flits=4))


def test_pictures_show_what_is_left_where_it_was() -> None:
    whole, cut = fw.Torus(4, 4), fw.Torus(4, 4, vcs=4, without=fw.Without(cables=[(5, 6)], routers=[15]))
    places = [fw.simulate(net, fw.uniform(offered_load=0.1)) for net in (whole, cut)]
    before, after = (layout(working_topology(one.spec["network"])) for one in places)
    assert (before.xy == after.xy).all()
    drawn = [{tuple(segment) for segment in one.segments.reshape(-1, 4).tolist()} for one in (before, after)]
    # Of the router eight channels, four of them in two pieces each; of the cable two.
    assert drawn[1] < drawn[0] and len(drawn[0]) - len(drawn[1]) == 8 + 4 + 2
    assert len(channel_snapshot(places[1]).axes) > 0
    found = fw.explain(fw.simulate(cut, fw.all_to_all("a2a", message_flits=8)))
    assert found.text


def test_names_of_terminals_stay_with_them() -> None:
    net = fw.Graph(cables=[(0, 1), (1, 2), (0, 2)], names=["a", "b", "c"], terminal_names=["h0", "h1", "h2"])
    cut = net.replace(without=fw.Without(terminals=[0]))
    hosts = [node for node, data in fw.to_networkx(cut).nodes(data=True) if data.get("kind") == "host"]
    assert hosts == ["h1", "h2"]


def test_a_study_sweeps_the_number_of_faults(tmp_path: Any) -> None:
    file = tmp_path / "faults.toml"
    file.write_text(
        """
        [study]
        name = "faults"
        [base.network]
        topology = { kind = "torus", size = [4, 4] }
        routing = { kind = "up_down" }
        [base.workload]
        kind = "all_to_all"
        algorithm = "a2a"
        message_flits = 8
        [[experiments]]
        id = "count"
        [experiments.grid]
        "network.without.random_cables" = [0, 2, 4]
        """
    )
    table = fw.run_study(fw.load_study(file), tmp_path / "results").table
    assert (
        list(table["network.without.random_cables"]) == [0, 2, 4] and table["completion_cycles"].is_monotonic_increasing
    )


LEAVES = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="undirected">
<node id="leaf0"/><node id="leaf1"/><node id="spine0"/><node id="spine1"/>
<edge source="leaf0" target="spine0"/><edge source="leaf0" target="spine1"/>
<edge source="leaf1" target="spine0"/><edge source="leaf1" target="spine1"/></graph></graphml>"""


def test_faults_by_name_are_those_by_number(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "net.graphml").write_text(LEAVES)
    net = fw.read_network(tmp_path / "net.graphml", routing="lash", router=fw.Router(vcs=4))
    named = net.replace(without=fw.Without(cables=[["spine1", "leaf0"]], routers=["leaf1"]))
    assert named == net.replace(without=fw.Without(cables=[[3, 0]], routers=[1]))
    words = ["plan", "a2a", "--topology", "net.graphml", "--json", "--set", "routing=lash", "--set", "vcs=4"]
    plans = [
        cli(*words, "--set", f"without.routers={routers}").stdout for routers in ('["spine1"]', "[3]", '["spine0"]')
    ]
    assert plans[0] == plans[1] != plans[2] and plans[0]
    done = cli(*words, "--set", 'without.routers=["spine2"]')
    error = json.loads(done.stderr)
    assert (done.returncode, error["path"], error["value"]) == (2, "network.without.routers[0]", '"spine2"')
    assert error["hint"].startswith("did you mean spine")


def test_terminals_have_names_too() -> None:
    hosts = ["h0", "h1", "h2", "h3"]
    net = fw.Graph(cables=[["a", "b"]], terminals=[2, 2], terminal_names=hosts, without=fw.Without(terminals=["h2", 0]))
    assert net.spec["without"] == {"terminals": [2, 0]} and net.spec["topology"]["names"] == ["a", "b"]
    assert fw.to_networkx(net).number_of_nodes() == 4


def test_cables_by_name_are_those_by_number() -> None:
    """Random graphs: names in the order in which cables name them are the numbers of the routers."""
    draw = random.Random(5)
    for _ in range(20):
        graph = nx.gnm_random_graph(8, 14, seed=draw.randrange(10**6))
        edges = [edge for edge in graph.edges if draw.random() < 0.9]
        order = list(dict.fromkeys(end for edge in edges for end in edge))
        names = {router: f"switch {draw.randrange(10**6)}-{router}" for router in order}
        named = fw.Graph(cables=[[names[a], names[b]] for a, b in edges])
        numbers = [[order.index(a), order.index(b)] for a, b in edges]
        assert named.spec["topology"] == {
            "kind": "graph", "cables": numbers, "names": [names[router] for router in order],
        }  # fmt: skip
        again = fw.Graph(cables=[[names[a], order.index(b)] for a, b in edges], names=[names[one] for one in order])
        assert again == named
    with pytest.raises(fw.ConfigError, match=r"cables\[1\]\[0\] = 4: expected the name of a router"):
        fw.Graph(cables=[["a", "b"], [4, "a"]])


def test_names_are_looked_for_where_the_schema_takes_them() -> None:
    fields: set[str] = set()

    def visit(node: Any) -> None:
        for name, inner in node.get("properties", {}).items() if isinstance(node, dict) else ():
            items = inner.get("items", {})
            items = items.get("items", items)
            if {"type": "string"} in items.get("anyOf", ()) and any(
                one.get("type") == "integer" for one in items["anyOf"]
            ):
                fields.add(name)
        for inner in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
            visit(inner)

    visit(json.loads(_core.schema()))
    assert fields == {*WITH_NUMBERS}
