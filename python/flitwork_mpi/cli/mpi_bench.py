"""``flitwork mpi bench``: times of all-to-all algorithms on the MPI library at hand."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from flitwork.base.errors import ConfigError
from flitwork.base.output_files import writable_file
from flitwork.cli.launcher import launcher_words, show_row
from flitwork.cli.options import AsJson
from flitwork.cli.output import CLAIM_FAILED, SIMULATION_FAILED, escape, guarded, note, print_json, print_table, say

from flitwork_mpi import tune
from flitwork_mpi.cli.tune import numbers

_SIZES = "1,16,256,4096,65536"


@guarded
def bench(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- LAUNCHER...", help="What starts ranks: -- mpirun -n 8", show_default=False),
    ] = None,
    launcher: Annotated[
        str | None, typer.Option(metavar="WORDS", help='The same as one text: --launcher "mpirun -n 8".')
    ] = None,
    message_bytes: Annotated[str, typer.Option(metavar="SIZES", help="Bytes to one peer, with commas.")] = _SIZES,
    operations: Annotated[str, typer.Option(metavar="NAMES", help="alltoall, alltoallv, or both.")] = "alltoall",
    algorithms: Annotated[
        str | None, typer.Option(metavar="NAMES", help="With commas [default: all that there are].")
    ] = None,
    interval: Annotated[
        float, typer.Option(help="Enough when half the confidence interval is below this part of the median.")
    ] = 0.05,
    repetitions: Annotated[int, typer.Option(help="Most calls for a row.")] = 1000,
    seconds: Annotated[float, typer.Option(help="Most time for a row [s].")] = 10.0,
    timeout: Annotated[float, typer.Option(help="A job that does not answer for so long is ended [s].")] = 120.0,
    mpicc: Annotated[
        str | None, typer.Option(metavar="PATH", help="The compiler [default: the one beside the launcher].")
    ] = None,
    library: Annotated[
        Path | None,
        typer.Option(metavar="FILE.so", help="libflitwork_mpi.so for our algorithms [default: compiled with mpicc]."),
    ] = None,
    servers: Annotated[
        str | None, typer.Option(metavar="NUMBERS", help="Ranks on each server, 4,4 [default: as they are found].")
    ] = None,
    places: Annotated[
        Path | None, typer.Option("--map", metavar="FILE", help="The place of each rank on a grid, for a2at and a2and.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Store rows here (.csv, .parquet); what is there stays."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure all-to-all algorithms on real MPI: a row for each algorithm and message size, data verified.

    With --output every row is stored when it is finished: the same command continues. `flitwork tune FILE` makes rules
    of the table.

    Examples:

      flitwork mpi bench -o times.csv -- mpirun -n 8

      flitwork mpi bench --launcher "mpirun -n 4" --message-bytes 64,65536 --algorithms library
    """
    if bool(words) == bool(launcher):
        raise ConfigError("LAUNCHER", "both" if words else "nothing", "what starts ranks, once", "-- mpirun -n 8")
    if output:
        # Rows are added: nothing that is there is replaced.
        writable_file(output, "--output", overwrite=True)
    limits = tune.Limits(interval=interval, repetitions=repetitions, seconds=seconds, timeout_seconds=timeout)
    found = tune.bench(
        words or launcher_words(str(launcher)),
        numbers("--message-bytes", message_bytes) or [],
        operations=_names(operations) or [],
        algorithms=_names(algorithms),
        limits=limits,
        mpicc=mpicc,
        library=library,
        servers=servers,
        map=places,
        output=output,
        told=show_row,
    )
    if as_json:
        print_json({"rows": found.table.to_dict("records"), "failed": found.failed, "left_out": found.left_out})
    else:
        _show(found, output)
    if found.left_out and not as_json:
        print_table(("left out", "why"), list(found.left_out.items()))
    for name, why in found.failed.items():
        note(f"[bold red]failed[/]: {escape(name)}: {escape(why)}")
    if found.wrong:
        note(f"[bold red]wrong data[/]: {escape(', '.join(found.wrong))}")
    if found.wrong or found.failed:
        raise typer.Exit(CLAIM_FAILED if found.wrong else SIMULATION_FAILED)


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def _show(found: tune.Bench, output: Path | None) -> None:
    rows = [
        [row["operation"], row["algorithm"], row["bytes"], *(row[name] * 1e6 for name in ("seconds", "low", "high")),
         row["repetitions"], row["verified"]]
        for row in found.table.to_dict("records")
    ]  # fmt: skip
    if rows:
        first = found.table.iloc[0]
        title = f"{first['ranks']} ranks, {first['ranks_per_server']} a server, {first['mpi']} {first['version']}"
        headers = ("operation", "algorithm", "bytes", "us", "low", "high", "calls", "verified")
        print_table(headers, rows, title)
    if output:
        say(f"stored in {escape(str(output))}")
