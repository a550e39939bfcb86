"""``flitwork predict``: times by a fit, and the number of ranks from which more do not pay."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from flitwork.base.errors import ConfigError
from flitwork.base.libraries import pd
from flitwork.cli.fit import (
    Algorithm,
    Columns,
    Confidence,
    Errors,
    Method,
    Model,
    Operation,
    Take,
    names,
    numbers,
    options,
    whole,
)
from flitwork.cli.options import AsJson, given_options
from flitwork.cli.output import escape, guarded, note, print_json, print_table, say
from flitwork.fit import BestRanks, Fit, best_ranks, compare_models, read_fits
from flitwork.fit import fit as fit_each
from flitwork.fit import predict as times
from flitwork.fit.predicting import below_zero
from flitwork.fit.quantity import quantity

_OF_FITTING = ("method", "errors", "take", "confidence", "column")


@guarded
def predict(
    context: typer.Context,
    source: Annotated[
        list[Path],
        typer.Argument(
            metavar="FIT.json|DATA...",
            help="What `flitwork fit -o` has written, or the data themselves, which are fitted first.",
            show_default=False,
        ),
    ],
    message_bytes: Annotated[
        str | None, typer.Option("--bytes", metavar="SIZES", help="Bytes to each other rank, with commas.")
    ] = None,
    total_bytes: Annotated[
        str | None, typer.Option(metavar="SIZES", help="Bytes of all ranks together (bytes·n²), with commas.")
    ] = None,
    ranks: Annotated[
        str | None,
        typer.Option(metavar="NUMBERS", help="Ranks, with commas. Without it the best number is looked for."),
    ] = None,
    ranks_per_server: Annotated[int | None, typer.Option(min=1, help="Ranks on a server.")] = None,
    at_most: Annotated[
        int | None,
        typer.Option(min=2, help="The best number is looked for up to here. Without it: 1024, or 4 x measured."),
    ] = None,
    work_seconds: Annotated[
        float, typer.Option(min=0, help="Computation on one rank in s, which n ranks share; it is added to the time.")
    ] = 0.0,
    model: Model = None,
    method: Method = "least_squares",
    errors: Errors = "absolute",
    take: Take = "all",
    confidence: Confidence = 0.95,
    column: Columns = None,
    operation: Operation = None,
    algorithm: Algorithm = None,
    as_json: AsJson = False,
) -> None:
    """Predict times of message sizes and numbers of ranks, or the number of ranks from which more do not pay.

    Intervals come from the fit. What lies outside of the points that were fitted is named.

    Examples:

      flitwork predict fits/fit.json --bytes 64,65536 --ranks 8,64

      flitwork predict times.csv --model total_exchange --total-bytes 1e8

      flitwork predict fits/fit.json --total-bytes 1e8 --work-seconds 2.5 --at-most 4096
    """
    only = {"operation": names("--operation", operation), "algorithm": names("--algorithm", algorithm)}
    stored = len(source) == 1 and source[0].suffix.lower() == ".json"
    if message_bytes is not None and total_bytes is not None:
        raise ConfigError("--total-bytes", "given beside --bytes", "one of the two", "leave one out")
    if stored:
        _check_stored(context)
        found = _stored(source[0], model, only)
    else:
        query = options(source, method, errors, take, confidence, column, **only)
        found = fit_each(model=model, **query) if model else [one.best for one in compare_models(**query)]
    sizes = {
        name: value
        for name, value in (
            ("bytes", numbers("--bytes", message_bytes)),
            ("total_bytes", numbers("--total-bytes", total_bytes)),
        )
        if value is not None
    }
    counts = whole("--ranks", ranks)
    shown = []
    for one in found:
        if counts is None and "ranks" in one.model.uses:
            shown += [_best(one, size, ranks_per_server, at_most, work_seconds, as_json) for size in _each(sizes)]
        else:
            if at_most is not None or work_seconds:
                option = "--work-seconds" if work_seconds else "--at-most"
                expected = "a search for the best number of ranks: a model of ranks, and no --ranks"
                raise ConfigError(option, work_seconds or at_most, expected)
            shown.append(_times(one, {**sizes, "ranks": counts, "ranks_per_server": ranks_per_server}, as_json))
    if as_json:
        print_json({"predictions": shown})


def _check_stored(context: typer.Context) -> None:
    """Refuses options of fitting, which would be ignored."""
    for name, option in given_options(context).items():
        if name in _OF_FITTING:
            expected = "data to be fitted beside it: a stored fit is used as it is"
            raise ConfigError(
                option, "given beside a stored fit", expected, "leave it out, or fit the data again with it"
            )


def _stored(file: Path, model: str | None, only: dict[str, list[str] | None]) -> list[Fit]:
    """The fits of a file that are asked for."""
    fits = read_fits(file)
    found = [
        one
        for one in fits
        if (model is None or one.model_name == model)
        and all(values is None or one.conditions.get(name) in values for name, values in only.items())
    ]
    if not found:
        have = "; ".join(f"{one.model_name} of {one.title}" for one in fits) or "none"
        query = " ".join(filter(None, [model, *(word for words in only.values() for word in words or ())]))
        raise ConfigError(str(file), query or "no fits", f"one of its fits: {have}")
    return found


def _each(sizes: dict[str, list[float]]) -> list[dict[str, float]]:
    return [{name: size} for name, listed in sizes.items() for size in listed] or [{}]


def _times(one: Fit, query: dict[str, Any], as_json: bool) -> dict[str, Any]:
    table = times(one, **query)
    if not as_json:
        _show_table(table, _named(one, one.title), one.confidence)
        for text in (*(warning.text for warning in one.warnings), *below_zero(table)):
            note(f"[yellow]warning[/]: {escape(text)}")
    return {
        "model": one.model_name, "title": one.title, "times": table.to_dict("records"),
        "warnings": [vars(warning) for warning in one.warnings],
    }  # fmt: skip


def _best(
    one: Fit, size: dict[str, Any], ranks_per_server: int | None, at_most: int | None, work: float, as_json: bool
) -> dict[str, Any]:
    found = best_ranks(one, **size, ranks_per_server=ranks_per_server, at_most=at_most, work_seconds=work)
    if not as_json:
        what = ", ".join(f"{value:,.6g} {name.replace('_', ' ')}" for name, value in size.items())
        _show_table(found.table, _named(one, one.title, what), one.confidence)
        say(_sentence(found, one.confidence))
        for text in found.notes:
            note(f"[yellow]warning[/]: {escape(text)}")
    return {"model": one.model_name, "title": one.title, **size, "best": found.to_dict()}


def _named(one: Fit, *words: str) -> str:
    said = ", ".join(filter(None, words))
    return f"{one.model_name}: {said}" if said else one.model_name


def _sentence(found: BestRanks, confidence: float) -> str:
    time = f"{quantity(found.seconds, 's')} ({quantity(found.seconds_low, 's')} to {quantity(found.seconds_high, 's')})"
    least = f"[bold green]{found.ranks:,} ranks[/] ({confidence:.0%}: {found.low:,} to {found.high:,}): {time}"
    return f"{least}; {found.enough:,} ranks are within 5 % of it"


def _show_table(table: pd.DataFrame, title: str, confidence: float) -> None:
    rows = [
        (
            row["bytes"], row["ranks"], quantity(row["seconds"], "s"),
            f"{quantity(row['low'], 's')} to {quantity(row['high'], 's')}",
            f"{quantity(row['one_low'], 's')} to {quantity(row['one_high'], 's')}", row["beyond"],
        )
        for row in table.to_dict("records")
    ]  # fmt: skip
    part = f"{confidence:.0%}"
    print_table(("bytes", "ranks", "time", f"{part} of the model", f"{part} of one time", "not measured"), rows, title)
