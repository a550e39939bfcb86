"""Times of a simulated machine in the table of measurements: the candidates of ``flitwork pick``, over sizes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from flitwork import _core
from flitwork.base.errors import ConfigError
from flitwork.base.libraries import pd
from flitwork.experiment import Watcher
from flitwork.measurements import COLUMNS
from flitwork.planning.specification import Host, Network, Run, RunOptions
from flitwork.questions.candidates import OPERATION
from flitwork.questions.pick import Contest

from flitwork_mpi.tune.rule import OPERATIONS, Choice

#: Bytes that say how long a block is.
_LENGTH = 8


def simulated(
    network: Network,
    message_bytes: Sequence[int],
    *,
    host: Host | Mapping[str, Any] | None = None,
    ranks_per_server: Sequence[int] | None = None,
    algorithms: Sequence[str] | None = None,
    operations: Sequence[str] = ("alltoall",),
    seeds: int = 1,
    run: Run | RunOptions | None = None,
    jobs: int | None = None,
    watcher: Watcher | None = None,
    **more: Any,
) -> pd.DataFrame:
    """Simulates the all-to-alls of one machine over message sizes [bytes to one peer]; a row each, as measured ones.

    ``ranks_per_server`` are tried besides what ``host`` says. The interval of a time spans the ``seeds``, all of which
    are run; with one seed it is the time itself, which is exact. The network needs ``units`` that say what a cycle is.

    ``operations`` may name ``alltoallv`` and ``alltoallw``, too, with blocks of equal size. An algorithm that hands
    blocks on needs their sizes there: it runs twice, as our MPI library does, first with 8 bytes a block.
    """
    for operation in operations:
        if operation not in OPERATIONS:
            raise ConfigError("operations", operation, f"of {', '.join(OPERATIONS)}", "")
    differ = [operation for operation in operations if operation != "alltoall"]
    rows: list[dict[str, Any]] = []
    numbers: Sequence[int | None] = ranks_per_server or [None]
    for number in numbers:
        host_fields = {**_table(host), **({} if number is None else {"ranks_per_terminal": number})}
        made: dict[int, list[dict[str, Any]]] = {}
        for size in [*dict.fromkeys([*message_bytes, *([_LENGTH] if differ else [])])]:
            contest = Contest.of(
                network, OPERATION, message_bytes=size, host=host_fields or None, algorithms=algorithms, seeds=seeds,
                run=run, **more,
            )  # fmt: skip
            contest.run(jobs=jobs, watcher=watcher)
            made[size] = _rows(contest, size, int(host_fields.get("ranks_per_terminal", 1)))
        for operation in operations:
            lengths = made[_LENGTH] if operation in differ else []
            rows += [_of(operation, row, lengths) for size in message_bytes for row in made[size]]
    return pd.DataFrame(rows)[[*COLUMNS]]


def _of(operation: str, row: dict[str, Any], lengths: list[dict[str, Any]]) -> dict[str, Any]:
    """A row as one of an operation; where sizes go first, with the time that they take."""
    found = {**row, "operation": operation}
    name = str(row["algorithm"])
    if not lengths or not _hands_on(name.split()[0]):
        return found
    before = next(one for one in lengths if one["algorithm"] == name)
    return {**found, **{part: row[part] + before[part] for part in ("seconds", "low", "high")}}


def _hands_on(algorithm: str) -> bool:
    try:
        return not _core.CollectiveSteps("all_to_all", algorithm, 4).direct
    except ConfigError:
        # Defined on grids alone: an order of the destinations.
        return False


def _table(host: Host | Mapping[str, Any] | None) -> dict[str, Any]:
    if host is None:
        return {}
    return dict(host.spec if isinstance(host, Host) else host)


def _rows(contest: Contest, size: int, per_server: int) -> list[dict[str, Any]]:
    """What is finished of one size."""
    found = contest.picked(explained=False)
    parameters = {one.label: one for one in contest.candidates}
    rows = []
    for row in found.table.to_dict("records"):
        one = parameters[row["candidate"]]
        if math.isnan(row["completion_ns"]):
            hint = "units = { flit_bytes = 16, cycle_ns = 4 }, or a bandwidth"
            raise ConfigError("network.units", "nothing", "what a cycle is in ns", hint)
        scale = row["completion_ns"] / row["completion_cycles"] * 1e-9
        rows.append(
            {
                "operation": "alltoall",
                "algorithm": str(Choice.of(one.algorithm, one.parameters)),
                "bytes": size,
                "ranks": one.ranks,
                "ranks_per_server": per_server,
                "seconds": row["completion_cycles"] * scale,
                "low": row["min_completion_cycles"] * scale,
                "high": row["max_completion_cycles"] * scale,
                "repetitions": len(one.jobs),
                "verified": True,
                "mpi": "simulated",
                "version": "",
            }
        )
    return rows
