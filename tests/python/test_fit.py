"""Fits: parameters, intervals and warnings against known numbers."""

from __future__ import annotations

from typing import Any

import flitwork as fw
import numpy as np
import pandas as pd
import pytest
from flitwork.fit import MODELS, best_ranks, fit_model, predict, read_fits, save_fits

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


def test_a_total_exchange_is_found_again() -> None:
    found = fit_model(exchanges(), "total_exchange")
    assert found.value("a") == pytest.approx(A)
    assert found.value("t0") == pytest.approx(T0)
    assert found.r_squared == pytest.approx(1)
    assert found.warnings == ()


def test_the_best_number_of_ranks_is_that_of_the_formula() -> None:
    found = fit_model(exchanges(0.02), "total_exchange", errors="relative")
    best = best_ranks(found, total_bytes=2**22)
    numbers = np.arange(2, 1025)
    exact = (2**22 / numbers**2 * A + T0) * (numbers - 1)
    assert best.low <= numbers[exact.argmin()] <= best.high
    assert best.ranks == pytest.approx((2**22 * A / T0) ** 0.5, rel=0.1)
    assert not best.at_limit


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
