"""How far our curves are from BookSim's."""

from __future__ import annotations

import math

import pandas as pd

from flitwork.studies.booksim_2_validation.compare import CURVE, comparison, key, ours, saturation
from flitwork.studies.claims import Finding


def claims(results: pd.DataFrame) -> list[Finding]:
    """Every claim of ``claims.toml``, by curve."""
    points = comparison(results)
    alone = results[results["experiment"] == "zero_load"]
    found = [Finding(id="zero-load", ours=float(alone["excess_cycles"].abs().max().round(9)))]
    for values, curve in points[points["judged"]].groupby(CURVE, sort=False):
        name = key(dict(zip(CURVE, values, strict=True)))
        for what in ("latency", "accepted"):
            agrees = bool(curve[f"{what}_agrees"].all())
            found.append(Finding(id=f"{name}.{what}", ours=agrees, note=_worst(curve, what)))
    for row in saturation(points, ours(results)).to_dict("records"):
        found.append(Finding(id=f"{key(row)}.throughput", ours=abs(row["beyond_percent"])))
        if not math.isnan(row["knee_percent"]):
            found.append(Finding(id=f"{key(row)}.knee", ours=abs(row["knee_percent"])))
    return found


def _worst(curve: pd.DataFrame, what: str) -> str:
    worst = curve.iloc[int(curve[f"{what}_percent"].abs().argmax())]
    return f"at most {worst[f'{what}_percent']:+.2f} %, at load {worst['offered_load']:g}"
