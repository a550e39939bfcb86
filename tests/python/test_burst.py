"""``fw.burst``: trials, their mean and its interval, what is received over time, the figure."""

from __future__ import annotations

import json
from pathlib import Path

import flitwork as fw
import numpy as np
import pytest
from flitwork import _core
from flitwork.planning.specification import RunOptions, simulation, to_json

NET = fw.Torus(4, 4, vcs=4)


@pytest.fixture(scope="module")
def found() -> fw.Burst:
    return fw.burst(
        NET,
        "shuffle",
        packets=[1, 8],
        packet_flits=8,
        trials=5,
        background_load=0.2,
        warmup_cycles=200,
        delivery_window_cycles=20,
    )


def test_a_row_a_trial_and_a_point_a_length(found: fw.Burst) -> None:
    assert len(found.table) == 10 and sorted(set(found.table["seed"])) == [1, 2, 3, 4, 5]
    assert found.table["duration_cycles"].min() >= found.table["bound_cycles"].min()
    points = found.points.set_index("packets_per_terminal").to_dict("index")
    trials = found.table[found.table["packets_per_terminal"] == 8]["duration_cycles"]
    assert points[8]["trials"] == 5 and trials.nunique() > 1
    assert points[8]["mean_duration_cycles"] == trials.mean()
    assert points[8]["mean_ci_half_width_cycles"] == pytest.approx(2.776445 * trials.std() / np.sqrt(5))
    assert points[8]["performance"] == 1000 / trials.mean()
    assert points[1]["mean_duration_cycles"] < points[8]["mean_duration_cycles"]


def test_trials_are_those_of_single_simulations(found: fw.Burst) -> None:
    one = fw.simulate(
        NET,
        fw.burst_workload("shuffle", packets=8, packet_flits=8),
        background=fw.uniform(offered_load=0.2, packet_flits=8),
        seed=3,
        warmup_cycles=200,
    )
    row = found.table[(found.table["packets_per_terminal"] == 8) & (found.table["seed"] == 3)].iloc[0]
    assert row["duration_cycles"] == one.completion_cycles
    assert row["digest"] == one.digest


def test_deliveries_are_means_over_the_trials(found: fw.Burst) -> None:
    table = found.deliveries[found.deliveries["packets_per_terminal"] == 8]
    # 14 of 16 terminals send: two are fixed points.
    assert table["mean_packets"].sum() == pytest.approx(8 * 14)
    assert table["mean_flits"].sum() == pytest.approx(8 * 8 * 14)
    assert (table["start_cycle"].diff().dropna() == 20).all()
    longest = found.table[found.table["packets_per_terminal"] == 8]["duration_cycles"].max()
    assert len(table) == longest // 20 + 1
    assert table["start_cycle"].dtype.kind == "i"


def test_a_window_that_the_end_cuts_off_does_not_count_for_the_background() -> None:
    found = fw.burst(
        fw.Torus(4, 4, vcs=4),
        "random_pairs",
        packets=4,
        packet_flits=8,
        trials=30,
        background_load=0.3,
        warmup_cycles=300,
        delivery_window_cycles=50,
    )
    received = found.deliveries["mean_background_flits"]
    lengths = found.table["duration_cycles"]
    windows = len(received)
    assert windows == lengths.max() // 50 + 1
    whole = [int(((lengths + 1) // 50 > i).sum()) for i in range(windows)]
    assert whole[0] == 30 and whole[-1] == 0
    # In a window that is over in every trial, it is what the trials received; the last is over in none.
    single = [
        fw.simulate(
            fw.Torus(4, 4, vcs=4),
            fw.burst_workload("random_pairs", packets=4, packet_flits=8),
            background=fw.uniform(offered_load=0.3, packet_flits=8),
            seed=seed,
            warmup_cycles=300,
            delivery_window_cycles=50,
        ).deliveries["background_flits"]
        for seed in range(1, 31)
    ]
    assert np.isnan(received.iloc[-1])
    for i in range(windows - 1):
        counted = [one[i] for one, length in zip(single, lengths, strict=True) if (length + 1) // 50 > i]
        assert len(counted) == whole[i]
        assert received[i] == pytest.approx(np.mean(counted)) if counted else np.isnan(received[i])
    # What is received of the burst is all there, in cut off windows, too.
    assert found.deliveries["mean_flits"].sum() == pytest.approx(16 * 4 * 8)


def test_of_a_single_trial_the_spread_is_not_known() -> None:
    one = fw.burst(NET, "random_pairs", packets=[2, 4], trials=1, delivery_window_cycles=10)
    for name in ("mean_ci_half_width_cycles", "std_duration_cycles"):
        assert one.points[name].isna().all()
    assert one.deliveries["mean_packets_ci_half_width"].isna().all() and one.deliveries["mean_packets"].notna().all()
    assert len(one.plot().axes) == 2


def test_the_bound_is_the_mean_where_seeds_draw_it() -> None:
    drawn = fw.burst(NET, "random_selection", packets=10, packet_flits=8, trials=6)
    assert drawn.table["bound_cycles"].nunique() > 1
    assert drawn.points["bound_cycles"].iloc[0] == drawn.table["bound_cycles"].mean()


def test_what_is_left_of_failed_trials_is_kept() -> None:
    whole = fw.burst(NET, "random_selection", packets=10, packet_flits=8, trials=6)
    limit = int(whole.table["duration_cycles"].sort_values().iloc[3]) + 1
    with pytest.raises(fw.BurstError, match=r"of 6 points failed") as caught:
        run: RunOptions = {"max_cycles": limit}
        fw.burst(NET, "random_selection", packets=10, packet_flits=8, trials=6, delivery_window_cycles=10, run=run)
    left = caught.value.burst
    assert left is not None and 0 < len(left.table) < 6 and len(left.table) + len(caught.value.failures) == 6
    assert caught.value.table is left.table and left.table["duration_cycles"].max() <= limit
    assert left.points["trials"].iloc[0] == len(left.table) and len(left.deliveries)
    with pytest.raises(fw.BurstError) as caught:
        fw.burst(NET, "random_selection", packets=10, packet_flits=8, trials=2, run={"max_cycles": 20})
    assert caught.value.burst is None and len(caught.value.failures) == 2


def test_a_burst_is_drawn_beside_others_of_other_names(found: fw.Burst) -> None:
    with pytest.raises(fw.ConfigError, match=r"plot\.shuffle = given.*shuffle_2"):
        found.plot(shuffle=found)
    with pytest.raises(fw.ConfigError, match="a Burst to draw"):
        found.plot(other=found.table)  # type: ignore[arg-type]
    assert len(found.plot(again=found).axes[0].get_legend_handles_labels()[1]) == 3  # with the lower bound


def test_without_chance_all_trials_are_one() -> None:
    fixed = fw.burst(NET, "shuffle", packets=4, trials=3)
    assert fixed.table["duration_cycles"].nunique() == 1 and fixed.deliveries.empty
    assert fixed.points["mean_ci_half_width_cycles"].iloc[0] == 0


def test_the_figure_and_the_files(found: fw.Burst, tmp_path: Path) -> None:
    limited = fw.burst(NET, "transpose", packets=8, rate=[0.1, 0.5], trials=2)
    assert limited.points["mean_duration_cycles"].is_monotonic_decreasing
    assert len(found.plot(transpose=limited).axes) == 2 and len(limited.plot().axes) == 1
    assert limited.plot().axes[0].get_xlabel() == "rate [flits/cycle/terminal]"
    assert limited.plot().get_suptitle().startswith("bursts of transpose on torus")
    assert found.plot(transpose=limited).get_suptitle() == ""
    names = {path.name for path in found.save(tmp_path)}
    assert names == {"trials.csv", "points.csv", "deliveries.csv", "burst.png", "burst.svg"}


def test_what_is_stored_is_not_run_again(tmp_path: Path) -> None:
    first = fw.burst(NET, "random_pairs", packets=2, trials=2, out=tmp_path)
    files = {path.name for path in (tmp_path / "points").glob("*.parquet")}
    more = fw.burst(NET, "random_pairs", packets=2, trials=3, out=tmp_path)
    assert len(files) == 2 and files < {path.name for path in (tmp_path / "points").glob("*.parquet")}
    assert more.table.head(2)["wall_seconds"].equals(first.table["wall_seconds"])


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"packets": 0}, "workload.packets"),
        ({"packets": []}, "packets"),
        ({"packets": [[1], [2]]}, "packets[0]"),
        ({"packets": {1: 2}}, "packets"),
        ({"packets": "3"}, "packets"),
        ({"packets": 2, "rate": [0.1, None]}, "rate[1]"),
        ({"packets": 2, "parameters": {"packets": 3}}, "parameters.packets"),
        ({"packets": 2, "parameters": [3]}, "parameters"),
        ({"packets": 2, "run": 3}, "run"),
        ({"packets": [2, 2]}, "packets[1]"),
        ({"packets": 2, "rate": [0.1, -1.0]}, "workload.rate"),
        ({"packets": 2, "trials": 0}, "trials"),
        ({"packets": 2, "trials": 2.5}, "trials"),
        ({"packets": 2, "first_seed": -1}, "first_seed"),
        ({"packets": 2, "background_load": -0.1}, "background_load"),
        ({"packets": 2, "background_load": 0.1, "background": fw.uniform(offered_load=0.1)}, "background_load"),
        ({"packets": 2, "parameters": {"hot": 1}}, "workload.pattern.hot"),
        ({"packets": 2, "run": {"seed": 7}}, "run.seed"),
        ({"packets": 2, "run": {"warmup_cycles": 3}, "warmup_cycles": 3}, "run.warmup_cycles"),
        (
            {"packets": 2, "run": {"delivery_window_cycles": 3}, "delivery_window_cycles": 9},
            "run.record.delivery_window_cycles",
        ),
    ],
)
def test_bad_bursts_are_named(options: dict[str, object], path: str) -> None:
    with pytest.raises(fw.ConfigError) as caught:
        fw.burst(NET, "shuffle", **options)  # type: ignore[arg-type]
    # A field of the specification stands behind the point that it belongs to.
    assert caught.value.path.rpartition(": ")[2] == path


def test_work_of_a_burst_counts_its_background_and_its_rate() -> None:
    # What the progress bar judges the time left by.
    def work(background: bool = False, rate: float = 0.0, **run: int) -> float:
        workload = fw.burst_workload("shuffle", packets=10, packet_flits=8, rate=rate)
        beside = fw.uniform(offered_load=0.1, packet_flits=8) if background else None
        plan = _core.Plan(to_json(simulation(fw.Torus(8, 8), workload, run, beside)))
        return float(json.loads(plan.json)["described"]["estimated_work_flit_hops"])

    alone = work()
    assert alone == pytest.approx(64 * 80 * 5, rel=0.1)
    assert work(warmup_cycles=9000) == alone  # there is nothing to warm up
    assert alone < work(rate=0.05) < 2 * alone  # 1600 cycles, almost all of them idle
    # 2000 cycles of background before t = 0: 0.1 flits x 5 hops x 64 terminals each.
    assert work(True, warmup_cycles=2000) > alone + 2000 * 0.1 * 5 * 64
