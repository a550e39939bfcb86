"""One verdict a statement: that of its first reading. Other readings are shown and not counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import get_args

from flitwork.studies.claims import Claim, Judged, Verdict

#: A statement has the first of these verdicts that one of its claims has.
_WORST_FIRST: tuple[Verdict, ...] = ("not reproduced", "differs", "not measured", "undecided", "reproduced")
#: In the order of words and tables.
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


@dataclass(frozen=True)
class Statement:
    """One statement, and the claims that judge it.

    ``claims`` judge it in the first reading, ``others`` in other readings of the paper.
    """

    id: str
    claims: list[Judged] = field(default_factory=list)
    others: list[Judged] = field(default_factory=list)

    @property
    def by(self) -> str:
        """Whose statement it is: as the claims of the first reading say."""
        return self.claims[0].by

    @property
    def verdict(self) -> Verdict:
        """The verdict of the first reading: ``reproduced`` if all its claims are."""
        return _together([claim.verdict for claim in self.claims])

    @property
    def rows(self) -> list[Row]:
        """The statement first, what belongs to it below."""
        below = [Row(self, claim, below=True) for claim in self.others]
        if len(self.claims) == 1:
            return [Row(self, self.claims[0]), *below]
        return [Row(self), *(Row(self, claim, below=True) for claim in self.claims), *below]

    def expected(self, quick: bool = False) -> Verdict:
        """The verdict that this version of flitwork stands for."""
        return _together([_expected(claim, quick) for claim in self.claims])


@dataclass(frozen=True)
class Row:
    """A row of a table of claims: a claim, or a statement that several claims judge together.

    Claims of such a statement, and other readings, stand ``below`` the row of the statement.
    """

    statement: Statement
    claim: Judged | None = None
    below: bool = False

    @property
    def name(self) -> str:
        """The id of the claim, or of the statement."""
        return self.claim.id if self.claim else self.statement.id

    @property
    def verdict(self) -> Verdict:
        """The verdict of the claim, or of the statement."""
        return self.claim.verdict if self.claim else self.statement.verdict


@dataclass(frozen=True)
class Scores:
    """How many statements of the paper, of calibration and of ours have each verdict.

    ``other`` is the number of claims in other readings, which have no part in the counts.
    """

    paper: Counter[Verdict]
    calibration: Counter[Verdict]
    ours: Counter[Verdict]
    other: int


def statements(claims: Sequence[Judged]) -> list[Statement]:
    """The statements that these claims judge, in the order in which the first claim of each stands."""
    found: dict[str, Statement] = {}
    for claim in claims:
        name = claim.statement or claim.id
        one = found.setdefault(name, Statement(name))
        (one.others if claim.reading else one.claims).append(claim)
    return list(found.values())


def rows_of(claims: Sequence[Judged]) -> list[Row]:
    """Claims as rows of a table, by statement."""
    return [row for one in statements(claims) for row in one.rows]


def scores(claims: Sequence[Judged]) -> Scores:
    """The verdicts by statement."""
    return _counted([(one, one.verdict) for one in statements(claims)])


def expected_scores(claims: Sequence[Claim], quick: bool = False) -> Scores:
    """The verdicts by statement that this version of flitwork stands for. Nothing is simulated."""
    return _counted([(one, one.expected(quick)) for one in statements([Judged.of(claim) for claim in claims])])


def _counted(found: Sequence[tuple[Statement, Verdict]]) -> Scores:
    def of(by: str) -> Counter[Verdict]:
        return Counter(verdict for one, verdict in found if one.by == by)

    return Scores(of("paper"), of("calibration"), of("ours"), sum(len(one.others) for one, _ in found))


def _together(verdicts: Sequence[Verdict]) -> Verdict:
    return min(verdicts, key=_WORST_FIRST.index)


def _expected(claim: Claim, quick: bool) -> Verdict:
    if quick and not claim.quick:
        return "not measured"
    expected = (quick and claim.quick_expected) or claim.expected
    return "not measured" if expected == "not run" else expected
