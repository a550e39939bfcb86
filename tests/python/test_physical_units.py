"""ns, bytes and bytes/s: in networks, hosts, workloads, runs and study files, and in results."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import flitwork as fw
import pandas as pd
import pytest
from flitwork.base.input_files import tomllib
from flitwork.base.physical import Units, physical_name, with_units
from flitwork.experiment import known_columns, parse_study
from flitwork.planning.specification import plan_of, simulation

UNITS = fw.Units(flit_bytes=16, channel_bytes_per_s="4 GB/s")
NET = fw.Torus(4, 4, units=UNITS)
EXACT = NET.replace(units=UNITS.replace(rounding="exact"))
WORK = fw.all_to_all("a2a", message_flits=4)


def spec_of(network: fw.Network, workload: fw.Workload, **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(plan_of(simulation(network, workload, **more)).json)["spec"]
    return found


def test_the_same_machine_in_other_words_is_the_same_plan() -> None:
    physical = fw.simulate(
        fw.Torus(4, 4, units=UNITS, router=fw.Router(buffer_bytes="256 B", st_delay_ns=4), channel=fw.Channel(latency_ns=[78, 10])),
        fw.all_to_all("a2a", message_flits=4, packet_bytes=32),
        host=fw.Host(send_overhead_ns="0.2 us", start=fw.Start(kind="normal_range", latest_ns=4000)),
        run=fw.Run(max_ns="1 ms", record=fw.Record(channel_window_ns=400)),
    )  # fmt: skip
    model = fw.simulate(
        fw.Torus(4, 4, units=fw.Units(flit_bytes=16, cycle_ns=4), router=fw.Router(buffer_flits=16, st_delay_cycles=1), channel=fw.Channel(latency_cycles=22)),
        fw.all_to_all("a2a", message_flits=4, packet_flits=2),
        host=fw.Host(send_overhead_cycles=50, start=fw.Start(kind="normal_range", latest_cycles=1000)),
        run=fw.Run(max_cycles=250_000, record=fw.Record(channel_window_cycles=100)),
    )  # fmt: skip
    assert (physical.plan_hash, physical.digest) == (model.plan_hash, model.digest)


def test_loads_are_bytes_per_second_of_a_terminal() -> None:
    load = fw.uniform(
        offered_bytes_per_s="1 GB/s", packet_bytes=64, process=fw.on_off(mean_on_cycles=9, mean_off_cycles=9)
    )
    found = spec_of(NET, load)["workload"]
    assert (found["offered_load"], found["packet_flits"]) == (0.25, 4)
    burst = spec_of(NET, fw.burst_workload("tornado", packets=2, rate_bytes_per_s=2e9))["workload"]
    assert (burst["rate"], burst["packet_flits"]) == (0.5, 1)
    curve = fw.curve(NET, load, [0.05], warmup_cycles=50, measurement_cycles=50)
    assert (
        curve.table["accepted_load_bytes_per_s"].iloc[0] == curve.table["accepted_load_flits_per_cycle"].iloc[0] * 4e9
    )


def test_sums_of_a_hop_are_formed_first() -> None:
    apart = fw.Torus(4, 4, units=UNITS, router=fw.Router(st_delay_ns=78), channel=fw.Channel(latency_ns=10))
    found = spec_of(apart, WORK)["network"]
    assert found["router"]["st_delay_cycles"] + found["channel"]["latency_cycles"] == 22
    together = fw.Torus(4, 4, units=UNITS, channel=fw.Channel(latency_ns=["78 ns", 10]))
    assert spec_of(together, WORK)["network"]["channel"]["latency_cycles"] == 22


def test_every_packet_of_a_message_in_bytes_has_its_header() -> None:
    net = fw.Torus(2, 2, units=UNITS.replace(header_bytes=32))
    pair: list[list[Any]] = [[fw.Send(1, bytes=100)], [fw.Receive(0, bytes=100)]]
    for work in (
        fw.all_to_all("a2a", message_bytes=100, packet_bytes=64),
        fw.collective("all_to_all", "pairwise_shift", message_bytes=100, packet_bytes=64),
        fw.Schedule(pair, packet_bytes=64),
    ):
        result = fw.simulate(net, work, packets=True)
        # 100 bytes are 3 packets and a half of 32 bytes: 4 headers, 228 bytes, 15 flits.
        assert list(result.packets.loc[result.packets["src"] == 0, "flits"])[:4] == [4, 4, 4, 3]
    in_flits = fw.simulate(net, fw.all_to_all("a2a", message_flits=7, packet_flits=4), packets=True)
    assert sorted(set(in_flits.packets["flits"])) == [3, 4]


def test_a_cycle_need_not_be_a_decimal() -> None:
    thirds = fw.Torus(4, 4, units=fw.Units(flit_bytes=16, channel_bytes_per_s="3 GB/s"), nic=fw.Nic(packet_gap_ns=16))
    result = fw.simulate(thirds, WORK)
    assert result.spec["network"]["nic"]["packet_gap_cycles"] == 3
    assert result.row["completion_ns"] == pytest.approx(result.completion_cycles * 16 / 3)


def test_results_are_in_both(tmp_path: Path) -> None:
    result = fw.simulate(NET, WORK, packets=True, run=fw.Run(record=fw.Record(delivery_window_cycles=10)))
    row = result.row
    names = list(row)
    assert names[names.index("completion_cycles") + 1] == "completion_ns"
    assert row["completion_ns"] == 4 * row["completion_cycles"] and row["bound_ns"] == 4 * row["bound_cycles"]
    assert row["accepted_load_bytes_per_s"] == pytest.approx(row["accepted_load_flits_per_cycle"] * 4e9)
    assert row["offered_load_bytes_per_s"] is None
    packets = result.packets
    assert (packets["packet_latency_ns"] == 4 * packets["packet_latency_cycles"]).all()
    assert (packets["bytes"] == 16 * packets["flits"]).all() and "arrived_ns" in packets
    assert {"bytes", "bytes_per_s"} <= set(result.channels) and "received_bytes" in result.terminals
    assert list(result.deliveries) == ["start_cycle", "start_ns", "packets", "flits", "bytes"]
    again = fw.Result.load(result.save(tmp_path / "one.parquet"))
    assert again.row == row
    assert "completion_ns" not in pd.read_parquet(tmp_path / "one.parquet").columns


def test_bounds_are_in_both() -> None:
    units = fw.Units(flit_bytes=16, cycle_ns=4)
    limits = fw.bound(fw.Torus(4, 4, units=units), fw.all_to_all("a2a", message_flits=8))
    assert limits.physical["tightest_ns"] == 4 * limits.tightest_cycles == 480
    open_loop = fw.bound(fw.Torus(4, 4, units=units), fw.uniform(offered_load=0.1)).physical
    assert open_loop["saturation_load_bytes_per_s"] == 4e9
    assert fw.bound(fw.Torus(4, 4), fw.all_to_all("a2a")).physical == {}


def test_without_units_nothing_is_there() -> None:
    plain = fw.simulate(fw.Torus(4, 4), WORK)
    assert not [name for name in plain.row if name.endswith(("_ns", "_bytes", "_per_s"))]
    assert plain.units == Units() and "units" not in plain.described
    only_bytes = fw.simulate(fw.Torus(4, 4, units=fw.Units(flit_bytes=16)), WORK)
    assert "bytes" in only_bytes.channels and "bytes_per_s" not in only_bytes.channels
    assert "completion_ns" not in only_bytes.row
    assert math.isnan(fw.Simulation(fw.Torus(4, 4), WORK).cycle_ns) and fw.Simulation(NET, WORK).cycle_ns == 4


def test_names_say_what_has_physical_units() -> None:
    assert physical_name("completion_cycles") == ("completion_ns", "ns")
    assert physical_name("flits_per_cycle") == ("bytes_per_s", "bytes_per_s")
    assert [physical_name(name) for name in ("stall_no_credit_flit_cycles", "packets", "bicycle")] == [None] * 3
    table = pd.DataFrame({"a_cycles": [1, 2], "b": [3, 4]})
    assert list(with_units(table, Units(cycle_ns=0.5))["a_ns"]) == [0.5, 1.0]
    assert with_units(table, Units(flit_bytes=8)) is table


STUDY = """
[study]
name = "units"

[base.network.topology]
kind = "torus"
size = [4, 4]

[base.network.units]
flit_bytes = 16
channel_bytes_per_s = "4 GB/s"

[base.workload]
kind = "all_to_all"
algorithm = "a2a"
message_flits = 4

[[experiments]]
id = "wire"
columns = {time_us = "completion_ns / 1000"}

[experiments.grid]
"network.channel.latency_ns" = [0, 40]
"""


def test_a_study_knows_its_columns_before_it_runs(tmp_path: Path) -> None:
    study = parse_study(tomllib.loads(STUDY))
    names = known_columns(study)["wire"].names
    assert {"completion_ns", "accepted_load_bytes_per_s", "time_us"} <= set(names)
    table = fw.run_study(study, out=tmp_path, jobs=1).table
    assert list(table["time_us"]) == list(table["completion_ns"] / 1000)
    without = parse_study(tomllib.loads(STUDY.replace('channel_bytes_per_s = "4 GB/s"', "")))
    with pytest.raises(fw.ConfigError, match="completion_cycles"):
        known_columns(without)


BAD: list[tuple[str, Callable[[], object], str, str]] = [
    ("no bandwidth", lambda: fw.Units(channel_bytes_per_s=0), "network.units.channel_bytes_per_s", "more than 0"),
    ("less than no bandwidth", lambda: fw.Units(channel_bytes_per_s=-1e9), "network.units.channel_bytes_per_s", "more than 0"),
    ("a unit misspelt", lambda: fw.Units(channel_bytes_per_s="10 GBs"), "network.units.channel_bytes_per_s", 'write "10 GB/s"'),
    ("a size for a rate", lambda: fw.Units(channel_bytes_per_s="10 GB"), "network.units.channel_bytes_per_s", 'write "10 GB/s"'),
    ("no unit", lambda: fw.Channel(latency_ns="10"), "network.channel.latency_ns", "without quotes"),
    ("both", lambda: fw.Channel(latency_ns=8, latency_cycles=2), "network.channel.latency_ns", "nothing beside"),
    ("both lengths", lambda: fw.uniform(offered_load=0.1, packet_flits=2, packet_bytes=32), "workload.packet_bytes", "nothing beside"),
    ("it does not divide", lambda: EXACT.replace(nic=fw.Nic(packet_gap_ns=79)), "network.nic.packet_gap_ns", "76 ns (19 cycles) or 80 ns (20 cycles)"),
    ("bytes that do not divide", lambda: fw.simulate(NET, fw.uniform(offered_load=0.1, packet_bytes=40)), "workload.packet_bytes", "32 bytes (2 flits) or 48 bytes (3 flits)"),
    ("a hop that does not divide", lambda: EXACT.replace(channel=fw.Channel(latency_ns=[79, 10])), "network.channel.latency_ns", "88 ns"),
    ("bytes without a flit", lambda: fw.simulate(fw.Torus(4, 4), fw.uniform(offered_load=0.1, packet_bytes=32)), "network.units.flit_bytes", "workload.packet_bytes"),
    ("ns without a clock", lambda: fw.simulate(fw.Torus(4, 4), WORK, host=fw.Host(send_overhead_ns=4)), "network.units.cycle_ns", "host.send_overhead_ns"),
    ("a header without a longest packet", lambda: fw.simulate(NET.replace(units=UNITS.replace(header_bytes=32)), WORK), "workload.packet_flits", "a header of 32 bytes"),
    ("a header as long as the packet", lambda: fw.simulate(NET.replace(units=UNITS.replace(header_bytes=32)), fw.all_to_all("a2a", message_bytes=9, packet_bytes=32)), "network.units.header_bytes", "less than the longest packet, 32 bytes"),
    ("huge", lambda: NET.replace(channel=fw.Channel(latency_ns=1e300)), "network.channel.latency_ns", "too many digits"),
    ("out of range", lambda: NET.replace(channel=fw.Channel(latency_ns="1 s")), "network.channel.latency_ns", "0 to 10000"),
    ("less than nothing", lambda: fw.Channel(latency_ns=-4), "network.channel.latency_ns", "not less than 0"),
    ("a clock that contradicts itself", lambda: fw.Torus(4, 4, units={"flit_bytes": 16, "cycle_ns": 5, "channel_bytes_per_s": 4e9}, channel={"latency_ns": 5}), "network.units.cycle_ns", "take one out"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "path", "said"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_what_makes_no_sense_is_named(make: Callable[[], object], path: str, said: str) -> None:
    with pytest.raises(fw.ConfigError) as caught:
        make()
    assert caught.value.path == path and said in str(caught.value)
