"""Running studies: stored point by point, continued after any end, safe beside another process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import flitwork as fw
import pandas as pd
import pytest
from conftest import COMMAND, STUDY, Cli, environment
from flitwork.experiment import Watcher, load_study
from flitwork.experiment.execute import Job, Status
from flitwork.result import Result


class Recorder(Watcher):
    def __init__(self) -> None:
        self.computed: list[str] = []
        self.status: list[tuple[int, int, int]] = []

    def finished(self, job: Job, result: Result) -> None:
        self.computed.append(job.hash)

    def end(self, status: Status) -> None:
        self.status.append((status.total, status.stored, status.done))


def points(out: Path) -> dict[str, tuple[int, int]]:
    """Every stored point: inode and time change whenever it is written again."""
    files = (out / "points").glob("*.parquet")
    return {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in files}


def start(study: Path, out: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, "run", str(study), "--out", str(out), "--jobs", "1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )


def wait_for_points(out: Path, count: int, process: subprocess.Popen[str]) -> None:
    limit = time.monotonic() + 120
    while len(points(out)) < count:
        assert process.poll() is None and time.monotonic() < limit
        time.sleep(0.02)


def test_a_study_gives_tables_and_figures(study: Path, tmp_path: Path) -> None:
    done = fw.run_study(load_study(study), tmp_path / "out")
    table = done.table
    assert len(table) == 8 and len(done.jobs) == 8
    assert (table["cycles_per_N"] == table["completion_cycles"] / table["N"]).all()
    assert list(table.columns[:3]) == ["experiment", "N", "workload.algorithm"]
    read = pd.read_parquet(tmp_path / "out" / "results.parquet")
    assert list(read["digest"]) == list(table["digest"])
    assert len(pd.read_csv(tmp_path / "out" / "results.csv")) == 8
    assert sorted(path.name for path in done.figures) == ["figure.png", "figure.svg"]
    assert all(path.stat().st_size > 5000 for path in done.figures)


def test_what_is_stored_is_not_computed_again(study: Path, tmp_path: Path) -> None:
    first, second = Recorder(), Recorder()
    one = fw.run_study(load_study(study), tmp_path, watcher=first)
    before = points(tmp_path)
    two = fw.run_study(load_study(study), tmp_path, watcher=second)
    assert len(first.computed) == 8 and second.computed == [] and second.status == [(8, 8, 8)]
    assert points(tmp_path) == before
    pd.testing.assert_frame_equal(one.table, two.table)


def test_quick_points_are_part_of_the_whole(study: Path, tmp_path: Path) -> None:
    fw.run_study(load_study(study), tmp_path, quick=True)
    recorder = Recorder()
    fw.run_study(load_study(study), tmp_path, watcher=recorder)
    assert len(recorder.computed) == 6


def test_the_number_of_jobs_changes_nothing(study: Path, tmp_path: Path) -> None:
    one = fw.run_study(load_study(study), tmp_path / "1", jobs=1).table
    four = fw.run_study(load_study(study), tmp_path / "4", jobs=4).table
    assert list(one["digest"]) == list(four["digest"])


def test_a_damaged_point_is_computed_again(study: Path, tmp_path: Path) -> None:
    fw.run_study(load_study(study), tmp_path)
    victim = sorted((tmp_path / "points").glob("*.parquet"))[0]
    victim.write_bytes(victim.read_bytes()[:100])
    recorder = Recorder()
    with pytest.warns(UserWarning, match=victim.name):
        fw.run_study(load_study(study), tmp_path, watcher=recorder)
    assert recorder.computed == [victim.stem]
    assert fw.load(victim).plan_hash == victim.stem


def test_errors_come_before_anything_runs(tmp_path: Path, cli: Cli) -> None:
    bad = tmp_path / "bad.toml"
    bad.write_text(STUDY.replace("N = [3, 4]", "N = [3, 0]"))
    done = cli("run", bad, "--out", tmp_path / "out")
    assert done.returncode == 2 and "network.topology.size[0]" in done.stderr
    assert points(tmp_path / "out") == {}


def test_a_simulation_that_fails_does_not_stop_the_others(tmp_path: Path, cli: Cli) -> None:
    study = tmp_path / "study.toml"
    study.write_text(STUDY.replace("N = [3, 4],", 'N = [3, 4], "run.max_cycles" = [20, 100000],'))
    done = cli("run", study, "--out", tmp_path / "out")
    assert done.returncode == 3 and "not complete after 20 cycles" in done.stderr and "e(N=" in done.stderr
    assert len(points(tmp_path / "out")) == 8


def test_an_unwritable_folder_is_named_before_anything_runs(study: Path, tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "file").touch()
    done = cli("run", study, "--out", tmp_path / "file" / "out")
    assert done.returncode == 2
    assert "--out" in done.stderr and str(tmp_path / "file" / "out") in done.stderr and "choose another" in done.stderr


@pytest.mark.slow
def test_killed_and_continued(slow_study: Path, tmp_path: Path, cli: Cli) -> None:
    out = tmp_path / "out"
    process = start(slow_study, out)
    wait_for_points(out, 2, process)
    process.kill()
    process.wait()
    before = points(out)
    assert 2 <= len(before) < 12
    for path in (out / "points").glob("*.parquet"):
        fw.load(path)
    done = cli("run", slow_study, "--out", out, "--json")
    assert done.returncode == 0, done.stderr
    assert f"{len(before)} stored already" in done.stderr
    after = points(out)
    assert len(after) == 12 and before.items() <= after.items()
    assert len(json.loads(done.stdout)["points"]) == 12


def test_control_c_keeps_what_is_finished(slow_study: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = start(slow_study, out)
    wait_for_points(out, 1, process)
    pressed = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert time.monotonic() - pressed < 2.0
    assert process.returncode == 130
    assert "the same command continues" in errors and "Traceback" not in errors
    assert 1 <= len(points(out)) < 12
    assert not list((out / "points").glob(".*.tmp"))


@pytest.mark.slow
def test_two_processes_share_a_folder(slow_study: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    both = [start(slow_study, out) for _ in range(2)]
    outputs = [process.communicate(timeout=300) for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    assert len({fw.load(path).plan_hash for path in (out / "points").glob("*.parquet")}) == 12
    assert len(pd.read_parquet(out / "results.parquet")) == 12
    assert not list((out / "points").glob(".*.tmp"))


def test_a_file_is_whole_or_not_there(tmp_path: Path) -> None:
    from flitwork.files import write_atomically

    path = tmp_path / "file"
    write_atomically(path, lambda file: file.write(b"old"))

    def fail(file: object) -> None:
        file.write(b"half")  # type: ignore[attr-defined]
        raise OSError("disk full")

    with pytest.raises(fw.ConfigError, match="disk full"):
        write_atomically(path, fail)
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["file"]
