"""Several threads for one run: the same result; and why it is one thread, where it is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Literal

import flitwork as fw
import pytest
from flitwork.errors import ConfigError

NETWORK = fw.Torus(4, 4, vcs=2, buffer_flits=4)
TRAFFIC = fw.uniform(offered_load=0.2, packet_flits=4)


def run(threads: int | Literal["auto"]) -> fw.Run:
    return fw.Run(threads=threads, warmup_cycles=100, measurement_cycles=500)


def test_any_number_of_threads_gives_the_same_result() -> None:
    one, *others = (fw.simulate(NETWORK, TRAFFIC, run=run(threads)) for threads in (1, 2, 3))
    assert [result.threads for result in (one, *others)] == [1, 2, 3]
    for other in others:
        assert other.threads_why is None
        told = {**other.row, "wall_seconds": one.row.get("wall_seconds")}
        assert told == one.row


def test_a_result_says_why_it_was_one_thread() -> None:
    assert fw.simulate(NETWORK, TRAFFIC, run=run(1)).threads_why is None
    small = fw.simulate(NETWORK, TRAFFIC, run=run("auto"))
    assert (small.threads, small.threads_why) == (1, "the network is too small, or the machine has one core")
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
