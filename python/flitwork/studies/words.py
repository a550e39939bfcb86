"""A claim's numbers as they stand in tables, for people."""

from __future__ import annotations

import math

from flitwork.studies.claims import Claim

_SIGNS = {"equal": "", "at_least": "≥ ", "at_most": "≤ "}


def paper_in_words(claim: Claim) -> str:
    """What the paper says, with our tolerance; empty for a claim that is true or false."""
    if claim.paper is None:
        return ""
    slack = f" ± {claim.tolerance:.0%}" if claim.relative else f" ± {number(claim.tolerance)}"
    shown = f"{_SIGNS[claim.relation]}{number(claim.paper)}{slack if claim.tolerance else ''} {claim.unit}".strip()
    return shown + (" (our limit)" if "ours" in (claim.limit, claim.by) else "")


def ours_in_words(claim: Claim) -> str:
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


def reason_in_words(claim: Claim) -> str:
    """What stands behind its verdict: why ours differs, or a note."""
    if claim.verdict == "differs":
        return f" because {claim.because}"
    return f" ({claim.note})" if claim.note else ""
