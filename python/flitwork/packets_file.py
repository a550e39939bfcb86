"""Packets of a long run, written to a file while it lasts: memory does not grow with the run."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from flitwork import _core
from flitwork.bound import Bound
from flitwork.errors import ConfigError, StorageError
from flitwork.files import writable_file
from flitwork.libraries import np, pa, pq
from flitwork.result import NEVER, OF_A_PACKET, Result
from flitwork.signals import signals_raise

if TYPE_CHECKING:
    from flitwork.result import Progress

#: Packets that are written together.
BATCH = 1 << 17
#: Batches that may wait to be written at most, whatever arrives.
_BATCHES = 8
_FIRST_CYCLES = 1 << 8
#: Steps in which a batch arrives: what arrives in one of them is made columns while it is still in a cache.
_STEPS = 8
#: Differences of whole numbers: as small a file as dictionaries and compression make, in three quarters of their time.
_ENCODED: dict[str, Any] = {
    "use_dictionary": False,
    "compression": "none",
    "column_encoding": {name: "DELTA_BINARY_PACKED" for name, kind in OF_A_PACKET.items() if kind != "bool"},
}


def recording(spec: Mapping[str, Any], path: str | Path, name: str = "packets_file") -> dict[str, Any]:
    """The specification where packets go to the file ``path``; ``name`` is the argument or the option that says it."""
    run = dict(spec.get("run", {}))
    record = dict(run.get("record", {}))
    if asked := [f"record.{part}" for part in ("waits", "operations") if record.get(part)]:
        expected = f"no {' nor '.join(asked)} beside it, which need all packets at the end"
        raise ConfigError(name, path, expected, f"take {' and '.join(asked)} out, or {name}")
    return {**spec, "run": {**run, "record": {**record, "packets": True, "to_file": True}}}


def checked(path: str | Path, name: str = "packets_file", overwrite: bool = True) -> Path:
    """``path`` as a file that can be written; ``name`` is the argument or the option that says it.

    A file that exists is refused without ``overwrite``.
    """
    if not isinstance(path, str | Path) or not str(path):
        raise ConfigError(name, repr(path), "a file that ends in .parquet", 'such as "packets.parquet"')
    path = Path(path)
    if path.suffix.lower() != ".parquet":
        raise ConfigError(name, str(path), "a file that ends in .parquet", f"{path}.parquet")
    return writable_file(path, name, overwrite)


def run_to_file(plan: _core.Plan, path: Path, progress: Progress | None = None, name: str = "packets_file") -> Result:
    """Runs a plan of :func:`recording` and writes its packets to ``path`` (Parquet), in the order of their arrival.

    Those that had not arrived are the last ones. The columns are those of ``result.packets`` without latencies; cycles
    of what had not happened are null. The result has no packets. Where the run ends early (Ctrl-C, SIGTERM, a deadlock,
    a full disk), the file can be read and has the packets that had arrived, on a full disk as far as there was room. A
    process that is killed (SIGKILL) loses the file. ``name`` is the argument or the option that says the path.
    """
    started, described = perf_counter(), json.loads(plan.json)
    simulation = _core.Simulation(plan)
    with signals_raise(), _opened(path, plan, name) as file:
        try:
            _advance(simulation, file, described["derived"]["terminals"], progress)
        finally:
            file.add(simulation.take_packets())
        values, columns = simulation.finish()
        file.add({name: column for name, column in columns.items() if name.startswith("packets.")})
    kept = {name: column for name, column in columns.items() if not name.startswith("packets.")}
    return Result(described, json.loads(values), kept, Bound.of(plan), perf_counter() - started, plan.tables)


def _advance(simulation: _core.Simulation, file: _File, terminals: int, progress: Progress | None) -> None:
    """To the end, in steps in which about an eighth of a batch arrives.

    However long little has arrived, a step is so short that no more than some batches fit into it: a terminal receives
    about one packet a cycle at most.
    """
    longest = max(_BATCHES * BATCH // terminals, 1)
    cycles = min(_FIRST_CYCLES, longest)
    while (paused := simulation.advance(simulation.now + cycles, progress)) != "ended":
        if paused == "asked":
            expected = "a workload that is known before the run"
            raise ConfigError("workload.kind", "programs", expected, "their packets are recorded in memory alone")
        rows = file.add(simulation.take_packets())
        if rows > BATCH // _STEPS:
            cycles = max(cycles // 2, 1)
        elif rows < BATCH // _STEPS // 2:
            cycles = min(cycles * 2, longest)


class _File:
    """The file, a row group for each batch. A thread writes one batch while the run goes on to the next."""

    def __init__(self, writer: Any, schema: Any, thread: Executor) -> None:
        self._writer, self._schema, self._thread = writer, schema, thread
        self._waiting: list[Mapping[str, Any]] = []
        self._rows = 0
        self._written: Future[None] | None = None

    def add(self, columns: Mapping[str, Any]) -> int:
        """Packets as columns ``packets.*``; how many."""
        if not columns:
            return 0
        rows = len(columns["packets.src"])
        self._waiting.append(columns)
        self._rows += rows
        if self._rows >= BATCH:
            self.flush()
        return rows

    def flush(self) -> None:
        """Begins to write what is waiting, as soon as the batch before is written.

        Raises the error of that one, if it had one.
        """
        self.finish()
        waiting, self._waiting, self._rows = self._waiting, [], 0
        if waiting:
            self._written = self._thread.submit(self._write, waiting)

    def finish(self) -> None:
        """Waits for the batch that is being written, and raises its error."""
        if self._written is not None:
            wait([self._written])
            written, self._written = self._written, None
            written.result()

    def _write(self, batch: Sequence[Mapping[str, Any]]) -> None:
        tables = [pa.record_batch(list(self._arrays(columns)), schema=self._schema) for columns in batch]
        self._writer.write_table(pa.Table.from_batches(tables), row_group_size=2 * BATCH)

    def _arrays(self, columns: Mapping[str, Any]) -> Iterator[Any]:
        for field in self._schema:
            column = columns[f"packets.{field.name}"]
            missing = column == NEVER if field.name.endswith("_cycle") else None
            # Most batches miss nothing: without a mask nothing is copied.
            mask = missing if missing is not None and missing.any() else None
            yield pa.array(column.astype(np.dtype(OF_A_PACKET[field.name]), copy=False), mask=mask)


@contextlib.contextmanager
def _opened(path: Path, plan: _core.Plan, name: str) -> Iterator[_File]:
    """The file, closed so that it can be read however the work with it ends."""
    about = {"flitwork.plan_hash": plan.hash, "flitwork.plan": plan.json}
    schema = pa.schema([(name, pa.from_numpy_dtype(np.dtype(kind))) for name, kind in OF_A_PACKET.items()], about)
    try:
        # Arrow opens it itself: an interrupt within a write, in code of Python, would leave half a batch.
        writer = pq.ParquetWriter(str(path), schema, **_ENCODED)
    except OSError as error:
        expected = f"a place that can be written to ({error.strerror or error})"
        raise ConfigError(name, path, expected, "choose another") from None
    try:
        with writer, ThreadPoolExecutor(1, "packets_file") as thread:
            file = _File(writer, schema, thread)
            try:
                yield file
            finally:
                file.flush()
                file.finish()
    except OSError as error:
        raise StorageError(f"{path}: packets cannot be stored ({error.strerror or error}): free space") from None
