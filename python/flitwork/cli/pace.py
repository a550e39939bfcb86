"""``flitwork pace``: the message-overlap degree and the pauses of each step of a schedule."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from flitwork.base.errors import ConfigError
from flitwork.cli.options import (
    AsJson,
    MessageFlits,
    PacketFlits,
    What,
    components,
)
from flitwork.cli.output import guarded, print_json, print_table, say
from flitwork.cli.progress import cycles_to_simulate, shown
from flitwork.cli.simulation import topology_name
from flitwork.cli.what_is_simulated import NetworkOptions, specification, with_options
from flitwork.planning.pace import COLUMNS, Pace, pace_plan
from flitwork.planning.specification import plan_of
from flitwork.results.result import run_plan

_SHOWN = 20
_RULES = ("none", "hops", "mod")


@guarded
@with_options
def pace(
    what: What,
    options: NetworkOptions,
    message_flits: MessageFlits = None,
    packet_flits: PacketFlits = None,
    over: Annotated[
        Literal["step", "schedule"], typer.Option(help="Which messages count together; schedule: all.")
    ] = "step",
    aggregate: Annotated[bool, typer.Option(help="The messages of a network interface share the pause.")] = False,
    simulate: Annotated[bool, typer.Option("--simulate", help="Simulate without pacing, by hops and by MOD.")] = False,
    every: Annotated[bool, typer.Option("--all", help="Print every step, however many.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show how the messages of each step overlap on channels, and the pauses that pacing makes of it.

    A packet, then a pause of (message-overlap degree - 1) packets: no message is sent faster than its share of the
    busiest channel. `--set nic.pacing.kind=mod` makes `flitwork simulate` pause.

    Examples:

      flitwork pace a2a --size 16x8 --packet-flits 16

      flitwork pace a2a --size 8x8 --packet-flits 16 --over schedule --aggregate --simulate
    """
    if what in [row["name"] for row in components()["patterns"]]:
        expected = "a schedule: an all-to-all algorithm, collective, schedule or trace"
        raise ConfigError("WHAT", what, expected, "traffic has no steps whose messages overlap")

    def planned(kind: str) -> Any:
        chosen = [
            f'nic.pacing.kind="{kind}"',
            f'nic.pacing.over="{over}"',
            f"nic.pacing.aggregate={str(aggregate).lower()}",
        ]
        more = tuple(chosen) if kind != "none" else ()
        return plan_of(specification(what, options, more, message_flits=message_flits, packet_flits=packet_flits))

    found = pace_plan(planned("none"), over, aggregate)
    measured = {kind: _completion(planned(kind), f"{what}, {kind}") for kind in _RULES} if simulate else {}
    if as_json:
        print_json({"steps": found.steps.to_dict("records"), "completion_cycles": measured})
        return
    _show(f"{what} on {topology_name(options.table)}", found, measured, every)


def _completion(plan: Any, what: str) -> int:
    with shown(what, cycles_to_simulate(plan)) as progress:
        return run_plan(plan, progress).completion_cycles


def _show(title: str, found: Pace, measured: dict[str, int], every: bool) -> None:
    say(f"[bold]{title}[/], packets of {found.packet_flits} flits: {found!r}")
    shown = found.steps if every else found.steps.head(_SHOWN)
    names = [name for name in COLUMNS if name != "longest_flits"]
    print_table([name.replace("_", " ") for name in names], shown[names].to_numpy().tolist(), "by step")
    if len(shown) < len(found.steps):
        say(f"... {len(found.steps) - len(shown)} more steps; --all prints them")
    headers = ["pacing", "time to inject all steps [cycles]"]
    rows: list[list[Any]] = [[kind, found.cycles("unpaced" if kind == "none" else kind)] for kind in _RULES]  # type: ignore[arg-type]
    if measured:
        headers += ["completion [cycles]", "saved"]
        for row in rows:
            cycles = measured[row[0]]
            row += [cycles, f"{1 - cycles / measured['none']:+.1%}"]
    print_table(headers, rows, "all steps")
    if not measured:
        say("--simulate finds out what the pauses save")
