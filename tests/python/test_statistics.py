"""Confidence intervals of means over repetitions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from flitwork.base.statistics import error_bars, half_width_95

#: Two-sided 95 % quantiles of Student's t as tables print them, by the number of values (degrees of freedom + 1).
_TABLE = {2: 12.706, 3: 4.303, 5: 2.776, 19: 2.101, 20: 2.093, 21: 2.086, 31: 2.042, 61: 2.000, 100: 1.984, 121: 1.980}


@pytest.mark.parametrize(("n", "t"), _TABLE.items())
def test_the_interval_is_that_of_student_for_any_number_of_values(n: int, t: float) -> None:
    values = np.random.default_rng(n).normal(size=n)
    assert half_width_95(values) == pytest.approx(t * values.std(ddof=1) / math.sqrt(n), rel=3e-4)


def test_95_of_100_intervals_of_20_values_hold_the_mean() -> None:
    draws = np.random.default_rng(1).normal(size=(20_000, 20))
    held = np.mean([abs(one.mean()) <= half_width_95(one) for one in draws])
    # 1.96 in place of 2.093 gives 0.935; the standard error of the share is 0.0015.
    assert held == pytest.approx(0.95, abs=0.005)


@pytest.mark.parametrize("values", [[], [7.0]])
def test_of_one_value_nothing_is_known(values: list[float]) -> None:
    assert math.isnan(half_width_95(np.array(values)))


def test_bars_are_drawn_where_there_is_a_width() -> None:
    def bars(x: list[int], y: list[float]) -> np.ndarray[Any, Any] | None:
        return error_bars(pd.DataFrame({"x": x, "y": y}).groupby("x")["y"])

    assert bars([1, 2], [3.0, 4.0]) is None and bars([1, 1], [3.0, 3.0]) is None
    found = bars([1, 1, 2], [3.0, 5.0, 4.0])
    assert found is not None and found[0] == pytest.approx(12.706205) and math.isnan(found[1])
