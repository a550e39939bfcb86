"""How much longer a timetable takes where ranks are late, beside algorithms by steps under the same disturbance.

From above: a plan of each schedule for each disturbance and seed, run on all cores as those of a sweep; their mean over
the lower bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flitwork.base.arguments import number, several, whole
from flitwork.base.errors import ConfigError
from flitwork.base.libraries import pd
from flitwork.base.statistics import half_width_95
from flitwork.experiment import Point, Watcher
from flitwork.experiment.sweep import run_points
from flitwork.planning.specification import Network, simulation
from flitwork.values.noise import Periodic
from flitwork.values.tables import Start
from flitwork.workloads.timetable import Timetable
from flitwork.workloads.workload import Spec, Workload, collective

#: Latest starts that are tried [% of the lower bound].
LATE_PERCENT = (1, 2, 5, 10)
#: Detours of an operating system: so long every so often [cycles], 1 % of the time.
_DETOURS = Periodic(duration_cycles=20, period_cycles=2000)
_KEEP = {"late_sends": "keep"}
#: Networks with coordinates have A2AT, others simple spread.
_BY_STEPS = ("a2at", "simple_spread", "pairwise_shift")
_MOST_SEEDS = 1000


@dataclass(frozen=True)
class Case:
    """A timetable, its network with and without the routing that it needs, and what its messages need at least."""

    network: Network
    given: Network
    timetable: Timetable
    lengths: Mapping[str, Any]
    begin_cycles: int
    bound_cycles: float


def disturbed(
    case: Case,
    *,
    seeds: int = 3,
    late_percent: Sequence[float] = LATE_PERCENT,
    jobs: int | None = None,
    watcher: Watcher | None = None,
) -> pd.DataFrame:
    """A row for each schedule and disturbance, as :meth:`flitwork.Synthesis.disturbed` describes them."""
    seeds = whole("seeds", seeds, 1, _MOST_SEEDS, "each schedule runs once a seed")
    latest = [_percent(one) for one in several("late_percent", late_percent, "a list of percentages")]
    points = [
        Point(schedule, "disturbed", {"disturbance": words, "schedule": schedule}, seed, spec)
        for words, late, host in _disturbances(case, latest)
        for schedule, network, workload, more in _schedules(case, late)
        for seed in (range(1, seeds + 1) if host else [1])
        for spec in [simulation(network, workload, {"seed": seed}, host={**host, **more} or None)]
    ]
    table = run_points(points, jobs=jobs, watcher=watcher).table
    ratio = table["completion_cycles"] / case.bound_cycles
    groups = ratio.groupby([table["schedule"], table["disturbance"]], sort=False)
    found = groups.agg(ratio_to_bound="mean", ci_half_width=half_width_95, runs="count")
    return found.reset_index()


def _percent(value: Any) -> float:
    percent = number("late_percent", value, "a percentage of the lower bound")
    if not 0 < percent <= 100:
        raise ConfigError("late_percent", value, "a percentage of the lower bound, more than 0 and at most 100")
    return percent


def _disturbances(case: Case, latest: Sequence[float]) -> Iterator[tuple[str, int, Spec]]:
    """In words, the latest start [cycles], and as a table of the host."""
    yield "none", 0, {}
    for percent in latest:
        late = max(1, round(case.bound_cycles * percent / 100))
        start = Start(kind="uniform", latest_cycles=late, order="drawn")
        yield f"starts up to {percent:g} % late", late, {"start": start}
    yield "detours of 1 %", 0, {"noise": _DETOURS}


def _schedules(case: Case, late: int) -> Iterator[tuple[str, Network, Workload, Spec]]:
    """Its name, network and workload, and what it adds to the host."""
    yield "timetable", case.network, case.timetable, {}
    yield "timetable, late sends kept", case.network, case.timetable, _KEEP
    if late > case.begin_cycles:
        waits = Timetable(case.timetable.spec["timetable"], **case.lengths, begin_cycles=late)
        yield "timetable that begins after the latest start", case.network, waits, {}
    has_coordinates = "size" in case.given.spec["topology"]
    for algorithm in _BY_STEPS:
        if algorithm != "a2at" or has_coordinates:
            yield algorithm, case.given, collective("all_to_all", algorithm, **case.lengths), {}
