"""Programs on real MPI, recorded: every byte that a rank says it sent is in the GOAL program, and it runs on networks."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import flitwork as fw
import numpy as np
import pytest
from flitwork import ConfigError
from flitwork.mpi.native.record import record
from flitwork.mpi.native.record_goal import Converted, converted
from flitwork.mpi.native.record_trace import EVENT, FLAGS, KINDS, ORIGINS, read_trace
from mpi_libraries import Library

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "tests" / "mpi"
RANKS = 4
#: What the programs in tests/mpi count collectives by.
COUNTED = {
    **dict.fromkeys(("bcast", "gather", "gatherv", "scatter", "scatterv", "reduce", "scan", "exscan"), "linear"),
    **dict.fromkeys(("alltoall", "alltoallv"), "pairwise_shift"),
    "allgather": "ring",
    "allreduce": "recursive_doubling",
    "reduce_scatter": "pairwise",
}
TORUS = fw.Torus(2, 2, router=fw.Router(vcs=4), units=fw.Units(flit_bytes=32, cycle_ns=2))
FAT_TREE = fw.KAryNTree(k=2, levels=2, units=fw.Units(flit_bytes=32, cycle_ns=2))


@pytest.fixture(params=["openmpi", "mpich"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Library:
    found = Library.found(request.param)
    if found is None:
        pytest.skip(f"{request.param} is not installed: no mpirun of it with an mpicc beside it")
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
    return found


def recorded(library: Library, folder: Path, *words: object, algorithms: dict[str, str] | None = None) -> Converted:
    """A program, recorded and converted."""
    folder.mkdir()
    assert record([*library.launcher(RANKS), *map(str, words)], folder, mpicc=library.mpicc) == 0
    return converted(read_trace(folder), algorithms=algorithms)


def family(library: Library) -> str:
    """The family that a library is of."""
    return "openmpi" if library.oversubscribed else "mpich"


def rows(text: str) -> np.ndarray:
    """What the ranks say they sent to each other."""
    found = {int(rank): [int(one) for one in row.split()] for rank, row in re.findall(r"row\s+(\d+):([\d ]+)", text)}
    return np.array([found[rank] for rank in range(RANKS)])


def run_everywhere(found: Converted) -> None:
    """It ends on the ideal machine and on networks, and what has been sent can be explained."""
    assert fw.run_goal(found.goal, fw.loggops()).completion_ns > 0
    for network in (TORUS, FAT_TREE):
        run = fw.Run(record=fw.Record(waits=True, operations=True))
        result = fw.run_goal(found.goal, network, packet_flits=64, run=run)
        assert result.completion_ns >= found.compute_ns.max()
        assert result.simulation is not None
        why = fw.explain(result.simulation)
        assert why.causes["cycles"].sum() == result.simulation.completion_cycles


def test_every_byte_of_every_call_is_there(library: Library, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    program = library.build((SOURCES / "recorded.c").read_text(), tmp_path / "recorded")
    found = recorded(library, tmp_path / "trace", program, algorithms=COUNTED)
    assert found.pair_bytes.tolist() == rows(capfd.readouterr().out).tolist()
    assert not found.left_out and not found.unknown and not found.cut_short
    run_everywhere(found)
    assert fw.Goal(found.goal.text) == found.goal


#: What is written otherwise in mpi_f08.
_F08 = (
    ("use mpi\n", "use mpi_f08\n"),
    ("left, half, members", "left, members"),
    (
        "integer :: requests(4), statuses(MPI_STATUS_SIZE, 4), status(MPI_STATUS_SIZE), column",
        "type(MPI_Request) :: requests(4)\n type(MPI_Status) :: statuses(4), status\n"
        " type(MPI_Datatype) :: column\n type(MPI_Comm) :: half",
    ),
)


@pytest.mark.slow
@pytest.mark.parametrize("module", ["mpi", "mpi_f08"])
def test_every_byte_of_a_fortran_program_is_there(
    library: Library, module: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    compiler = Path(library.mpicc).with_name(Path(library.mpicc).name.replace("mpicc", "mpif90"))
    if not compiler.exists() or not shutil.which("gfortran"):
        pytest.skip(f"{compiler} or gfortran is not installed")
    text = (SOURCES / "recorded.f90").read_text()
    for before, after in _F08 if module == "mpi_f08" else ():
        assert before in text
        text = text.replace(before, after)
    source, program = tmp_path / "recorded.f90", tmp_path / "recorded"
    source.write_text(text)
    made = subprocess.run(
        [compiler, "-w", "-fallow-argument-mismatch", "-o", program, source],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    found = recorded(library, tmp_path / "trace", program, algorithms=COUNTED)
    assert found.pair_bytes.tolist() == rows(capfd.readouterr().out).tolist()
    assert not found.left_out and not found.unknown and not found.cut_short


@pytest.mark.slow
@pytest.mark.parametrize("name", ["openmpi", "mpich"])
def test_every_byte_of_a_python_program_is_there(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    library = Library.of_wheel(name)
    if library is None or library.python is None:
        pytest.skip(f"the wheel of {name} is not installed, which has an mpi4py")
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
    found = recorded(library, tmp_path / "trace", library.python, SOURCES / "recorded.py", algorithms=COUNTED)
    assert found.pair_bytes.tolist() == rows(capfd.readouterr().out).tolist()
    assert not found.left_out and not found.unknown and not found.cut_short
    run_everywhere(found)


def test_the_numbers_of_records_are_those_of_the_library() -> None:
    header = (ROOT / "mpi" / "record" / "record.h").read_text()
    said = {name: int(number) for name, number in re.findall(r"\b([A-Z_]+) = (\d+)", header)}
    assert said == {**KINDS, **FLAGS, **ORIGINS}
    sizes = {"uint8_t": 1, "uint16_t": 2, "uint32_t": 4, "int32_t": 4, "uint64_t": 8}
    body = header.split("struct event {")[1].split("}")[0]
    fields = [
        (name.strip(), sizes[kind])
        for kind, names in re.findall(r"(u?int\d+_t) ([\w, ]+);", body)
        for name in names.split(",")
    ]
    assert fields == [(name, EVENT[name].itemsize) for name in EVENT.names or ()]


def command(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "flitwork", "mpi", "record", *map(str, words)],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def test_the_command_records_and_converts_again_with_another_algorithm(library: Library, tmp_path: Path) -> None:
    source = """
#include <mpi.h>
int main(int argc, char **argv) {
  int rank; static char a[4096], b[4096];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) MPI_Send(a, 1000, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(b, 4096, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Alltoall(a, 1024, MPI_CHAR, b, 1024, MPI_CHAR, MPI_COMM_WORLD);
  MPI_Finalize();
}
"""
    program, goal, kept = library.build(source, tmp_path / "program"), tmp_path / "a.goal", tmp_path / "kept"
    done = command("-o", goal, "--trace", kept, "--json", "--", *library.launcher(RANKS), program)
    assert done.returncode == 0, done.stderr
    row = json.loads(done.stdout)
    assert row["message_bytes"] == 1000 + 12 * 1024 and row["messages"] == 13
    assert row["collectives"] == [{"collective": "alltoall", "algorithm": "simple_spread", "calls": 1}]
    assert fw.read_goal(goal).messages == 13
    servers = tmp_path / "b.bin"
    options = ("--algorithm", "alltoall=two_level_ring", "--ranks-per-server", 2, "--compute", "zero")
    done = command("-o", servers, "--from", kept, *options, "--json")
    assert done.returncode == 0, done.stderr
    row = json.loads(done.stdout)
    assert row["collectives"][0]["algorithm"] == "two_level_ring" and sum(row["compute_ns"]) == 0
    assert fw.run_goal(fw.read_goal(servers), TORUS).completion_ns > 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--",), "COMMAND"),
        (("--", "no-such-mpirun", "-n", "4", "true"), "a launcher that can be run"),
        (("--", "true"), "mpirun or mpiexec of Open MPI, MPICH"),
        (("--algorithm", "alltoal=bruck", "--", "true"), "did you mean `alltoall`"),
        (("--algorithm", "alltoall", "--", "true"), "COLLECTIVE=NAME"),
        (("--from", "nowhere"), "a folder with a trace"),
    ],
)
def test_what_is_wrong_is_said_before_anything_runs(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    done = command("-o", tmp_path / "a.goal", *words)
    assert done.returncode == 2
    assert said in done.stderr


def test_an_output_that_cannot_be_written_is_said_first(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = command("-o", tmp_path / "file" / "a.goal", "--", "true")
    assert done.returncode == 2 and "a folder that can be written to" in done.stderr
    done = command("-o", tmp_path / "a.txt", "--", "true")
    assert done.returncode == 2 and "a file .goal (text) or .bin (binary)" in done.stderr


def test_a_program_that_is_not_mpi_says_so(library: Library, tmp_path: Path) -> None:
    done = command("-o", tmp_path / "a.goal", "--", *library.launcher(2), "true")
    assert done.returncode != 0
    assert "a program that calls MPI_Init" in done.stderr
    assert not (tmp_path / "a.goal").exists()


@pytest.mark.slow
def test_what_a_program_did_before_it_crashed_is_kept(library: Library, tmp_path: Path) -> None:
    source = """
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int rank; char a[64] = {0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) MPI_Send(a, 64, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(a, 64, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) abort();
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
}
"""
    goal = tmp_path / "a.goal"
    done = command("-o", goal, "--", *library.launcher(2), library.build(source, tmp_path / "program"))
    assert done.returncode not in (0, 2)
    assert "what it did until then is recorded" in done.stderr and "did not reach MPI_Finalize" in done.stderr
    assert fw.read_goal(goal).messages == 3


def test_calls_that_are_not_recorded_are_named(library: Library, tmp_path: Path) -> None:
    source = """
#include <mpi.h>
int main(int argc, char **argv) {
  int size[1] = {4}, wraps[1] = {1}, a = 1, b[2], c[2] = {5, 5}, d[2];
  MPI_Comm ring;
  MPI_Init(&argc, &argv);
  MPI_Cart_create(MPI_COMM_WORLD, 1, size, wraps, 0, &ring);
  for (int i = 0; i < 3; i++) MPI_Neighbor_allgather(&a, 1, MPI_INT, b, 1, MPI_INT, ring);
  MPI_Request request;
  MPI_Ineighbor_alltoall(c, 1, MPI_INT, d, 1, MPI_INT, ring, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  int ok = b[0] == 1 && b[1] == 1 && d[0] == 5 && d[1] == 5;
  MPI_Finalize();
  return !ok;
}
"""
    found = recorded(library, tmp_path / "trace", library.build(source, tmp_path / "program"))
    assert found.unknown == {"MPI_Ineighbor_alltoall": 4, "MPI_Neighbor_allgather": 12}
    assert found.goal.messages == 0


def test_a_trace_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="a program that calls MPI_Init"):
        read_trace(tmp_path)
    (tmp_path / "rank-0.events").write_bytes(bytes([9]) * 80)
    (tmp_path / "rank-0.lists").write_bytes(b"")
    with pytest.raises(ConfigError, match="a trace of format 1"):
        read_trace(tmp_path)


@pytest.mark.slow
def test_an_interrupted_program_leaves_its_trace(library: Library, tmp_path: Path) -> None:
    source = """
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  for (int i = 0;; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(100);
    if (i == 100) puts("running"), fflush(stdout);
  }
}
"""
    goal, kept, program = tmp_path / "a.goal", tmp_path / "kept", library.build(source, tmp_path / "program")
    words = ["-o", goal, "--trace", kept, "--", *library.launcher(2), program]
    with subprocess.Popen(
        [sys.executable, "-m", "flitwork", "mpi", "record", *map(str, words)],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None and process.stdout.readline() == "running\n"
        os.killpg(process.pid, signal.SIGINT)
        process.stdout.read()
        assert process.wait(60) == 130
    assert not goal.exists()
    done = command("-o", goal, "--from", kept, "--json")
    assert done.returncode == 0, done.stderr
    row = json.loads(done.stdout)
    assert row["cut_short"] == [0, 1] and row["collectives"][0]["calls"] > 100
