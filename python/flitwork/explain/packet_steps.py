"""The critical path through packets: on their way, and at the injection ports that take them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from flitwork.explain.records import CAUSE, KIND
from flitwork.explain.stretches import NONE, At, Piece, Steps


class PacketSteps(Steps):
    """Walks back from the arrival of a message to what its port, or its rank, did before."""

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

    def _by_bus(self, packet: int, time: int, what: str = "message") -> At:
        """A message by the bus, until cycle ``time``: its transfer, and before that the transfers of others."""
        op, begin = int(self.packets.operation[packet]), int(self.packets.created[packet])
        rank, came = int(self.ops.rank[op]), min(self._came(op), begin)
        to_rank = int(self.ops.peer[op]) if what == "message" else rank
        self._add(what, begin, time, rank, [Piece(CAUSE["bus"], time - begin)], to_rank, op, packet)
        self._spend("queued", "bus_busy", op, came, begin)
        return At("issued", op, came)

    def _packet(self, packet: int, time: int) -> At:
        packets, op = self.packets, int(self.packets.operation[packet])
        if packets.bus[packet]:
            return self._by_bus(packet, time)
        taken = int(packets.taken[packet])
        pieces = [*self._waits(packet)]
        moved = time - taken - sum(piece.length for piece in pieces)
        behind = int(self.records.serialisation[packet])
        role = self.rendezvous.role.get(packet, "data")
        if role == "data":
            pieces += [Piece(CAUSE["hops"], moved - behind), Piece(CAUSE["serialisation"], behind)]
        else:
            pieces.append(Piece(CAUSE["rendezvous"], moved))
        rank, to_rank = self.rendezvous.ends(packet, op, self.ops)
        self._add("message" if role == "data" else role, taken, time, rank, pieces, to_rank, op, packet)
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
        if packet in self.rendezvous.follows:
            return self._follows(packet, time)
        came = self._came(op)
        if came >= time:
            return At("issued", op, time)
        wait = self._behind_message(op, time)
        if wait is not None:
            return wait
        time = self._prepared(packet, came, time)
        if came >= time:
            return At("issued", op, time)
        return self._after_port(packet, time, came) or self._in_queue(op, came, time)

    def _prepared(self, packet: int, came: int, time: int) -> int:
        """When the adapter, which had no packet to send, began to spend its overhead on a message that had come."""
        if not self.prepares:
            return time
        before = self._before_on_port(packet, time)
        free = max(came, int(self.packets.left[before])) if before >= 0 else came
        # What is longer than overhead and jitter is a pause of the port, or the reading of the message.
        begin = min(max(free, time - self.prepares), time)
        op = int(self.packets.operation[packet])
        rank, _ = self.rendezvous.ends(packet, op, self.ops)
        self._add("message overhead", begin, time, rank, [Piece(CAUSE["message_overhead"], time - begin)], operation=op)
        return begin

    def _follows(self, packet: int, time: int) -> At | None:
        """An answer, or data that was asked for: its port was busy, or it came now."""
        joined = self.rendezvous.joined(packet, self._posted(packet), self.packets)
        time = self._prepared(packet, joined, time)
        if joined < time:
            wait = self._after_port(packet, time, joined)
            if wait is not None:
                return wait
            op = int(self.packets.operation[packet])
            rank, _ = self.rendezvous.ends(packet, op, self.ops)
            self._add("queued", joined, time, rank, [Piece(CAUSE[self.queued], time - joined)], operation=op)
        return self._joined(packet, joined)

    def _joined(self, packet: int, time: int) -> At:
        """It came when the packet before it did; an answer may have waited for the receive."""
        before = self.rendezvous.follows[packet]
        if int(self.packets.arrived[before]) == time:
            return self._packet(before, time)
        return At("issued", self.receive_of[int(self.packets.operation[packet])], time)

    def _posted(self, packet: int) -> int:
        """When the receive of its message was posted."""
        receive = self.receive_of.get(int(self.packets.operation[packet]))
        return 0 if receive is None else int(max(self.ops.passed[receive], self.ops.began[receive]))

    def _behind_message(self, op: int, time: int) -> At | None:
        """The message before it in its rank's queue, if that came, or was taken, in the same cycle."""
        rank = self.ops.rank[op]
        before = op - 1
        while before >= 0 and self.ops.rank[before] == rank:
            if self.ops.kind[before] == KIND["send"]:
                first = self.by_operation.get(before, [None])[0]
                if first is not None and self.packets.bus[first]:
                    before -= 1
                    continue
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
        if begin > came:
            return At("taken", packet, begin)
        return At("joined", packet, came) if packet in self.rendezvous.follows else At("issued", op, came)

    def _others_since(self, previous: int, packet: int, time: int) -> list[Piece]:
        """What its port spent on packets of other messages between two packets of one."""
        packets, pieces = self.packets, []
        since, until = int(packets.left[previous]), time
        before = self._before_on_port(packet, time)
        while before not in (NONE, previous) and since < until == packets.left[before]:
            # With several ports one of them may have been taken while another one sent the packet before.
            begin = max(int(packets.taken[before]), since)
            stopped = min(int(packets.source_waits[before]), until - begin)
            pieces.append(Piece(CAUSE["source_busy"], until - begin - stopped))
            pieces += [piece._replace(length=stopped) for piece in self._source_waits(before)]
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
        stopped = [*self._source_waits(packet), *others]
        # Another port may take the next packet in the cycle in which the last flit of this one leaves.
        flits = min(int(packets.flits[packet]), time - taken - sum(piece.length for piece in stopped))
        pieces = [Piece(CAUSE[cause], flits), *stopped]
        pause = time - taken - sum(piece.length for piece in pieces)
        pieces.append(Piece(CAUSE["pacing" if self.pauses else "reading" if self.reads else "other"], pause))
        rank, _ = self.rendezvous.ends(packet, op, self.ops)
        self._add("sending", taken, time, rank, pieces, operation=op, packet=packet)
        return At("taken", packet, taken)

    def _source_waits(self, packet: int) -> Iterator[Piece]:
        cycles = int(self.packets.source_waits[packet])
        if cycles:
            raw = self.records.source_place(packet)
            yield Piece(CAUSE["no_credit"], cycles, *raw, at_source=True)

    def _in_queue(self, op: int, came: int, time: int) -> At:
        self._spend("queued", self.queued, op, came, time)
        return At("issued", op, came)
