"""The explanation of a run in words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from flitwork.explain.collisions import collisions
from flitwork.explain.names import CAUSES

if TYPE_CHECKING:
    from flitwork.explain.explanation import Explanation

#: Causes with a smaller share than this stand in the table only.
_LEAST_SHARE = 0.01
_STEPS = 3


def sentences(found: Explanation) -> list[str]:
    """What an engineer would say of the run, the most important first."""
    first = _path(found) if len(found.path) else _packets(found)
    return [*first, *_bound(found), *_collisions(found), *_steps(found)]


def _path(found: Explanation) -> Iterator[str]:
    total = found.result.completion_cycles
    # A message leads from one rank to another one: both are on the path.
    end = found.path.iloc[-1]
    ranks = len({*found.path["rank"], *found.path["to_rank"]})
    yield (
        f"The run took {total:,} cycles. Its critical path has {len(found.path):,} "
        f"{'stretch' if len(found.path) == 1 else 'stretches'} over "
        f"{ranks:,} {'rank' if ranks == 1 else 'ranks'} and ends at rank {found.places.rank(int(end['to_rank']))}."
    )
    for row in found.causes.to_dict("records"):
        if row["share"] < _LEAST_SHARE:
            continue
        where = f"; most of it, {row['most_at_cycles']:,}, at {row['most_at']}" if row["most_at_cycles"] else ""
        yield f"{row['share']:.0%} ({row['cycles']:,} cycles) it {CAUSES[row['cause']]}{where}."


def _packets(found: Explanation) -> Iterator[str]:
    causes = found.causes
    if not found.result.row["packets"]:
        yield "No rank computed, sent or received anything, and no packet was measured."
        return
    mean = causes["cycles_per_packet"].sum()
    yield f"No ranks ran a program, so there is no critical path. A packet took {mean:,.2f} cycles on the mean."
    for row in causes.to_dict("records"):
        if row["share"] >= _LEAST_SHARE:
            yield f"{row['share']:.0%} ({row['cycles_per_packet']:,.2f} cycles) it {CAUSES[row['cause']]}."
    waiting = found.channels.sort_values("waiting_packets", ascending=False, kind="stable").head(1)
    for row in waiting.to_dict("records"):
        if row["waiting_packets"] > 0:
            name = found.places.name(row["router"], row["port"])
            yield f"Most packets waited for {name}: {row['waiting_packets']:,.2f} at a time, on the mean."
    if found.result.status == "saturated":
        yield "The network is saturated: the longer the run, the longer packets wait at their network interfaces."


def _bound(found: Explanation) -> Iterator[str]:
    result, bound = found.result, found.result.bound
    ratio = result.ratio_to_bound
    if math.isnan(ratio) or not result.completion_cycles:
        return
    if not result.runs_to_completion:
        yield f"It accepted {ratio:.1%} of the load that channels and terminals could accept."
        return
    yield (
        f"No run of this workload on this network can take less than {bound.tightest_cycles:,.6g} cycles "
        f"({bound.tightest.replace('_', ' ')}): this one took {ratio:.2f} times that, so at most {1 - 1 / ratio:.0%} "
        "of its time can be gained."
    )


def _collisions(found: Explanation) -> Iterator[str]:
    meet = collisions(found.result)
    if meet and meet.flits > meet.even_flits:
        yield (
            f"Hashes collide: {found.places.name(meet.router, meet.port)} carried {meet.flits:,} flits, "
            f"{meet.flits / meet.even_flits:.2f} times as many as the busiest channel would if all shortest paths were "
            "used evenly. Another seed collides elsewhere; the routing spray spreads packets, not pairs of terminals."
        )


def _steps(found: Explanation) -> Iterator[str]:
    steps = found.steps
    if len(steps) < 2 or not len(found.path):
        return
    excess, least = found.lock_step_cycles, _LEAST_SHARE * found.result.completion_cycles
    yield (
        f"Lock-step: the messages on the path took {excess:,.0f} cycles longer than the median messages of their steps."
    )
    slowest = steps.sort_values("held_up_cycles", ascending=False, kind="stable").head(_STEPS)
    for row in slowest.to_dict("records"):
        if row["held_up_cycles"] >= max(least, 1):
            yield (
                f"Step {row['step']}: the slowest pair, {found.places.rank(int(row['slowest_from']))} to "
                f"{found.places.rank(int(row['slowest_to']))}, took "
                f"{row['slowest_cycles']:,} cycles, {row['held_up_cycles']:,.0f} more than the median."
            )
