"""Critical load, network performance measure, saturation throughput, capacity: curves with known answers."""

from __future__ import annotations

import math

import flitwork as fw
import numpy as np
import pytest
from flitwork.questions.indices import (
    critical_load,
    median_of_three,
    npm,
    over_seeds,
    saturation_throughput,
    uniform_capacity,
)

GRID = np.arange(1, 21) * 0.05


def bent(at: float, after: float, first: float = 1.0) -> np.ndarray:
    """A curve of slope ``first`` up to the load ``at``, and of slope ``after`` beyond."""
    return np.where(at >= GRID, first * GRID, first * at + after * (GRID - at))


def test_a_curve_that_stays_level_is_critical_where_it_bends() -> None:
    for first in (1.0, 0.5):
        found = critical_load(GRID, bent(0.4, 0.0, first), 1.0)
        assert found.reached and found.load == pytest.approx(0.4)


def test_the_crossing_is_interpolated_between_the_middles() -> None:
    # Slopes 1 at 0.375 and 0.2 at 0.425: the half is crossed after 5/8 of the way.
    assert critical_load(GRID, bent(0.4, 0.2), 1.0).load == pytest.approx(0.375 + 0.05 * 0.5 / 0.8)


def test_a_bend_between_two_loads_is_found_between_them() -> None:
    # The slope from 0.40 to 0.45 is 0.4 (0.02 of the way at 1): crossed between the middles 0.375 and 0.425.
    found = critical_load(GRID, bent(0.42, 0.0), 1.0).load
    assert found == pytest.approx(0.375 + 0.05 * 0.5 / 0.6) and abs(found - 0.42) < 0.025


def test_a_slope_that_never_falls_to_half_is_flagged() -> None:
    for after in (1.0, 0.6):
        found = critical_load(GRID, bent(0.4, after), 1.0)
        assert not found.reached and found.load == pytest.approx(1.0)


def test_a_peak_is_cut_off_by_the_median() -> None:
    # 0.30 0.35 0.40 0.35 0.30 becomes 0.30 0.35 0.35 0.35 0.30: slopes 1 at 0.325 and 0 at 0.375.
    assert critical_load(GRID, bent(0.4, -1.0), 1.0).load == pytest.approx(0.35)


def test_an_error_of_less_than_half_a_step_does_not_matter() -> None:
    wrong = bent(0.6, 0.0)
    wrong[4] -= 0.02
    assert critical_load(GRID, wrong, 1.0).load == pytest.approx(0.6)
    wrong[4] -= 0.02
    assert critical_load(GRID, wrong, 1.0).load < 0.25


def test_noise_moves_the_critical_load_by_less_than_a_step() -> None:
    rng = np.random.default_rng(1)
    found = [critical_load(GRID, bent(0.5, 0.0) + rng.normal(0, 0.002, 20), 1.0).load for _ in range(200)]
    assert abs(np.mean(found) - 0.5) < 0.005 and np.std(found) < 0.01


def test_loads_need_not_be_in_order_or_equally_spaced() -> None:
    loads = np.array([0.9, 0.1, 0.2, 0.5, 0.3, 0.35, 0.4, 0.6])
    theta = np.minimum(loads, 0.4)
    # Middles 0.375 (slope 1) and 0.45 (slope 0).
    assert critical_load(loads, theta, 1.0).load == pytest.approx(0.375 + 0.075 / 2)


def test_the_median_of_three_keeps_what_rises() -> None:
    assert list(median_of_three([1, 2, 3, 9])) == [1, 2, 3, 9]
    assert list(median_of_three([1, 9, 3, 4, 0])) == [1, 3, 4, 3, 0]
    assert list(median_of_three([2, 1])) == [2, 1]


def test_npm_is_the_integral_of_throughput_over_latency() -> None:
    # theta = r, tau = 10: the integral of r / 10 is 0.05.
    assert npm(GRID, GRID, np.full(20, 10.0), 1.0) == pytest.approx(0.05)
    # Cut off at the capacity, also between two loads.
    assert npm(GRID, GRID, np.full(20, 10.0), 0.52) == pytest.approx(0.52**2 / 20)
    # Saturated beyond 0.5: the trapezoid to the first saturated load is all that is left there.
    tau = np.where(GRID <= 0.5 + 1e-9, 10.0, math.inf)
    assert npm(GRID, GRID, tau, 1.0) == pytest.approx(0.5**2 / 20 + 0.05 * 0.05 / 2)


def test_a_curve_that_ends_saturated_adds_nothing_beyond() -> None:
    tau = np.where(GRID <= 0.5 + 1e-9, 10.0, math.inf)
    assert npm(GRID[:12], GRID[:12], tau[:12], 1.0) == pytest.approx(npm(GRID, GRID, tau, 1.0))
    with pytest.raises(fw.ConfigError, match="extend the curve"):
        npm(GRID[:8], GRID[:8], tau[:8], 1.0)


def test_saturation_throughput_is_the_highest() -> None:
    assert saturation_throughput(bent(0.4, -0.2)) == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("size", "wrap", "expected"),
    [
        ((32, 32), (True, True), 8 / 32),
        ((8, 8), (True, True), 1.0),
        ((9, 9), (True, True), 0.9),
        ((8, 8), (False, False), 0.5),
        ((16, 4), (True, False), 0.5),
        ((1, 1), (True, True), math.inf),
    ],
)
def test_the_capacity_is_that_of_the_middle(size: tuple[int, ...], wrap: tuple[bool, ...], expected: float) -> None:
    assert uniform_capacity(size, wrap) == pytest.approx(expected)


def test_the_capacity_agrees_with_the_bound_of_the_channels() -> None:
    for net, wraps in ((fw.Torus(8, 6), True), (fw.Mesh(5, 7), False), (fw.Torus(6, 6, terminals_per_router=2), True)):
        channels = fw.bound(net, fw.uniform(offered_load=0.1)).values["channels"]["load_flits_per_cycle"]
        per_router = net.options.get("terminals_per_router", 1)
        assert uniform_capacity(net.topology["size"], [wraps, wraps], per_router) == pytest.approx(channels)


def test_an_interval_over_seeds() -> None:
    found = over_seeds([1.0, 2.0, 3.0])
    # t = 4.3027 for two degrees of freedom, standard deviation 1.
    assert found.mean == 2.0 and found.half_width == pytest.approx(4.302653 / math.sqrt(3))
    assert math.isnan(over_seeds([5.0]).half_width) and str(over_seeds([5.0])) == "5"


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda: critical_load([0.1, 0.1], [0.1, 0.1], 1.0), "load"),
        (lambda: critical_load([0.0, 0.1], [0.0, 0.1], 1.0), "load"),
        (lambda: critical_load([0.1, 0.2], [0.1], 1.0), "accepted"),
        (lambda: critical_load([], [], 1.0), "accepted"),
        (lambda: critical_load([0.1, 0.2], [0.1, math.nan], 1.0), "accepted"),
        (lambda: critical_load([0.1, 0.2], [0.0, 0.0], 1.0), "accepted"),
        (lambda: critical_load([0.5, 0.6], [0.5, 0.6], 1.0), "load"),
        (lambda: critical_load([0.1, 0.2], [0.1, 0.2], math.nan), "capacity"),
        (lambda: npm([0.1, 0.2], [0.1, 0.2], [10, 10], 1.0), "load"),
        (lambda: npm([0.5, 1.0], [0.1, 0.2], [10, math.nan], 1.0), "latency"),
        (lambda: npm([0.5, 1.0], [0.1, 0.2], [10, 0], 1.0), "latency"),
        (lambda: critical_load(["a"], [0.1], 1.0), "load"),  # type: ignore[list-item]
        (lambda: critical_load([0.1], [0.1], "x"), "capacity"),  # type: ignore[arg-type]
        (lambda: saturation_throughput([]), "accepted"),
        (lambda: saturation_throughput(["a"]), "accepted"),  # type: ignore[list-item]
        (lambda: uniform_capacity(4, True), "size"),  # type: ignore[arg-type]
        (lambda: uniform_capacity([4], [True, True]), "wrap"),
        (lambda: over_seeds([]), "values"),
        (lambda: over_seeds(["a"]), "values"),  # type: ignore[list-item]
        (lambda: over_seeds(3), "values"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_curve_is_refused(call: object, field: str) -> None:
    with pytest.raises(fw.ConfigError) as caught:
        call()  # type: ignore[operator]
    assert caught.value.path == field
