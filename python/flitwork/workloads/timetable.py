"""``fw.Timetable``: an all-to-all in which every block of a message has a time; a workload like any other."""

from __future__ import annotations

import json
import math
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flitwork import _core
from flitwork.base.arguments import whole
from flitwork.base.errors import ConfigError
from flitwork.base.libraries import np, pd
from flitwork.base.output_files import write_atomically, write_csv
from flitwork.base.table_file import short
from flitwork.workloads.operation_columns import operations
from flitwork.workloads.operations import MOST_AMOUNT
from flitwork.workloads.schedule import Schedule
from flitwork.workloads.timetable_file import read_timetable, timetable_of
from flitwork.workloads.workload import Quantity, Workload, make_workload, said

if TYPE_CHECKING:
    from numpy.typing import NDArray

_AXES = "xyzuvw"


class Timetable(Workload):
    """When each node sends what: on a torus relative to itself, all nodes alike; elsewhere by pairs of terminals.

    Each message is cut into blocks of ``block_flits``; a period of ``period_cycles`` brings one block of each node to
    every other node. ``message_flits`` (100 if not said), or ``message_bytes``, is the length of a message;
    ``packet_flits``, or ``packet_bytes``, the longest packet (a block if not said). The first period begins in cycle
    ``begin_cycles``: ranks that start later miss their first sends. :func:`flitwork.synthesise` finds timetables,
    :meth:`read` reads those that :meth:`save` has written.

    Planning proves that no port and no channel is used twice in a cycle, and refuses a timetable that fails, or that
    was made for another network.
    """

    def __init__(
        self,
        table: _core.Table,
        *,
        message_flits: int | None = None,
        message_bytes: Quantity | None = None,
        packet_flits: int | None = None,
        packet_bytes: Quantity | None = None,
        begin_cycles: int = 0,
    ) -> None:
        if not isinstance(table, _core.Table):
            hint = "fw.synthesise finds timetables, fw.Timetable.read and fw.Timetable.of_json read them"
            raise ConfigError("table", short(table), "the table of a timetable", hint)
        given = {"message_flits": message_flits, "message_bytes": message_bytes}
        lengths = {name: value for name, value in given.items() if value is not None}
        longest = said(0, packet_flits=packet_flits, packet_bytes=packet_bytes)
        begin = {"begin_cycles": begin_cycles} if begin_cycles != 0 else {}
        spec = make_workload("timetable", {"timetable": table, **lengths, **longest, **begin}).spec
        # What is checked is plain data; the table goes beside it.
        object.__setattr__(self, "spec", {**spec, "timetable": table})

    @classmethod
    def read(cls, file: str | Path, **lengths: Any) -> Timetable:
        """A timetable from a file in JSON, as :meth:`save` writes it; ``lengths`` as for the class."""
        if not isinstance(file, (str, Path)):
            raise ConfigError("file", short(file), "the name of a file", 'for example "schedule.json"')
        return cls(read_timetable(Path(file), "workload"), **lengths)

    @classmethod
    def of_json(cls, text: str, **lengths: Any) -> Timetable:
        """A timetable from JSON; ``lengths`` as for the class."""
        return cls(timetable_of(text, "timetable"), **lengths)

    @property
    def json(self) -> str:
        """All of it but the lengths of messages and packets, as JSON."""
        return _core.timetable_json(self.spec["timetable"])

    @cached_property
    def _content(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(self.json)
        return content

    @property
    def sizes(self) -> tuple[int, ...]:
        """Routers along each dimension of a torus whose nodes are alike; empty for a timetable by pairs."""
        return tuple(self._content.get("sizes", ()))

    @property
    def terminals(self) -> int:
        """Terminals that send to each other."""
        return int(self._content.get("terminals", math.prod(self.sizes)))

    @property
    def period_cycles(self) -> int:
        """Time in which each node sends one block to every other node [cycles]."""
        return int(self._content["period_cycles"])

    @property
    def block_flits(self) -> int:
        """Length of a block [flits]."""
        return int(self._content["block_flits"])

    @property
    def hop_cycles(self) -> int | None:
        """Time of a hop that it was made for [cycles]; ``None`` by pairs, where channels may have their own."""
        return self._content.get("hop_cycles")

    def begun_at(self, begin_cycles: int) -> Timetable:
        """The same timetable, whose first period begins in this cycle."""
        rest = {name: value for name, value in self.spec.items() if name not in ("kind", "timetable", "begin_cycles")}
        return Timetable(self.spec["timetable"], **rest, begin_cycles=begin_cycles)

    def order(self) -> NDArray[np.uint32]:
        """To whom each terminal sends, in the order of its times: shape (terminals, terminals - 1)."""
        return _core.timetable_order(self.spec["timetable"])

    def schedule(self, *, ports: int = 1) -> Schedule:
        """The same all-to-all for machines without a common clock: whole messages, in the order of their first blocks.

        All receives are posted first. A rank begins a message when the one ``ports`` before it has left: ``ports`` is
        the number of messages that a rank sends at once. Other ranks may be faster or slower, so messages can meet.
        """
        ports = whole("ports", ports, 1, max(self.terminals - 1, 1))
        to, ranks, others = self.order(), self.terminals, self.terminals - 1
        rank, other = np.arange(ranks)[:, None], np.arange(others)[None, :]
        lengths = {name: self.spec.get(name) for name in ("message_flits", "message_bytes")}
        ((unit, length),) = said(100, **lengths).items()
        length = whole(unit, length, 1, MOST_AMOUNT)
        packets = {name: self.spec[name] for name in ("packet_flits", "packet_bytes") if name in self.spec}
        columns = operations(
            np.full(ranks, 2 * others),
            kind=np.tile(np.repeat([_core.Kind.RECEIVE, _core.Kind.SEND], others), ranks),
            peer=np.concatenate([other + (other >= rank), to], axis=1).ravel(),
            amount=np.full(2 * others * ranks, length),
            **dict.fromkeys(("tag", "step", "via"), np.zeros(2 * others * ranks, np.uint8)),
            dependencies=np.tile(np.repeat([0, 1], [others + ports, others - ports]), ranks),
            after=np.tile(np.arange(others, 2 * others - ports), ranks),
        )
        table = _core.Table.schedule("timetable", (unit == "message_bytes", False), columns)
        return Schedule.of_core(table, **(packets or {"packet_flits": self.block_flits}))

    def table(self) -> pd.DataFrame:
        """What is sent in a period, a row a block in the order of their starts.

        By pairs: columns ``source``, ``destination`` and ``start_cycle``. On a torus what node (0, ..., 0) sends:
        columns ``dx``, ``dy``, ... (channels along each dimension, negative towards minus), ``start_cycle`` in the
        period, and ``shift_x``, ...: how many cycles earlier the block starts at the next node towards plus.
        """
        if not self.sizes:
            starts = self._content["starts"]
            pairs = ((a, b, start) for a, row in enumerate(starts) for b, start in enumerate(row) if start is not None)
            table = pd.DataFrame(pairs, columns=["source", "destination", "start_cycle"])
            return table.sort_values(["start_cycle", "source"], ignore_index=True)
        axes = _AXES[: len(self.sizes)]
        entries, shifts = self._content["entries"], self._content["shifts"]
        rows = [[*row[:-1], *shifts[row[-1]]] for row in entries]
        names = [*(f"d{axis}" for axis in axes), "start_cycle", *(f"shift_{axis}" for axis in axes)]
        return pd.DataFrame(rows, columns=names)

    def save(self, file: str | Path) -> Path:
        """Writes it as JSON, without the lengths of messages and packets; a file that is there is replaced.

        A file ``.csv`` gets :meth:`table`, for other programs: it is not read again.
        """
        path = Path(file)
        if path.suffix.lower() == ".csv":
            return write_csv(self.table(), path)
        if path.suffix.lower() != ".json":
            raise ConfigError("file", path, "a file .json or .csv", "the ending of its name says what it is")
        return write_atomically(path, lambda opened: opened.write(self.json.encode() + b"\n"))

    def __repr__(self) -> str:
        size = "x".join(map(str, self.sizes)) or f"{self.terminals} terminals"
        return f"<timetable for {size}: {self.block_flits} flits to each node in {self.period_cycles:,} cycles>"
