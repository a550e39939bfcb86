"""Our completions beside BookSim's, point by point."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pandas as pd

POINT = ["network", "k", "algorithm", "sync"]
_OURS = {
    "net": "network",
    "workload.algorithm": "algorithm",
    "workload.sync": "sync",
}


@cache
def booksim() -> pd.DataFrame:
    """BookSim's completion cycles; ``booksim.csv`` says with which settings."""
    return pd.read_csv(Path(__file__).with_name("booksim.csv"), comment="#")


def comparison(results: pd.DataFrame) -> pd.DataFrame:
    """One row a point that was run.

    Completion cycles of BookSim (``booksim``), ours with its two rules (``ours``) and without (``own_rules``), and how
    many cycles ours are apart from BookSim's (``difference``, ``own_rules_difference``).
    """
    runs = results.rename(columns=_OURS).astype({"k": int})
    theirs = booksim().rename(columns={"cycles": "booksim"})
    for column, of in (("ours", runs["experiment"] != "own"), ("own_rules", runs["experiment"] == "own")):
        cycles = runs.loc[of, [*POINT, "completion_cycles"]].rename(columns={"completion_cycles": column})
        theirs = theirs.merge(cycles, on=POINT, how="inner", validate="one_to_one")
    return theirs.assign(
        difference=theirs["ours"] - theirs["booksim"], own_rules_difference=theirs["own_rules"] - theirs["booksim"]
    )
