"""The engine of a cluster: the workers of a Dask scheduler simulate, this process collects and stores.

The optional packages ``dask`` and ``distributed`` are imported when the engine is used.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flitwork._core import __version__
from flitwork.base import errors, input_files
from flitwork.base.errors import ConfigError, SimulationError
from flitwork.base.physical import Units
from flitwork.experiment.engines.engine import HOW_TO_START, TICK_SECONDS, Engine, Outcome, Outcomes
from flitwork.experiment.jobs import Job
from flitwork.experiment.store import Store
from flitwork.planning.bound import Bound
from flitwork.results.result import Result

if TYPE_CHECKING:
    from distributed import Client, Future

_CLOSE_SECONDS = 5.0
_LOOK_SECONDS = 2.0
_ERRORS = {cls.__name__: cls for cls in (SimulationError, errors.DeadlockError)}


class DaskEngine(Engine):
    """Runs on the workers of the scheduler at ``scheduler``, an address or a scheduler file.

    It waits ``connect_seconds`` for the scheduler and ``worker_seconds`` without any worker, then it gives up.
    A worker plans what it simulates: a plan holds tables of this build in memory, while a specification is text. The
    hash of its plan must be that of the job, which says that both are the same version.
    """

    another_process = True

    def __init__(self, scheduler: str, connect_seconds: float = 10.0, worker_seconds: float = 120.0) -> None:
        _need_distributed()
        self.scheduler = scheduler
        self.connect_seconds = connect_seconds
        self.worker_seconds = worker_seconds
        self.work: dict[str, float] = {}
        self.share: dict[str, float] = {}

    def run(self, jobs: Sequence[Job], store: Store | None) -> Outcomes:
        """Submits all jobs; the scheduler gives those of a worker that dies to another one.

        Dask gives up a job when too many workers died that had it, also those that only had it waiting. So what it gave
        up gets a second chance after all the others.
        """
        client = self._connect()
        try:
            blamed: list[Job] = []
            for outcome in self._round(client, jobs, store, "flitwork"):
                if outcome and isinstance(outcome.result, _WorkersDied):
                    blamed.append(outcome.job)
                else:
                    yield outcome
            yield from self._round(client, blamed, store, "flitwork-again")
        finally:
            with contextlib.suppress(Exception):
                client.close(timeout=_CLOSE_SECONDS)

    def _round(self, client: Client, jobs: Sequence[Job], store: Store | None, prefix: str) -> Outcomes:
        from flitwork.experiment.engines.dask_worker import TOPIC

        finished: queue.SimpleQueue[Future[dict[str, Any]]] = queue.SimpleQueue()
        waiting: dict[str, tuple[Job, Future[dict[str, Any]]]] = {}
        sent: dict[str, Future[bytes]] = {}
        client.subscribe_topic(TOPIC, self._hear)
        patience = _Patience(client, self.worker_seconds)
        try:
            for i, job in enumerate(jobs):
                future = _submit(client, job, f"{prefix}-{job.hash}", -i, sent)
                waiting[future.key] = job, future
                self.work[future.key] = job.seconds
                future.add_done_callback(finished.put)
            while waiting:
                try:
                    future = finished.get(timeout=TICK_SECONDS)
                except queue.Empty:
                    patience.check()
                    yield None
                    continue
                job, _ = waiting.pop(future.key)
                result = self._result(future, job)
                del self.work[future.key]
                if store and isinstance(result, Result):
                    store.put(result)
                yield Outcome(job, result)
        finally:
            self.work.clear()
            # The workers stop what is left. A scheduler that is gone already is no error.
            with contextlib.suppress(Exception):
                client.cancel([future for _, future in waiting.values()])

    def work_under_way(self) -> float:
        """What the workers have reported about the simulations that run."""
        return sum(work * self.share.get(key, 0.0) for key, work in list(self.work.items()))

    def _hear(self, event: tuple[float, dict[str, Any]]) -> None:
        _, message = event
        self.share[message["key"]] = message["share"]

    def _connect(self) -> Client:
        from distributed import Client

        address = self.scheduler
        if address.endswith(".json"):
            address = _address_in(Path(address))
        try:
            # A client that cannot connect leaves threads and complaints behind; so knock first.
            _knock(address, self.connect_seconds)
            return Client(address, timeout=self.connect_seconds, set_as_default=False, name="flitwork")
        except Exception as error:
            reason = "what answers there is none" if isinstance(error, MemoryError) else error
            expected = f"the address of a Dask scheduler that answers within {self.connect_seconds:g} s ({reason})"
            raise ConfigError("scheduler", self.scheduler, expected, HOW_TO_START) from None

    def _result(self, future: Future[dict[str, Any]], job: Job) -> Result | SimulationError:
        """What a finished future holds."""
        from distributed import KilledWorker

        if future.status == "cancelled":
            raise SimulationError(f"the connection to the scheduler {self.scheduler} is lost; {_CONTINUE}")
        try:
            answer = future.result()
        except KilledWorker as error:
            times, need = error.allowed_failures + 1, f"{job.memory_bytes / 1e6:.0f} MB"
            return _WorkersDied(
                f"its workers died ({times} times, and again; it needs about {need}); the same command tries it again"
            )
        except (ImportError, AttributeError) as error:
            raise _other_version(f"a worker without this flitwork ({error})") from None
        if "other_version" in answer:
            raise _other_version(f"{answer['other_version']} on worker {answer['worker']}")
        if "error" in answer:
            return _ERRORS.get(answer["error"], SimulationError)(answer["message"])
        bound = Bound(answer["bound"], Units.of(answer["plan"]["described"]))
        return Result(
            answer["plan"], answer["values"], answer["columns"], bound, answer["wall_seconds"], job.spec.tables
        )


def _address_in(path: Path) -> str:
    """The address in a scheduler file."""
    expected, hint = "a scheduler file that can be read", "`dask scheduler --scheduler-file FILE` writes one"
    found = input_files.read_json(path, "scheduler", expected, hint)
    if not isinstance(found, dict) or not isinstance(found.get("address"), str):
        raise ConfigError("scheduler", path, f"{expected}: with an address", hint)
    return str(found["address"])


def _knock(address: str, seconds: float) -> None:
    """Opens a connection to a scheduler and closes it again, in a thread as there may be an event loop in this one."""
    from distributed.comm import connect
    from distributed.security import Security

    async def knock() -> None:
        comm = await connect(address, timeout=seconds, **Security().get_connection_args("client"))
        await comm.close()

    pool = ThreadPoolExecutor(1)
    try:
        pool.submit(asyncio.run, knock()).result(timeout=2 * seconds)
    finally:
        pool.shutdown(wait=False)


_MODULE = "flitwork.experiment.engines.dask_worker"
_CALL = f"__import__({_MODULE!r}, fromlist=['simulate_point']).simulate_point(**request)"
_CONTINUE = "what is finished is stored, the same command continues"


def _need_distributed() -> None:
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        expected = f"the packages dask and distributed, which are not installed ({error})"
        raise ConfigError("engine", '"dask"', expected, "pip install 'flitwork[dask]'") from None


def _submit(
    client: Client, job: Job, key: str, priority: int, sent: dict[str, Future[bytes]]
) -> Future[dict[str, Any]]:
    """Equal plans have equal keys: two clients of one scheduler share their simulations.

    ``sent`` has the tables that are on their way already, by digest.

    The task is a text on purpose: a worker that cannot import its function would not get as far as an error, but die of
    the message, and so would the next one.
    """
    request: dict[str, Any] = {"spec": job.spec.text, "plan_hash": job.hash, "version": __version__}
    for table in job.spec.tables:
        # A task of its own for each table: it is sent once, however many simulations need it.
        if table.sha256 not in sent:
            sent[table.sha256] = client.submit(bytes, table.to_bytes(), key=f"flitwork-{table.sha256}")
        request.setdefault("tables", []).append(sent[table.sha256])
    return client.submit(eval, _CALL, {"request": request}, key=key, priority=priority)


def _other_version(found: str) -> ConfigError:
    hint = "install the same version on all workers and restart them"
    return ConfigError("scheduler", found, f"flitwork {__version__} on every worker, as here", hint)


class _WorkersDied(SimulationError):
    """A job that Dask has given up."""


class _Patience:
    """Gives up when there has been no worker for too long."""

    def __init__(self, client: Client, seconds: float) -> None:
        self.client = client
        self.seconds = seconds
        self.seen = self.looked = time.monotonic()

    def check(self) -> None:
        now = time.monotonic()
        if now - self.looked < min(_LOOK_SECONDS, self.seconds):
            return
        self.looked = now
        try:
            there = bool(self.client.nthreads())
        except OSError:
            # The connection is gone: every future is cancelled soon, which says it better.
            return
        if there:
            self.seen = now
        elif now - self.seen > self.seconds:
            raise SimulationError(
                f"the scheduler has had no worker for {self.seconds:g} s; start some with `dask worker ADDRESS`; "
                + _CONTINUE
            )
