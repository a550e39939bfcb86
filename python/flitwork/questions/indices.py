"""What a curve of accepted load and latency over offered load comes down to: a few numbers, each with its uncertainty.

Critical load and network performance measure are those of Yokota, Ootsu and Baba; the page *Steady state* has the
equations. Loads are in flits/cycle/terminal, latencies in cycles. Every function works on plain arrays.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from flitwork import _core
from flitwork.base.arguments import floats, number, several
from flitwork.base.errors import ConfigError
from flitwork.base.libraries import np
from flitwork.base.statistics import half_width_95

Array: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"
Values: TypeAlias = "Sequence[float] | np.ndarray[Any, Any]"

#: The first slope is that of the points up to this share of the capacity.
_FIRST = 0.2
#: Where the local slope falls below this share of the first slope, the load is critical.
_HALF = 0.5
#: A curve whose steps are longer than this share of the capacity is too coarse for the critical load.
COARSEST_STEP = 0.05


@dataclass(frozen=True)
class Critical:
    """A critical load.

    Where the slope never falls below half (``reached`` is false) ``load`` is the last of the curve: a lower limit.
    """

    load: float
    reached: bool


def critical_load(load: Values, accepted: Values, capacity: float) -> Critical:
    """The load ``rc`` at which the slope of accepted over offered load falls to half of what it is near zero.

    The first slope is that of the least-squares line through the origin and the points up to 0.2 ``capacity``. The
    curve begins at the origin; after a median over three neighbours its local slopes are differences of neighbours,
    each at the middle between them. ``rc`` is where the straight line between the last slope that is not below half of
    the first and the next one, the first that is below it, crosses half of the first. An error of half a step in one
    accepted load can pass for the end of the slope: measure well, or take longer steps.
    """
    r, theta = _curve(load, accepted, "accepted")
    _positive("capacity", capacity)
    near = r <= _FIRST * capacity
    if not near.any():
        raise ConfigError(
            "load", f"{r[0]:g} and more", f"a load of at most 0.2 of the capacity {capacity:g}", "add one"
        )
    half = _HALF * float(theta[near] @ r[near] / (r[near] @ r[near]))
    if half <= 0:
        raise ConfigError("accepted", f"{theta[0]:g}", "more than 0 at small loads")
    r, theta = np.insert(r, 0, 0.0), median_of_three(np.insert(theta, 0, 0.0))
    slopes, middles = np.diff(theta) / np.diff(r), (r[1:] + r[:-1]) / 2
    below = np.flatnonzero(slopes < half)
    if not below.size:
        return Critical(float(r[-1]), False)
    i = int(below[0])
    if i == 0:
        return Critical(float(middles[0]), True)
    share = (slopes[i - 1] - half) / (slopes[i - 1] - slopes[i])
    return Critical(float(middles[i - 1] + share * (middles[i] - middles[i - 1])), True)


def median_of_three(values: Values) -> Array:
    """Each value replaced by the median of itself and its two neighbours; the first and the last stay."""
    smooth = np.array(values, dtype=float)
    if len(smooth) > 2:
        windows = np.lib.stride_tricks.sliding_window_view(np.asarray(values, dtype=float), 3)
        smooth[1:-1] = np.median(windows, axis=1)
    return smooth


def npm(load: Values, accepted: Values, latency: Values, capacity: float) -> float:
    """The network performance measure: accepted load over mean latency, integrated over loads from 0 to ``capacity``.

    Trapezoids between the loads, from 0 at load 0; what lies above ``capacity`` is cut off. The unit is
    (flits/cycle/terminal)^2 / cycle. A saturated network has an infinite latency in the steady state: write ``inf``. A
    curve that ends saturated may end below ``capacity``: all that is left out is 0.
    """
    r, theta = _curve(load, accepted, "accepted")
    _, tau = _curve(load, latency, "latency", infinite=True)
    _positive("capacity", capacity)
    if (tau <= 0).any():
        raise ConfigError("latency", f"{tau.min():g}", "more than 0 cycles")
    if r[-1] < capacity * (1 - 1e-9) and np.isinf(tau[-1]):
        # Saturated here, saturated at every higher load.
        r, theta, tau = np.append(r, capacity), np.append(theta, theta[-1]), np.append(tau, math.inf)
    if r[-1] < capacity * (1 - 1e-9):
        raise ConfigError("load", f"up to {r[-1]:g}", f"loads up to the capacity {capacity:g}", "extend the curve")
    r, quality = np.insert(r, 0, 0.0), np.insert(theta / tau, 0, 0.0)
    inside = r < capacity * (1 - 1e-9)
    at_capacity = np.interp(capacity, r, quality)
    r, quality = np.append(r[inside], capacity), np.append(quality[inside], at_capacity)
    return float(np.sum(np.diff(r) * (quality[1:] + quality[:-1]) / 2))


def saturation_throughput(accepted: Values) -> float:
    """The highest accepted load of a curve."""
    found = floats("accepted", accepted)
    if not found.size:
        raise ConfigError("accepted", "nothing", "the accepted load of at least one load")
    return float(found.max())


def uniform_capacity(size: Sequence[int], wrap: Sequence[bool], terminals_per_router: int = 1) -> float:
    """The load of uniform traffic that uses up the channels across the middle of a grid: ``8 / N`` for an N x N torus.

    No routing accepts more of it on average (a terminal may draw itself); 1 flit a cycle for each channel.
    """
    sizes = several("size", size, "a size for each dimension", "for example (8, 8)")
    if len(sizes) != len(several("wrap", wrap, "true or false for each dimension", "for example (True, True)")):
        raise ConfigError("wrap", list(wrap), f"as many as there are dimensions, {len(size)}")
    topology = {"kind": "grid", "size": sizes, "wrap": list(wrap), "terminals_per_router": terminals_per_router}
    found = _core.uniform_capacity(json.dumps(topology))
    return math.inf if found is None else found


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds and half the width of its 95 % confidence interval (NaN for a single seed)."""

    mean: float
    half_width: float
    values: tuple[float, ...]

    def __str__(self) -> str:
        return f"{self.mean:.4g}" if math.isnan(self.half_width) else f"{self.mean:.4g} ± {self.half_width:.2g}"


def over_seeds(values: Iterable[float]) -> Estimate:
    """A number of each seed as a mean with its confidence interval, by Student's t: seeds are independent."""
    found = tuple(float(value) for value in floats("values", several("values", values, "a number of each seed")))
    if not found:
        raise ConfigError("values", "nothing", "one number for each seed, at least one")
    return Estimate(float(np.mean(found)), half_width_95(np.array(found)), found)


def _curve(load: Values, values: Values, name: str, infinite: bool = False) -> tuple[Array, Array]:
    """Loads in ascending order and what belongs to them, checked."""
    r, y = floats("load", load), floats(name, values)
    if r.ndim != 1 or r.shape != y.shape or not r.size:
        raise ConfigError(name, f"shape {y.shape}", f"one value for each load, shape {r.shape}, at least one")
    order = np.argsort(r)
    r, y = r[order], y[order]
    if not np.isfinite(r).all() or r[0] <= 0 or (np.diff(r) <= 0).any():
        raise ConfigError("load", np.array2string(r, threshold=8), "different loads, each more than 0")
    if np.isnan(y).any() or (not infinite and np.isinf(y).any()):
        raise ConfigError(name, np.array2string(y, threshold=8), "a number for each load", "leave out what is none")
    return r, y


def _positive(name: str, value: float) -> None:
    expected, hint = "a number above 0", "for an N x N torus 8 / N"
    if not (math.isfinite(number(name, value, expected, hint)) and value > 0):
        raise ConfigError(name, value, expected, hint)
