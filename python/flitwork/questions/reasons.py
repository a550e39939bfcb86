"""Why one algorithm is faster than the next: sentences from what was simulated, for :mod:`flitwork.pick`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from flitwork.base.libraries import pd
from flitwork.explain import Explanation, explain
from flitwork.explain.names import CAUSES
from flitwork.results.result import Result

#: A run is simulated again with records only if its estimated work is less [flit-hops]: some seconds.
EXPLAINED_FLIT_HOPS = 5e6
#: What differs by less counts as equal.
_LEAST = 0.02
#: Flit-hops and steps are given as a reason where the slower one has more by so much.
_MORE = 1.05
#: The cause that says nothing, and the share of a critical path that it may have.
_UNKNOWN = "other"
_MOST_UNKNOWN = 0.1


def reason(table: pd.DataFrame, bound_cycles: float, results: Mapping[str, Result], works: Mapping[str, float]) -> str:
    """Two sentences: why the best is fast, and why the next one is slower.

    ``results`` and ``works`` (the estimated work of those that may be explained) go by candidate.
    """
    rows = table.to_dict("records")
    best = rows[0]
    said = [_best(best, bound_cycles)]
    equal = [str(row["candidate"]) for row in rows[1:] if row["slower"] < _LEAST]
    if equal:
        said.append(f"As fast, within {_LEAST:.0%}: {', '.join(equal)}.")
    slower = next((row for row in rows if row["slower"] >= _LEAST), None)
    if slower is not None:
        why = _why(best, slower, results, works)
        takes = f"{slower['candidate']} takes {1 + slower['slower']:.3g} times as long"
        said.append(f"{takes}: {why}." if why else f"{takes}.")
    return " ".join(said)


def _best(row: Mapping[Any, Any], bound_cycles: float) -> str:
    took = f"{row['candidate']}: {_cycles(row['completion_cycles'])}"
    if math.isnan(bound_cycles) or not bound_cycles:
        return f"{took}."
    return f"{took}, {row['ratio_to_bound']:.4g} times the bound of any algorithm ({_cycles(bound_cycles)})."


def _cycles(count: float) -> str:
    return f"{count:,.0f} cycle{'' if round(count) == 1 else 's'}"


def _why(
    best: Mapping[Any, Any], slower: Mapping[Any, Any], results: Mapping[str, Result], works: Mapping[str, float]
) -> str:
    """What the slower one loses its time with; empty where nothing that is known says so."""
    if slower["own_bound_cycles"] > best["completion_cycles"]:
        limit = results[slower["candidate"]].bound.tightest.replace("_", " ")
        return f"its messages alone need {_cycles(slower['own_bound_cycles'])} ({limit}), more than the best took"
    pair = (best["candidate"], slower["candidate"])
    if all(works.get(name, math.inf) <= EXPLAINED_FLIT_HOPS for name in pair):
        said = _explained(*(explain(results[name]) for name in pair))
        if said:
            return said
    for name, what in (("flit_hops", "flit-hops"), ("steps", "steps")):
        if slower[name] > _MORE * best[name]:
            return f"it has {slower[name] / best[name]:.3g} times as many {what}"
    return ""


def _explained(best: Explanation, slower: Explanation) -> str:
    """The cause of which the slower one has the most beyond the best: on the critical path, else of a mean packet.

    The path says too little where most of it has no record, as with network interfaces that interleave messages.
    """
    paths = [_by_cause(one.causes, "cycles") for one in (best, slower)]
    total = slower.result.completion_cycles
    if all(path and path.get(_UNKNOWN, 0.0) <= _MOST_UNKNOWN * sum(path.values()) for path in paths):
        cause, cycles, more = _most_more(*paths)
        if more > 0:
            return (
                f"for {cycles / total:.0%} of its critical path it {CAUSES[cause]}, {_cycles(more)} more than the best"
            )
    cause, cycles, more = _most_more(*(_by_cause(one.causes_of_packets, "cycles_per_packet") for one in (best, slower)))
    if more > 0:
        return (
            f"on the mean each of its packets {CAUSES[cause]} for {cycles:.3g} cycles, {more:.3g} more than the best's"
        )
    return ""


def _by_cause(causes: pd.DataFrame, column: str) -> dict[str, float]:
    if column not in causes:
        return {}
    return {str(cause): float(cycles) for cause, cycles in zip(causes["cause"], causes[column], strict=True)}


def _most_more(best: Mapping[str, float], slower: Mapping[str, float]) -> tuple[str, float, float]:
    """The cause that has grown most, its cycles, and by how many it has grown."""
    more = {cause: cycles - best.get(cause, 0.0) for cause, cycles in slower.items() if cause != _UNKNOWN}
    cause = max(more, key=lambda name: more[name], default=_UNKNOWN)
    return cause, slower.get(cause, 0.0), more.get(cause, 0.0)
