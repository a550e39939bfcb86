"""``fw.steady``: one network, one traffic, measured until the mean latency is known; one row a seed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypedDict

from typing_extensions import Unpack

from flitwork.base.libraries import pd
from flitwork.experiment import Watcher, sweep
from flitwork.planning.specification import Network, RunOptions
from flitwork.workloads.workload import Workload


class SteadyOptions(TypedDict, total=False):
    """The fields of ``run.steady``; the page *Configuration* says what each means."""

    relative_ci: float
    confidence: float
    warmup: Literal["mser", "stable"]
    min_warmup_cycles: int
    min_measurement_cycles: int
    max_cycles: int


def steady(
    network: Network,
    workload: Workload,
    *,
    background: Workload | None = None,
    seeds: Sequence[int] = (1,),
    out: str | Path | None = None,
    jobs: int | None = None,
    engine: str = "local",
    scheduler: str | None = None,
    watcher: Watcher | None = None,
    **options: Unpack[SteadyOptions],
) -> pd.DataFrame:
    """The steady state of traffic on a network: one row a seed, with all columns of a result; runs on all cores.

    >>> fw.steady(fw.Torus(8, 8), fw.uniform(offered_load=0.2), relative_ci=0.01, seeds=range(1, 6))

    ``status`` says how it ended: ``complete``, ``saturated`` or ``not_converged``. With ``out`` finished runs are kept
    there and not computed again. ``background`` runs beside the workload and is measured on its own. ``engine`` and
    ``scheduler`` are those of :func:`flitwork.sweep`.
    """
    run: RunOptions = {"steady": dict(options)}
    return sweep(
        lambda: (network, workload, background),
        seeds=seeds,
        out=out,
        jobs=jobs,
        engine=engine,
        scheduler=scheduler,
        run=run,
        watcher=watcher,
    )
