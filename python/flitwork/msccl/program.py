"""What an MSCCL file says, as values: GPUs, their thread blocks, and the steps of these.

A thread block carries out its steps one after the other; thread blocks run side by side. Numbers are those of the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

#: The buffers of a GPU: input, output, scratch.
BUFFERS = ("i", "o", "s")
PROTOCOLS = ("Simple", "LL", "LL128")
COLLECTIVES = ("allgather", "allreduce", "alltoall", "broadcast", "custom", "reduce", "reduce_scatter")


class Kind(NamedTuple):
    """What steps of a kind do: receive, send, read ``src``, write ``dst``, and add up what they have."""

    receives: bool = False
    sends: bool = False
    reads: bool = False
    writes: bool = False
    adds: bool = False


#: By the attribute ``type``. What is received and what is read are added; what is added, or else the only one of them,
#: is written and sent. ``re`` adds what it reads to what stands there.
KINDS = {
    "s": Kind(sends=True, reads=True),
    "r": Kind(receives=True, writes=True),
    "rcs": Kind(receives=True, writes=True, sends=True),
    "rrs": Kind(receives=True, reads=True, adds=True, sends=True),
    "rrc": Kind(receives=True, reads=True, adds=True, writes=True),
    "rrcs": Kind(receives=True, reads=True, adds=True, writes=True, sends=True),
    "cpy": Kind(reads=True, writes=True),
    "re": Kind(reads=True, writes=True, adds=True),
    "nop": Kind(),
}


class Step(NamedTuple):
    """A step of a thread block."""

    kind: str
    source: tuple[str, int]
    target: tuple[str, int]
    chunks: int
    #: Thread block and step of the same GPU that it waits for.
    waits_for: tuple[int, int] | None
    #: Whether it tells the other thread blocks that it is complete.
    signals: bool

    @property
    def does(self) -> Kind:
        """What steps of its kind do."""
        return KINDS[self.kind]


@dataclass(frozen=True)
class ThreadBlock:
    """A thread block: whom it sends to and receives from (-1: nobody), over which channel, and its steps."""

    send: int
    receive: int
    channel: int
    steps: tuple[Step, ...]

    @cached_property
    def signals(self) -> list[int]:
        """The steps that signal; a ``nop`` does not, whatever it says."""
        return [number for number, step in enumerate(self.steps) if step.signals and step.kind != "nop"]


@dataclass(frozen=True)
class Gpu:
    """A GPU: the chunks of each of its buffers, and its thread blocks in the order of their numbers."""

    chunks: dict[str, int]
    blocks: tuple[ThreadBlock, ...]


@dataclass(frozen=True)
class Program:
    """All of a file."""

    name: str
    collective: str
    protocol: str
    channels: int
    #: Chunks of the larger of input and output, ``nchunksperloop``.
    chunks: int
    in_place: bool
    out_of_place: bool
    least_bytes: int
    #: Sizes below it are for this file; ``None``: not said.
    most_bytes: int | None
    gpus: tuple[Gpu, ...]

    @property
    def inputs(self) -> int:
        """Chunks that each GPU gives; of a custom collective the GPUs say it themselves."""
        return self.chunks // len(self.gpus) if self.collective == "allgather" else self.chunks

    @property
    def outputs(self) -> int:
        """Chunks that each GPU ends with; of a custom collective the GPUs say it themselves."""
        return self.chunks // len(self.gpus) if self.collective == "reduce_scatter" else self.chunks


class Place(NamedTuple):
    """Where a step stands."""

    gpu: int
    block: int
    step: int

    def __str__(self) -> str:
        return f"gpu[{self.gpu}].tb[{self.block}].step[{self.step}]"
