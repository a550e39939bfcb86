"""Bursts, backgrounds, processes and lengths from Python; their columns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import flitwork as fw
import pytest
from flitwork.base.input_files import tomllib
from flitwork.experiment import RESULT_COLUMNS, expand, parse_study
from flitwork.planning.specification import plan_of, simulation

NET = fw.Torus(4, 4, vcs=4)
BURST = fw.burst_workload("transpose", packets=6, packet_flits=4)
BESIDE = fw.uniform(offered_load=0.1, packet_flits=2)


@pytest.fixture(scope="module")
def result() -> fw.Result:
    return fw.simulate(NET, BURST, background=BESIDE, warmup_cycles=200, delivery_window_cycles=10, packets=True)


def test_pacing_spreads_packets() -> None:
    work = fw.all_to_all("a2a", message_flits=32, packet_flits=8)
    paced = fw.simulate(fw.Torus(4, 4, nic=fw.Nic(packet_gap_cycles=24)), work, packets=True)
    of_one = paced.packets.query("src == 3").sort_values("sequence")
    # 8 cycles for a packet and 24 for the pause.
    assert (of_one["injected_cycle"].diff().dropna() >= 32).all()
    assert paced.completion_cycles >= 60 * 32 - 24


def test_a_burst_counts_from_t_0_and_the_background_apart(result: fw.Result) -> None:
    assert result.runs_to_completion and not result.has_schedule and result.start_cycle == 200
    packets = result.packets
    own = packets[~packets["background"]]
    assert len(own) == result.row["packets"] == 6 * 12
    assert own["arrived_cycle"].max() - 200 == result.completion_cycles >= result.bound.tightest_cycles
    assert set(own["flits"]) == {4} and set(packets[packets["background"]]["flits"]) == {2}
    assert result.background["packets"] == packets[packets["background"]]["arrived_cycle"].notna().sum()
    assert result.background["offered_load_flits_per_cycle"] == pytest.approx(0.1, rel=0.5)
    assert fw.simulate(NET, BURST).background == {}


def test_deliveries_are_a_table_over_time(result: fw.Result) -> None:
    table = result.deliveries
    assert list(table.columns) == ["start_cycle", "packets", "flits", "background_packets", "background_flits"]
    assert table["packets"].sum() == 72 and (table["flits"] == 4 * table["packets"]).all()
    assert table["start_cycle"].iloc[-1] == result.completion_cycles // 10 * 10
    assert fw.simulate(NET, BURST).deliveries.empty


def test_a_result_with_a_background_survives_the_disk(result: fw.Result, tmp_path: Path) -> None:
    again = fw.load(result.save(tmp_path / "burst.parquet"))
    assert again.row == result.row and again.deliveries.equals(result.deliveries)


def test_every_column_is_known_to_studies(result: fw.Result) -> None:
    assert set(result.row) <= set(RESULT_COLUMNS)
    # Without units of the network there are no columns in ns and bytes.
    own = {name for name, column in RESULT_COLUMNS.items() if not column.physical}
    assert {name for name in own if name.startswith("background_")} <= set(result.row) <= own


def test_a_sweep_takes_a_background() -> None:
    def point(n: int) -> tuple[fw.Network, fw.Workload, fw.Workload]:
        return NET, fw.burst_workload("shuffle", packets=n), BESIDE

    table = fw.sweep(point, n=[1, 4], run={"warmup_cycles": 100})
    assert table["completion_cycles"].is_monotonic_increasing and table["background_packets"].min() > 0


def test_lengths_and_processes_reach_the_specification() -> None:
    process = fw.on_off(mean_on_cycles=10, mean_off_cycles=30)
    work = fw.traffic("shuffle", offered_load=0.1, packet_flits={1: 3, 5: 1}, process=process)
    result = fw.simulate(NET, work, packets=True, measurement_cycles=2000)
    assert result.spec["workload"]["process"]["mean_off_cycles"] == 30
    lengths = result.packets["flits"].value_counts(normalize=True)
    assert lengths[1] == pytest.approx(0.75, abs=0.05) and set(lengths.index) == {1, 5}


@pytest.mark.parametrize(
    ("make", "path", "hint"),
    [
        (lambda: fw.burst_workload("transposed", packets=1), "workload.pattern.kind", "did you mean transpose?"),
        (lambda: fw.simulate(NET, BURST, background=BURST), "background.kind", "no end"),
        (lambda: fw.simulate(NET, fw.burst_workload("shuffle", packets=0)), "workload.packets", ""),
        (lambda: fw.simulate(NET, fw.uniform(offered_load=0.1, process="bursty")), "workload.process.kind", ""),
        (lambda: fw.simulate(NET, fw.uniform(offered_load=0.1, packet_flits={0: 1})), "packet_flits[0].flits", ""),
        (lambda: fw.simulate(NET, BURST, background=fw.Torus(2)), "background", ""),  # type: ignore[arg-type]
        (lambda: fw.simulate(NET.replace(source_queue="lifo"), BURST), "network.nic.source_queue", ""),  # type: ignore[arg-type]
    ],
)
def test_bad_workloads_are_named(make: Callable[[], object], path: str, hint: str) -> None:
    with pytest.raises(fw.ConfigError) as caught:
        make()
    assert path in str(caught.value) and hint in str(caught.value)


def test_a_background_without_load_is_none() -> None:
    net, burst = fw.Torus(3, 3), fw.burst_workload("uniform", packets=2)
    alone = fw.simulate(net, burst)
    assert fw.simulate(net, burst, background=fw.uniform(offered_load=0.0), warmup_cycles=50).row["warmup_cycles"] == 0
    table = fw.sweep(lambda load: (net, burst, fw.uniform(offered_load=load)), load=[0.0, 0.1])
    assert (table["plan_hash"] == alone.plan_hash).tolist() == [True, False]
    assert table["background_packets"].isna().tolist() == [True, False]


def test_a_study_may_sweep_the_load_of_a_background_from_zero() -> None:
    text = """
        study.name = "beside"
        base.network.topology = { kind = "torus", size = [3, 3] }
        base.workload = { kind = "burst", pattern = { kind = "uniform" }, packets = 2 }
        base.background = { kind = "uniform", offered_load = "${b}" }
        experiments = [{ id = "e", grid = { b = [0, 0.1] } }, { id = "f", set = { "background.offered_load" = 0.0 } }]
    """
    points = expand(parse_study(tomllib.loads(text)))
    assert ["background" in point.spec for point in points] == [False, True, False]
    alone = plan_of(simulation(fw.Torus(3, 3), fw.burst_workload("uniform", packets=2))).hash
    assert [plan_of(point.spec).hash == alone for point in points] == [True, False, True]
