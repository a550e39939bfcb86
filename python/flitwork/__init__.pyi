"""What the package offers, for tools that read types; ``__init__.py`` says where each name is loaded from."""

from flitwork import machines, mpi, networks, noise, placement, plot, routing, studies, tune, values
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

load = Result.load

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
