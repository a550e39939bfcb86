"""Tries to deadlock every network that the deadlock check accepts.

Random networks with small buffers, long packets and more traffic than they carry. A network that the check accepts must deliver
everything. Of the refused ones the test prints how many deadlock: the check may refuse a network that happens to survive.
"""

import itertools
import json
import random
import re
from collections import Counter
from typing import Any

import flitwork as fw
import pytest
from flitwork import _core

Spec = dict[str, Any]

TIES = ("plus", "parity", "random")
REFUSED = "no cycle of channel dependencies"


def kinds() -> list[str]:
    return [row["name"] for row in json.loads(_core.components())["routings"]]


def grid(draw: random.Random) -> Spec:
    dims = draw.choice((1, 1, 2, 2, 2, 3))
    longest = {1: 13, 2: 8, 3: 4}[dims]
    size = [draw.randint(1 if dims > 1 else 3, longest) for _ in range(dims)]
    # Rings with a rule for ties are where deadlocks hide.
    wrap = [draw.random() < 0.75 for _ in range(dims)]
    return {"kind": "grid", "size": size, "wrap": wrap, "ring2": draw.choice(("single", "double"))}


def topology(draw: random.Random, kind: str) -> Spec:
    """A network that a routing is for."""
    if kind in {"d_mod_k", "s_mod_k", "random_up", "adaptive_up"}:
        levels = draw.randint(2, 3)
        children = [draw.randint(2, 3) for _ in range(levels)]
        return {"kind": "xgft", "children": children, "parents": [1, *(draw.randint(1, 3) for _ in children[1:])]}
    if kind == "dragonfly_minimal" or (kind in {"shortest_path", "hop_classes"} and draw.random() < 0.5):
        size = {"routers_per_group": draw.randint(1, 4), "global_channels_per_router": draw.randint(1, 2)}
        return {"kind": "dragonfly", **size, "terminals_per_router": draw.randint(1, 2)}
    return grid(draw)


def router(draw: random.Random, kind: str) -> tuple[Spec, int]:
    """A router with small buffers, and the length of packets."""
    flits = draw.choice((1, 2, 3, 5, 8, 16))
    fields: Spec = {"buffer_flits": draw.randint(1, 4)}
    switching = draw.choice(("virtual_cut_through", "wormhole", "wormhole", "wormhole"))
    fields["switching"] = switching
    if switching == "virtual_cut_through":
        fields["buffer_flits"] = flits + draw.randint(0, 2)
    else:
        fields["wait_for_tail_credit"] = draw.random() < 0.4
        fields["hold_switch_for_packet"] = draw.random() < 0.2
    for field, share in (("speculative", 0.2), ("vc_busy_when_full", 0.2)):
        fields[field] = draw.random() < share
    if draw.random() < 0.2:
        fields["shared_buffer_flits"] = draw.randint(1, 6)
    if kind in {"valiant", "romm", "o1turn", "dimension_order"} and draw.random() < 0.3:
        fields["compat"] = {"shared_middle_vc": True}
    if kind == "min_adapt" and draw.random() < 0.3:
        fields["compat"] = {"productive": "first"}
    fields["vc_alloc_delay_cycles"] = draw.randint(0, 1)
    fields["routing_delay_cycles"] = draw.randint(0, 2)
    fields["pipeline"] = draw.choice(("at_front", "pipelined"))
    return fields, flits


def routing(draw: random.Random, kind: str, dims: int) -> Spec:
    fields: Spec = {"kind": kind}
    parameters = next(row for row in json.loads(_core.components())["routings"] if row["name"] == kind)["parameters"]
    known = parameters.split(", ")
    if "tie" in known:
        fields["tie"] = draw.choice(TIES)
    if "order" in known and dims > 1 and draw.random() < 0.5:
        fields["order"] = draw.sample(range(dims), dims)
    if "selection" in known:
        fields["selection"] = draw.choice(("most_credits", "random", "round_robin"))
    if "misroutes" in known:
        fields["misroutes"] = draw.randint(1, 6)
    if "classes" in known:
        fields["classes"] = draw.choice(("entered", "crossed", "at_dateline"))
    if "ways" in known:
        fields["ways"] = draw.choice(("shortest", "plus"))
    return fields


def shift(size: list[int], hops: list[int]) -> list[int]:
    """Each terminal sends that many hops further in each dimension; the first dimension varies fastest."""
    destinations = []
    for terminal in range(_product(size)):
        to, stride, rest = 0, 1, terminal
        for length, by in zip(size, hops, strict=True):
            to += (rest % length + by) % length * stride
            stride *= length
            rest //= length
        destinations.append(to)
    return destinations


def _product(size: list[int]) -> int:
    result = 1
    for length in size:
        result *= length
    return result


def workload(draw: random.Random, network: Spec, terminals: int, flits: int) -> Spec:
    if draw.random() < 0.3:
        message = flits * draw.randint(2, 6)
        return {"kind": "all_to_all", "algorithm": "a2a", "message_flits": message, "packet_flits": flits}
    size = network["topology"].get("size")
    pattern: Spec = {"kind": "uniform"}
    if size and draw.random() < 0.5:
        # Half way round, or a hop less: the longest routes, and those of ties.
        hops = [max(0, length // 2 - draw.randint(0, 1)) if draw.random() < 0.8 else 0 for length in size]
        pattern = {"kind": "permutation", "destinations": shift(size, hops)}
    elif draw.random() < 0.3:
        pattern = {"kind": "permutation", "destinations": draw.sample(range(terminals), terminals)}
    return {"kind": "traffic", "pattern": pattern, "offered_load": draw.choice((0.9, 1.0)), "packet_flits": flits}


def case(draw: random.Random, kind: str, cycles: int) -> Spec | None:
    """A random network under stress; None where its routing is not for it."""
    network: Spec = {"topology": topology(draw, kind)}
    network["routing"] = routing(draw, kind, len(network["topology"].get("size", [])))
    network["router"], flits = router(draw, kind)
    network["router"]["vcs"] = 1
    run = {"warmup_cycles": 0, "measurement_cycles": cycles, "max_cycles": 2 * cycles, "watchdog_cycles": 1000}
    spec = {"network": network, "workload": {"kind": "uniform", "offered_load": 0.1}, "run": {"deadlock_check": False}}
    for _ in range(2):
        try:
            terminals = json.loads(_core.Plan(json.dumps(spec)).json)["derived"]["terminals"]
            break
        except fw.ConfigError as error:
            # Too few virtual channels: the hint says how many are enough.
            least = re.search(r"(?:set|use) vcs = (\d+)", str(error))
            if not least or network["router"]["vcs"] > 1:
                return None
            network["router"]["vcs"] = int(least[1]) + draw.choice((0, 0, 0, 1, 2))
    else:
        return None
    work = workload(draw, network, terminals, flits)
    run["seed"] = draw.randint(1, 1000)
    if work["kind"] == "all_to_all":
        run = {"max_cycles": 10_000_000, "watchdog_cycles": 1000, "seed": run["seed"]}
    return {"network": network, "workload": work, "run": run}


def outcome(spec: Spec) -> tuple[str, str]:
    """Whether the check accepts a network, and whether its run deadlocks."""
    verdict = "accepted"
    try:
        plan = _core.Plan(json.dumps(spec))
    except fw.ConfigError as error:
        if REFUSED not in str(error):
            return "invalid", str(error)
        verdict = "refused"
        plan = _core.Plan(json.dumps({**spec, "run": {**spec["run"], "deadlock_check": False}}))
    try:
        plan.simulate(None)
    except fw.DeadlockError as error:
        return verdict, f"deadlock: {error}"
    return verdict, "alive"


# Under these a packet may take adaptive channels: a cycle closes rarely, so they run longer.
ADAPTIVE = ("duato", "duato_misrouting", "min_adapt")


def stress(seed: int, cases: int, cycles: int) -> Counter[str]:
    """Runs so many cases of each routing. An accepted network that deadlocks fails."""
    counts: Counter[str] = Counter()
    for kind in kinds():
        for number in range(cases):
            draw = random.Random(f"{seed} {kind} {number}")
            spec = case(draw, kind, cycles * (6 if kind in ADAPTIVE else 1))
            if spec is None:
                counts["invalid"] += 1
                continue
            verdict, end = outcome(spec)
            assert (verdict, end[:8]) != ("accepted", "deadlock"), f"{json.dumps(spec)}\n{end}"
            counts[verdict if verdict == "invalid" else f"{verdict}, {end[:8]}"] += 1
            counts[f"{kind} {verdict}"] += 1
    return counts


def test_what_the_check_accepts_does_not_deadlock() -> None:
    counts = stress(seed=1, cases=6, cycles=1500)
    assert counts["accepted, alive"] > 30


@pytest.mark.slow
def test_much_of_what_the_check_accepts_does_not_deadlock() -> None:
    counts = stress(seed=2, cases=25, cycles=2000)
    print(dict(counts))
    assert counts["accepted, alive"] > 300
    # The stress is strong enough to find a deadlock where there is one.
    assert counts["refused, deadlock"] > 5


def test_rings_that_deadlocked_are_refused() -> None:
    for size in ([6], [8], [10], [12], [10, 1], [1, 10]):
        network = fw.Torus(*size, routing="duato", vcs=4, buffer_flits=2)
        with pytest.raises(fw.ConfigError, match="no cycle of channel dependencies") as refused:
            fw.simulate(network, fw.uniform(offered_load=0.9, packet_flits=2))
        assert "virtual_cut_through" in str(refused.value), "the hint names what helps"
        assert "wait_for_tail_credit" in str(refused.value), "the hint names what helps"


@pytest.mark.slow
def test_rings_under_long_stress() -> None:
    """Cycles of adaptive rings close rarely: short packets, small buffers, and more cycles than elsewhere."""
    counts: Counter[str] = Counter()
    for kind in kinds():
        for size, tie in itertools.product(range(5, 11), TIES):
            network: Spec = {"topology": {"kind": "torus", "size": [size]}, "routing": {"kind": kind, "tie": tie}}
            network["router"] = {"vcs": 4, "buffer_flits": 2}
            work = {"kind": "uniform", "offered_load": 0.9, "packet_flits": 2}
            run = {"warmup_cycles": 0, "measurement_cycles": 20_000, "watchdog_cycles": 1000}
            verdict, end = outcome({"network": network, "workload": work, "run": run})
            assert (verdict, end[:8]) != ("accepted", "deadlock"), f"{kind} on a ring of {size}, tie {tie}: {end}"
            counts[f"{verdict}, {end[:8]}" if verdict != "invalid" else verdict] += 1
    print(dict(counts))
    assert counts["accepted, alive"] > 30
    # The stress is strong enough to find a deadlock where there is one.
    assert counts["refused, deadlock"] > 5
