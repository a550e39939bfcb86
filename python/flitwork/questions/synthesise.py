"""``fw.synthesise``: a schedule of an all-to-all with times, at or near the bound of its network.

From above: the simulator's crate searches for timetables of blocks of different lengths and keeps the one that ends
first; it is proved free of collisions when it is planned, and simulated.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flitwork import _core
from flitwork.base.arguments import number, whole
from flitwork.base.errors import ConfigError
from flitwork.experiment import Watcher
from flitwork.planning.bound import Bound
from flitwork.planning.specification import Network, Run, RunOptions, nest_run, plan_of, simulation
from flitwork.questions.candidates import OPERATION
from flitwork.questions.disturbed import LATE_PERCENT, disturbed
from flitwork.results.result import Result, run_plan
from flitwork.workloads.timetable import Timetable
from flitwork.workloads.workload import Quantity, Spec, all_to_all

if TYPE_CHECKING:
    import pandas as pd

#: Steps of a search where nothing is said: up to half a minute.
DEFAULT_STEPS = 100_000_000
#: Longer runs are not simulated unasked [flits over channels].
_MOST_FLIT_HOPS = 2e9
_MOST_SEED = 2**64 - 1
_MOST_SKEW = 2**40

#: Called with the block that is tried [flits], the steps done and the best period so far (0: none) [cycles].
Progress = Callable[[int, int, int], object]


@dataclass(frozen=True)
class Synthesis:
    """A timetable for one network and one length of messages, and how far it is from the bound.

    ``network`` is the one that was given, with a routing that takes the direction at half a ring from the message where
    rings are even. ``bound_cycles`` is what no schedule of these messages can beat (:func:`flitwork.bound`);
    ``planned_cycles`` is when the last message has arrived if no flit waits, ``result`` the simulation, if there was
    one.
    ``least_period_cycles`` is the shortest period that ports and channels allow for blocks of this length.
    ``given_network`` is the one that was given, ``lengths`` what was said of messages and packets.
    ``skew_cycles``: the timetable begins so late, when all ranks have started; the times above include it.
    ``interrupted``: the search was stopped, and this is the best that it had found.
    """

    network: Network
    timetable: Timetable
    bound: Bound
    planned_cycles: int
    least_period_cycles: int
    steps: int
    seed: int
    interrupted: bool
    message_flits: int
    skew_cycles: int
    result: Result | None = field(repr=False)
    given_network: Network = field(repr=False)
    lengths: Mapping[str, Any] = field(repr=False)

    @property
    def completion_cycles(self) -> int:
        """The time of the simulation, or the planned time where none was made [cycles]."""
        return self.planned_cycles if self.result is None else int(self.result.completion_cycles)

    @property
    def bound_cycles(self) -> float:
        """What no schedule of these messages can beat [cycles]."""
        return self.bound.tightest_cycles

    @property
    def ratio_to_bound(self) -> float:
        """Completion time over the bound."""
        return self.completion_cycles / self.bound_cycles if self.bound_cycles else math.nan

    @property
    def reason(self) -> str:
        """What keeps it from the bound, in words."""
        period, least = self.timetable.period_cycles, self.least_period_cycles
        blocks = math.ceil(self.message_flits / self.timetable.block_flits)
        rest = self.planned_cycles - self.skew_cycles - blocks * period
        said = [
            *([f"{_counted(self.skew_cycles, 'cycle')} until all ranks have started"] if self.skew_cycles else []),
            f"{_counted(blocks, 'period')} of {_counted(period, 'cycle')}",
            "the shortest that ports and channels allow" if period == least else f"{least:,} would be the shortest",
            f"and {_counted(rest, 'cycle')} until the last block has arrived"
            if rest >= 0
            else f"and the last block has arrived {_counted(-rest, 'cycle')} before the last period ends",
        ]
        if self.late_cycles:
            said.append(f"but packets waited: the simulation ended {_counted(self.late_cycles, 'cycle')} later")
        return ", ".join(said)

    @property
    def late_cycles(self) -> int:
        """How much later than planned the simulation ended [cycles]: 0, unless flits waited."""
        return self.completion_cycles - self.planned_cycles

    def disturbed(
        self,
        *,
        seeds: int = 3,
        late_percent: Sequence[float] = LATE_PERCENT,
        jobs: int | None = None,
        watcher: Watcher | None = None,
    ) -> pd.DataFrame:
        """How much longer the timetable takes where ranks are late, beside algorithms by steps.

        Disturbances: ranks that start late, at times drawn alike from 0 to so many per cent of the bound; and detours
        of the operating system, 20 cycles every 2,000. Schedules: the timetable; the same with
        ``host.late_sends = "keep"``; the same, which begins after the latest start; A2AT on grids with one terminal a
        router, simple spread and pairwise exchange. Each runs with the seeds 1 to ``seeds``, on all cores, or ``jobs``
        at once.

        Columns: ``schedule``, ``disturbance``, ``ratio_to_bound`` (the mean), ``ci_half_width`` (half its 95 %
        confidence interval; NaN for one run) and ``runs``.
        """
        return disturbed(self, seeds=seeds, late_percent=late_percent, jobs=jobs, watcher=watcher)

    def to_dict(self) -> dict[str, Any]:
        """All but the timetable as plain data, for JSON."""
        return {
            "sizes": list(self.timetable.sizes) or None,
            "message_flits": self.message_flits,
            "block_flits": self.timetable.block_flits,
            "period_cycles": self.timetable.period_cycles,
            "least_period_cycles": self.least_period_cycles,
            "planned_cycles": self.planned_cycles,
            "completion_cycles": self.completion_cycles,
            "skew_cycles": self.skew_cycles,
            "late_cycles": self.late_cycles,
            "simulated": self.result is not None,
            "bound_cycles": self.bound_cycles,
            "ratio_to_bound": self.ratio_to_bound,
            "reason": self.reason,
            "seed": self.seed,
            "steps": self.steps,
            "interrupted": self.interrupted,
        }


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


def synthesise(
    network: Network,
    operation: str = OPERATION,
    *,
    message_flits: int | None = None,
    message_bytes: Quantity | None = None,
    packet_flits: int | None = None,
    packet_bytes: Quantity | None = None,
    skew_cycles: int = 0,
    seed: int = 1,
    budget_steps: int = DEFAULT_STEPS,
    budget_seconds: float | None = None,
    simulated: bool | None = None,
    run: Run | RunOptions | None = None,
    progress: Progress | None = None,
) -> Synthesis:
    """Searches for an all-to-all in which no flit ever waits: every block of every message has a time.

    >>> found = fw.synthesise(fw.Torus(9, 9), message_flits=100, packet_flits=1)
    >>> print(found.ratio_to_bound, found.reason)
    >>> result = fw.simulate(found.network, found.timetable)

    On tori with one terminal a router under dimension order all nodes do the same; on other networks (meshes, trees,
    dragonflies, ...) each message has a start of its own, and all packets of a pair of terminals must take the same
    route. Routers and network interfaces must let packets follow each other without a gap. ``message_flits`` (100 if
    not said) or ``message_bytes``
    is the length of a message; ``packet_flits``, or ``packet_bytes``, the longest packet (a whole block if not said).
    ``skew_cycles``: how much later than the first rank the last one may start; the timetable begins then. The same
    ``seed`` and ``budget_steps`` give the same timetable; with ``budget_seconds`` the search ends earlier, and
    what it finds depends on the machine. Ctrl-C, or ``progress`` that returns ``False``, ends it with the best so far.
    ``simulated``: whether the timetable is simulated, with the options of ``run``; if not said, where that takes a
    minute or so at most and the search was not interrupted.

    Raises :class:`flitwork.ConfigError` for a network or an operation that it is not for, and for a network in which
    flits would wait whatever the timetable.
    """
    if operation != OPERATION:
        raise ConfigError("operation", repr(operation), repr(OPERATION), "fw.pick compares the algorithms of others")
    seed = whole("seed", seed, 0, _MOST_SEED)
    skew_cycles = whole("skew_cycles", skew_cycles, 0, _MOST_SKEW)
    budget_steps = whole("budget_steps", budget_steps, 1, _MOST_SEED)
    if budget_seconds is not None and not number("budget_seconds", budget_seconds, "a number of seconds") > 0:
        raise ConfigError("budget_seconds", budget_seconds, "more than 0 seconds")
    if simulated is not None and not isinstance(simulated, bool):
        raise ConfigError("simulated", repr(simulated), "True, False or None")
    if progress is not None and not callable(progress):
        raise ConfigError("progress", repr(progress), "a function of block, steps and period, or None")
    lengths: dict[str, Any] = {
        name: value
        for name, value in {
            "message_flits": message_flits, "message_bytes": message_bytes,
            "packet_flits": packet_flits, "packet_bytes": packet_bytes,
        }.items()
        if value is not None
    }  # fmt: skip
    machine = plan_of(simulation(network, all_to_all("a2a", **lengths)))
    begin = {**lengths, "begin_cycles": skew_cycles}
    deadline = math.inf if budget_seconds is None else time.monotonic() + budget_seconds
    options = {"seed": 1, **nest_run(run)}

    def goes_on(block: int, steps: int, period: int) -> bool:
        return (progress is None or progress(block, steps, period) is not False) and time.monotonic() < deadline

    # Whether it fits into memory does not depend on what is found: it is seen before the search.
    _planned(network, _core.find_timetable(machine, seed, 0, None)[0], machine, begin, options)
    table, least, cycles, flits, steps, interrupted = _core.find_timetable(machine, seed, budget_steps, goes_on)
    given = network
    network, timetable, plan = _planned(network, table, machine, begin, options)
    cycles += skew_cycles
    flit_hops, _ = machine.estimated_work
    short = flit_hops <= _MOST_FLIT_HOPS and not interrupted
    wanted = short if simulated is None else simulated
    result = run_plan(plan) if wanted else None
    return Synthesis(
        network,
        timetable,
        Bound.of(plan),
        cycles,
        least,
        steps,
        seed,
        interrupted,
        flits,
        skew_cycles,
        result,
        given,
        lengths,
    )


def _planned(
    network: Network, table: _core.Table, machine: _core.Plan, lengths: Mapping[str, Any], run: Spec
) -> tuple[Network, Timetable, _core.Plan]:
    """A timetable for its network, proved and planned."""
    timetable = Timetable(table, **lengths)
    if any(size % 2 == 0 for size in timetable.sizes):
        network = network.replace(tie="by_message")
    if (machine.packet_flits or 0) > timetable.block_flits:
        # A packet is as long as its message then.
        messages = {name: length for name, length in lengths.items() if not name.startswith("packet")}
        timetable = Timetable(table, **messages)
    return network, timetable, plan_of(simulation(network, timetable, run))
