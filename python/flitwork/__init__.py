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
from flitwork.base import interrupt as interrupt  # isort: skip
from flitwork._core import __version__ as __version__

#: What is loaded when it is first asked for, by module; `__init__.pyi` says so to tools that read types.
#: A module may have the name of what is in it.
_HOMES = {
    "planning.bound": "Bound bound",
    "planning.any_routing": "AnyRouting any_routing",
    "questions.burst": "Burst BurstError burst",
    "planning.check": "Check check",
    "questions.curve": "Curve curve",
    "workloads.detour_file": "detours",
    "base.errors": "ConfigError DeadlockError FlitworkError ResultFileError ScheduleError SimulationError StorageError",
    "base.parquet": "read_parquet",
    "experiment": "SweepError Watcher load_study run_study sweep",
    "explain": "Explanation explain",
    "fit": "Fit best_ranks compare_models fit fit_model predict read_fits save_fits",
    "networks.exchange": "from_networkx read_network to_networkx write_network",
    "msccl.algorithm": "Msccl read_msccl",
    "running.goal": "Goal GoalResult LogGOPS loggops read_goal run_goal",
    "questions.head_of_line": "HolModel hol_model",
    "networks.network": "Network",
    "networks.relation": "compile_routing",
    "workloads.operations": "Compute Receive Send Wait",
    "planning.pace": "Pace pace",
    "questions.pick": "Pick pick",
    "results.result": "Result",
    "workloads.schedule": "Schedule",
    "running.simulation": "Simulation simulate",
    "questions.steady": "steady",
    "questions.synthesise": "Synthesis synthesise",
    "view": "view",
    "workloads.timetable": "Timetable",
    "workloads.workload": "Workload all_to_all burst_workload collective on_off programs trace traffic uniform",
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names.split()}
#: Modules that are offered as such, and where they are.
_MODULES = {
    "machines": "networks.machines",
    "noise": "values.noise",
    "placement": "values.placement",
    "plot": "plot",
    "routing": "values.routing",
    "studies": "studies",
}
#: Modules of the package beside this one, found by entry points.
_BESIDE = ("mpi", "tune")
#: Modules of which everything that they offer is offered here, too.
_OFFERED = ("networks.constructors", "values.tables")


class _Package(_ModuleType):
    """The package: where a module has the name of a function in it, the name is that of the function."""

    def __setattr__(self, name: str, value: _Any) -> None:
        if isinstance(value, _ModuleType) and _MODULE_OF.get(name) == name:
            value = getattr(value, name)
        super().__setattr__(name, value)


_sys.modules[__name__].__class__ = _Package


class _Missing:
    """The last finder of modules: where ``mpi`` is missing, ``from flitwork import mpi`` names what to install."""

    @staticmethod
    def find_spec(name: str, path: _Any = None, target: _Any = None) -> None:
        """Finds nothing. Raises an error for a name of the package that cannot be loaded."""
        package, _, asked = name.partition(".")
        if package == __name__ and (asked in _BESIDE or asked in _MODULE_OF):
            try:
                __getattr__(asked)
            except AttributeError as missing:
                raise missing.__cause__ or missing from None


_sys.meta_path.append(_Missing)


def __getattr__(name: str) -> _Any:
    """Loads what is asked for: a program, or a command, waits for what it uses only."""
    from flitwork.base.extensions import MissingExtension, MissingPart

    try:
        found = _loaded(name)
    except MissingExtension as missing:
        raise MissingPart(str(missing)) from missing
    globals()[name] = found
    return found


def _loaded(name: str) -> _Any:
    if name == "load":
        found = _import_module("flitwork.results.result").Result.load
    elif name == "__all__":
        found = sorted({"__version__", "load", *_MODULE_OF, *_MODULES, *_BESIDE, *_offered()} - _lacking())
    elif name in _BESIDE:
        found = _import_module("flitwork.base.extensions").load_extension("flitwork.modules", name)
    elif name in _MODULES:
        found = _import_module(f"flitwork.{_MODULES[name]}")
    elif module := _MODULE_OF.get(name) or _offered(name).get(name):
        found = getattr(_import_module(f"flitwork.{module}"), name)
    else:
        raise AttributeError(f"module 'flitwork' has no attribute {name!r}")
    return found


def _lacking() -> set[str]:
    """Names that cannot be loaded here, as libraries of an extra are not installed."""
    of_extra = {"fit": _HOMES["fit"].split(), "report": _HOMES["view"].split(), "mpi": _BESIDE}
    extensions = _import_module("flitwork.base.extensions")
    found = {name for extra, names in of_extra.items() if not extensions.is_complete(extra) for name in names}
    return found | ({*_BESIDE} - {*extensions.extensions("flitwork.modules")})


def __dir__() -> list[str]:
    """What is loaded, and what can be."""
    return sorted({*globals(), *__getattr__("__all__")})


def _offered(name: str = "") -> dict[str, str]:
    """The names that whole modules offer, and their modules; each begins with a capital."""
    if name and not name[0].isupper():
        return {}
    return {one: module for module in _OFFERED for one in _import_module(f"flitwork.{module}").__all__}
