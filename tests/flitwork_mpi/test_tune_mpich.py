"""MPICH takes the rules that are written for it: what it then sends and receives shows the algorithm.

MPICH's algorithms cannot be watched from outside. Where ranks talk through UCX, its calls can: Bruck's algorithm has
log2(ranks) rounds of a receive and a send, the pairwise one a round for each other rank, the scattered one all
receives before all sends.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import flitwork as fw
import pytest
from flitwork_mpi.tune import Asked, Choice, Rule, Span
from flitwork_mpi.tune.mpich_file import built_in
from mpi_libraries import PROGRAM, Library

RANKS = 8
#: Prints R for each receive and S for each send that UCX is told of in an all-to-all on rank 0.
WATCH = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
static int watched, count;
static char calls[256];
static void note(char call) { if (watched && count < 255) calls[count++] = call; }
void *ucp_tag_send_nbx(void *a, const void *b, size_t c, uint64_t d, const void *e) {
    void *(*next)(void *, const void *, size_t, uint64_t, const void *) = dlsym(RTLD_NEXT, "ucp_tag_send_nbx");
    note('S');
    return next(a, b, c, d, e);
}
void *ucp_tag_recv_nbx(void *a, void *b, size_t c, uint64_t d, uint64_t e, const void *f) {
    void *(*next)(void *, void *, size_t, uint64_t, uint64_t, const void *) = dlsym(RTLD_NEXT, "ucp_tag_recv_nbx");
    note('R');
    return next(a, b, c, d, e, f);
}
int MPI_Alltoall(const void *a, int b, MPI_Datatype c, void *d, int e, MPI_Datatype f, MPI_Comm comm) {
    int rank, done;
    PMPI_Comm_rank(comm, &rank);
    watched = rank == 0, count = 0;
    done = PMPI_Alltoall(a, b, c, d, e, f, comm);
    if (watched) { printf("called %d %.*s\n", b, count, calls); fflush(stdout); }
    watched = 0;
    return done;
}
"""
CALLS = {
    re.compile(r"(RS){3}"): "brucks",
    re.compile(r"(RS){7}"): "pairwise",
    re.compile(r"R{7,8}S{7,8}"): "scattered",
}


@pytest.fixture(scope="module")
def mpich() -> Library:
    library = Library.found("mpich")
    if library is None:
        pytest.skip("no mpirun of MPICH with its mpicc, or no cc: MPICH was not asked")
    return library


@pytest.fixture(scope="module")
def base(mpich: Library, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that a program of this MPICH loads."""
    program = mpich.build(PROGRAM, tmp_path_factory.mktemp("base") / "program")
    found = re.search(r"libmpi(?:ch)?\.so\S* => (\S+)", Library.said("ldd", str(program)))
    assert found
    return Path(found[1])


def test_mpich_selects_what_the_file_says(mpich: Library, base: Path, tmp_path: Path) -> None:
    watch = mpich.build(WATCH, tmp_path / "watch.so", "-shared", "-fPIC", "-ldl")
    program = mpich.build(PROGRAM, tmp_path / "program")
    sizes = (1, 63, 64, 1023, 1024, 4096)

    def called(file: Path | None) -> dict[int, str]:
        variables = {"MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": str(file)} if file else {}
        words = ("-genv", "LD_PRELOAD", watch, program, *sizes)
        printed = mpich.run(RANKS, *words, MPIR_CVAR_NOLOCAL="1", MPIR_CVAR_CH4_NETMOD="ucx", **variables)
        lines = [line.split() for line in printed.splitlines() if line.startswith("called")]
        if any(len(line) < 3 for line in lines):
            pytest.skip("this MPICH does not talk through UCX: what it selects cannot be seen")
        names = {int(size): [n for p, n in CALLS.items() if p.fullmatch(calls)] for _, size, calls in lines}
        return {size: "".join(found) for size, found in names.items()}

    steps = ((0, 63, "scattered"), (64, 1023, "pairwise"), (1024, None, "brucks"))
    rules = [Rule("alltoall", Span(RANKS), Span(1), Span(low, high), Choice(name)) for low, high, name in steps]
    file = tmp_path / "rules.json"
    file.write_text(fw.tune.written(rules, "mpich", base=base))
    found = fw.tune.read_rules(file)
    assert found.format == "mpich"
    expected = {size: found.select(Asked("alltoall", RANKS, size)).algorithm for size in sizes}
    assert [*expected.values()] == ["scattered"] * 2 + ["pairwise"] * 2 + ["brucks"] * 2
    assert called(file) == expected != called(None)


def test_other_rules_stay(base: Path, tmp_path: Path) -> None:
    rule = Rule("alltoall", Span(4), Span(1), Span(), Choice("pairwise"))
    text = fw.tune.written([rule], "mpich", base=base)
    new, old = json.loads(text), json.loads(built_in(base))
    intra = new["collective=alltoall"]["comm_type=intra"]
    own = old["collective=alltoall"]["comm_type=intra"]["is_sendbuf_inplace=no"]
    # Fewer ranks than were measured go on with what the library has built in.
    expected = {"comm_size<=3": own, "comm_size=any": {"algorithm=MPIR_Alltoall_intra_pairwise": {}}}
    assert intra.pop("is_sendbuf_inplace=no") == expected
    del old["collective=alltoall"]["comm_type=intra"]["is_sendbuf_inplace=no"]
    assert new == old
    # MPICH takes whole pages for a text that ends in a zero.
    assert len(text) % 4096
    file = tmp_path / "rules.json"
    file.write_text(text)
    assert fw.tune.read_rules(file).select(Asked("alltoall", 9, 5)).algorithm == "pairwise"


def test_a_linker_script_stands_for_the_library_that_it_names(tmp_path: Path) -> None:
    (tmp_path / "libmpi.so").write_text("INPUT(libmpi.so.12)\n")
    (tmp_path / "libmpi.so.12").write_bytes(
        b"\x7fELF\0" + b'{"collective=alltoall": "algorithm=MPIR_Alltoall_intra_pairwise"}' + b"\0"
    )
    assert "MPIR_Alltoall_intra_pairwise" in built_in(tmp_path / "libmpi.so")
    (tmp_path / "libmpi.so").write_text("INPUT(libmpi.so.13)\n")
    with pytest.raises(fw.ConfigError, match=r"--base = .*libmpi\.so\.13"):
        built_in(tmp_path / "libmpi.so")
