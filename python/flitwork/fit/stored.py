"""A file of fits: JSON that ``flitwork fit`` writes, and that is checked when it is read."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator

from flitwork.base import input_files
from flitwork.base.errors import ConfigError
from flitwork.base.libraries import np, pd
from flitwork.base.output_files import write_atomically
from flitwork.base.toml_tables import Table, validate
from flitwork.fit.models import model_named
from flitwork.fit.result import Fit, Parameter, Warned

FORMAT = "flitwork fit"
VERSION = 1

#: A number; JSON has no infinite ones and no NaN, so they are text there.
Number = Annotated[float, BeforeValidator(lambda value: float(value) if value in ("inf", "-inf", "nan") else value)]


class _Parameter(Table):
    name: str
    value: Number
    low: Number
    high: Number
    unit: str
    about: str


class _Warned(Table):
    code: str
    text: str


class _Point(Table):
    operation: str
    algorithm: str
    mpi: str
    version: str
    bytes: Number
    ranks: Number
    ranks_per_server: Number
    seconds: Number
    row: int
    fitted: Number
    residual: Number
    standardised: Number
    weight: Number


def _known_model(name: str) -> str:
    return model_named(name).name


class _Fit(Table):
    model: Annotated[str, AfterValidator(_known_model)]
    formula: str
    title: str
    method: Literal["least_squares", "huber"]
    errors: Literal["absolute", "relative"]
    confidence: float
    parameters: list[_Parameter]
    conditions: dict[str, str | float]
    variant: dict[str, bool | float | str]
    coefficients: list[Number]
    covariance: list[list[Number]]
    degrees: int
    sd: Number
    r_squared: Number
    aicc: Number
    numbers: int
    warnings: list[_Warned]
    points: list[_Point]


class _File(Table):
    format: Literal["flitwork fit"]
    version: Literal[1]
    fits: list[_Fit]


def plain(fit: Fit) -> dict[str, Any]:
    """A fit as plain values; infinite numbers and NaN are text."""
    return {
        "model": fit.model_name,
        "formula": fit.model.formula,
        "title": fit.title,
        "method": fit.method,
        "errors": fit.errors,
        "confidence": fit.confidence,
        "parameters": [_finite(vars(one)) for one in fit.parameters.values()],
        "conditions": dict(fit.conditions),
        "variant": dict(fit.variant),
        "coefficients": [float(value) for value in fit.coefficients],
        "numbers": fit.numbers,
        "covariance": [[float(value) for value in row] for row in fit.covariance],
        "degrees": fit.degrees,
        **_finite({"sd": fit.sd, "r_squared": fit.r_squared, "aicc": fit.aicc}),
        "warnings": [vars(one) for one in fit.warnings],
        "points": [_finite({str(key): value for key, value in row.items()}) for row in fit.points.to_dict("records")],
    }


def _finite(row: dict[str, Any]) -> dict[str, Any]:
    return {
        key: str(value) if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in row.items()
    }


def save_fits(fits: Fit | Sequence[Fit], path: str | Path) -> Path:
    """Writes one or several fits as JSON; :func:`read_fits` reads them again. A file that is there is replaced."""
    listed = [fits] if isinstance(fits, Fit) else list(fits)
    document = {"format": FORMAT, "version": VERSION, "fits": [plain(one) for one in listed]}
    text = json.dumps(document, indent=1, allow_nan=False) + "\n"
    return write_atomically(Path(path), lambda file: file.write(text.encode()))


def read_fits(path: str | Path) -> list[Fit]:
    """The fits of a file; what is wrong in it is a :class:`flitwork.ConfigError` that names the place."""
    file = Path(path)
    hint = "flitwork fit DATA --model NAME -o FOLDER writes one"
    document = input_files.read_json(file, "file", "a file of fits", hint)
    found = validate(_File, document, str(file))
    return [_fit(one, f"{file}: fits.{i}") for i, one in enumerate(found.fits)]


def _fit(one: _Fit, place: str) -> Fit:
    terms = model_named(one.model).terms
    try:
        count = len(list(terms(one.variant)))
    except KeyError as error:
        raise ConfigError(f"{place}.variant", one.variant, f"{error} of the model {one.model}") from None
    for name, shape in (("coefficients", (count,)), ("covariance", (count, count))):
        found = (
            np.shape(np.array(getattr(one, name), dtype=float)) if name == "coefficients" else _square(one.covariance)
        )
        if found != shape:
            raise ConfigError(f"{place}.{name}", found, f"numbers in the shape {shape}: the model is {one.model}")
    if not one.points or one.degrees < 1:
        raise ConfigError(f"{place}.points", len(one.points), "the points that were fitted")
    return Fit(
        one.model, one.method, one.errors, one.confidence,
        {row.name: Parameter(**row.model_dump()) for row in one.parameters}, one.conditions, one.variant,
        np.array(one.coefficients), np.array(one.covariance), one.degrees, one.sd, one.r_squared, one.aicc, one.numbers,
        pd.DataFrame([row.model_dump() for row in one.points]),
        tuple(Warned(**row.model_dump()) for row in one.warnings),
    )  # fmt: skip


def _square(rows: list[list[float]]) -> tuple[int, ...]:
    widths = {len(row) for row in rows}
    return (len(rows), *sorted(widths))
