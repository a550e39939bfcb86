"""The command ``flitwork``. Exit codes: 0 done, 1 a claim or check failed, 2 usage or configuration, 3 simulation."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from flitwork import __version__
from flitwork.base import interrupt
from flitwork.cli import usage
from flitwork.cli.commands import AllCommands
from flitwork.cli.output import INTERRUPTED, OK, about, end_of_messages, explain, no_more_output, standard_streams

app = typer.Typer(
    name="flitwork",
    cls=AllCommands,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done, 1 a claim or check failed, 2 usage or configuration, 3 simulation failed, 130 Ctrl-C.",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"flitwork {__version__}")
        raise typer.Exit


@app.callback()
def _flitwork(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Simulate interconnection networks flit by flit.

    Start with `flitwork simulate a2at --size 9x9`, then `flitwork example torus_sizes` and
    `flitwork run torus_sizes.toml`.
    """


def main() -> None:
    """The entry point of the console script."""
    # Whatever a notebook or a desktop has set: pictures go to files here.
    os.environ["MPLBACKEND"] = "Agg"
    standard_streams()
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
    except usage.UsageFault as fault:
        code = usage.explain(fault, sys.argv[1:])
    except (typer.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    except BrokenPipeError:
        no_more_output()
        code = OK
    except (OSError, MemoryError, RuntimeError) as error:
        code = explain(about(error), "--json" in sys.argv)
    end_of_messages()
    # All is said and stored: what is left is Python's own end, which an interrupt would turn into another exit code.
    interrupt.over()
    sys.exit(code or OK)
