"""``flitwork mpi bench`` on the MPI libraries that are installed: rows, verified data, limits, what ends badly."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import flitwork as fw
import pandas as pd
import pytest
from flitwork.base.statistics import median_interval_95
from flitwork.cli import main
from flitwork_mpi.native.launcher import compiler_of
from flitwork_mpi.tune.session import BenchError, Job, Session
from mpi_libraries import Library

#: Wrong data in calls of 64 bytes, none at all in calls of 128.
BROKEN = r"""
#include <mpi.h>
#include <unistd.h>
int MPI_Alltoall(const void *a, int b, MPI_Datatype c, void *d, int e, MPI_Datatype f, MPI_Comm comm) {
    int rank, done;
    PMPI_Comm_rank(comm, &rank);
    if (b == 128) while (rank == 1) sleep(1);
    done = PMPI_Alltoall(a, b, c, d, e, f, comm);
    if (b == 64 && rank == 1) ((char *)d)[b + 3] ^= 1;
    return done;
}
"""
#: Few calls: what they take is not asked here.
FEW = fw.tune.Limits(repetitions=12, timeout_seconds=60)


pytestmark = pytest.mark.usefixtures("mpi_programs")


@pytest.mark.parametrize("family", ["mpich", pytest.param("openmpi", marks=pytest.mark.slow)])
def test_rows_and_what_continues(family: str, tmp_path: Path) -> None:
    launcher = Library.needed(family).launcher(3)
    rows_seen: list[Any] = []
    file = tmp_path / "t.csv"

    def run(*sizes: int, names: list[str] | None = None) -> pd.DataFrame:
        rows_seen.clear()
        done = fw.tune.bench(
            launcher, sizes, operations=["alltoall", "alltoallv"], algorithms=names, limits=FEW, output=file,
            told=lambda row, number, total: rows_seen.append((row["algorithm"], row["bytes"], number, total)),
        )  # fmt: skip
        assert not done.failed and not done.wrong
        return done.table

    table = run(8, names=["library"])
    assert [one[2:] for one in rows_seen] == [(1, 2), (2, 2)]
    assert list(table.columns) == list(fw.tune.COLUMNS) and set(table["mpi"]) == {family}
    assert table["verified"].all() and (table["ranks"] == 3).all() and (table["ranks_per_server"] == 3).all()
    assert (table["repetitions"] <= 12).all() and (table["low"] <= table["seconds"]).all()
    assert table["version"].iloc[0][0].isdigit()
    # What is stored is not measured again.
    before = file.read_text()
    table = run(8, 0, names=["library"])
    assert [one[:3] for one in rows_seen] == [("library", 0, 3), ("library", 0, 4)]
    assert file.read_text().startswith(before) and len(table) == 4
    again = fw.tune.read_measurements(file)
    pd.testing.assert_frame_equal(again, table, check_dtype=False)


@pytest.mark.slow
def test_algorithms_of_the_library_itself() -> None:
    launcher = Library.needed("openmpi").launcher(2)
    found = fw.tune.bench(launcher, [1], limits=FEW, algorithms=["openmpi:pairwise", "openmpi:linear"])
    assert [*found.table["algorithm"]] == ["openmpi:pairwise", "openmpi:linear"]
    with pytest.raises(fw.ConfigError, match="did you mean `openmpi:pairwise`"):
        fw.tune.bench(launcher, [1], limits=FEW, algorithms=["openmpi:pairwize"])


@pytest.mark.parametrize("family", ["mpich", pytest.param("openmpi", marks=pytest.mark.slow)])
def test_our_algorithms_and_what_is_left_out(family: str) -> None:
    launcher = Library.needed(family).launcher(3)
    names = ["bruck radix=2", "two_level_ring", "a2at"]
    done = fw.tune.bench(launcher, [5], algorithms=names, servers="2,1", operations=["alltoallv"], limits=FEW)
    assert done.failed == {} and done.left_out == {"alltoallv a2at": "a2at is not defined for 3 ranks here"}
    assert [*done.table["algorithm"]] == names[:2] and done.table["verified"].all()
    assert (done.table["ranks_per_server"] == 2).all()


@pytest.mark.slow
def test_a_map_defines_what_goes_by_coordinates(tmp_path: Path) -> None:
    places = tmp_path / "map.txt"
    places.write_text("grid 2x2 torus\n0 0\n1 0\n0 1\n1 1\n")
    launcher = Library.needed("mpich").launcher(4)
    done = fw.tune.bench(launcher, [5], algorithms=["a2at"], servers="1,1,1,1", map=places, limits=FEW)
    assert not done.failed and not done.left_out and [*done.table["algorithm"]] == ["a2at"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"algorithms": ["bruck radix"]}, "bruck radix: expected a name, and parameters"),
        ({"algorithms": ["bruck leaders=2"]}, "parameters of bruck: radix"),
        ({"algorithms": ["two_level_rings"]}, "did you mean `two_level_ring`"),
        ({"servers": "3,2"}, "servers = 3,2: expected ranks on each server, 4 in all"),
        ({"servers": "by_rank:0,0"}, "4 in all"),
        ({"library": "no.so"}, "library = no.so"),
        ({"map": "no.txt"}, "map = no.txt"),
        ({"output": "t.txt"}, "a file .csv or .parquet"),
    ],
)
def test_bad_arguments(more: dict[str, Any], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    job = Job(4, 4, 4, "Open MPI v4.1.4, package")
    monkeypatch.setattr("flitwork_mpi.tune.measuring._probe", lambda *_: (job, "openmpi", "4.1.4"))
    monkeypatch.setattr("flitwork_mpi.native.build.built", lambda *_: Path(__file__))
    with pytest.raises(fw.ConfigError, match=said):
        fw.tune.bench([sys.executable], [1], **more)


def test_wrong_data_and_jobs_that_hang(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    openmpi = Library.needed("openmpi")
    broken = openmpi.build(BROKEN, tmp_path / "broken.so", "-shared", "-fPIC")
    launcher = [*openmpi.launcher(2), "-x", f"LD_PRELOAD={broken}"]
    file = tmp_path / "t.parquet"
    options = ["--message-bytes", "32,64,128", "--algorithms", "library", "--repetitions", "6", "--timeout", "2"]
    monkeypatch.setattr(sys, "argv", ["flitwork", "mpi", "bench", *options, "-o", str(file), "--", *launcher])
    with pytest.raises(SystemExit) as ended:
        main()
    said = " ".join("".join(capsys.readouterr()).split())
    assert ended.value.code == 1 and "wrong data: library" in said
    assert "failed: alltoall library" in said and "no answer within 2 s" in said
    # What was finished before is stored.
    table = fw.tune.read_measurements(file)
    assert [*zip(table["bytes"], table["verified"], strict=True)] == [(32, True), (64, False)]


@pytest.mark.slow
def test_interrupted_jobs_end(tmp_path: Path) -> None:
    openmpi = Library.needed("openmpi")
    launcher = openmpi.launcher(2)

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    file = tmp_path / "t.csv"
    with pytest.raises(KeyboardInterrupt):
        fw.tune.bench(launcher, [1, 2], limits=FEW, algorithms=["library"], output=file, told=stop)
    assert [*fw.tune.read_measurements(file)["bytes"]] == [1]


def test_a_session_says_why_a_job_ended() -> None:
    with pytest.raises(BenchError, match="cannot be started"):
        Session(["/nothing/there"], {}, 1)
    code = "import sys; print('this went wrong', file=sys.stderr); sys.exit(5)"
    with Session([sys.executable, "-c", code], {}, 60) as session, pytest.raises(BenchError) as error:
        session.job()
    assert "exit code 5" in str(error.value) and "this went wrong" in str(error.value)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--message-bytes", "1"), "LAUNCHER = nothing"),
        (("--launcher", "mpirun", "--", "mpirun"), "LAUNCHER = both"),
        (("--", "no-such-launcher"), "LAUNCHER = no-such-launcher"),
        (("--interval", "0", "--", "mpirun"), "interval = 0.0"),
        (("--message-bytes", "4k", "--", "mpirun"), "whole numbers with commas"),
    ],
)
def test_bad_command_lines(
    words: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["flitwork", "mpi", "bench", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2 and said in " ".join("".join(capsys.readouterr()).split())


def test_launchers_and_compilers_belong_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("mpirun.x", "mpicc.x", "mpirun", "srun"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert compiler_of(["mpirun.x", "-n", "4"]) == str(tmp_path / "mpicc.x")
    assert compiler_of(["mpirun"]) == compiler_of(["srun"]) == "mpicc"


def test_the_interval_of_a_median() -> None:
    # Of ten values, the second and the ninth: 1 - 2 * 11 / 1024 of all cases (Conover, table A3).
    assert median_interval_95(range(10, 0, -1)) == (2, 9)
    assert all(value != value for value in median_interval_95([1.0] * 5))
    assert median_interval_95([1.0] * 6) == (1.0, 1.0)
