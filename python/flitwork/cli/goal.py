"""``run FILE.goal``: a GOAL program on a network."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from flitwork.base.errors import ConfigError, unknown_key
from flitwork.base.output_files import writable_file
from flitwork.base.toml_tables import read_toml
from flitwork.cli.output import escape, note, print_json, print_quantities, print_table, say
from flitwork.networks.network import Network
from flitwork.results.columns import OF_THE_NETWORK
from flitwork.running.goal import SAVED, GoalResult, LogGOPS, loggops, read_goal, run_goal
from flitwork.values.tables import Record, Run

NetworkName = Annotated[
    str | None,
    typer.Option(
        "--network", metavar="NAME|FILE.toml", help="GOAL: `loggops` (default), or a file with a table `network`."
    ),
]
Save = Annotated[Path | None, typer.Option(help="GOAL: store the finish time of each rank in a file .csv or .parquet.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="GOAL: replace the file that --save names if it exists.")]
PerRank = Annotated[bool, typer.Option("--per-rank", help="GOAL: print the finish time of each rank.")]


PacketFlits = Annotated[
    int | None, typer.Option(help="GOAL on a network with routers: longest packet [default: the longest message].")
]


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
    packet_flits: int | None,
    save: Path | None,
    overwrite: bool,
    per_rank: bool,
    as_json: bool,
) -> None:
    """Runs a GOAL program and shows what came out."""
    if save and save.suffix.lower() not in SAVED:
        raise ConfigError("--save", save, f"a file {' or '.join(SAVED)}", "the ending of its name says what it is")
    if save:
        writable_file(save, "--save", overwrite)
    given = {name: number for name, number in parameters.items() if number is not None}
    machine = _network(network, given)
    if packet_flits is not None and isinstance(machine, LogGOPS):
        raise ConfigError("--packet-flits", packet_flits, "a network with routers", "loggops has no packets")
    result = run_goal(read_goal(file), machine, packet_flits=packet_flits or 0)
    if save:
        result.save(save)
    if as_json:
        said = {"parameters": vars(machine)} if isinstance(machine, LogGOPS) else {}
        print_json({**result.row, **said, "finish_ns": result.finish_ns.tolist()})
        return
    _show(result, per_rank)
    if save:
        say(f"stored in {escape(str(save))}")


def goal_result(file: Path, network: Path | None, packet_flits: int | None, record: Record) -> GoalResult:
    """What comes out of a GOAL program on a network with routers, with these records."""
    if network is None:
        hint = "a file .toml with a table `network`: the ideal machine has no network"
        raise ConfigError("--network", "nothing", "a network with routers", hint)
    machine = _network(str(network), {})
    if isinstance(machine, LogGOPS):
        raise ConfigError("--network", network, "a network with routers", "the ideal machine has none")
    return run_goal(read_goal(file), machine, packet_flits=packet_flits or 0, run=Run(record=record))


def _network(name: str | None, parameters: dict[str, float]) -> LogGOPS | Network:
    """The network that a name or a file says, with the parameters of the command line."""
    table = _table(name)
    kind = table.pop("kind", None)
    if "topology" in table and kind is None:
        if parameters:
            option, number = next(iter(parameters.items()))
            raise ConfigError(f"--{option}", number, "the network loggops", f"{name} has a topology")
        topology = table.pop("topology")
        if not isinstance(topology, dict) or not isinstance(topology.get("kind"), str):
            named = topology if isinstance(topology, str) else "KIND"
            hint = f'topology = {{ kind = "{named}", size = [4, 4] }}; `flitwork list topologies` names the kinds'
            raise ConfigError("network.topology", topology, "a table with a kind", hint)
        topology_fields = {key: value for key, value in topology.items() if key != "kind"}
        return Network(topology["kind"], **topology_fields, **table)
    if kind != "loggops":
        hint = f'{name} has neither kind = "loggops" nor a table topology'
        raise ConfigError("network.kind", kind, "loggops, or a network with a topology", hint)
    for option, number in parameters.items():
        if option in table:
            hint = f"{name} says {option} = {table[option]} already"
            raise ConfigError(f"--{option}", number, "it once", hint)
    return loggops(**table, **parameters)


def _table(name: str | None) -> dict[str, Any]:
    if name in (None, "loggops"):
        return {"kind": "loggops"}
    path = Path(str(name))
    if path.suffix.lower() != ".toml":
        raise ConfigError("--network", name, "loggops, or a file .toml", "")
    found = read_toml(path)
    for key in found if "network" in found else ():
        if key != "network":
            hint = "take it out: a GOAL program says itself what its ranks do" if key in ("host", "run") else ""
            raise unknown_key("", key, ["network"], "tables", hint)
    table = found.get("network", found)
    if not isinstance(table, dict):
        raise ConfigError("network", table, "a table", f"in {path}")
    return dict(table)


def _show(result: GoalResult, per_rank: bool) -> None:
    say(f"[bold]{escape(result.goal.name)}[/] on [bold]{escape(str(result.network))}[/]")
    skip = ("program", "network", "status", "as_loggopsim", *OF_THE_NETWORK)
    print_quantities(result.row, skip=skip)
    if per_rank:
        print_table(("rank", "finish_ns"), list(enumerate(result.finish_ns.tolist())))
    if isinstance(result.network, LogGOPS) and not result.as_loggopsim:
        note(
            "[yellow]note[/]: by the rules of LogGOPSim this program cannot end; it ran with its operations in order "
            "(docs/goal.md)"
        )
