"""``fw.burst``: how long a synchronised burst takes, over many trials, alone or with background traffic."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flitwork.base.arguments import number, several
from flitwork.base.errors import ConfigError
from flitwork.base.libraries import np, pd
from flitwork.base.statistics import half_width_95
from flitwork.experiment import Failure, Point, SweepError, Watcher, run_options, run_points
from flitwork.experiment.axes import MOST_POINTS, check_count, check_different
from flitwork.planning.specification import Network, Run, RunOptions, nest_run, simulation
from flitwork.results.result import Result
from flitwork.workloads.workload import PacketFlits, Spec, Workload, burst_workload, uniform

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The axes of a burst.
PACKETS, RATE = "packets_per_terminal", "rate_flits_per_cycle"


@dataclass(frozen=True, eq=False)
class Burst:
    """Trials of bursts: ``table`` has one row a trial, :attr:`points` one for each length and rate.

    ``deliveries`` has one row a window of time for each of them: what was received in it, the mean over the trials.
    ``title`` says what was simulated.
    """

    table: pd.DataFrame
    deliveries: pd.DataFrame
    name: str = ""
    title: str = ""

    @cached_property
    def points(self) -> pd.DataFrame:
        """A row for each number of packets and rate: the duration over the trials and its lower bound [cycles].

        ``mean_ci_half_width_cycles`` is half the 95 % confidence interval of the mean (of a single trial it is not
        known: NaN, as the standard deviation), ``performance`` is 1000 over the mean duration, as Yokota, Ootsu and
        Baba define it [1/1000 cycles], ``bound_cycles`` the mean of the bounds: where a seed draws the destinations, it
        draws the bound with them.
        """
        found = self.table.groupby([PACKETS, RATE], sort=True)
        return pd.DataFrame([{PACKETS: key[0], RATE: key[1], **_duration(rows)} for key, rows in found])

    def plot(self, **compared: Burst) -> Figure:
        """Duration over the packets of a terminal (or the rate), and packets received over time; others beside it."""
        from flitwork.plot.bursts import bursts
        from flitwork.plot.style import together

        shown = together(self.name or "burst", self, compared)
        title = self.title if all(one.title == self.title for one in shown.values()) else ""
        return bursts({name: (one.points, one.deliveries) for name, one in shown.items()}, title)

    def save(self, folder: str | Path) -> list[Path]:
        """``trials.csv``, ``points.csv``, ``deliveries.csv`` and the figure as PNG and SVG in ``folder``.

        Files that are there are replaced.
        """
        from flitwork.plot.style import save_with_tables

        tables = {"trials": self.table, "points": self.points, "deliveries": self.deliveries}
        return save_with_tables(self.plot(), "burst", tables, Path(folder))


class BurstError(SweepError):
    """Some trials failed: ``failures`` has them, ``burst`` (and ``table``) the others; ``None`` if none is left."""

    def __init__(self, message: str, failures: list[Failure], burst: Burst | None, results: list[Result]) -> None:
        super().__init__(message, failures, burst.table if burst else pd.DataFrame(), results)
        self.burst = burst


def burst(
    network: Network,
    pattern: str,
    *,
    packets: int | Sequence[int],
    packet_flits: PacketFlits = 1,
    rate: float | Sequence[float] = 0.0,
    trials: int = 10,
    first_seed: int = 1,
    background_load: float = 0.0,
    background: Workload | None = None,
    parameters: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    jobs: int | None = None,
    engine: str = "local",
    scheduler: str | None = None,
    watcher: Watcher | None = None,
    warmup_cycles: int | None = None,
    delivery_window_cycles: int = 0,
    run: Run | RunOptions | None = None,
) -> Burst:
    """How long it takes until bursts of ``packets`` packets a terminal have arrived; ``trials`` trials, on all cores.

    >>> burst = fw.burst(fw.Torus(8, 8, vcs=4), "shuffle", packets=[1, 10], packet_flits=8, background_load=0.1)
    >>> burst.table, burst.points, burst.plot()

    ``packets`` and ``rate`` may be lists; every combination is run. The burst is that of :func:`flitwork.
    burst_workload`, ``parameters`` are those of the pattern. ``background_load`` [flits/cycle/terminal] puts uniform
    traffic of the same packets in the background, ``background`` any other open loop, from ``warmup_cycles`` before
    t = 0 on.
    Trials differ by their seed, ``first_seed`` and the numbers that follow: where nothing is drawn (a fixed pattern,
    all packets at once, no background, no random tie) all trials are the same. ``delivery_window_cycles`` records what
    is received over time; ``run`` has all other options of a run. ``out``, ``jobs``, ``engine`` and ``scheduler`` are
    those of :func:`flitwork.sweep`. Where trials fail, a :class:`flitwork.BurstError` after all the others have run has
    these as its ``burst``.
    """
    behind = _background(background_load, background, packet_flits)
    seeds = _seeds(trials, first_seed)
    options = _options(run, warmup_cycles=warmup_cycles, delivery_window_cycles=delivery_window_cycles or None)
    lengths, limits = _listed("packets", packets), _listed("rate", rate)
    check_count(len(lengths) * len(limits) * len(seeds), "burst")
    points = []
    for length, limit in itertools.product(lengths, limits):
        workload = burst_workload(
            pattern, packets=length, packet_flits=packet_flits, rate=limit, **_parameters(parameters)
        )
        params = {PACKETS: length, RATE: limit}
        for seed in seeds:
            spec = simulation(network, workload, {**options, "seed": seed}, behind)
            points.append(Point("burst", "burst", params, seed, spec))
    try:
        done = run_points(points, out=out, jobs=jobs, engine=engine, scheduler=scheduler, watcher=watcher)
    except SweepError as error:
        left = _added_up(error.table, error.results, pattern) if error.results else None
        raise BurstError(str(error), error.failures, left, error.results) from None
    return _added_up(done.table, done.results, pattern)


def _added_up(table: pd.DataFrame, results: Sequence[Result], pattern: str) -> Burst:
    from flitwork.plot.labels import simulated

    table = table.rename(columns={"completion_cycles": "duration_cycles"})
    received = _mean_deliveries(table, [_received(result) for result in results])
    return Burst(table, received, pattern, simulated(f"bursts of {pattern}", results[0].plan))


def _options(run: Run | RunOptions | None, **given: int | None) -> Spec:
    """The table ``run``; what has an argument of its own may not stand in ``run``, too."""
    run_options(run, "first_seed={}")
    return nest_run(run, {name: value for name, value in given.items() if value is not None})


def _received(result: Result) -> pd.DataFrame:
    """What a trial received in each window.

    The end of a trial cuts its last window off. Nothing more of the burst would have come, but more of the background:
    how much that window would have had of it is not known.
    """
    table = result.deliveries
    window = result.spec["run"]["record"]["delivery_window_cycles"]
    background = [name for name in table.columns if name.startswith("background_")]
    if not len(table) or not background or (result.completion_cycles + 1) % window == 0:
        return table
    table = table.astype(dict.fromkeys(background, float))
    table.loc[table.index[-1], background] = math.nan
    return table


def _duration(rows: pd.DataFrame) -> dict[str, Any]:
    duration = rows["duration_cycles"]
    low, median, high = duration.quantile([0.05, 0.5, 0.95])
    return {
        "trials": len(rows),
        "mean_duration_cycles": duration.mean(),
        "mean_ci_half_width_cycles": half_width_95(duration),
        "std_duration_cycles": duration.std(),
        "min_duration_cycles": duration.min(),
        "p5_duration_cycles": low,
        "p50_duration_cycles": median,
        "p95_duration_cycles": high,
        "max_duration_cycles": duration.max(),
        "performance": 1000 / duration.mean() if duration.mean() else math.inf,
        "bound_cycles": rows["bound_cycles"].mean(),
    }


def _mean_deliveries(table: pd.DataFrame, recorded: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """The mean over the trials of what was received in each window, with the half width of its interval.

    After its end a trial receives nothing more of the burst; of the background nothing is known any more. Means are
    over the trials of which something is known: NaN where there is none.
    """
    keys = list(zip(table[PACKETS], table[RATE], strict=True))
    groups: dict[Any, list[pd.DataFrame]] = {key: [] for key in keys}
    for key, one in zip(keys, recorded, strict=True):
        groups[key].append(one)
    parts = [_mean_of(key, ones) for key, ones in groups.items() if max(map(len, ones), default=0)]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=[PACKETS, RATE, "start_cycle"])


def _mean_of(key: tuple[int, float], ones: Sequence[pd.DataFrame]) -> pd.DataFrame:
    longest = max(ones, key=len)
    table = pd.DataFrame({PACKETS: key[0], RATE: key[1], "start_cycle": longest["start_cycle"]})
    for name in longest.columns.drop("start_cycle"):
        filler = math.nan if name.startswith("background_") else 0.0
        columns = [
            np.pad(one[name].to_numpy(float), (0, len(longest) - len(one)), constant_values=filler) for one in ones
        ]
        values = np.stack(columns, axis=1)
        known = [row[~np.isnan(row)] for row in values]
        table[f"mean_{name}"] = [row.mean() if len(row) else math.nan for row in known]
        table[f"mean_{name}_ci_half_width"] = [half_width_95(row) for row in known]
    return table


def _background(load: float, background: Workload | None, packet_flits: PacketFlits) -> Workload | None:
    if load == 0:
        return background
    if background is not None:
        expected = "nothing with background, which states its load itself"
        raise ConfigError("background_load", load, expected, "take one of the two out")
    try:
        return uniform(offered_load=load, packet_flits=packet_flits)
    except ConfigError as error:
        path = "background_load" if error.path == "workload.offered_load" else error.path
        raise ConfigError(path, error.value, error.expected, error.hint) from None


def _seeds(trials: int, first: int) -> range:
    for name, value, least in (("trials", trials, 1), ("first_seed", first, 0)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            raise ConfigError(name, repr(value), f"a whole number of at least {least}")
    if trials > MOST_POINTS:
        raise ConfigError("trials", trials, f"at most {MOST_POINTS:,}")
    return range(int(first), int(first) + int(trials))


def _listed(name: str, values: Any) -> list[Any]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        number(name, values, "a number, or a list of numbers")
        return [values]
    found = several(name, values, "a number, or a list of numbers")
    if not found:
        raise ConfigError(name, values, "at least one value")
    for i, value in enumerate(found):
        number(f"{name}[{i}]", value, "a number")
    check_different(found, name, "each value once", "remove one of the two")
    return found


def _parameters(given: Mapping[str, Any] | None) -> dict[str, Any]:
    """The parameters of the pattern, without what is an argument of its own."""
    if not isinstance(given or {}, Mapping):
        raise ConfigError("parameters", repr(given), "parameters of the pattern by name", 'such as {"terminals": [0]}')
    found = dict(given or {})
    for name in ("pattern", "packets", "packet_flits", "rate"):
        if name in found:
            raise ConfigError(f"parameters.{name}", repr(found[name]), "parameters of the pattern", f"give {name}=...")
    return found
