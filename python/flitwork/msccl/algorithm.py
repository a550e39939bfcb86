"""``fw.Msccl``: an MSCCL program for a size, as a workload; ``fw.read_msccl`` reads it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from flitwork.base import input_files
from flitwork.base.arguments import whole
from flitwork.base.errors import ConfigError, in_file
from flitwork.base.formats import check_format
from flitwork.base.output_files import write_atomically
from flitwork.msccl.limits import over_limits
from flitwork.msccl.of_workload import made_of
from flitwork.msccl.order import Order, order_of
from flitwork.msccl.program import Program
from flitwork.msccl.reader import OTHER_ROOTS, read_program
from flitwork.msccl.verify import MscclCheck
from flitwork.networks.network import Network
from flitwork.planning.specification import Host, simulation
from flitwork.workloads.operations import MOST_AMOUNT, Operation, Receive, Send
from flitwork.workloads.schedule import Schedule
from flitwork.workloads.workload import Quantity, Spec, Workload

#: Bytes that reading takes at most for each byte of a file.
_PER_BYTE = 100


class Msccl(Workload):
    """An MSCCL program for data of one size, as a workload: a rank for each GPU. Read it with :func:`read_msccl`.

    ``message_bytes``, or ``message_flits``, is the size of the larger of input and output of a GPU, of which a chunk is
    ``1 / nchunksperloop``; it has to be a multiple of that number. Without a size a chunk is 1 flit.

    Dependencies are those of MSCCL: steps of a thread block one after the other, waits for signals, messages of a
    connection in their order. Thread blocks of a GPU are independent, so ``host.send_queue`` is ``as_ready`` unless
    the host says otherwise. Copies and reductions take no time.
    """

    #: Thread blocks do not hold up each other.
    host_defaults: ClassVar[Mapping[str, Any]] = {"send_queue": "as_ready"}

    def __init__(
        self,
        text: str | bytes,
        *,
        message_bytes: int | None = None,
        message_flits: int | None = None,
        name: str | None = None,
        packet_flits: int | None = None,
        packet_bytes: Quantity | None = None,
    ) -> None:
        data = text.encode() if isinstance(text, str) else text
        if not isinstance(data, bytes):
            raise ConfigError("text", repr(text), "MSCCL XML as text or bytes", "fw.read_msccl(path, ...) reads a file")
        program = read_program(data)
        order = order_of(program)
        unit, chunk = _chunk(program, message_bytes, message_flits)
        said = name or program.name or "msccl"
        made = _operations(program, order, unit, chunk)
        schedule = Schedule(made, name=said, packet_flits=packet_flits, packet_bytes=packet_bytes)
        parts = {"_text": data, "_program": program, "_order": order, "_chunk": (unit, chunk), "schedule": schedule}
        for field, value in {"spec": schedule.spec, **parts}.items():
            object.__setattr__(self, field, value)

    #: What its ranks do, as a plain schedule.
    schedule: Schedule

    _text: bytes
    _program: Program
    _order: Order
    _chunk: tuple[str, int]

    @classmethod
    def of(
        cls,
        network: Network,
        workload: Workload,
        *,
        host: Host | Mapping[str, Any] | None = None,
        name: str | None = None,
        limits: bool = True,
    ) -> Msccl:
        """A workload of flitwork as an MSCCL program: a collective, or an all-to-all of any kind.

        All-to-alls are those of ``fw.all_to_all``, a ``fw.Schedule`` or a ``fw.Timetable``. MSCCL has no clock: what
        remains are the messages, their order at each rank and what each waits for. Of the network only its size, its
        coordinates and the ports of its NICs count. With ``limits`` a program that MSCCL would refuse is an error.
        """
        return cls.of_specification(simulation(network, workload, {}, host=host), name=name, limits=limits)

    @classmethod
    def of_specification(cls, spec: Spec, *, name: str | None = None, limits: bool = True) -> Msccl:
        """The workload of a specification as an MSCCL program; the rest as :meth:`of`."""
        made = made_of(spec, name)
        lengths = {key: one for key, one in spec["workload"].items() if key in ("packet_flits", "packet_bytes") and one}
        size = {f"message_{made.unit}": made.size}
        found = cls(made.text, **size, **lengths)  # type: ignore[arg-type]
        if limits and found.over_limits:
            raise ConfigError(
                "workload", found.over_limits[0], "limits of MSCCL", "limits=False (--no-limits) writes it nevertheless"
            )
        return found

    @property
    def collective(self) -> str:
        """What it does: allgather, allreduce, alltoall, broadcast, custom, reduce or reduce_scatter."""
        return self._program.collective

    @property
    def name(self) -> str:
        """Its name in tables and messages."""
        return self.schedule.name

    @property
    def ranks(self) -> int:
        """Number of GPUs."""
        return self.schedule.ranks

    @property
    def chunks(self) -> int:
        """Chunks of the larger of input and output of a GPU, ``nchunksperloop``."""
        return self._program.chunks

    @property
    def chunk_bytes(self) -> int | None:
        """Length of a chunk [bytes]; ``None`` where lengths are in flits."""
        return self._chunk[1] if self._chunk[0] == "bytes" else None

    @property
    def thread_blocks(self) -> int:
        """The most thread blocks of a GPU."""
        return max(len(gpu.blocks) for gpu in self._program.gpus)

    @property
    def steps(self) -> int:
        """Steps of all thread blocks of all GPUs."""
        return len(self._order.steps)

    @property
    def messages(self) -> int:
        """Messages of all GPUs."""
        return sum(step.does.sends for step in self._order.steps)

    @property
    def text(self) -> str:
        """The file."""
        return self._text.decode("utf-8", "replace")

    @cached_property
    def over_limits(self) -> list[str]:
        """What MSCCL would refuse in it: limits of its arrays and rules of its reader. Empty: nothing."""
        return over_limits(self._program)

    def verify(self) -> MscclCheck:
        """Follows every chunk: whether each ends where the collective wants it, or the first that does not."""
        return MscclCheck(self._program, self._order)

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Writes the file as it was read or made; returns its path. A file that is there is replaced."""
        return write_atomically(Path(path), lambda file: file.write(self._text))

    def __repr__(self) -> str:
        blocks = f"{self.thread_blocks} thread blocks"
        return f"<MSCCL {self.name}: {self.collective} of {self.ranks} GPUs, {blocks}, {self.messages:,} messages>"


def read_msccl(
    path: str | os.PathLike[str],
    *,
    message_bytes: int | None = None,
    message_flits: int | None = None,
    packet_flits: int | None = None,
    packet_bytes: Quantity | None = None,
) -> Msccl:
    """Reads an MSCCL file for data of one size: the larger of input and output of a GPU. The rest as :class:`Msccl`.

    Raises :class:`flitwork.ConfigError` that names file, GPU, thread block and step of what is wrong: no XML, an
    unknown step, a wait for a step that is not there, steps that wait for each other, a send without a receive, chunks
    outside of a buffer.
    """
    file = Path(path)
    data = input_files.read_bytes(file, "file", "an MSCCL file", per_byte=_PER_BYTE)
    lengths: dict[str, Any] = {"packet_flits": packet_flits, "packet_bytes": packet_bytes}
    try:
        with in_file(file):
            return Msccl(data, message_bytes=message_bytes, message_flits=message_flits, **lengths)
    except ConfigError as error:
        if data.strip() and b"<algo" not in data and error.value not in OTHER_ROOTS:
            check_format(file, "file", "an MSCCL program", ("an MSCCL program",))
        raise


def _chunk(program: Program, message_bytes: int | None, message_flits: int | None) -> tuple[str, int]:
    """The length of a chunk, and its unit."""
    sizes = {"bytes": message_bytes, "flits": message_flits}
    said = {unit: size for unit, size in sizes.items() if size is not None}
    if len(said) > 1:
        raise ConfigError("message_bytes", "given beside message_flits", "one of the two", "leave one of them out")
    unit, given = next(iter(said.items()), ("flits", program.chunks))
    size = whole(f"message_{unit}", given, 1, MOST_AMOUNT)
    chunk, rest = divmod(size, program.chunks)
    if rest:
        near = f"{size - rest} or {size - rest + program.chunks}" if chunk else f"{program.chunks}"
        expected = f"a multiple of the {program.chunks} chunks (nchunksperloop)"
        raise ConfigError(f"message_{unit}", size, expected, f"for example {near}")
    return unit, chunk


def _operations(program: Program, order: Order, unit: str, chunk: int) -> list[list[Operation]]:
    """What each GPU sends and receives, and what of it waits for what."""
    made: list[list[Operation]] = [[] for _ in program.gpus]
    #: The operations of its GPU that are complete when a step is: the last one of each thread block that counts.
    complete: list[dict[int, int]] = [{} for _ in order.steps]
    for node in order.sequence:
        step, place, (to, source) = order.steps[node], order.places[node], order.peers[node]
        waited: dict[int, int] = {}
        for one in order.before[node]:
            for block, operation in complete[one].items():
                waited[block] = max(operation, waited.get(block, -1))
        mine, length, tag, depth = made[place.gpu], step.chunks * chunk, order.channels[node], order.depth[node]
        flits, size = (length, None) if unit == "flits" else (None, length)
        if step.does.receives:
            mine.append(Receive(source, flits, tag, [*waited.values()], bytes=size, step=depth))
            waited = {place.block: len(mine) - 1}
        if step.does.sends:
            mine.append(Send(to, flits, tag, [*waited.values()], bytes=size, step=depth))
            waited = {place.block: len(mine) - 1}
        complete[node] = waited
    return made
