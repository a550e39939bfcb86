"""Whole runs against limits: `make bench`, or `python benches/limits.py --help`. Needs the installed package.

Each case runs in a process of its own and says what it found and how long it took: user CPU time of what is named
on one core, imports left out, but for what a second core is meant to help. A wrong answer fails, and so does a limit
that is missed. A busy machine makes user time longer, too (caches and hyper-threads are shared), so limits are to be
judged where nothing else runs.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__)
#: Operations of the GOAL program that is read.
GOAL_RANKS, GOAL_ROUNDS = 1000, 200


def user_seconds() -> float:
    """User CPU time of this process so far [s]."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What it returns, and its user CPU time [s]."""
    before = user_seconds()
    found = work()
    return found, user_seconds() - before


def exchange(algorithm: str) -> tuple[Any, float]:
    """An all-to-all of 1 KiB among the 1,024 ranks of the machine of Shibamura et al. 2012."""
    import flitwork as fw

    machine = fw.machines.nsim((32, 32), pipeline="at_front", classes="entered")
    work = fw.collective("all_to_all", algorithm, message_bytes=1024)
    done, seconds = timed(lambda: fw.simulate(machine.network, work, host=machine.host))
    return [done.digest, done.completion_cycles, done.kernel], seconds


def servers() -> tuple[Any, float]:
    """The ring of 24 servers of 8 ranks at one switch: messages of 1 MiB in 512 packets of 16 flits."""
    import flitwork as fw

    router = fw.Router(vcs=1, buffer_flits=256, switching="virtual_cut_through", hold_switch_until_tail=True)
    service = fw.Service(order="round_robin", queue_pairs="peer", message_overhead_cycles=1664, start_jitter_cycles=128)
    switch = fw.Network(
        "crossbar", terminals=24, router=router, nic=fw.Nic(service=service), units=fw.Units(flit_bytes=128)
    )
    work = fw.collective("all_to_all", "pairwise_shift", message_bytes=1 << 20, packet_flits=16)
    host = fw.Host(ranks_per_terminal=8, copy_flits_per_cycle=2)
    done, seconds = timed(lambda: fw.simulate(switch, work, host=host))
    return [done.digest, done.completion_cycles, done.kernel], seconds


def kernels(size: int, rounds: int) -> tuple[Any, float]:
    """How many times as long as the packet kernel the flit kernel takes for an all-to-all in packets of 100 flits.

    Short runs take turns for some rounds: of each kernel the fastest counts.
    """
    import flitwork as fw

    router = fw.Router(vcs=2, buffer_flits=200, switching="virtual_cut_through", hold_switch_until_tail=True)
    digests, seconds = set(), {"packet": math.inf, "flit": math.inf}
    for kernel in list(seconds) * rounds:
        run = fw.Run(kernel=kernel)
        work = fw.all_to_all("a2a", message_flits=100)
        done, took = timed(lambda r=run, w=work: fw.simulate(fw.Torus(size, size, router=router), w, run=r))
        digests.add(done.digest)
        seconds[kernel] = min(seconds[kernel], took)
    return [min(digests), len(digests) == 1], seconds["flit"] / seconds["packet"]


def goal() -> tuple[Any, float]:
    """A GOAL program of a million operations is read: rounds of computations, a send and a receive."""
    import flitwork as fw

    lines = [f"num_ranks {GOAL_RANKS}"]
    draw = random.Random(1)
    shifts = [draw.randrange(1, GOAL_RANKS) for _ in range(GOAL_ROUNDS)]
    for rank in range(GOAL_RANKS):
        lines.append(f"rank {rank} {{")
        for number, shift in enumerate(shifts):
            to, source = (rank + shift) % GOAL_RANKS, (rank - shift) % GOAL_RANKS
            lines += [
                f"c{number}: calc {100 + number}",
                f"s{number}: send 1024b to {to} tag {number}",
                f"r{number}: recv 1024b from {source} tag {number}",
                f"d{number}: calc 5",
                f"e{number}: calc 7",
                f"s{number} requires c{number}",
                f"e{number} requires d{number}",
            ]
        lines.append("}")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "million.goal"
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        read, seconds = timed(lambda: fw.read_goal(file))
    return [read.operations, read.messages], seconds


def sendrecv(calls: int) -> tuple[Any, float]:
    """Microseconds for each of so many Sendrecv on each of 1,024 ranks, the simulation of its messages included."""
    import flitwork as fw
    import numpy as np

    def ring(comm: Any) -> None:
        mine, room = np.zeros(1), np.empty(1)
        right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
        for _ in range(calls):
            comm.Sendrecv(mine, right, recvbuf=room, source=left)

    done, seconds = timed(lambda: fw.mpi.run(ring, ranks=1024, network=fw.Torus(32, 32)))
    return [done.messages, done.result.digest], seconds / (1024 * calls) * 1e6


def recording(rounds: int) -> tuple[Any, float]:
    """How many times as long a run takes when its packets go to a file.

    By the time that passes, on two cores: a thread writes while the run goes on. Both take turns for some rounds:
    of each the fastest counts. 1.08 is the goal, which a busy host misses more often than not: docs/performance.md.
    """
    import flitwork as fw

    network = fw.Torus(32, 32, vcs=8, buffer_flits=16)
    work = fw.uniform(offered_load=0.113, packet_flits=1)
    seconds, found = {False: math.inf, True: math.inf}, set()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "packets.parquet"
        for recorded in [False, True] * rounds:
            to, began = file if recorded else None, time.perf_counter()
            done = fw.simulate(network, work, warmup_cycles=1000, measurement_cycles=20_000, packets_file=to)
            seconds[recorded] = min(seconds[recorded], time.perf_counter() - began)
            found.add(done.digest)
        rows = len(fw.read_parquet(file))
    return [sorted(found), rows], seconds[True] / seconds[False]


@dataclass(frozen=True)
class Case:
    """What is run, what it must find, and the limit of its number."""

    name: str
    work: Callable[[], tuple[Any, float]]
    answer: Any
    limit: float
    unit: str = "s"
    at_least: bool = False
    quick: bool = False

    def verdict(self, answer: Any, number: float) -> tuple[bool, str]:
        """Whether it passed, and why not."""
        if answer != self.answer:
            return False, f"WRONG RESULT: {answer}, not {self.answer}"
        fine = number >= self.limit if self.at_least else number <= self.limit
        sign = ">=" if self.at_least else "<="
        return fine, f"{sign} {self.limit:g} {self.unit}: {'reached' if fine else 'MISSED'}"


CASES = (
    Case(
        "1,024 ranks, 1 KiB, pairwise_xor", lambda: exchange("pairwise_xor"), ["b43fd4b96975da14", 838124, "packet"], 10
    ),
    Case(
        "1,024 ranks, 1 KiB, pairwise_shift",
        lambda: exchange("pairwise_shift"),
        ["2c612f06513b8746", 1046292, "packet"],
        10,
    ),
    Case(
        "1,024 ranks, 1 KiB, simple_spread",
        lambda: exchange("simple_spread"),
        ["88a8a691d2813684", 833890, "packet"],
        10,
    ),
    Case("24 servers of 8 ranks, 1 MiB, ring", servers, ["19ac6db7e22b84aa", 14521597, "packet"], 60),
    Case(
        "packet before flit kernel, a2a 16x16",
        lambda: kernels(16, rounds=5),
        ["6c8ba2bacd532b37", True],
        12,
        "times",
        True,
    ),
    Case(
        "packet kernel before flit kernel, a2a 32x32",
        lambda: kernels(32, rounds=1),
        ["5f609dd275aab923", True],
        12,
        "times",
        True,
    ),
    Case("a million operations of GOAL read", goal, [1000000, 200000], 3, quick=True),
    Case("200 Sendrecv on 1,024 ranks", lambda: sendrecv(200), [204800, "4d24484225a6ac37"], 30, "us", quick=True),
    Case("1,000 Sendrecv on 1,024 ranks", lambda: sendrecv(1000), [1024000, "b5878f5d6ab71558"], 30, "us"),
    Case("2.4 million packets to a file", lambda: recording(7), [["cda70096f11c83f1"], 2431310], 1.2, "times"),
)


def main() -> int:
    """Runs the cases that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="only the cases marked quick")
    parser.add_argument("--only", metavar="TEXT", default="", help="only cases with TEXT in their name")
    parser.add_argument("--case", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.case is not None:
        print(json.dumps(CASES[args.case].work()))
        return 0
    right = True
    for number, case in enumerate(CASES):
        if args.only not in case.name or (args.quick and not case.quick):
            continue
        done = subprocess.run([sys.executable, HERE, "--case", str(number)], stdout=subprocess.PIPE, text=True)
        if done.returncode:
            fine, text = False, "FAILED"
        else:
            answer, taken = json.loads(done.stdout)
            fine, text = case.verdict(answer, taken)
            text = f"{taken:.2f} {case.unit}, {text}"
        print(f"{case.name}: {text}", flush=True)
        right &= fine
    print("all limits were reached" if right else "WRONG RESULTS, OR LIMITS MISSED: see above")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
