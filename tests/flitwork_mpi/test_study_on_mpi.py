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
from flitwork.studies.makino_1997_ap1000 import measures
from flitwork_mpi.native.launcher import ranks_of_launcher
from flitwork_mpi.studies.makino_1997_ap1000 import claims_on_mpi, on_mpi, ways_on_mpi
from flitwork_mpi.tune import session
from flitwork_mpi.tune.operations import Measurement, Way, bench_operations, job_of
from flitwork_mpi.tune.session import BenchError
from flitwork_mpi.tune.store import Stored
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


pytestmark = pytest.mark.usefixtures("mpi_programs")


def few(job: session.Job) -> list[Way]:
    names = ("broadcast", "scatter", "gather", "point_to_point", "alltoall", "alltoallv")
    sizes = [(size, ranks) for size in (0, 5) for ranks in (2, 3, job.ranks)]
    return [Way("library", {}, [Measurement(name, *where) for name in names for where in sizes])]


@pytest.mark.parametrize("family", FAMILIES)
def test_operations_on_the_first_ranks(family: str, tmp_path: Path) -> None:
    launcher = Library.needed(family).launcher(4)
    job = job_of(launcher)
    told: list[Any] = []

    def run() -> pd.DataFrame:
        told.clear()
        file = tmp_path / "t.csv"
        return bench_operations(launcher, job, few(job), file, calls=3, told=lambda *row: told.append(row[1:]))

    table = run()
    assert told[0] == (1, 36) and told[-1] == (36, 36)
    assert table["verified"].all() and (table["seconds"] > 0).all() and (table["repetitions"] == 3).all()
    assert sorted({*table["ranks"]}) == [2, 3, 4] and {*table["mpi"]} == {family}
    # What is stored is not measured again.
    pd.testing.assert_frame_equal(run(), table, check_dtype=False)
    assert not told


def test_wrong_data_are_no_times(tmp_path: Path) -> None:
    found = Library.needed("mpich")
    broken = found.build(BROKEN, tmp_path / "broken.so", "-shared", "-fPIC")
    way = Way("library", {"LD_PRELOAD": str(broken)}, [Measurement("broadcast", 5, 3)])
    with pytest.raises(fw.SimulationError, match="broadcast of 5 bytes among 3 ranks, library: wrong data"):
        bench_operations(found.launcher(3), job_of(found.launcher(3)), [way], tmp_path / "t.csv")
    assert not (tmp_path / "t.csv").exists()


def test_a_command_that_makes_no_sense_ends_the_job(tmp_path: Path) -> None:
    way = Way("library", {}, [Measurement("broadcast", 5, 9)])
    launcher = Library.needed("mpich").launcher(2)
    with pytest.raises(BenchError, match="cannot do this command"):
        bench_operations(launcher, job_of(launcher), [way], tmp_path / "t.csv")


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
    launcher = Library.needed(family).launcher(4)
    found = on_mpi.measure(launcher, tmp_path / "it is 'mine' #1", _simulated(), quick=True)
    times = pd.read_csv(found.file)
    assert times["verified"].all() and {*times["algorithm"]} == {"library", *ways_on_mpi.ORDERS}
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
    assert len(page.figures) == 4 and "--mpi '" in page.command
    # What is asked of this machine stands apart: the paper has no verdict by it, and every claim has a value.
    assert {claim.by for claim in page.claims} == {"this machine"} and not page.scores.paper
    assert len(page.claims) == 9 and all(claim.ours is not None and not claim.fails for claim in page.claims)
    # The same again measures nothing.
    told: list[Any] = []
    on_mpi.measure(launcher, tmp_path / "it is 'mine' #1", _simulated(), quick=True, told=lambda *row: told.append(row))
    assert not told


def test_orders_are_those_of_the_simulated_study() -> None:
    """The algorithms that are measured are the ones that the study simulates under these names."""
    from flitwork.experiment.study_file import load_study
    from flitwork.studies import published

    study = load_study(published()["makino-1997-ap1000"].folder / "study.toml")
    zipped: Any = next(one for one in study.experiments if one.id == "exchange_lengths").zip
    simulated = dict(zip(zipped[0]["order"], zipped[0]["workload.algorithm"], strict=True))
    assert {order: simulated[order] for order in ways_on_mpi.ORDERS.values()} == {
        order: algorithm for algorithm, order in ways_on_mpi.ORDERS.items()
    }


def test_the_numbers_of_ranks() -> None:
    assert ways_on_mpi.counts(4) == [2, 3, 4] and ways_on_mpi.counts(9) == [2, 3, 4, 5, 6, 7, 8, 9]
    for ranks in (10, 16, 100, 4096):
        counts = ways_on_mpi.counts(ranks)
        assert counts[0] == 2 and counts[-1] == ranks and counts == sorted({*counts}) and len(counts) <= 9


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["takaue-2010-a2at", "--mpi", "mpirun -n 4"], "a study that can be measured on real MPI (makino-1997-ap1000)"),
        (["--all", "--mpi", "mpirun -n 4"], "one study beside it"),
        (["makino-1997-ap1000", "--mpi", "  "], "what starts ranks"),
        (["makino-1997-ap1000", "--mpi", "mpirun -n '4"], "words as a shell reads them"),
        (["makino-1997-ap1000", "--mpi", "no-such-launcher -n 4"], "a command that can be run"),
        (["makino-1997-ap1000", "--mpi", "mpirun"], "told how many ranks it starts"),
        (["makino-1997-ap1000", "--mpi", "mpirun -n 1"], "4 ranks or more"),
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
        on_mpi.measure(Library.needed("mpich").launcher(ranks), tmp_path / "mpi", _simulated(), quick=True)


@pytest.mark.parametrize(
    ("words", "ranks"),
    [
        ("mpirun -n 8", 8),
        ("mpirun.mpich -np 4 --bind-to core", 4),
        ("srun -n16", 16),
        ("/opt/bin/mpiexec --ntasks=2", 2),
        ("mpirun -n 2 -n 8", 8),
        ("./start.sh", None),
    ],
)
def test_how_many_ranks_a_launcher_is_told(words: str, ranks: int | None) -> None:
    assert ranks_of_launcher(words.split()) == ranks


@pytest.mark.parametrize(
    "words", ["mpirun", "mpirun -n", "mpirun -n four", "mpirun.openmpi --oversubscribe", "srun -n 0x4"]
)
def test_a_launcher_that_is_not_told_how_many_ranks(words: str) -> None:
    with pytest.raises(fw.ConfigError, match="told how many ranks"):
        on_mpi.check(words.split())


@pytest.mark.parametrize("ranks", [0, 1, 2, 3])
def test_too_few_ranks_are_refused_before_anything_is_started(ranks: int) -> None:
    with pytest.raises(fw.ConfigError, match="4 ranks or more"):
        on_mpi.check(["mpirun", "-n", str(ranks)])


def test_the_job_has_as_many_ranks_as_the_launcher_was_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_mpi, "job_of", lambda _: session.Job(1, 1, 1, "Open MPI v4.1.4"))
    with pytest.raises(fw.ConfigError, match="8 ranks; a job had 1"):
        on_mpi.check(["mpirun", "-n", "8"])
    # What is no launcher that is known is asked by its job.
    with pytest.raises(fw.ConfigError, match="4 ranks or more"):
        on_mpi.check(["./start.sh"])


def test_a_job_that_fails_is_told_before_anything_is_simulated() -> None:
    with pytest.raises(BenchError, match="no-such-option"):
        on_mpi.check([*Library.needed("mpich").launcher(4), "--no-such-option"])


def test_the_papers_statements_asked_of_this_machine() -> None:
    def times(us: Any, counts: tuple[int, ...] = (2, 3, 4), order: str = "") -> pd.DataFrame:
        rows = [{"bytes": 4096.0, "ranks": n, "seconds": 1e-6 * us(n)} for n in counts]
        return pd.DataFrame(rows).assign(operation="x", order=order)

    # Among 2 ranks all orders are one; among 4 relative order is 20 % shorter, among 3 a quarter longer.
    relative = {2: 99, 3: 50, 4: 80}.__getitem__
    series = [
        ("peers", "one message", times(lambda n: 10 + n, (2, 4))),
        ("cells", "broadcast", times(lambda n: 10 * n)),
        ("cells", f"total exchange, {measures.RELATIVE}", times(relative, order=measures.RELATIVE)),
        ("cells", "total exchange, cell", times({2: 9, 3: 40, 4: 100}.__getitem__, order=measures.ABSOLUTE["cell"])),
    ]
    fits = pd.DataFrame(
        [("lengths", "gather", 0.9), ("cells", "gather", 0.8), ("cells", "broadcast", 0.1), ("total", "t", 0.7)],
        columns=["over", "what", "R², here"],
    )
    found = {claim.id: claim.ours for claim in claims_on_mpi.claims(series, fits)}
    assert found == {
        "here.F2": pytest.approx(14 / 12 - 1),
        "here.F3.linear": 0.9,
        "here.F4.linear": 0.8,
        "here.F4.broadcast": pytest.approx(1),
        "here.F5.linear": 0.7,
        "here.gain.cell": pytest.approx(0.2),
        "here.never-longer": 0.5,
    }


def test_claims_of_this_machine_are_printed_where_it_was_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from flitwork.cli import report

    folder = tmp_path / "makino-1997-ap1000-quick"
    (folder / "mpi").mkdir(parents=True)
    _simulated().to_parquet(folder / "results.parquet")
    monkeypatch.setattr(report, "judge_stored", lambda *_: ([], True))

    def printed(*more: str) -> str:
        words = ["flitwork", "claims", "makino-1997-ap1000", "--quick", "--folder", str(tmp_path), *more]
        monkeypatch.setattr(sys, "argv", words)
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 0
        return capsys.readouterr().out

    assert json.loads(printed("--json")) == []
    # A message takes 10 us to rank 1 and 11 us to rank 3: the farther one takes a tenth longer.
    stored = Stored(folder / "mpi" / "times-4-0badcafe.csv")
    for ranks, seconds in ((2, 10e-6), (4, 11e-6)):
        row = {"operation": "point_to_point", "algorithm": "library", "bytes": 1024, "ranks": ranks, "seconds": seconds}
        more = {"ranks_per_server": 4, "mpi": "mpich", "version": "4.0", "low": seconds, "high": seconds}
        stored.add({**row, **more, "repetitions": 10, "verified": True})
    found = {row["id"]: row for row in json.loads(printed("--json"))}
    assert len(found) == 9 and {row["by"] for row in found.values()} == {"this machine"}
    assert found["here.F2"]["ours"] == pytest.approx(0.1) and found["here.F2"]["machine"] == "MPICH 4.0, 4 ranks"
    assert found["here.F5.linear"]["verdict"] == "not measured"
    assert "this machine" in printed() and "here.F2" in printed()
    # The same launcher is of another version now: each is judged by its own times.
    for ranks, seconds in ((2, 10e-6), (4, 12e-6)):
        row = {"operation": "point_to_point", "algorithm": "library", "bytes": 1024, "ranks": ranks, "seconds": seconds}
        more = {"ranks_per_server": 4, "mpi": "mpich", "version": "5.0", "low": seconds, "high": seconds}
        stored.add({**row, **more, "repetitions": 10, "verified": True})
    both = {row["machine"]: row["ours"] for row in json.loads(printed("--json")) if row["id"] == "here.F2"}
    assert both == {"MPICH 4.0, 4 ranks": pytest.approx(0.1), "MPICH 5.0, 4 ranks": pytest.approx(0.2)}


def test_times_of_other_launchers_are_kept_apart(tmp_path: Path) -> None:
    job = session.Job(8, 8, 8, "")
    files = {on_mpi._file(tmp_path, words.split(), job) for words in ("mpirun -n 8", "mpirun -n 8 --map-by node")}
    assert len(files) == 2


def test_a_launch_that_fails_is_told(tmp_path: Path) -> None:
    launcher = [Library.needed("mpich").mpirun, "--no-such-option"]
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
