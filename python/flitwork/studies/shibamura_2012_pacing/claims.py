"""Our values for the claims of ``claims.toml``: the share of cases in which an ordering of the paper holds."""

from __future__ import annotations

from typing import Any, get_args

import pandas as pd

from flitwork.studies.claims import Claim
from flitwork.studies.shibamura_2012_pacing.measures import CASE, Blocks, complete, gains, means, tidy

_ROUNDS = ("bruck", "btfly")
_STEPS = ("pwx", "ring")
_LARGEST, _SMALLEST = 1024, 128


def claims(results: pd.DataFrame) -> list[Claim]:
    """Every claim; most of those of bruck and butterfly once for each reading. What was not run has no value."""
    found = {**_late(tidy(results)), **_steps(tidy(results)), **_a2at(results)}
    for blocks in get_args(Blocks):
        table = complete(tidy(results, blocks))
        of_reading = {**_paced(table), **_paced_late(table)}
        found.update({f"{name}.{blocks}": value for name, value in of_reading.items()})
    found["E1.grows"] = _grows(means(tidy(results, "doubling")))
    return [Claim(id=name, ours=value) for name, value in found.items() if value is not None]


def _a2at(results: pd.DataFrame) -> dict[str, float | None]:
    """A2AT with the best pause on the largest torus: over the bound of the network and over A2AT's own theory."""
    table = results[(results["experiment"] == "a2at") & results["completion_cycles"].notna()]
    if table.empty:
        return {}
    largest = table[table["N"] == table["N"].max()]
    return {"A2AT.bound": float(largest["ratio_to_bound"].min()), "A2AT.theory": float(largest["theory"].min())}


def _share(holds: Any) -> float | None:
    """The share of what is true; ``None`` where there is nothing."""
    values = list(holds)
    return sum(bool(value) for value in values) / len(values) if values else None


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
    sizes = found[found["percent"] == 0].pivot_table(index=["dims", "nodes", "algorithm"], columns="KiB", values="gain")
    spread = late[(late["algorithm"] == "ssprd") & (late["nodes"] == _LARGEST)]
    return {
        "E2.sizes": _share(row.is_monotonic_increasing for _, row in sizes.iterrows()) if sizes.shape[1] > 1 else None,
        "E3.keep": _share(late[late["algorithm"].isin(_STEPS)]["gain"] > 1),
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
        # Not every number of nodes was run in each number of dimensions.
        "E2.nodes": _share(row.dropna().is_monotonic_increasing for _, row in nodes.iterrows() if row.count() > 1),
    }


def _paced_late(table: pd.DataFrame) -> dict[str, float | None]:
    """Experiments 1 and 3 with bruck and butterfly."""
    found, late = gains(table), means(table[table["percent"] > 0])
    unpaced = late[~late["paced"]]
    last = unpaced[unpaced["percent"] == unpaced["percent"].max()]
    least = last.loc[last.groupby(CASE)["longer"].idxmin()]
    butterfly = unpaced[(unpaced["nodes"] == _LARGEST) & (unpaced["algorithm"] == "btfly")]
    kept = found[(found["algorithm"] == "btfly") & (found["nodes"] == _LARGEST) & (found["dims"] == 2)]
    gain = found.pivot_table(index=[*CASE, "algorithm"], columns="percent", values="gain")
    gain = gain[~gain.index.get_level_values("algorithm").isin(_STEPS)]
    gain = gain[gain[0] > 1] if 0 in gain else gain.iloc[:0]
    return {
        "E1.spread-least": _share(least["algorithm"] == "ssprd"),
        "E1.butterfly": _share(100 * butterfly["longer"] < butterfly["percent"]),
        "E3.lose": _lost(gain.dropna(subset=[0, 2])) if {0, 2} <= {*gain.columns} else None,
        "E3.butterfly": _share(kept[kept["percent"] > 0]["gain"] > 1),
    }


def _lost(gain: pd.DataFrame) -> float | None:
    """The share of cases that lose half of their gain or more at 2 % of imbalance; a column is a percentage of it."""
    return _share(gain[2] - 1 <= (gain[0] - 1) / 2)
