"""The table of the study by the names of the paper: times and how much longer they are under imbalance."""

from __future__ import annotations

from typing import Any, Literal

import pandas as pd

#: What bruck and butterfly send in a round: as many blocks as an all-gather doubles, or half of all. The first one
#: names the verdicts.
Blocks = Literal["doubling", "a2a"]
#: The paper's names.
NAMES = {
    "pairwise_xor": "pwx",
    "pairwise_shift": "ring",
    "simple_spread": "ssprd",
    "bruck": "bruck",
    "butterfly": "btfly",
}
#: How the router is read: its stages and the classes of the dateline. The first one names the verdicts.
Router = Literal["pipelined", "at_front"]
#: How the names of experiments begin under a reading of the router.
PREFIXES: dict[Router, str] = {"pipelined": "pipelined_", "at_front": ""}
#: What tells networks and messages apart.
CASE = ["dims", "nodes", "KiB"]
#: The experiments of the paper's grid; the others ask what the paper leaves open.
GRID = ("lock_step", "spread", "rounds", "rounds_p2")


def tidy(results: pd.DataFrame, blocks: Blocks | None = None, router: Router = "pipelined") -> pd.DataFrame:
    """A row for each point of the grid: ``algorithm`` by the paper's name, ``paced``, ``percent``, ``ms``, ``longer``.

    With ``blocks`` one reading of bruck and butterfly, without it neither; ``router`` is the reading of the router.
    """
    results = results[results["experiment"].map(lambda name: _of_grid(name, router))]
    reading = results.get("workload.blocks", pd.Series(index=results.index, dtype=object))
    chosen = reading.isna() if blocks is None else reading.isna() | (reading == blocks)
    table = results[chosen & results["completion_cycles"].notna()]
    columns: dict[str, Any] = {
        "algorithm": table["workload.algorithm"].map(NAMES),
        "paced": table["network.nic.pacing.kind"] == "mod",
        "percent": table["percent"].fillna(0).astype(int),
        "ms": table["completion_cycles"] * 4e-6,
        "longer": table["longer"].fillna(0.0),
    }
    return table[CASE].astype(int).assign(**columns, seed=table["seed"])


def _of_grid(experiment: str, router: Router) -> bool:
    return experiment.removesuffix("_late").removesuffix("_draws") in {PREFIXES[router] + name for name in GRID}


def gains_by(results: pd.DataFrame, experiment: str, row: str) -> pd.DataFrame:
    """The speed-up by pacing in experiments whose names begin with ``experiment``.

    A row a value of the column ``row``, in the order of the study; a column a network and algorithm.
    """
    chosen = results["experiment"].str.startswith(experiment) & results["completion_cycles"].notna()
    table = results[chosen & results[row].notna()]
    blocks = table.get("workload.blocks", pd.Series(index=table.index, dtype=object))
    name = table["workload.algorithm"].map(NAMES) + blocks.map({"a2a": " P/2", "doubling": " 2^k"}).fillna("")
    keyed = table.assign(algorithm=name, paced=table["network.nic.pacing.kind"] == "mod")
    index = [row, "dims", "nodes", "algorithm"]
    times = keyed.pivot_table(index=index, columns="paced", values="completion_cycles")
    gain = (times[False] / times[True]).unstack(index[1:])
    return gain.loc[table[row].drop_duplicates()].sort_index(axis=1)


def complete(table: pd.DataFrame) -> pd.DataFrame:
    """The cases in which all algorithms were run: one reading of bruck and butterfly lacks the largest networks."""
    rounds = table["algorithm"].isin(("bruck", "btfly"))
    return table[rounds.groupby([table[name] for name in [*CASE, "percent"]]).transform("any")]


def means(table: pd.DataFrame) -> pd.DataFrame:
    """``ms`` and ``longer`` as means over seeds."""
    return table.groupby([*CASE, "algorithm", "paced", "percent"], as_index=False)[["ms", "longer"]].mean()


def gains(table: pd.DataFrame) -> pd.DataFrame:
    """The speed-up by pacing, time without over time with: a row for each case, algorithm and imbalance."""
    if table.empty:
        return pd.DataFrame(columns=[*CASE, "algorithm", "percent", "gain"])
    times = means(table).pivot_table(index=[*CASE, "algorithm", "percent"], columns="paced", values="ms").dropna()
    return pd.DataFrame({"gain": times[False] / times[True]}).reset_index()
