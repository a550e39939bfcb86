"""Programs on real MPI with our all-to-alls: what is started, what is compiled, and what is refused before that."""

from __future__ import annotations

import json
import os
import random
import re
import stat
import subprocess
import sys
import urllib.parse
from pathlib import Path
from typing import Any

import pytest
from flitwork.base.errors import ConfigError, SimulationError, StorageError
from flitwork_mpi.native import build, doctor
from flitwork_mpi.native.launcher import Launcher
from flitwork_mpi.native.settings import Settings
from mpi_libraries import PROGRAM, Library

ANYWHERE = {**os.environ, **doctor._ANYWHERE}


@pytest.fixture(scope="module", params=["openmpi", "mpich"])
def mpi(request: pytest.FixtureRequest) -> Library:
    library = Library.found(request.param)
    if library is None:
        pytest.skip(f"no mpirun of {request.param} with its mpicc: nothing was run")
    return library


def flitwork(*words: object, **more: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "flitwork", "mpi", *map(str, words)]
    env = {**ANYWHERE, **more.pop("env", {})}
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=env, **more)


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_a_program_runs_with_the_algorithm_that_was_asked_for(mpi: Library, tmp_path: Path) -> None:
    program = mpi.build(PROGRAM, tmp_path / "a program")
    words = mpi.launcher(4)
    options = ["--alltoall", "two_level_ring", "--servers", "3,1", "--report", "--strict"]
    done = flitwork("run", *options, "--", *words, program, 64)
    assert done.returncode == 0, done.stderr
    assert "two_level_ring" in done.stderr


def table_for(ranks: int, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    done = flitwork("table", "pairwise_shift", "--ranks", ranks, "-o", file)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["ft/st ep.txt", "a,b:c;d e%41=ä\"'.txt"])
def test_a_table_is_used_whatever_its_name_has(mpi: Library, tmp_path: Path, name: str) -> None:
    program = mpi.build(PROGRAM, tmp_path / "program")
    table_for(3, tmp_path / name)
    done = flitwork("run", "--alltoall", f"table:{name}", "--report", "--", *mpi.launcher(3), program, 64, cwd=tmp_path)
    assert done.returncode == 0 and "alltoall               table:/" in done.stderr, done.stderr
    assert "the MPI library:" not in done.stderr


@pytest.mark.slow
def test_tables_and_rules_of_any_name_are_used(mpi: Library, tmp_path: Path) -> None:
    program, chance = mpi.build(PROGRAM, tmp_path / "program"), random.Random(10)
    for number in range(3):
        name = "".join(chance.choice(" ,:;=%@+~^&()[]{}<>|*?!$`'\"#\\\nabcäß漢") for _ in range(12)) + str(number)
        table_for(2, tmp_path / name)
        (tmp_path / f"{name} rules").write_text("alltoall ranks=2 algorithm=table:plain.txt\n")
        table_for(2, tmp_path / f"{number}" / "plain.txt")
        (tmp_path / "plain.txt").write_bytes((tmp_path / f"{number}" / "plain.txt").read_bytes())
        for option in (("--alltoall", f"table:{name}"), ("--rules", f"{name} rules")):
            done = flitwork("run", *option, "--report", "--", *mpi.launcher(2), program, 8, cwd=tmp_path)
            assert done.returncode == 0 and "table:" in done.stderr, (name, done.stderr)


def test_an_algorithm_that_cannot_be_used_fails_the_command(mpi: Library, tmp_path: Path) -> None:
    program = mpi.build(PROGRAM, tmp_path / "program")
    words = ("run", "--alltoall", "pairwise_xor"), ("--", *mpi.launcher(3), program, 64)
    done = flitwork(*words[0], *words[1])
    assert done.returncode != 0 and "pairwise_xor is asked for and cannot be used" in done.stderr, done.stderr
    done = flitwork(*words[0], "--allow-fallback", *words[1])
    assert done.returncode == 0 and "The MPI library's own algorithm is used" in done.stderr, done.stderr


def test_a_program_without_the_library_fails_the_command(mpi: Library) -> None:
    words = ("run", "--alltoall", "bruck"), ("--", *mpi.launcher(1), "true")
    done = flitwork(*words[0], *words[1])
    assert done.returncode != 0 and "without having loaded libflitwork_mpi" in " ".join(done.stderr.split())
    assert flitwork(*words[0], "--allow-fallback", *words[1]).returncode == 0


def test_values_travel_as_characters_that_no_launcher_reads_otherwise() -> None:
    chance = random.Random(1)
    for _ in range(300):
        value = "".join(chr(chance.choice([*range(1, 0x180), 0x4E00, 0xDC80])) for _ in range(chance.randrange(30)))
        words = Launcher("/mpirun", "mpich").with_variables({"FLITWORK_X": value, "OTHER": "a b"})
        assert words[1:3] == ["-genv", "FLITWORK_X"] and words[4:] == [
            "-genv",
            "OTHER",
            "a b",
            "-genv",
            "FLITWORK_ENCODED",
            "1",
        ]
        assert re.fullmatch(r"[\w./%-]*", words[3], re.ASCII)
        assert urllib.parse.unquote_to_bytes(words[3]) == os.fsencode(value)


def test_a_cache_that_a_preload_would_split_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "my cache"))
    compiler = script(tmp_path / "mpicc", "exit 0")
    with pytest.raises(ConfigError, match=r"XDG_CACHE_HOME = .*my cache.*without blanks"):
        build.built("libflitwork_mpi.so", str(compiler))


def test_exit_codes_are_those_of_the_program(mpi: Library, tmp_path: Path) -> None:
    ends = script(tmp_path / "ends.sh", "exit 7")
    done = flitwork("run", "--alltoall", "bruck", "--", *mpi.launcher(1), ends)
    assert done.returncode == 7


def test_only_ranks_get_the_library(tmp_path: Path) -> None:
    launcher = script(tmp_path / "mpirun", 'echo "HYDRA build"; echo "$LD_PRELOAD|$@"')
    found = Launcher.of([str(launcher), "-n", "2", "./a program"])
    assert found.family == "mpich"
    words = found.with_variables({"LD_PRELOAD": "/x.so", "A": "1 2"})
    assert words[1:] == ["-genv", "LD_PRELOAD", "/x.so", "-genv", "A", "1 2", "-n", "2", "./a program"]
    said = subprocess.run(words, capture_output=True, text=True, check=True, env={**os.environ, "LD_PRELOAD": ""})
    assert said.stdout.splitlines()[1].startswith("|")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"alltoall": "two_level_rings"}, "did you mean `two_level_ring`"),
        ({"alltoallv": "table:missing.txt"}, r"--alltoallv = missing.txt: expected a file"),
        ({"rules": Path("missing.txt")}, r"--rules = missing.txt: expected a file"),
        ({"alltoall": "two_level_ring", "radix": 4}, "--radix = 4: expected an algorithm that has radix: bruck"),
        ({"alltoall": "bruck", "leaders": 2}, "--leaders = 2: expected an algorithm that has leaders: multi_leader"),
        ({"servers": "4,x"}, "--servers = 4,x: expected ranks on each server"),
    ],
)
def test_settings_are_checked_before_anything_is_started(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        Settings(**given)


def test_settings_become_variables_of_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("table.txt").touch()
    found = Settings(
        alltoall="table:table.txt", alltoallv="bruck", radix=4, servers="by_rank:0,0,1", pause_ns=0, report=True
    ).variables()
    assert found == {
        "FLITWORK_MPI_ALLTOALL": f"table:{tmp_path / 'table.txt'}",
        "FLITWORK_MPI_ALLTOALLV": "bruck",
        "FLITWORK_MPI_RADIX": "4",
        "FLITWORK_MPI_SERVERS": "by_rank:0,0,1",
        "FLITWORK_MPI_PAUSE_NS": "0",
        "FLITWORK_MPI_REPORT": "1",
    }


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--", "mpirun", "-n", "2", "true"), "--alltoall = nothing"),
        (("--alltoall", "ring", "--", "mpirun", "-n", "2", "true"), "did you mean"),
        (("--alltoall", "bruck",), "COMMAND = nothing"),
        (("--alltoall", "bruck", "--", "no-such-launcher"), "COMMAND = no-such-launcher"),
        (("--alltoall", "bruck", "--", "true"), "mpirun or mpiexec of Open MPI, MPICH"),
    ],
)  # fmt: skip
def test_bad_commands_are_refused(words: tuple[str, ...], said: str) -> None:
    done = flitwork("run", *words)
    assert done.returncode == 2 and said in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_compilers_that_fail_and_caches_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    fails = script(tmp_path / "mpicc", 'if [ "$1" = -show ]; then echo cc; else echo "no mpi.h" >&2; exit 3; fi')
    with pytest.raises(SimulationError, match=r"exit code 3:\nno mpi\.h"):
        build.built("check", str(fails))
    assert list((tmp_path / "cache").rglob("check*")) == []
    with pytest.raises(ConfigError, match="--mpicc = missing: expected a compiler"):
        build.built("check", "missing")
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(StorageError, match="set XDG_CACHE_HOME"):
        build.built("check", str(fails))


def test_the_doctor_sees_what_works(mpi: Library) -> None:
    found = doctor.diagnose(Launcher.of(mpi.launcher(1)))
    assert found.works and found.version[0].isdigit()
    assert {one.what for one in found.findings} == {"library", "C", "Fortran"}


@pytest.mark.slow
@pytest.mark.parametrize("family", ["openmpi", "mpich"])
def test_the_library_works_with_every_version_here(family: str) -> None:
    every = list(Library.every(family))
    if not every:
        pytest.skip(f"no mpirun of {family} with its mpicc: nothing was run")
    found = [doctor.diagnose(Launcher.of(library.launcher(1))) for library in every]
    print([(one.launcher, one.version) for one in found])
    assert all(one.works for one in found), found


def test_the_doctor_finds_nothing_where_there_is_nothing(tmp_path: Path) -> None:
    python = script(tmp_path / "python", f'exec "{sys.executable}" "$@"')
    env = {**ANYWHERE, "PATH": str(tmp_path)}
    program = "import sys; from flitwork_mpi.native import doctor; sys.executable = '/nowhere/python'; print(doctor.launchers())"
    done = subprocess.run([python, "-c", program], capture_output=True, text=True, check=True, env=env)
    assert done.stdout.strip() == "[]"


def test_a_library_that_takes_nothing_over_is_found_out(mpi: Library, tmp_path: Path) -> None:
    launcher = Launcher.of(mpi.launcher(1))
    program = build.built("check", launcher.compiler())
    empty = mpi.build("int flitwork_nothing;", tmp_path / "empty.so", "-shared", "-fPIC")
    found = doctor._ran("C", Launcher(launcher.path, launcher.family), program, empty)
    assert found.works is False and "did not carry it out" in found.words


def test_the_doctor_as_json() -> None:
    done = flitwork("doctor", "--json")
    report = json.loads(done.stdout)
    works = any(
        finding["what"] == "C" and finding["works"] for one in report["libraries"] for finding in one["findings"]
    )
    assert done.returncode == (0 if works else 1) and report["mpi4py"]["what"] == "mpi4py"
