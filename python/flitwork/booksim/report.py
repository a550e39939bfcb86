"""What BookSim prints, for people and for scripts that read it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from flitwork.booksim.config_file import written
from flitwork.booksim.mapping import notes
from flitwork.booksim.measure import Sample, Spread
from flitwork.booksim.settings import Settings
from flitwork.booksim.traffic import packets_per_cycle

_LATENCIES = {
    "Packet latency": "packet_latency",
    "Network latency": "network_latency",
    "Flit latency": "flit_latency",
    "Fragmentation": "fragmentation",
}
_RATES = {
    "Injected packet rate": "injected_packets",
    "Accepted packet rate": "accepted_packets",
    "Injected flit rate": "injected_flits",
    "Accepted flit rate": "accepted_flits",
}


def measured(sample: Sample) -> Iterator[str]:
    """The lines about one simulation: phases, averages over the measurement."""
    yield f"Warmed up ...Time used is {sample.phases.start} cycles"
    yield "Class 0:"
    for title, name in _LATENCIES.items():
        yield from _lines(f"{title} average =", getattr(sample, name))
    for title, name in _RATES.items():
        # This blank is missing in BookSim too, and scripts look for it so.
        equals = "=" if name == "accepted_flits" else " ="
        yield from _lines(f"{title} average{equals}", getattr(sample, name))
    injected, accepted = _lengths([sample])
    yield f"Injected packet length average = {injected:.6g}"
    yield f"Accepted packet length average = {accepted:.6g}"
    yield f"Time taken is {sample.completion_cycles} cycles"


def overall(settings: Settings, samples: Sequence[Sample]) -> Iterator[str]:
    """The block at the end: each number is the mean over the simulations."""
    count = f" ({len(samples)} samples)"
    yield "====== Overall Traffic Statistics ======"
    yield "====== Traffic class 0 ======"
    for title, name in {**_LATENCIES, **_RATES}.items():
        yield from _lines(f"{title} average =", _mean(samples, name), count)
    injected, accepted = _lengths(samples)
    yield f"Injected packet size average = {injected:.6g}{count}"
    yield f"Accepted packet size average = {accepted:.6g}{count}"
    yield f"Hops average = {_hops(samples):.6g}{count}"
    if settings["print_csv_results"]:
        yield _csv(settings, samples)


def _csv(settings: Settings, samples: Sequence[Sample]) -> str:
    """BookSim's line for other programs: class, traffic, use_read_write, packets/cycle/node, then what was measured."""
    numbers = [packets_per_cycle(settings)]
    for name in (*_LATENCIES.values(), *_RATES.values()):
        spread = _mean(samples, name)
        numbers += [spread.minimum, spread.average, spread.maximum]
    numbers += [*_lengths(samples), _hops(samples)]
    traffic, read_write = written(settings["traffic"]), written(settings.value("use_read_write"))
    return ",".join(["results:0", traffic, read_write, *(f"{number:.6g}" for number in numbers)])


def remarks(samples: Sequence[Sample]) -> list[str]:
    """What to say to the user after the runs: those in which there is nothing to average."""
    seeds = [str(sample.seed) for sample in samples if math.isnan(sample.packet_latency.average)]
    if not seeds:
        return []
    which = "" if len(samples) == 1 else f" of the runs with seed {', '.join(seeds)}"
    return [f"no packet of the measurement{which} arrived: its latencies and hops are nan"]


def as_json(settings: Settings, samples: Sequence[Sample], unstable: str) -> dict[str, Any]:
    """All of it as one value; keys are named as the lines are."""
    numbers = {name: asdict(_mean(samples, name)) for name in (*_LATENCIES.values(), *_RATES.values())}
    for name in numbers:
        numbers[name] = {key: value for key, value in numbers[name].items() if value is not None}
    injected, accepted = _lengths(samples)
    lengths = {"injected_packet_size": injected, "accepted_packet_size": accepted}
    return {
        "stable": not unstable,
        "reason": unstable,
        "samples": len(samples),
        "classes": [{**numbers, **lengths, "hops": _hops(samples)}],
        "settings": {name: written(one.value) for name, one in settings.given.items()},
        "notes": [*notes(settings), *remarks(samples)],
        "runs": [_run(sample) for sample in samples],
    }


def _run(sample: Sample) -> dict[str, Any]:
    return {
        "seed": sample.seed,
        "status": sample.values["status"],
        "cycles": sample.completion_cycles,
        "warmup_cycles": sample.phases.start,
        "measurement_cycles": sample.phases.end - sample.phases.start,
        "digest": sample.values["digest"],
        "plan_hash": sample.plan_hash,
    }


def _lines(title: str, spread: Spread, after: str = "") -> Iterator[str]:
    nodes = [f" (at node {n})" if n is not None else "" for n in (spread.minimum_node, spread.maximum_node)]
    yield f"{title} {spread.average:.6g}{after}"
    yield f"\tminimum = {spread.minimum:.6g}{nodes[0]}{after}"
    yield f"\tmaximum = {spread.maximum:.6g}{nodes[1]}{after}"


def _mean(samples: Sequence[Sample], name: str) -> Spread:
    spreads: list[Spread] = [getattr(sample, name) for sample in samples]
    n = len(spreads)
    return Spread(
        sum(s.average for s in spreads) / n, sum(s.minimum for s in spreads) / n, sum(s.maximum for s in spreads) / n
    )


def _lengths(samples: Sequence[Sample]) -> tuple[float, float]:
    """Mean flits of the packets that entered, and of those that arrived; NaN where none did."""
    flits = [_mean(samples, f"{what}_flits").average for what in ("injected", "accepted")]
    packets = [_mean(samples, f"{what}_packets").average for what in ("injected", "accepted")]
    injected, accepted = (f / p if p else float("nan") for f, p in zip(flits, packets, strict=True))
    return injected, accepted


def _hops(samples: Sequence[Sample]) -> float:
    return sum(sample.hops for sample in samples) / len(samples)
