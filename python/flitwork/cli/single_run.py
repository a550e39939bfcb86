"""``simulate``, ``plan``, ``bound``, ``check``, ``draw``: one network and one workload."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from flitwork import _core
from flitwork.base.errors import ConfigError, StorageError, did_you_mean
from flitwork.base.output_files import all_or_none, folder_for, writable_file, write_atomically
from flitwork.cli.heartbeat import alive, now_and_then
from flitwork.cli.options import (
    AsJson,
    MessageFlits,
    Overwrite,
    PacketFlits,
    Quick,
    What,
    WhatOrStudy,
    check_beside,
    components,
    is_study,
)
from flitwork.cli.output import escape, guarded, print_json, print_result, print_table, say
from flitwork.cli.progress import cycles_to_simulate, shown, watcher
from flitwork.cli.simulation import default_folder, topology_name
from flitwork.cli.what_is_simulated import NetworkOptions, WorkloadOptions, specification, with_options
from flitwork.planning.any_routing import AnyRouting, any_routing_of
from flitwork.planning.bound import Bound
from flitwork.planning.check import Check, check_plan
from flitwork.planning.specification import plan_of
from flitwork.results.columns import OF_THE_NETWORK
from flitwork.results.result import Result, run_plan
from flitwork.running.packets_file import checked, recording, run_to_file
from flitwork.workloads.workload import patterns

if TYPE_CHECKING:
    from flitwork.experiment import Job

Tie = Literal["plus", "parity", "random", "split"]
_SHOWN_PHASES = 40


def _save_summary(result: Result, path: Path) -> Path:
    text = result.summary.to_csv(index=False)
    return write_atomically(path, lambda file: file.write(text.encode()))


#: What stores a result, by the ending of the file.
_SAVED: dict[str, Callable[[Result, Path], object]] = {".parquet": Result.save, ".csv": _save_summary}


@guarded
@with_options
def simulate(
    what: What,
    network: NetworkOptions,
    workload: WorkloadOptions,
    save: Annotated[
        Path | None,
        typer.Option(help="Store the result: all of it in a file .parquet, or its table of numbers in a file .csv."),
    ] = None,
    packets: Annotated[
        Path | None,
        typer.Option("--packets-file", help="Record every packet in this file .parquet while the run lasts."),
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Simulate one workload on one network and show what came out.

    Examples:

      flitwork simulate a2at --size 9x9 --sync local --set vcs=2 --set buffer_flits=20

      flitwork simulate uniform --size 8x8 --mesh --load 0.3 --packet-flits 4 --set vcs=4

      flitwork simulate a2at --size 5x5 --set packets=true --save a2at.parquet

      flitwork simulate uniform --size 32x32 --load 0.1 --packets-file packets.parquet

      flitwork simulate matrix --size 8x8 --load 0.1 --set file=weights.npy

      flitwork simulate trace --size 8x8 --set file=trace.csv
    """
    if save and save.suffix.lower() not in _SAVED:
        raise ConfigError("--save", save, "a file .parquet or .csv", "flitwork show reads .parquet")
    if save:
        writable_file(save, "--save", overwrite)
    if packets:
        checked(packets, "--packets-file", overwrite)
    if save and packets and save.resolve() == packets.resolve():
        raise ConfigError("--packets-file", packets, "another file than --save", "packets go to a file of their own")
    spec = specification(what, network, **workload.workload_fields)
    with alive("planning"):
        planned = plan_of(recording(spec, packets, "--packets-file") if packets else spec)
        cycles = cycles_to_simulate(planned)
    with shown("simulating", cycles) as progress:
        result = run_to_file(planned, packets, progress, "--packets-file") if packets else run_plan(planned, progress)
    fault = _save(result, save) if save else None
    if as_json:
        print_json(result.row)
    else:
        _show_result(result)
        if save and not fault:
            say(f"stored in {escape(str(save))}")
    if fault:
        raise fault


def _save(result: Result, path: Path) -> StorageError | None:
    """Stores a result; why it could not be, as it is shown all the same."""
    try:
        _SAVED[path.suffix.lower()](result, path)
    except (ConfigError, StorageError) as error:
        return StorageError(str(error))
    return None


def _show_result(result: Result) -> None:
    row = result.row
    say(f"[bold]{row['workload']}[/] on [bold]{row['topology']} {row['size']}[/]: {row['status']}")
    print_result(result, skip=OF_THE_NETWORK)


@guarded
@with_options
def plan(
    context: typer.Context,
    what: WhatOrStudy,
    network: NetworkOptions,
    workload: WorkloadOptions,
    quick: Quick = False,
    as_json: AsJson = False,
) -> None:
    """Show what would run: every default filled in, memory, the hash that names the result. Nothing is simulated.

    Examples:

      flitwork plan torus_sizes.toml

      flitwork plan a2at --size 9x9 --json
    """
    check_beside(context, is_study(what))
    if is_study(what):
        _plan_study(Path(what), quick, as_json)
        return
    spec = specification(what, network, **workload.workload_fields)
    with alive("planning"):
        planned = plan_of(spec)
        found = planned.contents()
    if as_json:
        typer.echo(planned.json)
        return
    from flitwork.experiment.display import duration

    print_table(("field", "value"), list(_leaves(found)))
    memory, described = found["estimated_memory_bytes"] / 1e6, found["described"]
    say(
        f"estimates: {memory:,.4g} MB of memory, {duration(described['estimated_seconds'])} of one core "
        f"({described['kernel']} kernel)"
    )


def _jobs(study: Path, quick: bool) -> list[Job]:
    from flitwork.experiment import load_study, plan_study

    return plan_study(load_study(study), quick, watcher())


def _plan_study(path: Path, quick: bool, as_json: bool) -> None:
    jobs = _jobs(path, quick)
    plans = [(job, job.plan()) for job in jobs]
    if as_json:
        print_json([{"points": [p.label for p in job.points], **plan.contents()} for job, plan in plans])
        return
    rows = [
        (point.label, plan.terminals, job.memory_bytes / 1e6, job.seconds, job.hash[:12])
        for job, plan in plans
        for point in job.points
    ]
    headers = ("point", "terminals", "memory [MB]", "time [s]", "plan")
    print_table(headers, rows, f"{len(rows)} points, {len(jobs)} simulations; memory and time are estimates")


def _leaves(table: dict[str, Any], prefix: str = "") -> list[tuple[str, object]]:
    found: list[tuple[str, object]] = []
    for key, value in table.items():
        if isinstance(value, dict):
            found += _leaves(value, f"{prefix}{key}.")
        else:
            found.append((f"{prefix}{key}", value))
    return found


@guarded
@with_options
def bound(
    context: typer.Context,
    what: WhatOrStudy,
    network: NetworkOptions,
    message_flits: MessageFlits = None,
    packet_flits: PacketFlits = None,
    any_routing: Annotated[
        bool,
        typer.Option("--any-routing", help="Search for what the channels need under the best of all routings, too."),
    ] = False,
    quick: Quick = False,
    as_json: AsJson = False,
) -> None:
    """Show what no run can beat: bisection, channel loads under the routing, injection and ejection.

    With --any-routing, also how much time better routes could save. Ctrl-C ends that search with the best so far.

    Examples:

      flitwork bound a2at --size 9x9

      flitwork bound tornado --size 8x8 --any-routing

      flitwork bound uniform --size 8x8 --mesh

      flitwork bound torus_sizes.toml --json
    """
    check_beside(context, is_study(what))
    found_by_search = None
    if is_study(what):
        bounds = _study_bounds(_jobs(Path(what), quick))
    else:
        # The highest load is that of the pattern, whatever load is said.
        workload_fields = any(setting.partition("=")[0].strip() == "offered_load" for setting in network.settings or [])
        load = 0.1 if what in patterns() and not workload_fields else None
        spec = specification(what, network, message_flits=message_flits, packet_flits=packet_flits, offered_load=load)
        name = f"{what} on {topology_name(network.table)}"
        with alive("adding up loads"):
            planned = plan_of(spec)
            bounds = {name: Bound.of(planned)}
        if any_routing:
            found_by_search = _searched(planned)
    if as_json:
        searched = {} if found_by_search is None else {"any_routing": found_by_search.to_dict()}
        print_json([{"point": name, **found.values, **found.physical, **searched} for name, found in bounds.items()])
        return
    for closed in (True, False):
        chosen = [(name, found) for name, found in bounds.items() if found.runs_to_completion is closed]
        if chosen and closed:
            headers = ["bisection", "channel load", "injection", "ejection", "tightest", "which", "phase model"]
            rows = [_closed_row(*one) for one in chosen]
            _add_physical(headers, rows, chosen, "tightest_ns", "tightest [ns]")
            print_table(("point", *headers), rows, "lower bounds [cycles]")
            say("The phase model is an estimate, not a bound: runs whose phases overlap can be faster.")
            for name, found in chosen:
                if found.operation:
                    cycles, rounds = found.operation["cycles"], found.operation["rounds"]
                    say(f"{name}: any algorithm for this operation needs {cycles:,.6g} cycles and {rounds} rounds.")
        elif chosen:
            headers = ["saturation", "limited by", "most accepted"]
            rows = [[name, found.saturation_load, found.tightest, found.accepted_load] for name, found in chosen]
            for name, header in (("saturation_load", "saturation"), ("accepted_load", "most accepted")):
                _add_physical(headers, rows, chosen, f"{name}_bytes_per_s", f"{header} [bytes/s/terminal]")
            print_table(("point", *headers), rows, "upper bounds [flits/cycle/terminal]")
            say(
                "Up to the saturation load all that is offered can be accepted. "
                "On the average over the terminals no run accepts more than the last column."
            )
    if found_by_search is not None:
        _show_any_routing(found_by_search)


def _searched(planned: _core.Plan) -> AnyRouting:
    """The bound of all routings; how far the search is comes on standard error."""
    say_now_and_then = now_and_then()

    def line(steps: int, proved: float, reached: float) -> bool:
        gap = f"{100 * (reached / proved - 1):.3g} %" if proved else "unknown"
        say_now_and_then(lambda: f"{steps:,} steps: the gap is {gap}")
        return True

    return any_routing_of(planned, progress=line)


def _show_any_routing(found: AnyRouting) -> None:
    values: tuple[float, ...] = (found.routing_cycles, math.floor(found.proved_cycles), math.ceil(found.reached_cycles))
    unit = "cycles"
    if not found.bound.runs_to_completion:
        # Without traffic there is no limit, and of chosen routes nothing is known.
        load = 1 / found.routing_cycles if found.routing_cycles else math.inf
        unit, values = "flits/cycle/terminal", (load, found.proved_load, found.reached_load)
    headers = ("this routing", "no routing beats", "best split found", "gap [%]")
    print_table(headers, [(*values, 100 * found.gap)], f"the busiest channel [{unit}]")
    over = found.routing_over_split
    if not found.loads_are_known:
        say("Under this routing packets choose among routes as they go, so its load is not known before a run.")
    elif not math.isnan(over):
        good = over <= 1 + found.gap
        say(
            "The routing is as good as any for this traffic."
            if good
            else f"Under this routing the busiest channel needs {over:.4g} times as long as in the best split found."
        )
    if found.interrupted:
        say("interrupted: this is the best that was found")


def _study_bounds(jobs: list[Job]) -> dict[str, Bound]:
    """The bounds by label. Seeds whose bounds are the same share one row, without a seed in its label."""
    seeds: dict[str, dict[str, Bound]] = {}
    for job in jobs:
        found = Bound.of(job.plan())
        for point in job.points:
            seeds.setdefault(point.without_seed, {})[point.label] = found
    bounds: dict[str, Bound] = {}
    for name, found_by_seed in seeds.items():
        first, *others = found_by_seed.values()
        alike = all(other.values == first.values for other in others)
        bounds.update({name: first} if alike else found_by_seed)
    return bounds


def _closed_row(name: str, found: Bound) -> list[object]:
    values = (found.bisection_cycles, found.channel_load_cycles, found.injection_cycles, found.ejection_cycles)
    return [name, *values, found.tightest_cycles, found.tightest, found.phase_model_cycles]


def _add_physical(
    headers: list[str], rows: list[list[object]], bounds: Sequence[tuple[str, Bound]], name: str, header: str
) -> None:
    """A column in physical units, where a network says what a cycle and a flit are."""
    values = [found.physical.get(name, math.nan) for _, found in bounds]
    if not all(map(math.isnan, values)):
        headers.append(header)
        for row, value in zip(rows, values, strict=True):
            row.append(value)


@guarded
@with_options
def check(
    algorithm: Annotated[
        str,
        typer.Argument(help="An all-to-all algorithm (`flitwork list algorithms`), or `collective`, told by --set."),
    ],
    network: NetworkOptions,
    tie: Annotated[Tie | None, typer.Option(help="What to do at half a ring of even length.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Print every phase, however many.")] = False,
    as_json: AsJson = False,
) -> None:
    """Prove that an algorithm brings all data to where it belongs, and print the load of every channel class by phase.

    Of an all-to-all by its name that is every pair exactly once. Loads are in messages (the longest one); a phase is as
    many messages as a network interface has ports. The exit code is 1 if the schedule is wrong.

    Examples:

      flitwork check a2at --size 9x9

      flitwork check a2at --size 9x9 --mesh --ports 2

      flitwork check a2at --size 8x8x4 --ports 6 --json

      flitwork check collective --size 4x4 --set operation=allreduce --set algorithm=rabenseifner
    """
    algorithms = [*(row["name"] for row in components()["algorithms"]), "collective"]
    if algorithm not in algorithms:
        expected = f"one of {', '.join(algorithms)}"
        raise ConfigError("ALGORITHM", algorithm, expected, did_you_mean(algorithm, algorithms))
    spec = specification(algorithm, network, (f'tie="{tie}"',) if tie else ())
    with alive("checking"):
        found = check_plan(plan_of(spec), topology_name(network.table))
    if as_json:
        values = {"exchange": found.exchange, "loads": found.loads, "terminals": found.terminals}
        values["bound"] = found.bound.values
        values |= {"placement": found.placement} if found.placement else {}
        print_json({**values, "phase_sum_over_bound": found.phase_sum_over_bound})
        return
    _show_check(found, every)


def _show_check(found: Check, every: bool) -> None:
    exchange, unit = found.exchange, found.message_flits
    plural = "s" if found.ports > 1 else ""
    say(f"[bold]{found.name}[/] on [bold]{found.network}[/], {found.ports} port{plural} a network interface")
    say(
        f"[green]complete[/]: {exchange['ranks']:,} ranks, {exchange['messages']:,} messages, "
        f"{found.proven}, every rank can finish"
    )
    if found.has_channels:
        table, columns = found.phases, (*found.channel_classes, "largest")
        title, of, total, limit = (
            "load of the most loaded channel",
            "channels",
            found.phase_sum_flits,
            found.channel_bound_cycles,
        )
    else:
        table, columns = found.terminal_phases, ("most sent", "most received")
        title, of, total, limit = "by one terminal", "terminals", found.terminal_sum_flits, found.terminal_bound_flits
    shown = table if every else table.head(_SHOWN_PHASES)
    rows = [[int(row[0]), *(value / unit for value in row[1:])] for row in shown.itertuples(index=False, name=None)]
    print_table(("phase", *columns), rows, f"{title} [messages]")
    if len(shown) < len(table):
        say(f"... {len(table) - len(shown)} more phases; --all prints them")
    say(
        f"sum of the largest: {total / unit:,.4g} messages = "
        f"{found.phase_sum_over_bound:.4f} of the lower bound of the {of}, {limit / unit:,.4g}"
    )


@guarded
@with_options
def draw(
    what: What,
    network: NetworkOptions,
    workload: WorkloadOptions,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder of the pictures [default: results/draw-..., one a configuration]."),
    ] = None,
    overwrite: Overwrite = False,
    windows: Annotated[int, typer.Option(min=1, help="Pictures in the animation, about.")] = 60,
) -> None:
    """Draw one simulation: phases on the network, channels over time (still and animation), time-line of terminals.

    Examples:

      flitwork draw a2at --size 5x5 --sync local

      flitwork draw a2and --size 8x8 --mesh --out pictures/a2and
    """
    from flitwork.plot.gallery import PICTURES, gallery

    if out:
        folder_for(out, PICTURES, overwrite, "--out")
    spec = specification(what, network, **workload.workload_fields)
    with all_or_none():
        pictures = [*gallery(spec, out or default_folder("draw", what, network.table, spec), windows, shown)]
    for path in pictures:
        say(f"figure  {escape(str(path))}")
