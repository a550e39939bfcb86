"""The ring on one FIFO switch, slot by slot: how much it matters in whose turn an adapter sends.

A model apart from the simulator, for one question. In a slot the switch brings at most one packet from each input to
each output, round robin over the inputs, and each adapter puts one packet into the queue of its input if there is room.
Adapters take turns among their ranks ``by_number``, or it is the turn of the rank that has ``waited_longest``. A rank
goes on to its next step when all of its message has left and all of the one that it expects has come; messages within a
server take no time.
"""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass, field
from typing import Literal

Order = Literal["by_number", "waited_longest"]


@dataclass
class _Adapter:
    """A server's: ranks (places) that have packets to send, the last that sent, the queue of its input."""

    waiting: deque[int] = field(default_factory=deque)
    last: int = -1
    queue: deque[tuple[int, int]] = field(default_factory=deque)

    def turn(self, order: Order, ranks: int) -> int:
        """Whose turn it is."""
        if order == "waited_longest":
            return self.waiting.popleft()
        place = min(self.waiting, key=lambda place: (place - self.last - 1) % ranks)
        self.waiting.remove(place)
        self.last = place
        return place


class _Ranks:
    """What each rank still sends and expects."""

    def __init__(self, servers: int, ranks: int, packets: int, late: tuple[int, int], seed: int) -> None:
        self.each, self.all, self.packets, self.late = ranks, servers * ranks, packets, late
        self.step, self.left, self.starts = ([0] * self.all for _ in range(3))
        self.came: list[dict[int, int]] = [{} for _ in range(self.all)]
        self.draw = random.Random(seed)

    def goes_on(self, rank: int, now: int) -> bool:
        """Begins the next step that leaves the server, or is at the end."""
        while not self.left[rank] and not self._expects(rank):
            self.step[rank] += 1
            if self.step[rank] >= self.all:
                return False
            other = (rank + self.step[rank]) % self.all
            self.left[rank] = 0 if other // self.each == rank // self.each else self.packets
            overhead, jitter = self.late
            self.starts[rank] = now + overhead + (self.draw.randrange(jitter) if jitter else 0)
        return True

    def _expects(self, rank: int) -> bool:
        other = (rank - self.step[rank]) % self.all
        return other // self.each != rank // self.each and self.came[rank].get(other, 0) < self.packets


def ring_share(
    servers: int,
    ranks: int,
    packets: int,
    order: Order,
    *,
    jitter: int,
    overhead: int = 0,
    seed: int = 1,
    room: int = 16,
) -> float:
    """The share of its channel that a server uses in the ring, 0 to 1.

    Messages of ``packets`` packets begin ``overhead`` slots late and up to ``jitter - 1`` more, drawn by ``seed``. A
    queue has ``room``.
    """
    state, adapters = _Ranks(servers, ranks, packets, (overhead, jitter), seed), [_Adapter() for _ in range(servers)]
    turns, running, now = [0] * servers, set(range(servers * ranks)), 0
    running = {rank for rank in running if state.goes_on(rank, now)}
    idle = set(running)
    while running:
        for rank in sorted(rank for rank in idle if state.left[rank] and state.starts[rank] <= now):
            adapters[rank // ranks].waiting.append(rank % ranks)
            idle.discard(rank)
        moved = _switch(adapters, turns, ranks)
        for server, adapter in enumerate(adapters):
            if adapter.waiting and len(adapter.queue) < room:
                rank = server * ranks + adapter.turn(order, ranks)
                adapter.queue.append(((rank + state.step[rank]) % state.all, rank))
                state.left[rank] -= 1
                if state.left[rank]:
                    adapter.waiting.append(rank % ranks)
                else:
                    idle.add(rank)
        now += 1
        for to, sender in moved:
            state.came[to][sender] = state.came[to].get(sender, 0) + 1
        for rank in [rank for rank in idle if not state.left[rank]]:
            if not state.goes_on(rank, now):
                running.discard(rank)
                idle.discard(rank)
    return packets * (state.all - ranks) * ranks / now


def _switch(adapters: list[_Adapter], turns: list[int], ranks: int) -> list[tuple[int, int]]:
    """Takes what goes through the switch in a slot out of its queues."""
    wants: dict[int, list[int]] = {}
    for number, adapter in enumerate(adapters):
        if adapter.queue:
            wants.setdefault(adapter.queue[0][0] // ranks, []).append(number)
    moved = []
    for output, inputs in wants.items():
        chosen = min(inputs, key=lambda number: (number - turns[output]) % len(adapters))
        turns[output] = (chosen + 1) % len(adapters)
        moved.append(adapters[chosen].queue.popleft())
    return moved
