"""``fw.simulate``: a network, a workload, a result."""

from __future__ import annotations

from typing_extensions import Unpack

from flitwork.result import Progress, Result, run_plan
from flitwork.spec import Network, RunOptions, nest, plan_of
from flitwork.spec import simulation as specification
from flitwork.workloads import Workload


def simulate(
    network: Network,
    workload: Workload,
    *,
    background: Workload | None = None,
    seed: int = 1,
    progress: Progress | None = None,
    **run: Unpack[RunOptions],
) -> Result:
    """Simulates a workload on a network, flit by flit.

    ``background`` is open-loop traffic that runs beside the workload and is measured on its own: ``result.background``.
    Beside a workload that completes it starts ``warmup_cycles`` before it.

    ``run`` takes the options of a run, flat: ``max_cycles``, ``warmup_cycles``, and what to record (``packets=True``,
    ``stalls=True``, ``channel_window_cycles=500``). ``progress(cycle, done, total)`` is called about 20 times a second
    and may return ``False`` to stop. Ctrl-C stops within a fraction of a second.
    """
    spec = specification(network, workload, {**nest("run", run), "seed": seed}, background)
    return run_plan(plan_of(spec), progress)
