"""``report`` and ``claims``: what studies and results say, as one HTML file and as a table."""

from __future__ import annotations

import tempfile
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer

from flitwork.base.errors import ConfigError
from flitwork.base.output_files import writable_file
from flitwork.cli.options import AsJson, Overwrite, Quick
from flitwork.cli.output import escape, guarded, note, print_json, print_table, say
from flitwork.cli.progress import watcher
from flitwork.experiment import load_study, run_study
from flitwork.results.result import Result
from flitwork.studies import Judged, default_results, judge_measured, judge_stored, published, reproduce
from flitwork.studies.statements import Row, rows_of
from flitwork.studies.words import ours_in_words, paper_in_words, statement_in_words, verdict_in_words

_RESULTS = Path("results")


@guarded
def report(
    what: Annotated[
        str,
        typer.Argument(
            metavar="STUDY|RESULT",
            help="A study file, a stored result (.parquet), or the name of a published study.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="The report, FILE.html [default: report.html beside the results].", show_default=False
        ),
    ] = None,
    overwrite: Overwrite = False,
    quick: Quick = False,
) -> None:
    """Write a report: one HTML file with figures, the numbers in them, tables and how to make it all again.

    Of a study whatever is not stored yet is simulated first.

    Examples:

      flitwork report torus_sizes.toml

      flitwork report result.parquet -o result.html

      flitwork report takaue-2010-a2at --quick
    """
    # What draws is imported when the backend has been chosen.
    from flitwork.report import of_reproduction, of_result, of_study, write

    if out is not None and out.suffix != ".html":
        raise ConfigError("--out", str(out), "a file that ends in .html", f"{out}.html")
    if out is not None:
        writable_file(out, "--out", overwrite)
    path = Path(what)
    if path.suffix == ".parquet":
        place = writable_file(out or path.parent / "report.html", "--out", overwrite)
        # The report has the pictures and their numbers in it.
        with tempfile.TemporaryDirectory() as folder:
            section = of_result(Result.load(path), path.stem, Path(folder))
            written = write(place, [section], section.title)
        say(f"report  {escape(str(written))}")
        return
    if path.suffix == ".toml":
        run = run_study(load_study(path), quick=quick, watcher=watcher())
        section, place = of_study(run), run.out
    else:
        if path.is_file():
            raise ConfigError(
                "STUDY|RESULT", what, "a study file (.toml), a stored result (.parquet), or a study's name"
            )
        done = reproduce(what, quick=quick, watcher=watcher())
        section, place = of_reproduction(what, done), done.run.out
    written = write(out or place / "report.html", [section], section.title)
    say(f"report  {escape(str(written))}")


@guarded
def claims(
    names: Annotated[list[str] | None, typer.Argument(metavar="[STUDY]...", help="Studies [default: all].")] = None,
    folder: Annotated[Path, typer.Option(help="Where the results of the studies are.")] = _RESULTS,
    quick: Quick = False,
    as_json: AsJson = False,
) -> None:
    """Print the claims of published studies, with our values where results are stored.

    Claims in other readings of the paper stand below the statement that they judge; they are not counted.
    Rows `here.*`, of this machine, ask of it what a paper says of its own (`reproduce --mpi`); they do not judge the
    paper. Nothing is simulated: `flitwork reproduce` does that.

    Examples:

      flitwork claims takaue-2010-a2at --quick

      flitwork claims --json | jq '.[] | select(.verdict == "not reproduced") | .id'
    """
    if folder != _RESULTS and not folder.is_dir():
        raise ConfigError(
            "--folder", folder, "a folder that exists", "the one that `flitwork reproduce --all --out` names"
        )
    found: list[tuple[str, str, Judged]] = []
    for name in names or list(published()):
        place = default_results(name, quick, folder)
        judged, stored = judge_stored(name, place, quick)
        if not stored:
            again = f"flitwork reproduce {name}{' --quick' if quick else ''}"
            note(f"{escape(name)}: no results in {escape(str(place))}; `{again}` makes them")
        found += [(name, "", claim) for claim in judged]
        found += [(name, machine, claim) for machine, asked in judge_measured(name, place, quick) for claim in asked]
    if as_json:
        print_json(
            [
                {
                    "study": name,
                    **claim.model_dump(exclude={"measure"}),
                    "verdict": claim.verdict,
                    **({"machine": machine} if machine else {}),
                }
                for name, machine, claim in found
            ]
        )
        return
    rows: list[tuple[str, ...]] = []
    dim: list[int] = []
    for (name, machine), of_study in groupby(found, key=lambda one: one[:2]):
        for row in rows_of([claim for *_, claim in of_study]):
            if row.claim and row.claim.reading:
                dim.append(len(rows))
            rows.append(_row(name, machine, row))
    headers = ("study", "claim", "statement", "paper", "ours", "verdict")
    print_table(headers, rows, "Claims of published studies", dim)


def _row(study: str, machine: str, row: Row) -> tuple[str, ...]:
    name, said, claim = f"{'  ' if row.below else ''}{row.name}", statement_in_words(row), row.claim
    return (
        study,
        name,
        f"this machine ({machine}): {said}" if machine else said,
        paper_in_words(claim) if claim else "",
        ours_in_words(claim) if claim else "",
        verdict_in_words(row),
    )
