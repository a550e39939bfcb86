"""Fits: parameters, intervals and warnings against known numbers."""

from __future__ import annotations

from typing import Any

import flitwork as fw
import numpy as np
import pandas as pd
import pytest
from flitwork.fit import MODELS, best_ranks, fit_model, predict, read_fits, save_fits
from scipy.stats import binom

A, T0 = 40e-9, 100e-6


def times(seconds: Any, noise: float = 0.0, seed: int = 1, **columns: Any) -> pd.DataFrame:
    """A table with these columns; ``seconds`` is a function of them, with noise in proportion."""
    table = pd.DataFrame({"operation": "total exchange", **columns})
    exact = seconds(table)
    return table.assign(seconds=exact * np.random.default_rng(seed).normal(1, noise, len(table)))


def exchanges(noise: float = 0.0, seed: int = 1) -> pd.DataFrame:
    """Total exchanges of 64 KiB to 4 MiB in all on 2 to 16 ranks, as formula (4) of the AP1000 paper has them."""
    rows = [(m, n) for m in (2**16, 2**18, 2**20, 2**22) for n in range(2, 17, 2)]
    total, ranks = np.array(rows, dtype=float).T
    return times(
        lambda t: (t.total_bytes / t.ranks**2 * A + T0) * (t.ranks - 1), noise, seed, total_bytes=total, ranks=ranks
    )


def test_a_line_by_hand() -> None:
    # x = 1, 2, 3, 4; y = 2, 4, 5, 8: means 2.5 and 4.75, Sxx = 5, Sxy = 9.5, Syy = 18.75.
    table = pd.DataFrame({"bytes": [1, 2, 3, 4], "seconds": [2.0, 4.0, 5.0, 8.0]})
    found = fit_model(table, "linear_bytes")
    slope, start = 9.5 / 5, 4.75 - 9.5 / 5 * 2.5
    assert found.value("a") == pytest.approx(slope)
    assert found.value("t0") == pytest.approx(start, abs=1e-12)
    left = 18.75 - 9.5**2 / 5
    assert found.r_squared == pytest.approx(1 - left / 18.75)
    assert found.sd == pytest.approx((left / 2) ** 0.5)
    # Student's t with 2 degrees of freedom at 97.5 %: 4.302653 (any table of it).
    half = 4.302653 * (left / 2 / 5) ** 0.5
    assert found.parameters["a"].low == pytest.approx(slope - half, rel=1e-6)
    assert found.parameters["a"].high == pytest.approx(slope + half, rel=1e-6)
    # Akaike: 3 numbers (two coefficients and the variance) leave no point for the correction.
    assert np.isnan(found.aicc)


#: Norris' calibration of ozone monitors (y x), one of NIST's Statistical Reference Datasets with certified results.
NORRIS = """
    0.1 0.2; 338.8 337.4; 118.1 118.2; 888.0 884.6; 9.2 10.1; 228.1 226.5; 668.5 666.3; 998.5 996.3; 449.1 448.6;
    778.9 777.0; 559.2 558.2; 0.3 0.4; 0.1 0.6; 778.1 775.5; 668.8 666.9; 339.3 338.0; 448.9 447.5; 10.8 11.6;
    557.7 556.0; 228.3 228.1; 998.0 995.8; 888.8 887.6; 119.6 120.2; 0.3 0.3; 0.6 0.3; 557.6 556.8; 339.3 339.1;
    888.0 887.2; 998.5 999.0; 778.9 779.0; 10.2 11.1; 117.6 118.3; 228.9 229.2; 668.4 669.1; 449.2 448.9; 0.2 0.5
"""


def test_certified_results_of_nist() -> None:
    y, x = zip(*(map(float, row.split()) for row in NORRIS.split(";")), strict=True)
    found = fit_model(pd.DataFrame({"bytes": x, "seconds": y}), "linear_bytes")
    assert found.value("a") == pytest.approx(1.00211681802045, rel=1e-12)
    assert found.value("t0") == pytest.approx(-0.262323073774029, rel=1e-10)
    assert found.sd == pytest.approx(0.884796396144373, rel=1e-12)
    assert found.r_squared == pytest.approx(0.999993745883712, rel=1e-14)
    deviations = [0.429796848199937e-03, 0.232818234301152]
    assert np.sqrt(np.diag(found.covariance)).tolist() == pytest.approx(deviations, rel=1e-10)


def test_a_total_exchange_is_found_again() -> None:
    found = fit_model(exchanges(), "total_exchange")
    assert found.value("a") == pytest.approx(A)
    assert found.value("t0") == pytest.approx(T0)
    assert found.r_squared == pytest.approx(1)
    assert found.warnings == ()


def test_formula_4_in_bytes_of_all_ranks_is_the_one_in_bytes_of_a_message() -> None:
    table = exchanges(0.05)
    each = table.assign(bytes=table.total_bytes / table.ranks**2).drop(columns="total_bytes")
    both = [fit_model(one, "total_exchange") for one in (table, each)]
    assert both[0].parameters == both[1].parameters
    # The regression of formula (4) as it is written: x1 = (n - 1) / n² · m and x2 = n - 1, no constant.
    x = np.column_stack([(table.ranks - 1) / table.ranks**2 * table.total_bytes, table.ranks - 1])
    by_hand = np.linalg.lstsq(x, table.seconds.to_numpy(), rcond=None)[0]
    assert [both[0].value("a"), both[0].value("t0")] == pytest.approx(by_hand.tolist())


@pytest.mark.parametrize("operation", ["broadcast", "scatter", "gather"])
def test_a_line_over_ranks(operation: str) -> None:
    ranks = np.arange(2, 17)
    found = fit_model(times(lambda t: 2e-3 + t.ranks * 3e-3, ranks=ranks).assign(operation=operation), "linear_ranks")
    assert found.value("a") == pytest.approx(3e-3) and found.value("t0") == pytest.approx(2e-3)
    assert found.title == operation and not found.warnings


def test_hockney_has_the_bandwidth() -> None:
    size = np.array([0, 1000, 2000, 4000])
    found = fit_model(times(lambda t: 1e-6 + t.bytes / 25e6, bytes=size, ranks=2), "hockney")
    assert found.value("r") == pytest.approx(25e6) and found.value("t0") == pytest.approx(1e-6)
    assert found.value("half_bytes") == pytest.approx(25)
    assert found.parameters["r"].low <= found.value("r") <= found.parameters["r"].high


def test_loggp_tells_gap_and_latency_apart_where_messages_do() -> None:
    table = exchanges().drop(columns="total_bytes").assign(bytes=np.tile([1.0, 65, 1025], 11)[:32])
    sent = table.ranks - 1
    table["seconds"] = 7e-6 + (sent - 1) * 3e-6 + sent * (table.bytes - 1) * 2e-9
    found = fit_model(table, "loggp")
    assert [found.value(name) for name in ("L_2o", "g", "G")] == pytest.approx([7e-6, 3e-6, 2e-9])
    alone = fit_model(table[table.ranks == 4], "loggp")
    # Three messages: two gaps are in what does not depend on their length.
    assert "g" not in alone.parameters and alone.value("L_2o") == pytest.approx(7e-6 + 2 * 3e-6)
    assert "no_gap" in [one.code for one in alone.warnings]


def shared(server_rate: float, noise: float = 0.0, seed: int = 1) -> pd.DataFrame:
    """Ranks of 1 GB/s, 1 to 8 of which share an adapter."""
    size, ranks, per_server = (
        x.ravel().astype(float) for x in np.meshgrid([64, 1024, 16384, 65536], [8, 16], [1, 2, 4, 8])
    )
    return times(
        lambda t: (t.ranks - 1) * (5e-6 + t.bytes * np.maximum(1e-9, t.ranks_per_server / server_rate)),
        noise, seed, operation="alltoall", bytes=size, ranks=ranks, ranks_per_server=per_server,
    )  # fmt: skip


@pytest.mark.parametrize("full_at", [1.5, 3, 4, 6])
def test_max_rate_finds_how_many_ranks_fill_the_adapter(full_at: float) -> None:
    found = fit_model(shared(full_at * 1e9), "max_rate")
    assert found.value("server_rate") == pytest.approx(full_at * 1e9)
    assert found.value("t0") == pytest.approx(5e-6)
    if full_at != 4:
        assert found.value("full_at_ranks") == pytest.approx(full_at)
        assert found.value("rank_rate") == pytest.approx(1e9)
    # Between numbers of ranks that were measured, too.
    for number in (3, 5):
        seconds = predict(found, bytes=10_000, ranks=8, ranks_per_server=number)["seconds"]
        assert seconds.tolist() == pytest.approx([7 * (5e-6 + 1e-5 * max(1, number / full_at))])


def test_max_rate_says_that_the_limit_is_not_reached() -> None:
    found = fit_model(shared(100e9), "max_rate")
    assert "server_rate" not in found.parameters and [one.code for one in found.warnings] == ["no_limit"]


def test_noise_is_not_taken_for_the_limit_of_an_adapter() -> None:
    """Of an adapter that is never full only its least rate is known; of one that is always full, a rank's rate is not."""
    never = [fit_model(shared(100e9, 0.03, seed), "max_rate", errors="relative") for seed in range(12)]
    assert sum("server_rate" in found.parameters for found in never) <= 2
    always = [fit_model(shared(0.5e9, 0.03, seed), "max_rate", errors="relative") for seed in range(12)]
    assert sum("rank_rate" in found.parameters for found in always) <= 2
    assert all("on_the_border" in {one.code for one in found.warnings} for found in always[:3])


def test_more_ranks_on_one_server_are_one_series() -> None:
    one_server = exchanges().assign(ranks_per_server=lambda t: t.ranks, operation="alltoall")
    assert fit_model(one_server, "total_exchange").value("a") == pytest.approx(A)
    two = pd.concat([one_server, one_server.assign(ranks_per_server=1)])
    assert [len(one.points) for one in fw.fit(two, "total_exchange")] == [32, 32]


def test_the_break_between_two_protocols_is_found() -> None:
    size = 2.0 ** np.arange(0, 21)
    table = times(lambda t: np.where(t.bytes <= 8192, 3e-6 + t.bytes / 1e9, 9e-6 + t.bytes / 4e9), bytes=size)
    found = fit_model(table, "segmented")
    values = [found.value(name) for name in ("short_a", "short_t0", "long_a", "long_t0", "break")]
    assert values == pytest.approx([1e-9, 3e-6, 1 / 4e9, 9e-6, 8192])
    between = predict(found, bytes=[8192, 10_000, 16_384])
    assert ["break" in text for text in between["beyond"]] == [False, True, False]


def test_huber_minds_outliers_less() -> None:
    size = np.repeat(2.0 ** np.arange(6, 18), 3)
    table = times(lambda t: T0 + t.bytes * A, 0.02, bytes=size)
    table.loc[[4, 20, 30], "seconds"] *= 8
    least, huber = (
        fit_model(table, "linear_bytes", errors="relative", method=one) for one in ("least_squares", "huber")
    )
    assert abs(huber.value("t0") / T0 - 1) < 0.02 < 0.1 < abs(least.value("t0") / T0 - 1)
    assert (huber.points["weight"].iloc[[4, 20, 30]] < 0.1).all() and huber.points["weight"].median() == 1
    assert {"outliers"} <= {one.code for one in huber.warnings}


def test_of_times_under_the_same_conditions_one_is_taken() -> None:
    table = pd.DataFrame({"bytes": [1, 1, 2, 2, 3, 3], "seconds": [2.0, 3, 4, 6, 6, 9]})
    assert fit_model(table, "linear_bytes", take="minimum").value("a") == pytest.approx(2)
    assert fit_model(table, "linear_bytes", take="mean").value("a") == pytest.approx(2.5)
    assert len(fit_model(table, "linear_bytes").points) == 6


def check_coverage(seeds: int, make: Any, model: str, truth: dict[str, float], **how: Any) -> None:
    """Of as many series the intervals hold the true value as often as they say, but for one case in a thousand."""
    fits = [fit_model(make(seed), model, **how) for seed in range(seeds)]
    least, most = binom.ppf([0.0005, 0.9995], seeds, how.get("confidence", 0.95))
    for name, value in truth.items():
        count = sum(one.parameters[name].low <= value <= one.parameters[name].high for one in fits)
        assert least <= count <= most, f"{name}: {count} of {seeds}"


def test_intervals_hold_the_true_value_as_often_as_they_say() -> None:
    check_coverage(
        150, lambda seed: exchanges(0.05, seed), "total_exchange", {"a": A, "t0": T0}, errors="relative"
    )  # fmt: skip


SIZES = np.repeat(2.0 ** np.arange(6, 18), 2)


def lines(seed: int) -> pd.DataFrame:
    """Lines whose errors are as large for all times."""
    exact = times(lambda t: T0 + t.bytes * A, bytes=SIZES)
    return exact.assign(seconds=exact.seconds + np.random.default_rng(seed).normal(0, 5e-6, len(SIZES)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "model", "truth", "how"),
    [
        (lines, "linear_bytes", {"a": A, "t0": T0}, {}),
        (lines, "hockney", {"r": 1 / A, "t0": T0, "half_bytes": T0 / A}, {}),
        (lines, "linear_bytes", {"a": A, "t0": T0}, {"confidence": 0.5}),
        (lambda seed: exchanges(0.05, seed), "loggp", {"L_2o": T0, "g": T0, "G": A}, {"errors": "relative"}),
        (lambda seed: exchanges(0.05, seed), "total_exchange", {"a": A, "t0": T0}, {"errors": "relative", "method": "huber"}),
        (lambda seed: shared(3e9, 0.03, seed), "max_rate", {"rank_rate": 1e9, "server_rate": 3e9, "full_at_ranks": 3}, {"errors": "relative"}),
    ],
)  # fmt: skip
def test_intervals_of_every_model_hold_the_true_value(make: Any, model: str, truth: dict[str, float], how: Any) -> None:
    check_coverage(150, make, model, truth, **how)


def test_one_more_measurement_lies_where_it_is_said() -> None:
    found = fit_model(exchanges(0.05), "total_exchange", errors="relative")
    more = exchanges(0.05, seed=2)
    pairs = zip(more["total_bytes"].tolist(), more["ranks"].tolist(), strict=True)
    said = pd.concat([predict(found, total_bytes=total, ranks=ranks) for total, ranks in pairs])
    seconds = more["seconds"].to_numpy()
    inside = ((said["one_low"].to_numpy() <= seconds) & (seconds <= said["one_high"].to_numpy())).sum()
    assert 27 <= inside <= 32
    assert (said["one_low"] < said["low"]).all() and (said["high"] < said["one_high"]).all()


def test_the_best_number_of_ranks_is_that_of_the_formula() -> None:
    found = fit_model(exchanges(0.02), "total_exchange", errors="relative")
    best = best_ranks(found, total_bytes=2**22)
    numbers = np.arange(2, 1025)
    exact = (2**22 / numbers**2 * A + T0) * (numbers - 1)
    assert best.low <= numbers[exact.argmin()] <= best.high
    assert best.ranks == pytest.approx((2**22 * A / T0) ** 0.5, rel=0.1)
    assert not best.at_limit


def test_the_interval_of_the_best_number_holds_it() -> None:
    numbers = np.arange(2, 1025)
    best = numbers[((2**24 / numbers**2 * A + T0) * (numbers - 1)).argmin()]
    found = [best_ranks(fit_model(exchanges(0.05, seed), "total_exchange"), total_bytes=2**24) for seed in range(12)]
    assert sum(one.low <= best <= one.high for one in found) >= 9
    # It is an interval, not all numbers.
    assert max(one.high / one.low for one in found) < 2


def test_more_ranks_pay_up_to_the_limit_or_not_at_all() -> None:
    found = fit_model(exchanges(0.02), "total_exchange", errors="relative")
    limited = best_ranks(found, total_bytes=1e9, at_most=100)
    assert limited.at_limit and limited.ranks == 100 and "more ranks pay" in " ".join(limited.notes)
    alone = best_ranks(found, bytes=1000)
    assert alone.ranks == 2 and "do not pay" in " ".join(alone.notes)
    # Work that ranks share pays for their messages: W / n + (n - 1) c is least at n = √(W / c).
    shared_work = best_ranks(found, bytes=1000, work_seconds=10.0)
    cost = predict(found, bytes=1000, ranks=2)["seconds"].iloc[0]
    assert shared_work.ranks == pytest.approx((10 / cost) ** 0.5, abs=1)


def test_many_ranks_are_looked_at_in_steps() -> None:
    found = fit_model(exchanges(), "total_exchange")
    best = best_ranks(found, total_bytes=2.0**44, at_most=1_000_000)
    assert best.ranks == pytest.approx((2.0**44 * A / T0) ** 0.5, rel=2e-3)


def test_a_file_of_fits_gives_the_same_predictions(tmp_path: Any) -> None:
    found = [fit_model(exchanges(0.05), name, errors="relative") for name in ("total_exchange", "loggp")]
    again = read_fits(save_fits(found, tmp_path / "fit.json"))
    for one, other in zip(found, again, strict=True):
        asked: dict[str, Any] = {"bytes": [64, 4096.0], "ranks": [4, 1000]}
        pd.testing.assert_frame_equal(predict(one, **asked), predict(other, **asked))
        assert one.to_dict() == other.to_dict()


def test_all_are_exported() -> None:
    assert fw.fit_model is fit_model
    assert {"total_exchange", "hockney", "loggp", "max_rate", "segmented"} <= set(MODELS)


@pytest.mark.parametrize("seed", range(5, 11))
def test_huber_is_carried_to_its_end(seed: int) -> None:
    """A few long times alone say something of the slope: then weights that follow each other hardly change it."""
    chance = np.random.default_rng(seed)
    size = np.tile(2.0 ** np.arange(0, 21, 2), 2)
    seconds = (50e-6 + 1e-8 * size) * (1 + 0.05 * chance.standard_normal(22))
    seconds[7] *= 6
    table = pd.DataFrame({"bytes": size, "seconds": seconds})
    found = fit_model(table, "linear_bytes", method="huber")
    # What it is defined by: residuals, cut off at 1.345 standard deviations, have no part in the direction of a column.
    cut = np.clip(found.points["residual"] / found.sd, -1.345, 1.345)
    columns = np.column_stack([size / size.max(), np.ones(22)])
    assert np.abs(columns.T @ cut).max() < 1e-3
    assert found.sd == pytest.approx(np.median(np.abs(found.points["residual"])) / 0.67448975, rel=1e-6)
