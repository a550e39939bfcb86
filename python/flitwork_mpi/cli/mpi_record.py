"""``flitwork mpi record``: the communication of an unmodified MPI program, as a GOAL program."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from flitwork.base.errors import ConfigError, SimulationError
from flitwork.base.output_files import writable_file, writable_folder
from flitwork.cli.network_file import network_file
from flitwork.cli.options import AsJson, Overwrite
from flitwork.cli.output import escape, guarded, note, print_json, print_table, say
from flitwork.networks.faults import working_topology

from flitwork_mpi.native.record import record, size_of
from flitwork_mpi.native.record_goal import Converted, converted, write_goal
from flitwork_mpi.native.record_trace import Trace, read_trace
from flitwork_mpi.programs.algorithms import checked

_ENDINGS = (".goal", ".bin")


@guarded
def record_program(
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- LAUNCHER...", help="What starts the program: -- mpirun -n 8 ./program"),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE.goal", help="The GOAL program; .bin: in binary.")
    ] = Path("program.goal"),
    overwrite: Overwrite = False,
    compute: Annotated[
        Literal["measured", "zero"],
        typer.Option(help="What is between two calls: the time that was measured, or nothing."),
    ] = "measured",
    compute_scale: Annotated[float, typer.Option(min=0, help="Measured time is multiplied by this.")] = 1.0,
    algorithm: Annotated[
        list[str] | None,
        typer.Option(metavar="COLLECTIVE=NAME", help="Algorithm of a collective, such as alltoall=two_level_ring."),
    ] = None,
    network: Annotated[
        Path | None,
        typer.Option(help="A TOML file with a table `network`, for algorithms that go by coordinates."),
    ] = None,
    ranks_per_server: Annotated[
        int, typer.Option(min=1, help="Ranks that share a server, for algorithms that know servers.")
    ] = 1,
    trace: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Record here, and keep the trace [default: a temporary one].")
    ] = None,
    from_trace: Annotated[
        Path | None, typer.Option("--from", metavar="FOLDER", help="Convert a trace that was kept; run nothing.")
    ] = None,
    mpicc: Annotated[
        str | None, typer.Option(metavar="PATH", help="The compiler [default: the one beside the launcher].")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run an MPI program as it is, and write what its ranks sent each other as a GOAL program for `flitwork run`.

    Messages are those of the program; collectives become messages by flitwork's own algorithms, which --algorithm
    chooses. The exit code is that of the program.

    Examples:

      flitwork mpi record -o program.goal -- mpirun -n 8 ./program arguments

      flitwork mpi record -o ring.goal --algorithm alltoall=pairwise_shift --trace kept -- mpirun -n 8 ./program

      flitwork mpi record -o servers.goal --algorithm alltoall=two_level_ring --ranks-per-server 4 --from kept
    """
    if output.suffix.lower() not in _ENDINGS:
        raise ConfigError("--output", output, "a file .goal (text) or .bin (binary)", "flitwork run knows it by that")
    writable_file(output, "--output", overwrite)
    algorithms = _algorithms(algorithm)
    if bool(command) == (from_trace is not None):
        raise ConfigError("COMMAND", " ".join(command or ["nothing"]), "a command, or --from FOLDER: one of the two")
    topology = _topology(network)
    code = 0
    with _folder(trace, from_trace) as folder:
        if command:
            code = record(command, folder, mpicc=mpicc, progress=_so_far)
            if code and not size_of(folder):
                raise SimulationError(f"{command[0]} ended with exit code {code} before any rank called MPI_Init")
            if code:
                note(f"[yellow]note[/]: the program ended with exit code {code}; what it did until then is recorded")
        if size_of(folder) >= 2**28:
            note(f"the trace has {_size(size_of(folder))}; it is converted now")
        found = read_trace(folder)
        done = converted(
            found, name=output.name, compute=compute, compute_scale=compute_scale, algorithms=algorithms,
            topology=topology, ranks_per_server=ranks_per_server,
        )  # fmt: skip
        write_goal(done, output)
    if as_json:
        print_json(_row(found, done, output, code))
    else:
        _show(found, done, output)
    if code:
        raise typer.Exit(code)


def _algorithms(given: list[str] | None) -> dict[str, str]:
    found = {}
    for text in given or []:
        collective, mark, name = text.partition("=")
        if not mark:
            raise ConfigError("--algorithm", text, "COLLECTIVE=NAME", "for example alltoall=two_level_ring")
        found[collective.strip()] = name.strip()
    return checked(found)


def _topology(network: Path | None) -> str | None:
    return json.dumps(working_topology(network_file(network)[0].spec)) if network else None


@contextlib.contextmanager
def _folder(trace: Path | None, from_trace: Path | None) -> Iterator[Path]:
    """Where the trace is."""
    if from_trace is not None:
        if not from_trace.is_dir():
            raise ConfigError("--from", from_trace, "a folder with a trace", "--trace FOLDER keeps one")
        yield from_trace
    elif trace is not None:
        yield writable_folder(trace, "--trace")
    else:
        with tempfile.TemporaryDirectory(prefix="flitwork-record-") as folder:
            yield Path(folder)


def _so_far(seconds: float, size: int) -> None:
    note(f"recording for {seconds:,.0f} s, {_size(size)} so far")


def _size(size: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:,.0f} {unit}"
        size /= 1000
    return f"{size:,.1f} GB"


def _row(trace: Trace, done: Converted, output: Path, code: int) -> dict[str, Any]:
    return {
        "file": output,
        "ranks": done.goal.ranks,
        "operations": done.goal.operations,
        "messages": done.goal.messages,
        "message_bytes": int(done.pair_bytes.sum()),
        "compute_ns": [int(one) for one in done.compute_ns],
        "collectives": [
            {"calls": calls, "collective": collective, "algorithm": name}
            for (collective, name), calls in sorted(done.collectives.items())
        ],
        "left_out": done.left_out,
        "not_recorded": done.unknown,
        "cut_short": done.cut_short,
        "trace_bytes": trace.size_bytes,
        "exit_code": code,
    }


def _show(trace: Trace, done: Converted, output: Path) -> None:
    goal = done.goal
    sent, computed = _size(int(done.pair_bytes.sum())), int(done.compute_ns.sum()) / 1e6
    say(f"[bold]{escape(str(output))}[/]: {goal.ranks} ranks, {goal.operations:,} operations")
    say(f"{goal.messages:,} messages with {sent}, {computed:,.3f} ms of computation in all")
    say(f"the trace had {_size(trace.size_bytes)}")
    if done.collectives:
        rows = [(collective, name, calls) for (collective, name), calls in sorted(done.collectives.items())]
        print_table(("collective", "algorithm", "calls"), rows)
    for rank in done.cut_short[:8]:
        note(f"[yellow]note[/]: rank {rank} did not reach MPI_Finalize; what it did until then is recorded")
    for reason, count in done.left_out.items():
        note(f"[yellow]note[/]: left out: {count:,} {reason}")
    for name, calls in done.unknown.items():
        note(f"[yellow]note[/]: not recorded: {calls:,} calls of {escape(name)}")
    if not goal.messages:
        note("[yellow]note[/]: the program sent no messages")
