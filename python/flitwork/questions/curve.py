"""``fw.curve``: accepted load and latency over offered load, finer where the network saturates."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typing_extensions import Unpack

from flitwork import _core
from flitwork.base.arguments import number, several
from flitwork.base.errors import ConfigError
from flitwork.base.libraries import np, pd
from flitwork.base.statistics import half_width_95
from flitwork.experiment import Watcher, sweep
from flitwork.planning.bound import Bound
from flitwork.planning.specification import Network, RunOptions, plan_of, simulation
from flitwork.questions import indices
from flitwork.questions.indices import Estimate
from flitwork.values.schema import fields, kinds, schema
from flitwork.workloads.workload import Workload, at_load

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The axis of a curve: the load that was asked for.
LOAD = "load_flits_per_cycle"
_ACCEPTED = "accepted_load_flits_per_cycle"
_LATENCY = "packet_latency_mean_cycles"
#: Columns of which the mean over seeds stands in ``Curve.points``, and those whose half width stands beside it.
_MEANS = ("offered_load_flits_per_cycle", "packet_latency_p99_cycles", "mean_hops", "jain_index", "slowest_over_mean")
_WITH_INTERVAL = {
    _ACCEPTED: "accepted_load_ci_half_width_flits_per_cycle",
    _LATENCY: "packet_latency_ci_half_width_cycles",
    "network_latency_mean_cycles": "network_latency_ci_half_width_cycles",
}
_STEPS = 20
#: So far beyond what the busiest terminal receives the default loads go, to see what happens there.
_BEYOND = 1.25
_ROUNDS = 6
#: Options of a run that a plan without one depends on.
_OF_PLANS = ("deadlock_check", "memory_limit_mb")


@dataclass(frozen=True, eq=False)
class Curve:
    """A curve: ``table`` has one row for each load and seed, :attr:`points` one for each load.

    ``capacity`` is the load at which uniform traffic uses up the middle of the network or its terminals, ``grid`` the
    loads of the first sweep; the others were added around saturation. ``title`` says what was simulated.
    """

    table: pd.DataFrame
    grid: tuple[float, ...]
    capacity: float
    name: str = ""
    title: str = ""

    @cached_property
    def points(self) -> pd.DataFrame:
        """A row for each load: status, means over the seeds, half widths of 95 % confidence intervals.

        The half width is that over the seeds; with one seed, that of the run. A load is saturated if one of its seeds
        is; its latency then has no mean.
        """
        return pd.DataFrame([self._point(float(rows[LOAD].iloc[0]), rows) for _, rows in self.table.groupby(LOAD)])

    def _point(self, load: float, rows: pd.DataFrame) -> dict[str, Any]:
        found = set(rows["status"])
        status = next((s for s in ("saturated", "not_converged") if s in found), "complete")
        point: dict[str, Any] = {LOAD: load, "status": status, "seeds": len(rows), "refined": load not in self.grid}
        point.update({name: rows[name].mean() for name in _MEANS})
        for name, half_width in _WITH_INTERVAL.items():
            latency = name != _ACCEPTED
            one = float(rows[half_width].iloc[0]) if len(rows) == 1 else half_width_95(rows[name])
            nothing = latency and status == "saturated"
            point[name] = math.nan if nothing else rows[name].mean()
            point[half_width] = math.nan if nothing else one
        if status == "saturated":
            point["packet_latency_p99_cycles"] = math.nan
        return point

    @property
    def saturation(self) -> tuple[float, float]:
        """Between these loads the network saturates: the highest below the first that is saturated, and that one.

        The first is 0 where the lowest load is saturated already, the second infinite where none is.
        """
        return _bracket(self.table)

    @property
    def critical_load(self) -> Estimate:
        """``rc`` of every seed, on the loads of the first sweep, with its interval over the seeds.

        Where the slope never fell to half it is the last load: see :attr:`critical_load_reached`.
        """
        return indices.over_seeds(found.load for found in self._critical)

    @property
    def critical_load_reached(self) -> bool:
        """Whether the slope fell to half for every seed."""
        return all(found.reached for found in self._critical)

    @cached_property
    def _critical(self) -> list[indices.Critical]:
        step = float(np.max(np.diff([0.0, *self.grid])))
        if step > indices.COARSEST_STEP * self.capacity * (1 + 1e-9):
            expected = f"steps of at most 0.05 of the capacity {self.capacity:g}"
            raise ConfigError("loads", f"steps of {step:g}", expected, "the critical load needs a finer curve")
        seeds = (_arrays(one) for one in self._seeds(refined=False))
        return [indices.critical_load(load, accepted, self.capacity) for load, accepted, _ in seeds]

    @cached_property
    def npm(self) -> Estimate:
        """The network performance measure of every seed up to the capacity, with its interval over the seeds.

        The latency of a saturated network counts as infinite: in the steady state it is.
        """
        seeds = (_arrays(one) for one in self._seeds(refined=False))
        return indices.over_seeds(indices.npm(*one, self.capacity) for one in seeds)

    @cached_property
    def saturation_throughput(self) -> Estimate:
        """The highest accepted load of every seed, with its interval over the seeds."""
        return indices.over_seeds(indices.saturation_throughput(_arrays(one)[1]) for one in self._seeds(refined=True))

    def _seeds(self, refined: bool) -> Iterable[pd.DataFrame]:
        table = self.table if refined else self.table[self.table[LOAD].isin(self.grid)]
        return [one.sort_values(LOAD) for _, one in table.groupby("seed")]

    @property
    def indices(self) -> pd.DataFrame:
        """A row for each index: value, half width of its 95 % interval over the seeds, unit, and what limits it."""
        rows = [_index_row(*row) for row in self._named()]
        low, high = self.saturation
        found, note = (low + high) / 2, f"between {low:g} and {high:g}"
        if math.isinf(high):
            found, note = math.nan, "no load is saturated"
        # What is known of it is that it lies between two loads, which is no confidence interval.
        rows.append(("saturation_load", found, math.nan, "flits/cycle/terminal", note))
        return pd.DataFrame(rows, columns=["index", "value", "ci_half_width", "unit", "note"])

    def _named(self) -> list[tuple[str, str, Any]]:
        return [
            ("critical_load", "flits/cycle/terminal", lambda: (self.critical_load, self._reached_note())),
            ("npm", "(flits/cycle/terminal)^2/cycle", lambda: (self.npm, "")),
            ("saturation_throughput", "flits/cycle/terminal", lambda: (self.saturation_throughput, "")),
        ]

    def _reached_note(self) -> str:
        return "" if self.critical_load_reached else "a lower limit: the slope did not fall to half"

    def plot(self, **compared: Curve) -> Figure:
        """Latency and accepted load over offered load; other curves by name beside this one."""
        from flitwork.plot.load_curves import load_curves
        from flitwork.plot.style import together

        curves = together(self.name or "curve", self, compared)
        title = self.title if all(one.title == self.title for one in curves.values()) else ""
        return load_curves({name: (one.points, one.saturation) for name, one in curves.items()}, self.capacity, title)

    def save(self, folder: str | Path) -> list[Path]:
        """``runs.csv``, ``points.csv``, ``indices.csv`` and the figure as PNG and SVG in ``folder``.

        Files that are there are replaced.
        """
        from flitwork.plot.style import save_with_tables

        tables = {"runs": self.table, "points": self.points, "indices": self.indices}
        return save_with_tables(self.plot(), "curve", tables, Path(folder))


def curve(
    network: Network,
    workload: Workload,
    loads: Sequence[float] | None = None,
    *,
    background: Workload | None = None,
    seeds: Sequence[int] = (1, 2, 3),
    resolution: float = 0.01,
    capacity: float | None = None,
    out: str | Path | None = None,
    jobs: int | None = None,
    engine: str = "local",
    scheduler: str | None = None,
    watcher: Watcher | None = None,
    **run: Unpack[RunOptions],
) -> Curve:
    """Sweeps the offered load of a workload on all cores, then adds loads around saturation.

    >>> curve = fw.curve(fw.Torus(8, 8, vcs=4), fw.uniform(offered_load=0.1, packet_flits=4), seeds=[1, 2, 3])
    >>> curve.points, curve.critical_load, curve.plot()

    The load that ``workload`` states is replaced by each of ``loads`` [flits/cycle/terminal], by default 20 equal steps
    up to ``capacity`` (by default that of the network, ``8 / N`` for an N x N torus), or to 1.25 times the load at
    which the busiest terminal has nothing left to receive more with, if that is less. Between the highest load below
    saturation and the lowest above it three more are run, until the two are less than ``resolution`` times the capacity
    apart; 0 adds none. Each run is measured as ``steady`` says (``steady={"relative_ci": 0.01}``), or in a
    fixed window where ``warmup_cycles`` or ``measurement_cycles`` is given. With ``out`` every finished run is stored
    there at once, and the same call continues after an interruption. ``background`` runs beside the workload in every
    run, at its own load. ``engine`` and ``scheduler`` are those of :func:`flitwork.sweep`.
    """
    capacity, top = _limits(network, workload, capacity, run)
    grid = _loads(loads, top)
    share = "at least 0 and less than 1, a share of the capacity"
    if not 0 <= number("resolution", resolution, share, "such as 0.01") < 1:
        raise ConfigError("resolution", resolution, share, "such as 0.01")
    if "steady" not in run and not {"warmup_cycles", "measurement_cycles"} & set(run):
        run["steady"] = {}

    def sweep_loads(values: Sequence[float]) -> pd.DataFrame:
        def at(**axis: float) -> tuple[Network, Workload, Workload | None]:
            return network, at_load(workload, axis[LOAD]), background

        where: dict[str, Any] = {"out": out, "jobs": jobs, "engine": engine, "scheduler": scheduler, "watcher": watcher}
        where[LOAD] = values
        return sweep(at, seeds=seeds, run=run, **where)

    table = sweep_loads(grid)
    for _ in range(_ROUNDS if resolution else 0):
        low, high = _bracket(table)
        if math.isinf(high) or high - low <= resolution * capacity:
            break
        between = [round(low + (high - low) * quarter / 4, 9) for quarter in (1, 2, 3)]
        table = pd.concat([table, sweep_loads(between)], ignore_index=True)
    table = table.sort_values([LOAD, "seed"], kind="stable").reset_index(drop=True)
    name = str(table["workload"].iloc[0])
    return Curve(table, tuple(grid), capacity, name, _title(name, network, workload, run))


def _some_load(workload: Workload) -> Workload:
    """A workload with its own load, or with one where it has none."""
    return workload if {"offered_load", "offered_bytes_per_s"} & set(workload.spec) else at_load(workload, 0.1)


def _plan(network: Network, workload: Workload, run: Mapping[str, Any] | None) -> _core.Plan:
    """A plan without a run, allowed what ``run`` is."""
    return plan_of(simulation(network, workload, {k: v for k, v in (run or {}).items() if k in _OF_PLANS}))


def _title(name: str, network: Network, workload: Workload, run: Mapping[str, Any] | None) -> str:
    from flitwork.plot.labels import simulated

    return simulated(name, _plan(network, _some_load(workload), run).contents())


def _bracket(table: pd.DataFrame) -> tuple[float, float]:
    saturated = table.loc[table["status"] == "saturated", LOAD]
    high = float(saturated.min()) if len(saturated) else math.inf
    below = table.loc[table[LOAD] < high, LOAD]
    return (float(below.max()) if len(below) else 0.0), high


def _arrays(one: pd.DataFrame) -> tuple[indices.Array, indices.Array, indices.Array]:
    """Loads, accepted loads and mean latencies of one seed; the latency of a saturated network is infinite."""
    latency = one[_LATENCY].where(one["status"] != "saturated", math.inf)
    return one[LOAD].to_numpy(float), one[_ACCEPTED].to_numpy(float), latency.to_numpy(float)


def _limits(
    network: Network, workload: Workload, capacity: float | None, run: Mapping[str, Any] | None = None
) -> tuple[float, float]:
    """The capacity, and the highest load that is worth asking for [flits/cycle/terminal]."""
    if not isinstance(workload, Workload):
        raise ConfigError("workload", repr(workload), "a Workload", "for example fw.uniform(offered_load=0.1)")
    kind = workload.spec["kind"]
    known = fields(kinds(schema()["properties"]["workload"])[kind])
    if "offered_load" not in known:
        expected = "traffic at an offered load"
        raise ConfigError("workload", kind, expected, "for example fw.uniform(offered_load=0.1)")
    planned = _plan(network, _some_load(workload), run)
    bound = Bound.of(planned)
    if capacity is None:
        known_capacity = planned.uniform_capacity
        capacity = bound.saturation_load if known_capacity is None else float(known_capacity)
    expected, hint = "a load above 0 [flits/cycle/terminal]", "for an N x N torus 8 / N"
    if not (math.isfinite(number("capacity", capacity, expected, hint)) and capacity > 0):
        raise ConfigError("capacity", capacity, expected, hint)
    return capacity, _top(network, workload, capacity, float(bound.values["terminal_load_flits_per_cycle"]), run)


def _top(
    network: Network, workload: Workload, capacity: float, terminals: float, run: Mapping[str, Any] | None
) -> float:
    """The last load of the default: the capacity, or, where the busiest terminal is full before, a little beyond that.

    A load at which a terminal would have to create more than one packet a cycle is refused: then there is no beyond.
    """
    if terminals >= capacity:
        return capacity
    beyond = min(capacity, _BEYOND * terminals)
    try:
        _plan(network, at_load(workload, beyond), run)
    except ConfigError:
        return terminals
    return beyond


def _loads(loads: Sequence[float] | None, top: float) -> list[float]:
    if loads is None:
        return [round(top * step / _STEPS, 9) for step in range(1, _STEPS + 1)]
    expected = "a load above 0 [flits/cycle/terminal]"
    found = [number(f"loads[{i}]", load, expected) for i, load in enumerate(several("loads", loads, "a list of loads"))]
    for i, load in enumerate(found):
        if not (math.isfinite(load) and load > 0):
            raise ConfigError(f"loads[{i}]", load, expected)
    if not found:
        raise ConfigError("loads", loads, "at least one load", "leave it out for 20 steps up to the capacity")
    return sorted(found)


def _index_row(name: str, unit: str, find: Any) -> tuple[str, float, float, str, str]:
    try:
        estimate, note = find()
    except ConfigError as error:
        return name, math.nan, math.nan, unit, f"not known: {error.path} = {error.value}, expected {error.expected}"
    return name, estimate.mean, estimate.half_width, unit, note
