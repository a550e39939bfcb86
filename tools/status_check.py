"""Checks the status of runs on random networks: below saturation ``complete``, above it never.

    python tools/status_check.py --runs 1000 --seed 1

Each case is a random network, pattern, process and mix of packet lengths. Its saturation load is found first, by
bisection with long runs, from how long packets of each sender wait: the status is not used. Then runs with random
windows, or with ``steady``, follow at random loads up to 90 % of it, and as many at 110 %. A network may carry a load
for tens of thousands of cycles, or until a burst comes, then collapse and never recover. So there are two saturation
loads: for the runs below what it carries for long, for those above what it carries for a short time without bursts.
Every run whose status is wrong is shown with what is needed to repeat it. The exit code is 1 where more than 2 of 1,000
runs below saturation are not ``complete``, or where a run above it is.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import flitwork as fw
import numpy as np

#: Of the runs below saturation at most this share may be something else than ``complete``.
ALLOWED = 0.002
#: Runs of the search for the saturation loads, a long one and a short one [cycles], and its steps.
LONG_CYCLES, SHORT_CYCLES = 40_000, 12_000
STEPS = 7
#: Share of the time that packets wait in a network that carries the load.
WAITS = 0.04


@dataclass
class Case:
    """A network and traffic without a load."""

    seed: int
    network: fw.Network = field(init=False)
    traffic: dict[str, Any] = field(init=False)
    pattern: tuple[str, dict[str, Any]] = field(init=False)

    def __post_init__(self) -> None:
        draw = random.Random(self.seed)
        sizes = [(4, 4), (5, 5), (6, 6), (8, 4), (3, 3, 3), (16,)]
        make, size = draw.choice([fw.Mesh, fw.Torus]), draw.choice(sizes)
        router = fw.Router(vcs=draw.choice([2, 4, 8]), buffer_flits=draw.choice([4, 8, 16]))
        self.network = make(*size, router=router)
        terminals = int(np.prod(size))
        patterns = ["uniform", "uniform", "tornado", "bit_complement", "permutation", "selection", "hot", "transpose"]
        self.pattern = _pattern(draw.choice(patterns), size, terminals, draw)
        lengths: list[Any] = [1, 2, 4, 8, 16, {1: 0.5, 8: 0.5}]
        burst = draw.choice([20, 50, 200])
        on_off = {"kind": "on_off", "mean_on_cycles": burst, "mean_off_cycles": burst}
        process = "bernoulli" if draw.random() < 0.7 else on_off
        self.traffic = {"packet_flits": draw.choice(lengths), "process": process}

    def at(self, load: float, **process: Any) -> fw.Workload:
        """The traffic at a load, perhaps with another process."""
        name, parameters = self.pattern
        return fw.traffic(name, offered_load=load, **parameters, **self.traffic | process)

    def carries(self, load: float, cycles: int = LONG_CYCLES, **process: Any) -> bool:
        """Whether packets wait for a small share of the time only, at each sender, in the last half of a run.

        Above saturation that share is constant.
        """
        try:
            found = fw.simulate(
                self.network,
                self.at(load, **process),
                warmup_cycles=0,
                measurement_cycles=cycles,
                max_cycles=cycles,
                packets=True,
            )
        except fw.ConfigError:
            return False  # A terminal cannot create as much.
        packets = found.packets[["src", "created_cycle", "injected_cycle"]].dropna().astype(int)
        late = packets[packets["injected_cycle"] > cycles // 2]
        waits = (late["injected_cycle"] - late["created_cycle"]).groupby(late["src"]).mean()
        return bool(waits.max() < WAITS * 0.75 * cycles)

    def saturation(self, **how: Any) -> float:
        """The load up to which a run delivers what each terminal sends, by bisection [flits/cycle/terminal]."""
        high: float = min(1.2 * fw.bound(self.network, self.at(0.01)).saturation_load, 1.0)
        low = 0.0
        for _ in range(STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if self.carries(middle, **how) else (low, middle)
        return (low + high) / 2

    def limits(self) -> tuple[float, float]:
        """The load that the network carries for long, and the most that it carries for a short time without bursts."""
        long = self.saturation()
        return long, max(long, self.saturation(process="bernoulli", cycles=SHORT_CYCLES))

    def __str__(self) -> str:
        spec = self.network.spec
        return f"Case({self.seed}): {spec['topology']} {spec['router']} {str(self.pattern)[:60]} {self.traffic}"


def _pattern(name: str, size: tuple[int, ...], terminals: int, draw: random.Random) -> tuple[str, dict[str, Any]]:
    if name == "permutation":
        return name, {"destinations": draw.sample(range(terminals), terminals)}
    if name == "selection":
        weights = np.zeros((terminals, terminals))
        weights[range(terminals), [draw.randrange(terminals) for _ in range(terminals)]] = 1
        return "matrix", {"weights": weights}
    if name == "hot":
        weights = np.ones((terminals, terminals))
        weights[:, draw.randrange(terminals)] += draw.choice([1, 3, 10])
        return "matrix", {"weights": weights}
    square = len(set(size)) == 1 and len(size) == 2
    power = terminals & (terminals - 1) == 0
    fits = {"transpose": square, "bit_complement": power}
    return (name if fits.get(name, True) else "uniform"), {}


def _how(draw: random.Random) -> dict[str, Any]:
    """How long a run is measured."""
    if draw.random() < 0.2:
        return {"steady": {}}
    if draw.random() < 0.5:
        return {}
    return {"warmup_cycles": draw.choice([3_000, 5_000, 10_000]), "measurement_cycles": draw.choice([3_000, 10_000])}


def run_case(
    case: Case, runs: int, found: Counter[tuple[str, str]], limits: tuple[float, float] | None = None, show: bool = True
) -> list[str]:
    """Runs below and above saturation, which is found if it is not given; what was wrong, in words."""
    draw, wrong = random.Random(f"runs of {case.seed}"), []
    carried, most = limits or case.limits()
    for i in range(2 * runs):
        side = "below" if i % 2 else "above"
        load = carried * (draw.uniform(0.05, 0.9) if i % 4 == 1 else 0.9) if side == "below" else 1.1 * most
        how, seed = _how(draw), draw.randrange(1 << 31)
        try:
            result = fw.simulate(case.network, case.at(load), seed=seed, **how)
        except fw.ConfigError:
            continue  # No terminal can create so much.
        found[side, result.status] += 1
        found[side, "longer"] += result.completion_cycles > 1.5 * (result.warmup_cycles + result.measurement_cycles)
        if (result.status == "complete") != (side == "below"):
            latency = result.mean_packet_latency_cycles
            of = carried if side == "below" else most
            line = f"{side} {result.status}: load {load:.4f} of {of:.4f}, seed {seed}, {how}, {latency:.1f}"
            wrong.append(f"{case}\n    {line}, accepted {result.accepted_load:.4f}, ended {result.completion_cycles}")
            if show:
                print(wrong[-1], flush=True)
    return wrong


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100, help="Runs below saturation, and as many above. Default: 100.")
    parser.add_argument("--per-case", type=int, default=10, help="Runs of each side in a case. Default: 10.")
    parser.add_argument("--seed", type=int, default=1, help="Number of the first case. Default: 1.")
    options = parser.parse_args()
    found: Counter[tuple[str, str]] = Counter()
    began = time.process_time()
    for number in range(options.seed, options.seed + -(-options.runs // options.per_case)):
        run_case(Case(number), options.per_case, found)
    below = sum(n for (side, status), n in found.items() if side == "below" and status != "longer")
    wrong = below - found["below", "complete"]
    for (side, status), count in sorted(found.items()):
        print(f"{side:6} {status:14} {count:6}")
    print(f"{time.process_time() - began:.1f} s of CPU")
    return int(wrong > ALLOWED * max(below, 1 / ALLOWED) or found["above", "complete"] > 0)


if __name__ == "__main__":
    sys.exit(main())
