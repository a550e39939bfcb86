"""A claim's numbers as they stand in tables, and scores, for people."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

from flitwork.studies.claims import Claim, Judged, Verdict
from flitwork.studies.statements import VERDICTS, Row, Scores

#: The columns of :func:`score_cells`.
SCORE_HEADERS = ("statements", *VERDICTS, "calibrations", "our checks", "other readings")
_SIGNS = {"equal": "", "at_least": "≥ ", "at_most": "≤ "}


def paper_in_words(claim: Claim) -> str:
    """What the paper says, with our tolerance; empty for a claim that is true or false."""
    if claim.paper is None:
        return ""
    slack = f" ± {claim.tolerance:.0%}" if claim.relative else f" ± {number(claim.tolerance)}"
    shown = f"{_SIGNS[claim.relation]}{number(claim.paper)}{slack if claim.tolerance else ''} {claim.unit}".strip()
    return shown + (" (our limit)" if "ours" in (claim.limit, claim.by) else "")


def ours_in_words(claim: Judged) -> str:
    """What we found, with its interval or what the variants gave; empty where nothing was measured."""
    if claim.ours is None:
        return ""
    ours = number(claim.ours) + (f" ± {number(claim.ci)}" if claim.ci else "")
    return f"{ours} ({variants_in_words(claim.variants)})" if claim.variants else ours


def variants_in_words(variants: list[float | bool]) -> str:
    """What the variants of a run without chance gave: from the lowest to the highest, or how many say yes."""
    if all(isinstance(value, bool) for value in variants):
        return f"{sum(variants)} of {len(variants)} variants"
    return f"{number(min(variants))} to {number(max(variants))} in {len(variants)} variants"


def number(value: float | bool | None) -> str:
    """Whole numbers as they are, others with four significant digits; yes and no."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not math.isfinite(value):
        return "-" if math.isnan(value) else str(value)
    return f"{value:,.0f}" if value == int(value) and abs(value) < 1e15 else f"{value:,.4g}"


def reason_in_words(claim: Judged) -> str:
    """What stands behind its verdict: why ours differs, or a note."""
    if claim.verdict == "differs":
        return f" because {claim.because}"
    return f" ({claim.note})" if claim.note else ""


def verdict_in_words(row: Row) -> str:
    """The verdict of a row, what stands behind it, and that another reading does not count."""
    if row.claim is None:
        return row.verdict
    uncounted = f"; not counted (reading: {row.claim.reading})" if row.claim.reading else ""
    return row.verdict + reason_in_words(row.claim) + uncounted


def statement_in_words(row: Row) -> str:
    """What a row says: its claim, or which claims judge the statement together."""
    if row.claim is not None:
        return row.claim.claim
    return f"judged by {len(row.statement.claims)} claims: {', '.join(one.id for one in row.statement.claims)}"


def whose_in_words(claim: Judged) -> str:
    """Whose statement a claim judges, and in which other reading."""
    return f"{claim.by}, reading: {claim.reading}" if claim.reading else claim.by


def tally(counts: Counter[Verdict], word: Callable[[Verdict, str], str] = lambda _, text: text) -> str:
    """How many have each verdict; ``word`` may colour the words for one."""
    return ", ".join(word(verdict, f"{counts[verdict]} {verdict}") for verdict in VERDICTS if counts[verdict])


def scores_in_words(found: Scores, word: Callable[[Verdict, str], str] = lambda _, text: text) -> str:
    """One line: the statements of the paper, then what is counted apart, then what is not counted."""
    parts = []
    if found.paper:
        good = word("reproduced", f"{found.paper['reproduced']} of {found.paper.total()}")
        rest = tally(Counter({**found.paper, "reproduced": 0}), word)
        parts.append(f"{good} statements of the paper reproduced" + (f", {rest}" if rest else ""))
    if found.calibration:
        parts.append(f"calibrations: {tally(found.calibration, word)}")
    if found.ours:
        parts.append(f"our checks: {tally(found.ours, word)}")
    if found.other:
        parts.append(f"other readings shown, not counted: {found.other}")
    return "; ".join(parts) or "no statements"


def _hold(counts: Counter[Verdict]) -> str:
    """How many of those that were measured are reproduced."""
    measured = counts.total() - counts["not measured"]
    return f"{counts['reproduced']} of {measured}" if measured else "-"


def score_cells(found: Scores) -> list[str]:
    """The scores of one study as a row of a table: statements of the paper by verdict, then what is counted apart."""
    apart = [_hold(found.calibration), _hold(found.ours)]
    of_paper = [found.paper.total(), *(found.paper[verdict] for verdict in VERDICTS)]
    return [*map(str, of_paper), *apart, str(found.other or "-")]
