"""The critical path: from the last operation of a run back to t = 0, what had to end before what.

At each point exactly one thing was the last to come: the message that a rank waited for, the dependency that was
complete last, the packet that an injection port sent before. The path goes on there. Its pieces lie end to end, so
their lengths sum to the completion time; docs/explain.md says what each counts as.
"""

from __future__ import annotations

from flitwork.base.libraries import np
from flitwork.explain.packet_steps import PacketSteps
from flitwork.explain.records import CAUSE, KIND, NOT_YET, Records
from flitwork.explain.stretches import At, Piece, Stretch

_KINDS = list(KIND)


def critical_path(records: Records) -> list[Stretch]:
    """The critical path of a run, in order of time; ranks must have run in it."""
    operations = records.operations
    if operations is None or not len(operations.rank):
        return []
    return _Walk(records, operations, records.packets).path()


class _Walk(PacketSteps):
    """Walks back; each method of an event gives the stretch before it and the point that it leads to."""

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

    def _complete_wait_until(self, op: int, time: int) -> At:
        came = min(self._came(op), time)
        self._spend("waiting", "timetable", op, came, time)
        return At("issued", op, came)

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
            if self.packets.bus[first]:
                return self._by_bus(first, time, "sending")
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
        if self.packets.bus[last]:
            return self._by_bus(last, time, "sending")
        left = int(self.packets.left[last])
        receive = self.receive_of.get(op)
        if left < time and receive is not None and not self.noise:
            # Complete when it was received.
            ended = min(int(self.ops.ended[receive]), time)
            self._other(int(self.ops.rank[op]), ended, time)
            return At("complete", receive, ended)
        self._other(int(self.ops.rank[op]), left, time)
        return self._sending(last, left, "serialisation")

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
