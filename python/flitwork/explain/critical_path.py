"""The critical path: from the last operation of a run back to t = 0, what had to end before what.

At each point exactly one thing was the last to come: the message that a rank waited for, the dependency that was
complete last, the packet that an injection port sent before. The path goes on there. Its pieces lie end to end, so
their lengths sum to the completion time; docs/explain.md says what each counts as.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from flitwork.explain.records import CAUSE, KIND, NOT_YET, Operations, Packets, Records
from flitwork.result import Result

_BLOCKING = {KIND[name] for name in ("compute", "wait", "wait_any", "probe", "poll", "late_start")}
_KINDS = list(KIND)
_NONE = -1


class Piece(NamedTuple):
    """So many cycles of a stretch under one cause; ``router`` is ``-1`` where no place belongs to it."""

    cause: int
    length: int
    router: int = _NONE
    port: int = _NONE
    at_source: bool = False


@dataclass(frozen=True)
class Stretch:
    """A part of the path: ``begin`` to ``end`` [cycles], from ``rank`` to ``to_rank``, by an operation or a packet."""

    what: str
    begin: int
    end: int
    rank: int
    to_rank: int
    operation: int
    packet: int
    pieces: tuple[Piece, ...]


class At(NamedTuple):
    """A point of the path: something that happened in cycle ``time``."""

    event: str
    number: int
    time: int


def critical_path(records: Records) -> list[Stretch]:
    """The critical path of a run, in order of time; ranks must have run in it."""
    operations = records.operations
    if operations is None or not len(operations.rank):
        return []
    return _Walk(records, operations, records.packets).path()


def paced(result: Result) -> bool:
    """Whether injection ports may pause between packets."""
    nic = result.spec["network"]["nic"]
    # A plan has no table of pacing where nothing is said of it.
    return bool(nic.get("packet_gap_cycles")) or bool(nic.get("pacing"))


class _Walk:
    """Walks back; each method of an event gives the stretch before it and the point that it leads to."""

    def __init__(self, records: Records, operations: Operations, packets: Packets) -> None:
        self.records, self.ops, self.packets = records, operations, packets
        self.pauses = paced(records.result)
        #: What puts off a rank for which nothing else does.
        self.noise = bool(records.result.spec.get("host", {}).get("noise"))
        self.put_off = "os_noise" if self.noise else "other"
        host = records.result.spec.get("host", {})
        #: Whether messages within a terminal are copied: they have no packets.
        self.copies = bool(host.get("copy_flits_per_cycle"))
        #: What a message that no other one holds up waits for, and where its packets do not follow each other.
        self.reads = bool(host.get("read_flits_per_cycle"))
        self.queued = "reading" if self.reads else "source_busy"
        self.stretches: list[Stretch] = []

    @cached_property
    def by_operation(self) -> dict[int, list[int]]:
        """The packets of each send, in the order in which they were taken."""
        found: dict[int, list[int]] = defaultdict(list)
        for packet in np.lexsort((self.packets.taken, self.packets.operation)).tolist():
            found[int(self.packets.operation[packet])].append(packet)
        return found

    @cached_property
    def before_in_message(self) -> dict[int, int]:
        """The packet before each packet of its message but the first."""
        return {later: packet for sent in self.by_operation.values() for packet, later in pairwise(sent)}

    @cached_property
    def receive_of(self) -> dict[int, int]:
        """The receive that took the message of each send."""
        ops = self.ops
        received = np.flatnonzero((ops.kind == KIND["receive"]) & (ops.arrived != NOT_YET))
        sent = ops.of_rank[ops.peer[received]] + ops.from_operation[received]
        return dict(zip(sent.tolist(), received.tolist(), strict=True))

    @cached_property
    def blocking_before(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """The last operation before each of its rank that blocks the program; ``-1`` if there is none."""
        ops = self.ops
        index = np.arange(len(ops.kind))
        blocks = np.isin(ops.kind, sorted(_BLOCKING))
        last = np.maximum.accumulate(np.where(blocks, index, -1))
        before = np.concatenate([[-1], last[:-1]])
        return np.where(before >= ops.of_rank[ops.rank], before, -1)

    def path(self) -> list[Stretch]:
        """The stretches from t = 0 to the end."""
        at: At | None = self._last()
        # Every point is earlier, or as late and before in a program: more steps than this there are not.
        for _ in range(4 * (len(self.ops.rank) + len(self.packets.source)) + 8):
            if at is None or at.time <= 0:
                break
            at = getattr(self, f"_{at.event}")(at.number, at.time)
        reached = self.stretches[-1].begin if self.stretches else self.records.end
        if reached > 0:
            self._other(self.stretches[-1].rank if self.stretches else 0, 0, reached)
        return self.stretches[::-1]

    def _last(self) -> At:
        """The end of the run: the operation that was complete last, or the last message where receives count late."""
        late = np.flatnonzero((self.ops.arrived == self.records.end) & (self.ops.ended == NOT_YET))
        if len(late):
            receive = int(late[0])
            peer, number = int(self.ops.peer[receive]), int(self.ops.from_operation[receive])
            return At("message", self.ops.index(peer, number), self.records.end)
        ended = np.where(self.ops.ended <= self.records.end, self.ops.ended, NOT_YET)
        last = int(np.argmax(ended))
        time = int(ended[last])
        if time < self.records.end:
            self._other(int(self.ops.rank[last]), time, self.records.end)
        return At("complete", last, time)

    def _add(
        self,
        what: str,
        begin: int,
        end: int,
        rank: int,
        pieces: list[Piece],
        to_rank: int | None = None,
        operation: int = _NONE,
        packet: int = _NONE,
    ) -> None:
        if end > begin:
            kept = tuple(piece for piece in pieces if piece.length > 0)
            to_rank = rank if to_rank is None else to_rank
            self.stretches.append(Stretch(what, begin, end, rank, to_rank, operation, packet, kept))

    def _other(self, rank: int, begin: int, end: int) -> None:
        self._add("put off", begin, end, rank, [Piece(CAUSE[self.put_off], end - begin)])

    def _spend(self, what: str, cause: str, op: int, begin: int, end: int) -> None:
        self._add(what, begin, end, int(self.ops.rank[op]), [Piece(CAUSE[cause], end - begin)], operation=op)

    # An operation is complete.

    def _complete(self, op: int, time: int) -> At | None:
        name = _KINDS[int(self.ops.kind[op])]
        return getattr(self, f"_complete_{name}", self._complete_wait)(op, time)

    def _complete_compute(self, op: int, time: int, cause: str = "computing") -> At:
        begin = self._computed(op, time, cause)
        return At("issued", op, begin)

    def _computed(self, op: int, time: int, cause: str) -> int:
        """A computation of the rank that ended in cycle ``time``; when it began."""
        amount = int(self.ops.amount[op])
        began = int(self.ops.began[op])
        begin = began if began != NOT_YET else time - amount
        pieces = [Piece(CAUSE[cause], amount), Piece(CAUSE[self.put_off], time - begin - amount)]
        self._add(cause, begin, time, int(self.ops.rank[op]), pieces, operation=op)
        return begin

    def _complete_late_start(self, op: int, time: int) -> At:
        return self._complete_compute(op, time, "late_start")

    def _complete_task(self, op: int, time: int) -> At:
        return At("on_cpu", op, self._computed(op, time, "computing"))

    def _complete_wait(self, op: int, time: int) -> At:
        return At("issued", op, time)

    def _complete_wait_any(self, op: int, time: int) -> At | None:
        return At("issued", op, time)

    def _complete_probe(self, op: int, time: int) -> At | None:
        return self._complete_poll(op, time)

    def _complete_poll(self, op: int, time: int) -> At | None:
        """Whatever happened to the rank in that cycle; else the poll was over."""
        passed = int(self.ops.passed[op])
        if passed >= time:
            return At("issued", op, time)
        ops, rank = self.ops, int(self.ops.rank[op])
        mine = slice(int(ops.of_rank[rank]), int(ops.of_rank[rank + 1]))
        arrived = np.flatnonzero((ops.arrived[mine] == time) & (ops.kind[mine] == KIND["receive"]))
        if len(arrived):
            return self._message_of(mine.start + int(arrived[0]), time)
        done = np.flatnonzero((ops.ended[mine] == time) & (ops.kind[mine] == KIND["send"]))
        if len(done):
            return At("complete", mine.start + int(done[0]), time)
        self._spend("polling", "computing", op, passed, time)
        return At("issued", op, passed)

    def _complete_started(self, op: int, time: int) -> At | None:
        before = op - 1
        if int(self.ops.passed[op]) == time or before < 0:
            return At("issued", op, time)
        if int(self.ops.kind[before]) == KIND["send"] and self.by_operation.get(before):
            first = self.by_operation[before][0]
            taken = int(self.packets.taken[first])
            self._spend("sending", "serialisation", before, taken, time)
            return At("taken", first, taken)
        return At("on_cpu" if int(self.ops.kind[before]) == KIND["task"] else "issued", before, time)

    def _complete_receive(self, op: int, time: int) -> At | None:
        posted = max(int(self.ops.passed[op]), int(self.ops.began[op]))
        arrived = int(self.ops.arrived[op])
        if arrived == NOT_YET or (posted >= arrived and posted == time):
            return At("issued", op, time)
        # Where receives count late there is a cycle between.
        self._spend("receiving", "os_noise" if self.noise else "hops", op, arrived, time)
        return self._message_of(op, arrived)

    def _message_of(self, receive: int, arrived: int) -> At | None:
        peer, number = int(self.ops.peer[receive]), int(self.ops.from_operation[receive])
        return At("message", self.ops.index(peer, number), arrived)

    def _complete_send(self, op: int, time: int) -> At | None:
        sent = self.by_operation.get(op)
        if not sent:
            return self._copied(op, time)
        last = max(sent, key=lambda packet: int(self.packets.left[packet]))
        left = int(self.packets.left[last])
        receive = self.receive_of.get(op)
        if left < time and receive is not None and not self.noise:
            # Complete when it was received.
            ended = min(int(self.ops.ended[receive]), time)
            self._other(int(self.ops.rank[op]), ended, time)
            return At("complete", receive, ended)
        self._other(int(self.ops.rank[op]), left, time)
        return self._sending(last, left, "serialisation")

    # A message has come to its receiver, all of it.

    def _message(self, op: int, time: int) -> At | None:
        last = self._last_packet(op)
        if last is not None and int(self.packets.arrived[last]) < time:
            # It had overtaken another one, which came now.
            ops, rank = self.ops, int(self.ops.rank[op])
            others = range(int(ops.of_rank[rank]), int(ops.of_rank[rank + 1]))
            alike = [o for o in others if o != op and ops.kind[o] == KIND["send"] and ops.peer[o] == ops.peer[op]]
            found = [self._last_packet(o) for o in alike]
            last = next((p for p in found if p is not None and int(self.packets.arrived[p]) == time), None)
        if last is None and self.copies:
            return self._copied(op, time)
        if last is None:
            return At("issued", op, max(int(self.ops.passed[op]), 0)) if int(self.ops.passed[op]) < time else None
        return self._packet(last, time)

    def _copied(self, op: int, time: int) -> At:
        """A message without packets: copied, or waiting to be, since it came."""
        came = min(self._came(op), time) if self.copies else time
        self._spend("copying", "copying", op, came, time)
        return At("issued", op, came)

    def _last_packet(self, op: int) -> int | None:
        sent = self.by_operation.get(op)
        return max(sent, key=lambda packet: int(self.packets.arrived[packet])) if sent else None

    def _packet(self, packet: int, time: int) -> At:
        packets, op = self.packets, int(self.packets.operation[packet])
        taken = int(packets.taken[packet])
        pieces = [*self._waits(packet)]
        moved = time - taken - sum(piece.length for piece in pieces)
        behind = int(self.records.serialisation[packet])
        pieces += [Piece(CAUSE["hops"], moved - behind), Piece(CAUSE["serialisation"], behind)]
        rank, to_rank = int(self.ops.rank[op]), int(self.ops.peer[op])
        self._add("message", taken, time, rank, pieces, to_rank, op, packet)
        return At("taken", packet, taken)

    def _waits(self, packet: int) -> Iterator[Piece]:
        waits = self.records.waits
        first, end = (int(at) for at in self.records.first_wait[packet : packet + 2])
        for row in range(first, end):
            yield Piece(
                int(waits.cause[row]), int(waits.cycles[row]), int(waits.router[row]), int(waits.port[row]),
                bool(waits.at_source[row]),
            )  # fmt: skip

    # An injection port takes a packet.

    def _taken(self, packet: int, time: int) -> At | None:
        op = int(self.packets.operation[packet])
        previous = self.before_in_message.get(packet)
        if previous is not None:
            return self._sending(previous, time, "serialisation", self._others_since(previous, packet, time))
        came = self._came(op)
        if came >= time:
            return At("issued", op, time)
        held = self._held_up_by(op, time)
        if held is not None:
            return held
        return self._after_port(packet, time, came) or self._in_queue(op, came, time)

    def _came(self, op: int) -> int:
        """The cycle in which a message could have been taken: passed by its program, its dependencies complete."""
        ops = self.ops
        needed = ops.waits_for[ops.first[op] : ops.first[op + 1]]
        return int(max(ops.passed[op], ops.ended[needed].max(initial=0)))

    def _held_up_by(self, op: int, time: int) -> At | None:
        """The message before it in its rank's queue, if that came, or was taken, in the same cycle."""
        rank = self.ops.rank[op]
        before = op - 1
        while before >= 0 and self.ops.rank[before] == rank:
            if self.ops.kind[before] == KIND["send"]:
                first = self.by_operation.get(before, [None])[0]
                if first is None or int(self.packets.taken[first]) != time:
                    return None
                if self._came(before) >= time:
                    return At("issued", before, time)
                return At("taken", first, time)
            before -= 1
        return None

    def _after_port(self, packet: int, time: int, came: int) -> At | None:
        """The packet that the port sent until then, if it had no pause but that of pacing."""
        packets = self.packets
        before = self._before_on_port(packet, time)
        if before < 0:
            return None
        left = int(packets.left[before])
        if left > time or (left < time and not self.pauses):
            return None
        if not packets.background[before]:
            return self._sending(before, time, "source_busy")
        # When a background sends depends on nothing: the path goes on with the message itself.
        op, begin = int(packets.operation[packet]), max(came, int(packets.taken[before]))
        self._spend("queued", "source_busy", op, begin, time)
        return At("issued", op, came) if begin == came else At("taken", packet, begin)

    def _others_since(self, previous: int, packet: int, time: int) -> list[Piece]:
        """What its port spent on packets of other messages between two packets of one."""
        packets, pieces = self.packets, []
        since, until = int(packets.left[previous]), time
        before = self._before_on_port(packet, time)
        while before not in (_NONE, previous) and since <= packets.taken[before] and packets.left[before] == until:
            begin = int(packets.taken[before])
            stopped = [*self._source_waits(before)]
            pieces += [Piece(CAUSE["source_busy"], until - begin - sum(piece.length for piece in stopped)), *stopped]
            before, until = int(packets.before[before]), begin
        return pieces

    def _before_on_port(self, packet: int, time: int) -> int:
        """The packet that the port of a packet took before, earlier than in cycle ``time``."""
        packets = self.packets
        before = int(packets.before[packet])
        while before >= 0 and packets.taken[before] >= time:
            before = int(packets.before[before])
        return before

    def _sending(self, packet: int, time: int, cause: str, others: Sequence[Piece] = ()) -> At:
        """An injection port sends a packet from the cycle in which it took it, and is free in cycle ``time``.

        It spent ``others`` of that time on other messages.
        """
        packets, op = self.packets, int(self.packets.operation[packet])
        taken = int(packets.taken[packet])
        flits = min(int(packets.flits[packet]), time - sum(piece.length for piece in others) - taken)
        stopped = [piece for piece in self._source_waits(packet)]
        pieces = [Piece(CAUSE[cause], flits), *stopped, *others]
        pause = time - taken - sum(piece.length for piece in pieces)
        pieces.append(Piece(CAUSE["pacing" if self.pauses else "reading" if self.reads else "other"], pause))
        self._add("sending", taken, time, int(self.ops.rank[op]), pieces, operation=op, packet=packet)
        return At("taken", packet, taken)

    def _source_waits(self, packet: int) -> Iterator[Piece]:
        cycles = int(self.packets.source_waits[packet])
        if cycles:
            raw = self.records.source_place(packet)
            yield Piece(CAUSE["no_credit"], cycles, *raw, at_source=True)

    def _in_queue(self, op: int, came: int, time: int) -> At:
        self._spend("queued", self.queued, op, came, time)
        return At("issued", op, came)

    # A program comes to an operation, or the last thing that it waits for is complete.

    def _issued(self, op: int, time: int) -> At | None:
        ops = self.ops
        needed = ops.waits_for[ops.first[op] : ops.first[op + 1]]
        came = min(self._came(op), time)
        self._other(int(ops.rank[op]), came, time)
        last = needed[ops.ended[needed] == came]
        if len(last):
            return At("complete", int(last[-1]), came)
        passed = int(ops.passed[op])
        before = int(self.blocking_before[op])
        if before < 0:
            return At("start", op, passed)
        ended = int(ops.ended[before])
        if ended < passed:
            self._other(int(ops.rank[op]), ended, passed)
        return At("complete", before, ended)

    def _start(self, op: int, time: int) -> At | None:
        """A rank that nothing stopped before: its program began then."""
        self._other(int(self.ops.rank[op]), 0, time)
        return None

    def _on_cpu(self, op: int, time: int) -> At | None:
        """A task gets its CPU: it came then, or the task before it ended then."""
        ops = self.ops
        if self._came(op) < time:
            mine = slice(int(ops.of_rank[ops.rank[op]]), int(ops.of_rank[ops.rank[op] + 1]))
            same = (ops.kind[mine] == KIND["task"]) & (ops.tag[mine] == ops.tag[op]) & (ops.ended[mine] == time)
            same &= np.arange(mine.start, mine.stop) != op
            # One of no cycles ends when it begins: it took no time from this one.
            same &= ops.amount[mine] > 0
            if same.any():
                return At("complete", mine.start + int(np.flatnonzero(same)[-1]), time)
        return At("issued", op, time)
