"""Bad input to the MPI library: one clear message, right data, no hang; or a stop, if the user wants that."""

from __future__ import annotations

from pathlib import Path

import pytest
from mpi_library import FAMILIES, WHEELS, Family, family

RING = "flitwork-mpi-steps 1\nranks 3\n" + "".join(
    f"{me} {step} {(me + step + 1) % 3} {(me - step - 1) % 3} 1 {me}:{(me + step + 1) % 3} {(me - step - 1) % 3}:{me}\n"
    for me in range(3)
    for step in range(2)
)

SETTINGS = [
    ({"alltoall": "bruk"}, "FLITWORK_MPI_ALLTOALL=bruk: there is no such algorithm; expected one of pairwise_xor"),
    ({"alltoall": "bruck", "radix": "two"}, "FLITWORK_MPI_RADIX=two: expected a whole number"),
    ({"alltoall": "bruck", "sync": "sometimes"}, "FLITWORK_MPI_SYNC=sometimes: expected steps, local or async"),
    ({"alltoall": "bruck", "servers": "2,2"}, "FLITWORK_MPI_SERVERS=2,2: that is 4 ranks, and the program has 3"),
    ({"alltoall": "bruck", "servers": "2,,1"}, "FLITWORK_MPI_SERVERS=2,,1: expected ranks on each server"),
    ({"alltoall": "bruck", "radix": "1"}, "FLITWORK_MPI_RADIX=1: expected a whole number from 2 to"),
    ({"alltoall": "multi_leader", "leaders": "0"}, "FLITWORK_MPI_LEADERS=0: expected a whole number from 1 to"),
    (
        {"alltoall": "bruck", "leaders": "2"},
        "FLITWORK_MPI_LEADERS=2: no algorithm that FLITWORK_MPI_ALLTOALL, _ALLTOALLV or _ALLTOALLW names has leaders",
    ),
    ({"alltoall": "two_level_ring", "radix": "4"}, "FLITWORK_MPI_RADIX=4: no algorithm that"),
    ({"alltoall": "table:"}, "FLITWORK_MPI_ALLTOALL=table:: there is no such algorithm"),
    ({"rules": "/nowhere/rules"}, "the file /nowhere/rules cannot be read"),
    ({"rules": "/"}, "the file / cannot be read"),
    ({"alltoall": "a2at", "map": "/"}, "the file / cannot be read"),
]
RULES = [
    ("alltoal algorithm=bruck", "line 1: alltoal: expected alltoall, alltoallv or alltoallw"),
    ("# fine\nalltoall size=3 algorithm=bruck", "line 2: size: expected ranks, per_server, bytes, algorithm"),
    ("alltoall ranks=8-4 algorithm=bruck", "line 1: ranks=8-4: expected a number, or a range"),
    ("alltoall ranks=3", "line 1: the line names no algorithm"),
    ("alltoall algorithm=brook", "line 1: algorithm=brook: there is no such algorithm"),
    (
        "alltoall bytes=0-99 algorithm=bruck\nalltoall bytes=50-200 algorithm=library",
        "line 2: the rule contradicts line 1",
    ),
    ("alltoall algorithm=bruck\nalltoall bytes=5 algorithm=library", "line 2: the rule contradicts line 1"),
    ("alltoall ranks=3 ranks=4 algorithm=bruck", "line 1: ranks is given twice"),
    ("alltoall algorithm=bruck radix=1", "line 1: radix=1: expected a whole number, at least 2"),
    ("alltoall algorithm=multi_leader leaders=0", "line 1: leaders=0: expected a whole number, at least 1"),
    ("alltoall algorithm=bruck leaders=2", "line 1: bruck has no leaders: leave it out"),
    ("alltoall radix=4 algorithm=library", "line 1: library has no radix: leave it out"),
    ("alltoall algorithm=bruck\nalltoallv \0 algorithm=brook", "cannot be read: it is not a text"),
]
MAPS = [
    ("0 0\n0 1\n1 0\n", "expected `grid 4x4 torus` or `grid 4x4 mesh` first"),
    ("grid 2x2 torus\n0 0\n0 1\n", "FLITWORK_MPI_MAP has coordinates of 2 ranks, and the program has 3"),
    ("grid 2x2 torus\n0 0\n0 1\n2 0\n", "line 4: 2 0: expected the coordinates of a rank on this grid"),
]
TABLES = [
    ("", "the table is empty"),
    (RING.replace("steps 1", "steps 2"), "line 1: this version is not known"),
    (RING.replace("0:1 2:0", "0:1 1:0"), "expects other blocks in a message than rank"),
    (RING.replace("2 1 1 0 1 2:1 0:2\n", "2 1 1 - 1 2:1 -\n"), "does not receive as many messages"),
    (RING.replace("0 0 1 2", "0 0 7 2"), "line 3: `to` must be another rank or -"),
]


@pytest.fixture(params=FAMILIES)
def mpi(request: pytest.FixtureRequest) -> Family:
    return family(request.param)


def refused(mpi: Family, message: str, **settings: str) -> None:
    done = mpi.run(3, mpi.compile("cases.c"), "1", "9", report="1", **settings)
    assert done.stderr.count(message) == 1, done.stderr
    assert done.stderr.count("The MPI library's own algorithms are used.") == 1, done.stderr
    assert "9 cases on 3 ranks, 0 wrong" in done.stdout, done.stdout + done.stderr
    assert "the MPI library: the settings have a mistake" in done.stderr


@pytest.mark.parametrize(("settings", "message"), SETTINGS)
def test_settings(settings: dict[str, str], message: str) -> None:
    refused(family("mpich"), message, **settings)


@pytest.mark.parametrize(("text", "message"), RULES)
def test_rules(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "rules").write_text(text + "\n")
    refused(family("mpich"), message, rules=str(tmp_path / "rules"))


@pytest.mark.parametrize(("text", "message"), MAPS)
def test_maps(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "map").write_text(text)
    refused(family("mpich"), message, map=str(tmp_path / "map"), alltoall="a2at")


@pytest.mark.parametrize(("text", "message"), TABLES)
def test_tables(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "table").write_text(text)
    refused(family("mpich"), message, alltoall=f"table:{tmp_path / 'table'}")


def test_a_table_in_which_everybody_waits(tmp_path: Path) -> None:
    text = "flitwork-mpi-steps 1\nranks 2\n0 0 - 1 1 - 1:0\n0 1 1 - 1 0:1 -\n1 0 - 0 1 - 0:1\n1 1 0 - 1 1:0 -\n"
    (tmp_path / "table").write_text(text)
    mpi = family("mpich")
    done = mpi.run(2, mpi.compile("cases.c"), "1", "9", alltoall=f"table:{tmp_path / 'table'}")
    assert "rank 0 would wait in step 0 for ever" in done.stderr and "0 wrong" in done.stdout, done.stderr


def test_servers_that_contradict_the_map(tmp_path: Path) -> None:
    (tmp_path / "map").write_text("grid 3 torus\n0\n1\n2\n")
    message = "FLITWORK_MPI_SERVERS contradicts FLITWORK_MPI_MAP: ranks 0 and 1 are on one server and have different"
    refused(family("mpich"), message, map=str(tmp_path / "map"), servers="2,1", alltoall="a2at")


def test_a_table_runs(mpi: Family, tmp_path: Path) -> None:
    (tmp_path / "table").write_text(RING)
    done = mpi.run(3, mpi.compile("cases.c"), "2", "60", alltoall=f"table:{tmp_path / 'table'}", report="1")
    assert "60 cases on 3 ranks, 0 wrong" in done.stdout, done.stdout + done.stderr
    assert "table:" in done.stderr


def test_a_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    mpi = family("mpich")
    texts = {"rules": "alltoall algorithm=bruck\n", "table": RING, "map": "grid 3 torus\n0\n1\n2\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8-sig")
    named = tmp_path / "of_a_table"
    named.write_text(f"alltoall algorithm=table:{tmp_path / 'table'}\n", encoding="utf-8-sig")
    for settings in (
        {"rules": str(tmp_path / "rules")},
        {"rules": str(named)},
        {"alltoall": f"table:{tmp_path / 'table'}"},
        {"alltoall": "bruck", "map": str(tmp_path / "map")},
    ):
        done = mpi.run(3, mpi.compile("cases.c"), "1", "9", strict="1", **settings)
        assert done.returncode == 0 and "9 cases on 3 ranks, 0 wrong" in done.stdout, (settings, done.stderr)
    # A mark that stands elsewhere is a word as any other.
    (tmp_path / "rules").write_text("\n\ufeffalltoall algorithm=bruck\n", encoding="utf-8")
    refused(mpi, "line 2: \ufeffalltoall: expected alltoall", rules=str(tmp_path / "rules"))


def test_strict_stops_the_program(mpi: Family) -> None:
    done = mpi.run(3, mpi.compile("cases.c"), "1", "9", alltoall="bruk", strict="1")
    assert done.returncode != 0 and "cases" not in done.stdout
    assert "FLITWORK_MPI_STRICT=1: the program stops." in done.stderr


def test_only_rank_0_has_the_settings(mpi: Family) -> None:
    """Ranks whose environment says something else do what rank 0 says."""
    program = mpi.compile("cases.c")
    wrong = "export FLITWORK_MPI_ALLTOALL=bruk FLITWORK_MPI_SYNC=no"
    right = "export FLITWORK_MPI_ALLTOALL=bruck"
    script = f'case "$OMPI_COMM_WORLD_RANK$PMI_RANK" in 0) {right};; *) {wrong};; esac; exec {program} 1 40'
    done = mpi.run(3, "sh", "-c", script, report="1")
    assert "40 cases on 3 ranks, 0 wrong" in done.stdout and "bruk:" not in done.stderr, done.stderr
    assert "bruck" in done.stderr


@pytest.mark.parametrize("name", [*FAMILIES, *WHEELS])
def test_ranks_with_other_levels_of_threads(name: str) -> None:
    """Later versions of MPICH have collectives that wait for ever then, so ours are not made."""
    mpi = family(name)
    done = mpi.run(4, mpi.compile("levels.c"), "differ", alltoall="two_level_ring", servers="2,2", report="1")
    assert sorted(done.stdout.split("\n")) == ["", *(f"rank {rank}: 0 wrong" for rank in range(4))], done.stderr
    warnings = done.stderr.count("flitwork: some ranks have MPI_THREAD_MULTIPLE and others have not")
    assert (warnings, "  two_level_ring  " in done.stderr) == ((1, False) if mpi.is_later_mpich else (0, True)), (
        done.stderr
    )


@pytest.mark.parametrize("name", [*FAMILIES, *WHEELS])
def test_a_thread_that_only_some_ranks_ask_for(name: str) -> None:
    mpi = family(name)
    script = f'case "$OMPI_COMM_WORLD_RANK$PMI_RANK" in 2) export FLITWORK_MPI_PROGRESS=thread;; esac; exec {mpi.compile("levels.c")}'
    done = mpi.run(4, "sh", "-c", script, alltoall="two_level_ring")
    if mpi.is_later_mpich:
        assert (
            done.returncode != 0 and "FLITWORK_MPI_PROGRESS=thread asks for it and has to be set for all" in done.stderr
        )
    else:
        assert done.stdout.count(": 0 wrong") == 4, done.stderr
