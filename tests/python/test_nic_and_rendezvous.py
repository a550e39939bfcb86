"""Messages that ask before they go, and messages that take turns at the ports of a NIC."""

from __future__ import annotations

from typing import Any

import flitwork as fw
import pytest


def finish(programs: list[list[Any]], **host: Any) -> list[int]:
    """When each rank has completed its last operation."""
    simulation = fw.Simulation(fw.Torus(4), fw.Schedule(programs), host=host)
    simulation.advance()
    return [int(cycle) for cycle in simulation.last_cycles()]


def blocking(late: int) -> list[list[Any]]:
    return [[fw.Send(1, flits=40), fw.Wait([0])], [fw.Compute(late), fw.Receive(0, flits=40), fw.Wait([1])]]


def test_a_long_send_waits_for_its_receive() -> None:
    eager = [finish(blocking(late), eager_limit_flits=40) for late in (300, 400)]
    assert eager[0][0] == eager[1][0] < 100
    rendezvous = [finish(blocking(late), eager_limit_flits=39) for late in (300, 400)]
    assert [b - a for a, b in zip(*rendezvous, strict=True)] == [100, 100]
    # One way for the answer, and the message itself.
    assert rendezvous[0][1] > 300 + 40 + 4


def test_requests_and_answers_are_packets_of_the_network() -> None:
    work = fw.Schedule([[fw.Send(1, flits=40)], [fw.Receive(0, flits=40)]])
    for control in (1, 3):
        host = fw.Host(eager_limit_flits=0, control_flits=control)
        packets = fw.simulate(fw.Torus(4), work, host=host, packets=True).packets.sort_values("created_cycle")
        assert packets[["src", "dst", "flits"]].to_numpy().tolist() == [[0, 1, control], [1, 0, control], [0, 1, 40]]
        # The data goes when the answer has come.
        assert packets["created_cycle"].iloc[2] == packets["arrived_cycle"].iloc[1]


def test_two_ranks_that_both_send_first_wait_for_ever() -> None:
    both: list[list[Any]] = [[fw.Send(1 - r, flits=9), fw.Wait([0]), fw.Receive(1 - r, flits=9)] for r in range(2)]
    assert len(finish(both, eager_limit_flits=9)) == 2
    with pytest.raises(fw.ScheduleError, match=r"2 of 2 ranks cannot finish"):
        finish(both, eager_limit_flits=8)


def test_requests_that_come_together_are_each_answered_once() -> None:
    # Open receives take the messages of a cycle in order; a request that overtook another one comes with that.
    programs: list[list[Any]] = [
        [
            fw.Send(1, flits=1, tag=2),
            fw.Receive(None, flits=20, tag=0),
            fw.Send(1, flits=1, tag=2),
            fw.Send(1, flits=1, tag=0),
        ],
        [
            fw.Receive(None, flits=20, tag=2),
            fw.Send(0, flits=1, tag=0),
            fw.Receive(None, flits=20, tag=2),
            fw.Receive(None, flits=20, tag=0),
        ],
    ]
    network = fw.Torus(2, nic=fw.Nic(ports=3, ejection_port="same_port"))
    host = fw.Host(eager_limit_flits=0, placement=fw.placement.List(terminals=[0, 0]))
    result = fw.simulate(network, fw.Schedule(programs, packet_flits=1), host=host, packets=True)
    assert result.packets["flits"].tolist() == [1] * 12


MANY: list[list[Any]] = [
    [fw.Send(peer, flits=64) for peer in (1, 2, 3, 1)],
    [fw.Receive(0, flits=64), fw.Receive(0, flits=64)],
    [fw.Receive(0, flits=64)],
    [fw.Receive(0, flits=64)],
]


def order(seed: int = 1, **service: Any) -> str:
    """The destinations of the packets of terminal 0, in the order in which they leave."""
    network = fw.Torus(4, nic=fw.Nic(service=fw.Service(**service)))
    result = fw.simulate(network, fw.Schedule(MANY, packet_flits=16), packets=True, seed=seed)
    return "".join(map(str, result.packets.sort_values("injected_cycle")["dst"]))


def test_queue_pairs_take_turns() -> None:
    assert order() == "1111222233331111"
    assert order(order="round_robin") == "1231123112311231"
    assert order(order="round_robin", queue_pairs="peer") == "1231231231231111"
    assert order(order="round_robin", burst_packets=3) == "1112223331111231"
    assert order(order="round_robin", active_queue_pairs=2) == "1212121231313131"
    assert order(order="round_robin", active_queue_pairs=1) == order()
    drawn = [order(order="random", seed=seed) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert sorted(drawn[0]) == sorted(order())


def test_what_makes_no_sense_is_refused() -> None:
    work, net = fw.all_to_all("a2a", message_flits=4), fw.Torus(4)
    hosts = (
        ({"eager_limit_flits": -1}, r"host.eager_limit_flits = -1"),
        ({"control_flits": 2}, r"host.control_flits = 2: expected nothing where no message asks"),
        ({"eager_limit_flits": 1, "control_flits": 5}, r"host.control_flits = 5: expected 1 to 4 flits"),
        ({"eager_limit_flits": 1, "control_flits": 0}, r"host.control_flits = 0"),
    )
    for host, message in hosts:
        with pytest.raises(fw.ConfigError, match=message):
            fw.simulate(net, work, host=host)
    turns = fw.Service(order="round_robin")
    services: tuple[tuple[Any, fw.Workload, dict[str, Any], str], ...] = (
        ({"order": "round_robin", "burst_packets": 0}, work, {}, r"burst_packets = 0"),
        ({"burst_packets": 2}, work, {}, r"service.order = fifo: expected another one"),
        ({"order": "fair"}, work, {}, r"service.order = \"fair\""),
        (turns, fw.uniform(offered_load=0.1), {}, r"fifo where no ranks send messages"),
        (turns, work, {"background": fw.uniform(offered_load=0.1)}, r"fifo beside a background"),
    )
    for service, what, more, message in services:
        with pytest.raises(fw.ConfigError, match=message):
            fw.simulate(fw.Torus(4, nic={"service": service}), what, **more)


def begins(seed: int = 1, **service: Any) -> list[tuple[int, int]]:
    """The destination and the first cycle of each message of terminal 0, in the order in which they begin."""
    network = fw.Torus(4, nic=fw.Nic(service=fw.Service(order="round_robin", **service)))
    result = fw.simulate(network, fw.Schedule(MANY, packet_flits=16), packets=True, seed=seed)
    sent = result.packets.sort_values("injected_cycle").drop_duplicates("message")
    return list(zip(sent["dst"].tolist(), sent["injected_cycle"].tolist(), strict=True))


def test_the_adapter_spends_time_on_a_message_while_others_send() -> None:
    plain, later = begins(), begins(message_overhead_cycles=100)
    assert [(dst, cycle + 100) for dst, cycle in plain] == later
    # With one queue pair for each peer the second message to rank 1 is prepared when the first has left: that ends with the 10th packet of
    # 16 flits, in cycle 159 (259), and the second one begins after 12 packets, in cycle 192 (359).
    peer, later = begins(queue_pairs="peer"), begins(queue_pairs="peer", message_overhead_cycles=100)
    assert [b - a for (_, a), (_, b) in zip(peer, later, strict=True)] == [100, 100, 100, 167]


def test_messages_begin_at_random_times() -> None:
    drawn = [begins(start_jitter_cycles=1000, seed=seed) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    first = [cycle for _, cycle in drawn[0]]
    assert max(first) < 1000 + 4 * 64
    assert len(set(first)) == 4
    assert min(cycle for _, cycle in begins(start_jitter_cycles=1, message_overhead_cycles=7)) == 7


@pytest.mark.parametrize(
    ("service", "message"),
    [
        ({"message_overhead_cycles": 5}, r"service.order = fifo: expected another one"),
        ({"order": "random", "start_jitter_cycles": -1}, r"start_jitter_cycles = -1"),
        ({"order": "random", "message_overhead_cycles": 2_000_000_000}, r"message_overhead_cycles = 2000000000"),
        ({"order": "random", "message_overhead_cycles": 0.5}, r"message_overhead_cycles = 0.5"),
    ],
)
def test_times_of_messages_that_make_no_sense_are_refused(service: dict[str, Any], message: str) -> None:
    with pytest.raises(fw.ConfigError, match=message):
        fw.simulate(fw.Torus(4, nic={"service": service}), fw.all_to_all("a2a", message_flits=4))
