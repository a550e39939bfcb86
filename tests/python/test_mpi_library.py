"""The library that carries out all-to-alls in MPI programs: right data with every algorithm, in C, Fortran and Python."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
from mpi_library import FAMILIES, PROGRAMS, WHEELS, Family, build, family

# The block sizes of tests/mpi/cases.c lie between these.
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


def of_all(names: list[str], folder: Path) -> Path:
    """Rules under which the sizes of the cases go to different algorithms."""
    rules = ["# every size its own"]
    for turn, operation in enumerate(("alltoall", "alltoallv", "alltoallw")):
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
    done = mpi.run(4, mpi.compile("cases.c"), "3", "260", **settings)
    assert "260 cases on 4 ranks, 0 wrong" in done.stdout, done.stdout + done.stderr
    assert taken(done.stderr) == set(names), done.stderr


SLOW = pytest.mark.slow


@pytest.mark.parametrize("interface", [pytest.param("mpif", marks=SLOW), pytest.param("mpi", marks=SLOW), "mpi_f08"])
def test_fortran_programs(mpi: Family, interface: str) -> None:
    done = mpi.run(4, mpi.compile(f"fortran_{interface}.f90"), alltoall="bruck", report="1")
    assert "fortran on 4 ranks: 0 wrong" in done.stdout, done.stdout + done.stderr
    assert re.search(r"alltoall +bruck +8 ", done.stderr), done.stderr
    assert "the MPI library: non-blocking" in done.stderr


@pytest.mark.parametrize("name", WHEELS)
def test_python_programs(name: str) -> None:
    mpi = family(name)
    assert mpi.python is not None
    done = mpi.run(4, mpi.python, PROGRAMS / "program.py", alltoall="two_level_ring", servers="3,1", report="1")
    assert "python on 4 ranks: 0 wrong" in done.stdout, done.stdout + done.stderr
    assert "two_level_ring" in taken(done.stderr), done.stderr


@pytest.mark.parametrize("algorithm", [pytest.param("pairwise_shift", marks=SLOW), "bruck"])
@pytest.mark.parametrize("argument", ["errors", pytest.param("20", marks=SLOW)])
def test_errors_threads_attributes_and_communicators(mpi: Family, algorithm: str, argument: str) -> None:
    program = mpi.compile("corners.c")
    if argument == "errors" and ": 0 wrong" not in mpi.run(4, program, argument, alltoall="library").stdout:
        pytest.skip(f"{mpi.name} itself does not check arguments here")
    done = mpi.run(4, program, argument, alltoall=algorithm)
    assert re.search("corners on 4 ranks.*: 0 wrong", done.stdout), done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"sync": "local"}, {"sync": "async"}, {"pause_ns": "2000"}, {"radix": "3"}])
def test_options(options: dict[str, str]) -> None:
    mpi = family("mpich")
    done = mpi.run(5, mpi.compile("cases.c"), "9", "60", alltoall="bruck", **options)
    assert "60 cases on 5 ranks, 0 wrong" in done.stdout, done.stdout + done.stderr


def test_unequal_servers(mpi: Family) -> None:
    done = mpi.run(5, mpi.compile("cases.c"), "4", "60", alltoall="aggregation", servers="by_rank:7,2,7,7,2")
    assert "60 cases on 5 ranks, 0 wrong" in done.stdout, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ranks", "servers", "cases"),
    [(2, "1,1", 1700), (3, "2,1", 1700), (4, "1,3", 1700), (7, "3,3,1", 300), (8, "1,4,3", 300)],
)
def test_ten_thousand_cases(mpi: Family, ranks: int, servers: str, cases: int, tmp_path: Path) -> None:
    """More than that in all where both families are: 5,700 on each."""
    rules = of_all(algorithms(mpi), tmp_path)
    done = mpi.run(ranks, mpi.compile("cases.c"), str(ranks), str(cases), rules=str(rules), servers=servers)
    assert f"{cases} cases on {ranks} ranks, 0 wrong" in done.stdout, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", WHEELS)
def test_other_versions(name: str, tmp_path: Path) -> None:
    mpi = family(name)
    rules = of_all(algorithms(mpi), tmp_path)
    done = mpi.run(4, mpi.compile("cases.c"), "11", "300", rules=str(rules), servers="1,3")
    assert "300 cases on 4 ranks, 0 wrong" in done.stdout, done.stdout + done.stderr


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
