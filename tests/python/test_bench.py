"""What `make bench` takes for a failure, and that its cases cover every routing."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from pathlib import Path
from typing import Any

import flitwork as fw
import pytest
from flitwork import _core
from flitwork.booksim.mapping import specification
from flitwork.booksim.settings import read_settings
from flitwork.planning.specification import to_json

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

BENCHES = Path(__file__).parents[2] / "benches"
CASES: list[dict[str, Any]] = tomllib.loads((BENCHES / "cases.toml").read_text(encoding="utf-8"))["case"]
SPEC = {"network": {"topology": {"size": [2]}}, "workload": {"message_flits": 1}}
BASE = {"name": "base", "spec": SPEC, "digest": "d", "flit_hops": 100, "instructions_at": [1, 2]}
ARGS = argparse.Namespace(repeat=1)


def test_a_wrong_answer_and_a_missed_limit_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHES))
    limits = importlib.import_module("limits")
    most = limits.Case("c", lambda: ([1], 2.0), [1], 3)
    least = limits.Case("c", lambda: ([1], 2.0), [1], 3, at_least=True)
    assert most.verdict([1], 2.0) == (True, "<= 3 s: reached") and most.verdict([1], 4.0) == (False, "<= 3 s: MISSED")
    assert least.verdict([1], 4.0)[0] and not least.verdict([1], 2.0)[0]
    assert most.verdict([2], 2.0) == (False, "WRONG RESULT: [2], not [1]")
    assert any(case.quick for case in limits.CASES) and len({case.name for case in limits.CASES}) == len(limits.CASES)


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHES))
    return importlib.import_module("run")


def measured(bench: Any, monkeypatch: pytest.MonkeyPatch, case: dict[str, Any], counts: dict[str, float]) -> Any:
    """A case that takes a second, with these instructions per flit-hop."""
    report = {"digest": "d", "flit_hops": 100, "peak_bytes": None, "network_bytes": None}
    monkeypatch.setattr(bench, "run_case", lambda *_: (report, bench.others.Took(1.0, 1.5)))
    found = {name: bench.Counts(count, 8.0, 0.5, 3.0) for name, count in counts.items()}
    monkeypatch.setattr(bench, "counts_per_flit_hop", lambda _, case, __: found.get(case["name"]))
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
        ({"d1_misses": 8}, {"case": 1.0}, True),
        ({"d1_misses": 7}, {"case": 1.0}, False),
        ({"ll_misses": 0.4}, {"case": 1.0}, False),
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
    found = measured(bench, monkeypatch, case, counts)
    assert found.right == passes
    assert ("FAILED case" in capsys.readouterr().out) != passes
    if "million_flit_hops_per_second" in target:
        assert "MISSED" in found.row()[-1]


def test_a_wrong_digest_fails(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    found = measured(bench, monkeypatch, {**BASE, "digest": "another"}, {})
    assert not found.right and "WRONG RESULT" in found.row()[-1]


def test_every_routing_is_compared_with_dimension_order() -> None:
    """On the same network at the same load, so that the ratio says something."""
    by_name = {case["name"]: case for case in CASES}
    compared = set()
    for case in CASES:
        if "against" not in case or not case["name"].startswith("routing "):
            continue
        base, ours = by_name[case["against"]]["spec"], json.loads(json.dumps(case["spec"]))
        assert base["network"]["routing"] == {"kind": "dimension_order"}
        compared.add(ours["network"]["routing"]["kind"])
        ours["network"]["routing"] = base["network"]["routing"]
        assert ours == base
        assert case["target"]["instructions_ratio"] == 1.5
    routings = {row["name"] for row in json.loads(_core.components())["routings"]}
    assert compared <= routings
    # Tables for networks of any shape run on a torus, too, where they saturate far below dimension order: no load suits both.
    of_any_network = {"lash", "up_down", "table", "relation", "ecmp", "spray", "graph_valiant", "graph_ugal"}
    # The others are not for a grid.
    for kind in routings - compared - of_any_network:
        with pytest.raises(fw.ConfigError, match=r"^network\.routing\.kind"):
            fw.bound(fw.Torus(4, 4, routing={"kind": kind}), fw.uniform(offered_load=0.1))


def test_trees_pipelines_and_records_are_compared_with_the_torus() -> None:
    """With the same VCs, buffers and packets, so that the ratio says something."""
    by_name = {case["name"]: case for case in CASES}
    compared, machines = {}, []
    for case in CASES:
        if "against" not in case or case["name"].startswith("routing "):
            continue
        base, ours = by_name[case["against"]]["spec"], case["spec"]
        if case["against"].startswith("simple spread"):
            # The same machine but for how its router and its interface work.
            assert (base["workload"], base["network"]["topology"]) == (ours["workload"], ours["network"]["topology"])
            assert ours["network"]["router"].items() >= base["network"]["router"].items()
            machines.append(case["target"]["instructions_ratio"])
            continue
        if case["name"].endswith("pipelined"):
            assert ours["network"]["router"] == {**base["network"]["router"], "pipeline": "pipelined"}
            assert ours["workload"] == base["workload"]
            machines.append(case["target"]["instructions_ratio"])
            continue
        assert base["network"]["topology"] == {"kind": "torus", "size": [32, 32]}
        assert base["network"]["router"] == {"vcs": 8, "buffer_flits": 16}
        assert ours["network"]["router"].items() >= base["network"]["router"].items()
        assert ours["workload"]["packet_flits"] == base["workload"]["packet_flits"]
        compared[case["name"]] = case["target"]["instructions_ratio"]
    trees = [ratio for name, ratio in compared.items() if name.startswith("fat tree")]
    others = [ratio for name, ratio in compared.items() if name.startswith(("dragonfly", "HyperX", "random"))]
    pipelines = [ratio for name, ratio in compared.items() if name.endswith("R = A = 1")]
    assert trees == [1.3] * 4
    assert others == [1.3] * 3
    assert machines == [1.1] * 5
    assert pipelines == [1.1] * 2
    recorded = next(case for case in CASES if case["spec"]["run"].get("record") == {"packets": True})
    base = by_name[recorded["against"]]
    assert {**recorded["spec"]["run"], "record": {}} == {**base["spec"]["run"], "record": {}}
    assert (recorded["digest"], recorded["flit_hops"]) == (base["digest"], base["flit_hops"])
    assert compared[recorded["name"]] == 1.08
    assert len(compared) == 10


#: Answers as BookSim does, with the exit code that it has after a good run; its configuration is left beside it.
BOOKSIM = """#!/bin/sh
cp "$1" "{folder}/seen.cfg"
echo "Accepted flit rate average= 0.1"
echo "Time taken is 2000 cycles"
echo "Accepted flit rate average = {accepted} (1 samples)"
echo "Hops average = 5 (1 samples)"
exit {code}
"""


@pytest.fixture
def others(bench: Any) -> Any:
    return importlib.import_module("others")


def a_booksim(folder: Path, accepted: float = 0.365, code: int = 255) -> str:
    program = folder / "booksim"
    program.write_text(BOOKSIM.format(folder=folder, accepted=accepted, code=code), encoding="utf-8")
    program.chmod(0o755)
    return str(program)


def beside(booksim: str) -> list[dict[str, Any]]:
    return [case for case in CASES if case.get("compare") == booksim]


def test_booksim_is_asked_for_the_network_pipeline_and_load_of_the_case(others: Any, tmp_path: Path) -> None:
    case = beside("BookSim")[0]["spec"]
    took = others.BookSim(a_booksim(tmp_path)).nanoseconds(case, tmp_path)
    assert 0 <= took.user < 1e9 / (0.365 * 64 * 5 * 2000) and took.elapsed > 0
    found = specification(read_settings([tmp_path / "seen.cfg"]))
    theirs, ours = (json.loads(_core.Plan(to_json(spec)).json)["spec"] for spec in (found, case))
    for table in ("network", "workload"):
        assert theirs[table] == ours[table]


@pytest.mark.parametrize(
    ("given", "said"), [({"accepted": 0.2}, "saturated or in deadlock"), ({"code": 1}, "failed")], ids=str
)
def test_a_run_of_booksim_that_went_wrong_is_no_comparison(
    others: Any, tmp_path: Path, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(SystemExit, match=said):
        others.BookSim(a_booksim(tmp_path, **given)).nanoseconds(beside("BookSim")[0]["spec"], tmp_path)


def test_one_thread_is_compared_by_its_cpu_time_and_several_by_the_time_that_passes(
    bench: Any, others: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen: list[int] = []

    def run_case(_: Path, spec: dict[str, Any], __: Path) -> tuple[dict[str, Any], Any]:
        seen.append(spec["run"]["threads"])
        return {"digest": case["digest"], "flit_hops": 100}, others.Took(4e-6, 2e-6)

    class Slow:
        name = "BookSim"

        def nanoseconds(self, *_: object) -> Any:
            return others.Took(1200.0, 1400.0)

    case = next(case for case in beside("BookSim") if "target" in case)
    monkeypatch.setattr(bench, "run_case", run_case)
    rows = bench.compare(Path(), Slow(), [case], argparse.Namespace(repeat=2), tmp_path)
    assert seen == [1, 2, 1, 2] and [row[0] for row in rows] == 2 * [case["name"]]
    assert rows[0][1:] == ["BookSim", "40.0", "1200", "30.0 (30.0 to 30.0)", ">= 50x: MISSED"]
    assert rows[1][2:] == ["20.0", "1400", "70.0 (70.0 to 70.0)", ">= 50x: reached"] and "2 threads" in rows[1][1]


def test_what_is_compared_is_there(
    others: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each case names one that it is compared with; BookSim runs where a binary is named, and a wrong name is an error."""
    names = {others.Caminos.name, others.BookSim.name}
    assert {case["compare"] for case in CASES if "compare" in case} == names
    found = others.installed(argparse.Namespace(no_caminos=True, booksim=a_booksim(tmp_path)))
    assert [other.name for other in found] == ["BookSim"]
    assert not others.installed(argparse.Namespace(no_caminos=True, booksim=""))
    assert "no binary of BookSim 2 is named" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="expected a program"):
        others.installed(argparse.Namespace(no_caminos=True, booksim=str(tmp_path / "none")))


def test_what_is_counted_is_the_case_itself_but_shorter(
    bench: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    counted: list[dict[str, Any]] = []

    def callgrind(command: list[str], **_: Any) -> Any:
        counted.append(json.loads(Path(command[-1]).read_text(encoding="utf-8"))["run"])
        cycles = counted[-1]["measurement_cycles"]
        return argparse.Namespace(returncode=0, stderr=str(cycles), stdout=json.dumps({"flit_hops": cycles}))

    monkeypatch.setattr(bench.shutil, "which", lambda _: "valgrind")
    monkeypatch.setattr(bench.subprocess, "run", callgrind)
    monkeypatch.setattr(bench, "COUNTED", {name: r"(\d+)" for name in bench.COUNTED})
    recorded = next(case for case in CASES if case["name"].endswith("packets recorded"))
    assert bench.counts_per_flit_hop(Path("program"), recorded, tmp_path) == bench.Counts(1.0, 1.0, 1.0, 1.0)
    assert [run["record"] for run in counted] == [{"packets": True}] * 2
    assert [run["measurement_cycles"] for run in counted] == recorded["instructions_at"]


@pytest.fixture
def roofline(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHES))
    return importlib.import_module("roofline")


#: A step of each loop: nanoseconds, instructions, misses of 32 kB and of 1 MB, wrong guesses.
STEPS = {
    "instructions": (2.0, 20, 0, 0, 0),
    "together, 32 kB": (1.0, 8, 0.5, 0, 0),
    "alone, 32 kB": (4.0, 6, 1, 0, 0),
    "together, 1 MB": (2.0, 8, 1, 0.5, 0),
    "alone, 1 MB": (20.0, 6, 1, 1, 0),
    "wrong guess": (4.0, 9, 0, 0, 0.5),
    "right guess": (1.5, 9, 0, 0, 0),
}


@pytest.fixture
def stored(bench: Any, tmp_path: Path) -> Path:
    """What a run of the bench leaves, with ceilings."""
    counts = bench.Counts(instructions=400.0, d1_misses=9.0, ll_misses=1.0, wrong_guesses=3.0)
    counted = bench.Measured("torus, 1-flit", flit_hops=100, nanoseconds=60.0, counts=counts)
    timed = bench.Measured("torus, 8-flit", flit_hops=100, nanoseconds=60.0)
    steps = {name: dict(zip(("ns", *bench.COUNTED), step, strict=True)) for name, step in STEPS.items()}
    file = tmp_path / "results.json"
    cases = [counted.numbers(), timed.numbers()]
    file.write_text(json.dumps({"machine": "a machine", "cases": cases, "ceilings": steps}), encoding="utf-8")
    return file


def test_the_time_of_a_flit_hop_has_two_bounds(roofline: Any, stored: Path) -> None:
    found = json.loads(stored.read_text(encoding="utf-8"))
    most = roofline.ceilings(found["ceilings"])
    assert most == roofline.Ceilings(10.0, together=(2.0, 4.0), alone=(4.0, 20.0), wrong_guess=5.0)
    bounds = roofline.bounds(found["cases"][0], most)
    # 400 instructions, 8 misses that the second cache has, one that it has not, three wrong guesses.
    assert bounds.parts == (40.0, 32.0, 20.0, 15.0) and bounds.sum == 107.0 and bounds.roof == 40.0
    many = roofline.bounds({**found["cases"][0], "d1_misses": 41.0}, most)
    assert many.roof == 80.0


def test_a_page_gets_the_table_and_a_file_the_picture(
    roofline: Any, stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page, picture = tmp_path / "page.md", tmp_path / "picture.png"
    page.write_text(f"before\n{roofline.START}old\n{roofline.END}\nbehind\n", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["roofline", str(stored), "--write", str(page), "--picture", str(picture)])
    assert roofline.main() == 0
    text = page.read_text(encoding="utf-8")
    assert "| torus, 1-flit | 40 | 60 | 107 | 37% | 30% | 19% | 14% |" in text and "8-flit" not in text
    assert text.startswith("before\n") and text.endswith("behind\n") and "old" not in text
    assert picture.stat().st_size > 10_000
    # Of another run its time, if it is less, and none of its counts.
    other = tmp_path / "other.json"
    cases = [{"case": "torus, 1-flit", "ns": 50.0}, {"case": "torus, 8-flit", "ns": 70.0}, {"case": "new", "ns": 1.0}]
    other.write_text(json.dumps({"cases": cases}), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["roofline", str(stored), str(other), "--write", str(page)])
    assert roofline.main() == 0 and "| torus, 1-flit | 40 | 50 | 107 |" in page.read_text(encoding="utf-8")
    kept = json.loads(stored.read_text(encoding="utf-8"))["cases"]
    assert [case["ns"] for case in kept] == [50.0, 60.0]
    monkeypatch.setattr(sys, "argv", ["roofline", str(stored), "--only", "nothing"])
    with pytest.raises(SystemExit, match="no case with counts matches 'nothing'"):
        roofline.main()
    for wrong in ("none.json", "page.md"):
        monkeypatch.setattr(sys, "argv", ["roofline", str(tmp_path / wrong)])
        with pytest.raises(SystemExit, match=rf"{wrong} is not what benches/run\.py --json writes"):
            roofline.main()
    monkeypatch.setattr(sys, "argv", ["roofline", str(stored), "--only", "("])
    with pytest.raises(SystemExit):
        roofline.main()
    assert "'(' is no regular expression" in capsys.readouterr().err


def test_loops_are_timed_and_counted_by_the_difference_of_two_lengths(
    roofline: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Set-up does not count: 3 s and a million instructions here."""

    def timed(command: list[str]) -> tuple[str, Any]:
        return "", roofline.others.Took(3 + int(command[2]) * 5e-9, 9.0)

    def counted(command: list[str], _: Path) -> tuple[dict[str, int], str]:
        assert command[3:] == ["64"]
        return {"instructions": 1_000_000 + 7 * int(command[2])}, ""

    monkeypatch.setattr(roofline.others, "timed", timed)
    monkeypatch.setattr(roofline.run, "counted", counted)
    step = roofline.a_step(Path("loops"), 2, ("chase", "64"), tmp_path)
    assert step == {"ns": pytest.approx(5.0), "instructions": 7.0}
