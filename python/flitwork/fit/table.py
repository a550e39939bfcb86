"""The table that is fitted: read, columns and units checked, rows chosen and parted by their conditions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from flitwork.errors import ConfigError
from flitwork.fit.simulated import is_of_simulations, named
from flitwork.measurements import COLUMNS, Told, check_columns, check_numbers, read_rows

#: A table, or the name of a file with one.
Data = pd.DataFrame | str | Path
#: Besides those of measurements: a total exchange of a fixed size is told by what all ranks send together.
KNOWN: Mapping[str, str] = {
    **COLUMNS,
    "total_bytes": "[bytes] that all ranks send together, kept ones included: bytes·n²",
}
#: What may differ between rows: the columns of models, and those that only tell fits apart.
VARIABLES = ("bytes", "ranks", "ranks_per_server")
TELLING = ("operation", "algorithm", "mpi", "version")
TAKEN = ("all", "minimum", "median", "mean")
_FACTORS = {
    "seconds": {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "usec": 1e-6, "microseconds": 1e-6, "nanoseconds": 1e-9,
                "ms": 1e-3, "msec": 1e-3, "milliseconds": 1e-3, "s": 1.0, "sec": 1.0, "seconds": 1.0},
    "bytes": {"bytes": 1.0, "kib": 2.0**10, "mib": 2.0**20, "gib": 2.0**30, "kb": 1e3, "mb": 1e6, "gb": 1e9},
}  # fmt: skip
_FACTORS["total_bytes"] = _FACTORS["bytes"]
_NO_UNIT = ("cycles", "flits")
_WITH_UNIT = re.compile(r"^\s*[-+]?[\d.]+([eE][-+]?\d+)?\s*([A-Za-zµ]+)\s*$")


def read_table(
    data: Data | Sequence[Data], *, columns: Mapping[str, str] | None = None, told: Told | None = None
) -> pd.DataFrame:
    """Checked rows: operation, algorithm, bytes, ranks, ranks_per_server, seconds, mpi, version, and ``row`` (from 1).

    ``columns`` says what columns of the data are called: ``{"seconds": "completion_ns"}``. The end of such a name says
    the unit; columns of other names are left out then. Tables of studies and sweeps are known by their columns. What is
    missing and may be is empty (NaN of numbers).
    """
    parts = [data] if isinstance(data, (pd.DataFrame, str, Path)) else list(data)
    if not parts:
        raise ConfigError("data", "nothing", "a table or a file")
    return pd.concat([_part(one, columns, told or Told()) for one in parts], ignore_index=True)


def _part(data: Data, columns: Mapping[str, str] | None, told: Told) -> pd.DataFrame:
    if isinstance(data, pd.DataFrame):
        return _checked(_renamed(data.reset_index(drop=True), columns, "table"), "table")
    return _checked(_renamed(read_rows(data, told), columns, str(data)), str(data))


def _renamed(table: pd.DataFrame, columns: Mapping[str, str] | None, file: str) -> pd.DataFrame:
    """The columns under the names that they have here, in seconds and bytes."""
    if is_of_simulations(table):
        table, columns = named(table, columns, file)
    if not columns:
        for name in table.columns:
            _refuse_unit(str(name), list(map(str, table.columns)), file)
        return table
    found = {}
    for name, source in columns.items():
        if name not in KNOWN:
            raise ConfigError(f"columns.{name}", source, f"one of {', '.join(KNOWN)}")
        if source not in table.columns:
            raise ConfigError(f"{file}: {source}", "no such column", f"one of {', '.join(map(str, table.columns))}")
        found[name] = _in_unit(table[source], name, source, file)
    kept = {
        name: table[name]
        for name in table.columns
        if name in KNOWN and name not in found and name not in columns.values()
    }
    return pd.DataFrame({**kept, **found})


def _in_unit(column: pd.Series[Any], name: str, source: str, file: str) -> pd.Series[Any]:
    end = re.split(r"[_\s(\[]+", source.lower().rstrip(")]"))[-1]
    if name in _FACTORS and end in _NO_UNIT:
        expected = f"a column in {'bytes' if 'bytes' in name else 's, ms, us or ns'}"
        raise ConfigError(f"{file}: {source}", end, expected, "network.units say what a cycle and a flit are")
    factor = _FACTORS.get(name, {}).get(end, 1.0)
    if factor == 1.0:
        return column
    check_numbers(column, source, file, about=KNOWN[name])
    return column.astype(float) * factor


def _refuse_unit(name: str, names: Sequence[str], file: str) -> None:
    """A column of times or sizes in other units: mixed with ours, or to be named."""
    words = re.split(r"[_\s(\[]+", name.lower().rstrip(")]"))
    for ours, factors in _FACTORS.items():
        if name in KNOWN or words[-1] not in factors or ours == "total_bytes":
            continue
        if ours in names:
            raise ConfigError(f"{file}: {name}", f"mixed units: beside {ours}", f"one column, {ours}", "leave one out")
        raise ConfigError(f"{file}: {name}", "unknown column", KNOWN[ours], f"--column {ours}={name} converts it")


def _checked(table: pd.DataFrame, file: str) -> pd.DataFrame:
    check_columns(table, file, ("seconds",), KNOWN)
    for name in ("seconds", *VARIABLES, "total_bytes"):
        if name in table:
            _refuse_units_in(table[name], name, file)
            whole_from = {"ranks": 1, "ranks_per_server": 1}.get(name)
            check_numbers(table[name], name, file, whole_from=whole_from, about=KNOWN[name])
    if "total_bytes" in table:
        table = _per_message(table, file)
    # Rows of which not all data were right say nothing of how long it takes.
    if "verified" in table and (wrong := table["verified"].astype(str).str.lower().isin(["false", "0", "no"])).any():
        raise ConfigError(f"{file}: row {int(np.flatnonzero(wrong)[0]) + 1}: verified", "False", "times of right data")
    found = {name: _texts(table, name) for name in TELLING}
    numbers = {name: table[name].astype(float) if name in table else np.nan for name in ("bytes", "ranks")}
    per_server = table["ranks_per_server"].astype(float) if "ranks_per_server" in table else 1.0
    rows = np.arange(1, len(table) + 1)
    seconds = table["seconds"].astype(float)
    return pd.DataFrame({**found, **numbers, "ranks_per_server": per_server, "seconds": seconds, "row": rows})


def _refuse_units_in(column: pd.Series[Any], name: str, file: str) -> None:
    for row, value in enumerate(column, 1):
        if isinstance(value, str) and (match := _WITH_UNIT.match(value)):
            unit = "s" if name == "seconds" else "bytes" if "bytes" in name else "a number without unit"
            expected = f"a number in {unit}, as in the other rows" if name in _FACTORS else "a number without unit"
            raise ConfigError(
                f"{file}: row {row}: {name}", f'"{value}" (mixed units: {match[2]})', expected, KNOWN[name]
            )


def _per_message(table: pd.DataFrame, file: str) -> pd.DataFrame:
    if "bytes" in table:
        raise ConfigError(f"{file}: total_bytes", "mixed units: beside bytes", "one of the two", KNOWN["total_bytes"])
    if "ranks" not in table:
        raise ConfigError(f"{file}: ranks", "missing", "a column ranks beside total_bytes", KNOWN["total_bytes"])
    return table.assign(bytes=table["total_bytes"].astype(float) / table["ranks"].astype(float) ** 2)


def _texts(table: pd.DataFrame, name: str) -> list[str]:
    return ["" if pd.isna(value) else str(value) for value in table[name]] if name in table else [""] * len(table)


def chosen(table: pd.DataFrame, only: Mapping[str, Any]) -> pd.DataFrame:
    """The rows with these values, by column; ``None`` as a value: all."""
    for name, wanted in only.items():
        if wanted is None:
            continue
        values = list(wanted) if isinstance(wanted, (list, tuple, set)) else [wanted]
        have = sorted(set(table[name].dropna()))
        if missing := [value for value in values if value not in have]:
            shown = ", ".join(f"{one:g}" if isinstance(one, float) else str(one) for one in have) or "nothing"
            raise ConfigError(name, missing[0], f"what the data have: {shown}")
        table = table[table[name].isin(values)]
    return table


def taken(table: pd.DataFrame, take: str) -> pd.DataFrame:
    """Of times under the same conditions all, or one: the minimum, the median or the mean."""
    if take not in TAKEN:
        raise ConfigError("take", take, f"one of {', '.join(TAKEN)}")
    if take == "all":
        return table
    groups = table.groupby([*TELLING, *VARIABLES], dropna=False, sort=False)
    how = "min" if take == "minimum" else take
    return groups.agg(seconds=("seconds", how), row=("row", "first")).reset_index()


def varying(table: pd.DataFrame) -> list[str]:
    """The variables that differ between rows. Ranks that are all on one server, however many, have no other servers."""
    one_server = bool((table["ranks_per_server"] == table["ranks"]).all())
    return [name for name in VARIABLES if table[name].nunique() > 1 and not (one_server and name == "ranks_per_server")]


def parts(table: pd.DataFrame, used: Sequence[str]) -> Iterator[pd.DataFrame]:
    """The rows by what tells fits apart: the conditions, and variables that are not ``used``."""
    names = [*TELLING, *(name for name in VARIABLES if name not in used)]
    one_server = table["ranks_per_server"] == table["ranks"]
    keys = table.assign(ranks_per_server=table["ranks_per_server"].mask(one_server, 0))
    for _, rows in keys.groupby(names, dropna=False, sort=False):
        yield table.loc[rows.index].reset_index(drop=True)


def conditions(table: pd.DataFrame) -> dict[str, Any]:
    """What all rows share, as far as it is known."""
    found: dict[str, Any] = {}
    for name in (*TELLING, *VARIABLES):
        value = table[name].iloc[0]
        if table[name].nunique(dropna=False) == 1 and value != "" and not pd.isna(value):
            found[name] = value if isinstance(value, str) else float(value)
    return found
