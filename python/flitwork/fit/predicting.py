"""``predict``: the time of a message size and a number of ranks by a fit, and how well it is known."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from flitwork.base.errors import ConfigError
from flitwork.base.libraries import np, pd
from flitwork.fit.result import Fit
from flitwork.measurements import MOST

Numbers = float | Sequence[float]


def predict(
    fit: Fit,
    *,
    bytes: Numbers | None = None,
    total_bytes: Numbers | None = None,
    ranks: Numbers | None = None,
    ranks_per_server: Numbers | None = None,
) -> pd.DataFrame:
    """Times by a fit, a row for each combination of what is given.

    ``bytes`` go from a rank to each other one; ``total_bytes`` in their place are bytes·n². What the fit has one value
    of need not be given. Columns: those three, ``seconds`` [s], ``low`` and ``high`` (the confidence interval of the
    model's time), ``one_low`` and ``one_high`` (where the time of one more measurement lies, with the same
    probability), and ``beyond``: what lies outside of the points that were fitted, in words; empty: nothing.

    A :class:`flitwork.ConfigError` says what is missing, or that the fit is for another value.
    """
    table = rows_to_predict(fit, bytes, total_bytes, ranks, ranks_per_server)
    return with_times(fit, table).assign(beyond=beyond(fit, table))


def rows_to_predict(
    fit: Fit,
    bytes: Numbers | None,
    total_bytes: Numbers | None,
    ranks: Numbers | None,
    ranks_per_server: Numbers | None,
) -> pd.DataFrame:
    """A row for each combination of what is asked for: bytes to each other rank, ranks, ranks per server."""
    if bytes is not None and total_bytes is not None:
        raise ConfigError("total_bytes", total_bytes, "bytes or total_bytes", "total_bytes = bytes·n²")
    sizes = total_bytes if total_bytes is not None else bytes
    given = {
        "ranks": _given(fit, "ranks", ranks, needed=total_bytes is not None),
        "bytes": numbers_of("total_bytes", sizes) if total_bytes is not None else _given(fit, "bytes", sizes),
        "ranks_per_server": _given(fit, "ranks_per_server", ranks_per_server),
    }
    rows = [dict(zip(given, values, strict=True)) for values in itertools.product(*given.values())]
    table = pd.DataFrame(rows, dtype=float)
    if total_bytes is not None:
        table["bytes"] /= table["ranks"] ** 2
    return table


def with_times(fit: Fit, table: pd.DataFrame) -> pd.DataFrame:
    """``table``, with columns for each variable of the model, and the times."""
    table = table.assign(operation=fit.conditions.get("operation", ""))
    design = fit.model.design(table, fit.variant)
    seconds, half = design @ fit.coefficients, fit.half_widths(design)
    spread = fit.t * fit.sd * (np.abs(seconds) if fit.errors == "relative" else 1.0)
    one = np.hypot(half, spread)
    return table[["bytes", "ranks", "ranks_per_server"]].assign(
        seconds=seconds, low=seconds - half, high=seconds + half, one_low=seconds - one, one_high=seconds + one
    )  # fmt: skip


def below_zero(table: pd.DataFrame) -> list[str]:
    """What is to be said where an interval of ``table`` reaches below 0, which no time is; one sentence, or none."""
    if not (table[["low", "one_low"]].to_numpy(float) < 0).any():
        return []
    return ["intervals reach below 0, where no time can be: these times are not known better than that"]


def beyond(fit: Fit, table: pd.DataFrame) -> list[str]:
    """What of each row lies outside of the points that were fitted, in words."""
    return [_beyond(fit, row) for row in table.to_dict("records")]


def _given(fit: Fit, name: str, value: Numbers | None, needed: bool = False) -> list[float]:
    fixed = fit.conditions.get(name)
    fixed = None if fixed is None else float(fixed)
    if name in fit.model.uses or needed:
        if value is None and fixed is None:
            low, high = fit.range_of(name)
            raise ConfigError(name, "not given", f"a number: {fit.model.formula}", f"{low:g} to {high:g} were measured")
        return [fixed] if value is None and fixed is not None else numbers_of(name, value)
    if value is not None and fixed is not None and numbers_of(name, value) != [fixed]:
        raise ConfigError(name, value, f"{fixed:g}: the fit is for that", f"{fit.model_name} does not know of {name}")
    if value is not None and fixed is None and name != "ranks_per_server":
        expected = f"left out: {fit.model_name} does not know of {name}, and the points do not say for which they hold"
        raise ConfigError(name, value, expected)
    return [math.nan if fixed is None else fixed]


def numbers_of(name: str, value: Numbers | None) -> list[float]:
    """What is asked for as a list of numbers; ``name`` says whether they are bytes or ranks."""
    listed = list(value) if isinstance(value, Sequence) else np.atleast_1d(np.asarray(value)).tolist()
    if not listed:
        raise ConfigError(name, "nothing", "a number, or several")
    least = 0 if "bytes" in name else 1
    for one in listed:
        number = isinstance(one, (int, float)) and not isinstance(one, bool)
        whole = "bytes" in name or (number and float(one).is_integer())
        if not number or not whole or not least <= one <= MOST:
            expected = f"a {'' if least == 0 else 'whole '}number, at least {least}"
            raise ConfigError(name, one, expected + (f", and at most {MOST:g}" if number and one > MOST else ""))
    return [float(one) for one in listed]


def _beyond(fit: Fit, row: Mapping[Hashable, Any]) -> str:
    """What was not measured, in words."""
    found = []
    for name in fit.model.uses:
        low, high = fit.range_of(name)
        # A model without that term says the same for all of them.
        if not low <= row[name] <= high:
            found.append(f"{row[name]:g} {name.replace('_', ' ')} (measured: {low:g} to {high:g})")
    if 0 < row["bytes"] < 1:
        found.append("messages of less than 1 byte")
    if fit.variant.get("short_up_to", math.inf) < row["bytes"] < fit.variant.get("long_from", math.inf):
        found.append("the break lies somewhere between the sizes beside it")
    return "; ".join(found)
