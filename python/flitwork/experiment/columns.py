"""The columns that the table of a study will have, known before anything is simulated.

So a column that a plot, a derived column or a claim names and that does not exist is an error at once, not after hours.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from flitwork.base.dotted_keys import parts
from flitwork.base.errors import ConfigError, did_you_mean
from flitwork.base.libraries import pd
from flitwork.base.physical import Units
from flitwork.experiment.expression import check, evaluate, names_in
from flitwork.experiment.study_file import Experiment, Plot, Scalar
from flitwork.results.columns import OF_THE_NETWORK, RESULT_COLUMNS, When
from flitwork.values.schema import is_open_loop


@dataclass(frozen=True)
class Columns:
    """The columns of one experiment: all names, those with numbers, and the values of those that are known already.

    ``values`` of an axis has one value a point; ``follows`` says of a derived column which axes it is computed from.
    """

    experiment: str
    names: tuple[str, ...]
    numbers: tuple[str, ...]
    values: Mapping[str, Sequence[Any]]
    follows: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def check(self, name: str, path: str, number: bool = False) -> None:
        """There is a column ``name`` (with numbers)."""
        known = self.numbers if number else self.names
        if name not in known:
            what = "with numbers " if number and name in self.names else ""
            expected = f"a column {what}of experiment {self.experiment}: {', '.join(known)}"
            raise ConfigError(path, f'"{name}"', expected, did_you_mean(name, known))


def columns_of(
    experiment: Experiment, path: str, params: Sequence[Mapping[str, Any]], specs: Iterable[Mapping[str, Any]]
) -> Columns:
    """The columns of an experiment with these points. Derived columns are checked on the way."""
    values: dict[str, list[Any]] = {"experiment": [experiment.id] * len(params)}
    for name in params[0] if params else ():
        values[name] = [cell(one[name]) for one in params]
    numbers = [name for name, found in values.items() if all(isinstance(v, (bool, int, float)) for v in found)]
    had, units = set[When](), set[Units]()
    for spec in specs:
        had |= _had(spec)
        units.add(_stated(spec))
    results = [
        name
        for name, column in RESULT_COLUMNS.items()
        if column.when in had and any(column.known(stated) for stated in units)
    ]
    numbers += [name for name in results if RESULT_COLUMNS[name].number]
    names = [*values, *results]
    sample = {name: pd.Series(values[name]) if name in values else _ones(len(params)) for name in numbers}
    axes, follows = set(values), dict[str, frozenset[str]]()

    def point(i: int) -> str:
        return ", ".join(f"{name} = {cell(value)}" for name, value in params[i].items()) or "the only point"

    for name, text in experiment.columns.items():
        parts(name, f"{path}.columns")
        where = f"{path}.columns.{name}"
        if name in names or name in RESULT_COLUMNS:
            raise ConfigError(where, f'"{name}"', "a name that no other column has", "rename it")
        check(text, numbers, where)
        # What has no value whatever the results are is found before they are.
        sample[name] = evaluate(text, sample, where, point) if params else _ones(0)
        used = names_in(text)
        follows[name] = frozenset(axes & used).union(*(follows[other] for other in used & set(follows)))
        names.append(name)
        numbers.append(name)
    return Columns(experiment.id, tuple(names), tuple(numbers), values, follows)


def _ones(count: int) -> pd.Series[int]:
    return pd.Series(1, index=range(count))


def _had(spec: Mapping[str, Any]) -> set[When]:
    """Which columns a simulation has; where the specification is wrong, its plan will say so."""
    had: set[When] = {"always"}
    workload, run = spec.get("workload"), spec.get("run")
    kind = workload.get("kind") if isinstance(workload, Mapping) else None
    had.add("traffic" if is_open_loop(kind) else "completes")
    if spec.get("background"):
        had.add("background")
    record = run.get("record") if isinstance(run, Mapping) else None
    if isinstance(record, Mapping) and record.get("stalls"):
        had.add("stalls")
    network = spec.get("network")
    if isinstance(network, Mapping) and network.get("bus") is not None:
        had.add("bus")
    return had


def _stated(spec: Mapping[str, Any]) -> Units:
    network = spec.get("network")
    return Units.stated(network.get("units") if isinstance(network, Mapping) else None)


def check_plots(plots: Sequence[Plot], known: Mapping[str, Columns], values: bool = True) -> None:
    """Every column that a plot names exists in each of its experiments; so do the values that it selects."""
    for i, plot in enumerate(plots):
        shown = [known[name] for name in plot.experiments if name in known]
        for columns in shown:
            columns.check(plot.x, f"plots[{i}].x")
            columns.check(plot.y, f"plots[{i}].y", number=True)
            for name in [plot.series] if isinstance(plot.series, str) else plot.series:
                columns.check(name, f"plots[{i}].series")
            if plot.panels:
                columns.check(plot.panels, f"plots[{i}].panels")
        check_where(plot.where, shown, f"plots[{i}].where", values)
        for columns in shown:
            _check_apart(plot, columns, f"plots[{i}]")


def _check_apart(plot: Plot, columns: Columns, path: str) -> None:
    """Points of one mark differ in nothing but their seeds: others would be averaged as if they were repetitions.

    What a name that is no axis tells apart is not known before the run, unless it follows from axes.
    """
    axes = columns.values
    named = [plot.x, *([plot.series] if isinstance(plot.series, str) else plot.series)]
    named += [plot.panels] if plot.panels else []
    shown = [{name} if name in axes else columns.follows.get(name) for name in named]
    if not all(shown) or {name for name in plot.where if name in OF_THE_NETWORK} - set(axes):
        return
    apart = sorted(set().union(*(one or () for one in shown)))
    wanted = {name: value if isinstance(value, list) else [value] for name, value in plot.where.items() if name in axes}
    points = [dict(zip(axes, point, strict=True)) for point in zip(*axes.values(), strict=True)]
    marks: dict[str, dict[str, Any]] = {}
    for point in points:
        if not all(point[name] in found for name, found in wanted.items()):
            continue
        first = marks.setdefault(repr([point[name] for name in apart]), point)
        for name in axes:
            if first[name] != point[name]:
                expected = f"{name} in x, series or panels, or one value of it in where"
                hint = f"points of experiment {columns.experiment} that differ in it would be averaged"
                raise ConfigError(path, f"{first[name]!r} and {point[name]!r} in one mark", expected, hint)


def check_where(
    where: Mapping[str, Scalar | list[Scalar]], shown: Sequence[Columns], path: str, values: bool = True
) -> None:
    """Every column that ``where`` names exists in all of ``shown``, and every value of an axis in one of them."""
    for name, wanted in where.items():
        for columns in shown:
            columns.check(name, f"{path}.{name}")
        for value in wanted if isinstance(wanted, list) else [wanted]:
            there = [known for columns in shown for known in columns.values.get(name, ())]
            if values and there and value not in there:
                different = ", ".join(dict.fromkeys(map(str, there)))
                expected = f"a value of {name}: {different}"
                raise ConfigError(f"{path}.{name}", repr(value), expected, did_you_mean(str(value), map(str, there)))


def cell(value: Any) -> Any:
    """The value of an axis as it stands in a table: a list becomes ``9x9``-like text, a table ``kind=...`` text."""
    if isinstance(value, (list, tuple)):
        return "x".join(str(cell(one)) for one in value)
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={cell(one)}" for key, one in value.items())
    return value
