"""Messages that ask before they go: which packet is the request, which the answer, and what each waited for.

A send above ``host.eager_limit_flits`` lets go a request; the receiver answers when the receive is posted; then the
data goes (docs/model.md). All of these packets belong to the send, in this order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from flitwork.explain.records import Operations, Packets

Role = Literal["request", "answer", "data"]


@dataclass(frozen=True)
class Rendezvous:
    """For each packet of a rendezvous: its role, and the packet that came before it."""

    role: Mapping[int, Role] = field(default_factory=dict)
    #: Of an answer its request, of the first packet of data its answer.
    follows: Mapping[int, int] = field(default_factory=dict)

    @staticmethod
    def of(limit: int | None, by_operation: Mapping[int, Sequence[int]], packets: Packets) -> Rendezvous:
        """The messages of more than ``limit`` flits; ``by_operation`` has the packets of each send in order."""
        role: dict[int, Role] = {}
        follows: dict[int, int] = {}
        for sent in by_operation.values() if limit is not None else ():
            # Of a message that is sent at once all packets together are within the limit.
            if limit is None or sum(int(packets.flits[packet]) for packet in sent[2:]) <= limit:
                continue
            request, answer, first, *_ = sent
            role.update({request: "request", answer: "answer", **dict.fromkeys(sent[2:], "data")})
            follows.update({answer: request, first: answer})
        return Rendezvous(role, follows)

    def joined(self, packet: int, posted: int, packets: Packets) -> int:
        """The cycle in which an answer or the data joined the queue of its terminal.

        ``posted`` is when the receive was posted, for which an answer waits.
        """
        came = int(packets.arrived[self.follows[packet]])
        return max(came, posted) if self.role[packet] == "answer" else came

    def ends(self, packet: int, operation: int, operations: Operations) -> tuple[int, int]:
        """The ranks from and to which a packet goes: an answer goes back."""
        rank, peer = int(operations.rank[operation]), int(operations.peer[operation])
        return (peer, rank) if self.role.get(packet) == "answer" else (rank, peer)
