"""``flitwork explain``: why a run took as long as it did."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from flitwork import _core
from flitwork.cli.goal import goal_result, is_goal
from flitwork.cli.options import (
    AsJson,
    IsMesh,
    Load,
    MessageFlits,
    PacketFlits,
    Ports,
    Quick,
    Settings,
    Size,
    Sync,
    Topology,
    Wrap,
    given_options,
    is_study,
)
from flitwork.cli.output import guarded, print_json, print_table, say
from flitwork.cli.progress import cycles_to_simulate, shown, watcher
from flitwork.cli.simulation import network_table, one_simulation
from flitwork.errors import ConfigError, did_you_mean
from flitwork.experiment import load_study, plan_study
from flitwork.explain import Explanation, explain
from flitwork.result import Result, run_plan
from flitwork.spec import plan_of

_SHOWN_PIECES = 12
_RECORDS = ("run.record.waits=true", "run.record.operations=true")


@guarded
def explain_run(
    context: typer.Context,
    what: Annotated[
        str,
        typer.Argument(
            metavar="RESULT|WHAT",
            help="A stored result (.parquet), a study (.toml), a GOAL program, or what is sent, as for `simulate`.",
        ),
    ],
    topology: Topology = None,
    size: Size = None,
    mesh: IsMesh = False,
    wrap: Wrap = None,
    sync: Sync = None,
    message_flits: MessageFlits = None,
    packet_flits: PacketFlits = None,
    load: Load = None,
    ports: Ports = None,
    settings: Settings = None,
    network: Annotated[
        Path | None, typer.Option("--network", metavar="FILE.toml", help="GOAL: a file with a table `network`.")
    ] = None,
    point: Annotated[
        str | None, typer.Option(help="Study: the point to explain, by its label (`flitwork plan`).")
    ] = None,
    quick: Quick = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder for the tables and the pictures.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say why a run took as long as it did: causes in words, the critical path, pictures of ranks and of channels.

    A stored result that lacks the records is simulated again with them, where what it says suffices.

    Examples:

      flitwork explain a2at.parquet --out why

      flitwork explain a2a --size 8x8 --sync local --packet-flits 10 --out why

      flitwork explain collective --size 4x4 --set operation=allreduce --set algorithm=ring

      flitwork explain examples/torus_sizes.toml --point "torus sizes: n=5"
    """
    file = Path(what)
    stored = file.suffix.lower() == ".parquet"
    options = {"what", "out", "as_json"}
    if stored:
        _refuse(context, options, "a stored result")
        found = _explained(Result.load(file))
    elif is_goal(file):
        _refuse(context, options | {"network", "packet_flits"}, "a GOAL program")
        found = explain(goal_result(file, network, packet_flits))
    elif is_study(what):
        _refuse(context, options | {"point", "quick"}, "a study")
        found = _explained(_run(_of_study(file, point, quick)))
    else:
        _refuse(context, given_options(context).keys() - {"network", "point", "quick"}, "what is sent")
        table = network_table(size, mesh, wrap, topology)
        spec = one_simulation(
            what, table, [*(settings or []), *_RECORDS], ports,
            sync=sync, message_flits=message_flits, packet_flits=packet_flits, offered_load=load,
        )  # fmt: skip
        found = _explained(_run(plan_of(spec)))
    written = found.save(out) if out else []
    if as_json:
        print_json(found.to_dict())
        return
    show_explanation(found)
    for path in written:
        say(f"written  {escape(str(path))}")


def _refuse(context: typer.Context, allowed: Any, beside: str) -> None:
    """Refuses options that would be ignored."""
    for name, option in given_options(context).items():
        if name not in allowed:
            raise ConfigError(option, "given", f"no {option} beside {beside}", "see `flitwork explain --help`")


def _run(plan: _core.Plan) -> Result:
    with shown("simulating", cycles_to_simulate(plan)) as progress:
        return run_plan(plan, progress)


def _explained(result: Result) -> Explanation:
    with shown("simulating again with records", result.end_cycle + 1) as progress:
        return explain(result, progress)


def _of_study(file: Path, point: str | None, quick: bool) -> _core.Plan:
    """The plan of a point of a study; with one point only it need not be named."""
    jobs = {one.label: job for job in plan_study(load_study(file), quick, watcher()) for one in job.points}
    if point is None and len(jobs) == 1:
        point = next(iter(jobs))
    if point not in jobs:
        labels = list(jobs)
        some = ", ".join(f'"{label}"' for label in labels[:4]) + (", ..." if len(labels) > 4 else "")
        hint = did_you_mean(point, labels) if point else "a study has many runs: name one"
        raise ConfigError("--point", point or "nothing", f"one of the {len(labels)} points: {some}", hint)
    return jobs[point].plan()


def show_explanation(found: Explanation) -> None:
    """Prints causes in words, the critical path by cause, and its longest stretches."""
    say(f"[bold]{escape(found.result.title)}[/]: {found.result.status}")
    for sentence in found.sentences:
        say(f"• {escape(sentence)}")
    causes = found.causes
    if "cycles" in causes:
        rows = causes[["cause", "cycles", "share", "most_at", "most_at_cycles"]].itertuples(index=False, name=None)
        headers = ("cause", "cycles", "share", "most of it at", "cycles there")
        shown_rows = [(c, n, f"{s:.1%}", at if n_at else "", n_at if n_at else None) for c, n, s, at, n_at in rows]
        print_table(headers, shown_rows, "the critical path by cause")
    else:
        rows = causes[["cause", "cycles_per_packet", "share"]].itertuples(index=False, name=None)
        print_table(("cause", "cycles a packet", "share"), [(c, n, f"{s:.1%}") for c, n, s in rows], "packets by cause")
    longest = found.path.assign(cycles=found.path["end_cycle"] - found.path["begin_cycle"])
    if len(longest):
        longest = longest.sort_values("cycles", ascending=False, kind="stable").head(_SHOWN_PIECES).sort_index()
        columns = ["what", "rank", "to_rank", "begin_cycle", "cycles"]
        title = f"the longest of {len(found.path):,} stretches of the critical path"
        print_table([name.replace("_", " ") for name in columns], longest[columns].to_numpy().tolist(), title)
