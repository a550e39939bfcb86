"""Simulations: a network, a workload and a run together, as a specification and as a plan."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from flitwork import _core
from flitwork.base.errors import ConfigError
from flitwork.networks import aliases
from flitwork.networks.constructors import Grid, Mesh, NetworkOptions, RunOptions, Torus
from flitwork.networks.files import with_network_files
from flitwork.networks.network import Network, check_network, nest_run, not_a
from flitwork.values.plain import Spec, checked, to_json
from flitwork.values.tables import Host, Run
from flitwork.values.value import Value, as_written
from flitwork.workloads.arrays import Read, located, table_of, with_numbers
from flitwork.workloads.workload import Workload, is_silent

__all__ = [
    "Grid",
    "Host",
    "Mesh",
    "Network",
    "NetworkOptions",
    "Prepared",
    "Run",
    "RunOptions",
    "Torus",
    "nest_run",
    "plan_of",
    "prepare",
    "simulation",
    "to_json",
]

#: Times that are rounded by no more than this share are in the plan alone.
_ROUNDED_SILENTLY = 0.01
_MOST_ROUNDED = 10


def simulation(
    network: Network,
    workload: Workload,
    run: Spec | None = None,
    background: Workload | None = None,
    host: Host | Mapping[str, Any] | None = None,
) -> Spec:
    """The complete specification of one simulation."""
    check_network(network)
    if not isinstance(workload, Workload):
        raise not_a("a Workload", "workload", workload, "for example fw.all_to_all()")
    if background is not None and not isinstance(background, Workload):
        raise not_a("a Workload", "background", background, "for example fw.uniform(offered_load=0.1)")
    spec = {"network": network.spec, "workload": workload.spec, "run": run or {}}
    if host is not None and not isinstance(host, (Value, Mapping, type)):
        raise not_a("fw.Host(...), or a table", "host", host, "for example fw.Host(ranks_per_terminal=2)")
    if host is not None or workload.host_defaults:
        spec["host"] = _host({**workload.host_defaults, **(as_written("host", host) if host is not None else {})})
    return {**spec, "background": background.spec} if background and not is_silent(background.spec) else spec


def _host(table: Mapping[str, Any]) -> Spec:
    """The table of the hosts, if it is one; numbers in it stay as they are."""
    noise = table.get("noise")
    if isinstance(noise, Mapping) and "detours" in noise:
        detours = table_of("file", noise["detours"], "host.noise.detours")
        table = {**table, "noise": {**noise, "detours": detours}}
    checked("host", table)
    return dict(table)


@dataclass(frozen=True)
class Prepared:
    """A specification as the simulator takes it: JSON, and the tables of numbers that it names."""

    text: str
    tables: tuple[_core.Table, ...] = ()
    #: Whether it states ``run.threads``.
    states_threads: bool = False
    #: Where the numbers come from that were read from files; for errors.
    read: Mapping[str, Read] = field(default_factory=dict, compare=False, repr=False)

    def plan(self) -> _core.Plan:
        """The plan of the specification."""
        return _core.Plan(self.text, list(self.tables))

    def checked_plan(self) -> _core.Plan:
        """Its plan; what is wrong with numbers from a file names their place, and rounded times are a warning."""
        try:
            plan = self.plan()
        except ConfigError as error:
            if error.path == "network.topology.kind" and not error.hint:
                raise aliases.unknown(error.value.strip('"')) from None
            raise located(error, self.read) from None
        _warn_of_rounding(plan)
        return plan


def prepare(spec: Mapping[str, Any]) -> Prepared:
    """A specification with its files read."""
    complete, read = with_numbers(spec)
    complete = aliases.specification(complete)
    if isinstance(network := complete.get("network"), Mapping):
        complete = {**complete, "network": with_network_files(network)}
    run = complete.get("run")
    states_threads = isinstance(run, Mapping) and "threads" in run
    return Prepared(to_json(complete), tuple(_tables(complete)), states_threads, read)


def _warn_of_rounding(plan: _core.Plan) -> None:
    """Warns of times that are simulated as others, where that is more than a little."""
    found = [one for one in plan.rounded if abs(one[3]) > _ROUNDED_SILENTLY]
    if not found:
        return
    found.sort(key=lambda one: -abs(one[3]))
    said = [
        f"{path} = {given_ns:.6g} becomes {value_ns:.6g} ns ({error:+.1%})"
        for path, given_ns, value_ns, error in found[:_MOST_ROUNDED]
    ]
    said += [f"and {len(found) - len(said)} more"] if len(said) < len(found) else []
    text = f'times are rounded to whole cycles: {", ".join(said)}; network.units.rounding = "exact" refuses them'
    warnings.warn(text, stacklevel=3)


def plan_of(spec: Mapping[str, Any]) -> _core.Plan:
    """The plan of a specification."""
    return prepare(spec).checked_plan()


def with_tables(spec: Mapping[str, Any], tables: Sequence[_core.Table]) -> dict[str, Any]:
    """A resolved specification with the tables, as far as they are there, that it names by their digests."""
    known = {table.sha256: table for table in tables}

    def found(value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        table = known.get(str(value.get("sha256")))
        return {key: found(inner) for key, inner in value.items()} if table is None else table

    return {key: found(value) for key, value in spec.items()}


def _tables(value: Any) -> Iterator[_core.Table]:
    if isinstance(value, _core.Table):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _tables(inner)
