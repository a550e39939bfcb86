"""What a paper claims, what we measure, and the verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from flitwork.errors import ConfigError, did_you_mean
from flitwork.experiment.study_file import Scalar
from flitwork.statistics import half_width_95
from flitwork.strict import Table, read_toml, validate

Verdict = Literal["reproduced", "not reproduced", "differs", "not measured"]


class Measure(Table):
    """``measure``: the statistic of a column over the rows that fit; ``per`` divides by the same of other rows."""

    experiment: str
    column: str
    statistic: Literal["mean", "median", "min", "max", "first", "last"] = "mean"
    where: dict[str, Scalar | list[Scalar]] = {}
    per: dict[str, Scalar | list[Scalar]] = {}


class Claim(Table):
    """One statement of a paper.

    ``paper`` is its number (or nothing, for a claim that is true or false), ``tolerance`` how far ours may be away:
    absolute, or a share of the paper's value with ``relative = true``. ``relation`` says how to compare. ``expected``
    is the verdict that this version of flitwork stands for: if it says ``reproduced`` and the claim fails, the command
    fails. ``because`` is the reason where ours is known to differ.
    """

    id: str
    claim: str = ""
    source: str = ""
    paper: float | None = None
    unit: str = ""
    tolerance: float = 0.0
    relative: bool = False
    relation: Literal["equal", "at_least", "at_most"] = "equal"
    expected: Literal["reproduced", "not reproduced", "differs"] = "reproduced"
    because: str = ""
    quick: bool = True
    measure: Measure | None = None
    ours: float | bool | None = None
    ci: float = 0.0
    note: str = ""

    @property
    def holds(self) -> bool | None:
        """Whether our value agrees with the paper's; ``None`` where nothing was measured."""
        if self.ours is None:
            return None
        if self.paper is None:
            return bool(self.ours)
        slack = self.tolerance * (abs(self.paper) if self.relative else 1.0) + 1e-9
        if self.relation == "at_least":
            return self.ours >= self.paper - slack
        if self.relation == "at_most":
            return self.ours <= self.paper + slack
        return abs(self.ours - self.paper) <= slack

    @property
    def verdict(self) -> Verdict:
        """``reproduced``, ``differs`` (with a reason), ``not reproduced`` or ``not measured``."""
        if self.holds is None:
            return "not measured"
        if self.holds:
            return "reproduced"
        return "differs" if self.because and self.expected == "differs" else "not reproduced"

    @property
    def fails(self) -> bool:
        """Whether the command has to fail: the claim should be reproduced and is not."""
        return self.expected == "reproduced" and self.holds is False


class _ClaimsFile(Table):
    claims: list[Claim]


def load_claims(path: Path) -> list[Claim]:
    """The claims of ``claims.toml``."""
    claims = validate(_ClaimsFile, read_toml(path)).claims
    for i, claim in enumerate(claims):
        if claim.ours is not None or claim.ci:
            raise ConfigError(f"claims[{i}].ours", claim.ours, "nothing: ours is measured", "give measure instead")
        if any(claim.id == other.id for other in claims[:i]):
            raise ConfigError(f"claims[{i}].id", f'"{claim.id}"', "an id that no other claim has")
    return claims


def judged(declared: Sequence[Claim], computed: Iterable[Claim], results: pd.DataFrame, quick: bool) -> list[Claim]:
    """The declared claims with our values: measured as declared, or as the study's ``claims.py`` computed them."""
    ours = {claim.id: claim for claim in computed}
    known = [claim.id for claim in declared]
    for extra in ours:
        if extra not in known:
            raise ConfigError(
                "claims", extra, f"a claim of claims.toml: {', '.join(known)}", did_you_mean(extra, known)
            )
    return [_with_ours(claim, ours.get(claim.id), results, quick) for claim in declared]


def _with_ours(claim: Claim, computed: Claim | None, results: pd.DataFrame, quick: bool) -> Claim:
    if quick and not claim.quick:
        return claim.model_copy(update={"note": "needs the full study"})
    if computed is not None:
        given = computed.model_fields_set - {"id"}
        return claim.model_copy(update={key: getattr(computed, key) for key in given})
    if claim.measure is None:
        return claim
    value, ci = measured(claim.measure, results, claim.id)
    return claim.model_copy(update={"ours": value, "ci": ci})


def measured(measure: Measure, results: pd.DataFrame, claim: str = "") -> tuple[float | None, float]:
    """The value of a measure and half the width of its 95 % confidence interval over seeds (0 without repetition)."""
    value, ci = _statistic(measure, measure.where, results, claim)
    if not measure.per or value is None:
        return value, ci
    base, base_ci = _statistic(measure, {**measure.where, **measure.per}, results, claim)
    if not base:
        return None, 0.0
    ratio = value / base
    return ratio, abs(ratio) * ((ci / value if value else 0.0) ** 2 + (base_ci / base) ** 2) ** 0.5


def _statistic(
    measure: Measure, where: dict[str, Any], results: pd.DataFrame, claim: str
) -> tuple[float | None, float]:
    for name in (measure.column, *where):
        if name not in results.columns:
            expected = f"a column of the results: {', '.join(map(str, results.columns))}"
            raise ConfigError(f"claims.{claim}.measure", f'"{name}"', expected)
    rows = results[results["experiment"] == measure.experiment]
    for name, wanted in where.items():
        rows = rows[rows[name].isin(wanted if isinstance(wanted, list) else [wanted])]
    if rows.empty:
        return None, 0.0
    column = rows[measure.column].astype(float)
    if measure.statistic in ("first", "last"):
        return float(column.iloc[0 if measure.statistic == "first" else -1]), 0.0
    value = float(getattr(column, measure.statistic)())
    by_seed = column.groupby(rows["seed"]).mean()
    return value, half_width_95(by_seed) if measure.statistic == "mean" else 0.0
