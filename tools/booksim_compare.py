"""Compares flitwork with a BookSim 2 that you have built, over random configurations of the keys that flitwork accepts.

python tools/booksim_compare.py --booksim ../booksim2/src/booksim                  60 seconds of random configurations
python tools/booksim_compare.py --booksim ... --seed 7 --seconds 600               others, for longer
python tools/booksim_compare.py --booksim ... --idle                               keys without effect: identical output

The variable BOOKSIM may name the program instead. Each configuration runs with several seeds in both simulators. They
agree if their means differ by at most a few standard errors and a small share. A disagreement is tried again with more
seeds before it counts. The exit code is 1 if there are disagreements.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev

from flitwork.base.errors import ConfigError
from flitwork.booksim.config_file import parse
from flitwork.booksim.idle import IDLE
from flitwork.booksim.keys import KEYS, Fate, Key, Type
from flitwork.booksim.mapping import specification
from flitwork.booksim.settings import Settings

Configuration = dict[str, str]

#: What both print: a line of BookSim's last block, and a key of `--json` here with the share by which means may differ.
QUANTITIES = {
    "Packet latency average": ("packet_latency", 0.015),
    "Network latency average": ("network_latency", 0.01),
    "Flit latency average": ("flit_latency", 0.01),
    "Accepted flit rate average": ("accepted_flits", 0.005),
    "Hops average": ("hops", 0.005),
}
#: Keys that make BookSim print or write more, or that only some builds of it know.
PRINTING = ("viewer_trace", "print_activity", "sim_power")
SEEDS, MORE_SEEDS = 3, 9
#: Standard errors by which means may differ; beyond this share between seeds a run is not stationary.
ERRORS, UNSTEADY = 4.0, 0.1
TIMEOUT_S = 120


@dataclass(frozen=True)
class Outcome:
    """What the runs of a configuration have given: a word, or the means of each seed by quantity."""

    word: str
    values: Mapping[str, list[float]]


def draw(rng: random.Random) -> Configuration:
    """A random configuration; BookSim does not abort with most of them."""
    topology = rng.choice(["mesh", "mesh", "torus", "torus", "fattree"])
    k, n = rng.choice(
        {"fattree": [(2, 3), (4, 2), (3, 2)]}.get(topology, [(4, 2), (8, 2), (5, 2), (4, 3), (16, 1), (2, 4)])
    )
    routings = {
        "mesh": ["dor", "dim_order", "xy_yx", "romm", "min_adapt", "valiant"],
        "torus": ["dim_order", "dim_order", "min_adapt"],
        "fattree": ["nca", "anca"],
    }
    vcs = rng.choice([2, 4, 4, 6, 8])
    found: Configuration = {
        "topology": topology,
        "k": str(k),
        "n": str(n),
        "routing_function": rng.choice(routings[topology]),
        "num_vcs": str(vcs),
        "vc_buf_size": str(rng.choice([2, 4, 8, 16])),
        "vc_allocator": draw_allocator(rng),
        "sw_allocator": draw_allocator(rng),
        "packet_size": rng.choice(["1", "1", "2", "5", "8", "{{1,5}}", "{{2,4,9}}"]),
        "injection_rate": f"{rng.uniform(0.01, 0.45):.3f}",
        "injection_rate_uses_flits": str(rng.choice([1, 2, -1])),
        "traffic": rng.choice(traffic(k, n)),
    }
    for key in (
        "speculative",
        "wait_for_tail_credit",
        "vc_busy_when_full",
        "hold_switch_for_packet",
        "use_noc_latency",
    ):
        if rng.random() < 0.4:
            found[key] = str(rng.choice([-1, 0, 1, 1, 2]))
    some = {
        "routing_delay": ["0", "2", "3"],
        "st_prepare_delay": ["1"],
        "st_final_delay": ["2"],
        "credit_delay": ["-1", "1", "3"],
        "input_speedup": ["2", "3"],
        "output_speedup": ["2", "3"],
        "injection_process": ["on_off", "on_off({0.05,0.2})"],
        "spec_check_elig": ["0", "2"],
        "buf_size": [str(vcs * 3), str(vcs * 4 + 1)],
        "buffer_policy": ["shared"],
        "private_buf_size": ["1", "2", "-1"],
    }
    return found | {key: rng.choice(values) for key, values in some.items() if rng.random() < 0.15}


def draw_allocator(rng: random.Random) -> str:
    """An allocator that flitwork has."""
    names = ["islip", "islip", "islip(2)", "wavefront", "separable_input_first", "separable_output_first(matrix)"]
    return rng.choice(names)


def traffic(k: int, n: int) -> list[str]:
    """Patterns that a network of so many nodes may have."""
    nodes = k**n
    found = ["uniform", "uniform", "uniform", "tornado", "neighbor", "randperm(3)", "hotspot({{0,1},{3,1}})"]
    if nodes & (nodes - 1) == 0:
        found += ["bitcomp", "bitrev", "shuffle"] + ["transpose"] * (nodes.bit_length() % 2)
    return [*found, "background({{0,2}})"]


def text(configuration: Configuration) -> str:
    """As a file."""
    return "".join(f"{key} = {value};\n" for key, value in configuration.items())


class Compared:
    """Runs configurations in both simulators."""

    def __init__(self, booksim: Path, folder: Path, period: int) -> None:
        self.booksim, self.file, self.period = booksim, folder / "drawn.cfg", period

    def output(self, program: list[str], configuration: Configuration) -> subprocess.CompletedProcess[str] | None:
        """What a program says to a configuration; nothing if that takes too long."""
        self.file.write_text(text(configuration), encoding="utf-8")
        try:
            return subprocess.run([*program, str(self.file)], capture_output=True, text=True, timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return None

    def run(self, name: str, configuration: Configuration, seeds: int) -> Outcome:
        """All seeds in one simulator."""
        measured = {
            **configuration,
            "sample_period": str(self.period),
            "warmup_periods": "2",
            "stopping_thres": "-1.0",
            "acc_stopping_thres": "-1.0",
        }
        values: dict[str, list[float]] = {line: [] for line in QUANTITIES}
        for seed in range(seeds):
            found = getattr(self, name)({**measured, "seed": str(seed + 1)})
            if isinstance(found, str):
                return Outcome(found, {})
            for line, value in found.items():
                values[line].append(value)
        return Outcome("stable", values)

    def theirs(self, configuration: Configuration) -> dict[str, float] | str:
        """The means of BookSim, or a word."""
        done = self.output([str(self.booksim)], configuration)
        if done is None:
            return "too long"
        _, found, block = done.stdout.partition("Overall Traffic Statistics")
        if found:
            return {line: _number(block, line) for line in QUANTITIES}
        return "unstable" if "unstable" in done.stdout else f"aborts: {(done.stderr or done.stdout).strip()[-160:]}"

    def ours(self, configuration: Configuration) -> dict[str, float] | str:
        """The means of flitwork, or a word."""
        done = self.output([sys.executable, "-m", "flitwork", "booksim", "--threads", "1", "--json"], configuration)
        if done is None:
            return "too long"
        if done.returncode not in (0, 1):
            word = "refused" if done.returncode == 2 else "fails"
            return f"{word}: {done.stderr.strip().splitlines()[-1] if done.stderr.strip() else ''}"
        result = json.loads(done.stdout)
        if not result["stable"]:
            return "unstable"
        (of_class,) = result["classes"]
        of_class["hops"] = {"average": of_class["hops"]}
        return {line: of_class[name]["average"] for line, (name, _) in QUANTITIES.items()}


def _number(block: str, line: str) -> float:
    found = re.search(rf"^{line}\s*= ?([-+.\de]+|nan)", block, re.MULTILINE)
    return float(found[1]) if found else float("nan")


def differences(ours: Outcome, theirs: Outcome) -> Iterator[str]:
    """Means that differ by more than chance and a small share explain."""
    for line, (_, share) in QUANTITIES.items():
        a, b = ours.values[line], theirs.values[line]
        error = ((stdev(a) ** 2 + stdev(b) ** 2) / len(a)) ** 0.5
        if not abs(fmean(a) - fmean(b)) <= ERRORS * error + share * fmean(b):
            yield f"{line} = {fmean(a):.5g} here, {fmean(b):.5g} in BookSim ({100 * (fmean(a) / fmean(b) - 1):+.2f} %)"


def unsteady(outcome: Outcome) -> bool:
    """Whether seeds differ so much that means say little: close to saturation."""
    latencies = outcome.values["Packet latency average"]
    return stdev(latencies) > UNSTEADY * fmean(latencies)


def verdict(compared: Compared, configuration: Configuration, seeds: int = SEEDS) -> tuple[str, list[str]]:
    """One word for a configuration, and what differs."""
    ours = compared.run("ours", configuration, seeds)
    if ours.word.startswith("refused"):
        return "refused here", [ours.word]
    theirs = compared.run("theirs", configuration, seeds)
    if theirs.word.startswith(("aborts", "too long")):
        return "BookSim fails", [f"BookSim {theirs.word}; here {ours.word}"]
    if ours.word != theirs.word:
        return "DISAGREE", [f"{ours.word} here, {theirs.word} in BookSim"]
    if ours.word == "unstable":
        return "both unstable", []
    found = list(differences(ours, theirs))
    if not found:
        return "agree", []
    if unsteady(ours) or unsteady(theirs):
        return "not stationary", []
    return verdict(compared, configuration, MORE_SEEDS) if seeds < MORE_SEEDS else ("DISAGREE", found)


def compare(compared: Compared, seed: int, seconds: float) -> int:
    """Draws configurations until the time is over."""
    counts, end = Counter[str](), time.monotonic() + seconds
    for number in range(10**9):
        if time.monotonic() > end:
            break
        configuration = draw(random.Random(f"{seed}/{number}"))
        word, why = verdict(compared, configuration)
        counts[word] += 1
        if why:
            print(f"--- {number}: {word}\n{' '.join(text(configuration).splitlines())}")
            print(*(f"    {line}" for line in why), sep="\n", flush=True)
    print(", ".join(f"{count} {word}" for word, count in counts.most_common()))
    return 1 if counts["DISAGREE"] else 0


def other_values(key: Key) -> list[str]:
    """Values of a key that are not its default."""
    if key.type is Type.TEXT:
        return ["islip"] if key.name == "spec_sw_allocator" else ["other"]
    if key.type in (Type.FLOAT, Type.FLOATS):
        return [str(float(key.default) + 1)]
    return [str(int(key.default) + step) for step in (-1, 1)]


def idle(compared: Compared, seed: int) -> int:
    """Each key that flitwork accepts without effect: with it and without it BookSim's output must be identical."""
    rng, tried, wrong = random.Random(seed), Counter[str](), 0
    silent = [key for key in KEYS.values() if key.fate is Fate.NOTED or key.name in IDLE]
    silent = [key for key in silent if not key.name.startswith("watch_") and not key.name.endswith("_out")]
    for _ in range(4):
        base = {**draw(rng), "sample_period": "100"}
        before = compared.output([str(compared.booksim)], base)
        for key in (key for key in silent if key.name not in PRINTING and key.name not in base):
            for value in other_values(key):
                changed = {**base, key.name: value}
                if before is None or not _is_silent(base, changed):
                    continue
                after = compared.output([str(compared.booksim)], changed)
                tried[key.name] += 1
                if after is None or _results(after.stdout) != _results(before.stdout):
                    wrong += 1
                    print(f"{key.name} = {value} changes BookSim's output: {' '.join(text(base).splitlines())}")
    print(f"{sum(tried.values())} comparisons of {len(tried)} keys, {wrong} differ")
    print("never tried:", ", ".join(key.name for key in silent if not tried[key.name]) or "none")
    return 1 if wrong else 0


def _is_silent(base: Configuration, changed: Configuration) -> bool:
    """Whether flitwork accepts a change and simulates the same."""
    try:
        before, after = (Settings(parse(text(one), "drawn")) for one in (base, changed))
        return specification(before) == specification(after)
    except ConfigError:
        return False


def _results(output: str) -> str:
    """What BookSim prints, without the configuration and times."""
    return re.sub(r"(?s).*END Configuration File[^\n]*|^Total run time.*$", "", output, flags=re.MULTILINE)


def main() -> int:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--booksim", default=os.environ.get("BOOKSIM"), help="program of BookSim 2; default: $BOOKSIM")
    parser.add_argument("--seed", type=int, default=1, help="which configurations are drawn; default: 1")
    parser.add_argument("--seconds", type=float, default=60, help="time for random configurations [s]; default: 60")
    parser.add_argument("--period", type=int, default=2000, help="sample_period of the runs [cycles]; default: 2000")
    parser.add_argument("--idle", action="store_true", help="compare BookSim with itself over the keys without effect")
    options = parser.parse_args()
    if not options.booksim or not Path(options.booksim).is_file():
        parser.error("--booksim: name the program of BookSim 2 that you have built, or set BOOKSIM")
    with tempfile.TemporaryDirectory() as folder:
        compared = Compared(Path(options.booksim), Path(folder), options.period)
        return idle(compared, options.seed) if options.idle else compare(compared, options.seed, options.seconds)


if __name__ == "__main__":
    sys.exit(main())
