"""``flitwork explain``: why a run took as long as it did."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flitwork.base.output_files import all_or_none, folder_for
from flitwork.cli.goal import goal_result, is_goal
from flitwork.cli.options import AsJson, Overwrite, Quick
from flitwork.cli.output import escape, guarded, print_json, print_table, say
from flitwork.cli.progress import shown
from flitwork.cli.run_argument import refuse, result_of_argument
from flitwork.cli.what_is_simulated import NetworkOptions, WorkloadOptions, with_options
from flitwork.explain import Explanation, explain
from flitwork.explain.explanation import WRITTEN
from flitwork.results.result import Result
from flitwork.values.tables import Record

_SHOWN_PIECES = 12
_RECORDS = ("run.record.waits=true", "run.record.operations=true")


@guarded
@with_options
def explain_run(
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
    point: Annotated[
        str | None, typer.Option(help="Study: the point to explain, by its label (`flitwork plan`).")
    ] = None,
    quick: Quick = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder for the tables and the pictures.")] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Say why a run took as long as it did: causes in words, the critical path, pictures of ranks and of channels.

    A stored result that lacks the records is simulated again with them, where what it says suffices.

    Examples:

      flitwork explain a2at.parquet --out why

      flitwork explain a2a --size 8x8 --sync local --packet-flits 10 --out why

      flitwork explain collective --size 4x4 --set operation=allreduce --set algorithm=ring

      flitwork explain torus_sizes.toml --point "torus sizes: n=5"
    """
    if out:
        folder_for(out, WRITTEN, overwrite, "--out")
    file, own_options = Path(what), {"out", "overwrite", "as_json"}
    if is_goal(file):
        refuse(context, {"what", "machine", "packet_flits", *own_options}, "a GOAL program")
        found = explain(goal_result(file, machine, workload.packet_flits, Record(waits=True, operations=True)))
    else:
        result = result_of_argument(context, what, own_options, network, workload, point, quick, _RECORDS)
        found = _explained(result)
    with all_or_none():
        written = found.save(out) if out else []
    if as_json:
        print_json(found.to_dict())
        return
    show_explanation(found)
    for path in written:
        say(f"written  {escape(str(path))}")


def _explained(result: Result) -> Explanation:
    with shown("simulating again with records", result.end_cycle + 1) as progress:
        return explain(result, progress)


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
        several = f"the longest of {len(found.path):,} stretches of the critical path"
        title = several if len(found.path) > 1 else "the critical path"
        print_table([name.replace("_", " ") for name in columns], longest[columns].to_numpy().tolist(), title)
