"""Sweeps from Python: a function of the axes, and the values of each axis."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flitwork.base.arguments import several
from flitwork.base.errors import ConfigError, SimulationError
from flitwork.base.libraries import np, pd
from flitwork.base.output_files import writable_folder
from flitwork.experiment.axes import check_count, check_different, check_name, check_seeds
from flitwork.experiment.engines import make_engine
from flitwork.experiment.execute import Watcher, default_watcher, execute
from flitwork.experiment.jobs import Failure, plan_points
from flitwork.experiment.point import Point
from flitwork.experiment.store import Store
from flitwork.experiment.study import explained
from flitwork.experiment.table import tidy
from flitwork.planning.specification import Network, Run, RunOptions, nest_run, simulation
from flitwork.results.result import Result
from flitwork.workloads.workload import Spec, Workload


class SweepError(SimulationError):
    """Some points of a sweep failed: ``failures`` has them, ``table`` the others, ``results`` a result for each row."""

    def __init__(self, message: str, failures: list[Failure], table: pd.DataFrame, results: list[Result]) -> None:
        super().__init__(message)
        self.failures = failures
        self.table = table
        self.results = results


def sweep(
    simulate: Callable[..., tuple[Network, Workload] | tuple[Network, Workload, Workload | None]],
    *,
    seeds: Sequence[int] = (1,),
    out: str | Path | None = None,
    jobs: int | None = None,
    engine: str = "local",
    scheduler: str | None = None,
    run: Run | RunOptions | None = None,
    watcher: Watcher | None = None,
    **axes: Iterable[Any],
) -> pd.DataFrame:
    """Simulates every combination of the axes on all cores; one row a point.

    >>> fw.sweep(lambda N, name: (fw.Torus(N, N), fw.all_to_all(name)), N=[5, 7], name=["a2at", "a2and"])

    ``simulate`` returns a network and a workload, and a background if there is one. With ``out`` every finished point
    is stored there at once, and what is stored is not computed again. On a terminal and in a notebook a bar shows how
    far it is; ``watcher=fw.Watcher()`` shows nothing. Raises :class:`flitwork.SweepError` after all the
    others have run where simulations fail; its ``table`` has the others. ``engine="dask"`` with the address of a
    ``scheduler`` runs it on a cluster.
    """
    if not callable(simulate):
        hint = "such as lambda N: (fw.Torus(N, N), fw.all_to_all())"
        raise ConfigError("sweep.simulate", repr(simulate), "a function of the axes", hint)
    values = {name: _axis(name, axis) for name, axis in axes.items()}
    seeds = _seeds(seeds)
    options = run_options(run, "seeds=[{}]")
    check_count(math.prod(map(len, values.values())) * len(seeds), "sweep")
    points = []
    for combination in itertools.product(*values.values()):
        params = dict(zip(values, combination, strict=True))
        network, workload, background = _simulated(simulate(**params), params)
        for seed in seeds:
            spec = simulation(network, workload, {**options, "seed": seed}, background)
            points.append(Point("sweep", "sweep", params, seed, spec))
    return run_points(points, out=out, jobs=jobs, engine=engine, scheduler=scheduler, watcher=watcher).table


@dataclass(frozen=True)
class Runs:
    """Points that were simulated: a row of ``table`` for each of ``results``, in the same order."""

    table: pd.DataFrame
    results: list[Result]


def run_points(
    points: Sequence[Point],
    *,
    out: str | Path | None = None,
    jobs: int | None = None,
    engine: str = "local",
    scheduler: str | None = None,
    watcher: Watcher | None = None,
) -> Runs:
    """Simulates points, as :func:`sweep` does."""
    runs_on = make_engine(engine, scheduler, jobs)
    watcher = watcher or default_watcher()
    plans = plan_points(points, watcher.planning, another_process=runs_on.another_process)
    store = Store(writable_folder(Path(out), "out")) if out else None
    done = execute(plans, store, runs_on, watcher)
    table = tidy(plans, done.results).drop(columns="experiment", errors="ignore")
    results = [done.results[plan.hash] for plan in plans if plan.hash in done.results for _ in plan.points]
    if done.failures:
        raise SweepError(explained(done.failures, plans), done.failures, table, results)
    return Runs(table, results)


def run_options(run: Run | RunOptions | None, instead: str) -> Spec:
    """The options of a run as the table ``run``; not the seed, in whose place ``instead`` (with a ``{}``) is given."""
    options = nest_run(run)
    if "seed" in options:
        raise ConfigError("run.seed", options["seed"], "no seed here", f"write {instead.format(options['seed'])}")
    return options


def _axis(name: str, values: Any) -> list[Any]:
    check_name(name, "sweep")
    # A text is a value, too: an axis may have one.
    found = several(f"sweep.{name}", values, "a list of values", f"write {name}=[{values!r}]")
    if not found:
        raise ConfigError(f"sweep.{name}", values, "a list of at least one value", f"add values or remove {name}")
    check_different(found, f"sweep.{name}", "each value once", "remove one of the two")
    return found


def _seeds(seeds: Any) -> list[int]:
    found = several("sweep.seeds", seeds, "a list of whole numbers")
    if not found:
        raise ConfigError("sweep.seeds", seeds, "a list of at least one seed", "leave it out for seed 1")
    for i, seed in enumerate(found):
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
            raise ConfigError(f"sweep.seeds[{i}]", repr(seed), "a whole number from 0 to 2^64 - 1")
    check_seeds(found, "sweep.seeds")
    return [int(seed) for seed in found]


def _simulated(returned: Any, params: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    if isinstance(returned, tuple) and len(returned) in (2, 3):
        return (*returned, None)[:3]
    at = ", ".join(f"{name}={value!r}" for name, value in params.items())
    expected = "a network and a workload, such as (fw.Torus(4, 4), fw.all_to_all())"
    raise ConfigError(f"sweep.simulate({at})", repr(returned), expected)
