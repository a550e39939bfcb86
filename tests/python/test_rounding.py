"""Units as people write them, and times that are no whole number of cycles."""

from __future__ import annotations

import json
import random
import re
import warnings
from typing import Any

import flitwork as fw
import pytest
from common import Cli
from flitwork.planning.specification import plan_of, simulation

LINKS = {"100 Gb/s": 12.5, "200 Gbps": 25.0, "400 Gbit/s": 50.0, "800 Gb/s": 100.0, "25 GB/s": 25.0}
WORK = fw.uniform(offered_load=0.1)


def described(network: fw.Network) -> dict[str, Any]:
    """What the plan of a network says of itself."""
    found: dict[str, Any] = json.loads(plan_of(simulation(network, WORK)).json)
    return found


@pytest.mark.parametrize(("written", "bytes_per_ns"), LINKS.items())
def test_links_are_as_fast_as_people_write_them(written: str, bytes_per_ns: float) -> None:
    net = fw.Torus(2, 2, units=fw.Units(flit_bytes=64, channel_bytes_per_s=written))
    assert described(net)["described"]["units"]["cycle_ns"] == pytest.approx(64 / bytes_per_ns)


@pytest.mark.parametrize(
    ("written", "offered"),
    [
        ("400 gb/s", ["400 Gbit/s", "400 GB/s"]),
        ("200 gbit/s", ["200 Gbit/s"]),
        ("10 GBs", ["10 GB/s"]),
        ("3200 MT/s", ["3200 MT/s x 64 bit"]),
        ("25 furlongs", []),
    ],
)
def test_hints_are_accepted(written: str, offered: list[str]) -> None:
    with pytest.raises(fw.ConfigError) as fault:
        fw.Units(flit_bytes=64, channel_bytes_per_s=written)
    hints = re.findall(r'"([^"]+)"', fault.value.hint.partition("write ")[2].partition(": ")[0])
    assert hints == offered
    for hint in hints:
        fw.Units(flit_bytes=64, channel_bytes_per_s=hint)


def test_plausible_latencies_are_accepted_and_off_by_half_a_cycle_at_most() -> None:
    draw = random.Random(14)
    for _ in range(60):
        link, bytes_per_ns = draw.choice([*LINKS.items()])
        cycle = 64 / bytes_per_ns
        wire, switch, gap = (draw.choice([5, 10, 33, 50, 78, 100, 150, 300, 500, 1000]) for _ in range(3))
        net = fw.Torus(
            4,
            4,
            units=fw.Units(flit_bytes=64, channel_bytes_per_s=link),
            router=fw.Router(st_delay_ns=switch),
            channel=fw.Channel(latency_ns=wire),
            nic=fw.Nic(packet_gap_ns=gap),
        )
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            plan = described(net)
        rounded = plan["described"].get("rounded", [])
        assert all(abs(one["value_ns"] - one["given_ns"]) <= cycle / 2 + 1e-9 for one in rounded)
        assert all(one["error"] == pytest.approx(one["value_ns"] / one["given_ns"] - 1) for one in rounded)
        # The switch is allocated in one cycle, which no time was said for.
        hop = (plan["derived"]["hop_cycles"] - 1) * cycle
        change = sum(one["value_ns"] - one["given_ns"] for one in rounded if "packet_gap" not in one["field"])
        assert hop == pytest.approx(wire + switch + change)
        assert bool(warned) == any(abs(one["error"]) > 0.01 for one in rounded)
        # What was rounded is exact, and the same plan.
        assert plan["spec"]["network"].get("units", {}).get("rounding") is None


def test_exact_refuses_and_nearest_warns_in_one_line(cli: Cli) -> None:
    command = ["simulate", "uniform", "--size", "4x4", "--load", "0.1", "--set", "units.flit_bytes=64"]
    command += ["--set", "units.channel_bytes_per_s=400 Gb/s", "--set", "channel.latency_ns=10"]
    done = cli(*command)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if "rounded" in line]
    assert len(lines) == 1 and "network.channel.latency_ns = 10 becomes 10.24 ns (+2.4%)" in lines[0]
    exact = cli(*command, "--set", "units.rounding=exact")
    assert exact.returncode == 2 and "8.96 ns" in exact.stderr and "10.24 ns" in exact.stderr


def test_machines_of_papers_are_not_rounded() -> None:
    assert "rounded" not in described(fw.machines.nsim(4, 4).network)["described"]
