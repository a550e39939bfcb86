"""The command ``flitwork``. Exit codes: 0 done, 1 a claim or check failed, 2 usage or configuration, 3 simulation."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from flitwork import __version__, interrupt
from flitwork.cli import burst, curve, fit, inspect, mpi, one, pace, pick, predict, report, studies, tune, usage
from flitwork.cli.booksim import booksim
from flitwork.cli.explain import explain_run
from flitwork.cli.output import INTERRUPTED, OK, SIMULATION_FAILED, no_more_output, note, unwritable
from flitwork.cli.view import view_run

app = typer.Typer(
    name="flitwork",
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

    Start with `flitwork simulate a2at --size 9x9`, then `flitwork run examples/torus_sizes.toml`.
    """


for _command in (
    studies.run,
    studies.reproduce,
    report.report,
    report.claims,
    one.simulate,
    one.plan,
    one.bound,
    one.check,
    pace.pace,
    pick.pick,
    one.draw,
    curve.curve,
    burst.burst,
    fit.fit,
    predict.predict,
):
    app.command(cls=usage.Command)(_command)
app.command("explain", cls=usage.Command)(explain_run)
app.command("view", cls=usage.Command)(view_run)
app.command(cls=usage.Command)(booksim)
app.add_typer(mpi.app, name="mpi")
app.add_typer(tune.app, name="tune")
app.command("list", cls=usage.Command)(inspect.list_table)
app.command("schema", cls=usage.Command)(inspect.schema)
app.command("show", cls=usage.Command)(inspect.show)


def main() -> None:
    """The entry point of the console script."""
    interrupt.loaded()
    # Whatever a notebook or a desktop has set: pictures go to files here.
    os.environ["MPLBACKEND"] = "Agg"
    # A shell can close it; then nothing is printed.
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
    except usage.UsageFault as fault:
        code = usage.explain(fault, sys.argv[1:])
    except typer.Abort:
        code = INTERRUPTED
    except BrokenPipeError:
        no_more_output()
        code = OK
    except OSError as error:
        note(f"[bold red]error[/]: {unwritable(error)}")
        code = SIMULATION_FAILED
    sys.exit(code or OK)
