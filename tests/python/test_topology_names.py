"""Topologies by other names: ``fat_tree`` stands for one of two, and says for which; no hint is empty."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import flitwork as fw
import pytest
from flitwork.cli import app
from flitwork.networks.aliases import _ELSEWHERE
from typer.testing import CliRunner

TREE, WIDE = {"k": 2, "levels": 3}, {"children": [4, 2], "parents": [1, 2]}


def invoke(*words: str) -> Any:
    return CliRunner().invoke(app, [*words])


@pytest.mark.parametrize(("fields", "kind"), [(TREE, "k_ary_n_tree"), (WIDE, "xgft")])
def test_a_fat_tree_is_the_one_that_has_its_fields(fields: dict[str, Any], kind: str) -> None:
    with pytest.warns(UserWarning, match=rf"topology fat_tree is {kind} here, as \w+ and \w+ are given") as told:
        net = fw.Network("fat_tree", **fields)
    assert told[0].filename == __file__
    assert net == fw.Network(kind, **fields) and net.kind == net.topology["kind"] == kind
    assert fw.simulate(net, fw.uniform(offered_load=0.1)).row["topology"] == kind


@pytest.mark.parametrize("fields", [{}, {"size": [4, 4]}, {**TREE, **WIDE}])
def test_a_fat_tree_that_may_be_both_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(fw.ConfigError, match=r"fat_tree.*k and levels \(then it is k_ary_n_tree\), or children and"):
        fw.Network("fat_tree", **fields)


def test_files_and_options_take_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    options = ("--topology", "fat_tree", "--set", "k=2", "--set", "levels=2", "--load", "0.1", "--json")
    done = invoke("simulate", "uniform", *options)
    assert done.exit_code == 0 and '"topology": "k_ary_n_tree"' in done.stdout, done.output
    assert done.stderr.count("topology fat_tree is k_ary_n_tree here") == 1
    Path("study.toml").write_text(
        '[study]\nname = "trees"\n[base]\n'
        'network.topology = { kind = "fat_tree", children = [2, 2], parents = [1, 2] }\n'
        'workload = { kind = "uniform", offered_load = 0.1 }\n[[experiments]]\nid = "one"\ntitle = "one"\n'
    )
    done = invoke("run", "study.toml")
    assert done.exit_code == 0 and done.stderr.count("topology fat_tree is xgft here") == 1, done.output
    assert "xgft" in Path("results/trees/results.csv").read_text()


@pytest.mark.parametrize("name", [*_ELSEWHERE, "FatTree", "torsu", "something else"])
def test_every_other_name_gets_a_hint(name: str) -> None:
    with pytest.raises(fw.ConfigError) as refused:
        fw.Network(name, size=(4, 4))
    assert refused.value.path == "network.topology.kind" and refused.value.hint
    done = invoke("simulate", "uniform", "--topology", name, "--load", "0.1")
    assert done.exit_code == 2 and "--topology" in done.stderr and "hint: " in done.stderr


def test_what_the_hints_say_can_be_written() -> None:
    trees = fw.Network("xgft", children=[16, 8], parents=[1, 8])
    assert trees.topology["children"] == [16, 8]
    assert fw.Network("torus", size=[8]) and fw.Network("mesh", size=[2, 2, 2])
    assert fw.Network("crossbar", terminals=16)
