"""Several threads for one run: the same result; and why it is one thread, where it is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

import flitwork as fw
import pytest
from flitwork.base.errors import ConfigError
from flitwork.experiment.engines import local
from flitwork.experiment.point import Point
from flitwork.experiment.sweep import run_points
from flitwork.planning.specification import simulation

NETWORK = fw.Torus(4, 4, vcs=2, buffer_flits=4)
TRAFFIC = fw.uniform(offered_load=0.2, packet_flits=4)


def run(threads: int | Literal["auto"]) -> fw.Run:
    return fw.Run(threads=threads, warmup_cycles=100, measurement_cycles=500)


def test_any_number_of_threads_gives_the_same_result() -> None:
    one, *others = (fw.simulate(NETWORK, TRAFFIC, run=run(threads)) for threads in (1, 2, 3))
    assert [result.threads for result in (one, *others)] == [1, 2, 3]
    for other in others:
        assert other.threads_why is None
        row = {**other.row, "wall_seconds": one.row.get("wall_seconds")}
        assert row == one.row


def test_a_result_says_why_it_was_one_thread() -> None:
    assert fw.simulate(NETWORK, TRAFFIC, run=run(1)).threads_why is None
    small = fw.simulate(NETWORK, TRAFFIC, run=run("auto"))
    assert (small.threads, small.threads_why) == (
        1,
        "the network is too small or has too little to do, or the machine has one core",
    )
    ranks = fw.simulate(NETWORK, fw.all_to_all(), run=fw.Run(threads=2))
    assert (ranks.threads, ranks.threads_why) == (1, "the workload is of ranks")


@pytest.mark.parametrize("threads", [0, -1, 65, "all"])
def test_anything_else_is_refused(threads: object) -> None:
    with pytest.raises(ConfigError) as error:
        fw.simulate(NETWORK, TRAFFIC, run=fw.Run(threads=threads))  # type: ignore[arg-type]
    assert error.value.path == "run.threads"
    assert "auto" in str(error.value)


def test_the_command_line_has_it_and_a_stored_result_keeps_it(tmp_path: Path) -> None:
    file = tmp_path / "result.parquet"
    options = ["--size", "4x4", "--load", "0.1", "--set", "run.threads=2", "--save", str(file)]
    command = [sys.executable, "-m", "flitwork", "simulate", "uniform", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert fw.load(file).threads == 2


def swept(jobs: int, loads: list[float], **options: Any) -> list[fw.Result]:
    """The results of points of a network that pays for two threads, on so many workers."""
    network = fw.Torus(32, 16, vcs=2, buffer_flits=4)
    options = {"warmup_cycles": 50, "measurement_cycles": 150, **options}
    points = [
        Point(
            "sweep",
            "sweep",
            {"load": load},
            1,
            simulation(network, fw.uniform(offered_load=load, packet_flits=2), options),
        )
        for load in loads
    ]
    return run_points(points, jobs=jobs).results


@pytest.fixture
def cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "available_cores", lambda: 8)


def test_no_more_threads_are_shared_out_than_there_are_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "available_cores", lambda: 2)
    assert [result.threads for result in swept(5, [0.04, 0.035])] == [1, 1]
    assert [result.threads for result in swept(5, [0.04])] == [2]


@pytest.mark.usefixtures("cores")
def test_points_share_out_the_workers_that_have_none() -> None:
    loads = [0.04, 0.035]
    alone, shared = swept(1, loads), swept(5, loads)
    assert [result.threads for result in alone] == [1, 1]
    assert [result.threads for result in shared] == [2, 2]
    for one, two in zip(alone, shared, strict=True):
        assert (two.digest, two.plan_hash) == (one.digest, one.plan_hash)
        assert {**two.row, "wall_seconds": one.row.get("wall_seconds")} == one.row


@pytest.mark.usefixtures("cores")
def test_with_as_many_points_as_workers_each_has_one_thread() -> None:
    assert [result.threads for result in swept(2, [0.04, 0.035])] == [1, 1]
    # One is left over, for the longer one.
    assert [result.threads for result in swept(3, [0.035, 0.04])] == [1, 2]


@pytest.mark.usefixtures("cores")
def test_what_a_run_says_of_threads_stays() -> None:
    assert [result.threads for result in swept(4, [0.035], threads=1)] == [1]
    assert [result.threads for result in swept(1, [0.035], threads=3)] == [3]
