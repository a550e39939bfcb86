"""Limits that no run beats: bounds of times, of accepted loads, one flit a cycle on every channel."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path
from types import ModuleType

import flitwork as fw
import pytest


def _tool() -> ModuleType:
    path = Path(__file__).parents[2] / "tools" / "try_bounds.py"
    spec = importlib.util.spec_from_file_location("try_bounds", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _tried(seeds: range) -> None:
    tool = _tool()
    found = [tool.attempt(seed) for seed in seeds]
    assert not [(seed, beaten) for seed, (_, beaten, _) in zip(seeds, found, strict=True) if beaten]
    assert sum(what in ("completes", "open loop") for what, *_ in found) > len(found) / 2
    assert min(ratio for *_, ratio in found if not math.isnan(ratio)) >= 1


def test_no_random_run_beats_its_limits() -> None:
    _tried(range(1, 41))


@pytest.mark.slow
def test_no_random_run_of_many_beats_its_limits() -> None:
    _tried(range(1000, 1300))


def test_one_message_is_served_by_several_ports_where_messages_take_turns() -> None:
    """120 packets of one flit on three ports took 68 cycles, and the bound was 120."""
    service = fw.Service(order="round_robin")
    switch = fw.Crossbar(terminals=2, nic=fw.Nic(ports=3, service=service))
    one = fw.collective("broadcast", "binomial", message_flits=120, packet_flits=1)
    result = fw.simulate(switch, one)
    assert result.bound.tightest_cycles == 40 <= result.completion_cycles < 120
    assert result.bound.tightest == "injection" or result.bound.tightest == "ejection"
    # One packet stays at one port.
    assert fw.bound(switch, fw.collective("broadcast", "binomial", message_flits=120)).tightest_cycles == 120


def test_a_line_accepts_more_than_what_it_can_carry_of_everybody() -> None:
    line = fw.Mesh(8)
    crossing = fw.traffic("permutation", destinations=[4, 5, 6, 3, 0, 1, 2, 7], offered_load=1)
    result = fw.simulate(line, crossing, warmup_cycles=1000, measurement_cycles=4000)
    assert result.bound.saturation_load == pytest.approx(1 / 3)
    assert result.bound.accepted_load == pytest.approx(1 / 2)
    assert 0.49 < result.accepted_load <= 1 / 2 + 0.01 and 0.98 < result.ratio_to_bound < 1.02
    assert result.row["bound_saturation_load_flits_per_cycle"] < result.row["bound_accepted_load_flits_per_cycle"]


@pytest.mark.parametrize(
    ("network", "work"),
    [
        (fw.Torus(8, 8), fw.uniform(offered_load=1)),
        (fw.Mesh(5, 5), fw.uniform(offered_load=1)),
        (fw.Torus(5, 4, terminals_per_router=2), fw.uniform(offered_load=0.9)),
        (fw.Torus(4, 4, tie="plus"), fw.traffic("transpose", offered_load=0.5)),
        (fw.Crossbar(terminals=5), fw.traffic("hotspot", terminals=[0], shares=[1.0], offered_load=0.5)),
        (fw.Xgft(children=[4, 4], parents=[1, 2], routing="d_mod_k"), fw.uniform(offered_load=1)),
        (fw.Xgft(children=[4, 4], parents=[1, 2], routing="adaptive_up"), fw.uniform(offered_load=1)),
        (fw.Dragonfly(routers_per_group=2, global_channels_per_router=1), fw.uniform(offered_load=1)),
    ],
    ids=str,
)
def test_runs_accept_no_more_than_the_limit_and_it_is_no_less_than_the_saturation_load(
    network: fw.Network, work: fw.Workload
) -> None:
    result = fw.simulate(network, work, warmup_cycles=500, measurement_cycles=2000)
    limits = result.bound
    assert limits.saturation_load <= limits.accepted_load * (1 + 1e-9)
    assert result.accepted_load <= limits.accepted_load * 1.02


def test_uniform_traffic_has_one_limit_where_all_terminals_are_alike() -> None:
    limits = fw.bound(fw.Torus(8, 8), fw.uniform(offered_load=0.1))
    assert limits.accepted_load == pytest.approx(limits.saturation_load)
    mesh = fw.bound(fw.Mesh(8, 8), fw.uniform(offered_load=0.1))
    assert mesh.saturation_load == pytest.approx(0.5) and mesh.accepted_load == pytest.approx(0.5)


@pytest.mark.parametrize("window", [1, 10])
def test_a_channel_carries_one_flit_a_cycle_behind_output_speed_up(window: int) -> None:
    router = fw.Router(vcs=4, buffer_flits=16, input_speedup=4, output_speedup=4)
    network = fw.Torus(4, 4, terminals_per_router=3, router=router)
    result = fw.simulate(
        network, fw.uniform(offered_load=0.9), channel_window_cycles=window, warmup_cycles=100, measurement_cycles=200
    )
    windows = result.channel_windows
    assert windows is not None and windows.max() <= window and windows.sum() == result.channel_flits.sum()
    assert 0.8 < result.busy[1] <= 1
