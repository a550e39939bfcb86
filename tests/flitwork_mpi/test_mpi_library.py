"""The library that carries out all-to-alls in MPI programs: right data with every algorithm, in C, Fortran and Python."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
from mpi_library import FAMILIES, PROGRAMS, WHEELS, Family, build, family

# The block sizes of tests/flitwork_mpi/programs/cases.c lie between these.
BETWEEN = (16, 32, 48, 80, 272, 1024, 3200, 16000, 48000)
MAP = "grid 4x1 torus\n" + "".join(f"{x} 0\n" for x in (2, 0, 3, 1))


@pytest.fixture(params=FAMILIES)
def mpi(request: pytest.FixtureRequest) -> Family:
    return family(request.param)


def algorithms(mpi: Family) -> list[str]:
    """All names, as the library says them to somebody who mistypes one."""
    said = mpi.run(2, mpi.compile("cases.c"), "1", "1", alltoall="bruk").stderr
    found = re.search(r"expected one of (.*), library, table:FILE", said)
    assert found, said
    return found[1].split(", ")


def of_all(names: list[str], folder: Path, *others: str) -> Path:
    """Rules under which the sizes of the cases go to different algorithms; those of v and w, too, unless one is named."""
    rules = [
        f"{operation} algorithm={name}" for operation, name in zip(("alltoallv", "alltoallw"), others, strict=False)
    ]
    for turn, operation in enumerate(("alltoall", "alltoallv", "alltoallw")[: 1 if others else 3]):
        for i, (low, above) in enumerate(zip(BETWEEN, (*BETWEEN[1:], None), strict=True)):
            name = names[(i + 5 * turn) % len(names)]
            rules.append(f"{operation} bytes={low}-{'' if above is None else above - 1} algorithm={name}")
    file = folder / "rules"
    file.write_text("\n".join(rules) + "\n")
    return file


def taken(report: str) -> set[str]:
    """The algorithms that carried out calls."""
    rows = re.findall(r"^flitwork: (\w+) +(\S+) +(\d+) +(\d+)$", report, re.MULTILINE)
    return {row[1] for row in rows}


def test_all_algorithms_agree_with_the_mpi_library(mpi: Family, tmp_path: Path) -> None:
    names = algorithms(mpi)
    assert {"two_level_ring", "aggregation", "a2at", "bruck", "node_aware"} <= set(names)
    (tmp_path / "map").write_text(MAP)
    settings = {"rules": str(of_all(names, tmp_path)), "map": str(tmp_path / "map"), "report": "1"}
    done = mpi.run(4, mpi.compile("cases.c"), "3", "200", "blocking", **settings)
    assert "200 cases on 4 ranks, 0 wrong" in done.stdout, done.stdout + done.stderr
    assert taken(done.stderr) == set(names), done.stderr


def test_all_algorithms_go_on_after_the_call(mpi: Family, tmp_path: Path) -> None:
    names = algorithms(mpi)
    (tmp_path / "map").write_text(MAP)
    settings = {
        "map": str(tmp_path / "map"),
        "report": "1",
        "rules": str(of_all(names, tmp_path, "bruck", "aggregation")),
    }
    done = mpi.run(4, mpi.compile("cases.c"), "4", "100", "later", **settings)
    assert "100 cases on 4 ranks, 0 wrong" in done.stdout, done.stdout + done.stderr
    rows = re.findall(r"^flitwork: i(\w+) +(\S+) +\d+ +\d+$", done.stderr, re.MULTILINE)
    assert {("alltoallv", "bruck"), ("alltoallw", "aggregation")} < set(rows), done.stderr
    assert len({name for operation, name in rows if operation == "alltoall"}) > 5, done.stderr


SLOW = pytest.mark.slow


@pytest.mark.parametrize("interface", [pytest.param("mpif", marks=SLOW), pytest.param("mpi", marks=SLOW), "mpi_f08"])
def test_fortran_programs(mpi: Family, interface: str) -> None:
    persistent = ("-DPERSISTENT",) if mpi.name == "mpich" else ()
    program = mpi.compile(f"fortran_{interface}.f90", *persistent)
    done = mpi.run(4, program, alltoall="bruck", report="1", progress="hook" if mpi.hooks else "thread")
    assert "fortran on 4 ranks: 0 wrong" in done.stdout, done.stdout + done.stderr
    for operation, calls in (("alltoall", 8), ("ialltoall", 4), ("ialltoallv", 4)):
        assert re.search(rf"\b{operation} +bruck +{calls} ", done.stderr), done.stderr
    assert not persistent or re.search(r"\balltoall_init +bruck +8 ", done.stderr), done.stderr
    # `use mpi_f08` of MPICH makes communicators by other ways than C, which are taken care of too.
    assert re.search(r"\bialltoallw +bruck +4 ", done.stderr), done.stderr


@pytest.mark.parametrize("name", [WHEELS[0], pytest.param(WHEELS[1], marks=SLOW)])
def test_python_programs(name: str) -> None:
    mpi = family(name)
    assert mpi.python is not None
    done = mpi.run(4, mpi.python, PROGRAMS / "program.py", alltoall="two_level_ring", servers="3,1", report="1")
    assert "python on 4 ranks: 0 wrong" in done.stdout, done.stdout + done.stderr
    assert "two_level_ring" in taken(done.stderr), done.stderr


@pytest.mark.parametrize("name", ["mpich", *WHEELS])
def test_sessions_alone_are_left_to_the_mpi_library_and_counted(name: str) -> None:
    mpi = family(name)
    done = mpi.run(3, mpi.compile("sessions.c"), alltoall="bruck", report="1")
    if done.returncode != 0 and not mpi.run(3, mpi.compile("sessions.c")).stdout:
        pytest.skip(f"{mpi.name} itself has no sessions here")
    assert sorted(done.stdout.split("\n")) == ["", *(f"rank {rank}: 9 right blocks" for rank in range(3))], done.stderr
    assert done.stderr.count("flitwork: all-to-alls of the first of 3 ranks") == 1, done.stderr
    rows = re.findall(r"(\w+) +the MPI library: there is no MPI_COMM_WORLD \(sessions alone\) +(\d+)", done.stderr)
    assert rows == [("alltoall", "2"), ("ialltoall", "1")], done.stderr


@pytest.mark.parametrize("algorithm", [pytest.param("pairwise_shift", marks=SLOW), "bruck"])
@pytest.mark.parametrize("argument", ["errors", pytest.param("20", marks=SLOW)])
def test_errors_threads_attributes_and_communicators(mpi: Family, algorithm: str, argument: str) -> None:
    program = mpi.compile("corners.c")
    if argument == "errors" and ": 0 wrong" not in mpi.run(4, program, argument, alltoall="library").stdout:
        pytest.skip(f"{mpi.name} itself does not check arguments here")
    done = mpi.run(4, program, argument, alltoall=algorithm)
    assert re.search("corners on 4 ranks.*: 0 wrong", done.stdout), done.stdout + done.stderr


def test_an_error_is_the_one_of_the_message(mpi: Family, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a rank has nothing to send or to receive in some steps, whose statuses nobody fills in."""
    monkeypatch.setenv("MALLOC_PERTURB_", "85")
    program = mpi.compile("corners.c")
    if ": 0 wrong" not in mpi.run(5, program, "errors", alltoall="library").stdout:
        pytest.skip(f"{mpi.name} itself does not check arguments here")
    done = mpi.run(5, program, "errors", alltoall="by_number")
    assert re.search("corners on 5 ranks.*: 0 wrong", done.stdout), done.stdout + done.stderr


@pytest.mark.parametrize("name", [*FAMILIES, *(pytest.param(name, marks=SLOW) for name in WHEELS)])
@pytest.mark.parametrize(
    "settings", [{"alltoall": "bruck"}, {"alltoall": "two_level_ring", "prepare": "0"}, {"alltoall": "bruk"}, {}]
)
def test_a_rank_alone_hears_of_an_error_as_it_does_without_us(name: str, settings: dict[str, str]) -> None:
    """Its peers do not call, or wait for it: nobody hangs, and what it hears is what the MPI library says."""
    mpi = family(name)
    program = mpi.compile("refused.c")
    native = mpi.run(3, program, alltoall="library")
    assert "refused on 3 ranks: 0 wrong" in native.stdout, native.stdout + native.stderr
    done = mpi.run(3, program, report="1", **settings)
    assert done.stdout == native.stdout, done.stdout + done.stderr
    right = settings.get("alltoall") in ("bruck", "two_level_ring")
    assert not right or settings["alltoall"] in taken(done.stderr), done.stderr


@pytest.mark.parametrize("name", ["openmpi", *(pytest.param(name, marks=SLOW) for name in ("mpich", *WHEELS))])
@pytest.mark.parametrize("way", ["without", pytest.param("with", marks=SLOW)])
def test_ranks_that_are_started_by_others_may_lack_the_library(name: str, way: str) -> None:
    mpi = family(name)
    program = mpi.compile("spawned.c")
    if "0 wrong" not in mpi.run(2, program, way, alltoall="library").stdout:
        pytest.skip(f"{mpi.name} itself starts no ranks here")
    done = mpi.run(2, program, way, alltoall="bruck", report="1")
    assert "spawned: 0 wrong" in done.stdout, done.stdout + done.stderr
    assert "the MPI library: ranks that were not started together" in done.stderr, done.stderr
    assert "bruck" in taken(done.stderr) and "not prepared" not in done.stderr, done.stderr
    # Both worlds report at the same time: no line has parts of two.
    assert all(line.count("flitwork:") <= 1 for line in done.stderr.splitlines()), done.stderr


@pytest.mark.parametrize("argument", ["single", pytest.param("threads", marks=SLOW)])
@pytest.mark.parametrize("algorithm", ["bruck", pytest.param("two_level_ring", marks=SLOW)])
def test_what_programs_do_while_all_to_alls_go_on(mpi: Family, algorithm: str, argument: str) -> None:
    done = mpi.run(4, mpi.compile("later.c"), argument, alltoall=algorithm, report="1")
    assert re.search("later on 4 ranks.*: 0 wrong", done.stdout), done.stdout + done.stderr
    if mpi.hooks or argument == "threads":
        assert re.search(rf"\bialltoall +{algorithm} ", done.stderr), done.stderr
        assert "the MPI library" not in done.stderr, done.stderr
    else:
        assert "ialltoall              the MPI library: it needs MPI_THREAD_MULTIPLE here" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", WHEELS)
@pytest.mark.parametrize("argument", ["single", "threads"])
def test_what_programs_do_while_all_to_alls_go_on_with_other_versions(name: str, argument: str) -> None:
    mpi = family(name)
    done = mpi.run(4, mpi.compile("later.c"), argument, alltoall="bruck", report="1")
    assert re.search("later on 4 ranks.*: 0 wrong", done.stdout), done.stdout + done.stderr
    assert re.search(r"\balltoall_init +bruck ", done.stderr) and "the MPI library" not in done.stderr, done.stderr


@pytest.mark.slow
def test_a_thread_can_go_on_with_them_everywhere(mpi: Family) -> None:
    done = mpi.run(4, mpi.compile("later.c"), "single", alltoall="bruck", report="1", progress="thread")
    assert "later on 4 ranks: 0 wrong" in done.stdout, done.stdout + done.stderr
    assert re.search(r"\bialltoall +bruck ", done.stderr) and "the MPI library" not in done.stderr, done.stderr


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"progress": "none"}, "FLITWORK_MPI_PROGRESS is none"),
        ({"prepare": "0"}, "its communicator is not prepared"),
    ],
)
def test_non_blocking_ones_that_are_left_to_the_mpi_library_are_counted(settings: dict[str, str], why: str) -> None:
    mpi = family("openmpi")
    done = mpi.run(2, mpi.compile("later.c"), "single", alltoall="bruck", report="1", **settings)
    assert "later on 2 ranks: 0 wrong" in done.stdout, done.stdout + done.stderr
    # The second is made ready by the blocking call on the same communicator.
    assert re.search(rf"\bialltoall +the MPI library: {why} ", done.stderr), done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"sync": "local"}, {"sync": "async"}, {"pause_ns": "2000"}, {"radix": "3"}])
def test_options(options: dict[str, str]) -> None:
    mpi = family("mpich")
    done = mpi.run(5, mpi.compile("cases.c"), "9", "60", alltoall="bruck", progress="thread", **options)
    assert "60 cases on 5 ranks, 0 wrong" in done.stdout, done.stdout + done.stderr


def test_unequal_servers(mpi: Family) -> None:
    done = mpi.run(5, mpi.compile("cases.c"), "4", "60", alltoall="aggregation", servers="by_rank:7,2,7,7,2")
    assert "60 cases on 5 ranks, 0 wrong" in done.stdout, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ranks", "servers", "cases"),
    [(2, "1,1", 1500), (3, "2,1", 1500), (4, "1,3", 1500), (7, "3,3,1", 300), (8, "1,4,3", 300)],
)
def test_ten_thousand_cases(mpi: Family, ranks: int, servers: str, cases: int, tmp_path: Path) -> None:
    """More than that in all where both families are: 5,100 on each."""
    rules = of_all(algorithms(mpi), tmp_path)
    # Non-blocking ones with rules by size are the MPI library's: Open MPI 4 does not end all of its own.
    done = mpi.run(ranks, mpi.compile("cases.c"), str(ranks), str(cases), "blocking", rules=str(rules), servers=servers)
    assert f"{cases} cases on {ranks} ranks, 0 wrong" in done.stdout, done.stdout + done.stderr


@pytest.mark.slow
def test_thousands_of_cases_that_go_on_after_the_call(mpi: Family) -> None:
    """By algorithms that forward and that do not, in rules that do not ask for sizes."""
    for number, algorithm in enumerate(("bruck", "aggregation", "pairwise_shift", "two_level_ring")):
        done = mpi.run(
            4, mpi.compile("cases.c"), str(number), "250", "later", alltoall=algorithm, servers="1,3", report="1"
        )
        assert "250 cases on 4 ranks, 0 wrong" in done.stdout, done.stdout + done.stderr
        assert re.search(rf"\bialltoallw +{algorithm} ", done.stderr), done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", WHEELS)
def test_other_versions(name: str, tmp_path: Path) -> None:
    mpi = family(name)
    rules = of_all(algorithms(mpi), tmp_path)
    for way, settings in (("blocking", {"rules": str(rules)}), ("later", {"alltoall": "bruck"})):
        done = mpi.run(4, mpi.compile("cases.c"), "11", "200", way, servers="1,3", **settings)
        assert "200 cases on 4 ranks, 0 wrong" in done.stdout, done.stdout + done.stderr


@pytest.mark.slow
def test_counts_beyond_an_int(mpi: Family, tmp_path: Path) -> None:
    """The library with a bound on counts of 5 instead of 2^31 - 1."""
    build(mpi.mpicc, tmp_path, "-DFLITWORK_MOST_COUNT=5")
    bounded = dataclasses.replace(mpi, library=tmp_path / "libflitwork_mpi.so")
    for algorithm in ("pairwise_shift", "bruck"):
        done = bounded.run(4, mpi.compile("cases.c"), "5", "300", alltoall=algorithm)
        assert "300 cases on 4 ranks, 0 wrong" in done.stdout, done.stdout + done.stderr


@pytest.mark.slow
def test_more_communicators_than_there_can_be_at_once(mpi: Family) -> None:
    done = mpi.run(2, mpi.compile("corners.c"), "2500", alltoall="pairwise_shift")
    assert re.search("corners on 2 ranks.*: 0 wrong", done.stdout), done.stdout + done.stderr
