"""Bandwidths of the study, by what was varied, and what figures and claims say of them alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from flitwork.base.statistics import half_width_95
from flitwork.experiment import expand, load_study
from flitwork.studies.claims import Finding

RING, TWO_LEVEL, AGGREGATION = "pairwise_shift", "two_level_ring", "aggregation"
NAMES = {RING: "Ring", TWO_LEVEL: "2-Level Ring", AGGREGATION: "aggregation"}
#: How the paper was read, by the end of the names of experiments: the first reading, then the alternatives.
READINGS = {
    "": "bursts, split overhead",
    "_single": "single packets, overhead for each message",
    "_byte": "single packets, overhead for each byte",
}
#: Bandwidth of a channel [MB/s].
LINK = 2000.0


def tidy(results: pd.DataFrame, experiment: str) -> pd.DataFrame:
    """The runs of an experiment that completed: what was varied, ``algorithm``, ``seed`` and ``mb_per_s``."""
    table = results[(results["experiment"] == experiment) & results["completion_cycles"].notna()]
    return table.rename(columns={"workload.algorithm": "algorithm"}).astype({"servers": int, "Nlp": int, "KiB": int})


def in_claims(reading: str) -> str:
    """The end of the ids of claims under a reading."""
    return reading.replace("_", ".")


def specification(experiment: str) -> dict[str, Any]:
    """The specification of the first point of an experiment."""
    study = load_study(Path(__file__).with_name("study.toml"))
    return next(dict(point.spec) for point in expand(study) if point.experiment == experiment)


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


def over_seeds(name: str, values: pd.Series[float]) -> Finding:
    """A claim about the mean over the seeds."""
    return Finding(id=name, ours=float(values.mean()), ci=half_width_95(values.to_numpy()) if len(values) > 1 else 0.0)


def setting(table: pd.DataFrame) -> str:
    """How many servers of how many ranks, and the longest messages, of the runs of a figure."""
    servers = f"{table['servers'].max()} servers of {ranks_in_words(table['Nlp'].max())}"
    return f"{servers}, messages of {size_in_words(table['KiB'].max())}"


def ranks_in_words(count: int) -> str:
    """``1 rank``, ``8 ranks``."""
    return f"{count} rank{'' if count == 1 else 's'}"


def size_in_words(kib: int) -> str:
    """In MiB where that is a whole number of them."""
    return f"{kib // 1024} MiB" if kib % 1024 == 0 else f"{kib} KiB"
