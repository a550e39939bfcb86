"""``run FILE.xml`` and ``msccl``: MSCCL programs on a network; checked, and written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flitwork.base.errors import ConfigError, ScheduleError
from flitwork.base.output_files import writable_file
from flitwork.cli.options import AsJson, Overwrite, given_options
from flitwork.cli.output import escape, guarded, note, print_json, print_table, say
from flitwork.cli.progress import cycles_to_simulate, shown
from flitwork.cli.what_is_simulated import NetworkOptions, WorkloadOptions, machine_of, specification, with_options
from flitwork.msccl.algorithm import Msccl, read_msccl
from flitwork.msccl.verify import MscclCheck
from flitwork.planning.specification import nest_run, plan_of, simulation
from flitwork.results.result import run_plan

MessageBytes = Annotated[
    int | None,
    typer.Option(
        metavar="BYTES", help="MSCCL: size of the larger of input and output of a GPU; chunks are parts of it."
    ),
]

#: Lines about limits that are shown.
_SHOWN_LIMITS = 5


def is_msccl(file: Path) -> bool:
    """Whether a file is an MSCCL program, by its name."""
    return file.suffix.lower() == ".xml"


def run_msccl(
    file: Path, network: str | None, message_bytes: int | None, packet_flits: int | None, as_json: bool
) -> None:
    """Runs an MSCCL program on a network with routers, and says whether its data end where they belong."""
    if message_bytes is None:
        # A file that is none of MSCCL is named first.
        read_msccl(file)
        expected = "the size of the larger of input and output of a GPU"
        raise ConfigError("--message-bytes", "nothing", expected, "for example --message-bytes 1048576")
    if network is None:
        raise ConfigError(
            "--network", "nothing", "a file .toml with a table `network`", "MSCCL programs need a network"
        )
    work = read_msccl(file, message_bytes=message_bytes, packet_flits=packet_flits)
    row, check = _row(work)
    machine, host, run, _ = machine_of(Path(network), NetworkOptions())
    plan = plan_of(simulation(machine, work, nest_run(run), host=host or None))
    with shown("simulating", cycles_to_simulate(plan)) as progress:
        result = run_plan(plan, progress)
    if as_json:
        print_json({**row, **result.row})
    else:
        say(f"[bold]{escape(work.name)}[/] on [bold]{escape(repr(machine))}[/]")
        names = ("status", "completion_cycles", "completion_ns", "packets", "bound_cycles", "ratio_to_bound")
        found = result.row
        shown_row = {**row, **{name: found[name] for name in names if found.get(name) is not None}}
        print_table(("quantity", "value"), [(key, value) for key, value in shown_row.items() if value is not None])
    if check.complete is False:
        raise ScheduleError(f"{file}: {check.problem}")


@guarded
@with_options
def msccl(
    context: typer.Context,
    what: Annotated[
        str,
        typer.Argument(metavar="FILE.xml|WHAT", help="An MSCCL program to check, or what to write, as for `simulate`."),
    ],
    network: NetworkOptions,
    workload: WorkloadOptions,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE.xml", help="Write WHAT as an MSCCL program.")
    ] = None,
    overwrite: Overwrite = False,
    limits: Annotated[bool, typer.Option(help="Refuse to write what MSCCL would refuse to read.")] = True,
    as_json: AsJson = False,
) -> None:
    """Check an MSCCL program: whether every chunk ends where it belongs. Or write a collective as one.

    `flitwork run FILE.xml` runs it on a network. The exit code is 1 if a chunk is missing.

    Examples:

      flitwork msccl allreduce.xml

      flitwork msccl a2at --size 4x4 -o a2at.xml

      flitwork msccl collective --size 4x2 --set operation=allreduce --set algorithm=ring -o ring.xml
    """
    if is_msccl(Path(what)):
        for name, option in given_options(context).items():
            if name not in ("what", "as_json"):
                raise ConfigError(
                    option, "given beside a file to check", "no other options", "-o goes with WHAT to write"
                )
        work = read_msccl(what)
        written = None
    else:
        if output is None:
            raise ConfigError("--output", "nothing", "the file .xml to write", f"flitwork msccl {what} ... -o FILE.xml")
        if not is_msccl(output):
            raise ConfigError("--output", output, "a file .xml", "the ending of its name says what it is")
        writable_file(output, "--output", overwrite)
        work = Msccl.of_specification(specification(what, network, **workload.workload_fields), limits=limits)
        written = work.write(output)
    row, check = _row(work)
    if as_json:
        print_json({**row, "over_limits": work.over_limits})
    else:
        print_table(("quantity", "value"), [(key, value) for key, value in row.items() if value is not None])
        for line in work.over_limits[:_SHOWN_LIMITS]:
            note(f"[yellow]note[/]: MSCCL would refuse {escape(line)}")
        if (more := len(work.over_limits) - _SHOWN_LIMITS) > 0:
            note(f"and {more} more (--json lists all)")
        if written:
            say(f"written  {escape(str(written))}")
    if check.complete is False:
        raise ScheduleError(f"{what}: {check.problem}")


def _row(work: Msccl) -> tuple[dict[str, object], MscclCheck]:
    """What is said of a program, and whether its data end where they belong."""
    check = work.verify()
    row = {
        "program": work.name,
        "collective": work.collective,
        "gpus": work.ranks,
        "chunks": work.chunks,
        "thread_blocks": work.thread_blocks,
        "steps": work.steps,
        "messages": work.messages,
        "complete": check.complete,
        "problem": check.problem or None,
    }
    return row, check
