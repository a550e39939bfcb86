"""Tables of steps: an all-to-all as a text that the MPI library runs as the algorithm ``table:FILE``.

A line says what a rank does in a step: to whom it sends which blocks, from whom it receives which, and whether it then
waits for all that it has posted. A message stands in the same step at both of its ends, so steps that are carried out
in their order never block each other, wherever ranks wait.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO

from flitwork import _core
from flitwork.base.arguments import whole
from flitwork.base.errors import ConfigError, did_you_mean
from flitwork.base.output_files import write_atomically
from flitwork.networks.faults import working_topology
from flitwork.networks.network import Network, check_network
from flitwork.planning.specification import plan_of, simulation
from flitwork.running.goal import Goal
from flitwork.workloads.schedule import Schedule
from flitwork.workloads.timetable import Timetable

from flitwork_mpi.programs.exchange import aligned

_HEAD = "flitwork-mpi-steps 1"
_COLUMNS = "# rank step to from waits send-blocks receive-blocks"
_MOST_RANKS = 4096

#: A block: from which rank, and to which.
Block = tuple[int, int]


@dataclass(frozen=True)
class Line:
    """What a rank does in a step; nobody to send to, or to receive from, is ``None``."""

    rank: int
    step: int
    to: int | None
    source: int | None
    waits: bool
    sent: Sequence[Block] = ()
    received: Sequence[Block] = ()

    def __str__(self) -> str:
        peers = ("-" if peer is None else str(peer) for peer in (self.to, self.source))
        blocks = (",".join(f"{a}:{b}" for a, b in some) or "-" for some in (self.sent, self.received))
        return " ".join([str(self.rank), str(self.step), *peers, str(int(self.waits)), *blocks])


class StepTable:
    """An all-to-all as a table of steps; :func:`step_table` makes one."""

    def __init__(self, name: str, ranks: int, steps: int, line: Callable[[int, int], Line]) -> None:
        self.name, self.ranks, self.steps = name, ranks, steps
        self._line = line

    def __iter__(self) -> Iterator[Line]:
        """The lines, by rank and step. They are made when they are read, as often as they are."""
        return (self._line(rank, step) for rank in range(self.ranks) for step in range(self.steps))

    def write(self, file: BinaryIO) -> None:
        """Writes it line by line."""
        head = (_HEAD, f"ranks {self.ranks}", f"# {self.name}, flitwork {_core.__version__}", _COLUMNS)
        file.writelines(f"{line}\n".encode() for line in (*head, *self))

    def save(self, path: str | Path) -> Path:
        """Writes it to a file; one that is there is replaced.

        Raises :class:`flitwork.ConfigError` where that cannot be.
        """
        return write_atomically(Path(path), self.write)

    def __repr__(self) -> str:
        return f"<table of steps {self.name}: {self.ranks} ranks, {self.steps} steps>"


def step_table(
    what: str | Schedule | Timetable | Goal,
    *,
    ranks: int | None = None,
    servers: Sequence[int] | None = None,
    server_of: Sequence[int] | None = None,
    network: Network | None = None,
    radix: int | None = None,
    leaders: int | None = None,
    descending: bool = False,
) -> StepTable:
    """An all-to-all as a table of steps for the MPI library.

    ``what`` is the name of an algorithm (``flitwork list collectives``, ``flitwork list algorithms``), or a schedule or
    a GOAL program in which each rank sends exactly one message to each other, or a timetable: of that the order remains
    (:meth:`flitwork.Timetable.schedule`), rank r of the program at terminal r of its network.

    An algorithm needs to know the number of ``ranks``; or how many ranks each server has, in ``servers``, where they
    are numbered server by server; or the server of each rank, in ``server_of``; or a ``network`` with one rank at each
    router of a grid. ``radix``, ``leaders`` and ``descending`` are options of some. Of a schedule who sends to whom in
    which order counts, and what a rank waits for; lengths and computations do not.

    >>> fw.mpi.step_table("two_level_ring", servers=[4, 4]).save("ring.steps")

    Raises :class:`flitwork.ConfigError` for an algorithm that is not defined there, and for a schedule that is no
    all-to-all: it names the pair of ranks that has no message, or several.
    """
    if isinstance(what, str):
        made = partial(_core.CollectiveSteps, required=True, radix=radix, leaders=leaders, descending=descending)
        return _of_algorithm(what, ranks, _servers(servers, server_of), network, made)
    settings = {"ranks": ranks, "servers": servers, "server_of": server_of, "network": network}
    settings |= {"radix": radix, "leaders": leaders, "descending": descending or None}
    for name, value in settings.items():
        if value is not None:
            raise ConfigError(name, value, "nothing beside a schedule, which says it itself", "leave it out")
    if isinstance(what, Timetable):
        what = what.schedule()
    if isinstance(what, Goal):
        table, name = what._core.schedule(), what.name
    elif isinstance(what, Schedule):
        table, name = what.spec["schedule"], what.name
    else:
        raise ConfigError("what", repr(what), "the name of an algorithm, a fw.Schedule, a fw.Timetable or a fw.Goal")
    return _of_messages(name, table)


def _of_algorithm(
    name: str,
    ranks: int | None,
    server_of: list[int] | None,
    network: Network | None,
    make: Callable[..., _core.CollectiveSteps],
) -> StepTable:
    names = [known for known, _ in _core.all_to_alls()]
    if name not in names:
        raise ConfigError("algorithm", name, f"one of {', '.join(names)}", did_you_mean(name, names))
    if network is not None:
        check_network(network)
    topology = None if network is None else json.dumps(working_topology(network.spec))
    found = {
        "ranks": ranks,
        "servers": None if server_of is None else len(server_of),
        "network": None if network is None else _terminals(network),
    }
    counts = {name: count for name, count in found.items() if count is not None}
    if not counts:
        raise ConfigError("ranks", "nothing", "a number of ranks", "or servers, or a network")
    if len(set(counts.values())) > 1:
        said = ", ".join(f"{count} by {name}" for name, count in counts.items())
        raise ConfigError("ranks", said, "one number of ranks", "servers and network say it, too")
    count = whole("ranks", next(iter(counts.values())), 2, _MOST_RANKS)
    made = make("all_to_all", name, count, topology=topology, terminals=server_of)

    def blocks(numbers: Sequence[int] | None) -> list[Block]:
        return [divmod(number, count) for number in numbers or ()]

    def line(rank: int, step: int) -> Line:
        to, sent, source, came, _, waits = made.step(rank, step)
        return Line(rank, step, to, source, waits, blocks(sent), blocks(came))

    return StepTable(name, count, made.steps, line)


def _servers(sizes: Sequence[int] | None, server_of: Sequence[int] | None) -> list[int] | None:
    """The server of each rank."""
    if server_of is not None:
        if sizes is not None:
            raise ConfigError("server_of", "given beside servers", "one of the two", "servers follows from it")
        return [whole(f"server_of[{rank}]", server, 0, 2**32 - 1) for rank, server in enumerate(server_of)]
    if sizes is None:
        return None
    counts = [whole(f"servers[{server}]", size, 1, _MOST_RANKS) for server, size in enumerate(sizes)]
    return [server for server, size in enumerate(counts) for _ in range(size)]


def _terminals(network: Network) -> int:
    described = plan_of(simulation(network, Schedule([[]]), {})).contents()["described"]
    return int(described["terminals"])


def _of_messages(name: str, table: _core.Table) -> StepTable:
    ranks, messages, waits = aligned(table, _MOST_RANKS)
    steps = 1 + max(step for _, _, step in messages)
    sent: dict[Block, int] = {}
    came: dict[Block, int] = {}
    for source, to, step in messages:
        sent[source, step], came[to, step] = to, source

    def line(rank: int, step: int) -> Line:
        to, source = sent.get((rank, step)), came.get((rank, step))
        ends = step == steps - 1 or (rank, step) in waits
        sends = [] if to is None else [(rank, to)]
        return Line(rank, step, to, source, ends, sends, [] if source is None else [(source, rank)])

    return StepTable(name, ranks, steps, line)
