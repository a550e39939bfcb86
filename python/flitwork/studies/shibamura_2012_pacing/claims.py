"""Our values for the claims of ``claims.toml``: the share of cases in which an ordering of the paper holds."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pandas as pd

from flitwork.studies.claims import Finding
from flitwork.studies.shibamura_2012_pacing.measures import CASE, PREFIXES, Blocks, Router, complete, gains, means, tidy

_ROUNDS = ("bruck", "btfly")
_STEPS = ("pwx", "ring")
_LARGEST, _SMALLEST = 1024, 128


def claims(results: pd.DataFrame) -> list[Finding]:
    """Every claim once for each reading of the router and, if they matter to it, of bruck and butterfly.

    The first readings have no suffix. What was not run has no value.
    """
    found: dict[str, float | None] = {}
    for router in get_args(Router):
        of_router = "" if router == get_args(Router)[0] else f".{router}"
        steps = tidy(results, router=router)
        by_blocks = {blocks: tidy(results, blocks, router) for blocks in get_args(Blocks)}
        named = {**_late(steps), **_steps(steps), **_a2at(results, router)}
        found.update({f"{name}{of_router}": value for name, value in named.items()})
        for blocks, part in by_blocks.items():
            of_blocks = "" if blocks == get_args(Blocks)[0] else f".{blocks}"
            table = complete(part)
            if table.empty:
                continue
            named = {**_paced(table), **_paced_late(table), "E1.grows": _grows(means(part))}
            found.update({f"{name}{of_router}{of_blocks}": value for name, value in named.items()})
    return [Finding(id=name, ours=value) for name, value in found.items() if value is not None]


def _a2at(results: pd.DataFrame, router: Router) -> dict[str, float | None]:
    """A2AT with the best pause on the largest torus: over the bound of the network and over A2AT's own theory."""
    table = results[(results["experiment"] == f"{PREFIXES[router]}a2at") & results["completion_cycles"].notna()]
    if table.empty:
        return {}
    largest = table[table["N"] == table["N"].max()]
    return {"A2AT.bound": float(largest["ratio_to_bound"].min()), "A2AT.theory": float(largest["theory"].min())}


def _share(holds: Any) -> float | None:
    """The share of what is true; ``None`` where there is nothing."""
    values = list(holds)
    return sum(bool(value) for value in values) / len(values) if values else None


def _rises(row: pd.Series) -> bool:
    """Whether the least-squares slope of a row over log2 of its labels is above 0."""
    known = row.dropna().astype(float)
    return bool(np.polyfit(np.log2(known.index.to_numpy(float)), known.to_numpy(), 1)[0] > 0)


def _share_that_rises(table: pd.DataFrame) -> float | None:
    """The share of rows with two values or more that rise with the labels of the columns."""
    return _share(_rises(row) for _, row in table.iterrows() if row.count() > 1)


def _grows(table: pd.DataFrame) -> float | None:
    unpaced = table[~table["paced"] & (table["percent"] > 0)]
    groups = [part.sort_values("percent") for _, part in unpaced.groupby([*CASE, "algorithm"])]
    return _share(part["longer"].iloc[-1] > part["longer"].iloc[0] for part in groups if len(part) > 1)


def _late(table: pd.DataFrame) -> dict[str, float | None]:
    """Experiment 1 without bruck and butterfly."""
    late = means(table)
    late = late[~late["paced"] & (late["percent"] > 0)]
    spread = late[(late["algorithm"] == "ssprd") & (late["dims"] == 3) & late["nodes"].isin([256, 512])]
    small = late[(late["nodes"] == _SMALLEST) & late["algorithm"].isin(_STEPS)]
    ranges = small.groupby(["algorithm", "dims", "KiB"])["longer"].agg(lambda values: values.max() - values.min())
    width = ranges.groupby(["algorithm", "dims"]).mean().unstack("dims")
    return {
        "E1.spread-faster": _share(spread.groupby(["nodes"])["longer"].min() < 0),
        "E1.small": _share(width[2] > width[3]) if {2, 3} <= {*width.columns} else None,
    }


def _steps(table: pd.DataFrame) -> dict[str, float | None]:
    """What is said of pairwise exchange, ring and simple spread under pacing."""
    found = gains(table)
    late = found[found["percent"] > 0]
    kept = late[late["algorithm"].isin(_STEPS)]
    sizes = found[found["percent"] == 0].pivot_table(index=["dims", "nodes", "algorithm"], columns="KiB", values="gain")
    spread = late[(late["algorithm"] == "ssprd") & (late["nodes"] == _LARGEST)]
    return {
        "E2.sizes": _share_that_rises(sizes),
        "E3.keep": _share(kept["gain"] > 1),
        "E3.nodes": _share_that_rises(kept.pivot_table(index=["dims", "algorithm"], columns="nodes", values="gain")),
        "E3.slower": _share(spread["gain"] < 1),
    }


def _paced(table: pd.DataFrame) -> dict[str, float | None]:
    """Experiment 2, all ranks together, and what experiment 1 says of all algorithms."""
    together, found = means(table[table["percent"] == 0]), gains(table[table["percent"] == 0])
    best = together.loc[together.groupby([*CASE, "paced"])["ms"].idxmin()]
    small = best[best["nodes"] == _SMALLEST]
    large = best[(best["nodes"] == _LARGEST) & (best["dims"] == 2)]
    nodes = found.groupby(["dims", "algorithm", "nodes"])["gain"].mean().unstack("nodes")
    nodes = nodes[nodes.index.get_level_values("algorithm") != "ssprd"]
    return {
        "E2.faster": _share(found["gain"] > 1),
        "E2.small": _share(small["algorithm"].isin(_ROUNDS)),
        "E2.large": _share(large["algorithm"] == "pwx"),
        "E2.nodes": _share_that_rises(nodes),
    }


def _paced_late(table: pd.DataFrame) -> dict[str, float | None]:
    """Experiments 1 and 3 with bruck and butterfly."""
    found, late = gains(table), means(table[table["percent"] > 0])
    unpaced = late[~late["paced"]]
    cubes = unpaced[unpaced["dims"] == 3]
    last = cubes[cubes["percent"] == cubes["percent"].max()]
    least = last.loc[last.groupby(CASE)["longer"].idxmin()]
    butterfly = cubes[cubes["algorithm"] == "btfly"]
    largest = butterfly[butterfly["nodes"] == _LARGEST]
    kept = found[(found["algorithm"] == "btfly") & (found["nodes"] == _LARGEST) & (found["dims"] == 2)]
    gain = found.pivot_table(index=[*CASE, "algorithm"], columns="percent", values="gain")
    gain = gain[~gain.index.get_level_values("algorithm").isin(_STEPS)]
    gain = gain[gain[0] > 1] if 0 in gain else gain.iloc[:0]
    return {
        "E1.spread-least": _share(least["algorithm"] == "ssprd"),
        "E1.butterfly": _share(100 * largest["longer"] < largest["percent"]),
        "E1.butterfly-rate": _share(_is_constant(part) for _, part in butterfly.groupby(CASE) if len(part) > 1),
        "E3.lose": _lost(gain.dropna(subset=[0, 2])) if {0, 2} <= {*gain.columns} else None,
        "E3.butterfly": _share(kept[kept["percent"] > 0]["gain"] > 1),
    }


def _is_constant(part: pd.DataFrame) -> bool:
    """Whether the growth per cent of imbalance stays within a quarter of its mean over the imbalances."""
    rate = part["longer"] / part["percent"]
    return bool(rate.mean() > 0 and (abs(rate - rate.mean()) <= rate.mean() / 4).all())


def _lost(gain: pd.DataFrame) -> float | None:
    """The share of cases that lose half of their gain or more at 2 % of imbalance; a column is a percentage of it."""
    return _share(gain[2] - 1 <= (gain[0] - 1) / 2)
