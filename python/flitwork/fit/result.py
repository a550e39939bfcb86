"""A fit: what came out, for readers, for predictions and for files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flitwork.base.libraries import np, pd
from flitwork.fit.model import Array, Model, Variant
from flitwork.fit.models import model_named


@dataclass(frozen=True)
class Parameter:
    """A parameter with its confidence interval, in ``unit`` (s, s/B, B/s, ...); NaN where there is no such number."""

    name: str
    value: float
    low: float
    high: float
    unit: str
    about: str


@dataclass(frozen=True)
class Warned:
    """Where a model does not fit: ``code`` for programs, ``text`` for readers."""

    code: str
    text: str


@dataclass(frozen=True)
class Fit:
    """A model with the parameters that fit a table of times best.

    ``parameters`` by name, with intervals of ``confidence``; ``conditions`` that all rows share (operation, ranks).
    ``r_squared`` is 1 minus the (weighted) sum of squares over that around the mean, also of models without a
    constant. ``sd`` is the standard deviation of one time [s], with ``errors="relative"`` as a part of the time.
    ``aicc`` is NaN where there are too few points for it; ``numbers`` is how many it counts: coefficients, breaks
    and the variance. ``points`` has a row a time: the columns of the table, ``fitted`` [s], ``residual`` [s],
    ``standardised`` (in standard deviations) and ``weight`` (Huber's). ``warnings`` say in words where the model
    does not fit. ``coefficients`` and ``covariance`` are those of the regression, in s and bytes.
    """

    model_name: str
    method: str
    errors: str
    confidence: float
    parameters: Mapping[str, Parameter]
    conditions: Mapping[str, Any]
    variant: Variant
    coefficients: Array
    covariance: Array
    degrees: int
    sd: float
    r_squared: float
    aicc: float
    numbers: int
    points: pd.DataFrame
    warnings: tuple[Warned, ...] = ()

    @property
    def model(self) -> Model:
        """The row of the table of models."""
        return model_named(self.model_name)

    @property
    def title(self) -> str:
        """What was fitted: ``alltoall, bruck, 8 ranks``."""
        return title_of(self.conditions)

    @property
    def t(self) -> float:
        """Standard deviations in half a confidence interval, by Student's t."""
        return students_t(self.degrees, self.confidence)

    def value(self, name: str) -> float:
        """The parameter ``name``; KeyError where the model has none."""
        return self.parameters[name].value

    def seconds(self, table: pd.DataFrame) -> Array:
        """The times [s] that the model gives for rows with the columns that it uses."""
        return self.model.design(table, self.variant) @ self.coefficients

    def range_of(self, column: str) -> tuple[float, float]:
        """The least and the largest that was measured."""
        return float(self.points[column].min()), float(self.points[column].max())

    def half_widths(self, design: Array) -> Array:
        """Half the confidence interval [s] of the times of rows of a design."""
        variance = np.einsum("ij,jk,ik->i", design, self.covariance, design)
        return np.asarray(self.t * np.sqrt(np.maximum(variance, 0)))

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, as it is stored."""
        from flitwork.fit.stored import plain

        return plain(self)

    def save(self, path: str | Path) -> Path:
        """Writes it as JSON; :func:`flitwork.fit.read_fits` reads it again. A file that is there is replaced."""
        from flitwork.fit.stored import save_fits

        return save_fits(self, path)


def title_of(conditions: Mapping[str, Any]) -> str:
    """What all rows share, in words: ``alltoall, bruck, 8 ranks``."""
    said = {"ranks": "{:g} ranks", "bytes": "{:g} bytes", "ranks_per_server": "{:g} ranks per server"}
    shown = {name: value for name, value in conditions.items() if name != "ranks_per_server" or value != 1}
    return ", ".join(
        said[name].format(value) if name in said else str(value) for name, value in shown.items() if value != ""
    )


def students_t(degrees: int, confidence: float) -> float:
    """Standard deviations in half a confidence interval."""
    # Only here: most commands have no use for SciPy.
    from scipy.special import stdtrit

    return float(stdtrit(degrees, (1 + confidence) / 2))
