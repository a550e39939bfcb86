"""Which receive of a recorded program took which message: by sender, communicator, tag and order, as MPI matches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flitwork_mpi.native.record_trace import FLAGS, KINDS, Trace

Numbers = NDArray[np.int64]


@dataclass
class Messages:
    """The messages between two ranks that were sent and received."""

    #: Of each rank, by record: the number of the message that it sends or receives; -1: none.
    of_event: list[Numbers]
    source: Numbers
    destination: Numbers
    nbytes: Numbers
    #: Sends without a receive, and receives without a send.
    unreceived: int
    unsent: int


def matched(trace: Trace) -> Messages:
    """Matches sends and receives. What has no partner, as the program ended early or left it, is counted."""
    sends = _gathered(trace, KINDS["SEND"])
    recvs = _gathered(trace, KINDS["RECV"])
    rows = np.concatenate([sends, recvs], axis=1)
    is_recv = np.arange(rows.shape[1]) >= sends.shape[1]
    source, destination, comm, tag, rank, event, nbytes = rows
    # The n-th send and the n-th receive of one kind belong together.
    by_kind = np.lexsort((event, is_recv, tag, comm, destination, source))
    kind = rows[:4, by_kind]
    first = np.ones(len(by_kind), dtype=bool)
    first[1:] = (kind[:, 1:] != kind[:, :-1]).any(axis=0)
    group = np.cumsum(first)
    nth = _within(group * 2 + is_recv[by_kind])
    by_pair = np.lexsort((is_recv[by_kind], nth, group))
    pair_of = np.stack([group[by_pair], nth[by_pair]])
    meet = np.flatnonzero((pair_of[:, 1:] == pair_of[:, :-1]).all(axis=0))
    order = by_kind[by_pair]
    sent, received = order[meet], order[meet + 1]
    of_event = [np.full(len(one.events), -1, dtype=np.int64) for one in trace.ranks]
    for which in (sent, received):
        for one in range(len(of_event)):
            here = rank[which] == one
            of_event[one][event[which[here]]] = np.flatnonzero(here)
    return Messages(
        of_event,
        source[sent],
        destination[sent],
        nbytes[sent],
        sends.shape[1] - len(meet),
        recvs.shape[1] - len(meet),
    )


def _within(groups: Numbers) -> Numbers:
    """The place of each element among those of its group, which stand together."""
    at = np.arange(len(groups))
    first = np.ones(len(groups), dtype=bool)
    first[1:] = groups[1:] != groups[:-1]
    return at - np.maximum.accumulate(np.where(first, at, 0)) if len(groups) else at


def _gathered(trace: Trace, kind: int) -> Numbers:
    """Rows of all sends or receives: source, destination, communicator, tag, rank, record, bytes."""
    parts = [np.empty((7, 0), dtype=np.int64)]
    for rank in range(len(trace.ranks)):
        events = trace.ranks[rank].events
        at = np.flatnonzero(events["what"] == kind)
        if not len(at):
            continue
        peer, tag, known = _resolved(events, at)
        at, peer, tag = at[known], peer[known], tag[known]
        comm = events["comm"][at].astype(np.int64)
        world = np.full(len(at), -1, dtype=np.int64)
        for number in np.unique(comm):
            here = comm == number
            world[here] = trace.peers_of[rank][number][peer[here]]
        here = np.full(len(at), rank, dtype=np.int64)
        source, destination = (here, world) if kind == KINDS["SEND"] else (world, here)
        rows = np.stack(
            [source, destination, trace.comm_of[rank][comm], tag, here, at, events["bytes"][at].astype(np.int64)]
        )
        parts.append(rows[:, world >= 0])
    return np.concatenate(parts, axis=1)


def _resolved(events: NDArray[np.void], at: Numbers) -> tuple[Numbers, Numbers, NDArray[np.bool_]]:
    """Peers and tags, of wildcards those that their completion says; which of the operations took place."""
    peer, tag = events["peer"][at].astype(np.int64), events["tag"][at].astype(np.int64)
    known = (events["flags"][at] & FLAGS["ANY_PEER"]) == 0
    done = np.flatnonzero((events["what"] == KINDS["COMPLETE"]) & (events["flags"] != 0))
    if len(done):
        started = (events["flags"][at] & FLAGS["STARTED"]) != 0
        highest = max(int(events["request"][which].max(initial=0)) for which in (done, at[started]))
        place = np.full(highest + 1, -1, dtype=np.int64)
        place[events["request"][at[started]]] = np.flatnonzero(started)
        where = place[events["request"][done]]
        done, where = done[where >= 0], where[where >= 0]
        cancelled = (events["flags"][done] & FLAGS["CANCELLED"]) != 0
        known[where] = ~cancelled
        peer[where[~cancelled]] = events["peer"][done[~cancelled]]
        tag[where[~cancelled]] = events["tag"][done[~cancelled]]
    return peer, tag, known
