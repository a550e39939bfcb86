"""The operations of figures 2 to 5 on real MPI: the least of ten calls of each, fitted as the simulated ones are.

Broadcast, scatter and gather are the MPI library's own. A total exchange is carried out in the orders of the study,
from the step functions that the simulator runs. A real machine does not say where its ranks are: relative order takes
ranks for the cells of a torus of two rows, and the way round that a message takes is the network's affair, so that
relative order in one direction is the same.
"""

from __future__ import annotations

import os
import shlex
import zlib
from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from flitwork.errors import ConfigError
from flitwork.files import write_csv
from flitwork.mpi.native import build
from flitwork.mpi.native.launcher import ranks_told
from flitwork.mpi.step_table import step_table
from flitwork.networks import Torus
from flitwork.studies.claims import judged, load_claims
from flitwork.studies.makino_1997_ap1000.claims_on_mpi import Series, claims, measured_gains
from flitwork.studies.makino_1997_ap1000.figures import side_by_side
from flitwork.studies.makino_1997_ap1000.measures import (
    ABSOLUTE,
    BUS,
    RELATIVE,
    fitted,
    least,
    lines,
    one_message,
    totals,
)
from flitwork.studies.on_mpi import OnMpi, RowTold
from flitwork.tune.operations import Measurement, Way, bench_operations, job_of
from flitwork.tune.session import Job

#: The orders of a total exchange, by the algorithm that has it.
ORDERS = {
    "a2and": RELATIVE,
    "by_number": ABSOLUTE["cell"],
    "simple_spread": ABSOLUTE["shift"],
    "xor_spread": ABSOLUTE["xor"],
}
_POWERS_OF_TWO = "xor_spread"
#: Lines over the number of ranks need three of them.
_LEAST_RANKS = 4
_MOST_COUNTS = 8
_KIB = {True: (1, 4, 16, 64), False: (1, 2, 4, 8, 16, 32, 64)}
_EXCHANGED_KIB = {True: (1, 2, 4), False: (1, 4, 16, 64)}
_TOTAL_KIB = {True: (64, 256), False: (256, 1024, 4096, 16384)}
_FAMILIES = {"openmpi": "Open MPI", "mpich": "MPICH", "intel": "Intel MPI", "mvapich": "MVAPICH"}
_MODELS = {"lengths": "linear_bytes", "cells": "linear_ranks", "total": "total_exchange"}


def check(launcher: Sequence[str], folder: Path) -> None:
    """Starts a job of ``launcher``, and says what would be wrong later: :func:`measure` runs behind simulations.

    Raises :class:`flitwork.ConfigError` for a launcher that cannot be run, that does not say how many ranks it starts,
    or starts fewer than 4, and for a folder with blanks in its path; :class:`flitwork.SimulationError` where the job
    fails.
    """
    _check_folder(folder.resolve())
    told = ranks_told(launcher)
    if told is not None:
        _check_ranks(told, launcher)
    ranks = job_of(launcher).ranks
    if told is not None and ranks != told:
        hint = "does the mpicc beside the launcher belong to the same MPI library?"
        raise ConfigError("mpi", shlex.join(launcher), f"{told} ranks; a job had {ranks}", hint)
    _check_ranks(ranks, launcher)


def _check_folder(folder: Path) -> None:
    if len(str(folder).split()) != 1:
        raise ConfigError("out", folder, "a folder without blanks in its path", "files of steps are named by words")


def _check_ranks(ranks: int, launcher: Sequence[str]) -> None:
    if ranks < _LEAST_RANKS:
        expected = f"{_LEAST_RANKS} ranks or more: a line over ranks needs 3 numbers"
        raise ConfigError("mpi", shlex.join(launcher), expected, f"mpirun -n {_LEAST_RANKS}")


def measure(
    launcher: Sequence[str], folder: Path, results: pd.DataFrame, quick: bool = False, told: RowTold | None = None
) -> OnMpi:
    """Measures with ``launcher``, such as ``["mpirun", "-n", "8"]``, and fits what came out beside ``results``.

    Times are in a file ``times-*.csv`` of ``folder``, each when it is known: the same call continues. Raises
    :class:`flitwork.ConfigError` for a launcher that cannot be run or starts fewer than 4 ranks, and
    :class:`flitwork.SimulationError` where a job fails.
    """
    folder = folder.resolve()
    _check_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    jobs: list[Job] = []
    plan = partial(_ways, launcher=launcher, folder=folder, quick=quick, jobs=jobs)
    table = bench_operations(launcher, plan, partial(_file, folder, launcher), told=told)
    job = jobs[-1]
    wanted = {(m.operation, m.bytes, m.ranks) for m in _library(job.ranks, quick) + _exchanges(job.ranks, quick)}
    table = table[[key in wanted for key in zip(table["operation"], table["bytes"], table["ranks"], strict=True)]]
    first = table.iloc[0]
    machine = f"{_FAMILIES.get(first['mpi'], first['mpi'])} {first['version']}, {job.ranks} ranks"
    series = list(_series(table, job.ranks, quick))
    fits = pd.DataFrame([_fit(what, name, part, results) for what, name, part in series if what in _MODELS])
    fits = fits[fits["R², here"].notna()].reset_index(drop=True)
    write_csv(fits, folder / "fits.csv")
    declared = load_claims(Path(__file__).with_name("on_mpi.toml"))
    return OnMpi(
        machine=machine,
        launcher=launcher,
        file=_file(folder, launcher, job),
        found=[*_conditions(job), *_gained(series)],
        claims=judged(declared, claims(series, fits), table, quick=False),
        table=fits,
        figures=side_by_side(results, series, machine, folder / "figures"),
    )


def _file(folder: Path, launcher: Sequence[str], job: Job) -> Path:
    """Where the times of a job are: those of other ranks, or of ranks that lie elsewhere, are not mixed with them."""
    return folder / f"times-{job.ranks}-{zlib.crc32(shlex.join(launcher).encode()):08x}.csv"


def _counts(ranks: int) -> list[int]:
    """The numbers of ranks that are measured: all of a few, or some of many, with the last."""
    if ranks <= _MOST_COUNTS + 1:
        return list(range(2, ranks + 1))
    return sorted({2 * round(ranks * k / (2 * _MOST_COUNTS)) for k in range(1, _MOST_COUNTS)} | {2, ranks})


def _library(ranks: int, quick: bool) -> list[Measurement]:
    """What the MPI library carries out by itself."""
    found = [Measurement("point_to_point", 1024 * kib, peer) for kib in _KIB[quick] for peer in range(2, ranks + 1)]
    for operation in BUS:
        found += [Measurement(operation, 1024 * kib, ranks) for kib in _KIB[quick]]
        found += [Measurement(operation, 1024 * max(_KIB[quick]), count) for count in _counts(ranks)]
    return list(dict.fromkeys(found))


def _exchanges(ranks: int, quick: bool) -> list[Measurement]:
    found = [Measurement("alltoall", 1024 * kib, ranks) for kib in _EXCHANGED_KIB[quick]]
    counts = _counts(ranks)
    found += [Measurement("alltoall", 1024 * max(_EXCHANGED_KIB[quick]), count) for count in counts]
    found += [Measurement("alltoall", 1024 * kib // count**2, count) for kib in _TOTAL_KIB[quick] for count in counts]
    return list(dict.fromkeys(found))


def _ways(job: Job, launcher: Sequence[str], folder: Path, quick: bool, jobs: list[Job]) -> list[Way]:
    """What is measured in a job of so many ranks, which ``jobs`` learns of."""
    _check_ranks(job.ranks, launcher)
    jobs.append(job)
    library = str(build.library(launcher))
    ways = [Way("library", {}, _library(job.ranks, quick))]
    for algorithm in ORDERS:
        some = [one for one in _exchanges(job.ranks, quick) if _defined(algorithm, one.ranks)]
        told = {
            "LD_PRELOAD": library,
            "FLITWORK_MPI_RULES": str(_rules(algorithm, sorted({one.ranks for one in some}), folder / "steps")),
            "FLITWORK_MPI_STRICT": "1",
            "FLITWORK_MPI_REPORT": "1",
        }
        ways.append(Way(algorithm, told, some, ours=True))
    return ways


def _defined(algorithm: str, ranks: int) -> bool:
    return algorithm != _POWERS_OF_TWO or ranks & (ranks - 1) == 0


def _rules(algorithm: str, counts: Sequence[int], folder: Path) -> Path:
    """Rules for our library: the steps of an order for each number of ranks."""
    folder.mkdir(exist_ok=True)
    lines_of_file = []
    for count in counts:
        where = {"network": Torus(*_cells(count))} if algorithm == "a2and" else {"ranks": count}
        steps = step_table(algorithm, **where).save(folder / f"{algorithm}-{count}.steps")
        lines_of_file.append(f"alltoall ranks={count} algorithm=table:{steps}\n")
    rules = folder / f"{algorithm}.rules"
    rules.write_text("".join(lines_of_file), encoding="utf-8")
    return rules


def _cells(ranks: int) -> tuple[int, ...]:
    """Ranks as the cells of a torus: two rows, or one where their number is odd."""
    return (ranks // 2, 2) if ranks % 2 == 0 and ranks > 2 else (ranks,)


def _series(table: pd.DataFrame, ranks: int, quick: bool) -> Iterator[Series]:
    """What each figure shows of each operation, with columns as those of the simulated times."""
    table = table.assign(order=table["algorithm"].map(ORDERS).fillna(""), bytes=table["bytes"].astype(float))
    longest = {"alltoall": 1024 * max(_EXCHANGED_KIB[quick])}
    messages = table[table["operation"] == "point_to_point"]
    yield "peers", "one message", messages
    names = [(operation, operation, "") for operation in BUS]
    names += [(f"total exchange, {order}", "alltoall", order) for order in ORDERS.values()]
    for name, operation, order in names:
        part = table[(table["operation"] == operation) & (table["order"] == order)]
        sizes = {1024 * kib for kib in (_EXCHANGED_KIB if order else _KIB)[quick]}
        yield "lengths", name, part[(part["ranks"] == ranks) & part["bytes"].isin(sizes)]
        yield "cells", name, part[part["bytes"] == longest.get(operation, 1024 * max(_KIB[quick]))]
    yield "lengths", "one message", messages[messages["ranks"] == ranks]
    relative = table[(table["operation"] == "alltoall") & (table["order"] == RELATIVE)]
    for size in _TOTAL_KIB[quick]:
        yield "total", f"{size:,} KiB in all", relative[relative["bytes"] == 1024 * size // relative["ranks"] ** 2]


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
