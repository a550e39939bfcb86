"""What :func:`flitwork.explain` returns: sentences, tables and pictures."""

from __future__ import annotations

import warnings
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flitwork.base.errors import ConfigError
from flitwork.base.libraries import pd
from flitwork.base.output_files import writable_folder, write_csv
from flitwork.explain import causes
from flitwork.explain.critical_path import critical_path
from flitwork.explain.names import Places
from flitwork.explain.records import Records
from flitwork.explain.report import sentences
from flitwork.explain.stretches import Stretch
from flitwork.results.result import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TABLES = ("causes", "path", "pieces", "steps", "channels")
_PICTURES = ("space_time", "heat_map")
#: Files that :meth:`Explanation.save` writes or removes, as patterns.
WRITTEN = ["explanation.txt", *(f"{name}.csv" for name in _TABLES), *(f"{name}.*" for name in _PICTURES)]


class Explanation:
    """Why a run took as long as it did. ``result`` has the records that this is made of.

    ``print(explanation)`` shows :attr:`text`. What each cause counts is defined in ``docs/explain.md``.
    """

    def __init__(self, result: Result) -> None:
        self.result = result
        self._records = Records(result)
        self.places = Places(result, self._records)

    @cached_property
    def _path(self) -> list[Stretch]:
        return critical_path(self._records)

    @cached_property
    def path(self) -> pd.DataFrame:
        """The critical path, a row a stretch from t = 0 on; empty where no ranks ran.

        ``what``: ``message`` (a packet from its injection port to its receiver), ``sending`` (an injection port is busy
        with a packet before), ``computing``, ``late_start``, ``queued``, ``polling``, ``waiting`` (for a time),
        ``other``. The columns of causes sum to its length [cycles].
        """
        return causes.path_table(self._path, self._records)

    @cached_property
    def pieces(self) -> pd.DataFrame:
        """The path by cause and place: ``stretch`` (a row of :attr:`path`), ``cause``, ``place``, ``cycles``."""
        return causes.pieces_table(self._path, self.places)

    @cached_property
    def causes(self) -> pd.DataFrame:
        """A row for each cause, the largest first.

        On the critical path: ``cycles``, which sum to the completion time, and ``most_at``, the place of most of them.
        Where no ranks ran: ``cycles_per_packet``, which sum to the mean packet latency.
        """
        if not self._path:
            return self.causes_of_packets
        return causes.causes_on_path(self.pieces, self.result.completion_cycles)

    @cached_property
    def causes_of_packets(self) -> pd.DataFrame:
        """A row for each cause: ``cycles_per_packet``, the mean over all packets of the workload that arrived."""
        return causes.causes_of_packets(self._records)

    @cached_property
    def channels(self) -> pd.DataFrame:
        """A row for each channel: the packets that waited for it on the mean over the run, in all and by cause."""
        return causes.channels_table(self._records, self.places)

    @cached_property
    def steps(self) -> pd.DataFrame:
        """A row for each step: how long its messages took, and by how much the slowest delayed the others [cycles]."""
        return causes.steps_table(self._records)

    @cached_property
    def lock_step_cycles(self) -> float:
        """How much longer the messages on the critical path took than the median messages of their steps [cycles]."""
        ops = self._records.operations
        if ops is None or self.steps.empty:
            return 0.0
        sent, ready, arrived = causes.message_times(self._records, ops)
        took = dict(zip(sent.tolist(), (arrived - ready).tolist(), strict=True))
        median = dict(zip(self.steps["step"].tolist(), self.steps["median_cycles"].tolist(), strict=True))
        on_path = {one.operation for one in self._path if one.what == "message"}
        excess = [took[op] - median[int(ops.step[op])] for op in on_path if op in took]
        return float(sum(max(one, 0.0) for one in excess))

    @cached_property
    def sentences(self) -> list[str]:
        """The explanation in words, the most important first."""
        return sentences(self)

    @property
    def text(self) -> str:
        """The explanation as one text."""
        return "\n".join(self.sentences)

    def space_time(self) -> Figure:
        """Ranks over time, coloured by what they do, and the critical path. Only where ranks ran."""
        from flitwork.explain.space_time import space_time

        ops = self._records.operations
        if ops is None or not self._path:
            kind = self.result.spec["workload"]["kind"]
            raise ConfigError("workload.kind", kind, "a workload of ranks, such as a schedule", "traffic has no ranks")
        activities = causes.activity(self._records)
        return space_time(activities, self._path, ops.ranks, self.result.completion_cycles, self.result.title)

    def heat_map(self) -> Figure:
        """The network, each channel coloured by the packets that wait for it on the mean."""
        from flitwork.explain.heat_map import heat_map

        placed = self.pieces.dropna(subset=["router"])[["router", "port"]].itertuples(index=False)
        found = (self.places.channel_of.get((int(router), int(port))) for router, port in placed)
        return heat_map(self.result, self.channels, sorted({one for one in found if one is not None}))

    def save(self, folder: str | Path) -> list[Path]:
        """Writes the text, each table as CSV and the pictures ``space_time`` and ``heat_map`` to a folder.

        Files that are there are replaced.
        """
        from flitwork.base.output_files import write_atomically
        from flitwork.plot.style import forget, save

        folder = Path(folder)
        writable_folder(folder)
        text = self.text.encode() + b"\n"
        written = [write_atomically(folder / "explanation.txt", lambda file: file.write(text))]
        written += [write_csv(getattr(self, name), folder / f"{name}.csv") for name in _TABLES]
        for name in _PICTURES:
            try:
                written += save(getattr(self, name)(), folder, name)
            except ConfigError as error:
                forget(folder, name)
                if name == "heat_map":
                    warnings.warn(f"without a picture of the network ({error})", stacklevel=2)
        return written

    def to_dict(self) -> dict[str, Any]:
        """What is in it as plain data, for JSON: sentences, causes, steps, and the critical path."""
        tables = {name: _plain(getattr(self, name)) for name in ("causes", "path", "steps")}
        cycles = self.result.completion_cycles
        return {"title": self.result.title, "completion_cycles": cycles, "sentences": self.sentences, **tables}

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        largest = self.causes.head(1)
        share = f"{largest['share'].iloc[0]:.0%} {largest['cause'].iloc[0]}" if len(largest) else "nothing to explain"
        return f"<explanation of {self.result.title}: {share}>"


def _plain(table: pd.DataFrame) -> list[dict[str, Any]]:
    rows = table.astype(object).where(table.notna(), None).to_dict("records")
    return [{str(key): value for key, value in row.items()} for row in rows]
