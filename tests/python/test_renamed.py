"""Old names are accepted for one version: each gives one warning that names the old and the new name."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import flitwork as fw
import pytest
from flitwork.experiment import expand, load_study
from flitwork.values import renamed

OLD: Any = fw
WORK = fw.all_to_all(message_flits=2)
DATA = Path(__file__).parents[1] / "data" / "results"

STUDY = """
[study]
name = "old-names"
[base.network.topology]
kind = "torus"
size = [3, 3]
[base.network.terminal]
ejection_port = "same_controller"
[base.run.record]
link_window_cycles = 50
[base.workload]
kind = "all_to_all"
algorithm = "a2at"
message_flits = 2
[[experiments]]
id = "one"
grid = { "network.terminal.controllers" = [1, 2] }
columns = { twice = "2 * distance_from_bound" }
[[plots]]
id = "time"
experiment = "one"
x = "network.terminal.controllers"
y = "distance_from_bound"
"""


def warned(use: Callable[[], Any]) -> tuple[Any, list[str]]:
    """What ``use`` gives, and the warnings on the way."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = use()
    assert all(one.category is FutureWarning and one.filename == __file__ for one in caught)
    return found, [str(one.message) for one in caught]


def test_flat_options_and_words() -> None:
    network, said = warned(lambda: OLD.Torus(3, 3, controllers=2, ejection_port="same_controller"))
    assert network.spec["nic"] == {"ports": 2, "ejection_port": "same_port"}
    assert said[0] == "controllers is called ports now; the old name is accepted until version 0.3"
    result, said = warned(lambda: OLD.simulate(fw.Torus(3, 3), WORK, link_window_cycles=50))
    assert len(said) == 1 and result.channel_windows is not None
    with pytest.raises(fw.ConfigError, match="ports"):
        warned(lambda: OLD.Torus(3, 3, controllers=2, ports=3))


def test_processes() -> None:
    process, said = warned(lambda: OLD.on_off(mean_burst_cycles=10, mean_idle_cycles=30))
    assert process == fw.on_off(mean_on_cycles=10, mean_off_cycles=30) and len(said) == 2
    old = {"kind": "on_off", "mean_burst_cycles": 10, "mean_idle_cycles": 30}
    traffic, said = warned(lambda: fw.uniform(offered_load=0.1, process=old))
    assert traffic.spec["process"] == process and len(said) == 2
    with pytest.raises(fw.ConfigError, match="mean_off_cycles"):
        fw.on_off(mean_on_cycles=4)


def test_a_study_file_with_old_names_is_the_same_study(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    study, said = warned(lambda: load_study(tmp_path / "study.toml"))
    assert len(said) == len(set(said)) == 5, said
    points = expand(study)
    assert [p.spec["network"]["nic"] for p in points] == [{"ejection_port": "same_port", "ports": n} for n in (1, 2)]
    assert study.plots[0].x == "network.nic.ports" and study.plots[0].y == "ratio_to_bound"
    run, said = warned(lambda: fw.run_study(study, out=tmp_path / "out"))
    assert not said and (run.table["twice"] == 2 * run.table["ratio_to_bound"]).all()


def test_rules_of_another_simulator_moved_to_a_table_of_their_own() -> None:
    old = {
        "routing": {"kind": "min_adapt", "productive": "first"},
        "router": {"vcs": 4, "shared_middle_vc": False, "switching": "virtual_cut_through"},
    }
    network = {"topology": {"kind": "mesh", "size": [3, 3]}, **old}
    new, said = warned(lambda: renamed.specification({"network": network}))
    assert new["network"]["routing"] == {"kind": "min_adapt"}
    assert new["network"]["router"]["compat"] == {"productive": "first", "shared_middle_vc": False}
    moved = "network.routing.productive is called network.router.compat.productive now"
    assert len(said) == 2 and any(text.startswith(moved) for text in said)
    table, said = warned(lambda: renamed.study({"experiments": [{"set": {"network.routing": old["routing"]}}]}))
    (experiment,) = table["experiments"]
    new_set = {"network.routing": {"kind": "min_adapt"}, "network.router.compat.productive": "first"}
    assert experiment["set"] == new_set and len(said) == 1


def test_flat_names_of_these_rules_are_what_they_were() -> None:
    flat, said = warned(lambda: fw.Mesh(3, 3, routing="min_adapt", productive="first", pipelined_stages=False).spec)
    assert flat["router"] == {"compat": {"productive": "first", "pipelined_stages": False}} and not said
    inside, said = warned(lambda: fw.Mesh(3, 3, routing={"kind": "min_adapt", "productive": "first"}))
    assert inside.spec["router"] == {"compat": {"productive": "first"}} and len(said) == 1
    _, said = warned(lambda: fw.bound(inside, WORK))
    assert not said


def test_attributes_and_functions() -> None:
    result = fw.simulate(fw.Torus(3, 3), WORK, channel_window_cycles=50)
    for old, new in (("closed_loop", "runs_to_completion"), ("distance_from_bound", "ratio_to_bound")):
        value, said = warned(lambda old=old: getattr(result, old))  # type: ignore[misc]
        assert value == getattr(result, new)
        assert said == [f"Result.{old} is called Result.{new} now; the old name is accepted until version 0.3"]
    function, said = warned(lambda: OLD.plot.link_heatmap)
    assert function is fw.plot.channel_heatmap and len(said) == 1
    with pytest.raises(AttributeError):
        _ = OLD.plot.link_nonsense


def test_a_name_of_a_word_that_is_not_renamed_stays() -> None:
    assert warned(lambda: renamed.specification({"network": {"nic": {"ejection_port": "any"}}}))[1] == []


def test_a_result_of_format_3_is_read_with_the_names_of_today() -> None:
    result = fw.load(DATA / "format_3.parquet")
    assert (result.completion_cycles, result.digest) == (125, "db203b018a8a9bbf")
    assert result.spec["network"]["nic"]["ports"] == 2
    assert result.channel_flits.sum() == 2464
    assert result.channel_windows is not None and result.channel_windows.sum() == 2464
    assert result.ratio_to_bound == pytest.approx(1.30208, abs=1e-5)
    assert result.row["max_channel_flits_per_cycle"] == pytest.approx(0.768)
    assert result.bound.tightest == "channel_load" or result.bound.tightest_cycles > 0
    assert result.packets["injection_port"].max() == 1


def test_a_result_of_format_4_is_read_without_a_checksum() -> None:
    old, older = fw.load(DATA / "format_4.parquet"), fw.load(DATA / "format_3.parquet")
    assert (old.completion_cycles, old.digest) == (125, "db203b018a8a9bbf")
    assert old.channel_flits.tolist() == older.channel_flits.tolist()


def test_a_result_of_format_3_is_the_result_of_today() -> None:
    network = fw.Mesh(3, 4, vcs=2, ports=2)
    work = fw.all_to_all("a2at", message_flits=8, sync="local")
    today = fw.simulate(network, work, packets=True, stalls=True, channel_window_cycles=50)
    stored = fw.load(DATA / "format_3.parquet")
    same = {"plan_hash", "wall_seconds"}
    assert {k: v for k, v in stored.row.items() if k not in same} == {
        k: v for k, v in today.row.items() if k not in same
    }
    assert stored.bound.values == today.bound.values
    assert stored.packets.equals(today.packets) and stored.terminals.equals(today.terminals)
