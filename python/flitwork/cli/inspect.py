"""``list``, ``schema``, ``show``: what there is, and what lies in a file."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from flitwork import _core
from flitwork.cli.options import AsJson, components
from flitwork.cli.output import guarded, print_json, print_result, print_table, say
from flitwork.results.columns import RESULT_COLUMNS, Column
from flitwork.results.result import Result
from flitwork.studies import published


class ListedTable(str, Enum):
    """What can be listed."""

    topologies = "topologies"
    routings = "routings"
    algorithms = "algorithms"
    collectives = "collectives"
    allocators = "allocators"
    arbiters = "arbiters"
    workloads = "workloads"
    patterns = "patterns"
    studies = "studies"
    columns = "columns"


@guarded
def list_table(
    what: Annotated[ListedTable, typer.Argument(help="Which table.", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """List what can be named in a study: topologies, routings, algorithms, ...

    Examples:

      flitwork list algorithms

      flitwork list studies --json
    """
    rows: list[dict[str, Any]]
    if what is ListedTable.studies:
        rows = [{"name": s.name, "summary": s.title, "folder": s.folder} for s in published().values()]
    elif what is ListedTable.columns:
        rows = [{"name": c.name, "unit": c.unit, "runs": _runs(c), "summary": c.about} for c in RESULT_COLUMNS.values()]
    else:
        rows = components()[what.value]
    if as_json:
        print_json(rows)
        return
    headers = list(dict.fromkeys(key for row in rows for key in row))
    print_table(headers, [[_text(row.get(key)) for key in headers] for row in rows])


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_text(v) for v in value)
    if isinstance(value, dict):
        return str(value.get("name", value))
    return "" if value is None else str(value)


@guarded
def schema() -> None:
    """Print the JSON Schema of a specification: every field with meaning, unit, default and range.

    Examples:

      flitwork schema > flitwork.schema.json
    """
    typer.echo(_core.schema())


@guarded
def show(
    file: Annotated[Path, typer.Argument(help="A stored result (.parquet).", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """Show what lies in a stored result.

    Examples:

      flitwork show results/torus-sizes/points/1f0c….parquet
    """
    result = Result.load(file)
    if as_json:
        print_json({"plan": result.plan, "summary": result.row})
        return
    say(repr(result).strip("<>"))
    print_result(result)


def _runs(column: Column) -> str:
    """Which runs have a column."""
    return f"{column.when}, with units" if column.physical else column.when
