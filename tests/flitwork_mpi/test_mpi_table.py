"""Tables of steps: what they say is an all-to-all that cannot block, and a schedule keeps its order and its waits."""

from __future__ import annotations

import io
import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import flitwork as fw
import pytest
from common import Cli
from flitwork import _core
from flitwork_mpi.programs.step_table import StepTable, step_table
from mpi_libraries import Library
from mpi_steps import World, of_core, small_worlds, step_of_core

#: What a line says: to whom, from whom, whether it waits, and the blocks.
Line = tuple[int | None, int | None, bool, list[str], list[str]]


def text_of(table: StepTable) -> str:
    file = io.BytesIO()
    table.write(file)
    return file.getvalue().decode()


def read(text: str) -> tuple[int, list[list[Line]]]:
    """Reads a table as the library does: ranks, and the lines of each rank."""
    first, second, *lines = text.splitlines()
    assert first == "flitwork-mpi-steps 1" and second.startswith("ranks ")
    ranks = int(second.removeprefix("ranks "))
    steps: list[list[Line]] = [[] for _ in range(ranks)]
    for line in lines:
        if line.startswith("#"):
            continue
        rank, step, to, source, waits, sent, came = line.split(" ")
        assert int(step) == len(steps[int(rank)]) and waits in "01"
        peers = (None if peer == "-" else int(peer) for peer in (to, source))
        blocks = ([] if some == "-" else some.split(",") for some in (sent, came))
        steps[int(rank)].append((*peers, waits == "1", *blocks))  # type: ignore[arg-type]
    assert len({len(of_rank) for of_rank in steps}) == 1
    return ranks, steps


def carry_out(text: str) -> int:
    """Runs a table where no message leaves before it is awaited, each rank as far as it can; how many messages there were.

    Proves that nobody waits for ever, that both ends of a message stand in one step and agree on its blocks, that
    ranks send only what they hold, and that each block ends where it belongs.
    """
    ranks, steps = read(text)
    held = [{f"{rank}:{to}" for to in range(ranks)} for rank in range(ranks)]
    # The first step that a rank has not posted; it has posted all before.
    posted, messages = [0] * ranks, 0
    moved = True
    while moved:
        moved = False
        for rank in range(ranks):
            while posted[rank] < len(steps[rank]):
                last = posted[rank] - 1
                peers = {peer for step in steps[rank][: last + 1] for peer in step[:2] if peer is not None}
                waits = last >= 0 and steps[rank][last][2]
                if waits and any(posted[peer] <= step for step, peer in pending(steps[rank], last, peers)):
                    break
                if waits:
                    held[rank].update(block for step in steps[rank][: last + 1] for block in step[4])
                to, source, _, sent, came = steps[rank][posted[rank]]
                assert set(sent) <= held[rank], f"rank {rank} sends what it does not hold"
                if to is not None:
                    assert steps[to][posted[rank]][1] == rank and steps[to][posted[rank]][4] == sent
                    messages += 1
                if source is not None:
                    assert steps[source][posted[rank]][0] == rank and steps[source][posted[rank]][3] == came
                posted[rank] += 1
                moved = True
    assert posted == [len(of_rank) for of_rank in steps], "ranks wait for ever"
    for rank in range(ranks):
        held[rank].update(block for step in steps[rank] for block in step[4])
        assert {f"{source}:{rank}" for source in range(ranks)} <= held[rank]
    return messages


def pending(steps: list[Line], last: int, peers: set[int]) -> Iterator[tuple[int, int]]:
    """What a rank that waits behind step ``last`` waits for: steps, and who has to post them, too."""
    return ((step, peer) for step in range(last + 1) for peer in steps[step][:2] if peer in peers and peer is not None)


def network(world: World) -> fw.Network | None:
    return fw.Grid(world.size, wrap=[*world.wraps]) if world.size else None


@pytest.mark.parametrize("name", [name for name, _ in _core.all_to_alls()])
def test_tables_of_algorithms_are_their_steps(name: str) -> None:
    made = 0
    for world in small_worlds():
        steps_seen = {"ranks": world.ranks, "server_of": world.servers, "network": network(world)}
        steps_seen |= {"radix": world.radix, "leaders": world.leaders, "descending": world.descending}
        try:
            core = of_core(name, world)
        except fw.ConfigError:
            with pytest.raises(fw.ConfigError):
                step_table(name, **steps_seen)  # type: ignore[arg-type]
            continue
        table = step_table(name, **steps_seen)  # type: ignore[arg-type]
        _, steps = read(text_of(table))
        for rank in range(world.ranks):
            for step in range(core.steps):
                to, sent, source, came, waits = step_of_core(core, rank, step)
                blocks = [[f"{b // world.ranks}:{b % world.ranks}" for b in some] for some in (sent, came)]
                assert steps[rank][step] == (to, source, waits, *blocks)
        carry_out(text_of(table))
        made += 1
    assert made >= 3


def waits_of(schedule: fw.Schedule) -> Iterator[tuple[int, tuple[int, int], int]]:
    """What the waits of a schedule promise: a rank, a message that it waits for, and to whom it sends behind the wait."""
    frame = schedule.table()
    for rank in range(schedule.ranks):
        rows = frame[frame["rank"] == rank]
        kinds, peers = rows["operation"].tolist(), rows["peer"].tolist()
        after = [[int(word) for word in cell.split()] for cell in rows["after"]]
        for number, kind in enumerate(kinds):
            for awaited in after[number] if kind == "wait" else ():
                if kinds[awaited] == "receive":
                    for behind in range(number + 1, len(kinds)):
                        if kinds[behind] == "send":
                            yield rank, (int(peers[awaited]), rank), int(peers[behind])


def check_schedule(schedule: fw.Schedule) -> list[list[Line]]:
    """The steps of a schedule, proven; its waits are kept."""
    text = text_of(step_table(schedule))
    ranks, steps = read(text)
    assert carry_out(text) == ranks * (ranks - 1)
    at = {
        (rank, line[0]): step
        for rank, lines in enumerate(steps)
        for step, line in enumerate(lines)
        if line[0] is not None
    }
    for rank, awaited, to in waits_of(schedule):
        between = range(at[awaited], at[rank, to])
        assert any(steps[rank][step][2] for step in between), f"rank {rank} sends to {to} without {awaited}"
    return steps


def ring(rank: int, ranks: int) -> Iterator[tuple[fw.Receive, fw.Send]]:
    for step in range(1, ranks):
        yield fw.Receive((rank - step) % ranks, flits=8), fw.Send((rank + step) % ranks, flits=8)


def test_a_ring_is_a_ring() -> None:
    text = text_of(step_table(fw.Schedule.of(ring, 7)))
    algorithm = text_of(step_table("pairwise_shift", ranks=7))
    assert text.splitlines()[3:] == algorithm.splitlines()[3:]
    steps = check_schedule(fw.Schedule.of(ring, 7, blocking=False))
    assert [line[2] for line in steps[3]] == [False] * 5 + [True]


def test_orders_that_collide_are_moved_apart() -> None:
    """All send to rank 0 first: it receives one message in a step."""

    def naive(rank: int, ranks: int) -> Iterator[tuple[fw.Receive, fw.Send]]:
        for other in (peer for peer in range(ranks) if peer != rank):
            yield fw.Receive(other, flits=1), fw.Send(other, flits=1)

    for ranks in (2, 3, 8):
        steps = check_schedule(fw.Schedule.of(naive, ranks, blocking=False))
        for lines in steps:
            sent = [line[0] for line in lines if line[0] is not None]
            assert sent == sorted(sent)


@pytest.mark.parametrize("seed", range(6))
def test_random_schedules_keep_their_waits(seed: int) -> None:
    """A random order of messages, each rank waiting here and there for what has come before: it can always finish."""
    draw = random.Random(seed)
    ranks = draw.randint(2, 12)
    pairs = [(a, b) for a in range(ranks) for b in range(ranks) if a != b]
    draw.shuffle(pairs)
    programs: list[list[fw.Send | fw.Receive | fw.Wait | fw.Compute]] = [[] for _ in range(ranks)]
    for a, b in pairs:
        for rank in (a, b):
            open_ = [i for i, op in enumerate(programs[rank]) if isinstance(op, (fw.Send, fw.Receive))]
            if open_ and draw.random() < 0.3:
                programs[rank].append(fw.Wait(draw.sample(open_, draw.randint(1, len(open_)))))
            if draw.random() < 0.1:
                programs[rank].append(fw.Compute(cycles=5))
        programs[a].append(fw.Send(b, flits=draw.randint(1, 9)))
        programs[b].append(fw.Receive(a, flits=9))
    check_schedule(fw.Schedule(programs))


@pytest.mark.parametrize("sync", ["async", "local", "local_sliding"])
def test_goal_programs_of_simulated_exchanges(sync: Literal["async", "local", "local_sliding"]) -> None:
    net = fw.Torus(3, 4, units=fw.Units(flit_bytes=16, cycle_ns=1))
    goal = fw.Goal.of(net, fw.all_to_all("a2at", message_flits=4, sync=sync))
    text = text_of(step_table(goal))
    _, steps = read(text)
    assert carry_out(text) == 12 * 11
    expected = read(text_of(step_table("a2at", network=fw.Torus(3, 4))))[1]
    order = [[[line[0] for line in lines if line[0] is not None] for lines in some] for some in (steps, expected)]
    assert order[0] == order[1]
    # One port: each message waits for the one before it.
    waits = [sum(line[2] for line in lines) for lines in steps]
    assert waits == ([1] * 12 if sync == "async" else [11] * 12)


def test_a_timetable_keeps_its_order(cli: Cli, tmp_path: Path) -> None:
    """Each rank waits for a message before it sends the next one."""
    found = fw.synthesise(fw.Torus(4, 3), message_flits=10, packet_flits=1, budget_steps=100_000)
    text = text_of(step_table(found.timetable))
    assert carry_out(text) == 12 * 11
    lines = read(text)[1]
    assert [[line[0] for line in some if line[0] is not None] for some in lines] == found.timetable.order().tolist()
    assert all(sum(line[2] for line in some) == 11 for some in lines)
    found.timetable.save(tmp_path / "schedule.json")
    assert cli("mpi", "table", "schedule.json").stdout == text
    (tmp_path / "other.json").write_text("[]")
    done = cli("mpi", "table", "other.json")
    assert done.returncode == 2 and "other.json" in done.stderr


def test_sends_that_wait_beside_the_program_are_overtaken() -> None:
    """Rank 0 sends first what needs a message that rank 1 sends when it has the second."""
    text = """
        num_ranks 3
        rank 0 {
            a: recv 8b from 1
            b: send 8b to 2
            b requires a
            send 8b to 1
            recv 8b from 2
        }
        rank 1 {
            a: recv 8b from 0
            wait: calc 0
            wait requires a
            b: send 8b to 0
            b requires wait
            send 8b to 2
            recv 8b from 2
        }
        rank 2 {
            recv 8b from 0
            recv 8b from 1
            send 8b to 0
            send 8b to 1
        }
    """
    made = text_of(step_table(fw.Goal(text)))
    assert carry_out(made) == 6
    steps = read(made)[1]
    assert [line[0] for line in steps[0] if line[0] is not None] == [1, 2]
    assert [line[0] for line in steps[1] if line[0] is not None] == [2, 0]


def refused(*programs: list[fw.Send | fw.Receive | fw.Wait]) -> str:
    with pytest.raises(fw.ConfigError) as error:
        step_table(fw.Schedule(programs, name="mine"))
    return str(error.value)


def test_exchanges_that_are_no_all_to_all_are_refused_by_the_pair() -> None:
    def send(peer: int) -> fw.Send:
        return fw.Send(peer, flits=1)

    def receive(peer: int) -> fw.Receive:
        return fw.Receive(peer, flits=1)

    text = refused([send(1), send(2), receive(2)], [receive(0), receive(2)], [receive(0), send(1), send(0)])
    assert "mine: no message from rank 1 to rank 0" in text and "one message from each rank to each other" in text
    text = refused([send(1), receive(1)], [receive(0), receive(0), send(0)])
    assert "2 receives of rank 1 for one from rank 0" in text
    text = refused([send(1), fw.Receive(1, flits=1, tag=4)], [receive(0), send(0)])
    assert "tag 4 of the receive of rank 0 from rank 1: expected the tag of the message, 0" in text
    text = refused([send(1), receive(1), receive(1)], [receive(0), send(0), send(0)])
    assert "2 messages from rank 1 to rank 0" in text
    text = refused([send(1), fw.Receive(None, flits=1)], [receive(0), send(0)])
    assert "mine: a receive of rank 0 from any rank" in text
    assert "2 to 4096 ranks" in refused([])
    text = refused([receive(1), fw.Wait([0]), send(1)], [receive(0), fw.Wait([0]), send(0)])
    assert "rank 0 never sends to rank 1" in text and "a schedule that can finish" in text


def test_what_contradicts_itself_is_refused() -> None:
    def fault(*args: object, **steps_seen: object) -> str:
        with pytest.raises(fw.ConfigError) as error:
            step_table(*args, **steps_seen)  # type: ignore[arg-type]
        return str(error.value)

    assert "did you mean bruck" in fault("bruk", ranks=8).replace("`", "")
    assert "ranks = nothing" in fault("bruck")
    assert "8 by ranks, 6 by servers" in fault("bruck", ranks=8, servers=[3, 3])
    assert "server_of = given beside servers" in fault("bruck", servers=[1, 1], server_of=[0, 1])
    assert "server_of[1] = -1" in fault("bruck", server_of=[0, -1])
    assert "ranks = 1" in fault("bruck", ranks=1) and "ranks = 5000" in fault("bruck", ranks=5000)
    assert "use pairwise_shift" in fault("pairwise_xor", ranks=6)
    assert "beside a schedule" in fault(fw.Schedule.of(ring, 4), ranks=4)
    assert "the name of an algorithm" in fault(7)
    assert "one rank at each router of a grid" in fault("a2at", network=fw.Crossbar(terminals=8))


def test_the_command_writes_what_the_function_makes(cli: Cli, tmp_path: Path) -> None:
    done = cli("mpi", "table", "two_level_ring", "--servers", "2x2,1", "-o", "ring.steps")
    assert done.returncode == 0 and "5 ranks" in done.stderr
    text = (tmp_path / "ring.steps").read_text(encoding="utf-8")
    assert text == text_of(step_table("two_level_ring", servers=[2, 2, 1]))
    assert text == text_of(step_table("two_level_ring", server_of=[7, 7, 8, 8, 9]))
    fw.Schedule.of(ring, 4).save(tmp_path / "mine.csv")
    done = cli("mpi", "table", "mine.csv")
    assert done.stdout == text_of(step_table(fw.Schedule.read(tmp_path / "mine.csv")))
    assert carry_out(done.stdout) == 12
    (tmp_path / "part.goal").write_text("num_ranks 2\nrank 0 {\nl1: send 8b to 1\n}\nrank 1 {\nl1: recv 8b from 0\n}\n")
    done = cli("mpi", "table", "part.goal")
    assert done.returncode == 2 and "no message from rank 1 to rank 0" in done.stderr
    done = cli("mpi", "table", "a2at", "--size", "2x3", "--servers", "by_rank:0,x")
    assert done.returncode == 2 and "--servers" in done.stderr
    assert not [file for file in tmp_path.iterdir() if file.name not in ("ring.steps", "mine.csv", "part.goal")]


#: An all-to-all of a few integers, checked by every rank.
CHECKED = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    int rank, ranks, from[64 * 3], to[64 * 3], wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < 3 * ranks; i++) from[i] = 1000 * rank + i, to[i] = -1;
    MPI_Alltoall(from, 3, MPI_INT, to, 3, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < 3 * ranks; i++) wrong += to[i] != 1000 * (i / 3) + 3 * rank + i % 3;
    printf("%d wrong at rank %d\n", wrong, rank);
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("family", ["mpich", "openmpi"])
def test_the_library_runs_tables(family: str, tmp_path: Path) -> None:
    """Compiled from what the package carries, without a Rust compiler."""
    mpi = Library.found(family)
    if mpi is None or shutil.which("make") is None:
        pytest.skip(f"no mpirun of {family} with its mpicc, or no make: {family} did not run tables")
    for name, contents in _core.mpi_library_files().items():
        file = tmp_path / "mpi" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(contents)
    make = ["make", "-s", "-C", str(tmp_path / "mpi"), f"MPICC={mpi.mpicc}", "RUSTC=false", "BUILD=built"]
    subprocess.run(make, check=True, capture_output=True)
    program = mpi.build(CHECKED, tmp_path / "checked")
    draw, net = random.Random(7), fw.Torus(5, units=fw.Units(flit_bytes=16, cycle_ns=1))

    def shuffled(rank: int, ranks: int) -> Iterator[tuple[fw.Receive, fw.Send]]:
        others = [peer for peer in range(ranks) if peer != rank]
        for to in draw.sample(others, len(others)):
            yield fw.Receive(to, flits=1), fw.Send(to, flits=1)

    tables = [
        step_table("hierarchical", servers=[2, 1, 2]),
        step_table("bruck", ranks=5, radix=3),
        step_table(fw.Schedule.of(ring, 5)),
        step_table(fw.Schedule.of(shuffled, 5, blocking=False)),
        step_table(fw.Goal.of(net, fw.all_to_all("a2at", message_flits=4, sync="local"))),
        step_table(fw.synthesise(fw.Torus(5), message_flits=10, packet_flits=1).timetable),
    ]
    for table in tables:
        file = table.save(tmp_path / "a.steps")
        steps_seen = {"FLITWORK_MPI_ALLTOALL": f"table:{file}", "FLITWORK_MPI_REPORT": "1", "FLITWORK_MPI_STRICT": "1"}
        preloaded = ["env", f"LD_PRELOAD={tmp_path / 'mpi' / 'built' / 'libflitwork_mpi.so'}"]
        said = mpi.run(5, *preloaded, *(f"{name}={value}" for name, value in steps_seen.items()), program)
        assert said.count("0 wrong at rank") == 5, said
        assert f"table:{file}" in said, said
