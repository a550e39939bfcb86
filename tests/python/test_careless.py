"""What careless users type: an error says which field, what was found, what was expected and what to do."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import flitwork as fw
import pandas as pd
import pytest
from common import Cli
from flitwork.base.errors import SimulationError
from flitwork.cli import app
from flitwork.cli.heartbeat import alive
from flitwork.cli.output import about
from flitwork.fit import best_ranks, fit_model, predict
from flitwork.values.plain import to_json
from typer.testing import CliRunner

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


@pytest.mark.parametrize(
    "make",
    [
        lambda key: fw.Torus(4, 4, **key),
        lambda key: fw.Router(**key),
        lambda key: fw.Run(**key),
        lambda key: fw.Host(**key),
        lambda key: fw.simulate(fw.Torus(4, 4), fw.all_to_all(), **key),
        lambda key: fw.all_to_all(**key),
    ],
)
def test_an_empty_key_is_shown(make: Callable[[dict[str, Any]], object]) -> None:
    with pytest.raises(fw.ConfigError) as caught:
        make({"": 1})
    assert caught.value.path.endswith('.""')


def test_settings_that_are_no_values_name_their_option(cli: Cli) -> None:
    def said(value: str) -> str:
        done = cli("simulate", "a2a", "--size", "4x4", "--set", f"vcs={value}")
        assert done.returncode == 2 and len(done.stderr) < 600
        return " ".join(done.stderr.split())

    assert "(3,002 characters)" in said(3000 * "x")
    for brackets in (3000 * "[", 3000 * "[" + 3000 * "]"):
        text = said(brackets)
        assert "--set vcs = [[[" in text and "fewer tables or lists" in text
    assert "network = nested too deeply" in said(300 * "[" + 300 * "]")


def test_text_that_is_no_unicode_is_a_file_only_where_a_file_is_meant() -> None:
    with pytest.raises(fw.ConfigError) as caught:
        fw.Torus(4, 4, switching="\udcff")  # type: ignore[arg-type]
    assert caught.value.hint == "write it in UTF-8"
    with pytest.raises(fw.ConfigError) as caught:
        to_json({"workload": {"file": "a\udcff.csv"}})
    assert caught.value.path == "workload.file" and caught.value.hint.startswith("rename the file")


@pytest.mark.parametrize(
    ("command", "contents", "expected"),
    [
        ("run", "", "one.toml: study = nothing"),
        ("run", "[study]\nname = 5", "one.toml: study.name = 5"),
        ("pick", "network.foo = 1", "one.toml: network.topology = nothing"),
        ("pick", "[networ]\nfoo = 1", "one.toml: networ = unknown key"),
        ("pick", '[network]\nfoo = 1\ntopology = { kind = "torus", size = [4, 4] }', "one.toml: network.foo = unknown key"),
        ("pick", "", "one.toml expected a table `network` in it"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_file_names_the_file(
    command: str, contents: str, expected: str, tmp_path: Path, cli: Cli
) -> None:
    (tmp_path / "one.toml").write_text(contents)
    done = cli(command, "one.toml", *(["--message-bytes", "64"] if command == "pick" else []))
    assert done.returncode == 2 and expected in " ".join(done.stderr.split())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("words", [["--no-option", "--nor-this"], ["--size", "0x"]])
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_the_exit_code_stays_where_messages_cannot_be_written(words: list[str], form: list[str]) -> None:
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "flitwork", "simulate", "a2a", *form, *words]
        # With and without buffers.
        for unbuffered in ("", "1"):
            variables = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=full, timeout=120, check=False, env=variables)
            assert done.returncode == 2


def test_a_thread_that_cannot_be_started_is_no_fault_of_standard_output(monkeypatch: pytest.MonkeyPatch) -> None:
    # As Rust raises it, as fork does, and as Python's threads do.
    text = "Resource temporarily unavailable"
    refused = [BlockingIOError(f"{text} (os error 11)"), BlockingIOError(errno.EAGAIN, text)]
    for error in (*refused, RuntimeError("can't start new thread")):
        found = about(error)
        assert isinstance(found, SimulationError) and "ulimit -v" in str(found) and "ulimit -u" in str(found)
    # A stream that would block says how much it has written.
    monkeypatch.setattr("flitwork.cli.output.no_more_output", lambda: None)
    assert "standard output" in str(about(BlockingIOError(errno.EAGAIN, text, 5)))
    with pytest.raises(RuntimeError, match="other"):
        about(RuntimeError("other"))


def test_a_command_without_a_thread_for_its_progress_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refused)
        with alive("simulating") as begun:
            begun()
        done = CliRunner().invoke(app, ["simulate", "a2a", "--size", "2x2", "--json"])
        assert done.exit_code == 0, done.output
        # Points of a study need threads: that is an error in words.
        done = CliRunner().invoke(app, ["pick", "--size", "2x2", "--message-flits", "4", "--jobs", "2"])
    assert done.exit_code == 3 and "allow no further thread" in done.stderr
