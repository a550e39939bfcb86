"""``flitwork fit``: models of times on any table of them, how well they fit, which of them fits best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from flitwork.base.errors import ConfigError
from flitwork.base.output_files import all_or_none, folder_for
from flitwork.cli.options import AsJson, Overwrite
from flitwork.cli.output import cell, escape, guarded, note, print_json, print_table, say
from flitwork.fit import MODELS, Comparison, Fit, Parameter, compare_models, save_fits, save_pictures
from flitwork.fit import fit as fit_each
from flitwork.fit.quantity import quantity
from flitwork.fit.solve import ERRORS, METHODS
from flitwork.fit.table import TAKEN

#: A smaller part of the largest time is nothing but rounding.
_ROUNDING = 1e-12
_NAMES = ", ".join(MODELS)
Model = Annotated[str | None, typer.Option(metavar="NAME", help=f"{_NAMES}. Without it: all, and the best by AICc.")]
Method = Annotated[str, typer.Option(metavar="NAME", help=f"{' or '.join(METHODS)}, which minds outliers less.")]
Errors = Annotated[
    str, typer.Option(metavar="KIND", help=f"{' or '.join(ERRORS)}: errors as large for all times, or in proportion.")
]
Take = Annotated[str, typer.Option(metavar="WHICH", help=f"Of times under the same conditions: {', '.join(TAKEN)}.")]
Confidence = Annotated[float, typer.Option(help="Of intervals.")]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        metavar="NAME=COLUMN",
        help="What a column of the data is called, its unit at the end: seconds=completion_ns; may be repeated.",
    ),
]
Operation = Annotated[str | None, typer.Option(metavar="NAMES", help="Only these operations, with commas.")]
Algorithm = Annotated[str | None, typer.Option(metavar="NAMES", help="Only these algorithms, with commas.")]


@guarded
def fit(
    data: Annotated[
        list[Path],
        typer.Argument(
            metavar="DATA...",
            help="Tables (.csv, .parquet) of operation, bytes, ranks, seconds; texts of OSU's or Intel's benchmarks.",
            show_default=False,
        ),
    ],
    model: Model = None,
    method: Method = "least_squares",
    errors: Errors = "absolute",
    take: Take = "all",
    confidence: Confidence = 0.95,
    column: Columns = None,
    operation: Operation = None,
    algorithm: Algorithm = None,
    ranks: Annotated[
        str | None, typer.Option(metavar="NUMBERS", help="Only these, with commas; of a text of OSU's the number.")
    ] = None,
    message_bytes: Annotated[
        str | None, typer.Option("--bytes", metavar="SIZES", help="Only these sizes, with commas.")
    ] = None,
    ranks_per_server: Annotated[str | None, typer.Option(metavar="NUMBERS", help="Only these, with commas.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder of fit.json, and of pictures with their numbers.")
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Fit times with a formula in message size and ranks; say how well it fits, and where it does not.

    Each operation, algorithm and library is a series of its own; so is each value of what the model does not know of.
    Without --model all models that know the columns are compared.

    Examples:

      flitwork fit times.csv --model total_exchange --errors relative -o fits

      flitwork fit osu_latency.txt --model segmented --errors relative

      flitwork fit results.csv --column seconds=completion_ns --column bytes=size --model hockney
    """
    if out:
        folder_for(out, ["fit.json", "fit_*.*"], overwrite, "--out")
    query = options(
        data, method, errors, take, confidence, column, operation=names("--operation", operation),
        algorithm=names("--algorithm", algorithm),
        ranks=whole("--ranks", ranks), bytes=numbers("--bytes", message_bytes),
        ranks_per_server=whole("--ranks-per-server", ranks_per_server),
    )  # fmt: skip
    compared = [] if model else compare_models(**query)
    found = fit_each(model=model, **query) if model else [one.best for one in compared]
    with all_or_none():
        files = [save_fits(found, out / "fit.json"), *save_pictures(found, out)] if out else []
    if as_json:
        shown: dict[str, Any] = {"fits": [one.to_dict() for one in found], "files": files}
        print_json(shown if model else {**shown, "compared": [one.to_dict() for one in compared]})
        return
    for i, one in enumerate(found):
        if compared:
            _show_comparison(compared[i])
        show(one)
    for path in files:
        say(escape(str(path)))


def options(
    data: Sequence[Path], method: str, errors: str, take: str, confidence: float, column: Sequence[str] | None,
    **only: Any,
) -> dict[str, Any]:  # fmt: skip
    """The arguments of fits, as they stand on the command line."""
    for i, file in enumerate(data):
        if file.resolve() in {other.resolve() for other in data[:i]}:
            raise ConfigError("data", str(file), "each file once", "its rows would count twice")
    chosen = {name: value[0] if len(value) == 1 else value for name, value in only.items() if value is not None}
    return {
        "data": list(data), "method": method, "errors": errors, "take": take, "confidence": confidence,
        "columns": _columns(column), **chosen,
    }  # fmt: skip


def _columns(pairs: Sequence[str] | None) -> dict[str, str] | None:
    found: dict[str, str] = {}
    for pair in pairs or ():
        name, equals, source = pair.partition("=")
        if not equals or not name or not source:
            raise ConfigError("--column", pair, "NAME=COLUMN", "for example --column seconds=completion_ns")
        if name in found:
            raise ConfigError("--column", pair, f"{name} once", "which of the two?")
        found[name] = source
    return found or None


def names(option: str, text: str | None) -> list[str] | None:
    """Words with commas between them."""
    found = None if text is None else [word.strip() for word in text.split(",") if word.strip()]
    if found == []:
        raise ConfigError(option, f'"{text}"', "at least one name", "leave it out for all")
    return found


def numbers(option: str, text: str | None) -> list[float] | None:
    """Numbers with commas between them."""
    if text is None:
        return None
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ConfigError(option, text, "numbers with commas between them", "for example 64,4096") from None


def whole(option: str, text: str | None) -> list[int] | None:
    """Whole numbers with commas between them."""
    found = numbers(option, text)
    if found is not None and not all(one.is_integer() for one in found):
        raise ConfigError(option, text, "whole numbers with commas between them", "for example 4,8")
    return None if found is None else [int(one) for one in found]


def show(one: Fit) -> None:
    """A fit for readers: parameters with their intervals, how well it fits, warnings."""
    rows = [(p.name, quantity(p.value, p.unit), _interval(p), p.about) for p in one.parameters.values()]
    title = f"{one.model_name}: {one.model.formula}" + (f"; {one.title}" if one.title else "")
    print_table(("parameter", "value", f"{one.confidence:.0%} interval", "meaning"), rows, title)
    spread = (
        f"{one.sd:.2%} of the time"
        if one.errors == "relative"
        else quantity(one.sd if one.sd > _ROUNDING * one.points["seconds"].max() else 0.0, "s")
    )
    say(f"{len(one.points)} points, R² {one.r_squared:.6f}, standard deviation {spread}, AICc {cell(one.aicc)}")
    for warning in one.warnings:
        note(f"[yellow]warning[/]: {escape(warning.text)}")


def _interval(one: Parameter) -> str:
    return f"{quantity(one.low, one.unit)} to {quantity(one.high, one.unit)}"


def _show_comparison(one: Comparison) -> None:
    shown: Mapping[str, str] = {
        "model": "model", "numbers": "numbers", "aicc": "AICc", "difference": "difference", "weight": "weight",
        "r_squared": "R²", "warnings": "warnings", "same_as": "the same as",
    }  # fmt: skip
    rows = [list(row) for row in one.table[list(shown)].itertuples(index=False, name=None)]
    print_table(list(shown.values()), rows, "; ".join(filter(None, ("models by AICc", one.best.title))))
    if one.left_out:
        print_table(("left out", "why"), list(one.left_out.items()))
