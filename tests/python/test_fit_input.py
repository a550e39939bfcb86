"""Bad input of fits and predictions: a clear error with place, value, what was expected and what to do."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import flitwork as fw
import numpy as np
import pandas as pd
import pytest
from flitwork.fit import MODELS, best_ranks, compare_models, fit, fit_model, predict, read_fits, save_fits
from flitwork.fit.quantity import quantity
from flitwork.fit.solve import ERRORS, METHODS
from test_tune_benchmarks import IMB, LATENCY, OSU

GOOD = pd.DataFrame(
    {"operation": "alltoall", "bytes": [8, 64, 512, 4096], "ranks": 4, "seconds": [1e-6, 2e-6, 3e-6, 9e-6]}
)


def refused(call: Callable[[], Any], *words: str) -> fw.ConfigError:
    with pytest.raises(fw.ConfigError) as caught:
        call()
    for word in words:
        assert word in str(caught.value), str(caught.value)
    assert caught.value.path and caught.value.expected
    return caught.value


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.assign(seconds=[1e-6, -2e-6, 3e-6, 4e-6]), ["row 2: seconds", "-2e-06", "above 0 s"]),
        (lambda t: t.assign(seconds=[1e-6, 0, 3e-6, 4e-6]), ["row 2: seconds", "above 0 s"]),
        (lambda t: t.assign(seconds=[1e-6, np.nan, 3e-6, 4e-6]), ["row 2: seconds", "a number"]),
        (lambda t: t.assign(seconds=[1e-6, np.inf, 3e-6, 4e-6]), ["row 2: seconds"]),
        (lambda t: t.assign(seconds=["1e-6", "2 us", "3e-6", "4e-6"]), ["row 2: seconds", "mixed units", "us"]),
        (lambda t: t.assign(bytes=[1, "4 KiB", 3, 4]), ["row 2: bytes", "mixed units", "KiB"]),
        (lambda t: t.assign(microseconds=1.0), ["microseconds", "mixed units"]),
        (lambda t: t.assign(total_bytes=64), ["total_bytes", "mixed units"]),
        (lambda t: t.rename(columns={"seconds": "time_us"}), ["time_us", "--column seconds=time_us"]),
        (lambda t: t.rename(columns={"seconds": "secnds"}), ["secnds", "unknown column", "seconds"]),
        (lambda t: t.assign(colour="red"), ["colour", "unknown column"]),
        (lambda t: t.drop(columns="seconds"), ["seconds", "missing"]),
        (lambda t: t.drop(columns="bytes"), ["bytes", "missing"]),
        (lambda t: t[:0], ["no rows"]),
        (lambda t: t[:2], ["too few points: 2", "at least 3"]),
        (lambda t: t.assign(bytes=64), ["too few points: 4", "1 of bytes"]),
        (lambda t: t.assign(bytes=[1, -2, 3, 4]), ["row 2: bytes"]),
        (lambda t: t.assign(ranks=[4, 4.5, 4, 4]), ["row 2: ranks", "whole number"]),
        (lambda t: t.assign(ranks=[2, 4, 8, 16]), ["ranks", "2, 4, 8, 16", "one value", "ranks=..."]),
        (lambda t: t.assign(operation=["a", "a", "b", "b"]), ["operation", "a, b"]),
        (lambda t: t.assign(verified=[True, True, False, True]), ["row 3: verified"]),
    ],
)
def test_a_table_that_cannot_be_fitted(change: Any, words: list[str]) -> None:
    refused(lambda: fit_model(change(GOOD), "linear_bytes"), *words)


def test_times_that_no_square_is_computed_of() -> None:
    refused(lambda: fit_model(GOOD.assign(seconds=GOOD.seconds * 1e-294), "linear_bytes"), "row 1", "at least 1e-18")


def test_a_table_with_comments_is_refused_by_its_first_line(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("# measured on Monday\n" + GOOD.to_csv(index=False))
    refused(
        lambda: fit_model(tmp_path / "t.csv", "linear_bytes"), "row of names", "# measured on Monday", "take them out"
    )


def test_columns_that_are_left_out_must_not_look_like_ours() -> None:
    """Else rows of two operations would be one series without a word."""
    table = GOOD.rename(columns={"operation": "Operation", "seconds": "time_us"})
    named = {"seconds": "time_us"}
    refused(lambda: fit(table, "linear_bytes", columns=named), "Operation", "--column operation=Operation")
    assert len(fit(table, "linear_bytes", columns={**named, "operation": "Operation"})) == 1


def _machines(N: int, message_bytes: int, vcs: int) -> tuple[fw.Network, fw.Workload]:
    net = fw.Torus(N, N, router=fw.Router(vcs=vcs), units=fw.Units(flit_bytes=16, cycle_ns=4))
    return net, fw.collective("all_to_all", "pairwise_shift", message_bytes=message_bytes, packet_flits=16)


def test_rows_of_other_machines_are_no_repetitions() -> None:
    """What an axis sets apart is a series of its own, whatever it is called."""
    table = fw.sweep(_machines, N=[2, 3], message_bytes=[64, 256], vcs=[2, 4])
    titles = [one.title for one in fit(table, "total_exchange")]
    assert titles == [f"all_to_all, pairwise_shift vcs={n}, simulated" for n in (2, 4)]
    refused(lambda: fit_model(table, "total_exchange"), "algorithm", "pairwise_shift vcs=2")
    assert fit_model(table, "total_exchange", algorithm="pairwise_shift vcs=4").conditions["algorithm"].endswith("4")
    # Where it is one number, it need not be told; a column that is named goes first.
    assert fit_model(table[table.vcs == 2], "total_exchange").conditions["algorithm"] == "pairwise_shift"
    assert len(fit(table, "total_exchange", columns={"algorithm": "workload"})) == 1
    refused(lambda: fit(table.drop(columns="vcs"), "total_exchange"), "plan_hash", "several plans")


def test_results_of_two_machines_are_refused(tmp_path: Path) -> None:
    files = []
    for vcs, size in itertools.product((2, 4), (64, 256, 1024)):
        files.append(tmp_path / f"{vcs}_{size}.parquet")
        fw.simulate(*_machines(2, size, vcs)).save(files[-1])
    refused(lambda: fit(files, "linear_bytes"), "4_64.parquet: plan_hash", "2_64.parquet", "each machine alone")
    assert [len(one.points) for one in fit(files[:3], "linear_bytes")] == [3]


def test_rows_without_a_size_are_named_as_the_table_has_them() -> None:
    table = fw.sweep(_machines, N=[2, 3], message_bytes=[64, 256], vcs=[2])
    table["message_bytes"] = table["message_bytes"].where(table.N == 3)
    refused(lambda: fit_model(table, "total_exchange"), "row 1: message_bytes", "one experiment")


def test_a_hint_with_a_space_can_be_pasted_into_a_shell() -> None:
    table = GOOD.rename(columns={"seconds": "time [us]"})
    refused(lambda: fit_model(table, "linear_bytes"), "--column 'seconds=time [us]'")


def test_a_series_that_no_model_fits_is_named() -> None:
    """As the barriers that all of Intel's benchmarks end with."""
    barrier = pd.DataFrame({"operation": "barrier", "bytes": 0, "ranks": [4], "seconds": 1e-6})
    refused(lambda: compare_models([GOOD, barrier]), "model of barrier, 0 bytes, 4 ranks", "--operation")


def test_models_that_cannot_be_compared_are_told() -> None:
    assert "not_compared" in [one.code for one in compare_models(GOOD)[0].best.warnings]
    more = pd.concat([GOOD, GOOD.assign(seconds=GOOD.seconds * 1.1)])
    assert "not_compared" not in [one.code for one in compare_models(more)[0].best.warnings]


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"model": "linear_byte"}, ["model", "did you mean `linear_bytes`?"]),
        ({"method": "hubert"}, ["method", "did you mean `huber`?"]),
        ({"errors": "relativ"}, ["errors", "relative"]),
        ({"take": "best"}, ["take", "minimum"]),
        ({"confidence": 95}, ["confidence", "between 0 and 1"]),
        ({"ranks": 5}, ["ranks", "4"]),
        ({"operatio": "x"}, ["operatio", "did you mean `operation`?"]),
        ({"model": "segmented"}, ["too few points", "6 in all"]),
        ({"model": "loggp", "data": GOOD.assign(operation="allreduce")}, ["operation", "allreduce", "linear_bytes"]),
        ({"model": "max_rate", "data": GOOD.assign(ranks=1)}, ["ranks", "at least 2"]),
        ({"columns": {"byte": "bytes"}}, ["columns.byte"]),
        ({"columns": {"bytes": "size"}}, ["size", "no such column"]),
        ({"columns": {"seconds": "t_cycles"}, "data": GOOD.assign(t_cycles=1)}, ["t_cycles", "units"]),
        ({"data": []}, ["data", "nothing"]),
    ],
)
def test_options_that_make_no_sense(how: dict[str, Any], words: list[str]) -> None:
    refused(lambda: fit_model(**{"data": GOOD, "model": "linear_bytes", **how}), *words)


def test_too_few_points_name_the_series() -> None:
    table = pd.concat([GOOD, GOOD[:2].assign(operation="gather")])
    refused(lambda: fit(table, "linear_bytes"), "too few points: 2", "fitted together: gather, 4 ranks")


def test_no_model_is_left() -> None:
    refused(lambda: compare_models(GOOD[:2]), "none that can be fitted", "too few points")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    refused(lambda: fit_model(tmp_path / "missing.csv", "hockney"), "missing.csv", "No such file")
    (tmp_path / "empty.csv").write_text("")
    refused(lambda: fit_model(tmp_path / "empty.csv", "hockney"), "empty.csv")
    (tmp_path / "osu.txt").write_text(OSU)
    refused(lambda: fit_model(tmp_path / "osu.txt", "hockney"), "--ranks N")
    (tmp_path / "no.parquet").write_text("x")
    refused(lambda: fit_model(tmp_path / "no.parquet", "hockney"), "Parquet")


def test_predictions_that_make_no_sense() -> None:
    found = fit_model(GOOD, "linear_bytes")
    refused(lambda: predict(found), "bytes", "not given", "8 to 4096")
    refused(lambda: predict(found, bytes=-1), "bytes = -1")
    refused(lambda: predict(found, bytes=8, total_bytes=8), "total_bytes")
    refused(lambda: predict(found, bytes=8, ranks=8), "ranks = 8", "4: the fit is for that")
    refused(lambda: predict(found, bytes=[]), "nothing")
    unknown = fit_model(GOOD[["bytes", "seconds"]], "hockney")
    refused(lambda: predict(unknown, bytes=8, ranks=5), "ranks = 5", "left out", "hockney does not know of ranks")
    refused(lambda: best_ranks(found, bytes=8), "model = linear_bytes", "total_exchange")
    rows = GOOD.assign(ranks=[2, 3, 4, 5])
    ranked = fit_model(rows, "total_exchange")
    refused(lambda: best_ranks(ranked), "total_bytes", "not given")
    refused(lambda: best_ranks(ranked, bytes=8, at_most=1), "at_most")
    refused(lambda: best_ranks(ranked, bytes=8, work_seconds=-1), "work_seconds")
    refused(lambda: predict(ranked, bytes=8, ranks=2.5), "ranks = 2.5", "whole number")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d.update(format="other"), ["format"]),
        (lambda d: d.update(version=2), ["version"]),
        (lambda d: d["fits"][0].update(model="linear"), ["fits"]),
        (lambda d: d["fits"][0].update(coefficients=[1.0]), ["coefficients", "(2,)"]),
        (lambda d: d["fits"][0].update(covariance=[[1.0, 2.0]]), ["covariance", "(2, 2)"]),
        (lambda d: d["fits"][0].update(points=[]), ["points"]),
        (lambda d: d["fits"][0].update(colour="red"), ["colour"]),
        (lambda d: d["fits"][0].pop("sd"), ["sd"]),
        (lambda d: d["fits"][0].update(sd="much"), ["sd"]),
    ],
)
def test_a_file_of_fits_that_is_none(change: Any, words: list[str], tmp_path: Path) -> None:
    file = save_fits(fit_model(GOOD, "linear_bytes"), tmp_path / "fit.json")
    assert len(read_fits(file)) == 1
    document = json.loads(file.read_text())
    change(document)
    file.write_text(json.dumps(document))
    refused(lambda: read_fits(file), "fit.json", *words)


def test_a_file_of_fits_that_is_not_there_or_no_json(tmp_path: Path) -> None:
    refused(lambda: read_fits(tmp_path / "fit.json"), "No such file")
    (tmp_path / "fit.json").write_text("{")
    refused(lambda: read_fits(tmp_path / "fit.json"), "fit.json", "flitwork fit")


def test_what_benchmarks_print_is_fitted(tmp_path: Path) -> None:
    text = LATENCY + "16 0.90\n1024 1.50\n"
    (tmp_path / "osu.txt").write_text(text)
    (found,) = fit(tmp_path / "osu.txt", "hockney")
    assert found.conditions["operation"] == "pingpong" and found.conditions["ranks"] == 2
    assert found.points["seconds"].tolist() == pytest.approx([0.75e-6, 0.8e-6, 0.9e-6, 1.5e-6])
    imb = IMB.replace("\n   262144 ", "\n   64 1000 5.0 6.0 5.5\n   262144 ").replace(
        "1000         2.00       512.00", "1000 2 512\n 4096 1000 4 512"
    )
    (tmp_path / "imb.txt").write_text(imb)
    both = fit(tmp_path / "imb.txt", "linear_bytes", operation="pingpong")
    assert [len(one.points) for one in both] == [3]
    (tmp_path / "all.txt").write_text(OSU + "4096 20\n8192 33.3\n")
    (alltoall,) = fit(tmp_path / "all.txt", "hockney", ranks=64)
    assert alltoall.conditions["ranks"] == 64 and alltoall.conditions["operation"] == "alltoall"


def test_files_in_other_units(tmp_path: Path) -> None:
    for name, factor in (("s", 1.0), ("us", 1.1e6), ("other", 30)):
        GOOD.assign(seconds=GOOD.seconds * factor).to_csv(tmp_path / f"{name}.csv", index=False)
    both = [tmp_path / "s.csv", tmp_path / "us.csv"]
    refused(lambda: fit(both, "hockney"), "us.csv: seconds", "mixed units", "1,100,000", "4 conditions")
    refused(lambda: fit(both[::-1], "hockney"), "s.csv: seconds", "mixed units")
    assert len(fit([tmp_path / "s.csv", tmp_path / "other.csv"], "hockney")[0].points) == 8


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (9.9999e-7, "s", "1 us"), (1.25e-5, "s", "12.5 us"), (-3e-9, "s/B", "-3 ns/B"), (25e6, "B/s", "25 MB/s"),
        (0.0, "s", "0 s"), (4096.0, "B", "4 KiB"), (float("inf"), "B/s", "inf"), (float("nan"), "s", "-"),
        (2.5, "ranks/server", "2.5 ranks/server"), (1e-3, "s/rank", "1 ms/rank"),
    ],
)  # fmt: skip
def test_numbers_have_readable_units(value: float, unit: str, text: str) -> None:
    assert quantity(value, unit) == text


def test_a_column_of_another_name_and_unit() -> None:
    other = GOOD.assign(time_us=GOOD.seconds * 1e6, size_KiB=GOOD.bytes / 1024, colour="red").drop(
        columns=["seconds", "bytes"]
    )
    found = fit_model(other, "linear_bytes", columns={"seconds": "time_us", "bytes": "size_KiB"})
    assert found.value("a") == pytest.approx(fit_model(GOOD, "linear_bytes").value("a"))


@pytest.mark.parametrize("source", ["size_Mb", "size (Gb)", "size_bits", "size_Kib"])
def test_bits_are_not_taken_for_bytes(source: str) -> None:
    with pytest.raises(fw.ConfigError, match="a column in bytes"):
        fit_model(GOOD.rename(columns={"bytes": source}), "linear_bytes", columns={"bytes": source})


def test_tables_of_sweeps_are_known() -> None:
    rows = [(4, m) for m in (64, 256, 1024)] + [(9, m) for m in (64, 256, 1024)]
    sweep = pd.DataFrame(
        {
            "message_bytes": [m for _, m in rows],
            "terminals": [n for n, _ in rows],
            "host_ranks": [n for n, _ in rows],
            "host_ranks_per_terminal": 1,
            "workload": "all_to_all bruck",
            "status": "complete",
            "completion_cycles": [n * m for n, m in rows],
            "completion_ns": [4.0 * n * m for n, m in rows],
            "version": ["0.1", "0.2"] * 3,
        }
    )
    both = fit(sweep, "linear_bytes")
    assert [one.conditions["ranks"] for one in both] == [4, 9]
    assert both[0].value("a") == pytest.approx(16e-9) and both[0].conditions["algorithm"] == "bruck"
    named = fit(sweep.assign(workload="a2at"), "loggp")[0].conditions
    assert (named["operation"], named["algorithm"]) == ("alltoall", "a2at")
    refused(lambda: fit(sweep.drop(columns="completion_ns"), "hockney"), "completion_ns", "units")
    refused(lambda: fit(sweep.assign(status="max_cycles"), "hockney"), "row 1: status", "max_cycles")


def test_stored_results_are_read(tmp_path: Path) -> None:
    net = fw.Torus(2, 2, units=fw.Units(flit_bytes=16, cycle_ns=4))
    files = []
    for size in (64, 256, 1024):
        work = fw.collective("all_to_all", "bruck", message_bytes=size, packet_flits=64)
        result = fw.simulate(net, work, host=fw.Host(ranks_per_terminal=2))
        files.append(result.save(tmp_path / f"{size}.parquet"))
    (found,) = fit(files, "linear_bytes")
    assert found.title == "all_to_all, bruck, simulated, 8 ranks, 2 ranks per server"
    assert found.points["bytes"].tolist() == [64, 256, 1024]
    assert found.points["seconds"].iloc[-1] == pytest.approx(result.row["completion_ns"] * 1e-9)


@pytest.mark.slow
@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("seed", range(15))
def test_any_table_is_fitted_or_refused(seed: int) -> None:
    draw = random.Random(seed)
    count = draw.randint(3, 14)
    table = pd.DataFrame(
        {
            "operation": draw.choice(["alltoall", "pingpong", "", "allreduce"]),
            "bytes": [draw.choice([0, 1, 8, 64, 2**40, draw.randint(0, 10**6)]) for _ in range(count)],
            "ranks": [draw.choice([2, 3, 4] if seed % 5 else [1, 2, 1_000_000]) for _ in range(count)],
            "ranks_per_server": [draw.choice([1, 2]) if seed % 3 else 1 for _ in range(count)],
            "seconds": [draw.choice([1e-12, 1e-6, 1.0, 1e12, draw.random()]) for _ in range(count)],
        }
    )
    for model, method, errors in itertools.product(MODELS, METHODS, ERRORS):
        try:
            found = fit(table, model, method=method, errors=errors)
        except fw.ConfigError:
            continue
        for one in found:
            used = {name: value for name, value in (("bytes", [0, 100]), ("ranks", 7)) if name in one.model.uses}
            times = predict(one, ranks_per_server=1 if model == "max_rate" else None, **used)
            assert np.isfinite(times["seconds"]).all() and json.dumps(one.to_dict(), allow_nan=False)
