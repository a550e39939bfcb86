"""``burst``: how long synchronised bursts take, over many trials."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from flitwork.base.errors import ConfigError
from flitwork.base.output_files import writable_folder
from flitwork.cli.options import (
    AsJson,
    Engine,
    Jobs,
    PacketFlits,
    Pattern,
    Scheduler,
)
from flitwork.cli.output import escape, guarded, note, print_json, print_table, say
from flitwork.cli.progress import watcher
from flitwork.cli.simulation import burst_parts, default_folder, topology_name
from flitwork.cli.what_is_simulated import NetworkOptions, with_options
from flitwork.planning.specification import nest_run, simulation
from flitwork.questions.burst import PACKETS, RATE, Burst, BurstError
from flitwork.questions.burst import burst as find_burst
from flitwork.workloads.workload import burst_workload, uniform

T = TypeVar("T", int, float)

_SHOWN = {
    PACKETS: "packets",
    RATE: "rate",
    "trials": "trials",
    "mean_duration_cycles": "mean",
    "mean_ci_half_width_cycles": "±",
    "p5_duration_cycles": "5 %",
    "p50_duration_cycles": "50 %",
    "p95_duration_cycles": "95 %",
    "max_duration_cycles": "longest",
    "bound_cycles": "bound",
}


@guarded
@with_options
def burst(
    pattern: Pattern,
    packets: Annotated[
        str, typer.Option(metavar="NUMBERS", help="Packets of each terminal; several with commas: 1,4,16.")
    ],
    options: NetworkOptions,
    packet_flits: PacketFlits = None,
    rate: Annotated[
        str,
        typer.Option(
            metavar="RATES",
            help="Packets are created at so many flits/cycle/terminal; 0: all at t = 0. Several with commas.",
        ),
    ] = "0",
    trials: Annotated[int, typer.Option(min=1, help="Trials of each burst; they differ by their seed.")] = 10,
    first_seed: Annotated[int, typer.Option(min=0, help="Seed of the first trial; the others follow it.")] = 1,
    background_load: Annotated[
        float, typer.Option(min=0, help="Uniform traffic of the same packets in the background [flits/cycle/terminal].")
    ] = 0.0,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder of tables, figure and finished runs.")] = None,
    jobs: Jobs = None,
    engine: Engine = "local",
    scheduler: Scheduler = None,
    as_json: AsJson = False,
) -> None:
    """Run bursts that all terminals start at t = 0: how long until all packets have arrived, over many trials.

    The table has the mean duration with half its 95 % confidence interval, quantiles, and the lower bound [cycles].
    Each finished trial is stored at once: the same command continues what was interrupted.

    Examples:

      flitwork burst shuffle --size 8x8 --packets 1,4,16 --packet-flits 8

      flitwork burst transpose --packets 4 --background-load 0.1 --trials 50 --set warmup_cycles=2000

      flitwork burst uniform --packets 16 --rate 0.1,0.2,0.4 --set delivery_window_cycles=20 --json
    """
    table = options.table
    network, parameters, lengths, run = burst_parts(pattern, table, options.settings, options.ports, packet_flits)
    numbers, rates = _listed("--packets", packets, int), _listed("--rate", rate, float)
    # Its packets and rate are columns of the tables; whatever else differs makes other tables.
    work = burst_workload(pattern, packets=1, packet_flits=lengths, **parameters)
    background = uniform(offered_load=background_load, packet_flits=lengths) if background_load else None
    folder = out or default_folder("burst", pattern, table, simulation(network, work, nest_run(run), background))
    writable_folder(folder)
    try:
        found = find_burst(
            network, pattern, packets=numbers, packet_flits=lengths, rate=rates, parameters=parameters,
            trials=trials, first_seed=first_seed, background_load=background_load,
            out=folder, jobs=jobs, engine=engine, scheduler=scheduler, watcher=watcher(), run=run,
        )  # fmt: skip
    except KeyboardInterrupt:
        note(f"what is finished is stored in {escape(str(folder))}; the same command continues there")
        raise
    except BurstError as error:
        if error.burst:
            error.burst.save(folder)
            note(f"the trials that are left are in the tables in {escape(str(folder))}")
        raise
    files = found.save(folder)
    if as_json:
        print_json({"points": found.points.to_dict("records"), "files": files})
    else:
        _show(found, f"burst of {pattern} on {topology_name(table)}", files)


def _listed(option: str, text: str, kind: Callable[[str], T]) -> list[T]:
    try:
        return [kind(part) for part in text.split(",")]
    except ValueError:
        whole = "whole numbers" if kind is int else "numbers"
        raise ConfigError(option, f'"{text}"', f"{whole} with commas between them", "for example 1,4,16") from None


def _show(found: Burst, title: str, files: list[Path]) -> None:
    rows = [[*row] for row in found.points[list(_SHOWN)].itertuples(index=False, name=None)]
    print_table(tuple(_SHOWN.values()), rows, f"{title}; durations in cycles")
    for path in files:
        say(escape(str(path)))
