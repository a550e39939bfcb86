"""The table of a study or a sweep, and stored results, as a table of times: what the simulator's columns are here."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flitwork import _core
from flitwork.base.errors import ConfigError
from flitwork.base.libraries import pd
from flitwork.results.result import Result

#: Columns by which such a table is known.
_MARKS = ("completion_cycles", "terminals", "workload")
#: What rows share that are repetitions of each other, besides operation, algorithm and seed.
_CONDITIONS = ("bytes", "total_bytes", "ranks", "ranks_per_server")
#: The operation of workloads that are named by their algorithm alone.
_EXCHANGE = "alltoall"
#: What a user can do about ranks that the table does not say.
_SAY = "say --column ranks=NAME (in Python columns={'ranks': NAME}); ranks=terminals: one on each"


def is_of_simulations(table: pd.DataFrame) -> bool:
    """Whether rows are results of simulations, as studies and sweeps have them."""
    return all(name in table.columns for name in _MARKS)


def named(table: pd.DataFrame, columns: Mapping[str, str] | None, file: str) -> tuple[pd.DataFrame, dict[str, str]]:
    """The table with ``operation`` and ``algorithm``, and what its columns are called; ``columns`` go first."""
    mapping = dict(columns or {})
    if "status" in table and "seconds" not in mapping and (table["status"] != "complete").any():
        row = int((table["status"] != "complete").to_numpy().argmax())
        expected = "complete: the others have no time to completion"
        raise ConfigError(f"{file}: row {row + 1}: status", table["status"].iloc[row], expected)
    table, ranks = _with_ranks(table, file, mapping)
    known = {"seconds": "completion_ns", **ranks}
    sizes = [str(name) for name in table.columns if str(name).rpartition(".")[2] in ("bytes", "message_bytes")]
    if len(sizes) == 1 and "total_bytes" not in mapping:
        known["bytes"] = sizes[0]
    if (source := {**known, **mapping}.get("bytes")) in table and (missing := table[source].isna()).any():
        hint = "keep the rows of one experiment, in Python: table[table.experiment == NAME]"
        expected = "a size in each row; rows of experiments without that axis have none"
        raise ConfigError(f"{file}: row {int(missing.to_numpy().argmax()) + 1}: {source}", "nothing", expected, hint)
    if "seconds" not in mapping and "completion_ns" not in table:
        hint = "units = { flit_bytes = 16, cycle_ns = 4 } in the network"
        raise ConfigError(f"{file}: completion_ns", "missing", "what a cycle is in ns", hint)
    operations = _operations(table["workload"]).assign(mpi="simulated")
    if "algorithm" not in mapping:
        sources = {**known, **mapping}
        same = [sources[name] for name in _CONDITIONS if sources.get(name) in table]
        operations["algorithm"] = _with_settings(table, operations, same, file)
    kept = {str(name): operations[name] for name in operations if name not in mapping}
    # Which version of flitwork has run a point is no condition of it: digests are the same.
    found = table.drop(columns=["version"], errors="ignore").assign(**kept)
    return found, {**known, **{name: name for name in kept}, **mapping}


def _with_ranks(table: pd.DataFrame, file: str, mapping: Mapping[str, str]) -> tuple[pd.DataFrame, dict[str, str]]:
    """The table, and which columns have ``ranks`` and ``ranks_per_server``; none where no row says how many."""
    axis = "host.ranks_per_terminal"
    if "host_ranks" not in table and axis in table and table[axis].notna().all() and "host.placement" not in table:
        # Of an earlier version: an axis says it.
        each = table[axis].astype(int)
        table = table.assign(host_ranks=table["terminals"] * each, host_ranks_per_terminal=each)
    if "host_ranks" not in table:
        if "ranks" in mapping:
            return table, {}
        expected = "the number of ranks, which tables of earlier versions do not have"
        raise ConfigError(f"{file}: host_ranks", "missing", expected, f"run the study again, or {_SAY}")
    unknown = table["host_ranks"].isna()
    if not unknown.any():
        return table, {"ranks": "host_ranks", "ranks_per_server": "host_ranks_per_terminal"}
    if unknown.all() or "ranks" in mapping:
        # A column of that name is of the study, and may count anything.
        others = {"ranks", "ranks_per_server"} - set(mapping.values())
        return table.drop(columns=list(others), errors="ignore"), {}
    expected = "a number, as in other rows: a schedule of one's own does not say how many ranks it has"
    raise ConfigError(f"{file}: row {int(unknown.to_numpy().argmax()) + 1}: host_ranks", "nothing", expected, _SAY)


def _with_settings(table: pd.DataFrame, operations: pd.DataFrame, same: Sequence[str], file: str) -> pd.Series[Any]:
    """The algorithm with the axes that make several plans of what would be the same conditions: ``linear vcs=2``.

    Rows of other machines are no repetitions. ``same`` are the columns of message sizes and ranks.
    """
    named = operations["algorithm"]
    if any(name not in table for name in ("plan_hash", "seed", "topology")):
        return named
    alike = [operations["operation"], *(table[name] for name in dict.fromkeys([*same, "seed"]))]

    def plans(column: pd.Series[Any]) -> int:
        return int(column.astype(str).groupby([*alike, named], dropna=False).nunique().max())

    axes = [str(name) for name in table.columns[: list(table.columns).index("topology")] if name not in same]
    # Which experiment a row is of says less than what sets it apart.
    for name in sorted(axes, key=lambda one: one == "experiment"):
        if plans(table["plan_hash"]) > 1 and plans(table[name]) > 1:
            named = named + [f" {name}={_shown(value)}" if pd.notna(value) else "" for value in table[name]]
    if plans(table["plan_hash"]) > 1:
        found = "several plans with the same operation, size, ranks and seed"
        expected = "rows that differ in what the fit knows of, or a column that tells them apart"
        raise ConfigError(f"{file}: plan_hash", found, expected, "--column algorithm=NAME names one")
    return named


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _operations(workloads: pd.Series[Any]) -> pd.DataFrame:
    """Operation and algorithm: ``allreduce ring``, or the name of an all-to-all alone."""
    exchanges = {row["name"] for row in json.loads(_core.components())["algorithms"]}
    words = [f"{_EXCHANGE} {name}" if name in exchanges else str(name) for name in workloads]
    return pd.DataFrame([word.partition(" ")[::2] for word in words], columns=["operation", "algorithm"])


def stored_result(file: Path) -> pd.DataFrame | None:
    """One stored result (``flitwork simulate --save``) as a row of such a table; ``None`` where it is another file."""
    try:
        known = _core.ParquetFile(file).metadata
    except (OSError, ValueError):
        return None
    if "flitwork.format" not in known:
        return None
    result = Result.load(file)
    workload, row = result.spec["workload"], result.row
    return pd.DataFrame([{**row, "message_bytes": workload["message_bytes"]} if "message_bytes" in workload else row])
