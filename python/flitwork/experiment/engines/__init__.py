"""Engines: where the simulations of a study run. All of them take the same jobs and give the same results."""

from flitwork.experiment.engines.engine import Engine, Outcome
from flitwork.experiment.engines.local import LocalEngine, available_cores

__all__ = ["Engine", "LocalEngine", "Outcome", "available_cores"]
