"""What `make bench` takes for a failure, and that its cases cover every routing."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from flitwork import _core

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

BENCHES = Path(__file__).parents[2] / "benches"
CASES: list[dict[str, Any]] = tomllib.loads((BENCHES / "cases.toml").read_text(encoding="utf-8"))["case"]
SPEC = {"network": {"topology": {"size": [2]}}, "workload": {"message_flits": 1}}
BASE = {"name": "base", "spec": SPEC, "digest": "d", "flit_hops": 100, "instructions_at": [1, 2]}
ARGS = argparse.Namespace(repeat=1)


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHES))
    return importlib.import_module("run")


def measured(bench: Any, monkeypatch: pytest.MonkeyPatch, case: dict[str, Any], counts: dict[str, float]) -> Any:
    """The row of a case that takes a second, with these instructions per flit-hop; and whether it passes."""
    report = {"digest": "d", "flit_hops": 100, "peak_bytes": None, "network_bytes": None}
    monkeypatch.setattr(bench, "run_case", lambda *_: (report, 1.0))
    monkeypatch.setattr(bench, "instructions_per_flit_hop", lambda _, case, __: counts.get(case["name"]))
    counter = bench.Counter(Path(), [BASE, case], Path(), True)
    return bench.measure(Path(), case, ARGS, counter, Path())


@pytest.mark.parametrize(
    ("target", "counts", "passes"),
    [
        ({"instructions": 300}, {"case": 300.0}, True),
        ({"instructions": 300}, {"case": 300.5}, False),
        ({"instructions": 300}, {}, True),
        ({"instructions_ratio": 1.5}, {"base": 200.0, "case": 300.0}, True),
        ({"instructions_ratio": 1.5}, {"base": 200.0, "case": 301.0}, False),
        ({"instructions_ratio": 1.5}, {}, True),
        ({"million_flit_hops_per_second": 35}, {}, True),
    ],
)
def test_only_too_many_instructions_fail(
    bench: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    target: dict[str, float],
    counts: dict[str, float],
    passes: bool,
) -> None:
    case = {**BASE, "name": "case", "against": "base", "target": target}
    row, passed = measured(bench, monkeypatch, case, counts)
    assert passed == passes
    assert ("FAILED case" in capsys.readouterr().out) != passes
    if "million_flit_hops_per_second" in target:
        assert "MISSED" in row[-1]


def test_a_wrong_digest_fails(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not measured(bench, monkeypatch, {**BASE, "digest": "another"}, {})[1]


def test_every_routing_is_compared_with_dimension_order() -> None:
    """On the same network at the same load, so that the ratio says something."""
    by_name = {case["name"]: case for case in CASES}
    compared = set()
    for case in CASES:
        if "against" not in case:
            continue
        base, ours = by_name[case["against"]]["spec"], json.loads(json.dumps(case["spec"]))
        assert base["network"]["routing"] == {"kind": "dimension_order"}
        compared.add(ours["network"]["routing"]["kind"])
        ours["network"]["routing"] = base["network"]["routing"]
        assert ours == base
        assert case["target"]["instructions_ratio"] == 1.5
    routings = {row["name"] for row in json.loads(_core.components())["routings"]}
    assert compared == routings
