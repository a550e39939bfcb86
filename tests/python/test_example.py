"""``flitwork example``: what the help recommends is there, wherever the package is installed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import flitwork
import pytest
from flitwork.cli.example import examples

PACKAGE = Path(flitwork.__file__).parent


def flitwork_in(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The command, run in a folder."""
    command = [sys.executable, "-m", "flitwork", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


def test_all_examples_are_listed_and_belong_to_the_package() -> None:
    known = examples()
    assert {"torus_sizes", "halo_trace", "quickstart", "ring"} <= {*known}
    assert all(path.is_relative_to(PACKAGE) for files in known.values() for path in files)
    assert [path.name for path in known["halo_trace"]] == ["halo_trace.toml", "halo_trace.csv"]


def test_an_example_is_written_and_runs(tmp_path: Path) -> None:
    assert flitwork_in(tmp_path, "example", "halo_trace").returncode == 0
    assert {path.name for path in tmp_path.iterdir()} == {"halo_trace.toml", "halo_trace.csv"}
    done = flitwork_in(tmp_path, "plan", "halo_trace.toml")
    assert done.returncode == 0, done.stderr
    again = flitwork_in(tmp_path, "example", "halo_trace")
    assert again.returncode == 2 and "--overwrite" in again.stderr
    assert flitwork_in(tmp_path, "example", "halo_trace", "--overwrite").returncode == 0
    wrong = flitwork_in(tmp_path, "example", "halo_trase")
    assert wrong.returncode == 2 and "halo_trace" in wrong.stderr


def test_the_help_names_files_that_an_example_writes() -> None:
    written = {path.name for files in examples().values() for path in files}
    made_up = {"results.parquet", "study.toml", "machine.toml", "program.py", "script.py", "servers.goal", "ring.goal"}
    for source in sorted((PACKAGE / "cli").glob("*.py")):
        text = source.read_text(encoding="utf-8")
        assert "examples/" not in text, source
        for name in re.findall(r"flitwork (?:run|plan|bound|report) ([\w/]+\.toml)", text):
            assert name in written | made_up, f"{source.name}: {name}"


@pytest.mark.parametrize("command", ["simulate", "plan", "bound", "run", "curve"])
def test_a_machine_where_a_workload_belongs_is_told_which_command_takes_it(command: str, tmp_path: Path) -> None:
    machine = '[network]\ntopology = { kind = "torus", size = [2, 2] }\nunits = { flit_bytes = 16 }\n'
    (tmp_path / "m.toml").write_text(machine, encoding="utf-8")
    done = flitwork_in(tmp_path, command, "m.toml", *(["--load", "0.1"] if command == "simulate" else []))
    assert done.returncode == 2
    hint = re.search(r"flitwork (pick m\.toml --message-bytes \d+)", done.stderr)
    assert hint, done.stderr
    assert flitwork_in(tmp_path, *hint[1].split()).returncode == 0


def test_a_file_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    done = flitwork_in(tmp_path, "simulate", "no.toml")
    assert done.returncode == 2 and "there is no file no.toml" in done.stderr
