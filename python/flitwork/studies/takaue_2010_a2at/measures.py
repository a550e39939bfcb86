"""The numbers that the paper quotes, from the table of the study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from flitwork.studies.claims import Claim, load_claims
from flitwork.studies.rows import rows as select

ALGORITHM = "workload.algorithm"
SYNC = "workload.sync"
BUFFER = "network.router.buffer_flits"
#: The two ways in which four controllers come closest to the bound.
BEST_WAY, BEST_WAY_16 = "... or buffers of 400", "... or 16 VCs, crossbar inputs 8"


def rows(results: pd.DataFrame, experiment: str | list[str], **where: Any) -> pd.DataFrame:
    """The rows of one experiment, or of several, in which the columns have these values."""
    names = {"algorithm": ALGORITHM, "sync": SYNC, "buffer": BUFFER}
    return select(results, {"experiment": experiment, **{names.get(name, name): v for name, v in where.items()}})


def over_n(results: pd.DataFrame, experiment: str, column: str = "time", **where: Any) -> pd.Series[float]:
    """A column by N; where a point was repeated, the mean."""
    return rows(results, experiment, **where).groupby("N")[column].mean()


def crossing(buffers: Any, asynchronous: Any, local: Any) -> float:
    """The smallest buffer from which async is faster to the end, between two points by a straight line."""
    behind = np.asarray(asynchronous) - np.asarray(local)
    sizes = np.asarray(buffers, dtype=float)
    after = np.nonzero(behind > 0)[0]
    if len(after) == 0:
        return float(sizes[0])
    last = int(after[-1])
    if last == len(sizes) - 1:
        return float("inf")
    step = behind[last] / (behind[last] - behind[last + 1])
    return float(sizes[last] + step * (sizes[last + 1] - sizes[last]))


def by_buffer(results: pd.DataFrame, n: int) -> tuple[pd.Series[float], pd.Series[float]]:
    """Figure 6 at one N: async and local synchronisation by buffer size."""
    both = [rows(results, "fig6", N=n, sync=sync).groupby(BUFFER)["time"].mean() for sync in ("async", "local")]
    return both[0], both[1]


_CLAIMS = {claim.id: claim for claim in load_claims(Path(__file__).with_name("claims.toml"))}
#: Columns of the sensitivity table, by heading: claims, and what else is told, for which the paper has no number.
SENSITIVITY = {
    "figure 3, mesh": _CLAIMS["F3.mesh"],
    "figure 3, torus": _CLAIMS["F3.torus"],
    "figure 4, torus": _CLAIMS["F4.torus"],
    "figure 4, mesh: A2AND / A2AT": Claim(id="F4.mesh A2AND/A2AT"),
    "figure 5, mean": _CLAIMS["F5.mean"],
    "figure 5, mesh: A2AND / A2AT": _CLAIMS["F5.mesh"],
    "figure 5, torus: A2AND / A2AT": _CLAIMS["F5.torus"],
    "figure 6, 200 flits: async / sync": Claim(id="F6 async/local at 200"),
    "figure 6, 400 flits: async / sync": Claim(id="F6 async/local at 400"),
    "figure 7, mesh, NCT = 2": _CLAIMS["F7.mesh"],
    "figure 7, torus, NCT = 2": _CLAIMS["F7.torus"],
    "figure 7, mesh: NCT 1 / 2": _CLAIMS["F7.mesh-faster"],
    "figure 7, torus: NCT 1 / 2": _CLAIMS["F7.torus-faster"],
    "figure 7: NCT 2 / 4": _CLAIMS["F7.nct4"],
    "figure 7, torus, NCT = 2, async": Claim(id="F7 torus, async"),
}


def sensitivity(results: pd.DataFrame) -> pd.DataFrame:
    """One row a reading of the open choices, one column a claim: means over the sizes of that experiment."""
    part = results[results["experiment"] == "sensitivity"]
    readings = list(part["reading"].drop_duplicates())
    values = {reading: _numbers(part[part["reading"] == reading]) for reading in readings}
    return pd.DataFrame.from_dict(values, orient="index")


def _numbers(part: pd.DataFrame) -> dict[str, float]:
    time = {str(case): of.set_index("N")["time"] for case, of in part.groupby("case")}

    def mean(case: str) -> float:
        return float(time[case].mean())

    def ratio(above: str, below: str) -> float:
        return float((time[above] / time[below]).mean())

    return {
        "F3.mesh": mean("fig3 mesh"),
        "F3.torus": mean("fig3 torus"),
        "F4.torus": mean("fig4 torus"),
        "F4.mesh A2AND/A2AT": ratio("fig4 mesh a2and", "fig4 mesh"),
        "F5.mean": (mean("fig5 mesh") + mean("fig5 torus")) / 2,
        "F5.mesh": ratio("fig5 mesh a2and", "fig5 mesh"),
        "F5.torus": ratio("fig5 torus a2and", "fig5 torus"),
        "F6 async/local at 200": ratio("200 async", "nct1 torus"),
        "F6 async/local at 400": ratio("400 async", "400 local"),
        "F7.mesh": mean("nct2 mesh") * 4 / 3,
        "F7.torus": mean("nct2 torus") * 2,
        "F7.mesh-faster": ratio("nct1 mesh", "nct2 mesh"),
        "F7.torus-faster": ratio("nct1 torus", "nct2 torus"),
        "F7.nct4": (ratio("nct2 mesh", "nct4 mesh") + ratio("nct2 torus", "nct4 torus")) / 2,
        "F7 torus, async": mean("nct2 torus async") * 2,
    }
