"""Pacing: pauses by the message-overlap degree of a step, told, simulated, refused where they have no meaning."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal

import flitwork as fw
import pytest
from common import Cli


def exchange(flits: int, ranks: int = 128) -> fw.Schedule:
    """Pairwise exchange by XOR in lock-step."""

    def pairwise(rank: int, n: int) -> Iterator[Any]:
        for step in range(1, n):
            yield fw.Receive(rank ^ step, flits=flits), fw.Send(rank ^ step, flits=flits)

    return fw.Schedule.of(pairwise, ranks, packet_flits=16)


def torus(*sizes: int, tie: Literal["plus", "parity"] = "plus", **pacing: Any) -> fw.Network:
    return fw.Torus(*sizes, routing=fw.routing.DimensionOrder(tie=tie), nic=fw.Nic(pacing=fw.Pacing(**pacing)))


def test_steps_are_those_of_the_paper() -> None:
    # Shibamura et al. 2012, pairwise exchange on 16 x 8: mean 3.80, at most 8, in all 483.
    steps = fw.pace(torus(16, 8), exchange(64)).steps
    assert (len(steps), steps["overlap"].sum(), steps["overlap"].max()) == (127, 483, 8)
    assert [*steps["mod_gap_packets"]] == [*(steps["overlap"] - 1)]
    assert steps["hops"].mean() == pytest.approx(7.18, abs=0.005)
    # 4 packets of 16 flits, 3 pauses between them.
    assert [*steps["mod_cycles"]] == [*(64 + 3 * 16 * steps["mod_gap_packets"])]


def test_a_pause_is_as_long_as_it_says() -> None:
    # By hand: two messages of 32 flits share the channel from router 0 to 1, so a pause is one packet of 16 flits.
    programs: list[list[Any]] = [
        [fw.Send(2, flits=32), fw.Receive(3, flits=32)],
        [],
        [fw.Receive(0, flits=32)],
        [fw.Send(0, flits=32)],
    ]
    work = fw.Schedule(programs, packet_flits=16)
    for kind, pause in (("none", 0), ("mod", 0), ("fixed", 5 * 16)):
        network = torus(8, kind=kind, gap_packets=5 if kind == "fixed" else 0)
        packets = fw.simulate(network, work, packets=True).packets
        assert [*packets[packets["src"] == 0]["created_cycle"]] == [0, 16 + pause], kind
    both: list[list[Any]] = [
        [fw.Send(2, flits=32)],
        [fw.Send(3, flits=32)],
        [fw.Receive(0, flits=32)],
        [fw.Receive(1, flits=32)],
    ]
    created = fw.simulate(torus(8, kind="mod"), fw.Schedule(both, packet_flits=16), packets=True).packets
    assert [*created[created["src"] == 0]["created_cycle"]] == [0, 32]


def test_times_are_those_of_all_messages_of_a_terminal() -> None:
    """Simple spread posts 127 messages of 4 packets, one behind the other at a port."""
    work = fw.collective("all_to_all", "simple_spread", message_flits=512, packet_flits=128)
    net = fw.Torus(16, 8)
    row = fw.pace(net, work, over="schedule").steps.iloc[0]
    gap = row["mod_gap_packets"] * 128
    assert row["unpaced_cycles"] == 127 * 512
    assert row["mod_cycles"] == 127 * (512 + 3 * gap)
    shared = fw.pace(net, work, over="schedule", aggregate=True).steps.iloc[0]
    assert shared["mod_cycles"] == 127 * 512 + (127 * 4 - 1) * shared["mod_gap_packets"] * 128
    assert fw.pace(net.replace(nic=fw.Nic(ports=2)), work, over="schedule").cycles("unpaced") == 64 * 512


def test_pauses_that_a_network_interface_shares() -> None:
    found = fw.pace(torus(8, 8, tie="parity"), fw.all_to_all("a2a", packet_flits=10), over="schedule", aggregate=True)
    # All messages of a torus of 8 x 8: 64 on a channel; a terminal sends 63, so it pauses for ceil(64/63) - 1.
    assert found.steps.iloc[0][["overlap", "most_of_a_terminal", "mod_gap_packets"]].tolist() == [64, 63, 1]
    paced, plain = (
        fw.simulate(torus(4, 4, kind=kind, over="schedule", aggregate=True), fw.all_to_all("a2a"), packets=True)
        for kind in ("hops", "none")
    )
    # Four hops shared by 15 messages are no pause.
    assert paced.digest == plain.digest


@pytest.mark.parametrize("kind", ["mod", "hops"])
def test_what_is_not_known_before_is_refused(kind: Literal["mod", "hops"]) -> None:
    with pytest.raises(fw.ConfigError, match=r"network.nic.pacing.kind = .*leaves a choice of channels"):
        router = fw.Router(vcs=4, switching="virtual_cut_through")
        network = fw.Torus(4, 4, routing="duato", router=router, nic=fw.Nic(pacing=kind))
        fw.simulate(network, fw.all_to_all(message_flits=8))
    with pytest.raises(fw.ConfigError, match=r"network.nic.pacing.kind = .*what ranks send is not known"):
        fw.Simulation(torus(4, 4, kind=kind), fw.programs())
    with pytest.raises(fw.ConfigError, match=r"only schedules have messages; .*packet_gap_cycles"):
        fw.simulate(torus(4, 4, kind=kind), fw.uniform(offered_load=0.1))


def test_what_contradicts_itself_is_refused() -> None:
    with pytest.raises(fw.ConfigError, match=r"packet_gap_cycles = 3: expected 0 beside network.nic.pacing"):
        fw.simulate(fw.Torus(4, 4, nic=fw.Nic(pacing="mod", packet_gap_cycles=3)), fw.all_to_all())
    with pytest.raises(fw.ConfigError, match=r"gap_packets = 2: expected .*0 unless kind is fixed"):
        fw.simulate(torus(4, 4, kind="mod", gap_packets=2), fw.all_to_all())
    with pytest.raises(fw.ConfigError, match=r"gap_packets = -1"):
        torus(4, 4, kind="fixed", gap_packets=-1)
    with pytest.raises(fw.ConfigError, match=r"workload.kind"):
        fw.pace(torus(4, 4), fw.uniform(offered_load=0.1))


def test_the_command_tells_and_measures(cli: Cli) -> None:
    out = cli("pace", "a2a", "--size", "4x4", "--packet-flits", "10", "--simulate", "--json")
    assert out.returncode == 0, out.stderr
    found = json.loads(out.stdout)
    assert len(found["steps"]) == 15
    assert {*found["completion_cycles"]} == {"none", "hops", "mod"}
    expected = fw.simulate(
        fw.Torus(4, 4, nic=fw.Nic(pacing="mod")), fw.all_to_all("a2a", packet_flits=10)
    ).completion_cycles
    assert found["completion_cycles"]["mod"] == expected
    assert "message-overlap degree" in cli("pace", "--help").stdout
    assert cli("pace", "uniform", "--size", "4x4", "--load", "0.1").returncode == 2


def test_all_to_alls_that_are_schedules_alone_are_told_where_they_are() -> None:
    with pytest.raises(fw.ConfigError, match=r'fw.collective\("all_to_all", "pairwise_xor"\)'):
        fw.all_to_all("pairwise_xor")
