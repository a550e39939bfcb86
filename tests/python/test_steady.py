"""Steady runs and what they report: intervals, histograms, utilisation, fairness."""

from __future__ import annotations

from pathlib import Path

import flitwork as fw
import numpy as np
import pandas as pd
import pytest
from common import Cli
from flitwork.planning.specification import RunOptions
from flitwork.results.histogram import Histogram, merge

NET = fw.Torus(4, 4, vcs=4)
WORK = fw.uniform(offered_load=0.3, packet_flits=4)


@pytest.fixture(scope="module")
def result() -> fw.Result:
    return fw.simulate(NET, WORK, steady={"relative_ci": 0.02})


def test_the_interval_is_as_narrow_as_was_asked(result: fw.Result) -> None:
    row = result.row
    assert row["status"] == "complete" and row["ci_confidence"] == 0.95
    assert 0 < row["packet_latency_ci_half_width_cycles"] <= 0.02 * row["packet_latency_mean_cycles"]
    assert 0 < row["network_latency_ci_half_width_cycles"] < row["packet_latency_ci_half_width_cycles"] * 2
    assert row["accepted_load_ci_half_width_flits_per_cycle"] < 0.02
    assert row["warmup_cycles"] >= 5000 and row["measurement_cycles"] >= 10_000


def test_a_fixed_run_has_an_interval_too_and_a_schedule_has_none() -> None:
    fixed = fw.simulate(NET, WORK, warmup_cycles=2000, measurement_cycles=5000)
    assert fixed.row["packet_latency_ci_half_width_cycles"] > 0
    assert (fixed.warmup_cycles, fixed.measurement_cycles) == (2000, 5000)
    closed = fw.simulate(fw.Torus(3, 3), fw.all_to_all(message_flits=5))
    assert closed.row["packet_latency_ci_half_width_cycles"] is None
    assert (closed.warmup_cycles, closed.measurement_cycles) == (0, closed.completion_cycles)


def test_channels_and_terminals_are_measured_in_the_measurement(result: fw.Result) -> None:
    flits = result.values["accepted_load"] * result.measurement_cycles * 16
    hops = result.channel_utilisation.sum() * result.measurement_cycles
    assert hops == pytest.approx(flits * result.row["mean_hops"], rel=0.01)
    assert result.channels["flits_per_cycle"].max() == result.row["max_channel_flits_per_cycle"]
    terminals = result.terminals
    assert terminals["received_flits"].sum() == pytest.approx(flits)
    assert terminals["delivered_flits_per_cycle"].mean() == pytest.approx(0.3, rel=0.02)
    x = terminals["delivered_flits"]
    assert result.row["jain_index"] == pytest.approx(x.sum() ** 2 / (16 * (x**2).sum()))
    assert result.row["slowest_over_mean"] == pytest.approx(x.min() / x.mean())


def test_the_histogram_says_what_the_summary_says(result: fw.Result) -> None:
    histogram = result.packet_latency_histogram
    latency = result.values["packet_latency"]
    assert histogram.count == latency["count"]
    assert list(histogram.quantile([0.5, 0.95, 0.99])) == [latency[f"p{q}_cycles"] for q in (50, 95, 99)]
    assert histogram.quantile(0) == latency["min_cycles"] and histogram.quantile(1) == latency["max_cycles"]
    assert np.average(histogram.value_cycles, weights=histogram.packets) == pytest.approx(latency["mean_cycles"])
    assert result.network_latency_histogram.count == histogram.count


def test_histograms_of_several_runs_are_merged() -> None:
    runs = [fw.simulate(NET, WORK, seed=seed, packets=True, measurement_cycles=1000) for seed in (1, 2)]
    both = merge(run.packet_latency_histogram for run in runs)
    parts = []
    for run in runs:
        created = run.packets["created_cycle"]
        parts.append(run.packets[(created >= 3000) & (created < 4000)]["packet_latency_cycles"])
    latencies = pd.concat(parts).astype(int)
    assert both.table.set_index("latency_cycles")["packets"].to_dict() == latencies.value_counts().to_dict()
    assert both.quantile(0.9) == np.sort(latencies)[int(np.ceil(0.9 * len(latencies))) - 1]
    assert merge([]).count == 0 and np.isnan(merge([]).quantile(0.5))


def test_a_share_beyond_one_is_refused() -> None:
    with pytest.raises(fw.ConfigError, match="from 0 to 1"):
        Histogram(np.array([1]), np.array([1])).quantile(99)


def test_a_steady_result_survives_the_disk(result: fw.Result, tmp_path: Path) -> None:
    again = fw.load(result.save(tmp_path / "steady.parquet"))
    assert again.row == result.row
    assert again.packet_latency_histogram.table.equals(result.packet_latency_histogram.table)
    assert again.terminals.equals(result.terminals)


def test_saturation_is_a_status_and_a_low_limit_a_note() -> None:
    heavy = fw.simulate(NET, fw.uniform(offered_load=1.0, packet_flits=4), steady={})
    assert heavy.status == "saturated" and np.isnan(heavy.row["packet_latency_ci_half_width_cycles"])
    assert heavy.precision_note == ""
    short = fw.simulate(NET, WORK, steady={"relative_ci": 1e-4, "max_cycles": 25_000})
    assert short.status == "complete" and "not to the ± 0.01 % that were asked for" in short.precision_note
    assert fw.simulate(NET, WORK, steady={}).precision_note == ""


def test_a_fixed_window_beside_steady_is_refused() -> None:
    with pytest.raises(fw.ConfigError, match=r"run\.warmup_cycles.*run\.steady"):
        fw.simulate(NET, WORK, steady={}, warmup_cycles=100)


def test_a_study_file_takes_steady_and_gets_the_columns(cli: Cli, tmp_path: Path) -> None:
    text = """
    [study]
    name = "steady"
    [base]
    network.topology = { kind = "torus", size = [3, 3] }
    workload = { kind = "uniform", packet_flits = 2, offered_load = 0.1 }
    run.steady = { relative_ci = 0.05 }
    [[experiments]]
    id = "e"
    grid = { "workload.offered_load" = [0.1, 1.0] }
    """
    (tmp_path / "steady.toml").write_text(text)
    done = cli("run", "steady.toml")
    assert done.returncode == 0, done.stderr
    table = pd.read_csv(tmp_path / "results" / "steady" / "results.csv")
    assert list(table["status"]) == ["complete", "saturated"]
    assert {"packet_latency_ci_half_width_cycles", "jain_index", "measurement_cycles"} <= set(table.columns)


def test_the_command_line_takes_steady(cli: Cli) -> None:
    done = cli("simulate", "uniform", "--size", "3x3", "--load", "0.1", "--set", "steady={relative_ci=0.05}", "--json")
    assert done.returncode == 0 and '"packet_latency_ci_half_width_cycles"' in done.stdout, done.stderr


def test_steady_is_a_table_of_seeds(tmp_path: Path) -> None:
    table = fw.steady(NET, WORK, seeds=[1, 2], relative_ci=0.05, out=tmp_path)
    assert list(table["seed"]) == [1, 2] and set(table["status"]) == {"complete"}
    assert (table["packet_latency_ci_half_width_cycles"] <= 0.05 * table["packet_latency_mean_cycles"]).all()
    assert fw.steady(NET, WORK, seeds=[1, 2], relative_ci=0.05, out=tmp_path).equals(table)
    with pytest.raises(fw.ConfigError, match=r"run\.steady\.relative_ci"):
        fw.steady(NET, WORK, relative_ci=2.0)


@pytest.mark.slow
def test_steady_runs_agree_with_long_fixed_ones(tmp_path: Path) -> None:
    """At 31, 62 and 85 % of saturation: no bias, and the stated share of intervals contains the mean."""
    net = fw.Torus(8, 8, vcs=8, buffer_flits=16)
    hits = []
    for load in (0.2, 0.4, 0.55):
        work = fw.uniform(offered_load=load, packet_flits=8)
        table = fw.steady(net, work, seeds=range(1, 41))
        window: RunOptions = {"warmup_cycles": 20_000, "measurement_cycles": 300_000}
        long = fw.sweep(lambda work=work: (net, work), seeds=(1001, 1002), run=window)
        truth = long["packet_latency_mean_cycles"].mean()
        assert set(table["status"]) == {"complete"}
        assert table["packet_latency_mean_cycles"].mean() == pytest.approx(truth, rel=0.005)
        assert table["accepted_load_flits_per_cycle"].mean() == pytest.approx(load, rel=0.005)
        error = (table["packet_latency_mean_cycles"] - truth).abs()
        hits += list(error <= table["packet_latency_ci_half_width_cycles"])
    # 120 intervals of 95 %: fewer than 0.89 or all of them would be 3 standard deviations off.
    assert 0.89 <= np.mean(hits) <= 1.0


@pytest.mark.slow
def test_intervals_of_a_queue_contain_the_mean_of_theory() -> None:
    """One terminal that sends to itself is a Geo/D/1 queue: the mean wait is load / 2 * (L - 1) / (1 - load)."""
    net, flits, alone = fw.Mesh(1, vcs=8, buffer_flits=64), 8, 9
    for load, relative_ci in ((0.5, 0.02), (0.8, 0.05)):
        work = fw.uniform(offered_load=load, packet_flits=flits)
        table = fw.steady(net, work, seeds=range(1, 201), relative_ci=relative_ci, max_cycles=4_000_000)
        assert table["packet_latency_min_cycles"].min() == alone
        truth = alone + load / 2 * (flits - 1) / (1 - load)
        error = table["packet_latency_mean_cycles"] - truth
        assert abs(error.mean()) < 0.01 * truth
        # A run that ends when its interval is narrow is more often than not one whose interval is too narrow.
        assert 0.88 <= (error.abs() <= table["packet_latency_ci_half_width_cycles"]).mean() <= 0.99
