"""What stands in a study file. The page *Study files* of ``docs/cli.md`` explains it with examples."""

from __future__ import annotations

import math
import os
import re
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, Field, PrivateAttr

from flitwork.base.dotted_keys import parts
from flitwork.base.errors import ConfigError, did_you_mean, in_file
from flitwork.base.toml_tables import Table, read_toml, validate

T = TypeVar("T", bound=Table)
Axes = dict[str, Any]
Scalar = bool | int | float | str
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_LONGEST_NAME = 100


def _file_name(name: str) -> str:
    """``name`` if a file can be called so on any machine and lies in the folder that it is put into."""
    if not _NAME.fullmatch(name) or len(name) > _LONGEST_NAME:
        what = "letters, digits, dots, dashes and underscores, a letter or a digit first"
        raise ValueError(f"at most {_LONGEST_NAME} {what}")
    return name


#: What becomes part of the name of a file.
Name = Annotated[str, AfterValidator(_file_name)]


class Head(Table):
    """``[study]``: what the study is."""

    name: Name
    title: str = ""
    description: str = ""
    paper: str = ""


class Quick(Table):
    """``[experiments.quick]``: what differs under ``--quick``; a key of ``grid`` replaces the one of that name."""

    skip: bool = False
    grid: Axes = {}
    zip: Axes | list[Axes] | None = None
    seeds: list[int] | None = Field(default=None, min_length=1)
    set: dict[str, Any] = {}


class Found(Table):
    """``[experiments.found]``: a name whose value is a result of another experiment.

    That of the one point of ``experiment`` that has the same value of every axis that both have, and the same seed
    where it has several.
    """

    experiment: str
    column: str


class Experiment(Table):
    """``[[experiments]]``: one grid of simulations.

    ``found`` gives names the results of an experiment above, which is run first. ``like`` names one above that it takes
    over: ``set``, ``grid``, ``columns`` and ``quick`` key by key, of ``zip`` the lists that have no name in common with
    its own, the rest where it states nothing of its own.
    """

    id: Name
    like: str | None = None
    title: str = ""
    set: dict[str, Any] = {}
    grid: Axes = {}
    zip: Axes | list[Axes] = []
    found: dict[str, Found] = {}
    seeds: list[int] = Field(default=[1], min_length=1)
    columns: dict[str, str] = {}
    quick: Quick = Quick()


class Line(Table):
    """``[[plots.lines]]``: a reference line."""

    y: float
    label: str = ""


class Plot(Table):
    """``[[plots]]``: one figure."""

    id: Name
    experiment: str | list[str]
    x: str
    y: str
    title: str = ""
    series: str | list[str] = []
    panels: str | None = None
    where: dict[str, Scalar | list[Scalar]] = {}
    xlabel: str = ""
    ylabel: str = ""
    xscale: Literal["linear", "log"] = "linear"
    yscale: Literal["linear", "log"] = "linear"
    xlim: list[float] | None = Field(default=None, min_length=2, max_length=2)
    ylim: list[float] | None = Field(default=None, min_length=2, max_length=2)
    lines: list[Line] = []

    @property
    def experiments(self) -> list[str]:
        """The experiments whose points are drawn."""
        return [self.experiment] if isinstance(self.experiment, str) else self.experiment


class StudyFile(Table):
    """A study: what all simulations share, the experiments, the plots."""

    study: Head
    base: dict[str, Any] = {}
    experiments: list[Experiment] = Field(min_length=1)
    plots: list[Plot] = []
    _folder: Path = PrivateAttr(default=Path())
    _path: Path | None = PrivateAttr(default=None)

    @property
    def folder(self) -> Path:
        """The folder that the names of files in the study start from."""
        return self._folder

    @property
    def path(self) -> Path | None:
        """The file that it was read from."""
        return self._path


def load_study(path: str | Path) -> StudyFile:
    """Reads a study file; anything that is not understood is a :class:`flitwork.ConfigError` with its path."""
    if not isinstance(path, (str, os.PathLike)):
        raise ConfigError("file", repr(path), "the name of a study file", 'such as "study.toml"')
    found = read_toml(Path(path))
    if "network" in found and not {"study", "base", "experiments"} & {*found}:
        hint = f"flitwork pick {path} --message-bytes 4096; in a study, the machine is [base.network]"
        raise ConfigError(str(path), "a machine", "a study: tables study, base and experiments", hint)
    with in_file(path):
        study = parse_study(found, Path(path).parent)
    study._path = Path(path)
    return study


def parse_study(data: dict[str, Any], folder: Path = Path()) -> StudyFile:
    """A study from the contents of its file, which lies in ``folder``."""
    study = validate(StudyFile, data)
    study._folder = folder
    _unique("experiments", [e.id for e in study.experiments])
    _take_over(study.experiments)
    _check_found(study.experiments)
    _unique("plots", [p.id for p in study.plots])
    known = {e.id for e in study.experiments}
    for i, plot in enumerate(study.plots):
        for name in plot.experiments:
            if name not in known:
                expected = f"an experiment of this study: {', '.join(sorted(known))}"
                raise ConfigError(f"plots[{i}].experiment", f'"{name}"', expected)
        _check_numbers(plot, f"plots[{i}]")
    return study


def _take_over(experiments: list[Experiment]) -> None:
    """Puts what an experiment takes over from another one into it."""
    above: dict[str, Experiment] = {}
    for i, experiment in enumerate(experiments):
        if experiment.like is not None:
            if experiment.like not in above:
                expected = f"an experiment above: {', '.join(above) or '(none)'}"
                hint = did_you_mean(experiment.like, above)
                raise ConfigError(f"experiments[{i}].like", f'"{experiment.like}"', expected, hint)
            experiments[i] = _with(above[experiment.like], experiment)
        above[experiment.id] = experiments[i]


def _check_found(experiments: list[Experiment]) -> None:
    """What is looked up is a result of an experiment above that looks up nothing itself."""
    above: list[str] = []
    for i, experiment in enumerate(experiments):
        for name, found in experiment.found.items():
            parts(name, f"experiments[{i}].found")
            path = f"experiments[{i}].found.{name}"
            if found.experiment not in above:
                expected = f"an experiment above without found: {', '.join(above) or '(none)'}"
                raise ConfigError(f"{path}.experiment", f'"{found.experiment}"', expected)
        if not experiment.found:
            above.append(experiment.id)


def _with(old: T, new: T) -> T:
    """``old`` with what ``new`` states: tables are merged key by key, anything else is replaced."""
    changes = {}
    for name in new.model_fields_set:
        before, value = getattr(old, name), getattr(new, name)
        if isinstance(before, Quick) and isinstance(value, Quick):
            value = _with(before, value)
        elif isinstance(before, dict) and isinstance(value, dict):
            value = {**before, **value}
        elif name == "zip" and isinstance(new, Experiment):
            groups = _groups(value)
            value = [*(old for old in _groups(before) if not any(old.keys() & own for own in groups)), *groups]
        changes[name] = value
    return old.model_copy(update=changes, deep=True)


def _groups(zips: Axes | list[Axes]) -> list[Axes]:
    """The lists that go together, each with its names."""
    return zips if isinstance(zips, list) else [zips]


def _check_numbers(plot: Plot, path: str) -> None:
    """Limits of axes and heights of lines are finite; on a logarithmic axis they are above 0."""
    for name, limits, scale in (("xlim", plot.xlim, plot.xscale), ("ylim", plot.ylim, plot.yscale)):
        finite = all(map(math.isfinite, limits or ()))
        if limits and not (finite and limits[0] != limits[1]):
            raise ConfigError(
                f"{path}.{name}", limits, "two different finite numbers", "leave it out for the range shown"
            )
        if limits and scale == "log" and min(limits) <= 0:
            raise ConfigError(f"{path}.{name}", limits, "numbers above 0, as the axis is logarithmic")
    for i, line in enumerate(plot.lines):
        if not math.isfinite(line.y):
            raise ConfigError(f"{path}.lines[{i}].y", line.y, "a finite number")


def _unique(table: str, names: list[str]) -> None:
    for i, name in enumerate(names):
        if name in names[:i]:
            raise ConfigError(f"{table}[{i}].id", f'"{name}"', "an id that no other has", "rename one of them")
