"""``fw.burst``: how long a synchronised burst takes, over many trials, alone or beside background traffic."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from flitwork.errors import ConfigError
from flitwork.experiment import Point, Watcher, run_points
from flitwork.files import write_atomically
from flitwork.spec import Network, RunOptions, nest, simulation
from flitwork.statistics import half_width_95
from flitwork.workloads import PacketFlits, Workload, burst_workload, uniform

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The axes of a burst.
PACKETS, RATE = "packets_per_terminal", "rate_flits_per_cycle"
#: Most trials at once: seeds are the numbers from the first on.
_MOST_TRIALS = 1_000_000


@dataclass(frozen=True)
class Burst:
    """Trials of bursts: ``table`` has one row a trial, :attr:`points` one for each length and rate.

    ``deliveries`` has one row a window of time for each of them: what was received in it, the mean over the trials.
    """

    table: pd.DataFrame
    deliveries: pd.DataFrame
    name: str = ""

    @cached_property
    def points(self) -> pd.DataFrame:
        """One row for each number of packets and rate: the duration over the trials and its lower bound [cycles].

        ``mean_ci_half_width_cycles`` is half the 95 % confidence interval of the mean, ``performance`` is 1000 over
        the mean duration, as Yokota, Ootsu and Baba define it [1/1000 cycles].
        """
        found = self.table.groupby([PACKETS, RATE], sort=True)
        return pd.DataFrame([{PACKETS: key[0], RATE: key[1], **_duration(rows)} for key, rows in found])

    def plot(self, **compared: Burst) -> Figure:
        """Duration over the packets of a terminal (or the rate), and packets received over time; others beside it."""
        from flitwork.plot.bursts import bursts

        shown = {self.name or "burst": self, **compared}
        return bursts({name: (one.points, one.deliveries) for name, one in shown.items()})

    def save(self, folder: str | Path) -> list[Path]:
        """``trials.csv``, ``points.csv``, ``deliveries.csv`` and the figure as PNG and SVG in ``folder``."""
        from flitwork.plot.style import save

        folder = Path(folder)
        tables = {"trials": self.table, "points": self.points, "deliveries": self.deliveries}
        written = [_write(table, folder / f"{name}.csv") for name, table in tables.items()]
        return [*written, *save(self.plot(), folder, "burst")]


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
    run: RunOptions | None = None,
) -> Burst:
    """How long it takes until bursts of ``packets`` packets a terminal have arrived; ``trials`` trials, on all cores.

    >>> burst = fw.burst(fw.Torus(8, 8, vcs=4), "shuffle", packets=[1, 10], packet_flits=8, background_load=0.1)
    >>> burst.table, burst.points, burst.plot()

    ``packets`` and ``rate`` may be lists; every combination is run. The burst is that of :func:`flitwork.
    burst_workload`, ``parameters`` are those of the pattern. ``background_load`` [flits/cycle/terminal] puts uniform
    traffic of the same packets beside it, ``background`` any other open loop, from ``warmup_cycles`` before t = 0 on.
    Trials differ by their seed, ``first_seed`` and the numbers that follow: where nothing is drawn (a fixed pattern,
    all packets at once, no background, no random tie) all trials are the same. ``delivery_window_cycles`` records what
    is received over time; ``run`` has all other options of a run. ``out``, ``jobs``, ``engine`` and ``scheduler`` are
    those of :func:`flitwork.sweep`.
    """
    beside = _background(background_load, background, packet_flits)
    seeds = _seeds(trials, first_seed)
    options: RunOptions = {"delivery_window_cycles": delivery_window_cycles, **(run or {})}
    if warmup_cycles is not None:
        options["warmup_cycles"] = warmup_cycles
    points = []
    for length, limit in itertools.product(_listed("packets", packets), _listed("rate", rate)):
        workload = burst_workload(
            pattern, packets=length, packet_flits=packet_flits, rate=limit, **dict(parameters or {})
        )
        params = {PACKETS: length, RATE: limit}
        for seed in seeds:
            spec = simulation(network, workload, {**nest("run", options), "seed": seed}, beside)
            points.append(Point("burst", "burst", params, seed, spec))
    done = run_points(points, out=out, jobs=jobs, engine=engine, scheduler=scheduler, watcher=watcher)
    table = done.table.rename(columns={"completion_cycles": "duration_cycles"})
    recorded = [result.deliveries for result in done.results]
    return Burst(table, _mean_deliveries(table, recorded), pattern)


def _duration(rows: pd.DataFrame) -> dict[str, Any]:
    duration = rows["duration_cycles"]
    low, median, high = duration.quantile([0.05, 0.5, 0.95])
    return {
        "trials": len(rows),
        "mean_duration_cycles": duration.mean(),
        "mean_ci_half_width_cycles": half_width_95(duration),
        "std_duration_cycles": duration.std() if len(rows) > 1 else 0.0,
        "min_duration_cycles": duration.min(),
        "p5_duration_cycles": low,
        "p50_duration_cycles": median,
        "p95_duration_cycles": high,
        "max_duration_cycles": duration.max(),
        "performance": 1000 / duration.mean() if duration.mean() else math.inf,
        "bound_cycles": rows["bound_cycles"].iloc[0],
    }


def _mean_deliveries(table: pd.DataFrame, recorded: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """The mean over the trials of what was received in each window, with the half width of its interval.

    After its end a trial receives nothing more of the burst; of the background nothing is known any more.
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
        table[f"mean_{name}"] = np.nanmean(values, axis=1)
        table[f"mean_{name}_ci_half_width"] = [half_width_95(row[~np.isnan(row)]) for row in values]
    return table


def _background(load: float, background: Workload | None, packet_flits: PacketFlits) -> Workload | None:
    if load == 0:
        return background
    if background is not None:
        expected = "nothing beside background, which states its load itself"
        raise ConfigError("background_load", load, expected, "take one of the two out")
    return uniform(offered_load=load, packet_flits=packet_flits)


def _seeds(trials: int, first: int) -> range:
    for name, value, least in (("trials", trials, 1), ("first_seed", first, 0)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            raise ConfigError(name, repr(value), f"a whole number of at least {least}")
    if trials > _MOST_TRIALS:
        raise ConfigError("trials", trials, f"at most {_MOST_TRIALS}")
    return range(int(first), int(first) + int(trials))


def _listed(name: str, values: Any) -> list[Any]:
    several = isinstance(values, (Sequence, np.ndarray)) and not isinstance(values, str)
    found = list(values) if several else [values]
    if not found:
        raise ConfigError(name, values, "at least one value")
    if len(set(found)) < len(found):
        raise ConfigError(name, values, "each value once")
    return found


def _write(table: pd.DataFrame, path: Path) -> Path:
    return write_atomically(path, lambda file: file.write(table.to_csv(index=False).encode()))
