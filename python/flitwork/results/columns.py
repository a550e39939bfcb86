"""The columns of a result: what each is, its unit, which runs have it and how it is read. One table for all who ask.

From it follow the row of a result, the columns that a study knows before it runs, the units in pictures and the list
in the documentation (``flitwork list columns``).
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from flitwork import _core
from flitwork.base.physical import UNITS, Units, physical_name, scaled
from flitwork.values.schema import is_open_loop

#: A :class:`flitwork.Result`, which is made above this module.
Result = Any
#: Which runs have a column: all, those that run to completion, open loops, with a background, with stalls recorded,
#: with a bus.
When = Literal["always", "completes", "traffic", "background", "stalls", "bus"]
#: Reasons for a flit to stand still, in the order of the simulator's counters.
STALL_REASONS: tuple[str, ...] = tuple(json.loads(_core.stall_reasons()))
#: Reasons for a packet to wait, in the order of their numbers in records.
WAIT_REASONS: tuple[str, ...] = (*STALL_REASONS, "behind_packet")

#: Runs of which others do not even have the column.
_APART = ("background", "stalls", "bus")
_RANKS = ("host_ranks", "host_ranks_per_terminal")
_LOAD = "flits/cycle/terminal"
_STATISTICS = {
    "mean": "the mean",
    "p50": "the median",
    "p95": "95 % do not exceed it",
    "p99": "99 % do not exceed it",
    "min": "the least",
    "max": "the largest",
}


@dataclass(frozen=True)
class Column:
    """One column: ``read`` gives its value for a result. Runs without it have ``None``, or no such column at all."""

    name: str
    read: Callable[[Result], Any]
    about: str
    unit: str = ""
    when: When = "always"
    number: bool = True
    #: Of a column in ns, bytes or bytes/s its unit, as names have it: only runs that know it have the column.
    physical: str = ""

    @property
    def may_miss(self) -> bool:
        """Whether a run that does not have it has no such column, rather than an empty one."""
        return self.when in _APART or bool(self.physical)

    def known(self, units: Units) -> bool:
        """Whether what its numbers are in is known."""
        return not self.physical or units.factor(self.physical) is not None


def _value(name: str) -> Callable[[Result], Any]:
    return lambda result: result.values[name]


def _described(name: str) -> Callable[[Result], Any]:
    return lambda result: result.described[name]


def _measured(latency: Mapping[str, Any], key: str) -> float:
    """A statistic of a latency; NaN where nothing was measured."""
    return float(latency[key]) if latency["count"] else math.nan


def _precision(name: str) -> Callable[[Result], Any]:
    """A number of ``precision``; NaN where there is none."""

    def read(result: Result) -> float:
        found = (result.values["precision"] or {}).get(name)
        return math.nan if found is None else float(found)

    return read


def _hops(values: Mapping[str, Any]) -> float:
    return math.nan if values["mean_hops"] is None else float(values["mean_hops"])


def _ranks(result: Result) -> tuple[float, float]:
    return ranks_of(result.spec, result.described["terminals"])


def _latency(of: str, name: str, statistic: str) -> Callable[[Result], Any]:
    key = f"{statistic}_cycles"
    if of:
        return lambda result: _measured(result.values["background"][name], key)
    return lambda result: _measured(result.values[name], key)


def _latencies(of: str) -> list[Column]:
    """The statistics of both latencies, of the workload or of the background."""
    when: When = "background" if of else "always"
    found = []
    for name, what in (("packet_latency", "creation"), ("network_latency", "injection")):
        for statistic, words in _STATISTICS.items():
            about = f"from {what} to the arrival of the tail: {words}"
            column = Column(f"{of}{name}_{statistic}_cycles", _latency(of, name, statistic), about, "cycles", when)
            found.append(column)
        if not of:
            half_width = _precision(f"{name}_half_width_cycles")
            about = "half the confidence interval of the mean"
            found.append(Column(f"{name}_ci_half_width_cycles", half_width, about, "cycles", "traffic"))
    return found


def _of_background(name: str, about: str, unit: str = "") -> Column:
    return Column(f"background_{name}", lambda result: result.values["background"][name], about, unit, "background")


def _of_background_load(name: str, about: str) -> Column:
    read = lambda result: result.values["background"][f"{name}_load"]  # noqa: E731
    return Column(f"background_{name}_load_flits_per_cycle", read, about, _LOAD, "background")


def _of_bus(name: str, about: str, unit: str = "") -> Column:
    return Column(f"bus_{name}", lambda result: result.values["bus"][name.removesuffix("_carried")], about, unit, "bus")


def _stalled(index: int, reason: str) -> Column:
    read = lambda result: result.values["stalls"]["total"][index]  # noqa: E731
    return Column(f"stall_{reason}_flit_cycles", read, "flits standing still for this reason", "flit-cycles", "stalls")


_ALL: list[Column] = [
    Column("topology", lambda r: r.described["topology"]["kind"], "name of the topology", number=False),
    Column("size", _described("size"), "routers along each dimension, or in all", number=False),
    Column("terminals", _described("terminals"), "terminals in all"),
    Column("host_ranks", lambda r: _ranks(r)[0], "ranks in all; of bursts, terminals", "", "completes"),
    Column("host_ranks_per_terminal", lambda r: _ranks(r)[1], "the most ranks of a terminal", "", "completes"),
    Column("workload", _described("workload"), "name of the algorithm or the pattern", number=False),
    Column("status", lambda r: r.status, "how the run ended", number=False),
    Column("completion_cycles", lambda r: r.completion_cycles, "time to completion, or end of the run", "cycles"),
    Column("bound_cycles", lambda r: r.bound.tightest_cycles, "the largest lower bound", "cycles", "completes"),
    Column(
        "phase_model_cycles", lambda r: r.bound.phase_model_cycles, "estimate of the phase model", "cycles", "completes"
    ),
    Column(
        "bound_saturation_load_flits_per_cycle",
        lambda r: r.bound.saturation_load,
        "up to it all that is offered can be accepted",
        _LOAD,
        "traffic",
    ),
    Column(
        "bound_accepted_load_flits_per_cycle",
        lambda r: r.bound.accepted_load,
        "the most that any run accepts",
        _LOAD,
        "traffic",
    ),
    Column("ratio_to_bound", lambda r: r.ratio_to_bound, "time, or accepted load, over its bound"),
    Column("packets", _value("packets"), "packets that arrived"),
    Column("flit_hops", _value("flit_hops"), "switch traversals, ejection included"),
    Column("warmup_cycles", lambda r: r.warmup_cycles, "before the measurement", "cycles"),
    Column("measurement_cycles", lambda r: r.measurement_cycles, "of the measurement", "cycles"),
    Column("offered_load_flits_per_cycle", _value("offered_load"), "created in the measurement", _LOAD, "traffic"),
    Column("accepted_load_flits_per_cycle", _value("accepted_load"), "ejected in the measurement", _LOAD),
    Column(
        "accepted_load_ci_half_width_flits_per_cycle",
        _precision("accepted_load_half_width"),
        "half the confidence interval of the accepted load",
        _LOAD,
        "traffic",
    ),
    Column("mean_hops", lambda r: _hops(r.values), "channels between routers on the route of a packet"),
    Column("mean_channel_flits_per_cycle", lambda r: r.busy[0], "over a channel in use, the mean", "flits/cycle"),
    Column("max_channel_flits_per_cycle", lambda r: r.busy[1], "over the busiest channel", "flits/cycle"),
    Column("jain_index", lambda r: r.values["fairness"]["jain_index"], "fairness to the senders, 1 at best"),
    Column(
        "slowest_over_mean", lambda r: r.values["fairness"]["slowest_over_mean"], "the slowest sender over the mean"
    ),
    Column(
        "starved_terminals",
        lambda r: len(r.starved_terminals),
        "terminals that had packets to send and got none through",
        when="traffic",
    ),
    Column("ci_confidence", _precision("confidence"), "confidence of the intervals", when="traffic"),
    *_latencies(""),
    _of_background("packets", "packets of the background that arrived"),
    _of_background_load("offered", "created in the measurement"),
    _of_background_load("accepted", "arrived in the measurement"),
    Column("background_mean_hops", lambda r: _hops(r.values["background"]), "channels on its routes", "", "background"),
    *_latencies("background_"),
    *(_stalled(index, reason) for index, reason in enumerate(STALL_REASONS)),
    _of_bus("transfers", "how often the bus was given to a rank"),
    _of_bus("messages", "messages over the bus; of a broadcast one for each rank that gets it"),
    _of_bus("flits_carried", "flits over the bus; those of a broadcast count once"),
    _of_bus("busy_cycles", "the bus was busy, arbitration included", "cycles"),
    Column("seed", lambda r: r.seed, "seed of all random choices"),
    Column("digest", lambda r: r.digest, "fingerprint of every packet's arrival", number=False),
    Column("kernel", lambda r: r.kernel, "kernel that ran", number=False),
    Column("plan_hash", lambda r: r.plan_hash, "fingerprint of the plan", number=False),
    Column("version", lambda r: r.version, "version of flitwork", number=False),
    Column("wall_seconds", lambda r: r.wall_seconds, "time that the run took", "s"),
]


def _in_units(column: Column) -> Iterator[Column]:
    """A column, and the same in physical units, if it has some."""
    yield column
    found = physical_name(column.name)
    if found is not None:
        name, unit = found
        read = lambda result: scaled(column.read(result), result.units.factor(unit))  # noqa: E731
        per_terminal = "/terminal" if column.unit.endswith("/terminal") else ""
        yield replace(column, name=name, read=read, unit=UNITS[unit] + per_terminal, physical=unit)


#: Every column that a result can have, by name, in order.
RESULT_COLUMNS: dict[str, Column] = {one.name: one for column in _ALL for one in _in_units(column)}
#: The columns that tell networks and workloads apart, without being axes.
OF_THE_NETWORK = ("topology", "size", "terminals", "workload")


def is_latency(name: str) -> bool:
    """Whether a column is a latency of the workload, which has no value in a saturated network."""
    return name.startswith(("packet_latency_", "network_latency_"))


def ranks_of(spec: Mapping[str, Any], terminals: int) -> tuple[float, float]:
    """How many ranks a specification has in all, and the most of a terminal.

    NaN where it does not say so: a schedule of one's own may have fewer ranks than there are places for them.
    """
    if "schedule" in spec["workload"]:
        return math.nan, math.nan
    host = spec.get("host") or {}
    placement = host.get("placement")
    each = int(host.get("ranks_per_terminal", 1))
    if isinstance(placement, Mapping) and "ranks" in placement:
        return sum(placement["ranks"]), max(placement["ranks"])
    if isinstance(placement, Mapping) and "terminals" in placement:
        return len(placement["terminals"]), max(Counter(placement["terminals"]).values())
    return terminals * each, each


def with_ranks(row: Mapping[str, Any], spec: Mapping[str, Any]) -> dict[str, Any]:
    """A row of a result of ``spec``, with its ranks, which those stored by earlier versions do not have."""
    workload = spec["workload"]
    kind = workload.get("kind") if isinstance(workload, Mapping) else workload
    if set(_RANKS) <= set(row) or is_open_loop(kind):
        return dict(row)
    known = {**row, **dict(zip(_RANKS, ranks_of(spec, row["terminals"]), strict=True))}
    return {name: known[name] for name in RESULT_COLUMNS if name in known} | known


def row_of(result: Result) -> dict[str, Any]:
    """The columns of a result with their values."""
    has = {"always", "completes" if result.runs_to_completion else "traffic"}
    has |= {name for name in _APART if result.values.get(name)}
    units = result.units
    return {
        column.name: column.read(result) if column.when in has else None
        for column in RESULT_COLUMNS.values()
        if (column.when in has or column.when not in _APART) and column.known(units)
    }
