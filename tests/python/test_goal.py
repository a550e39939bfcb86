"""GOAL programs and the ideal machine from Python and from the command line; the machine itself is tested in Rust."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path

import flitwork as fw
import pandas as pd
import pytest
from conftest import REPOSITORY, Cli

SAMPLES = REPOSITORY / "crates/flitwork/tests/data/goal"
REDUCE = [34914, 24776, 13138, 13138, 1500, 1500, 1500, 1500]


def test_a_program_is_read_run_and_written(tmp_path: Path) -> None:
    goal = fw.read_goal(SAMPLES / "binomialtreereduce.8.goal")
    assert (goal.name, goal.ranks, goal.operations, goal.dependencies) == ("binomialtreereduce.8.goal", 8, 14, 4)
    result = fw.run_goal(goal, fw.loggops())
    assert result.finish_ns.tolist() == REDUCE and result.completion_ns == 34914 and result.messages == 7
    assert result.table["finish_ns"].tolist() == REDUCE
    assert fw.run_goal(goal).row == result.row
    assert goal.text == (SAMPLES / "binomialtreereduce.8.goal").read_text()
    for binary in (True, False):
        assert fw.read_goal(goal.write(tmp_path / "again", binary=binary)) == goal
    assert pickle.loads(pickle.dumps(goal)) == goal == copy.deepcopy(goal)
    assert fw.read_goal(SAMPLES / "a2a_8.bin") == fw.read_goal(SAMPLES / "a2a_8.goal") != goal
    for name in ("times.csv", "times.parquet"):
        file = result.save(tmp_path / name)
        table = pd.read_csv(file) if name.endswith("csv") else pd.read_parquet(file)
        assert table["finish_ns"].tolist() == REDUCE


def test_the_machine_is_a_value() -> None:
    machine = fw.loggops(L=7, G=0.25)
    assert machine == fw.loggops(G=0.25, L=7, o=1500) and machine.spec["kind"] == "loggops"
    assert repr(fw.loggops()) == "loggops(L=2500, o=1500, g=1000, G=6, O=0, S=65535)"
    goal = fw.Goal("num_ranks 1\nrank 0 {\ncalc 3\n}")
    assert fw.run_goal(goal, machine.spec).completion_ns == 3


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: fw.loggops(l=1), "loggops.l = 1: expected one of L, o, g, G, O, S"),
        (lambda: fw.loggops(L=-1), "loggops.L = -1: expected a latency"),
        (lambda: fw.loggops(o="x"), 'loggops.o = "x"'),
        (lambda: fw.loggops(G=float("nan")), "loggops.G = nan: expected a finite number"),
        (lambda: fw.read_goal("not/there.goal"), "a GOAL file that can be read"),
        (lambda: fw.Goal("num_ranks 1\nrank 0 {\ncacl 5\n}"), "goal:3:6"),
        (lambda: fw.Goal(3), "GOAL as text or bytes"),  # type: ignore[arg-type]
        (lambda: fw.run_goal("a.goal"), "fw.read_goal"),  # type: ignore[arg-type]
        (lambda: fw.run_goal(fw.Goal("num_ranks 1\nrank 0 {\n}"), fw.Torus(2)), "fw.loggops(...)"),  # type: ignore[arg-type]
    ],
)
def test_what_is_wrong_is_named(make: object, said: str) -> None:
    with pytest.raises(fw.ConfigError) as raised:
        make()  # type: ignore[operator]
    assert said in str(raised.value)


def test_a_program_that_cannot_end_says_why() -> None:
    goal = fw.Goal("num_ranks 1\nrank 0 {\nrecv 4b from -1 tag 7\n}", name="alone")
    with pytest.raises(fw.ScheduleError, match=r"alone: cannot end: rank 0: operation 1 \(recv 4b from -1 tag 7\)"):
        fw.run_goal(goal)


def test_the_command_runs_a_program(cli: Cli, tmp_path: Path) -> None:
    file = str(SAMPLES / "binomialtreereduce.8.goal")
    done = cli(
        "run", file, "--network", "loggops", "--L", "1000", "--o", "200", "--g", "500", "--G", "1", "--O", "1", "--json"
    )
    found = json.loads(done.stdout)
    assert found["finish_ns"] == [7269, 6069, 3646, 3646, 1223, 1223, 1223, 1223] and found["completion_ns"] == 7269
    network = tmp_path / "net.toml"
    network.write_text('[network]\nkind = "loggops"\nS = 256\n')
    done = cli("run", file, "--network", str(network), "--per-rank", "--save", str(tmp_path / "times.csv"))
    assert done.returncode == 0 and "34,914" in done.stdout and "27,276" in done.stdout
    assert pd.read_csv(tmp_path / "times.csv")["finish_ns"].tolist()[1] == 27276


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("a2a_8.goal", "--quick"), "given beside a GOAL program"),
        (("tiny.toml", "--per-rank"), "given beside a study file"),
        (("a2a_8.goal", "--network", "torus"), "loggops, or a file .toml"),
        (("a2a_8.goal", "--L", "-5"), "loggops.L"),
        (("a2a_8.goal", "--save", "times.txt"), "a file .csv or .parquet"),
        (("missing.goal",), "a GOAL file that can be read"),
    ],
)
def test_the_command_refuses_what_it_cannot_use(cli: Cli, args: tuple[str, ...], said: str) -> None:
    file, *options = args
    done = cli("run", str(SAMPLES / file), *options)
    assert done.returncode == 2 and said in done.stderr
