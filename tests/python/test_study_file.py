from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import flitwork as fw
import pandas as pd
import pytest
from common import REPOSITORY, STUDY
from flitwork.base.input_files import tomllib
from flitwork.experiment import expand, load_study, parse_study, plan_points, plan_study
from flitwork.experiment.expression import evaluate, fill


def parsed(change: str = "", to: str = "", extra: str = "") -> Any:
    assert change in STUDY
    return parse_study(tomllib.loads(STUDY.replace(change, to, 1) + extra))


def test_points_are_all_combinations() -> None:
    points = expand(parsed())
    assert len(points) == 8
    assert points[0].params == {"N": 3, "workload.algorithm": "a2at"}
    assert points[0].spec["network"]["topology"]["size"] == [3, 3]
    assert [p.seed for p in points[:2]] == [1, 2]
    assert points[-1].spec["workload"]["algorithm"] == "a2and"
    assert points[-1].label == "e(N=4, workload.algorithm=a2and, seed=2)"


def test_quick_replaces_axes_and_seeds() -> None:
    points = expand(parsed(), quick=True)
    assert [(p.params["N"], p.params["workload.algorithm"]) for p in points] == [(3, "a2at"), (3, "a2and")]
    assert expand(parsed("quick = {", "quick = { skip = true,"), quick=True) == []


def test_zip_goes_together_and_groups_multiply() -> None:
    study = parsed(
        ', "workload.algorithm" = ["a2at", "a2and"] }',
        ' }\nzip = { K = [1, 2], "network.nic.ports" = ["${K}", "${2 * K}"] }',
    )
    ports = [p.spec["network"]["nic"]["ports"] for p in expand(study)]
    assert sorted(set(ports)) == [1, 4] and len(ports) == 8
    groups = parsed(
        'grid = { N = [3, 4], "workload.algorithm" = ["a2at", "a2and"] }',
        'zip = [{ N = [3, 4], M = [1, 2] }, { "network.router.vcs" = [2, 3, 4] }]',
    )
    assert len(expand(groups)) == 12


def test_an_experiment_like_another() -> None:
    first: dict[str, Any] = {
        "id": "a",
        "seeds": [1, 2],
        "set": {"workload": {"kind": "all_to_all", "algorithm": "a2at"}, "network.router.vcs": 2},
        "grid": {"N": [5, 7], "network.router.buffer_flits": [10, 20]},
        "zip": [{"net": ["m", "t"], "network.topology.kind": ["mesh", "torus"]}, {"network.nic.ports": [1, 2]}],
        "quick": {"seeds": [1], "grid": {"N": [5]}},
    }
    second = {
        "id": "b",
        "like": "a",
        "seeds": [3],
        "set": {"network.router.vcs": 4},
        "grid": {"N": [9]},
        "zip": [{"network.nic.ports": [4]}],
        "quick": {"grid": {"N": [3]}},
    }
    base = {"network": {"topology": {"kind": "torus", "size": ["${N}", "${N}"]}}}
    study = parse_study({"study": {"name": "s"}, "base": base, "experiments": [first, second]})
    one, other = study.experiments
    assert other.id == "b" and other.seeds == [3]
    assert other.set == {**one.set, "network.router.vcs": 4} and one.set["network.router.vcs"] == 2
    assert other.grid == {"N": [9], "network.router.buffer_flits": [10, 20]}
    assert isinstance(one.zip, list) and other.zip == [one.zip[0], {"network.nic.ports": [4]}]
    assert other.quick.seeds == [1] and other.quick.grid == {"N": [3]} and one.quick.grid == {"N": [5]}
    assert {p.params["N"] for p in expand(study, quick=True) if p.experiment == "b"} == {3}
    backwards = {"study": {"name": "s"}, "base": base, "experiments": [second, first]}
    with pytest.raises(fw.ConfigError, match=r"experiments\[0\]\.like"):
        parse_study(backwards)


def test_another_kind_replaces_its_table() -> None:
    study = parsed("seeds = [1, 2]", 'set = { workload = { kind = "uniform", offered_load = 0.1 } }').experiments[0]
    assert study.set["workload"]["kind"] == "uniform"
    text = STUDY.replace('"workload.algorithm" = ["a2at", "a2and"]', '"run.warmup_cycles" = [10]')
    text = text.replace("seeds = [1, 2]", 'set = { workload = { kind = "uniform", offered_load = 0.1 } }')
    points = expand(parse_study(tomllib.loads(text)))
    assert points[0].spec["workload"] == {"kind": "uniform", "offered_load": 0.1}
    kept = parsed("seeds = [1, 2]", 'set = { "network.topology.kind" = "mesh" }')
    assert expand(kept)[0].spec["network"]["topology"] == {"kind": "mesh", "size": [3, 3]}


#: What is no name of a file in the folder of the figures.
_NO_FILE_NAMES = ("../../p", "/abs/x", "", ".hidden", "..", "a/b", "a\\\\b", "a b", 101 * "x")


@pytest.mark.parametrize(
    ("change", "to", "path", "hint"),
    [
        ("[study]", "[studdy]", "studdy", "did you mean `study`?"),
        ('name = "tiny"', 'nam = "tiny"', "study.nam", "did you mean `name`?"),
        ('name = "tiny"', 'name = "../tiny"', "study.name", ""),
        ('name = "tiny"', "name = 5", "study.name", ""),
        ("grid = {", "gird = {", "experiments[0].gird", "did you mean `grid`?"),
        ("N = [3, 4]", "N = 3", "experiments[0].grid.N", "write N = [3]"),
        ("N = [3, 4]", "N = []", "experiments[0].grid.N", ""),
        ("N = [3, 4]", "N = {}", "experiments[0].grid.N", "remove N"),
        ("N = [3, 4]", 'N = [3, 4], "workload.offered_load" = {}', "experiments[0].grid.workload.offered_load", "remove"),
        ("N = [3, 4]", "N = [3, 4], workload = { offered_load = {} }", "experiments[0].grid.workload.offered_load", "remove"),
        ("quick = { grid = {", 'quick = { grid = { "workload.algorithm" = {},', "experiments[0].quick.grid.workload.algorithm", "remove"),
        ("N = [3, 4]", "N = [3, 0]", "network.topology.size[0]", ""),
        ("N = [3, 4]", 'N = [3, "x"]', "network.topology", ""),
        ('"workload.algorithm" =', '"wrkload.algorithm" =', "experiments[0].grid.wrkload", "did you mean `workload`?"),
        ('"workload.algorithm" =', '"workload.algoritm" =', "workload.algoritm", "did you mean algorithm?"),
        ('"workload.algorithm" =', '"run.seed" =', "experiments[0].grid.run.seed", "seeds ="),
        ('"workload.algorithm" = [', 'run = [{ seed = 3 }], "workload.algorithm" = [', "experiments[0].grid.run.seed", "seeds ="),
        ("[base.network.topology]", "[base.run]\nseed = 7\n[base.network.topology]", "base.run.seed", "seeds = [7]"),
        ("seeds = [1, 2]", 'set = { "run.seed" = 7 }', "experiments[0].set.run.seed", "seeds = [7]"),
        ("seeds = [1, 2]", "set = { run = { seed = 7 } }", "experiments[0].set.run.seed", "seeds = [7]"),
        ("seeds = [1, 2]", "seeds = 2", "experiments[0].seeds", ""),
        ("seeds = [1, 2]", "seeds = []", "experiments[0].seeds", ""),
        ("seeds = [1, 2]", 'zip = { A = [1, 2], B = [1] }', "experiments[0].zip", "go together"),
        ("[base.network.topology]", "[base.netwrk.topology]", "base.netwrk", "did you mean `network`?"),
        ('"${N}", "${N}"', '"${M}", "${N}"', "network.topology.size[0]", ""),
        ('"${N}", "${N}"', '"${N +}", "${N}"', "network.topology.size[0]", ""),
        ('"${N}", "${N}"', '"${__import__}", "${N}"', "network.topology.size[0]", ""),
        ("quick = { grid", "quick = { girds", "experiments[0].quick.girds", "did you mean `grid`?"),
        ('experiment = "e"', 'experiment = "f"', "plots[0].experiment", ""),
        ('x = "N"', 'x = "N"\nxscale = "logarithmic"', "plots[0].xscale", ""),
        ('x = "N"', 'x = "N"\nylimit = [0, 1]', "plots[0].ylimit", "did you mean `ylim`?"),
        ('x = "N"', "", "plots[0].x", "add x"),
        *(('id = "figure"', f'id = "{name}"', "plots[0].id", "") for name in _NO_FILE_NAMES),
        ('id = "e"', 'id = "../e"', "experiments[0].id", ""),
        ('name = "tiny"', f'name = "{101 * "x"}"', "study.name", ""),
        ('x = "N"', 'x = "N"\nylim = [0, inf]', "plots[0].ylim", "leave it out"),
        ('x = "N"', 'x = "N"\nxlim = [nan, 1]', "plots[0].xlim", "leave it out"),
        ('x = "N"', 'x = "N"\nylim = [1, 1]', "plots[0].ylim", "leave it out"),
        ('x = "N"', 'x = "N"\nxscale = "log"\nxlim = [0, 10]', "plots[0].xlim", ""),
        ('x = "N"', 'x = "N"\nlines = [{ y = inf }]', "plots[0].lines[0].y", ""),
        ('"completion_cycles / N"', '"completion_cycles ** 9999"', "experiments[0].columns.cycles_per_N", ""),
        ('"completion_cycles / N"', '"N ** -9999"', "experiments[0].columns.cycles_per_N", ""),
        ('"completion_cycles / N"', '"completion_cycles * (1 / (2 - 2))"', "experiments[0].columns.cycles_per_N", "zero"),
        ('"completion_cycles / N"', '"N / N", "" = "1"', "experiments[0].columns", "name the field"),
        ('"completion_cycles / N"', '"N / N", "a..b" = "1"', "experiments[0].columns", "did you mean `a.b`?"),
        ("seeds = [1, 2]", 'found = { "" = { experiment = "x", column = "completion_cycles" } }', "experiments[0].found", "name the field"),
        ('"completion_cycles / N"', '"((((N ** 64) ** 64) ** 64) ** 64)"', "experiments[0].columns.cycles_per_N", "at N = 3, workload.algorithm = a2at it is"),
        ('"completion_cycles / N"', '"1 / ((N - 3) * 9e99 ** 4)"', "experiments[0].columns.cycles_per_N", ""),
        ('"completion_cycles / N"', '"0 * 1e999"', "experiments[0].columns.cycles_per_N", ""),
    ],
)  # fmt: skip
def test_faults_are_named(change: str, to: str, path: str, hint: str) -> None:
    with pytest.raises(fw.ConfigError) as caught:
        plan_study(parsed(change, to))
    assert path in caught.value.path
    assert hint in caught.value.hint


def test_a_list_of_a_wrong_length_is_explained() -> None:
    with pytest.raises(fw.ConfigError) as caught:
        parsed("seeds = [1, 2]", "seeds = []")
    assert (caught.value.value, caught.value.expected) == ("[]", "a list of at least 1 value")
    with pytest.raises(fw.ConfigError, match="a list of at most 2 values"):
        parsed('x = "N"', 'x = "N"\nxlim = [0.0, 1.0, 2.0]')


def test_a_study_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(STUDY, encoding="utf-8-sig")
    assert load_study(tmp_path / "s.toml").study.name == "tiny"


def test_an_experiment_is_named_once() -> None:
    with pytest.raises(fw.ConfigError, match="no other has"):
        parsed(extra='[[experiments]]\nid = "e"\n')


def test_a_fault_in_a_point_names_the_point() -> None:
    with pytest.raises(fw.ConfigError) as caught:
        plan_points(expand(parsed("N = [3, 4]", "N = [3, 0]")))
    assert caught.value.path.startswith("experiments[0]: e(N=0, workload.algorithm=a2at, seed=1): ")


def test_expressions() -> None:
    names = {"N": 5, "workload.message_flits": 100}
    assert evaluate("2 * N * N", names, "p") == 50
    assert evaluate("(N ** 2 - 1) // 3 % 5 - -1", names, "p") == 4
    assert evaluate("workload.message_flits / 8", names, "p") == 12.5
    assert evaluate("min(N, 3) + max(N, 7)", names, "p") == 10
    assert fill({"a": ["${N}", "x${N + 1}y"], "b": 2}, names, "") == {"a": [5, "x6y"], "b": 2}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "N.real",
        "M",
        "f(N)",
        "N if N else 1",
        "[N]",
        "'a'",
        "N and 1",
        "True",
        "N / 0",
        "9 ** 9 ** 9",
        "lambda: 1",
        "(" * 300,
    ],
)
def test_nothing_but_arithmetic_is_evaluated(text: str) -> None:
    with pytest.raises(fw.ConfigError):
        evaluate(text, {"N": 5}, "p")


def test_powers_of_columns() -> None:
    column = pd.Series([2, 3, 3_000_000_000])
    squares = evaluate("x ** 2", {"x": column}, "p")
    assert list(squares) == [4, 9, 9e18]  # beyond what whole numbers of NumPy hold
    assert list(evaluate("x ** 2", {"x": column[:2]}, "p")) == [4, 9]
    assert evaluate("x ** 2", {"x": column[:2]}, "p").dtype == "int64"
    assert list(evaluate("x ** -1", {"x": column[:1]}, "p")) == [0.5]
    # What a result makes of an exponent is not known before: then there is no value.
    powers = evaluate("2 ** x", {"x": column}, "p")
    assert list(powers[:2]) == [4, 8] and math.isnan(powers[2])
    with pytest.raises(fw.ConfigError, match="at most 64"):
        evaluate("2 ** x", {"x": 65}, "p")


def test_large_whole_numbers_of_columns_do_not_wrap_around() -> None:
    column = pd.Series([3, 2**62])
    assert list(evaluate("x + x", {"x": column}, "p")) == [6, 2.0**63]
    assert list(evaluate("x * 4 - x", {"x": column}, "p")) == [9, 3 * 2.0**62]
    assert evaluate("x + 1", {"x": column}, "p").tolist() == [4, 2**62 + 1]
    assert list(evaluate("x * (2 ** 63)", {"x": column[:1]}, "p")) == [3 * 2.0**63]


def test_a_number_of_a_column_that_is_too_large_names_its_point() -> None:
    columns = {"x": pd.Series([1.0, 7.0, math.inf, 0.0])}
    # What is undefined has no value, and what was infinite before stays so.
    for text in ("x / 0", "1 / x", "0 / x", "x ** -1", "x * 2", "x // x", "x % x"):
        evaluate(text, columns, "p", str)
    with pytest.raises(fw.ConfigError, match=r"numbers below 2\^1024; at 1 it is larger"):
        evaluate("((x ** 64) ** 64)", columns, "p", str)
    # What follows from results is not known before they are there: it is infinite.
    assert evaluate("((x ** 64) ** 64)", columns, "p")[1] == math.inf


@pytest.mark.parametrize("path", sorted((REPOSITORY / "examples").glob("*.toml")), ids=lambda path: path.name)
def test_the_examples_can_be_planned(path: Path) -> None:
    assert plan_study(load_study(path))
    assert plan_study(load_study(path), quick=True)


def test_toml_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text("[study\n")
    with pytest.raises(fw.ConfigError, match="TOML"):
        load_study(path)
    with pytest.raises(fw.ConfigError, match="No such file"):
        load_study(tmp_path / "missing.toml")
    with pytest.raises(fw.ConfigError, match="a TOML file, not a folder"):
        load_study(tmp_path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("completion_cycles / (N - 3)", [math.nan, 1]),
        ("N // (N - 3)", [math.nan, 4]),
        ("(N - 3) ** -1", [math.nan, 1]),
        ("2 ** (N - 4)", [0.5, 1]),
    ],
)
def test_a_column_has_no_value_where_it_divides_by_0(text: str, expected: list[float], tmp_path: Path) -> None:
    study = parsed("completion_cycles / N", text.replace("completion_cycles", "terminals / 16"))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        table = fw.run_study(study, tmp_path, quick=False).table
    assert list(table.groupby("N")["cycles_per_N"].first()) == pytest.approx(expected, nan_ok=True)
    assert pd.read_csv(tmp_path / "results.csv")["cycles_per_N"].isna().sum() == 4 * sum(map(math.isnan, expected))
