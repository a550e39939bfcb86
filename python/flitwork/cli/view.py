"""``flitwork view``: a run in the browser."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from flitwork.cli.goal import goal_result, is_goal
from flitwork.cli.options import AsJson, Overwrite, Quick
from flitwork.cli.output import escape, guarded, note, print_json, say
from flitwork.cli.progress import shown
from flitwork.cli.run_argument import refuse, result_of_argument
from flitwork.cli.what_is_simulated import NetworkOptions, WorkloadOptions, with_options
from flitwork.results.result import Result
from flitwork.values.tables import Record
from flitwork.view.page import check_place, write
from flitwork.view.recorded import FRAMES, MOST_FRAMES, window_for, with_windows

_OWN_OPTIONS = ("out", "frames", "overwrite", "show", "as_json")


@guarded
@with_options
def view_run(
    context: typer.Context,
    what: Annotated[
        str,
        typer.Argument(
            metavar="RESULT|WHAT",
            help="A stored result (.parquet), a study (.toml), a GOAL program, or what is sent, as for `simulate`.",
        ),
    ],
    network: NetworkOptions,
    workload: WorkloadOptions,
    machine: Annotated[
        Path | None, typer.Option("--network", metavar="FILE.toml", help="GOAL: a file with a table `network`.")
    ] = None,
    point: Annotated[str | None, typer.Option(help="Study: the point to show, by its label (`flitwork plan`).")] = None,
    quick: Quick = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE.html",
            help="The page [default: RESULT.html beside a file, or view.html].",
            show_default=False,
        ),
    ] = None,
    frames: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MOST_FRAMES,
            help=f"Windows of time, about [default: those of the result, or {FRAMES}].",
            show_default=False,
        ),
    ] = None,
    overwrite: Overwrite = False,
    show: Annotated[bool, typer.Option("--show", help="Open the page in the browser.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write a run as one HTML page: the network over time, queues, why packets wait, what ranks do.

    The page needs no other file and no network. A stored result that lacks the records is simulated again with them,
    where what it says suffices.

    Examples:

      flitwork view a2at.parquet --show

      flitwork view a2a --size 8x8 --sync local --packet-flits 20 -o a2a.html

      flitwork view torus_sizes.toml --point "torus sizes: n=5" --frames 2000
    """
    # What draws is imported when the backend has been chosen.
    from flitwork.view.contents import contents

    file = Path(what)
    is_file = file.suffix.lower() in (".parquet", ".toml") or is_goal(file)
    place = check_place(out or (file.with_suffix(".html") if is_file else Path("view.html")), overwrite, "--out")
    if is_goal(file):
        refuse(context, {"what", "machine", "packet_flits", *_OWN_OPTIONS}, "a GOAL program")
        found = _of_goal(file, machine, workload.packet_flits, frames)
    else:
        found = result_of_argument(context, what, _OWN_OPTIONS, network, workload, point, quick)
    with shown("simulating again with records", found.end_cycle + 1) as progress:
        found, missing = with_windows(found, frames, progress)
    write(place, contents(found, missing))
    if missing:
        note(missing)
    size_mb = place.stat().st_size / 1e6
    if as_json:
        print_json({"file": str(place), "megabytes": size_mb, "title": found.title})
    else:
        say(f"view  {escape(str(place))} ({size_mb:.1f} MB)")
    if show:
        webbrowser.open(place.resolve().as_uri())


def _of_goal(file: Path, machine: Path | None, packet_flits: int | None, frames: int | None) -> Result:
    """The run of a GOAL program with all records: a run without them says how long its windows have to be."""
    first = goal_result(file, machine, packet_flits, Record()).simulation
    assert first is not None
    record = Record(waits=True, operations=True, channel_window_cycles=window_for(first, frames))
    found = goal_result(file, machine, packet_flits, record).simulation
    assert found is not None
    return found
