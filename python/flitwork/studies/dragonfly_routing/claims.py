"""What each routing accepts, and what it costs under even traffic."""

from __future__ import annotations

import pandas as pd

from flitwork.studies.claims import Finding
from flitwork.studies.dragonfly_routing.measures import curves

#: Claims of the most that a routing accepts under the worst traffic.
_MOST = {
    "worst.valiant": ("dragonfly_worst", "Valiant"), "worst.ugal": ("dragonfly_worst", "UGAL"),
    "worst.par": ("dragonfly_worst", "PAR"), "worst.global": ("dragonfly_worst", "UGAL-G"),
    "hyperx.valiant": ("hyperx_worst", "Valiant"), "hyperx.ugal": ("hyperx_worst", "UGAL"),
}  # fmt: skip
#: What one routing accepts at most, over another: experiment, and both.
_OVER = {
    "worst.local": ("dragonfly_worst", "UGAL", "UGAL-G"),
    "uniform.ugal": ("dragonfly_uniform", "UGAL", "minimal"), "uniform.par": ("dragonfly_uniform", "PAR", "minimal"),
    "uniform.global": ("dragonfly_uniform", "UGAL-G", "minimal"),
    "hyperx.uniform": ("hyperx_uniform", "UGAL", "minimal"),
}  # fmt: skip
#: Claims of minimal routing under the worst traffic, and of latency at this load.
_MINIMAL = {"worst.minimal": "dragonfly_worst", "hyperx.minimal": "hyperx_worst"}
_LATENCY = {"uniform.latency": "dragonfly_uniform", "hyperx.latency": "hyperx_uniform"}
_HALF = 0.5


def claims(results: pd.DataFrame) -> list[Finding]:
    """Every claim of ``claims.toml``; what was not run has no value."""
    if not len(results):
        return []
    table = curves(results)
    most = table.groupby(["experiment", "routing"])["accepted"].max()
    found = {name: most.get(case) for name, case in _MOST.items()}
    for name, (experiment, routing, other) in _OVER.items():
        found[name] = _over(most.get((experiment, routing)), most.get((experiment, other)))
    for name, experiment in _MINIMAL.items():
        runs = table[(table["experiment"] == experiment) & (table["routing"] == "minimal")]
        found[name] = (runs["accepted"] * runs["group"]).max() if len(runs) else None
    half = table[table["offered"] == _HALF]
    latency = half.set_index(["experiment", "routing"])["latency"] if len(half) else pd.Series(dtype=float)
    for name, experiment in _LATENCY.items():
        found[name] = _over(latency.get((experiment, "UGAL")), latency.get((experiment, "minimal")))
    return [Finding(id=name, ours=float(value)) for name, value in found.items() if value is not None]


def _over(value: float | None, other: float | None) -> float | None:
    return None if value is None or other is None else value / other
