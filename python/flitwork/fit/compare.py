"""``compare_models``: which model describes a series of times best, by Akaike's criterion for few points (AICc)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flitwork.base.errors import ConfigError
from flitwork.base.libraries import np, pd
from flitwork.fit.fitting import fit_rows, rows_of
from flitwork.fit.models import MODELS, model_named
from flitwork.fit.result import Fit, Warned, title_of
from flitwork.fit.solve import Errors, Method
from flitwork.fit.table import VARIABLES, Data, conditions, parts, varying

#: A difference of AICc from which a model has next to no support (Burnham and Anderson, 2002).
NO_SUPPORT = 10.0
_THE_SAME = 1e-6


@dataclass(frozen=True)
class Comparison:
    """The models of one series. ``fits`` are all that could be fitted, the best first; ``left_out`` says why not
    the others.

    ``table`` has a row a model: ``model``, ``numbers`` (coefficients, breaks and the variance), ``aicc``,
    ``difference`` from the least, ``weight`` (Akaike's, over models that differ), ``r_squared``, ``warnings`` (how
    many), and ``same_as``, the model of which it is only another spelling on these points. ``aicc`` is NaN where there
    are too few points for it.
    """

    fits: tuple[Fit, ...]
    left_out: Mapping[str, str]
    table: pd.DataFrame

    @property
    def best(self) -> Fit:
        """The model with the least AICc."""
        return self.fits[0]

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {
            "best": self.best.to_dict(),
            "models": self.table.to_dict("records"),
            "left_out": dict(self.left_out),
        }


def compare_models(
    data: Data | Sequence[Data],
    models: Sequence[str] | None = None,
    *,
    method: Method = "least_squares",
    errors: Errors = "absolute",
    take: str = "all",
    confidence: float = 0.95,
    columns: Mapping[str, str] | None = None,
    **only: Any,
) -> list[Comparison]:
    """Fits ``models`` (all) to each series of a table and puts them in the order of their AICc.

    A series has one operation, algorithm and library. A model that does not know of what differs in it (ranks, for
    ``hockney``) is left out, as are those for which columns or points are missing. Arguments as ``fit_model``, and
    its errors; another one where no model is left.
    """
    table = rows_of(data, take, columns, only)
    names = [model_named(name).name for name in models] if models is not None else list(MODELS)
    return [_compared(rows, names, method, errors, confidence) for rows in parts(table, VARIABLES)]


def _compared(table: pd.DataFrame, names: Sequence[str], method: str, errors: str, confidence: float) -> Comparison:
    fits, left_out = [], {}
    for name in names:
        unknown = [one for one in varying(table) if one not in MODELS[name].uses]
        if unknown:
            left_out[name] = f"{unknown[0]} differ between rows, and the formula does not know of them"
            continue
        try:
            fits.append(fit_rows(table, MODELS[name], method, errors, confidence))
        except ConfigError as error:
            if not error.path.startswith("model"):
                raise
            left_out[name] = _reason(error)
    if not fits:
        reasons = "; ".join(f"{name}: {why}" for name, why in left_out.items())
        series = title_of(conditions(table))
        place, hint = (f"model of {series}", _others(table, series)) if series else ("model", "")
        raise ConfigError(place, "none that can be fitted", f"points and columns for one ({reasons})", hint)
    fits = _in_order(fits)
    return Comparison((_beside(fits), *fits[1:]), left_out, _table(fits))


def _others(table: pd.DataFrame, series: str) -> str:
    """How to leave out a series that no model can be fitted to."""
    operation = table["operation"].iloc[0]
    return f"choose other operations than {operation}: operation=..., --operation NAMES" if operation else ""


def _in_order(fits: Sequence[Fit]) -> list[Fit]:
    """By AICc. The same line under another name comes behind the plainest one, whatever rounding says of the two."""
    same = _same_as(fits)
    by = [fits[same.get(i, i)].aicc for i in range(len(fits))]
    return [fits[i] for i in sorted(range(len(fits)), key=lambda i: (math.isnan(by[i]), by[i]))]


def _reason(error: ConfigError) -> str:
    column = error.path.partition(": ")[2]
    return f"{column} is {error.value}; expected {error.expected}" if column else error.value


def _table(fits: Sequence[Fit]) -> pd.DataFrame:
    same = _same_as(fits)
    least = fits[0].aicc
    support = np.array([0.0 if one in same else math.exp(-(fits[one].aicc - least) / 2) for one in range(len(fits))])
    whole = float(np.nansum(support))
    rows = [
        {
            "model": fit.model_name,
            "numbers": fit.numbers,
            "aicc": fits[same.get(i, i)].aicc,
            "difference": fits[same.get(i, i)].aicc - least,
            "weight": support[same.get(i, i)] / whole if whole > 0 else math.nan,
            "r_squared": fit.r_squared,
            "warnings": len(fit.warnings),
            "same_as": fits[same[i]].model_name if i in same else "",
        }
        for i, fit in enumerate(fits)
    ]
    return pd.DataFrame(rows)


def _same_as(fits: Sequence[Fit]) -> dict[int, int]:
    """Fits with as many numbers and the same times as one before them."""
    found: dict[int, int] = {}
    for i, fit in enumerate(fits):
        for j in range(i):
            alike = np.allclose(fit.points["fitted"], fits[j].points["fitted"], rtol=_THE_SAME, atol=0)
            if j not in found and alike and fit.numbers == fits[j].numbers:
                found[i] = j
                break
    return found


def _beside(fits: Sequence[Fit]) -> Fit:
    """The best, with a word on it where the next model is about as good, or nothing says which one is."""
    best, same = fits[0], _same_as(fits)
    if len(fits) > 1 and math.isnan(best.aicc):
        text = f"{len(best.points)} points are too few for AICc: models are not compared, this is the first that fits"
        return dataclasses.replace(best, warnings=(*best.warnings, Warned("not_compared", text)))
    rivals = [fit for i, fit in enumerate(fits) if i and i not in same and fit.aicc - best.aicc < 2]
    if not rivals:
        return best
    names = ", ".join(fit.model_name for fit in rivals)
    text = f"{names}: about as good by AICc; these points do not tell the models apart"
    return dataclasses.replace(best, warnings=(*best.warnings, Warned("rival", text)))
