"""``fit_model`` and ``fit``: a model on a table of times."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from flitwork.base.errors import ConfigError, did_you_mean
from flitwork.base.libraries import np, pd
from flitwork.fit.checks import warnings_of
from flitwork.fit.model import OPERATIONS_WITH_MESSAGES, Array, Coefficient, Model, Variant, known_messages, reciprocal
from flitwork.fit.models import model_named
from flitwork.fit.result import Fit, Parameter, students_t, title_of
from flitwork.fit.solve import ERRORS, METHODS, Errors, Method, Solution, solve
from flitwork.fit.table import TELLING, Data, chosen, conditions, parts, read_table, taken, varying
from flitwork.measurements import Defaults

#: What rounding may leave of a difference that is 0, as a part of its terms.
_ROUNDED = 1e-9


def fit_model(
    data: Data | Sequence[Data],
    model: str,
    *,
    method: Method = "least_squares",
    errors: Errors = "absolute",
    take: str = "all",
    confidence: float = 0.95,
    columns: Mapping[str, str] | None = None,
    **only: Any,
) -> Fit:
    """Fits one model to one series of measured or simulated times.

    ``data`` is a table or a file of any format that ``flitwork fit`` reads. Columns: ``seconds`` [s] of one call above
    0; ``bytes`` that a rank sends to each other one (or ``total_bytes`` of all ranks: bytes·n²), ``ranks``,
    ``ranks_per_server``, as far as the model uses them; ``operation``, ``algorithm``, ``mpi``, ``version``.

    ``model`` is a name of :data:`flitwork.fit.MODELS`: ``linear_bytes`` t = a·m + t0, ``linear_ranks`` t = a·n + t0,
    ``total_exchange`` t = (m/n²·a + t0)(n-1) with m bytes in all, ``hockney``, ``loggp``, ``max_rate``, ``segmented``.
    ``method`` is ``"least_squares"`` or ``"huber"``, which gives outliers less weight. ``errors="relative"`` takes the
    error of a time to be in proportion to it, rather than as large for all. ``take`` makes one time of those measured
    under the same conditions: ``"minimum"``, ``"median"``, ``"mean"``; ``"all"`` keeps each. ``only`` chooses rows:
    ``operation="alltoall"``, ``ranks=8``, ``bytes=[64, 1024]``.

    >>> found = fit_model(table, "linear_bytes", operation="broadcast", ranks=16)
    >>> found.parameters["t0"].low, found.r_squared, [warning.text for warning in found.warnings]

    A :class:`flitwork.ConfigError` says which column, row or option cannot be used: unknown columns, times that are not
    above 0, mixed units, too few points, or rows under several conditions that the model does not know of.
    """
    table = rows_of(data, take, columns, only)
    found = model_named(model)
    fixed = [name for name in varying(table) if name not in found.uses]
    fixed += [name for name in TELLING if table[name].nunique() > 1]
    if fixed:
        values = ", ".join(_shown(value) for value in table[fixed[0]].unique()[:8])
        hint = f"choose with {fixed[0]}=..., or flitwork.fit.fit for one fit each"
        raise ConfigError(fixed[0], values, f"one value in all rows: {model} does not know of it", hint)
    return fit_rows(table, found, method, errors, confidence)


def fit(
    data: Data | Sequence[Data],
    model: str,
    *,
    method: Method = "least_squares",
    errors: Errors = "absolute",
    take: str = "all",
    confidence: float = 0.95,
    columns: Mapping[str, str] | None = None,
    **only: Any,
) -> list[Fit]:
    """Fits one model to each series of a table: one for each operation, algorithm and library, and for each value of
    ``bytes``, ``ranks`` or ``ranks_per_server`` that the model does not know of. Arguments as :func:`fit_model`.

    Raises as :func:`fit_model` does; too few points in one series are an error that names it.
    """
    table = rows_of(data, take, columns, only)
    found = model_named(model)
    return [fit_rows(rows, found, method, errors, confidence) for rows in parts(table, found.uses)]


def rows_of(
    data: Data | Sequence[Data], take: str, columns: Mapping[str, str] | None, only: Mapping[str, Any]
) -> pd.DataFrame:
    """The checked rows that ``only`` chooses, one of those under the same conditions as ``take`` says."""
    ranks, per_server = only.get("ranks"), only.get("ranks_per_server")
    defaults = Defaults(ranks if isinstance(ranks, int) else None, per_server if isinstance(per_server, int) else 1)
    table = read_table(data, columns=columns, defaults=defaults)
    for name in only:
        if name not in table.columns or name in ("row", "seconds"):
            known = [name for name in table.columns if name not in ("row", "seconds")]
            raise ConfigError(name, only[name], f"a column to choose by: {', '.join(known)}", did_you_mean(name, known))
    return taken(chosen(table, only), take)


def fit_rows(table: pd.DataFrame, model: Model, method: str, errors: str, confidence: float) -> Fit:
    """The fit of checked rows of one series."""
    if method not in METHODS:
        raise ConfigError("method", method, f"one of {', '.join(METHODS)}", did_you_mean(str(method), METHODS))
    if errors not in ERRORS:
        raise ConfigError("errors", errors, f"one of {', '.join(ERRORS)}", did_you_mean(str(errors), ERRORS))
    if not 0 < confidence < 1:
        raise ConfigError("confidence", confidence, "a number between 0 and 1", "0.95")
    _check_usable(table, model)
    variant, found = _best(table, model, method, errors, confidence)  # type: ignore[arg-type]
    points = table.assign(
        fitted=found.fitted,
        residual=table["seconds"] - found.fitted,
        standardised=_standardised(table["seconds"].to_numpy() - found.fitted, found),
        weight=found.weights,
    )
    numbers = len(found.coefficients) + 1 + model.searched(variant)
    settled = model.settled(found.coefficients, variant)
    made = Fit(
        model.name, method, errors, confidence, _parameters(model, variant, found, confidence), conditions(table),
        settled, found.coefficients, found.covariance, found.degrees, found.sd, _r_squared(points, found.scale),
        _aicc(found.log_likelihood, len(points), numbers), numbers, points,
    )  # fmt: skip
    return warnings_of(made, found)


def _check_usable(table: pd.DataFrame, model: Model) -> None:
    where = f"model {model.name}"
    for name in model.uses:
        if table[name].isna().any():
            raise ConfigError(
                f"{where}: {name}", "missing", f"a column {name}: {model.formula}", f"--column {name}=... says its name"
            )
    if model.needs_messages:
        for name in table["operation"].unique():
            if not known_messages(name):
                known = ", ".join(OPERATIONS_WITH_MESSAGES)
                expected = f"one whose number of messages is known: {known}"
                raise ConfigError(f"{where}: operation", name or "nothing", expected, "linear_bytes fits any operation")
        if (table["ranks"] < 2).any():
            raise ConfigError(f"{where}: ranks", 1, "at least 2: one rank sends nothing")


def _best(
    table: pd.DataFrame, model: Model, method: Method, errors: Errors, confidence: float
) -> tuple[Variant, Solution]:
    """The variant that fits best among those that are possible, or one that says less where the points allow it."""
    from scipy.stats import chi2

    seconds = table["seconds"].to_numpy(dtype=float)
    tried = [
        (variant, solve(model.design(table, variant), seconds, method, errors)) for variant in model.variants(table)
    ]
    found = [(variant, one) for variant, one in tried if one and model.possible(one.coefficients, variant)]
    if not found:
        raise _too_few(table, model)
    variant, best = min(found, key=_loss)
    # What is about as likely, as if a break were a parameter among others.
    near = best.loss + chi2.ppf(confidence, 1) / 2
    if less := [one for one in found if model.says_less(one[0]) and _loss(one) <= near]:
        return min(less, key=_loss)
    if "short_up_to" not in variant:
        return variant, best
    likely = [other for other, one in found if one.loss <= near]
    ends = {"low": min(one["short_up_to"] for one in likely), "high": max(one["long_from"] for one in likely)}
    return {**variant, **ends}, best


def _loss(tried: tuple[Variant, Solution]) -> float:
    return tried[1].loss


def _too_few(table: pd.DataFrame, model: Model) -> ConfigError:
    kinds = ", ".join(f"{table[name].nunique()} of {name}" for name in model.uses)
    found = f"too few points: {len(table)}, with different values: {kinds}"
    series = title_of(conditions(table))
    return ConfigError(
        f"model {model.name}", found, model.needs, f"these rows alone are fitted together: {series}" if series else ""
    )


def _standardised(residuals: Array, found: Solution) -> Array:
    """In standard deviations; 0 where the model meets all points."""
    return np.zeros(len(residuals)) if found.exact or found.sd == 0 else residuals / (found.sd * found.scale)


def _r_squared(points: pd.DataFrame, scale: Array) -> float:
    weights = 1 / scale**2
    seconds = points["seconds"].to_numpy(dtype=float)
    around = float((weights * (seconds - np.average(seconds, weights=weights)) ** 2).sum())
    left = float((weights * points["residual"].to_numpy() ** 2).sum())
    return 1 - left / around if around > 0 else math.nan


def _aicc(log_likelihood: float, rows: int, numbers: int) -> float:
    """Akaike's criterion with its correction for few points; ``numbers`` are coefficients, breaks and the variance."""
    spare = rows - numbers - 1
    return 2 * numbers - 2 * log_likelihood + 2 * numbers * (numbers + 1) / spare if spare > 0 else math.nan


def _parameters(model: Model, variant: Variant, found: Solution, confidence: float) -> dict[str, Parameter]:
    terms = list(model.terms(variant))
    t = students_t(found.degrees, confidence)
    made = {
        one.name: _parameter(one, value, t * deviation)
        for one, value, deviation in zip(
            terms, found.coefficients, np.sqrt(np.maximum(np.diag(found.covariance), 0)), strict=True
        )
    }
    names = [one.name for one in terms]
    for one in model.derived:
        if one.numerator in names and one.denominator in names:
            above, below = names.index(one.numerator), names.index(one.denominator)
            value, low, high = _ratio(found, above, below, t)
            made[one.name] = Parameter(one.name, value, low, high, one.unit, one.about)
    if "short_up_to" in variant:
        ends = (variant["short_up_to"], variant["low"], variant["high"])
        made["break"] = Parameter("break", *ends, "B", "largest measured size before the break")
    return made


def _parameter(one: Coefficient, value: float, half: float) -> Parameter:
    low, middle, high = value - half, float(value), value + half
    if one.rate:
        low, middle, high = reciprocal(low, middle, high)
    return Parameter(one.name, middle, float(low), float(high), one.unit, one.about)


def _ratio(found: Solution, above: int, below: int, t: float) -> tuple[float, float, float]:
    """A ratio of two coefficients with Fieller's interval, which is open where the denominator may be 0."""
    x, y = found.coefficients[above], found.coefficients[below]
    v = t**2 * found.covariance
    if y <= 0:
        return math.nan, math.nan, math.nan
    a, b, c = y**2 - v[below, below], x * y - v[above, below], x**2 - v[above, above]
    root = b**2 - a * c
    # Of points that lie on the line it is 0 but for rounding.
    root = 0.0 if abs(root) < _ROUNDED * b**2 else root
    if a <= 0 or root < 0:
        return float(x / y), -math.inf, math.inf
    return float(x / y), float((b - math.sqrt(root)) / a), float((b + math.sqrt(root)) / a)


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
