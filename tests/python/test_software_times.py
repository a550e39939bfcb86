"""Late starts and overheads of ranks, and the machine that is made of them."""

from __future__ import annotations

from typing import Any, Literal

import flitwork as fw
import pytest


def completion(programs: list[list[Any]], host: fw.Host | None = None) -> int:
    return fw.simulate(fw.Torus(4), fw.Schedule(programs), host=host).completion_cycles


def test_overheads_are_computations_between_operations() -> None:
    ping = [fw.Send(1, flits=4), fw.Receive(1, flits=4), fw.Wait([1])]
    pong = [fw.Receive(0, flits=4), fw.Wait([0]), fw.Send(0, flits=4)]
    written = (
        [fw.Compute(7), fw.Compute(5), fw.Send(1, flits=4), fw.Receive(1, flits=4), fw.Wait([3]), fw.Compute(3)],
        [fw.Receive(0, flits=4), fw.Wait([0]), fw.Compute(3), fw.Compute(5), fw.Send(0, flits=4)],
    )
    host = fw.Host(send_overhead_cycles=5, receive_overhead_cycles=3, start=fw.Start(kind="list", cycles=[7, 0]))
    plain, delayed = completion([ping, pong]), completion([ping, pong], host)
    # Two sends and two receives one after the other, and rank 0 starts late.
    assert delayed == plain + 7 + 2 * (5 + 3)
    assert delayed == completion([*written])


def test_a_receive_that_nothing_waits_for_costs_at_the_end() -> None:
    programs: list[list[Any]] = [[fw.Send(1, flits=4)], [fw.Receive(0, flits=4)]]
    assert completion(programs, fw.Host(receive_overhead_cycles=100)) == completion(programs) + 100


def test_starts_follow_the_seed_and_leave_messages_alone() -> None:
    work, start = fw.all_to_all("a2a", message_flits=4), fw.Start(kind="normal_range", latest_cycles=500)
    runs = [fw.simulate(fw.Torus(4, 4), work, host=fw.Host(start=start), seed=seed) for seed in (1, 1, 2)]
    assert runs[0].digest == runs[1].digest != runs[2].digest
    assert {run.bound.tightest_cycles for run in runs} == {fw.bound(fw.Torus(4, 4), work).tightest_cycles}
    packets = fw.simulate(fw.Torus(4, 4), work, host=fw.Host(start=start), packets=True).packets
    first = packets.groupby("src")["created_cycle"].min()
    # Sorted: neighbours in the order of ranks start one after the other, the last at 500.
    assert first.is_monotonic_increasing
    assert (first.iloc[0], first.iloc[-1]) == (0, 500)


@pytest.mark.parametrize(("hop", "cycles"), [("additive", 26), ("inclusive", 22)])
@pytest.mark.parametrize(("pipeline", "gap"), [("pipelined", 0), ("at_front", 2)])
def test_nsim_takes_the_stated_time(
    hop: Literal["additive", "inclusive"], cycles: int, pipeline: Literal["pipelined", "at_front"], gap: int
) -> None:
    machine = fw.machines.nsim(8, 8, hop=hop, pipeline=pipeline)
    for hops, size in ((1, 2048), (2, 2048), (4, 2048), (1, 32), (1, 16 * 2048)):
        programs: list[list[Any]] = [[] for _ in range(64)]
        programs[0], programs[hops] = [fw.Send(hops, bytes=size)], [fw.Receive(0, bytes=size)]
        run = fw.simulate(machine.network, fw.Schedule(programs, packet_flits=128), host=machine.host)
        # The paper: call, DMA of a packet, hops, flits, call. Ours: the last router, and a gap between packets.
        paper = 50 + 32 + hops * cycles + size // 16 + 50
        assert run.completion_cycles == paper + 4 + gap * (-(-size // 2048) - 1)
        assert run.kernel == "packet"


def test_what_makes_no_sense_is_refused() -> None:
    work = fw.all_to_all("a2a", message_flits=4)
    with pytest.raises(fw.ConfigError, match=r"host.start.cycles = 1 entries: expected 16 entries"):
        fw.simulate(fw.Torus(4, 4), work, host=fw.Host(start=fw.Start(kind="list", cycles=[3])))
    with pytest.raises(fw.ConfigError, match=r"host.start.cycles = a list: expected nothing unless kind is list"):
        fw.simulate(fw.Torus(4, 4), work, host=fw.Host(start=fw.Start(cycles=[3])))
    with pytest.raises(fw.ConfigError, match=r"host = software times: expected none where ranks ask"):
        fw.Simulation(fw.Torus(4, 4), fw.programs(), host=fw.Host(send_overhead_cycles=3))
    with pytest.raises(fw.ConfigError, match=r"host = given: expected a workload that is a schedule"):
        fw.simulate(fw.Torus(4, 4), fw.uniform(offered_load=0.1), host=fw.Host(receive_overhead_cycles=3))
    with pytest.raises(fw.ConfigError, match=r"send_overhead_cycles = -1"):
        fw.Host(send_overhead_cycles=-1)
    with pytest.raises(fw.ConfigError, match=r"hop = 'both'"):
        fw.machines.nsim(4, 4, hop="both")  # type: ignore[arg-type]
    with pytest.raises(fw.ConfigError, match=r"nic = 'own': expected fifo, interleaved or own_inputs"):
        fw.machines.nsim(4, 4, nic="own")  # type: ignore[arg-type]
    with pytest.raises(fw.ConfigError, match=r"router.pipeline = pipelined: expected at_front"):
        batches = fw.Router(pipeline="pipelined", compat=fw.values.tables.Compat(pipelined_stages=False))
        fw.simulate(fw.Torus(4, 4, router=batches), work)
    with pytest.raises(fw.ConfigError, match=r"vc_policy = destination: expected dateline"):
        fw.simulate(fw.Torus(4, 4, classes="at_dateline", vc_policy="destination", vcs=32), work)


def test_a_pipelined_router_fills_a_channel() -> None:
    """Tornado on a ring of 4, packets of 128 flits: each channel carries one after the other, in a class of its own."""
    ends = {}
    for pipeline in ("at_front", "pipelined"):
        machine = fw.machines.nsim(4, pipeline=pipeline)  # type: ignore[arg-type]
        send = [fw.Send(1, bytes=1 << 20)]
        programs: list[list[Any]] = [send, [fw.Receive(0, bytes=1 << 20)], [], []]
        ends[pipeline] = fw.simulate(machine.network, fw.Schedule(programs, packet_flits=128)).completion_cycles
    # 512 packets: 2 cycles of a gap each but the first.
    assert ends["at_front"] - ends["pipelined"] == 2 * 511
