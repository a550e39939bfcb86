"""The study of imbalance and pacing: its points are the paper's, its claims count cases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import flitwork as fw
import pandas as pd
import pytest
from flitwork.experiment.points import expand
from flitwork.experiment.study_file import load_study
from flitwork.spec import plan_of
from flitwork.studies import published
from flitwork.studies.claims import load_claims
from flitwork.studies.shibamura_2012_pacing.claims import claims

FOLDER = published()["shibamura-2012-pacing"].folder


def test_the_grid_is_the_papers() -> None:
    points = expand(load_study(FOLDER / "study.toml"))
    a2a = [point for point in points if point.params.get("workload.blocks") != "doubling" and point.seed == 1]
    # Five algorithms, eight tori, four sizes, six kinds of imbalance, with and without pacing.
    assert len(a2a) == 5 * 8 * 4 * 6 * 2
    assert {(p.params["nodes"], p.params["dims"]) for p in points} == {(128 << i, d) for i in range(4) for d in (2, 3)}
    for point in points:
        size = point.spec["network"]["topology"]["size"]
        assert len(size) == point.params["dims"]
        assert pd.Series(size).prod() == point.params["nodes"]


@pytest.mark.parametrize("name", ["lock_step", "spread", "rounds"])
def test_the_machine_is_the_preset(name: str) -> None:
    point = next(p for p in expand(load_study(FOLDER / "study.toml"), quick=True) if p.experiment == name)
    machine = fw.machines.nsim(*point.spec["network"]["topology"]["size"])
    network: dict[str, Any] = {k: v for k, v in point.spec["network"].items() if k != "nic"}
    ours = plan_of({**point.spec, "network": network})
    preset = plan_of({**point.spec, "network": machine.network.spec, "host": machine.host.spec})
    assert ours.hash == preset.hash


def results(gain: float) -> pd.DataFrame:
    """A table in which pacing makes everything faster by ``gain``, and imbalance everything longer by half of itself."""
    rows = []
    for algorithm, blocks in [("pairwise_xor", None), ("simple_spread", None), ("bruck", "a2a"), ("bruck", "doubling")]:
        for nodes in (128, 1024):
            for percent in (0, 2, 10):
                for kind in ("none", "mod"):
                    cycles = nodes * 1000 * (1 + percent / 200) / (gain if kind == "mod" else 1)
                    row: dict[str, Any] = {
                        "dims": 2,
                        "nodes": nodes,
                        "KiB": 16,
                        "workload.algorithm": algorithm,
                        "seed": 1,
                    }
                    row |= {"workload.blocks": blocks, "network.nic.pacing.kind": kind, "completion_cycles": cycles}
                    late: dict[str, Any] = {"percent": percent, "longer": percent / 200} if percent else {}
                    rows.append({**row, **late})
    return pd.DataFrame(rows)


def test_claims_count_the_cases() -> None:
    found = {claim.id: claim.ours for claim in claims(results(1.25))}
    assert {*found} <= {claim.id for claim in load_claims(FOLDER / "claims.toml")}
    assert (found["E2.faster.a2a"], found["E3.keep"], found["E1.grows"]) == (1, 1, 1)
    # All gain alike, so nothing is lost and nothing grows with the nodes but by equality.
    assert (found["E3.lose.a2a"], found["E3.slower"], found["E2.nodes.doubling"]) == (0, 0, 1)
    slower = {claim.id: claim.ours for claim in claims(results(0.8))}
    assert (slower["E2.faster.a2a"], slower["E3.keep"], slower["E3.slower"]) == (0, 0, 1)
    assert "E3.lose.a2a" not in slower


@pytest.mark.slow
def test_the_smaller_version_stands_for_its_verdicts(tmp_path: Path) -> None:
    found = fw.studies.reproduce("shibamura-2012-pacing", tmp_path, quick=True)
    assert not found.failed and not found.run.failures
    assert sum(claim.verdict == "reproduced" for claim in found.claims) == 6
    assert len(found.figures) == 8
