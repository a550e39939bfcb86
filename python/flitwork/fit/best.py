"""``best_ranks``: where more processors stop paying."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from flitwork.base.errors import ConfigError
from flitwork.base.libraries import np, pd
from flitwork.fit.model import Array
from flitwork.fit.predicting import below_zero, beyond, numbers_of, rows_to_predict, with_times
from flitwork.fit.result import Fit

_DRAWS = 2000
_SEED = 1
_MOST_RANKS = 1_000_000
_DEFAULT_MOST = 1024
#: Ranks that are within this part of the least time are enough.
_ENOUGH = 0.05
_AT_ONCE = 4_000_000
#: Up to here every number is looked at, then so many steps.
_EVERY, _STEPS = 4096, 5000


@dataclass(frozen=True)
class BestRanks:
    """The number of ranks with the least time.

    ``ranks`` is it, ``low`` and ``high`` its confidence interval; ``seconds`` is the least time, ``seconds_low`` and
    ``seconds_high`` the interval of the time at ``ranks``. ``enough`` is the fewest ranks whose time is within 5 % of
    it. ``at_limit``: the least time is that of the most ranks which were looked at: more of them may still pay.
    ``table`` has the times [s] for some numbers of ranks, as :func:`predict` gives them, ``notes`` what is to be said.
    """

    ranks: int
    low: int
    high: int
    seconds: float
    seconds_low: float
    seconds_high: float
    enough: int
    at_limit: bool
    table: pd.DataFrame
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {**vars(self), "table": self.table.to_dict("records"), "notes": list(self.notes)}


def best_ranks(
    fit: Fit,
    *,
    total_bytes: float | None = None,
    bytes: float | None = None,
    at_least: int = 2,
    at_most: int | None = None,
    ranks_per_server: int | None = None,
    work_seconds: float = 0.0,
) -> BestRanks:
    """The number of ranks, from ``at_least`` to ``at_most``, whose time by the fit is the least.

    ``total_bytes`` are all ranks' together (bytes·n²: the problem stays the same); or ``bytes`` to each other rank.
    ``work_seconds`` [s] is computation on one rank that n ranks do in the n-th part of the time; it is added.
    Without ``at_most``: 1,024, or 4 times the most that were measured; from 4,096 on numbers are looked at in steps
    of about 0.1 %. The interval is of the parameters' joint distribution: that of the best number over 2,000 draws
    (always the same ones).

    A :class:`flitwork.ConfigError` where the model does not know of ranks, or of options that make no sense.
    """
    if "ranks" not in fit.model.uses:
        raise ConfigError("model", fit.model_name, "a model of ranks: linear_ranks, total_exchange, loggp, max_rate")
    if total_bytes is None and bytes is None and "bytes" in fit.model.uses:
        raise ConfigError("total_bytes", "not given", "bytes of all ranks together, or bytes to each other rank")
    if total_bytes is not None:
        numbers_of("total_bytes", total_bytes)
    if not 0 <= work_seconds < float("inf"):
        raise ConfigError("work_seconds", work_seconds, "a time in s, at least 0")
    most = at_most if at_most is not None else max(_DEFAULT_MOST, int(4 * fit.range_of("ranks")[1]))
    if not 2 <= at_least <= most <= _MOST_RANKS:
        raise ConfigError("at_most", f"{at_least} to {most}", f"numbers of ranks from 2 to {_MOST_RANKS:,}")
    last = _last(total_bytes, at_least, most)
    numbers = _numbers(at_least, last)
    table = with_times(fit, rows_to_predict(fit, bytes, total_bytes, numbers.tolist(), ranks_per_server))
    work = work_seconds / numbers
    for name in ("seconds", "low", "high", "one_low", "one_high"):
        table[name] += work
    found = _found(fit, table, numbers, work)
    if last == most:
        return found
    note = f"looked at up to {last:,} ranks: with more a message would be shorter than 1 byte"
    return replace(found, notes=(*found.notes, note))


def _last(total_bytes: float | None, least: int, most: int) -> int:
    """The most ranks to look at: a message of all ranks' ``total_bytes`` is at least a byte, or there are none."""
    if not total_bytes or not total_bytes > 0:
        return most
    last = math.isqrt(int(total_bytes))
    if last < least:
        expected = f"at least {least**2:,}: 1 byte from each of {least:,} ranks to each, itself included"
        raise ConfigError("total_bytes", total_bytes, expected)
    return min(most, last)


def _numbers(least: int, most: int) -> Array:
    """All numbers at first, then steps of about 0.1 %."""
    every = np.arange(least, min(most, max(least, _EVERY)) + 1)
    if every[-1] == most:
        return every
    return np.unique(np.concatenate([every, np.geomspace(every[-1], most, _STEPS).round().astype(int)]))


def _found(fit: Fit, table: pd.DataFrame, numbers: Array, work: Array) -> BestRanks:
    seconds = table["seconds"].to_numpy()
    best = int(seconds.argmin())
    design = fit.model.design(table.assign(operation=fit.conditions.get("operation", "")), fit.variant)
    drawn = _drawn(fit, design, work)
    tail = (1 - fit.confidence) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail], method="closest_observation")
    notes = _notes(fit, table, numbers, best, seconds)
    enough = int(numbers[np.flatnonzero(seconds <= seconds[best] + _ENOUGH * abs(seconds[best]))[0]])
    row = table.iloc[best]
    return BestRanks(
        int(numbers[best]), int(min(numbers[int(low)], numbers[best])), int(max(numbers[int(high)], numbers[best])),
        float(row["seconds"]), float(row["low"]), float(row["high"]), enough,
        best == len(numbers) - 1, _some(fit, table, numbers, best), tuple(notes),
    )  # fmt: skip


def _drawn(fit: Fit, design: Array, work: Array) -> Array:
    """Where the least time is, for parameters that may as well be the true ones."""
    from scipy.stats import multivariate_t

    covariance = fit.covariance
    if not covariance.any():
        return np.full(1, (design @ fit.coefficients + work).argmin())
    # In units of their own: coefficients differ by many orders of magnitude.
    size = np.sqrt(np.maximum(np.diag(covariance), np.finfo(float).tiny))
    draws = multivariate_t.rvs(
        fit.coefficients / size, covariance / np.outer(size, size), df=fit.degrees, size=_DRAWS, random_state=_SEED
    )
    draws = np.atleast_2d(draws.reshape(_DRAWS, -1)) * size
    step = max(1, _AT_ONCE // len(design))
    return np.concatenate(
        [(design @ draws[i : i + step].T + work[:, None]).argmin(axis=0) for i in range(0, _DRAWS, step)]
    )


def _notes(fit: Fit, table: pd.DataFrame, numbers: Array, best: int, seconds: Array) -> list[str]:
    notes = [warning.text for warning in fit.warnings]
    if seconds[best] < 0:
        notes.append("the least time is negative: the model does not hold there")
    notes += below_zero(_some_rows(table, numbers, best))
    if best == len(numbers) - 1:
        notes.append(f"more ranks pay up to {numbers[best]:,}, the most that were looked at")
    elif best == 0:
        notes.append(f"more ranks than {numbers[0]:,} do not pay at all")
    if outside := beyond(fit, table.iloc[[best]])[0]:
        notes.append(f"beyond what was measured: {outside}")
    return notes


def _some(fit: Fit, table: pd.DataFrame, numbers: Array, best: int) -> pd.DataFrame:
    """The powers of 2, the best number, and the ends."""
    some = _some_rows(table, numbers, best).reset_index(drop=True)
    return some.assign(beyond=beyond(fit, some))


def _some_rows(table: pd.DataFrame, numbers: Array, best: int) -> pd.DataFrame:
    shown = sorted({0, best, len(numbers) - 1, *(int(np.searchsorted(numbers, 2**i)) for i in range(1, 21))})
    return table.iloc[[i for i in shown if i < len(numbers)]]
