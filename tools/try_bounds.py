"""Run random networks and workloads and check that none beats its limits: python tools/try_bounds.py 20000 --first 1

Each seed draws one case: topology, routing, router, ports, order of service, speed-ups, servers, and a collective, an
all-to-all, a burst, a trace or an open loop on it. Checked of every run: the time is not below any lower bound, no
channel carries more than a flit a cycle in any window, an open loop accepts no more than its limit allows. Prints how
many ran and the smallest time over bound; every failure with its seed. Exit status 1 if there is one.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

import flitwork as fw
import numpy as np
from flitwork import _core
from flitwork.planning.bound import plan

#: What rounding may make of sums.
ROUNDING = 1 + 1e-9
_COLLECTIVES = [(row["operation"], row["name"]) for row in json.loads(_core.components())["collectives"]]


def _one(draw: random.Random, of: Sequence[Any]) -> Any:
    return draw.choice(of)


def _network(draw: random.Random, ranks: bool) -> fw.Network:
    vcs = _one(draw, (2, 3, 4, 6))
    through = draw.random() < 0.3
    router = fw.Router(
        vcs=vcs,
        buffer_flits=_one(draw, (9, 16, 40)) if through else _one(draw, (1, 2, 5, 16)),
        switching="virtual_cut_through" if through else "wormhole",
        input_speedup=_one(draw, (1, 1, 2, 3)),
        output_speedup=_one(draw, (1, 1, 2, 4)),
        sw_allocator=_one(draw, ("islip", "separable_input_first", "wavefront")),
        speculative=draw.random() < 0.2,
        wait_for_tail_credit=draw.random() < 0.2,
        routing_delay_cycles=_one(draw, (0, 0, 2)),
        st_delay_cycles=_one(draw, (0, 0, 3)),
        compat=fw.Compat(pipelined_stages=draw.random() < 0.9),
    )
    turns = ranks and draw.random() < 0.6
    service = fw.Service(
        order=_one(draw, ("round_robin", "random")),
        queue_pairs=_one(draw, ("message", "peer")),
        active_queue_pairs=_one(draw, (0, 0, 1, 3)),
        burst_packets=_one(draw, (1, 1, 3)),
    )
    nic = fw.Nic(
        ports=_one(draw, (1, 2, 3, 4)),
        ejection_port=_one(draw, ("any", "same_port", "by_source")),
        packet_gap_cycles=_one(draw, (0, 0, 0, 2)),
        service=service if turns else fw.Service(),
    )
    parts: dict[str, Any] = {"router": router, "nic": nic, "channel": fw.Channel(latency_cycles=_one(draw, (0, 0, 3)))}
    each = _one(draw, (1, 1, 2))
    tie = _one(draw, ("plus", "parity", "random", "split"))
    sizes = [draw.randint(1, 5) for _ in range(draw.randint(1, 3))]
    while math.prod(sizes) * each > 40 or math.prod(sizes) * each < 2:
        sizes = [draw.randint(1, 6) for _ in range(draw.randint(1, 2))]
    match draw.randrange(7):
        case 0 | 1:
            return fw.Torus(*sizes, terminals_per_router=each, tie=tie, **parts)
        case 2:
            return fw.Mesh(*sizes, terminals_per_router=each, **parts)
        case 3:
            return fw.Crossbar(terminals=draw.randint(2, 9), **parts)
        case 4:
            children = [draw.randint(2, 3), draw.randint(1, 4)]
            routing = _one(draw, ("d_mod_k", "s_mod_k", "random_up", "adaptive_up"))
            return fw.Xgft(children=children, parents=[1, draw.randint(1, 3)], routing=routing, **parts)
        case 5:
            return fw.Dragonfly(routers_per_group=2, global_channels_per_router=1, terminals_per_router=each, **parts)
        case _:
            routing = _one(draw, ("min_adapt", "o1turn", "valiant", "duato"))
            kind = fw.Mesh if routing == "o1turn" or draw.random() < 0.5 else fw.Torus
            return kind(*sizes, terminals_per_router=each, routing=routing, **parts)


def _host(draw: random.Random) -> fw.Host:
    rates = {"read_flits_per_cycle": (0.75, 3), "copy_flits_per_cycle": (1.5,), "eager_limit_flits": (8,)}
    chosen = {name: _one(draw, values) for name, values in rates.items() if draw.random() < 0.35}
    return fw.Host(
        ranks_per_terminal=_one(draw, (1, 1, 2, 3)),
        placement=_one(draw, ("block", "round_robin")),
        send_queue=_one(draw, ("program_order", "as_ready")),
        send_overhead_cycles=_one(draw, (0, 0, 5)),
        **chosen,
    )


def _pattern(draw: random.Random, terminals: int) -> tuple[str, dict[str, Any]]:
    """A pattern, and its parameters."""
    match draw.randrange(4):
        case 0 | 1:
            to = list(range(terminals))
            draw.shuffle(to)
            return "permutation", {"destinations": to}
        case 2:
            return "hotspot", {"terminals": [0, terminals - 1], "shares": [1.0, 2.0]}
        case _:
            return "uniform", {}


def case(seed: int) -> tuple[fw.Network, fw.Workload, dict[str, Any]]:
    """The network, the workload and the options of a run that a seed draws; not all are valid."""
    draw = random.Random(seed)
    kind = draw.randrange(8)
    network = _network(draw, ranks=kind < 4)
    described = json.loads(plan(network, fw.collective("barrier", "dissemination")).json)["described"]
    terminals = int(described["terminals"])
    options: dict[str, Any] = {
        "seed": seed % 1000,
        "channel_window_cycles": _one(draw, (1, 7, 50)),
        "max_cycles": 200_000,
    }
    packet_flits = _one(draw, (1, 1, 2, 5, 9))
    match kind:
        case 0 | 1 | 2:
            operation, algorithm = _one(draw, _COLLECTIVES)
            told: dict[str, Any] = {} if operation == "barrier" else {"message_flits": _one(draw, (1, 7, 40, 120))}
            return (
                network,
                fw.collective(operation, algorithm, packet_flits=packet_flits, **told),
                options | {"host": _host(draw)},
            )
        case 3:
            algorithm = _one(draw, ("a2a", "a2and", "a2at"))
            sync = _one(draw, ("async", "local"))
            length = _one(draw, (1, 30, 120))
            return (
                network,
                fw.all_to_all(algorithm, message_flits=length, packet_flits=packet_flits, sync=sync),
                options,
            )
        case 4:
            pattern, more = _pattern(draw, terminals)
            rate = _one(draw, (0, 0, 0.5))
            packets = _one(draw, (1, 10, 40))
            return (
                network,
                fw.burst_workload(pattern, packets=packets, packet_flits=packet_flits, rate=rate, **more),
                options,
            )
        case 5:
            rows = [
                (draw.randint(0, 60), draw.randrange(terminals), draw.randrange(terminals), draw.randint(1, 9))
                for _ in range(draw.randint(1, 200))
            ]
            return network, fw.trace(sorted(rows)), options
        case _:
            pattern, more = _pattern(draw, terminals)
            load = _one(draw, (0.1, 0.5, 1.0)) if packet_flits > 1 else _one(draw, (0.1, 0.6, 1.0))
            measured = {
                "warmup_cycles": _one(draw, (0, 100)),
                "measurement_cycles": _one(draw, (50, 400)),
                "packets": True,
            }
            if pattern == "uniform":
                return network, fw.uniform(offered_load=load, packet_flits=packet_flits), options | measured
            return (
                network,
                fw.traffic(pattern, offered_load=load, packet_flits=packet_flits, **more),
                options | measured,
            )


def _accepted_at_most(result: fw.Result) -> float:
    """The limit of the accepted load, with what may have been in the network when the measurement began."""
    packets = result.packets
    start = result.warmup_cycles
    early = packets[(packets["injected_cycle"] < start) & ~(packets["arrived_cycle"] < start)]
    inside = np.minimum(early["flits"], start - early["injected_cycle"].astype(float)).sum()
    all_cycles = int(result.described["terminals"]) * result.measurement_cycles
    return result.bound.accepted_load + float(inside) / all_cycles


def faults(result: fw.Result) -> list[str]:
    """The limits that a run has beaten."""
    found = []
    windows = result.channel_windows
    if windows is not None and windows.size and windows.max() > result.channel_window_cycles:
        found.append(f"a channel carried {windows.max()} flits in {result.channel_window_cycles} cycles")
    if result.busy[1] > ROUNDING:
        found.append(f"a channel carried {result.busy[1]} flits/cycle")
    if result.runs_to_completion:
        least = max(result.bound.tightest_cycles, float(result.bound.operation.get("cycles", 0)))
        if least > result.completion_cycles * ROUNDING:
            found.append(f"{result.completion_cycles} cycles, but at least {least}")
    elif _has_fixed_flows(result) and result.accepted_load > _accepted_at_most(result) * ROUNDING:
        found.append(f"accepted {result.accepted_load}, at most {_accepted_at_most(result)}")
    return found


def _has_fixed_flows(result: fw.Result) -> bool:
    """Whether nothing is drawn of who sends how much over which channel; else the limit is that of the long run."""
    spec = result.plan["spec"]
    tie = (spec["network"].get("routing") or {}).get("tie")
    return "destinations" in json.dumps(spec["workload"]) and tie not in ("random", "split")


def attempt(seed: int) -> tuple[str, list[str], float]:
    """Runs the case of a seed: what came of it, the limits that it has beaten, and its time over its bound."""
    try:
        network, workload, options = case(seed)
        result = fw.simulate(network, workload, **options)
    except fw.ConfigError:
        return "refused", [], math.nan
    except fw.FlitworkError as error:
        return type(error).__name__, [], math.nan
    ratio = result.ratio_to_bound if result.runs_to_completion else math.nan
    return "completes" if result.runs_to_completion else "open loop", faults(result), ratio


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("cases", type=int, help="Number of seeds.")
    parser.add_argument("--first", type=int, default=1, help="The first seed. Default: 1.")
    told = parser.parse_args()
    counts: Counter[str] = Counter()
    smallest, failed = (math.inf, 0), 0
    for seed in range(told.first, told.first + told.cases):
        what, beaten, ratio = attempt(seed)
        counts[what] += 1
        if ratio < smallest[0]:
            smallest = (ratio, seed)
        for fault in beaten:
            failed += 1
            print(f"seed {seed}: {fault}", flush=True)
    print(", ".join(f"{count} {what}" for what, count in counts.most_common()))
    print(f"smallest time over bound: {smallest[0]:.4f} (seed {smallest[1]}); {failed} limits beaten")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
