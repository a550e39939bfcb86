"""``run`` and ``reproduce``: whole studies."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from flitwork.cli import goal
from flitwork.cli.options import AsJson, Engine, Jobs, Quick, Scheduler, given_options
from flitwork.cli.output import CLAIM_FAILED, SIMULATION_FAILED, cell, guarded, note, print_json, print_table, say
from flitwork.cli.progress import watcher
from flitwork.errors import ConfigError
from flitwork.experiment import StudyRun, default_folder, load_study, run_study
from flitwork.goal import PARAMETERS
from flitwork.studies import Claim, Reproduction, published
from flitwork.studies import reproduce as reproduce_study

Out = Annotated[
    Path | None, typer.Option("--out", "-o", help="Folder of the results [default: results/NAME, results/NAME-quick].")
]
_COLOUR = {
    "reproduced": "green",
    "not reproduced": "red",
    "differs": "yellow",
    "undecided": "yellow",
    "not measured": "dim",
}
_BY = {"paper": "of the paper", "calibration": "of the paper that chose the reading", "ours": "our own"}


def _complete_study(incomplete: str) -> list[str]:
    return [name for name in published() if name.startswith(incomplete)]


@guarded
def run(
    context: typer.Context,
    study: Annotated[
        Path,
        typer.Argument(metavar="STUDY.toml|FILE.goal", help="The study file, or a GOAL program.", show_default=False),
    ],
    out: Out = None,
    jobs: Jobs = None,
    engine: Engine = "local",
    scheduler: Scheduler = None,
    quick: Quick = False,
    network: goal.NetworkName = None,
    latency: goal.Latency = None,
    overhead: goal.Overhead = None,
    gap: goal.Gap = None,
    gap_per_byte: goal.GapPerByte = None,
    overhead_per_byte: goal.OverheadPerByte = None,
    eager: goal.Eager = None,
    packet_flits: goal.PacketFlits = None,
    per_rank: goal.PerRank = False,
    save: goal.Save = None,
    as_json: AsJson = False,
) -> None:
    """Run every simulation of a study file, then write its tables and figures; or run a GOAL program.

    Each finished point is stored at once. The same command continues what was interrupted, and computes nothing twice.
    A simulation that fails does not stop the others: it is left out of tables and figures, and the exit code is 3.

    Examples:

      flitwork run examples/torus_sizes.toml

      flitwork run examples/torus_sizes.toml --quick --out results/quick

      flitwork run examples/torus_sizes.toml --json | jq .files

      flitwork run examples/torus_sizes.toml --engine dask --scheduler tcp://host:8786

      flitwork run allreduce.goal --network loggops --L 1000 --o 200 --per-rank
    """
    _check_beside(context, study)
    if goal.is_goal(study):
        numbers = (latency, overhead, gap, gap_per_byte, overhead_per_byte, eager)
        parameters = dict(zip(PARAMETERS, numbers, strict=True))
        goal.run_program(study, network, parameters, packet_flits, save, per_rank, as_json)
        return
    file = load_study(study)
    try:
        done = run_study(file, out, quick=quick, jobs=jobs, engine=engine, scheduler=scheduler, watcher=watcher())
    except KeyboardInterrupt:
        _interrupted(out or default_folder(file, quick))
        raise
    if as_json:
        print_json(_summary(done))
    else:
        _show_files(done.files, done.figures)
    if done.failures:
        raise typer.Exit(SIMULATION_FAILED)


#: Options of a study, and of a GOAL program; the others go with both.
_OF_STUDIES = ("out", "jobs", "engine", "scheduler", "quick")
_OF_BOTH = ("study", "as_json")


def _check_beside(context: typer.Context, file: Path) -> None:
    """Refuses options that would be ignored: those of a GOAL program beside a study, and the other way round."""
    program = goal.is_goal(file)
    for name, option in given_options(context).items():
        if name not in _OF_BOTH and (name in _OF_STUDIES) == program:
            beside, of = ("a GOAL program", "a study") if program else ("a study file", "a GOAL program, FILE.goal")
            raise ConfigError(option, f"given beside {beside}", f"options of {beside}", f"it goes with {of}")


@guarded
def reproduce(
    name: Annotated[
        str, typer.Argument(help="The study; see `flitwork list studies`.", autocompletion=_complete_study)
    ],
    out: Out = None,
    jobs: Jobs = None,
    engine: Engine = "local",
    scheduler: Scheduler = None,
    quick: Quick = False,
    published_results: Annotated[
        bool, typer.Option("--published", help="Take the results that come with the study, and simulate only others.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run a published study again and judge each claim of its paper.

    The exit code is 1 if a claim that this version stands for is not reproduced, or if the full study did not measure
    one.

    Examples:

      flitwork reproduce takaue-2010-a2at --quick

      flitwork reproduce takaue-2010-a2at --out results/full --jobs 8

      flitwork reproduce takaue-2010-a2at --published
    """
    try:
        done = reproduce_study(
            name, out, quick=quick, jobs=jobs, engine=engine, scheduler=scheduler, watcher=watcher(),
            published_results=published_results,
        )  # fmt: skip
    except KeyboardInterrupt:
        _interrupted(out or Path("results"))
        raise
    if as_json:
        print_json({**_summary(done.run), "figures": done.figures, "claims": [_claim(c) for c in done.claims]})
    else:
        _show_claims(done)
        _show_files(done.run.files, done.figures)
    if done.run.failures:
        raise typer.Exit(SIMULATION_FAILED)
    if done.failed:
        raise typer.Exit(CLAIM_FAILED)


def _summary(done: StudyRun) -> dict[str, Any]:
    return {
        "study": done.study.study.name,
        "out": done.out,
        "points": [
            {
                "experiment": p.experiment,
                "params": p.params,
                "seed": p.seed,
                "plan_hash": job.hash,
                **_outcome(done, job.hash),
            }
            for job in done.jobs
            for p in job.points
        ],
        "files": done.files,
        "figures": done.figures,
    }


def _outcome(done: StudyRun, key: str) -> dict[str, Any]:
    if key not in done.rows:
        (error,) = (failure.error for failure in done.failures if failure.job.hash == key)
        return {"status": "failed", "error": type(error).__name__, "message": str(error)}
    row = done.rows[key].row
    return {name: row[name] for name in ("status", "completion_cycles", "ratio_to_bound", "digest")}


def _claim(claim: Claim) -> dict[str, Any]:
    fields: dict[str, Any] = claim.model_dump(exclude={"measure"})
    return {**fields, "verdict": claim.verdict}


def _interrupted(folder: Path) -> None:
    note(f"what is finished is stored in {escape(str(folder))}; the same command continues from there")


def _show_files(files: list[Path], figures: list[Path]) -> None:
    say()
    for path in files:
        say(f"table   {escape(str(path))}")
    for path in figures:
        say(f"figure  {escape(str(path))}")


def _show_claims(done: Reproduction) -> None:
    headers = ("claim", "source", "statement", "paper", "ours", "verdict")
    print_table(headers, [_row(claim) for claim in done.claims], done.run.study.study.title)
    if any(claim.tolerance for claim in done.claims):
        say("± beside a number of the paper is our tolerance")
    for by, whose in _BY.items():
        counts = Counter(claim.verdict for claim in done.claims if claim.by == by)
        if counts:
            found = ", ".join(f"[{_COLOUR[verdict]}]{count} {verdict}[/]" for verdict, count in counts.items())
            say(f"{whose}: {found}")
    for claim in done.failed:
        fault = "was not measured" if claim.verdict == "not measured" else f"should be {claim.expected}"
        say(f"[red]failed[/]: {escape(claim.id)} {fault}")


def _row(claim: Claim) -> tuple[str, ...]:
    slack = f" ± {claim.tolerance:.0%}" if claim.relative else f" ± {cell(claim.tolerance)}"
    sign = {"equal": "", "at_least": "≥ ", "at_most": "≤ "}[claim.relation]
    paper = "" if claim.paper is None else f"{sign}{cell(claim.paper)}{slack if claim.tolerance else ''} {claim.unit}"
    ours = cell(claim.ours) + (f" ± {cell(claim.ci)}" if claim.ci else "")
    limit = " (our limit)" if claim.paper is not None and claim.limit == "ours" else ""
    if claim.variants:
        ours = f"{ours} ({_range(claim.variants)})"
    reason = f" because {claim.because}" if claim.verdict == "differs" else f" ({claim.note})" if claim.note else ""
    return claim.id, claim.source, claim.claim, paper.strip() + limit, ours, claim.verdict + reason


def _range(variants: list[float | bool]) -> str:
    """What the variants of a run without chance gave: from the lowest to the highest, or how many say yes."""
    if all(isinstance(value, bool) for value in variants):
        return f"{sum(variants)} of {len(variants)} variants"
    return f"{cell(min(variants))} to {cell(max(variants))} in {len(variants)} variants"
