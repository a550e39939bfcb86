"""Engines: where the simulations of a study run. All of them take the same jobs and give the same results."""

from __future__ import annotations

from flitwork.base.errors import ConfigError, did_you_mean
from flitwork.experiment.engines.engine import HOW_TO_START, Engine, Outcome
from flitwork.experiment.engines.local import LocalEngine, available_cores

#: The engines by the name that ``--engine`` takes.
ENGINES = ("local", "dask")

__all__ = ["ENGINES", "Engine", "LocalEngine", "Outcome", "available_cores", "make_engine"]


def make_engine(engine: str = "local", scheduler: str | None = None, jobs: int | None = None) -> Engine:
    """The engine that the options of a run ask for."""
    if engine == "local":
        if scheduler is not None:
            raise ConfigError("scheduler", scheduler, "no scheduler for the local engine", 'choose the engine "dask"')
        return LocalEngine(jobs)
    if engine != "dask":
        raise ConfigError("engine", f'"{engine}"', f"one of {', '.join(ENGINES)}", did_you_mean(str(engine), ENGINES))
    if not scheduler or not isinstance(scheduler, str):
        raise ConfigError("scheduler", repr(scheduler), "the address of a Dask scheduler", HOW_TO_START)
    if jobs is not None:
        raise ConfigError("jobs", jobs, "nothing: the workers decide how many run at once", "leave it out")
    from flitwork.experiment.engines.dask import DaskEngine

    return DaskEngine(scheduler)
