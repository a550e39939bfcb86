"""flitwork simulates interconnection networks flit by flit.

A network and a workload are plain values; simulate them, bound them, sweep over them, draw them:

>>> import flitwork as fw
>>> net = fw.Torus(9, 9, router=fw.Router(vcs=2, buffer_flits=20))
>>> work = fw.all_to_all("a2at", message_flits=100, sync="local")
>>> result = fw.simulate(net, work)
>>> result.completion_cycles, result.ratio_to_bound
"""

import sys as _sys
from importlib import import_module as _import_module
from types import ModuleType as _ModuleType
from typing import Any as _Any

# First: it acts while the rest is loaded.
from flitwork import interrupt as interrupt  # isort: skip
from flitwork._core import __version__ as __version__

#: What is loaded when it is first asked for, by module; `__init__.pyi` says so to tools that read types.
#: A module may have the name of what is in it.
_HOMES = {
    "bound": "Bound bound",
    "burst": "Burst BurstError burst",
    "check": "Check check",
    "curve": "Curve curve",
    "detour_file": "detours",
    "errors": "ConfigError DeadlockError FlitworkError ResultFileError ScheduleError SimulationError StorageError",
    "experiment": "SweepError Watcher load_study run_study sweep",
    "explain": "Explanation explain",
    "fit": "Fit best_ranks compare_models fit fit_model predict read_fits save_fits",
    "goal": "Goal GoalResult LogGOPS loggops read_goal run_goal",
    "hol": "HolModel hol_model",
    "network": "Network",
    "operations": "Compute Receive Send Wait",
    "pace": "Pace pace",
    "pick": "Pick pick",
    "result": "Result",
    "schedule": "Schedule",
    "simulation": "Simulation simulate",
    "steady": "steady",
    "view": "view",
    "workloads": "Workload all_to_all burst_workload collective on_off programs trace traffic uniform",
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names.split()}
_MODULES = ("machines", "mpi", "noise", "placement", "plot", "routing", "studies", "tune")
#: Modules of which everything that they offer is offered here, too.
_OFFERED = ("networks", "values")


class _Package(_ModuleType):
    """The package: where a module has the name of a function in it, the name is that of the function."""

    def __setattr__(self, name: str, value: _Any) -> None:
        if isinstance(value, _ModuleType) and _MODULE_OF.get(name) == name:
            value = getattr(value, name)
        super().__setattr__(name, value)


_sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> _Any:
    """Loads what is asked for: a program, or a command, waits for what it uses only."""
    if name in (*_MODULES, *_OFFERED):
        return _import_module(f"flitwork.{name}")
    if name == "load":
        found = _import_module("flitwork.result").Result.load
    elif name == "__all__":
        found = sorted(["__version__", "load", *_MODULE_OF, *_MODULES, *_offered()])
    elif module := _MODULE_OF.get(name) or _offered(name).get(name):
        found = getattr(_import_module(f"flitwork.{module}"), name)
    else:
        raise AttributeError(f"module 'flitwork' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """What is loaded, and what can be."""
    return sorted({*globals(), *__getattr__("__all__")})


def _offered(name: str = "") -> dict[str, str]:
    """The names that whole modules offer, and their modules; each begins with a capital."""
    if name and not name[0].isupper():
        return {}
    return {one: module for module in _OFFERED for one in _import_module(f"flitwork.{module}").__all__}
