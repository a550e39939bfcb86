"""How far our curves are from BookSim's."""

from __future__ import annotations

import pandas as pd

from flitwork.studies.booksim_2_validation.compare import CURVE, comparison, saturation
from flitwork.studies.claims import Claim


def claims(results: pd.DataFrame) -> list[Claim]:
    """Every claim of ``claims.toml``, by curve."""
    points = comparison(results)
    alone = results[results["experiment"] == "zero_load"]
    found = [Claim(id="zero-load", ours=float(alone["excess_cycles"].abs().max().round(9)))]
    for (topology, flits), curve in points[points["judged"]].groupby(CURVE):
        name = f"{topology}-{flits}"
        found.append(
            Claim(id=f"{name}.latency", ours=bool(curve["latency_agrees"].all()), note=_worst(curve, "latency"))
        )
        found.append(
            Claim(id=f"{name}.accepted", ours=bool(curve["accepted_agrees"].all()), note=_worst(curve, "accepted"))
        )
    for row in saturation(points).to_dict("records"):
        name = f"{row['topology']}-{row['packet_flits']}"
        found.append(Claim(id=f"{name}.throughput", ours=abs(row["throughput_percent"])))
        found.append(Claim(id=f"{name}.knee", ours=abs(row["knee_percent"])))
    return found


def _worst(curve: pd.DataFrame, what: str) -> str:
    worst = curve.iloc[int(curve[f"{what}_percent"].abs().argmax())]
    return f"at most {worst[f'{what}_percent']:+.2f} %, at load {worst['offered_load']:g}"
