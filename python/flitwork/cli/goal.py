"""``run FILE.goal``: a GOAL program on a network."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from flitwork.cli.output import note, print_json, print_quantities, print_table, say
from flitwork.errors import ConfigError
from flitwork.files import writable_file
from flitwork.goal import PARAMETERS, SAVED, GoalResult, loggops, read_goal, run_goal
from flitwork.strict import read_toml

NetworkName = Annotated[
    str | None,
    typer.Option(
        "--network", metavar="NAME|FILE.toml", help="GOAL: `loggops` (default), or a file with a table `network`."
    ),
]
Save = Annotated[Path | None, typer.Option(help="GOAL: store the finish time of each rank in a file .csv or .parquet.")]
PerRank = Annotated[bool, typer.Option("--per-rank", help="GOAL: print the finish time of each rank.")]


def _parameter(name: str, what: str) -> Any:
    return typer.Option(f"--{name}", metavar="NUMBER", help=f"GOAL on loggops: {what}")


Latency = Annotated[int | None, _parameter("L", "latency [ns].")]
Overhead = Annotated[int | None, _parameter("o", "overhead of a message at a CPU [ns].")]
Gap = Annotated[int | None, _parameter("g", "gap between messages at a NIC [ns].")]
GapPerByte = Annotated[float | None, _parameter("G", "gap per byte [ns/byte].")]
OverheadPerByte = Annotated[float | None, _parameter("O", "overhead per byte [ns/byte].")]
Eager = Annotated[int | None, _parameter("S", "longest message that does not wait for its receive [bytes].")]


def is_goal(file: Path) -> bool:
    """Whether a file is a GOAL program, by its name."""
    return file.suffix.lower() in (".goal", ".bin")


def run_program(
    file: Path,
    network: str | None,
    parameters: dict[str, float | None],
    save: Path | None,
    per_rank: bool,
    as_json: bool,
) -> None:
    """Runs a GOAL program and shows what came out."""
    if save and save.suffix.lower() not in SAVED:
        raise ConfigError("--save", save, f"a file {' or '.join(SAVED)}", "the ending of its name says what it is")
    if save:
        writable_file(save, "--save")
    given = {name: number for name, number in parameters.items() if number is not None}
    table = _network(network)
    twice = [name for name in given if name in table]
    if twice:
        hint = f"{network} says {twice[0]} = {table[twice[0]]} already"
        raise ConfigError(f"--{twice[0]}", given[twice[0]], "it once", hint)
    result = run_goal(read_goal(file), loggops(**table, **given))
    if save:
        result.save(save)
    if as_json:
        print_json({**result.row, "parameters": vars(result.network), "finish_ns": result.finish_ns.tolist()})
        return
    _show(result, per_rank)
    if save:
        say(f"stored in {escape(str(save))}")


def _network(name: str | None) -> dict[str, Any]:
    """The parameters of the ideal machine that a name or a file says."""
    if name in (None, "loggops"):
        return {}
    path = Path(str(name))
    if path.suffix.lower() != ".toml":
        raise ConfigError("--network", name, "loggops, or a file .toml", "")
    found = read_toml(path)
    table = found.get("network", found)
    kind = table.get("kind") if isinstance(table, dict) else None
    if not isinstance(table, dict) or kind != "loggops":
        raise ConfigError("network.kind", kind, "loggops", f"in {path}, with {', '.join(PARAMETERS)} as needed")
    return {key: value for key, value in table.items() if key != "kind"}


def _show(result: GoalResult, per_rank: bool) -> None:
    say(f"[bold]{escape(result.goal.name)}[/] on [bold]{escape(str(result.network))}[/]")
    print_quantities({**result.row, "status": "completed"}, skip=("program", "network", "status", "as_loggopsim"))
    if per_rank:
        print_table(("rank", "finish_ns"), list(enumerate(result.finish_ns.tolist())))
    if not result.as_loggopsim:
        note(
            "[yellow]note[/]: by the rules of LogGOPSim this program cannot end; it ran with its operations in order "
            "(docs/goal.md)"
        )
