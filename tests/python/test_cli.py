from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from pathlib import Path

import flitwork as fw
import pandas as pd
import pytest
from common import COMMAND, REPOSITORY, STUDY, Cli, environment

COMMANDS = (
    *("run", "reproduce", "simulate", "plan", "bound", "check", "draw", "curve", "burst", "booksim"),
    *("msccl", "list", "schema", "show"),
)


def test_help_names_every_command(cli: Cli) -> None:
    text = cli("--help").stdout
    assert all(command in text for command in COMMANDS)
    assert "Exit codes" in text


@pytest.mark.parametrize("command", COMMANDS)
def test_help_teaches_by_example(cli: Cli, command: str) -> None:
    done = cli(command, "--help")
    assert done.returncode == 0 and f"flitwork {command} " in done.stdout


def test_the_documentation_has_every_command_and_option(cli: Cli) -> None:
    page = (REPOSITORY / "docs" / "cli.md").read_text()
    for command in COMMANDS:
        assert f"`flitwork {command}" in page, command
        for option in re.findall(r"--[a-z-]+", cli(command, "--help").stdout):
            assert option in page, f"{command} {option}"


def test_colours_only_on_a_terminal(cli: Cli) -> None:
    for args in (("list", "algorithms"), ("check", "a2at", "--size", "3x3"), ("simulate", "a2ta"), ("--help",)):
        done = cli(*args)
        assert "\x1b" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (("simulat",), 2, "Did you mean 'simulate'?"),
        (("simulate",), 2, "WHAT"),
        (("simulate", "a2ta"), 2, "did you mean `a2a`?"),
        (("simulate", "tiny.toml"), 2, "there is no file tiny.toml"),
        (("simulate", "butterfly"), 2, "collective --set operation=all_to_all --set algorithm=butterfly"),
        (("pace", "uniform"), 2, "traffic has no steps"),
        (("simulate", "a2at", "--set", "vsc=2"), 2, "did you mean `vcs`?"),
        (("simulate", "a2at", "--set", "vcs"), 2, "KEY=VALUE"),
        (("simulate", "a2at", "--set", "vcs=1"), 2, "at least 2"),
        (("simulate", "a2at", "--size", "9by9"), 2, "9x9"),
        (("simulate", "a2at", "--size", "-3x3"), 2, "at least 1"),
        (("simulate", "a2at", "--size", "99999999999999999999x3"), 2, "at most 8192"),
        (("simulate", "a2at", "--size", "8193x3"), 2, "at most 8192"),
        (("simulate", "a2at", "--size", "4x4", "--wrap", "z"), 2, "x, y, 0, 1"),
        (("simulate", "a2at", "--size", "4x4", "--wrap", "0,0"), 2, "each dimension once"),
        (("simulate", "a2at", "--size", "4x4", "--wrap", "xx"), 2, "each dimension once"),
        (("simulate", "a2at", "--size", "4x4", "--wrap", "x,0"), 2, "each dimension once"),
        (("simulate", "uniform", "--load", "0.1", "--load", "0.2"), 2, "given twice"),
        (("simulate", "a2at", "-s", "4x4", "--size", "5x5"), 2, "--size"),
        (("simulate", "a2at", "-s", "4x4", "--size", "5x5"), 2, "given twice"),
        (("run", "tiny.toml", "--jobs", "1", "-j2"), 2, "given twice"),
        (("simulate", "a2at", "--set", "routing=duat"), 2, "did you mean duato?"),
        (("simulate", "a2at", "--mesh", "--wrap", "x"), 2, "in a mesh no dimension wraps"),
        (("simulate", "a2at", "--buffer", "16KB"), 2, "`--set buffer_flits=VALUE`"),
        (("simulate", "a2at", "--vcs", "4"), 2, "write --set vcs=VALUE"),
        (("simulate", "a2at", "--set", "buffer_flits=16KB"), 2, "a number of flits"),
        (("simulate", "a2at", "--set", "vcs="), 2, "KEY=VALUE"),
        (("simulate", "a2at", "--set", "vcs=4", "--set", "vcs=8"), 2, "each key once"),
        (("simulate", "a2at", "--set", "ports=2", "--ports", "4"), 2, "--ports already"),
        (("simulate", "a2at", "--set", "packet_flits=2", "--packet-flits", "4"), 2, "--packet-flits already"),
        (("simulate", "a2at", "--message-flits", "5000000000"), 2, "1 to 4294967295"),
        (("simulate", "uniform", "--load", "much"), 2, "a number"),
        (("simulate", "a2at", "--size", "3x3", "--save", "/proc/x.parquet"), 2, "can be written to"),
        (("run", "tiny.toml", "--vcs", "4"), 2, "stands in the study file"),
        (("run", "tiny.toml", "--set", "vcs=4"), 2, "stands in the study file"),
        (("run", "."), 2, "not a folder"),
        (("plan", "tiny.toml", "--size", "5x5"), 2, "--size = given beside a study file"),
        (("bound", "tiny.toml", "--set", "vcs=4"), 2, "--set = given beside a study file"),
        (("plan", "a2at", "--quick"), 2, "only a study has a smaller version"),
        (("check", "uniform"), 2, "one of a2a"),
        (("show", "."), 2, "is a folder"),
        (("simulate", "a2at", "--ports", "0"), 2, "network.nic.ports"),
        (("simulate", "uniform"), 2, "add --load VALUE"),
        (("simulate", "uniform", "--load", "0.1", "--set", "offered_load=0.2"), 2, "there is --load already"),
        (("simulate", "hotspot", "--load", "0.1"), 2, "workload.pattern.terminals = nothing"),
        (("simulate", "hotspot", "--load", "0.1"), 2, "add --set terminals=VALUE"),
        (("simulate", "shuffle", "--load", "0.1", "--set", "process=on_off"), 2, "workload.process.mean_on_cycles"),
        (("simulate", "shuffle", "--load", "0.1", "--set", "process=on_off"), 2, "add --set 'process={kind="),
        (("simulate", "shuffle", "--load", "0.1", "--set", "packet_flits={x=1.0}"), 2, "packet_flits={1=0.8, 9=0.2}"),
        (
            ("simulate", "shuffle", "--load", "0.1", "--set", "include_self=false"),
            2,
            "--set include_self = unknown key",
        ),
        (
            ("simulate", "shuffle", "--load", "0.1", "--set", "include_self=false"),
            2,
            "uniform: what is sent may be told",
        ),
        (("simulate", "a2at", "--set", "sl_to_vl=[0, 1]"), 2, "by its place: --set router.sl_to_vl=VALUE"),
        (("simulate", "a2at", "--set", "router=3"), 2, "it is a table: --set router.FIELD=VALUE"),
        (("simulate", "a2at", "--set", "network.router.vcs=3"), 2, "without network: --set router.vcs=VALUE"),
        (("simulate", "a2at", "--set", "topology.size=[4, 4]"), 2, "--size says it"),
        (("simulate", "a2at", "--set", "network.size=[4, 4]"), 2, "--size says it"),
        (("simulate", "a2at", "--set", "topology=torus"), 2, "--topology says it"),
        (("simulate", "a2at", "--size", ""), 2, '--size = ""'),
        (("simulate", "a2at", "--set", "copy_flits_per_cycle=2"), 2, "--set host.copy_flits_per_cycle=VALUE"),
        (("simulate", "a2at", "--set", "sw_allocator.iterations=2"), 2, "--set router.sw_allocator.iterations=VALUE"),
        (("simulate", "a2at", "--set", "operations=true"), 2, "bus.operations=VALUE or --set run.record.operations="),
        (("simulate", "a2at", "--size", "3x3", "--save", "x.txt"), 2, "a file .parquet or .csv"),
        (("simulate", "a2at", "--size", "3x3", "--save", "d"), 2, "a file .parquet or .csv"),
        (("curve", "a2at"), 2, "PATTERN = a2at"),
        (("burst", "hotspo", "--packets", "1"), 2, "did you mean `hotspot`?"),
        (("burst", "a2at", "--packets", "1"), 2, "PATTERN = a2at"),
        (("burst", "shuffle"), 2, "--packets"),
        (("burst", "shuffle", "--packets", "1,x"), 2, "whole numbers with commas"),
        (("burst", "shuffle", "--packets", "1", "--rate", "fast"), 2, "numbers with commas"),
        (("burst", "shuffle", "--packets", "1", "--rate", "2.5"), 2, "workload.rate"),
        (("burst", "shuffle", "--packets", "0"), 2, "1 to 4294967295"),
        (("burst", "shuffle", "--packets", "1", "--set", "packets=2"), 2, "--packets instead"),
        (("burst", "shuffle", "--packets", "1", "--set", "seed=2"), 2, "--first-seed instead"),
        (("burst", "shuffle", "--packets", "1", "--set", "terminals=[1]"), 2, "--set terminals = unknown key"),
        (("burst", "shuffle", "--packets", "1", "--set", "process=on_off"), 2, "--rate instead"),
        (("burst", "hotspot", "--packets", "1"), 2, "add --set terminals=VALUE"),
        (("burst", "shuffle", "--packets", "1", "--trials", "0"), 2, "--trials"),
        (("burst", "shuffle", "--packets", "4", "--trials", "2", "--set", "max_cycles=20"), 3, "2 of 2 points failed"),
        (("simulate", "uniform", "--sync", "local", "--load", "0.1"), 2, "workload.sync"),
        (("simulate", "a2at", "--set", "max_cycles=10"), 3, "not complete after 10 cycles"),
        (("run", "missing.toml"), 2, "No such file"),
        (("run", "missing.toml", "--jobs", "0"), 2, "--jobs"),
        (("plan", "missing.toml"), 2, "No such file"),
        (("show", "missing.parquet"), 2, "no such file"),
        (("reproduce", "takaue-2011"), 2, "error"),
        (("list", "algorithm"), 2, "algorithms"),
    ],
)
def test_exit_codes(cli: Cli, args: tuple[str, ...], code: int, said: str) -> None:
    done = cli(*args)
    assert done.returncode == code, done.stderr
    assert said in done.stderr and "Traceback" not in done.stderr


def test_errors_are_json_for_machines(cli: Cli) -> None:
    done = cli("simulate", "a2at", "--set", "vcs=1", "--json")
    error = json.loads(done.stderr)
    assert error["error"] == "ConfigError" and error["path"] == "network.router.vcs" and error["value"] == "1"
    assert error["expected"] and error["hint"]


def test_usage_errors_are_json_for_machines(cli: Cli) -> None:
    for args in (
        ("simulate",),
        ("simulat",),
        ("simulate", "uniform", "--load", "much"),
        ("run", "x.toml", "--vcs", "4"),
    ):
        done = cli(*args, "--json")
        error = json.loads(done.stderr)
        assert done.returncode == 2 and not done.stdout
        assert error["error"] == "UsageError" and error["message"] and error["hint"]


def test_what_was_not_measured_is_no_number(cli: Cli) -> None:
    args = ("simulate", "uniform", "--load", "0.000001", "--set", "measurement_cycles=10")
    row = json.loads(cli(*args, "--json").stdout)
    assert row["packet_latency_mean_cycles"] is None and row["mean_hops"] is None
    assert re.search(r"packet_latency_mean_cycles\s+-\s", cli(*args).stdout)
    result = fw.simulate(fw.Torus(8, 8), fw.uniform(offered_load=1e-6), measurement_cycles=10)
    assert math.isnan(result.mean_packet_latency_cycles) and "no packet measured" in repr(result)
    assert result.summary["packet_latency_p99_cycles"].isna().all()


def test_a_saturated_network_has_no_latency(cli: Cli, tmp_path: Path) -> None:
    args = ("simulate", "uniform", "--size", "4x4", "--mesh", "--load", "1", "--set", "measurement_cycles=3000")
    done = cli(*args, "--save", "r.parquet")
    for shown in (done, cli("show", "r.parquet")):
        latencies = re.findall(r"(?:packet|network)_latency_\w+_cycles +(\S+)", shown.stdout)
        assert len(latencies) == 14 and set(latencies) == {"-"}
        assert re.search(r"accepted_load_flits_per_cycle +0\.\d", shown.stdout) and "saturated" in shown.stdout
        assert "latencies grow with the length of the run" in shown.stderr
    # For machines the status stands beside it.
    row = json.loads(cli(*args, "--json").stdout)
    assert row["status"] == "saturated" and row["packet_latency_mean_cycles"] > 0
    result = fw.load(tmp_path / "r.parquet")
    assert "latency" not in repr(result) and "saturated, accepted 0." in repr(result)


def test_work_that_completes_has_no_offered_load(cli: Cli) -> None:
    row = json.loads(cli("simulate", "a2at", "--size", "3x3", "--json").stdout)
    assert row["offered_load_flits_per_cycle"] is None and row["accepted_load_flits_per_cycle"] > 0
    assert "offered_load" not in cli("simulate", "a2at", "--size", "3x3").stdout


def test_dimensions_that_wrap(cli: Cli) -> None:
    for wrap in ("xz", "0,2", "x,2"):
        plan = json.loads(cli("plan", "uniform", "--load", "0.1", "--size", "4x4x3", "--wrap", wrap, "--json").stdout)
        topology = plan["spec"]["network"]["topology"]
        assert topology["kind"] == "grid" and topology["wrap"] == [True, False, True]


def test_parameters_of_a_pattern(cli: Cli) -> None:
    args = ("plan", "hotspot", "--load", "0.1", "--set", "terminals=[0,3]", "--set", "shares=[1,2]", "--json")
    pattern = json.loads(cli(*args).stdout)["spec"]["workload"]["pattern"]
    assert pattern == {"kind": "hotspot", "terminals": [0, 3], "shares": [1.0, 2.0]}


def test_shares_of_lengths_on_the_command_line(cli: Cli) -> None:
    args = ("plan", "shuffle", "--load", "0.1", "--set", "packet_flits={1=0.8, 9=0.2}", "--json")
    lengths = json.loads(cli(*args).stdout)["spec"]["workload"]["packet_flits"]
    assert lengths == [{"flits": 1, "share": 0.8}, {"flits": 9, "share": 0.2}]


def test_a_summary_is_saved_as_csv(cli: Cli, tmp_path: Path) -> None:
    done = cli("simulate", "a2at", "--size", "3x3", "--save", "x.csv", "--json")
    (row,) = pd.read_csv(tmp_path / "x.csv").to_dict("records")
    assert row["digest"] == json.loads(done.stdout)["digest"] and row["topology"] == "torus"


def test_the_largest_size_is_that_of_the_simulator() -> None:
    fw.bound(fw.Mesh(8192), fw.uniform(offered_load=0.001))
    with pytest.raises(fw.ConfigError, match="1 to 8192"):
        fw.bound(fw.Mesh(8193), fw.uniform(offered_load=0.001))


def test_a_reader_that_leaves_is_no_failure(tmp_path: Path) -> None:
    for args in ("list patterns", "check a2at --size 9x9 --all"):
        shell = f"{' '.join(COMMAND)} {args} | head -n 1; exit ${{PIPESTATUS[0]}}"
        assert subprocess.run(["bash", "-c", shell], cwd=tmp_path, capture_output=True, check=False).returncode == 0


INTERRUPTING = "import signal\nsignal.raise_signal(signal.SIGINT)\n"


@pytest.mark.parametrize("as_module", [True, False])
def test_ctrl_c_while_the_command_loads(tmp_path: Path, as_module: bool) -> None:
    (tmp_path / "typer.py").write_text(INTERRUPTING)
    if as_module:
        done = run_in(tmp_path, "-m", "flitwork", "list", "patterns")
    else:
        # What pip writes as the console script.
        (tmp_path / "bin").mkdir()
        script = tmp_path / "bin" / "flitwork"
        script.write_text("import sys\nsys.path.insert(0, '.')\nfrom flitwork.cli import main\nsys.exit(main())\n")
        done = run_in(tmp_path, script)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_other_programs_keep_their_interrupts(tmp_path: Path) -> None:
    (tmp_path / "typing_extensions.py").write_text(INTERRUPTING)
    (tmp_path / "mine.py").write_text("import flitwork as fw\nfw.simulate\n")
    done = run_in(tmp_path, tmp_path / "mine.py")
    assert done.returncode == -2 and "KeyboardInterrupt" in done.stderr


def run_in(folder: Path, *script: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *map(str, script)]
    return subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=False)


def test_simulate_and_show(cli: Cli, tmp_path: Path) -> None:
    done = cli(
        "simulate",
        "a2at",
        "--size",
        "5x5",
        "--sync",
        "local",
        "--set",
        "buffer_flits=20",
        "--save",
        "r.parquet",
        "--json",
    )
    row = json.loads(done.stdout)
    work = fw.all_to_all("a2at", sync="local")
    assert row["digest"] == fw.simulate(fw.Torus(5, 5, buffer_flits=20), work).digest
    assert json.loads(cli("show", "r.parquet", "--json").stdout)["summary"]["digest"] == row["digest"]
    assert "completion_cycles" in cli("show", "r.parquet").stdout


def test_bursts_on_the_command_line_are_those_of_python(cli: Cli, tmp_path: Path) -> None:
    network = ("--size", "4x4", "--set", "vcs=4", "--set", "packet_flits={1=0.5, 9=0.5}", "--set", "warmup_cycles=100")
    burst = ("hotspot", "--set", "terminals=[3]", "--packets", "1,4", "--rate", "0,0.5", "--background-load", "0.01")
    trials = ("--trials", "2", "--first-seed", "5", "--out", "b", "--jobs", "1")
    done = cli("burst", *burst, *network, *trials, "--json")
    assert done.returncode == 0, done.stderr
    points = json.loads(done.stdout)["points"]
    ours = fw.burst(
        fw.Torus(4, 4, vcs=4), "hotspot", parameters={"terminals": [3]}, packets=[1, 4], rate=[0.0, 0.5],
        packet_flits={1: 0.5, 9: 0.5}, trials=2, first_seed=5, background_load=0.01, warmup_cycles=100,
    )  # fmt: skip
    assert [p["mean_duration_cycles"] for p in points] == ours.points["mean_duration_cycles"].tolist()
    assert sorted(pd.read_csv(tmp_path / "b" / "trials.csv")["digest"]) == sorted(ours.table["digest"])
    assert all((tmp_path / file).exists() for file in json.loads(done.stdout)["files"])
    again = cli("burst", *burst, *network, *trials)
    assert "8 stored already" in again.stderr and "burst of hotspot on torus 4x4; durations in cycles" in again.stdout


def test_check_prints_the_phases(cli: Cli) -> None:
    done = cli("check", "a2at", "--size", "9x9", "--ports", "4")
    assert done.returncode == 0
    assert "every ordered pair exactly once" in done.stdout and "1.0000 of the lower bound" in done.stdout
    mesh = json.loads(cli("check", "a2at", "--size", "9x9", "--mesh", "--ports", "2", "--json").stdout)
    assert mesh["phase_sum_over_bound"] == 1


def test_plan_and_bound_of_a_study(cli: Cli, study: Path) -> None:
    plans = json.loads(cli("plan", study, "--json").stdout)
    assert len(plans) == 8 and plans[0]["spec"]["network"]["topology"]["size"] == [3, 3]
    assert "8 simulations" in cli("plan", study).stdout
    bounds = json.loads(cli("bound", study, "--json").stdout)
    assert [b["point"] for b in bounds] == [
        f"e(N={n}, workload.algorithm={a})" for n in (3, 4) for a in ("a2at", "a2and")
    ]
    assert "bisection" in cli("bound", "a2at", "--size", "9x9").stdout
    assert "upper bounds" in cli("bound", "uniform").stdout
    assert "upper bounds" in cli("bound", "uniform", "--set", "offered_load=0.5").stdout
    assert json.loads(cli("plan", "a2at", "--size", "5x5", "--json").stdout)["derived"]["terminals"] == 25


@pytest.mark.parametrize(
    "table", ["topologies", "routings", "algorithms", "collectives", "allocators", "arbiters", "patterns", "studies"]
)
def test_lists(cli: Cli, table: str) -> None:
    rows = json.loads(cli("list", table, "--json").stdout)
    text = cli("list", table).stdout
    assert all(row["name"] in text for row in rows)


def test_the_schema_is_json(cli: Cli) -> None:
    assert "network" in json.loads(cli("schema").stdout)["properties"]


def test_run_prints_where_everything_is(cli: Cli, study: Path, tmp_path: Path) -> None:
    done = cli("run", study, "--quick")
    assert done.returncode == 0, done.stderr
    assert "results/tiny-quick/figures/figure.png" in done.stdout and "2 of 2 points" in done.stderr
    found = json.loads(cli("run", study, "--quick", "--json").stdout)
    assert all((tmp_path / path).exists() for path in [*found["files"], *found["figures"]])


CLAIMS = """
[[claims]]
id = "faster"
claim = "A2AT takes fewer cycles than A2AND"
source = "section 1"
paper = 1.0
relation = "at_most"
tolerance = 0.2
measure = { experiment = "e", column = "completion_cycles", where = { "workload.algorithm" = "a2at" }, per = { "workload.algorithm" = "a2and" } }

[[claims]]
id = "impossible"
claim = "It takes no time"
source = "nowhere"
paper = 0.0
expected = "EXPECTED"
because = "messages have a length"
measure = { experiment = "e", column = "completion_cycles" }

[[claims]]
id = "computed"
claim = "Every run was complete"
source = "section 2"
"""

CLAIMS_PY = """
from flitwork.studies import Finding


def claims(results):
    return [Finding(id="computed", ours=bool((results["status"] == "complete").all()))]
"""

FIGURES_PY = """
def figures(results, outdir):
    path = outdir / "extra.txt"
    path.write_text(str(len(results)))
    return [path]
"""


@pytest.fixture
def published(tmp_path: Path) -> Path:
    folder = tmp_path / "author-2026-key"
    folder.mkdir()
    (folder / "study.toml").write_text(STUDY)
    (folder / "claims.toml").write_text(CLAIMS.replace("EXPECTED", "differs"))
    (folder / "claims.py").write_text(CLAIMS_PY)
    (folder / "figures.py").write_text(FIGURES_PY)
    return folder


def test_reproduce_judges_claims(cli: Cli, published: Path, tmp_path: Path) -> None:
    done = cli("reproduce", published, "--quick")
    assert done.returncode == 0, done.stderr
    assert "2 of 3 statements of the paper reproduced, 1 differs\n" in done.stdout
    assert "because messages have a length" in done.stdout and "extra.txt" in done.stdout
    found = json.loads(cli("reproduce", published, "--quick", "--json").stdout)
    assert {c["id"]: c["verdict"] for c in found["claims"]} == {
        "faster": "reproduced",
        "impossible": "differs",
        "computed": "reproduced",
    }
    assert found["statements"][1] == {
        "id": "impossible",
        "by": "paper",
        "verdict": "differs",
        "claims": ["impossible"],
        "other_readings": {},
    }


def test_a_claim_that_should_hold_and_does_not_is_exit_code_1(cli: Cli, published: Path) -> None:
    (published / "claims.toml").write_text(CLAIMS.replace("EXPECTED", "reproduced"))
    done = cli("reproduce", published, "--quick")
    assert done.returncode == 1 and "failed: impossible" in done.stdout


def test_claims_that_are_wrong_themselves(cli: Cli, published: Path) -> None:
    (published / "claims.toml").write_text(CLAIMS.replace("EXPECTED", "reprodused"))
    assert cli("reproduce", published, "--quick").returncode == 2
    (published / "claims.toml").write_text(CLAIMS.replace("EXPECTED", "differs").replace("relation", "relashun"))
    done = cli("reproduce", published, "--quick")
    assert done.returncode == 2 and "did you mean `relation`?" in done.stderr
    (published / "claims.toml").write_text(CLAIMS.replace("EXPECTED", "differs"))
    (published / "claims.py").write_text(CLAIMS_PY.replace("computed", "computd"))
    done = cli("reproduce", published, "--quick")
    assert done.returncode == 2 and "did you mean `computed`?" in done.stderr
