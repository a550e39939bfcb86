"""Open MPI takes the rules that are written for it: functions of its own that it then calls are watched."""

from __future__ import annotations

from pathlib import Path

import flitwork as fw
import pytest
from flitwork_mpi.tune import Asked, Choice, Rule, Span
from mpi_libraries import PROGRAM, Library

RANKS = 4
#: Stands before the functions of Open MPI that are its algorithms, and says on rank 0 which of them is called.
WATCH = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#define WATCHED(symbol, name)                                                                                       \
    int symbol(const void *a, int b, MPI_Datatype c, void *d, int e, MPI_Datatype f, MPI_Comm comm, void *m, int n) {  \
        int (*next)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm, void *, int) =               \
            dlsym(RTLD_NEXT, #symbol);                                                                                 \
        int rank;                                                                                                      \
        PMPI_Comm_rank(comm, &rank);                                                                                   \
        if (rank == 0) { printf("selected %d %s\n", b, name); fflush(stdout); }                                        \
        return next(a, b, c, d, e, f, comm, m, n);                                                                     \
    }
WATCHED(ompi_coll_base_alltoall_intra_basic_linear, "linear")
WATCHED(ompi_coll_base_alltoall_intra_pairwise, "pairwise")
WATCHED(ompi_coll_base_alltoall_intra_bruck, "modified_bruck")
WATCHED(ompi_coll_base_alltoall_intra_linear_sync, "linear_sync")
"""


@pytest.fixture(scope="module")
def openmpi() -> Library:
    library = Library.found("openmpi")
    if library is None:
        pytest.skip("no mpirun of Open MPI with its mpicc, or no cc: Open MPI was not asked")
    return library


def selected(library: Library, folder: Path, rules: Path, *sizes: int) -> dict[int, str]:
    """Which algorithm Open MPI calls for each size, with a file of rules."""
    program = library.build(PROGRAM, folder / "program")
    watch = library.build(WATCH, folder / "watch.so", "-shared", "-fPIC", "-ldl")
    options = ("coll_tuned_use_dynamic_rules", 1, "coll_tuned_dynamic_rules_filename", rules)
    words = [word for name, value in zip(options[::2], options[1::2], strict=True) for word in ("--mca", name, value)]
    printed = library.run(RANKS, *words, "-x", f"LD_PRELOAD={watch}", program, *sizes)
    lines = [line.split() for line in printed.splitlines() if line.startswith("selected")]
    return {int(size): name for _, size, name in lines}


def test_open_mpi_selects_what_the_file_says(openmpi: Library, tmp_path: Path) -> None:
    steps = ((0, 63, "modified_bruck"), (64, 1023, "linear"), (1024, None, "pairwise"))
    rules = [Rule("alltoall", Span(RANKS), Span(1), Span(low, high), Choice(name)) for low, high, name in steps]
    file = tmp_path / "rules.conf"
    file.write_text(fw.tune.written(rules, "openmpi", "three ranges"))
    found = fw.tune.read_rules(file)
    sizes = (1, 63, 64, 1023, 1024, 65_536)
    expected = {size: found.select(Asked("alltoall", RANKS, size)).algorithm for size in sizes}
    assert list(expected.values()) == ["modified_bruck"] * 2 + ["linear"] * 2 + ["pairwise"] * 2
    assert selected(openmpi, tmp_path, file, *sizes) == expected


def test_open_mpi_takes_the_rules_of_a_simulated_machine(openmpi: Library, tmp_path: Path) -> None:
    net = fw.Torus(2, 2, units=fw.Units(flit_bytes=16, cycle_ns=4))
    host = fw.Host(send_overhead_cycles=100, receive_overhead_cycles=100)
    table = fw.tune.simulated(net, [16, 16_384], host=host, algorithms=["pairwise_shift", "bruck"], packet_flits=64)
    file = tmp_path / "rules.conf"
    file.write_text(fw.tune.written(fw.tune.rules(table, "openmpi"), "openmpi"))
    assert selected(openmpi, tmp_path, file, 16, 16_384) == {16: "modified_bruck", 16_384: "pairwise"}


@pytest.mark.slow
def test_other_rules_select_otherwise(openmpi: Library, tmp_path: Path) -> None:
    file = tmp_path / "rules.conf"
    rule = Rule("alltoall", Span(2), Span(1), Span(), Choice("linear_sync", (("requests", 2),)))
    text = fw.tune.written([rule], "openmpi")
    assert text.startswith("rule-file-version-2\n") and "0 4 0 0 2 # linear_sync" in text
    # Of which older versions of Open MPI know nothing.
    text = text.replace("rule-file-version-2\n", "").replace(" 0 0 2 #", " 0 0 #").replace(" 0 0 0 #", " 0 0 #")
    file.write_text(text)
    assert selected(openmpi, tmp_path, file, 8, 8192) == {8: "linear_sync", 8192: "linear_sync"}


@pytest.mark.slow
@pytest.mark.parametrize(("smallest", "expected"), [(1, "library"), (5, "pairwise")])
def test_the_smallest_communicator_of_a_file_speaks_for_smaller_ones(
    openmpi: Library, tmp_path: Path, smallest: int, expected: str
) -> None:
    """So what is written begins with communicators of 1 rank, which leave the choice to Open MPI."""
    file = tmp_path / "rules.conf"
    text = fw.tune.written([Rule("alltoall", Span(5), Span(1), Span(), Choice("pairwise"))], "openmpi")
    if smallest == 5:
        lines = text.splitlines()
        at = lines.index("2 # communicator sizes")
        text = "\n".join([*lines[:at], "1", *lines[at + 4 :]])
    file.write_text(text)
    assert fw.tune.read_rules(file).select(Asked("alltoall", RANKS, 8)).algorithm == expected
    alone = selected(openmpi, tmp_path, tmp_path / "none", 8)
    assert alone != {8: "pairwise"}
    assert selected(openmpi, tmp_path, file, 8) == (alone if expected == "library" else {8: expected})
