"""Other simulators on our cases: CAMINOS where it is installed, BookSim 2 where a binary is named.

All are asked for the same torus, packets, load, virtual channels and buffers, as near as each has them; flit-hops are
switch traversals, ejection included, for all of them: flits delivered in a cycle, times (channels on their way + 1),
times all cycles. Cycles before the network has filled up are counted as if it were full, in their favour.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, NamedTuple


class Took(NamedTuple):
    """Seconds of a run, or what it took a flit-hop in ns."""

    user: float
    elapsed: float


def timed(command: list[str], success: int = 0) -> tuple[str, Took]:
    """Run a program that ends with this exit code: what it printed, and its seconds."""
    began = time.perf_counter()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(command, stdout=out, stderr=err)
        _, status, usage = os.wait4(process.pid, 0)
        elapsed = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        text = out.read().decode(errors="replace")
        if process.returncode != success:
            sys.exit(f"{' '.join(command)} failed ({process.returncode}):\n{text[-500:]}{err.read().decode()[-1000:]}")
    return text, Took(usage.ru_utime, elapsed)


def available_memory() -> int | None:
    """Memory that can be had [bytes]; None where the system does not tell."""
    try:
        found = re.search(r"MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text(encoding="ascii"))
    except OSError:
        return None
    return int(found[1]) * 1024 if found else None


def number(text: str, key: str) -> float:
    """The number behind `key:` in a results file of CAMINOS."""
    found = re.search(rf"\b{key}:\s*([\d.]+)", text)
    return float(found[1]) if found else sys.exit(f"its results have no {key}")


class Other(ABC):
    """Another simulator."""

    name: str

    @abstractmethod
    def nanoseconds(self, spec: dict[str, Any], folder: Path) -> Took:
        """Time per flit-hop for one run of a case of uniform traffic on a square torus."""

    def per_flit_hop(self, seconds: Took, spec: dict[str, Any], accepted: float, routers: float, cycles: float) -> Took:
        """The same from what a run says of itself: accepted load, routers on a packet's way, cycles."""
        load, terminals = spec["workload"]["offered_load"], math.prod(spec["network"]["topology"]["size"])
        if accepted < 0.9 * load:
            sys.exit(f"{self.name} accepts {accepted} of {load}: it is saturated or in deadlock, no comparison")
        flit_hops = accepted * terminals * routers * cycles
        return Took(seconds.user * 1e9 / flit_hops, seconds.elapsed * 1e9 / flit_hops)


def measured_cycles(spec: dict[str, Any]) -> int:
    """About a million flit-hops, in at least 1,500 cycles."""
    k = spec["network"]["topology"]["size"][0]
    return max(1500, int(1e6 / (spec["workload"]["offered_load"] * k * k * (k / 2 + 1))))


class Caminos(Other):
    """CAMINOS: dimension order with the bubble condition, which is its way to avoid deadlock on a torus.

    The bubble needs room for two packets, so its buffers have 32 flits where ours have 16; packets move cut-through.
    Without the bubble it takes 16-flit buffers and as much time, but may deadlock. Its router has output buffers.
    """

    name = "CAMINOS"
    CONFIGURATION = """Configuration {
  random_seed: 1, warmup: 500, measured: %(measured)d,
  topology: Torus { sides: [%(k)d, %(k)d], servers_per_router: 1 },
  traffic: HomogeneousTraffic {
    pattern: Uniform, servers: %(servers)d, load: %(load)s, message_size: %(flits)d
  },
  maximum_packet_size: %(flits)d,
  router: Basic {
    virtual_channels: %(vcs)d, virtual_channel_policies: [EnforceFlowControl, Random], delay: 0,
    buffer_size: %(buffer)d, bubble: true, flit_size: %(flits)d, intransit_priority: false,
    allow_request_busy_port: true, output_prioritize_lowest_label: false, output_buffer_size: %(buffer)d
  },
  routing: DOR { order: [0, 1] },
  link_classes: [LinkClass { delay: 1 }, LinkClass { delay: 1 }, LinkClass { delay: 1 }, LinkClass { delay: 1 }]
}
"""

    def __init__(self, program: str) -> None:
        self.program = program

    def nanoseconds(self, spec: dict[str, Any], folder: Path) -> Took:
        """One run: about a second on the 8x8 torus."""
        k = spec["network"]["topology"]["size"][0]
        flits, load = spec["workload"]["packet_flits"], spec["workload"]["offered_load"]
        router = spec["network"]["router"]
        values = {"k": k, "servers": k * k, "load": load, "flits": flits, "measured": measured_cycles(spec)}
        values |= {"vcs": router["vcs"], "buffer": max(router["buffer_flits"], 2 * flits)}
        file, results = folder / "caminos.cfg", folder / "caminos.results"
        file.write_text(self.CONFIGURATION % values, encoding="utf-8")
        _, seconds = timed([self.program, str(file), f"--results={results}"])
        text = results.read_text(encoding="utf-8")
        accepted, hops, cycles = (number(text, key) for key in ("accepted_load", "average_packet_hops", "cycle"))
        return self.per_flit_hop(seconds, spec, accepted, hops + 1, cycles)


class BookSim(Other):
    """BookSim 2 with network, pipeline and allocators of the case, as `docs/validation.md` has them side by side."""

    name = "BookSim"
    CONFIGURATION = """topology = torus; k = %(k)d; n = 2; routing_function = dim_order; use_noc_latency = 0;
num_vcs = %(vcs)d; vc_buf_size = %(buffer_flits)d; vc_allocator = islip; sw_allocator = islip;
routing_delay = %(routing_delay_cycles)d; vc_alloc_delay = %(vc_alloc_delay_cycles)d;
sw_alloc_delay = %(sw_alloc_delay_cycles)d; st_final_delay = %(st_delay_cycles)d; credit_delay = 0;
traffic = uniform; packet_size = %(flits)d; injection_rate = %(load)f; injection_rate_uses_flits = 1; seed = 1;
sim_type = throughput; warmup_periods = 1; sample_period = %(period)d; max_samples = 4;
stopping_thres = -1.0; acc_stopping_thres = -1.0;
"""
    #: It ends so when all went well, and with 0 when a run was unstable.
    SUCCESS = 255

    def __init__(self, program: str) -> None:
        self.program = program

    def nanoseconds(self, spec: dict[str, Any], folder: Path) -> Took:
        """One run of four periods, the first of them not measured."""
        workload = spec["workload"]
        values = {"k": spec["network"]["topology"]["size"][0], **spec["network"]["router"]}
        values |= {"flits": workload["packet_flits"], "load": workload["offered_load"]}
        values |= {"period": -(-measured_cycles(spec) // 4)}
        file = folder / "booksim.cfg"
        file.write_text(self.CONFIGURATION % values, encoding="utf-8")
        text, seconds = timed([self.program, str(file)], self.SUCCESS)
        patterns = (
            r"Accepted flit rate average = ([\d.]+) \(",
            r"Hops average = ([\d.]+) ",
            r"Time taken is (\d+) cycles",
        )
        accepted, routers, cycles = (self._last(pattern, text) for pattern in patterns)
        return self.per_flit_hop(seconds, spec, accepted, routers, cycles)

    def _last(self, pattern: str, text: str) -> float:
        found = re.findall(pattern, text)
        return float(found[-1]) if found else sys.exit(f"BookSim did not print {pattern}")


def installed(args: argparse.Namespace) -> list[Other]:
    """What there is to compare with."""
    found: list[Other] = []
    caminos = shutil.which("caminos")
    if args.no_caminos:
        pass
    elif caminos:
        found.append(Caminos(caminos))
    else:
        print("CAMINOS is not installed (cargo install --locked caminos): no comparison")
    if not args.booksim:
        print("no binary of BookSim 2 is named (--booksim PATH, or BOOKSIM): no comparison")
    elif program := shutil.which(args.booksim):
        found.append(BookSim(program))
    else:
        sys.exit(f"--booksim {args.booksim}: expected a program that can be run (build it with make in BookSim's src)")
    return found
