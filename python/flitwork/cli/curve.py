"""``curve``: accepted load and latency over offered load."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

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
    workload_names,
)
from flitwork.cli.output import escape, guarded, note, print_json, print_table, say
from flitwork.cli.progress import watcher
from flitwork.cli.simulation import default_folder, parts, topology_name
from flitwork.cli.what_is_simulated import NetworkOptions, with_options
from flitwork.planning.specification import nest_run, simulation
from flitwork.questions.curve import LOAD, Curve
from flitwork.questions.curve import curve as find_curve
from flitwork.workloads.workload import patterns

_SHOWN = {
    LOAD: "offered",
    "accepted_load_flits_per_cycle": "accepted",
    "accepted_load_ci_half_width_flits_per_cycle": "±",
    "packet_latency_mean_cycles": "latency [cycles]",
    "packet_latency_ci_half_width_cycles": "± [cycles]",
    "packet_latency_p99_cycles": "p99 [cycles]",
    "slowest_over_mean": "slowest / mean",
    "status": "status",
}


@guarded
@with_options
def curve(
    pattern: Pattern,
    options: NetworkOptions,
    packet_flits: PacketFlits = None,
    loads: Annotated[
        str | None,
        typer.Option(
            metavar="LOADS",
            help="Offered loads in flits/cycle/terminal: 0.1,0.2,0.3 [default: 20 steps up to the capacity].",
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Seeds of each load, from 1 on.")] = 3,
    resolution: Annotated[
        float, typer.Option(help="How closely saturation is bracketed, as a share of the capacity; 0: not at all.")
    ] = 0.01,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder of tables, figure and finished runs.")] = None,
    jobs: Jobs = None,
    engine: Engine = "local",
    scheduler: Scheduler = None,
    as_json: AsJson = False,
) -> None:
    """Sweep the offered load of a traffic pattern: latency and accepted load with confidence intervals, and a figure.

    Every run finds out itself how long to warm up and to measure; more loads are added around saturation. Each finished
    run is stored at once: the same command continues what was interrupted.

    Examples:

      flitwork curve uniform --size 8x8 --packet-flits 8 --set vcs=8 --set buffer_flits=16

      flitwork curve transpose --size 8x8 --mesh --loads 0.05,0.1,0.15,0.2 --seeds 5 --resolution 0

      flitwork curve uniform --set "steady={relative_ci=0.01, max_cycles=1000000}" --json
    """
    table = options.table
    _check(pattern, options.settings or [])
    # The load is a placeholder: the curve puts its own in its place.
    network, workload, run = parts(
        pattern, table, options.settings, options.ports, packet_flits=packet_flits, offered_load=0.1
    )
    folder = out or default_folder("curve", pattern, table, simulation(network, workload, nest_run(run)))
    writable_folder(folder)
    asked = _loads(loads)
    try:
        found = find_curve(
            network, workload, asked, seeds=range(1, seeds + 1), resolution=resolution,
            out=folder, jobs=jobs, engine=engine, scheduler=scheduler, watcher=watcher(), **run,
        )  # fmt: skip
    except KeyboardInterrupt:
        note(f"what is finished is stored in {escape(str(folder))}; the same command continues there")
        raise
    files = found.save(folder)
    if as_json:
        rows = {name: rows.to_dict("records") for name, rows in (("points", found.points), ("indices", found.indices))}
        print_json({**rows, "files": files})
    else:
        _show(found, f"{pattern} on {topology_name(table)}", files)


def _check(pattern: str, settings: list[str]) -> None:
    if pattern in workload_names() and pattern not in patterns():
        hint = "flitwork list patterns names them"
        raise ConfigError("PATTERN", pattern, "a traffic pattern, which has a load", hint)
    given = {text.partition("=")[0].strip() for text in settings}
    for key, instead in (("offered_load", "--loads instead: a curve has many loads"), ("seed", "--seeds instead")):
        if key in given:
            raise ConfigError(f"--set {key}", "given", instead)


def _loads(text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ConfigError("--loads", f'"{text}"', "numbers with commas between them", "for example 0.1,0.2") from None


def _show(found: Curve, title: str, files: list[Path]) -> None:
    points = found.points[list(_SHOWN)]
    rows = [[*row] for row in points.itertuples(index=False, name=None)]
    print_table(tuple(_SHOWN.values()), rows, f"{title}; loads in flits/cycle/terminal")
    named: Any = found.indices.itertuples(index=False, name=None)
    print_table(("index", "value", "±", "unit", ""), [[*row] for row in named])
    for path in files:
        say(escape(str(path)))
