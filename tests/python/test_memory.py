"""What memory takes: reading what is sent, copying what was received."""

from __future__ import annotations

from typing import Any

import flitwork as fw
import pytest


def last(programs: list[list[Any]], packet_flits: int = 16, **host: Any) -> int:
    """When the last rank of a ring of 4 is done."""
    work = fw.Schedule(programs, packet_flits=packet_flits)
    return fw.simulate(fw.Torus(4), work, host=host).completion_cycles


ONE: list[list[Any]] = [[fw.Send(1, flits=64)], [fw.Receive(0, flits=64)]]


def test_what_is_sent_is_read_before() -> None:
    plain = last(ONE)
    # The first packet of 16 flits at 4 a cycle, at 10 in 3 cycles, at 1; the others follow in time.
    assert [last(ONE, read_flits_per_cycle=rate) - plain for rate in (4, 10 / 3, 1)] == [4, 5, 16]
    # Slower than the port: all of the message at half a flit a cycle, then the last packet.
    assert last(ONE, read_flits_per_cycle=0.5) == plain - 48 + 128


def test_the_reader_of_a_terminal_reads_one_message_after_the_other() -> None:
    programs: list[list[Any]] = [
        [fw.Send(2, flits=32), fw.Wait([0])],
        [fw.Send(3, flits=32), fw.Wait([0])],
        [fw.Receive(0, flits=32)],
        [fw.Receive(1, flits=32)],
    ]
    host: dict[str, Any] = {"placement": {"kind": "list", "terminals": [0, 0, 1, 2]}}
    work = fw.Schedule(programs, packet_flits=16)
    network = fw.Torus(4, nic=fw.Nic(ports=2))
    first = fw.simulate(network, work, host={**host, "read_flits_per_cycle": 4}, packets=True).packets
    # 8 cycles for each message, 4 for each packet; the two ports send at the same time.
    starts = first.sort_values(["injection_port", "injected_cycle"])["injected_cycle"].tolist()
    assert starts == [4, 20, 12, 28]


def test_what_was_received_is_copied() -> None:
    plain = last(ONE)
    assert last(ONE, receive_copy_flits_per_cycle=2) == plain + 32
    assert last(ONE, receive_copy_flits_per_cycle=3, receive_overhead_cycles=5) == plain + 5 + 22
    asks = last(ONE, eager_limit_flits=63)
    assert last(ONE, eager_limit_flits=63, receive_copy_flits_per_cycle=2) == asks
    assert last(ONE, eager_limit_flits=64, receive_copy_flits_per_cycle=2) == plain + 32


def test_dma_of_nsim_is_the_same_for_a_message_alone() -> None:
    for size, same in (("2 KiB", True), ("16 KiB", True), ("1 KiB", False)):
        times = []
        for dma in ("overhead", "read"):
            machine = fw.machines.nsim(4, 4, dma=dma)  # type: ignore[arg-type]
            work = fw.collective("broadcast", "binomial", message_bytes=size, packet_bytes=2048)
            times.append(fw.simulate(machine.network, work, host=machine.host).row["completion_ns"])
        assert (times[0] == times[1]) == same, (size, times)
    with pytest.raises(fw.ConfigError, match=r"dma = 'none': expected overhead or read"):
        fw.machines.nsim(4, dma="none")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("host", "message"),
    [
        ({"read_flits_per_cycle": 0}, r"host.read_flits_per_cycle = 0: expected 1e-6 to 1e6"),
        ({"read_flits_per_cycle": -0.5}, r"host.read_flits_per_cycle = -0.5"),
        ({"receive_copy_flits_per_cycle": 0}, r"host.receive_copy_flits_per_cycle = 0: expected 1e-6 to 1e6"),
        ({"read_bytes_per_s": "16 GB/s"}, r"network.units.* = nothing: expected a value, as host.read_bytes_per_s"),
    ],
)
def test_rates_that_make_no_sense_are_refused(host: dict[str, Any], message: str) -> None:
    with pytest.raises(fw.ConfigError, match=message):
        last(ONE, **host)


def test_why_memory_makes_it_slow() -> None:
    run = fw.Run(record=fw.Record(waits=True, operations=True, packets=True))
    for rate, reading in ((4, 4), (0.5, 32)):
        host = fw.Host(read_flits_per_cycle=rate)
        causes = fw.explain(fw.simulate(fw.Torus(4), fw.Schedule(ONE, packet_flits=64 // 4), host=host, run=run)).causes
        found = dict(zip(causes["cause"], causes["cycles"].tolist(), strict=True))
        assert found["reading"] >= reading, found
        assert "other" not in found
