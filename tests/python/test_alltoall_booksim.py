"""All-to-alls of BookSim 2 and flitwork, to the cycle."""

from __future__ import annotations

from pathlib import Path

import flitwork as fw
import pytest
from flitwork.experiment import load_study, run_study
from flitwork.studies import published, reproduce
from flitwork.studies.booksim_2_alltoall import compare
from flitwork.values.plain import to_json
from flitwork.workloads.workload import Spec

NAME = "booksim-2-alltoall"


def test_the_reference_is_whole() -> None:
    points = compare.booksim()
    assert len(points) == 2 * 3 * 2 * 2 and not points.duplicated(compare.POINT).any()
    assert points.groupby(compare.POINT[:2]).size().eq(4).all()


def test_small_exchanges_complete_in_the_same_cycle(tmp_path: Path) -> None:
    done = reproduce(NAME, tmp_path, quick=True)
    points = compare.comparison(done.run.table)
    assert len(points) == 8 and (points["difference"] == 0).all(), points.to_string()
    assert [claim.verdict for claim in done.claims] == ["reproduced"] * 4
    # Each rule is needed: classes move tori, receives move what is synchronised, and nothing else moves.
    assert (points["own_rules_difference"] != 0).equals(points["sync"] == "local")


def test_the_opposite_class_is_needed(tmp_path: Path) -> None:
    study = load_study(published()[NAME].folder / "study.toml")
    (torus,) = (one for one in study.experiments if one.id == "torus")
    grid = {**torus.grid, "k": [7], "workload.algorithm": ["a2at"], "workload.sync": ["async"]}
    (own,) = (one for one in study.experiments if one.id == "own")
    both = [torus.model_copy(update={"grid": grid}), own.model_copy(update={"grid": {**grid}})]
    points = compare.comparison(run_study(study.model_copy(update={"experiments": both}), tmp_path).table)
    (row,) = points.to_dict("records")
    assert (row["difference"], row["own_rules_difference"]) == (0, 623)


@pytest.mark.slow
def test_every_exchange_completes_in_the_same_cycle(tmp_path: Path) -> None:
    done = reproduce(NAME, tmp_path)
    points = compare.comparison(done.run.table)
    assert len(points) == len(compare.booksim()) == 24
    assert (points["difference"] == 0).all(), points.to_string()
    assert not done.failed
    shares = (points["own_rules_difference"] / points["booksim"]).abs()
    assert 0.05 < shares.max() < 0.055, "what docs/validation.md says"


@pytest.mark.parametrize(
    ("topology", "workload", "rule", "said"),
    [
        ("mesh", {"kind": "all_to_all", "algorithm": "a2a"}, "opposite_minus_class", "a dimension wraps"),
        ("torus", {"kind": "uniform", "offered_load": 0.1}, "late_receives", "only ranks that run a schedule"),
    ],
)
def test_a_rule_without_a_meaning_is_refused(topology: str, workload: Spec, rule: str, said: str) -> None:
    network = {"topology": {"kind": topology, "size": [4, 4]}, "router": {"compat": {rule: True}}}
    with pytest.raises(fw.ConfigError, match=said) as caught:
        fw._core.Plan(to_json({"network": network, "workload": workload}))
    assert caught.value.path == f"network.router.compat.{rule}"
