"""Bandwidths of the study, by what was varied."""

from __future__ import annotations

from typing import Any

import pandas as pd

RING, TWO_LEVEL, AGGREGATION = "pairwise_shift", "two_level_ring", "aggregation"
NAMES = {RING: "Ring", TWO_LEVEL: "2-Level Ring", AGGREGATION: "aggregation"}
#: Bandwidth of a channel [MB/s].
LINK = 2000.0


def tidy(results: pd.DataFrame, experiment: str) -> pd.DataFrame:
    """The runs of an experiment that completed: what was varied, ``algorithm``, ``seed`` and ``mb_per_s``."""
    table = results[(results["experiment"] == experiment) & results["completion_cycles"].notna()]
    return table.rename(columns={"workload.algorithm": "algorithm"}).astype({"servers": int, "Nlp": int, "KiB": int})


def bandwidth(results: pd.DataFrame, experiment: str) -> pd.DataFrame:
    """Mean bandwidth over the seeds [MB/s]: a row for each (servers, Nlp, KiB), a column for each algorithm."""
    table = tidy(results, experiment)
    if table.empty:
        return pd.DataFrame()
    found = table.pivot_table("mb_per_s", ["servers", "Nlp", "KiB"], "algorithm", "mean")
    return found.reindex(columns=[name for name in NAMES if name in found])


def of_seeds(results: pd.DataFrame, experiment: str, **where: Any) -> pd.DataFrame:
    """The bandwidths of some runs: a row for each seed, a column for each algorithm."""
    table = tidy(results, experiment)
    for name, value in where.items():
        table = table[table[name] == value]
    return table.pivot_table("mb_per_s", "seed", "algorithm", "mean")
