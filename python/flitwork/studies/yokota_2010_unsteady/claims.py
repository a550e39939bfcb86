"""Our values for the claims of ``claims.toml``, each with its 95 % interval over seeds where it is a number."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd

from flitwork.base.statistics import half_width_95
from flitwork.studies.claims import Finding
from flitwork.studies.yokota_2010_unsteady import calibrator, jam, measures, prediction, windows
from flitwork.studies.yokota_2010_unsteady.measures import (
    ADAPTIVE,
    ALGORITHMS,
    LINEAR_FROM,
    PATTERNS,
    by_seed,
    over_seeds,
    rows,
)
from flitwork.studies.yokota_2010_unsteady.prediction import claim
from flitwork.studies.yokota_2010_unsteady.readings import FIRST_IN_CALIBRATOR, Reading, of_readings
from flitwork.studies.yokota_2010_unsteady.windows import Trials

#: Lengths of the bursts whose shapes are compared (figure 5).
_LENGTHS = (10, 50, 100)
#: Patterns in which the algorithms deliver alike over time, and in which they do not (figure 7).
_ALIKE = ("transpose", "random_pairs")
_DIFFERENT = ("shuffle", "bit_rotation")


def claims(results: pd.DataFrame) -> list[Finding]:
    """Every claim that the table of results can judge, for each reading."""
    return [c for reading, part in of_readings(results) for c in _named(_claims(part), reading)]


def claims_of_runs(results: pd.DataFrame, points: Path) -> list[Finding]:
    """The claims about packets received over time: they need the stored runs."""
    return [c for reading, part in of_readings(results) for c in _named(_claims_of_runs(part, points), reading)]


def _named(found: list[Finding], reading: Reading) -> list[Finding]:
    return [one.model_copy(update={"id": one.id + reading.suffix}) for one in found]


def _claims(results: pd.DataFrame) -> list[Finding]:
    return [
        *_bounds(results),
        *_steady(results),
        *_lengths(results),
        *_patterns(results),
        *_limited(results),
        *_ends(results),
        *prediction.claims(results),
        *_sizes(results),
        *calibrator.claims(results, FIRST_IN_CALIBRATOR),
        *jam.claims(results),
    ]


def _claims_of_runs(results: pd.DataFrame, points: Path) -> list[Finding]:
    by_length = {
        (algorithm, length): windows.received(rows(results, "windows", algorithm=algorithm, l=length), points)
        for algorithm in ALGORITHMS
        for length in _LENGTHS
    }
    by_pattern = [
        windows.received(rows(results, "bursts", algorithm=algorithm, pattern=pattern), points)
        for pattern in (*_ALIKE, *_DIFFERENT)
        for algorithm in ALGORITHMS
    ]
    return [
        claim("F5.scaling", windows.over_trials(_worst_shape, *by_length.values())),
        *(_second_peak(by_length, algorithm) for algorithm in ("dp", "df")),
        claim("F7.patterns", windows.over_trials(_different_over_alike, *by_pattern)),
        prediction.quarter(results, points),
    ]


def _worst_shape(*series: Trials) -> float:
    """The largest distance of the shapes at l = 50 and 100 from that at l = 10; three series for each algorithm."""
    shapes = [windows.shape(one) for one in series]
    step = len(_LENGTHS)
    return max(
        windows.distance(shapes[i], longer) for i in range(0, len(shapes), step) for longer in shapes[i + 1 : i + step]
    )


def _second_peak(series: dict[tuple[str, int], Trials], algorithm: str) -> Finding:
    """In both of the longer bursts."""
    found = {n: windows.has_second_peak(series[algorithm, n]) for n in _LENGTHS[1:]}
    note = "; ".join(f"l = {n}: {text}" for n, (_, text) in found.items())
    return Finding(id=f"F5.dip-{algorithm}", ours=all(there for there, _ in found.values()), note=note)


def _different_over_alike(*series: Trials) -> float:
    """The lesser difference between algorithms where they should differ, over the greater where they should not."""
    step = len(ALGORITHMS)
    spread = [windows.largest_distance(*series[i : i + step]) for i in range(0, len(series), step)]
    return min(spread[len(_ALIKE) :]) / max(spread[: len(_ALIKE)])


def _bounds(results: pd.DataFrame) -> list[Finding]:
    """The critical load of dimension order against the load at which its busiest channel is full."""
    rc, n = measures.steady(results, measures.critical), int(rows(results, "steady")["N"].iloc[0])
    found = []
    for pattern, short in PATTERNS.items():
        if pattern == "uniform":
            continue
        ours, ci = over_seeds(lambda mean, at=(pattern, "do"): mean[at], rc)
        limit = float(np.mean([measures.bound(n, pattern, int(seed)) for seed in rc.columns]))
        found.append(Finding(id=f"F2.bound-{short}", paper=limit, ours=ours, ci=0.0 if math.isnan(ci) else ci))
    return found


def _steady(results: pd.DataFrame) -> list[Finding]:
    kept, npm = measures.steady(results, measures.kept), measures.steady(results, measures.npm)
    rc = measures.steady(results, measures.critical)
    fallen = over_seeds(lambda mean: mean.xs("df", level="algorithm").min(), kept)
    return [
        claim("F2.collapse", fallen),
        claim("F3.tendency", over_seeds(_same_tendency, rc, npm)),
    ]


def _same_tendency(rc: pd.Series[float], npm: pd.Series[float]) -> float:
    """Patterns in which a higher critical load goes with a higher NPM over the four algorithms, as a share of all."""
    signs = [
        np.corrcoef(rc[pattern][list(ALGORITHMS)], npm[pattern][list(ALGORITHMS)])[0, 1] > 0
        for pattern in rc.index.unique("pattern")
    ]
    return float(np.mean(signs))


def _lengths(results: pd.DataFrame) -> list[Finding]:
    beside = by_seed(rows(results, "lengths"), "completion_cycles", "l")
    alone = by_seed(rows(results, "alone"), "completion_cycles", "l")
    found = [claim("F4.linear", over_seeds(lambda mean: float(_exponents(mean).median()), beside))]
    for pattern in ("shuffle", "bit_rotation"):
        ratio = over_seeds(lambda mean, p=pattern: measures.slope_over_adaptive(mean[p]), beside)
        found.append(claim(f"F4.slope-{PATTERNS[pattern]}", ratio))
    found.append(claim("F4.background", over_seeds(_background_varies, beside, alone)))
    return found


def _exponents(durations: pd.Series[float]) -> pd.Series[float]:
    """The exponent with which durations grow from l = 10 to the longest burst, for each pattern and algorithm."""
    last = durations.index.get_level_values("l").max()
    growth = durations.xs(last, level="l") / durations.xs(LINEAR_FROM, level="l")
    return pd.Series(np.log(growth.to_numpy()) / np.log(last / LINEAR_FROM), growth.index)


def _background_varies(beside: pd.Series[float], alone: pd.Series[float]) -> float:
    """How much the factor by which a background slows bursts varies with l >= 10: largest over smallest (median)."""
    factor = (beside / alone).dropna()
    factor = factor[factor.index.get_level_values("l") >= LINEAR_FROM]
    groups = factor.groupby(level=["pattern", "algorithm"])
    return float((groups.max() / groups.min()).median())


def _patterns(results: pd.DataFrame) -> list[Finding]:
    duration = by_seed(rows(results, "bursts"), "completion_cycles")
    found = []
    for pattern in measures.DOUBLED:
        ratio = over_seeds(lambda mean, p=pattern: measures.order_over_adaptive(mean[p]), duration)
        found.append(claim(f"F8.{PATTERNS[pattern]}", ratio))
    for pattern in measures.LITTLE:
        spread = over_seeds(lambda mean, p=pattern: measures.spread_over_doubled(mean, p), duration)
        found.append(claim(f"F8.little-{PATTERNS[pattern]}", spread))
    return found


def _limited(results: pd.DataFrame) -> list[Finding]:
    limited = by_seed(rows(results, "limited"), "completion_cycles", "share")
    return [claim("F6.no-collapse", over_seeds(lambda mean: _kept_in_bursts(mean, "df"), limited))]


def _kept_in_bursts(durations: pd.Series[float], algorithm: str) -> float:
    """1000/duration at the highest rate over its highest value: the lowest of all patterns."""
    performance = (1000 / durations).xs(algorithm, level="algorithm")
    groups = performance.groupby(level="pattern")
    return float((groups.last() / groups.max()).min())


def _ends(results: pd.DataFrame) -> list[Finding]:
    """When the trials of the longest burst end, by Cross-Line (the footnote of figure 5)."""
    part = rows(results, "windows", algorithm="cl", l=_LENGTHS[-1])
    ends = part["completion_cycles"]
    spread = f"{ends.min():.0f} to {ends.max():.0f} in {len(ends)} trials"
    return [
        claim("F5.end", (float(ends.mean()), half_width_95(ends)), spread),
        claim("F5.scatter", (float(ends.max() / ends.min()), math.nan), spread),
    ]


def _sizes(results: pd.DataFrame) -> list[Finding]:
    duration = by_seed(rows(results, "sizes"), "completion_cycles", "N")
    found = []
    for pattern in ("transpose", "bit_reverse"):
        slopes = _slopes(duration.mean(axis=1).xs(pattern, level="pattern"))
        note = ", ".join(f"{name} {slopes[name]:.0f}" for name in ALGORITHMS) + " cycles for each step of N"
        steepest = over_seeds(lambda mean, p=pattern: _steepest(mean[p]), duration)
        found.append(claim(f"F10.do-{PATTERNS[pattern]}", steepest, note))
    return [*found, claim("F10.adaptive", over_seeds(_adaptive_spreads, duration))]


def _slopes(durations: pd.Series[float]) -> pd.Series[float]:
    """The slope of the least-squares line over N of each algorithm, as the figure draws it [cycles for a step of N]."""
    by_n = durations.unstack("N")
    lines = np.polyfit(by_n.columns.to_numpy(float), by_n.to_numpy(float).T, 1)
    return pd.Series(lines[0], by_n.index)


def _steepest(durations: pd.Series[float]) -> float:
    """The slope of dimension order over the largest of the others."""
    slopes = _slopes(durations)
    return float(slopes["do"] / slopes[list(ADAPTIVE)].max())


def _adaptive_spreads(durations: pd.Series[float]) -> float:
    """Longest over shortest duration of the adaptive algorithms in the largest network: brev's over trns'."""
    by_n = durations.unstack("N")
    largest = by_n[by_n.columns.max()].unstack("algorithm")[list(ADAPTIVE)]
    spread = largest.max(axis=1) / largest.min(axis=1)
    return float(spread["bit_reverse"] / spread["transpose"])
