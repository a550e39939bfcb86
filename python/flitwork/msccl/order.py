"""Which step of a program waits for which, as MSCCL carries it out; a program in which steps wait for ever is refused.

* A step begins when the step before it in its thread block is complete.
* A step with ``depid`` and ``deps`` also waits until that thread block signals. It does so behind each step with
  ``hasdep = 1``, and says how far it is: so the wait ends with the first such step from ``deps`` on.
* A step that receives waits for the step that sends: what is sent from one GPU to another over one channel is received
  in the order in which it was sent. A send waits for no receive.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from dataclasses import dataclass
from itertools import zip_longest

from flitwork.base.errors import ConfigError
from flitwork.msccl.program import Place, Program, Step

_MOST_NAMED = 10


@dataclass(frozen=True)
class Order:
    """The steps of a program, numbered from 0: first those of GPU 0, of its thread block 0."""

    places: list[Place]
    steps: list[Step]
    #: The steps of the same GPU that each waits for.
    before: list[list[int]]
    #: The step that sends what each receives, or -1.
    sender: list[int]
    #: The other end of each connection, for each step: the GPUs that it sends to and receives from.
    peers: list[tuple[int, int]]
    channels: list[int]
    #: All steps; each stands behind those that it waits for.
    sequence: list[int]
    #: How many messages one after the other come before each step.
    depth: list[int]


def order_of(program: Program) -> Order:
    """The order of a program; one that cannot end is a :class:`flitwork.ConfigError`."""
    places: list[Place] = []
    steps: list[Step] = []
    peers: list[tuple[int, int]] = []
    channels: list[int] = []
    first: dict[tuple[int, int], int] = {}
    for gpu, found in enumerate(program.gpus):
        for number, block in enumerate(found.blocks):
            first[gpu, number] = len(steps)
            places += [Place(gpu, number, step) for step in range(len(block.steps))]
            peers += [(block.send, block.receive)] * len(block.steps)
            channels += [block.channel] * len(block.steps)
            steps += block.steps
    before: list[list[int]] = []
    for node, place in enumerate(places):
        waits = [] if place.step == 0 else [node - 1]
        if (waited := _signal(program, place, steps[node].waits_for)) is not None:
            waits.append(first[place.gpu, waited[0]] + waited[1])
        before.append(waits)
    sender = _matched(places, steps, peers, channels)
    sequence = _sequence(places, steps, before, sender)
    depth = [0] * len(steps)
    for node in sequence:
        behind = [depth[one] + steps[one].does.sends for one in before[node]]
        depth[node] = max([*behind, *([depth[sender[node]] + 1] if sender[node] >= 0 else [])], default=0)
    return Order(places, steps, before, sender, peers, channels, sequence, depth)


def _signal(program: Program, place: Place, waits_for: tuple[int, int] | None) -> tuple[int, int] | None:
    """The thread block and the step whose signal ends a wait."""
    if waits_for is None:
        return None
    number, step = waits_for
    blocks = program.gpus[place.gpu].blocks
    if number >= len(blocks):
        expected = f"a thread block of gpu {place.gpu}, 0 to {len(blocks) - 1}"
        raise ConfigError(f"{place}.depid", number, expected, "or -1 to wait for none")
    block = blocks[number]
    if not 0 <= step < len(block.steps):
        last = len(block.steps) - 1
        there = (
            f"a step of tb {number}, 0 to {last}" if block.steps else f"a thread block with steps: tb {number} has none"
        )
        raise ConfigError(f"{place}.deps", step, there, "or depid = -1 to wait for none")
    later = bisect_left(block.signals, step)
    if later < len(block.signals):
        return number, block.signals[later]
    hint = f"set hasdep = 1 at {place._replace(block=number, step=step)}, unless it is a nop, which signals nothing"
    raise ConfigError(f"{place}.deps", step, f"a step of tb {number} with hasdep = 1, there or behind it", hint)


def _matched(places: list[Place], steps: list[Step], peers: list[tuple[int, int]], channels: list[int]) -> list[int]:
    """The step that sends what each step receives, or -1."""
    sends: dict[tuple[int, int, int], list[int]] = {}
    receives: dict[tuple[int, int, int], list[int]] = {}
    for node, step in enumerate(steps):
        gpu, (to, source), channel = places[node].gpu, peers[node], channels[node]
        if step.does.sends:
            sends.setdefault((gpu, to, channel), []).append(node)
        if step.does.receives:
            receives.setdefault((source, gpu, channel), []).append(node)
    sender = [-1] * len(steps)
    for connection in sorted({*sends, *receives}):
        source, to, channel = connection
        sent, taken = sends.get(connection, []), receives.get(connection, [])
        for number, (one, other) in enumerate(zip_longest(sent, taken)):
            if one is None or other is None:
                node = other if one is None else one
                word, end, where = ("receive", "send", source) if one is None else ("send", "receive", to)
                expected = f"a {end} for each {word} from gpu {source} to gpu {to} on channel {channel}"
                hint = f"sent {len(sent)} times, received {len(taken)} times: gpu {where} lacks a {end}"
                raise ConfigError(f"{places[node]}.type", f"{steps[node].kind}, {word} {number}", expected, hint)
            if steps[one].chunks != steps[other].chunks:
                expected = f"{steps[one].chunks}, as {places[one]} sends"
                hint = (
                    f"message {number} from gpu {source} to gpu {to} on channel {channel}: both ends need the same cnt"
                )
                raise ConfigError(f"{places[other]}.cnt", steps[other].chunks, expected, hint)
            sender[other] = one
    return sender


def _sequence(places: list[Place], steps: list[Step], before: list[list[int]], sender: list[int]) -> list[int]:
    """An order of all steps in which each stands behind those that it waits for; those that could begin first."""
    waits = [before[node] if sender[node] < 0 else [*before[node], sender[node]] for node in range(len(steps))]
    behind: list[list[int]] = [[] for _ in steps]
    left = [len(one) for one in waits]
    for node, found in enumerate(waits):
        for one in found:
            behind[one].append(node)
    ready = deque(node for node, count in enumerate(left) if not count)
    sequence = []
    while ready:
        node = ready.popleft()
        sequence.append(node)
        for one in behind[node]:
            left[one] -= 1
            if not left[one]:
                ready.append(one)
    if len(sequence) < len(steps):
        raise _deadlock(places, steps, waits, left)
    return sequence


def _deadlock(places: list[Place], steps: list[Step], waits: list[list[int]], left: list[int]) -> ConfigError:
    """Steps that wait for each other, in a circle."""
    node = next(node for node, count in enumerate(left) if count)
    seen: dict[int, int] = {}
    path: list[int] = []
    while node not in seen:
        seen[node] = len(path)
        path.append(node)
        node = next(one for one in waits[node] if left[one])
    circle = path[seen[node] :]
    named = [f"{places[one]} ({steps[one].kind})" for one in [*circle, circle[0]]]
    if len(named) > _MOST_NAMED:
        named = [*named[: _MOST_NAMED - 2], f"... {len(named) - _MOST_NAMED + 1} more ...", named[-1]]
    hint = f"each of these waits for the next: {', '.join(named)}"
    return ConfigError(str(places[circle[0]]), "a wait without end", "steps that do not wait for each other", hint)
