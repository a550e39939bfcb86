"""The messages of an all-to-all that somebody wrote as a schedule, in steps that both ends of each message share.

A send comes a step behind the one before it and behind every message that its rank waits for first; then it is moved on
to a step in which its receiver receives nothing else. So a message is always later than those that it depends on, and
carrying out steps in their order can block nobody.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from flitwork import _core
from flitwork.base.errors import ConfigError
from flitwork.workloads.operation_columns import ANY

#: A message: from which rank, to which, in which step.
Message = tuple[int, int, int]
_PAIR = tuple[int, int]
_Array: TypeAlias = "np.ndarray[Any, Any]"
_SEND, _RECEIVE, _COMPUTE, _WAIT = (_core.Kind.SEND, _core.Kind.RECEIVE, _core.Kind.COMPUTE, _core.Kind.WAIT)
_TASK, _WAIT_UNTIL = _core.Kind.TASK, _core.Kind.WAIT_UNTIL
_EXPECTED = "an all-to-all: one message from each rank to each other rank"


def aligned(table: _core.Table, most_ranks: int) -> tuple[int, list[Message], set[tuple[int, int]]]:
    """The ranks of a schedule, its messages, and behind which steps which ranks wait: (rank, step).

    Raises :class:`flitwork.ConfigError` where the schedule is no all-to-all, or has more than ``most_ranks`` ranks.
    """
    name, ranks = table.name, table.ranks
    if not 2 <= ranks <= most_ranks:
        raise ConfigError("schedule", f"{name} of {ranks} ranks", f"2 to {most_ranks} ranks")
    found = table.operations()
    rank = np.repeat(np.arange(ranks), found.operations.astype(np.int64))
    _check_pairs(name, found, rank, ranks)
    order = _Order(_programs(found, rank, ranks))
    if (stuck := order.run()) is not None:
        value = f"{name}: rank {stuck[0]} never sends to rank {stuck[1]}: what it waits for waits for it"
        raise ConfigError("schedule", value, "a schedule that can finish")
    return ranks, order.messages(), order.waits


@dataclass
class _Send:
    to: int
    #: Messages that must be complete before, by their pairs.
    after: set[_PAIR]
    #: The last gate of the program in front of it, -1 where there is none.
    gate: int


@dataclass
class _Program:
    """What matters of the operations of a rank."""

    rank: int
    sends: list[_Send] = field(default_factory=list)
    #: Where the program stops until messages are complete: each gate has those of its own.
    gates: list[set[_PAIR]] = field(default_factory=list)


def _programs(found: _core.Operations, rank_of: _Array, ranks: int) -> list[_Program]:
    programs = [_Program(rank) for rank in range(ranks)]
    # Of each operation of a rank the messages that are complete when it is.
    complete: list[list[set[_PAIR]]] = [[] for _ in range(ranks)]
    waits = np.split(found.after, np.cumsum(found.dependencies)[:-1])
    columns = (column.tolist() for column in (rank_of, found.kind, found.peer))
    for rank, kind, peer, after in zip(*columns, waits, strict=True):
        program, before = programs[rank], complete[rank]
        waited = set().union(*(before[number] for number in after.tolist()))
        if kind == _SEND:
            program.sends.append(_Send(peer, waited, len(program.gates) - 1))
            before.append({(rank, peer)})
        elif kind == _RECEIVE:
            before.append({(peer, rank)})
        elif kind in (_WAIT, _COMPUTE, _WAIT_UNTIL):
            if waited:
                program.gates.append(waited)
            # Whatever stands behind it has waited already.
            before.append(set())
        else:
            before.append(waited if kind == _TASK else set())
    return programs


def _check_pairs(name: str, found: _core.Operations, rank: _Array, ranks: int) -> None:
    """Every pair of ranks has one send and one receive that takes it."""
    kind, peer, tag = (column.astype(np.int64) for column in (found.kind, found.peer, found.tag))
    tag[tag == ANY] = -1
    if (unnamed := (kind == _RECEIVE) & ~((peer >= 0) & (peer < ranks))).any():
        at = f"{name}: a receive of rank {rank[unnamed][0]} from any rank"
        raise ConfigError("schedule", at, "receives that name their senders")
    tags = np.full((2, ranks, ranks), ANY, dtype=np.int64)
    for which, what in ((_SEND, "message"), (_RECEIVE, "receive")):
        sender_side, other = rank[kind == which], peer[kind == which]
        source, to = (sender_side, other) if which == _SEND else (other, sender_side)
        counts = np.zeros((ranks, ranks), dtype=np.int64)
        np.add.at(counts, (source, to), 1)
        tags[which][source, to] = tag[kind == which]
        if counts.diagonal().any():
            value = f"{name}: rank {counts.diagonal().argmax()} sends to itself"
            raise ConfigError("schedule", value, _EXPECTED, "its own block does not travel: take the message out")
        np.fill_diagonal(counts, 1)
        if (wrong := counts != 1).any():
            a, b = np.argwhere(wrong)[0]
            several = f"{counts[a, b]} {what}s" if counts[a, b] else f"no {what}"
            where = f"of rank {b} for one from rank {a}" if which == _RECEIVE else f"from rank {a} to rank {b}"
            raise ConfigError("schedule", f"{name}: {several} {where}", _EXPECTED)
    if (other_tag := (tags[_RECEIVE] >= 0) & (tags[_RECEIVE] != tags[_SEND])).any():
        a, b = np.argwhere(other_tag)[0]
        value = f"{name}: tag {tags[_RECEIVE][a, b]} of the receive of rank {b} from rank {a}"
        raise ConfigError("schedule", value, f"the tag of the message, {tags[_SEND][a, b]}")


class _Order:
    """Gives every message its step, ranks in turn, the earliest step first."""

    def __init__(self, programs: list[_Program]) -> None:
        self.programs = programs
        ranks = range(len(programs))
        self.step: dict[_PAIR, int] = {}
        #: Steps in which a rank receives already.
        self.taken: list[set[int]] = [set() for _ in ranks]
        #: Of each rank the step of its last send, that behind which it waited last, and the last gate that it passed.
        self.sent, self.waited, self.passed = ([-1] * len(programs) for _ in range(3))
        #: Up to which step the messages of the gates that a rank has passed go.
        self.behind = [-1] * len(programs)
        #: Sends that may be next: behind which step, and their numbers. How many messages others and gates still need.
        self.ready: list[list[tuple[int, int]]] = [[] for _ in ranks]
        self.missing: dict[tuple[int, int], int] = {}
        self.gate_missing: dict[tuple[int, int], int] = {}
        #: Who waits for a message: (rank, send) or (rank, gate).
        self.sends_for: dict[_PAIR, list[tuple[int, int]]] = defaultdict(list)
        self.gates_for: dict[_PAIR, list[tuple[int, int]]] = defaultdict(list)
        self.at_gate: dict[tuple[int, int], list[int]] = defaultdict(list)
        #: Ranks that may send next, by the earliest step; of each rank only the entry that ``queued`` has counts.
        self.next: list[tuple[int, int]] = []
        self.queued: list[int | None] = [None for _ in ranks]
        self.waits: set[tuple[int, int]] = set()

    def messages(self) -> list[Message]:
        """The messages with their steps."""
        return [(source, to, step) for (source, to), step in self.step.items()]

    def run(self) -> _PAIR | None:
        """Gives all messages their steps. If they wait for each other in a circle: one of them."""
        for program in self.programs:
            self._enter(program)
        while self.next:
            earliest, rank = heapq.heappop(self.next)
            if self.queued[rank] == earliest:
                self.queued[rank] = None
                if self.ready[rank]:
                    self._place(rank, *self.ready[rank][0], earliest)
        pairs = ((program.rank, send.to) for program in self.programs for send in program.sends)
        return next((pair for pair in pairs if pair not in self.step), None)

    def _enter(self, program: _Program) -> None:
        rank = program.rank
        for number, gate in enumerate(program.gates):
            self.gate_missing[rank, number] = len(gate)
            for pair in gate:
                self.gates_for[pair].append((rank, number))
        for number, send in enumerate(program.sends):
            self.missing[rank, number] = len(send.after) + (send.gate >= 0)
            for pair in send.after:
                self.sends_for[pair].append((rank, number))
            if send.gate >= 0:
                self.at_gate[rank, send.gate].append(number)
            if not self.missing[rank, number]:
                self._make_ready(rank, number)

    def _make_ready(self, rank: int, number: int) -> None:
        send = self.programs[rank].sends[number]
        needed = max([self.step[pair] for pair in send.after], default=-1)
        if send.gate >= 0:
            needed = max(needed, self.behind[rank])
        heapq.heappush(self.ready[rank], (needed, number))
        self._queue(rank, max(self.sent[rank], needed) + 1)

    def _place(self, rank: int, needed: int, number: int, earliest: int) -> None:
        send = self.programs[rank].sends[number]
        step = max(self.sent[rank], needed) + 1
        while step in self.taken[send.to]:
            step += 1
        if step > earliest:
            # Others may come before.
            self._queue(rank, step)
            return
        heapq.heappop(self.ready[rank])
        if needed > self.waited[rank]:
            self.waited[rank] = max(needed, self.sent[rank])
            self.waits.add((rank, self.waited[rank]))
        self.sent[rank] = step
        self.taken[send.to].add(step)
        self.step[rank, send.to] = step
        self._queue(rank, step + 1)
        self._complete((rank, send.to))

    def _queue(self, rank: int, step: int) -> None:
        """Lets a rank send in this step, or later, unless it may earlier."""
        queued = self.queued[rank]
        if queued is None or step < queued:
            self.queued[rank] = step
            heapq.heappush(self.next, (step, rank))

    def _complete(self, pair: _PAIR) -> None:
        """A message has its step: what waited for it may have become ready."""
        self._fewer(self.sends_for.pop(pair, ()))
        for rank, gate in self.gates_for.pop(pair, ()):
            self.gate_missing[rank, gate] -= 1
            self._pass(rank)

    def _pass(self, rank: int) -> None:
        """Lets a rank through the gates whose messages are complete, in their order."""
        gates = self.programs[rank].gates
        while (gate := self.passed[rank] + 1) < len(gates) and not self.gate_missing[rank, gate]:
            self.passed[rank] = gate
            self.behind[rank] = max(self.behind[rank], *(self.step[pair] for pair in gates[gate]))
            self._fewer((rank, number) for number in self.at_gate.pop((rank, gate), ()))

    def _fewer(self, sends: Iterable[tuple[int, int]]) -> None:
        for rank, number in sends:
            self.missing[rank, number] -= 1
            if not self.missing[rank, number]:
                self._make_ready(rank, number)
