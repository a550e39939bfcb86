"""What a model is: a formula that is linear in its coefficients, once it is known where it breaks."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from flitwork.base.libraries import np, pd

Array: TypeAlias = "np.ndarray[Any, Any]"
#: Where a model breaks, or which of its terms there are: what is tried, one after the other. Empty: nothing is tried.
Variant = Mapping[str, Any]

#: Messages that a rank sends one after the other, by what the name of the operation begins with.
_ONE = ("pingpong", "point_to_point", "p2p", "send", "latency")
_TO_EACH = ("alltoall", "all_to_all", "total_exchange", "scatter", "gather")
OPERATIONS_WITH_MESSAGES = (*_ONE, *_TO_EACH)


@dataclass(frozen=True)
class Coefficient:
    """What a column of the regression is multiplied by. As a ``rate`` its reciprocal is what users see."""

    name: str
    unit: str
    about: str
    rate: bool = False


@dataclass(frozen=True)
class Derived:
    """A quantity that follows from the coefficients, such as the ratio of two."""

    name: str
    unit: str
    about: str
    numerator: str
    denominator: str


@dataclass(frozen=True)
class Model:
    """One row of the table of models.

    ``uses`` names the columns of the table that it knows; the others must be the same in all rows of one fit.
    ``terms`` gives the coefficients of a variant, ``design`` the columns of the regression (one a coefficient) for rows
    of a table, ``variants`` those to try on a table. ``possible`` says whether coefficients agree with their variant.
    ``settled`` is the variant for predictions. ``says_less`` marks variants that leave a parameter open: one of them is
    taken unless the points speak against it. ``searched`` counts what was chosen besides the coefficients, for the
    comparison of models. ``needs`` says how many points are enough.
    """

    name: str
    formula: str
    about: str
    paper: str
    uses: tuple[str, ...]
    terms: Callable[[Variant], Sequence[Coefficient]]
    design: Callable[[pd.DataFrame, Variant], Array]
    variants: Callable[[pd.DataFrame], Sequence[Variant]] = lambda _: ({},)
    possible: Callable[[Array, Variant], bool] = lambda *_: True
    settled: Callable[[Array, Variant], Variant] = lambda _, variant: variant
    says_less: Callable[[Variant], bool] = lambda _: False
    derived: tuple[Derived, ...] = ()
    searched: Callable[[Variant], int] = lambda _: 0
    needs_messages: bool = False
    needs: str = "at least 3 points, and different values of what the formula knows of"


def known_messages(operation: str) -> bool:
    """Whether the model knows how many messages a rank sends in an operation."""
    return _plain(operation).startswith(OPERATIONS_WITH_MESSAGES)


def messages(table: pd.DataFrame) -> Array:
    """How many messages a rank sends one after the other, for each row: 1, or n - 1."""
    one = np.array([_plain(name).startswith(_ONE) for name in table["operation"]])
    return np.where(one, 1.0, table["ranks"].to_numpy(dtype=float) - 1)


def _plain(operation: object) -> str:
    return str(operation).lower().replace(" ", "_").replace("-", "_")


def column(table: pd.DataFrame, name: str) -> Array:
    """A column of a table as numbers."""
    return table[name].to_numpy(dtype=float)


def reciprocal(low: float, value: float, high: float) -> tuple[float, float, float]:
    """The interval of 1/x from that of x; where x may be 0 there is no upper end."""
    if value <= 0:
        return math.nan, math.nan, math.nan
    return 1 / high, 1 / value, 1 / low if low > 0 else math.inf
