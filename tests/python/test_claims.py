from __future__ import annotations

import pandas as pd
import pytest
from flitwork.studies.claims import Claim, Measure, judged, measured


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
    ],
)
def test_verdicts(fields: dict[str, object], ours: float | bool | None, verdict: str) -> None:
    claim = Claim.model_validate({"id": "c", "ours": ours, **fields})
    assert claim.verdict == verdict
    assert claim.fails == (verdict == "not reproduced" and claim.expected == "reproduced")


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
    assert value == 12 and ci == pytest.approx(12.71 * 2)
    assert measured(Measure(experiment="e", column="cycles", where={"kind": "a"}, per={"kind": "b"}), RESULTS)[0] == 2
    assert measured(Measure(experiment="e", column="cycles", statistic="max"), RESULTS) == (14.0, 0.0)
    assert measured(Measure(experiment="g", column="cycles", where={"kind": "a"}), RESULTS) == (None, 0.0)


def test_a_claim_for_the_full_study_waits() -> None:
    claim = Claim(id="c", paper=12.0, quick=False, measure=Measure(experiment="e", column="cycles"))
    assert judged([claim], [], RESULTS, quick=True)[0].verdict == "not measured"
    assert judged([claim], [], RESULTS, quick=False)[0].ours == 9
