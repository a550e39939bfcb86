"""The run that a command of one run is about: stored, a point of a study, or one that options describe."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import typer

from flitwork import _core
from flitwork.base.errors import ConfigError, did_you_mean
from flitwork.base.formats import check_format
from flitwork.cli.options import given_options, is_study
from flitwork.cli.progress import cycles_to_simulate, shown, watcher
from flitwork.cli.what_is_simulated import NetworkOptions, WorkloadOptions, specification
from flitwork.experiment import load_study, plan_study
from flitwork.planning.specification import plan_of
from flitwork.results.result import Result, run_plan

#: Options that only a study, or only a GOAL program, has.
_OF_FILES = frozenset({"machine", "point", "quick"})


def result_of_argument(
    context: typer.Context,
    what: str,
    own_options: Collection[str],
    network: NetworkOptions,
    workload: WorkloadOptions,
    point: str | None,
    quick: bool,
    records: tuple[str, ...] = (),
) -> Result:
    """The result that ``what`` means: a stored one, or what its simulation gives, with ``records`` where they fit.

    ``own_options``: the options of the command itself, which are never refused.
    """
    file = Path(what)
    if file.suffix.lower() == ".parquet":
        refuse(context, {"what", *own_options}, "a stored result")
        return Result.load(file)
    if is_study(what):
        if file.is_file() and file.suffix.lower() != ".toml":
            expected = "a stored result (.parquet), a study (.toml) or a GOAL program (.goal, .bin)"
            check_format(file, "file", expected)
            hint = "`flitwork simulate ... --save FILE.parquet` stores a result"
            raise ConfigError("file", what, expected, hint)
        refuse(context, {"what", "point", "quick", *own_options}, "a study")
        return _run(_of_study(file, point, quick))
    refuse(context, given_options(context).keys() - _OF_FILES, "what is sent")
    return _run(plan_of(specification(what, network, records, **workload.workload_fields)))


def refuse(context: typer.Context, allowed: Collection[str], beside: str) -> None:
    """Refuses options that would be ignored."""
    for name, option in given_options(context).items():
        if name not in allowed:
            command = context.info_name
            raise ConfigError(option, "given", f"no {option} beside {beside}", f"see `flitwork {command} --help`")


def _run(plan: _core.Plan) -> Result:
    with shown("simulating", cycles_to_simulate(plan)) as progress:
        return run_plan(plan, progress)


def _of_study(file: Path, point: str | None, quick: bool) -> _core.Plan:
    """The plan of a point of a study; with one point only it need not be named."""
    jobs = {one.label: job for job in plan_study(load_study(file), quick, watcher()) for one in job.points}
    if point is None and len(jobs) == 1:
        point = next(iter(jobs))
    if point not in jobs:
        labels = list(jobs)
        some = ", ".join(f'"{label}"' for label in labels[:4]) + (", ..." if len(labels) > 4 else "")
        hint = did_you_mean(point, labels) if point else "a study has many runs: name one"
        raise ConfigError("--point", point or "nothing", f"one of the {len(labels)} points: {some}", hint)
    return jobs[point].plan()
