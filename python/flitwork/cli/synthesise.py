"""``flitwork synthesise``: an all-to-all in which every block of a message has a time, at or near the bound."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flitwork.base.errors import ConfigError
from flitwork.base.output_files import writable_file
from flitwork.cli.heartbeat import now_and_then
from flitwork.cli.options import AsJson, Machine, Overwrite, PacketFlits
from flitwork.cli.output import escape, guarded, print_json, print_table, say
from flitwork.cli.progress import watcher
from flitwork.cli.what_is_simulated import NetworkOptions, bytes_of, machine_of, with_options
from flitwork.questions.synthesise import DEFAULT_STEPS, Synthesis
from flitwork.questions.synthesise import synthesise as search

if TYPE_CHECKING:
    import pandas as pd

_LINE_SECONDS = 2.0
#: How long messages and packets are, by which fields.
_SENT = ("message_bytes", "message_flits", "packet_bytes", "packet_flits")


@guarded
@with_options
def synthesise(
    machine: Machine = None,
    message_bytes: Annotated[str | None, typer.Option(metavar="BYTES", help="Length of a message.")] = None,
    message_flits: Annotated[int | None, typer.Option(help="The same in flits [default: 100].")] = None,
    packet_flits: PacketFlits = None,
    skew_cycles: Annotated[
        int, typer.Option(min=0, help="How much later than the first rank the last one may start: it begins then.")
    ] = 0,
    with_late_ranks: Annotated[
        bool, typer.Option("--disturbed", help="Simulate it with late ranks, beside algorithms by steps, too.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the search.")] = 1,
    budget_steps: Annotated[int, typer.Option(min=1, help="Steps of the search at most.")] = DEFAULT_STEPS,
    budget_seconds: Annotated[
        float | None, typer.Option(help="Time of the search at most; what it finds then depends on the machine.")
    ] = None,
    options: NetworkOptions = NetworkOptions(),  # noqa: B008
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE.json", help="Store the timetable; .csv: as a table.")
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Search for an all-to-all in which no flit waits: how near it is to the bound, and what keeps it from it.

    For networks on which all packets of a pair take the same route. The timetable is proved free of collisions from
    itself and these routes alone, and simulated. Ctrl-C gives the best that was found so far.

    Examples:

      flitwork synthesise --size 9x9 --packet-flits 1

      flitwork synthesise --size 8x8 --message-flits 100 --packet-flits 20 -o schedule.json
    """
    if output:
        if output.suffix.lower() not in (".json", ".csv"):
            raise ConfigError("--output", output, "a file .json or .csv", "the ending of its name says what it is")
        writable_file(output, "--output", overwrite)
    network, host, run, sent = machine_of(
        machine, options, message_bytes=bytes_of(message_bytes), message_flits=message_flits, packet_flits=packet_flits
    )
    if host:
        raise ConfigError("host", host, "nothing: a timetable has one rank on each terminal", "leave out the table")
    other = next((name for name in sent if name not in _SENT), None)
    if other is not None:
        raise ConfigError(other, sent[other], f"nothing: an all-to-all by times has {', '.join(_SENT)}")
    found = search(
        network, **sent, skew_cycles=skew_cycles, seed=seed, budget_steps=budget_steps, budget_seconds=budget_seconds,
        run=run, progress=_progress(),
    )  # fmt: skip
    if output:
        found.timetable.save(output)
    late = found.disturbed(watcher=watcher()) if with_late_ranks else None
    _show(found, late, as_json, output)


def _progress() -> Callable[[int, int, int], bool]:
    """Says every few seconds on standard error what has been found so far."""
    say_now_and_then = now_and_then(_LINE_SECONDS)

    def line(block: int, steps: int, period: int) -> bool:
        best = f"a period of {period:,} cycles so far" if period else "nothing so far"
        say_now_and_then(lambda: f"blocks of {block:,} flits, {steps:,} steps: {best}")
        return True

    return line


def _show(found: Synthesis, late: pd.DataFrame | None, as_json: bool, output: Path | None) -> None:
    if as_json:
        # What was run once has no interval: null.
        plain = {} if late is None else {"disturbed": json.loads(late.to_json(orient="records"))}
        print_json({**found.to_dict(), **plain, "timetable": json.loads(found.timetable.json)})
        return
    size = "x".join(map(str, found.timetable.sizes)) or f"{found.timetable.terminals} terminals"
    rows = [
        ("blocks [flits]", found.timetable.block_flits),
        ("period [cycles]", found.timetable.period_cycles),
        ("shortest period that ports and channels allow [cycles]", found.least_period_cycles),
        ("completion [cycles]", found.completion_cycles),
        ("bound [cycles]", found.bound_cycles),
        ("ratio to bound", found.ratio_to_bound),
    ]
    print_table(("", "value"), rows, f"all-to-all on {size}, messages of {found.message_flits:,} flits")
    say(escape(found.reason))
    say("no port and no channel is used twice in a cycle (proved)")
    if late is not None:
        _show_late(late)
    if found.result is None:
        why = "" if found.interrupted else ", as that takes long"
        say(f"not simulated{why}: the completion is that of the timetable")
    if found.interrupted:
        say("interrupted: this is the best that was found")
    if output:
        say(f"stored in {escape(str(output))}")
        if found.network.spec.get("routing", {}).get("tie") == "by_message":
            say('simulate it with network.routing.tie = "by_message"')
        if found.skew_cycles:
            say(f"simulate it with workload.begin_cycles = {found.skew_cycles}")


def _show_late(late: pd.DataFrame) -> None:
    disturbances = list(late["disturbance"].unique())
    by_schedule = late.pivot(index="schedule", columns="disturbance", values="ratio_to_bound")
    rows = [
        [schedule, *(f"{value:.3f}" if value == value else "" for value in by_schedule.loc[schedule, disturbances])]
        # Timetables first: one of them is not run without a disturbance.
        for schedule in sorted(late["schedule"].unique(), key=lambda name: not name.startswith("timetable"))
    ]
    width = late["ci_half_width"].max()
    title = f"completion over the bound, mean of {late['runs'].max()} runs (95 % intervals: ± {width:.2g} or less)"
    print_table(["schedule", *disturbances], rows, title)
