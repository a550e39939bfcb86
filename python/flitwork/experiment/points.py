"""From a study to its points: every combination of the axes, each a complete specification."""

from __future__ import annotations

import copy
import functools
import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Any

from flitwork.base.dotted_keys import parts
from flitwork.base.errors import unknown_key
from flitwork.base.output_files import in_folder
from flitwork.experiment.axes import SECTIONS, Axis, axes_of, check_count, check_no_seed, check_seeds, check_used
from flitwork.experiment.columns import Columns, check_plots, columns_of
from flitwork.experiment.expression import fill, names_in, placeholders
from flitwork.experiment.lookup import LookedUp, Lookup, Unknown
from flitwork.experiment.point import Point, Rows
from flitwork.experiment.study_file import Experiment, StudyFile
from flitwork.workloads.workload import is_silent


def count_points(study: StudyFile, quick: bool = False) -> int:
    """How many points a study has; too many are an error. None is made."""
    count = 0
    for i, experiment in enumerate(study.experiments):
        if not (quick and experiment.quick.skip):
            seeds = experiment.quick.seeds if quick and experiment.quick.seeds is not None else experiment.seeds
            count += math.prod(axis.steps for axis in axes_of(experiment, f"experiments[{i}]", quick)) * len(seeds)
            check_count(count, f"experiments[{i}]")
    return count


def expand(study: StudyFile, quick: bool = False, rows: Rows | None = None) -> list[Point]:
    """All points of a study, in the order of the file.

    ``rows`` has the results that experiments with ``found`` look up; a point whose result is not there is left out.
    Without ``rows`` each such name is 1, so that everything else of these points can be checked before anything runs.
    """
    count_points(study, quick)
    points: list[Point] = []
    for i, experiment in enumerate(study.experiments):
        if not (quick and experiment.quick.skip):
            lookup = Lookup(experiment, points, i, rows)
            points.extend(_points(study, experiment, f"experiments[{i}]", quick, lookup.values))
    return points


def known_columns(study: StudyFile, quick: bool = False) -> dict[str, Columns]:
    """The columns that the results of each experiment will have."""
    # Several ask for those of one study, and large studies take seconds.
    key = (repr(study), quick)
    if key not in _KNOWN:
        while len(_KNOWN) >= _KEPT:
            _KNOWN.pop(next(iter(_KNOWN)))
        _KNOWN[key] = _columns(study, quick)
    return dict(_KNOWN[key])


#: The columns of the studies that were asked for last, by their contents.
_KNOWN: dict[tuple[str, bool], dict[str, Columns]] = {}
_KEPT = 4


def _columns(study: StudyFile, quick: bool) -> dict[str, Columns]:
    found: dict[str, Columns] = {}
    for i, experiment in enumerate(study.experiments):
        if quick and experiment.quick.skip:
            continue
        mine = list(_points(study, experiment, f"experiments[{i}]", quick, Unknown(experiment).values, repeated=False))
        if mine:
            params, specs = [point.params for point in mine], [point.spec for point in mine]
            found[experiment.id] = columns_of(experiment, f"experiments[{i}]", params, specs)
    return found


def check_names(study: StudyFile) -> None:
    """Every column that the study names will exist, in the smaller version too."""
    check_plots(study.plots, known_columns(study))
    # It may leave out values that a plot selects.
    check_plots(study.plots, known_columns(study, quick=True), values=False)


def _points(
    study: StudyFile, experiment: Experiment, path: str, quick: bool, looked_up: LookedUp, repeated: bool = True
) -> Iterator[Point]:
    """The points of one experiment; with all its seeds, or not ``repeated``: with the first."""
    seeds, where = experiment.seeds, f"{path}.seeds"
    changes = [(experiment.set, f"{path}.set")]
    if quick:
        changes.append((experiment.quick.set, f"{path}.quick.set"))
        if experiment.quick.seeds is not None:
            seeds, where = experiment.quick.seeds, f"{path}.quick.seeds"
    check_seeds(seeds, where)
    spec = copy.deepcopy(study.base)
    _check_sections(spec, "base")
    check_no_seed("run", spec.get("run"), "base")
    for change, place in changes:
        for key, value in change.items():
            check_no_seed(key, value, place)
            _put(spec, key, value, place)
    axes = axes_of(experiment, path, quick)
    _check_used(spec, axes, experiment)
    for combination in itertools.product(*(axis.combinations for axis in axes)):
        params = {key: value for step in combination for key, value in step.items()}
        for seed in seeds if repeated else seeds[:1]:
            found = looked_up(params, seed)
            if found is not None:
                named = {**params, **found}
                one = in_folder(_fill(spec, named, seed, path), study.folder)
                yield Point(experiment.id, path, named, seed, one)


def _check_used(spec: Mapping[str, Any], axes: list[Axis], experiment: Experiment) -> None:
    dotted = [values for axis in axes for name, values in axis.values.items() if "." in name]
    derived = {name for text in experiment.columns.values() for name in names_in(text)}
    check_used(axes, placeholders([spec, dotted]), derived)


def _fill(spec: Mapping[str, Any], params: Mapping[str, Any], seed: int, path: str) -> dict[str, Any]:
    names = {key: value for key, value in params.items() if "." not in key}
    one = copy.deepcopy(dict(spec))
    for key, value in params.items():
        if "." in key:
            _put(one, key, value, f"{path}.grid")
    _put(one, "run.seed", seed, f"{path}.seeds")
    filled: dict[str, Any] = fill(one, names, "")
    background = filled.get("background")
    if isinstance(background, Mapping) and is_silent(background):
        del filled["background"]
    return filled


def _check_sections(spec: Mapping[str, Any], path: str) -> None:
    for key in spec:
        if key not in SECTIONS:
            raise unknown_key(path, key, SECTIONS, "tables")


def _put(spec: dict[str, Any], key: str, value: Any, path: str) -> None:
    """Sets the dotted ``key`` in ``spec``. Tables are merged; one that states another ``kind`` and more replaces it."""
    head, *inner = parts(key, path)
    _check_sections({head: None}, path)
    _merge(spec, head, functools.reduce(lambda nested, name: {name: nested}, reversed(inner), value))


def _merge(table: dict[str, Any], key: str, value: Any) -> None:
    old = table.get(key)
    if not isinstance(value, Mapping):
        table[key] = copy.deepcopy(value)
        return
    if not isinstance(old, dict) or ("kind" in value and len(value) > 1 and value["kind"] != old.get("kind")):
        table[key] = {}
    for inner, its_value in value.items():
        _merge(table[key], inner, its_value)
