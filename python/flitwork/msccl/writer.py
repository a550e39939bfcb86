"""Steps of GPUs → MSCCL XML: thread blocks, the waits that data and order need, signals.

A GPU has a thread block for each (peer, direction, channel), and one for copies. Steps are added in an order in which
they can be carried out. What a step waits for follows from the chunks that it touches, and from what it is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from xml.sax.saxutils import quoteattr

from flitwork.msccl.limits import CHUNKS_OF_A_STEP, NAME, PEERS_OF_A_CHANNEL
from flitwork.msccl.program import KINDS

#: Buffer and number of a chunk.
Chunk = tuple[str, int]
#: A thread block: ``("send", peer)``, ``("recv", peer)`` or ``("copy", -1)``; a step: that and its place in it.
Block = tuple[str, int]
Ref = tuple[Block, int]
COPY: Block = ("copy", -1)


@dataclass
class _Line:
    kind: str
    source: Chunk
    target: Chunk
    chunks: int
    waits: list[Ref]
    signals: bool = False


@dataclass
class GpuSteps:
    """The steps of one GPU."""

    lines: dict[Block, list[_Line]] = field(default_factory=dict)
    scratch: int = 0
    _writer: dict[Chunk, Ref] = field(default_factory=dict)
    _readers: dict[Chunk, list[Ref]] = field(default_factory=dict)
    #: How far each thread block is known to be where another one is.
    _seen: dict[tuple[Block, Block], int] = field(default_factory=dict)

    def fresh(self, chunks: int) -> list[Chunk]:
        """Chunks of scratch that nothing has used."""
        self.scratch += chunks
        return [("s", place) for place in range(self.scratch - chunks, self.scratch)]

    def add(self, block: Block, kind: str, source: Chunk, target: Chunk, chunks: int, after: Iterable[Ref] = ()) -> Ref:
        """A step; it waits for ``after``, and for what has used its chunks."""
        mine = self.lines.setdefault(block, [])
        me = (block, len(mine))
        does = KINDS[kind]
        reads = [(source[0], source[1] + k) for k in range(chunks * does.reads)]
        writes = [(target[0], target[1] + k) for k in range(chunks * does.writes)]
        waits = [*after]
        for chunk in [*reads, *writes]:
            waits += [self._writer[chunk]] if chunk in self._writer else []
        for chunk in writes:
            waits += self._readers.pop(chunk, [])
            self._writer[chunk] = me
        for chunk in reads:
            if chunk not in writes:
                self._readers.setdefault(chunk, []).append(me)
        mine.append(_Line(kind, source, target, chunks, self._latest(block, waits), signals=kind == "re"))
        return me

    def _latest(self, block: Block, waits: Iterable[Ref]) -> list[Ref]:
        """What of the waits is needed: the last step of each other thread block, unless it was waited for already."""
        last: dict[Block, int] = {}
        for other, place in waits:
            if other != block and place > self._seen.get((block, other), -1):
                last[other] = max(place, last.get(other, -1))
        for other, place in last.items():
            self._seen[block, other] = place
            self.lines[other][place].signals = True
        return [*last.items()]

    def move(self, chunks: list[Chunk], to: list[Chunk], kind: str = "cpy", after: Iterable[Ref] = ()) -> list[Ref]:
        """Copies chunks within the GPU, or adds them up (``re``)."""
        made = []
        for start, end in runs(chunks, to):
            for at in range(start, end, CHUNKS_OF_A_STEP):
                made.append(self.add(COPY, kind, chunks[at], to[at], min(end - at, CHUNKS_OF_A_STEP), after))
        return made


def runs(*lists: list[Chunk]) -> list[tuple[int, int]]:
    """Where lists of chunks of the same length are contiguous, all of them: (start, end)."""
    length = len(lists[0]) if lists else 0
    breaks = [
        at for at in range(1, length)
        if any(one[at] != (one[at - 1][0], one[at - 1][1] + 1) for one in lists)
    ]  # fmt: skip
    return [*zip([0, *breaks], [*breaks, length], strict=True)] if length else []


def channel(source: int, to: int, gpus: int) -> int:
    """The channel of a connection: no GPU sends, or receives, too often over one of them."""
    return ((to - source) % gpus - 1) // PEERS_OF_A_CHANNEL


def xml(name: str, collective: str, chunks: tuple[int, int, int], gpus: list[GpuSteps], comment: str = "") -> str:
    """The file; ``chunks`` are those of the larger of input and output, of the input, of the output."""
    channels = 1 + (len(gpus) - 2) // PEERS_OF_A_CHANNEL if len(gpus) > 1 else 1
    attributes = {
        "name": name[:NAME],
        "proto": "Simple",
        "nchannels": channels,
        "nchunksperloop": chunks[0],
        "ngpus": len(gpus),
        "coll": collective,
        "inplace": 0,
        "outofplace": 1,
        "minBytes": 0,
        "maxBytes": 2**40,
    }
    lines = [f"<!-- {comment.replace('--', '- -')} -->"] if comment else []
    lines.append(f"<algo {_said(attributes)}>")
    for number, gpu in enumerate(gpus):
        sizes = {"id": number, "i_chunks": chunks[1], "o_chunks": chunks[2], "s_chunks": gpu.scratch}
        lines.append(f"  <gpu {_said(sizes)}>")
        lines += _blocks(number, gpu, len(gpus))
        lines.append("  </gpu>")
    return "\n".join([*lines, "</algo>", ""])


def _said(attributes: Mapping[str, object]) -> str:
    return " ".join(f"{key}={quoteattr(str(value))}" for key, value in attributes.items())


def _blocks(number: int, gpu: GpuSteps, gpus: int) -> list[str]:
    numbers = {block: at for at, block in enumerate(gpu.lines)}
    # Where each step stands behind the nops, one for each further wait, that come before it.
    places: dict[Block, list[int]] = {}
    for block, lines in gpu.lines.items():
        at, found = 0, []
        for line in lines:
            at += max(len(line.waits) - 1, 0)
            found.append(at)
            at += 1
        places[block] = found
    text = []
    for block, lines in gpu.lines.items():
        way, peer = block
        send, receive = (peer if way == one else -1 for one in ("send", "recv"))
        ends = (number, peer) if way == "send" else (peer, number)
        on = channel(*ends, gpus) if peer >= 0 else 0
        text.append(f'    <tb id="{numbers[block]}" send="{send}" recv="{receive}" chan="{on}">')
        for line, place in zip(lines, places[block], strict=True):
            waits = [(numbers[other], places[other][at]) for other, at in line.waits]
            extra = len(waits) - 1
            for k in range(extra):
                nop = _Line("nop", ("i", -1), ("o", -1), 0, [])
                text.append(_step(place - extra + k, nop, waits[k]))
            text.append(_step(place, line, waits[-1] if waits else (-1, -1)))
        text.append("    </tb>")
    return text


def _step(place: int, line: _Line, wait: tuple[int, int]) -> str:
    (srcbuf, srcoff), (dstbuf, dstoff) = line.source, line.target
    ends = f'srcbuf="{srcbuf}" srcoff="{srcoff}" dstbuf="{dstbuf}" dstoff="{dstoff}" cnt="{line.chunks}"'
    waits = f'depid="{wait[0]}" deps="{wait[1]}" hasdep="{int(line.signals)}"'
    return f'      <step s="{place}" type="{line.kind}" {ends} {waits}/>'
