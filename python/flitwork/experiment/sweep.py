"""Sweeps from Python: a function of the axes, and the values of each axis."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from flitwork.experiment.execute import Watcher, execute, plan_points
from flitwork.experiment.points import Point
from flitwork.experiment.store import Store
from flitwork.experiment.table import tidy
from flitwork.files import writable_folder
from flitwork.spec import Network, RunOptions, Workload, nest, simulation


def sweep(
    simulate: Callable[..., tuple[Network, Workload]],
    *,
    seeds: Sequence[int] = (1,),
    out: str | Path | None = None,
    jobs: int | None = None,
    run: RunOptions | None = None,
    watcher: Watcher | None = None,
    **axes: Iterable[Any],
) -> pd.DataFrame:
    """Simulates every combination of the axes on all cores; one row a point.

    >>> fw.sweep(lambda N, name: (fw.Torus(N, N), fw.all_to_all(name)), N=[5, 7], name=["a2at", "a2and"])

    With ``out`` every finished point is stored there at once, and what is stored is not computed again.
    """
    points = []
    values = {name: list(axis) for name, axis in axes.items()}
    for combination in itertools.product(*values.values()):
        params = dict(zip(values, combination, strict=True))
        network, workload = simulate(**params)
        for seed in seeds:
            spec = simulation(network, workload, {**nest("run", run or {}), "seed": seed})
            points.append(Point("sweep", "sweep", params, seed, spec))
    plans = plan_points(points)
    store = Store(writable_folder(Path(out), "out")) if out else None
    return tidy(plans, execute(plans, store, jobs, watcher)).drop(columns="experiment", errors="ignore")
