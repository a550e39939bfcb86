"""Verified speed measurements: `make bench`, or `python benches/run.py --help`.

Every case of `cases.toml` is run with the release build. A digest or a number of flit-hops that is not the expected
one is a failure, however fast the run was. So is a missed target for instructions, which do not depend on other work
on the machine (where callgrind is there to count them). A missed target for time is not: a busy machine must not break
anybody's build.

Time is user CPU time of whole processes (set-up included), the median of several. Instructions are counted by
callgrind, as the difference of two run lengths, so that set-up does not count. So are misses of a cache that is the
same on every machine: 32 kB of data in the first level, 1 MB behind it, lines of 64 bytes. Needs only the standard
library (and tomli on Python 3.10).
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import others

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).parent
ROOT = HERE.parent
CASES = HERE / "cases.toml"
HEADER = (
    "case",
    "M flit-hops",
    "M flit-hops/s",
    "ns/flit-hop",
    "instr/flit-hop",
    "misses of 32 kB",
    "misses of 1 MB",
    "peak MB",
    "B/router",
    "targets",
)
#: Size, ways and line [bytes] of the caches that callgrind simulates.
CACHES = ("--I1=32768,8,64", "--D1=32768,8,64", "--LL=1048576,16,64")
#: What callgrind says that it has counted.
COUNTED = {
    "instructions": r"I\s+refs:\s+([\d,]+)",
    "d1_misses": r"D1\s+misses:\s+([\d,]+)",
    "ll_misses": r"LLd misses:\s+([\d,]+)",
    "wrong_guesses": r"Mispredicts:\s+([\d,]+)",
}


@dataclass(frozen=True)
class Counts:
    """What callgrind counts, per flit-hop: instructions, data misses of a cache of 32 kB and of one of 1 MB, and
    branches that were guessed wrong."""

    instructions: float
    d1_misses: float
    ll_misses: float
    wrong_guesses: float


def build(example: str) -> Path:
    """Build a program of the crate's examples, and say where it is."""
    command = ["cargo", "build", "--release", "-p", "flitwork", "--example", example, "--message-format=json"]
    built = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if built.returncode != 0:
        sys.exit("the release build failed")
    messages = (json.loads(line) for line in built.stdout.splitlines() if line.startswith("{"))
    return Path(next(m["executable"] for m in messages if m.get("executable")))


def run_case(program: Path, spec: dict[str, Any], folder: Path) -> tuple[dict[str, Any], others.Took]:
    """Run a specification once: its report, and its seconds."""
    file = folder / "spec.json"
    file.write_text(json.dumps(spec), encoding="utf-8")
    text, seconds = others.timed([str(program), str(file)])
    return json.loads(text), seconds


@dataclass
class Target:
    """One number to reach, and what was measured."""

    text: str
    reached: bool
    fails: bool = False
    """Whether missing it fails the run: what is counted, not timed."""

    def __str__(self) -> str:
        return f"{self.text}: {'reached' if self.reached else 'MISSED'}"


@dataclass(frozen=True)
class Measured:
    """A case that was run: what it took a flit-hop, and the targets; or why it has no numbers."""

    name: str
    remark: str = ""
    right: bool = True
    """Whether the results were the expected ones, with no more instructions than allowed."""
    flit_hops: int = 0
    nanoseconds: float = 0.0
    counts: Counts | None = None
    peak_bytes: int | None = None
    bytes_per_router: float | None = None
    targets: tuple[Target, ...] = ()
    packet_flits: int | None = None
    """Flits of a packet of traffic."""

    def row(self) -> list[str]:
        """Its row of the table."""
        if self.remark:
            return [self.name, *["-"] * (len(HEADER) - 2), self.remark]
        counts, peak, router = self.counts, self.peak_bytes, self.bytes_per_router
        return [
            self.name,
            f"{self.flit_hops / 1e6:.1f}",
            f"{1e3 / self.nanoseconds:.1f}",
            f"{self.nanoseconds:.1f}",
            "-" if counts is None else f"{counts.instructions:.0f}",
            "-" if counts is None else f"{counts.d1_misses:.1f}",
            "-" if counts is None else f"{counts.ll_misses:.2f}",
            "-" if peak is None else f"{peak / 1e6:.0f}",
            "-" if router is None else f"{router:.0f}",
            ", ".join(map(str, self.targets)) or "-",
        ]

    def numbers(self) -> dict[str, Any]:
        """The same for `--json`."""
        counts = {} if self.counts is None else {key: round(value, 4) for key, value in asdict(self.counts).items()}
        case = {"case": self.name, "packet_flits": self.packet_flits, "flit_hops": self.flit_hops}
        return {**case, "ns": round(self.nanoseconds, 3), **counts}


def verdicts(
    case: dict[str, Any], rate: float, counts: Counts | None, ratio: float | None, router: float | None
) -> list[Target]:
    """Which of a case's targets were reached; those that nothing was measured for are left out."""
    target, found = case.get("target", {}), []
    if "million_flit_hops_per_second" in target:
        least = target["million_flit_hops_per_second"]
        found.append(Target(f">= {least} M/s", rate >= least))
    for name, words in (("instructions", "instr"), ("d1_misses", "misses of 32 kB"), ("ll_misses", "misses of 1 MB")):
        if name in target and counts is not None:
            most, counted = target[name], getattr(counts, name)
            found.append(Target(f"{counted:.3g} <= {most} {words}", counted <= most, fails=True))
    if "instructions_ratio" in target and ratio is not None:
        most = target["instructions_ratio"]
        found.append(Target(f"{ratio:.2f} <= {most} times {case['against']}", ratio <= most, fails=True))
    if "bytes_per_router" in target and router is not None:
        found.append(Target(f"<= {target['bytes_per_router']} B/router", router <= target["bytes_per_router"]))
    return found


def counted(command: list[str], folder: Path) -> tuple[dict[str, int], str]:
    """What callgrind counts of a command, by name; and what the command printed."""
    simulated = ["--cache-sim=yes", "--branch-sim=yes", *CACHES, f"--callgrind-out-file={folder}/callgrind.out"]
    done = subprocess.run(["valgrind", "--tool=callgrind", *simulated, *command], capture_output=True, text=True)
    found = {name: re.search(pattern, done.stderr) for name, pattern in COUNTED.items()}
    if done.returncode != 0 or None in found.values():
        sys.exit(f"callgrind failed on {' '.join(command)}\n{done.stderr[-1000:]}")
    return {name: int(number[1].replace(",", "")) for name, number in found.items() if number}, done.stdout


def counts_per_flit_hop(program: Path, case: dict[str, Any], folder: Path) -> Counts | None:
    """Callgrind on two lengths of the case; what the longer one has more, per flit-hop."""
    if "instructions_at" not in case or shutil.which("valgrind") is None:
        return None
    runs: list[tuple[dict[str, int], int]] = []
    for length in case["instructions_at"]:
        spec = json.loads(json.dumps(case["spec"]))
        if "run" in spec:
            spec["run"] |= {"warmup_cycles": 100, "measurement_cycles": length}
        else:
            spec["workload"]["message_flits"] = length
        file = folder / "short.json"
        file.write_text(json.dumps(spec), encoding="utf-8")
        numbers, printed = counted([str(program), str(file)], folder)
        runs.append((numbers, json.loads(printed)["flit_hops"]))
    (short, h0), (long, h1) = runs
    return Counts(**{name: (long[name] - short[name]) / (h1 - h0) for name in COUNTED})


class Counter:
    """Counts per flit-hop, made once a case; others are compared with some of them."""

    def __init__(self, program: Path, cases: list[dict[str, Any]], folder: Path, on: bool) -> None:
        self.program, self.folder, self.on = program, folder, on
        self.cases = {case["name"]: case for case in cases}
        self.counted: dict[str, Counts | None] = {}

    def of(self, name: str) -> Counts | None:
        """The counts of a case; None if there are none."""
        if name not in self.counted:
            counts = counts_per_flit_hop(self.program, self.cases[name], self.folder) if self.on else None
            self.counted[name] = counts
        return self.counted[name]

    def ratio(self, case: dict[str, Any]) -> float | None:
        """Instructions of a case over those of the one that it is compared with."""
        if "against" not in case:
            return None
        ours, theirs = self.of(case["name"]), self.of(case["against"])
        return None if ours is None or theirs is None else ours.instructions / theirs.instructions


def bytes_per_router(program: Path, spec: dict[str, Any], report: dict[str, Any], folder: Path) -> float | None:
    """Memory beyond that of a handful of routers (code, histograms); open loop, 1,000 routers or more."""
    sizes = spec["network"]["topology"].get("size", [])
    if report["network_bytes"] is None or "run" not in spec or math.prod(sizes) < 1000:
        return None
    small = json.loads(json.dumps(spec))
    small["network"]["topology"]["size"] = [2] * len(sizes)
    small["run"] |= {"warmup_cycles": 10, "measurement_cycles": 10}
    base, _ = run_case(program, small, folder)
    return (report["network_bytes"] - base["network_bytes"]) / math.prod(sizes)


def measure(program: Path, case: dict[str, Any], args: argparse.Namespace, counter: Counter, folder: Path) -> Measured:
    """Run a case as often as asked for and count what it does; what is wrong is printed."""
    name, available = case["name"], others.available_memory()
    if available is not None and available < case.get("needs_bytes", 0):
        free, needed = available / 1e9, case["needs_bytes"] / 1e9
        return Measured(name, f"skipped: needs {needed:.1f} GB, {free:.1f} GB are free")
    seconds = []
    report: dict[str, Any] = {}
    for _ in range(1 if case.get("once") else args.repeat):
        report, took = run_case(program, case["spec"], folder)
        seconds.append(took.user)
        found = (report["digest"], report["flit_hops"])
        if found != (case["digest"], case["flit_hops"]):
            print(f"FAILED {name}: digest and flit_hops are {found}, not {(case['digest'], case['flit_hops'])}")
            return Measured(name, "WRONG RESULT", right=False)
    nanoseconds = statistics.median(seconds) * 1e9 / report["flit_hops"]
    counts = counter.of(name)
    router = bytes_per_router(program, case["spec"], report, folder)
    targets = verdicts(case, 1e3 / nanoseconds, counts, counter.ratio(case), router)
    missed = [target for target in targets if target.fails and not target.reached]
    for target in missed:
        print(f"FAILED {name}: {target}")
    return Measured(
        name,
        right=not missed,
        flit_hops=report["flit_hops"],
        nanoseconds=nanoseconds,
        counts=counts,
        peak_bytes=report["peak_bytes"],
        bytes_per_router=router,
        targets=tuple(targets),
        packet_flits=case["spec"]["workload"].get("packet_flits"),
    )


def compare(
    program: Path, other: others.Other, cases: list[dict[str, Any]], args: argparse.Namespace, folder: Path
) -> list[list[str]]:
    """Ours and theirs in alternation, on the cases that are marked for it.

    By user CPU time on one thread; where a case has `compare_threads`, also by the time that passes on so many of ours
    beside the other's one.
    """
    rows = []
    for case in cases:
        threads = [1, *([case["compare_threads"]] if "compare_threads" in case else [])]
        ours: dict[int, list[float]] = {count: [] for count in threads}
        theirs: dict[int, list[float]] = {count: [] for count in threads}
        for _ in range(args.repeat):
            for count in threads:
                spec = {**case["spec"], "run": {**case["spec"]["run"], "threads": count}}
                report, took = run_case(program, spec, folder)
                if report["digest"] != case["digest"]:
                    sys.exit(f"FAILED {case['name']}: digest is {report['digest']}, not {case['digest']}")
                ours[count].append((took.user if count == 1 else took.elapsed) * 1e9 / report["flit_hops"])
            their = other.nanoseconds(case["spec"], folder)
            for count in threads:
                theirs[count].append(their.user if count == 1 else their.elapsed)
        least = case.get("target", {}).get(other.name.lower())
        for count in threads:
            rows.append(compared(case["name"], other.name, count, (ours[count], theirs[count]), least))
            print("  ".join(rows[-1]), flush=True)
    return rows


def compared(
    name: str, other: str, threads: int, times: tuple[list[float], list[float]], least: float | None
) -> list[str]:
    """A row of the comparison."""
    ours, theirs = times
    ratios = [b / a for a, b in zip(ours, theirs, strict=True)]
    ratio, a, b = (statistics.median(numbers) for numbers in (ratios, ours, theirs))
    spread = f"{ratio:.1f} ({min(ratios):.1f} to {max(ratios):.1f})"
    verdict = "-" if least is None else str(Target(f">= {least}x", ratio >= least))
    by = other if threads == 1 else f"{other}, {threads} threads of ours, time that passes"
    return [name, by, f"{a:.1f}", f"{b:.0f}", spread, verdict]


def saturation(program: Path, folder: Path) -> None:
    """The largest uniform load that is accepted to 97 %, by bisection; `cases.toml` has fractions of it."""
    for k in (8, 32):
        for flits in (1, 8, 16):
            low, high = 0.0, 8 / k
            while high - low > 0.03 / k:
                load = (low + high) / 2
                spec = {
                    "network": {
                        "topology": {"kind": "torus", "size": [k, k]},
                        "router": {"vcs": 8, "buffer_flits": 16},
                    },
                    "workload": {"kind": "uniform", "offered_load": load, "packet_flits": flits},
                    "run": {"warmup_cycles": 3000, "measurement_cycles": 3000, "max_cycles": 12000},
                }
                report, _ = run_case(program, spec, folder)
                fine = report["status"] == "Complete" and report["accepted_load"] >= 0.97 * load
                low, high = (load, high) if fine else (low, load)
            print(f"torus {k}x{k}, {flits}-flit packets: {low:.3f} flits/cycle/terminal", flush=True)


def machine() -> str:
    """The machine in a few words."""
    load = f", load average {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores{load}"


def markdown(header: tuple[str, ...], rows: list[list[str]], last: str = "---") -> str:
    """A table for a page; its last column is words, unless `last` says otherwise."""
    lines = [header, ["---"] + ["---:"] * (len(header) - 2) + [last], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def put_between(file: Path, start: str, end: str, body: str) -> None:
    """Replace what a page has between two markers."""
    page = file.read_text(encoding="utf-8")
    if start not in page or end not in page:
        sys.exit(f"{file} has no lines {start.strip()} and {end}")
    file.write_text(page.split(start)[0] + start + body + end + page.split(end)[1], encoding="utf-8")


def main() -> int:
    """Run the cases that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="only the cases marked quick, in about a minute")
    parser.add_argument("--only", metavar="TEXT", default="", help="only cases with TEXT in their name")
    parser.add_argument(
        "--repeat", type=int, default=3, metavar="N", help="runs of each case (default 3); medians are printed"
    )
    parser.add_argument("--no-instructions", action="store_true", help="leave callgrind out")
    parser.add_argument("--no-caminos", action="store_true", help="leave CAMINOS out, though it is installed")
    parser.add_argument(
        "--booksim",
        metavar="PATH",
        default=os.environ.get("BOOKSIM", ""),
        help="a binary of BookSim 2 to compare with (default: the variable BOOKSIM)",
    )
    parser.add_argument("--saturation", action="store_true", help="find the saturation loads anew, and nothing else")
    parser.add_argument("--write", metavar="PAGE", type=Path, help="put the tables into a page, between its markers")
    parser.add_argument("--json", metavar="FILE", type=Path, help="put the numbers into a file, for roofline.py")
    args = parser.parse_args()

    every = tomllib.loads(CASES.read_text(encoding="utf-8"))["case"]
    cases = [c for c in every if args.only in c["name"] and (c.get("quick") or not args.quick)]
    program = build("bench")
    tables = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if args.saturation:
            saturation(program, folder)
            return 0
        print(machine())
        print("medians of user CPU time; other work on this machine makes times longer, not the instruction counts")
        if shutil.which("valgrind") is None:
            print("valgrind is not installed: no instruction counts")
        print("  ".join(HEADER), flush=True)
        counter = Counter(program, every, folder, not args.no_instructions)
        done: list[Measured] = []
        compared = [c for c in cases if c.get("compare")]
        for case in [c for c in cases if not c.get("last")]:
            done.append(measure(program, case, args, counter, folder))
            print("  ".join(done[-1].row()), flush=True)
        against: list[list[str]] = []
        for other in others.installed(args):
            mine = [case for case in compared if case["compare"] == other.name]
            against += compare(program, other, mine, args, folder)
        for case in [c for c in cases if c.get("last")]:
            done.append(measure(program, case, args, counter, folder))
            print("  ".join(done[-1].row()), flush=True)
        tables.append(markdown(HEADER, [one.row() for one in done]))
        if against:
            head = ("case", "beside", "our ns/flit-hop", "their ns/flit-hop", "ratio", "target")
            tables.append(markdown(head, against))
    if args.json:
        rows = [one.numbers() for one in done if not one.remark]
        args.json.write_text(json.dumps({"machine": machine(), "cases": rows}, indent=1) + "\n", encoding="utf-8")
    if args.write:
        body = "\n".join([f"{machine()}; medians of {args.repeat}.\n", *tables])
        put_between(args.write, "<!-- results -->\n", "<!-- end of results -->", body)
    right = all(one.right for one in done)
    print("all results are right" if right else "WRONG RESULTS, OR TOO MANY INSTRUCTIONS: see FAILED above")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
