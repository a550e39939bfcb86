"""The commands of ``flitwork mpi`` and ``flitwork tune``, which are loaded when they are called."""

from __future__ import annotations

from typing import Any

import typer
from flitwork.cli.commands import Commands, Listed

_ABOUT_MPI = "Programs written for MPI: on simulated networks, and on real MPI with our all-to-alls."
_ABOUT_TUNE = "Rules: which all-to-all algorithm for which ranks and message sizes."
_HEADING = "Measure and predict"
#: What stands behind the program belongs to it.
_OF_PROGRAMS = {"allow_interspersed_args": False}
_SETTINGS = {"help_option_names": ["-h", "--help"]}


class _OfMpi(Commands):
    package = "flitwork_mpi.cli"
    listed = {
        "": {
            "run": Listed(
                "mpi_run.run_on_mpi",
                "Run an unmodified MPI program with flitwork's all-to-alls in place of the MPI library's.",
                extra="mpi",
                settings=_OF_PROGRAMS,
            ),
            "doctor": Listed(
                "mpi_run.doctor",
                "Say which MPI libraries there are, and whether our library works with each.",
                extra="mpi",
            ),
            "bench": Listed(
                "mpi_bench.bench",
                "Measure all-to-all algorithms on real MPI: a row for each algorithm and message size, data verified.",
                extra="mpi",
            ),
            "table": Listed(
                "mpi_table.table",
                "Write an all-to-all as a table of steps, which the MPI library runs as the algorithm table:FILE.",
                extra="mpi",
            ),
            "record": Listed(
                "mpi_record.record_program",
                "Run an MPI program as it is, and write what its ranks sent each other as a GOAL program for"
                " `flitwork run`.",
                extra="mpi",
                settings=_OF_PROGRAMS,
            ),
            "simulate": Listed(
                "mpi_simulate.simulate",
                "Run a script written for mpi4py, unmodified, each rank on a simulated terminal.",
                extra="mpi",
                settings={**_OF_PROGRAMS, "ignore_unknown_options": False},
            ),
        }
    }


class _OfTune(Commands):
    """``flitwork tune FILE``: without the name of a command, rules are written."""

    package = "flitwork_mpi.cli"
    listed = {
        "": {
            "rules": Listed(
                "tune.rules",
                "Write rules: for each number of ranks and message size, the fastest algorithm that was measured or"
                " simulated.",
                extra="mpi",
            ),
            "check": Listed(
                "tune.check",
                "Read a file of rules and say what is wrong in it, or what it says; with --ranks and --bytes, what it"
                " selects.",
                extra="mpi",
            ),
        }
    }

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Puts ``rules`` before what is no command."""
        if args and args[0] not in (*self.commands, "-h", "--help"):
            args = ["rules", *args]
        return super().parse_args(ctx, args)


def _application(commands: type[Commands], about: str) -> typer.Typer:
    app = typer.Typer(
        cls=commands,
        add_completion=False,
        no_args_is_help=True,
        rich_markup_mode="rich",
        context_settings=_SETTINGS,
    )
    app.callback(help=about, rich_help_panel=_HEADING)(lambda: None)
    return app


mpi = _application(_OfMpi, _ABOUT_MPI)
tune = _application(_OfTune, _ABOUT_TUNE)
