"""Which algorithm is the fastest: ``fw.pick`` and ``flitwork pick``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import flitwork as fw
import pytest
from common import Cli
from flitwork.questions.pick import Contest

ROUTER = fw.Router(vcs=2, buffer_flits=16)
GRID = fw.Torus(4, 4, router=ROUTER, units=fw.Units(flit_bytes=16, channel_bytes_per_s="4 GB/s"))
SWITCH = fw.Crossbar(terminals=4, router=fw.Router(vcs=1, buffer_flits=64))
MACHINE = """
[network]
units = { flit_bytes = 16, channel_bytes_per_s = "4 GB/s" }
topology = { kind = "crossbar", terminals = 4 }
router = { vcs = 1, buffer_flits = 64 }
nic = { service = { order = "random" } }

[host]
ranks_per_terminal = 4
"""


def test_rows_are_what_simulations_say() -> None:
    found = fw.pick(GRID, message_bytes=1024, packet_flits=64)
    rows = {row["candidate"]: row for row in found.table.to_dict("records")}
    best = rows[found.best]["completion_cycles"]
    assert found.best == found.table["candidate"][0] == "a2at"
    assert {"bruck", "bruck (radix 4)", "bruck (radix 8)", "pairwise_xor", "a2and"} <= {*rows}
    cases: tuple[tuple[str, dict[str, Any]], ...] = (("pairwise_shift", {}), ("bruck (radix 4)", {"radix": 4}))
    for name, more in cases:
        work = fw.collective("all_to_all", name.split()[0], message_bytes=1024, packet_flits=64, **more)
        result = fw.simulate(GRID, work)
        row = rows[name]
        assert row["completion_cycles"] == result.completion_cycles
        assert row["completion_ns"] == result.completion_cycles * 4
        assert row["ratio_to_bound"] == result.completion_cycles / result.bound.operation["cycles"]
        assert row["slower"] == result.completion_cycles / best - 1
    assert fw.simulate(GRID, found.workload).completion_cycles == best
    assert found.bound_cycles == 15 * 64


def test_what_is_not_defined_is_listed_with_the_reason() -> None:
    found = fw.pick(fw.Torus(2, 3, router=ROUTER), message_flits=8, host=fw.Host(ranks_per_terminal=2))
    assert "power of two" in found.left_out["pairwise_xor"]
    assert "one rank at each router of a grid" in found.left_out["a2at"]
    # What is tried besides and does not divide is no candidate, and nobody has asked for it.
    assert not any("leaders" in name for name in (*found.left_out, *found.table["candidate"]))
    many = fw.pick(SWITCH, message_flits=8, host=fw.Host(ranks_per_terminal=4), explained=False)
    assert "multi_leader (leaders 4)" in {*many.table["candidate"]}


def test_the_reason_is_what_was_simulated() -> None:
    hol = SWITCH.replace(nic=fw.Nic(service=fw.Service(order="random")))
    host = fw.Host(ranks_per_terminal=4)
    found = fw.pick(hol, message_flits=512, packet_flits=16, host=host, algorithms=["pairwise_shift", "two_level_ring"])
    assert found.best == "two_level_ring"
    assert "pairwise_shift takes 1.2" in found.reason and "the buffer ahead was full" in found.reason
    # Blocks travel more than once: the bound of its messages alone says that it loses.
    found = fw.pick(SWITCH, message_flits=64, host=host, algorithms=["pairwise_shift", "bruck"])
    assert found.table["own_bound_cycles"][1] == 4864 > found.table["completion_cycles"][0]
    assert "bruck (radix 8) takes" in found.reason and "its messages alone need 4,864 cycles" in found.reason
    # Without a second run the numbers of the first one have to do.
    found = fw.pick(GRID, "broadcast", message_flits=64, algorithms=["binomial", "linear"], explained=False)
    assert found.best == "binomial" and "linear takes" in found.reason


def test_what_is_as_fast_is_said() -> None:
    found = fw.pick(SWITCH, message_flits=64, algorithms=["pairwise_shift", "two_level_ring"])
    assert "As fast, within 2%: two_level_ring." in found.reason and "takes" not in found.reason


def test_seeds_are_averaged() -> None:
    net = SWITCH.replace(nic=fw.Nic(service=fw.Service(order="random")))
    host = fw.Host(ranks_per_terminal=2)
    found = fw.pick(net, message_flits=64, packet_flits=4, host=host, algorithms=["simple_spread"], seeds=3)
    work = fw.collective("all_to_all", "simple_spread", message_flits=64, packet_flits=4)
    each = [fw.simulate(net, work, host=host, seed=seed).completion_cycles for seed in (1, 2, 3)]
    row = found.table.iloc[0]
    assert row["completion_cycles"] == sum(each) / 3
    assert (row["min_completion_cycles"], row["max_completion_cycles"]) == (min(each), max(each))


def test_operations_without_data_and_with_a_root() -> None:
    assert fw.pick(GRID, "barrier").table["completion_cycles"].min() > 0
    rooted = fw.pick(GRID, "broadcast", message_flits=32, root=5, explained=False)
    assert rooted.workload.spec["root"] == 5
    assert rooted.table["parameters"].str.contains("root=5").all()


def test_what_fails_is_left_out() -> None:
    run = fw.Run(max_cycles=2000)
    found = fw.pick(GRID, message_flits=64, algorithms=["a2at", "bruck"], run=run)
    assert found.best == "a2at"
    assert "2000" in found.left_out["bruck"].replace(",", "")
    with pytest.raises(fw.SimulationError, match="no candidate is finished: bruck"):
        fw.pick(GRID, message_flits=64, algorithms=["bruck"], run=fw.Run(max_cycles=100))


def test_an_interruption_leaves_what_is_finished() -> None:
    class Impatient(fw.Watcher):
        def finished(self, job: Any, result: Any) -> None:
            raise KeyboardInterrupt

    contest = Contest.of(GRID, message_flits=8, algorithms=["a2at", "bruck"])
    with pytest.raises(KeyboardInterrupt):
        contest.run(jobs=1, watcher=Impatient())
    found = contest.picked(explained=False)
    assert len(found.table) == 1 and {*found.left_out.values()} == {"not finished"}


@pytest.mark.parametrize(
    ("wrong", "path"),
    [
        (lambda: fw.pick(GRID, "all_too_all", message_flits=8), "operation"),
        (lambda: fw.pick(GRID, message_flits=8, algorithms=["brück"]), "algorithms"),
        (lambda: fw.pick(GRID, message_flits=8, algorithms="bruck"), "algorithms"),
        (lambda: fw.pick(GRID, message_flits=8, algorithms=[]), "algorithms"),
        (lambda: fw.pick(SWITCH, message_flits=8, algorithms=["a2at", "a2and"]), "algorithms"),
        (lambda: fw.pick(GRID), "message_bytes"),
        (lambda: fw.pick(fw.Torus(4, 4), message_bytes=64), "network.units.flit_bytes"),
        (lambda: fw.pick(GRID, message_flits=8, seeds=0), "seeds"),
        (lambda: fw.pick(GRID, message_flits=8, root=1), "root"),
        (lambda: fw.pick(GRID, message_flits=8, algorithm="bruck"), "algorithm"),
        (lambda: fw.pick(GRID, message_flits=8, run=fw.Run(seed=2)), "run.seed"),
        (lambda: fw.pick(GRID, message_flits=8, colour=1), "workload.colour"),
    ],
)
def test_bad_input(wrong: Callable[[], Any], path: str) -> None:
    with pytest.raises(fw.ConfigError) as caught:
        wrong()
    assert caught.value.path == path


def test_it_is_stored(tmp_path: Path) -> None:
    found = fw.pick(GRID, message_flits=8, algorithms=["a2at"])
    assert json.loads(found.save(tmp_path / "p.json").read_text())["best"] == "a2at"
    assert found.save(tmp_path / "p.csv").read_text().count("\n") == 2
    with pytest.raises(fw.ConfigError, match=r"a file \.csv or \.json"):
        found.save(tmp_path / "p.txt")


def test_the_command(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "machine.toml"
    file.write_text(MACHINE)
    given = ("pick", str(file), "--message-bytes", "2048", "--packet-flits", "16")
    out = cli(*given, "--algorithms", "pairwise_shift,two_level_ring,a2at", "--save", str(tmp_path / "p.csv"))
    assert out.returncode == 0, out.stderr
    assert "two_level_ring" in out.stdout and "left out" in out.stdout and (tmp_path / "p.csv").exists()
    # The table of the router keeps what is not changed in it.
    out = cli(*given, "--set", "router.vcs=2", "--set", "host.ranks_per_terminal=2", "--set", "radix=3",
              "--algorithms", "bruck,pairwise_shift", "--json")  # fmt: skip
    assert out.returncode == 0, out.stderr
    found = json.loads(out.stdout)
    net = fw.Crossbar(
        terminals=4, router=fw.Router(vcs=2, buffer_flits=64), nic=fw.Nic(service=fw.Service(order="random"))
    )
    work = fw.collective("all_to_all", "bruck", radix=3, message_flits=128, packet_flits=16)
    expected = fw.simulate(net, work, host=fw.Host(ranks_per_terminal=2)).completion_cycles
    rows = {row["candidate"]: row for row in found["candidates"]}
    assert rows["bruck (radix 3)"]["completion_cycles"] == expected
    assert rows["bruck (radix 3)"]["completion_ns"] == expected * 4


def test_the_command_refuses(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "machine.toml"
    file.write_text(MACHINE)
    for arguments, said in (
        ((str(file), "--size", "4x4", "--message-flits", "8"), "--size"),
        ((str(tmp_path / "none.toml"), "--message-flits", "8"), "NETWORK"),
        (("--size", "4x4", "--message-flits", "8", "--operation", "bcast"), "operation"),
        (("--size", "4x4", "--message-flits", "8", "--set", "vcx=2"), "did you mean `vcs`"),
        (("--size", "4x4", "--message-flits", "8", "--save", "x.txt"), "--save"),
    ):
        out = cli("pick", *arguments)
        assert out.returncode == 2 and said in out.stderr, out.stderr


def test_an_operation_is_no_file(cli: Cli) -> None:
    done = cli("pick", "alltoallv", "--size", "4", "--message-bytes", "16")
    assert done.returncode == 2 and "NETWORK = alltoallv" in done.stderr and "--operation" in done.stderr
