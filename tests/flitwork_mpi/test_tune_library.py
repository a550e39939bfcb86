"""Our own MPI library takes the rules that are written for it, and selects what ``flitwork tune check`` says."""

from __future__ import annotations

import random
import re
from pathlib import Path

import flitwork as fw
import pytest
from flitwork_mpi.native import build
from flitwork_mpi.tune import Asked, Rule, Span
from flitwork_mpi.tune.rule import Choice
from mpi_libraries import PROGRAM, Library

RANKS = 4
_TAKEN = re.compile(r"flitwork: alltoall +(?P<who>the MPI library: .*?|\w+) +(?P<calls>\d+) +(\d+|-)$", re.M)


@pytest.fixture(scope="module", params=["mpich", pytest.param("openmpi", marks=pytest.mark.slow)])
def started(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Library, Path, Path]:
    """An MPI library, our library for it, and a program."""
    library = Library.found(request.param)
    if library is None:
        pytest.skip(f"no mpirun of {request.param} with its mpicc, or no cc: our library was not asked")
    folder = tmp_path_factory.mktemp(str(request.param))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        ours = build.library(library.launcher(RANKS))
    return library, ours, library.build(PROGRAM, folder / "program")


def taken(started: tuple[Library, Path, Path], rules: Path, *sizes: int) -> dict[str, int]:
    """How many calls of a rank each algorithm carries out."""
    library, ours, program = started
    told = {"FLITWORK_MPI_RULES": rules, "FLITWORK_MPI_REPORT": 1, "FLITWORK_MPI_STRICT": 1, "LD_PRELOAD": ours}
    said = library.run(RANKS, "env", *(f"{name}={value}" for name, value in told.items()), program, *sizes)
    found = {match["who"]: int(match["calls"]) for match in _TAKEN.finditer(said)}
    assert sum(found.values()) == RANKS * len(sizes), said
    return {"library" if "MPI library" in name else name: calls // RANKS for name, calls in found.items()}


def test_our_library_selects_what_the_file_says(started: tuple[Library, Path, Path], tmp_path: Path) -> None:
    random.seed(7)
    names = ("bruck", "pairwise_shift", "simple_spread", "butterfly", "two_level_ring")
    limits = sorted(random.sample(range(1, 5000), 4))
    spans = [Span(low, high - 1) for low, high in zip([0, *limits], limits, strict=False)] + [Span(limits[-1] + 900)]
    rules = [Rule("alltoall", Span(2, 9), Span(1), span, Choice(name)) for span, name in zip(spans, names, strict=True)]
    rules.append(Rule("alltoall", Span(10), Span(1), Span(), Choice("bruck", (("radix", 4),))))
    file = tmp_path / "rules.txt"
    file.write_text(fw.tune.written(rules, "flitwork", "limits at random"))
    sizes = [size for limit in (*limits, limits[-1] + 900) for size in (limit - 1, limit)]
    read = fw.tune.read_rules(file)
    expected: dict[str, int] = {}
    for size in sizes:
        name = read.select(Asked("alltoall", RANKS, size)).algorithm
        expected[name] = expected.get(name, 0) + 1
    assert len(expected) == 6 and taken(started, file, *sizes) == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lines", "right"),
    [
        ("alltoall bytes=0-99 algorithm=bruck\nalltoall algorithm=simple_spread", True),
        ("alltoall algorithm=simple_spread\nalltoall bytes=0-99 algorithm=bruck", False),
        ("alltoall ranks=2-9 algorithm=bruck\nalltoall bytes=9- algorithm=simple_spread", False),
        ("alltoall ranks=2-9 algorithm=bruck\nalltoall bytes=9- algorithm=bruck", True),
        ("alltoall algorithm=bruck radix=2\nalltoall algorithm=bruck radix=4", False),
        ("alltoall algorithm=brook", False),
        ("alltoall size=9 algorithm=bruck", False),
    ],
)
def test_both_find_the_same_mistakes(
    started: tuple[Library, Path, Path], tmp_path: Path, lines: str, right: bool
) -> None:
    file = tmp_path / "rules.txt"
    file.write_text(lines + "\n")
    if right:
        fw.tune.read_rules(file)
        assert "library" not in taken(started, file, 5)
        return
    with pytest.raises(fw.ConfigError):
        fw.tune.read_rules(file)
    with pytest.raises(AssertionError, match=r"rules\.txt, line"):
        taken(started, file, 5)
