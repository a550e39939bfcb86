"""``run`` and ``reproduce``: whole studies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from flitwork.base.errors import ConfigError
from flitwork.cli import goal, msccl
from flitwork.cli.launcher import launcher_words, show_row
from flitwork.cli.options import AsJson, Engine, Jobs, Quick, Scheduler, given_options
from flitwork.cli.output import CLAIM_FAILED, SIMULATION_FAILED, escape, guarded, note, print_json, print_table, say
from flitwork.cli.progress import watcher
from flitwork.experiment import StudyRun, default_folder, load_study, run_study
from flitwork.running.goal import PARAMETERS
from flitwork.studies import Judged, OnMpi, Reproduction, default_results, published
from flitwork.studies import reproduce as reproduce_study
from flitwork.studies.claims import Verdict
from flitwork.studies.judging import Pending, judges
from flitwork.studies.reproduce import simulate as simulate_study
from flitwork.studies.statements import Row, Statement, rows_of, scores, statements
from flitwork.studies.words import (
    ours_in_words,
    paper_in_words,
    scores_in_words,
    statement_in_words,
    verdict_in_words,
)

Out = Annotated[
    Path | None, typer.Option("--out", "-o", help="Folder of the results [default: results/NAME, results/NAME-quick].")
]
_COLOUR: dict[Verdict, str] = {
    "reproduced": "green",
    "not reproduced": "red",
    "differs": "yellow",
    "undecided": "yellow",
    "not measured": "dim",
}
_HEADERS = ("claim", "source", "statement", "paper", "ours", "verdict")


def _complete_study(incomplete: str) -> list[str]:
    return [name for name in published() if name.startswith(incomplete)]


@guarded
def run(
    context: typer.Context,
    study: Annotated[
        Path,
        typer.Argument(
            metavar="STUDY.toml|FILE.goal|FILE.xml",
            help="The study file, or a GOAL or MSCCL program.",
            show_default=False,
        ),
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
    message_bytes: msccl.MessageBytes = None,
    per_rank: goal.PerRank = False,
    save: goal.Save = None,
    overwrite: goal.Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Run every simulation of a study file, then write its tables and figures; or run a GOAL or MSCCL program.

    Each finished point is stored at once. The same command continues what was interrupted, and computes nothing twice.
    A simulation that fails does not stop the others: it is left out of tables and figures, and the exit code is 3.

    Examples:

      flitwork run torus_sizes.toml

      flitwork run torus_sizes.toml --quick --out results/quick

      flitwork run torus_sizes.toml --json | jq .files

      flitwork run torus_sizes.toml --engine dask --scheduler tcp://host:8786

      flitwork run allreduce.goal --network loggops --L 1000 --o 200 --per-rank

      flitwork run allreduce.xml --network machine.toml --message-bytes 1048576
    """
    _check_beside(context, study)
    if msccl.is_msccl(study):
        msccl.run_msccl(study, network, message_bytes, packet_flits, as_json)
        return
    if goal.is_goal(study):
        numbers = (latency, overhead, gap, gap_per_byte, overhead_per_byte, eager)
        parameters = dict(zip(PARAMETERS, numbers, strict=True))
        goal.run_program(study, network, parameters, packet_flits, save, overwrite, per_rank, as_json)
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


#: Options that only a study has, and those of an MSCCL program. A GOAL program has all others, too, but one.
_OF_STUDIES = ("out", "jobs", "engine", "scheduler", "quick")
_OF_MSCCL = ("network", "message_bytes", "packet_flits")
_OF_ALL = ("study", "as_json")
_STUDY, _GOAL, _MSCCL = "a study", "a GOAL program, FILE.goal", "an MSCCL program, FILE.xml"


def _kinds(name: str) -> list[str]:
    """What an option goes with."""
    if name in _OF_STUDIES:
        return [_STUDY]
    return [*([_GOAL] if name != "message_bytes" else []), *([_MSCCL] if name in _OF_MSCCL else [])]


def _check_beside(context: typer.Context, file: Path) -> None:
    """Refuses options that would be ignored: those of another kind of file."""
    is_msccl, is_goal = msccl.is_msccl(file), goal.is_goal(file)
    kind = _MSCCL if is_msccl else _GOAL if is_goal else _STUDY
    beside = "an MSCCL program" if is_msccl else "a GOAL program" if is_goal else "a study file"
    for name, option in given_options(context).items():
        if name not in _OF_ALL and kind not in (kinds := _kinds(name)):
            raise ConfigError(option, f"given beside {beside}", f"options of {beside}", f"it goes with {kinds[0]}")


@guarded
def reproduce(
    name: Annotated[
        str | None,
        typer.Argument(
            help="The study; see `flitwork list studies`.", autocompletion=_complete_study, show_default=False
        ),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All studies, and one report of them.")] = False,
    out: Out = None,
    jobs: Jobs = None,
    engine: Engine = "local",
    scheduler: Scheduler = None,
    quick: Quick = False,
    published_results: Annotated[
        bool, typer.Option("--published", help="Take the results that come with the study, and simulate only others.")
    ] = False,
    mpi: Annotated[
        str | None,
        typer.Option(
            metavar="WORDS", help='Measure the same on real MPI, too: --mpi "mpirun -n 8".', show_default=False
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run a published study again, judge the statements of its paper, and write a report.

    A statement has one verdict, that of the first reading of the paper. Claims in other readings are shown and not
    counted; calibrations and our own checks are counted apart.
    The report, `report.html` in the folder of the results, is one file that needs no other.
    The exit code is 1 if a claim is not reproduced that should be, or the other way round, or if the full study did not
    measure one.

    Examples:

      flitwork reproduce takaue-2010-a2at --quick

      flitwork reproduce takaue-2010-a2at --out results/full --jobs 8

      flitwork reproduce takaue-2010-a2at --published

      flitwork reproduce makino-1997-ap1000 --mpi "mpirun -n 8"

      flitwork reproduce --all --quick
    """
    # What draws is imported when the backend has been chosen.
    from flitwork.report import of_measurements, of_reproduction, write

    if everything == (name is not None):
        given = "both" if everything else "neither"
        raise ConfigError("study", given, "the name of a study, or --all", "`flitwork list studies` has the names")
    how: dict[str, Any] = {"quick": quick, "jobs": jobs, "engine": engine, "scheduler": scheduler}
    if everything and mpi is not None:
        raise ConfigError("--mpi", mpi, "one study beside it", "flitwork reproduce makino-1997-ap1000 --mpi ...")
    folder = out or (Path("results") if name is None else default_results(name, quick))
    try:
        if name is None:
            done, title = _everything(folder, published_results, how), "Published studies, simulated again"
        else:
            how |= {"mpi": None if mpi is None else launcher_words(mpi), "told": show_row}
            done = {name: reproduce_study(name, folder, published_results=published_results, watcher=watcher(), **how)}
            title = done[name].run.study.study.title
    except KeyboardInterrupt:
        _interrupted(folder)
        raise
    sections = [of_reproduction(one, found) for one, found in done.items()]
    sections += [of_measurements(one, found.on_mpi) for one, found in done.items() if found.on_mpi]
    report = write(folder / "report.html", sections, title)
    _tell(done, report, as_json)


#: Short studies first, for an early picture; then the one that takes longest to judge and to draw, so that nobody waits
#: for it at the end.
_TURNS = (
    "booksim-2-alltoall",
    "contention-free-alltoall",
    "dragonfly-routing",
    "twisted-torus",
    "booksim-2-validation",
    "makino-1997-ap1000",
    "yokota-2010-unsteady",
    "takaue-2010-a2at",
    "shibamura-2012-pacing",
    "naruse-2010-two-level-ring",
)


def _everything(folder: Path, published_results: bool, how: Mapping[str, Any]) -> dict[str, Reproduction]:
    """All studies, each in a folder of its own; published results of those that have some.

    The claims and figures of a study are made while the next one is simulated.
    """
    done: dict[str, Reproduction] = {}
    studies = published()
    in_turn = sorted(studies, key=lambda name: _TURNS.index(name) if name in _TURNS else len(_TURNS))
    with judges() as judge:
        waiting: dict[str, Pending] = {}
        for number, name in enumerate(in_turn, start=1):
            study = studies[name]
            note(f"[bold]{name}[/] ({number} of {len(studies)})")
            place, taken = (
                default_results(name, how["quick"], folder),
                published_results and study.archive_file.is_file(),
            )
            simulated = simulate_study(name, place, published_results=taken, watcher=watcher(), **how)
            waiting[name] = judge.take(simulated)
            _collect(waiting, done, [name for name, pending in waiting.items() if pending.ready])
        _collect(waiting, done, list(waiting))
    return {name: done[name] for name in studies}


def _collect(waiting: dict[str, Pending], done: dict[str, Reproduction], names: Sequence[str]) -> None:
    """Moves studies from those that are waited for to those that are done, and says what came out."""
    for name in names:
        done[name] = waiting.pop(name).result()
        note(f"[bold]{name}[/]: {_score(done[name].claims)}")
        # Somebody who waits has a picture to look at.
        for path in done[name].figures[:1]:
            note(f"the first of its figures: {escape(str(path))}")


def _tell(done: dict[str, Reproduction], report: Path, as_json: bool) -> None:
    """Prints what came out; ends with the exit code for it."""
    if as_json:
        found = [
            {
                **_summary(one.run),
                "figures": one.figures,
                "claims": [_claim(c) for c in one.claims],
                "statements": [_statement(s) for s in statements(one.claims)],
                "report": report,
                **({"mpi": _measured(one.on_mpi)} if one.on_mpi else {}),
            }
            for one in done.values()
        ]
        print_json(found[0] if len(found) == 1 else found)
    elif len(done) == 1:
        for one in done.values():
            _show_claims(one)
            _show_files(one.run.files, one.figures)
            if one.on_mpi:
                _show_measured(one.on_mpi)
        say(f"report  {escape(str(report))}")
    else:
        for name, one in done.items():
            say(f"[bold]{name}[/]: {_score(one.claims)}")
            _show_failed(one)
        say(f"report  {escape(str(report))}")
    if any(one.run.failures for one in done.values()):
        raise typer.Exit(SIMULATION_FAILED)
    if any(one.failed for one in done.values()):
        raise typer.Exit(CLAIM_FAILED)


def _measured(found: OnMpi) -> dict[str, Any]:
    fits = found.table.astype(object).where(found.table.notna(), None)
    return {
        "machine": found.machine,
        "found": found.found,
        "claims": [_claim(claim) for claim in found.claims],
        "fits": fits.to_dict("records"),
        "file": found.file,
        "figures": found.figures,
    }


def _score(claims: Sequence[Judged]) -> str:
    return scores_in_words(scores(claims), lambda verdict, text: f"[{_COLOUR[verdict]}]{text}[/]")


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


def _claim(claim: Judged) -> dict[str, Any]:
    fields: dict[str, Any] = claim.model_dump(exclude={"measure"})
    return {**fields, "verdict": claim.verdict}


def _statement(found: Statement) -> dict[str, Any]:
    return {
        "id": found.id,
        "by": found.by,
        "verdict": found.verdict,
        "claims": [claim.id for claim in found.claims],
        "other_readings": {claim.id: claim.verdict for claim in found.others},
    }


def _interrupted(folder: Path) -> None:
    note(f"what is finished is stored in {escape(str(folder))}; the same command continues from there")


def _show_files(files: list[Path], figures: list[Path]) -> None:
    say()
    for path in files:
        say(f"table   {escape(str(path))}")
    for path in figures:
        say(f"figure  {escape(str(path))}")


def _show_claims(done: Reproduction) -> None:
    _print_claims(done.claims, done.run.study.study.title)
    if any(claim.tolerance for claim in done.claims):
        say("± beside a number of the paper is our tolerance")
    say(_score(done.claims))
    _show_failed(done)


def _print_claims(claims: Sequence[Judged], title: str) -> None:
    found = rows_of(claims)
    dim = [i for i, row in enumerate(found) if row.claim and row.claim.reading]
    print_table(_HEADERS, [_row(row) for row in found], title, dim)


def _show_measured(found: OnMpi) -> None:
    """What real MPI took: both machines' fits, and what a reader must know of them."""
    columns = [
        str(name) for name in found.table if not any(end in str(name) for end in (" low,", " high,", "warnings,"))
    ]
    rows = [[_number(value) for value in row] for row in found.table[columns].itertuples(index=False)]
    print_table(columns, rows, f"here: {found.machine}. simulated: the study's machine. a in s/B or s a rank, t0 in s")
    if found.claims:
        _print_claims(found.claims, f"the same statements here: {found.machine}")
    for sentence in found.found:
        say(escape(sentence))
    _show_files([found.file, found.file.with_name("fits.csv")], found.figures)


def _number(value: object) -> object:
    return "-" if value is None or value != value else f"{value:.3g}" if isinstance(value, float) else value


def _show_failed(done: Reproduction) -> None:
    for claim in done.failed:
        fault = "was not measured" if claim.verdict == "not measured" else f"should be {claim.expected}"
        reading = f" in another reading ({claim.reading})" if claim.reading else ""
        say(f"[red]failed[/]: {escape(claim.id)} {fault}{escape(reading)}")


def _row(row: Row) -> tuple[str, ...]:
    name, claim = f"{'  ' if row.below else ''}{row.name}", row.claim
    if claim is None:
        return name, "", statement_in_words(row), "", "", verdict_in_words(row)
    return name, claim.source, claim.claim, paper_in_words(claim), ours_in_words(claim), verdict_in_words(row)
