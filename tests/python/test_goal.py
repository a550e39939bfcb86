"""GOAL programs and the ideal machine from Python and from the command line; the machine itself is tested in Rust."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from time import perf_counter

import flitwork as fw
import pandas as pd
import pytest
from common import REPOSITORY, Cli
from flitwork.workloads.operations import Operation

SAMPLES = REPOSITORY / "crates/flitwork/tests/data/goal"
REDUCE = [34914, 24776, 13138, 13138, 1500, 1500, 1500, 1500]


def test_a_program_is_read_run_and_written(tmp_path: Path) -> None:
    goal = fw.read_goal(SAMPLES / "binomialtreereduce.8.goal")
    assert (goal.name, goal.ranks, goal.operations, goal.dependencies) == ("binomialtreereduce.8.goal", 8, 14, 4)
    result = fw.run_goal(goal, fw.loggops())
    assert result.finish_ns.tolist() == REDUCE and result.completion_ns == 34914 and result.messages == 7
    assert result.table["finish_ns"].tolist() == REDUCE
    assert fw.run_goal(goal).row == result.row
    assert goal.text == (SAMPLES / "binomialtreereduce.8.goal").read_text()
    for binary in (True, False):
        assert fw.read_goal(goal.write(tmp_path / "again", binary=binary)) == goal
    assert pickle.loads(pickle.dumps(goal)) == goal == copy.deepcopy(goal)
    assert fw.read_goal(SAMPLES / "a2a_8.bin") == fw.read_goal(SAMPLES / "a2a_8.goal") != goal
    for name in ("times.csv", "times.parquet"):
        file = result.save(tmp_path / name)
        table = pd.read_csv(file) if name.endswith("csv") else pd.read_parquet(file)
        assert table["finish_ns"].tolist() == REDUCE


def test_the_machine_is_a_value() -> None:
    machine = fw.loggops(L=7, G=0.25)
    assert machine == fw.loggops(G=0.25, L=7, o=1500) and machine.spec["kind"] == "loggops"
    assert repr(fw.loggops()) == "loggops(L=2500, o=1500, g=1000, G=6, O=0, S=65535)"
    goal = fw.Goal("num_ranks 1\nrank 0 {\ncalc 3\n}")
    assert fw.run_goal(goal, machine.spec).completion_ns == 3


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: fw.loggops(l=1), "loggops.l = 1: expected one of L, o, g, G, O, S"),
        (lambda: fw.loggops(L=-1), "loggops.L = -1: expected a latency"),
        (lambda: fw.loggops(o="x"), 'loggops.o = "x"'),
        (lambda: fw.loggops(G=float("nan")), "loggops.G = nan: expected a finite number"),
        (lambda: fw.read_goal("not/there.goal"), "a GOAL file that can be read"),
        (lambda: fw.Goal("num_ranks 1\nrank 0 {\ncacl 5\n}"), "goal:3:6"),
        (lambda: fw.Goal(3), "GOAL as text or bytes"),  # type: ignore[arg-type]
        (lambda: fw.run_goal("a.goal"), "fw.read_goal"),  # type: ignore[arg-type]
        (lambda: fw.run_goal(fw.Goal("num_ranks 1\nrank 0 {\n}"), 3), "fw.loggops(...)"),  # type: ignore[arg-type]
    ],
)
def test_what_is_wrong_is_named(make: object, said: str) -> None:
    with pytest.raises(fw.ConfigError) as raised:
        make()  # type: ignore[operator]
    assert said in str(raised.value)


@pytest.mark.slow
def test_a_million_operations_are_read_and_run_in_seconds() -> None:
    ranks = 708

    def lines(r: int) -> str:
        pairs = (((r + k) % ranks, (r - k) % ranks) for k in range(1, ranks))
        return "".join(f"send 1024b to {to} tag 0\nrecv 1024b from {source} tag 0\n" for to, source in pairs)

    text = f"num_ranks {ranks}\n" + "".join(f"rank {r} {{\n{lines(r)}}}\n" for r in range(ranks))
    started = perf_counter()
    goal = fw.Goal(text)
    read = perf_counter()
    result = fw.run_goal(goal)
    assert (goal.operations, result.messages, result.as_loggopsim) == (1_001_112, 500_556, True)
    assert read - started < 3 and perf_counter() - read < 20


def test_a_program_that_cannot_end_says_why() -> None:
    goal = fw.Goal("num_ranks 1\nrank 0 {\nrecv 4b from -1 tag 7\n}", name="alone")
    with pytest.raises(fw.ScheduleError, match=r"alone: cannot end: rank 0: operation 1 \(recv 4b from -1 tag 7\)"):
        fw.run_goal(goal)


def test_a_program_runs_on_a_network_with_routers() -> None:
    units = fw.Units(flit_bytes=16, cycle_ns=2)
    net = fw.Torus(4, 4, router=fw.Router(vcs=4, buffer_flits=16), units=units)
    goal = fw.read_goal(SAMPLES / "allreduce_ring.8.goal")
    result = fw.run_goal(goal, net, packet_flits=8)
    assert result.simulation is not None and result.messages == goal.messages
    assert result.completion_ns == 2 * result.simulation.completion_cycles == result.row["completion_ns"]
    # A message of 128 bytes, 8 flits, and 14 steps: no rank can be faster.
    assert (result.finish_ns >= 14 * 8 * 2).all() and len(result.finish_ns) == 8
    fewer = fw.run_goal(goal, net, packet_flits=8, host=fw.Host(ranks_per_terminal=2))
    assert fewer.completion_ns != result.completion_ns


def test_a_workload_is_written_as_a_program() -> None:
    net = fw.Network("crossbar", terminals=4, units=fw.Units(flit_bytes=8, cycle_ns=2))
    goal = fw.Goal.of(net, fw.all_to_all("a2a", message_bytes=80))
    assert (goal.ranks, goal.messages) == (4, 12) and "send 80b to" in goal.text and "irequires" in goal.text
    assert fw.run_goal(goal).as_loggopsim
    ping: list[Operation] = [
        fw.Send(1, flits=4),
        fw.Receive(1, flits=4),
        fw.Wait([1]),
        fw.Compute(5),
        fw.Send(1, flits=1),
    ]
    pong: list[Operation] = [fw.Receive(0, flits=4), fw.Wait([0]), fw.Send(0, flits=4), fw.Receive(0, flits=1)]
    goal = fw.Goal.of(net, fw.Schedule([ping, pong, [], []]))
    lines = [*("l1: send 32b to 1 tag 0", "l2: recv 32b from 1 tag 0", "l3: calc 0", "l3 requires l2", "l4: calc 10")]
    assert goal.text.splitlines()[3:9] == [*lines, "l4 requires l3"]
    # A message there and one back; then what is computed, and the overhead of the last send.
    assert fw.run_goal(goal, fw.loggops(G=0)).finish_ns.tolist()[0] == 2 * (1500 + 2500 + 1500) + 10 + 1500
    with pytest.raises(fw.ConfigError, match="flit_bytes"):
        fw.Goal.of(fw.Torus(4), fw.all_to_all("a2a"))
    with pytest.raises(fw.ConfigError, match="a schedule"):
        fw.Goal.of(fw.Torus(4), fw.uniform(offered_load=0.1))


def test_calcs_run_beside_each_other_on_cpus_of_their_own() -> None:
    net = fw.Torus(4, units=fw.Units(flit_bytes=8, cycle_ns=1))
    body = "a: calc 100\nb: calc 100 cpu CPU\nc: calc 30 cpu 2\nc WORD b\n"

    def last(cpu: int, word: str) -> float:
        text = f"num_ranks 1\nrank 0 {{\n{body.replace('CPU', str(cpu)).replace('WORD', word)}}}\n"
        return fw.run_goal(fw.Goal(text), net).completion_ns

    assert [last(cpu, word) for cpu in (0, 1) for word in ("requires", "irequires")] == [230, 200, 130, 100]


@pytest.mark.parametrize(
    ("text", "net", "said"),
    [
        ("send 8b to 1\n}\nrank 1 {\nrecv 8b from 0", fw.Torus(4), "network.units.flit_bytes"),
        ("send 8b to 1 tag -1\n}\nrank 1 {\nrecv 8b from 0", fw.Torus(4), "has no tag that a receive could name"),
        ("send 8b to 1\n}\nrank 1 {\ncalc 1", fw.Torus(4, units=fw.Units(flit_bytes=8, cycle_ns=1)), "no receive"),
        ("send 8b to 1\n}\nrank 1 {\nrecv 8b from 0", fw.Torus(1, units=fw.Units(flit_bytes=8, cycle_ns=1)), "2 ranks"),
    ],
)
def test_what_a_network_cannot_run_is_refused(text: str, net: fw.Network, said: str) -> None:
    goal = fw.Goal(f"num_ranks 2\nrank 0 {{\n{text}\n}}\n")
    with pytest.raises(fw.FlitworkError, match=said):
        fw.run_goal(goal, net)


def test_the_command_runs_a_program(cli: Cli, tmp_path: Path) -> None:
    file = str(SAMPLES / "binomialtreereduce.8.goal")
    done = cli(
        "run", file, "--network", "loggops", "--L", "1000", "--o", "200", "--g", "500", "--G", "1", "--O", "1", "--json"
    )
    found = json.loads(done.stdout)
    assert found["finish_ns"] == [7269, 6069, 3646, 3646, 1223, 1223, 1223, 1223] and found["completion_ns"] == 7269
    network = tmp_path / "net.toml"
    network.write_text('[network]\nkind = "loggops"\nS = 256\n')
    done = cli("run", file, "--network", str(network), "--per-rank", "--save", str(tmp_path / "times.csv"))
    assert done.returncode == 0 and "34,914" in done.stdout and "27,276" in done.stdout
    assert pd.read_csv(tmp_path / "times.csv")["finish_ns"].tolist()[1] == 27276
    network.write_text('topology = { kind = "torus", size = [8] }\nunits = { flit_bytes = 16, cycle_ns = 1 }\n')
    done = cli("run", file, "--network", str(network), "--packet-flits", "8", "--json")
    found = json.loads(done.stdout)
    assert found["network"] == "torus" and len(found["finish_ns"]) == 8 and found["status"] == "complete"
    network.write_text('[network]\ntopology = "torus"\nsize = [8]\n')
    done = cli("run", file, "--network", str(network), "--packet-flits", "8")
    assert done.returncode == 2 and "network.topology = torus" in done.stderr and "a table with a kind" in done.stderr
    for topology in ("{ size = [8] }", "3", '["torus"]', "{ kind = 5 }"):
        network.write_text(f"[network]\ntopology = {topology}\n")
        done = cli("run", file, "--network", str(network))
        assert done.returncode == 2 and "network.topology = " in done.stderr and 'kind = "KIND"' in done.stderr
    for other, said in (("netwrok", "netwrok = unknown key"), ("run", "run = unknown key"), ("host", "take it out")):
        network.write_text(f'[network.topology]\nkind = "torus"\nsize = [8]\n[{other}]\nmax_cycles = 3\n')
        done = cli("run", file, "--network", str(network))
        assert done.returncode == 2 and said in done.stderr


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("a2a_8.goal", "--quick"), "given beside a GOAL program"),
        (("tiny.toml", "--per-rank"), "given beside a study file"),
        (("a2a_8.goal", "--network", "torus"), "loggops, or a file .toml"),
        (("a2a_8.goal", "--L", "-5"), "loggops.L"),
        (("a2a_8.goal", "--save", "times.txt"), "a file .csv or .parquet"),
        (("missing.goal",), "a GOAL file that can be read"),
    ],
)
def test_the_command_refuses_what_it_cannot_use(cli: Cli, args: tuple[str, ...], said: str) -> None:
    file, *options = args
    done = cli("run", str(SAMPLES / file), *options)
    assert done.returncode == 2 and said in done.stderr


def test_a_program_that_computes_for_long_may_take_as_long_on_any_network() -> None:
    goal = fw.Goal(
        "num_ranks 2\nrank 0 {\na: calc 4000000000\nb: send 64b to 1\nb requires a\n}\nrank 1 {\nrecv 64b from 0\n}\n"
    )
    network = fw.Torus(2, units=fw.Units(flit_bytes=32, cycle_ns=2))
    result = fw.run_goal(goal, network, packet_flits=64)
    assert 4_000_000_000 < result.completion_ns < 4_000_001_000
    with pytest.raises(fw.SimulationError, match="not complete after 100 cycles"):
        fw.run_goal(goal, network, packet_flits=64, run=fw.Run(max_cycles=100))
