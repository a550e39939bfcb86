"""Switch architectures: what queues do to throughput, and which maps of service levels are refused."""

from __future__ import annotations

from typing import Any

import flitwork as fw
import pytest

PORTS = 8


def run(load: float, terminals: int = PORTS, **router: Any) -> fw.Result:
    switch = fw.Network("crossbar", terminals=terminals, router=fw.Router(buffer_flits=64, **router))
    work = fw.uniform(offered_load=load, packet_flits=1)
    return fw.simulate(switch, work, warmup_cycles=1000, measurement_cycles=6000)


def test_lanes_by_source_are_one_queue() -> None:
    one = run(0.9, vcs=1)
    lanes: dict[str, Any] = {"vcs": 2, "vc_policy": "service_level", "sl_to_vl": [0, 1]}
    switch = fw.Network("crossbar", terminals=PORTS, router=fw.Router(buffer_flits=64, **lanes))
    by_source = switch.replace(nic=fw.Nic(service_level="source"))
    work = fw.uniform(offered_load=0.9, packet_flits=1)
    loads = [
        fw.simulate(net, work, warmup_cycles=1000, measurement_cycles=6000).accepted_load for net in (switch, by_source)
    ]
    assert loads[0] > loads[1] * 1.02
    assert loads[1] == pytest.approx(one.accepted_load, rel=0.01)


@pytest.mark.parametrize("load", [0.3, 0.7])
def test_output_queues_wait_as_karol_says(load: float) -> None:
    every = fw.Allocator(kind="islip", iterations=PORTS)
    result = run(load, vcs=PORTS, vc_policy="virtual_output_queues", output_speedup=PORTS, vc_allocator=every)
    # A cycle to the router and a cycle through it; the mean of 14,000 packets or more is known to some 2 %.
    waited = result.mean_packet_latency_cycles - 2
    assert waited == pytest.approx((PORTS - 1) / PORTS * load / (2 * (1 - load)), rel=0.06)


def test_a_switch_with_64_ports_may_be_output_queued() -> None:
    result = run(0.5, terminals=64, vcs=64, vc_policy="virtual_output_queues", output_speedup=64)
    assert result.accepted_load == pytest.approx(0.5, abs=0.01)


def test_islip_with_virtual_output_queues_carries_all_of_a_uniform_load() -> None:
    """McKeown 1999: 100 % of uniform traffic in the limit, with one iteration; with more, packets wait less."""

    def at(load: float, iterations: int) -> fw.Result:
        allocator = fw.Allocator(kind="islip", iterations=iterations)
        router = fw.Router(vcs=PORTS, buffer_flits=256, vc_policy="virtual_output_queues", sw_allocator=allocator)
        switch = fw.Network("crossbar", terminals=PORTS, router=router)
        work = fw.uniform(offered_load=load, packet_flits=1)
        return fw.simulate(switch, work, warmup_cycles=10_000, measurement_cycles=10_000)

    # Sources wait for one queue that is full, though there is room in others: with longer queues there is less of that.
    assert at(1.0, 1).accepted_load > 0.98
    assert run(1.0, vcs=1).accepted_load < 0.64
    one, four = at(0.8, 1), at(0.8, 4)
    assert one.accepted_load == pytest.approx(0.8, abs=0.005) == four.accepted_load
    assert four.mean_packet_latency_cycles < 0.5 * one.mean_packet_latency_cycles


def stream(packet_flits: int = 4, **router: Any) -> fw.Result:
    """A stream from each terminal to the next one by one of 8 lanes; credits are back 22 cycles after their flits were sent."""
    lanes = fw.Router(vcs=8, vc_policy="service_level", sl_to_vl=list(range(8)), **router)
    switch = fw.Network("crossbar", terminals=8, router=lanes, channel=fw.Channel(local_latency_cycles=10))
    to = [*range(1, 8), 0]
    work = fw.traffic("permutation", destinations=to, offered_load=1.0, packet_flits=packet_flits)
    return fw.simulate(switch, work, warmup_cycles=1000, measurement_cycles=2200)


def test_a_stream_gets_the_places_that_the_vcs_of_a_port_share() -> None:
    for own, shared in [(4, 0), (1, 3), (1, 10), (2, 9)]:
        result = stream(buffer_flits=own, shared_buffer_flits=shared)
        assert result.accepted_load == pytest.approx((own + shared) / 22, abs=0.002)
    assert stream(buffer_flits=1, shared_buffer_flits=24).accepted_load > 0.98


def test_packets_take_the_places_of_a_pool_as_a_whole() -> None:
    whole: dict[str, Any] = {"buffer_flits": 4, "switching": "virtual_cut_through"}
    result = stream(shared_buffer_flits=24, hold_switch_until_tail=True, **whole)
    assert result.accepted_load > 0.98
    assert (result.kernel, result.kernel_note) == ("flit", "network.router.shared_buffer_flits is more than 0")
    # A packet is sent when there is room for all of it: never more than two of 4 flits in 11 places.
    alone = stream(shared_buffer_flits=7, **whole)
    assert alone.accepted_load < stream(shared_buffer_flits=8, **whole).accepted_load


@pytest.mark.parametrize(
    ("router", "said"),
    [
        ({"shared_buffer_flits": 65_520}, r"network.router.shared_buffer_flits = 65520: expected 0 to 65519 flits"),
        ({"shared_buffer_flits": -1}, r"network.router.shared_buffer_flits = -1"),
        (
            {"shared_buffer_flits": 8, "buffer_flits": 0},
            r"network.router.buffer_flits = 0: expected a whole number, 1 to 65535",
        ),
        (
            {"shared_buffer_flits": 99, "buffer_flits": 4, "switching": "virtual_cut_through"},
            r"workload.packet_flits = 5: expected at most the buffer of 4 flits",
        ),
    ],
)
def test_pools_that_cannot_be_are_refused(router: dict[str, Any], said: str) -> None:
    with pytest.raises(fw.ConfigError, match=said):
        net = fw.Network("crossbar", terminals=PORTS, router=fw.Router(**router))
        fw.simulate(net, fw.uniform(offered_load=0.1, packet_flits=5))


@pytest.mark.parametrize(
    ("router", "nic", "said"),
    [
        ({"vc_policy": "service_level"}, {}, "network.router.sl_to_vl = nothing: expected the virtual channel of each"),
        (
            {"vc_policy": "service_level", "sl_to_vl": [0, 2]},
            {},
            r"network.router.sl_to_vl\[1\] = 2: expected a virtual",
        ),
        ({"sl_to_vl": [0, 1]}, {}, "network.router.sl_to_vl = .*: expected nothing: under vc_policy = .dateline."),
        ({}, {"service_level": "source"}, "network.nic.service_level = source: expected nothing"),
        (
            {"vc_policy": "virtual_output_queues"},
            {},
            "network.router.vcs = 2: expected at least 8: one VC for each port",
        ),
        (
            {"vc_policy": "virtual_output_queues", "vcs": 8},
            {"injection_vcs": [0]},
            "network.nic.injection_vcs = .*: expected none: under the virtual_output_queues policy",
        ),
    ],
)
def test_lanes_without_a_map_are_refused(router: dict[str, Any], nic: dict[str, Any], said: str) -> None:
    net = fw.Network("crossbar", terminals=PORTS)
    with pytest.raises(fw.ConfigError, match=said):
        fw.simulate(net.replace(router=fw.Router(**router), nic=fw.Nic(**nic)), fw.uniform(offered_load=0.1))


def test_a_routing_that_chooses_has_no_virtual_output_queues() -> None:
    router = fw.Router(vcs=9, vc_policy="virtual_output_queues")
    with pytest.raises(fw.ConfigError, match=r"network.router.vc_policy = virtual_output_queues: expected dateline"):
        fw.simulate(fw.Mesh(3, 3, router=router, routing=fw.routing.Duato()), fw.uniform(offered_load=0.1))


def test_cycles_behind_the_head_of_a_line_are_counted() -> None:
    """Terminal 1 has a packet for 2, to which 0 sends 20 flits in cycles 1 to 20, and one for 0 behind it from cycle 2 on."""
    trace = {"cycle": [0, 0, 0], "source": [0, 1, 1], "destination": [2, 2, 0], "flits": [20, 1, 1]}
    fifo = fw.Network("crossbar", terminals=3, router=fw.Router(vcs=1, buffer_flits=32))
    blocked = fw.simulate(fifo, fw.trace(trace), stalls=True).hol_blocking
    assert list(blocked["blocked_cycles"]) == [0, 19, 0] and list(blocked["port"]) == [0, 1, 2]
    queues = fifo.replace(router=fw.Router(vcs=3, buffer_flits=32, vc_policy="virtual_output_queues"))
    assert not fw.simulate(queues, fw.trace(trace), stalls=True).hol_blocking["blocked_cycles"].any()
    assert fw.simulate(fifo, fw.trace(trace)).hol_blocking.empty
    chosen = fw.Mesh(3, 3, routing=fw.routing.Duato(), router=fw.Router(vcs=4, wait_for_tail_credit=True))
    assert fw.simulate(chosen, fw.uniform(offered_load=0.1), stalls=True, measurement_cycles=200).hol_blocking.empty
