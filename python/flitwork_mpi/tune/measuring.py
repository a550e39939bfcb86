"""``fw.tune.bench``: times of all-to-all algorithms on the MPI library at hand, row by row.

The time of a call is the longest that any rank spends in it behind a barrier, by its own clock. A row has the median
of the calls and its confidence interval by order statistics; calls are repeated until that is narrow, or enough.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flitwork.base.errors import ConfigError, did_you_mean
from flitwork.base.libraries import pd
from flitwork.base.statistics import median_interval_95

from flitwork_mpi.native import build
from flitwork_mpi.tune.session import BenchError, Job, Session
from flitwork_mpi.tune.setting import NotTaken, Setting, check_taken, family_of
from flitwork_mpi.tune.store import Stored

OPERATIONS = ("alltoall", "alltoallv")
_WARM_UP = 3
_FIRST = 10
_MOST_AT_ONCE = 1000


@dataclass(frozen=True)
class Limits:
    """When a row is known well enough: ``interval``, half its width over the median; or so many calls, or seconds.

    A job that does not answer for ``timeout_seconds`` is ended.
    """

    interval: float = 0.05
    repetitions: int = 1000
    seconds: float = 10.0
    timeout_seconds: float = 120.0

    def __post_init__(self) -> None:
        if not 0 < self.interval < 1:
            raise ConfigError("interval", self.interval, "a part between 0 and 1", "0.05 is 5 %")
        if self.repetitions < 1:
            raise ConfigError("repetitions", self.repetitions, "at least 1")
        for name in ("seconds", "timeout_seconds"):
            if not 0 < getattr(self, name) < math.inf:
                raise ConfigError(name, getattr(self, name), "a time above 0 s")


@dataclass
class Bench:
    """What was measured: a row of ``table`` for each algorithm and size; the others by ``failed``, ``left_out``."""

    table: pd.DataFrame
    failed: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def wrong(self) -> list[str]:
        """The algorithms that delivered wrong data."""
        rows = self.table[~self.table["verified"].astype(bool)] if len(self.table) else self.table
        return sorted({str(name) for name in rows["algorithm"]}) if len(rows) else []


#: Is told what is measured: the row, its number and how many there are in all.
RowCallback = Callable[[Mapping[str, Any], int, int], None]


def bench(
    launcher: Sequence[str],
    message_bytes: Sequence[int],
    *,
    operations: Sequence[str] = ("alltoall",),
    algorithms: Sequence[str] | None = None,
    limits: Limits | None = None,
    mpicc: str | None = None,
    library: str | Path | None = None,
    servers: str | None = None,
    map: str | Path | None = None,
    output: str | Path | None = None,
    told: RowCallback | None = None,
) -> Bench:
    """Measures all-to-alls with ``launcher``, such as ``["mpirun", "-n", "8"]``, for message sizes [bytes to one peer].

    ``algorithms``: ``library`` (what the MPI library chooses), its own ones, such as ``openmpi:pairwise``, and ours,
    such as ``bruck radix=4``, which ``library`` carries out, a ``libflitwork_mpi.so``, or one that is compiled with
    ``mpicc``, by default that beside the launcher; without ``algorithms`` all that there are.
    ``servers``: ranks on each server, ``"4,4"``, where that is not to be found out; ``map``: a file with the place of
    each rank on a grid, for algorithms by coordinates (``mpi/README.md``). With ``output``, a ``.csv`` or ``.parquet``,
    every row is stored when it is finished, and rows that are there are not measured again. Algorithms that are not
    defined here are named in ``left_out``, those that fail in ``failed``.

    Raises :class:`flitwork.ConfigError` for what is wrong with the arguments and :class:`flitwork.SimulationError`
    where no job can be started.
    """
    limits = limits or Limits()
    sizes = _checked(operations, message_bytes)
    file = str(build.program(launcher, mpicc))
    job, mpi, version = _probe([*launcher, file], limits)
    if library is None and Setting.needs_ours(algorithms):
        library = build.library(launcher, mpicc)
    setting = Setting(mpi, job.ranks, library, servers, map)
    names = setting.named(algorithms, operations)
    per_server = job.most if servers is None else setting.per_server()
    same = {"ranks": job.ranks, "ranks_per_server": per_server, "mpi": mpi, "version": version}
    stored = Stored(Path(output) if output is not None else None)
    failed: dict[str, str] = {}
    left_out: dict[str, str] = {}
    total = len(operations) * len(names) * len(sizes)

    def unmeasured(operation: str, name: str) -> list[int]:
        series = {"operation": operation, "algorithm": name, **same}
        return [size for size in sizes if not stored.has({**series, "bytes": size})]

    number = total - sum(len(unmeasured(o, a)) for o in operations for a in names)
    for operation in operations:
        for name in names:
            missing = unmeasured(operation, name)
            try:
                variables = setting.environment(operation, name)
                if not missing or variables is None:
                    continue
                command = [*launcher, "env", *(f"{key}={value}" for key, value in variables.items()), file]
                if setting.is_ours(name):
                    check_taken(command, operation, missing[0], limits.timeout_seconds)
                for row in _rows(command, operation, name, missing, limits):
                    number += 1
                    stored.add({**row, **same})
                    if told:
                        told(stored.rows[-1], number, total)
            except NotTaken as reason:
                left_out[f"{operation} {name}"] = str(reason)
                number += len(missing)
            except BenchError as error:
                failed[f"{operation} {name}"] = str(error)
    return Bench(stored.table(), failed, left_out)


def _checked(operations: Sequence[str], message_bytes: Sequence[int]) -> list[int]:
    for operation in operations:
        if operation not in OPERATIONS:
            hint = did_you_mean(str(operation), OPERATIONS)
            raise ConfigError("operations", operation, f"one of {', '.join(OPERATIONS)}", hint)
    for size in message_bytes:
        if not 0 <= size < 2**31:
            raise ConfigError("message_bytes", size, "from 0 to 2,147,483,647 bytes to each other rank")
    if not message_bytes:
        raise ConfigError("message_bytes", "none", "at least one size", "for example 1,1024,65536")
    return sorted(set(message_bytes))


def _probe(command: Sequence[str], limits: Limits) -> tuple[Job, str, str]:
    """The job, the family of its library and the version."""
    with Session(command, {}, limits.timeout_seconds) as session:
        job = session.job()
    if job.ranks < 2:
        hint = "do launcher and mpicc belong to the same MPI library? --mpicc names another compiler"
        raise ConfigError("LAUNCHER", " ".join(command[:-1]), "2 ranks or more; a job had 1", hint)
    return job, *family_of(job.library)


def _rows(
    command: Sequence[str], operation: str, algorithm: str, sizes: Sequence[int], limits: Limits
) -> Iterator[dict[str, Any]]:
    """A row for each size, all of one job."""
    with Session(command, {}, limits.timeout_seconds) as session:
        session.job()
        for size in sizes:
            times, verified = measured(session, operation, size, limits)
            low, high = median_interval_95(times)
            yield {
                "operation": operation,
                "algorithm": algorithm,
                "bytes": size,
                "seconds": statistics.median(times),
                "low": low,
                "high": high,
                "repetitions": len(times),
                "verified": verified,
            }


def measured(session: Session, operation: str, size: int, limits: Limits) -> tuple[list[float], bool]:
    """Times of calls until their median is known well enough, and whether all data were right."""
    _, verified = session.times(operation, size, _WARM_UP)
    times: list[float] = []
    began = time.monotonic()
    while True:
        more = min(max(_FIRST, len(times)), limits.repetitions - len(times), _MOST_AT_ONCE)
        found, right = session.times(operation, size, more)
        times += found
        verified &= right
        low, high = median_interval_95(times)
        narrow = high - low <= 2 * limits.interval * statistics.median(times)
        if narrow or len(times) >= limits.repetitions or time.monotonic() - began >= limits.seconds:
            return times, verified
