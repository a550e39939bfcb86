"""Packets that go to a file while a run lasts are those of a run that keeps them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import flitwork as fw
import pandas as pd
import pyarrow.parquet as pq
import pytest
from common import Cli
from flitwork import _core
from flitwork.planning.specification import plan_of, simulation
from flitwork.results.result import OF_A_PACKET, run_plan
from flitwork.running import packets_file

NETWORK = fw.Torus(4, 4, vcs=4, buffer_flits=4)
CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "open loop": (fw.uniform(offered_load=0.3, packet_flits=2), {"measurement_cycles": 2000, "warmup_cycles": 500}),
    "saturated": (
        fw.uniform(offered_load=1.0, packet_flits=2),
        {"warmup_cycles": 100, "measurement_cycles": 500, "max_cycles": 700},
    ),
    "schedule": (fw.all_to_all("a2at", message_flits=40), {}),
}


def in_order(table: pd.DataFrame) -> pd.DataFrame:
    """The columns of a file in the order in which a result has them."""
    return numbers(table.sort_values(["src", "sequence"], ignore_index=True))


def numbers(table: pd.DataFrame) -> pd.DataFrame:
    """The columns of packets, as numbers that may be missing."""
    return table[list(OF_A_PACKET)].astype({name: "Int64" for name in OF_A_PACKET})


@pytest.mark.parametrize("case", CASES)
def test_a_file_has_the_packets_of_a_recorded_run(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packets_file, "BATCH", 100)
    workload, options = CASES[case]
    kept = fw.simulate(NETWORK, workload, packets=True, **options)
    path = tmp_path / "new" / "packets.parquet"
    written = fw.simulate(NETWORK, workload, packets_file=path, **options)
    assert (written.digest, written.row) == (
        kept.digest,
        {**kept.row, "plan_hash": written.plan_hash} | changed(written),
    )
    assert len(kept.packets) > 200 and written.packets.empty
    file = pq.ParquetFile(path)
    assert file.metadata.num_row_groups > 1
    assert file.schema_arrow.metadata[b"flitwork.plan_hash"].decode() == written.plan_hash
    table = pd.read_parquet(path)
    pd.testing.assert_frame_equal(in_order(table), numbers(kept.packets))
    assert table.dtypes.equals(kept.packets.dtypes[table.columns])
    arrived = table["arrived_cycle"].dropna()
    assert arrived.is_monotonic_increasing
    assert (len(arrived) < len(table)) == (case != "schedule")


def changed(result: fw.Result) -> dict[str, Any]:
    """Columns that are no outcome of a run."""
    return {name: value for name, value in result.row.items() if name in ("wall_seconds", "flit_hops_per_second")}


def test_workload_and_background_go_to_one_file(tmp_path: Path) -> None:
    work = fw.all_to_all("a2a", message_flits=8)
    background = fw.uniform(offered_load=0.1, packet_flits=1)
    path = tmp_path / "packets.parquet"
    kept = fw.simulate(NETWORK, work, background=background, packets=True)
    fw.simulate(NETWORK, work, background=background, packets_file=path)
    table = pd.read_parquet(path)
    assert table["background"].any() and not table["background"].all()
    pd.testing.assert_frame_equal(in_order(table), numbers(kept.packets))


def test_the_command_writes_the_file(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "packets.parquet"
    cli("simulate", "uniform", "--size", "4x4", "--load", "0.1", "--packets-file", str(path), "--json")
    assert len(pd.read_parquet(path)) > 100


def test_a_file_of_packets_is_no_result_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "packets.parquet"
    fw.simulate(NETWORK, fw.uniform(offered_load=0.1), measurement_cycles=100, packets_file=path)
    with pytest.raises(
        fw.ResultFileError, match=r"the packets of a run, not its result: flitwork\.read_parquet reads them"
    ):
        fw.load(path)


def test_what_cannot_be_written_is_refused_before_the_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path, expected in (
        (tmp_path / "packets.csv", "ends in .parquet"),
        (tmp_path / "file" / "packets.parquet", "folder that can be written to"),
        (Path("/proc/packets.parquet"), "folder that can be written to"),
    ):
        with pytest.raises(fw.ConfigError, match=expected) as refused:
            fw.simulate(NETWORK, fw.uniform(offered_load=0.1), packets_file=path)
        assert refused.value.path == "packets_file"


@pytest.mark.parametrize("more", ({"waits": True}, {"operations": True}))
def test_what_needs_all_packets_at_the_end_is_refused(more: dict[str, bool], tmp_path: Path) -> None:
    name = f"record.{next(iter(more))}"
    with pytest.raises(fw.ConfigError, match=f"no {name} beside it") as refused:
        run = fw.Run(record=fw.Record(**more))
        fw.simulate(NETWORK, fw.all_to_all("a2a"), run=run, packets_file=tmp_path / "packets.parquet")
    assert refused.value.path == "packets_file"
    assert refused.value.hint == f"take {name} out, or packets_file"


@pytest.mark.parametrize("path", [123, b"packets.parquet", ""])
def test_what_is_no_path_is_refused(path: Any) -> None:
    with pytest.raises(fw.ConfigError, match=r"ends in \.parquet") as refused:
        fw.simulate(NETWORK, fw.uniform(offered_load=0.1), packets_file=path)
    assert refused.value.path == "packets_file"


def test_packets_and_the_result_are_not_one_file(cli: Cli, tmp_path: Path) -> None:
    words = ("simulate", "uniform", "--size", "4x4", "--load", "0.1", "--save", "a.parquet")
    done = cli(*words, "--packets-file", str(tmp_path / "a.parquet"))
    assert done.returncode == 2 and "another file than --save" in done.stderr
    assert not [*tmp_path.iterdir()]


def test_without_a_file_nothing_goes_to_a_file() -> None:
    spec = simulation(NETWORK, fw.uniform(offered_load=0.1), {"record": {"packets": True, "to_file": True}})
    with pytest.raises(fw.ConfigError, match="a file beside it"):
        run_plan(plan_of(spec))


@pytest.mark.parametrize(
    ("batch", "cycles"), [(1 << 17, 20_000), (1000, 10**9)], ids=["at the end", "while the run lasts"]
)
def test_a_full_disk_is_an_error_that_says_so(batch: int, cycles: int, tmp_path: Path) -> None:
    limited = f"""
import resource, signal, flitwork as fw
from flitwork.running import packets_file
packets_file.BATCH = {batch}
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
fw.simulate(fw.Torus(4, 4), fw.uniform(offered_load=0.3), measurement_cycles={cycles}, packets_file={str(tmp_path / "p.parquet")!r})
"""
    found = subprocess.run([sys.executable, "-c", limited], capture_output=True, text=True, timeout=60)
    assert "StorageError" in found.stderr and "File too large" in found.stderr and "free space" in found.stderr


def test_a_thread_writes_its_packets_when_the_main_one_has_ended(tmp_path: Path) -> None:
    path = tmp_path / "packets.parquet"
    script = f"""
# Libraries that are loaded first by then cannot be any more.
import threading, pandas, pyarrow.parquet, flitwork as fw
def run():
    threading.main_thread().join()
    fw.simulate(fw.Torus(4, 4), fw.uniform(offered_load=0.3), packets_file={str(path)!r})
threading.Thread(target=run).start()
"""
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (found.returncode, found.stderr) == (0, "")
    assert len(pd.read_parquet(path)) > 100


def test_all_that_had_arrived_is_in_the_file_of_a_run_that_is_stopped(tmp_path: Path) -> None:
    path = tmp_path / "packets.parquet"

    def until(cycle: int, done: int, total: int | None) -> bool:
        return cycle < 100_000

    work = fw.uniform(offered_load=0.001)
    with pytest.raises(KeyboardInterrupt, match="interrupted") as stopped:
        fw.simulate(NETWORK, work, packets_file=path, progress=until, measurement_cycles=100_000_000)
    arrived = pd.read_parquet(path)
    assert arrived["arrived_cycle"].notna().all() and len(arrived) < packets_file.BATCH
    end = int(re.findall(r"cycle ([0-9]+)", str(stopped.value))[0])
    assert end >= 100_000
    # What a run says that is not stopped: the same measurement, as packets are drawn by cycle.
    kept = fw.simulate(NETWORK, work, packets=True, warmup_cycles=0, measurement_cycles=end, max_cycles=2 * end)
    # The cycle in which it stops is complete.
    assert len(arrived) == (kept.packets["arrived_cycle"] <= end).sum()


def test_what_comes_after_a_quiet_start_does_not_arrive_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packets_file, "BATCH", 64)
    rows: list[int] = []
    add = packets_file._File.add

    def counted(file: Any, columns: Any) -> int:
        rows.append(add(file, columns))
        return rows[-1]

    monkeypatch.setattr(packets_file._File, "add", counted)
    start = 1_000_000
    packets = [
        {"cycle": start + n, "source": src, "destination": (src + 1) % 16, "flits": 1}
        for n in range(500)
        for src in range(16)
    ]
    work = fw.trace(pd.DataFrame(packets))
    fw.simulate(NETWORK, work, packets_file=tmp_path / "packets.parquet")
    assert sum(rows) == len(packets)
    assert max(rows) <= 8 * 64


def test_the_run_waits_for_a_slow_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packets_file, "BATCH", 64)
    write = packets_file._File._write
    waiting: list[int] = []

    def slow(file: packets_file._File, batch: Any) -> None:
        time.sleep(0.01)
        waiting.append(file._rows)
        write(file, batch)

    monkeypatch.setattr(packets_file._File, "_write", slow)
    path = tmp_path / "packets.parquet"
    fw.simulate(NETWORK, fw.uniform(offered_load=0.3), measurement_cycles=1000, packets_file=path)
    # A batch waits while one is written, and what arrives in one step. Nothing holds the run up in the last steps.
    assert len(waiting) > 20 and max(waiting) <= 9 * 64


@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_what_is_interrupted_leaves_a_file_that_can_be_read(
    sent: signal.Signals, code: int, times: int, tmp_path: Path
) -> None:
    path = tmp_path / "packets.parquet"
    command = [sys.executable, "-m", "flitwork", "simulate", "uniform", "--size", "4x4", "--load", "0.3"]
    command += ["--set", "measurement_cycles=1000000000", "--packets-file", str(path)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ})
    end = time.monotonic() + 60
    # A batch is in the file: its first bytes are its name alone.
    while not (path.exists() and path.stat().st_size > 1000) and time.monotonic() < end:
        time.sleep(0.05)
    for _ in range(times):
        process.send_signal(sent)
        time.sleep(0.02)
    _, message = process.communicate(timeout=60)
    # One that comes when the file is closed, and all signals are as they were, ends the process as it is.
    assert process.returncode in (code, *([-sent] if times > 1 else []))
    assert times > 1 or ("interrupted" in message) == (sent == signal.SIGINT)
    table = pd.read_parquet(path)
    assert len(table) >= packets_file.BATCH and table["arrived_cycle"].notna().all()
    assert not table.duplicated(["src", "sequence"]).any()


def test_what_programs_set_is_not_in_the_schema() -> None:
    assert "to_file" not in _core.schema() and '"packets"' in _core.schema()
