"""Networks from files and graphs: every format, round trips, and what damaged files say."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import flitwork as fw
import networkx as nx
import numpy as np
import pytest
from flitwork.planning.specification import plan_of, simulation

IBNET = """\
#
# Topology file: generated on Mon Jan  1 00:00:00 2024
#
# Initiated from node 0002c9030001 port 0002c9030002

vendid=0x2c9
devid=0xbd36
sysimgguid=0x2c902400d1
switchguid=0x2c902400d0(2c902400d0)
Switch	36 "S-0002c902400d0"		# "leaf 1" enhanced port 0 lid 2 lmc 0
[1]	"H-0002c9030001"[1](2c9030002) 		# "host a HCA-1" lid 1 4xEDR
[2]	"H-0002c9030003"[1](2c9030004) 		# "host b HCA-1" lid 3 4xEDR
[19]	"S-0002c902400d8"[1]		# "spine" lid 4 4xHDR
[20]	"S-0002c902400d8"[2]		# "spine" lid 4 4xHDR

Switch	36 "S-0002c902400d4"		# "leaf 2" enhanced port 0 lid 5 lmc 0
[1]	"H-0002c9030003"[2](2c9030005) 		# "host b HCA-1" lid 6 4xEDR
[19]	"S-0002c902400d8"[3]		# "spine" lid 4 4xEDR

Switch	36 "S-0002c902400d8"		# "spine" enhanced port 0 lid 4 lmc 0
[1]	"S-0002c902400d0"[19]		# "leaf 1" lid 2 4xHDR
[2]	"S-0002c902400d0"[20]		# "leaf 1" lid 2 4xHDR
[3]	"S-0002c902400d4"[19]		# "leaf 2" lid 5 4xEDR

vendid=0x2c9
caguid=0x2c9030001
Ca	1 "H-0002c9030001"		# "host a HCA-1"
[1](2c9030002) 	"S-0002c902400d0"[1]		# lid 1 lmc 0 "leaf 1" lid 2 4xEDR

Ca	2 "H-0002c9030003"		# "host b HCA-1"
[1](2c9030004) 	"S-0002c902400d0"[2]		# lid 3 lmc 0 "leaf 1" lid 2 4xEDR
[2](2c9030005) 	"S-0002c902400d4"[1]		# lid 6 lmc 0 "leaf 2" lid 5 4xEDR
"""
ANYNET = """\
router 0 node 0 node 1 router 1 15
router 1 node 2 router 0 15 router 2
router 2 node 3 node 4 router 0 7
"""


def written(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def hash_of(network: fw.Network) -> str:
    return str(plan_of(simulation(network, fw.uniform(offered_load=0.1))).hash)


def test_an_infiniband_fabric_keeps_its_names_cables_and_rates(tmp_path: Path) -> None:
    net = fw.read_network(written(tmp_path, "fabric.txt", IBNET))
    found = net.topology
    assert found["names"] == ["leaf 1", "leaf 2", "spine"]
    # Two cables between leaf 1 and the spine, one of half the width from leaf 2; hosts b has two adapters.
    assert found["cables"] == [[0, 2], [0, 2], [1, 2]]
    assert found["cable_cycles_per_flit"] == [1, 1, 2]
    assert found["terminals"] == [2, 1, 0]
    assert found["terminal_names"] == ["host a HCA-1", "host b HCA-1 port 1", "host b HCA-1 port 2"]
    result = fw.simulate(net, fw.all_to_all("a2a", message_flits=8))
    assert result.row["status"] == "complete"


def test_every_line_that_a_fabric_lacks_is_found(tmp_path: Path) -> None:
    """Whatever line of ports is taken out: the other end of the cable says so."""
    lines = IBNET.splitlines(keepends=True)
    ports = [i for i, line in enumerate(lines) if line.startswith("[")]
    for i in ports:
        file = written(tmp_path, f"cut-{i}.txt", "".join(lines[:i] + lines[i + 1 :]))
        with pytest.raises(fw.ConfigError, match=r"line \d+") as caught:
            fw.read_network(file)
        assert "the same cable at both ends" in str(caught.value)
    # Cut short in the middle: at the end of a line, or within one.
    for length in range(700, len(IBNET) - 60, 97):
        with pytest.raises(fw.ConfigError):
            fw.read_network(written(tmp_path, "short.txt", IBNET[:length]))


def test_booksim_networks_have_a_latency_for_each_direction(tmp_path: Path) -> None:
    """What is not written takes a cycle, the opposite direction of a channel, too; what is written last counts."""
    found = fw.read_network(written(tmp_path, "anynet", ANYNET)).topology
    assert (found["cables"], found["cable_latency_cycles"]) == ([[0, 1], [1, 2]], [15, 1])
    assert (found["channels"], found["channel_latency_cycles"]) == ([[2, 0], [0, 2]], [7, 1])
    assert found["terminals"] == [2, 1, 2]
    again = ANYNET + "router 0 router 1 4\n"
    found = fw.read_network(written(tmp_path, "again", again)).topology
    assert (found["channels"][:2], found["channel_latency_cycles"][:2]) == ([[0, 1], [1, 0]], [4, 15])
    with pytest.warns(UserWarning, match="latency of node 1"):
        fw.read_network(written(tmp_path, "node", "router 0 node 0 node 1 5 router 1\n"))


def test_edge_lists_have_cables_or_channels(tmp_path: Path) -> None:
    plain = fw.read_network(written(tmp_path, "plain.csv", "0,1\n1,2\n2,0\n"))
    assert plain.topology["cables"] == [[0, 1], [1, 2], [2, 0]]
    assert "names" not in plain.topology
    named = fw.read_network(
        written(tmp_path, "named.csv", "a,b,latency_cycles,cables\nleaf,spine,3,2\nspine,other,4,1\n")
    )
    assert named.topology["names"] == ["leaf", "spine", "other"]
    assert named.topology["cables"] == [[0, 1], [0, 1], [1, 2]]
    assert named.topology["cable_latency_cycles"] == [3, 3, 4]
    ring = fw.read_network(written(tmp_path, "ring.csv", "from,to\n0,1\n1,2\n2,0\n"))
    assert ring.topology["channels"] == [[0, 1], [1, 2], [2, 0]]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("e.csv", "a,b,latency\n0,1,2\n", 'column "latency" (line 1)'),
        ("e.csv", "a,b,latency_cycles\n0,1,2\n1,2,x\n", 'latency_cycles = "x" (line 3)'),
        ("e.csv", "0,1\n1\n", "1 (line 2): expected 2 cells"),
        ("e.csv", "a,b,cables\n0,1,0\n", 'cables = "0" (line 2): expected 1 to 512'),
        ("e.csv", "0,1\n1,1\n", "cables[1] = [1, 1]: expected two different routers"),
        ("any", "router 0 node 0 router 1 4\nrouter 1 node x\n", "node x (line 2)"),
        ("any", "router 0 node 0 router 1\nrouter 3 node 1\n", "no number 2 among the routers"),
        ("any", "router 0 node 0 router 1\nrouter 1 node 0\n", "node 0 (line 2): expected a node at one router"),
        ("ib", 'Switch 3 "S-1" # "s"\n[1] "H-1"[1]\n', '"H-1"'),
        ("text", "hello\n", "expected a network"),
        ("spaces.txt", "0 1 {}\n1 2 {}\n", "commas between the two ends"),
        ("tabs.csv", "0\t1\n1\t2\n", "commas between the two ends"),
        ("empty", "", "expected a network"),
    ],
)
def test_a_file_that_makes_no_network_is_named_with_its_line(
    tmp_path: Path, name: str, text: str, expected: str
) -> None:
    with pytest.raises(fw.ConfigError) as caught:
        fw.simulate(fw.read_network(written(tmp_path, name, text)), fw.uniform(offered_load=0.1))
    assert expected in str(caught.value)


def test_names_without_a_header_are_routers_and_quotes_close(tmp_path: Path) -> None:
    found = fw.read_network(written(tmp_path, "names.csv", "leaf1,spine\nleaf2,spine\n")).topology
    assert (found["names"], found["cables"]) == (["leaf1", "spine", "leaf2"], [[0, 1], [2, 1]])
    for text, expected in (
        ('a,b\nb,"c\nc,d\n', "cells separated by commas"),
        ("to,from\n0,1\n", "from,to"),
        (f"a,b\n0,{'x' * 200_000}\n", "cells separated by commas"),
    ):
        with pytest.raises(fw.ConfigError, match=expected):
            fw.read_network(written(tmp_path, "bad.csv", text))
    with pytest.warns(UserWarning, match="in both directions"):
        fw.read_network(written(tmp_path, "twice.csv", "source,target\n0,1\n1,0\n1,2\n2,1\n"))
    for nothing in (None, 3, nx.Graph):
        with pytest.raises(fw.ConfigError):
            fw.read_network(nothing) if nothing is not nx.Graph else fw.from_networkx(nothing)  # type: ignore[arg-type]


def test_rates_that_are_missing_or_differ_are_said(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="no rate"):
        found = fw.read_network(written(tmp_path, "unknown", IBNET.replace("4xEDR", "4x???", 1))).topology
    assert found["cable_cycles_per_flit"] == [1, 1, 2]
    with pytest.raises(fw.ConfigError, match="one rate at both ends"):
        fw.read_network(written(tmp_path, "two", IBNET.replace("lid 5 4xEDR", "lid 5 1xSDR")))
    external = IBNET.replace('[19]\t"S-0002c902400d8"[3]', '[19][ext 7]\t"S-0002c902400d8"[3]')
    assert external != IBNET
    assert fw.read_network(written(tmp_path, "ext", external)).topology["cables"] == [[0, 2], [0, 2], [1, 2]]


def test_damaged_files_are_errors_and_never_tracebacks(tmp_path: Path) -> None:
    draw = random.Random(3)
    for number in range(150):
        text = draw.choice([IBNET, ANYNET, "from,to,latency_cycles\n0,1,3\n1,0,3\n", graphml(tmp_path)])
        damaged = list(text)
        for _ in range(draw.randint(1, 8)):
            place = draw.randrange(len(damaged))
            damaged[place : place + draw.randint(0, 3)] = draw.choice(["", "[", '"', "9", "\n", ",", "<", "router "])
        try:
            fw.read_network(written(tmp_path, f"damaged-{number % 4}", "".join(damaged)))
        except fw.ConfigError as error:
            assert error.path.startswith("network.topology"), error


def graphml(folder: Path) -> str:
    file = folder / "petersen.graphml"
    if not file.exists():
        fw.write_network(fw.from_networkx(nx.petersen_graph()), file)
    return file.read_text(encoding="utf-8")


def test_graphs_of_networkx_become_networks() -> None:
    petersen = fw.from_networkx(nx.petersen_graph(), router=fw.Router(vcs=4))
    assert len(petersen.topology["cables"]) == 15
    assert fw.simulate(petersen, fw.all_to_all("a2a", message_flits=4)).row["status"] == "complete"
    tree = nx.MultiGraph()
    tree.add_edge("leaf", "spine", latency_cycles=4)
    tree.add_edge("leaf", "spine", latency_cycles=4)
    for host in ("h0", "h1"):
        tree.add_node(host, kind="host")
        tree.add_edge("spine", host)
    found = fw.from_networkx(tree).topology
    assert (found["cables"], found["names"]) == ([[0, 1], [0, 1]], ["leaf", "spine"])
    assert (found["terminals"], found["terminal_names"]) == ([0, 2], ["h0", "h1"])
    directed = nx.DiGraph([(0, 1), (1, 0), (1, 2), (2, 0)])
    found = fw.from_networkx(directed).topology
    assert (found["cables"], found["channels"]) == ([[0, 1]], [[1, 2], [2, 0]])


def some_graph(draw: random.Random) -> Any:
    """A connected graph with parallel edges, attributes and hosts, or without."""
    graph = nx.MultiGraph()
    routers = [f"r{i}" for i in range(draw.randint(2, 9))]
    of_links = draw.choice([{}, {"latency_cycles": 20}, {"cycles_per_flit": 4, "latency_cycles": 9}])
    for i, router in enumerate(routers[1:], 1):
        for _ in range(draw.randint(1, 2)):
            own = {name: draw.randint(1, most) for name, most in of_links.items()}
            graph.add_edge(router, routers[draw.randrange(i)], **own)
    if draw.random() < 0.5:
        for i in range(draw.randint(1, 5)):
            graph.add_node(f"h{i}", kind="host")
            graph.add_edge(f"h{i}", draw.choice(routers))
    elif draw.random() < 0.5:
        for router in routers:
            graph.nodes[router]["terminals"] = draw.randint(0, 2)
        graph.nodes[routers[0]]["terminals"] = 1
    return graph


def test_what_is_written_as_graphml_is_the_same_network_when_it_is_read(tmp_path: Path) -> None:
    draw = random.Random(11)
    for number in range(25):
        network = fw.from_networkx(some_graph(draw), router=fw.Router(vcs=8))
        file = fw.write_network(network, tmp_path / f"{number}.graphml")
        again = fw.read_network(file, router=fw.Router(vcs=8))
        assert again.topology == {**again.topology, **network.topology}
        assert hash_of(again) == hash_of(network)
    for network in (
        fw.Dragonfly(routers_per_group=2, global_channels_per_router=1),
        fw.Torus(4, 3),
        fw.KAryNTree(k=2, levels=2),
    ):
        graph = fw.to_networkx(network)
        again = fw.from_networkx(graph)
        assert nx.is_isomorphic(nx.Graph(graph), nx.Graph(fw.to_networkx(again)))
        assert hash_of(fw.from_networkx(fw.to_networkx(again))) == hash_of(again)


def test_a_network_file_is_found_beside_the_file_that_names_it(tmp_path: Path) -> None:
    written(tmp_path, "net.csv", "0,1\n1,2\n2,3\n")
    study = written(
        tmp_path,
        "study.toml",
        '[study]\nname = "line"\n[base]\nnetwork.topology = { kind = "graph", file = "net.csv" }\n'
        'workload = { kind = "all_to_all", algorithm = "a2a", message_flits = 4 }\n[[experiments]]\nid = "one"\n',
    )
    done = fw.run_study(fw.load_study(study), tmp_path / "results", jobs=1)
    assert not done.failures and len(done.table) == 1
    machine = written(tmp_path, "machine.toml", '[network]\ntopology = { kind = "graph", file = "net.csv" }\n')
    for arguments in (
        ["bound", "a2a", "--topology", str(tmp_path / "net.csv")],
        ["pick", str(machine), "--message-flits", "4"],
    ):
        ran = subprocess.run(
            [sys.executable, "-m", "flitwork", *arguments], capture_output=True, text=True, cwd=tmp_path.parent
        )
        assert ran.returncode == 0, ran.stderr


def test_a_field_that_the_file_has_is_not_said_twice(tmp_path: Path) -> None:
    file = written(tmp_path, "net.csv", "0,1\n")
    with pytest.raises(fw.ConfigError, match=r"network\.topology\.cables") as caught:
        fw.Graph(file=str(file), cables=[(0, 1)])
    assert "it once" in str(caught.value)
    with pytest.raises(fw.ConfigError, match="a file that can be read"):
        fw.Graph(file=str(tmp_path / "none.csv"))
    assert fw.Graph(file=str(file), terminals_per_router=3).topology["terminals_per_router"] == 3


def test_a_table_of_next_routers_comes_from_a_file(tmp_path: Path) -> None:
    ring = [[0, 1], [1, 2], [2, 3], [3, 0]]
    table = np.array([[(router + 1) % 4] * 4 for router in range(4)])
    np.save(tmp_path / "next.npy", table)
    written(tmp_path, "next.csv", "\n".join(",".join(map(str, row)) for row in table))
    runs = []
    for routing in (
        fw.routing.Table(next=table.tolist()),
        fw.routing.Table(file=str(tmp_path / "next.npy")),
        {"kind": "table", "file": str(tmp_path / "next.csv")},
    ):
        net = fw.Graph(cables=ring, routing=routing)
        run = fw.Run(deadlock_check=False)
        runs.append(fw.simulate(net, fw.all_to_all("a2a", message_flits=1), run=run).row["completion_cycles"])
    assert runs[0] == runs[1] == runs[2]
    # Round a ring of four one way with one virtual channel packets could wait for each other.
    with pytest.raises(fw.ConfigError, match="no cycle of channel dependencies"):
        fw.simulate(fw.Graph(cables=ring, routing=fw.routing.Table(next=table.tolist())), fw.all_to_all("a2a"))


def test_routings_of_any_network_keep_packets_moving() -> None:
    """Wormhole switching, small buffers, as few virtual channels as a routing takes: no run ends in a deadlock."""
    draw = random.Random(5)
    for _ in range(12):
        graph = nx.random_regular_graph(draw.choice([3, 4]), 2 * draw.randint(4, 10), seed=draw.randint(0, 99))
        for routing, vcs in (("up_down", 1), ("lash", 6)):
            router = fw.Router(vcs=vcs, buffer_flits=2)
            try:
                net = fw.from_networkx(graph, router=router, routing=routing)
                done = fw.simulate(net, fw.burst_workload("uniform", packets=20, packet_flits=6))
            except fw.ConfigError as error:
                if "a path between all routers" in str(error):
                    break  # The graph is not connected.
                raise
            assert done.row["status"] == "complete"


def test_a_dragonfly_gets_past_the_one_channel_between_two_groups() -> None:
    """Each group sends to the next: 8 terminals share one global channel under minimal routing."""
    destinations = [(terminal + 8) % 72 for terminal in range(72)]
    accepted, uniform = {}, {}
    for routing in ("dragonfly_minimal", "dragonfly_valiant", "dragonfly_ugal"):
        net = fw.Dragonfly(
            routers_per_group=4, global_channels_per_router=2, terminals_per_router=2, vcs=6, routing=routing
        )
        work = fw.traffic("permutation", offered_load=0.3, destinations=destinations)
        accepted[routing] = fw.simulate(net, work).row["accepted_load_flits_per_cycle"]
        uniform[routing] = fw.simulate(net, fw.uniform(offered_load=0.6)).row["accepted_load_flits_per_cycle"]
    assert accepted["dragonfly_minimal"] <= 0.125
    assert min(accepted["dragonfly_valiant"], accepted["dragonfly_ugal"]) > 0.28
    # Random groups halve what uniform traffic may offer; UGAL goes minimally there.
    assert uniform["dragonfly_valiant"] < 0.45 < 0.58 < uniform["dragonfly_ugal"]


def test_whole_packets_move_as_flit_by_flit_where_no_queues_are_compared() -> None:
    router = fw.Router(vcs=6, switching="virtual_cut_through", hold_switch_until_tail=True, buffer_flits=16)
    work = fw.all_to_all("a2a", message_flits=12)
    for routing in (
        "dragonfly_minimal",
        "dragonfly_valiant",
        "dragonfly_ugal",
        "graph_valiant",
        "graph_ugal",
        "up_down",
    ):
        net = fw.Dragonfly(routers_per_group=4, global_channels_per_router=2, routing=routing, router=router)
        auto = fw.simulate(net, work)
        flit = fw.simulate(net, work, run=fw.Run(kernel="flit"))
        assert auto.row["digest"] == flit.row["digest"], routing
        assert auto.row["kernel"] == ("flit" if routing.endswith("ugal") else "packet")
