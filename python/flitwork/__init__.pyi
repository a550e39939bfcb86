"""What the package offers, for tools that read types; ``__init__.py`` says where each name is loaded from."""

from flitwork_mpi import programs as mpi
from flitwork_mpi import tune

from flitwork import plot, studies
from flitwork._core import __version__
from flitwork.base.errors import (
    ConfigError,
    DeadlockError,
    FlitworkError,
    ResultFileError,
    ScheduleError,
    SimulationError,
    StorageError,
)
from flitwork.base.parquet import read_parquet
from flitwork.experiment import SweepError, Watcher, load_study, run_study, sweep
from flitwork.explain import Explanation, explain
from flitwork.fit import Fit, best_ranks, compare_models, fit, fit_model, predict, read_fits, save_fits
from flitwork.msccl.algorithm import Msccl, read_msccl
from flitwork.networks import constructors, machines
from flitwork.networks.constructors import *  # noqa: F403
from flitwork.networks.exchange import from_networkx, read_network, to_networkx, write_network
from flitwork.networks.network import Network
from flitwork.networks.relation import compile_routing
from flitwork.planning.any_routing import AnyRouting, any_routing
from flitwork.planning.bound import Bound, bound
from flitwork.planning.check import Check, check
from flitwork.planning.pace import Pace, pace
from flitwork.questions.burst import Burst, BurstError, burst
from flitwork.questions.curve import Curve, curve
from flitwork.questions.head_of_line import HolModel, hol_model
from flitwork.questions.pick import Pick, pick
from flitwork.questions.steady import steady
from flitwork.questions.synthesise import Synthesis, synthesise
from flitwork.results.result import Result
from flitwork.running.goal import Goal, GoalResult, LogGOPS, loggops, read_goal, run_goal
from flitwork.running.simulation import Simulation, simulate
from flitwork.values import noise, placement, routing, tables
from flitwork.values.tables import *  # noqa: F403
from flitwork.view import view
from flitwork.workloads.detour_file import detours
from flitwork.workloads.operations import Compute, Receive, Send, Wait
from flitwork.workloads.schedule import Schedule
from flitwork.workloads.timetable import Timetable
from flitwork.workloads.workload import (
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
    "AnyRouting",
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
    "Msccl",
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
    "Synthesis",
    "Timetable",
    "Wait",
    "Watcher",
    "Workload",
    "__version__",
    "all_to_all",
    "any_routing",
    "best_ranks",
    "bound",
    "burst",
    "burst_workload",
    "check",
    "collective",
    "compare_models",
    "compile_routing",
    "curve",
    "detours",
    "explain",
    "fit",
    "fit_model",
    "from_networkx",
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
    "read_msccl",
    "read_network",
    "read_parquet",
    "routing",
    "run_goal",
    "run_study",
    "save_fits",
    "simulate",
    "steady",
    "studies",
    "sweep",
    "synthesise",
    "to_networkx",
    "trace",
    "traffic",
    "tune",
    "uniform",
    "view",
    "write_network",
]
__all__ += constructors.__all__
__all__ += tables.__all__
