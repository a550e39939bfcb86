from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import flitwork as fw
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from flitwork import _core
from flitwork.experiment import expand, load_study
from flitwork.planning.specification import to_json
from flitwork.plot.drawn import drawn_numbers
from flitwork.studies import published
from flitwork.studies.claims import load_claims
from flitwork.studies.reproduce import _check
from flitwork.studies.yokota_2010_unsteady import (
    calibrator,
    claims,
    jam,
    measures,
    paths,
    prediction,
    quarter,
    readings,
    sensitivity,
    windows,
)
from flitwork.studies.yokota_2010_unsteady.measures import ALGORITHMS, PATTERNS

FOLDER = published()["yokota-2010-unsteady"].folder
#: The busiest channel by dimension order at N = 32, from the channel loads of an independent program: load over Rc.
BOUNDS = {"transpose": 0.258, "shuffle": 0.258, "bit_complement": 0.5, "bit_reverse": 0.258, "bit_rotation": 0.258}


@pytest.mark.parametrize("quick", [True, False])
def test_one_point_of_each_kind_plans(quick: bool) -> None:
    study = load_study(FOLDER / "study.toml")
    _check(load_claims(FOLDER / "claims.toml"), study, quick)
    seen = set()
    for point in expand(study, quick):
        kind = (point.experiment, point.params["algorithm"], point.params["pattern"])
        if kind not in seen:
            seen.add(kind)
            _core.Plan(to_json(point.spec))
    assert {(a, p) for e, a, p in seen if e == "steady"} == {(a, p) for a in ALGORITHMS for p in PATTERNS}


@pytest.mark.parametrize(("pattern", "paper"), BOUNDS.items())
def test_the_bound_of_dimension_order(pattern: str, paper: float) -> None:
    # Ties at half a ring by parity load one channel with one way more than the paper's 15.5: 8 / 32 instead of 8 / 31.
    assert paper - 0.01 <= measures.bound(32, pattern) <= paper


@pytest.mark.parametrize(("pattern", "mean"), [("random_pairs", 0.41), ("random_selection", 0.34)])
def test_the_bound_where_destinations_are_drawn(pattern: str, mean: float) -> None:
    assert np.mean([measures.bound(32, pattern, seed) for seed in range(1, 11)]) == pytest.approx(mean, abs=0.05)


@pytest.mark.parametrize("pattern", BOUNDS)
def test_path_maps_show_the_destinations_of_the_kernel(pattern: str) -> None:
    network = fw.Torus(8, 8, vcs=2)
    run = fw.simulate(network, fw.burst_workload(pattern, packets=1), packets=True)
    sent = run.packets
    assert [paths.destination(pattern, int(s), 6) for s in sent["src"]] == list(sent["dst"])
    used = paths.channels(pattern, 8)
    assert sum(used.values()) == sent["hops"].sum()
    wraps = {(x, port) for x, port in ((7, 0), (0, 1))}
    assert all(vc >= 1 for router, port, vc in used if (router % 8, port) in wraps)


def test_path_maps_have_their_numbers() -> None:
    figure = paths.path_maps()
    numbers = drawn_numbers(figure)
    plt.close(figure)
    assert numbers.groupby("pattern")["routes"].sum()["trns"] == sum(paths.channels("transpose", 8).values())


def curve(accepted: Callable[[float], float], latency: float = 100.0) -> pd.DataFrame:
    share = np.arange(1, 21) / 20
    values = [accepted(r) for r in share]
    return pd.DataFrame(
        {
            "share": share,
            "accepted_share": values,
            "accepted_load_flits_per_cycle": np.array(values) / 4,
            "offered_load_flits_per_cycle": share / 4,
            "packet_latency_mean_cycles": latency,
            "status": ["complete" if r <= 0.5 else "saturated" for r in share],
            "slowest_share": [v / 2 for v in values],
            "N": 32,
        }
    )


def test_numbers_of_a_curve() -> None:
    steady = curve(lambda r: min(r, 0.5))
    assert measures.critical(steady) == pytest.approx(0.5, abs=0.026)
    assert measures.kept(steady) == 1
    assert measures.kept(curve(lambda r: min(r, 1 - r) + 0.1)) == pytest.approx(0.1 / 0.6)
    assert measures.slowest(steady) == 0.25
    # Accepted over latency rises to 0.125 / 100 at half of Rc = 0.25 and falls to 0 within one step.
    assert measures.npm(steady) == pytest.approx(0.125 / 100 * (0.125 + 0.0125) / 2)


def trials(*packets: Sequence[float], window: int = 10) -> windows.Trials:
    return windows.Trials(window, np.array(packets, dtype=float))


ONE_PEAK = [0, 1, 2, 3, 4, 4, 3, 2, 1, 0]
TWO_PEAKS = [1, 4, 3, 1, 1, 1, 3, 4, 1, 0]


def test_shapes_over_time() -> None:
    one, later = trials(ONE_PEAK), trials(TWO_PEAKS)
    assert windows.dip(one) == 1
    assert windows.dip(later) > 1.5
    same = windows.shape(windows.Trials(50, one.packets * 7))
    assert windows.distance(windows.shape(one), same) == pytest.approx(0)
    assert windows.distance(windows.shape(one), windows.shape(later)) > 0.2
    assert windows.end(one, 0.5) == 50
    # What arrives later than the other ever does counts in full.
    assert windows.largest_distance(trials([4, 0]), trials([0, 0, 0, 2])) == 1


def test_intervals_over_trials() -> None:
    same = trials(TWO_PEAKS, TWO_PEAKS)
    value, ci = windows.over_trials(windows.dip, same)
    assert value == windows.dip(same) and ci == 0
    assert windows.over_trials(windows.dip, trials(ONE_PEAK, TWO_PEAKS))[1] > 0.1


def noisy(means: Sequence[float], runs: int = 5) -> windows.Trials:
    """Packets that arrive independently of each other, as many a window on average as ``means``."""
    return trials(*np.random.default_rng(3).poisson(means, (runs, len(means))))


def test_a_second_peak_is_more_than_chance() -> None:
    flat = noisy([128.0] * 100, runs=3)
    by_chance = windows.dip_by_chance(flat)
    # What a threshold of 1.1 let pass.
    assert 1.1 < by_chance < 1.3 and windows.dip(flat) > 1.05
    dips = noisy([400.0] * 20 + [100.0] * 20 + [400.0] * 20 + [50.0] * 10)
    assert windows.has_second_peak(dips)[0]
    assert not windows.has_second_peak(flat)[0]


def test_received_of_stored_runs(tmp_path: Path) -> None:
    network = fw.Torus(4, 4, vcs=2)
    runs = [
        fw.simulate(network, fw.burst_workload("uniform", packets=p), delivery_window_cycles=4, seed=p) for p in (1, 3)
    ]
    for run in runs:
        run.save(tmp_path / f"{run.plan_hash}.parquet")
    found = windows.received(pd.DataFrame({"plan_hash": [run.plan_hash for run in runs]}), tmp_path)
    assert found.window == 4
    assert list(found.packets.sum(axis=1)) == [run.deliveries["packets"].sum() for run in runs]
    assert found.mean.sum() == pytest.approx(sum(run.deliveries["packets"].sum() for run in runs) / 2)


def test_intervals_over_seeds() -> None:
    table = pd.DataFrame({1: [1.0, 2.0], 2: [1.2, 2.4], 3: [0.8, 1.6]}, index=["a", "b"])
    value, ci = measures.over_seeds(lambda mean: mean["b"] / mean["a"], table)
    assert value == pytest.approx(2) and ci == pytest.approx(0, abs=1e-9)
    assert 0.05 < measures.over_seeds(lambda mean: mean["a"], table)[1] < 0.4
    # A table with one seed has an error that nobody knows: there is no interval.
    value, ci = measures.over_seeds(lambda a, b: a["a"] * b["a"], table, table[[1]])
    assert value == 1 and np.isnan(ci)
    assert prediction.claim("c", (value, ci)).ci == 0


def cells(values: dict[str, list[float]], *seeds: float) -> pd.DataFrame:
    """A number of each pattern and algorithm (do, dp, df, cl); each seed is that much larger."""
    index = pd.MultiIndex.from_product([values, ALGORITHMS], names=["pattern", "algorithm"])
    flat = [v for of in values.values() for v in of]
    return pd.DataFrame({i: [v + s for v in flat] for i, s in enumerate(seeds)}, index)


def test_only_ranks_that_can_be_told_differ() -> None:
    rc = cells({"shuffle": [0.2, 0.3, 0.4, 0.5], "transpose": [0.2, 0.3, 0.4, 0.5]}, 0.0)
    same = [400.0, 300.0, 200.0, 100.0]
    assert prediction.reranked(rc, cells({"shuffle": same, "transpose": same}, 0, 1, 2)) == 0
    swapped = cells({"shuffle": same, "transpose": [300.0, 400.0, 200.0, 100.0]}, 0, 1, 2)
    assert prediction.reranked(rc, swapped) == 0.5
    # The same swap within the noise of the trials, or of loads that one step of the grid cannot tell apart.
    assert prediction.reranked(rc, swapped + pd.Series([0.0, 200.0, 400.0])) == 0
    near = cells({"shuffle": [0.2, 0.3, 0.4, 0.5], "transpose": [0.27, 0.3, 0.4, 0.5]}, 0.0)
    assert prediction.reranked(near, swapped) == 0
    assert np.isnan(prediction.reranked(rc, swapped[[0]]))


def test_an_index_must_beat_the_critical_load_over_patterns() -> None:
    chance = np.random.default_rng(1)
    index = cells({p: list(chance.uniform(0.1, 1, 4)) for p in PATTERNS}, 0.0)
    duration = 1000 / index.rename(columns={0: 1}).assign(more=lambda t: t[1])
    worse = cells({p: list(chance.uniform(0.1, 1, 4)) for p in PATTERNS}, 0.0)
    assert prediction.better("i", index, worse, duration).ours is True
    assert prediction.better("i", worse, index, duration).ours is False
    assert prediction.better("i", index, index, duration).ours is False
    one = pd.DataFrame({0: 0.0}, index.index)
    assert measures.correlation(one[0], index[0]) == 0


def bursts(duration: Callable[[str, str, float], float], name: str, values: list[float]) -> pd.DataFrame:
    keys = [(p, a, v, seed) for p in PATTERNS for a in ALGORITHMS for v in values for seed in (1, 2)]
    table = pd.DataFrame(keys, columns=["pattern", "algorithm", name, "seed"])
    return table.assign(completion_cycles=[duration(p, a, v) + s for p, a, v, s in keys])


def test_claims_about_lengths() -> None:
    def duration(pattern: str, algorithm: str, length: float) -> float:
        return length * (40 if algorithm == "do" and pattern == "shuffle" else 20)

    lengths = bursts(duration, "l", [1, 10, 100]).assign(experiment="lengths")
    alone = bursts(lambda p, a, v: duration(p, a, v) / 2, "l", [10, 100]).assign(experiment="alone")
    found = {c.id: c.ours for c in claims._lengths(pd.concat([lengths, alone]))}
    assert found["F4.linear"] == pytest.approx(1, abs=0.01)
    assert found["F4.slope-shfl"] == pytest.approx(2) and found["F4.slope-brot"] == pytest.approx(1)
    assert found["F4.background"] == pytest.approx(1, abs=0.02)


def test_claims_about_packets_over_time() -> None:
    # Series of do, dp, df, cl for two patterns in which they should be alike, then for two in which they should not.
    alike, other = trials([8, 2]), trials([6, 4])
    assert claims._different_over_alike(*[alike] * 3, other, *[alike] * 4, *([trials([2, 8])] + [alike] * 3) * 2) == (
        pytest.approx(0.6 / 0.2)
    )
    series = [trials(ONE_PEAK)] * 3 + [trials(ONE_PEAK), trials(ONE_PEAK), trials(TWO_PEAKS)]
    worst = windows.distance(windows.shape(trials(ONE_PEAK)), windows.shape(trials(TWO_PEAKS)))
    assert claims._worst_shape(*series) == pytest.approx(worst)


def test_sensitivity_table() -> None:
    def duration(pattern: str, algorithm: str, length: float) -> float:
        return length * (40 if algorithm == "do" and pattern == "bit_reverse" else 20)

    burst = bursts(duration, "l", [10, 50]).assign(experiment="sensitivity")
    names = ["this study", "other queue", "VC 0, transit first", "both; no background", "other ties"]
    one = curve(lambda r: r)

    def steady(reading: str, limits: dict[str, float]) -> pd.DataFrame:
        curves = [
            one.assign(pattern=p, algorithm=a, accepted_share=one["share"].clip(upper=limits[a]))
            for p in PATTERNS
            for a in ALGORITHMS
        ]
        return pd.concat(curves).assign(experiment="sensitivity-steady", reading=reading)

    limits = {a: 0.2 + 0.1 * i for i, a in enumerate(ALGORITHMS)}
    others = {a: 0.5 - 0.1 * i for i, a in enumerate(ALGORITHMS)}
    table = sensitivity.table(
        pd.concat(
            [burst.assign(reading=name) for name in names]
            + [steady("this study", limits), steady("other ties", others)]
            + [steady("VC 0, transit first", {**limits, "cl": 0.1}).assign(experiment="sensitivity-joint-steady")]
        )
    )
    # Readings with both changes of the injection side stand last.
    assert list(table.index) == [
        "this study",
        "other queue",
        "other ties",
        "VC 0, transit first",
        "both; no background",
    ]
    assert table.loc["this study", "F8 brev: do/others"] == pytest.approx(2, rel=0.01)
    # A reading about bursts alone has the steady state of the first.
    by_rc = table["F9b correlation"]
    assert by_rc["other queue"] == by_rc["this study"] != by_rc["other ties"]
    assert by_rc["both; no background"] == by_rc["VC 0, transit first"] != by_rc["this study"]
    assert table.loc["this study", "F2 df: kept at Rc"] == 1
    declared = {claim.id for claim in load_claims(FOLDER / "claims.toml")}
    assert {claim.id for claim in sensitivity.COLUMNS.values() if claim} < declared


def test_what_the_slowest_quarter_gets(tmp_path: Path) -> None:
    # The slowest quarter of 16 terminals are four.
    rows, expected = [], [0.0]
    for share in (0.25, 0.5):
        work = fw.traffic("transpose", offered_load=share * 2, packet_flits=1)
        run = fw.simulate(fw.Torus(4, 4, vcs=2), work, warmup_cycles=100, measurement_cycles=400)
        run.save(tmp_path / f"{run.plan_hash}.parquet")
        rows.append({"share": share, "plan_hash": run.plan_hash})
        sent = np.sort(run.terminals["delivered_flits_per_cycle"].to_numpy())
        expected.append(sent[:4].mean() * 4 / 8)
    table = pd.DataFrame(rows).assign(experiment="steady", pattern="transpose", algorithm="do", seed=1, N=4)
    found = quarter.slowest_quarter(table, tmp_path).loc[("transpose", "do"), 1]
    assert found == pytest.approx((expected[0] / 2 + expected[1] + expected[2] / 2) / 2)


def test_claims_about_sizes() -> None:
    def duration(pattern: str, algorithm: str, n: float) -> float:
        return n * n if algorithm == "do" else n * (1 + ALGORITHMS.index(algorithm) * (pattern == "bit_reverse"))

    found = {c.id: c for c in claims._sizes(bursts(duration, "N", [32, 64, 96]).assign(experiment="sizes"))}
    # Slopes of the lines, whatever the factors: n squared over three sizes has one of 128, the others 1, or 2, 3 and 4.
    assert found["F10.do-trns"].ours == pytest.approx(128, rel=0.01)
    assert found["F10.do-brev"].ours == pytest.approx(128 / 4, rel=0.01)
    # The adaptive algorithms take 2, 3 and 4 times as long as each other with brev and the same with trns.
    assert found["F10.adaptive"].ours == pytest.approx(2, rel=0.05)


def test_claims_about_spreads_are_relative() -> None:
    def duration(pattern: str, algorithm: str, _: float) -> float:
        twice = algorithm == "do" and pattern in ("bit_reverse", "bit_rotation")
        return 2000 if twice else 1500 if (pattern, algorithm) == ("transpose", "cl") else 1000

    found = {c.id: c.ours for c in claims._patterns(bursts(duration, "l", [10]).assign(experiment="bursts"))}
    assert found["F8.brev"] == pytest.approx(2, rel=0.01)
    assert found["F8.little-trns"] == pytest.approx(0.75, rel=0.01)
    assert found["F8.little-rpar"] == pytest.approx(0.5, rel=0.01)


def test_the_ends_of_the_longest_burst() -> None:
    table = bursts(lambda p, a, v: 1600 * v / 10 if a == "cl" else 7.0, "l", [10, 100])
    table = table[table["pattern"] == "shuffle"].assign(experiment="windows")
    table.loc[(table["seed"] == 2) & (table["algorithm"] == "cl"), "completion_cycles"] *= 1.25
    found = {c.id: c for c in claims._ends(table)}
    assert found["F5.end"].ours == pytest.approx(18000, rel=0.01)
    assert found["F5.scatter"].ours == pytest.approx(1.25, rel=0.01)
    assert found["F5.scatter"].note.endswith("in 2 trials")


def test_points_that_an_axis_can_show() -> None:
    rc = cells({"shuffle": [0.1, 0.3, 0.4, 0.5], "transpose": [0.2, 0.3, 0.4, 0.8]}, 0.0, 0.001)
    found = prediction._on_axis("F9b.x", rc, (0.2, 0.7))
    assert found.ours == 0.75 and found.note == "0.10 to 0.80"


def test_each_reading_has_every_claim_and_every_experiment() -> None:
    _, other = readings.READINGS
    declared = {claim.id: claim for claim in load_claims(FOLDER / "claims.toml")}
    # What chose the router, and our hypothesis about its bursts, are judged under the first reading alone.
    declared = {key: claim for key, claim in declared.items() if not key.startswith(("S2.", "jam."))}
    of_first = [key for key in declared if not key.endswith(other.suffix)]
    assert len(declared) == 2 * len(of_first)
    same = ("paper", "tolerance", "relative", "relation", "limit", "by", "source")
    for key in of_first:
        twin = declared[key + other.suffix]
        assert [getattr(declared[key], name) for name in same] == [getattr(twin, name) for name in same], key
        assert not twin.quick, "the quick version has the first reading alone"
    study = load_study(FOLDER / "study.toml")
    named = {e.id: e for e in study.experiments}
    plain = {"kind": "islip", "arbiter": "round_robin"}
    changed = {
        "network.router.injection_priority": "last",
        "network.router.hold_switch_until_tail": False,
        "network.router.vc_allocator": plain,
        "network.router.sw_allocator": plain,
    }
    assert study.base["network"]["nic"] == {"injection_vcs": [0]}
    twins = [key for key in named if key + other.suffix in named]
    assert twins == ["steady", "bursts", "lengths", "alone", "windows", "limited", "sizes"]
    for key in twins:
        one, two = named[key], named[key + other.suffix]
        assert two.set == {**one.set, **changed} and two.grid == one.grid and two.columns == one.columns
        assert len(two.seeds) == len(one.seeds) and min(two.seeds) > max(max(e.seeds) for e in study.experiments[:7])


def test_the_rows_of_a_reading() -> None:
    first, other = readings.READINGS
    table = pd.DataFrame({"experiment": ["bursts", "bursts.transit-first", "sensitivity"], "N": [1, 2, 3]})
    found = readings.of_reading(table, other)
    assert list(found["experiment"]) == ["bursts"] and list(found["N"]) == [2]
    assert list(readings.of_reading(table, first)["N"]) == [1, 3]
    assert "transit first" in found[readings.COLUMN].iloc[0]


def accepted(values: dict[str, list[float]], seeds: int = 3) -> pd.DataFrame:
    """Runs of two offered loads a seed for each reading: the highest accepted load over N = 8, 16, ... in turn."""
    rows = [
        ("calibrator", reading, algorithm, 8 * 2**i, seed, share - less + 0.001 * seed)
        for reading, shares in values.items()
        for i, share in enumerate(shares)
        for algorithm in ("do", "dp", "cl")
        for seed in range(seeds)
        for less in (0.1, 0.0)
    ]
    return pd.DataFrame(rows, columns=["experiment", "reading", "algorithm", "N", "seed", "accepted_share"])


def test_the_reading_that_the_calibrator_names() -> None:
    clear = accepted({"equal": [0.7, 0.5], "transit first": [0.5, 0.8], "oldest first": [0.5, 0.7]})
    found = calibrator.distances(clear)
    assert found["distance"]["transit first"] == pytest.approx(0.199)
    assert calibrator.chosen(found) == "transit first"
    # Where the intervals overlap, fewer assumptions win; with equally many the smaller distance.
    near = {"transit first, switch held": [0.8], "oldest first": [0.7995], "transit first": [0.799], "equal": [0.7]}
    assert calibrator.chosen(calibrator.distances(accepted(near))) == "oldest first"


def test_the_critical_load_over_the_size_of_the_network() -> None:
    table = accepted({"equal": [0.5, 0.6, 0.62], "transit first": [0.9, 0.8, 0.7]})
    rises, near = calibrator.claims(table, "equal")
    assert rises.ours == pytest.approx(0.02) and near.ours == pytest.approx(0.621)
    assert 0 < near.ci < rises.ci < 0.01
    assert calibrator.claims(table, "transit first")[0].ours == pytest.approx(-0.1)
    assert calibrator.claims(table.assign(experiment="steady"), "equal") == []


def test_who_waits_for_whom_in_a_burst(tmp_path: Path) -> None:
    router = fw.Router(vcs=3, switching="virtual_cut_through", buffer_flits=16)
    network = fw.Torus(8, 8, routing="dimension_order", classes="crossed", router=router)
    run = fw.simulate(network, fw.burst_workload("shuffle", packets=10, packet_flits=8))
    run.save(tmp_path / f"{run.plan_hash}.parquet")
    row = {"experiment": "bursts", "algorithm": "do", "pattern": "shuffle", "seed": 1, "plan_hash": run.plan_hash}
    table = pd.DataFrame([{**row, "N": 8, readings.COLUMN: ""}])
    explanation = jam.explained(table, tmp_path)
    found = jam.waits(explanation)
    heads = explanation.result.waits
    assert found["cycles"].sum() == heads.loc[~heads["body"], "cycles"].sum()
    # Shuffle hardly crosses a dateline: nearly all of it waits in VC 0.
    of_first = found[found["of"].isin(["x, VC 0", "y, VC 0"])]["cycles"].sum()
    assert of_first > 0.95 * found[found["of"].str.contains("VC")]["cycles"].sum()
    figure = jam.drawn(table, tmp_path)
    assert drawn_numbers(figure)["cycles"].sum() == pytest.approx(
        found["cycles"].sum() / len(explanation.result.packets)
    )
    plt.close(figure)


def test_dimension_order_keeps_within_its_bound(tmp_path: Path) -> None:
    # As many ways as fit the bound share one channel, so the slowest of them cannot get more at any offered load. The
    # critical load is where the mean over all terminals bends: those that avoid the channel put that off in some patterns.
    study = load_study(FOLDER / "study.toml")
    (steady,) = (e for e in study.experiments if e.id == "steady")
    assert isinstance(steady.zip, list)
    alone = {name: values[:1] for name, values in steady.zip[0].items()}
    patterns = [pattern for pattern in PATTERNS if pattern != "uniform"]
    grid = {"N": [8], "pattern": patterns}
    quick = steady.quick.model_copy(update={"grid": grid, "zip": [alone], "seeds": [1]})
    run = fw.run_study(
        study.model_copy(update={"experiments": [steady.model_copy(update={"quick": quick})]}), tmp_path, quick=True
    )
    rc = measures.steady(run.table, measures.critical).mean(axis=1)
    for pattern in patterns:
        limit = measures.bound(8, pattern) + 0.02
        part = measures.rows(run.table, "steady", pattern=pattern)
        assert 0.05 < part["slowest_share"].max() <= limit, pattern
        # What the mean cannot pass is another bound.
        most = part["bound_accepted_load_flits_per_cycle"] * 1.02
        assert (part["accepted_load_flits_per_cycle"] <= most).all(), pattern
        assert rc[pattern]["do"] > 0.05, pattern
