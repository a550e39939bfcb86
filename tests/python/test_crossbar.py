"""A network that is no grid, from a study file to its table and its picture."""

from __future__ import annotations

import json
from pathlib import Path

import flitwork as fw
import matplotlib
import pytest
from common import Cli
from flitwork.plot.layout import layout
from matplotlib.text import Text

matplotlib.use("agg")

STUDY = """
[study]
name = "crossbar"

[base]
network.topology = { kind = "crossbar", terminals = 8 }
workload = { kind = "uniform", packet_flits = 4 }
run = { warmup_cycles = 200, measurement_cycles = 500 }

[[experiments]]
id = "load"
grid."workload.offered_load" = [0.1, 0.3]
"""


def test_a_study_of_a_crossbar_runs_and_is_drawn(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text(STUDY, encoding="utf-8")
    done = fw.run_study(fw.load_study(file), tmp_path / "results", jobs=1)
    assert not done.failures
    assert list(done.table["topology"]) == ["crossbar"] * 2
    result = max(done.results.values(), key=lambda result: result.accepted_load)
    assert abs(result.accepted_load - 0.3) < 0.05
    picture = tmp_path / "crossbar.png"
    fw.plot.channel_snapshot(result).savefig(picture)
    assert picture.stat().st_size > 1000


def test_its_terminals_are_drawn() -> None:
    place = layout(fw.Crossbar(terminals=8).topology)
    assert place.terminals.shape == (8, 2) and list(place.router_of_terminal) == [0] * 8
    left, right, bottom, top = place.extent
    assert (place.terminals > [left, bottom]).all() and (place.terminals < [right, top]).all()
    result = fw.simulate(fw.Crossbar(terminals=8), fw.uniform(offered_load=0.2), measurement_cycles=100)
    figure = fw.plot.channel_snapshot(result)
    assert {str(n) for n in range(8)} <= {text.get_text() for text in figure.axes[0].texts}
    assert "crossbar 8 terminals" in "".join(text.get_text() for text in figure.findobj(Text))


def test_a_topology_without_a_drawing_is_not_called_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flitwork._core.drawing", lambda topology: None)
    with pytest.raises(fw.ConfigError, match=r"^network\.topology = crossbar: expected a topology that says where"):
        layout(fw.Crossbar(terminals=8).topology)


def test_a_crossbar_can_be_named_on_the_command_line(cli: Cli) -> None:
    run = ["--topology", "crossbar", "--set", "warmup_cycles=50", "--set", "measurement_cycles=100", "--json"]
    row = json.loads(cli("simulate", "uniform", "--set", "terminals=8", "--load", "0.2", *run).stdout)
    assert (row["topology"], row["size"], row["terminals"]) == ("crossbar", "8 terminals", 8)
    # A pattern with a field of that name: then the table is told.
    hot = ["--set", "topology.terminals=4", "--set", "terminals=[1]", "--load", "0.1"]
    assert json.loads(cli("simulate", "hotspot", *hot, *run).stdout)["terminals"] == 4
    assert cli("check", "a2a", "--topology", "crossbar", "--set", "terminals=4").returncode == 0


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ([], "network.topology.terminals"),
        (["--size", "8x8"], "--size"),
        (["--mesh"], "--mesh"),
        (["--wrap", "x"], "--wrap"),
        (["--set", "terminals=1"], "network.topology.terminals"),
        (["--set", "terminal=8"], "--set terminal"),
    ],
)
def test_what_does_not_fit_a_crossbar_is_named(options: list[str], path: str, cli: Cli) -> None:
    done = cli("simulate", "uniform", "--topology", "crossbar", "--load", "0.1", *options)
    assert done.returncode == 2 and f"error: {path} = " in done.stderr
