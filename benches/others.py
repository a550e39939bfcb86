"""Other simulators on our cases: CAMINOS where it is installed.

All are asked for the same torus, packets, load, virtual channels and buffers, as near as each has them; flit-hops are
switch traversals, ejection included, for all of them: flits delivered in a cycle, times (channels on their way + 1),
times all cycles. Cycles before the network has filled up are counted as if it were full, in their favour.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any


def timed(command: list[str]) -> tuple[str, float]:
    """Run a program: what it printed, and its user CPU seconds."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(command, stdout=out, stderr=err)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        text = out.read().decode(errors="replace")
        if process.returncode:
            sys.exit(f"{' '.join(command)} failed ({process.returncode}):\n{text[-500:]}{err.read().decode()[-1000:]}")
    return text, usage.ru_utime


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
    def nanoseconds(self, spec: dict[str, Any], folder: Path) -> float:
        """User CPU time per flit-hop for one run of a case of uniform traffic on a square torus."""


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

    def nanoseconds(self, spec: dict[str, Any], folder: Path) -> float:
        """One run: about a second on the 8x8 torus."""
        k = spec["network"]["topology"]["size"][0]
        flits, load = spec["workload"]["packet_flits"], spec["workload"]["offered_load"]
        router = spec["network"]["router"]
        # About a million flit-hops, in at least 1,500 cycles.
        measured = max(1500, int(1e6 / (load * k * k * (k / 2 + 1))))
        values = {"k": k, "servers": k * k, "load": load, "flits": flits, "measured": measured}
        values |= {"vcs": router["vcs"], "buffer": max(router["buffer_flits"], 2 * flits)}
        file, results = folder / "caminos.cfg", folder / "caminos.results"
        file.write_text(self.CONFIGURATION % values, encoding="utf-8")
        _, seconds = timed([self.program, str(file), f"--results={results}"])
        text = results.read_text(encoding="utf-8")
        accepted, hops, cycles = (number(text, key) for key in ("accepted_load", "average_packet_hops", "cycle"))
        if accepted < 0.9 * load:
            sys.exit(f"CAMINOS accepts {accepted} of {load}: it is saturated or in deadlock, no comparison")
        return seconds * 1e9 / (accepted * k * k * (hops + 1) * cycles)


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
    return found
