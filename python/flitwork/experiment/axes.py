"""The axes of an experiment: lists of values, each checked for what cannot be meant."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flitwork.base.dotted_keys import parts
from flitwork.base.errors import ConfigError, did_you_mean, unknown_key
from flitwork.experiment.study_file import Axes, Experiment
from flitwork.results.columns import RESULT_COLUMNS
from flitwork.values.flat import FLAT
from flitwork.values.schema import fields, schema

SECTIONS = ("network", "host", "workload", "background", "run")
#: Names that an axis cannot have, because the table has such a column already.
RESERVED = ("experiment", *RESULT_COLUMNS)
MAX_SEED = 2**64 - 1
#: Most points of a study or a sweep: each is planned, and kept, before the first one runs.
MOST_POINTS = 100_000


@dataclass(frozen=True)
class Axis:
    """One name and its values, or several names whose values go together, and where they stand in the file."""

    values: Mapping[str, list[Any]]
    path: str

    @property
    def combinations(self) -> list[dict[str, Any]]:
        """Each step along the axis, as names and values."""
        return [dict(zip(self.values, step, strict=True)) for step in zip(*self.values.values(), strict=True)]

    @property
    def steps(self) -> int:
        """How many combinations there are."""
        return len(next(iter(self.values.values())))


def axes_of(experiment: Experiment, path: str, quick: bool) -> list[Axis]:
    """The axes of an experiment, the fastest last."""
    grid = {name: Axis({name: values}, f"{path}.grid") for name, values in _flatten(experiment.grid, f"{path}.grid")}
    groups, where = experiment.zip, f"{path}.zip"
    if quick:
        for name, values in _flatten(experiment.quick.grid, f"{path}.quick.grid"):
            if name not in grid:
                raise unknown_key(f"{path}.quick.grid", name, grid, "axes of grid")
            grid[name] = Axis({name: values}, f"{path}.quick.grid")
        if experiment.quick.zip is not None:
            groups, where = experiment.quick.zip, f"{path}.quick.zip"
    several = isinstance(groups, list)
    zips = [
        _zipped(group, f"{where}[{i}]" if several else where)
        for i, group in enumerate(groups if isinstance(groups, list) else [groups])
        if group
    ]
    axes = [*grid.values(), *zips]
    for axis in axes:
        _check_repeats(axis)
    _check_collisions(axes)
    return axes


def _zipped(group: Axes, path: str) -> Axis:
    values = dict(_flatten(group, path))
    lengths = {name: len(column) for name, column in values.items()}
    if len(set(lengths.values())) > 1:
        raise ConfigError(path, lengths, "lists of the same length", "values of a zip go together, one by one")
    return Axis(values, path)


def _flatten(axes: Mapping[str, Any], path: str) -> list[tuple[str, list[Any]]]:
    """``{a: {b: [1]}}`` as ``a.b`` and ``[1]``; every leaf must be a list that is not empty."""
    flat: dict[str, list[Any]] = {}
    for name, value in _leaves(axes):
        if value in ([], {}):
            raise ConfigError(f"{path}.{name}", value, "a list of at least one value", f"add values or remove {name}")
        if not isinstance(value, list):
            raise ConfigError(f"{path}.{name}", value, "a list of at least one value", f"write {name} = [{value}]")
        if name in flat:
            raise ConfigError(f"{path}.{name}", value, "an axis that is given once", "it is given in two spellings")
        check_name(name, path)
        section, *inner = parts(name, path)
        if inner and section not in SECTIONS:
            raise unknown_key(path, section, SECTIONS, "tables")
        for one in value:
            check_no_seed(name, one, path)
        flat[name] = value
    return list(flat.items())


def _leaves(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        # An empty table has no leaves: it is one.
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def check_name(name: str, path: str) -> None:
    """An axis cannot be called as a column of the results is."""
    if name in RESERVED:
        expected = "a name that no column of the results has"
        raise ConfigError(f"{path}.{name}", f'"{name}"', expected, f"call it {name}_ or my_{name}")


def check_no_seed(name: str, value: Any, path: str) -> None:
    """The field ``name`` is not set to a value that has the seed in it: every point has one of ``seeds``."""
    for field, seed in _leaves({name: value}):
        if field == "run.seed":
            raise ConfigError(f"{path}.run.seed", seed, "no seed here", f"write seeds = [{seed}] in the experiment")


def check_seeds(seeds: Sequence[Any], path: str) -> None:
    """Seeds are different whole numbers."""
    for i, seed in enumerate(seeds):
        if not 0 <= seed <= MAX_SEED:
            raise ConfigError(f"{path}[{i}]", seed, "a whole number from 0 to 2^64 - 1")
    check_different(seeds, path, "each seed once", "the same seed gives the same result")


def check_count(points: int, path: str) -> None:
    """So many points can be planned; it is known before they are made."""
    if points > MOST_POINTS:
        hint = "take some values or seeds out, or split it"
        raise ConfigError(path, f"{points:,} points", f"at most {MOST_POINTS:,} points", hint)


def check_different(values: Sequence[Any], path: str, expected: str, hint: str) -> None:
    """No value stands twice; the error names the second."""
    seen: set[tuple[bool, Any]] = set()
    others: list[Any] = []
    for i, value in enumerate(values):
        if isinstance(value, Hashable) and not isinstance(value, tuple):
            twice = (isinstance(value, bool), value) in seen
            seen.add((isinstance(value, bool), value))
        else:
            # Lists and tables are few: they are compared one by one.
            twice = any(_same(value, other) for other in others)
            others.append(value)
        if twice:
            raise ConfigError(f"{path}[{i}]", value, expected, hint)


def _same(a: Any, b: Any) -> bool:
    """Equal, where a truth value is no number."""
    if isinstance(a, bool) != isinstance(b, bool):
        return False
    try:
        return bool(a == b)
    except (TypeError, ValueError):
        return False


def _check_repeats(axis: Axis) -> None:
    if len(axis.values) == 1:
        ((name, values),) = axis.values.items()
        check_different(values, f"{axis.path}.{name}", "each value once", "remove one of the two")
    else:
        check_different(axis.combinations, axis.path, "each combination once", "remove one of the two")


def _check_collisions(axes: Iterable[Axis]) -> None:
    """No two axes set the same name or the same field; ``network.router`` sets every field that its tables have."""
    taken: list[tuple[str, str, str]] = []
    for axis in axes:
        for name, values in axis.values.items():
            mine = {leaf for value in values for leaf in _fields_set(name, value)}
            for other, where, field in taken:
                hits = [leaf for leaf in mine if leaf == field or f"{leaf}.".startswith(f"{field}.")]
                hits += [field for leaf in mine if field.startswith(f"{leaf}.")]
                if hits:
                    what = "a name that no other axis has" if name == other else f"a field that {other} does not set"
                    raise ConfigError(f"{axis.path}.{name}", f"sets {hits[0]}", what, f"see {where}.{other}")
            taken += [(name, axis.path, leaf) for leaf in sorted(mine)]


def _fields_set(name: str, value: Any) -> list[str]:
    return [f"{name}.{leaf}" for leaf, _ in _leaves(value)] if isinstance(value, Mapping) and value else [name]


def check_used(axes: Iterable[Axis], filled: set[str], derived: set[str]) -> None:
    """Every axis must make a difference: have a field, or a name that a ``${...}`` or a derived column uses."""
    for axis in axes:
        names = list(axis.values)
        if len(axis.values[names[0]]) < 2 or any("." in name or name in filled | derived for name in names):
            continue
        places = _places()
        hint = f'write "{places[names[0]]}"' if names[0] in places else did_you_mean(names[0], [*filled, *places])
        used = ", ".join(sorted(filled)) or "there is none"
        expected = f"a name that some ${{...}} uses ({used}), or a field with dots"
        raise ConfigError(f"{axis.path}.{names[0]}", axis.values[names[0]], expected, hint)


def _places() -> dict[str, str]:
    """The full name of every option that has a short one."""
    places = {key: f"workload.{key}" for key in fields(schema()["properties"]["workload"])}
    for section in ("network", "run"):
        places.update({key: ".".join((section, *at)) for key, at in FLAT[section].items()})
    return places
