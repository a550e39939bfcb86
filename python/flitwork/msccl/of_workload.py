"""Workloads of flitwork whose data movement is known, as MSCCL programs: collectives by their steps, all-to-alls.

MSCCL has no clock and no computation: what remains of a schedule is which messages there are, in which order a rank
sends them, and what each waits for.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import product
from operator import or_

from flitwork import _core
from flitwork.base.errors import ConfigError
from flitwork.base.libraries import np
from flitwork.msccl.writer import Block, Chunk, GpuSteps, Ref, runs, xml
from flitwork.networks.faults import working_topology
from flitwork.planning.specification import plan_of
from flitwork.values.plain import Spec
from flitwork.workloads.arrays import with_numbers
from flitwork.workloads.operation_columns import ANY

#: The collectives that both know, by the name that flitwork has.
COLLECTIVES = {
    "all_to_all": "alltoall",
    "allgather": "allgather",
    "allreduce": "allreduce",
    "broadcast": "broadcast",
    "reduce": "reduce",
    "reduce_scatter": "reduce_scatter",
}
_EXPECTED = "a collective, or an all-to-all in which each rank sends the same to each other one"


@dataclass(frozen=True)
class Made:
    """An MSCCL file, and the length of a message that it is made of: ``flits`` or ``bytes`` of all its chunks."""

    text: str
    unit: str
    size: int


def made_of(spec: Spec, name: str | None) -> Made:
    """The program of a simulation: of its workload on its network."""
    plan = plan_of(spec)
    spec, _ = with_numbers(spec)
    work = spec["workload"]
    if "timetable" in work:
        sent = _core.timetable_order(work["timetable"]).tolist()
        called = name or "timetable"
        return _exchange(called, [_chained(one, plan.nic_ports) for one in sent], _timetable_sizes(plan), "flits")
    in_bytes = work["schedule"].in_units[0] if "schedule" in work else "message_flits" not in work
    unit = "bytes" if in_bytes else "flits"
    table = plan_of(_of_lengths(spec, plan)).goal().schedule()
    rows = _rows(table.operations())
    if "operation" in work:
        return _collective(spec, plan, rows, unit, name)
    programs = [_of_operations(one, plan.nic_ports) for one in rows]
    return _exchange(name or table.name, programs, _sizes(rows), unit)


def _of_lengths(spec: Spec, plan: _core.Plan) -> Spec:
    """The same messages on a network whose flits are bytes, so that no length is rounded up."""
    units = {"flit_bytes": 1, "cycle_ns": 1}
    whole = {name: table for name, table in spec["network"].items() if name in ("topology", "without")}
    network = {**whole, "nic": {"ports": plan.nic_ports}, "units": units}
    host = {key: one for key, one in spec.get("host", {}).items() if key in ("ranks_per_terminal", "placement")}
    work = {key: one for key, one in spec["workload"].items() if key not in ("packet_flits", "packet_bytes")}
    return {"network": network, "workload": work, "host": host, "run": {}}


@dataclass(frozen=True)
class _Move:
    """A message that a rank sends or receives, and what of its moves it waits for."""

    way: str
    peer: int
    after: Sequence[int] = ()


#: Kind, peer, amount, what it waits for.
_Row = tuple[int, int, int, list[int]]


def _rows(columns: _core.Operations) -> list[list[_Row]]:
    """The operations of each rank."""
    kinds, peers, amounts = columns.kind.tolist(), columns.peer.tolist(), columns.amount.tolist()
    counts, after = columns.dependencies.tolist(), columns.after.tolist()
    found: list[list[_Row]] = []
    at = behind = 0
    for count in columns.operations.tolist():
        mine: list[_Row] = []
        for row in range(at, at + count):
            mine.append((kinds[row], peers[row], amounts[row], after[behind : behind + counts[row]]))
            behind += counts[row]
        found.append(mine)
        at += count
    return found


def _of_operations(rows: list[_Row], ports: int) -> list[_Move]:
    """Sends and receives. What waits for the start of a send waits for the end of the one ``ports`` before it."""
    moves: list[_Move] = []
    sends: list[int] = []
    complete: list[set[int]] = []
    #: What is complete when a move begins, a bit each.
    behind: list[int] = []
    for kind, peer, _, after in rows:
        waits = {one for operation in after for one in complete[operation]}
        known = reduce(or_, (behind[one] for one in waits), 0)
        waits = {one for one in waits if not known >> one & 1}
        if kind in (_core.Kind.SEND, _core.Kind.RECEIVE):
            if peer == ANY:
                raise ConfigError("workload", "a receive from any rank", _EXPECTED, "name the rank")
            moves.append(_Move("send" if kind == _core.Kind.SEND else "recv", peer, sorted(waits)))
            # A receive may stand ready from the start: it waits for nothing.
            behind.append(reduce(or_, (behind[one] | 1 << one for one in waits), 0) if kind == _core.Kind.SEND else 0)
            if kind == _core.Kind.SEND:
                sends.append(len(moves) - 1)
            waits = {len(moves) - 1}
        elif kind == _core.Kind.STARTED and sends:
            waits = {sends[-ports]} if len(sends) >= ports else set()
        complete.append(waits)
    return moves


def _sizes(rows: list[list[_Row]]) -> Counter[int]:
    return Counter(amount for one in rows for kind, _, amount, _ in one if kind == _core.Kind.SEND)


def _timetable_sizes(plan: _core.Plan) -> Counter[int]:
    """How long the messages are of which the blocks are parts, and how many of each length."""
    messages = plan.messages()
    pairs = messages["from"].astype(np.int64) * plan.terminals + messages["to"]
    flits = np.bincount(pairs, weights=messages["flits"]).astype(np.int64)
    return Counter(flits[flits > 0].tolist())


def _chained(sent: list[int], ports: int) -> list[_Move]:
    """Sends in their order; receives wait for nothing, and come in any order."""
    sends = [_Move("send", to, [at - ports] if at >= ports else []) for at, to in enumerate(sent)]
    return [*sends, *(_Move("recv", source) for source in sent)]


def _exchange(name: str, programs: list[list[_Move]], sizes: Counter[int], unit: str) -> Made:
    """An all-to-all: each rank sends the same number of messages of one length to each other rank."""
    count = len(programs)
    pairs = Counter((rank, move.peer) for rank, one in enumerate(programs) for move in one if move.way == "send")
    each = pairs[0, 1]
    for rank, to in product(range(count), repeat=2):
        there = pairs[rank, to]
        if there != each * (rank != to) or not each * (count - 1) + pairs[0, 0]:
            said = f"{there} messages from rank {rank} to rank {to}, {each} from rank 0 to rank 1"
            hint = "which data other messages have is not known: use fw.collective(...)"
            raise ConfigError("workload", said, _EXPECTED, hint)
    if len(sizes) != 1 or 0 in sizes:
        said = f"messages of {', '.join(map(str, sorted(sizes)[:5]))} {unit}"
        raise ConfigError("workload", said, "messages of one length", "MSCCL has chunks of one length")
    gpus = []
    for rank, moves in enumerate(programs):
        gpu = GpuSteps()
        refs: list[Ref] = []
        counts: Counter[Block] = Counter()
        own: list[Chunk] = [("i", rank * each + k) for k in range(each)]
        gpu.move(own, [("o", place) for _, place in own])
        for move in moves:
            block = (move.way, move.peer)
            place = move.peer * each + counts[block]
            counts[block] += 1
            if move.way == "send":
                there = rank * each + counts[block] - 1
                refs.append(gpu.add(block, "s", ("i", place), ("o", there), 1, [refs[one] for one in move.after]))
            else:
                refs.append(gpu.add(block, "r", ("i", rank * each), ("o", place), 1))
        gpus.append(gpu)
    chunks = count * each
    size = next(iter(sizes)) * chunks
    return Made(xml(name, "alltoall", (chunks, chunks, chunks), gpus, _COMMENT), unit, size)


_COMMENT = f"made by flitwork {_core.__version__}: the order of messages and what they wait for, no times"


def _collective(spec: Spec, plan: _core.Plan, rows: list[list[_Row]], unit: str, name: str | None) -> Made:
    work = spec["workload"]
    operation, algorithm = work["operation"], work["algorithm"]
    if operation not in COLLECTIVES:
        raise ConfigError("workload.operation", operation, f"one of {', '.join(COLLECTIVES)}", "MSCCL has no such one")
    collective, terminals = COLLECTIVES[operation], plan.terminal_of_rank().tolist()
    steps = _core.CollectiveSteps(
        operation,
        algorithm,
        len(terminals),
        work.get("root") or 0,
        json.dumps(working_topology(spec["network"])),
        terminals,
        required=True,
        radix=work.get("radix"),
        leaders=work.get("leaders"),
        descending=work.get("order") == "descending",
    )
    same = (len(terminals), steps, plan.nic_ports, work.get("root") or 0)
    ranks = [_Rank(collective, rank, *same) for rank in range(len(terminals))]
    sent = [blocks for one in ranks for blocks in one.sent]
    amounts = sorted(amount for one in rows for kind, _, amount, _ in one if kind == _core.Kind.SEND)
    chunk = sum(amounts) // max(sum(sent), 1)
    if amounts != sorted(blocks * chunk for blocks in sent):
        pieces = f"the {steps.pieces} pieces of a vector, all of one length, once and without barriers"
        hint = f"a message_bytes that is a multiple of {steps.pieces}; no sizes, repeats, step_barriers or blocks"
        raise ConfigError("workload", "messages of other lengths", pieces, hint)
    count = len(terminals) if collective in ("alltoall", "allgather", "reduce_scatter") else steps.pieces
    inputs = 1 if collective == "allgather" else count
    outputs = 1 if collective == "reduce_scatter" else count
    called = name or f"{operation} {algorithm}"
    text = xml(called, collective, (count, inputs, outputs), [one.gpu for one in ranks], _COMMENT)
    return Made(text, unit, max(chunk, 1) * count)


@dataclass
class _Rank:
    """What a rank does in the steps of a collective, as steps of a GPU."""

    #: As MSCCL names it.
    collective: str
    rank: int
    count: int
    steps: _core.CollectiveSteps
    ports: int
    root: int
    gpu: GpuSteps = field(default_factory=GpuSteps)
    #: Blocks of each message that it sends.
    sent: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        #: Where each block is that it has.
        self._at: dict[int, Chunk] = {}
        self._sends: list[Ref] = []
        #: Messages of the stretch that ended with the last wait, and of this one.
        self._before: list[Ref] = []
        self._now: list[Ref] = []
        self._sent_now: set[Chunk] = set()
        #: What is done with received data when it has been waited for: blocks, where they are, whether to add them.
        self._later: list[tuple[list[int], list[Chunk], bool]] = []
        self._begin()
        for number in range(self.steps.steps):
            to, sent, source, came, adds, waits = self.steps.step(self.rank, number)
            if to is not None:
                self._send(to, [*(sent or ())])
            if source is not None:
                self._receive(source, [*(came or ())], adds)
            if waits:
                self._wait()
        self._wait()
        if self.collective == "reduce_scatter":
            self.gpu.move([self._at[self.rank]], [("o", 0)])

    def _begin(self) -> None:
        me, count = self.rank, self.count
        inputs: list[Chunk] = [("i", place) for place in range(self.steps.pieces)]
        match self.collective:
            case "alltoall":
                self._at = {me * count + to: ("i", to) for to in range(count)}
                self.gpu.move([("i", me)], [("o", me)])
            case "allgather":
                self._at = {me: ("o", me)}
                self.gpu.move([("i", 0)], [("o", me)])
            case "broadcast" if me != self.root:
                pass
            case _:
                to = (
                    self.gpu.fresh(len(inputs))
                    if self.collective == "reduce_scatter"
                    else [("o", k) for _, k in inputs]
                )
                self._at = dict(enumerate(to))
                self.gpu.move(inputs, to)

    def _send(self, to: int, blocks: list[int]) -> None:
        chunks = [self._at[block] for block in blocks]
        if len(runs(chunks)) != 1:
            packed = self.gpu.fresh(len(chunks))
            self.gpu.move(chunks, packed)
            chunks = packed
        after = [*self._before, *self._sends[-self.ports :][:1]] if len(self._sends) >= self.ports else self._before
        ref = self.gpu.add(("send", to), "s", chunks[0], ("o", 0), len(chunks), after)
        self._sends.append(ref)
        self._now.append(ref)
        self._sent_now |= {*chunks}
        self.sent.append(len(blocks))

    def _receive(self, source: int, blocks: list[int], adds: bool) -> None:
        block = ("recv", source)
        home = [self._at[one] if adds else self._home(one) for one in blocks]
        direct = [one for one in home if one is not None]
        if len(direct) == len(home) and len(runs(direct)) == 1 and not self._sent_now & {*direct}:
            kind = "rrc" if adds else "r"
            self._now.append(self.gpu.add(block, kind, direct[0], direct[0], len(blocks)))
            self._later.append((blocks, direct, False))
            return
        into = self.gpu.fresh(len(blocks))
        self._now.append(self.gpu.add(block, "r", ("i", 0), into[0], len(blocks)))
        self._later.append((blocks, into, adds))

    def _home(self, block: int) -> Chunk | None:
        """Where a received block belongs; ``None``: it is passed on."""
        if self.collective != "alltoall":
            return "s" if self.collective == "reduce_scatter" else "o", block
        source, to = divmod(block, self.count)
        return ("o", source) if to == self.rank else None

    def _wait(self) -> None:
        for blocks, chunks, adds in self._later:
            if adds:
                self.gpu.move(chunks, [self._at[block] for block in blocks], "re")
                continue
            home = [self._home(block) or chunk for block, chunk in zip(blocks, chunks, strict=True)]
            moved = [(chunk, to) for chunk, to in zip(chunks, home, strict=True) if to != chunk]
            self.gpu.move([chunk for chunk, _ in moved], [to for _, to in moved])
            self._at.update(zip(blocks, home, strict=True))
        self._later = []
        sent = any(way == "send" for (way, _), _ in self._now)
        if self._now:
            self._before = self._now if sent else [*self._before, *self._now]
        self._now, self._sent_now = [], set()
