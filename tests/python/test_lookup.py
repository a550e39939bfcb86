"""Experiments whose points need results of others: imbalance in per cent of the balanced time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import flitwork as fw
import pytest
import tomllib
from common import Cli
from flitwork.experiment import parse_study, plan_study

STUDY = """
[study]
name = "imbalance"

[base]
network.topology = { kind = "torus", size = ["${N}"] }
workload = { kind = "all_to_all", algorithm = "a2a", message_flits = 4 }

[[experiments]]
id = "balanced"
grid = { N = [4, 5], "workload.sync" = ["async", "local"] }

[[experiments]]
id = "late"
grid = { N = [4, 5], "workload.sync" = ["async", "local"], percent = [50, 1000] }
found.T0 = { experiment = "balanced", column = "completion_cycles" }
seeds = [1, 2]

[experiments.set]
"host.start" = { kind = "normal_range", latest_cycles = "${T0 * percent // 100}" }

[experiments.columns]
longer = "completion_cycles / T0"
"""


def parsed(old: str = "", new: str = "") -> Any:
    assert old in STUDY
    return parse_study(tomllib.loads(STUDY.replace(old, new) if old else STUDY))


def test_points_take_the_results_of_others(tmp_path: Path) -> None:
    run = fw.run_study(parsed(), tmp_path)
    assert len(run.table) == 4 + 16 and not run.failures
    late = run.table[run.table["experiment"] == "late"]
    for row in late.to_dict("records"):
        network = fw.Torus(int(row["N"]))
        work = fw.all_to_all("a2a", message_flits=4, sync=row["workload.sync"])
        balanced = fw.simulate(network, work).completion_cycles
        start = fw.Start(kind="normal_range", latest_cycles=int(balanced * row["percent"] // 100))
        alone = fw.simulate(network, work, host=fw.Host(start=start), seed=row["seed"])
        assert (row["T0"], row["digest"]) == (balanced, alone.digest)
        assert row["longer"] == row["completion_cycles"] / balanced
    # Ten times the balanced time late: the last rank alone takes that long.
    assert (late[late["percent"] == 1000]["longer"] > 10).all()


def test_what_is_stored_is_not_run_again(tmp_path: Path) -> None:
    class Recorder(fw.Watcher):
        ran = 0

        def finished(self, job: Any, result: Any) -> None:
            self.ran += 1

    recorders = [Recorder(), Recorder()]
    tables = [fw.run_study(parsed(), tmp_path, watcher=one).table for one in recorders]
    assert [one.ran for one in recorders] == [20, 0]
    assert [*tables[0]["digest"]] == [*tables[1]["digest"]]


def test_a_point_whose_base_failed_is_left_out(tmp_path: Path) -> None:
    study = parsed("[experiments.set]\n", '[experiments.set]\n"run.max_cycles" = 1000000\n').model_copy(deep=True)
    study.base["run"] = {"max_cycles": 25}
    with pytest.warns(UserWarning, match="points failed"):
        run = fw.run_study(study, tmp_path)
    failed = {(point.params["N"], point.params["workload.sync"]) for f in run.failures for point in f.job.points}
    late = run.table[run.table["experiment"] == "late"]
    assert failed and not failed & {*zip(late["N"], late["workload.sync"], strict=True)}
    assert len(late) == 4 * (4 - len(failed))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('experiment = "balanced"', 'experiment = "other"', r"found.T0.experiment = \"other\""),
        ('column = "completion_cycles"', 'column = "completion"', r"column = \"completion\".*did you mean"),
        ('column = "completion_cycles"', 'column = "digest"', "with numbers"),
        ('N = [4, 5], "workload.sync" = ["async", "local"], percent', "N = [4, 6], percent", "0 points|2 points"),
        ("found.T0", "found.seed", "seed"),
        ("${T0", "${T1", "T1"),
    ],
)
def test_what_cannot_be_found_is_refused_before_anything_runs(old: str, new: str, words: str) -> None:
    with pytest.raises(fw.ConfigError, match=words):
        plan_study(parsed(old, new))


def test_the_host_is_a_table_of_a_study(cli: Cli, tmp_path: Path) -> None:
    text = STUDY.split("[[experiments]]")[0] + 'host.ranks_per_terminal = 2\n[[experiments]]\nid = "e"\n'
    (tmp_path / "s.toml").write_text(text + 'grid = { N = [4], "host.send_overhead_cycles" = [0, 50] }\n')
    out = cli("run", "s.toml", "--out", "out", "--json")
    assert out.returncode == 0, out.stderr
