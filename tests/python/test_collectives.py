"""Collectives from Python and the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import flitwork as fw
import numpy as np
import pytest
from flitwork import _core

NET = fw.Torus(4, 4, vcs=2)
ROWS = json.loads(_core.components())["collectives"]
PAGE = (Path(__file__).resolve().parents[2] / "docs" / "collectives.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['operation']}-{row['name']}")
def test_every_algorithm_runs_is_bounded_proven_and_described(row: dict[str, str]) -> None:
    work = fw.collective(row["operation"], row["name"])
    done = fw.simulate(NET, work)
    assert done.status == "complete" and done.completion_cycles >= done.bound.tightest_cycles > 0
    assert done.row["workload"] == f"{row['operation']} {row['name']}"
    assert done.completion_cycles >= done.bound.operation["cycles"] > 0
    found = fw.check(work, size=(4, 4))
    assert found.placement and found.placement["messages"] == done.row["packets"]
    assert found.phase_sum_over_bound >= 1 and "where it belongs" in repr(found)
    lines = [line for line in PAGE.splitlines() if line.startswith(f"| `{row['operation']}` | `{row['name']}` |")]
    assert len(lines) == 1 and all(f"`{name}`" in lines[0] for name in row["parameters"].split(", ") if name)


def test_simple_spread_is_a2a() -> None:
    spread = fw.simulate(NET, fw.collective("all_to_all", "simple_spread", message_flits=7))
    a2a = fw.simulate(NET, fw.all_to_all("a2a", message_flits=7))
    assert spread.row["digest"] == a2a.row["digest"] and spread.completion_cycles == a2a.completion_cycles


def test_ranks_that_wait_take_longer_than_ranks_that_do_not() -> None:
    times = {
        name: fw.simulate(fw.Torus(5, 5), fw.collective("all_to_all", name, message_flits=4)).completion_cycles
        for name in ("pairwise_shift", "simple_spread")
    }
    assert times["pairwise_shift"] > 1.2 * times["simple_spread"]


def test_bytes_are_added_up_before_they_are_cut_into_flits() -> None:
    net = fw.Torus(4, 4, units=fw.Units(flit_bytes=16))
    # 8 blocks of 10 bytes are 80 bytes, 5 flits, in each of 4 steps.
    done = fw.simulate(net, fw.collective("all_to_all", "bruck", message_bytes=10), packets=True)
    assert set(done.packets["flits"]) == {5} and len(done.packets) == 16 * 4
    with pytest.raises(fw.ConfigError, match="flit_bytes"):
        fw.bound(NET, fw.collective("all_to_all", "bruck", message_bytes=10))


def test_blocks_may_have_sizes_of_their_own(tmp_path: Path) -> None:
    net = fw.Torus(4, 4, units=fw.Units(flit_bytes=16))
    sizes = np.arange(256).reshape(16, 16)
    done = fw.simulate(net, fw.collective("all_to_all", "pairwise_xor", sizes=sizes), packets=True)
    flits = done.packets.pivot(index="src", columns="dst", values="flits")
    expected = np.maximum(1, np.ceil(sizes / 16))
    np.fill_diagonal(expected, np.nan)
    assert np.array_equal(flits.to_numpy(), expected, equal_nan=True)
    assert not done.bound.operation and done.completion_cycles >= done.bound.tightest_cycles
    np.save(tmp_path / "sizes.npy", sizes)
    again = fw.collective("all_to_all", "pairwise_xor", sizes=tmp_path / "sizes.npy")
    assert (
        fw.simulate(net, again).plan_hash
        == fw.simulate(net, fw.collective("all_to_all", "pairwise_xor", sizes=sizes)).plan_hash
    )
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"sizes": np.full((16, 16), 0.5)}, r"sizes\[0\]\[0\].*whole number"),
        ({"sizes": -sizes}, r"workload\.sizes\[0\]\[1\]"),
        ({"sizes": sizes, "message_flits": 4}, "beside a length"),
        ({"sizes": sizes, "blocks": "doubling"}, "doubling"),
        ({"sizes": sizes[:8, :8]}, "16 rows and columns"),
        ({"sizes": sizes, "operation": "allgather"}, "allgather bruck has no sizes"),
    ]
    for given, says in wrong:
        with pytest.raises(fw.ConfigError, match=says):
            fw.bound(net, fw.collective(**{"operation": "all_to_all", "algorithm": "bruck", **given}))
    with pytest.raises(fw.ConfigError, match="flit_bytes"):
        fw.bound(NET, fw.collective("all_to_all", "bruck", sizes=sizes))


def test_ranks_may_share_terminals() -> None:
    host = {"ranks_per_terminal": 3, "placement": {"kind": "round_robin"}}
    done = fw.simulate(fw.Torus(3, 3), fw.collective("allreduce", "rabenseifner", message_flits=50), host=host)
    assert done.status == "complete" and done.completion_cycles >= done.bound.tightest_cycles


def test_a_plan_has_only_the_parameters_that_count() -> None:
    plan = json.loads(_core.Plan(json.dumps({"network": NET.spec, "workload": {
        "kind": "collective", "operation": "scatter", "algorithm": "linear"}})).json)  # fmt: skip
    assert plan["spec"]["workload"] == {
        "kind": "collective", "operation": "scatter", "algorithm": "linear",
        "message_flits": 100, "packet_flits": 65_535, "root": 0,
    }  # fmt: skip


def test_a_sweep_over_algorithms() -> None:
    names = ["recursive_doubling", "ring", "rabenseifner"]
    done = fw.sweep(lambda name: (NET, fw.collective("allreduce", name)), name=names)
    assert sorted(done["workload"]) == sorted(f"allreduce {name}" for name in names)


@pytest.mark.parametrize(
    ("work", "says"),
    [
        (lambda: fw.collective("all_to_all", "pairwise_xor"), "24 ranks"),
        (lambda: fw.collective("all_to_all", "pairwise_xor"), "use pairwise_shift"),
        (lambda: fw.collective("allreduce", "rign"), "did you mean ring"),
        (lambda: fw.collective("allreduced", "ring"), "did you mean allreduce"),
        (lambda: fw.collective("allreduce", "ring", root=1), "allreduce ring has no root"),
        (lambda: fw.collective("broadcast", "binomial", root=24), "a rank, 0 to 23"),
        (lambda: fw.collective("all_to_all", "bruck", radix=1), "radix"),
        (lambda: fw.collective("all_to_all", "bruck", blocks="half"), "doubling"),  # type: ignore[arg-type]
        (lambda: fw.collective("barrier", "dissemination", message_flits=4), "a barrier has no data"),
        (lambda: fw.collective("allgather", "ring", message_flits=4, message_bytes=4), "say the length once"),
        (lambda: fw.collective("allgather", "ring", message_bytes=1 << 41), "2\\^40|1099511627776"),
        (lambda: fw.collective("allgather", "ring", massage_flits=4), "did you mean message_flits"),
    ],
)
def test_what_makes_no_sense_is_named(work: object, says: str) -> None:
    with pytest.raises(fw.ConfigError, match=says):
        fw.bound(fw.Torus(4, 6), work())  # type: ignore[operator]


def test_a_collective_is_repeated_with_computation_between() -> None:
    """On a network without anything else each time takes what one takes by itself, and the computation."""
    net = fw.Network("crossbar", terminals=4)
    once = fw.collective("all_to_all", "pairwise_shift", message_flits=4)
    often = fw.collective("all_to_all", "pairwise_shift", message_flits=4, repeats=3, compute_cycles=1000)
    one, three = fw.simulate(net, once), fw.simulate(net, often)
    assert three.completion_cycles == 3 * (1000 + one.completion_cycles)
    assert fw.bound(net, often).operation["cycles"] == 3 * fw.bound(net, once).operation["cycles"]
