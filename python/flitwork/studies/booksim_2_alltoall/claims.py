"""How many cycles our completions are from BookSim's."""

from __future__ import annotations

import pandas as pd

from flitwork.studies.booksim_2_alltoall.compare import comparison
from flitwork.studies.claims import Finding


def claims(results: pd.DataFrame) -> list[Finding]:
    """Every claim of ``claims.toml``: the largest difference of a network and a kind of synchronisation."""
    points = comparison(results)
    return [
        Finding(id=f"{network}.{sync}", ours=float(part["difference"].abs().max()), note=_note(part))
        for (network, sync), part in points.groupby(["network", "sync"])
    ]


def _note(part: pd.DataFrame) -> str:
    shares = (100 * part["own_rules_difference"] / part["booksim"]).abs()
    return f"{len(part)} completions; without BookSim's rules up to {shares.max():.1f} % apart"
