"""Rank programs carry out the steps of collectives as schedules do: the same messages, at the same times."""

from __future__ import annotations

import json
from typing import Any

import flitwork as fw
import numpy as np
import pytest
from flitwork import _core

BYTES, ROOT = 160, 3
ROWS = json.loads(_core.components())["collectives"]
#: The collective of a rank program that is an operation.
CALLED = {"all_to_all": "alltoall", "broadcast": "bcast"}


def program(comm: Any, operation: str) -> None:
    """Calls one collective with blocks, or a vector, of so many bytes."""
    one, all_ = np.zeros(BYTES, dtype="u1"), np.zeros(BYTES * comm.Get_size(), dtype="u1")
    calls = {
        "all_to_all": lambda: comm.Alltoall(all_, all_.copy()),
        "allgather": lambda: comm.Allgather(one, all_),
        "broadcast": lambda: comm.Bcast(one, root=ROOT),
        "gather": lambda: comm.Gather(one, all_, root=ROOT),
        "scatter": lambda: comm.Scatter(all_, one, root=ROOT),
        "reduce_scatter": lambda: comm.Reduce_scatter_block(all_, one),
        "reduce": lambda: comm.Reduce(one, one.copy(), root=ROOT),
        "allreduce": lambda: comm.Allreduce(one, one.copy()),
        "scan": lambda: comm.Scan(one, one.copy()),
        "barrier": comm.Barrier,
    }
    calls[operation]()


def messages(result: fw.Result) -> list[tuple[int, ...]]:
    return sorted(result.packets[["src", "dst", "flits"]].itertuples(index=False, name=None))


@pytest.mark.parametrize("size", [(4, 4), (3, 4)])
@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['operation']}-{row['name']}")
def test_they_send_the_same(size: tuple[int, int], row: dict[str, str]) -> None:
    if size == (3, 4) and "power of two" in row["defined_on"]:
        pytest.skip("for powers of two")
    operation, name = row["operation"], row["name"]
    net = fw.Torus(*size, units=fw.Units(flit_bytes=16))
    chosen = {CALLED.get(operation, operation): name}
    ran = fw.mpi.run(
        program, operation, ranks=size[0] * size[1], network=net, algorithms=chosen, packet_flits=64, packets=True
    )
    parameters: dict[str, Any] = {"packet_flits": 64} | ({} if operation == "barrier" else {"message_bytes": BYTES})
    parameters |= {"root": ROOT} if "root" in row["parameters"] else {}
    made = fw.simulate(net, fw.collective(operation, name, **parameters), packets=True)
    assert messages(ran.result) == messages(made)
    assert ran.result.completion_cycles == made.completion_cycles


REDUCTIONS = [row for row in ROWS if row["operation"] in ("reduce_scatter", "reduce", "allreduce", "scan")]


@pytest.mark.parametrize("row", REDUCTIONS, ids=lambda row: f"{row['operation']}-{row['name']}")
def test_adding_up_takes_the_same_time(row: dict[str, str]) -> None:
    operation, name = row["operation"], row["name"]
    net = fw.Torus(3, 4, units=fw.Units(flit_bytes=16))
    parameters: dict[str, Any] = {"root": ROOT} if "root" in row["parameters"] else {}
    times = []
    for rate in (0, 2.3):
        host = fw.Host(reduce_cycles_per_flit=rate)
        work = fw.collective(operation, name, message_bytes=BYTES, packet_flits=64, **parameters)
        made = fw.simulate(net, work, host=host, packets=True)
        ran = fw.mpi.run(
            program, operation, ranks=12, network=net, host=host, algorithms={operation: name}, packet_flits=64,
            packets=True,
        )  # fmt: skip
        assert messages(ran.result) == messages(made)
        assert ran.result.completion_cycles == made.completion_cycles
        times.append(made.completion_cycles)
    # A block is 10 flits, a vector too; a message of the ring is 1 flit.
    assert times[1] >= times[0] + 2


def test_only_what_adds_up_takes_time_for_it() -> None:
    host = fw.Host(reduce_cycles_per_flit=1)
    with pytest.raises(fw.ConfigError, match=r"host.reduce_cycles_per_flit = 1: expected 0: this workload adds up"):
        fw.bound(fw.Torus(2, 2), fw.all_to_all("a2a"), host=host)
    with pytest.raises(fw.ConfigError, match=r"reduce_cycles_per_flit"):
        fw.bound(fw.Torus(2, 2), fw.collective("allreduce", "ring"), host=fw.Host(reduce_cycles_per_flit=-1))
    gathered = [
        fw.simulate(fw.Torus(2, 2), fw.collective("allgather", "ring"), host=one).completion_cycles
        for one in (host, None)
    ]
    assert gathered[0] == gathered[1]


def test_what_was_named_and_is_not_defined_for_a_communicator_is_refused() -> None:
    """XOR on 12 ranks, A2AT on half of the ranks, A2AT where ranks share terminals: nothing takes their place."""
    net = fw.Torus(3, 4, units=fw.Units(flit_bytes=16))

    def half(comm: Any) -> None:
        program(comm.Split(comm.rank % 2), "all_to_all")

    def alone(comm: Any) -> None:
        program(comm.Split(comm.rank), "all_to_all")

    def run(work: Any, name: str, *args: str, **more: Any) -> str:
        found: str = fw.mpi.run(work, *args, ranks=12, network=net, algorithms={"alltoall": name}, **more).result.digest
        return found

    xor = "algorithms.alltoall = pairwise_xor: expected another algorithm for 12 ranks: .* power of two"
    with pytest.raises(fw.mpi.ProgramError, match=f"{xor}.*use pairwise_shift, or leave alltoall out"):
        run(program, "pairwise_xor", "all_to_all")
    with pytest.raises(fw.mpi.ProgramError, match=r"algorithms\.alltoall = a2at: .* communicator of 6 ranks"):
        run(half, "a2at")
    with pytest.raises(fw.mpi.ProgramError, match=r"one rank at each router of a grid"):
        run(program, "a2at", "all_to_all", host=fw.Host(ranks_per_terminal=2))
    # Nothing to do is defined by any; and the choice by size goes on to what is defined.
    assert run(alone, "pairwise_xor")
    assert run(program, "a2at", "all_to_all") != run(program, "simple_spread", "all_to_all")
    assert fw.mpi.run(half, ranks=12, network=net).messages > 0
