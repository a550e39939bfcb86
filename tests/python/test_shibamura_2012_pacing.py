"""The study of imbalance and pacing: its points are the paper's, its claims count cases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import flitwork as fw
import matplotlib.pyplot as plt
import pandas as pd
import pytest
from flitwork.experiment.points import expand
from flitwork.experiment.study_file import load_study
from flitwork.planning.specification import plan_of
from flitwork.plot.drawn import drawn_numbers
from flitwork.studies import published
from flitwork.studies.claims import load_claims
from flitwork.studies.shibamura_2012_pacing import choice, measures
from flitwork.studies.shibamura_2012_pacing.claims import claims

FOLDER = published()["shibamura-2012-pacing"].folder


def test_the_grid_is_the_papers() -> None:
    points = expand(load_study(FOLDER / "study.toml"))
    for reading in ("", "pipelined_"):
        names = {reading + name + late for name in ("lock_step", "spread", "rounds") for late in ("", "_late")}
        # Five algorithms, eight tori, four sizes, six kinds of imbalance, with and without pacing.
        grid = [point for point in points if point.experiment in names]
        assert len(grid) == 5 * 8 * 4 * 6 * 2 == 1920
        tori = {(p.params["nodes"], p.params["dims"]) for p in grid}
        assert tori == {(128 << i, d) for i in range(4) for d in (2, 3)}
    for point in points:
        size = point.spec["network"]["topology"]["size"]
        assert len(size) == point.params["dims"]
        assert pd.Series(size).prod() == point.params["nodes"]


@pytest.mark.parametrize("name", ["lock_step", "spread", "rounds"])
@pytest.mark.parametrize("reading", ["pipelined_", ""])
def test_the_machine_is_the_preset(name: str, reading: str) -> None:
    point = next(p for p in expand(load_study(FOLDER / "study.toml"), quick=True) if p.experiment == reading + name)
    size = point.spec["network"]["topology"]["size"]
    second = fw.machines.nsim(*size, pipeline="at_front", classes="entered")
    machine = fw.machines.nsim(*size) if reading else second
    network: dict[str, Any] = {k: v for k, v in point.spec["network"].items() if k != "nic"}
    ours = plan_of({**point.spec, "network": network})
    preset = plan_of({**point.spec, "network": machine.network.spec, "host": machine.host.spec})
    assert ours.hash == preset.hash


def results(gain: float, reading: str = "pipelined_") -> pd.DataFrame:
    """A table in which pacing makes everything faster by ``gain``, and imbalance everything longer by half of itself."""
    rows = []
    for algorithm, blocks in [("pairwise_xor", None), ("simple_spread", None), ("bruck", "a2a"), ("bruck", "doubling")]:
        for nodes in (128, 512 if blocks == "a2a" else 1024):
            for percent in (0, 2, 10):
                for kind in ("none", "mod"):
                    cycles = nodes * 1000 * (1 + percent / 200) / (gain if kind == "mod" else 1)
                    row: dict[str, Any] = {
                        "experiment": reading + ("lock_step_late" if percent else "lock_step"),
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
    assert (found["E2.faster"], found["E2.faster.a2a"], found["E3.keep"], found["E1.grows"]) == (1, 1, 1, 1)
    # All gain alike, so nothing is lost and nothing rises with the nodes.
    assert (found["E3.lose.a2a"], found["E3.slower"], found["E2.nodes"]) == (0, 0, 0)
    of_second = {claim.id: claim.ours for claim in claims(results(1.25, ""))}
    assert of_second["E2.faster.at_front"] == 1 and "E2.faster" not in of_second
    slower = {claim.id: claim.ours for claim in claims(results(0.8))}
    assert (slower["E2.faster.a2a"], slower["E3.keep"], slower["E3.slower"]) == (0, 0, 1)
    assert "E3.lose.a2a" not in slower


def cubes(longer: dict[int, float]) -> pd.DataFrame:
    """Butterfly without pacing on a 3-D torus, longer by so much at each imbalance."""
    rows = [
        {
            "experiment": "pipelined_rounds_late" if percent else "pipelined_rounds",
            **{"dims": 3, "nodes": 1024, "KiB": 16, "seed": 1, "workload.algorithm": "butterfly"},
            **{"workload.blocks": "doubling", "network.nic.pacing.kind": kind, "completion_cycles": 1000.0},
            **({"percent": percent, "longer": share} if percent else {}),
        }
        for percent, share in longer.items()
        for kind in ("none", "mod")
    ]
    return pd.DataFrame(rows)


def test_a_constant_rate_is_one_for_all_imbalances() -> None:
    found = {claim.id: claim.ours for claim in claims(cubes({0: 0.0, 2: 0.018, 10: 0.09}))}
    assert (found["E1.butterfly-rate"], found["E1.butterfly"]) == (1, 1)
    found = {claim.id: claim.ours for claim in claims(cubes({0: 0.0, 2: 0.018, 10: 0.2}))}
    assert (found["E1.butterfly-rate"], found["E1.butterfly"]) == (0, 0.5)


def test_a_trend_is_no_strict_order() -> None:
    gains = {128: 1.0, 256: 1.2, 512: 1.15, 1024: 1.3}
    parts = [results(gain).query("nodes == 128").assign(nodes=nodes) for nodes, gain in gains.items()]
    assert {claim.id: claim.ours for claim in claims(pd.concat(parts))}["E2.nodes"] == 1


def test_claims_of_a_part_of_the_grid_count_what_was_run() -> None:
    table = results(1.25)
    bruck_late = (table["workload.algorithm"] == "bruck") & (table["percent"] == 2)
    first = table[bruck_late].iloc[0]
    one_missing = table[~(bruck_late & (table["nodes"] == first["nodes"]) & (table["dims"] == first["dims"]))]
    assert len(one_missing) < len(table)
    assert {claim.id: claim.ours for claim in claims(one_missing)}["E3.lose.a2a"] == 0


def test_the_choice_is_the_fastest_with_its_lead() -> None:
    table = results(1.25)
    table.loc[table["workload.algorithm"] == "bruck", "completion_cycles"] *= 0.8
    found = choice.best(measures.tidy(table, "doubling"))
    assert len(found) == 2 * 3 and set(found["algorithm"]) == {"bruck"} and found["paced"].all()
    assert found["margin"].to_numpy() == pytest.approx(0.25)
    figure = choice.drawn_map(measures.tidy(table, "doubling"), "")
    assert drawn_numbers(figure).equals(found)
    plt.close(figure)


def test_other_readings_are_no_part_of_the_grid() -> None:
    table = results(1.25)
    under = table[table["percent"].isna()].assign(experiment="readings", reading="two VCs", completion_cycles=1.0)
    under.loc[under["network.nic.pacing.kind"] == "none", "completion_cycles"] = 0.5
    both = pd.concat([table, under])
    assert {c.id: c.ours for c in claims(both)} == {c.id: c.ours for c in claims(table)}
    assert (measures.gains_by(both, "readings", "reading") == 0.5).all(axis=None)


@pytest.mark.slow
def test_the_smaller_version_stands_for_its_verdicts(tmp_path: Path) -> None:
    found = fw.studies.reproduce("shibamura-2012-pacing", tmp_path, quick=True)
    assert not found.failed and not found.run.failures
    assert sum(claim.verdict == "reproduced" for claim in found.claims) == 8
    assert len(found.figures) == 14
