"""An index of our own: what the slowest quarter of the terminals gets, over all offered loads."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from flitwork.results.result import Result
from flitwork.studies.yokota_2010_unsteady.measures import BySeed, rows, steady

_COLUMN = "slowest_quarter_share"


def slowest_quarter(results: pd.DataFrame, points: Path) -> BySeed:
    """The mean over the offered loads up to Rc of what the slowest quarter of the terminals delivers, as a share of Rc.

    A burst is over when the slowest terminal has finished; one terminal alone delivers too few packets to be measured
    in a steady run, a quarter of them does not. Terminals that a permutation maps to themselves count, too.
    """
    part = rows(results, "steady").sort_values("share")
    found = pd.Series(np.nan, part.index)
    for _, curve in part.groupby(["pattern", "algorithm", "seed"]):
        delivered = np.array([_delivered(points / f"{key}.parquet") for key in curve["plan_hash"]])
        slowest = np.sort(delivered, axis=1)[:, : max(1, delivered.shape[1] // 4)].mean(axis=1)
        found[curve.index] = slowest * curve["N"].to_numpy(float) / 8
    return steady(part.assign(**{_COLUMN: found}), _mean_over_loads)


# Claims and figures ask for the same.
@lru_cache(maxsize=4096)
def _delivered(path: Path) -> np.ndarray[Any, Any]:
    return Result.load(path).terminals["delivered_flits_per_cycle"].to_numpy(float)


def _mean_over_loads(curve: pd.DataFrame) -> float:
    """From no load to the highest, by trapezoids."""
    load, share = np.insert(curve["share"].to_numpy(float), 0, 0.0), np.insert(curve[_COLUMN].to_numpy(float), 0, 0.0)
    return float(((share[1:] + share[:-1]) / 2 @ np.diff(load)) / load[-1])
