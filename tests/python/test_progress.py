"""What takes long says so: points are counted first, bars show the time left, nothing is shown where nobody looks."""

from __future__ import annotations

import importlib.util
import io
import os
import pty
import re
import subprocess
import sys
import time
from pathlib import Path

import flitwork as fw
import pytest
from common import STUDY, environment
from flitwork.base.input_files import tomllib
from flitwork.cli import progress
from flitwork.experiment import display, parse_study, plan_study
from flitwork.experiment.axes import MOST_POINTS
from flitwork.experiment.execute import Status
from rich.console import Console


def point(a: int, b: int, c: int) -> tuple[fw.Network, fw.Workload]:
    return fw.Torus(3, 3), fw.all_to_all()


def trials(count: int) -> object:
    return fw.burst(fw.Torus(3, 3), "uniform", packets=[1, 2], trials=count)


def grid(seeds: int) -> object:
    text = STUDY.replace("seeds = [1, 2]", f"seeds = {list(range(seeds))}")
    return plan_study(parse_study(tomllib.loads(text)))


@pytest.mark.parametrize(
    ("make", "path"),
    [
        (lambda: grid(MOST_POINTS // 4 + 1), r"experiments\[0\]"),
        (lambda: fw.sweep(point, a=range(300), b=range(300), c=range(300)), "sweep"),
        (lambda: trials(MOST_POINTS // 2 + 1), "burst"),
    ],
)
def test_too_many_points_are_counted_and_not_made(make: object, path: str) -> None:
    began = time.monotonic()
    with pytest.raises(fw.ConfigError, match=path + r" = [\d,]+ points: expected at most 100,000 points"):
        make()  # type: ignore[operator]
    assert time.monotonic() - began < 10


def test_planning_is_told_and_ends_where_a_point_is_wrong() -> None:
    seen: list[tuple[int, int]] = []

    class Recorder(fw.Watcher):
        def planning(self, planned: int, total: int) -> None:
            seen.append((planned, total))

    study = parse_study(tomllib.loads(STUDY))
    assert len(plan_study(study, watcher=Recorder())) == 8 and seen == [(i, 8) for i in range(9)]
    seen.clear()
    wrong = parse_study(tomllib.loads(STUDY.replace("N = [3, 4]", "N = [3, 0]")))
    with pytest.raises(fw.ConfigError):
        plan_study(wrong, watcher=Recorder())
    assert seen[-1] == (8, 8) and len(seen) < 9


#: Runs at once shows what otherwise shows after a second, or every few seconds.
HURRY = """
import sys
import flitwork as fw
from flitwork.cli import main, progress
from flitwork.experiment import display
progress._PATIENCE_SECONDS = progress._LINE_SECONDS = display._LINE_SECONDS = 0.0
display._PATIENCE_SECONDS = 0.001
def point(seed_of_nothing):
    return fw.Torus(8, 8), fw.uniform(offered_load=0.3)
"""
COMMAND = "sys.argv = ['flitwork', *{}]; main()"
SWEEP = "fw.sweep(point, seed_of_nothing=[1], seeds=range(1, 9), run={{'measurement_cycles': 3000}}{})"


def on_a_terminal(program: str, folder: Path) -> str:
    """What the program shows on a terminal."""
    screen, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", HURRY + program],
        stdout=subprocess.DEVNULL,
        stderr=terminal,
        cwd=folder,
        env=environment(),
    )
    os.close(terminal)
    shown = b""
    while True:
        try:
            part = os.read(screen, 65536)
        except OSError:
            break
        shown += part
        if not part:
            break
    os.close(screen)
    assert process.wait(timeout=60) == 0, shown.decode()
    return shown.decode()


def in_a_pipe(program: str, folder: Path) -> str:
    """What the program writes to standard error where that is no terminal."""
    done = subprocess.run(
        [sys.executable, "-c", HURRY + program],
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment(),
        check=True,
    )
    return done.stderr


OPEN_LOOP = ("simulate", "uniform", "--load", "0.3", "--set", "measurement_cycles=60000")
STEADY = ("simulate", "uniform", "--load", "0.3", "--set", "steady={min_measurement_cycles=60000}")
FINITE = ("simulate", "a2at", "--size", "9x9")
DRAW = ("draw", "a2at", "--size", "4x4", "--message-flits", "12000", "--windows", "2")
BOOKSIM = ("booksim", "torus.cfg")


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (OPEN_LOOP, ("simulating", "% ", " left")),
        (STEADY, ("simulating", "cycle ")),
        (FINITE, ("simulating", "%")),
        (DRAW, ("simulating", "recording", "drawing", "%")),
        (BOOKSIM, ("simulating", "%")),
    ],
    ids=lambda value: " ".join(value[:2]),
)
def test_one_long_simulation_shows_how_far_it_is(args: tuple[str, ...], words: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "torus.cfg").write_text(
        "topology = torus; k = 8; n = 2; routing_function = dim_order; num_vcs = 4; traffic = uniform;"
        "injection_rate = 0.2; sample_period = 30000; warmup_periods = 1; max_samples = 2;"
    )
    program = COMMAND.format(args)
    text = on_a_terminal(program, tmp_path)
    for shown in (text, in_a_pipe(program, tmp_path)):
        assert all(word.strip() in shown for word in words), shown
    assert text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l")


#: Warm-up and measurement are over long before the run is: its last packets are as long as its measurement.
DRAINS = (
    *OPEN_LOOP[:2],
    *("--load", "0.2", "--size", "8x8", "--packet-flits", "20000"),
    *("--set", "warmup_cycles=0", "--set", "measurement_cycles=20000"),
)


@pytest.mark.parametrize("args", [OPEN_LOOP, FINITE, BOOKSIM, DRAINS], ids=["open loop", "finite", "booksim", "drains"])
def test_what_goes_on_is_never_at_its_end(args: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "torus.cfg").write_text(
        "topology = mesh; k = 8; n = 2; routing_function = dor; num_vcs = 4; traffic = uniform;"
        "injection_rate = 0.5; sample_period = 20000; warmup_periods = 1; max_samples = 2; latency_thres = -1.0;"
    )
    text = in_a_pipe(COMMAND.format(args), tmp_path)
    assert "cycle" in text and "100%" not in text and "about 0 s" not in text, text


def test_time_left_is_not_known_beyond_what_was_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(progress, "_LINE_SECONDS", 0.0)
    monkeypatch.setattr(display, "say", said.append)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress.shown("simulating", 1000) as seen:
        for cycle in (500, 999, 1000, 5000):
            seen(cycle, 0, None)
    assert said == [
        "simulating: cycle 500, 50%, about 1 s left",
        "simulating: cycle 999, 99%, about 1 s left",
        "simulating: cycle 1,000",
        "simulating: cycle 5,000",
    ]
    status = Status(total=1, work=10.0, work_done=10.0, started=time.monotonic() - 60)
    assert status.seconds_left is None
    status.work_done = 5.0
    assert status.seconds_left == pytest.approx(60, rel=0.01)
    assert display.time_left(0.2) == "about 1 s left"


def test_a_short_simulation_shows_nothing(tmp_path: Path) -> None:
    patient = "progress._PATIENCE_SECONDS = progress._LINE_SECONDS = 60.0\n"
    program = patient + COMMAND.format(OPEN_LOOP)
    assert not on_a_terminal(program, tmp_path) and not in_a_pipe(program, tmp_path)


def test_a_sweep_of_a_script_shows_a_bar_on_a_terminal(tmp_path: Path) -> None:
    shown = re.sub(r"\x1b\[[\d;?]*\w", "", on_a_terminal(SWEEP.format(""), tmp_path))
    assert "simulating" in shown and "8/8 points" in shown
    assert not on_a_terminal(SWEEP.format(", watcher=fw.Watcher()"), tmp_path)
    assert not in_a_pipe(SWEEP.format(""), tmp_path)


@pytest.mark.parametrize(("widgets", "kind"), [(None, display.Lines), (object(), display.Bar)])
def test_a_notebook_shows_a_bar_or_lines(widgets: object, kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    class Notebook(Console):
        def __init__(self, **options: object) -> None:
            super().__init__(force_jupyter=True, file=sys.stderr)

    monkeypatch.setattr(display, "Console", Notebook)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: widgets)
    assert type(display.watcher_of_a_program()) is kind
