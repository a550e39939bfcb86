"""A small interpreter of MSCCL XML, written from the format's definition: it shares nothing with the reader in test.

Thread blocks are carried out a step at a time, by chance; a chunk is a sorted tuple of what was added up in it.
"""

from __future__ import annotations

import random
import xml.etree.ElementTree as ET
from collections import Counter, deque
from typing import Any

Chunk = tuple[tuple[int, int], ...] | None


class Stuck(Exception):
    """Some thread blocks wait for ever."""


class Machine:
    """The GPUs of a program, in place or not."""

    def __init__(self, text: str, in_place: bool) -> None:
        self.algo = ET.fromstring(text)
        self.in_place, self.coll = in_place, self.algo.get("coll")
        self.gpus = {int(gpu.get("id", "")): gpu for gpu in self.algo}
        self.loop, self.count = int(self.algo.get("nchunksperloop", "")), len(self.gpus)
        self.memory: dict[tuple[int, str, int], Chunk] = {}
        for number, gpu in self.gpus.items():
            given = {"allgather": self.loop // self.count, "custom": int(gpu.get("i_chunks", ""))}
            for k in range(given.get(str(self.coll), self.loop)):
                self.memory[self._cell(number, "i", k)] = ((number, k),)
        self.blocks = {(g, int(tb.get("id", ""))): tb for g, gpu in self.gpus.items() for tb in gpu}
        self.at = dict.fromkeys(self.blocks, 0)
        self.flag = dict.fromkeys(self.blocks, -1)
        self.fifo: dict[tuple[int, int, int], deque[list[Chunk]]] = {}
        self.sent: list[tuple[int, int, int, int]] = []

    def _cell(self, gpu: int, buffer: str, k: int) -> tuple[int, str, int]:
        if self.in_place and buffer != "s":
            if self.coll == "allgather":
                return (gpu, "x", k + (gpu * self.loop // self.count if buffer == "i" else 0))
            if self.coll == "reduce_scatter":
                return (gpu, "x", k + (gpu * self.loop // self.count if buffer == "o" else 0))
            return (gpu, "x", k)
        return (gpu, buffer, k)

    def run(self, draw: random.Random) -> None:
        """Carries out everything, the next thread block drawn each time."""
        left = {key for key in self.blocks if len(self.blocks[key])}
        while left:
            able = [key for key in sorted(left) if self._able(key)]
            if not able:
                raise Stuck(sorted(left))
            key = draw.choice(able)
            self._do(key)
            if self.at[key] == len(self.blocks[key]):
                left.remove(key)

    def _step(self, key: tuple[int, int]) -> dict[str, Any]:
        step = self.blocks[key][self.at[key]]
        return {name: value if not value.lstrip("-").isdigit() else int(value) for name, value in step.items()}

    def _able(self, key: tuple[int, int]) -> bool:
        step = self._step(key)
        if step["depid"] >= 0 and self.flag[key[0], step["depid"]] < step["deps"]:
            return False
        if step["type"] in ("r", "rcs", "rrs", "rrc", "rrcs"):
            tb = self.blocks[key]
            return bool(self.fifo.get((int(tb.get("recv", "")), key[0], int(tb.get("chan", "")))))
        return True

    def _do(self, key: tuple[int, int]) -> None:
        step, tb, gpu = self._step(key), self.blocks[key], key[0]
        kind, chan = step["type"], int(tb.get("chan", ""))
        src = [self._cell(gpu, step["srcbuf"], step["srcoff"] + k) for k in range(step["cnt"])]
        dst = [self._cell(gpu, step["dstbuf"], step["dstoff"] + k) for k in range(step["cnt"])]
        data: list[Chunk] = []
        if kind[0] == "r" and kind != "re":
            data = self.fifo[int(tb.get("recv", "")), gpu, chan].popleft()
        if kind in ("s", "cpy"):
            data = [self.memory.get(cell) for cell in src]
        if kind in ("rrs", "rrc", "rrcs"):
            data = [added(one, self.memory.get(cell)) for one, cell in zip(data, src, strict=True)]
        if kind == "re":
            data = [added(self.memory.get(a), self.memory.get(b)) for a, b in zip(src, dst, strict=True)]
        if kind in ("r", "rcs", "rrc", "rrcs", "cpy", "re"):
            self.memory.update(zip(dst, data, strict=True))
        if kind in ("s", "rcs", "rrs", "rrcs"):
            to = int(tb.get("send", ""))
            self.fifo.setdefault((gpu, to, chan), deque()).append(data)
            self.sent.append((gpu, to, chan, step["cnt"]))
        if step["hasdep"] == 1 and kind != "nop":
            self.flag[key] = self.at[key]
        self.at[key] += 1

    def output(self) -> dict[tuple[int, int], Chunk]:
        """What each GPU ends with."""
        size = {"reduce_scatter": self.loop // self.count}.get(str(self.coll), self.loop)
        sizes = {g: int(gpu.get("o_chunks", "")) if self.coll == "custom" else size for g, gpu in self.gpus.items()}
        return {(g, k): self.memory.get(self._cell(g, "o", k)) for g, size in sizes.items() for k in range(size)}

    def done(self) -> bool:
        """Whether the promise of the collective is kept and nothing is left under way."""
        return not any(self.fifo.values()) and all(
            want is None or self.output()[cell] == want for cell, want in self.wanted().items()
        )

    def wanted(self) -> dict[tuple[int, int], Chunk]:
        """What the collective promises."""
        each, gpus = self.loop // self.count, range(self.count)
        promises = {
            "alltoall": lambda g, k: ((k // each, g * each + k % each),),
            "allgather": lambda g, k: ((k // each, k % each),),
            "allreduce": lambda g, k: tuple((r, k) for r in gpus),
            "reduce_scatter": lambda g, k: tuple((r, g * each + k) for r in gpus),
        }
        promise = promises.get(str(self.coll), lambda g, k: None)
        return {cell: promise(*cell) for cell in self.output()}


def added(one: Chunk, other: Chunk) -> Chunk:
    """The sum of two chunks."""
    return None if one is None or other is None else tuple(sorted([*one, *other]))


def shown(chunk: Chunk) -> str:
    """As ``MscclCheck.table`` has it: what is there more than once stands there twice."""
    if chunk is None:
        return ""
    counts = Counter(chunk)
    twice = sorted(one for one, count in counts.items() if count > 1)
    return " ".join(f"{gpu}:{k}" for gpu, k in [*sorted(counts), *twice])
