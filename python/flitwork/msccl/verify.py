"""Where the data of a program ends: every chunk is followed, and what any timing could change is found.

A chunk is the set of what was added up in it: chunks of the input of GPUs. Two steps of a GPU that touch the
same chunk, one of which writes it, have to be in an order: by their thread block, by waits or by messages. Else what a
program does depends on who is faster, and nothing is proven of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from flitwork.base.errors import ConfigError
from flitwork.base.libraries import pd
from flitwork.msccl.order import Order
from flitwork.msccl.program import Program

#: What was added up, by number of the chunk in its input: the GPUs whose chunk is in it, and those whose chunk is in it
#: more than once, a bit each. None: nothing that means anything.
Value = tuple[tuple[int, int, int], ...] | None
#: Chunks of steps, and waits, that are followed: beyond that it would take minutes.
MOST_FOLLOWED = 5_000_000
#: A buffer and the place of a chunk in it.
_Chunk = tuple[str, int]


class MscclCheck:
    """What a program does with its data.

    ``complete``: whether every chunk ends where the collective wants it, however fast each GPU is; ``None`` for
    ``custom``, which promises nothing. ``problem`` says what is wrong first: a missing chunk, or steps in no order.
    """

    def __init__(self, program: Program, order: Order) -> None:
        modes = [mode for mode, said in ((False, program.out_of_place), (True, program.in_place)) if said] or [False]
        self._runs = [_Run(program, order, in_place) for in_place in modes]
        self.name, self.collective = program.name, program.collective
        said = (f"{'in place' if run.in_place else 'out of place'}: " if len(modes) > 1 else "" for run in self._runs)
        problems = [mode + run.problem for mode, run in zip(said, self._runs, strict=True) if run.problem]
        self.problem = problems[0] if problems else ""
        self.complete = None if self.collective == "custom" and not problems else not problems

    @property
    def table(self) -> pd.DataFrame:
        """A row for each chunk of the output of each GPU: what it holds, and what the collective wants there.

        Columns gpu, chunk, holds, wanted, in_place. ``2:5`` is chunk 5 of the input of GPU 2; what was added more than
        once stands there twice; empty: nothing that means anything, or nothing that is wanted.
        """
        rows = [(*row, run.in_place) for run in self._runs for row in run.rows()]
        return pd.DataFrame(rows, columns=["gpu", "chunk", "holds", "wanted", "in_place"])

    def __repr__(self) -> str:
        said = {True: "complete", False: "not complete", None: "no promise to check"}[self.complete]
        return f"<{self.name}, {self.collective}: {said}{': ' if self.problem else ''}{self.problem}>"


class _Run:
    """One execution, which stands for all of them if nothing in it is without an order."""

    def __init__(self, program: Program, order: Order, in_place: bool) -> None:
        self.program, self.order, self.in_place = program, order, in_place
        custom = program.collective == "custom"
        self.inputs = [gpu.chunks["i"] if custom else program.inputs for gpu in program.gpus]
        self.outputs = [gpu.chunks["o"] if custom else program.outputs for gpu in program.gpus]
        #: What was written; the rest is as it was given.
        self.held: list[dict[_Chunk, Value]] = [{} for _ in program.gpus]
        self.race = ""
        self._followed = 0
        self._rank = [0] * len(order.sequence)
        for number, node in enumerate(order.sequence):
            self._rank[node] = number
        self._execute()
        self._wanted = self._promise()
        self.problem = self.race or self._missing()

    def chunk(self, gpu: int, buffer: str, place: int) -> _Chunk:
        """Where a chunk really lies: in place, input and output share memory."""
        if not self.in_place or buffer == "s":
            return buffer, place
        if self.program.collective == "allgather":
            return ("o", gpu * self.program.inputs + place) if buffer == "i" else ("o", place)
        if self.program.collective == "reduce_scatter":
            return ("i", gpu * self.program.outputs + place) if buffer == "o" else ("i", place)
        return "i", place

    def _value(self, gpu: int, chunk: _Chunk) -> Value:
        """What a chunk holds now."""
        held = self.held[gpu]
        if chunk in held:
            return held[chunk]
        buffer, place = chunk
        if self.in_place and self.program.collective == "allgather":
            buffer, place = ("i" if buffer == "o" else "", place - gpu * self.program.inputs)
        return ((place, 1 << gpu, 0),) if buffer == "i" and 0 <= place < self.inputs[gpu] else None

    def _execute(self) -> None:
        order = self.order
        sent: dict[int, list[Value]] = {}
        last: dict[tuple[int, _Chunk], tuple[int, list[int]]] = {}
        for node in order.sequence:
            step, gpu = order.steps[node], order.places[node].gpu
            does = step.does
            self._count(step.chunks)
            sources = [self.chunk(gpu, step.source[0], step.source[1] + k) for k in range(step.chunks * does.reads)]
            targets = [self.chunk(gpu, step.target[0], step.target[1] + k) for k in range(step.chunks * does.writes)]
            reads = [*sources, *(targets if step.kind == "re" else ())]
            if not self.race:
                self._look(node, gpu, reads, targets, last)
            values: list[Value] = (
                sent.pop(order.sender[node]) if does.receives else [self._value(gpu, one) for one in sources]
            )
            if does.adds:
                others = [self._value(gpu, one) for one in (targets if step.kind == "re" else sources)]
                values = [_sum(one, other) for one, other in zip(values, others, strict=True)]
            self.held[gpu].update(zip(targets, values, strict=False))
            if does.sends:
                sent[node] = values

    def _count(self, more: int) -> None:
        """Counts what is followed, and ends what would take too long."""
        self._followed += more
        if self._followed > MOST_FOLLOWED:
            expected = f"a program with at most {MOST_FOLLOWED:,} chunks of steps and waits to follow"
            raise ConfigError("program", self.program.name, expected, "it can be simulated without verify()")

    def _look(
        self,
        node: int,
        gpu: int,
        reads: list[_Chunk],
        writes: list[_Chunk],
        last: dict[tuple[int, _Chunk], tuple[int, list[int]]],
    ) -> None:
        """Whether all that a step touches was left in order by those before it."""
        earlier: dict[int, _Chunk] = {}
        for chunk in reads:
            writer, readers = last.setdefault((gpu, chunk), (-1, []))
            earlier.setdefault(writer, chunk)
            readers.append(node)
        for chunk in writes:
            writer, readers = last.get((gpu, chunk), (-1, []))
            earlier.setdefault(writer, chunk)
            for reader in readers:
                earlier.setdefault(reader, chunk)
            last[gpu, chunk] = (node, [])
        earlier.pop(-1, None)
        earlier.pop(node, None)
        unordered = self._unordered(earlier, node)
        if unordered is not None:
            places, steps = self.order.places, self.order.steps
            buffer, number = earlier[unordered]
            one, other = (f"{places[end]} ({steps[end].kind})" for end in (unordered, node))
            self.race = f"{one} and {other} both use {buffer}[{number}] of gpu {gpu}, and nothing orders them"

    def _unordered(self, earlier: Mapping[int, _Chunk], node: int) -> int | None:
        """One of some earlier steps that may be carried out behind ``node``."""
        order = self.order
        places, here = order.places, order.places[node]
        open_ends = {
            one for one in earlier
            if places[one][:2] != here[:2] and one not in order.before[node]
        }  # fmt: skip
        if not open_ends:
            return None
        least = min(self._rank[one] for one in open_ends)
        seen, stack = {node}, [node]
        while stack and open_ends:
            found = stack.pop()
            self._count(1)
            waited = order.before[found]
            for one in waited if order.sender[found] < 0 else [*waited, order.sender[found]]:
                if one not in seen and self._rank[one] >= least:
                    seen.add(one)
                    open_ends.discard(one)
                    stack.append(one)
        return min(open_ends, default=None)

    def rows(self) -> Iterator[tuple[int, int, str, str]]:
        """GPU, chunk of its output, what it holds, what is wanted there."""
        for gpu, count in enumerate(self.outputs):
            for place in range(count):
                yield gpu, place, self._shown(self._result(gpu, place)), self._shown(self._wanted(gpu, place))

    def _result(self, gpu: int, place: int) -> Value:
        return self._value(gpu, self.chunk(gpu, "o", place))

    def _missing(self) -> str:
        """The first chunk that is not what the collective wants."""
        for gpu, count in enumerate(self.outputs):
            if self._wanted(gpu, 0) is None:
                continue
            for place in range(count):
                value, want = self._result(gpu, place), self._wanted(gpu, place)
                if want is not None and value != want:
                    holds = _shortened(self._shown(value)) or "nothing"
                    return f"chunk {place} of the output of gpu {gpu} is {holds}, not {_shortened(self._shown(want))}"
        return ""

    def _promise(self) -> Callable[[int, int], Value]:
        """What the collective wants in a chunk of the output of a GPU; ``None``: anything."""
        count, each = len(self.inputs), self.program.chunks // len(self.inputs)

        def of(gpu: int, place: int) -> Value:
            return ((place, 1 << gpu, 0),)

        def of_all(place: int) -> Value:
            return ((place, (1 << count) - 1, 0),)

        match self.program.collective:
            case "alltoall":
                return lambda gpu, place: of(place // each, gpu * each + place % each)
            case "allgather":
                return lambda gpu, place: of(place // each, place % each)
            case "allreduce":
                return lambda gpu, place: of_all(place)
            case "reduce_scatter":
                return lambda gpu, place: of_all(gpu * each + place)
            case "broadcast":
                # The file does not say the root; the one whose data most GPUs have is meant.
                have = Counter(value[0][1].bit_length() - 1 for gpu in range(count) if (value := self._result(gpu, 0)))
                root = have.most_common(1)[0][0] if have else 0
                return lambda gpu, place: of(root, place)
            case "reduce":
                roots = (gpu for gpu in range(count) if self._result(gpu, 0) == of_all(0))
                root = next(roots, 0)
                return lambda gpu, place: of_all(place) if gpu == root else None
        return lambda gpu, place: None

    @staticmethod
    def _shown(value: Value) -> str:
        if value is None:
            return ""
        once = sorted((gpu, place) for place, gpus, _ in value for gpu in _bits(gpus))
        twice = sorted((gpu, place) for place, _, gpus in value for gpu in _bits(gpus))
        return " ".join(f"{gpu}:{place}" for gpu, place in [*once, *twice])


def _sum(one: Value, other: Value) -> Value:
    """What is there when both are added; with nothing, nothing that means anything."""
    if one is None or other is None:
        return None
    if len(one) == len(other) == 1 and one[0][0] == other[0][0]:
        ((place, gpus, twice),), ((_, more, doubled),) = one, other
        return ((place, gpus | more, twice | doubled | (gpus & more)),)
    found = {place: (gpus, twice) for place, gpus, twice in one}
    for place, more, doubled in other:
        gpus, twice = found.get(place, (0, 0))
        found[place] = (gpus | more, twice | doubled | (gpus & more))
    return tuple((place, *both) for place, both in sorted(found.items()))


def _bits(number: int) -> Iterator[int]:
    while number:
        low = number & -number
        yield low.bit_length() - 1
        number ^= low


def _shortened(text: str, most: int = 60) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."
