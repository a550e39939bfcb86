"""Servers of several ranks: copies in the memory that they share."""

from __future__ import annotations

from typing import Any

import flitwork as fw
import pytest


def finish(programs: list[list[Any]], ranks: int = 4, packet_flits: int = 4, **host: Any) -> list[int]:
    """When each rank has completed its last operation: all at terminal 0, but for those that ``host`` places elsewhere."""
    terminals = host.pop("terminals", [0] * ranks)
    host = {"placement": fw.placement.List(terminals=terminals), **host}
    work = fw.Schedule([*programs, *[[] for _ in range(ranks - len(programs))]], packet_flits=packet_flits)
    simulation = fw.Simulation(fw.Torus(4), work, host=fw.Host(**host))
    simulation.advance()
    return [int(cycle) for cycle in simulation.last_cycles()]


def test_a_copy_takes_its_flits_over_the_rate() -> None:
    one: list[list[Any]] = [[fw.Send(1, flits=10)], [fw.Receive(0, flits=10)]]
    # 2.5 cycles of 4 flits, 3 of 10 in 3, 10 of one.
    assert [finish(one, 2, copy_flits_per_cycle=rate) for rate in (4, 10 / 3, 1)] == [[3, 3], [3, 3], [10, 10]]
    # Nothing in the network; without a rate the message is three packets to the terminal itself.
    work = fw.Schedule(one, packet_flits=4)
    for rate, packets in ((2, 0), (None, 3)):
        table = {"placement": {"kind": "list", "terminals": [0, 0]}, **({"copy_flits_per_cycle": rate} if rate else {})}
        assert fw.simulate(fw.Torus(4), work, host=table).row["packets"] == packets


def test_ranks_of_a_server_share_its_memory_packet_by_packet() -> None:
    both: list[list[Any]] = [
        [fw.Send(2, flits=8)],
        [fw.Send(3, flits=4)],
        [fw.Receive(0, flits=8)],
        [fw.Receive(1, flits=4)],
    ]
    # At 1 flit/cycle: 4 of the first, 4 of the second, 4 of the first.
    assert finish(both, copy_flits_per_cycle=1) == [12, 8, 12, 8]
    # A rank copies one message after the other.
    two: list[list[Any]] = [
        [fw.Send(1, flits=8), fw.Send(2, flits=4)],
        [fw.Receive(0, flits=8)],
        [fw.Receive(0, flits=4)],
    ]
    assert finish(two, 3, copy_flits_per_cycle=1) == [12, 8, 12]


def test_memories_of_different_servers_and_the_network_work_at_the_same_time() -> None:
    programs: list[list[Any]] = [
        [fw.Send(2, flits=100), fw.Send(1, flits=8)],
        [fw.Receive(0, flits=8)],
        [fw.Receive(0, flits=100), fw.Send(3, flits=8)],
        [fw.Receive(2, flits=8)],
    ]
    cycles = finish(programs, terminals=[0, 0, 1, 1], copy_flits_per_cycle=1)
    assert cycles[1] == cycles[3] == 8
    assert cycles[0] >= 100


def test_copies_need_no_rendezvous_and_keep_their_order() -> None:
    programs: list[list[Any]] = [
        [fw.Send(1, flits=9), fw.Wait([0]), fw.Send(1, flits=3)],
        [fw.Compute(100), fw.Receive(0, flits=9), fw.Receive(0, flits=3)],
    ]
    assert finish(programs, 2, copy_flits_per_cycle=1, eager_limit_flits=1)[0] == 12


def test_an_all_to_all_of_servers_is_complete_at_any_rate() -> None:
    times = []
    for kernel in ("flit", "packet"):
        router = fw.Router(switching="virtual_cut_through", hold_switch_until_tail=True, buffer_flits=32)
        net = fw.Crossbar(terminals=3, router=router, units=fw.Units(flit_bytes=64, channel_bytes_per_s="2 GB/s"))
        host = fw.Host(ranks_per_terminal=4, copy_bytes_per_s="10 GB/s")
        work = fw.collective("all_to_all", "pairwise_shift", message_bytes="4 KiB", packet_bytes=2048)
        result = fw.simulate(net, work, host=host, run=fw.Run(kernel=kernel))
        assert result.spec["host"]["copy_flits_per_cycle"] == 5
        # 2 packets for each of 12 x 8 pairs in different servers.
        assert result.row["packets"] == 12 * 8 * 2
        times.append(result.completion_cycles)
    assert times[0] == times[1]


def test_why_a_server_is_slow() -> None:
    programs: list[list[Any]] = [[fw.Send(1, flits=40)], [fw.Receive(0, flits=40), fw.Wait([0]), fw.Compute(7)]]
    host = fw.Host(placement=fw.placement.List(terminals=[0, 0]), copy_flits_per_cycle=2)
    run = fw.Run(record=fw.Record(waits=True, operations=True, packets=True))
    causes = fw.explain(fw.simulate(fw.Torus(4), fw.Schedule(programs), host=host, run=run)).causes
    assert dict(zip(causes["cause"], causes["cycles"].tolist(), strict=True)) == {"copying": 20, "computing": 7}


@pytest.mark.parametrize(
    ("host", "message"),
    [
        ({"copy_flits_per_cycle": 0}, r"host.copy_flits_per_cycle = 0: expected 1e-6 to 1e6"),
        ({"copy_flits_per_cycle": -2}, r"host.copy_flits_per_cycle = -2"),
        ({"copy_flits_per_cycle": 1e9}, r"host.copy_flits_per_cycle = 1000000000"),
        ({"copy_bytes_per_s": "10 GB/s"}, r"network.units.* = nothing: expected a value, as host.copy_bytes_per_s"),
        ({"ranks_per_terminal": 0}, r"host.ranks_per_terminal = 0: expected a whole number, 1 to 1000"),
        ({"ranks_per_terminal": -1}, r"host.ranks_per_terminal = -1"),
        ({"ranks_per_terminal": 1001}, r"host.ranks_per_terminal = 1001"),
        ({"placement": {"kind": "list", "terminals": [0, 1, 4, 2]}}, r"host.placement.*4"),
        ({"placement": {"kind": "list", "terminals": [0, 1]}, "ranks_per_terminal": 2}, r"host.placement"),
    ],
)
def test_what_makes_no_server_is_refused(host: dict[str, Any], message: str) -> None:
    with pytest.raises(fw.ConfigError, match=message):
        fw.simulate(fw.Torus(4), fw.all_to_all("a2a", message_flits=4), host=host)


def test_traffic_has_no_servers() -> None:
    with pytest.raises(fw.ConfigError, match=r"host"):
        fw.simulate(fw.Torus(4), fw.uniform(offered_load=0.1), host={"copy_flits_per_cycle": 1})
