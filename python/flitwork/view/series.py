"""What is shown over time, binned: loads and queues of channels by frame, terminals and ranks by a coarser grain."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from flitwork.base.libraries import np
from flitwork.explain.causes import activity, covered, ready_cycles
from flitwork.explain.records import NOT_YET, Records, went_by
from flitwork.results.columns import WAIT_REASONS
from flitwork.results.result import NEVER, Result
from flitwork.view.place import Place

if TYPE_CHECKING:
    from numpy.typing import NDArray

Floats: TypeAlias = "NDArray[np.float64]"
Ints: TypeAlias = "NDArray[np.int64]"
#: Most bins of what is drawn as a curve, and most columns of the space-time diagram.
_MOST_BINS = 1000
_MOST_COLUMNS = 2000
_CHUNK = 4_000_000


@dataclass(frozen=True)
class Waiting:
    """Packets that wait for channels: ``[frame, channel]`` in all, and by reason ``[reason, channel, bin]``.

    The same at terminals, which wait to be injected or ejected, ``[reason, terminal, bin]``; reasons that do not occur
    are left out; ``in_all`` by frame is of both. All are means over a frame or a bin [packets].
    """

    in_all: NDArray[np.float32]
    of_channels: NDArray[np.float32]
    reasons: tuple[str, ...]
    by_reason: NDArray[np.float32]
    terminal_reasons: tuple[str, ...]
    of_terminals: NDArray[np.float32]


class Series:
    """A result over time: frames of ``window`` cycles, and bins of ``joined`` frames; the last ones may be shorter."""

    def __init__(self, result: Result, place: Place) -> None:
        self.result, self.place = result, place
        self.cycles = result.end_cycle + 1
        self.window = result.channel_window_cycles or max(1, -(-self.cycles // _MOST_BINS))
        self.frames = -(-self.cycles // self.window)
        self.joined = -(-self.frames // _MOST_BINS)
        self.bins = -(-self.frames // self.joined)

    @cached_property
    def frame_cycles(self) -> Floats:
        """Length of each frame [cycles]."""
        edges = np.minimum(np.arange(self.frames + 1) * self.window, self.cycles)
        return np.diff(edges).astype(np.float64)

    @cached_property
    def bin_cycles(self) -> Floats:
        """Length of each bin [cycles]."""
        edges = np.minimum(np.arange(self.bins + 1) * self.window * self.joined, self.cycles)
        return np.diff(edges).astype(np.float64)

    @property
    def load(self) -> NDArray[np.float32] | None:
        """Flits per cycle over each channel, ``[frame, channel]``."""
        windows = self.result.channel_windows
        if windows is None or not len(self.result.channel_flits):
            return None
        found = windows.astype(np.float32)
        found /= self.frame_cycles[: len(found), None].astype(np.float32)
        return found

    @cached_property
    def _rows(self) -> dict[str, Ints] | None:
        names = ("window", "router", "port", "reason", "cycles")
        if "wait_windows.window" not in self.result.columns:
            return None
        return {name: self.result.columns[f"wait_windows.{name}"].astype(np.int64) for name in names}

    @cached_property
    def waiting(self) -> Waiting | None:
        """Packets that wait, where that was recorded."""
        if self._rows is None:
            return None
        rows = self._rows
        channel, terminal = self._places(rows)
        count = len(self.result.channel_flits)
        of_channels = np.zeros((self.frames, count), dtype=np.float32)
        at_channel = np.flatnonzero(channel >= 0)
        for first in range(0, len(at_channel), _CHUNK):
            part = at_channel[first : first + _CHUNK]
            np.add.at(of_channels, (rows["window"][part], channel[part]), rows["cycles"][part].astype(np.float32))
        of_channels /= self.frame_cycles[:, None].astype(np.float32)
        reasons, by_reason = self._by_reason(rows, channel, count)
        terminal_reasons, of_terminals = self._by_reason(rows, terminal, len(self.place.router_of_terminal))
        in_all = np.bincount(rows["window"], rows["cycles"], self.frames) / self.frame_cycles
        return Waiting(in_all.astype(np.float32), of_channels, reasons, by_reason, terminal_reasons, of_terminals)

    def _places(self, rows: dict[str, Ints]) -> tuple[Ints, Ints]:
        """The channel, and the terminal, that each row of waits is of; -1 of none."""
        columns, place = self.result.columns, self.place
        router, port = columns["channels.router"].astype(np.int64), columns["channels.port"].astype(np.int64)
        ports = int(max(port.max(initial=0), rows["port"].max(initial=0))) + 1
        table = np.full((len(place.routers), ports), -1, dtype=np.int64)
        table[router, port] = np.arange(len(router))
        channel = table[rows["router"], rows["port"]]
        first = np.searchsorted(place.router_of_terminal, np.arange(len(place.routers)))
        nic_ports = int(self.result.described["nic_ports"])
        local = rows["port"] - place.network_ports[rows["router"]]
        terminal = np.where(local >= 0, first[rows["router"]] + local // nic_ports, -1)
        return np.where(local >= 0, -1, channel), terminal

    def _by_reason(self, rows: dict[str, Ints], at: Ints, count: int) -> tuple[tuple[str, ...], NDArray[np.float32]]:
        here = at >= 0
        found = sorted(set(np.unique(rows["reason"][here]).tolist()))
        sums = np.zeros((len(found), count, self.bins), dtype=np.float32)
        for number, reason in enumerate(found):
            mine = np.flatnonzero(here & (rows["reason"] == reason))
            index = at[mine] * self.bins + rows["window"][mine] // self.joined
            sums[number] = np.bincount(index, rows["cycles"][mine], count * self.bins).reshape(count, self.bins)
        sums /= self.bin_cycles.astype(np.float32)
        return tuple(WAIT_REASONS[reason] for reason in found), sums

    @cached_property
    def terminals(self) -> dict[str, Floats]:
        """For each terminal by bin: flits/cycle ``sent`` and ``received``, packets ``queued`` at it; none unrecorded.

        The flits of a packet are spread evenly over the time from its being taken by an injection port to its last flit
        leaving, and from the arrival of its head to that of its tail.
        """
        if "packets.src" not in self.result.columns:
            return {}
        packets, columns = Records(self.result).packets, self.result.columns
        sent, injected = self._when("injected")
        came, arrived = self._when("arrived")
        taken = injected - packets.head_source_waits
        left = np.where(self._on_bus & came, arrived, taken + packets.flits + packets.source_waits)
        left = np.minimum(left, self.cycles)
        until = np.where(sent, taken, self.cycles)
        ready = np.minimum(self._ready, until)
        dst, first = columns["packets.dst"].astype(np.int64), arrived - packets.flits + 1
        if "packets.head_arrived_cycle" in columns:
            known, head = self._when("head_arrived")
            first = np.where(known, head, first)
        first = np.maximum(first, np.where(came, injected, 0))
        # The same data for many ranks, which a bus carries once.
        once = np.ones(len(taken), dtype=bool)
        bus = np.flatnonzero(self._on_bus)
        kinds = np.stack([packets.source, injected, arrived, packets.flits], axis=1)[bus]
        once[np.delete(bus, np.unique(kinds, axis=0, return_index=True)[1])] = False
        first_one = sent & once
        return {
            "sent": self._rate(packets.source[first_one], taken[first_one], left[first_one], packets.flits[first_one]),
            "received": self._rate(dst[came], first[came], arrived[came] + 1, packets.flits[came]),
            "queued": self._rate(packets.source, ready, until, until - ready),
        }

    @property
    def _ready(self) -> Ints:
        """Of each packet the cycle from which it waits to be taken: its creation, or when its rank could send it."""
        records = Records(self.result)
        _, found = self._when("created")
        ops, operation = records.operations, records.packets.operation
        if ops is not None:
            has_operation = operation >= 0
            found[has_operation] = ready_cycles(ops)[operation[has_operation]] + self.result.start_cycle
        return found

    def _when(self, what: str) -> tuple[NDArray[np.bool_], Ints]:
        """Of each packet whether it happened, and the cycle from the start of the run in which it did."""
        found = self.result.columns[f"packets.{what}_cycle"]
        happened = found != NEVER
        return happened, np.where(happened, found, 0).astype(np.int64)

    @cached_property
    def activities(self) -> tuple[tuple[str, ...], NDArray[np.uint8]] | None:
        """What ranks do, ``[rank, column]`` as indices of names; columns divide the run. ``None`` without ranks."""
        records = Records(self.result)
        if records.operations is None:
            return None
        columns, start = min(_MOST_COLUMNS, self.cycles), self.result.start_cycle
        shown = np.zeros((records.operations.ranks, columns), dtype=np.uint8)
        names = ["nothing"]
        done = {**activity(records), **self._sending(records)}
        for name, (rank, begin, end) in done.items():
            where = covered((rank, begin + start, end + start), len(shown), columns, self.cycles)
            if where.any():
                shown[where] = len(names)
                names.append(name)
        return tuple(names), shown

    def _sending(self, records: Records) -> dict[str, tuple[Ints, Ints, Ints]]:
        """When ranks send, by the network and by a bus beside it, as :func:`~flitwork.explain.causes.activity` says."""
        ops, packets = records.operations, records.packets
        assert ops is not None
        sent, bus = (packets.operation >= 0) & (packets.injected != NOT_YET), self._on_bus
        until = np.where(bus, packets.arrived, packets.left)
        lanes = {"sending": sent & ~bus, "sending by the bus": sent & bus & (packets.arrived != NOT_YET)}
        return {
            name: (ops.rank[packets.operation[which]], packets.taken[which], until[which])
            for name, which in lanes.items()
        }

    @cached_property
    def _on_bus(self) -> NDArray[np.bool_]:
        return went_by("bus", self.result)

    @cached_property
    def bus(self) -> tuple[Floats, Floats] | None:
        """For a bus by bin: the share of the time in which it is in use, and how many transfers wait for it.

        A transfer has the bus from its arbitration on until its last flit arrives, or the next one begins. ``None``
        where nothing went by a bus, or it was not recorded.
        """
        if not self._on_bus.any():
            return None
        (came, arrived), (_, took) = self._when("arrived"), self._when("created")
        until = np.where(came, arrived, self.cycles)[self._on_bus]
        begin, first, message = np.unique(took[self._on_bus], return_index=True, return_inverse=True)
        end = np.zeros_like(begin)
        np.maximum.at(end, message, until)
        end = np.minimum(end, np.append(begin[1:], self.cycles))
        ready = np.minimum(self._ready[self._on_bus][first], begin)
        of_bus = np.zeros_like(begin)
        return self._rate(of_bus, begin, end, end - begin)[0], self._rate(of_bus, ready, begin, begin - ready)[0]

    def _rate(self, terminal: Ints, begin: Ints, end: Ints, amount: Ints) -> Floats:
        """``amount`` spread evenly over ``begin`` to ``end``: of each terminal and bin the mean per cycle."""
        count = len(self.place.router_of_terminal)
        width = self.bins + 2
        grain = self.window * self.joined
        rate = amount / np.maximum(end - begin, 1)
        second = np.zeros(count * width)
        for when, sign in ((begin, 1.0), (end, -1.0)):
            at = np.clip(when / grain, 0, self.bins)
            whole = np.floor(at).astype(np.int64)
            index = terminal * width + whole
            weight = sign * rate
            # Up to the next edge of a bin a part of it, from there on all of it.
            second += np.bincount(index, weight * (whole + 1 - at), count * width)
            second += np.bincount(np.minimum(index + 1, count * width - 1), weight * (at - whole), count * width)
        found = np.cumsum(second.reshape(count, width), axis=1)[:, : self.bins] * grain / self.bin_cycles
        return np.maximum(found, 0.0)
