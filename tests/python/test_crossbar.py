"""A network that is no grid, from a study file to its table and its picture."""

from __future__ import annotations

from pathlib import Path

import flitwork as fw
import matplotlib

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
