"""One-sided calls and persistent collectives of neighbours, recorded: between fences as messages, elsewhere counted."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import flitwork as fw
import numpy as np
import pytest
from flitwork_mpi.native.record_trace import EVENT, KINDS, RankTrace, Trace
from flitwork_mpi.native.record_windows import with_windows
from mpi_libraries import Library
from test_mpi_record import RANKS, SOURCES, recorded, rows, run_everywhere


@pytest.fixture(autouse=True)
def as_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")


@pytest.fixture(autouse=True)
def windows_that_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """One run in four of Open MPI 4.1 ends in an error of MPI_Win_create, recorded or not, by this component alone."""
    found = Library.found("openmpi")
    if found is not None and "(Open MPI) 4." in Library.said(found.mpirun, "--version"):
        monkeypatch.setenv("OMPI_MCA_osc", "^rdma")


def with_windows_of(name: str) -> Library:
    """A library whose windows work: those of MPICH 4.0 deliver wrong data or end in an error on some machines."""
    found = Library.of_wheel(name) if name == "mpich" else Library.found(name)
    if found is None:
        pytest.skip(f"{name} with windows that work is not installed (of mpich that is its wheel)")
    return found


@pytest.mark.parametrize("name", ["openmpi", pytest.param("mpich", marks=pytest.mark.slow)])
def test_what_is_put_and_got_between_fences_are_messages(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    library = with_windows_of(name)
    program = library.build((SOURCES / "one_sided.c").read_text(), tmp_path / "program")
    found = recorded(library, tmp_path / "trace", program)
    assert found.pair_bytes.tolist() == rows(capfd.readouterr().out).tolist()
    assert not found.left_out and not found.unknown and not found.cut_short
    assert found.collectives == {("barrier", "dissemination"): 8 + 2}
    run_everywhere(found)
    assert fw.Goal(found.goal.text) == found.goal


@pytest.mark.slow
def test_one_sided_calls_of_fortran_are_messages(tmp_path: Path) -> None:
    library = with_windows_of("openmpi")
    compiler = Path(library.mpicc).with_name(Path(library.mpicc).name.replace("mpicc", "mpif90"))
    if not compiler.exists() or not shutil.which("gfortran"):
        pytest.skip(f"{compiler} or gfortran is not installed")
    words: list[str | Path] = [
        compiler,
        "-w",
        "-fallow-argument-mismatch",
        "-o",
        tmp_path / "program",
        SOURCES / "one_sided.f90",
    ]
    made = subprocess.run(words, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    found = recorded(library, tmp_path / "trace", tmp_path / "program")
    right = np.roll(np.eye(RANKS, dtype=int), 1, axis=1)
    assert found.pair_bytes.tolist() == (3 * 8 * right + 4 * right).tolist()
    assert not found.left_out and not found.unknown


_COUNTED = """
#include <mpi.h>
int main(int argc, char **argv) {
  int rank, a = 1, b = 0;
  MPI_Win window;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win_create(&b, sizeof b, sizeof b, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  MPI_Put(&a, 1, MPI_INT, (rank + 1) % 4, 0, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  MPI_Win_lock(MPI_LOCK_SHARED, (rank + 1) % 4, 0, window);
  MPI_Put(&a, 1, MPI_INT, (rank + 1) % 4, 0, 1, MPI_INT, window);
  MPI_Win_unlock((rank + 1) % 4, window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return b != 1;
}
"""


@pytest.mark.slow
def test_what_is_between_locks_is_counted_beside_what_is_between_fences(tmp_path: Path) -> None:
    library = with_windows_of("openmpi")
    found = recorded(library, tmp_path / "trace", library.build(_COUNTED, tmp_path / "program"))
    assert found.unknown == {"MPI_Put": 4, "MPI_Win_lock": 4, "MPI_Win_unlock": 4}
    assert found.pair_bytes.sum() == 4 * 4 and not found.left_out


def trace_of(*of_ranks: list[tuple[str, int, int, int, int]]) -> Trace:
    """A trace of one window on all ranks: records as (kind, peer, tag, bytes that go, bytes that come)."""
    ranks = []
    for calls in of_ranks:
        events = np.zeros(len(calls), dtype=EVENT)
        lists = [number for kind, *_, goes, comes in calls if kind == "ONE_SIDED" for number in (goes, comes)]
        for event, (kind, peer, tag, *_) in zip(events, calls, strict=True):
            event["what"], event["peer"], event["tag"] = KINDS[kind], peer, tag
            event["words"] = 2 * (kind == "ONE_SIDED")
        begins = np.cumsum(events["words"], dtype=np.int64) - events["words"]
        ranks.append(RankTrace(events, begins, np.array(lists, dtype=np.int64), True))
    everybody = np.arange(len(of_ranks))
    comms = [np.zeros(1, dtype=np.int64) for _ in of_ranks]
    return Trace(ranks, comms, [[everybody] for _ in of_ranks], [everybody])


def test_a_call_is_begun_where_it_stands_and_its_target_waits_at_its_fence() -> None:
    fence, last = ("FENCE", 0, 1, 0, 0), ("FENCE", 0, 0, 0, 0)
    first = [fence, ("ONE_SIDED", 1, 0, 8, 0), ("ONE_SIDED", 1, 0, 0, 4), last]
    made = with_windows(trace_of(first, [fence, last]))
    names = {number: name for name, number in KINDS.items()}
    said = [
        [(names[int(row["what"])], int(row["thread"]), int(row["bytes"])) for row in one.events] for one in made.ranks
    ]
    assert said[0] == [
        ("FENCE", 0, 0),
        ("ONE_SIDED", 0, 0), ("SEND", 0, 8),
        ("ONE_SIDED", 0, 0), ("RECV", 0, 0), ("SEND", 0, 0),
        ("FENCE", 0, 0), *[("COMPLETE", 0, 0)] * 3, ("BARRIER", 0, 0),
    ]  # fmt: skip
    assert said[1] == [
        ("FENCE", 0, 0), ("RECV", 0, 0), ("RECV", 0, 0), ("COMPLETE", 256, 0), ("SEND", 256, 4),
        ("FENCE", 0, 0), ("BARRIER", 0, 0), *[("COMPLETE", 0, 0)] * 2,
    ]  # fmt: skip
    assert made.ranks[0].list_of(1).tolist() == [8, 0] and made.ranks[0].list_of(3).tolist() == [0, 4]


_NEIGHBOURS = """
#include <mpi.h>
int main(int argc, char **argv) {
  int rank, size[1] = {4}, wraps[1] = {1}, line_wraps[1] = {0}, a[4] = {1, 2, 3, 4}, b[4], c[4], wrong = 0;
  MPI_Comm ring, line;
  MPI_Request requests[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Cart_create(MPI_COMM_WORLD, 1, size, wraps, 0, &ring);
  MPI_Cart_create(MPI_COMM_WORLD, 1, size, line_wraps, 0, &line);
  for (int i = 0; i < 4; i++) a[i] = 10 * rank + i;
  MPI_Neighbor_allgather_init(a, 1, MPI_INT, b, 1, MPI_INT, ring, MPI_INFO_NULL, &requests[0]);
  MPI_Neighbor_alltoall_init(a, 2, MPI_INT, c, 2, MPI_INT, ring, MPI_INFO_NULL, &requests[1]);
  for (int turn = 0; turn < 3; turn++) {
    for (int i = 0; i < 2; i++) MPI_Start(&requests[ORDER]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    wrong |= b[0] != 10 * ((rank + 3) % 4) || b[1] != 10 * ((rank + 1) % 4);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  MPI_Neighbor_alltoall_init(a, 1, MPI_INT, c, 1, MPI_INT, line, MPI_INFO_NULL, &requests[0]);
  MPI_Startall(1, requests);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Request_free(&requests[0]);
  MPI_Finalize();
  return wrong;
}
"""


@pytest.mark.parametrize("name", ["mpich", pytest.param("openmpi", marks=pytest.mark.slow)])
def test_persistent_collectives_of_neighbours_are_messages_each_time_they_start(name: str, tmp_path: Path) -> None:
    library = Library.found(name) if name == "mpich" else Library.of_wheel(name)
    if library is None:
        pytest.skip(f"{name} with persistent collectives is not installed")
    # In one order where the MPI library may wait in another.
    order = "i" if name == "mpich" else "(i + rank) % 2"
    program = library.build(_NEIGHBOURS.replace("ORDER", order), tmp_path / "program")
    found = recorded(library, tmp_path / "trace", program)
    ring = np.roll(np.eye(4, dtype=int), 1, axis=1) + np.roll(np.eye(4, dtype=int), -1, axis=1)
    line = np.eye(4, k=1, dtype=int) + np.eye(4, k=-1, dtype=int)
    assert found.pair_bytes.tolist() == (3 * (4 + 8) * ring + 4 * line).tolist()
    assert not found.left_out and not found.unknown
    run_everywhere(found)
