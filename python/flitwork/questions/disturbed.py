"""How much longer a timetable takes where ranks are late, beside algorithms by steps under the same disturbance.

From above: a plan of each schedule for each disturbance and seed, run on all cores as those of a sweep; their mean over
the lower bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from flitwork.base.arguments import number, several, whole
from flitwork.base.errors import ConfigError
from flitwork.base.libraries import pd
from flitwork.base.statistics import half_width_95
from flitwork.experiment import Point, Watcher
from flitwork.experiment.sweep import run_points
from flitwork.planning.specification import Network, plan_of, simulation
from flitwork.values.noise import Periodic
from flitwork.workloads.workload import Spec, Workload, collective, late_starts

if TYPE_CHECKING:
    from flitwork.questions.synthesise import Synthesis

#: Latest starts that are tried [% of the lower bound].
LATE_PERCENT = (1, 2, 5, 10)
#: Detours of an operating system: so long every so often [cycles], 1 % of the time.
_DETOURS = Periodic(duration_cycles=20, period_cycles=2000)
_KEEP = {"late_sends": "keep"}
#: A2AT is for grids with one terminal a router, the others are for all networks.
_ALGORITHMS = ("a2at", "simple_spread", "pairwise_shift")
_MOST_SEEDS = 1000


def disturbed(
    found: Synthesis,
    *,
    seeds: int = 3,
    late_percent: Sequence[float] = LATE_PERCENT,
    jobs: int | None = None,
    watcher: Watcher | None = None,
) -> pd.DataFrame:
    """A row for each schedule and disturbance, as :meth:`flitwork.Synthesis.disturbed` describes them."""
    seeds = whole("seeds", seeds, 1, _MOST_SEEDS, "each schedule runs once a seed")
    latest = [_percent(one) for one in several("late_percent", late_percent, "a list of percentages")]
    by_steps = _by_steps(found)
    points = [
        Point(schedule, "disturbed", {"disturbance": words, "schedule": schedule}, seed, spec)
        for words, late, host in _disturbances(found.bound_cycles, latest)
        for schedule, network, workload, more in [*_timetables(found, late), *by_steps]
        for seed in (range(1, seeds + 1) if host else [1])
        for spec in [simulation(network, workload, {"seed": seed}, host={**host, **more} or None)]
    ]
    table = run_points(points, jobs=jobs, watcher=watcher).table
    ratio = table["completion_cycles"] / found.bound_cycles
    groups = ratio.groupby([table["schedule"], table["disturbance"]], sort=False)
    return groups.agg(ratio_to_bound="mean", ci_half_width=half_width_95, runs="count").reset_index()


def _percent(value: Any) -> float:
    percent = number("late_percent", value, "a percentage of the lower bound")
    if not 0 < percent <= 100:
        raise ConfigError("late_percent", value, "a percentage of the lower bound, more than 0 and at most 100")
    return percent


def _disturbances(bound_cycles: float, latest: Sequence[float]) -> Iterator[tuple[str, int, Spec]]:
    """In words, the latest start [cycles], and as a table of the host."""
    yield "none", 0, {}
    for percent in latest:
        late = max(1, round(bound_cycles * percent / 100))
        yield f"starts up to {percent:g} % late", late, {"start": late_starts(late)}
    yield "detours of 1 %", 0, {"noise": _DETOURS}


#: What a schedule is called, its network and workload, and what it adds to the host.
Schedule = tuple[str, Network, Workload, Spec]


def _timetables(found: Synthesis, late: int) -> Iterator[Schedule]:
    yield "timetable", found.network, found.timetable, {}
    yield "timetable, late sends kept", found.network, found.timetable, _KEEP
    if late > found.skew_cycles:
        yield "timetable that begins after the latest start", found.network, found.timetable.begun_at(late), {}


def _by_steps(found: Synthesis) -> list[Schedule]:
    """Algorithms by steps on the network as it was given; those that are not defined there are left out."""
    schedules: list[Schedule] = []
    for algorithm in _ALGORITHMS:
        workload = collective("all_to_all", algorithm, **found.lengths)
        try:
            plan_of(simulation(found.given_network, workload))
        except ConfigError as error:
            if error.path != "workload.algorithm":
                raise
        else:
            schedules.append((algorithm, found.given_network, workload, {}))
    return schedules
