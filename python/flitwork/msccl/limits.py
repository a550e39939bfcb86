"""What MSCCL itself would refuse: the lengths of its arrays (``msccl.h`` and ``devcomm.h`` of microsoft/msccl 0.7)."""

from __future__ import annotations

from flitwork.msccl.program import Gpu, Program

CHANNELS = 32
THREAD_BLOCKS = 216
STEPS = 256
#: Sends, and receives, of a GPU over one channel.
PEERS_OF_A_CHANNEL = 32
#: Chunks of a step.
CHUNKS_OF_A_STEP = 71
#: Offsets are signed numbers of 16 bits.
CHUNKS = 32_767
NAME = 63


def over_limits(program: Program) -> list[str]:
    """What of a program is beyond the limits; one line for each limit and GPU."""
    found = []
    if program.channels > CHANNELS:
        found.append(f"nchannels = {program.channels}: at most {CHANNELS}")
    if not program.in_place and not program.out_of_place:
        found.append("inplace = 0 and outofplace = 0: it is never used")
    if program.most_bytes is not None and program.least_bytes > program.most_bytes:
        found.append(f"minBytes = {program.least_bytes}: at most maxBytes = {program.most_bytes}")
    for number, gpu in enumerate(program.gpus):
        found += [f"gpu[{number}]{line}" for line in _of_gpu(gpu, program)]
    return found


def _of_gpu(gpu: Gpu, program: Program) -> list[str]:
    found = []
    if len(gpu.blocks) > THREAD_BLOCKS:
        found.append(f": {len(gpu.blocks)} thread blocks, at most {THREAD_BLOCKS}")
    for buffer, chunks in gpu.chunks.items():
        if chunks > CHUNKS:
            found.append(f".{buffer}_chunks = {chunks}: at most {CHUNKS:,}")
        if program.collective == "custom" and buffer != "s" and chunks not in (0, program.chunks):
            found.append(f".{buffer}_chunks = {chunks}: nchunksperloop = {program.chunks}, or 0")
    for word, peers in (("send", [one.send for one in gpu.blocks]), ("receive", [one.receive for one in gpu.blocks])):
        on: dict[int, int] = {}
        for block, peer in zip(gpu.blocks, peers, strict=True):
            on[block.channel] = on.get(block.channel, 0) + (peer >= 0)
        for channel, count in on.items():
            if count > PEERS_OF_A_CHANNEL:
                found.append(f": {count} thread blocks {word} on channel {channel}, at most {PEERS_OF_A_CHANNEL}")
                break
    for number, block in enumerate(gpu.blocks):
        if len(block.steps) > STEPS:
            found.append(f".tb[{number}]: {len(block.steps)} steps, at most {STEPS}")
        if block.channel < 0:
            found.append(f".tb[{number}].chan = {block.channel}: at least 0")
        for at, step in enumerate(block.steps):
            if step.chunks > CHUNKS_OF_A_STEP:
                found.append(f".tb[{number}].step[{at}].cnt = {step.chunks}: at most {CHUNKS_OF_A_STEP}")
            if at and block.steps[at - 1].kind == "nop" and step.kind != "nop" and step.waits_for is None:
                found.append(f".tb[{number}].step[{at}].depid = -1: behind a nop a step has to wait itself")
    return found
