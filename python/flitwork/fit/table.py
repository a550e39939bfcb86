"""The table that is fitted: read, columns and units checked, rows chosen and parted by their conditions."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from flitwork.base.errors import ConfigError
from flitwork.base.libraries import np, pd
from flitwork.fit.simulated import is_of_simulations, named, stored_result
from flitwork.fit.units import converted, refuse_cells, refuse_files, refuse_name
from flitwork.measurements import COLUMNS, Defaults, check_columns, check_numbers, read_rows

#: A table, or the name of a file with one.
Data: TypeAlias = "pd.DataFrame | str | Path"
#: Besides those of measurements: a total exchange of a fixed size is told by what all ranks send together.
KNOWN: Mapping[str, str] = {
    **COLUMNS,
    "total_bytes": "[bytes] that all ranks send together, kept ones included: bytes·n²",
}
#: What may differ between rows: the columns of models, and those that only tell fits apart.
VARIABLES = ("bytes", "ranks", "ranks_per_server")
TELLING = ("operation", "algorithm", "mpi", "version")
TAKEN = ("all", "minimum", "median", "mean")


def read_table(
    data: Data | Sequence[Data], *, columns: Mapping[str, str] | None = None, defaults: Defaults | None = None
) -> pd.DataFrame:
    """Checked rows: operation, algorithm, bytes, ranks, ranks_per_server, seconds, mpi, version, and ``row`` (from 1).

    ``columns`` says what columns of the data are called: ``{"seconds": "completion_ns"}``. The end of such a name says
    the unit; columns of other names are left out then. Tables of studies and sweeps are known by their columns. What is
    missing and may be is empty (NaN of numbers).
    """
    parts = [data] if isinstance(data, (pd.DataFrame, str, Path)) else list(data)
    if not parts:
        raise ConfigError("data", "nothing", "a table or a file")
    names = ["table" if isinstance(one, pd.DataFrame) else str(one) for one in parts]
    given = [_rows(one, defaults or Defaults()) for one in parts]
    tables = [_checked(_renamed(rows, columns, name), name) for name, rows in zip(names, given, strict=True)]
    refuse_files(list(zip(names, tables, strict=True)), [*TELLING, *VARIABLES])
    if "algorithm" not in (columns or {}):
        _refuse_plans(names, tables, given)
    return pd.concat(tables, ignore_index=True)


def _rows(data: Data, defaults: Defaults) -> pd.DataFrame:
    if isinstance(data, pd.DataFrame):
        return data.reset_index(drop=True)
    result = stored_result(Path(data)) if Path(data).suffix == ".parquet" else None
    return read_rows(data, defaults) if result is None else result


def _refuse_plans(names: Sequence[str], tables: Sequence[pd.DataFrame], given: Sequence[pd.DataFrame]) -> None:
    """Refuses simulations of different plans, such as of two machines, that would count as repetitions."""
    planned = [
        table.assign(file=name, plan=rows["plan_hash"], seed=rows["seed"])
        for name, table, rows in zip(names, tables, given, strict=True)
        if "plan_hash" in rows and "seed" in rows
    ]
    if len(planned) < 2:
        return
    together = pd.concat(planned, ignore_index=True)
    alike = together.groupby([*TELLING, *VARIABLES, "seed"], dropna=False)
    apart = alike["plan"].transform("nunique").to_numpy() > 1
    if apart.any():
        group = alike.ngroup().to_numpy()
        of_one = together[group == group[apart.argmax()]]
        first, last = of_one["file"].iloc[0], of_one["file"].iloc[-1]
        found = f"another plan than in {first} with the same operation, size, ranks and seed"
        raise ConfigError(f"{last}: plan_hash", found, "results of one machine", "fit those of each machine alone")


def _renamed(table: pd.DataFrame, columns: Mapping[str, str] | None, file: str) -> pd.DataFrame:
    """The columns under the names that they have here, in seconds and bytes."""
    if is_of_simulations(table):
        table, columns = named(table, columns, file)
    if not columns:
        for name in table.columns:
            refuse_name(str(name), list(map(str, table.columns)), KNOWN, file)
        return table
    found = {}
    for name, source in columns.items():
        if name not in KNOWN:
            raise ConfigError(f"columns.{name}", source, f"one of {', '.join(KNOWN)}")
        if source not in table.columns:
            raise ConfigError(f"{file}: {source}", "no such column", f"one of {', '.join(map(str, table.columns))}")
        found[name] = converted(table[source], name, source, file, KNOWN[name])
    kept = {
        name: table[name]
        for name in table.columns
        if name in KNOWN and name not in found and name not in columns.values()
    }
    _refuse_alike([str(name) for name in table.columns if name not in {*kept, *columns.values()}], file)
    return pd.DataFrame({**kept, **found})


def _refuse_alike(left_out: Sequence[str], file: str) -> None:
    """A column that would be left out although it is one of ours but for capitals and spaces."""
    for name in left_out:
        if (ours := name.strip().lower()) in KNOWN:
            expected = f"what is called {ours}, or a column of another name"
            hint = f"--column {shlex.quote(f'{ours}={name}')}"
            raise ConfigError(f"{file}: {name}", f"left out, and it looks like {ours}", expected, hint)


def _checked(table: pd.DataFrame, file: str) -> pd.DataFrame:
    check_columns(table, file, ("seconds",), KNOWN)
    for name in ("seconds", *VARIABLES, "total_bytes"):
        if name in table:
            refuse_cells(table[name], name, file, KNOWN[name])
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
    """All times under the same conditions, or one of them: the minimum, the median or the mean."""
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
