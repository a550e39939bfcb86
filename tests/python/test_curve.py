"""Curves over offered load: refinement around saturation, indices, continuing, the figure, the command."""

from __future__ import annotations

import json
import math
from pathlib import Path

import flitwork as fw
import pandas as pd
import pytest
from common import Cli
from flitwork.cli.simulation import default_folder
from flitwork.planning.specification import RunOptions, simulation
from flitwork.questions.curve import LOAD, _limits

NET = fw.Torus(4, 4, vcs=2)
WORK = fw.uniform(offered_load=0.1, packet_flits=4)
QUICK = {"relative_ci": 0.1, "min_warmup_cycles": 500, "min_measurement_cycles": 1000, "max_cycles": 20_000}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("curve")


@pytest.fixture(scope="module")
def curve(folder: Path) -> fw.Curve:
    return fw.curve(NET, WORK, seeds=[1, 2, 3], resolution=0.02, out=folder, steady=QUICK)


def test_loads_are_added_where_the_network_saturates(curve: fw.Curve) -> None:
    low, high = curve.saturation
    assert 0 < high - low <= 0.02 and curve.points["refined"].sum() >= 3
    assert curve.points["refined"].sum() + 20 == len(curve.points) == len(curve.table) / 3
    points = curve.points.set_index(LOAD)["status"]
    assert points[high] == "saturated" and points[low] != "saturated"
    assert (points[: low - 0.05] != "saturated").all() and (points[high + 0.05 :] == "saturated").all()


def test_points_are_means_over_seeds_with_intervals(curve: fw.Curve) -> None:
    first = curve.points.iloc[0]
    runs = curve.table[curve.table[LOAD] == first[LOAD]]
    latency = runs["packet_latency_mean_cycles"]
    assert first["packet_latency_mean_cycles"] == pytest.approx(latency.mean())
    assert first["packet_latency_ci_half_width_cycles"] == pytest.approx(4.302653 * latency.std() / math.sqrt(3))
    saturated = curve.points[curve.points["status"] == "saturated"]
    assert saturated["packet_latency_mean_cycles"].isna().all()
    assert (saturated["accepted_load_flits_per_cycle"] < saturated[LOAD]).all()


def test_the_indices_agree_with_the_curve(curve: fw.Curve) -> None:
    low, high = curve.saturation
    assert curve.capacity == 1.0 and curve.critical_load_reached
    # The slope falls at the latest between the loads that enclose saturation.
    assert low - 0.1 < curve.critical_load.mean < high + 0.05
    throughput = curve.saturation_throughput
    # The highest of several short measurements is a little too high.
    assert low - 0.03 < throughput.mean < high + 0.03
    assert len(throughput.values) == 3 and throughput.half_width < 0.05
    # Not above the integral of an ideal curve: accepted = offered at the latency of an empty network.
    assert 0 < curve.npm.mean < 0.5 / curve.points["packet_latency_mean_cycles"].min()
    table = curve.indices.set_index("index")
    assert table.loc["critical_load", "value"] == curve.critical_load.mean
    assert table.loc["saturation_load", "value"] == (low + high) / 2
    assert table["ci_half_width"].isna()["saturation_load"]  # a bracket is no confidence interval
    assert set(table["unit"]) == {"flits/cycle/terminal", "(flits/cycle/terminal)^2/cycle"}


def test_a_curve_continues_where_it_was(curve: fw.Curve, folder: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in (folder / "points").iterdir()}
    again = fw.curve(NET, WORK, seeds=[1, 2, 3], resolution=0.02, out=folder, steady=QUICK)
    assert again.table.equals(curve.table)
    assert {path: path.stat().st_mtime_ns for path in (folder / "points").iterdir()} == before


def test_a_curve_is_saved_with_its_figure(curve: fw.Curve, tmp_path: Path) -> None:
    written = curve.save(tmp_path)
    assert [path.name for path in written] == ["runs.csv", "points.csv", "indices.csv", "curve.png", "curve.svg"]
    assert len(pd.read_csv(tmp_path / "points.csv")) == len(curve.points)
    with pytest.raises(fw.ConfigError, match="nothing else in the figure"):
        curve.plot(uniform=curve)
    left, right = curve.plot(other=curve).axes
    assert "cycles" in left.get_ylabel() and "flits/cycle/terminal" in right.get_ylabel()
    legend = right.get_legend()
    assert legend is not None
    assert {"saturated", "saturates in here", "uniform", "other"} < {text.get_text() for text in legend.get_texts()}
    bars = [bar for ax in (left, right) for bars in ax.collections for bar in getattr(bars, "get_segments", list)()]
    assert len(bars) > 50 and min(bar[:, 1].min() for bar in bars) >= 0
    title = "uniform on torus 4x4: dimension_order, 2 VCs of 16 flits, packets of 4 flits"
    assert curve.title == title and curve.plot().get_suptitle() == title
    assert left.get_ylim()[1] <= 6.0 * curve.points["packet_latency_mean_cycles"].min() + 1e-9


def test_own_loads_and_a_fixed_window() -> None:
    found = fw.curve(NET, WORK, [0.3, 0.1], seeds=[7], warmup_cycles=200, measurement_cycles=400)
    assert list(found.points[LOAD]) == [0.1, 0.3] and set(found.table["measurement_cycles"]) == {400}
    assert found.saturation == (0.3, math.inf)
    note = found.indices.set_index("index")["note"]
    assert "steps of at most 0.05" in note["critical_load"] and note["saturation_load"] == "no load is saturated"
    assert found.indices.set_index("index")["value"].isna()["saturation_load"]
    # One seed: the interval is that of the run.
    run = found.table.iloc[0]["packet_latency_ci_half_width_cycles"]
    assert found.points.iloc[0]["packet_latency_ci_half_width_cycles"] == run


def test_a_curve_that_is_saturated_from_the_start_looks_below() -> None:
    found = fw.curve(NET, WORK, [0.9, 1.0], seeds=[1], resolution=0.1, steady=QUICK)
    low, high = found.saturation
    assert 0 < low < high < 0.9 and found.points[LOAD].min() < 0.9


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"loads": [0.1, -0.1]}, r"loads\[1\]"),
        ({"loads": []}, "loads"),
        ({"loads": [0.1, 0.1]}, LOAD),
        ({"loads": "0.1,0.2"}, "loads"),
        ({"loads": 0.1}, r"loads = 0\.1.*write loads=\[0\.1\]"),
        ({"loads": [0.1, "a"]}, r"loads\[1\]"),
        ({"capacity": "x"}, "capacity"),
        ({"resolution": "a"}, "resolution"),
        ({"resolution": float("nan")}, "resolution"),
        ({"resolution": 1.5}, "resolution"),
        ({"capacity": 0.0}, "capacity"),
        ({"loads": [5.0]}, "offered_load"),
        ({"steady": {"relative_ci": 0}}, r"run\.steady\.relative_ci"),
        ({"engine": "cloud"}, "engine"),
        ({"seeds": [1], "seed": 7}, r"run\.seed = 7.*seeds=\[7\]"),
        ({"steady": {}, "warmup_cycles": 5}, r"run\.warmup_cycles"),
    ],
)
def test_bad_values_are_refused_by_name(arguments: dict[str, object], field: str) -> None:
    with pytest.raises(fw.ConfigError, match=field):
        fw.curve(NET, WORK, **arguments)  # type: ignore[arg-type]


HOTSPOT = fw.traffic("hotspot", offered_load=0.1, packet_flits=2, terminals=[0])


def test_a_hotspot_is_followed_beyond_what_its_terminal_receives() -> None:
    # 16 terminals send to one, which receives 1 flit a cycle: all is lost beyond 1/16.
    found = fw.curve(NET, HOTSPOT, seeds=[1, 2], resolution=0.001, warmup_cycles=1000, measurement_cycles=20_000)
    assert found.grid[15] == 1 / 16 and found.grid[-1] == 1.25 / 16 and len(found.grid) == 20
    low, high = found.saturation
    # At 1/16 itself the terminal is always busy, and queues grow without end, only slower and slower.
    assert low <= 1 / 16 <= high < 1.25 / 16
    index = found.indices.set_index("index")
    assert not index["value"].isna().any() and index["note"]["critical_load"] == ""
    assert found.saturation_throughput.mean == pytest.approx(1 / 16, rel=0.02)
    assert found.critical_load.mean == pytest.approx(1 / 16, abs=0.004)


def test_above_its_bound_a_load_is_saturated_whatever_a_short_window_saw() -> None:
    window: RunOptions = {"warmup_cycles": 100, "measurement_cycles": 400}
    seen = fw.simulate(NET, HOTSPOT, **window)
    assert seen.status == "saturated" and seen.row["bound_saturation_load_flits_per_cycle"] == 1 / 16
    found = fw.curve(NET, HOTSPOT, [0.03, 0.1, 0.2], seeds=[1], resolution=0.0, **window)
    assert list(found.points["status"]) == ["complete", "saturated", "saturated"]
    assert found.saturation == (0.03, 0.1) and found.points["packet_latency_mean_cycles"].isna().sum() == 2


def test_the_default_loads_end_at_the_capacity_where_terminals_can_receive_it() -> None:
    for net, work in ((NET, WORK), (fw.Mesh(8, 8), fw.traffic("transpose", offered_load=0.1))):
        capacity, top = _limits(net, work, None)
        assert top == capacity
    # The first terminal sends all there is: at 1/16 it creates a packet of 1 flit in each cycle, and no more can be asked for.
    weights = [[0.0] * 16 for _ in range(16)]
    weights[0][1:] = [1.0] * 15
    assert _limits(NET, fw.traffic("matrix", offered_load=0.01, weights=weights), None)[1] == pytest.approx(1 / 16)


def test_a_background_takes_what_it_takes(curve: fw.Curve) -> None:
    beside = fw.uniform(offered_load=0.4, packet_flits=4)
    found = fw.curve(NET, WORK, background=beside, seeds=[1], resolution=0.05, steady=QUICK)
    assert found.saturation[1] == pytest.approx(curve.saturation[1] - 0.4, abs=0.1)
    assert set(found.table["background_offered_load_flits_per_cycle"].round(1)) == {0.4}


def test_a_schedule_has_no_load() -> None:
    with pytest.raises(fw.ConfigError, match="traffic at an offered load"):
        fw.curve(NET, fw.all_to_all())
    with pytest.raises(fw.ConfigError, match="workload = 3: expected a Workload"):
        fw.curve(NET, 3)  # type: ignore[arg-type]


def test_the_command_draws_a_curve(cli: Cli, tmp_path: Path) -> None:
    quick = "steady={relative_ci=0.1, min_warmup_cycles=500, min_measurement_cycles=1000, max_cycles=20000}"
    options = ["--size", "3x3", "--loads", "0.1,0.9", "--resolution", "0.2", "--seeds", "2", "--set", quick]
    done = cli("curve", "uniform", *options, "--packet-flits", "2", "--out", "here")
    assert done.returncode == 0, done.stderr
    assert "saturation_throughput" in done.stdout and "complete" in done.stdout
    assert (tmp_path / "here" / "curve.png").stat().st_size > 10_000
    again = cli("curve", "uniform", *options, "--packet-flits", "2", "--out", "here", "--json")
    assert again.returncode == 0 and "stored already" in again.stderr, again.stderr
    assert {row["status"] for row in json.loads(again.stdout)["points"]} <= {"complete", "saturated", "not_converged"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a2at"], "traffic pattern"),
        (["uniform", "--loads", "0.1,many"], "--loads"),
        (["uniform", "--set", "offered_load=0.1"], "--loads"),
        (["uniform", "--resolution", "2"], "resolution"),
        (["uniform", "--seeds", "0"], "--seeds"),
        (["uniform", "--set", "seed=5", "--seeds", "1"], "--seeds instead"),
    ],
)
def test_the_command_explains_what_is_wrong(cli: Cli, arguments: list[str], message: str) -> None:
    done = cli("curve", *arguments)
    assert done.returncode == 2 and message in done.stderr, done.stderr


def test_every_configuration_has_a_folder_of_its_own(cli: Cli, tmp_path: Path) -> None:
    run = ["--set", "warmup_cycles=20", "--set", "measurement_cycles=50", "--loads", "0.1", "--seeds", "1"]
    for i, more in enumerate((["--packet-flits", "2"], [], ["--set", "vcs=2", "--resolution", "0"])):
        done = cli("curve", "uniform", "--size", "3x3", *run, *more)
        assert done.returncode == 0, done.stderr
        # The last is the second in other words: it continues in its folder.
        assert len(list((tmp_path / "results").glob("curve-uniform-torus-3x3-*"))) == min(i + 1, 2)
    assert cli("burst", "uniform", "--size", "3x3", "--packets", "1", "--trials", "1").returncode == 0
    assert len(list((tmp_path / "results").glob("burst-uniform-torus-3x3-*"))) == 1


def test_a_folder_is_named_by_all_that_is_simulated() -> None:
    table: dict[str, object] = {"kind": "torus", "size": [4, 4]}
    network, beside = fw.Torus(4, 4), fw.uniform(offered_load=0.1)
    specs = [
        simulation(network, WORK),
        simulation(network.replace(vcs=8), WORK),
        simulation(network, fw.uniform(offered_load=0.1, packet_flits=4, include_self=False)),
        simulation(network, WORK, {"steady": {}}),
        simulation(network, WORK, background=beside),
        simulation(network, HOTSPOT),
    ]
    assert len({default_folder("curve", "uniform", table, spec) for spec in specs}) == len(specs)


def test_what_a_run_is_allowed_its_curve_is() -> None:
    network = fw.Torus(4, 4, router=fw.Router(vcs=1), routing="shortest_path")
    with pytest.raises(fw.ConfigError, match="no cycle of channel dependencies"):
        fw.curve(network, WORK, [0.05], seeds=[1], resolution=0.0)
    found = fw.curve(network, WORK, [0.05], seeds=[1], resolution=0.0, deadlock_check=False)
    assert list(found.points["status"]) == ["complete"]
