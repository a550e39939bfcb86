"""From a study to its points: every combination of the axes, each a complete specification."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from flitwork.errors import ConfigError, unknown_key
from flitwork.experiment.expression import fill
from flitwork.experiment.study_file import Experiment, StudyFile

_SECTIONS = ("network", "workload", "run")


@dataclass(frozen=True)
class Point:
    """One simulation of a study: where it comes from and what it is."""

    experiment: str
    path: str
    params: Mapping[str, Any]
    seed: int
    spec: Mapping[str, Any]

    @property
    def label(self) -> str:
        """``experiment(N=5, seed=1)``, for messages."""
        shown = [f"{key}={value}" for key, value in self.params.items()]
        return f"{self.experiment}({', '.join([*shown, f'seed={self.seed}'])})"


def expand(study: StudyFile, quick: bool = False) -> list[Point]:
    """All points of a study, in the order of the file."""
    points: list[Point] = []
    for i, experiment in enumerate(study.experiments):
        if not (quick and experiment.quick.skip):
            points.extend(_points(study, experiment, f"experiments[{i}]", quick))
    return points


def _points(study: StudyFile, experiment: Experiment, path: str, quick: bool) -> Iterator[Point]:
    faster = experiment.quick if quick else None
    grid = _flatten(experiment.grid, f"{path}.grid")
    zipped = experiment.zip
    seeds = experiment.seeds
    changes = [(experiment.set, f"{path}.set")]
    if faster:
        grid.update(_flatten(faster.grid, f"{path}.quick.grid"))
        zipped = zipped if faster.zip is None else faster.zip
        seeds = faster.seeds or seeds
        changes.append((faster.set, f"{path}.quick.set"))
    spec = copy.deepcopy(study.base)
    _check_sections(spec, "base")
    for change, where in changes:
        for key, value in change.items():
            _put(spec, key, value, where)
    axes = [_columns({key: values}) for key, values in grid.items()]
    groups = [zipped] if isinstance(zipped, dict) else zipped
    axes += [_columns(_zip(group, f"{path}.zip")) for group in groups if group]
    for combination in itertools.product(*axes):
        params = {key: value for part in combination for key, value in part.items()}
        for seed in seeds:
            yield Point(experiment.id, path, params, seed, _fill(spec, params, seed, path))


def _fill(spec: Mapping[str, Any], params: Mapping[str, Any], seed: int, path: str) -> dict[str, Any]:
    names = {key: value for key, value in params.items() if "." not in key}
    one = copy.deepcopy(dict(spec))
    for key, value in params.items():
        if "." in key:
            _put(one, key, value, f"{path}.grid")
    _put(one, "run.seed", seed, f"{path}.seeds")
    filled: dict[str, Any] = fill(one, names, "")
    return filled


def _columns(axis: Mapping[str, list[Any]]) -> list[dict[str, Any]]:
    """The values of one axis, or of several that go together, one dictionary each."""
    return [dict(zip(axis, values, strict=True)) for values in zip(*axis.values(), strict=True)]


def _zip(group: Mapping[str, Any], path: str) -> dict[str, list[Any]]:
    axes = _flatten(group, path)
    lengths = {key: len(values) for key, values in axes.items()}
    if len(set(lengths.values())) > 1:
        raise ConfigError(path, lengths, "lists of the same length", "values of a zip go together, one by one")
    return axes


def _flatten(axes: Mapping[str, Any], path: str, prefix: str = "") -> dict[str, list[Any]]:
    """``{a: {b: [1]}}`` as ``{"a.b": [1]}``; every leaf must be a list that is not empty."""
    flat: dict[str, list[Any]] = {}
    for key, value in axes.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            flat.update(_flatten(value, path, f"{name}."))
            continue
        if not isinstance(value, list) or not value:
            raise ConfigError(f"{path}.{name}", value, "a list of at least one value", f"write {key} = [{value}]")
        if "." in name and name.split(".")[0] not in _SECTIONS:
            raise unknown_key(path, name.split(".")[0], _SECTIONS, "tables")
        if name == "run.seed":
            raise ConfigError(f"{path}.run.seed", value, "no seed here", f"write seeds = {value} in the experiment")
        flat[name] = value
    return flat


def _check_sections(spec: Mapping[str, Any], path: str) -> None:
    for key in spec:
        if key not in _SECTIONS:
            raise unknown_key(path, key, _SECTIONS, "tables")


def _put(spec: dict[str, Any], key: str, value: Any, path: str) -> None:
    """Sets the dotted ``key`` in ``spec``. Tables are merged; one that states another ``kind`` and more replaces it."""
    head, _, rest = key.partition(".")
    _check_sections({head: None}, path)
    _merge(spec, head, _nested(rest, value) if rest else value)


def _nested(key: str, value: Any) -> dict[str, Any]:
    head, _, rest = key.partition(".")
    return {head: _nested(rest, value) if rest else value}


def _merge(table: dict[str, Any], key: str, value: Any) -> None:
    old = table.get(key)
    if not isinstance(value, Mapping):
        table[key] = copy.deepcopy(value)
        return
    if not isinstance(old, dict) or ("kind" in value and len(value) > 1 and value["kind"] != old.get("kind")):
        table[key] = {}
    for inner, its_value in value.items():
        _merge(table[key], inner, its_value)
