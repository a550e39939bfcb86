"""Software times of rank programs: the same as those of the schedule of the same algorithm, cycle by cycle."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import flitwork as fw
import numpy as np
import pytest
from flitwork_mpi.programs import MPI
from test_mpi_scripts import simulate  # noqa: F401  (a fixture)

NSIM = fw.machines.nsim(4, 4)
HOSTS: dict[str, Any] = {
    "nsim": NSIM.host,
    "late": {"start": {"kind": "normal_sigma", "latest_cycles": 3000, "order": "drawn"}, "receive_overhead_cycles": 9},
    "copies": {"send_overhead_cycles": 7, "receive_copy_flits_per_cycle": 0.7, "eager_limit_flits": 64},
    "noise": {
        "receive_overhead_cycles": 400,
        "noise": {"kind": "periodic", "period_cycles": 900, "duration_cycles": 90},
    },
}


def _all_to_all(comm: Any) -> None:
    comm.Alltoall(np.zeros(16 * 1024, "u1"), np.zeros(16 * 1024, "u1"))


def _started(comm: Any) -> None:
    comm.Ialltoall(np.zeros(16 * 1024, "u1"), np.zeros(16 * 1024, "u1")).Wait()


def _allgather(comm: Any) -> None:
    comm.Allgather(np.zeros(1024, "u1"), np.zeros(16 * 1024, "u1"))


def _bcast(comm: Any) -> None:
    comm.Bcast(np.zeros(1024, "u1"))


def _allreduce(comm: Any) -> None:
    comm.Allreduce(np.zeros(1024, "u1"), np.zeros(1024, "u1"))


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize(
    ("program", "operation", "algorithm"),
    [
        (_all_to_all, "all_to_all", "pairwise_xor"),
        (_all_to_all, "all_to_all", "simple_spread"),
        (_all_to_all, "all_to_all", "bruck"),
        (_started, "all_to_all", "pairwise_shift"),
        (_allgather, "allgather", "ring"),
        (_bcast, "broadcast", "binomial"),
        (_allreduce, "allreduce", "recursive_doubling"),
    ],
)
def test_a_program_takes_as_long_as_the_schedule(
    program: Callable[[Any], None], operation: str, algorithm: str, host: str
) -> None:
    work = fw.collective(operation, algorithm=algorithm, message_bytes=1024, packet_flits=64)
    schedule = fw.simulate(NSIM.network, work, host=HOSTS[host], seed=3)
    name = {"all_to_all": "alltoall", "broadcast": "bcast"}.get(operation, operation)
    ranks: dict[str, Any] = {"network": NSIM.network, "host": HOSTS[host], "algorithms": {name: algorithm}}
    found = fw.mpi.run(program, ranks=16, packet_flits=64, seed=3, **ranks)
    assert found.result.digest == schedule.digest
    free = fw.mpi.run(program, ranks=16, packet_flits=64, seed=3, **{**ranks, "host": None})
    assert found.time_ns > free.time_ns


def test_the_clock_shows_what_calls_have_cost() -> None:
    """A send costs 328 ns (200, and 128 of the first packet), a receive 200, once, when it is seen."""

    def program(comm: Any) -> list[int]:
        seen = [MPI.Wtime()]
        if comm.rank == 0:
            sent = [comm.Isend(np.zeros(1), 1) for _ in range(3)]
            seen.append(MPI.Wtime())
            MPI.Request.Waitall(sent)
        if comm.rank == 1:
            got = [comm.Irecv(np.zeros(1), 0) for _ in range(3)]
            fw.mpi.compute(10_000)
            seen.append(MPI.Wtime())
            MPI.Request.Waitany(got)
            seen.append(MPI.Wtime())
            while not MPI.Request.Testall(got):
                pass
            seen.append(MPI.Wtime())
            MPI.Request.Waitall(got)
            seen.append(MPI.Wtime())
        return [round(time * 1e9) for time in seen]

    first, second = fw.mpi.run(program, ranks=2, network=NSIM.network, host=NSIM.host).returns
    assert first == [0, 3 * 328]
    begin = second[1]
    assert second[2:] == [begin + 200, begin + 600, begin + 600]


def test_a_rank_that_starts_late_sees_it_first() -> None:
    host = fw.Host(start=fw.Start(kind="list", cycles=[*range(0, 1600, 100)]))
    found = fw.mpi.run(lambda comm: round(MPI.Wtime() * 1e9), ranks=3, network=NSIM.network, host=host)
    assert found.returns == [0, 400, 800]


def test_whoever_drives_a_simulation_says_that_it_adds_them() -> None:
    with pytest.raises(fw.ConfigError, match=r"none where ranks ask what to do next; fw\.mpi\.run adds them"):
        fw.Simulation(NSIM.network, fw.programs(), host=NSIM.host)
    told = fw.Simulation(NSIM.network, fw.programs(software_times=True), host=NSIM.host)
    assert told.software == ([], 82, 50) and told.copied([100]) == 0


def test_a_file_of_the_command_may_have_them(simulate: Any, tmp_path: Path) -> None:  # noqa: F811
    (tmp_path / "net.toml").write_text(
        "[network]\ntopology = { kind = 'torus', size = [2, 2] }\nunits = { flit_bytes = 16, cycle_ns = 4 }\n"
        "[host]\nsend_overhead_ns = 200\nstart = { kind = 'list', cycles = [0, 250, 0, 0] }\n"
    )
    script = "from mpi4py import MPI\ncomm = MPI.COMM_WORLD\ncomm.isend(1, 0)\nprint(round(MPI.Wtime() * 1e9))\n"
    script += "comm.recv(source=0) if comm.rank == 0 else None\n"
    options = ("--network", str(tmp_path / "net.toml"), "-q", "--unmatched", "ignored")
    done = simulate(script, ranks=4, options=options)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split("\n")) == ["", "[0] 200", "[1] 1200", "[2] 200", "[3] 200"]
