"""``flitwork mpi table``: an all-to-all as a table of steps that the MPI library runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from flitwork.base.errors import ConfigError
from flitwork.base.output_files import writable_file
from flitwork.cli.goal import is_goal
from flitwork.cli.options import Overwrite
from flitwork.cli.output import escape, guarded, note
from flitwork.cli.simulation import network
from flitwork.cli.what_is_simulated import GridOptions, with_options
from flitwork.running.goal import Goal, read_goal
from flitwork.workloads.schedule import Schedule
from flitwork.workloads.timetable import Timetable

from flitwork_mpi.programs.step_table import step_table

_SCHEDULES = (".csv", ".parquet")
_BY_RANK = "by_rank:"


@guarded
@with_options
def table(
    what: Annotated[
        str,
        typer.Argument(
            metavar="WHAT",
            help="An all-to-all algorithm, or the file of one: .csv, .parquet, .goal, .bin, .json (a timetable).",
        ),
    ],
    ranks: Annotated[int | None, typer.Option("-n", "-np", "--ranks", help="Number of ranks.")] = None,
    servers: Annotated[
        str | None,
        typer.Option(metavar="RANKS", help="Ranks of each server, such as 4,4,2, 4x8 for 8 of 4; or by_rank:0,1,0,1."),
    ] = None,
    *,
    grid: GridOptions,
    radix: Annotated[int | None, typer.Option(help="bruck: base of the digits.")] = None,
    leaders: Annotated[int | None, typer.Option(help="multi_leader: leaders on each server.")] = None,
    descending: Annotated[bool, typer.Option("--descending", help="butterfly: bits from the highest down.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write it here [default: print it].")
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Write an all-to-all as a table of steps, which the MPI library runs as the algorithm table:FILE.

    Of a file the messages count and what ranks wait for, not lengths or computations; each rank has to send exactly one
    message to each other. Of a timetable the order of messages counts. The grid of --size has a rank at each router.

    Examples:

      flitwork mpi table two_level_ring --servers 4x2 -o ring.steps

      flitwork mpi table a2at --size 4x4 -o a2at.steps

      flitwork mpi table mine.goal -o mine.steps

      flitwork mpi table schedule.json -o schedule.steps
    """
    if output:
        writable_file(output, "--output", overwrite)
    if grid.size is None and (grid.mesh or grid.wrap is not None):
        raise ConfigError("--mesh" if grid.mesh else "--wrap", "given", "a --size beside it", "for example --size 4x4")
    made = step_table(
        _read(what),
        ranks=ranks,
        **({} if servers is None else _servers(servers)),
        network=None if grid.size is None else network(grid.table, {}),
        radix=radix,
        leaders=leaders,
        descending=descending,
    )
    if output is None:
        made.write(sys.stdout.buffer)
        return
    made.save(output)
    note(f"{escape(made.name)}: {made.ranks} ranks, {made.steps} steps; stored in {escape(str(output))}")


def _read(what: str) -> str | Schedule | Timetable | Goal:
    """The schedule in a file, or the name of an algorithm."""
    file = Path(what)
    if is_goal(file):
        return read_goal(file)
    if file.suffix.lower() in _SCHEDULES:
        return Schedule.read(file)
    if file.suffix.lower() == ".json":
        return Timetable.read(file)
    if file.suffix:
        raise ConfigError("WHAT", what, "a name, or a file .csv, .parquet, .json, .goal or .bin")
    return what


def _servers(text: str) -> dict[str, list[int]]:
    """``4,4,2`` and ``4x8``, eight times 4, as sizes; ``by_rank:0,1,0,1`` as the server of each rank."""
    if text.startswith(_BY_RANK):
        parts = [part.strip() for part in text.removeprefix(_BY_RANK).split(",")]
        if not all(part.isdecimal() for part in parts):
            raise ConfigError(
                "--servers", f'"{text}"', "numbers of servers with commas between them", "by_rank:0,1,0,1"
            )
        return {"server_of": [int(part) for part in parts]}
    sizes: list[int] = []
    for part in text.split(","):
        each, _, times = part.strip().partition("x")
        if not (each.isdecimal() and (times or "1").isdecimal() and int(times or 1) <= 4096):
            raise ConfigError("--servers", f'"{text}"', "ranks of each server with commas between them", "4,4,2 or 4x8")
        sizes += [int(each)] * int(times or 1)
    return {"servers": sizes}
