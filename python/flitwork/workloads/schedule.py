"""``fw.Schedule``: what each rank does, written in Python; a workload like any other.

The simulator, its bounds, checks and plots see the same stored schedule; results and studies keep it beside the
specification, which names it by a digest of its contents.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from flitwork import _core
from flitwork.base import parquet
from flitwork.base.arguments import several, whole
from flitwork.base.errors import ConfigError
from flitwork.base.libraries import pd
from flitwork.base.output_files import write_atomically
from flitwork.workloads.operation_columns import columns_of
from flitwork.workloads.operations import Operation, Receive, Send, Wait
from flitwork.workloads.schedule_file import read_schedule, schedule_table, table_frame
from flitwork.workloads.workload import Quantity, Workload, make_workload, said

#: What one rank does in one step of an algorithm.
Step = Operation | Iterable[Operation]
_MOST_RANKS = 1_000_000


class Schedule(Workload):
    """The operations of each rank, one list a rank, in program order.

    >>> ping = [fw.Send(1, flits=4), fw.Receive(1, flits=4)]
    >>> pong = [fw.Receive(0, flits=4), fw.Wait([0]), fw.Send(0, flits=4)]
    >>> fw.simulate(fw.Torus(4), fw.Schedule([ping, pong])).completion_cycles

    Operations of a rank are numbered from 0; ``after`` names those that an operation waits for. Messages are all in
    ``flits`` or all in ``bytes``, computations all in ``cycles`` or all in ``ns``; ``network.units`` says what bytes
    and ns are. ``packet_flits``, or ``packet_bytes``, is the longest packet (0 if not said: the longest message).
    Rank r runs on terminal r unless ``host`` says otherwise.

    Raises :class:`flitwork.ConfigError` for a field that cannot be used, ``programs[3][0].flits``, and
    :class:`flitwork.ScheduleError` for an operation that makes no sense: an unknown rank, a wait for a later operation.
    """

    def __init__(
        self,
        programs: Iterable[Iterable[Operation]],
        *,
        name: str = "schedule",
        packet_flits: int | None = None,
        packet_bytes: Quantity | None = None,
    ) -> None:
        given = several("programs", programs, "a list of operations for each rank")
        self._keep(_core.Table.schedule(name, *columns_of(given)), packet_flits, packet_bytes)

    def _keep(self, table: _core.Table, packet_flits: int | None, packet_bytes: Quantity | None = None) -> None:
        length = said(0, packet_flits=packet_flits, packet_bytes=packet_bytes)
        spec = make_workload("schedule", {"schedule": table, **length}).spec
        # What is checked is plain data; the table goes beside it.
        object.__setattr__(self, "spec", {**spec, "schedule": table})

    @classmethod
    def of(
        cls,
        program: Callable[[int, int], Iterable[Step]],
        ranks: int,
        *,
        blocking: bool = True,
        name: str | None = None,
        packet_flits: int | None = None,
        packet_bytes: Quantity | None = None,
    ) -> Schedule:
        """A schedule from the steps of an algorithm: ``program(rank, ranks)`` says what a rank does in each step.

        >>> def ring(rank, ranks):
        ...     for step in range(1, ranks):
        ...         yield fw.Receive((rank - step) % ranks, flits=8), fw.Send((rank + step) % ranks, flits=8)
        >>> work = fw.Schedule.of(ring, 16)

        With ``blocking`` a rank begins a step when all operations of the step before are complete, as with
        ``MPI_Sendrecv``; without it only ``after`` and ``fw.Wait`` hold it up. ``after`` counts the operations of the
        rank as the program gives them. Sends and receives belong to the step in which they are given, unless they name
        one.
        """
        ranks = whole("ranks", ranks, 1, _MOST_RANKS)
        programs = [_in_steps(program(rank, ranks), blocking) for rank in range(ranks)]
        called = name or str(getattr(program, "__name__", "schedule"))
        return cls(programs, name=called, packet_flits=packet_flits, packet_bytes=packet_bytes)

    @classmethod
    def read(cls, file: str | Path, *, packet_flits: int = 0) -> Schedule:
        """A schedule from a file .csv or .parquet, as :meth:`save` writes it."""
        path = Path(file)
        if not path.is_file():
            raise ConfigError("workload.file", path, "a file that can be read", "check the name")
        return cls.of_core(read_schedule(path, "workload"), packet_flits)

    @classmethod
    def from_table(
        cls, table: pd.DataFrame | Mapping[str, Any], *, name: str = "schedule", packet_flits: int = 0
    ) -> Schedule:
        """A schedule from a data frame: a row an operation, columns as :meth:`table` has them."""
        return cls.of_core(schedule_table(table, "table", name), packet_flits)

    @classmethod
    def of_core(
        cls, table: _core.Table, packet_flits: int | None = None, packet_bytes: Quantity | None = None
    ) -> Schedule:
        """A schedule that was made from something else."""
        schedule = cls.__new__(cls)
        schedule._keep(table, packet_flits, packet_bytes)
        return schedule

    @property
    def name(self) -> str:
        """Its name in tables and messages."""
        return self._table.name

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return self._table.ranks

    def table(self) -> pd.DataFrame:
        """All operations, a row each.

        Columns rank, operation, peer, flits or bytes, cycles or ns, tag, step, after; -1 is any rank, or any tag.
        """
        return table_frame(self._table)

    def save(self, file: str | Path) -> Path:
        """Writes :meth:`table` to a file .csv or .parquet. A file that is there is replaced."""
        path, frame = Path(file), self.table()
        if path.suffix.lower() == ".csv":
            return write_atomically(path, lambda out: frame.to_csv(out, index=False))
        if path.suffix.lower() == ".parquet":
            return write_atomically(path, lambda out: out.write(parquet.to_bytes(frame)))
        raise ConfigError("file", path, "a file .csv or .parquet", "the ending of its name says what it is")

    def check(self) -> dict[str, Any]:
        """Proves that sends and receives match and that every rank can finish; counts messages and their lengths.

        Raises :class:`flitwork.ScheduleError` that names ranks and operations.
        """
        report: dict[str, Any] = json.loads(self._table.check())
        if self._table.in_units[0]:
            return {key.replace("flits", "bytes"): value for key, value in report.items()}
        return report

    @property
    def _table(self) -> _core.Table:
        table: _core.Table = self.spec["schedule"]
        return table

    def __repr__(self) -> str:
        return f"<schedule {self.name}: {self.ranks} ranks, {self._table.rows:,} operations>"


def _in_steps(steps: Iterable[Step], blocking: bool) -> list[Operation]:
    """The operations of a rank, those of each step with its number; between steps a wait, where they block."""
    operations: list[Operation] = []
    # The place of each operation as the program counts it, and those of the step before.
    places: list[int] = []
    before: list[int] = []
    for number, step in enumerate(steps):
        if blocking and before:
            operations.append(Wait(before))
        before = []
        for operation in [step] if isinstance(step, Operation) else step:
            if isinstance(operation, (Send, Receive)) and operation.step is None:
                operation = replace(operation, step=number)
            if getattr(operation, "after", ()):
                # What is out of range is named by the check of the whole.
                moved = [places[op] if op < len(places) else op for op in operation.after]
                operation = replace(operation, after=moved)
            places.append(len(operations))
            before.append(len(operations))
            operations.append(operation)
    return operations
