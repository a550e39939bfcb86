"""The algorithms of a collective operation as candidates for one machine: planned, or refused with the reason.

Candidates are rows of the table of collectives, with what is said of their parameters; a few values are
tried of those that nothing is said of. Nothing is simulated here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flitwork import _core
from flitwork.base.arguments import several, whole
from flitwork.base.errors import ConfigError, did_you_mean
from flitwork.experiment import Job, Keeper, Point
from flitwork.planning.specification import Host, Network, prepare, simulation
from flitwork.workloads.workload import Spec, Workload, collective

#: The operation where none is named, the first of the list: the all-to-all.
OPERATION: str = json.loads(_core.components())["collectives"][0]["operation"]
#: The parameters of single algorithms: each is told to those that have it.
PARAMETERS = ("root", "radix", "blocks", "order", "leaders")
#: Beside the default of a parameter these are tried, where nothing is said of it and the algorithm takes them.
TRIED: Mapping[str, Sequence[int]] = {"radix": (4, 8), "leaders": (4,)}
#: The operation without data.
_NO_DATA = "barrier"
#: What an algorithm that is not defined on a machine is refused for.
_UNDEFINED = ("workload.algorithm", *(f"workload.{name}" for name in TRIED))
_MOST_SEEDS = 1000


@dataclass(frozen=True)
class Candidate:
    """An algorithm that can be simulated here: one job a seed."""

    label: str
    algorithm: str
    parameters: Mapping[str, Any]
    workload: Workload
    steps: int
    ranks: int
    bound_cycles: float
    operation_bound_cycles: float
    jobs: tuple[Job, ...]

    @property
    def seconds(self) -> float:
        """What one core takes for all its simulations, roughly."""
        return sum(job.seconds for job in self.jobs)


def candidates(
    network: Network,
    operation: str,
    host: Host | Mapping[str, Any] | None,
    algorithms: Sequence[str] | None,
    seeds: int,
    options: Spec,
    sent: Mapping[str, Any],
) -> tuple[list[Candidate], dict[str, str]]:
    """The candidates that are defined on a machine, and why others are not, by name.

    Raises :class:`flitwork.ConfigError` where something is wrong for all of them, or none is defined.
    """
    rows = _rows(operation, algorithms)
    sent = {name: value for name, value in sent.items() if value is not None}
    _check_sent(operation, sent, rows)
    count = whole("seeds", seeds, 1, _MOST_SEEDS, "each candidate runs once a seed")

    keeper = Keeper()

    def plan(row: Mapping[str, Any], parameters: Mapping[str, Any]) -> Candidate:
        given = {**sent, **parameters}
        return _planned(network, host, operation, row["name"], given, parameters, options, count, keeper)

    found: list[Candidate] = []
    refused: dict[str, str] = {}
    for row in rows:
        told = {name: sent[name] for name in PARAMETERS if name in sent and name in _takes(row)}
        try:
            candidate = plan(row, told)
        except ConfigError as error:
            if error.path not in _UNDEFINED:
                raise
            # What is expected is "another algorithm: ..."; the rest says why.
            refused[_label(row["name"], told)] = error.expected.partition(": ")[2] or str(error)
            continue
        found += [candidate, *_variants(row, told, candidate.ranks, plan)]
    if not found:
        listed = "; ".join(f"{name}: {why}" for name, why in refused.items())
        raise ConfigError("algorithms", ", ".join(refused), "one that is defined on this machine", listed)
    return found, refused


def operations() -> list[str]:
    """The collective operations, in the order of the table."""
    return list(dict.fromkeys(row["operation"] for row in _collectives()))


def _collectives() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(_core.components())["collectives"]
    return rows


def _rows(operation: Any, algorithms: Any) -> list[dict[str, Any]]:
    """The rows of the table that are candidates, in its order."""
    if operation not in operations():
        expected = f"one of {', '.join(operations())}"
        raise ConfigError("operation", repr(operation), expected, did_you_mean(str(operation), operations()))
    rows = {row["name"]: row for row in _collectives() if row["operation"] == operation}
    if algorithms is None:
        return list(rows.values())
    named = several("algorithms", algorithms, "a list of algorithms", f"for example {[*rows][:2]}")
    for name in named:
        if name not in rows:
            expected = f"algorithms for {operation}: {', '.join(rows)}"
            raise ConfigError("algorithms", repr(name), expected, did_you_mean(str(name), rows))
    if not named:
        raise ConfigError("algorithms", named, "at least one", "leave it out for all")
    return [row for name, row in rows.items() if name in named]


def _takes(row: Mapping[str, Any]) -> list[str]:
    """The parameters of an algorithm."""
    return [name.strip() for name in str(row["parameters"]).split(",")]


def _check_sent(operation: str, sent: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]) -> None:
    """A length is given, and each parameter belongs to a candidate."""
    for name in ("algorithm", "operation"):
        if name in sent:
            raise ConfigError(name, repr(sent[name]), "nothing here", "algorithms=[...] names the candidates")
    lengths = [name for name in ("message_bytes", "message_flits", "sizes", "file") if name in sent]
    if not lengths and operation != _NO_DATA:
        hint = "message_flits gives it in flits"
        raise ConfigError("message_bytes", "nothing", f"the length of a message of {operation}", hint)
    for name in PARAMETERS:
        if name in sent and not any(name in _takes(row) for row in rows):
            raise ConfigError(
                name, repr(sent[name]), f"nothing: no candidate for {operation} has {name}", "leave it out"
            )


def _variants(
    row: Mapping[str, Any],
    told: Mapping[str, Any],
    ranks: int,
    plan: Callable[[Mapping[str, Any], Mapping[str, Any]], Candidate],
) -> Iterator[Candidate]:
    """The same algorithm with other values of its parameters, as far as they make sense."""
    for name, values in TRIED.items():
        if name not in _takes(row) or name in told:
            continue
        for value in values:
            if value >= ranks:
                continue
            try:
                yield plan(row, {**told, name: value})
            except ConfigError as error:
                if error.path not in _UNDEFINED:
                    raise


def _planned(
    network: Network,
    host: Host | Mapping[str, Any] | None,
    operation: str,
    algorithm: str,
    sent: Mapping[str, Any],
    parameters: Mapping[str, Any],
    options: Spec,
    seeds: int,
    keeper: Keeper,
) -> Candidate:
    given = {name: value for name, value in sent.items() if name not in PARAMETERS or name in parameters}
    workload = collective(operation, algorithm, **given)
    label = _label(algorithm, parameters)
    jobs: list[Job] = []
    for seed in range(1, seeds + 1):
        prepared = prepare(simulation(network, workload, {**options, "seed": seed}, host=host))
        plan = prepared.checked_plan()
        jobs.append(Job.of(prepared, plan, Point(label, "pick", {}, seed, {}), keeper))
    messages, bound = plan.messages(), plan.bound()
    steps, ranks = (int(messages[name].max()) + 1 if len(messages[name]) else 0 for name in ("phase", "from"))
    any_algorithm = (bound.get("operation") or {}).get("cycles")
    least = math.nan if any_algorithm is None else float(any_algorithm)
    own = float(bound["tightest_cycles"] or 0)
    return Candidate(label, algorithm, parameters, workload, steps, ranks, own, least, tuple(jobs))


def _label(algorithm: str, parameters: Mapping[str, Any]) -> str:
    told = ", ".join(f"{name} {value}" for name, value in parameters.items())
    return f"{algorithm} ({told})" if told else algorithm
