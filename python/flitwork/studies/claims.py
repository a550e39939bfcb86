"""What a paper claims, what we measure, and the verdict."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from flitwork.base.errors import ConfigError, did_you_mean
from flitwork.base.libraries import pd
from flitwork.base.statistics import half_width_95
from flitwork.base.toml_tables import Table, read_toml, validate
from flitwork.experiment.columns import Columns, check_where
from flitwork.experiment.study_file import Scalar
from flitwork.studies.rows import rows

Expected = Literal["reproduced", "not reproduced", "differs", "undecided", "not run"]
Verdict = Literal["reproduced", "not reproduced", "differs", "undecided", "not measured"]

_NEEDS_FULL = "needs the full study"


class Measure(Table):
    """``measure``: the statistic of a column over the rows that fit; ``per`` divides by the same of other rows."""

    experiment: str
    column: str
    statistic: Literal["mean", "median", "min", "max", "first", "last"] = "mean"
    where: dict[str, Scalar | list[Scalar]] = {}
    per: dict[str, Scalar | list[Scalar]] = {}


class Claim(Table):
    """What a paper states, and how it is judged: a row of ``claims.toml``.

    ``statement`` names the statement of the paper that the claim judges (its own ``id`` if empty); several claims may
    judge one. ``reading`` is empty for the first reading of the paper, which the README of the study names; any other
    text names another reading. A statement has one verdict, that of the first reading
    (:mod:`flitwork.studies.statements`).

    ``paper`` is its number (or nothing, for a claim that is true or false), ``tolerance`` how far ours may be away:
    absolute, or a share of the paper's value with ``relative = true``. ``relation`` says how to compare. ``expected``
    is the verdict that this version of flitwork stands for: the command fails where a claim that should be reproduced
    is not, and where one is that should not be. This holds for other readings, too. ``quick_expected`` is the verdict
    of the smaller version, where it is another one. Both are ``not run`` where nobody knows yet: then no verdict fails.
    ``because`` is the reason where ours is known to differ. ``by`` says whose statement it is: the paper's, one of its
    numbers that chose how it was read (no evidence for the reading), ours (a check of ourselves, or an aim), or that of
    another machine, asked of this one.

    Tolerances are always ours; ``limit = "ours"`` says that the number in ``paper`` is, too, because the paper says it
    in words.
    """

    id: str
    statement: str = ""
    reading: str = ""
    claim: str = ""
    source: str = ""
    paper: float | None = None
    unit: str = ""
    tolerance: float = 0.0
    relative: bool = False
    relation: Literal["equal", "at_least", "at_most"] = "equal"
    limit: Literal["paper", "ours"] = "paper"
    by: Literal["paper", "calibration", "ours", "this machine"] = "paper"
    expected: Expected = "reproduced"
    quick_expected: Expected | None = None
    because: str = ""
    quick: bool = True
    measure: Measure | None = None

    def limits(self) -> tuple[float, float]:
        """Between what our value agrees with the paper's; everything where the paper has no number."""
        if self.paper is None:
            return -math.inf, math.inf
        slack = self.tolerance * (abs(self.paper) if self.relative else 1.0)
        low = -math.inf if self.relation == "at_most" else self.paper - slack
        high = math.inf if self.relation == "at_least" else self.paper + slack
        return low, high

    def agrees(self, ours: float | bool) -> bool:
        """Whether a value of ours agrees with the paper's."""
        if self.paper is None:
            return bool(ours)
        low, high = self.limits()
        return low - 1e-9 <= ours <= high + 1e-9


class Finding(Table):
    """Our value for the claim ``id``, as the code of a study finds it.

    ``ci`` is half the width of its 95 % confidence interval, 0 where it has none. ``variants`` are our values for
    several deterministic inputs: the claim is undecided unless all of them agree, and ``ours`` is their median.
    ``ours`` is nothing where nothing was measured; ``note`` is for readers. ``paper`` replaces the number of the claim
    where that depends on what was simulated.
    """

    id: str
    paper: float | None = None
    ours: float | bool | None = None
    ci: float = 0.0
    variants: list[float | bool] = []
    note: str = ""


class Judged(Claim):
    """A claim with what came out of it (:class:`Finding`), and the verdict."""

    ours: float | bool | None = None
    ci: float = 0.0
    variants: list[float | bool] = []
    note: str = ""

    @classmethod
    def of(cls, claim: Claim, finding: Finding | None = None) -> Judged:
        """The claim as a finding decides it; not measured without one, or where our value is no number."""
        found = finding.model_dump(exclude={"id"}) if finding else {}
        if isinstance(found.get("ours"), float) and math.isnan(found["ours"]):
            found.update(ours=None, ci=0.0, variants=[])
        if found.get("paper") is None:
            found.pop("paper", None)
        return cls(**{**{name: getattr(claim, name) for name in Claim.model_fields}, **found})

    @property
    def holds(self) -> bool | None:
        """Whether our value agrees with the paper's; ``None`` where nothing was measured."""
        return None if self.ours is None else self.agrees(self.ours)

    @property
    def undecided(self) -> bool:
        """Whether our confidence interval contains a limit, or variants disagree: the verdict is one of chance."""
        if self.variants:
            return len({self.agrees(value) for value in self.variants}) > 1
        if self.ours is None or self.paper is None or not self.ci:
            return False
        return any(abs(self.ours - limit) < self.ci for limit in self.limits())

    @property
    def verdict(self) -> Verdict:
        """``reproduced``, ``differs`` (with a reason), ``not reproduced``, ``undecided`` or ``not measured``."""
        if self.holds is None:
            return "not measured"
        if self.undecided:
            return "undecided"
        if self.holds:
            return "reproduced"
        return "differs" if self.because and self.expected == "differs" else "not reproduced"

    @property
    def fails(self) -> bool:
        """Whether the command has to fail: the claim should be reproduced and is not, or the other way round."""
        if self.verdict in ("not measured", "undecided") or self.expected in ("undecided", "not run"):
            return False
        return (self.expected == "reproduced") != (self.verdict == "reproduced")


class _ClaimsFile(Table):
    claims: list[Claim]


def load_claims(path: Path) -> list[Claim]:
    """The claims of ``claims.toml``, each with the name of its statement."""
    claims = validate(_ClaimsFile, read_toml(path)).claims
    for i, claim in enumerate(claims):
        if any(claim.id == other.id for other in claims[:i]):
            raise ConfigError(f"claims[{i}].id", f'"{claim.id}"', "an id that no other claim has")
    claims = [claim.model_copy(update={"statement": claim.statement or claim.id}) for claim in claims]
    _check_statements(claims)
    return claims


def _check_statements(claims: Sequence[Claim]) -> None:
    """Every statement has a first reading, and in it one owner; one that is named is that of several claims."""
    first: dict[str, Claim] = {}
    named = Counter(claim.statement for claim in claims)
    for i, claim in enumerate(claims):
        if not claim.reading and named[claim.statement] == 1 and claim.statement != claim.id:
            hint = did_you_mean(claim.statement, [one for one in named if one != claim.statement])
            expected = "a statement that another claim judges, too"
            raise ConfigError(f"claims[{i}].statement", f'"{claim.statement}"', expected, hint or "leave it out")
    for i, claim in enumerate(claims):
        if not claim.reading and claim.by != first.setdefault(claim.statement, claim).by:
            other = first[claim.statement]
            raise ConfigError(f"claims[{i}].by", f'"{claim.by}"', f'"{other.by}", as claim {other.id} of the statement')
    for i, claim in enumerate(claims):
        if claim.statement not in first:
            expected = "a statement with a claim in the first reading"
            hint = did_you_mean(claim.statement, first) or "leave out reading in one of its claims"
            raise ConfigError(f"claims[{i}].statement", f'"{claim.statement}"', expected, hint)


def check_measures(claims: Sequence[Claim], known: Mapping[str, Columns], values: bool = True) -> None:
    """Every measure names an experiment and columns that the study has (and ``values`` that its axes take).

    ``known`` are the columns of each experiment, of the version of the study that is run.
    """
    for i, claim in enumerate(claims):
        path, measure = f"claims[{i}].measure", claim.measure
        if measure is None:
            continue
        if measure.experiment not in known:
            expected = f"an experiment of the study: {', '.join(known)}"
            hint = did_you_mean(measure.experiment, known)
            raise ConfigError(f"{path}.experiment", f'"{measure.experiment}"', expected, hint)
        columns = known[measure.experiment]
        columns.check(measure.column, f"{path}.column", number=True)
        check_where(measure.where, [columns], f"{path}.where", values)
        check_where(measure.per, [columns], f"{path}.per", values)


def judged(declared: Sequence[Claim], findings: Iterable[Finding], results: pd.DataFrame, quick: bool) -> list[Judged]:
    """The declared claims with our values: measured as declared, or as the study's ``claims.py`` found them.

    A claim that the smaller version of a study cannot judge says so in its note.
    """
    ours = {finding.id: finding for finding in findings}
    known = [claim.id for claim in declared]
    for extra in ours:
        if extra not in known:
            raise ConfigError(
                "claims", extra, f"a claim of claims.toml: {', '.join(known)}", did_you_mean(extra, known)
            )
    claims = []
    for claim in declared:
        if quick and not claim.quick:
            claims.append(Judged.of(claim, Finding(id=claim.id, note=_NEEDS_FULL)))
            continue
        if quick and claim.quick_expected:
            claim = claim.model_copy(update={"expected": claim.quick_expected})
        found = Judged.of(claim, ours.get(claim.id) or _finding(claim, results))
        waits = quick and found.verdict == "not measured" and not found.note
        claims.append(found.model_copy(update={"note": _NEEDS_FULL}) if waits else found)
    return claims


def _finding(claim: Claim, results: pd.DataFrame) -> Finding | None:
    """Our value as the claim declares it."""
    if claim.measure is None:
        return None
    value, ci = measured(claim.measure, results)
    return Finding(id=claim.id, ours=value, ci=ci)


def measured(measure: Measure, results: pd.DataFrame) -> tuple[float | None, float]:
    """The value of a measure and half the width of its 95 % confidence interval over seeds (0 without repetition)."""
    value, ci = _statistic(measure, measure.where, results)
    if not measure.per or value is None:
        return value, ci
    base, base_ci = _statistic(measure, {**measure.where, **measure.per}, results)
    if not base:
        return None, 0.0
    ratio = value / base
    return ratio, abs(ratio) * ((ci / value if value else 0.0) ** 2 + (base_ci / base) ** 2) ** 0.5


def _statistic(measure: Measure, where: dict[str, Any], results: pd.DataFrame) -> tuple[float | None, float]:
    part = rows(results, {"experiment": measure.experiment, **where})
    column = part[measure.column].astype(float).dropna()
    if column.empty:
        return None, 0.0
    if measure.statistic in ("first", "last"):
        return float(column.iloc[0 if measure.statistic == "first" else -1]), 0.0
    value = float(getattr(column, measure.statistic)())
    by_seed = column.groupby(part.loc[column.index, "seed"]).mean()
    repeated = measure.statistic == "mean" and len(by_seed) > 1
    return value, half_width_95(by_seed) if repeated else 0.0
