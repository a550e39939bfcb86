"""Names in a study file that mean nothing, and axes that cannot be meant, are errors before anything is simulated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import flitwork as fw
import pytest
from common import REPOSITORY, STUDY, Cli
from flitwork.base.input_files import tomllib
from flitwork.experiment import RESULT_COLUMNS, known_columns, load_study, parse_study, plan_study
from flitwork.values.schema import kinds, schema

AXIS = "N = [3, 4],"
X = 'x = "N"'
DERIVED = "completion_cycles / N"
QUICK = "quick = { grid = { N = [3] }, seeds = [1] }\n"

CASES: list[tuple[str, str, str, str, str, str, str]] = [
    # what is wrong, a part of the study, what stands there instead, then parts of path, value, expectation and hint
    ("x", X, 'x = "M"', "plots[0].x", '"M"', "a column of experiment e: experiment, N,", ""),
    ("y", '"cycles_per_N"', '"cycles_perN"', "plots[0].y", '"cycles_perN"', "cycles_per_N", "`cycles_per_N`?"),
    ("y that is text", '"cycles_per_N"', '"status"', "plots[0].y", '"status"', "a column with numbers of", ""),
    ("series", 'series = "workload.algorithm"', 'series = "workload.algoritm"', "plots[0].series", '"workload.algoritm"', "workload.algorithm", "`workload.algorithm`?"),
    ("panels", X, 'x = "N"\npanels = "sise"', "plots[0].panels", '"sise"', "size", "`size`?"),
    ("where", X, 'x = "N"\nwhere = { statuss = "complete" }', "plots[0].where.statuss", '"statuss"', "status", "`status`?"),
    ("value", X, 'x = "N"\nwhere = { "workload.algorithm" = "a2an" }', "plots[0].where.workload.algorithm", "'a2an'", "a2at, a2and", "`a2and`?"),
    ("value of another type", X, 'x = "N"\nwhere = { N = ["3"] }', "plots[0].where.N", "'3'", "a value of N: 3, 4", "`3`?"),
    ("axis in none", 'series = "workload.algorithm"', "", "plots[0]", "'a2at' and 'a2and' in one mark", "workload.algorithm in x, series or panels, or one", "would be averaged"),
    ("axis in none, two values", 'series = "workload.algorithm"', 'where = { "workload.algorithm" = ["a2at", "a2and"] }', "plots[0]", "in one mark", "workload.algorithm in x,", ""),
    ("axis in none, zipped", AXIS, 'N = [3, 4], "network.router" = [{ vcs = 2 }, { vcs = 4 }],', "plots[0]", "'vcs=2' and 'vcs=4'", "network.router in x,", ""),
    ("derived column", DERIVED, "completion_cycle / N", "experiments[0].columns.cycles_per_N", "completion_cycle / N", "completion_cycles", "`completion_cycles`?"),
    ("derived from text", DERIVED, "size / N", "experiments[0].columns.cycles_per_N", "size / N", "names out of N, terminals", ""),
    ("derived, no arithmetic", DERIVED, "N if N else 1", "experiments[0].columns.cycles_per_N", "N if N else 1", "arithmetic", ""),
    ("derived, name taken", "cycles_per_N =", "packets =", "experiments[0].columns.packets", '"packets"', "no other column", "rename"),
    ("derived, axis' name", "cycles_per_N =", "N =", "experiments[0].columns.N", '"N"', "no other column", "rename"),
    ("stalls not recorded", DERIVED, "stall_no_vc_flit_cycles / N", "experiments[0].columns.cycles_per_N", "stall_no_vc", "completion_cycles", ""),
    ("of another workload", DERIVED, "bound_accepted_load_flits_per_cycle / N", "experiments[0].columns.cycles_per_N", "bound_accepted_load", "bound_cycles", ""),
    ("seed twice", "[1, 2]", "[1, 2, 1]", "experiments[0].seeds[2]", "1", "each seed once", "same result"),
    ("negative seed", "[1, 2]", "[1, -2]", "experiments[0].seeds[1]", "-2", "from 0 to 2^64 - 1", ""),
    ("seed of quick twice", "seeds = [1] }", "seeds = [1, 1] }", "experiments[0].quick.seeds[1]", "1", "each seed once", ""),
    ("no seed in quick", "seeds = [1] }", "seeds = [] }", "experiments[0].quick.seeds", "[]", "at least 1", ""),
    ("value twice", AXIS, "N = [3, 4, 3],", "experiments[0].grid.N[2]", "3", "each value once", "remove one"),
    ("no values", AXIS, "N = [],", "experiments[0].grid.N", "[]", "at least one value", "add values or remove N"),
    ("no list", AXIS, "N = 3,", "experiments[0].grid.N", "3", "a list", "write N = [3]"),
    ("column's name", AXIS, "N = [3, 4], size = [1, 2],", "experiments[0].grid.size", '"size"', "no column of the results", "size_"),
    ("field spelled twice", AXIS, 'N = [3, 4], workload = { algorithm = ["a2a"] },', "experiments[0].grid.workload.algorithm", "a2a", "given once", "two spellings"),
    ("name of a zip", "seeds = [1, 2]", 'zip = { N = [5, 6], "network.router.vcs" = [2, 4] }', "experiments[0].zip.N", "sets N", "no other axis", "experiments[0].grid.N"),
    ("field of a table", AXIS, 'N = [3, 4], "network.router" = [{ vcs = 2 }, { vcs = 4 }], "network.router.vcs" = [2, 3],', "experiments[0].grid.network.router.vcs", "sets network.router.vcs", "a field that network.router does not set", "experiments[0].grid.network.router"),
    ("whole section", AXIS, 'N = [3, 4], workload = [{ kind = "all_to_all" }],', "experiments[0].grid.workload", '"workload"', "no column of the results", ""),
    ("zip's row twice", "seeds = [1, 2]", 'zip = { K = [1, 1], "network.router.vcs" = [2, 2] }', "experiments[0].zip[1]", "'K': 1", "each combination once", ""),
    ("axis without effect", AXIS, "N = [3, 4], vcs = [2, 4],", "experiments[0].grid.vcs", "[2, 4]", "some ${...} uses (N)", 'write "network.router.vcs"'),
    ("misspelled axis", AXIS, "N = [3, 4], algoritm = [2, 4],", "experiments[0].grid.algoritm", "[2, 4]", "some ${...} uses", "`algorithm`?"),
    ("quick axis", "quick = { grid = { N = [3] }", "quick = { grid = { M = [3] }", "experiments[0].quick.grid.M", "unknown key", "N, workload.algorithm", ""),
]  # fmt: skip


def parsed(change: str = "", to: str = "") -> Any:
    assert change in STUDY
    return parse_study(tomllib.loads(STUDY.replace(change, to, 1)))


@pytest.mark.parametrize(
    ("change", "to"),
    [
        ('series = "workload.algorithm"', 'where = { "workload.algorithm" = "a2at" }'),
        ('series = "workload.algorithm"', 'panels = "workload.algorithm"'),
        ("seeds = [1, 2]", 'zip = { K = ["two", "four"], "network.router.vcs" = [2, 4] }\nquick = { skip = true }'),
        (X, 'x = "completion_cycles"'),
        (f'columns = {{ cycles_per_N = "{DERIVED}" }}', f'columns = {{ cycles_per_N = "{DERIVED}", M = "2 * N" }}'),
        ('series = "workload.algorithm"', 'series = "workload"'),
    ],
)  # fmt: skip
def test_plots_that_tell_their_points_apart(change: str, to: str) -> None:
    text = STUDY.replace(change, to, 1)
    if "zip" in to:  # a label stands for what goes with it
        text = text.replace('series = "w', 'series = ["K", "w').replace('rithm"\n', 'rithm"]\n').replace(QUICK, "")
    if "M =" in to:  # what follows from an axis tells it apart
        text = text.replace(X, 'x = "M"')
    assert change in STUDY and plan_study(parse_study(tomllib.loads(text)))


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_faults_are_found_before_anything_runs(case: tuple[str, ...], tmp_path: Path) -> None:
    _, change, to, path, value, expected, hint = case
    with pytest.raises(fw.ConfigError) as caught:
        fw.run_study(parsed(change, to), tmp_path / "out")
    error = caught.value
    assert (path, value in error.value) == (error.path, True), str(error)
    assert expected in error.expected and hint in error.hint and bool(hint) <= bool(error.hint), str(error)
    assert not (tmp_path / "out").exists()


def test_the_smaller_version_is_checked_too(tmp_path: Path) -> None:
    text = STUDY.replace('grid = { N = [3, 4], "workload.algorithm" = ["a2at", "a2and"] }', "grid = { N = [3, 4] }")
    zipped = 'zip = { name = ["a", "b"], "workload.algorithm" = ["a2at", "a2and"] }\nseeds = [1, 2]'
    text = text.replace("seeds = [1, 2]", zipped).replace('series = "workload.algorithm"', 'series = "name"')
    plan_study(parse_study(tomllib.loads(text)))
    text = text.replace("quick = { grid = { N = [3] }", 'quick = { zip = { "workload.algorithm" = ["a2at"] }')
    with pytest.raises(fw.ConfigError, match=r"plots\[0\]\.series"):
        plan_study(parse_study(tomllib.loads(text)))


def test_a_plot_may_select_what_the_smaller_version_leaves_out() -> None:
    plan_study(parsed(X, 'x = "N"\nwhere = { N = 4 }'), quick=True)


def test_equal_numbers_and_truth_values_differ() -> None:
    record = STUDY.replace(AXIS, 'N = [3, 4], "run.record.stalls" = [true, false],')
    record = record.replace(X, 'x = "N"\npanels = "run.record.stalls"')
    assert len(plan_study(parse_study(tomllib.loads(record)))) == 16


def test_a_label_may_stand_beside_a_field_in_a_zip() -> None:
    text = STUDY.replace("seeds = [1, 2]", 'zip = { way = ["a", "b"], "network.router.vcs" = [2, 4] }')
    plan_study(parse_study(tomllib.loads(text.replace(X, 'x = "N"\npanels = "way"'))))


@pytest.mark.parametrize("path", sorted((REPOSITORY / "python").glob("flitwork/studies/*/study.toml")), ids=str)
def test_the_published_studies_name_columns_that_exist(path: Path) -> None:
    plan_study(load_study(path), quick=True)


def small(kind: str) -> dict[str, Any]:
    """A workload of that kind."""
    found = fw.synthesise(fw.Torus(4, 4), message_flits=1, packet_flits=1, budget_steps=1000, simulated=False)
    given: dict[str, dict[str, Any]] = {
        "timetable": {"timetable": found.timetable.spec["timetable"], "message_flits": 2},
        "all_to_all": {"algorithm": "a2at", "message_flits": 2},
        "collective": {"operation": "allreduce", "algorithm": "ring", "message_flits": 9},
        "schedule": {"schedule": fw.Schedule([[fw.Send(1, flits=2)], [fw.Receive(0, flits=2)]]).spec["schedule"]},
        "uniform": {"offered_load": 0.1},
        "traffic": {"offered_load": 0.1, "pattern": {"kind": "transpose"}},
        "burst": {"packets": 3, "pattern": {"kind": "transpose"}},
        "trace": {"packets": [[0, 0, 5, 2], [3, 1, 2, 1]]},
    }
    return {"kind": kind, **given[kind]}


# Rank programs run where somebody answers them, which a study cannot.
@pytest.mark.parametrize("kind", sorted(set(kinds(schema()["properties"]["workload"])) - {"programs"}))
@pytest.mark.parametrize("more", [False, True])
def test_every_column_of_a_result_is_known(kind: str, more: bool, tmp_path: Path) -> None:
    """What a result has and what is known of it before are the same names; numbers are numbers."""
    text = """
    [study]
    name = "one"
    [[experiments]]
    id = "e"
    """
    study = parse_study(tomllib.loads(text))
    open_loop = kind in ("uniform", "traffic")
    base = {
        "network": {
            "topology": {"kind": "torus", "size": [4, 4]},
            **({"routing": {"kind": "dimension_order", "tie": "by_message"}} if kind == "timetable" else {}),
        },
        "workload": small(kind),
        "run": {
            "warmup_cycles": 0,
            **({"measurement_cycles": 500} if open_loop else {}),
            "record": {"stalls": more},
        },
        **({"background": small("uniform")} if more else {}),
    }
    study = study.model_copy(update={"base": base})
    done = fw.run_study(study, tmp_path)
    (result,) = done.results.values()
    known = known_columns(study)["e"]
    there = {name for name, value in result.row.items() if value is not None}
    assert {"experiment", *there} == set(known.names)
    assert set(result.row) <= set(RESULT_COLUMNS)
    numbers = {name for name in there if isinstance(result.row[name], (int, float))}
    assert numbers == set(known.numbers)
    assert list(done.table.columns) == ["experiment", *result.row]


def test_the_command_names_the_fault(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "typo.toml"
    path.write_text(STUDY.replace('y = "cycles_per_N"', 'y = "cycles_perN"'))
    for command in ("run", "plan", "bound"):
        done = cli(command, path)
        assert done.returncode == 2 and "plots[0].y" in done.stderr and "`cycles_per_N`?" in done.stderr
    assert not (tmp_path / "results").exists()
