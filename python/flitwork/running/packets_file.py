"""Packets of a long run, written to a file while it lasts: memory does not grow with the run."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any

from flitwork import _core
from flitwork.base import parquet
from flitwork.base.errors import ConfigError, StorageError
from flitwork.base.libraries import np
from flitwork.base.output_files import writable_file
from flitwork.base.signals import SignalsWait, signals_raise
from flitwork.planning.bound import Bound
from flitwork.results.result import NEVER, OF_A_PACKET, Result

if TYPE_CHECKING:
    from flitwork.results.result import Progress

#: Packets that are written together.
BATCH = 1 << 17
#: Batches that may wait to be written at most, whatever arrives.
_BATCHES = 8
_FIRST_CYCLES = 1 << 8
#: Steps in which a batch arrives: what arrives in one of them is made columns while it is still in a cache.
_STEPS = 8
#: How often a run that waits for its file looks whether it may go on [s].
_LOOK_SECONDS = 0.001
#: Kinds of the columns, and their types in a data frame: what has not happened is missing, and pandas reads cycles as
#: whole numbers (Int64), as in the table of a result.
_KINDS = {name: ("int64", "Int64") if name.endswith("_cycle") else (kind, kind) for name, kind in OF_A_PACKET.items()}


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
    an error), the file can be read and has the packets that had arrived. A full disk, or a process that is killed
    (SIGKILL), leaves one that cannot be read. ``name`` is the argument or the option that says the path.
    """
    started = perf_counter()
    simulation = _core.Simulation(plan)
    # Packets that have been taken are nobody's until the file has them: what stops the run may do so between that only.
    with signals_raise(), SignalsWait() as signals, _opened(path, plan, name) as file:
        try:
            _advance(simulation, file, plan.terminals, signals, progress)
        finally:
            file.add(simulation.take_packets())
        values, columns = simulation.finish()
        file.add({name: column for name, column in columns.items() if name.startswith("packets.")})
    kept = {name: column for name, column in columns.items() if not name.startswith("packets.")}
    return Result(plan.contents(), json.loads(values), kept, Bound.of(plan), perf_counter() - started, plan.tables)


def _advance(
    simulation: _core.Simulation, file: _File, terminals: int, signals: SignalsWait, progress: Progress | None
) -> None:
    """To the end, in steps in which about an eighth of a batch arrives.

    However long little has arrived, a step is so short that no more than some batches fit into it: a terminal receives
    about one packet a cycle at most.
    """
    longest = max(_BATCHES * BATCH // terminals, 1)
    cycles = min(_FIRST_CYCLES, longest)
    while True:
        with signals.allowed():
            paused = simulation.advance(simulation.now + cycles, progress)
        if paused == "ended":
            return
        if paused == "asked":
            expected = "a workload that is known before the run"
            raise ConfigError("workload.kind", "programs", expected, "their packets are recorded in memory alone")
        while not file.has_room():
            with signals.allowed():
                sleep(_LOOK_SECONDS)
        rows = file.add(simulation.take_packets())
        if rows > BATCH // _STEPS:
            cycles = max(cycles // 2, 1)
        elif rows < BATCH // _STEPS // 2:
            cycles = min(cycles * 2, longest)


class _File(threading.Thread):
    """The file, a row group for each batch. A thread writes it, while the run goes on, and closes it.

    It is the writer's only thread, and gets no signals: nothing stops it in the middle of a batch. It ends with the
    process, as whoever fills the file may be a thread that does.
    """

    def __init__(self, path: Path, writer: _core.ParquetWriter) -> None:
        super().__init__(name="packets_file", daemon=True)
        self._path, self._writer = path, writer
        self._changed = threading.Condition()
        # Both threads change these three, under the condition.
        self._waiting: list[Mapping[str, Any]] = []
        self._rows = 0
        self._ends = False
        self._error: Exception | None = None

    def add(self, columns: Mapping[str, Any]) -> int:
        """Packets as columns ``packets.*``; how many."""
        rows = len(columns["packets.src"]) if columns else 0
        if rows:
            with self._changed:
                self._waiting.append(columns)
                self._rows += rows
                self._changed.notify()
        return rows

    def has_room(self) -> bool:
        """Whether no more than a batch waits to be written. Raises what went wrong with one."""
        self.check()
        return self._rows <= BATCH

    def finish(self) -> None:
        """Waits until all is written and the file closed."""
        with self._changed:
            self._ends = True
            self._changed.notify()
        self.join()

    def check(self) -> None:
        """Raises what went wrong, if something has."""
        error = self._error
        if isinstance(error, OSError):
            why = error.strerror or error
            raise StorageError(f"{self._path}: packets cannot be stored ({why}): free space") from None
        if error is not None:
            raise error

    def run(self) -> None:
        """Writes batches until the end, and closes the file."""
        self._keep_error(self._write_all)
        self._keep_error(self._writer.close)

    def _keep_error(self, work: Callable[[], None]) -> None:
        """Whatever goes wrong, who fills the file hears of it; of the first error, which others follow."""
        try:
            work()
        except Exception as error:
            self._error = self._error or error

    def _write_all(self) -> None:
        while batch := self._next():
            self._write(batch)

    def _next(self) -> list[Mapping[str, Any]]:
        """A batch, as soon as there is one; at the end what is left, or nothing."""
        with self._changed:
            self._changed.wait_for(lambda: self._rows >= BATCH or self._ends)
            batch, self._waiting, self._rows = self._waiting, [], 0
        return batch

    def _write(self, batch: Sequence[Mapping[str, Any]]) -> None:
        self._writer.write([parquet.given(column) for column in self._columns(batch)])

    def _columns(self, batch: Sequence[Mapping[str, Any]]) -> Iterator[parquet.Column]:
        for name, (kind, _) in _KINDS.items():
            parts = [columns[f"packets.{name}"] for columns in batch]
            column, valid = parts[0] if len(parts) == 1 else np.concatenate(parts), None
            if name.endswith("_cycle"):
                column, valid = column.view(np.int64), column != NEVER
            # Most batches miss nothing.
            yield parquet.Column(kind, column, None if valid is None or valid.all() else valid)


@contextlib.contextmanager
def _opened(path: Path, plan: _core.Plan, name: str) -> Iterator[_File]:
    """The file, closed so that it can be read however the work with it ends."""
    noted = parquet.noted_types(_KINDS, None)
    about = [("flitwork.plan_hash", plan.hash), ("flitwork.plan", plan.json), ("pandas", noted)]
    columns = [(column, kind, column.endswith("_cycle"), False) for column, (kind, _) in _KINDS.items()]
    try:
        writer = _core.ParquetWriter(path, columns, about)
    except OSError as error:
        expected = f"a place that can be written to ({error.strerror or error})"
        raise ConfigError(name, path, expected, "choose another") from None
    file = _File(path, writer)
    file.start()
    try:
        yield file
    finally:
        # What ended the run is said first; only where nothing has, what went wrong with the file.
        file.finish()
    file.check()
