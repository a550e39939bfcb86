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
