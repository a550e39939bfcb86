"""Recorded collectives as messages: by the step functions that the simulator has for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import cast

import numpy as np
from flitwork.base.errors import ConfigError
from numpy.typing import NDArray

from flitwork_mpi.native.record_trace import FLAGS, KINDS, NAMES, Trace
from flitwork_mpi.programs.algorithms import pick
from flitwork_mpi.programs.steps import Steps
from flitwork_mpi.programs.wire import Wire

Numbers = NDArray[np.int64]
SEND, RECV, CALC = 1, 2, 3
#: The collective of `algorithms` that a recorded one is.
CALLED = {
    **{name: name.lower() for name in NAMES.values() if KINDS[name] >= KINDS["BARRIER"]},
    "ALLGATHERV": "allgather",
    "REDUCE_SCATTER_BLOCK": "reduce_scatter",
}
#: Collectives whose ranks write down a list of sizes.
_WITH_LISTS = tuple(KINDS[name] for name in ("ALLTOALLV", "ALLTOALLW", "REDUCE_SCATTER"))


@dataclass
class Part:
    """What one rank does in a collective: operations by their place, and what each waits for."""

    kinds: list[int] = field(default_factory=list)
    #: The message of each send and receive, counted within the collective; -1 of a calc, which takes no time.
    messages: list[int] = field(default_factory=list)
    #: Operations, and for each one that it waits for.
    later: list[int] = field(default_factory=list)
    sooner: list[int] = field(default_factory=list)
    #: Operations that wait for what was before the collective, and those that have to complete.
    entries: list[int] = field(default_factory=list)
    finals: list[int] = field(default_factory=list)


@dataclass
class Template:
    """An algorithm, made once for all calls: the parts of the ranks, and the blocks of each message."""

    parts: list[Part]
    source: Numbers
    destination: Numbers
    blocks: Numbers
    begins: Numbers

    def sizes(self, block_bytes: Numbers) -> Numbers:
        """Bytes of each message, if blocks have so many."""
        total = np.concatenate([[0], np.cumsum(block_bytes[self.blocks])])
        return cast("Numbers", total[self.begins[1:]] - total[self.begins[:-1]])


class Builder:
    """Gathers the operations of the ranks, then pairs sends with receives."""

    def __init__(self, ranks: int) -> None:
        self.parts = [Part() for _ in range(ranks)]
        self.source: list[int] = []
        self.destination: list[int] = []
        self.blocks: list[Sequence[int]] = []
        self._sent: dict[tuple[int, int], list[int]] = {}
        self._received: dict[tuple[int, int], int] = {}

    def sends(self, ranks: int, steps: Steps) -> None:
        """Numbers all messages, those of each pair in order."""
        for rank in range(ranks):
            for to, sent, *_ in steps.of(rank):
                if to is not None and sent is not None:
                    self.message(rank, to, sent)

    def message(self, source: int, destination: int, blocks: Sequence[int]) -> None:
        """Adds a message."""
        self._sent.setdefault((source, destination), []).append(len(self.source))
        self.source.append(source)
        self.destination.append(destination)
        self.blocks.append(blocks)

    def part(self, rank: int, steps: Steps) -> None:
        """What a rank does: what it starts in a step waits for all that the last wait was for."""
        part, front, started = self.parts[rank], cast("list[int]", []), cast("list[int]", [])
        sent: dict[int, int] = {}
        for to, blocks, source, comes, _, waits in steps.of(rank):
            if source is not None and comes is not None:
                nth = self._received.get((source, rank), 0)
                self._received[source, rank] = nth + 1
                started.append(self._add(part, RECV, self._sent[source, rank][nth], front))
            if to is not None and blocks is not None:
                nth = sent.get(to, 0)
                sent[to] = nth + 1
                started.append(self._add(part, SEND, self._sent[rank, to][nth], front))
            if waits and started:
                front, started = self._joined(part, started), []
        part.finals = started or front

    def _joined(self, part: Part, started: list[int]) -> list[int]:
        return started if len(started) <= 2 else [self._add(part, CALC, -1, started)]

    def _add(self, part: Part, kind: int, message: int, front: list[int]) -> int:
        number = len(part.kinds)
        part.kinds.append(kind)
        part.messages.append(message)
        part.later += [number] * len(front)
        part.sooner += front
        if not front:
            part.entries.append(number)
        return number

    def then(self, source: int, destination: int) -> None:
        """A message behind all others, of all blocks that there are (block 0)."""
        self.message(source, destination, [0])
        for rank, kind in ((source, SEND), (destination, RECV)):
            part = self.parts[rank]
            part.finals = [self._add(part, kind, len(self.source) - 1, part.finals)]

    def built(self) -> Template:
        """All of it as arrays."""
        lengths = [len(blocks) for blocks in self.blocks]
        flat = [np.asarray(blocks, dtype=np.int64) for blocks in self.blocks]
        return Template(
            self.parts,
            np.array(self.source, dtype=np.int64),
            np.array(self.destination, dtype=np.int64),
            np.concatenate(flat) if flat else np.empty(0, dtype=np.int64),
            np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64),
        )


@dataclass
class Call:
    """One collective: of each member (in order of the communicator) its record."""

    comm: int
    kind: int
    records: dict[int, int] = field(default_factory=dict)


@dataclass
class Done:
    """A collective as messages, numbered from ``first``."""

    template: Template
    first: int
    local: dict[int, int]


class Collectives:
    """All collectives of a trace."""

    def __init__(self, trace: Trace, algorithms: Mapping[str, str], topology: str | None, servers: Numbers) -> None:
        self._trace = trace
        self._world = SimpleNamespace(algorithms=algorithms, topology=topology, terminals=[int(one) for one in servers])
        self._columns = [{name: one.events[name] for name in ("bytes", "peer", "tag", "flags")} for one in trace.ranks]
        self._members = [ranks.tolist() for ranks in trace.members]
        self._alike: dict[tuple[int, ...], tuple[tuple[str, str], Template, Numbers]] = {}
        self._templates: dict[tuple[Steps, tuple[int, int] | None], Template] = {}
        self._local = [{int(rank): place for place, rank in enumerate(ranks)} for ranks in trace.members]
        #: Of each rank: the collective of a record.
        self.of_event: list[dict[int, Done]] = [{} for _ in trace.ranks]
        self.source: list[Numbers] = []
        self.destination: list[Numbers] = []
        self.nbytes: list[Numbers] = []
        #: Calls by collective and algorithm.
        self.used: dict[tuple[str, str], int] = {}
        #: Collectives that some of their ranks did not reach.
        self.unfinished = 0

    def carry_out(self, first: int) -> None:
        """Makes messages of all of them; ``first`` is the number of the first one."""
        for call in self._calls():
            members = self._trace.members[call.comm]
            if len(call.records) < len(members):
                self.unfinished += 1
                continue
            if len(members) == 1:
                continue
            template, sizes = self._messages(call)
            done = Done(template, first, self._local[call.comm])
            for rank, record in call.records.items():
                self.of_event[rank][record] = done
            self.source.append(members[template.source])
            self.destination.append(members[template.destination])
            self.nbytes.append(sizes)
            first += len(sizes)

    def _calls(self) -> list[Call]:
        found: dict[tuple[int, int, int], Call] = {}
        for rank, trace in enumerate(self._trace.ranks):
            # Persistent ones are matched by the order in which they were made, each of them by its starts.
            order: dict[tuple[int, int], int] = {}
            at = np.flatnonzero(trace.events["what"] >= KINDS["BARRIER"])
            comms = self._trace.comm_of[rank][trace.events["comm"][at]]
            for event, comm, kind in zip(at.tolist(), comms.tolist(), trace.events["what"][at].tolist(), strict=True):
                persists = trace.events["flags"][event] & FLAGS["PERSISTENT"]
                made = int(trace.list_of(event)[-1]) if persists else -1
                nth = order[comm, made] = order.get((comm, made), -1) + 1
                call = found.setdefault((comm, made, nth), Call(comm, kind))
                if call.kind != kind:
                    raise ConfigError(
                        "trace", f"collective {nth} of a communicator",
                        "the same collective on all of its ranks",
                        f"one rank called {NAMES[call.kind].lower()}, rank {rank} {NAMES[kind].lower()}",
                    )  # fmt: skip
                call.records[rank] = event
        return [*found.values()]

    def _messages(self, call: Call) -> tuple[Template, Numbers]:
        """The algorithm of a call, and the bytes of its messages. Calls that are alike are made once."""
        members = self._members[call.comm]
        at = [(self._columns[rank], call.records[rank]) for rank in members]
        each = [columns["bytes"].item(record) for columns, record in at]
        root, unit = (at[0][0][name].item(at[0][1]) for name in ("peer", "tag"))
        ordered = any(columns["flags"].item(record) & FLAGS["ORDERED"] for columns, record in at)
        if call.kind in _WITH_LISTS:
            found = self._made(call, members, each, root, unit, ordered)
        else:
            key = (call.comm, call.kind, root, unit, ordered, *each)
            found = self._alike.get(key) or self._made(call, members, each, root, unit, ordered)
            self._alike[key] = found
        name, template, sizes = found
        self.used[name] = self.used.get(name, 0) + 1
        return template, sizes

    def _made(
        self, call: Call, members: list[int], of_each: list[int], root: int, unit: int, ordered: bool
    ) -> tuple[tuple[str, str], Template, Numbers]:
        """Collective and algorithm, operations, and bytes of messages."""
        name, each = NAMES[call.kind], np.array(of_each, dtype=np.int64)
        unit, most = max(unit, 1), max(of_each)
        top = 0 if name == "REDUCE" and ordered else root
        blocks = None
        if name in ("ALLTOALLV", "ALLTOALLW"):
            blocks = np.concatenate([self._list(rank, call) for rank in members])
            nbytes = 0
        elif name == "ALLTOALL":
            blocks, nbytes = np.repeat(each, len(members)), most
        elif name == "REDUCE_SCATTER":
            blocks = self._list(members[0], call)
            nbytes = int(blocks.sum())
        elif name in ("REDUCE_SCATTER_BLOCK", "ALLGATHER", "ALLGATHERV"):
            blocks, nbytes = each, int(each.sum())
        elif name in ("GATHER", "GATHERV", "SCATTER", "SCATTERV"):
            blocks, nbytes = each, most
        else:
            nbytes = most
        cuts = not ordered and (name not in ("REDUCE", "ALLREDUCE") or most // unit >= len(members))
        steps = self._steps(CALLED[name], call.comm, members, nbytes, top, cuts, ordered)
        if blocks is None:
            blocks = _pieces(most, steps.pieces, 1 if name == "BCAST" else unit)
            blocks = np.zeros_like(blocks) if name == "BARRIER" else blocks
        template = self._template(steps, len(members), (top, root) if top != root else None)
        return (CALLED[name], steps.name), template, template.sizes(blocks)

    def _list(self, rank: int, call: Call) -> Numbers:
        trace, record = self._trace.ranks[rank], call.records[rank]
        numbers = trace.list_of(record)
        return numbers[:-1] if trace.events["flags"][record] & FLAGS["PERSISTENT"] else numbers

    def _steps(
        self, name: str, comm: int, members: list[int], nbytes: int, root: int, cuts: bool, ordered: bool
    ) -> Steps:
        # What the selection asks of the wire of a rank program.
        wire = SimpleNamespace(
            process=SimpleNamespace(world=self._world),
            size=len(members),
            ranks=members,
            is_world=members == [*range(len(self._trace.ranks))],
            name=f"communicator {comm}",
        )
        return pick(cast(Wire, wire), name, nbytes, root, cuts=cuts, in_order=ordered)

    def _template(self, steps: Steps, ranks: int, then: tuple[int, int] | None) -> Template:
        key = (steps, then)
        if key not in self._templates:
            made = Builder(ranks)
            made.sends(ranks, steps)
            for rank in range(ranks):
                made.part(rank, steps)
            if then:
                made.then(*then)
            self._templates[key] = made.built()
        return self._templates[key]


def _pieces(nbytes: int, parts: int, unit: int) -> Numbers:
    """Bytes of the pieces that a vector is cut into, the first ones longer by one unit."""
    share, rest = divmod(nbytes // unit, parts)
    return (share + (np.arange(parts) < rest)).astype(np.int64) * unit
