"""A trace as a GOAL program: operations, what waits for what, and the file."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from flitwork.running.goal import Goal
from numpy.typing import NDArray

from flitwork_mpi.native.record_collectives import CALC, RECV, SEND, Collectives, Done
from flitwork_mpi.native.record_match import Messages, Numbers, matched
from flitwork_mpi.native.record_trace import FLAGS, KINDS, Trace
from flitwork_mpi.native.record_windows import with_windows
from flitwork_mpi.programs.algorithms import checked

#: A node of GOAL in binary.
_NODE = np.dtype(
    [
        ("needs", "<u4"), ("kind", "i1"), ("peer", "<u4"), ("size", "<u8"), ("tag", "<u4"), ("cpu", "u1"),
        ("nic", "u1"), ("dependants", "<u4"), ("first", "<u4"), ("start_dependants", "<u4"), ("start_first", "<u4"),
    ]
)  # fmt: skip
_MAGIC = 4223
_CPUS = 256


@dataclass
class Converted:
    """A GOAL program, and what could not be in it."""

    goal: Goal
    #: Bytes that go over each pair: rows are sources, columns destinations.
    pair_bytes: NDArray[np.int64]
    #: Calls of collectives, by collective and algorithm.
    collectives: dict[tuple[str, str], int]
    #: Messages and collectives that are left out, by reason.
    left_out: dict[str, int]
    unknown: dict[str, int]
    cut_short: list[int]
    compute_ns: NDArray[np.int64]


@dataclass
class _Thread:
    """Where a thread is: what its next operation waits for, and how long it computes before."""

    cpu: int
    front: list[int] = field(default_factory=list)
    gap: float = 0.0


class _Rank:
    """The operations of one rank."""

    def __init__(self) -> None:
        self.kinds, self.cpus = array("b"), array("B")
        #: Of a send or receive its message, of a calc its length [ns].
        self.values = array("q")
        self.later, self.sooner = array("q"), array("q")
        self.compute_ns = 0

    def add(self, kind: int, value: int, thread: _Thread, front: list[int]) -> int:
        """An operation that waits for others; its number."""
        number = len(self.kinds)
        self.kinds.append(kind)
        self.cpus.append(thread.cpu)
        self.values.append(value)
        for one in front:
            self.later.append(number)
            self.sooner.append(one)
        return number

    def settle(self, thread: _Thread) -> None:
        """Makes one operation of what the next one waits for: the computation before it, or an empty one."""
        gap = round(thread.gap)
        if gap or len(thread.front) > 1:
            thread.front = [self.add(CALC, gap, thread, thread.front)]
            self.compute_ns += gap
            thread.gap -= gap

    def splice(self, done: Done, rank: int, thread: _Thread) -> list[int]:
        """What this rank does in a collective; the operations that complete it."""
        part = done.template.parts[done.local[rank]]
        base, front = len(self.kinds), thread.front
        self.kinds.extend(part.kinds)
        self.cpus.extend([thread.cpu] * len(part.kinds))
        self.values.extend([0 if one < 0 else done.first + one for one in part.messages])
        self.later.extend([base + one for one in part.later])
        self.sooner.extend([base + one for one in part.sooner])
        for one in part.entries if front else ():
            self.later.append(base + one)
            self.sooner.append(front[0])
        return [base + one for one in part.finals]


def converted(
    trace: Trace,
    *,
    name: str = "recorded",
    compute: Literal["measured", "zero"] = "measured",
    compute_scale: float = 1.0,
    algorithms: Mapping[str, str] | None = None,
    topology: str | None = None,
    ranks_per_server: int = 1,
    progress: Callable[[str], object] = lambda _: None,
) -> Converted:
    """The communication of a trace as a GOAL program.

    ``compute``: what is between two calls, measured [ns] and times ``compute_scale``, or nothing. ``algorithms`` names
    those of collectives; ``topology`` (JSON) and ``ranks_per_server`` are for those that go by them.
    """
    trace = with_windows(trace)
    messages = matched(trace)
    servers = np.arange(len(trace.ranks)) // ranks_per_server
    collectives = Collectives(trace, checked(algorithms or {}), topology, servers)
    collectives.carry_out(len(messages.source))
    source = np.concatenate([messages.source, *collectives.source])
    destination = np.concatenate([messages.destination, *collectives.destination])
    nbytes = np.concatenate([messages.nbytes, *collectives.nbytes])
    scale = compute_scale if compute == "measured" else 0.0
    ranks = []
    for rank in range(len(trace.ranks)):
        ranks.append(_operations(trace, rank, messages, collectives.of_event[rank], scale))
        progress(f"rank {rank}: {len(ranks[-1].kinds):,} operations")
    size = len(trace.ranks)
    pairs = np.zeros((size, size), dtype=np.int64)
    np.add.at(pairs, (source, destination), nbytes)
    left_out = {
        "messages that were sent and not received": messages.unreceived,
        "messages that were received and not sent": messages.unsent,
        "collectives that not all of their ranks reached": collectives.unfinished,
    }
    return Converted(
        Goal(_binary(ranks, source, destination, nbytes), name=name),
        pairs,
        collectives.used,
        {reason: count for reason, count in left_out.items() if count},
        trace.unknown,
        trace.cut_short,
        np.array([one.compute_ns for one in ranks], dtype=np.int64),
    )


def _operations(trace: Trace, rank: int, messages: Messages, collectives: dict[int, Done], scale: float) -> _Rank:
    """What a rank does, thread by thread in the order of its calls.

    A call that returns when it is complete comes behind all before it. One that is started waits for what is before it,
    and only what is behind its completion waits for it.
    """
    events = trace.ranks[rank].events
    made, threads = _Rank(), dict[int, _Thread]()
    requests: dict[int, list[int]] = {}
    send, complete = KINDS["SEND"], KINDS["COMPLETE"]
    apart = FLAGS["STARTED"] | FLAGS["DETACHED"]
    columns = [events[one].tolist() for one in ("what", "flags", "thread", "compute_ns", "request")]
    rows = zip(*columns, messages.of_event[rank].tolist(), strict=True)
    for record, (kind, flags, number, gap, request, message) in enumerate(rows):
        thread = threads.get(number)
        if thread is None:
            thread = threads[number] = _Thread(min(number, _CPUS - 1))
        thread.gap += gap * scale
        if kind == complete:
            if request in requests:
                made.settle(thread)
                thread.front = thread.front + requests.pop(request)
            continue
        if message >= 0:
            made.settle(thread)
            last = [made.add(SEND if kind == send else RECV, message, thread, thread.front)]
        elif record in collectives:
            made.settle(thread)
            last = made.splice(collectives[record], rank, thread)
        else:
            continue
        if flags & apart:
            if flags & FLAGS["STARTED"]:
                requests[request] = last
        elif last:
            thread.front = last
    for thread in threads.values():
        made.settle(thread)
    return made


def _binary(ranks: list[_Rank], source: Numbers, destination: Numbers, nbytes: Numbers) -> bytes:
    """The program in GOAL binary. The tag of a message is its number among those of its pair."""
    tags = np.empty(len(source), dtype=np.int64)
    by_pair = np.lexsort((destination, source))
    first = np.ones(len(by_pair), dtype=bool)
    first[1:] = (np.diff(source[by_pair]) != 0) | (np.diff(destination[by_pair]) != 0)
    at = np.arange(len(by_pair))
    if len(at):
        tags[by_pair] = at - np.maximum.accumulate(np.where(first, at, 0))
    parts = [_of_rank(one, source, destination, nbytes, tags) for one in ranks]
    begins = 6 + 16 * len(ranks) + np.concatenate([[0], np.cumsum([len(part) for part in parts])])
    highest = max((max(one.cpus, default=0) for one in ranks), default=0)
    header = np.array([_MAGIC], "<u8").tobytes() + np.array([len(ranks)], "<u4").tobytes() + bytes([highest, 0])
    extents = np.stack([begins[:-1], begins[1:]], axis=1).astype("<u8").tobytes()
    return b"".join([header, extents, *parts])


def _of_rank(one: _Rank, source: Numbers, destination: Numbers, nbytes: Numbers, tags: Numbers) -> bytes:
    kinds = np.frombuffer(one.kinds, dtype=np.int8) if len(one.kinds) else np.empty(0, np.int8)
    values = _numbers(one.values)
    later, sooner = _numbers(one.later), _numbers(one.sooner)
    nodes: Any = np.zeros(len(kinds), dtype=_NODE)
    nodes["kind"], nodes["cpu"] = kinds, np.frombuffer(one.cpus, dtype=np.uint8) if len(one.cpus) else 0
    is_calc = kinds == CALC
    of_message = np.flatnonzero(~is_calc)
    message = values[of_message]
    nodes["peer"][of_message] = np.where(kinds[of_message] == SEND, destination[message], source[message])
    nodes["size"][of_message] = nbytes[message]
    nodes["tag"][of_message] = tags[message]
    nodes["size"][is_calc] = values[is_calc]
    nodes["needs"] = np.bincount(later, minlength=len(kinds))
    dependants = np.bincount(sooner, minlength=len(kinds))
    nodes["dependants"] = dependants
    nodes["first"] = np.cumsum(dependants) - dependants
    nodes["start_first"] = nodes["first"] + nodes["dependants"]
    roots = np.flatnonzero(nodes["needs"] == 0).astype("<u4")
    appendix = later[np.argsort(sooner, kind="stable")].astype("<u4")
    head = np.array([len(kinds), len(roots)], dtype="<u4")
    return b"".join([head.tobytes(), roots.tobytes(), nodes.tobytes(), appendix.tobytes()])


def _numbers(values: array[int]) -> Numbers:
    return np.frombuffer(values, dtype=np.int64) if len(values) else np.empty(0, dtype=np.int64)


def write_goal(found: Converted, file: Path) -> Path:
    """Writes the program: as binary to a file .bin, as text to any other."""
    return found.goal.write(file, binary=file.suffix.lower() == ".bin")
