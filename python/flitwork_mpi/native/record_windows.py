"""One-sided communication between fences as messages, which both of their ranks have in their records.

What is put is a message to its target. What is got is one of no bytes that asks for it, and an answer, which the
target sends on a CPU that its program does not have. A fence that ends an epoch waits for all that its rank began,
is a barrier, and then waits for all that came in.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flitwork_mpi.native.record_trace import EVENT, FLAGS, KINDS, Trace

#: No messages of a program have these tags.
_PUT, _REQUEST, _ANSWER = -70, -71, -72
#: Threads that answer, one for each rank that asks, behind all threads of a program.
_ANSWERING = 256


@dataclass
class _Call:
    """A call by world rank ``origin``, and who takes part, as ranks of the window."""

    origin: int
    comm: int
    event: int
    local_origin: int
    local_target: int
    goes: int
    comes: int


@dataclass
class _Epoch:
    """What a rank does between two fences of a window: calls of its own, and those of others that reach it."""

    calls: list[_Call]
    others: list[_Call]


class _Rows:
    """Records to be put into those of one rank, each behind a record that is there."""

    def __init__(self, events: NDArray[Any]) -> None:
        self.request = int(events["request"][events["request"] < 2**32 - 1].max(initial=0))
        self.behind: list[int] = []
        self.rows: list[tuple[int, ...]] = []

    def add(
        self,
        behind: int,
        what: str,
        thread: int,
        comm: int,
        *,
        request: int = 0,
        peer: int = 0,
        tag: int = 0,
        nbytes: int = 0,
    ) -> int:
        """Adds a record; that of an operation that is started gets a number, which is returned."""
        flags = 0
        if what in ("SEND", "RECV"):
            self.request += 1
            flags, request = FLAGS["STARTED"], self.request
        self.behind.append(behind)
        # These were never in a file, so nothing looks at their checksum.
        self.rows.append((KINDS[what], flags, thread, 0, 0, peer, tag, comm, request, nbytes, 0))
        return request


def with_windows(trace: Trace) -> Trace:
    """The trace with what its one-sided calls between fences are, as messages and barriers."""
    if not any((one.events["what"] == KINDS["FENCE"]).any() for one in trace.ranks):
        return trace
    epochs = _epochs(trace)
    return replace(trace, ranks=[_expanded(trace, rank, epochs) for rank in range(len(trace.ranks))])


def _epochs(trace: Trace) -> dict[tuple[int, int, int], _Epoch]:
    """By world rank, window and number of the fence that begins it."""
    found: dict[tuple[int, int, int], _Epoch] = {}

    def epoch(rank: int, window: int, number: int) -> _Epoch:
        return found.setdefault((rank, window, number), _Epoch([], []))

    for rank, one in enumerate(trace.ranks):
        fences: dict[int, int] = {}
        whats = one.events["what"]
        for event in np.flatnonzero((whats == KINDS["FENCE"]) | (whats == KINDS["ONE_SIDED"])).tolist():
            row = one.events[event]
            comm = int(row["comm"])
            window = int(trace.comm_of[rank][comm])
            if row["what"] == KINDS["FENCE"]:
                fences[window] = fences.get(window, 0) + 1
                continue
            peers = trace.peers_of[rank][comm]
            target, at = int(row["peer"]), fences.get(window, 0)
            goes, comes = one.list_of(event).tolist()
            call = _Call(rank, comm, event, int(np.flatnonzero(peers == rank)[0]), target, goes, comes)
            epoch(rank, window, at).calls.append(call)
            epoch(int(peers[target]), window, at).others.append(call)
    return found


def _expanded(trace: Trace, rank: int, epochs: dict[tuple[int, int, int], _Epoch]) -> Any:
    one = trace.ranks[rank]
    rows = _Rows(one.events)
    #: Of each window: fences so far, and what its next one waits for: before it is a barrier and behind that.
    fences: dict[int, int] = {}
    before: dict[int, list[int]] = {}
    after: dict[int, list[int]] = {}
    nothing = _Epoch([], [])
    for event in np.flatnonzero(one.events["what"] == KINDS["FENCE"]).tolist():
        row = one.events[event]
        comm, thread = int(row["comm"]), int(row["thread"])
        window = int(trace.comm_of[rank][comm])
        for request in before.pop(window, []):
            rows.add(event, "COMPLETE", thread, comm, request=request)
        if not row["tag"]:
            rows.add(event, "BARRIER", thread, comm)
        for request in after.pop(window, []):
            rows.add(event, "COMPLETE", thread, comm, request=request)
        fences[window] = fences.get(window, 0) + 1
        epoch = epochs.get((rank, window, fences[window]), nothing)
        after[window] = [_taken(rows, call, event, thread, comm) for call in epoch.others]
        before[window] = [
            request for call in epoch.calls for request in _begun(rows, call, one.events[call.event], comm)
        ]
    return _inserted(one, rows)


def _begun(rows: _Rows, call: _Call, row: Any, comm: int) -> list[int]:
    """What a call begins at its own rank."""
    thread, peer, behind = int(row["thread"]), call.local_target, call.event
    if not call.comes:
        return [rows.add(behind, "SEND", thread, comm, peer=peer, tag=_PUT, nbytes=call.goes)]
    return [
        rows.add(behind, "RECV", thread, comm, peer=peer, tag=_ANSWER),
        rows.add(behind, "SEND", thread, comm, peer=peer, tag=_REQUEST, nbytes=call.goes),
    ]


def _taken(rows: _Rows, call: _Call, fence: int, thread: int, comm: int) -> int:
    """What a call of another rank is here, from the fence on: what the next fence waits for."""
    peer = call.local_origin
    if not call.comes:
        return rows.add(fence, "RECV", thread, comm, peer=peer, tag=_PUT)
    receive = rows.add(fence, "RECV", thread, comm, peer=peer, tag=_REQUEST)
    answering = _ANSWERING + call.origin
    rows.add(fence, "COMPLETE", answering, comm, request=receive)
    return rows.add(fence, "SEND", answering, comm, peer=peer, tag=_ANSWER, nbytes=call.comes)


def _inserted(one: Any, rows: _Rows) -> Any:
    """The records with those that are put into them."""
    new = np.array(rows.rows, dtype=EVENT)
    behind = np.array(rows.behind, dtype=np.int64)
    order = np.argsort(np.concatenate([np.arange(len(one.events)), behind]), kind="stable")
    events = np.concatenate([one.events, new])[order]
    begins = np.concatenate([one.begins, np.zeros(len(new), dtype=np.int64)])[order]
    return replace(one, events=events, begins=begins)
