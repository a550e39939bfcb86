"""The time of each step, of runs with a barrier behind each: figures 4, 6 and 9."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from flitwork.results.result import Result
from flitwork.studies.naruse_2010_two_level_ring.measures import tidy


def step_times(results: pd.DataFrame, points: Path, experiment: str = "steps") -> pd.DataFrame:
    """Relative time of each step: a row for each (KiB, algorithm, seed), a column for each step, 1 to ranks - 1.

    A step takes as long as on the rank on which it takes longest, from its send to the end of its wait; times are over
    the mean of the steps that are multiples of the ranks of a server, as in the paper.
    """
    table = tidy(results, experiment)
    rows = {}
    for run in table.to_dict("records"):
        times = _times(Result.load(points / f"{run['plan_hash']}.parquet").operations)
        ranks = int(run["Nlp"])
        multiples = times[list(range(ranks, len(times) + 1, ranks))]
        rows[run["KiB"], run["algorithm"], run["seed"]] = times / float(multiples.mean())
    return pd.DataFrame(rows).T.rename_axis(["KiB", "algorithm", "seed"]) if rows else pd.DataFrame()


def _times(operations: pd.DataFrame) -> pd.Series[float]:
    # Behind the first wait of a step comes the barrier.
    began = operations[operations["kind"] == "send"].groupby(["step", "rank"])["passed_cycle"].first()
    ended = operations[operations["kind"] == "wait"].groupby(["step", "rank"])["ended_cycle"].first()
    times: pd.Series[float] = (ended - began).astype(float).groupby("step").max()
    # The paper's step 0 keeps a rank's own block, and sends nothing.
    times.index = times.index + 1
    return times
