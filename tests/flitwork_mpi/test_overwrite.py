"""Files that exist: every command that writes one replaces it with --overwrite only, and says so before it works.

In Python they are replaced, as NumPy and pandas do, and every function that writes one says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import flitwork as fw
import pandas as pd
import pytest
from common import Cli
from flitwork import report
from flitwork.cli import app
from flitwork.fit import save_pictures
from flitwork.running.goal import GoalResult
from typer.main import get_command

#: Options that name what is written.
WRITES = {"--out", "--output", "--save", "--packets-file"}
#: Commands whose file or folder holds finished work: the same command continues, and computes nothing twice.
CONTINUE = {"reproduce", "curve", "burst", "mpi bench"}

SIZE = ("--size", "3x3")
#: Of each command that replaces files its words, and the file that is there already; ``run`` is of a GOAL program.
CASES: dict[str, tuple[tuple[str, ...], str]] = {
    "run": (("program.goal", "--save", "there.csv"), "there.csv"),
    "report": (("takaue-2010-a2at", "-o", "there.html"), "there.html"),
    "simulate": (("a2at", *SIZE, "--save", "there.csv"), "there.csv"),
    "pick": ((*SIZE, "--message-flits", "4", "--save", "there.csv"), "there.csv"),
    "synthesise": ((*SIZE, "--packet-flits", "1", "-o", "there.json"), "there.json"),
    "msccl": (("a2at", *SIZE, "-o", "there.xml"), "there.xml"),
    "draw": (("a2at", *SIZE, "-o", "folder"), "folder/channels.png"),
    "fit": (("times.csv", "-o", "folder"), "folder/fit.json"),
    "explain": (("a2at", *SIZE, "-o", "folder"), "folder/explanation.txt"),
    "view": (("a2at", *SIZE, "-o", "there.html"), "there.html"),
    "mpi simulate": (("--save", "there.parquet", "script.py"), "there.parquet"),
    "mpi table": (("bruck", "-n", "4", "-o", "there.steps"), "there.steps"),
    "mpi record": (("-o", "there.goal", "--from", "folder"), "there.goal"),
    "tune": (("times.csv", "-o", "there.txt"), "there.txt"),
    "example": (("ring",), "ring.py"),
}


def commands(group: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every command by its words."""
    if not hasattr(group, "commands"):
        yield " ".join(words), group
        return
    for name in group.list_commands(None):
        yield from commands(group.commands[name], (*words, name))


def test_every_command_that_writes_a_file_has_the_option() -> None:
    found = {}
    for name, command in commands(get_command(app)):
        options = {word for one in command.params for word in one.opts}
        if options & WRITES:
            # The commands that replace nothing do not have it.
            assert ("--overwrite" in options) == (name not in CONTINUE), name
            found[name.replace("tune rules", "tune")] = options
    assert {*found} == {*CASES} | CONTINUE


def test_packets_that_exist_are_not_replaced(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "there.parquet").write_text("mine")
    done = cli("simulate", "uniform", *SIZE, "--load", "0.1", "--packets-file", "there.parquet")
    assert done.returncode == 2 and "--packets-file" in done.stderr and "--overwrite" in done.stderr
    assert (tmp_path / "there.parquet").read_text() == "mine"


@pytest.mark.parametrize("name", CASES)
def test_a_file_that_exists_is_not_replaced(name: str, cli: Cli, tmp_path: Path) -> None:
    words, there = CASES[name]
    file = tmp_path / there
    file.parent.mkdir(exist_ok=True)
    file.write_text("mine")
    before = {*tmp_path.rglob("*")}
    done = cli(*name.split(), *words)
    assert done.returncode == 2, done.stderr
    assert there in done.stderr and "a file that does not exist" in done.stderr and "--overwrite" in done.stderr
    assert file.read_text() == "mine" and {*tmp_path.rglob("*")} == before


@pytest.mark.parametrize(
    ("name", "there"),
    [("draw", "timeline.csv"), ("draw", "network.gif"), ("explain", "causes.csv"), ("explain", "heat_map.png"),
     ("fit", "fit_hockney.png")],
)  # fmt: skip
def test_no_file_of_a_folder_is_replaced(name: str, there: str, cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "folder" / there
    file.parent.mkdir()
    file.write_text("mine")
    done = cli(name, *CASES[name][0])
    assert done.returncode == 2 and there in done.stderr and "--overwrite" in done.stderr
    assert file.read_text() == "mine" and [*file.parent.iterdir()] == [file]


@pytest.mark.parametrize("name", ["simulate", "pick", "mpi table", "explain"])
def test_it_is_replaced_when_that_is_asked_for(name: str, cli: Cli, tmp_path: Path) -> None:
    words, there = CASES[name]
    file = tmp_path / there
    file.parent.mkdir(exist_ok=True)
    file.write_text("mine")
    done = cli(*name.split(), *words, "--overwrite")
    assert done.returncode == 0, done.stderr
    assert file.read_text() != "mine"


def fits() -> fw.Fit:
    times = pd.DataFrame({"bytes": [64, 256, 1024, 4096], "seconds": [1e-6, 2.1e-6, 5e-6, 17e-6]})
    return fw.fit_model(times, "linear_bytes")


def small(**options: Any) -> fw.Result:
    return fw.simulate(fw.Torus(2, 2), fw.all_to_all(message_flits=2), **options)


RING = fw.Schedule([[fw.Send(1, flits=2)], [fw.Receive(0, flits=2)]])
GOAL = "num_ranks 1\nrank 0 {\n}\n"
#: What of Python writes a file: its function, how it is called with a place, and the file.
WRITERS: list[tuple[Any, Any, str]] = [
    (fw.Result.save, lambda path: small().save(path), "there.parquet"),
    (fw.simulate, lambda path: small(packets_file=path), "there.parquet"),
    (fw.Schedule.save, RING.save, "there.csv"),
    (fw.Goal.write, lambda path: fw.Goal(GOAL).write(path), "there.goal"),
    (GoalResult.save, lambda path: fw.run_goal(fw.Goal(GOAL)).save(path), "there.csv"),
    (fw.Pick.save, lambda path: fw.pick(fw.Torus(2, 2), message_flits=2, explained=False).save(path), "there.csv"),
    (fw.mpi.StepTable.save, lambda path: fw.mpi.step_table("bruck", ranks=4).save(path), "there.steps"),
    (fw.Fit.save, lambda path: fits().save(path), "there.json"),
    (fw.save_fits, lambda path: fw.save_fits(fits(), path), "there.json"),
    (save_pictures, lambda path: save_pictures([fits()], path.parent), "fit_linear_bytes.png"),
    (fw.view, lambda path: fw.view(small(), path), "there.html"),
    (report.write, lambda path: report.write(path, [report.of_result(small(), "run", path.parent)]), "there.html"),
    (fw.plot.channel_animation, lambda path: fw.plot.channel_animation(small(channel_window_cycles=5), path), "a.gif"),
    (fw.Explanation.save, lambda path: fw.explain(small()).save(path.parent), "explanation.txt"),
    (fw.Burst.save, lambda path: fw.burst(fw.Torus(2, 2), "neighbour", packets=1, trials=1).save(path.parent), "trials.csv"),
    (fw.Curve.save, lambda path: fw.curve(fw.Torus(2, 2), fw.uniform(offered_load=0.1), [0.1], seeds=[1], resolution=0, warmup_cycles=10, measurement_cycles=50).save(path.parent), "runs.csv"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "call", "name"), WRITERS, ids=lambda one: getattr(one, "__qualname__", ""))
def test_in_python_a_file_that_exists_is_replaced(function: Any, call: Any, name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("mine")
    call(tmp_path / name)
    assert (tmp_path / name).read_bytes() != b"mine"
    assert "replaced" in (function.__doc__ or "")
