"""The study of A2AT: runs without chance are varied, and its claims are judged on what the variants give."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import flitwork as fw
import pandas as pd
import pytest
from flitwork.cli import studies as in_terminal
from flitwork.experiment.point import Point
from flitwork.experiment.points import expand
from flitwork.experiment.study_file import load_study
from flitwork.planning.specification import plan_of
from flitwork.results.result import run_plan
from flitwork.studies import Claim, Judged, published
from flitwork.studies.claims import load_claims
from flitwork.studies.statements import rows_of
from flitwork.studies.takaue_2010_a2at import claims as of_study
from flitwork.studies.takaue_2010_a2at.variants import _CURVES, spread, variants
from flitwork.studies.words import paper_in_words

FOLDER = published()["takaue-2010-a2at"].folder


def _row(claim: Judged) -> tuple[str, ...]:
    """A claim as the terminal shows it."""
    (row,) = rows_of([claim])
    return in_terminal._row(row)


def undisturbed(point: Point) -> dict[str, Any]:
    """What is simulated, without the flits that disturb it."""
    resolved: dict[str, Any] = json.loads(plan_of(point.spec).json)["spec"]
    disturbed = resolved.pop("background", None)
    if "-varied" in point.experiment:
        assert disturbed["packet_flits"] == 1 and resolved["run"]["warmup_cycles"] == 100_000
        # One for every hundred messages, by the paper's theory for the time that these take.
        n = point.params["N"]
        assert disturbed["offered_load"] * 100 * n * (n**2 - 1) / 3 == pytest.approx((n**2 - 1) / 100)
    del resolved["run"]
    return resolved


@pytest.mark.parametrize("quick", [True, False])
def test_the_varied_runs_are_those_of_the_figures(quick: bool) -> None:
    points = expand(load_study(FOLDER / "study.toml"), quick)
    varied = [point for point in points if "-varied" in point.experiment and point.params["N"] in (7, 11)]
    assert {point.experiment.partition("-varied")[0] for point in varied} == set(_CURVES)

    def curve(point: Point) -> tuple[object, ...]:
        figure = point.experiment.partition("-varied")[0]
        return figure, point.params["N"], *(point.params[name] for name in _CURVES[figure])

    single = {curve(point): point for point in points if point.experiment in _CURVES}
    for point in varied:
        if point.seed == 1:
            assert undisturbed(point) == undisturbed(single[curve(point)]), point.label
    if not quick:
        seeds = {name: {p.seed for p in varied if p.experiment == name} for name in {p.experiment for p in varied}}
        assert all(found == set(range(1, 9)) for found in seeds.values())


def test_disturbing_flits_move_a_run_that_has_no_chance_in_it() -> None:
    points = expand(load_study(FOLDER / "study.toml"), quick=True)
    shown = [p for p in points if p.experiment == "fig5-varied" and p.params["N"] == 5 and p.params["net"] == "torus"]
    times = {run_plan(plan_of(p.spec)).completion_cycles for p in shown if p.params["workload.algorithm"] == "a2at"}
    assert len(times) > 1 and max(times) < 1.1 * min(times)


def table() -> pd.DataFrame:
    """Figure 5's torus at N = 5 and 9, varied at N = 5 with two seeds."""
    rows = [("fig5", 5, 1, 100), ("fig5", 9, 1, 1000), ("fig5-varied", 5, 1, 90), ("fig5-varied", 5, 2, 120)]
    results = pd.DataFrame(rows, columns=["experiment", "N", "seed", "completion_cycles"])
    results["net"], results["workload.algorithm"] = "torus", "a2at"
    for column in ("network.router.buffer_flits", "workload.sync", "way", "nct"):
        results[column] = None
    return results.assign(time=results["completion_cycles"] / 100)


def test_a_variant_has_the_times_of_its_seed_and_moves_other_sizes_alike() -> None:
    first, second = variants(table())
    # N = 5: its own time. N = 9, which was not varied: the share by which N = 5 is away from its median.
    assert list(first["time"][:2]) == pytest.approx([0.9, 10 * 90 / 105])
    assert list(second["time"][:2]) == pytest.approx([1.2, 10 * 120 / 105])
    assert spread(table(), "fig5", net="torus").to_numpy().tolist() == [[0.9, 1.2]]
    assert variants(table()[:2]) == []


@pytest.mark.parametrize(
    ("values", "verdict", "shown"),
    [
        ([1.19, 1.25, 1.21], "reproduced", "1.21 (1.19 to 1.25 in 3 variants)"),
        ([1.19, 1.29, 1.21], "undecided", "1.21 (1.19 to 1.29 in 3 variants)"),
        ([1.29, 1.31, 1.30], "not reproduced", "1.3 (1.29 to 1.31 in 3 variants)"),
    ],
)
def test_a_claim_is_judged_on_all_variants(values: list[float | bool], verdict: str, shown: str) -> None:
    found = of_study._claim("F4.torus", values)
    declared = Claim(id="F4.torus", paper=1.19, tolerance=0.08)
    claim = Judged.of(declared, found)
    assert claim.verdict == verdict and _row(claim)[4] == shown
    assert claim.fails == (verdict == "not reproduced")


def test_a_statement_without_a_number_is_undecided_where_variants_disagree() -> None:
    def judged(*variants: float | bool) -> Judged:
        return Judged.of(Claim(id="F5.grows"), of_study._claim("F5.grows", [*variants]))

    some = judged(True, False, True)
    assert some.verdict == "undecided" and _row(some)[4] == "yes (2 of 3 variants)"
    assert judged(True, True).verdict == "reproduced"
    assert judged(False, False).verdict == "not reproduced"


def test_a_stable_time_is_measured_by_the_size_that_is_furthest_from_the_mean() -> None:
    flat, falling = pd.Series([1.1, 1.1, 1.1]), pd.Series([1.2, 1.0, 0.8])
    assert of_study._unsteady({"mesh": flat, "torus": falling}) == pytest.approx(0.2)
    assert of_study._unsteady({"mesh": flat}) == pytest.approx(0)


def test_four_controllers_have_a_speed_and_a_time() -> None:
    rows = [
        ("fig7", net, nct, sync, n, cycles)
        for net in ("mesh", "torus")
        for sync in ("async", "local_sliding")
        for n in (5, 9)
        for nct, cycles in ((1, 300.0), (2, 200.0), (4, 250.0))
    ]
    table = pd.DataFrame(rows, columns=["experiment", "net", "nct", "workload.sync", "N", "time"])
    found = of_study._figure_7(table.assign(time_of_theory=table["time"] / 100))
    assert (found["F7.nct4"], found["F7.nct4.time"]) == pytest.approx((0.8, 1.25))
    assert found["F7.stable"] == 0


def test_limits_that_are_ours_are_marked() -> None:
    claims = {claim.id: claim for claim in load_claims(FOLDER / "claims.toml")}
    # In words only: "changes little", "almost the same".
    assert {claim.id for claim in claims.values() if claim.limit == "ours"} == {
        "F3.flat", "F3.order", "F3.order.x-inner", "F7.stable", "NCT4.within", "NCT4.within-16",
    }  # fmt: skip
    assert paper_in_words(claims["F3.flat"]) == "≤ 0.1 (our limit)"
    assert paper_in_words(claims["F4.torus"]) == "1.19 ± 0.08"


def test_values_of_variants_are_measured(tmp_path: Path) -> None:
    path = tmp_path / "claims.toml"
    path.write_text('[[claims]]\nid = "c"\nvariants = [1.0]\n')
    with pytest.raises(fw.ConfigError, match=r"claims\[0\].variants = unknown key"):
        load_claims(path)
