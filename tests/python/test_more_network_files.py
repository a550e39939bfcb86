"""Fat trees of htsim, networks of ASTRA-sim, and forwarding tables beside ibnetdiscover."""

from __future__ import annotations

import itertools
import json
import math
import random
import re
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import flitwork as fw
import networkx as nx
import pytest
from flitwork import _core
from flitwork.planning.specification import plan_of, simulation

#: Two pods of four switches, two above them in each, and two on top that have two cables to each pod.
HTSIM = """\
# a fat tree with slow cables at the top
Nodes 16
Tiers 3
Podsize 8

Tier 0
Downlink_speed_Gbps 100
Radix_Down 2
Radix_Up 2
Queue_Up 200000
Queue_Down 200000
Oversubscribed 1
Switch_Latency_ns 300
Downlink_Latency_ns 500

Tier 1
Downlink_speed_Gbps 100
Radix_Down 4
Radix_Up 2
Oversubscribed 2
Switch_Latency_ns 300
Downlink_Latency_ns 750   # 150 m

tier 2
downlink_speed_gbps 50
radix_down 4
bundle 2
switch_latency_ns 300
downlink_latency_ns 1500
"""
ASTRA = """\
# 3 x 4 x 2 NPUs

topology: [ Ring, FullyConnected, Switch ]  # in the order of dimensions
npus_count: [ 3, 4, 2 ]
bandwidth: [ 200.0, 100, 50.0 ]  # GB/s
latency: [ 50.0, 500.0, 2000 ]  # ns
"""
IBNET = """\
# Topology file: generated on Mon Jan  1 00:00:00 2024

switchguid=0x2c902400d0(2c902400d0)
Switch	36 "S-0002c902400d0"		# "leaf 1" enhanced port 0 lid 2 lmc 0
[1]	"H-0002c9030001"[1](2c9030002) 		# "host a" lid 1 4xEDR
[2]	"H-0002c9030003"[1](2c9030004) 		# "host b" lid 3 4xEDR
[19]	"S-0002c902400d8"[1]		# "spine" lid 4 4xEDR
[20]	"S-0002c902400d8"[2]		# "spine" lid 4 4xEDR

Switch	36 "S-0002c902400d4"		# "leaf 2" base port 0 lid 5 lmc 0
[1]	"H-0002c9030005"[1](2c9030006) 		# "host c" lid 6 4xEDR
[19]	"S-0002c902400d8"[3]		# "spine" lid 4 4xEDR

Switch	36 "S-0002c902400d8"		# "spine" enhanced port 0 lid 4 lmc 0
[1]	"S-0002c902400d0"[19]		# "leaf 1" lid 2 4xEDR
[2]	"S-0002c902400d0"[20]		# "leaf 1" lid 2 4xEDR
[3]	"S-0002c902400d4"[19]		# "leaf 2" lid 5 4xEDR

Ca	1 "H-0002c9030001"		# "host a"
[1](2c9030002) 	"S-0002c902400d0"[1]		# lid 1 lmc 0 "leaf 1" lid 2 4xEDR

Ca	1 "H-0002c9030003"		# "host b"
[1](2c9030004) 	"S-0002c902400d0"[2]		# lid 3 lmc 0 "leaf 1" lid 2 4xEDR

Ca	1 "H-0002c9030005"		# "host c"
[1](2c9030006) 	"S-0002c902400d4"[1]		# lid 6 lmc 0 "leaf 2" lid 5 4xEDR
"""
LFTS = """\
Unicast lids [0x1-0x6] of switch Lid 2 guid 0x0000002c902400d0 (leaf 1):
  Lid  Out   Destination
       Port     Info
0x0001 001 : (Channel Adapter portguid 0x00000002c9030002: 'host a')
0x0002 000 : (Switch portguid 0x0000002c902400d0: 'leaf 1')
0x0003 002 : (Channel Adapter portguid 0x00000002c9030004: 'host b')
0x0004 019 : (Switch portguid 0x0000002c902400d8: 'spine')
0x0005 020 : (Switch portguid 0x0000002c902400d4: 'leaf 2')
0x0006 020 : (Channel Adapter portguid 0x00000002c9030006: 'host c')
6 valid lids dumped
Unicast lids [0x1-0x6] of switch Lid 5 guid 0x0000002c902400d4 (leaf 2):
0x0001 019
0x0002 019
0x0003 019
0x0004 019
0x0005 000
0x0006 001
6 valid lids dumped
Unicast lids [0x1-0x7] of switch DR path slid 0; dlid 0; 0,1,19 guid 0x0000002c902400d8 (spine):
0x0001 001 : (Channel Adapter portguid 0x00000002c9030002: 'host a')
0x0002 001 : (Switch portguid 0x0000002c902400d0: 'leaf 1')
0x0003 001 : (Channel Adapter portguid 0x00000002c9030004: 'host b')
0x0004 000 : (Switch portguid 0x0000002c902400d8: 'spine')
0x0005 003 : (Switch portguid 0x0000002c902400d4: 'leaf 2')
0x0006 003 : (Channel Adapter portguid 0x00000002c9030006: 'host c')
0x0007 255 : (illegal port)
7 lids dumped
"""
#: These tools end such lines with a blank.
LFTS = LFTS.replace(" dumped\n", " dumped \n")


def written(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def hash_of(network: fw.Network) -> str:
    return str(plan_of(simulation(network, fw.uniform(offered_load=0.1))).hash)


def beside(network: fw.Network) -> dict[str, Any]:
    """What a network says beside its topology."""
    return {name: one for name, one in network.spec.items() if name != "topology"}


def test_a_fat_tree_of_htsim_keeps_its_tiers_bundles_and_latencies(tmp_path: Path) -> None:
    router = {"buffer_flits": 1024}
    net = fw.read_network(written(tmp_path, "fat.topo", HTSIM), router=router, routing="up_down")
    found = net.topology
    assert found["names"] == [f"T{t}_{i}" for t, count in enumerate((8, 4, 2)) for i in range(count)]
    assert found["terminals"] == [2] * 8 + [0] * 6
    names = found["names"]
    cables = Counter((names[a], names[b]) for a, b in found["cables"])
    pods = [(f"T0_{i}", f"T1_{i // 4 * 2 + j}") for i in range(8) for j in range(2)]
    top = [("T1_0", "T2_0"), ("T1_1", "T2_1"), ("T1_2", "T2_0"), ("T1_3", "T2_1")]
    assert cables == Counter(pods + top + top)
    assert (found["cable_latency_ns"], found["cable_cycles_per_flit"]) == (
        [750] * 16 + [1500] * 8,
        [1] * 16 + [2] * 8,
    )
    # Hosts' cables, switches and the speed, with flits of 64 bytes.
    assert beside(net) == {
        "units": {"channel_bytes_per_s": 12.5e9, "flit_bytes": 64}, "channel": {"local_latency_ns": 500},
        "router": {"st_delay_ns": 300, "buffer_flits": 1024}, "routing": {"kind": "up_down"},
    }  # fmt: skip
    done = fw.simulate(net, fw.all_to_all("a2a", message_flits=8))
    assert done.row["status"] == "complete" and done.row["packets"] == 16 * 15
    # To the other host of a switch: two cables of 500 ns and a switch of 300; to the next switch of the pod two cables
    # of 750 ns and two switches more.
    for destinations, nanoseconds in (([i ^ 1 for i in range(16)], 1300), ([i ^ 2 for i in range(16)], 3400)):
        alone = fw.traffic("permutation", offered_load=0.001, destinations=destinations, packet_flits=1)
        assert 0 <= fw.simulate(net, alone).row["packet_latency_min_ns"] - nanoseconds < 30


def test_an_astra_sim_network_has_a_shape_in_each_dimension(tmp_path: Path) -> None:
    net = fw.read_network(written(tmp_path, "net.yml", ASTRA), router=fw.Router(vcs=6), routing="lash")
    found = net.topology
    # Three on a ring for each of 8 places, six pairs of four for each of 6, and 24 to 12 switches.
    assert (len(found["names"]), found["terminals"]) == (36, [1] * 24 + [0] * 12)
    names = found["names"]
    assert names[:2] == ["npu_0", "npu_1"] and names[24] == "switch_2_0"
    assert found["cable_latency_ns"] == [50] * 24 + [500] * 36 + [2000] * 24
    assert found["cable_cycles_per_flit"] == [1] * 24 + [2] * 36 + [4] * 24
    cables = {(names[a], names[b]) for a, b in found["cables"]}
    assert {("npu_0", "npu_1"), ("npu_1", "npu_2"), ("npu_2", "npu_0")} <= cables
    # The second dimension counts in steps of 3, the third in steps of 12.
    assert {("npu_0", "npu_3"), ("npu_0", "npu_9"), ("npu_3", "npu_6")} <= cables
    assert {("npu_1", "switch_2_1"), ("npu_13", "switch_2_1")} <= cables
    assert beside(net)["units"] == {"channel_bytes_per_s": 200 * 2**30, "flit_bytes": 64}
    assert fw.simulate(net, fw.all_to_all("a2a", message_flits=4)).row["status"] == "complete"
    single = fw.read_network(
        written(tmp_path, "one.yml", 'topology: "Switch"\nnpus_count: 8\nbandwidth: 400\nlatency: 936.25\n')
    )
    assert len(single.topology["cables"]) == 8 and hash_of(single)


def test_the_network_decides_over_what_a_file_says_beside_the_topology(tmp_path: Path) -> None:
    file = written(tmp_path, "fat.topo", HTSIM)
    said = {"flit_bytes": 16, "cycle_ns": 1.0}
    net = fw.read_network(
        file, units=said, channel=fw.Channel(local_latency_cycles=3), router=fw.Router(st_delay_cycles=2)
    )
    assert beside(net) == {"units": said, "channel": {"local_latency_cycles": 3}, "router": {"st_delay_cycles": 2}}
    assert beside(fw.read_network(file, units=fw.Units(flit_bytes=16)))["units"]["channel_bytes_per_s"] == 12.5e9
    with pytest.warns(UserWarning, match="differs between tiers"):
        uneven = fw.read_network(written(tmp_path, "uneven.topo", HTSIM.replace("latency_ns 300", "latency_ns 250")))
    assert "router" not in beside(uneven)
    with pytest.warns(UserWarning, match="hosts are slower"):
        fw.read_network(written(tmp_path, "slow.topo", HTSIM.replace("Gbps 100", "Gbps 25", 1)))
    with pytest.warns(UserWarning, match="60 of 100 Gbit/s as 1/2"):
        fw.read_network(written(tmp_path, "uneven.topo", HTSIM.replace("gbps 50", "gbps 60")))


def test_what_is_read_is_written_and_read_again_with_the_same_hash(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        networks = [
            fw.read_network(written(tmp_path, "fat.topo", HTSIM)),
            fw.read_network(written(tmp_path, "net.yml", ASTRA), router=fw.Router(vcs=8)),
            fw.read_network(written(tmp_path, "ib.txt", IBNET), forwarding=written(tmp_path, "lfts.txt", LFTS)),
        ]
    for network in networks:
        file = fw.write_network(network, tmp_path / "again.graphml")
        again = fw.read_network(file, **beside(network))
        assert hash_of(again) == hash_of(network)


def test_a_study_takes_them_by_name(tmp_path: Path) -> None:
    written(tmp_path, "net.yml", ASTRA)
    written(tmp_path, "ib.txt", IBNET)
    written(tmp_path, "lfts.txt", LFTS)
    study = """
        [study]
        name = "files"
        [base]
        workload = { kind = "all_to_all", algorithm = "a2a", message_flits = 4 }
        network.router.vcs = 8
        [[experiments]]
        id = "shapes"
        set = { "network.topology" = { kind = "graph", file = "net.yml" } }
        [[experiments]]
        id = "tables"
        [experiments.set]
        "network.topology" = { kind = "graph", file = "ib.txt" }
        "network.routing" = { kind = "table", file = "lfts.txt" }
        """
    done = fw.run_study(fw.load_study(written(tmp_path, "study.toml", study)), tmp_path / "results", jobs=1)
    assert not done.failures and set(done.table["terminals"]) == {24, 3}


#: A change to a text, by regular expression, and what the error says of it.
CHANGED_TREES = [
    ("Radix_Up 2\nQ", "Radix_Up 3\nQ", "fat.topo: Oversubscribed 1 in tier 0 (line 12): expected 0.666667: 2 ports down, 3 up"),
    ("Podsize 8", "Podsize 7", "Podsize 7 in the header (line 4): expected a divisor of Nodes 16"),
    ("Podsize 8\n", "", "no Podsize in the header"),
    ("Nodes 16", "Nodes sixteen", "Nodes sixteen (line 2): expected a name and a whole number"),
    ("Tiers 3", "Tiers 4", "Tiers 4 in the header (line 3): expected 2 or 3"),
    ("Tiers 3", "Tiers 2", "expected Tiers 3 in the header"),
    ("Oversubscribed 2", "Oversubscribed 3", "Oversubscribed 3 in tier 1 (line 20): expected 2: 4 ports down, 2 up"),
    ("Radix_Up 2\nO", "Radix_Up 2 2\nO", "Radix_Up 2 2 (line 19): expected a name and a whole number"),
    ("Radix_Down 4", "Radix_Down 5", "Radix_Down 5 in tier 1 (line 18): expected 4: 4 switches of tier 0 in a pod, Bundle 1"),
    ("Oversubscribed 2", "Oversubscribe 2", "in tier 1; did you mean `Oversubscribed`"),
    ("bundle 2", "bundle 3", "Radix_Up 2 in tier 1 (line 19): expected a multiple of Bundle 3 in the tier above"),
    ("radix_down 4\nb", "radix_down 5\nb", "(line 26): expected 4: 2 pods, Bundle 2"),
    ("radix_down 4\nb", "radix_up 4\nb", "no Radix_Up in the top tier"),
    ("Downlink_speed_Gbps 100\n", "Downlink_speed_Gbps 0\n", "Downlink_speed_Gbps 0 in tier 0 (line 7): expected at least 1"),
    ("tier 2", "tier 1", "Tier 1 (line 24): expected tier 1 once"),
    ("Queue_Up", "Radix_Up", "Radix_Up once in tier 0; it is in line 9"),
    ("Nodes 16(?s:.*)radix_down 4", HTSIM[HTSIM.index("Nodes 16") :].partition("radix_down 4")[0].replace("16", "8000000") + "radix_down 2000000", "6,000,002 routers (line 2): expected at most 1,000,000 routers"),
    ("downlink_latency_ns 1500\n", "", "no Downlink_Latency_ns in tier 2 (line 24)"),
]  # fmt: skip
CHANGED_SHAPES = [
    ("Ring,", "Mesh,", "net.yml: topology Mesh (line 3): expected one of Ring, FullyConnected, Switch"),
    ("topology.*\n", "", "no topology in 5 lines"),
    ("3, 4, 2 ]", "3, 4 ]", "2 entries of npus_count (line 4): expected 3, one for each dimension"),
    ("3, 4, 2 ]", "3, 4, 2", "npus_count: [ 3, 4, 2 (line 4): expected a key and its values"),
    ("3, 4, 2 ]", "3, 1, 2 ]", "npus_count 1 (line 4): expected a whole number of at least 2"),
    ("3, 4, 2 ]", "3, , 2 ]", "expected a value for each dimension"),
    ("200.0", "-200", "bandwidth -200 (line 5): expected GB/s, more than 0"),
    ("2000 ]", "inf ]", "latency inf (line 6): expected ns, at least 0"),
    ("latency", "latencies", "did you mean `latency`"),
    ("latency", "bandwidth", "bandwidth (line 6): expected bandwidth once; it is in line 5"),
    ("3, 4, 2", "3, 4000, 2", "48,036,000 cables (line 4): expected at most 2,097,152 cables"),
    ("3, 4, 2", "3, 99, 2", 'at router 0 "npu_0": expected at most 64 cables'),
]


@pytest.mark.parametrize(
    ("name", "text", "change"),
    [("fat.topo", HTSIM, change) for change in CHANGED_TREES]
    + [("net.yml", ASTRA, change) for change in CHANGED_SHAPES],
)
def test_a_mistake_is_named_with_its_file_and_line(
    tmp_path: Path, name: str, text: str, change: tuple[str, str, str]
) -> None:
    pattern, instead, expected = change
    changed = re.sub(pattern, instead, text, count=1)
    assert changed != text
    with pytest.raises(fw.ConfigError) as caught:
        fw.simulate(fw.read_network(written(tmp_path, name, changed)), fw.uniform(offered_load=0.1))
    assert expected in str(caught.value)


@pytest.mark.parametrize("text", [HTSIM, ASTRA, LFTS])
def test_a_text_that_is_cut_short_is_refused(tmp_path: Path, text: str) -> None:
    """At the end of a line: the last line of a tier is the only one that a reader cannot miss."""
    lines = text.splitlines(keepends=True)
    fabric = written(tmp_path, "ib.txt", IBNET)
    for count in range(1, len(lines)):
        expected = "no table of" if text is LFTS and lines[count - 1].endswith("dumped \n") else "expected"
        file = written(tmp_path, "cut", "".join(lines[:count]))
        with pytest.raises(fw.ConfigError, match=expected):
            fw.read_network(fabric, forwarding=file) if text is LFTS else fw.read_network(file)


def test_random_fat_trees_have_as_many_cables_as_ports(tmp_path: Path) -> None:
    draw = random.Random(7)
    for number in range(30):
        pods, tors, middle = (draw.randint(1, 4) for _ in range(3))
        bundle = [1, draw.randint(1, 3), draw.randint(1, 2)]
        down, cores = draw.randint(1, 4), draw.randint(1, 3)
        three = draw.random() < 0.6
        pods = pods if three else 1
        tiers = [
            {"Radix_Down": down, "Radix_Up": middle * bundle[1]},
            {"Radix_Down": tors * bundle[1], "Radix_Up": cores * bundle[2], "Bundle": bundle[1]},
            {"Radix_Down": pods * bundle[2], "Bundle": bundle[2]},
        ][: 3 if three else 2]
        tiers[-1].pop("Radix_Up", None)
        lines = [f"Nodes {pods * tors * down}", f"Podsize {tors * down}", f"Tiers {len(tiers)}"]
        for i, tier in enumerate(tiers):
            said = [
                f"{name} {one}"
                for name, one in {**tier, "Downlink_speed_Gbps": 400, "Downlink_Latency_ns": 10 + i}.items()
            ]
            draw.shuffle(said)
            lines += [f"Tier {i}", *said]
        net = fw.read_network(
            written(tmp_path, f"{number}.topo", "\n".join(lines)), routing="up_down", router=fw.Router(vcs=1)
        )
        found = net.topology
        lower, upper = pods * tors * middle * bundle[1], pods * middle * cores * bundle[2] if three else 0
        assert found["cable_latency_ns"] == [11] * lower + [12] * upper
        assert sum(found["terminals"]) == pods * tors * down and "cable_cycles_per_flit" not in found
        graph = fw.to_networkx(net)
        ports = {name: graph.degree(name) for name in graph}
        for name, tier in ((name, tiers[int(name[1])]) for name in graph):
            below = 0 if name.startswith("T0") else tier["Radix_Down"]
            assert ports[name] == below + tier.get("Radix_Up", 0)
        assert nx.diameter(graph) <= 2 * (len(tiers) - 1) if middle == 1 or not three else nx.is_connected(graph)
        if sum(found["terminals"]) > 1:
            done = fw.simulate(net, fw.all_to_all("a2a", message_flits=2))
            assert done.row["status"] == "complete"


def test_random_shapes_of_astra_sim_have_as_many_cables_as_the_formula_says(tmp_path: Path) -> None:
    draw = random.Random(8)
    for number in range(30):
        shapes = [draw.choice(["Ring", "FullyConnected", "Switch"]) for _ in range(draw.randint(1, 3))]
        sizes = [draw.randint(2, 5) for _ in shapes]
        speeds, latencies = [draw.choice([25, 50, 100]) for _ in shapes], [draw.randint(0, 900) / 4 for _ in shapes]
        text = f"latency: {latencies}\ntopology: [{', '.join(shapes)}]\nbandwidth: {speeds}\nnpus_count: {sizes}\n"
        routing = draw.choice(["up_down", "lash"])
        net = fw.read_network(written(tmp_path, f"{number}.yml", text), routing=routing, router=fw.Router(vcs=8))
        npus, found = math.prod(sizes), net.topology
        expected: list[tuple[float, int]] = []
        for shape, size, speed, latency in zip(shapes, sizes, speeds, latencies, strict=True):
            cables = {"Ring": size if size > 2 else 1, "FullyConnected": size * (size - 1) // 2, "Switch": size}[shape]
            expected += [(latency, max(speeds) // speed)] * (cables * npus // size)
        cycles = found.get("cable_cycles_per_flit", [1] * len(expected))
        assert [*zip(found["cable_latency_ns"], cycles, strict=True)] == expected
        graph = nx.Graph(fw.to_networkx(net))
        # Between two NPUs each dimension in which they differ takes its hops.
        one, other = draw.randrange(npus), draw.randrange(npus)
        hops, stride = 0, 1
        for shape, size in zip(shapes, sizes, strict=True):
            apart = abs(one // stride % size - other // stride % size)
            stride *= size
            hops += {"Ring": min(apart, size - apart), "FullyConnected": min(apart, 1), "Switch": 2 * min(apart, 1)}[
                shape
            ]
        assert nx.shortest_path_length(graph, f"npu_{one}", f"npu_{other}") == hops
        done = fw.simulate(net, fw.all_to_all("a2a", message_flits=2))
        assert done.row["status"] == "complete" and done.row["terminals"] == npus


def test_packets_take_the_ports_of_forwarding_tables(tmp_path: Path) -> None:
    fabric = written(tmp_path, "ib.txt", IBNET)
    net = fw.read_network(fabric, forwarding=written(tmp_path, "lfts.txt", LFTS))
    assert net.topology["names"] == ["leaf 1", "leaf 2", "spine"]
    assert net.spec["routing"]["kind"] == "table"
    # Leaf 1 has two cables to the spine, of which host c is behind the second; -1 where a terminal is.
    ports = net.spec["routing"]["ports"]
    assert ports == [[-1, -1, 1], [0, 0, -1], [0, 0, 2]]
    same = fw.read_network(fabric, routing=fw.routing.Table(ports=ports))
    runs = [fw.simulate(one, fw.all_to_all("a2a", message_flits=8)).row for one in (net, same)]
    assert runs[0]["status"] == "complete" and runs[0]["digest"] == runs[1]["digest"]
    # Two hosts of a leaf by different cables.
    other = fw.read_network(fabric, forwarding=written(tmp_path, "other.txt", LFTS.replace("0x0003 001", "0x0003 002")))
    assert other.spec["routing"]["ports"][2] == [0, 1, 2]
    # As opensm dumps them.
    dumped = (
        LFTS.replace("[0x1-0x6]", "[0-6]")
        .replace("[0x1-0x7]", "[0-6]")
        .replace("7 lids", "6 lids")
        .replace(" : (", " # (")
    )
    assert fw.read_network(fabric, forwarding=written(tmp_path, "opensm.txt", dumped)) == net


def test_forwarding_tables_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    fabric = written(tmp_path, "ib.txt", IBNET)
    for pattern, instead, expected in (
        ("0x0006 020", "0x0016 020", "lfts.txt: LID 22 (0x0016, line 9): expected a LID of the fabric"),
        ("0x0006 020", "0x0006 021", "lfts.txt: LID 6 by port 21 (line 9): expected a port of leaf 1 with a cable"),
        ("0x0006 020", "0x0006 001", "LID 6 (host c) by port 1 of leaf 1 (line 9): expected a port to another switch; this one leads to host a"),
        ("0x0006 020", "0x0006 000", "LID 6 by port 0 (line 9): expected port 0 for the LID of the switch only"),
        ("0x0001 001", "0x0001 002", "LID 1 (host a) by port 2 of leaf 1 (line 4): expected port 1, where it is"),
        ("0x0006 003", "0x0006 255", "the table of spine (line 19): expected an entry for LID 6 (host c)"),
        ("0x0006 003", "0x0006 002", "LID 6 (host c) goes round leaf 1 - spine - leaf 1"),
        ("0x0006 020", "0x0005 020", "expected LID 5 once in a table; it is in line 8"),
        ("0x0006 020.*\n", "", "expected 5 lids dumped, as the table in line 1 has 5 entries"),
        ("6 valid lids dumped \n", "", "no end of the table in line 1 before line 10"),
        ("Lid 5 guid", "Lid 6 guid", "Lid 6 (line 11): expected Lid 5, which leaf 2 has in the fabric"),
        ("902400d4 .leaf 2", "902400d9 (leaf 2", "guid 0x0000002c902400d9 (line 11): expected the GUID of a switch"),
        ("902400d4 .leaf 2", "902400d0 (leaf 2", "expected one table for each switch; leaf 1 has one in line 1"),
        ("Unicast", "Multicast", "expected the table of a switch: Unicast lids"),
    ):  # fmt: skip
        changed = re.sub(pattern, instead, LFTS, count=1)
        assert changed != LFTS
        with pytest.raises(fw.ConfigError) as caught:
            fw.read_network(fabric, forwarding=written(tmp_path, "lfts.txt", changed))
        assert expected in str(caught.value), pattern
    file = written(tmp_path, "lfts.txt", LFTS)
    for text, expected in (
        (IBNET.replace("# lid 6 lmc 0", "#"), "ib.txt: no LID of host c port 1"),
        (
            IBNET.replace("# lid 6 lmc 0", "# lid 3 lmc 0"),
            "LID 3 of host c (line 25): expected each LID once; host b has it",
        ),
        ("0,1\n1,2\n", "what ibnetdiscover prints"),
    ):
        with pytest.raises(fw.ConfigError) as caught:
            fw.read_network(written(tmp_path, "ib.txt", text), forwarding=file)
        assert expected in str(caught.value)
    for options, path in (
        ({"forwarding": file, "routing": "up_down"}, "forwarding"),
        ({"forwarding": written(tmp_path, "no.txt", "0 1 2\n")}, "forwarding"),
        ({"forwarding": tmp_path / "missing"}, "forwarding"),
        ({"forwarding": 3}, "forwarding"),
    ):
        with pytest.raises(fw.ConfigError) as caught:
            fw.read_network(fabric, **options)  # type: ignore[arg-type]
        assert caught.value.path == path
    with pytest.raises(fw.ConfigError, match=r"forwarding tables of a fabric; fw\.read_network"):
        fw.read_network(file)
    with pytest.raises(fw.ConfigError, match=r"ibnetdiscover prints as network\.topology\.file"):
        fw.Graph(cables=[(0, 1)], routing=fw.routing.Table(file=str(file)))


def leaf_spine(draw: random.Random, *, by_host: bool) -> tuple[str, str, int, int]:
    """A random fabric, its tables, and its leaves and spines: up by a spine for each leaf, or for each host."""
    leaves, spines, hosts = draw.randint(2, 5), draw.randint(2, 4), draw.randint(2, 3)
    cables = {(leaf, spine): draw.randint(1, 2) for leaf in range(leaves) for spine in range(spines)}
    up: dict[tuple[int, int], list[tuple[int, int]]] = {}
    ports = [hosts] * leaves + [0] * spines
    for (leaf, spine), count in cables.items():
        for _ in range(count):
            ports[leaf] += 1
            ports[leaves + spine] += 1
            up.setdefault((leaf, spine), []).append((ports[leaf], ports[leaves + spine]))
    ident = [f"S-{0x100 + i:016x}" for i in range(leaves + spines)]
    lines = []
    for i in range(leaves + spines):
        lines.append(f'Switch\t36 "{ident[i]}"\t\t# "sw{i}" enhanced port 0 lid {i + 1} lmc 0')
        if i < leaves:
            lines += [f'[{h + 1}]\t"H-{i * hosts + h:016x}"[1](1) \t\t# "h" lid 9 4xHDR' for h in range(hosts)]
        for (leaf, spine), several in up.items():
            for at_leaf, at_spine in several:
                if i == leaf:
                    lines.append(f'[{at_leaf}]\t"{ident[leaves + spine]}"[{at_spine}]\t\t# "s" lid 1 4xHDR')
                elif i == leaves + spine:
                    lines.append(f'[{at_spine}]\t"{ident[leaf]}"[{at_leaf}]\t\t# "s" lid 1 4xHDR')
        lines.append("")
    lid = {(leaf, h): leaves + spines + 1 + 2 * (leaf * hosts + h) for leaf in range(leaves) for h in range(hosts)}
    for (leaf, h), own in lid.items():
        lines += [f'Ca\t1 "H-{leaf * hosts + h:016x}"\t\t# "host {leaf} {h}"']
        lines += [f'[1](1) \t"{ident[leaf]}"[{h + 1}]\t\t# lid {own} lmc 1 "s" lid 1 4xHDR', ""]
    tables = []
    for i in range(leaves + spines):
        entries = {i + 1: 0}
        for (leaf, h), own in lid.items():
            for extra in range(2):
                if i == leaf:
                    port = h + 1
                elif i < leaves:
                    port = draw.choice(up[i, (leaf + h * by_host) % spines])[0]
                else:
                    port = draw.choice(up[leaf, i - leaves])[1]
                entries[own + extra] = port
        tables.append(f"Unicast lids [0x1-0x{max(entries):x}] of switch Lid {i + 1} guid 0x{0x100 + i:016x} (sw{i}):")
        tables += [f"0x{own:04x} {port:03d} : (whatever)" for own, port in entries.items()]
        tables.append(f"{len(entries)} valid lids dumped ")
    return "\n".join(lines) + "\n", "\n".join(tables) + "\n", leaves, spines


@pytest.mark.parametrize("by_host", [False, True])
def test_packets_walk_random_forwarding_tables(tmp_path: Path, by_host: bool) -> None:
    """As opensm spreads hosts, too: two terminals of a leaf by different spines."""
    draw = random.Random(9)
    for number in range(20):
        fabric, tables, leaves, spines = leaf_spine(draw, by_host=by_host)
        net = fw.read_network(
            written(tmp_path, f"{number}.ib", fabric), forwarding=written(tmp_path, f"{number}.lft", tables)
        )
        ends = _core.channels(json.dumps(net.topology))
        ahead = {
            (r, p): to
            for r, p, to in zip(*(ends[key].tolist() for key in ("router", "port", "to_router")), strict=True)
        }
        ports, hosts = net.spec["routing"]["ports"], len(net.topology["terminal_names"]) // leaves
        spread = set()
        for leaf, to in itertools.permutations(range(leaves), 2):
            for host in range(hosts):
                terminal = to * hosts + host
                assert net.topology["terminal_names"][terminal] == f"host {to} {host}"
                spine = ahead[leaf, ports[leaf][terminal]]
                assert spine == leaves + (to + host * by_host) % spines
                assert ahead[spine, ports[spine][terminal]] == to
                spread.add((leaf, to, spine))
        assert (len(spread) > leaves * (leaves - 1)) == by_host
        assert fw.simulate(net, fw.all_to_all("a2a", message_flits=4)).row["status"] == "complete"


@pytest.mark.parametrize("seed", range(4))
def test_damaged_files_are_errors_and_never_tracebacks(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    fabric, tables = written(tmp_path, "ib.txt", IBNET), written(tmp_path, "lfts.txt", LFTS)
    read = 0
    for number in range(150):
        text = draw.choice([HTSIM, ASTRA, LFTS, IBNET])
        damaged = list(text)
        for _ in range(draw.randint(1, 8)):
            place = draw.randrange(len(damaged))
            signs = ["", "[", ",", "9", "0", "\n", ":", "-", "#", " ", '"', "Tier 1\n", "٣", "e9", "Switch"]
            damaged[place : place + draw.randint(0, 3)] = draw.choice(signs)
        file = written(tmp_path, f"damaged-{number % 4}", "".join(damaged))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                if text is LFTS:
                    fw.read_network(fabric, forwarding=file)
                else:
                    fw.read_network(file, forwarding=tables if text is IBNET else None)
            read += 1
        except fw.ConfigError as error:
            assert error.path.split(".")[0] in ("network", "forwarding"), error
    assert read > 0
