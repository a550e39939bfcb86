"""Times of operations on the MPI library at hand, on all ranks and on the first of them: the least of some calls.

The time of a call is the longest that any rank spends in it behind a barrier, by its own clock; that of a message from
one rank to another half of its way there and back.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from flitwork.base.errors import SimulationError
from flitwork.base.libraries import pd

from flitwork_mpi.native import build
from flitwork_mpi.tune.measuring import RowCallback
from flitwork_mpi.tune.session import BenchError, Job, Session
from flitwork_mpi.tune.setting import check_handed_over, family_of
from flitwork_mpi.tune.store import Stored

_WARM_UP = 2
_TIMEOUT_SECONDS = 120.0


@dataclass(frozen=True)
class Measurement:
    """What is timed: an operation of ``tune.Session``, in messages of ``bytes``, among the first ``ranks`` ranks."""

    operation: str
    bytes: int
    ranks: int


@dataclass(frozen=True)
class Way:
    """How operations are carried out: ``algorithm`` is its name in the table, ``variables`` are given to the ranks.

    ``ours``: our library carries it out, and the measurement fails where it hands calls over.
    """

    algorithm: str
    variables: Mapping[str, str]
    measurements: Sequence[Measurement]
    ours: bool = False


def job_of(launcher: Sequence[str]) -> Job:
    """The job that a launcher starts, which ends at once.

    Raises :class:`flitwork.ConfigError` for a launcher that cannot be run, and :class:`flitwork.SimulationError` where
    the job fails.
    """
    with Session([*launcher, str(build.program(launcher))], {}, _TIMEOUT_SECONDS) as session:
        return session.job()


def bench_operations(
    launcher: Sequence[str],
    job: Job,
    ways: Sequence[Way],
    output: Path,
    *,
    calls: int = 10,
    told: RowCallback | None = None,
) -> pd.DataFrame:
    """Measures ``ways`` in jobs of ``launcher``, such as ``["mpirun", "-n", "8"]``: a row for each measurement.

    ``job`` is what :func:`job_of` says of the launcher. ``seconds`` is the least of ``calls`` calls. Every row is in
    the file ``output``, a ``.csv`` or ``.parquet``, when it is finished, and what is there of this MPI library is not
    measured again.

    Raises :class:`flitwork.ConfigError` for a launcher that cannot be run, and :class:`flitwork.SimulationError` where
    a job fails or data are wrong.
    """
    file = str(build.program(launcher))
    stored = Stored(output)
    parts = [[_row(way, one, job) for one in way.measurements] for way in ways]
    total = sum(map(len, parts))
    number = 0
    for way, rows in zip(ways, parts, strict=True):
        missing = [row for row in rows if not stored.has(row)]
        number += len(rows) - len(missing)
        if not missing:
            continue
        given = [f"{name}={value}" for name, value in way.variables.items()]
        with Session([*launcher, *(["env", *given] if given else []), file], {}, _TIMEOUT_SECONDS) as session:
            session.job()
            for row in missing:
                number += 1
                stored.add({**row, **_least(session, row, calls)})
                if told:
                    told(stored.rows[-1], number, total)
        if way.ours:
            check_handed_over(session, "alltoall")
    return stored.of(row for rows in parts for row in rows)


def _row(way: Way, one: Measurement, job: Job) -> dict[str, object]:
    mpi, version = family_of(job.library)
    return {
        "operation": one.operation,
        "algorithm": way.algorithm,
        "bytes": one.bytes,
        "ranks": one.ranks,
        "ranks_per_server": min(job.most, one.ranks),
        "mpi": mpi,
        "version": version,
    }


def _least(session: Session, row: Mapping[str, object], calls: int) -> dict[str, object]:
    operation, size, ranks = str(row["operation"]), int(str(row["bytes"])), int(str(row["ranks"]))
    session.times(operation, size, _WARM_UP, ranks)
    times, right = session.times(operation, size, calls, ranks)
    if not right:
        raise SimulationError(
            f"{operation} of {size} bytes among {ranks} ranks, {row['algorithm']}: wrong data arrived"
        )
    return {"seconds": min(times), "low": math.nan, "high": math.nan, "repetitions": calls, "verified": right}


__all__ = ["BenchError", "Measurement", "Way", "bench_operations", "job_of"]
