"""The pieces of which a critical path consists, and what a walk along it looks up and adds."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from flitwork.base.libraries import np
from flitwork.explain.records import CAUSE, KIND, NOT_YET, Operations, Packets, Records
from flitwork.explain.rendezvous import Rendezvous
from flitwork.results.result import Result

NONE = -1
_BLOCKING = {KIND[name] for name in ("compute", "wait", "wait_any", "probe", "poll", "late_start", "wait_until")}


class Piece(NamedTuple):
    """A number of cycles of a stretch under one cause; ``router`` is ``-1`` where no place belongs to it."""

    cause: int
    length: int
    router: int = NONE
    port: int = NONE
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


def _paced(result: Result) -> bool:
    """Whether injection ports may pause between packets."""
    nic = result.spec["network"]["nic"]
    # A plan has no table of pacing where nothing is said of it.
    return bool(nic.get("packet_gap_cycles")) or bool(nic.get("pacing"))


class Steps:
    """The stretches of a path, and what is looked up on the way."""

    def __init__(self, records: Records, operations: Operations, packets: Packets) -> None:
        self.records, self.ops, self.packets = records, operations, packets
        self.pauses = _paced(records.result)
        #: What puts off a rank for which nothing else does.
        self.noise = bool(records.result.spec.get("host", {}).get("noise"))
        self.put_off = "os_noise" if self.noise else "other"
        host = records.result.spec.get("host", {})
        #: Whether messages within a terminal are copied: they have no packets.
        self.copies = bool(host.get("copy_flits_per_cycle"))
        #: What a message that no other one holds up waits for, and where its packets do not follow each other.
        self.reads = bool(host.get("read_flits_per_cycle"))
        self.queued = "reading" if self.reads else "source_busy"
        service = records.result.spec["network"]["nic"].get("service") or {}
        #: How long a free port may wait for a message that has come [cycles].
        self.prepares = int(service.get("message_overhead_cycles") or 0) + int(service.get("start_jitter_cycles") or 0)
        self.stretches: list[Stretch] = []

    @cached_property
    def by_operation(self) -> dict[int, list[int]]:
        """The packets of each send, in the order in which they were taken."""
        found: dict[int, list[int]] = defaultdict(list)
        for packet in np.lexsort((self.packets.taken, self.packets.operation)).tolist():
            found[int(self.packets.operation[packet])].append(packet)
        return found

    @cached_property
    def rendezvous(self) -> Rendezvous:
        """The packets of messages that ask before they go."""
        limit = self.records.result.spec.get("host", {}).get("eager_limit_flits")
        return Rendezvous.of(limit, self.by_operation, self.packets)

    @cached_property
    def before_in_message(self) -> dict[int, int]:
        """The packet before each packet of its message but the first, and but those that a message asks with."""
        follows = self.rendezvous.follows
        pairs = (pair for sent in self.by_operation.values() for pair in pairwise(sent))
        return {later: packet for packet, later in pairs if later not in follows}

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

    def _came(self, op: int) -> int:
        """The cycle in which a message could have been taken: passed by its program, its dependencies complete."""
        ops = self.ops
        needed = ops.waits_for[ops.first[op] : ops.first[op + 1]]
        return int(max(ops.passed[op], ops.ended[needed].max(initial=0)))

    def _add(
        self,
        what: str,
        begin: int,
        end: int,
        rank: int,
        pieces: list[Piece],
        to_rank: int | None = None,
        operation: int = NONE,
        packet: int = NONE,
    ) -> None:
        if end > begin:
            kept = tuple(piece for piece in pieces if piece.length > 0)
            to_rank = rank if to_rank is None else to_rank
            self.stretches.append(Stretch(what, begin, end, rank, to_rank, operation, packet, kept))

    def _other(self, rank: int, begin: int, end: int) -> None:
        self._add("put off", begin, end, rank, [Piece(CAUSE[self.put_off], end - begin)])

    def _spend(self, what: str, cause: str, op: int, begin: int, end: int) -> None:
        self._add(what, begin, end, int(self.ops.rank[op]), [Piece(CAUSE[cause], end - begin)], operation=op)
