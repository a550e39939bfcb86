"""The regression itself: statsmodels' least squares, or its M-estimator with Huber's weights."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Literal

from flitwork.base.libraries import np
from flitwork.fit.model import Array

Method = Literal["least_squares", "huber"]
Errors = Literal["absolute", "relative"]
METHODS: tuple[Method, ...] = ("least_squares", "huber")
ERRORS: tuple[Errors, ...] = ("absolute", "relative")
#: Residuals below this part of the largest time are rounding: the model meets all points.
_EXACT = 1e-9
#: Where statsmodels' Huber weights begin to fall, in standard deviations.
_HUBER = 1.345
#: The median of absolute normal errors, in standard deviations.
_MEDIAN = 0.6744897501960817
_PASSES = 20
_STEPS = 100
_SETTLED = 1e-10
#: Times of a model that are not above 0 have no relative error: the measured time bounds what is taken for them.
_LEAST_PART = 0.1


@dataclass(frozen=True)
class Solution:
    """Coefficients with their covariance; ``sd`` is the standard deviation of an error (relative: per second).

    ``weights`` of rows: 1, or below it where Huber's method takes a row for an outlier. ``log_likelihood`` is at its
    maximum, of normal errors or of those that belong to Huber's loss.
    """

    coefficients: Array
    covariance: Array
    sd: float
    degrees: int
    fitted: Array
    scale: Array
    weights: Array
    log_likelihood: float
    exact: bool

    @property
    def loss(self) -> float:
        """What the best of several variants has least of."""
        return -self.log_likelihood


def solve(design: Array, seconds: Array, method: Method, errors: Errors) -> Solution | None:
    """The fit of ``seconds`` on the columns of ``design``; ``None`` where they do not determine the coefficients.

    With ``errors="relative"`` a time's standard deviation is in proportion to the time that the model gives:
    weights are computed again from each fit until they stay.
    """
    if design.shape[0] <= design.shape[1]:
        return None
    scale = np.ones(len(seconds)) if errors == "absolute" else seconds
    found = _weighted(design, seconds, scale, method)
    for _ in range(_PASSES if errors == "relative" else 0):
        if found is None:
            break
        new = np.maximum(found.fitted, _LEAST_PART * seconds)
        if np.allclose(new, scale, rtol=1e-10, atol=0):
            break
        scale = new
        found = _weighted(design, seconds, scale, method)
    return found


def _weighted(design: Array, seconds: Array, scale: Array, method: Method) -> Solution | None:
    """One fit with errors in proportion to ``scale``; ``None`` where its columns depend on each other."""
    # Only here: it takes a second to load.
    import statsmodels.api as sm

    unit = float(np.abs(seconds / scale).max())
    x, y = design / scale[:, None] / unit, seconds / scale / unit
    # Columns differ by many orders of magnitude (bytes, and ones): each in units of its own.
    size = np.abs(x).max(axis=0)
    if not size.all() or np.linalg.matrix_rank(x / size) < x.shape[1]:
        return None
    x = x / size
    least = sm.OLS(y, x).fit()
    exact = float(np.abs(least.resid).max()) < _EXACT
    weights = np.ones(len(y))
    found = least
    if method == "huber" and not exact:
        with warnings.catch_warnings():
            # More than half of the rows lie on the line: it is found, and its scale is 0.
            warnings.simplefilter("ignore")
            found = sm.RLM(y, x, M=sm.robust.norms.HuberT(_HUBER)).fit(maxiter=200, start_params=_settled(x, y))
        weights = np.asarray(found.weights)
    degrees = len(y) - x.shape[1]
    sd = math.sqrt(least.ssr / degrees) if found is least else float(found.scale)
    likelihood = _normal(least.resid) if found is least else _of_huber(np.asarray(found.resid))
    coefficients = np.asarray(found.params) / size
    covariance = np.nan_to_num(np.asarray(found.cov_params())) / np.outer(size, size)
    return Solution(
        coefficients, covariance, sd * unit, degrees, design @ coefficients, scale, weights,
        likelihood - float(np.log(scale * unit).sum()), exact,
    )  # fmt: skip


def _settled(x: Array, y: Array) -> Array:
    """Coefficients of Huber's method: they and the scale of their residuals belong to each other.

    Least squares with weights that are computed again and again, as statsmodels does it, takes thousands of passes
    where a few times are all that says something of a coefficient; Newton's steps take some ten.
    """
    found = np.linalg.lstsq(x, y, rcond=None)[0]
    for _ in range(_STEPS):
        scale = float(np.median(np.abs(y - x @ found))) / _MEDIAN
        if scale < _EXACT:
            break
        new = _least_huber(x, y, found, _HUBER * scale)
        if np.allclose(new, found, rtol=_SETTLED, atol=_SETTLED * float(np.abs(found).max())):
            return new
        found = new
    return found


def _least_huber(x: Array, y: Array, found: Array, limit: float) -> Array:
    """Coefficients with the least Huber's loss for residuals that count in full up to ``limit``, from ``found`` on."""
    loss = _huber_loss(y - x @ found, limit)
    for _ in range(_STEPS):
        residuals = y - x @ found
        inside = np.abs(residuals) <= limit
        pull = x.T @ np.clip(residuals, -limit, limit)
        step = np.linalg.lstsq(x[inside].T @ x[inside], pull, rcond=None)[0]
        # What lies inside need not say something of all coefficients; the weighted step always goes downhill.
        weights = np.sqrt(limit / np.maximum(np.abs(residuals), limit))[:, None]
        safe = np.linalg.lstsq(x * weights, residuals * weights[:, 0], rcond=None)[0]
        new, better = min(
            ((one, _huber_loss(y - x @ one, limit)) for one in (found + step, found + step / 2, found + safe)),
            key=lambda one: one[1],
        )
        if not better < loss:
            break
        found, loss = new, better
    return found


def _huber_loss(residuals: Array, limit: float) -> float:
    sizes = np.abs(residuals)
    return float(np.where(sizes <= limit, sizes**2 / 2, limit * sizes - limit**2 / 2).sum())


def _normal(residuals: Array) -> float:
    variance = max(float(np.mean(residuals**2)), _EXACT**2)
    return -0.5 * len(residuals) * (math.log(2 * math.pi * variance) + 1)


def _of_huber(residuals: Array) -> float:
    """The largest log-likelihood over the scale, of the density that is highest where Huber's loss is least."""
    from scipy.optimize import minimize_scalar
    from scipy.stats import norm

    # The integral of exp(-loss) over all residuals, in units of the scale.
    whole = math.sqrt(2 * math.pi) * (2 * norm.cdf(_HUBER) - 1) + 2 / _HUBER * math.exp(-(_HUBER**2) / 2)
    sizes = np.abs(residuals)

    def cost(log_scale: float) -> float:
        z = sizes / math.exp(log_scale)
        loss = np.where(z <= _HUBER, z**2 / 2, _HUBER * z - _HUBER**2 / 2)
        return float(loss.sum()) + len(sizes) * (log_scale + math.log(whole))

    high = math.log(max(float(sizes.max()), _EXACT)) + 1
    return -float(minimize_scalar(cost, bounds=(math.log(_EXACT) - 1, high), method="bounded").fun)
