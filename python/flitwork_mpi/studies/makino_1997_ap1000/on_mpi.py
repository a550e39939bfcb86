"""The operations of figures 2 to 5 on real MPI: the least of ten calls of each, fitted as the simulated ones are.

Broadcast, scatter and gather are the MPI library's own. A total exchange is carried out in the orders of the study,
from the step functions that the simulator runs. A real machine does not say where its ranks are: relative order takes
ranks for the cells of a torus of two rows, and the way round that a message takes is the network's affair, so that
relative order in one direction is the same.
"""

from __future__ import annotations

import os
import re
import shlex
import zlib
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
from flitwork.base.errors import ConfigError
from flitwork.base.output_files import write_csv
from flitwork.studies.claims import Judged, judged, load_claims
from flitwork.studies.makino_1997_ap1000.figures import side_by_side
from flitwork.studies.makino_1997_ap1000.measures import (
    BUS,
    RELATIVE,
    fitted,
    least,
    lines,
    one_message,
    totals,
)
from flitwork.studies.on_mpi import OnMpi, RowCallback

from flitwork_mpi.native.launcher import ranks_of_launcher
from flitwork_mpi.studies.makino_1997_ap1000.claims_on_mpi import Series, claims, measured_gains
from flitwork_mpi.studies.makino_1997_ap1000.ways_on_mpi import ORDERS, Sizes, ways
from flitwork_mpi.tune.operations import bench_operations, job_of
from flitwork_mpi.tune.session import Job
from flitwork_mpi.tune.table import read_measurements

#: Lines over the number of ranks need three of them.
_LEAST_RANKS = 4
#: Our library knows algorithms by names of up to 255 characters, that of a file included.
_LONGEST_NAME = 200
_FAMILIES = {"openmpi": "Open MPI", "mpich": "MPICH", "intel": "Intel MPI", "mvapich": "MVAPICH"}
_MODELS = {"lengths": "linear_bytes", "cells": "linear_ranks", "total": "total_exchange"}


def check(launcher: Sequence[str]) -> None:
    """Starts a job of ``launcher``, and says what would be wrong later: :func:`measure` runs behind simulations.

    Raises :class:`flitwork.ConfigError` for a launcher that cannot be run, that does not say how many ranks it starts,
    or starts fewer than 4; :class:`flitwork.SimulationError` where the job fails.
    """
    told = ranks_of_launcher(launcher)
    if told is not None:
        _check_ranks(told, launcher)
    ranks = job_of(launcher).ranks
    if told is not None and ranks != told:
        hint = "does the mpicc beside the launcher belong to the same MPI library?"
        raise ConfigError("mpi", shlex.join(launcher), f"{told} ranks; a job had {ranks}", hint)
    _check_ranks(ranks, launcher)


@contextmanager
def _steps_in(folder: Path) -> Iterator[Path]:
    """Where the files of steps are: in ``folder``, or elsewhere meanwhile if its name cannot be in our library's rules.

    A rule is a line of words, one of which is the name of the file.
    """
    steps = folder / "steps"
    if re.fullmatch(r"[^\s#\"']+", str(steps)) and len(str(steps)) <= _LONGEST_NAME:
        yield steps
        return
    with TemporaryDirectory(prefix="flitwork-steps-") as other:
        yield Path(other)


def _check_ranks(ranks: int, launcher: Sequence[str]) -> None:
    if ranks < _LEAST_RANKS:
        expected = f"{_LEAST_RANKS} ranks or more: a line over ranks needs 3 numbers"
        raise ConfigError("mpi", shlex.join(launcher), expected, f"mpirun -n {_LEAST_RANKS}")


def measure(
    launcher: Sequence[str], folder: Path, results: pd.DataFrame, quick: bool = False, told: RowCallback | None = None
) -> OnMpi:
    """Measures with ``launcher``, such as ``["mpirun", "-n", "8"]``, and fits what came out beside ``results``.

    Times are in a file ``times-*.csv`` of ``folder``, each when it is known: the same call continues. Raises
    :class:`flitwork.ConfigError` for a launcher that cannot be run or starts fewer than 4 ranks, and
    :class:`flitwork.SimulationError` where a job fails.
    """
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    job = job_of(launcher)
    _check_ranks(job.ranks, launcher)
    file, sizes = _file(folder, launcher, job), Sizes.of_study(quick)
    with _steps_in(folder) as steps:
        table = bench_operations(launcher, job, ways(launcher, job.ranks, sizes, steps), file, told=told)
    machine = _machine(table, job.ranks)
    series, fits = _fitted(table, job.ranks, sizes, results)
    write_csv(fits, folder / "fits.csv")
    return OnMpi(
        machine=machine,
        launcher=launcher,
        file=file,
        found=[*_conditions(job), *_gained(series)],
        claims=_judged(series, fits, table),
        table=fits,
        figures=side_by_side(results, series, machine, folder / "figures"),
    )


def judge_stored(folder: Path, results: pd.DataFrame, quick: bool = False) -> list[tuple[str, list[Judged]]]:
    """The claims by the times that lie in ``folder``, of each launcher and MPI library: its machine, and what came out.

    Times whose measurement has not reached its end count as far as they go.
    """
    found = []
    for file in sorted(folder.glob("times-*.csv")):
        # The same launcher may have been of another version before.
        for _, table in read_measurements(file).groupby(["mpi", "version"], sort=False):
            ranks = int(table["ranks"].max())
            series, fits = _fitted(table, ranks, Sizes.of_study(quick), results)
            found.append((_machine(table, ranks), _judged(series, fits, table)))
    return found


def _fitted(table: pd.DataFrame, ranks: int, sizes: Sizes, results: pd.DataFrame) -> tuple[list[Series], pd.DataFrame]:
    series = list(_series(table, ranks, sizes))
    fits = pd.DataFrame([_fit(what, name, part, results) for what, name, part in series if what in _MODELS])
    return series, fits[fits["R², here"].notna()].reset_index(drop=True)


def _judged(series: Sequence[Series], fits: pd.DataFrame, table: pd.DataFrame) -> list[Judged]:
    declared = load_claims(Path(__file__).with_name("on_mpi.toml"))
    return judged(declared, claims(series, fits), table, quick=False)


def _machine(table: pd.DataFrame, ranks: int) -> str:
    first = table.iloc[0]
    return f"{_FAMILIES.get(first['mpi'], first['mpi'])} {first['version']}, {ranks} ranks"


def _file(folder: Path, launcher: Sequence[str], job: Job) -> Path:
    """Where the times of a job are: those of other ranks, or of ranks that lie elsewhere, are not mixed with them."""
    return folder / f"times-{job.ranks}-{zlib.crc32(shlex.join(launcher).encode()):08x}.csv"


def _series(table: pd.DataFrame, ranks: int, sizes: Sizes) -> Iterator[Series]:
    """What each figure shows of each operation, with columns as those of the simulated times."""
    table = table.assign(order=table["algorithm"].map(ORDERS).fillna(""), bytes=table["bytes"].astype(float))
    messages = table[table["operation"] == "point_to_point"]
    yield "peers", "one message", messages
    names = [(operation, operation, "") for operation in BUS]
    names += [(f"total exchange, {order}", "alltoall", order) for order in ORDERS.values()]
    for name, operation, order in names:
        part = table[(table["operation"] == operation) & (table["order"] == order)]
        lengths = sizes.exchanges if order else sizes.messages
        yield "lengths", name, part[(part["ranks"] == ranks) & part["bytes"].isin(lengths)]
        yield "cells", name, part[part["bytes"] == max(lengths)]
    yield "lengths", "one message", messages[messages["ranks"] == ranks]
    relative = table[(table["operation"] == "alltoall") & (table["order"] == RELATIVE)]
    for size in sizes.totals:
        yield "total", f"{size // 1024:,} KiB in all", relative[relative["bytes"] == size // relative["ranks"] ** 2]


def _fit(what: str, name: str, part: pd.DataFrame, results: pd.DataFrame) -> dict[str, object]:
    """A row: the parameters measured here, with intervals of 95 %, beside those of the simulated AP1000."""
    simulated = dict(_simulated(results, what)).get(name)
    row: dict[str, object] = {"over": what, "what": name, "model": _MODELS[what]}
    for whose, data in (("here", part), ("simulated", simulated)):
        found = None if data is None or len(least(data)) < 3 else fitted(data, _MODELS[what])
        for parameter in ("a", "t0"):
            given = None if found is None else found.parameters[parameter]
            row[f"{parameter}, {whose}"] = None if given is None else given.value
            row[f"{parameter} low, {whose}"] = None if given is None else given.low
            row[f"{parameter} high, {whose}"] = None if given is None else given.high
        row[f"R², {whose}"] = None if found is None else found.r_squared
        row[f"warnings, {whose}"] = "" if found is None else ", ".join(one.code for one in found.warnings)
    return row


def _simulated(results: pd.DataFrame, what: str) -> Iterator[tuple[str, pd.DataFrame]]:
    if what == "total":
        yield from ((f"{size:,} KiB in all", part) for size, part in totals(results))
        return
    yield from lines(results, what)
    if what == "lengths":
        yield "one message", one_message(results)


def _conditions(job: Job) -> list[str]:
    """What a reader must know of how it was measured."""
    here = os.cpu_count() or 1
    said = ["Rows here.* ask of this machine what the paper says of the AP1000: none of them judges the paper."]
    if job.most > here:
        said.append(
            f"{job.most} ranks shared the {here} cores of a server: their times say more of the scheduler than of MPI."
        )
    elif (load := os.getloadavg()[0]) > here + 1:
        said.append(
            f"The {here} cores of this machine were busy (load {load:.0f}): times have noise of other programs."
        )
    return said


def _gained(series: Sequence[Series]) -> list[str]:
    """By how much relative order was shorter than each absolute one."""
    said = []
    for order, part in measured_gains(series).groupby("order"):
        ordered = part.sort_values("gain").to_dict("records")
        said.append(f"Relative order beside {order}: {_words(ordered[-1])}; {_words(ordered[0])}.")
    return said


def _words(row: Mapping[Hashable, Any]) -> str:
    gain = 100 * row["gain"]
    how = f"{abs(gain):.0f} % {'shorter' if gain >= 0 else 'longer'}"
    return f"{how} for {row['bytes'] / 1024:g} KiB among {row['ranks']:g} ranks"
