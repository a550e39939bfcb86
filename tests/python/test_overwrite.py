"""Files that exist: every command that writes one replaces it with --overwrite only, and says so before it works."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from flitwork.cli import app
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
    "draw": (("a2at", *SIZE, "-o", "folder"), "folder/channels.png"),
    "fit": (("times.csv", "-o", "folder"), "folder/fit.json"),
    "explain": (("a2at", *SIZE, "-o", "folder"), "folder/explanation.txt"),
    "view": (("a2at", *SIZE, "-o", "there.html"), "there.html"),
    "mpi simulate": (("--save", "there.parquet", "script.py"), "there.parquet"),
    "mpi table": (("bruck", "-n", "4", "-o", "there.steps"), "there.steps"),
    "mpi record": (("-o", "there.goal", "--from", "folder"), "there.goal"),
    "tune": (("times.csv", "-o", "there.txt"), "there.txt"),
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


@pytest.mark.parametrize("name", ["simulate", "pick", "mpi table", "explain"])
def test_it_is_replaced_when_that_is_asked_for(name: str, cli: Cli, tmp_path: Path) -> None:
    words, there = CASES[name]
    file = tmp_path / there
    file.parent.mkdir(exist_ok=True)
    file.write_text("mine")
    done = cli(*name.split(), *words, "--overwrite")
    assert done.returncode == 0, done.stderr
    assert file.read_text() != "mine"
