"""Several ranks on each terminal: algorithms that know servers, unequal servers, and what no algorithm can beat."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import flitwork as fw
import numpy as np
import pytest
from common import Cli
from flitwork import _core

SWITCH = fw.Crossbar(terminals=4, router=fw.Router(vcs=1, buffer_flits=64), units=fw.Units(flit_bytes=16))
EQUAL = fw.Host(ranks_per_terminal=4)
UNEQUAL = fw.Host(placement=fw.placement.Counts(ranks=[8, 5, 2, 1]))
HOSTS = {"equal": EQUAL, "round_robin": fw.Host(ranks_per_terminal=4, placement="round_robin"), "unequal": UNEQUAL}
NAMES = [row["name"] for row in json.loads(_core.components())["collectives"] if row["goes_by"] == "servers"]
ONCE = ["pairwise_shift", "two_level_ring", "birkhoff"]


def of(algorithm: str, **more: Any) -> fw.Workload:
    return fw.collective("all_to_all", algorithm, **{"message_flits": 64, "packet_flits": 16, **more})


@pytest.mark.parametrize("host", HOSTS.values(), ids=HOSTS)
@pytest.mark.parametrize("name", ["pairwise_shift", *NAMES])
def test_they_run_and_do_not_beat_what_leaves_the_largest_server(name: str, host: fw.Host) -> None:
    done = fw.simulate(SWITCH, of(name), host=host)
    least = 64 * max(n * (16 - n) for n in ((8, 5, 2, 1) if host is UNEQUAL else (4, 4, 4, 4)))
    assert done.bound.operation["cycles"] == least and done.completion_cycles >= least
    assert done.bound.injection_cycles == least, "what stays within a server is not counted"


def test_what_is_left_out_of_the_bound_stays_within_servers() -> None:
    """Each block goes once; what a leader hands on within its server is not in the bound of the algorithm."""
    for host in (EQUAL, UNEQUAL):
        assert len({fw.bound(SWITCH, of(name), host=host).tightest_cycles for name in [*ONCE, *NAMES]}) == 1


def test_slots_are_faster_than_the_ring_on_unequal_servers() -> None:
    times = {name: fw.simulate(SWITCH, of(name), host=UNEQUAL).completion_cycles for name in ONCE}
    assert times["birkhoff"] < 0.9 * times["two_level_ring"]
    equal = {name: fw.simulate(SWITCH, of(name), host=EQUAL).row["digest"] for name in ONCE[1:]}
    assert equal["birkhoff"] == equal["two_level_ring"]


@pytest.mark.parametrize("name", NAMES)
def test_with_a_rank_on_each_terminal_they_are_the_ring(name: str) -> None:
    assert fw.simulate(SWITCH, of(name)).row["digest"] == fw.simulate(SWITCH, of("pairwise_shift")).row["digest"]


@pytest.mark.parametrize("host", HOSTS.values(), ids=HOSTS)
@pytest.mark.parametrize("name", NAMES)
def test_rank_programs_do_the_same_with_data(name: str, host: fw.Host) -> None:
    def program(comm: Any) -> None:
        size, rank = comm.Get_size(), comm.Get_rank()
        room = np.empty(size * 32)
        comm.Alltoall(np.repeat(np.arange(size) + rank * size, 32).astype(float), room)
        assert (room.reshape(size, 32) == (np.arange(size) * size + rank)[:, None]).all()

    def sent(result: fw.Result) -> list[Any]:
        return sorted(result.packets[["src", "dst", "flits"]].itertuples(index=False, name=None))

    ran = fw.mpi.run(
        program, ranks=16, network=SWITCH, host=host, algorithms={"alltoall": name}, packet_flits=16, packets=True
    )
    made = fw.simulate(SWITCH, of(name, message_flits=None, message_bytes=256), host=host, packets=True)
    assert sent(ran.result) == sent(made) and ran.result.completion_cycles == made.completion_cycles


def test_a_communicator_has_servers_of_its_own() -> None:
    """Of the even ranks 2 are on each terminal: a rank sends one message to each other one, and one to its neighbour."""

    def program(comm: Any) -> None:
        half = comm.Split(comm.Get_rank() % 2)
        half.Alltoall(np.zeros(8), np.zeros(8))

    chosen = {"alltoall": "aggregation", "allgather": "ring"}
    whole = fw.mpi.run(program, ranks=16, network=SWITCH, host=EQUAL, algorithms=chosen)
    other = fw.mpi.run(program, ranks=16, network=SWITCH, host=EQUAL, algorithms={**chosen, "alltoall": "hierarchical"})
    # Besides, splitting takes as many messages in both.
    assert whole.messages - other.messages == 16 * (1 + 3) - 2 * (4 + 4 * 3 + 4)


def test_sizes_of_blocks_may_differ() -> None:
    sizes = np.arange(256).reshape(16, 16)
    away = fw.bound(SWITCH, of("aggregation", message_flits=None, sizes=sizes), host=EQUAL)
    terminal = np.arange(16) // 4
    least = (sizes * (terminal[:, None] != terminal)).reshape(4, 4, 16).sum(axis=(1, 2)).max() / 16
    assert least <= away.injection_cycles < 1.01 * least


def test_a_study_says_servers_in_toml(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text(
        """
[study]
name = "servers"

[base.network]
topology = { kind = "crossbar", terminals = 3 }
router = { vcs = 1, buffer_flits = 32 }

[base.workload]
kind = "collective"
operation = "all_to_all"
message_flits = 32
packet_flits = 16

[[experiments]]
id = "equal"
set = { host.ranks_per_terminal = 4 }
grid."workload.algorithm" = ["pairwise_shift", "two_level_ring"]

[[experiments]]
id = "unequal"
set = { host.placement = { kind = "counts", ranks = [6, 3, 1] } }
grid."workload.algorithm" = ["two_level_ring", "birkhoff"]
""",
        encoding="utf-8",
    )
    done = fw.run_study(fw.load_study(file), tmp_path / "results", jobs=1)
    assert not done.failures and len(done.table) == 4
    packets = done.table.groupby("experiment")["packets"].unique()
    assert list(packets["equal"]) == [12 * 11 * 2] and list(packets["unequal"]) == [10 * 9 * 2]


def test_lists_and_counts_say_how_many_ranks_there_are() -> None:
    def ranks(**host: Any) -> int:
        return len(fw.Simulation(SWITCH, of("two_level_ring"), host=fw.Host(**host)).placement)

    assert ranks(placement=fw.placement.List(terminals=[3, 3, 3, 0, 0])) == 5
    assert ranks(placement=fw.placement.Counts(ranks=[1, 2, 3, 4])) == 10
    assert ranks(placement=fw.placement.List(terminals=[3, 2, 1, 0] * 2), ranks_per_terminal=2) == 8
    alone = fw.Host(placement=fw.placement.List(terminals=[2, 2, 2, 2]))
    assert fw.bound(SWITCH, of("two_level_ring"), host=alone).operation["cycles"] == 0


@pytest.mark.parametrize(
    ("work", "host", "says"),
    [
        (of("two_level_ring"), {"placement": {"kind": "counts", "ranks": [8, 0, 4, 4]}}, r"ranks\[1\] = 0: expected 1"),
        (of("two_level_ring"), {"placement": {"kind": "counts", "ranks": [8, 8]}}, "2 entries: expected 4 entries"),
        (
            of("two_level_ring"),
            {"placement": {"kind": "counts", "ranks": [8, 8, 8, 8]}, "ranks_per_terminal": 8},
            "host.ranks_per_terminal = 8: expected nothing: host.placement.ranks says",
        ),
        (of("two_level_ring"), {"placement": {"kind": "list", "terminals": [0, 1, 4]}}, r"terminals\[2\] = 4"),
        (of("two_level_ring"), {"placement": {"kind": "list", "terminals": [0]}}, "1 rank: expected at least 2 ranks"),
        (
            of("two_level_ring"),
            {"placement": {"kind": "list", "terminals": [0, 1, 2]}, "ranks_per_terminal": 2},
            "3 entries: expected 8 entries",
        ),
        (
            of("multi_leader", leaders=3),
            {"ranks_per_terminal": 8},
            "workload.leaders = 3: .* one has 8; 1 to 8 leaders",
        ),
        (
            of("multi_leader", leaders=4),
            {"placement": {"kind": "counts", "ranks": [8, 6, 4, 8]}},
            "one has 6; 1 to 2 leaders whose number divides 2",
        ),
        (of("hierarchical", leaders=2), {"ranks_per_terminal": 8}, "all_to_all hierarchical has no leaders"),
        (of("a2at"), {"ranks_per_terminal": 2}, "one rank at each router of a grid"),
    ],
)
def test_what_fits_no_placement_is_named(work: fw.Workload, host: dict[str, Any], says: str) -> None:
    with pytest.raises(fw.ConfigError, match=says):
        fw.bound(SWITCH, work, host=host)


def test_there_is_a_leader_at_least() -> None:
    with pytest.raises(fw.ConfigError, match=r"workload\.leaders = 0: expected a whole number, 1 to"):
        of("multi_leader", leaders=0)


def test_a_schedule_has_as_many_ranks_as_counts_say() -> None:
    schedule = fw.Schedule([[fw.Send(1, flits=1)], [fw.Receive(0, flits=1)], []])
    host = fw.Host(placement=fw.placement.Counts(ranks=[1, 1, 1, 1]))
    with pytest.raises(fw.ConfigError, match=r"host.placement.ranks = 4 ranks: expected 3 ranks together"):
        fw.simulate(SWITCH, schedule, host=host)


def test_servers_are_proven_from_python_and_the_command_line(cli: Cli) -> None:
    found = fw.check(
        fw.collective("all_to_all", "aggregation"), size=(3,), topology="mesh", host=fw.Host(ranks_per_terminal=4)
    )
    assert found.placement and (found.placement["ranks"], found.placement["messages"]) == (12, 12 * (3 + 2))
    told = ["operation=all_to_all", "algorithm=birkhoff", 'host.placement={kind="counts", ranks=[3, 1, 2]}']
    printed = cli("check", "collective", "--size", "3", "--json", *(part for one in told for part in ("--set", one)))
    assert json.loads(printed.stdout)["placement"]["messages"] == 6 * 5


@pytest.mark.parametrize("algorithm", ["two_level_ring", "birkhoff"])
@pytest.mark.parametrize("ranks", [[4, 4, 4], [1, 7, 2, 3], [5, 1, 1, 9, 2, 2, 3]])
def test_servers_at_one_switch_are_proven(algorithm: str, ranks: list[int]) -> None:
    host = fw.Host(placement=fw.placement.Counts(ranks=ranks))
    found = fw.check(fw.collective("all_to_all", algorithm), fw.Crossbar(terminals=len(ranks)), host=host)
    assert found.placement and found.placement["messages"] == sum(ranks) * (sum(ranks) - 1)
    assert f"on crossbar {len(ranks)} terminals" in repr(found)


def test_a_check_takes_a_network_or_a_size() -> None:
    work = fw.collective("all_to_all", "two_level_ring")
    with pytest.raises(fw.ConfigError, match="size = nothing: expected a size for each dimension, or a network"):
        fw.check(work)
    for more in ({"size": (4,)}, {"topology": "mesh"}, {"vcs": 2}):
        with pytest.raises(fw.ConfigError, match="expected nothing beside a network"):
            fw.check(work, fw.Crossbar(terminals=4), **more)  # type: ignore[arg-type]


#: Ratio of the ring to the 2-Level Ring by servers and ranks, Naruse et al. 2010 with the first and last steps.
RATIOS = [(8, 8, 1.177), (24, 8, 1.198), (24, 2, 1.159), (24, 4, 1.190), (24, 1, 1.0)]


@pytest.mark.parametrize(("servers", "ranks", "ratio"), RATIOS)
def test_the_model_of_head_of_line_blocking_adds_up(servers: int, ranks: int, ratio: float) -> None:
    model = fw.hol_model(servers=servers, ranks_per_server=ranks)
    assert round(model.ratio, 3) == ratio and round(model.utilisation, 3) == round(1 / ratio, 3)
    assert len(model.ring_steps) == len(model.two_level_steps) == servers * ranks


def test_the_step_profile_of_the_model() -> None:
    model = fw.hol_model(servers=8, ranks_per_server=8)
    expected = [1, 1.1228, 1.2308, 1.3061, 1.3333, 1.3061, 1.2308, 1.1228]
    np.testing.assert_allclose(model.ring_steps[8:56].reshape(6, 8), [expected] * 6, atol=5e-5)
    np.testing.assert_allclose(model.ring_steps[:8], np.arange(8) / 8)
    np.testing.assert_allclose(model.ring_steps[56:], 1 - np.arange(8) / 8)
    assert round(float(model.ring_steps[8:57].mean()), 4) == 1.2024
    assert model.two_level_steps.tolist() == [0] * 8 + [1] * 56


def test_the_ring_loses_in_the_simulation_what_the_model_says() -> None:
    """8 servers of 8 ranks on a switch with one queue an input, packets of messages in random order."""
    switch = fw.Crossbar(
        terminals=8,
        router=fw.Router(vcs=1, buffer_flits=64, switching="virtual_cut_through"),
        nic=fw.Nic(service=fw.Service(order="random")),
    )
    host = fw.Host(ranks_per_terminal=8, copy_flits_per_cycle=8)

    def ratio_to_bound(name: str) -> float:
        work = fw.collective("all_to_all", name, message_flits=1024, packet_flits=16)
        return fw.simulate(switch, work, host=host).ratio_to_bound

    ring, two_level = ratio_to_bound("pairwise_shift"), ratio_to_bound("two_level_ring")
    assert two_level < 1.05
    assert abs(ring / two_level - fw.hol_model(servers=8, ranks_per_server=8).ratio) < 0.05


def test_the_model_is_refused_what_it_is_not_made_for() -> None:
    with pytest.raises(fw.ConfigError, match="servers = 1: expected a whole number from 2"):
        fw.hol_model(servers=1, ranks_per_server=8)
    with pytest.raises(fw.ConfigError, match="ranks_per_server = 0"):
        fw.hol_model(servers=8, ranks_per_server=0)
