"""``fw.pick``: the algorithms of a collective operation, simulated on one machine, and which is the fastest there.

From above: candidates are rows of the table of collectives; each becomes a plan, or is refused with a reason; plans run
on all cores as those of a sweep do; what came out is put in order and said in words (``flitwork.reasons``).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from flitwork import _core
from flitwork.arguments import several, whole
from flitwork.errors import ConfigError, SimulationError, did_you_mean
from flitwork.experiment import Job, Point, Watcher, execute, run_options
from flitwork.experiment.engines import make_engine
from flitwork.files import write_atomically, write_csv
from flitwork.reasons import reason
from flitwork.result import Result
from flitwork.spec import Host, Network, Run, RunOptions, prepare, simulation
from flitwork.workloads import Spec, Workload, collective

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
_SAVED = (".csv", ".json")
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
    def work(self) -> float:
        """Flit-hops of all its simulations, roughly."""
        return sum(job.work for job in self.jobs)


@dataclass(frozen=True)
class Pick:
    """What the simulations say. ``table``: a row a candidate, the fastest first.

    ``candidate`` (its name, with parameters), ``algorithm``, ``parameters``, ``completion_cycles`` (the mean over the
    seeds; ``min_`` and ``max_completion_cycles``), ``completion_ns`` (NaN where ``units`` do not say what a cycle is),
    ``ratio_to_bound`` (to what any algorithm needs; NaN where blocks have sizes of their own), ``slower`` (0.22: takes
    1.22 times as long as the best), ``own_bound_cycles`` (what the messages of this algorithm need), ``steps``,
    ``packets`` and ``flit_hops`` (those of the first seed).

    ``left_out`` has those without a result, and why. ``reason`` says in words why the best is the best.
    """

    table: pd.DataFrame
    left_out: Mapping[str, str]
    reason: str
    operation: str
    bound_cycles: float
    title: str
    workloads: Mapping[str, Workload] = field(repr=False)

    @property
    def best(self) -> str:
        """The fastest candidate, with its parameters: ``bruck (radix 4)``."""
        return str(self.table["candidate"].iloc[0])

    @property
    def workload(self) -> Workload:
        """What the fastest candidate sends, for :func:`flitwork.simulate`."""
        return self.workloads[self.best]

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data, for JSON."""
        table = self.table.astype(object).where(self.table.notna(), None)
        bound = None if math.isnan(self.bound_cycles) else self.bound_cycles
        return {
            "title": self.title,
            "operation": self.operation,
            "best": self.best,
            "reason": self.reason,
            "bound_cycles": bound,
            "candidates": table.to_dict("records"),
            "left_out": dict(self.left_out),
        }

    def save(self, file: str | Path) -> Path:
        """Writes the table as ``.csv``, or all of it as ``.json``."""
        path = check_saved(Path(file), "file")
        if path.suffix.lower() == ".csv":
            return write_csv(self.table, path)
        text = json.dumps(self.to_dict(), indent=2).encode() + b"\n"
        return write_atomically(path, lambda opened: opened.write(text))

    def __repr__(self) -> str:
        return f"<{self.best} of {len(self.table)} for {self.title}>"


def check_saved(file: Path, name: str) -> Path:
    """``file``, if its ending is one that :meth:`Pick.save` writes."""
    if file.suffix.lower() not in _SAVED:
        raise ConfigError(name, file, f"a file {' or '.join(_SAVED)}", "the ending of its name says what it is")
    return file


def pick(
    network: Network,
    operation: str = OPERATION,
    *,
    message_bytes: int | str | None = None,
    message_flits: int | None = None,
    host: Host | Mapping[str, Any] | None = None,
    algorithms: Sequence[str] | None = None,
    seeds: int = 1,
    run: Run | RunOptions | None = None,
    jobs: int | None = None,
    watcher: Watcher | None = None,
    explained: bool = True,
    **more: Any,
) -> Pick:
    """Simulates the algorithms of a collective operation on one machine: which is the fastest, and why.

    >>> found = fw.pick(fw.Torus(8, 8, units=fw.Units(flit_bytes=16)), "all_to_all", message_bytes=65_536)
    >>> print(found.best, found.reason)

    ``message_bytes`` or ``message_flits`` means what it means to :func:`flitwork.collective`, and so does what else is
    given (``packet_flits``, ``root``, ``sizes``, ...): parameters of single algorithms go to those that have them.
    Where nothing is said of ``radix`` and ``leaders``, a few values are tried beside the default. Candidates are all
    algorithms of the operation, or those named in ``algorithms``; those that are not defined for these ranks, servers
    or this network are listed in ``left_out``. ``seeds``: each runs so many times, with the seeds 1, 2, ...
    Simulations run on all cores, or ``jobs`` at once. With ``explained`` the best and the next slower one are
    simulated once more with the records of :func:`flitwork.explain`, if that is quick.

    Raises :class:`flitwork.ConfigError` where something is wrong for all algorithms, or none is defined, and
    :class:`flitwork.SimulationError` where no simulation could be finished.
    """
    contest = Contest.of(
        network, operation, message_bytes=message_bytes, message_flits=message_flits, host=host,
        algorithms=algorithms, seeds=seeds, run=run, **more,
    )  # fmt: skip
    contest.run(jobs=jobs, watcher=watcher)
    return contest.picked(explained)


@dataclass
class Contest:
    """The candidates for one machine, those that are refused, and what is finished of them."""

    title: str
    operation: str
    candidates: list[Candidate]
    refused: dict[str, str]
    results: dict[str, Result] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        network: Network,
        operation: str = OPERATION,
        *,
        host: Host | Mapping[str, Any] | None = None,
        algorithms: Sequence[str] | None = None,
        seeds: int = 1,
        run: Run | RunOptions | None = None,
        **sent: Any,
    ) -> Contest:
        """Plans every candidate; nothing runs."""
        rows = _rows(operation, algorithms)
        sent = {name: value for name, value in sent.items() if value is not None}
        _check_sent(operation, sent, rows)
        count = whole("seeds", seeds, 1, _MOST_SEEDS, "each candidate runs once a seed")
        options = run_options(run, "seeds=N, for the seeds 1 to N")

        def planned(row: Mapping[str, Any], parameters: Mapping[str, Any]) -> Candidate:
            return _planned(network, host, operation, row["name"], {**sent, **parameters}, parameters, options, count)

        found: list[Candidate] = []
        refused: dict[str, str] = {}
        first: ConfigError | None = None
        for row in rows:
            told = {name: sent[name] for name in PARAMETERS if name in sent and name in _takes(row)}
            try:
                candidate = planned(row, told)
            except ConfigError as error:
                if error.path not in _UNDEFINED:
                    raise
                first = first or error
                # What is expected is "another algorithm: ..."; the rest says why.
                refused[_label(row["name"], told)] = error.expected.partition(": ")[2] or str(error)
                continue
            found += [candidate, *_variants(row, told, candidate.ranks, planned)]
        if not found:
            assert first is not None
            listed = "; ".join(f"{name}: {why}" for name, why in refused.items())
            raise ConfigError("algorithms", ", ".join(refused), "one that is defined on this machine", listed)
        return cls(f"{operation} on {network!r}", operation, found, refused)

    @property
    def work(self) -> float:
        """Flit-hops of all simulations, roughly."""
        return sum(one.work for one in self.candidates)

    @property
    def finished(self) -> list[Candidate]:
        """The candidates of which all seeds have run."""
        return [one for one in self.candidates if all(job.hash in self.results for job in one.jobs)]

    def run(self, *, jobs: int | None = None, watcher: Watcher | None = None) -> None:
        """Simulates all candidates; what is finished is kept when it is interrupted."""
        todo = [job for one in self.candidates for job in one.jobs]
        done = execute(todo, None, make_engine("local", None, jobs), watcher, self.results)
        for failure in done.failures:
            self.failed[failure.job.points[0].experiment] = str(failure.error)

    def picked(self, explained: bool = True) -> Pick:
        """What the finished candidates say."""
        finished = self.finished
        unfinished = {one.label: self.failed.get(one.label, "not finished") for one in self.candidates}
        for one in finished:
            del unfinished[one.label]
        if not finished:
            raise SimulationError("no candidate is finished: " + "; ".join(f"{a}: {b}" for a, b in unfinished.items()))
        table = _table([(one, [self.results[job.hash] for job in one.jobs]) for one in finished])
        first = {one.label: self.results[one.jobs[0].hash] for one in finished}
        bound = finished[0].operation_bound_cycles
        works = {one.label: one.jobs[0].work for one in finished}
        return Pick(
            table,
            {**self.refused, **unfinished},
            reason(table, bound, first, works if explained else {}),
            self.operation,
            bound,
            self.title,
            {one.label: one.workload for one in finished},
        )


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


def _variants(row: Mapping[str, Any], told: Mapping[str, Any], ranks: int, planned: Any) -> Iterator[Candidate]:
    """The same algorithm with other values of its parameters, as far as they make sense."""
    for name, values in TRIED.items():
        if name not in _takes(row) or name in told:
            continue
        for value in values:
            if value >= ranks:
                continue
            try:
                yield planned(row, {**told, name: value})
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
) -> Candidate:
    given = {name: value for name, value in sent.items() if name not in PARAMETERS or name in parameters}
    workload = collective(operation, algorithm, **given)
    label = _label(algorithm, parameters)
    jobs: list[Job] = []
    for seed in range(1, seeds + 1):
        prepared, plan = prepare(simulation(network, workload, {**options, "seed": seed}, host=host))
        described = json.loads(plan.json)
        work, memory = described["described"]["estimated_work_flit_hops"], described["estimated_memory_bytes"]
        point = Point(label, "pick", {}, seed, {})
        jobs.append(Job(prepared, plan.hash, float(work), int(memory), (point,)))
    messages, bound = plan.messages(), json.loads(plan.bound())
    steps, ranks = (int(messages[name].max()) + 1 if len(messages[name]) else 0 for name in ("phase", "from"))
    any_algorithm = (bound.get("operation") or {}).get("cycles")
    least = math.nan if any_algorithm is None else float(any_algorithm)
    own = float(bound["tightest_cycles"] or 0)
    return Candidate(label, algorithm, parameters, workload, steps, ranks, own, least, tuple(jobs))


def _label(algorithm: str, parameters: Mapping[str, Any]) -> str:
    told = ", ".join(f"{name} {value}" for name, value in parameters.items())
    return f"{algorithm} ({told})" if told else algorithm


def _table(found: Sequence[tuple[Candidate, Sequence[Result]]]) -> pd.DataFrame:
    rows = []
    for one, results in found:
        cycles = [result.completion_cycles for result in results]
        mean = sum(cycles) / len(cycles)
        cycle_ns = results[0].units.cycle_ns
        rows.append(
            {
                "candidate": one.label,
                "algorithm": one.algorithm,
                "parameters": ", ".join(f"{name}={value}" for name, value in one.parameters.items()),
                "completion_cycles": mean,
                "min_completion_cycles": min(cycles),
                "max_completion_cycles": max(cycles),
                "completion_ns": math.nan if cycle_ns is None else mean * cycle_ns,
                "ratio_to_bound": mean / one.operation_bound_cycles if one.operation_bound_cycles else math.nan,
                "slower": 0.0,
                "own_bound_cycles": one.bound_cycles,
                "steps": one.steps,
                "packets": results[0].row["packets"],
                "flit_hops": results[0].row["flit_hops"],
            }
        )
    table = pd.DataFrame(rows).sort_values("completion_cycles", kind="stable").reset_index(drop=True)
    table["slower"] = table["completion_cycles"] / table["completion_cycles"].iloc[0] - 1
    return table
