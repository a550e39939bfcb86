"""``fw.pick``: the algorithms of a collective operation, simulated on one machine, and which is the fastest there.

From above: candidates are planned, or refused with a reason (``flitwork.candidates``); plans run on all cores as those
of a sweep do; what came out is put in order and said in words (``flitwork.reasons``).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flitwork.base.errors import ConfigError, SimulationError
from flitwork.base.libraries import pd
from flitwork.base.output_files import write_atomically, write_csv
from flitwork.experiment import Watcher, execute, run_options
from flitwork.experiment.engines import make_engine
from flitwork.planning.specification import Host, Network, Run, RunOptions
from flitwork.questions.candidates import OPERATION, Candidate, candidates
from flitwork.questions.reasons import reason
from flitwork.results.result import Result
from flitwork.workloads.workload import Workload

_SAVED = (".csv", ".json")


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
        """Writes the table as ``.csv``, or all of it as ``.json``. A file that is there is replaced."""
        path = check_saved(Path(file), "file")
        if path.suffix.lower() == ".csv":
            return write_csv(self.table, path)
        text = json.dumps(self.to_dict(), indent=2).encode() + b"\n"
        return write_atomically(path, lambda handle: handle.write(text))

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
        options = run_options(run, "seeds=N, for the seeds 1 to N")
        found, refused = candidates(network, operation, host, algorithms, seeds, options, sent)
        return cls(f"{operation} on {network!r}", operation, found, refused)

    @property
    def seconds(self) -> float:
        """What one core takes for all simulations, roughly."""
        return sum(one.seconds for one in self.candidates)

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
