"""Places that cannot be written to, are full, or hold something else: found early, and nothing is lost."""

from __future__ import annotations

import errno
import json
import os
import resource
import subprocess
from pathlib import Path

import flitwork as fw
import pytest
from common import COMMAND, Cli, environment
from flitwork.planning.specification import simulation
from flitwork.plot.gallery import gallery

A2AT = ("simulate", "a2at", "--size", "3x3", "--message-flits", "5")
#: A simulation that fails as soon as it is run.
FAILS = (*A2AT, "--set", "max_cycles=5")


def with_files_up_to(size: int, *args: object, folder: Path) -> subprocess.CompletedProcess[str]:
    """The command where no file may be larger than ``size`` bytes, as on a disk that is nearly full."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return subprocess.run(
        [*COMMAND, *map(str, args)],
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment(),
        preexec_fn=limit,
        check=False,
    )


@pytest.mark.parametrize("place", ["file/x.parquet", "folder.parquet", "/proc/x.csv"])
def test_a_place_to_save_in_is_tried_before_the_simulation(place: str, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder.parquet").mkdir()
    done = cli(*FAILS, "--save", place)
    assert done.returncode == 2 and "--save" in done.stderr and "Traceback" not in done.stderr
    assert cli(*FAILS).returncode == 3


def test_a_full_disk_is_found_before_the_simulation(tmp_path: Path) -> None:
    done = with_files_up_to(1000, *FAILS, "--save", "x.csv", folder=tmp_path)
    assert done.returncode == 2 and "--save" in done.stderr


@pytest.mark.parametrize("as_json", [False, True])
def test_a_result_that_cannot_be_saved_is_printed(as_json: bool, tmp_path: Path) -> None:
    done = with_files_up_to(5000, *A2AT, "--save", "x.parquet", *(["--json"] if as_json else []), folder=tmp_path)
    assert done.returncode == 3 and "completion_cycles" in done.stdout and "stored in" not in done.stdout
    if as_json:
        assert json.loads(done.stdout)["status"] == "complete"
        assert json.loads(done.stderr)["error"] == "StorageError"
    assert "free space" in done.stderr and not list(tmp_path.iterdir())


def test_a_sweep_stops_on_a_full_disk_and_continues(study: Path, cli: Cli, tmp_path: Path) -> None:
    done = with_files_up_to(5000, "run", study, folder=tmp_path)
    assert done.returncode == 3 and "Traceback" not in done.stderr
    assert "free space" in done.stderr and "continues" in done.stderr
    assert cli("run", study).returncode == 0


def test_a_full_disk_while_tables_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = fw.simulate(fw.Torus(3, 3), fw.all_to_all(message_flits=2))

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(fw.StorageError, match=r"No space left on device.*free space"):
        result.save(tmp_path / "x.parquet")
    with pytest.raises(fw.StorageError, match="free space"):
        gallery(simulation(fw.Torus(3, 3), fw.uniform(offered_load=0.1)), tmp_path, windows=2)
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only some systems have a device that is always full")
@pytest.mark.parametrize(
    "args",
    [
        ("--version",),
        ("--help",),
        ("list", "columns"),
        ("list", "columns", "--json"),
        ("schema",),
        ("plan", "a2at", "--json"),
        A2AT,
        (*A2AT, "--json"),
    ],
)
def test_an_output_that_is_full(args: tuple[str, ...], tmp_path: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, *args],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env=environment(),
            check=False,
        )
    assert done.returncode == 3 and "standard output" in done.stderr
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr
    assert ("--json" in args) == done.stderr.startswith("{")


def test_without_standard_output(tmp_path: Path) -> None:
    command = " ".join([*COMMAND, "list", "studies", ">&-"])
    done = subprocess.run(command, shell=True, stderr=subprocess.PIPE, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0 and not done.stderr
