"""Rank programs and tables of times meet the rest: rendezvous, copies inside servers, fits, explanations, machines."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Any

import flitwork as fw
import numpy as np
import pytest
import typer
from flitwork.fit import fit
from flitwork_mpi.cli import commands

RECORDED = fw.Run(record=fw.Record(waits=True, operations=True))


@pytest.mark.parametrize(
    "call",
    [
        lambda machine: fw.tune.simulated(machine, [1024]),
        lambda machine: fw.mpi.run(print, ranks=2, network=machine),
        lambda machine: fw.mpi.step_table("pairwise_shift", network=machine),
    ],
)
def test_a_machine_is_no_network_and_the_error_says_which_part_is(call: Callable[[Any], object]) -> None:
    with pytest.raises(fw.ConfigError) as caught:
        call(fw.machines.ap1000())
    assert (caught.value.path, caught.value.value) == ("network", "a machine")
    assert caught.value.hint == "write machine.network, and where ranks run host=machine.host"


def test_programs_of_ranks_ask_too() -> None:
    def program(comm: Any) -> None:
        if comm.rank == 0:
            comm.send(bytes(4000), dest=1)
        elif comm.rank == 1:
            fw.mpi.compute(ns=50_000)
            comm.recv(source=0)

    eager = fw.mpi.run(program, ranks=2, network=fw.Torus(2), host=fw.Host(eager_limit_flits=10**6))
    rendezvous = fw.mpi.run(program, ranks=2, network=fw.Torus(2), host=fw.Host(eager_limit_flits=10))
    assert eager.finish_ns[0] < 50_000 < rendezvous.finish_ns[0]


def test_rank_programs_copy_too() -> None:
    def program(comm: Any) -> None:
        data = np.arange(1000.0)
        if comm.rank == 0:
            comm.Send(data, dest=1)
        else:
            got = np.empty(1000)
            comm.Recv(got, source=0)
            assert (got == data).all()

    net = fw.Torus(2, units=fw.Units(flit_bytes=16, cycle_ns=4))
    times = []
    for rate in ("16 GB/s", "4 GB/s"):
        host = fw.Host(placement=fw.placement.List(terminals=[0, 0]), copy_bytes_per_s=rate)
        times.append(max(fw.mpi.run(program, ranks=2, network=net, host=host).finish_ns))
    # 500 flits.
    assert times == [500, 2000]


def test_tables_of_the_simulator_are_read() -> None:
    net = fw.Torus(2, 2, units=fw.Units(flit_bytes=16, cycle_ns=4))
    table = fw.tune.simulated(
        net, [1024, 4096, 16384], host=fw.Host(send_overhead_ns=400), algorithms=["pairwise_shift"], packet_flits=64
    )
    (found,) = fit(table, "linear_bytes")
    assert found.title == "alltoall, pairwise_shift, simulated, 4 ranks"
    assert found.r_squared > 0.9999 and found.value("t0") > 3 * 400e-9


def test_ranks_that_are_programs_can_be_explained() -> None:
    def ring(comm: Any) -> None:
        rank, ranks = comm.Get_rank(), comm.Get_size()
        for _ in range(3):
            comm.sendrecv(bytes(200), dest=(rank + 1) % ranks, source=(rank - 1) % ranks)

    ran = fw.mpi.run(ring, ranks=4, run=RECORDED)
    explanation = fw.explain(ran)
    assert explanation.causes["cycles"].sum() == ran.result.completion_cycles
    assert "other" not in set(explanation.causes["cause"])
    with pytest.raises(fw.ConfigError, match="told by a program: run it with flitwork mpi simulate --explain"):
        fw.explain(fw.mpi.run(ring, ranks=4))


@pytest.mark.parametrize("application", [commands.mpi, commands.tune])
def test_help_lists_what_each_command_says_of_itself(application: typer.Typer) -> None:
    group: Any = typer.main.get_command(application)
    listed = {name: one for them in group.listed.values() for name, one in them.items()}
    assert len(listed) >= 2 and {one.extra for one in listed.values()} == {"mpi"}
    for name, one in listed.items():
        module, what = one.place.split(".")
        text = inspect.getdoc(getattr(import_module(f"flitwork_mpi.cli.{module}"), what))
        assert text is not None and " ".join(text.split("\n\n")[0].split()) == one.about, name
