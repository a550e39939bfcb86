"""``booksim``: a configuration of BookSim 2 as it is."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from flitwork.base.errors import ConfigError
from flitwork.booksim import report
from flitwork.booksim.config_file import text_of
from flitwork.booksim.mapping import notes
from flitwork.booksim.measure import Sample, plan, samples
from flitwork.booksim.phases import Phases
from flitwork.booksim.settings import Settings, read_settings
from flitwork.cli.options import AsJson
from flitwork.cli.output import CLAIM_FAILED, guarded, note, print_json
from flitwork.cli.progress import shown


@guarded
def booksim(
    arguments: Annotated[
        list[str],
        typer.Argument(metavar="FILE [KEY=VALUE]...", help="Configuration files, then what differs from them."),
    ],
    as_plan: Annotated[
        bool, typer.Option("--plan", help="Print what flitwork would run, as JSON, and simulate nothing.")
    ] = False,
    threads: Annotated[
        str,
        typer.Option(
            metavar="N|auto",
            help="Threads that share a network among them; auto: as many as the machine has cores, where that pays.",
        ),
    ] = "auto",
    as_json: AsJson = False,
) -> None:
    """Run a configuration file of BookSim 2 and print what BookSim prints.

    The exit code is 0 if the simulation was stable, 1 if not. A key that flitwork cannot obey is an error.

    Examples:

      flitwork booksim torus88.cfg

      flitwork booksim mesh88_lat.cfg injection_rate=0.02 seed=3 --json

      flitwork booksim mesh88_lat.cfg "traffic=hotspot({{0,63},{3,1}})" --plan
    """
    files = [Path(one) for one in arguments if "=" not in one]
    overrides = [one for one in arguments if "=" in one]
    if not files:
        raise ConfigError("FILE", "nothing", "a configuration file before what differs from it")
    settings, shared_by = read_settings(files, overrides), int(threads) if threads.isdecimal() else threads
    if as_plan:
        typer.echo(plan(settings, Phases.of(settings), settings["seed"], shared_by).json)
        return
    for line in notes(settings):
        note(f"[yellow]note[/]: {line}")
    reason = _run_and_print(settings, files, overrides, shared_by, as_json)
    if reason:
        raise typer.Exit(CLAIM_FAILED)


def _run_and_print(settings: Settings, files: list[Path], overrides: list[str], threads: int | str, quiet: bool) -> str:
    """Runs and prints; why it was unstable, if it was."""
    started, done, reason = time.perf_counter(), list[Sample](), ""
    if not quiet:
        _print_configuration(files, overrides)
    with shown("simulating", Phases.of(settings).end) as progress:
        for sample in samples(settings, progress, threads):
            done.append(sample)
            reason = sample.unstable
            if not quiet:
                print(*report.measured(sample), sep="\n")
            if reason:
                break
    for line in report.remarks(done):
        note(f"[yellow]note[/]: {line}")
    if quiet:
        print_json(report.as_json(settings, done, reason))
        return reason
    print(*([reason, "Simulation unstable, ending ..."] if reason else report.overall(settings, done)), sep="\n")
    print(f"Total run time {time.perf_counter() - started:.6g}")
    return reason


def _print_configuration(files: list[Path], overrides: list[str]) -> None:
    for file in files:
        print(f"BEGIN Configuration File: {file}")
        print(text_of(file).rstrip("\n"))
        print(f"END Configuration File: {file}")
    for text in overrides:
        print(f"OVERRIDE Parameter: {text}")
