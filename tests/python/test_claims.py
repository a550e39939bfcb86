from __future__ import annotations

from pathlib import Path

import flitwork as fw
import pandas as pd
import pytest
from common import STUDY, Cli
from flitwork.studies import reproduce
from flitwork.studies.claims import Claim, Finding, Judged, Measure, judged, measured


@pytest.mark.parametrize(
    ("fields", "ours", "verdict"),
    [
        ({"paper": 1.2, "tolerance": 0.08}, 1.27, "reproduced"),
        ({"paper": 1.2, "tolerance": 0.08}, 1.29, "not reproduced"),
        ({"paper": 2.0, "tolerance": 0.1, "relative": True}, 2.19, "reproduced"),
        ({"paper": 2.0, "relation": "at_least"}, 2.5, "reproduced"),
        ({"paper": 2.0, "relation": "at_most"}, 2.5, "not reproduced"),
        ({"paper": 2.0, "expected": "differs", "because": "x"}, 2.5, "differs"),
        ({"paper": 2.0, "expected": "differs", "because": "x"}, 2.0, "reproduced"),
        ({"paper": 2.0, "expected": "not reproduced"}, 2.5, "not reproduced"),
        ({}, True, "reproduced"),
        ({}, False, "not reproduced"),
        ({}, None, "not measured"),
        ({"paper": 1.2, "tolerance": 0.08, "ci": 0.02}, 1.27, "undecided"),
        ({"paper": 1.2, "tolerance": 0.08, "ci": 0.005}, 1.27, "reproduced"),
        ({"paper": 2.0, "relation": "at_least", "ci": 0.2, "expected": "not reproduced"}, 1.9, "undecided"),
        ({"paper": 2.0, "relation": "at_most", "ci": 0.2}, 1.7, "reproduced"),
    ],
)
def test_verdicts(fields: dict[str, object], ours: float | bool | None, verdict: str) -> None:
    claim = Judged.model_validate({"id": "c", "ours": ours, **fields})
    assert claim.verdict == verdict
    assert claim.fails == ((verdict, claim.expected) in {("not reproduced", "reproduced"), ("reproduced", "differs")})


def test_a_claim_that_holds_against_expectation_fails() -> None:
    claim = Judged(id="c", paper=2.0, ours=2.0, expected="not reproduced")
    assert claim.fails and not claim.model_copy(update={"ours": 3.0}).fails
    # With so wide an interval nobody can tell.
    assert not claim.model_copy(update={"ci": 0.1}).fails


@pytest.mark.parametrize("ours", [2.0, 3.0])
def test_a_claim_that_was_not_run_yet_cannot_fail(ours: float) -> None:
    assert not Judged(id="c", paper=2.0, ours=ours, expected="not run").fails
    assert Judged(id="c", paper=2.0, ours=ours).fails == (ours == 3.0)


RESULTS = pd.DataFrame(
    {
        "experiment": ["e"] * 4 + ["f"],
        "kind": ["a", "a", "b", "b", "a"],
        "seed": [1, 2, 1, 2, 1],
        "cycles": [10.0, 14.0, 5.0, 7.0, 99.0],
    }
)


def test_measures() -> None:
    value, ci = measured(Measure(experiment="e", column="cycles", where={"kind": "a"}), RESULTS)
    assert value == 12 and ci == pytest.approx(12.706205 * 2)
    assert measured(Measure(experiment="e", column="cycles", where={"kind": "a"}, per={"kind": "b"}), RESULTS)[0] == 2
    assert measured(Measure(experiment="e", column="cycles", statistic="max"), RESULTS) == (14.0, 0.0)
    assert measured(Measure(experiment="g", column="cycles", where={"kind": "a"}), RESULTS) == (None, 0.0)
    gaps = RESULTS.assign(cycles=[10.0, *[float("nan")] * 4])
    assert measured(Measure(experiment="e", column="cycles"), gaps) == (10.0, 0.0)
    assert measured(Measure(experiment="f", column="cycles"), gaps) == (None, 0.0)


def test_a_claim_for_the_full_study_waits() -> None:
    claim = Claim(id="c", paper=12.0, quick=False, measure=Measure(experiment="e", column="cycles"))
    assert judged([claim], [], RESULTS, quick=True)[0].verdict == "not measured"
    assert judged([claim], [], RESULTS, quick=False)[0].ours == 9


def test_the_smaller_version_has_its_own_expectation() -> None:
    largest = Measure(experiment="e", column="cycles", statistic="max")
    claim = Claim(id="c", paper=12.0, quick_expected="not reproduced", measure=largest)
    assert judged([claim], [], RESULTS, quick=False)[0].fails
    assert not judged([claim], [], RESULTS, quick=True)[0].fails
    better = claim.model_copy(update={"expected": "not reproduced", "quick_expected": "reproduced"})
    assert judged([better], [], RESULTS, quick=True)[0].fails


def test_no_number_is_no_measurement() -> None:
    claim = Claim(id="c", paper=12.0)
    (found,) = judged([claim], [Finding(id="c", ours=float("nan"))], RESULTS, quick=False)
    assert found.ours is None and found.verdict == "not measured"


CLAIM = """
[[claims]]
id = "c"
paper = 1.0
relation = "at_least"
measure = { experiment = "e", column = "completion_cycles", where = { N = 4 } }
"""


WITHOUT_PLOTS = STUDY[: STUDY.index("[[plots]]")]


def folder(tmp_path: Path, claims: str = CLAIM, study: str = WITHOUT_PLOTS, python: str = "") -> Path:
    at = tmp_path / "author-2026-key"
    at.mkdir(exist_ok=True)
    (at / "study.toml").write_text(study)
    (at / "claims.toml").write_text(claims)
    if python:
        (at / "claims.py").write_text(python)
    return at


def test_not_measured_fails_the_full_study_only(tmp_path: Path) -> None:
    study, out = str(folder(tmp_path)), tmp_path / "out"
    (claim,) = reproduce(study, out, quick=True).claims
    assert claim.verdict == "not measured" and claim.note == "needs the full study"
    assert reproduce(study, out).failed == []
    for expected in ("reproduced", "differs"):
        folder(tmp_path, f'[[claims]]\nid = "c"\npaper = 1.0\nexpected = "{expected}"\n')
        assert reproduce(study, out, quick=True).failed == []
        assert [claim.id for claim in reproduce(study, out).failed] == ["c"]


def test_the_command_fails_for_what_was_not_measured(tmp_path: Path, cli: Cli) -> None:
    study = folder(tmp_path, '[[claims]]\nid = "c"\npaper = 1.0\n')
    done = cli("reproduce", study, "--quick")
    assert done.returncode == 0 and "not measured (needs the full study)" in done.stdout
    done = cli("reproduce", study)
    assert done.returncode == 1 and "failed: c was not measured" in done.stdout


@pytest.mark.parametrize(
    ("change", "to", "path", "value", "expected", "hint"),
    [
        ('"e"', '"f"', "claims[0].measure.experiment", '"f"', "an experiment of the study: e", ""),
        ("completion_cycles", "completion_cycle", "claims[0].measure.column", "completion_cycle", "completion_cycles", "`completion_cycles`?"),
        ("completion_cycles", "status", "claims[0].measure.column", '"status"', "with numbers", ""),
        ("N = 4", "M = 4", "claims[0].measure.where.M", '"M"', "a column of experiment e", ""),
        ("N = 4", "N = 5", "claims[0].measure.where.N", "5", "a value of N: 3, 4", ""),
        ("where =", "per =", "", "", "", ""),
        ("{ N = 4 }", '{ N = 4 }, per = { "workload.algorithm" = "a2a" }', "claims[0].measure.per.workload.algorithm", "'a2a'", "a2at, a2and", "a2at"),
    ],
)  # fmt: skip
def test_measures_name_what_exists(
    tmp_path: Path, change: str, to: str, path: str, value: str, expected: str, hint: str
) -> None:
    study = folder(tmp_path, CLAIM.replace(change, to, 1))
    if not path:
        reproduce(str(study), tmp_path / "out", quick=True)
        return
    with pytest.raises(fw.ConfigError) as caught:
        reproduce(str(study), tmp_path / "out", quick=True)
    error = caught.value
    assert error.path == path and value in error.value and expected in error.expected and hint in error.hint, str(error)
    assert not (tmp_path / "out").exists()


def test_claims_are_judged_by_the_points_that_are_left(tmp_path: Path, cli: Cli) -> None:
    failing = (
        STUDY.replace("N = [3, 4],", 'N = [3, 4], "run.max_cycles" = [20, 100000],') + 'panels = "run.max_cycles"\n'
    )
    python = 'def claims(results):\n    return [{"x": 1}[results["run.max_cycles"].min()]]\n'
    done = cli("reproduce", folder(tmp_path, study=failing, python=python))
    assert done.returncode == 3, done.stderr
    assert "8 of 16 points failed" in done.stderr and "1 of 1 statements of the paper" in done.stdout
    assert "claims.py cannot use the points that are left (KeyError" in done.stderr and "Traceback" not in done.stderr


def test_a_finding_may_have_the_number_that_the_claim_is_compared_with() -> None:
    claim = Claim(id="c", paper=1.0, relation="at_most")
    assert Judged.of(claim, Finding(id="c", ours=1.5)).verdict == "not reproduced"
    assert Judged.of(claim, Finding(id="c", ours=1.5, paper=2.0)).verdict == "reproduced"
    assert Judged.of(claim, Finding(id="c", ours=1.5, paper=2.0)).paper == 2.0
