"""flitwork simulates interconnection networks flit by flit.

A network and a workload are plain values; simulate them, bound them, sweep over them, draw them:

>>> import flitwork as fw
>>> net = fw.Torus(9, 9, router=fw.Router(vcs=2, buffer_flits=20))
>>> work = fw.all_to_all("a2at", message_flits=100, sync="local")
>>> result = fw.simulate(net, work)
>>> result.completion_cycles, result.ratio_to_bound
"""

from typing import TYPE_CHECKING, Any

# First: it acts while the rest is loaded.
from flitwork import interrupt as interrupt  # isort: skip
from flitwork import machines, networks, noise, placement, routing, values
from flitwork._core import __version__
from flitwork.bound import Bound, bound
from flitwork.burst import Burst, BurstError, burst
from flitwork.check import Check, check
from flitwork.curve import Curve, curve
from flitwork.detour_file import detours
from flitwork.errors import (
    ConfigError,
    DeadlockError,
    FlitworkError,
    ResultFileError,
    ScheduleError,
    SimulationError,
    StorageError,
)
from flitwork.experiment import SweepError, Watcher, load_study, run_study, sweep
from flitwork.explain import Explanation, explain
from flitwork.fit import Fit, best_ranks, compare_models, fit, fit_model, predict, read_fits, save_fits
from flitwork.goal import Goal, GoalResult, LogGOPS, loggops, read_goal, run_goal
from flitwork.hol import HolModel, hol_model
from flitwork.network import Network
from flitwork.networks import *  # noqa: F403
from flitwork.operations import Compute, Receive, Send, Wait
from flitwork.pace import Pace, pace
from flitwork.pick import Pick, pick
from flitwork.result import Result
from flitwork.schedule import Schedule
from flitwork.simulation import Simulation, simulate
from flitwork.steady import steady
from flitwork.values import *  # noqa: F403
from flitwork.view import view
from flitwork.workloads import (
    Workload,
    all_to_all,
    burst_workload,
    collective,
    on_off,
    programs,
    trace,
    traffic,
    uniform,
)

if TYPE_CHECKING:
    from flitwork import mpi, plot, studies, tune

load = Result.load


def __getattr__(name: str) -> Any:
    """Loads ``fw.plot`` (and matplotlib), ``fw.studies``, ``fw.mpi`` and ``fw.tune`` when they are first asked for."""
    if name in ("mpi", "plot", "studies", "tune"):
        import importlib

        return importlib.import_module(f"flitwork.{name}")
    raise AttributeError(f"module 'flitwork' has no attribute {name!r}")


__all__ = [
    "Bound",
    "Burst",
    "BurstError",
    "Check",
    "Compute",
    "ConfigError",
    "Curve",
    "DeadlockError",
    "Explanation",
    "Fit",
    "FlitworkError",
    "Goal",
    "GoalResult",
    "HolModel",
    "LogGOPS",
    "Network",
    "Pace",
    "Pick",
    "Receive",
    "Result",
    "ResultFileError",
    "Schedule",
    "ScheduleError",
    "Send",
    "Simulation",
    "SimulationError",
    "StorageError",
    "SweepError",
    "Wait",
    "Watcher",
    "Workload",
    "__version__",
    "all_to_all",
    "best_ranks",
    "bound",
    "burst",
    "burst_workload",
    "check",
    "collective",
    "compare_models",
    "curve",
    "detours",
    "explain",
    "fit",
    "fit_model",
    "hol_model",
    "load",
    "load_study",
    "loggops",
    "machines",
    "mpi",
    "noise",
    "on_off",
    "pace",
    "pick",
    "placement",
    "plot",
    "predict",
    "programs",
    "read_fits",
    "read_goal",
    "routing",
    "run_goal",
    "run_study",
    "save_fits",
    "simulate",
    "steady",
    "studies",
    "sweep",
    "trace",
    "traffic",
    "tune",
    "uniform",
    "view",
]
__all__ += networks.__all__
__all__ += values.__all__
