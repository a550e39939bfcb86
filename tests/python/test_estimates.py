"""How long something will take, said before and while it runs; and that nothing runs in silence."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import flitwork as fw
import numpy as np
import pytest
from common import Cli, environment
from flitwork.cli import heartbeat, pick
from flitwork.experiment.execute import Status, Watcher
from flitwork.planning.specification import plan_of, simulation

FLITS = fw.Router(vcs=2, buffer_flits=64)
PACKETS = FLITS.replace(switching="virtual_cut_through", hold_switch_until_tail=True)


def estimated(network: fw.Network, work: fw.Workload) -> float:
    """The time that a plan estimates [s]."""
    described = json.loads(plan_of(simulation(network, work)).json)["described"]
    return float(described["estimated_seconds"])


@pytest.mark.parametrize(("router", "message_flits"), [(FLITS, 128), (PACKETS, 1024)], ids=["flits", "packets"])
def test_the_estimated_time_is_near_the_time_that_it_takes(router: fw.Router, message_flits: int) -> None:
    net = fw.Torus(8, 8, router=router)
    work = fw.all_to_all("a2a", message_flits=message_flits, packet_flits=64)
    began = time.process_time()
    fw.simulate(net, work)
    taken = time.process_time() - began
    assert taken / 10 < estimated(net, work) < 10 * taken


def test_a_plan_says_time_and_memory(cli: Cli) -> None:
    said = cli("plan", "a2a", "--size", "4x4").stdout
    assert "MB of memory" in said and "of one core (flit kernel)" in said
    found = json.loads(cli("plan", "a2a", "--size", "4x4", "--json").stdout)["described"]
    assert found["kernel"] == "flit" and found["estimated_seconds"] > 0


def plan_of_an_all_to_all(cli: Cli, size: str) -> tuple[float, dict[str, float]]:
    began = time.monotonic()
    settings = ("operation=all_to_all", "algorithm=pairwise_shift")
    done = cli(
        "plan", "collective", "--size", size, *(f"--set={one}" for one in settings), "--message-flits", 1, "--json"
    )
    assert done.returncode == 0, done.stderr
    return time.monotonic() - began, json.loads(done.stdout)["described"]


def test_an_all_to_all_is_planned_by_a_formula(cli: Cli) -> None:
    _, found = plan_of_an_all_to_all(cli, "32x32")
    # 1,024 ranks send 1,023 messages of a flit over 17 routers on the average.
    assert found["estimated_work_flit_hops"] == pytest.approx(1024 * 1023 * 17, rel=0.1)


@pytest.mark.slow
def test_a_plan_of_117_649_ranks_takes_seconds(cli: Cli) -> None:
    seconds, found = plan_of_an_all_to_all(cli, "343x343")
    assert seconds < 60 and found["estimated_work_flit_hops"] > 117_649**2


def test_sizes_of_an_all_to_all_may_be_a_file_and_may_be_0(cli: Cli, tmp_path: Path) -> None:
    np.savetxt(tmp_path / "w.csv", np.zeros((16, 16)), delimiter=",", fmt="%d")
    settings = ("operation=all_to_all", "algorithm=birkhoff", "units.flit_bytes=16", "sizes=w.csv")
    done = cli("simulate", "collective", "--size", "4x4", *(f"--set={one}" for one in settings), "--json")
    assert done.returncode == 0, done.stderr
    row = json.loads(done.stdout)
    # A pair with nothing to send exchanges a message of a flit.
    ones = fw.simulate(fw.Torus(4, 4), fw.collective("all_to_all", "birkhoff", message_flits=1))
    assert row["completion_cycles"] == ones.completion_cycles
    twice = cli("simulate", "collective", "--size", "4x4", *(f"--set={one}" for one in settings), "--set=file=w.csv")
    assert twice.returncode == 2 and "once" in twice.stderr
    with pytest.raises(fw.ConfigError, match="above 0"):
        fw.simulate(fw.Torus(2), fw.traffic("matrix", offered_load=0.1, weights=np.zeros((2, 2))))


class Recorder(Watcher):
    """A watcher that says nothing."""


@pytest.mark.parametrize(
    ("work_done", "expected"),
    [(0.0, "about 1 min 38 s left"), (5.0, "about 38 s left"), (99.9, None)],
    ids=["by the plans", "by the first seconds", "soon over"],
)
def test_pick_says_what_is_left(work_done: float, expected: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(pick, "note", said.append)
    announcer = pick._Announcer(Recorder(), 100.0)
    status = Status(8, work=100.0, started=time.monotonic())
    announcer.tick(status)
    assert said == []
    status.started, status.work_done = time.monotonic() - 2.0, work_done
    announcer.tick(status)
    announcer.tick(status)
    assert [line for line in said if expected and expected in line] == said and len(said) == (expected is not None)


def test_a_line_now_and_then_says_that_work_goes_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heartbeat, "LINE_SECONDS", 0.02)
    with heartbeat.alive("planning") as over:
        time.sleep(0.2)
        over()
        lines = capsys.readouterr().err.splitlines()
        time.sleep(0.1)
    assert lines and all(line.startswith("planning: ") for line in lines)
    assert len(capsys.readouterr().err.splitlines()) <= 1


PROGRAM = """
from mpi4py import MPI
comm = MPI.COMM_WORLD
for _ in range(40):
    if comm.rank == 0:
        comm.Send([None, 2**20, MPI.BYTE], 1)
    if comm.rank == 1:
        comm.Recv([None, 2**20, MPI.BYTE], 0)
if comm.rank == 1:
    print("ok")
"""
HURRY = """
import sys
from flitwork.cli import main, progress
progress._LINE_SECONDS = 0.0
sys.argv = ["flitwork", "mpi", "simulate", "-n", "2", "--no-data", "program.py"]
main()
"""


def test_rank_programs_say_how_far_they_are(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", HURRY], cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0 and "[1] ok" in done.stdout, done.stderr
    lines = [line for line in done.stderr.splitlines() if "cycle" in line]
    # No line is taken for one that a rank has printed.
    assert lines and all(line.startswith("simulating: cycle ") for line in lines)
