"""Writes the tables and the pictures of docs/readings.md: machine parameters that papers do not state.

python tools/readings_page.py            run the simulations (2 to 3 minutes on one core), write tables and pictures
python tools/readings_page.py --check    run them and exit with 1 if the tables of the page are out of date

--part NAME runs one section only. --results FILE keeps what was measured, and takes what is there.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import mean, median
from typing import Any

import flitwork as fw
import matplotlib.pyplot as plt
import numpy as np
from flitwork.base.statistics import half_width_95
from flitwork.plot.style import COLOURS, MARKERS, save, style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE = DOCS / "readings.md"
BLOCK = re.compile(r"(<!-- (?P<name>[a-z-]+): generated -->\n).*?(<!-- end -->)", re.DOTALL)

#: The all-to-alls of the pacing study, by the names on the page.
ALGORITHMS = {
    "pairwise_xor": "pairwise exchange",
    "pairwise_shift": "ring",
    "simple_spread": "simple spread",
    "bruck": "Bruck",
    "butterfly": "butterfly",
}
TORI = ((16, 8), (8, 4, 4))
#: Route computation and VC allocation [cycles] by their sum; with the latency of the channel a hop stays 26 cycles.
GAPS = {0: (0, 0), 1: (1, 0), 2: (1, 1), 3: (2, 1), 4: (2, 2)}
HOP = 26
CLASSES = ("entered", "at_dateline", "crossed")

SERVERS, RANKS, BURSTS = (8, 16, 24), 8, (1, 2, 4, 8, 16)
RINGS = {"pairwise_shift": "Ring", "two_level_ring": "2-Level Ring"}
LINK = 2000.0

PATTERNS = ("shuffle", "bit_reverse", "bit_rotation", "transpose")
#: How packets come from a terminal into the network: injection VCs and priority of injection ports.
INJECTION: dict[str, tuple[Any, Any]] = {
    "all VCs, equal": ("all", "equal"),
    "VC 0, equal": ([0], "equal"),
    "all VCs, transit first": ("all", "last"),
    "VC 0, transit first": ([0], "last"),
}
SEEDS, WARMUP = (1, 2, 3, 4, 5), 500


class Runs:
    """What was measured, by what it is called."""

    def __init__(self, file: Path | None) -> None:
        self.file = file
        self.found: dict[str, list[int]] = json.loads(file.read_text()) if file and file.exists() else {}

    def get(self, name: str, measure: Callable[[], list[int]]) -> list[int]:
        """What is kept under ``name``, or what ``measure`` gives."""
        if name not in self.found:
            print(name, file=sys.stderr)
            self.found[name] = measure()
            if self.file:
                self.file.write_text(json.dumps(self.found))
        return self.found[name]


def table(head: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """A Markdown table; columns of numbers are aligned at the right."""
    body = [[str(cell) for cell in row] for row in rows]
    rules = ["---:" if re.match(r"[+-]?[0-9]", cell) and "×" not in cell else "---" for cell in body[0]]
    return "".join(f"| {' | '.join(line)} |\n" for line in [list(head), rules, *body])


def by(size: Sequence[int]) -> str:
    """``16 × 8``."""
    return " × ".join(map(str, size))


# ---- The machine of the pacing study --------------------------------------------------------------------------------


def machine(size: Sequence[int], setting: str, classes: Any, pacing: fw.Pacing | None = None) -> fw.machines.Machine:
    """The machine of the pacing study; ``setting``: ``pipelined``, or ``at_front`` with a gap of so many cycles."""
    if setting == "pipelined":
        return fw.machines.nsim(*size, pacing=pacing, pipeline="pipelined", classes=classes)
    found = fw.machines.nsim(*size, pacing=pacing, pipeline="at_front", classes=classes)
    route, allocate = GAPS[int(setting)]
    router: fw.Router = found.network.options["router"]
    router = router.replace(routing_delay_ns=4 * route, vc_alloc_delay_ns=4 * allocate)
    channel = fw.Channel(latency_ns=4 * (HOP - 2 - route - allocate))
    return fw.machines.Machine(found.network.replace(router=router, channel=channel), found.host)


def exchange(runs: Runs, size: Sequence[int], algorithm: str, setting: str, classes: str) -> tuple[int, int]:
    """Completion of an all-to-all without and with pacing [cycles]."""

    def measure() -> list[int]:
        """Both runs."""
        blocks: Any = {"blocks": "doubling"} if algorithm in ("bruck", "butterfly") else {}
        work = fw.collective("all_to_all", algorithm, message_bytes="16 KiB", packet_bytes=2048, **blocks)
        # Simple spread has one step, whose messages share the pause.
        share: Any = {"over": "schedule", "aggregate": True} if algorithm == "simple_spread" else {}
        times = []
        for pacing in (None, fw.Pacing(kind="mod", **share)):
            made = machine(size, setting, classes, pacing)
            times.append(int(fw.simulate(made.network, work, host=made.host).completion_cycles or 0))
        return times

    without, paced = runs.get(f"{by(size)} {algorithm} {setting} {classes}", measure)
    return without, paced


def gain(runs: Runs, size: Sequence[int], algorithm: str, setting: str, classes: str = "at_dateline") -> float:
    """Time without pacing over time with it."""
    without, paced = exchange(runs, size, algorithm, setting, classes)
    return without / paced


def carried_in(runs: Runs, setting: str) -> float:
    """In how many cycles a channel carries a packet of 128 flits: what the second half of a long message takes."""

    def measure() -> list[int]:
        """A message over three channels of a ring, once with 512 and once with 1,024 packets."""
        made = machine((8,), setting, "at_dateline")
        found = []
        for packets in (512, 1024):
            programs: list[list[Any]] = [[] for _ in range(8)]
            programs[0], programs[3] = [fw.Send(3, flits=128 * packets)], [fw.Receive(0, flits=128 * packets)]
            stream = fw.Schedule(programs, packet_flits=128)
            found.append(int(fw.simulate(made.network, stream).completion_cycles or 0))
        return found

    half, whole = runs.get(f"stream {setting}", measure)
    return (whole - half) / 512


def gains_head() -> list[str]:
    """The names of the algorithms."""
    return list(ALGORITHMS.values())


def gains_row(runs: Runs, size: Sequence[int], setting: str, classes: str = "at_dateline") -> list[str]:
    """The gains of all algorithms."""
    return [f"{gain(runs, size, name, setting, classes):.2f}" for name in ALGORITHMS]


# ---- 1. The gap between packets -------------------------------------------------------------------------------------


def bubble(runs: Runs) -> str:
    """The gains over the gap, a table a torus."""
    parts = []
    for size in TORI:
        rows = []
        for setting in ("pipelined", *map(str, GAPS)):
            cycles = carried_in(runs, setting)
            name = '`"pipelined"`' if setting == "pipelined" else f'`"at_front"`, R + A = {setting}'
            rows.append([name, f"{cycles:.0f}", f"{100 * 128 / cycles:.1f} %", *gains_row(runs, size, setting)])
        head = [f"{by(size)} nodes", "cycles for 128 flits", "capacity", *gains_head()]
        parts.append(table(head, rows))
    return "\n".join(parts)


def bubble_first(runs: Runs) -> str:
    """The same two pipelines with the virtual channels of the first run."""
    rows = []
    for size in TORI:
        for setting, name in (("pipelined", '`"pipelined"`'), ("2", '`"at_front"`, R + A = 2')):
            rows.append([by(size), name, *gains_row(runs, size, setting, "entered")])
    return table(["nodes", "`pipeline`", *gains_head()], rows)


def bubble_times(runs: Runs) -> str:
    """Which of the two times the gap changes."""
    rows = []
    for size in TORI:
        for paced, name in enumerate(("without pacing", "with pacing")):
            cells = []
            for algorithm in ALGORITHMS:
                none, gap = (exchange(runs, size, algorithm, setting, "at_dateline")[paced] for setting in ("0", "1"))
                cells.append(f"{100 * (gap / none - 1):+.0f} %")
            rows.append([by(size), name, *cells])
    return table(["nodes", "", *gains_head()], rows)


def bubble_answer(runs: Runs) -> str:
    """What the section says first."""
    found = {
        (size, name): [gain(runs, size, name, gap) for gap in ("0", "1", "2")] for size in TORI for name in ALGORITHMS
    }
    bruck, fly = (found[TORI[0], name] for name in ("bruck", "butterfly"))
    solid = [found[TORI[1], name] for name in ("bruck", "butterfly")]
    return (
        "**One cycle between packets takes most of the gain of Bruck and butterfly away.** "
        f"On {by(TORI[0])} nodes pacing makes Bruck\n{bruck[0]:.2f} times as fast if a channel carries 128 flits in "
        f"128 cycles, {bruck[1]:.2f} times in 129 cycles, {bruck[2]:.2f} times in 130 cycles.\nThe butterfly gains "
        f"{fly[0]:.2f}, {fly[1]:.2f} and {fly[2]:.2f}. On {by(TORI[1])} nodes Bruck gains {said(solid[0])}, the "
        f"butterfly {said(solid[1])}.\n"
    )


def said(values: Sequence[float]) -> str:
    """``1.69, 1.18 and 1.16``."""
    return f"{', '.join(f'{one:.2f}' for one in values[:-1])} and {values[-1]:.2f}"


def bubble_hurts(runs: Runs) -> str:
    """How often pacing helps and hurts with the virtual channels of the first run."""
    cases = [(size, name) for size in TORI for name in ALGORITHMS]
    slower = {
        setting: sum(gain(runs, size, name, setting, "entered") < 0.99 for size, name in cases)
        for setting in ("pipelined", "2")
    }
    fly = [gain(runs, TORI[0], "butterfly", setting, "entered") for setting in ("pipelined", "2")]
    return (
        '**With `classes = "entered"` two cycles decide whether pacing helps or hurts.** With a gap of 2 cycles '
        f"pacing makes {slower['2']} of {len(cases)} cases\nslower by more than 1 %, with the pipelined router "
        f"{slower['pipelined']}. The gain of the butterfly on {by(TORI[0])} nodes falls from {fly[0]:.2f} to "
        f"{fly[1]:.2f}:\n"
        f"\n{bubble_first(runs)}"
    )


def bubble_noise(runs: Runs) -> str:
    """How far two models without a gap are apart."""
    apart = []
    for size in TORI:
        for name in ALGORITHMS:
            apart.append(abs(gain(runs, size, name, "0") / gain(runs, size, name, "pipelined") - 1))
    return (
        '`"pipelined"` and `"at_front"` with R + A = 0 have the same bandwidth and the same latency of packets; '
        f"credits return 2 cycles\nlater in the latter. Their gains differ by up to {100 * max(apart):.0f} % (median "
        f"{100 * median(apart):.0f} %). Do not read differences of this size between two rows.\n"
    )


def draw_bubble(runs: Runs) -> Figure:
    """The gains over the gap, a panel a torus."""
    figure, axes = plt.subplots(1, 2, figsize=(9.2, 4.6), sharey=True)
    for ax, size in zip(axes, TORI, strict=True):
        for number, (algorithm, name) in enumerate(ALGORITHMS.items()):
            colour = COLOURS[number]
            values = [gain(runs, size, algorithm, str(gap)) for gap in GAPS]
            ax.plot(list(GAPS), values, marker=MARKERS[number], color=colour, label=name)
            ax.axhline(gain(runs, size, algorithm, "pipelined"), color=colour, linestyle=":", linewidth=1.2)
        no_gain(ax)
        ax.set_xticks(list(GAPS))
        ax.set_xlabel("gap between packets R + A [cycles]")
        ax.set_title(f"{by(size)} nodes")
    axes[0].set_ylabel("speed-up by pacing\n(time without over time with)")
    handles, labels = axes[0].get_legend_handles_labels()
    dotted = Line2D([], [], color="0.3", linestyle=":", linewidth=1.2)
    figure.legend([*handles, dotted], [*labels, "pipelined"], loc="outside lower center", ncols=6, columnspacing=1.2)
    return figure


def no_gain(ax: Axes) -> None:
    """A line where pacing changes nothing."""
    ax.axhline(1, color="0.25", linewidth=1)


# ---- 2. The dateline ------------------------------------------------------------------------------------------------


def dateline(runs: Runs) -> str:
    """Gains by how the virtual channels of a ring are divided."""
    rows = []
    for size in TORI:
        for classes in CLASSES:
            rows.append(
                [by(size), f'`"{classes}"`', vcs_of(size, classes), *gains_row(runs, size, "pipelined", classes)]
            )
    return table(["nodes", "`classes`", "VCs", *gains_head()], rows)


def dateline_times(runs: Runs) -> str:
    """Times in the place of gains."""
    rows = []
    for size in TORI:
        for classes in CLASSES:
            cells = []
            for algorithm in ALGORITHMS:
                pair = exchange(runs, size, algorithm, "pipelined", classes)
                cells.append(" / ".join(f"{cycles * 4e-6:.2f}" for cycles in pair))
            rows.append([by(size), f'`"{classes}"`', *cells])
    return table(["nodes", "`classes`", *gains_head()], rows)


def dateline_answer(runs: Runs) -> str:
    """Which of the two times the scheme changes."""
    cases = [(size, algorithm) for size in TORI for algorithm in ALGORITHMS]
    most = []
    for paced in (0, 1):
        found = []
        for size, algorithm in cases:
            entered, later = (exchange(runs, size, algorithm, "pipelined", one)[paced] for one in CLASSES[:2])
            found.append(100 * (later / entered - 1))
        most.append(f"{min(found):+.0f} to {max(found):+.0f} % (median {median(found):+.0f} %)")
    faster = sum(gain(runs, *case, "pipelined", one) > 1 for case in cases for one in CLASSES)
    fly = [gain(runs, TORI[0], "butterfly", "pipelined", one) for one in CLASSES[:2]]
    return (
        f"**The scheme decides how much pacing gains.** On {by(TORI[0])} nodes the butterfly gains {fly[0]:.2f} with "
        f'`"entered"` and {fly[1]:.2f} with\n`"at_dateline"`. The second scheme in place of the first changes times '
        f"without pacing by {most[0]}, and times\nwith pacing by {most[1]}. With the pipelined router pacing makes "
        f"{faster} of {len(cases) * len(CLASSES)} cases faster.\n"
    )


def draw_dateline(runs: Runs) -> Figure:
    """A group of bars for each algorithm, a panel a torus."""
    figure, axes = plt.subplots(1, 2, figsize=(9.2, 4.4), sharey=True)
    names = [name.replace(" ", "\n") for name in ALGORITHMS.values()]
    labels = {
        classes: f"{classes} ({' or '.join(sorted({str(vcs_of(size, classes)) for size in TORI}))} VCs)"
        for classes in CLASSES
    }
    for ax, size in zip(axes, TORI, strict=True):
        for number, classes in enumerate(CLASSES):
            values = [gain(runs, size, name, "pipelined", classes) for name in ALGORITHMS]
            where = [place + 0.27 * (number - 1) for place in range(len(values))]
            ax.bar(where, values, width=0.25, color=COLOURS[number], label=labels[classes])
        no_gain(ax)
        ax.set_xticks(range(len(names)), names, fontsize="small")
        ax.set_title(f"{by(size)} nodes")
        ax.grid(visible=False, axis="x")
    axes[0].set_ylabel("speed-up by pacing\n(time without over time with)")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def vcs_of(size: Sequence[int], classes: str) -> int:
    """How many virtual channels a channel has."""
    return len(size) + 1 if classes == "crossed" else 2


# ---- 3. Bursts of the adapter ---------------------------------------------------------------------------------------


def bandwidth(runs: Runs, servers: int, algorithm: str, burst: int, pairs: Any = "peer") -> float:
    """What a server sends to others, mean over three seeds [MB/s]."""

    def measure() -> list[int]:
        """The completion for each seed."""
        turns = fw.Service(order="round_robin", queue_pairs=pairs, burst_packets=burst, start_jitter_cycles=8)
        network = fw.Crossbar(
            terminals=servers,
            router=fw.Router(vcs=1, buffer_flits=16),
            nic=fw.Nic(service=turns),
            units=fw.Units(flit_bytes=2048, cycle_ns=1024),
        )
        host = fw.Host(ranks_per_terminal=RANKS, copy_flits_per_cycle=2)
        work = fw.collective("all_to_all", algorithm, message_bytes="64 KiB", packet_flits=1)
        seeds = (1, 2, 3)
        return [int(fw.simulate(network, work, host=host, seed=seed).completion_cycles or 0) for seed in seeds]

    cycles = runs.get(f"{servers} servers {algorithm} {burst} {pairs}", measure)
    sent = 64 * 1024 * (servers - 1) * RANKS * RANKS
    return mean(sent / (1.024 * one) for one in cycles)


def adapter_answer(runs: Runs) -> str:
    """What the section says first."""
    most = SERVERS[-1]
    ring, two = ([bandwidth(runs, most, name, burst) for burst in (1, 4, 16)] for name in RINGS)
    gained = [100 * (b / a - 1) for a, b in zip(ring, two, strict=True)]
    return (
        f"**Bursts slow the Ring, and leave the 2-Level Ring as it is.** With {most} servers the 2-Level Ring is "
        f"{gained[0]:.1f} % faster than the Ring if\nadapters take turns by single packets, {gained[1]:.1f} % if by "
        f"bursts of 4, {gained[2]:.1f} % if by bursts of 16. The paper measured 24.1 %.\n"
    )


def adapter(runs: Runs) -> str:
    """Bandwidths and what the 2-Level Ring gains."""
    rows = []
    for servers in SERVERS:
        found = {name: [bandwidth(runs, servers, key, burst) for burst in BURSTS] for key, name in RINGS.items()}
        for name, values in found.items():
            rows.append([servers, f"{name} [MB/s]", *(f"{value:,.0f}" for value in values)])
        ratio = [two / ring for ring, two in zip(*found.values(), strict=True)]
        rows.append([servers, "2-Level Ring over Ring", *(f"{one:.3f}" for one in ratio)])
    return table(["servers", "`burst_packets`", *map(str, BURSTS)], rows)


def adapter_pairs(runs: Runs) -> str:
    """Whether queue pairs of messages differ from those of peers."""
    most = SERVERS[-1]
    pairs = [
        bandwidth(runs, most, name, burst, "message") / bandwidth(runs, most, name, burst)
        for name in RINGS
        for burst in (1, 4, 16)
    ]
    apart = max(abs(one - 1) for one in pairs)
    how = "give the same times" if apart == 0 else f"differ by at most {100 * apart:.2f} %"
    return (
        f'`queue_pairs = "peer"` and `queue_pairs = "message"` {how} ({most} servers, bursts of 1, 4 and 16).\n'
        "In an all-to-all a rank sends one message to each other rank, so both make the same queue pairs.\n"
    )


def draw_adapter(runs: Runs) -> Figure:
    """Bandwidths, and what the 2-Level Ring gains, over the burst."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 4.4))
    for number, servers in enumerate(SERVERS):
        look: Any = {"color": COLOURS[number], "marker": MARKERS[number]}
        ring, two = ([bandwidth(runs, servers, name, burst) for burst in BURSTS] for name in RINGS)
        left.plot(BURSTS, two, "-", **look)
        left.plot(BURSTS, ring, "--", **look)
        gained = [100 * (b / a - 1) for a, b in zip(ring, two, strict=True)]
        right.plot(BURSTS, gained, "-", label=f"{servers} servers", **look)
    left.axhline(LINK, color="0.5", linewidth=1)
    left.text(BURSTS[-1], LINK + 8, "link", ha="right", va="bottom", fontsize="small")
    left.text(4, 1820, "2-Level Ring (solid)", fontsize="small")
    left.text(4, 1625, "Ring (dashed)", fontsize="small")
    left.set_ylabel("bandwidth of a server [MB/s]")
    left.set_ylim(1450, 2050)
    right.axhline(24.1, color="0.5", linewidth=1)
    right.text(1, 24.3, "paper: 24 servers, 1 MiB", va="bottom", fontsize="small")
    right.set_ylabel("2-Level Ring faster than Ring by [%]")
    right.set_ylim(0, 30)
    for ax in (left, right):
        ax.set_xscale("log", base=2)
        ax.set_xticks(BURSTS, [str(burst) for burst in BURSTS])
        ax.set_xlabel("packets of a queue pair in a row")
    figure.legend(*right.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


# ---- 4. From the terminal into the network --------------------------------------------------------------------------


def ends(runs: Runs, pattern: str, setting: str, background: bool = True) -> list[list[int]]:
    """When the last packet of each terminal has arrived [cycles from the start of the burst], for each seed."""
    vcs, priority = INJECTION[setting]

    def measure() -> list[int]:
        """Sorted ends, one seed behind the other."""
        network = fw.Torus(
            16,
            16,
            routing=fw.routing.DimensionOrder(classes="crossed"),
            router=fw.Router(vcs=3, buffer_flits=16, switching="virtual_cut_through", injection_priority=priority),
            nic=fw.Nic() if vcs == "all" else fw.Nic(injection_vcs=vcs),
        )
        work = fw.burst_workload(pattern, packets=10, packet_flits=8)
        found: list[int] = []
        for seed in SEEDS if background else SEEDS[:1]:
            other = fw.uniform(offered_load=0.1, packet_flits=8) if background else None
            warm = WARMUP if background else 0
            done = fw.simulate(network, work, background=other, warmup_cycles=warm, packets=True, seed=seed)
            packets = done.packets
            own = packets[~packets["background"].astype(bool)]
            last = own.groupby("src")["arrived_cycle"].max() - warm
            found += sorted(int(one) for one in last)
        return found

    flat = runs.get(f"{pattern} {setting} {'background' if background else 'alone'}", measure)
    each = len(flat) // (len(SEEDS) if background else 1)
    return [flat[first : first + each] for first in range(0, len(flat), each)]


def injection_answer(runs: Runs) -> str:
    """What the section says first."""
    last = {(p, s): mean(float(one[-1]) for one in ends(runs, p, s)) for p in PATTERNS for s in INJECTION}
    first, *_, both = INJECTION
    ratios = {pattern: last[pattern, both] / last[pattern, first] for pattern in PATTERNS}
    least, most = min(ratios, key=ratios.__getitem__), max(ratios, key=ratios.__getitem__)
    return (
        f"**The effect has either sign.** With VC 0 and transit first a burst of `{least}` takes "
        f"{ratios[least]:.2f} times as long as with all VCs and equal\npriority, a burst of `{most}` "
        f"{ratios[most]:.2f} times.\n"
    )


def injection(runs: Runs) -> str:
    """Durations and unfairness."""
    rows = []
    for pattern in PATTERNS:
        for setting in INJECTION:
            found = ends(runs, pattern, setting)
            (alone,) = ends(runs, pattern, setting, background=False)
            last = [float(one[-1]) for one in found]
            unfair = [one[-1] / median(one) for one in found]
            rows.append([
                f"`{pattern}`",
                setting,
                f"{mean(last):,.0f} ± {half_width_95(np.array(last)):,.0f}",
                f"{mean(median(one) for one in found):,.0f}",
                f"{mean(unfair):.2f} ± {half_width_95(np.array(unfair)):.2f}",
                f"{alone[-1]:,}",
                f"{alone[-1] / median(alone):.2f}",
            ])  # fmt: skip
    head = ["pattern", "injection", "last end [cycles]", "median end", "last over median"]
    return table([*head, "alone: last end", "last over median"], rows)


def draw_injection(runs: Runs) -> Figure:
    """Terminals by their end, a panel a pattern; mean over the seeds."""
    figure, axes = plt.subplots(2, 2, figsize=(9.2, 6.6), sharex=True)
    for ax, pattern in zip(axes.flat, PATTERNS, strict=True):
        for number, setting in enumerate(INJECTION):
            found = ends(runs, pattern, setting)
            line = [mean(one) for one in zip(*found, strict=True)]
            share = [100 * (place + 1) / len(line) for place in range(len(line))]
            ax.plot(share, line, color=COLOURS[number], label=setting)
            ax.plot(share[-1:], line[-1:], color=COLOURS[number], marker=MARKERS[number])
        ax.set_ylim(0, None)
        ax.set_title(pattern)
    for ax in axes[1]:
        ax.set_xlabel("terminals that have finished [%]")
    for ax in axes[:, 0]:
        ax.set_ylabel("end [cycles]")
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


#: Sections of the page: their tables, and their picture.
PARTS: dict[str, tuple[dict[str, Callable[[Runs], str]], Callable[[Runs], Figure]]] = {
    "bubble": (
        {
            "bubble-answer": bubble_answer,
            "bubble": bubble,
            "bubble-noise": bubble_noise,
            "bubble-hurts": bubble_hurts,
            "bubble-times": bubble_times,
        },
        draw_bubble,
    ),
    "dateline": (
        {"dateline-answer": dateline_answer, "dateline": dateline, "dateline-times": dateline_times},
        draw_dateline,
    ),
    "adapter": ({"adapter-answer": adapter_answer, "adapter": adapter, "adapter-pairs": adapter_pairs}, draw_adapter),
    "injection": ({"injection-answer": injection_answer, "injection": injection}, draw_injection),
}


def main() -> int:
    """Writes or checks the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--part", choices=PARTS)
    parser.add_argument("--results", type=Path)
    options = parser.parse_args()
    runs = Runs(options.results)
    chosen = [options.part] if options.part else list(PARTS)
    texts = {name: text for part in chosen for name, text in PARTS[part][0].items()}
    current = PAGE.read_text(encoding="utf-8")
    missing = set(texts) - {match["name"] for match in BLOCK.finditer(current)}
    if missing:
        print(f"{PAGE} has no place for {', '.join(sorted(missing))}", file=sys.stderr)
        return 1
    wanted = BLOCK.sub(lambda m: f"{m[1]}\n{texts[m['name']](runs)}\n{m[3]}" if m["name"] in texts else m[0], current)
    if options.check:
        if current != wanted:
            print(f"{PAGE} is out of date: run python tools/readings_page.py", file=sys.stderr)
        return int(current != wanted)
    PAGE.write_text(wanted, encoding="utf-8")
    with tempfile.TemporaryDirectory() as temporary, style():
        for part in chosen:
            picture, _ = save(PARTS[part][1](runs), Path(temporary), f"readings-{part}")
            shutil.copyfile(picture, DOCS / "images" / picture.name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
