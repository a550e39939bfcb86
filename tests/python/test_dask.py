"""Sweeps on a Dask cluster of real processes: the same results as here, whatever dies in between."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import flitwork as fw
import numpy as np
import pandas as pd
import pytest
from common import COMMAND, STUDY, Cli, environment
from flitwork.base.input_files import tomllib
from flitwork.experiment import Job, Status, Watcher, execute, parse_study, plan_study
from flitwork.experiment.engines import dask as engine_module
from flitwork.experiment.engines.dask import DaskEngine
from flitwork.results.result import Result

distributed = pytest.importorskip("distributed")
dask_config = pytest.importorskip("dask.config")

#: Simulations of a fraction of a second.
LONGER = (
    STUDY[: STUDY.index("[[experiments]]")].replace("10", '"${L}"').replace('"${N}"', "9")
    + """
[[experiments]]
id = "e"
grid = { L = [60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71] }
"""
)
FAILING = STUDY[: STUDY.index("[[plots]]")].replace("N = [3, 4],", 'N = [3, 4], "run.max_cycles" = [20, 100000],')


def parsed(text: str) -> Any:
    return parse_study(tomllib.loads(text))


class Recorder(Watcher):
    """Notes what is computed, and does something after the first point."""

    def __init__(self, after_first: Callable[[], object] | None = None) -> None:
        self.computed: list[str] = []
        self.after_first = after_first
        self.status = Status(0)

    def tick(self, status: Status) -> None:
        self.status = status

    def finished(self, job: Job, result: Result) -> None:
        self.computed.append(job.hash)
        if len(self.computed) == 1 and self.after_first:
            self.after_first()


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs="CRITICAL"
    ) as found:
        yield found


@pytest.fixture
def address(cluster: Any) -> str:
    """The scheduler's address, when both workers are there (again)."""
    with distributed.Client(cluster, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
    return str(cluster.scheduler_address)


def same(one: pd.DataFrame, other: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(one.drop(columns="wall_seconds"), other.drop(columns="wall_seconds"))


def killing(address: str) -> Callable[[], None]:
    """Kills a worker in the middle of a simulation."""

    def kill() -> None:
        with distributed.Client(address, set_as_default=False) as client:
            busy = next(worker for worker, keys in client.processing().items() if keys)
            os.kill(client.run(os.getpid, workers=[busy])[busy], signal.SIGKILL)

    return kill


def idle(address: str) -> bool:
    """Whether no worker has anything to do within some seconds."""
    with distributed.Client(address, set_as_default=False) as client:
        for _ in range(50):
            running = client.run(lambda dask_worker: dask_worker.state.executing_count)
            if not any(running.values()) and not any(client.processing().values()):
                return True
            time.sleep(0.1)
    return False


def test_the_cluster_gives_what_this_machine_gives(address: str, tmp_path: Path) -> None:
    study, recorder = parsed(STUDY[: STUDY.index("[[plots]]")]), Recorder()
    here = fw.run_study(study, tmp_path / "here")
    there = fw.run_study(study, tmp_path / "there", engine="dask", scheduler=address, watcher=recorder)
    same(here.table, there.table)
    assert sorted(recorder.computed) == sorted(path.stem for path in (tmp_path / "there" / "points").iterdir())
    for stored in (tmp_path / "there" / "points").iterdir():
        assert fw.load(stored).row["digest"] == fw.load(tmp_path / "here" / "points" / stored.name).digest
    again = Recorder()
    assert len(fw.run_study(study, tmp_path / "there", engine="dask", scheduler=address, watcher=again).table) == 8
    assert again.computed == []


def test_matrices_and_traces_reach_the_workers(address: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    np.save(tmp_path / "m.npy", rng.random((16, 16)))
    np.save(tmp_path / "t.npy", np.array([(3 * i, i % 16, i * 7 % 16, 1 + i % 5) for i in range(200)]))

    def point(name: str) -> tuple[fw.Network, fw.Workload]:
        file = str(tmp_path / f"{name[0]}.npy")
        matrix = fw.traffic("matrix", offered_load=0.1, file=file)
        return fw.Torus(4, 4), matrix if name == "matrix" else fw.trace(file)

    axes: dict[str, Any] = {"name": ["matrix", "trace"], "seeds": [1, 2], "run": {"warmup_cycles": 100}}
    here = fw.sweep(point, **axes)
    same(here, fw.sweep(point, **axes, engine="dask", scheduler=address))


@pytest.mark.slow
def test_a_published_study_and_the_command(address: str, tmp_path: Path, cli: Cli) -> None:
    folder = tmp_path / "author-2026-key"
    folder.mkdir()
    (folder / "study.toml").write_text(STUDY[: STUDY.index("[[plots]]")])
    measure = 'measure = { experiment = "e", column = "completion_cycles" }'
    (folder / "claims.toml").write_text(f'[[claims]]\nid = "c"\npaper = 1\nrelation = "at_least"\n{measure}\n')
    done = cli("reproduce", folder, "--engine", "dask", "--scheduler", address)
    assert (
        done.returncode == 0
        and "1 of 1 statements of the paper reproduced" in done.stdout
        and "8 of 8 points are stored" in done.stderr
    )


@pytest.mark.slow
def test_a_killed_worker_loses_nothing_and_repeats_nothing(address: str, tmp_path: Path) -> None:
    study, recorder = parsed(LONGER), Recorder(killing(address))
    there = fw.run_study(study, tmp_path / "there", engine="dask", scheduler=address, watcher=recorder)
    assert len(recorder.computed) == len(set(recorder.computed)) == 12 and not there.failures
    same(fw.run_study(study, tmp_path / "here").table, there.table)


def test_points_that_fail_on_a_worker(address: str, tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="8 of 16 points failed"):
        here = fw.run_study(parsed(FAILING), tmp_path / "here")
    with pytest.warns(UserWarning, match="8 of 16 points failed"):
        there = fw.run_study(parsed(FAILING), tmp_path / "there", engine="dask", scheduler=address)
    same(here.table, there.table)
    assert [str(failure) for failure in here.failures] == [str(failure) for failure in there.failures]
    assert [type(failure.error) for failure in here.failures] == [type(failure.error) for failure in there.failures]


@pytest.mark.slow
def test_an_interrupt_stops_the_workers(address: str, tmp_path: Path) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    text = LONGER.replace("60, 61", "6000, 61")
    with pytest.raises(KeyboardInterrupt):
        fw.run_study(parsed(text), tmp_path, engine="dask", scheduler=address, watcher=Recorder(interrupt))
    assert idle(address)
    stored = {path.stem for path in (tmp_path / "points").iterdir()}
    recorder = Recorder()
    fw.run_study(parsed(LONGER), tmp_path, engine="dask", scheduler=address, watcher=recorder)
    assert len(stored) == 1 and not stored & set(recorder.computed) and len(recorder.computed) == 11


@pytest.mark.slow
def test_a_sweep_and_the_time_left(address: str) -> None:
    def point(flits: int) -> tuple[fw.Network, fw.Workload]:
        return fw.Torus(11, 11), fw.all_to_all(message_flits=flits)

    class Watching(Recorder):
        under_way = 0.0

        def tick(self, status: Status) -> None:
            if not self.computed:
                self.under_way = max(self.under_way, status.work_done)

    watcher = Watching()
    table = fw.sweep(point, flits=[2100], engine="dask", scheduler=address, watcher=watcher)
    assert list(table["flits"]) == [2100]
    assert watcher.under_way > 0


def test_another_version_on_the_workers(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = plan_study(parsed(STUDY))[:1]
    other = replace(jobs[0], hash="0" * 64)
    with pytest.raises(fw.ConfigError) as caught:
        execute([other], engine=DaskEngine(address))
    assert caught.value.path == "scheduler" and "another build of" in caught.value.value
    monkeypatch.setattr(engine_module, "__version__", "9.9.9")
    with pytest.raises(fw.ConfigError) as caught:
        execute(jobs, engine=DaskEngine(address))
    assert fw.__version__ in caught.value.value and "tcp://" in caught.value.value
    assert "flitwork 9.9.9 on every worker" in caught.value.expected and "install" in caught.value.hint


@pytest.mark.parametrize(
    ("scheduler", "expected"),
    [
        ("tcp://127.0.0.1:9", "answers within 0.5 s"),
        ("127.0.0.1:9", "answers within 0.5 s"),
        ("tcp://no.such.host.invalid:8786", "answers within 0.5 s"),
        ("nonsense", "answers within 0.5 s"),
        ("carrier-pigeon://loft", "answers within 0.5 s"),
        ("missing.json", "a scheduler file that can be read"),
    ],
)
def test_a_scheduler_that_cannot_be_reached(scheduler: str, expected: str) -> None:
    began = time.monotonic()
    with pytest.raises(fw.ConfigError) as caught:
        execute(plan_study(parsed(STUDY)), engine=DaskEngine(scheduler, connect_seconds=0.5))
    assert caught.value.path == "scheduler" and caught.value.value == scheduler
    assert expected in caught.value.expected and caught.value.hint
    assert time.monotonic() - began < 5


def test_a_cluster_without_workers() -> None:
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0", silence_logs="CRITICAL") as empty,
        pytest.raises(fw.SimulationError, match=r"no worker for 0\.5 s"),
    ):
        execute(plan_study(parsed(STUDY)), engine=DaskEngine(empty.scheduler_address, worker_seconds=0.5))


def test_without_dask_the_error_says_what_to_install() -> None:
    script = (
        "import sys; sys.modules['distributed'] = None\n"
        "import flitwork as fw\n"
        "fw.sweep(lambda n: (fw.Torus(n, n), fw.all_to_all()), n=[3], engine='dask', scheduler='tcp://x:1')\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "ConfigError" in done.stderr and "pip install 'flitwork[dask]'" in done.stderr


@pytest.mark.slow
def test_the_scheduler_goes_away(tmp_path: Path) -> None:
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=":0", silence_logs="CRITICAL"
    ) as gone:
        recorder = Recorder(lambda: threading.Thread(target=gone.close).start())
        with pytest.raises(fw.SimulationError, match="connection to the scheduler"):
            fw.run_study(parsed(LONGER), tmp_path, engine="dask", scheduler=gone.scheduler_address, watcher=recorder)
    assert len(list((tmp_path / "points").iterdir())) == len(recorder.computed) >= 1


@pytest.mark.slow
def test_a_point_that_kills_its_workers_is_a_failure(tmp_path: Path) -> None:
    study = parsed(LONGER.replace("60, 61", "6000, 61"))
    guilty = max(plan_study(study), key=lambda job: job.work)
    over = threading.Event()

    def kill_whoever_runs_it(address: str) -> None:
        with distributed.Client(address, set_as_default=False) as client:
            while not over.wait(0.2):
                found = client.run(
                    lambda dask_worker: (os.getpid(), [task.key for task in dask_worker.state.executing]),
                    on_error="ignore",
                )
                for pid, keys in found.values():
                    if any(guilty.hash in key for key in keys):
                        os.kill(pid, signal.SIGKILL)

    with (
        dask_config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs="CRITICAL"
        ) as cluster,
    ):
        killer = threading.Thread(target=kill_whoever_runs_it, args=(cluster.scheduler_address,))
        killer.start()
        with pytest.warns(
            UserWarning, match=r"of 12 points failed.*\n.*its workers died \(1 times, and again; it needs"
        ):
            there = fw.run_study(study, tmp_path, engine="dask", scheduler=cluster.scheduler_address)
        over.set()
        killer.join()
    # One that waits behind it whenever a worker dies is given up with it.
    assert guilty.hash in [failure.job.hash for failure in there.failures] and len(there.failures) <= 2
    assert len(there.table) == 12 - len(there.failures) == len(list((tmp_path / "points").iterdir()))


@pytest.mark.slow
def test_a_worker_without_flitwork() -> None:
    block = "import sys; sys.modules['flitwork'] = None"
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=":0", silence_logs="CRITICAL", preload=[block]
        ) as bare,
        pytest.raises(fw.ConfigError, match="a worker without this flitwork"),
    ):
        execute(plan_study(parsed(STUDY)), engine=DaskEngine(bare.scheduler_address))


@pytest.mark.slow
def test_the_command_is_killed_and_continues(address: str, tmp_path: Path, cli: Cli) -> None:
    study, out = tmp_path / "study.toml", tmp_path / "out"
    study.write_text(LONGER)
    command = ["run", str(study), "--out", str(out), "--engine", "dask", "--scheduler", address]
    process = subprocess.Popen([*COMMAND, *command], stderr=subprocess.PIPE, stdout=subprocess.PIPE, env=environment())
    while len(list(out.glob("points/*.parquet"))) < 2:
        assert process.poll() is None
        time.sleep(0.02)
    process.kill()
    process.communicate()
    before = {path: path.stat().st_mtime_ns for path in out.glob("points/*.parquet")}
    done = cli(*command)
    assert done.returncode == 0 and f"{len(before)} stored already" in done.stderr, done.stderr
    assert "12 of 12 points are stored" in done.stderr
    assert all(path.stat().st_mtime_ns == time_ns for path, time_ns in before.items())
    same(pd.read_parquet(out / "results.parquet"), fw.run_study(parsed(LONGER), tmp_path / "here").table)


@pytest.mark.slow
def test_control_c_on_a_cluster(address: str, tmp_path: Path) -> None:
    study, out = tmp_path / "study.toml", tmp_path / "out"
    study.write_text(LONGER.replace("60, 61", "6000, 61"))
    command = ["run", str(study), "--out", str(out), "--engine", "dask", "--scheduler", address]
    process = subprocess.Popen(
        [*COMMAND, *command], stderr=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(), text=True
    )
    while not list(out.glob("points/*.parquet")):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130 and "the same command continues" in said and "Traceback" not in said
    assert idle(address)
