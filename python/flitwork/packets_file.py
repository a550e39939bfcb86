"""Packets of a long run, written to a file while it lasts: memory does not grow with the run."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from flitwork import _core
from flitwork.bound import Bound
from flitwork.errors import ConfigError, StorageError
from flitwork.files import writable_file
from flitwork.libraries import np, pa, pq
from flitwork.result import NEVER, OF_A_PACKET, Result

if TYPE_CHECKING:
    from flitwork.result import Progress

#: Packets that are written together; about twice as many are in memory.
BATCH = 1 << 17
_FIRST_CYCLES, _MOST_CYCLES = 1 << 8, 1 << 40


def recording(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The specification where packets go to a file."""
    run = dict(spec.get("run", {}))
    return {**spec, "run": {**run, "record": {**run.get("record", {}), "packets": True, "to_file": True}}}


def checked(path: str | Path, name: str = "packets_file", overwrite: bool = True) -> Path:
    """``path`` as a file that can be written; ``name`` is the argument or the option that says it.

    A file that exists is refused without ``overwrite``.
    """
    path = Path(path)
    if path.suffix.lower() != ".parquet":
        raise ConfigError(name, str(path), "a file that ends in .parquet", f"{path}.parquet")
    return writable_file(path, name, overwrite)


def run_to_file(plan: _core.Plan, path: Path, progress: Progress | None = None) -> Result:
    """Runs a plan of :func:`recording` and writes its packets to ``path`` (Parquet), in the order of their arrival.

    Those that had not arrived are the last ones. The columns are those of ``result.packets`` without latencies; cycles
    of what had not happened are null. The result has no packets. However the run ends, the file can be read, with the
    packets that had arrived: after Ctrl-C, a deadlock, or where the disk is full as far as there was room.
    """
    started = perf_counter()
    simulation = _core.Simulation(plan)
    with _opened(path, plan) as file:
        cycles = _FIRST_CYCLES
        while (paused := simulation.advance(simulation.now + cycles, progress)) != "ended":
            if paused == "asked":
                expected = "a workload that is known before the run"
                raise ConfigError("workload.kind", "programs", expected, "their packets are recorded in memory alone")
            rows = file.add(simulation.take_packets())
            cycles = (
                max(cycles // 2, 1) if rows > BATCH else min(cycles * 2, _MOST_CYCLES) if rows < BATCH // 2 else cycles
            )
        file.add(simulation.take_packets())
        values, columns = simulation.finish()
        file.add({name: column for name, column in columns.items() if name.startswith("packets.")})
    kept = {name: column for name, column in columns.items() if not name.startswith("packets.")}
    return Result(json.loads(plan.json), json.loads(values), kept, Bound.of(plan), perf_counter() - started)


class _File:
    """The file, a row group for each batch."""

    def __init__(self, writer: Any, schema: Any) -> None:
        self._writer, self._schema = writer, schema
        self._waiting: list[Any] = []
        self._rows = 0

    def add(self, columns: Mapping[str, Any]) -> int:
        """Packets as columns ``packets.*``; how many."""
        if not columns:
            return 0
        arrays = []
        for field in self._schema:
            column = columns[f"packets.{field.name}"]
            missing = column == NEVER if field.name.endswith("_cycle") else None
            arrays.append(pa.array(column.astype(np.dtype(OF_A_PACKET[field.name])), mask=missing))
        self._waiting.append(pa.record_batch(arrays, schema=self._schema))
        self._rows += len(arrays[0])
        if self._rows >= BATCH:
            self.flush()
        return len(arrays[0])

    def flush(self) -> None:
        """Writes what is waiting."""
        waiting, self._waiting, self._rows = self._waiting, [], 0
        if waiting:
            self._writer.write_table(pa.Table.from_batches(waiting), row_group_size=2 * BATCH)


@contextlib.contextmanager
def _opened(path: Path, plan: _core.Plan) -> Iterator[_File]:
    """The file, closed so that it can be read however the work with it ends."""
    about = {"flitwork.plan_hash": plan.hash, "flitwork.plan": plan.json}
    schema = pa.schema([(name, pa.from_numpy_dtype(np.dtype(kind))) for name, kind in OF_A_PACKET.items()], about)
    try:
        # Arrow writes it itself: an interrupt within a write, in code of Python, would leave half a batch.
        writer = pq.ParquetWriter(str(path), schema)
    except OSError as error:
        expected = f"a place that can be written to ({error.strerror or error})"
        raise ConfigError("packets_file", path, expected, "choose another") from None
    try:
        with writer:
            file = _File(writer, schema)
            try:
                yield file
            finally:
                file.flush()
    except OSError as error:
        raise StorageError(f"{path}: packets cannot be stored ({error.strerror or error}): free space") from None
