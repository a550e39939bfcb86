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
from flitwork_mpi.native.record import record
from flitwork_mpi.native.record_goal import Converted, converted
from flitwork_mpi.native.record_trace import EVENT, FLAGS, KINDS, ORIGINS, read_trace
from mpi_libraries import Library

ROOT = Path(__file__).parents[2]
SOURCES = Path(__file__).parent / "programs"
RANKS = 4
#: What the programs in tests/flitwork_mpi/programs count collectives by.
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


def test_collectives_of_neighbours_are_messages(library: Library, tmp_path: Path) -> None:
    source = """
#include <mpi.h>
int main(int argc, char **argv) {
  int rank, ok, size[1] = {4}, ring_wraps[1] = {1}, line_wraps[1] = {0}, a = 1, b[2], c[2] = {5, 5}, d[2] = {0, 0}, e[8], got = 0;
  MPI_Comm ring, line, star;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Cart_create(MPI_COMM_WORLD, 1, size, ring_wraps, 0, &ring);
  MPI_Cart_create(MPI_COMM_WORLD, 1, size, line_wraps, 0, &line);
  for (int i = 0; i < 3; i++) MPI_Neighbor_allgather(&a, 1, MPI_INT, b, 1, MPI_INT, ring);
  MPI_Request request;
  MPI_Ineighbor_alltoall(c, 1, MPI_INT, d, 1, MPI_INT, line, &request);
  if (rank == 1) MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, ring, MPI_STATUS_IGNORE);
  if (rank == 0) MPI_Send(&a, 1, MPI_INT, 1, 3, ring);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  int others[3] = {1, 2, 3}, zero[1] = {0}, counts[3] = {1, 2, 3}, places[3] = {0, 1, 3}, mine[1] = {rank}, start[1] = {0};
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, rank > 0, zero, MPI_UNWEIGHTED, rank ? 0 : 3, others, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &star);
  for (int i = 0; i < 8; i++) e[i] = 7;
  MPI_Neighbor_alltoallv(e, counts, places, MPI_INT, e, mine, start, MPI_INT, star);
  ok = b[0] == 1 && b[1] == 1 && (rank == 0 || d[0] == 5) && (rank == 3 || d[1] == 5) && (rank != 1 || got == 1);
  MPI_Finalize();
  return !ok;
}
"""
    found = recorded(library, tmp_path / "trace", library.build(source, tmp_path / "program"))
    ring = np.roll(np.eye(4, dtype=int), 1, axis=1) + np.roll(np.eye(4, dtype=int), -1, axis=1)
    line = np.eye(4, k=1, dtype=int) + np.eye(4, k=-1, dtype=int)
    expected = 4 * (3 * ring + line)
    expected[0] += [0, 4, 0, 0]
    expected[0] += [0, 4, 8, 12]
    assert found.pair_bytes.tolist() == expected.tolist()
    assert not found.left_out and not found.unknown
    run_everywhere(found)


_PERSISTENT = """
#include <mpi.h>
int main(int argc, char **argv) {
  int rank, out[8], in[8], counts[4] = {1, 2, 1, 2}, places[4] = {0, 2, 4, 6}, back[4];
  MPI_Request requests[3];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 4; i++) back[i] = 1 + rank % 2;
  for (int i = 0; i < 8; i++) out[i] = rank;
  MPI_Alltoall_init(out, 2, MPI_INT, in, 2, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  MPI_Alltoallv_init(out, counts, places, MPI_INT, in, back, places, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
  MPI_Bcast_init(out, 8, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[2]);
  for (int turn = 0; turn < 3; turn++) {
    for (int i = 0; i < 2; i++) {
      int which = (i + rank) % 2; /* in another order on each rank */
      MPI_Start(&requests[which]);
      MPI_Wait(&requests[which], MPI_STATUS_IGNORE);
    }
    MPI_Startall(1, &requests[2]);
    MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
  }
  for (int i = 0; i < 3; i++) MPI_Request_free(&requests[i]);
  MPI_Finalize();
  return 0;
}
"""


@pytest.mark.parametrize("name", ["mpich", pytest.param("openmpi", marks=pytest.mark.slow)])
def test_persistent_collectives_are_recorded_each_time_they_start(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found_library = Library.found(name) if name == "mpich" else Library.of_wheel(name)
    if found_library is None:
        pytest.skip(f"{name} with persistent collectives is not installed")
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
    # Started in one order: an MPI library may wait in another.
    source = _PERSISTENT.replace("(i + rank) % 2", "i")
    program = found_library.build(source, tmp_path / "program")
    found = recorded(found_library, tmp_path / "trace", program, algorithms=COUNTED)
    expected = np.full((4, 4), 3 * 8) + 3 * 4 * np.array([1, 2, 1, 2])
    expected[0] += 3 * 32
    np.fill_diagonal(expected, 0)
    assert found.pair_bytes.tolist() == expected.tolist()
    assert {name for name, _ in found.collectives} == {"alltoall", "alltoallv", "bcast"}
    assert set(found.collectives.values()) == {3} and not found.unknown and not found.left_out
    run_everywhere(found)


#: Calls that are not recorded, and how often four ranks make them.
_NOT_RECORDED = {
    "openmpi": (
        """
  MPI_Win window;
  MPI_Win_create(&b, sizeof b, sizeof b, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_lock(MPI_LOCK_SHARED, (rank + 1) % 4, 0, window);
  MPI_Put(&a, 1, MPI_INT, (rank + 1) % 4, 0, 1, MPI_INT, window);
  MPI_Win_unlock((rank + 1) % 4, window);
  MPI_Win_free(&window);
""",
        {"MPI_Put": 4, "MPI_Win_lock": 4, "MPI_Win_unlock": 4},
    ),
    "mpich": (
        """
  MPI_Request request;
  MPI_Isendrecv(&a, 1, MPI_INT, (rank + 1) % 4, 0, &b, 1, MPI_INT, (rank + 3) % 4, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
""",
        {"MPI_Isendrecv": 4},
    ),
}


def test_calls_that_are_not_recorded_are_named(library: Library, tmp_path: Path) -> None:
    calls, counted = _NOT_RECORDED[family(library)]
    source = f"""
#include <mpi.h>
int main(int argc, char **argv) {{
  int rank, a = 1, b = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  {calls}
  MPI_Finalize();
  return b != 1;
}}
"""
    found = recorded(library, tmp_path / "trace", library.build(source, tmp_path / "program"))
    assert found.unknown == counted
    assert found.goal.messages == 0


def test_a_trace_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="a program that calls MPI_Init"):
        read_trace(tmp_path)
    (tmp_path / "rank-0.events").write_bytes(bytes([9]) * 80)
    (tmp_path / "rank-0.lists").write_bytes(b"")
    with pytest.raises(ConfigError, match="a trace of format 2"):
        read_trace(tmp_path)


def test_a_trace_that_was_cut_off_names_its_file(tmp_path: Path) -> None:
    start = np.zeros(1, dtype=EVENT)
    start["what"], start["bytes"], start["tag"], start["words"] = KINDS["START"], 2, 1, 3
    whole = start.tobytes()
    assert len(whole) == EVENT.itemsize
    events, lists = tmp_path / "rank-0.events", tmp_path / "rank-0.lists"
    # The list of the record is missing in whole or in part.
    for size, listed in [*((size, 24) for size in range(1, len(whole) + 1)), (len(whole), 0), (len(whole), 8)]:
        events.write_bytes(whole[:size])
        lists.write_bytes(bytes(listed))
        done = command("--from", tmp_path, "-o", tmp_path / "out.goal") if size == 38 else None
        with pytest.raises(ConfigError, match=r"rank-0\.(events|lists)") as caught:
            read_trace(tmp_path)
        assert "record the program again" in caught.value.hint
        assert done is None or (done.returncode == 2 and "rank-0.events" in done.stderr)


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
    process = subprocess.Popen(
        [sys.executable, "-m", "flitwork", "mpi", "record", *map(str, words)],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None and "running" in process.stdout.readline()
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(60) == 130
        process.stdout.read()  # to its end: no rank keeps it open
    finally:
        process.kill()
    assert not goal.exists()
    done = command("-o", goal, "--from", kept, "--json")
    assert done.returncode == 0, done.stderr
    row = json.loads(done.stdout)
    assert row["cut_short"] == [0, 1] and row["collectives"][0]["calls"] >= 100
