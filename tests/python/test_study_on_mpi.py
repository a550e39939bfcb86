"""``flitwork reproduce makino-1997-ap1000 --mpi``: what is measured on real MPI, what comes of it, what is refused."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import flitwork as fw
import pandas as pd
import pytest
from flitwork.cli import main
from flitwork.report import of_measurements
from flitwork.studies.makino_1997_ap1000 import measures, on_mpi
from flitwork.tune import session
from flitwork.tune.operations import Measurement, Way, bench_operations
from flitwork.tune.session import BenchError
from mpi_libraries import Library

FAMILIES = ["mpich", pytest.param("openmpi", marks=pytest.mark.slow)]
#: MPI_Bcast gives the last rank a wrong byte.
BROKEN = r"""
#include <mpi.h>
int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    int rank, ranks, done = PMPI_Bcast(data, count, type, root, comm);
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    if (type == MPI_BYTE && rank == ranks - 1) ((char *)data)[count - 1] ^= 1;
    return done;
}
"""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def as_root(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))


def library(family: str) -> Library:
    found = Library.found(family)
    if found is None:
        pytest.skip(f"no mpirun of {family} with its mpicc, or no cc: {family} was not measured")
    return found


def few(job: session.Job) -> list[Way]:
    names = ("broadcast", "scatter", "gather", "point_to_point", "alltoall", "alltoallv")
    sizes = [(size, ranks) for size in (0, 5) for ranks in (2, 3, job.ranks)]
    return [Way("library", {}, [Measurement(name, *where) for name in names for where in sizes])]


@pytest.mark.parametrize("family", FAMILIES)
def test_operations_on_the_first_ranks(family: str, tmp_path: Path) -> None:
    launcher = library(family).launcher(4)
    told: list[Any] = []

    def run() -> pd.DataFrame:
        told.clear()
        return bench_operations(
            launcher, few, lambda _: tmp_path / "t.csv", calls=3, told=lambda *row: told.append(row[1:])
        )

    table = run()
    assert told[0] == (1, 36) and told[-1] == (36, 36)
    assert table["verified"].all() and (table["seconds"] > 0).all() and (table["repetitions"] == 3).all()
    assert sorted({*table["ranks"]}) == [2, 3, 4] and {*table["mpi"]} == {family}
    # What is stored is not measured again.
    pd.testing.assert_frame_equal(run(), table, check_dtype=False)
    assert not told


def test_wrong_data_are_no_times(tmp_path: Path) -> None:
    found = library("mpich")
    broken = found.build(BROKEN, tmp_path / "broken.so", "-shared", "-fPIC")
    way = Way("library", {"LD_PRELOAD": str(broken)}, [Measurement("broadcast", 5, 3)])
    with pytest.raises(fw.SimulationError, match="broadcast of 5 bytes among 3 ranks, library: wrong data"):
        bench_operations(found.launcher(3), lambda _: [way], lambda _: tmp_path / "t.csv")
    assert not (tmp_path / "t.csv").exists()


def test_a_command_that_makes_no_sense_ends_the_job(tmp_path: Path) -> None:
    way = Way("library", {}, [Measurement("broadcast", 5, 9)])
    with pytest.raises(BenchError, match="cannot do this command"):
        bench_operations(library("mpich").launcher(2), lambda _: [way], lambda _: tmp_path / "t.csv")


def _simulated() -> pd.DataFrame:
    """Times of the simulated study that are lines."""
    rows: list[dict[str, Any]] = []
    for order in (measures.RELATIVE, *measures.ABSOLUTE.values()):
        for columns in (2, 4, 8):
            for kib in (1, 2, 4):
                us = (2 * columns - 1) * (kib * 51.2 + 50)
                where = {"columns": columns, "message_bytes": 1024 * kib, "KiB": kib, "total_KiB": kib * 4 * columns**2}
                rows.append({**where, "order": order, "workload.operation": "all_to_all", "seed": 1, "us": us})
    table = pd.DataFrame(rows)
    parts = {"exchange_lengths": table[table["columns"] == 8], "exchange_cells": table[table["KiB"] == 4]}
    messages = pd.DataFrame([{"KiB": kib, "cell": cell, "us": 50 + kib} for kib in (1, 4, 16) for cell in (1, 2)])
    found = [part.assign(experiment=name) for name, part in {**parts, "cell_to_cell": messages}.items()]
    return pd.concat(found, ignore_index=True)


@pytest.mark.slow
@pytest.mark.parametrize("family", ["mpich", "openmpi"])
def test_fits_of_both_machines_stand_side_by_side(family: str, tmp_path: Path) -> None:
    launcher = library(family).launcher(4)
    found = on_mpi.measure(launcher, tmp_path / "mpi", _simulated(), quick=True)
    times = pd.read_csv(found.file)
    assert times["verified"].all() and {*times["algorithm"]} == {"library", *on_mpi.ORDERS}
    # XOR needs a power of two, the others take any number of ranks.
    ranks = {str(name): sorted({*part}) for name, part in times.groupby("algorithm")["ranks"]}
    assert ranks["xor_spread"] == [2, 4] and ranks["a2and"] == ranks["library"] == [2, 3, 4]
    assert (times["seconds"] > 0).all()
    fits: dict[Any, Any] = found.table.set_index(["over", "what"]).to_dict("index")
    line = fits["lengths", "total exchange, relative"]
    assert line["a, simulated"] == pytest.approx(15 * 50e-9) and line["R², simulated"] == pytest.approx(1)
    assert line["a low, here"] <= line["a, here"] <= line["a high, here"]
    here = times[(times["algorithm"] == "a2and") & (times["ranks"] == 4) & times["bytes"].isin([1024, 2048, 4096])]
    own = fw.fit_model(here[["bytes", "ranks", "seconds"]], "linear_bytes")
    assert line["t0, here"] == pytest.approx(own.value("t0"))
    assert ("total", "64 KiB in all") in fits and ("lengths", "one message") in fits
    assert {path.stem for path in found.figures} == {f"mpi-figure-{number}" for number in (2, 3, 4, 5)}
    assert found.machine.endswith(", 4 ranks") and any("Relative order beside" in said for said in found.found)
    page = of_measurements("makino-1997-ap1000", found)
    assert len(page.figures) == 4 and not page.claims and "--mpi '" in page.command
    # The same again measures nothing.
    told: list[Any] = []
    on_mpi.measure(launcher, tmp_path / "mpi", _simulated(), quick=True, told=lambda *row: told.append(row))
    assert not told


def test_orders_are_those_of_the_simulated_study() -> None:
    """The algorithms that are measured are the ones that the study simulates under these names."""
    from flitwork.experiment.study_file import load_study
    from flitwork.studies import published

    study = load_study(published()["makino-1997-ap1000"].folder / "study.toml")
    zipped: Any = next(one for one in study.experiments if one.id == "exchange_lengths").zip
    simulated = dict(zip(zipped[0]["order"], zipped[0]["workload.algorithm"], strict=True))
    assert {order: simulated[order] for order in on_mpi.ORDERS.values()} == {
        order: algorithm for algorithm, order in on_mpi.ORDERS.items()
    }


def test_the_numbers_of_ranks() -> None:
    assert on_mpi._counts(4) == [2, 3, 4] and on_mpi._counts(9) == [2, 3, 4, 5, 6, 7, 8, 9]
    for ranks in (10, 16, 100, 4096):
        counts = on_mpi._counts(ranks)
        assert counts[0] == 2 and counts[-1] == ranks and counts == sorted({*counts}) and len(counts) <= 9


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["takaue-2010-a2at", "--mpi", "mpirun -n 4"], "a study that can be measured on real MPI (makino-1997-ap1000)"),
        (["--all", "--mpi", "mpirun -n 4"], "one study beside it"),
        (["makino-1997-ap1000", "--mpi", "  "], "what starts ranks"),
        (["makino-1997-ap1000", "--mpi", "mpirun -n '4"], "words as a shell reads them"),
        (["makino-1997-ap1000", "--mpi", "no-such-launcher -n 4"], "a command that can be run"),
    ],
)
def test_what_cannot_be_measured(
    words: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "out"
    monkeypatch.setattr(sys, "argv", ["flitwork", "reproduce", *words, "--quick", "--out", str(out)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2 and said in " ".join(capsys.readouterr().err.split())
    # Nothing is simulated first.
    assert not out.exists()


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_too_few_ranks_for_a_line(ranks: int, tmp_path: Path) -> None:
    with pytest.raises(fw.ConfigError, match="4 ranks or more"):
        on_mpi.measure(library("mpich").launcher(ranks), tmp_path / "mpi", _simulated(), quick=True)


def test_a_folder_with_a_blank_is_refused(tmp_path: Path) -> None:
    with pytest.raises(fw.ConfigError, match="without blanks"):
        on_mpi.measure(["mpirun"], tmp_path / "my results", _simulated())


def test_a_launch_that_fails_is_told(tmp_path: Path) -> None:
    launcher = [library("mpich").mpirun, "--no-such-option"]
    with pytest.raises(fw.SimulationError, match="no-such-option"):
        on_mpi.measure(launcher, tmp_path / "mpi", _simulated())


def test_json_has_what_was_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command around it, without MPI and without simulations."""
    from flitwork.cli import studies
    from flitwork.studies import OnMpi

    table = pd.DataFrame([{"over": "lengths", "what": "gather", "a, here": 1e-9, "a, simulated": float("nan")}])
    found = OnMpi("MPICH 4.0.2, 4 ranks", ["mpirun", "-n", "4"], tmp_path / "times.csv", ["Said."], table)
    assert json.loads(json.dumps(studies._measured(found), default=str))["fits"][0]["a, simulated"] is None
    studies._show_measured(found)
    shown = capsys.readouterr().out
    assert "MPICH 4.0.2, 4 ranks" in shown and "1e-09" in shown and "Said." in shown
