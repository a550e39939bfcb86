"""What comes from outside: whatever is wrong with a file, a key or a stream is an error in words."""

from __future__ import annotations

import io
import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import flitwork as fw
import numpy as np
import pandas as pd
import pytest
from common import COMMAND, REPOSITORY, SLOW_STUDY
from flitwork.base import input_files, output_files
from flitwork.cli.network_file import network_file
from flitwork.experiment import parse_study
from flitwork.experiment.expression import evaluate
from flitwork.experiment.points import expand
from flitwork.workloads.arrays import with_numbers
from flitwork_mpi.native.record_trace import KINDS, read_trace

sys.path.insert(0, str(REPOSITORY / "tools"))
import fuzz
from fuzz_cases import cases, measured, trace_of_a_program

STUDY: dict[str, Any] = {
    "study": {"name": "a"},
    "base": {
        "network": {"topology": {"kind": "torus", "size": [4]}},
        "workload": {"kind": "uniform", "offered_load": 0.1},
    },
}


def points(**experiment: Any) -> object:
    return expand(parse_study({**STUDY, "experiments": [{"id": "e", **experiment}]}))


@pytest.mark.parametrize("key", ["workload..x", "", ".", "workload.", "workload.algorithm.", ".workload", "a..b"])
def test_a_key_with_an_empty_name_is_refused(key: str, cli: Callable[..., Any]) -> None:
    for where in ({"grid": {key: [1, 2]}}, {"set": {key: 1}}, {"zip": {key: [1], "N": [1]}}):
        with pytest.raises(fw.ConfigError) as caught:
            points(**where)
        assert caught.value.path.startswith("experiments[0].")
    if key:
        done = cli("plan", "a2at", "--set", f"{key}=1")
        assert done.returncode == 2 and "--set" in done.stderr


@pytest.mark.parametrize("key", ["", "a.b", "x y", ".", "kind."])
def test_any_key_of_python_is_named(key: str) -> None:
    values: tuple[Any, ...] = ({}, {"": {"": 1}}, [1], 1)
    for value in values:
        with pytest.raises(fw.ConfigError, match=r"^workload\."):
            fw.uniform(offered_load=0.1, **{key: value})


def test_an_expression_has_a_budget() -> None:
    started = time.process_time()
    for text in ("((((N ** 64) ** 64) ** 64) ** 64) ** 64", "N ** 0x" + "f" * 9000, "(" * 1500 + "1" + ")" * 1500):
        with pytest.raises(fw.ConfigError):
            evaluate(text, {"N": 5}, "p")
    assert time.process_time() - started < 5
    assert evaluate("N ** 64 % 7", {"N": 3}, "p") == 3**64 % 7


def _damaged(data: bytes, place: int, new: bytes) -> bytes:
    return data[:place] + new + data[place + len(new) :]


def test_numbers_that_claim_to_be_more_than_they_are(tmp_path: Path) -> None:
    into = io.BytesIO()
    np.save(into, np.eye(4))
    data = into.getvalue()
    spec = {"workload": {"kind": "traffic", "pattern": {"kind": "matrix", "file": str(tmp_path / "m.npy")}}}
    for old, new in (
        (b"(4, 4)", b"(4e,4)"),
        (b"(4, 4)", b"(9**9)"),
        (b"(4, 4), ", b"(9999999999999,)"),
        (b"<f8", b"|O8"),
    ):
        (tmp_path / "m.npy").write_bytes(_damaged(data, data.index(old), new))
        with pytest.raises(fw.ConfigError, match=r"m\.npy"):
            with_numbers(spec)


@pytest.mark.parametrize("seed", range(3))
def test_damaged_tables_are_errors_that_name_them(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    known = {name: case for name, case in cases().items() if name.startswith(("packets", "weights", "rows"))}
    for name, case in known.items():
        for number in range(5):
            folder = tmp_path / f"{name}-{number}"
            folder.mkdir()
            assert fuzz.fault(name, case, draw.randrange(10**6), number, folder) is None


def test_what_waits_for_is_a_number_that_there_is(tmp_path: Path) -> None:
    rows = {"rank": [0, 0], "operation": ["compute", "compute"], "cycles": [1, 1]}
    for after in (float("inf"), -1.0, 0.5):
        with pytest.raises(fw.ConfigError, match="numbers of operations"):
            fw.Schedule.from_table(pd.DataFrame({**rows, "after": [float("nan"), after]}))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"network = 5", "machine.toml: network = 5"),
        (b"network = " + b"[" * 3000, "nested too deeply"),
        (b"network = " + b"9" * 5000, "TOML"),
        (b"\xff\xfe", "in UTF-8"),
        (b"", "a table `network`"),
    ],
)
def test_a_machine_that_is_none(text: bytes, said: str, tmp_path: Path) -> None:
    file = tmp_path / "machine.toml"
    file.write_bytes(text)
    with pytest.raises(fw.ConfigError, match=said):
        network_file(file)


def test_a_mark_of_the_byte_order_does_not_matter(tmp_path: Path) -> None:
    for encoding in ("utf-8", "utf-8-sig"):
        file = tmp_path / "machine.toml"
        file.write_text('network.topology = {kind = "torus", size = [4]}', encoding=encoding)
        assert network_file(file)[0] == fw.Torus(4)


def test_what_has_no_end_is_no_file(tmp_path: Path) -> None:
    endless = Path("/dev/zero")
    for read in (fw.read_goal, fw.tune.read_rules, fw.read_fits, network_file):
        with pytest.raises(fw.ConfigError, match="not a device"):
            read(endless)  # type: ignore[operator]
    with pytest.raises(fw.ConfigError, match="at most 100 bytes"):
        (tmp_path / "long").write_bytes(bytes(101))
        input_files.read_bytes(tmp_path / "long", "file", "a file", most=100)


def test_rules_of_nothing(tmp_path: Path, cli: Callable[..., Any]) -> None:
    file = tmp_path / "rules"
    for text in ("", "\n", "# nothing\n", "\ufeff"):
        file.write_text(text)
        done = cli("tune", "check", file)
        assert done.returncode == 2 and "no rules" in done.stderr
    for text in ("0\n", "1 # collectives\n3\n1\n4\n0\n", '{"collectives": {}}', '{"collectives": {"alltoall": []}}'):
        file.write_text(text)
        done = cli("tune", "check", file)
        assert done.returncode == 2 and "rules = no rules" in done.stderr, done.stderr
    file.write_text("1\n3\n0\n")
    done = cli("tune", "check", file)
    assert done.returncode == 2 and "rules:3:1 = 0" in done.stderr and "Traceback" not in done.stderr


def test_a_misspelt_row_is_no_row_of_something_else(tmp_path: Path) -> None:
    rows = measured()
    for column, word, hint in (("algorithm", "brukc", "`bruck`"), ("operation", "alltoal", "`alltoall`"), ("algorithm", "openmpi:linaer", "`openmpi:linear`")):  # fmt: skip
        wrong = rows.copy()
        wrong.loc[2, column] = word
        wrong.to_csv(tmp_path / "rows.csv", index=False)
        with pytest.raises(fw.ConfigError, match=f"row 3: {column}.*did you mean {hint}"):
            fw.tune.read_measurements(tmp_path / "rows.csv")
    rows.loc[2, "operation"] = "Allreduce"
    rows.to_csv(tmp_path / "rows.csv", index=False)
    assert len(fw.tune.read_measurements(tmp_path / "rows.csv")) == len(rows)


def _environment(**more: str) -> dict[str, str]:
    # Without what may be set here: Python's streams have buffers then, as usual.
    usual = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return {**usual, "PYTHONPATH": os.pathsep.join(sys.path), **more}


def test_names_that_are_no_text_and_an_encoding_that_has_few_signs(tmp_path: Path) -> None:
    name = os.fsdecode(b"\xff\xe9.csv")
    (tmp_path / name).write_text("cycle,source,destination,flits\n0,0,1,2\n")
    for told in ("ascii", "utf-8", "latin-1"):
        for words in (
            ["simulate", "trace", "--size", "2x2", "--set", f"file={name}"],
            ["tune", "check", name],
            ["--help"],
        ):
            done = subprocess.run([*COMMAND, *words], capture_output=True, cwd=tmp_path, env=_environment(PYTHONIOENCODING=told), check=False)  # fmt: skip
            assert b"Traceback" not in done.stderr and done.returncode in (0, 2), done.stderr


@pytest.mark.parametrize("closed", ["2>&-", ">&-", ">&- 2>&-", "<&- >&- 2>&-", "2>/dev/full"])
def test_closed_streams_change_nothing_else(closed: str, tmp_path: Path) -> None:
    words = " ".join([*COMMAND, "simulate a2at --size 3x3 --save r.parquet"])
    done = subprocess.run(["sh", "-c", f"{words} {closed}"], capture_output=True, cwd=tmp_path, env=_environment(), check=False)  # fmt: skip
    assert done.returncode == 0 and b"Traceback" not in done.stderr + done.stdout
    assert fw.load(tmp_path / "r.parquet").completion_cycles > 0
    wrong = subprocess.run(["sh", "-c", f"{' '.join(COMMAND)} simulate nothing {closed}"], capture_output=True, cwd=tmp_path, env=_environment(), check=False)  # fmt: skip
    assert wrong.returncode == 2


def test_a_number_of_hundreds_of_digits_is_none(tmp_path: Path) -> None:
    long = "9" * 400
    (tmp_path / "destinations.csv").write_text(f"1\n{long}\n3\n0\n")
    (tmp_path / "sends.csv").write_text(f"rank,operation,peer,flits\n0,send,1,{long}\n1,recv,0,5\n")
    for words in (
        ["permutation", "--size", "2x2", "--load", "0.1", "--set", "file=destinations.csv"],
        ["schedule", "--size", "2x2", "--set", "file=sends.csv"],
    ):
        done = subprocess.run([*COMMAND, "simulate", *words], capture_output=True, text=True, cwd=tmp_path, env=_environment(), check=False)  # fmt: skip
        assert done.returncode == 2 and "Traceback" not in done.stderr and ".csv" in done.stderr, done.stderr


def test_many_interrupts_are_one(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(SLOW_STUDY)
    command = [*COMMAND, "run", "study.toml", "--out", "out", "--jobs", "1"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=_environment())  # fmt: skip
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("out/points/*.parquet")) and time.monotonic() < deadline:
        time.sleep(0.05)
    for _ in range(15):
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            time.sleep(0.02)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130 and "Traceback" not in told and "interrupted" in told


def test_of_several_files_all_are_kept_or_none(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("before")

    def write(path: Path) -> None:
        output_files.write_atomically(path, lambda file: file.write(b"x"))

    with pytest.raises(fw.StorageError), output_files.all_or_none():
        write(old)
        write(new)
        raise fw.StorageError("full")
    assert old.read_text() == "x" and not new.exists()
    with output_files.all_or_none():
        write(new)
    assert new.exists()


def test_ulimit_and_slurm_limit_what_is_planned() -> None:
    words = [*COMMAND, "plan", "uniform", "--size", "300x300", "--set", "workload.offered_load=0.1"]

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (1 << 29, 1 << 29))

    words = [*COMMAND, "simulate", "uniform", "--size", "200x200", "--load", "0.1", "--set", "max_cycles=10"]
    done = subprocess.run(words, capture_output=True, text=True, preexec_fn=limited, env=_environment(), check=False)
    assert done.returncode == 2 and "ulimit -d" in done.stderr, done.stderr
    of_slurm = _environment(SLURM_MEM_PER_CPU="100", SLURM_CPUS_ON_NODE="2")
    done = subprocess.run(words, capture_output=True, text=True, env=of_slurm, check=False)
    assert done.returncode == 2 and "three quarters of what SLURM allows" in done.stderr, done.stderr


def test_no_damaged_record_of_a_program_is_converted(tmp_path: Path) -> None:
    whole = trace_of_a_program()
    draw = random.Random(5)
    for number in range(160):
        folder = tmp_path / str(number)
        folder.mkdir()
        which = draw.choice(sorted(whole))
        for name, data in whole.items():
            damaged = bytearray(data)
            if name == which and number % 4:
                damaged[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
            elif name == which:
                del damaged[draw.randrange(len(data)) :]
            (folder / Path(name).name).write_bytes(damaged)
        with pytest.raises(fw.ConfigError):
            read_trace(folder)


def test_what_a_killed_program_has_recorded_is_read(tmp_path: Path) -> None:
    for name, data in trace_of_a_program().items():
        cut = data[:-48] if name.endswith("events") else data
        (tmp_path / Path(name).name).write_bytes(cut.ljust(1 << 20, b"\0"))
    found = read_trace(tmp_path)
    assert found.cut_short == [0, 1]
    assert [int(one.events["what"][-1]) for one in found.ranks] == [KINDS["SEND"], KINDS["RECV"]]


@pytest.mark.slow
def test_no_damaged_input_of_any_command_ends_otherwise_than_in_words(tmp_path: Path) -> None:
    words = [sys.executable, str(REPOSITORY / "tools" / "fuzz.py"), "--batch", "41/0/350"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, check=False, env=_environment())
    assert done.returncode == 0, (done.stdout[-200:], done.stderr[-2000:])
    assert not json.loads(done.stdout.splitlines()[-1])
