"""What a Dask worker does: a specification in, plain values out. Nothing else crosses the network."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from distributed import Reschedule, get_worker

from flitwork._core import Plan, Table, __version__
from flitwork.base.errors import ConfigError, SimulationError
from flitwork.results.result import run_plan

#: Where workers report how far they are: messages ``{"key": ..., "share": ...}``.
TOPIC = "flitwork-progress"
_REPORT_SECONDS = 1.0


def simulate_point(spec: str, plan_hash: str, version: str, tables: Sequence[bytes] = ()) -> dict[str, Any]:
    """In a worker: runs a specification that ``version`` of flitwork planned as ``plan_hash``.

    ``tables`` are the tables of numbers that it names, as bytes.

    Returns the parts of a result; ``error`` and ``message`` where the simulation failed; ``other_version`` where the
    worker would simulate something else. Stops soon after nobody wants the result any more.
    """
    worker = get_worker()
    key = worker.get_current_task()
    if __version__ != version:
        return {"other_version": __version__, "worker": worker.address}
    try:
        plan = Plan(spec, [Table.from_bytes(table) for table in tables])
    except ConfigError as error:
        return {"error": "SimulationError", "message": f"worker {worker.address} cannot run it: {error}"}
    if plan.hash != plan_hash:
        return {"other_version": f"another build of {__version__}", "worker": worker.address}
    reported = time.monotonic()

    def progress(_cycle: int, done: int, total: int | None) -> bool:
        nonlocal reported
        if total and time.monotonic() - reported >= _REPORT_SECONDS:
            reported = time.monotonic()
            worker.log_event(TOPIC, {"key": key, "share": min(done / total, 1.0)})
        task = worker.state.tasks.get(key)
        return task is not None and task.state != "cancelled"

    try:
        result = run_plan(plan, progress)
    except KeyboardInterrupt:
        # Cancelled. If somebody has asked for it again in the meantime, it starts anew.
        raise Reschedule from None
    except SimulationError as error:
        return {"error": type(error).__name__, "message": str(error)}
    return {
        "plan": result.plan,
        "values": result.values,
        "columns": result.columns,
        "bound": result.bound.values,
        "wall_seconds": result.wall_seconds,
    }
