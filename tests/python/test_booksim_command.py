"""The command ``flitwork booksim``: what is printed, exit codes, errors."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from booksim_files import SMALL
from common import Cli


def test_the_command_prints_what_booksim_prints(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "mesh.cfg").write_text(SMALL + "\n")
    done = cli("booksim", "mesh.cfg", "seed=3", "pair_stats=1")
    assert done.returncode == 0 and "pair_stats: no effect" in done.stderr
    lines = done.stdout.splitlines()
    assert lines[:4] == [
        "BEGIN Configuration File: mesh.cfg",
        SMALL,
        "END Configuration File: mesh.cfg",
        "OVERRIDE Parameter: seed=3",
    ]
    overall = lines[lines.index("====== Overall Traffic Statistics ======") :]
    assert overall[1] == "====== Traffic class 0 ======"
    number = r"\d+(\.\d+)?(e-\d+)?"
    for title in (
        "Packet latency",
        "Network latency",
        "Flit latency",
        "Fragmentation",
        "Injected packet rate",
        "Accepted packet rate",
        "Injected flit rate",
        "Accepted flit rate",
    ):
        at = next(i for i, line in enumerate(overall) if line.startswith(f"{title} average = "))
        assert re.fullmatch(rf"{title} average = {number} \(1 samples\)", overall[at])
        assert re.fullmatch(rf"\tminimum = {number} \(1 samples\)", overall[at + 1])
        assert re.fullmatch(rf"\tmaximum = {number} \(1 samples\)", overall[at + 2])
    for title in ("Injected packet size", "Accepted packet size", "Hops"):
        assert any(re.fullmatch(rf"{title} average = {number} \(1 samples\)", line) for line in overall)
    assert re.fullmatch(rf"Total run time {number}", lines[-1])
    assert re.search(r"Accepted flit rate average= ", done.stdout), "as scripts expect of the periods"
    found = json.loads(cli("booksim", "mesh.cfg", "seed=3", "--json").stdout)
    assert f"Packet latency average = {found['classes'][0]['packet_latency']['average']:.6g} (1 samples)" in overall
    assert found["stable"] and found["runs"][0]["seed"] == 3 and found["settings"]["k"] == "4"


def test_the_order_of_the_blocks_is_booksims(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "mesh.cfg").write_text(SMALL)

    def titles(*more: str) -> list[list[str]]:
        """Those of the block of the measurement, and of the overall block."""
        blocks = cli("booksim", "mesh.cfg", *more).stdout.split("====== Overall")
        return [re.findall(r"^(.*?) average ?= ", block, re.MULTILINE) for block in blocks]

    rates = [f"{done} {what} rate" for what in ("packet", "flit") for done in ("Injected", "Accepted")]
    latencies = ["Packet latency", "Network latency", "Flit latency", "Fragmentation"]
    for more in ((), ("packet_size=2",)):
        for found, name in zip(titles(*more), ("length", "size"), strict=True):
            assert found[:10] == [*latencies, *rates, f"Injected packet {name}", f"Accepted packet {name}"]


@pytest.mark.parametrize("flits", [1, 4])
def test_the_line_for_other_programs(cli: Cli, tmp_path: Path, flits: int) -> None:
    (tmp_path / "mesh.cfg").write_text(f"{SMALL} traffic = hotspot({{{{0,5}},{{1}}}}); injection_rate_uses_flits = 1;")
    args = ("booksim", "mesh.cfg", f"packet_size={flits}", "print_csv_results=1", "sim_count=2")
    printed = cli(*args).stdout.splitlines()
    assert printed[-1].startswith("Total run time") and printed[-3].startswith("Hops average")
    start = f"results:0,hotspot({{{{0,5}},{{1}}}}),0,{0.1 / flits:.6g},"
    assert printed[-2].startswith(start)
    values = printed[-2][len(start) :].split(",")
    (numbers,) = json.loads(cli(*args, "--json").stdout)["classes"]
    expected = []
    for name in (
        "packet_latency",
        "network_latency",
        "flit_latency",
        "fragmentation",
        "injected_packets",
        "accepted_packets",
        "injected_flits",
        "accepted_flits",
    ):
        expected += [numbers[name][what] for what in ("minimum", "average", "maximum")]
    expected += [numbers[name] for name in ("injected_packet_size", "accepted_packet_size", "hops")]
    assert values == [f"{number:.6g}" for number in expected] and len(values) == 27
    assert "nan" not in values
    unstable = cli(*args, "latency_thres=1.0")
    assert unstable.returncode == 1 and "results:" not in unstable.stdout


def test_an_unstable_run_says_so(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "mesh.cfg").write_text(SMALL)
    done = cli("booksim", "mesh.cfg", "latency_thres=10.0")
    assert done.returncode == 1
    assert "Average latency for class 0 exceeded 10 cycles. Aborting simulation." in done.stdout
    assert "Simulation unstable, ending ..." in done.stdout and "Overall" not in done.stdout
    found = cli("booksim", "mesh.cfg", "latency_thres=10.0", "--json")
    assert found.returncode == 1 and json.loads(found.stdout)["stable"] is False
    assert cli("booksim", "mesh.cfg", "latency_thres=-1.0").returncode == 0


@pytest.mark.parametrize(
    ("more", "code"),
    [
        (("injection_rate=1e-7",), 0),
        (("injection_rate=1e-7", "sim_type=throughput"), 0),
        (("injection_rate=1e-7", "sim_count=2"), 0),
        (("packet_size=5000", "sim_type=throughput"), 0),
        (("packet_size=5000",), 1),
        (("injection_rate=0",), 2),
        (("max_samples=1",), 2),
    ],
)
def test_runs_in_which_nothing_arrives(cli: Cli, tmp_path: Path, more: tuple[str, ...], code: int) -> None:
    (tmp_path / "mesh.cfg").write_text(SMALL)
    done = cli("booksim", "mesh.cfg", *more)
    assert done.returncode == code and "Traceback" not in done.stderr
    assert ("no packet of the measurement" in done.stderr) is (code < 2)
    assert ("Packet latency average = nan" in done.stdout) is (code < 2)
    if code < 2:
        found = json.loads(cli("booksim", "mesh.cfg", *more, "--json").stdout)
        assert found["classes"][0]["packet_latency"]["average"] is None and found["stable"] is (code == 0)
        assert any("no packet of the measurement" in note for note in found["notes"])


@pytest.mark.parametrize(
    "more", [("k=1",), ("k=1", "n=1"), ("k=2", "n=1"), ("sample_period=1",), ("warmup_periods=1", "max_samples=2")]
)
def test_the_least_networks_and_phases(cli: Cli, tmp_path: Path, more: tuple[str, ...]) -> None:
    (tmp_path / "mesh.cfg").write_text(SMALL)
    done = cli("booksim", "mesh.cfg", *more)
    # A run of a few cycles cannot tell whether anything grows.
    notes = 1 if more == ("sample_period=1",) else 0
    assert done.returncode == 0 and done.stderr.count("\n") == done.stderr.count("not_converged") == notes, done.stderr
    (hops,) = re.findall(r"^Hops average = (\S+) ", done.stdout, re.MULTILINE)
    assert (float(hops) == 1) is ("k=1" in more)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("k=4",), "a configuration file"),
        (("missing.cfg",), "No such file"),
        (("mesh.cfg", "kk=4"), "command line: kk = 4"),
        (("mesh.cfg", "traffic=hotspot({0,"), "command line:1"),
        (("mesh.cfg", "num_vcs=0"), "command line: num_vcs"),
        (("mesh.cfg", "topology=qtree"), "does not have BookSim's qtree yet"),
    ],
)
def test_errors_of_the_command(cli: Cli, tmp_path: Path, args: tuple[str, ...], said: str) -> None:
    (tmp_path / "mesh.cfg").write_text(SMALL)
    done = cli("booksim", *args)
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr
    error = json.loads(cli("booksim", *args, "--json").stderr)
    assert error["error"] == "ConfigError"


def test_the_plan_is_printed_and_nothing_runs(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "mesh.cfg").write_text(SMALL)
    found = json.loads(cli("booksim", "mesh.cfg", "k=5", "--plan").stdout)
    assert found["spec"]["network"]["topology"] == {"kind": "mesh", "size": [5, 5], "terminals_per_router": 1}


def test_any_number_of_threads_prints_the_same(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "torus.cfg").write_text(
        "topology = torus; k = 4; n = 2; routing_function = dim_order; injection_rate = 0.2; sample_period = 300;"
    )

    def found(threads: str) -> dict[str, Any]:
        done: dict[str, Any] = json.loads(cli("booksim", "torus.cfg", "--json", "--threads", threads).stdout)
        return done

    one, two, auto = found("1"), found("2"), found("auto")
    assert one == two == auto and one["runs"]
    assert json.loads(cli("booksim", "torus.cfg", "--plan", "--threads", "2").stdout)["spec"]["run"]["threads"] == 2
    for wrong in ("0", "65", "all", "-1"):
        done = cli("booksim", "torus.cfg", "--threads", wrong)
        assert done.returncode == 2 and "run.threads" in done.stderr and '1 to 64, or "auto"' in done.stderr
