"""What careless users type: an error says which field, what was found, what was expected and what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import flitwork as fw
import pandas as pd
import pytest
from conftest import Cli
from flitwork.fit import best_ranks, fit_model, predict

TIMES = pd.DataFrame(
    {
        "bytes": [64, 256, 1024, 4096] * 2,
        "ranks": [4] * 4 + [8] * 4,
        "seconds": [1e-6, 2e-6, 5e-6, 17e-6, 2e-6, 4e-6, 10e-6, 35e-6],
    }
)


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        ("bytes", -64, r"row 2: bytes = -64.0: expected a number, at least 0;"),
        ("bytes", float("inf"), r"row 2: bytes = inf: expected a number, at least 0, and at most 1e\+18;"),
        ("seconds", 1e308, r"row 2: seconds = 1e\+308: expected a time above 0 s, and at most 1e\+18;"),
        ("seconds", -1.0, r"row 2: seconds = -1.0: expected a time above 0 s;"),
    ],
)
def test_a_number_that_cannot_be_is_said_to_be_what_it_is(column: str, value: float, expected: str) -> None:
    table = TIMES.astype({"bytes": float})
    table.loc[1, column] = value
    with pytest.raises(fw.ConfigError, match=expected):
        fit_model(table, "total_exchange")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("ask", "expected"),
    [
        (lambda fit: best_ranks(fit, total_bytes=float("inf")), r"total_bytes = inf: .*at most 1e\+18"),
        (lambda fit: best_ranks(fit, total_bytes=float("nan")), r"total_bytes = nan: expected a number"),
        (lambda fit: best_ranks(fit, total_bytes=-1), r"total_bytes = -1: expected a number, at least 0"),
        (lambda fit: predict(fit, total_bytes=-1, ranks=4), r"total_bytes = -1: expected a number, at least 0"),
        (lambda fit: predict(fit, bytes=1024, ranks=1e99), r"ranks = 1e\+99: .* at most 1e\+18"),
        (lambda fit: predict(fit, bytes=1e308, ranks=4), r"bytes = 1e\+308: .* at most 1e\+18"),
    ],
)
def test_a_prediction_for_impossible_numbers_is_refused(ask: Callable[[fw.Fit], object], expected: str) -> None:
    found = fit_model(TIMES, "total_exchange")
    with pytest.raises(fw.ConfigError, match=expected):
        ask(found)


def test_a_column_that_stands_twice_is_called_by_its_name(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "twice.csv").write_text("bytes,seconds,seconds\n64,1e-6,2e-6\n")
    done = cli("fit", "twice.csv", "--model", "linear_bytes")
    assert done.returncode == 2 and "twice.csv = column seconds twice" in done.stderr


def test_a_file_that_is_not_there_is_named(cli: Cli) -> None:
    done = cli("fit", "nosuch.parquet", "--model", "linear_bytes")
    assert done.returncode == 2 and "nosuch.parquet" in done.stderr and "(No such file or directory)" in done.stderr


def test_a_folder_of_results_is_checked_before_anything_is_planned(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "file").write_text("mine")
    for out in ("file", "file/below"):
        done = cli("reproduce", "takaue-2010-a2at", "--quick", "--out", out)
        assert done.returncode == 2 and "file: is a file" in done.stderr and "planned" not in done.stderr


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (("reproduce", "takaue"), "did you mean `takaue-2010-a2at`?"),
        (("reproduce", "mine.toml"), "`flitwork run mine.toml`"),
        (("report", "times.csv"), "a study file (.toml), a stored result (.parquet), or a study's name"),
        (("claims", "--folder", "nowhere"), "a folder that exists"),
    ],
)
def test_the_error_says_what_to_name_instead(command: tuple[str, ...], expected: str, tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "times.csv").write_text(TIMES.to_csv(index=False))
    done = cli(*command)
    assert done.returncode == 2 and expected in " ".join(done.stderr.split())


@pytest.mark.parametrize("contents", [b"junk", b""])
def test_claims_of_damaged_results_are_an_error(contents: bytes, tmp_path: Path, cli: Cli) -> None:
    folder = tmp_path / "results" / "takaue-2010-a2at"
    folder.mkdir(parents=True)
    (folder / "results.parquet").write_bytes(contents)
    done = cli("claims", "takaue-2010-a2at")
    assert done.returncode == 2 and "results.parquet: cannot be read as results of a study" in done.stderr
    TIMES.to_parquet(folder / "results.parquet")
    done = cli("claims", "takaue-2010-a2at")
    assert done.returncode == 2 and "results.parquet: is no table of a study" in done.stderr


def test_the_report_of_another_result_is_not_replaced(tmp_path: Path, cli: Cli) -> None:
    fw.simulate(fw.Torus(2, 2), fw.all_to_all(message_flits=2)).save(tmp_path / "one.parquet")
    (tmp_path / "report.html").write_text("mine")
    done = cli("report", "one.parquet")
    assert done.returncode == 2 and "--overwrite" in done.stderr
    assert (tmp_path / "report.html").read_text() == "mine"
    assert cli("report", "one.parquet", "--overwrite").returncode == 0


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            {"startup_ns": "50 us"},
            r"startup_ns = '50 us': expected a number of ns, 0 to 1e\+12; for example startup_ns=",
        ),
        ({"startup_ns": 1e30}, r"startup_ns = 1e\+30: expected a number of ns"),
        ({"arbitration_ns": 1e30}, r"arbitration_ns = 1e\+30: expected a number of ns, 0 to 1.6e\+06"),
        ({"host": "no"}, r"host = 'no': expected True or False"),
    ],
)
def test_parameters_of_a_machine_are_named_as_they_were_given(options: dict[str, object], expected: str) -> None:
    with pytest.raises(fw.ConfigError, match=expected):
        fw.machines.ap1000(**options)  # type: ignore[arg-type]


def test_sizes_of_a_machine_may_be_one_tuple() -> None:
    assert fw.machines.ap1000((4, 2)).network == fw.machines.ap1000(4, 2).network  # type: ignore[arg-type]
