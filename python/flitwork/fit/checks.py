"""Where a model does not fit: tests of its residuals and parameters, each with a sentence for readers."""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Iterator

from flitwork.base.libraries import np
from flitwork.fit.model import Array, column
from flitwork.fit.quantity import quantity
from flitwork.fit.result import Fit, Parameter, Warned
from flitwork.fit.solve import Solution

#: A test says that something is there if it would come out so by chance less often.
_BY_CHANCE = 0.01
#: What is smaller does not matter to anybody: the part of the time by which a model misses it.
_SMALL = 0.01
_LARGE = 0.25
_LOOSE = 0.1
_OUTLIER = 4.0
_LOW_R_SQUARED = 0.9
_FEW_SPARE = 3
_LIKE_OTHER_UNITS = 900


def warnings_of(fit: Fit, found: Solution) -> Fit:
    """The fit with all that is to be said against it."""
    if found.exact:
        warned = [*_parameters(fit), *_variant(fit), *_few(fit), *_units(fit)]
    else:
        warned = [
            *_parameters(fit), *_variant(fit), *_size(fit), *_structure(fit), *_spread(fit, found), *_outliers(fit),
            *_few(fit), *_units(fit),
        ]  # fmt: skip
        if fit.errors == "absolute" and any(one.code == "uneven_spread" for one in warned):
            # These two tests take all errors to be alike, as this fit does.
            warned = [one for one in warned if one.code not in ("lack_of_fit", "outliers")]
    return dataclasses.replace(fit, warnings=tuple(warned))


def _parameters(fit: Fit) -> Iterator[Warned]:
    terms = {one.name: one for one in fit.model.terms(fit.variant)}
    for (name, term), value in zip(terms.items(), fit.coefficients, strict=True):
        one = fit.parameters[name]
        if fit.model_name == "linear_ranks" and name == "t0":
            yield from _one_rank(fit)
        elif value < 0:
            certain = "" if term.rate or one.high < 0 else ", though 0 is in its interval"
            what = "a negative time" if not term.rate else "a rate below 0"
            shown = quantity(float(value), "s/B" if term.rate else one.unit)
            yield Warned(
                "negative", f"{name} is negative ({shown}{certain}), and {term.about} cannot be {what}: "
                "the model does not hold for all of these points",
            )  # fmt: skip
        elif _open(one):
            yield Warned("unknown_parameter", f"{name} is not known from these points: its interval takes in 0")


def _one_rank(fit: Fit) -> Iterator[Warned]:
    """A line through (n - 1) messages is below 0 at 0 ranks, as it should be; at 1 it may not be."""
    design = np.ones((1, 2))
    seconds, half = float((design @ fit.coefficients)[0]), float(fit.half_widths(design)[0])
    if seconds + half < 0:
        yield Warned(
            "negative", f"the line is negative at 1 rank ({quantity(seconds, 's')}): it does not hold for few ranks"
        )  # fmt: skip


def _open(one: Parameter) -> bool:
    return one.low < 0 < one.high or math.isinf(one.high)


def _variant(fit: Fit) -> Iterator[Warned]:
    if fit.variant.get("gap") is False:
        yield Warned("no_gap", "all rows have as many messages: L_2o takes in what g says of them, and g is not known")
    if fit.variant.get("limit") == "free":
        yield Warned(
            "no_limit", "the adapter's limit is not reached in these points: server_rate is not known; "
            "measure with more ranks per server",
        )  # fmt: skip
    if fit.variant.get("limit") == "shared":
        number = f"{fit.variant['full_at']:g}"
        few = "or fewer than were measured: rank_rate is not known beside server_rate"
        text = few if fit.variant.get("or_fewer") else f"no more and no less: rank_rate is server_rate / {number}"
        yield Warned("on_the_border", f"the adapter is full at {number} ranks per server, {text}")


def _size(fit: Fit) -> Iterator[Warned]:
    if fit.r_squared < _LOW_R_SQUARED:
        yield Warned("low_r_squared", f"the model explains {max(fit.r_squared, 0):.0%} of how the times vary")
    if (usually := _upper_quarter(fit)) > _LOOSE:
        yield Warned("loose", f"a quarter of the times are more than {usually:.0%} off the model")
    part = _parts(fit)
    worst = int(part.argmax())
    if part[worst] > _LARGE and fit.points["weight"].iloc[worst] > 0.5:
        row = fit.points.iloc[worst]
        where = ", ".join(f"{row[name]:g} {name.replace('_', ' ')}" for name in fit.model.uses)
        hint = "" if fit.errors == "relative" else "; errors=relative gives short times as much weight as long ones"
        yield Warned(
            "far_off", f"at {where} the model says {quantity(float(row['fitted']), 's')} where "
            f"{quantity(float(row['seconds']), 's')} were measured ({part[worst]:.0%} off){hint}",
        )  # fmt: skip


def _parts(fit: Fit) -> Array:
    """By which part of the time each point is missed."""
    return np.abs(column(fit.points, "residual")) / column(fit.points, "seconds")


def _structure(fit: Fit) -> Iterator[Warned]:
    """Residuals that depend on where a point is: by repeated points, and by runs of one sign along each variable."""
    if _upper_quarter(fit) < _SMALL:
        return
    chance = _lack_of_fit(fit)
    if chance is not None and chance < _BY_CHANCE:
        yield Warned(
            "lack_of_fit", "the means of points that were measured several times are off the model by more than their "
            f"spread explains (F test, p = {chance:.1g}): this suggests another formula",
        )  # fmt: skip
        return
    for name in fit.model.uses:
        chance = _runs(fit, name)
        if chance is not None and chance < _BY_CHANCE:
            yield Warned(
                "structure", f"the residuals have a structure over {name.replace('_', ' ')}: long runs of one sign "
                f"(runs test, p = {chance:.1g}); the formula bends where the times do not, or the other way round",
            )  # fmt: skip
            return


def _upper_quarter(fit: Fit) -> float:
    """A quarter of the times are further off the model than this part of them."""
    return float(np.quantile(_parts(fit), 0.75))


def _lack_of_fit(fit: Fit) -> float | None:
    """The chance of residuals of means as large, if the model holds; ``None`` where nothing was measured twice."""
    from scipy.stats import f

    points = fit.points.assign(z=fit.points["standardised"])
    groups = points.groupby(list(fit.model.uses))["z"]
    distinct, parameters = groups.ngroups, len(fit.coefficients)
    pure, lacking = len(points) - distinct, distinct - parameters
    if pure < 2 or lacking < 1:
        return None
    mean = groups.transform("mean")
    error = float(((points["z"] - mean) ** 2).sum()) / pure
    lack = float((mean**2).sum()) / lacking
    return float(f.sf(lack / error, lacking, pure)) if error > 0 else 0.0


def _runs(fit: Fit, name: str) -> float | None:
    """The chance of so few runs of one sign among the mean residuals along a variable; ``None`` for fewer than 8."""
    from statsmodels.sandbox.stats.runs import runstest_1samp

    means = fit.points.groupby(name)["standardised"].mean()
    signs = (means > 0).astype(int).to_numpy()
    if len(signs) < 8 or signs.min() == signs.max():
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        z, both_sides = runstest_1samp(signs, cutoff=0.5, correction=True)
    return float(both_sides) if z < 0 else None


def _spread(fit: Fit, found: Solution) -> Iterator[Warned]:
    """Errors that grow with the time, or shrink, where they are taken to be alike."""
    from statsmodels.stats.diagnostic import het_breuschpagan

    if len(fit.points) < 8 or np.ptp(found.fitted) == 0 or _upper_quarter(fit) < _SMALL:
        return
    beside = np.column_stack([np.ones(len(fit.points)), found.fitted / np.abs(found.fitted).max()])
    squared = column(fit.points, "standardised")
    chance = float(het_breuschpagan(squared, beside)[1])
    if chance < _BY_CHANCE and fit.method == "least_squares":
        grows = np.corrcoef(np.abs(squared), found.fitted)[0, 1] > 0
        hint = (
            "; errors=relative expects errors in proportion to the time" if grows and fit.errors == "absolute" else ""
        )
        how = "grow" if grows else "shrink"
        yield Warned(
            "uneven_spread", f"the residuals {how} with the time (Breusch and Pagan, p = {chance:.1g}): the intervals "
            f"of the parameters are not to be relied on{hint}",
        )  # fmt: skip


def _outliers(fit: Fit) -> Iterator[Warned]:
    far = fit.points[fit.points["standardised"].abs() > _OUTLIER]
    if len(far):
        rows = ", ".join(f"{int(row)}" for row in far["row"][:5]) + (", ..." if len(far) > 5 else "")
        hint = "" if fit.method == "huber" else "; method=huber gives them less weight"
        yield Warned("outliers", f"row {rows}: more than {_OUTLIER:g} standard deviations off the model{hint}")


def _few(fit: Fit) -> Iterator[Warned]:
    if fit.degrees < _FEW_SPARE:
        count = len(fit.coefficients)
        yield Warned("few_points", f"{len(fit.points)} points for {count} coefficients: a test of the model needs more")


def _units(fit: Fit) -> Iterator[Warned]:
    """Times under the same conditions that differ as milliseconds and seconds do."""
    groups = fit.points.groupby(list(fit.model.uses))["seconds"]
    ratio = groups.max() / groups.min()
    if len(ratio) and float(ratio.max()) > _LIKE_OTHER_UNITS:
        yield Warned(
            "mixed_units", f"times under the same conditions differ by a factor of {float(ratio.max()):,.0f}: "
            "are all of them in seconds?",
        )  # fmt: skip
