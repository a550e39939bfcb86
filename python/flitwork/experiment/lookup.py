"""``[experiments.found]``: names whose values are results of points that run before.

Imbalance in per cent of the balanced time, a load as a share of the measured saturation: the second experiment needs
numbers of the first. Which point is meant is known from the axes alone, and checked before anything runs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flitwork.base.errors import ConfigError, did_you_mean
from flitwork.experiment.axes import check_name
from flitwork.experiment.columns import cell
from flitwork.experiment.point import Point, Rows
from flitwork.experiment.study_file import Experiment
from flitwork.results.columns import RESULT_COLUMNS

#: Stands for a result that is not known yet.
_UNKNOWN = 1

#: What the names of an experiment stand for, of the axes and the seed of a point; ``None`` if a result is missing.
LookedUp = Callable[[Mapping[str, Any], int], dict[str, Any] | None]


class Unknown:
    """Names of results, none of which is known or looked for yet."""

    def __init__(self, experiment: Experiment) -> None:
        self._found = dict.fromkeys(experiment.found, _UNKNOWN)

    def values(self, params: Mapping[str, Any], seed: int) -> dict[str, Any]:
        """The same at every point."""
        return dict(self._found)


class Lookup:
    """The results that an experiment looks up in ``points``, those of the experiments above."""

    def __init__(self, experiment: Experiment, points: Sequence[Point], number: int, rows: Rows | None) -> None:
        self._experiment, self._rows = experiment, rows
        self._path = f"experiments[{number}].found"
        self._above: dict[str, list[Point]] = defaultdict(list)
        for point in points if experiment.found else ():
            self._above[point.experiment].append(point)
        self._by_axes: dict[tuple[str, ...], dict[Any, list[Point]]] = {}
        for name, found in experiment.found.items():
            check_name(name, self._path)
            column = RESULT_COLUMNS.get(found.column)
            if column is None or not column.number:
                numbers = [name for name, one in RESULT_COLUMNS.items() if one.number]
                hint = did_you_mean(found.column, numbers)
                expected = "a column of results with numbers (flitwork list columns)"
                raise ConfigError(f"{self._path}.{name}.column", f'"{found.column}"', expected, hint)

    def values(self, params: Mapping[str, Any], seed: int) -> dict[str, Any] | None:
        """What the names stand for at a point with these axes; ``None`` if one of the results is missing."""
        found: dict[str, Any] = {}
        for name, wanted in self._experiment.found.items():
            point = self._point(name, wanted.experiment, params, seed)
            if self._rows is None:
                found[name] = _UNKNOWN
                continue
            value = self._rows.get(point.label, {}).get(wanted.column)
            if value is None:
                return None
            found[name] = value
        return found

    def _point(self, name: str, experiment: str, params: Mapping[str, Any], seed: int) -> Point:
        """The one point of ``experiment`` with the same values of the axes that both have."""
        points = self._above[experiment]
        shared = tuple(axis for axis in (points[0].params if points else ()) if axis in params)
        key = (experiment, *shared)
        if key not in self._by_axes:
            index: dict[Any, list[Point]] = defaultdict(list)
            for point in points:
                index[tuple(repr(cell(point.params[axis])) for axis in shared)].append(point)
            self._by_axes[key] = index
        alike = self._by_axes[key].get(tuple(repr(cell(params[axis])) for axis in shared), [])
        several = len({point.seed for point in alike}) > 1
        alike = [point for point in alike if point.seed == seed] if several else alike
        if len(alike) != 1:
            where = ", ".join(f"{axis}={cell(params[axis])}" for axis in shared) or "any axes"
            hint = "the axes that both experiments have choose it; with several seeds the seed, too"
            expected = f"one point of experiment {experiment} with {where}"
            raise ConfigError(f"{self._path}.{name}", f"{len(alike)} points", expected, hint)
        return alike[0]
