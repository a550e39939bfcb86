"""``flitwork mpi run`` and ``doctor``: unmodified programs on real MPI with flitwork's all-to-alls."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from flitwork.base.errors import ConfigError, SimulationError, StorageError
from flitwork.cli.options import AsJson
from flitwork.cli.output import CLAIM_FAILED, escape, guarded, note, print_json, say

from flitwork_mpi.native.build import built
from flitwork_mpi.native.doctor import Finding, diagnose, launchers, mpi4py_words
from flitwork_mpi.native.launcher import Launcher
from flitwork_mpi.native.settings import Progress, Settings, Sync
from flitwork_mpi.native.started_job import Launched
from flitwork_mpi.tune import read_rules

_HINT = "flitwork mpi run --alltoall two_level_ring -- mpirun -n 8 ./program"
_NAMES = {"openmpi": "Open MPI", "mpich": "MPICH"}
_MARKS = {True: "[green]works[/]", False: "[red]fails[/]", None: "[dim]not tried[/]"}


@guarded
def run_on_mpi(
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- LAUNCHER...", help="What starts the program: -- mpirun -n 8 ./program"),
    ] = None,
    alltoall: Annotated[
        str | None, typer.Option(metavar="NAME", help="Algorithm, `library`, or table:FILE for all all-to-alls.")
    ] = None,
    alltoallv: Annotated[str | None, typer.Option(metavar="NAME", help="Another one for MPI_Alltoallv.")] = None,
    alltoallw: Annotated[str | None, typer.Option(metavar="NAME", help="Another one for MPI_Alltoallw.")] = None,
    rules: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Rules: which algorithm for which ranks and sizes.")
    ] = None,
    radix: Annotated[int | None, typer.Option(min=2, help="Base of Bruck's digits.")] = None,
    leaders: Annotated[int | None, typer.Option(min=1, help="Leaders on each server.")] = None,
    servers: Annotated[
        str | None, typer.Option(metavar="NUMBERS", help="Ranks on each server, 4,4 [default: as they are found].")
    ] = None,
    places: Annotated[
        Path | None, typer.Option("--map", metavar="FILE", help="The place of each rank on a grid.")
    ] = None,
    sync: Annotated[
        Sync | None, typer.Option(help="Wait where the algorithm says, after each step, or only where it must.")
    ] = None,
    pause_ns: Annotated[int | None, typer.Option(min=0, help="Pause between two messages of a rank [ns].")] = None,
    progress: Annotated[
        Progress | None,
        typer.Option(
            help="Who goes on with non-blocking ones: the MPI library, a thread, or nobody: they are not taken over."
        ),
    ] = None,
    prepare: Annotated[
        int | None, typer.Option(min=0, help="Communicators made ready for non-blocking ones [default: the first 64].")
    ] = None,
    report: Annotated[bool, typer.Option("--report", help="At the end print which calls were taken over.")] = False,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict/--allow-fallback",
            help="Where the algorithm that is asked for cannot be used: fail, or use the MPI library's own.",
        ),
    ] = True,
    mpicc: Annotated[
        str | None, typer.Option(metavar="PATH", help="The compiler [default: the one beside the launcher].")
    ] = None,
) -> None:
    """Run an unmodified MPI program with flitwork's all-to-alls in place of the MPI library's.

    The library is compiled at first use and loaded into the ranks alone. Names and files are checked before anything is
    started. The exit code is that of the program. The command fails where the algorithm that is asked for cannot be
    used (a file with a mistake, ranks that it is not defined for, a program without MPI), unless --allow-fallback is
    given.

    Examples:

      flitwork mpi run --alltoall two_level_ring --report -- mpirun -n 8 ./program

      flitwork mpi run --rules rules.txt -- mpirun -n 64 python script.py

      flitwork mpi run --alltoall a2at --map places.txt -- mpirun -n 16 ./program
    """
    settings = Settings(
        alltoall,
        alltoallv,
        alltoallw,
        rules,
        radix,
        leaders,
        servers,
        places,
        sync,
        pause_ns,
        progress,
        prepare,
        report,
        strict,
        exact=strict,
    )
    if not settings.asks_for_something:
        raise ConfigError("--alltoall", "nothing", "an algorithm, or --rules", _HINT)
    if rules is not None:
        read_rules(rules, "flitwork")
    launcher = Launcher.of(command or [], _HINT)
    library = built("libflitwork_mpi.so", mpicc or launcher.compiler())
    with _sign(library) as sign:
        variables = {"LD_PRELOAD": str(library), "FLITWORK_MPI_STARTED": str(sign), **settings.variables()}
        code = _ended(launcher.with_variables(variables))
        if not code and not sign.read_bytes():
            words = (
                "the program ended without having loaded libflitwork_mpi: the MPI library's own algorithms were used"
            )
            hint = "does it call MPI_Init, is it linked dynamically, and does it inherit LD_PRELOAD?"
            if strict:
                raise SimulationError(f"{words} ({hint})")
            note(f"[yellow]note[/]: {words} ({hint})")
    raise typer.Exit(code)


@contextlib.contextmanager
def _sign(library: Path) -> Iterator[Path]:
    """An empty file, in which the library in the program writes that it is there.

    It is beside the library, so whoever can load that finds it, on other machines, too.
    """
    sign = library.with_name(f".started-{uuid.uuid4().hex}")
    try:
        sign.touch()
        yield sign
    except OSError as error:
        raise StorageError(f"{sign.parent} cannot be written ({error.strerror}): set XDG_CACHE_HOME") from None
    finally:
        sign.unlink(missing_ok=True)


def _ended(command: list[str]) -> int:
    """Runs a command to its end."""
    with Launched(command) as launched:
        code = launched.wait()
    # As a shell says it: ended by a signal.
    return code if code >= 0 else 128 - code


@guarded
def doctor(as_json: AsJson = False) -> None:
    """Say which MPI libraries there are, and whether our library works with each.

    It is compiled, and an all-to-all of four ranks is run in C and, where there is a compiler, in Fortran. The exit
    code is 0 if it works with one at least.

    Examples:

      flitwork mpi doctor
    """
    found = [diagnose(launcher, partial(_show_progress, launcher)) for launcher in launchers()]
    python = mpi4py_words()
    if as_json:
        print_json({"libraries": [asdict(one) for one in found], "mpi4py": asdict(python)})
    else:
        for one in found:
            say(f"[bold]{escape(one.launcher)}[/]: {_NAMES[one.family]} {escape(one.version)}")
            for finding in one.findings:
                _show(finding)
        _show(python, indent="")
        if not found:
            say("no MPI library: install Open MPI or MPICH with its files for development, and put mpirun on the PATH")
    if not any(one.works for one in found):
        raise typer.Exit(CLAIM_FAILED)


def _show_progress(launcher: Launcher, what: str) -> None:
    note(f"{escape(launcher.path)}: {what}")


def _show(finding: Finding, indent: str = "  ") -> None:
    say(f"{indent}{finding.what}: {_MARKS[finding.works]}: {escape(finding.words)}")
