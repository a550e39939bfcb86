"""The MPI library gets every step of every all-to-all as the simulator has it."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import flitwork as fw
import pytest
from flitwork import _core
from flitwork.planning.specification import plan_of, simulation
from mpi_steps import Library, Steps, StepTuple, World, many_worlds, of_core, on_servers, small_worlds, step_of_core

NAMES = [name for name, _ in _core.all_to_alls()]
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    if COMPILER is None:
        pytest.skip("no C compiler: cc, gcc, clang")
    return Library(tmp_path_factory.mktemp("steps"), COMPILER)


def differences(steps: Steps, core: _core.CollectiveSteps) -> Iterable[tuple[int, int, StepTuple | None, StepTuple]]:
    for rank in range(steps.ranks):
        for step in range(core.steps):
            found, expected = steps.at(rank, step), step_of_core(core, rank, step)
            if found != expected:
                yield rank, step, found, expected


def compare(library: Library, worlds: Iterable[World]) -> dict[str, int]:
    """Compares all algorithms in all worlds; how many worlds each is defined in."""
    defined = dict.fromkeys(NAMES, 0)
    for world in worlds:
        for name in NAMES:
            made = library.new(name, world)
            try:
                core = of_core(name, world)
            except fw.ConfigError as error:
                assert isinstance(made, str), f"{name} {world}"
                assert f"workload.{made}" == str(error) or made in str(error), f"{name} {world}"
                continue
            assert isinstance(made, Steps), f"{name} {world}: {made}"
            assert (made.count, made.direct) == (core.steps, core.direct), f"{name} {world}"
            wrong = next(iter(differences(made, core)), None)
            assert wrong is None, f"{name} {world}: rank, step, library, simulator: {wrong}"
            defined[name] += 1
    return defined


def test_every_step_is_that_of_the_simulator(library: Library) -> None:
    defined = compare(library, small_worlds())
    assert min(defined.values()) >= 3, defined


@pytest.mark.slow
def test_every_step_is_that_of_the_simulator_in_all_worlds(library: Library) -> None:
    defined = compare(library, many_worlds())
    assert min(defined.values()) >= 30, defined


def test_a_step_that_differs_is_seen(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison can fail: of another world, and of a single step with another order of blocks."""
    world = World(9, on_servers((3, 3, 3)))
    made = library.new("hierarchical", world)
    assert isinstance(made, Steps)
    assert not [*differences(made, of_core("hierarchical", world))]
    assert [*differences(made, of_core("hierarchical", replace(world, servers=on_servers((4, 3, 2)))))]
    steps_seen = made.at(0, 0)
    assert steps_seen is not None
    monkeypatch.setattr(
        made,
        "at",
        lambda *at: (*steps_seen[:3], steps_seen[3][::-1], steps_seen[4]) if at == (0, 0) else Steps.at(made, *at),
    )
    assert [wrong[:2] for wrong in differences(made, of_core("hierarchical", world))] == [(0, 0)]


def sent(steps: Steps) -> list[tuple[int, int, int, int]]:
    """The messages: from, to, blocks, step."""
    steps_seen = ((rank, step, steps.at(rank, step)) for rank in range(steps.ranks) for step in range(steps.count))
    return [(r, one[0], len(one[1]), step) for r, step, one in steps_seen if one is not None and one[0] is not None]


def simulated(work: fw.Workload, network: fw.Network, world: World) -> list[tuple[int, int, int, int]]:
    """The messages of a simulation of blocks of one flit."""
    host = None if world.servers is None else fw.Host(placement=fw.placement.List(terminals=[*world.servers]))
    columns = plan_of(simulation(network, work, {}, host=host)).messages()
    return [*zip(*(columns[name].tolist() for name in ("from", "to", "flits", "phase")), strict=True)]


@pytest.mark.parametrize("name", NAMES)
def test_messages_are_those_that_are_simulated(library: Library, name: str) -> None:
    worlds = [
        World(16, size=(4, 4), wraps=(True, True)),
        World(6, size=(6,), wraps=(False,)),
        World(16, on_servers((6, 4, 4, 2))),
        World(9, (0, 1, 2, 0, 1, 2, 0, 1, 2), radix=3),
        World(8, (0, 0, 0, 0, 1, 1, 1, 1), leaders=4, descending=True),
    ]
    compared = 0
    for world in worlds:
        made = library.new(name, world)
        if isinstance(made, str):
            continue
        network = fw.Grid(world.size, wrap=[*world.wraps]) if world.size else fw.Torus(len(set(world.servers or ())))
        if name in ("a2a", "a2and_x_inner"):
            work: fw.Workload = fw.all_to_all(name, message_flits=1)
        else:
            steps_seen: dict[str, object] = {"radix": world.radix} if name == "bruck" else {}
            steps_seen |= {"leaders": world.leaders} if name == "multi_leader" else {}
            steps_seen |= {"order": "descending" if world.descending else "ascending"} if name == "butterfly" else {}
            given = {key: value for key, value in steps_seen.items() if value is not None}
            work = fw.collective("all_to_all", name, message_flits=1, **given)  # type: ignore[arg-type]
        assert sent(made) == simulated(work, network, world), f"{name} {world}"
        compared += 1
    assert compared >= 1


def test_names_and_version_are_those_of_the_package(library: Library) -> None:
    c = library.c
    found = [(c.flitwork_steps_name(i), c.flitwork_steps_summary(i)) for i in range(len(NAMES))]
    assert [(name.decode(), summary.decode()) for name, summary in found] == _core.all_to_alls()
    assert c.flitwork_steps_name(len(NAMES)) is None and c.flitwork_steps_summary(NAMES.index("a2at") + 1000) is None
    assert c.flitwork_steps_version().decode() == _core.__version__


@pytest.mark.parametrize(
    ("name", "world", "expected"),
    [
        ("two_level_rings", World(4), "algorithm = two_level_rings: expected one of pairwise_xor, "),
        ("pairwise_xor", World(12), "use pairwise_shift"),
        ("a2and_x_inner", World(4), "one rank at each router of a grid"),
        ("a2at", World(7, size=(2, 4), wraps=(True, True)), "sizes = 2x4: expected a router for each of 7 ranks"),
        ("a2at", World(1 << 20, size=(1 << 20, 1 << 20), wraps=(True, True)), "sizes = 1048576x1048576"),
        ("bruck", World(8, size=(2,) * 7, wraps=(True,) * 7), "dims = 7"),
        ("bruck", World(1), "ranks = 1: expected 2 to 16777216"),
        ("bruck", World(2**32 - 1), "ranks = 4294967295"),
        ("bruck", World(8, radix=1), "radix = 1: expected at least 2"),
        ("multi_leader", World(8, on_servers((4, 4)), leaders=3), "leaders = 3: expected a divisor"),
        # The number of steps does not fit: 2^17 servers, one of which has 2^17 ranks.
        ("two_level_ring", World(2**18 - 1, (*range(2**17 - 1), *[2**17] * 2**17)), "a number in it is too large"),
    ],
)
def test_what_is_not_defined_is_named(library: Library, name: str, world: World, expected: str) -> None:
    found = library.new(name, world)
    assert isinstance(found, str) and expected in found, found


def test_pointers_to_nothing_are_refused(library: Library) -> None:
    c, error = library.c, ctypes.create_string_buffer(b"x" * 40, 40)
    good = World(6, size=(2, 3), wraps=(True, True)).in_c()
    assert c.flitwork_steps_new(None, good, error, 40) is None and b"algorithm = NULL" in error.value
    assert c.flitwork_steps_new(b"a2at", None, error, 40) is None and error.value.startswith(b"world = NULL")
    good.sizes = None
    assert c.flitwork_steps_new(b"a2at", good, error, 40) is None and error.value.startswith(b"sizes = NULL")
    assert c.flitwork_steps_new(b"\xff\xfe", World(4).in_c(), error, 12) is None
    assert error.raw[11:13] == b"\0 " or len(error.value) <= 11
    for room in (0, 1):
        assert c.flitwork_steps_new(b"nothing", World(4).in_c(), error, room) is None
    assert c.flitwork_steps_new(b"nothing", World(4).in_c(), None, 40) is None
    assert (c.flitwork_steps_count(None), c.flitwork_steps_are_direct(None)) == (0, 0)
    assert c.flitwork_steps_at(None, 0, 0, None) == -1
    c.flitwork_steps_free(None)
    made = library.new("bruck", World(4))
    assert isinstance(made, Steps)
    assert made.at(4, 0) is None and made.at(0, made.count) is None and made.at(3, made.count - 1) is not None
    assert c.flitwork_steps_at(made.handle, 0, 0, None) == -1


@pytest.mark.slow
def test_make_builds_the_library(tmp_path: Path) -> None:
    """As ``make -C mpi`` does: the same functions, from the sources."""
    if not (shutil.which("rustc") and shutil.which("make") and COMPILER):
        pytest.skip("no rustc, make or C compiler")
    root = Path(__file__).parents[2]
    shutil.copytree(root / "crates" / "flitwork-steps", tmp_path / "crates" / "flitwork-steps")
    shutil.copy(root / "Cargo.toml", tmp_path)
    (tmp_path / "mpi").mkdir()
    shutil.copy(root / "mpi" / "steps.mk", tmp_path / "mpi")
    subprocess.run(["make", "-s", "-C", "mpi", "-f", "steps.mk", "libflitwork_steps.a"], cwd=tmp_path, check=True)
    text = """
        #include "steps.h"
        #include <stdio.h>
        int main(void) { return printf("%s %s\\n", flitwork_steps_version(), flitwork_steps_name(0)) < 0; }
    """
    (tmp_path / "mpi" / "says.c").write_text(text)
    assert COMPILER is not None
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-I", str(root / "mpi"), "-o", "says", "says.c"]
    subprocess.run([COMPILER, *flags, "libflitwork_steps.a"], cwd=tmp_path / "mpi", check=True)
    said = subprocess.run([str(tmp_path / "mpi" / "says")], capture_output=True, text=True, check=True)
    assert said.stdout == f"{_core.__version__} {NAMES[0]}\n"
