"""``flitwork mpi simulate``: a script written for mpi4py, on a simulated network."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, cast

import typer
from flitwork.base.errors import ConfigError
from flitwork.base.output_files import writable_file
from flitwork.cli.explain import show_explanation
from flitwork.cli.network_file import network_file
from flitwork.cli.options import AsJson, Overwrite
from flitwork.cli.output import CLAIM_FAILED, escape, guarded, note, print_json, print_quantities, say
from flitwork.cli.progress import shown
from flitwork.cli.simulation import parts
from flitwork.cli.what_is_simulated import MachineOptions, with_options
from flitwork.explain import explain
from flitwork.networks.network import Network
from flitwork.planning.specification import Run, RunOptions, nest_run

from flitwork_mpi.programs import Abort, ProgramError, RunResult
from flitwork_mpi.programs import run as run_program
from flitwork_mpi.programs.errors import Exited
from flitwork_mpi.programs.run import default_network

#: Ranks, where nothing says how many.
_RANKS = 4


@guarded
@with_options
def simulate(
    script: Annotated[Path, typer.Argument(metavar="SCRIPT", help="A Python script that imports mpi4py.")],
    arguments: Annotated[list[str] | None, typer.Argument(metavar="ARGS", help="Its arguments.")] = None,
    ranks: Annotated[
        int | None,
        typer.Option(
            "-n",
            "-np",
            "--ranks",
            min=1,
            help="Number of ranks [default: as many as a placement in the file of --network has, or 4].",
        ),
    ] = None,
    network: Annotated[
        Path | None,
        typer.Option(help="A TOML file with a table `network`, and perhaps `host` and `run`, as in a study."),
    ] = None,
    *,
    stated: MachineOptions,
    ranks_per_terminal: Annotated[int | None, typer.Option(min=1, help="Ranks on each terminal [default: 1].")] = None,
    compute: Annotated[
        Literal["zero", "measured"],
        typer.Option(help="What the program costs between two calls: nothing, or the time that it takes here."),
    ] = "zero",
    compute_scale: Annotated[float, typer.Option(min=0, help="Measured time is multiplied by this.")] = 1.0,
    algorithm: Annotated[
        list[str] | None,
        typer.Option(metavar="COLLECTIVE=NAME", help="Algorithm of a collective, such as bcast=binomial."),
    ] = None,
    packet_flits: Annotated[int, typer.Option(min=1, help="Longest packet in flits.")] = 100,
    no_data: Annotated[
        bool, typer.Option("--no-data", help="Messages of buffers bring their lengths only; objects travel as ever.")
    ] = False,
    unmatched: Annotated[
        Literal["messages", "error", "ignored"],
        typer.Option(
            help="What is an error at the end: messages that nobody received; receives that got none, too; nothing."
        ),
    ] = "messages",
    seed: Annotated[int, typer.Option(help="Seed of all random choices.")] = 1,
    save: Annotated[
        Path | None, typer.Option("--save", metavar="FILE.parquet", help="Store the result of the network here.")
    ] = None,
    overwrite: Overwrite = False,
    explained: Annotated[
        bool, typer.Option("--explain", help="Record what ranks and packets wait for, and say what took so long.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only what the script prints.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run a script written for mpi4py, unmodified, each rank on a simulated terminal.

    Options stand before the script; what comes behind it are its arguments. The network is a torus as square as the
    number of ranks allows, unless --network, --size or --topology says otherwise. What ranks print is labelled with
    their numbers. The exit code is that of the script; 1 if a rank raises, or ranks wait for each other for ever.

    Examples:

      flitwork mpi simulate -n 16 ring.py

      flitwork mpi simulate -n 64 --size 8x8 --set vcs=4 --json pi.py 100000

      flitwork mpi simulate -n 16 --explain ring.py
    """
    if network is not None and (stated.has_topology or stated.settings):
        raise ConfigError("--network", network, "no --topology, --size, --mesh, --wrap or --set beside it")
    host: dict[str, Any] = {}
    options: dict[str, Any] = {}
    if network is not None:
        machine, host, options = network_file(network)
        ranks = ranks or _placed(host)
    ranks = ranks or _RANKS
    if network is None:
        machine = default_network(ranks)
        if stated.has_topology or stated.settings:
            topology = stated.table if stated.has_topology else dict(machine.topology)
            machine, _, options = parts("a2a", topology, stated.settings)
    if explained:
        options = _recorded(options)
    if save is not None:
        _check_stored(save, overwrite)
    if ranks_per_terminal is not None:
        host["ranks_per_terminal"] = ranks_per_terminal
    try:
        with shown("simulating") as progress:
            found = run_program(
                script, *(arguments or []), ranks=ranks, network=machine, host=host or None, compute=compute,
                compute_scale=compute_scale, algorithms=_algorithms(algorithm), packet_flits=packet_flits,
                data=not no_data, unmatched=unmatched, seed=seed, progress=progress, **options,
            )  # fmt: skip
    except Abort as abort:
        note(f"[bold red]error[/]: {escape(str(abort))}")
        raise typer.Exit(abort.code if isinstance(abort.code, int) else CLAIM_FAILED) from None
    except ProgramError as error:
        _explain(error)
        raise typer.Exit((error.code if isinstance(error, Exited) else 0) or CLAIM_FAILED) from None
    if save is not None:
        found.result.save(save)
    # As a warning it has been shown already.
    if found.unmatched and unmatched == "ignored":
        note(escape(found.unmatched))
    why = explain(found.result) if explained else None
    if as_json:
        more = {"explanation": why.to_dict()} if why else {}
        print_json(
            {
                **found.row,
                "finish_ns": found.finish_ns,
                "exit_codes": found.exit_codes,
                "unmatched": found.unmatched,
                "file_bytes": found.file_bytes,
                **more,
            }
        )
    elif not quiet:
        _show(found, machine)
        if why:
            show_explanation(why)
        if save is not None:
            say(f"stored in {escape(str(save))}")
    if found.exit_code:
        for rank, code in [*found.exit_codes.items()][:8]:
            note(f"rank {rank} ended with exit code {code}")
        raise typer.Exit(found.exit_code)


def _check_stored(file: Path, overwrite: bool) -> None:
    if file.suffix.lower() != ".parquet":
        raise ConfigError("--save", file, "a file .parquet", "flitwork show and flitwork explain read it")
    writable_file(file, "--save", overwrite)


def _recorded(options: dict[str, Any]) -> dict[str, Any]:
    """Options of a run, with the records that an explanation needs."""
    run_fields = dict(options["run"]) if "run" in options else nest_run(cast(RunOptions, options))
    return {"run": Run(**{**run_fields, "record": {**run_fields.get("record", {}), "waits": True, "operations": True}})}


def _placed(host: dict[str, Any]) -> int | None:
    """How many ranks a file places one by one, or counts by terminal; whether it is right to, the plan says."""
    placement = host.get("placement")
    if not isinstance(placement, dict):
        return None
    counts, terminals = placement.get("ranks"), placement.get("terminals")
    if isinstance(counts, list) and all(isinstance(count, int) for count in counts):
        return sum(counts)
    return len(terminals) if isinstance(terminals, list) else None


def _algorithms(given: list[str] | None) -> dict[str, str]:
    found = {}
    for text in given or []:
        collective, mark, name = text.partition("=")
        if not mark:
            raise ConfigError("--algorithm", text, "COLLECTIVE=NAME", "for example bcast=binomial")
        found[collective.strip()] = name.strip()
    return found


def _explain(error: ProgramError) -> None:
    """An error of ranks: the traceback is the program's own."""
    if error.traceback:
        note(escape("".join(f"[{error.rank}] {line}\n" for line in error.traceback.rstrip().split("\n")).rstrip()))
    note(f"[bold red]error[/]: {escape(str(error))}")


def _show(found: RunResult, machine: Network) -> None:
    say()
    say(f"[bold]{found.row['ranks']} ranks[/] on [bold]{escape(repr(machine))}[/]: {found.row['status']}")
    print_quantities(found.row, skip=("status", "ranks"))
    if found.row["ranks"] <= 32:
        say(
            "at its end, in ns: "
            + ", ".join(f"[bold]{rank}[/] {time:,.0f}" for rank, time in enumerate(found.finish_ns))
        )
    if found.file_bytes:
        say(f"MPI.File: {found.file_bytes:,} bytes read and written; that takes no simulated time")
