"""The status of open loops: ``complete`` below saturation, never above it, in fixed windows and steady runs alike."""

from __future__ import annotations

import importlib
import sys
from collections import Counter
from types import ModuleType
from typing import Any

import flitwork as fw
import pytest
from common import REPOSITORY

MESH = fw.Mesh(4, 4, router=fw.Router(vcs=4, buffer_flits=8))
SENDERS = 16


@pytest.mark.parametrize("cycles", [1_000, 3_000, 10_000, 30_000])
def test_a_mesh_beyond_saturation_is_not_complete(cycles: int) -> None:
    """It accepts 0.78: the queues grow by 2 % of what is created, and the mean latency with the measurement."""
    found = fw.simulate(MESH, fw.uniform(offered_load=0.8), warmup_cycles=3_000, measurement_cycles=cycles)
    assert found.status == "saturated" and found.measurement_cycles == cycles
    assert found.completion_cycles < 16 * (3_000 + cycles)


@pytest.mark.parametrize("load", [0.1, 0.4, 0.65])
@pytest.mark.parametrize("cycles", [1_000, 3_000])
def test_a_mesh_below_saturation_is_complete(load: float, cycles: int) -> None:
    found = fw.simulate(MESH, fw.uniform(offered_load=load), measurement_cycles=cycles)
    assert found.status == "complete" and found.completion_cycles < 2 * (3_000 + cycles)


def one_starves(load: float, **run: Any) -> fw.Result:
    """Terminals 0 and 1 send to 3, over one channel; every other one sends to a terminal of its own, undisturbed."""
    weights = [[0.0] * SENDERS for _ in range(SENDERS)]
    for i, to in enumerate([3, 3, 1, 7, 0, 5, 6, 11, 4, 9, 10, 15, 8, 12, 13, 14]):
        weights[i][to] = 1.0
    return fw.simulate(MESH, fw.traffic("matrix", weights=weights, offered_load=load, packet_flits=2), **run)


@pytest.mark.parametrize("run", [{}, {"measurement_cycles": 20_000}, {"steady": {}}], ids=str)
def test_senders_that_starve_are_enough(run: dict[str, Any]) -> None:
    """Together they lose 0.1 flits/cycle of 16 x 0.55, 1 % of all, 9 % of theirs."""
    assert one_starves(0.55, **run).status == "saturated"
    assert one_starves(0.45, **run).status == "complete"


def test_bursts_are_no_growth() -> None:
    bursts = fw.on_off(mean_on_cycles=200, mean_off_cycles=200)
    for seed in range(1, 6):
        work = fw.uniform(offered_load=0.3, packet_flits=4, process=bursts)
        assert fw.simulate(MESH, work, seed=seed).status == "complete"


def test_a_limit_that_comes_too_early_is_not_converged() -> None:
    found = fw.simulate(MESH, fw.uniform(offered_load=0.7), warmup_cycles=0, measurement_cycles=100, max_cycles=100)
    assert found.status == "not_converged"


def test_more_than_the_bound_is_saturated_whatever_was_seen() -> None:
    found = fw.simulate(MESH, fw.uniform(offered_load=1.0), warmup_cycles=0, measurement_cycles=20, max_cycles=20)
    assert found.bound.saturation_load == 1.0 and found.status != "complete"
    torus = fw.Mesh(8, 8)
    found = fw.simulate(torus, fw.uniform(offered_load=0.6), warmup_cycles=0, measurement_cycles=20, max_cycles=20)
    assert found.bound.saturation_load < 0.6 and found.status == "saturated"


def test_a_saturated_run_ends_with_its_measurement() -> None:
    found = fw.simulate(fw.Mesh(8, 8), fw.uniform(offered_load=0.9))
    assert found.status == "saturated" and found.completion_cycles <= 6_000


@pytest.mark.parametrize("cycles", [50, 300])
def test_a_window_of_a_few_packets_is_not_complete(cycles: int) -> None:
    """The torus carries 0.55."""
    network = fw.Torus(6, router=fw.Router(vcs=4, buffer_flits=8))
    work = fw.uniform(offered_load=0.66, packet_flits=64)
    for seed in range(20):
        found = fw.simulate(network, work, warmup_cycles=0, measurement_cycles=cycles, seed=seed)
        assert found.status in ("saturated", "not_converged")


@pytest.mark.parametrize("load", [0.3, 0.75, 0.8])
def test_the_status_is_the_same_on_any_number_of_threads(load: float) -> None:
    def result(threads: int) -> tuple[str, str, int]:
        run = fw.Run(measurement_cycles=1_000, threads=threads)
        found = fw.simulate(MESH, fw.uniform(offered_load=load), run=run)
        return found.status, found.digest, found.completion_cycles

    assert result(1) == result(2) == result(3)


#: Of cases of tools/status_check.py, as it finds them: the load that is carried, and the most without bursts
#: [flits/cycle/terminal]. The first three looked as if they carried 110 % of it, for as long as the defaults measure.
SATURATION = {
    12: (0.2891, 0.2891),
    18: (0.2984, 0.2984),
    33: (0.1934, 0.2051),
    4001: (0.2496, 0.2543),
    4002: (0.4430, 0.5039),
    4003: (0.4492, 0.4727),
    4004: (0.3820, 0.3820),
    4005: (0.2285, 0.2285),
    4006: (0.2191, 0.2191),
    4007: (0.2552, 0.2653),
    4008: (0.2262, 0.2262),
    4009: (0.8164, 0.8164),
}


@pytest.mark.slow
@pytest.mark.parametrize("number", SATURATION)
def test_random_runs_are_complete_below_saturation_and_never_above(number: int) -> None:
    check = status_check()
    found: Counter[tuple[str, str]] = Counter()
    assert check.run_case(check.Case(number), 3, found, SATURATION[number], show=False) == []
    assert found["below", "complete"] == 3


def status_check() -> ModuleType:
    """The command in tools/, as a module."""
    sys.path.insert(0, str(REPOSITORY / "tools"))
    return importlib.import_module("status_check")
