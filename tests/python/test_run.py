"""Running studies: stored point by point, continued after any end, safe beside another process."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import flitwork as fw
import pandas as pd
import pytest
from common import COMMAND, STUDY, Cli, environment
from flitwork.base.input_files import tomllib
from flitwork.experiment import Job, Status, Watcher, load_study, parse_study
from flitwork.results.result import Result


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
    with pytest.warns(UserWarning, match=victim.name) as warned:
        fw.run_study(load_study(study), tmp_path, watcher=recorder)
    assert sum(victim.name in str(w.message) for w in warned) == 1
    assert recorder.computed == [victim.stem]
    assert fw.load(victim).plan_hash == victim.stem


def test_the_result_of_another_plan_is_not_taken(study: Path, tmp_path: Path) -> None:
    fw.run_study(load_study(study), tmp_path)
    one, other = sorted((tmp_path / "points").glob("*.parquet"))[:2]
    one.write_bytes(other.read_bytes())
    with pytest.warns(UserWarning, match="another plan"):
        fw.run_study(load_study(study), tmp_path)
    assert fw.load(one).plan_hash == one.stem


def test_errors_come_before_anything_runs(tmp_path: Path, cli: Cli) -> None:
    bad = tmp_path / "bad.toml"
    bad.write_text(STUDY.replace("N = [3, 4]", "N = [3, 0]"))
    done = cli("run", bad, "--out", tmp_path / "out")
    assert done.returncode == 2 and "network.topology.size[0]" in done.stderr
    assert points(tmp_path / "out") == {}


FAILING = STUDY.replace("N = [3, 4],", 'N = [3, 4], "run.max_cycles" = [20, 100000],') + 'panels = "run.max_cycles"\n'


def test_a_plot_that_cannot_be_drawn_is_found_before_anything_runs(tmp_path: Path) -> None:
    file = tmp_path / "tiny.toml"
    file.write_text(STUDY + "title = '$\\wrong{$'\n")
    with pytest.raises(fw.ConfigError, match="a plot that can be drawn") as caught:
        fw.run_study(fw.load_study(file), tmp_path / "out")
    assert caught.value.path == "plots[0]"
    assert not list((tmp_path / "out").glob("points/*"))


def test_values_of_an_axis_are_no_mathematics(tmp_path: Path) -> None:
    file = tmp_path / "tiny.toml"
    text = STUDY.replace("grid = { N = [3, 4],", "zip = { N = [3, 4], name = ['$\\a{$', 'b'] }\ngrid = {")
    text = text.replace("quick = { grid = { N = [3] }, seeds = [1] }", "").replace(
        "series =", 'panels = "name"\nseries ='
    )
    file.write_text(text)
    done = fw.run_study(fw.load_study(file), tmp_path / "out")
    assert len(done.figures) == 2


def test_the_tables_of_another_study_are_not_replaced(study: Path, tmp_path: Path) -> None:
    def run(file: Path) -> None:
        fw.run_study(load_study(file), tmp_path / "out", quick=True)

    run(study)
    table = (tmp_path / "out" / "results.csv").read_bytes()
    other = tmp_path / "other.toml"
    other.write_text(study.read_text().replace("seeds = [1, 2]", "seeds = [5, 6]"))
    with pytest.raises(fw.ConfigError, match=r"study\.name = \"tiny\".*are those of .*tiny\.toml.*--out"):
        run(other)
    assert (tmp_path / "out" / "results.csv").read_bytes() == table
    # The same file with other contents, a copy of it, and a file that took its place: all are the same study.
    study.write_text(study.read_text().replace("quick = { grid = { N = [3] }", "quick = { grid = { N = [4] }"))
    run(study)
    other.write_text(study.read_text())
    run(other)
    other.rename(tmp_path / "renamed.toml")
    run(study)


@pytest.mark.parametrize("backend", ["module://matplotlib_inline.backend_inline", "nonsense", "tkagg"])
def test_the_command_draws_into_files_whatever_the_backend(backend: str, study: Path, tmp_path: Path) -> None:
    command = [*COMMAND, "run", str(study), "--quick"]
    env = {**environment(), "MPLBACKEND": backend}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "results" / "tiny-quick" / "figures" / "figure.png").exists()


def test_the_backend_of_a_program_is_left_alone() -> None:
    program = "import matplotlib; matplotlib.use('svg'); import flitwork.plot; print(matplotlib.get_backend())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip().lower() == "svg"


def test_points_that_fail_are_left_out_and_listed(tmp_path: Path, cli: Cli) -> None:
    study, out = tmp_path / "study.toml", tmp_path / "out"
    study.write_text(FAILING)
    done = cli("run", study, "--out", out)
    assert done.returncode == 3
    assert "8 of 16 points failed" in done.stderr and "8 of 16 points are stored, 8 failed" in done.stderr
    assert "e(N=3, run.max_cycles=20, workload.algorithm=a2at, seed=1): not complete after 20 cycles" in done.stderr
    assert "Traceback" not in done.stderr
    table = pd.read_csv(out / "results.csv")
    assert list(table["run.max_cycles"]) == [100000] * 8 and table["cycles_per_N"].notna().all()
    assert (out / "figures" / "figure.png").exists() and len(points(out)) == 8
    failures = pd.read_csv(out / "failures.csv")
    assert list(failures["run.max_cycles"]) == [20] * 8 and list(failures["error"]) == ["SimulationError"] * 8
    assert failures["message"].str.contains("max_cycles").all()
    found = json.loads(cli("run", study, "--out", out, "--json").stdout)
    assert [p["status"] for p in found["points"]].count("failed") == 8
    study.write_text(STUDY)
    assert cli("run", study, "--out", out).returncode == 0 and not (out / "failures.csv").exists()


def test_all_points_may_fail(tmp_path: Path, cli: Cli) -> None:
    study = tmp_path / "study.toml"
    study.write_text(STUDY.replace("[base.workload]", "[base.run]\nmax_cycles = 20\n\n[base.workload]"))
    done = cli("run", study, "--out", tmp_path / "out")
    assert done.returncode == 3 and "8 of 8 points failed" in done.stderr and "Traceback" not in done.stderr
    assert len(pd.read_csv(tmp_path / "out" / "results.csv")) == 0
    assert "cycles_per_N" in pd.read_parquet(tmp_path / "out" / "results.parquet").columns


def test_failures_in_python(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="8 of 16 points failed"):
        done = fw.run_study(parse_study(tomllib.loads(FAILING)), tmp_path)
    assert len(done.failures) == 8 and len(done.table) == 8 and len(done.results) == 8
    assert done.failures[0].job.points[0].label == "e(N=3, run.max_cycles=20, workload.algorithm=a2at, seed=1)"

    def point(flits: int) -> tuple[fw.Network, fw.Workload]:
        return fw.Torus(3, 3), fw.all_to_all(message_flits=flits)

    with pytest.raises(fw.SweepError, match=r"1 of 2 points failed.*\n.*flits=100") as caught:
        fw.sweep(point, flits=[1, 100], run={"max_cycles": 40})
    assert list(caught.value.table["flits"]) == [1] and len(caught.value.failures) == 1
    assert [result.digest for result in caught.value.results] == list(caught.value.table["digest"])
    with pytest.raises(fw.ConfigError, match=r"run\.seed = 9: expected no seed here; write seeds=\[9\]"):
        fw.sweep(point, flits=[1], run={"seed": 9})  # type: ignore[arg-type]
    with pytest.raises(fw.ConfigError, match=r"run = 3: expected fw\.Run\(\.\.\.\), or options by name"):
        fw.sweep(point, flits=[1], run=3)  # type: ignore[arg-type]
    with pytest.raises(fw.ConfigError, match=r"sweep\.simulate = 3: expected a function"):
        fw.sweep(3, flits=[1])  # type: ignore[arg-type]


def test_a_study_is_loaded_first() -> None:
    with pytest.raises(fw.ConfigError, match=r"fw\.run_study\(fw\.load_study\('st\.toml'\)\)"):
        fw.run_study("st.toml")  # type: ignore[arg-type]
    with pytest.raises(fw.ConfigError, match="the name of a study file"):
        fw.load_study(3)  # type: ignore[arg-type]


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
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "the same command continues" in errors and "Traceback" not in errors
    assert 1 <= len(points(out)) < 12
    assert not list((out / "points").glob(".*.tmp"))


def test_control_c_twice_leaves_a_clean_terminal(slow_study: Path, tmp_path: Path) -> None:
    """On a terminal: the bar stops, the cursor is back, no traceback, however impatient the user is."""
    out = tmp_path / "out"
    screen, terminal = pty.openpty()
    command = [*COMMAND, "run", str(slow_study), "--out", str(out), "--jobs", "1"]
    process = subprocess.Popen(command, stdout=terminal, stderr=terminal, text=True, env=environment())
    os.close(terminal)
    shown = Screen(screen)
    wait_for_points(out, 1, process)
    process.send_signal(signal.SIGINT)
    time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == 130
    text = shown.text()
    assert "simulating" in text and "interrupted" in text and "Traceback" not in text
    assert text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l")


class Screen(threading.Thread):
    """Reads what a terminal shows."""

    def __init__(self, screen: int) -> None:
        super().__init__(daemon=True)
        self.screen = screen
        self.parts: list[bytes] = []
        self.start()

    def run(self) -> None:
        with contextlib.suppress(OSError):
            while part := os.read(self.screen, 4096):
                self.parts.append(part)

    def text(self) -> str:
        self.join(timeout=10)
        return b"".join(self.parts).decode()


def test_an_interrupt_anywhere_ends_the_display(study: Path, tmp_path: Path) -> None:
    class Interrupted(Recorder):
        def __init__(self, at: str) -> None:
            super().__init__()
            self.at = at

        def begin(self, status: Status) -> None:
            self.press("begin")

        def tick(self, status: Status) -> None:
            self.press("tick")

        def press(self, where: str) -> None:
            if where == self.at:
                raise KeyboardInterrupt

    for at in ("begin", "tick"):
        watcher = Interrupted(at)
        with pytest.raises(KeyboardInterrupt):
            fw.run_study(load_study(study), tmp_path / at, watcher=watcher)
        assert len(watcher.status) == 1
        assert not [thread for thread in threading.enumerate() if thread.name.startswith("flitwork")]


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
    from flitwork.base.output_files import write_atomically

    path = tmp_path / "file"
    write_atomically(path, lambda file: file.write(b"old"))

    def fail(file: object) -> None:
        file.write(b"half")  # type: ignore[attr-defined]
        raise OSError("disk full")

    with pytest.raises(fw.ConfigError, match="disk full"):
        write_atomically(path, fail)
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["file"]
