"""The records of a run as arrays: operations of ranks, packets, and what packets waited for."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from flitwork import _core
from flitwork.base.errors import ConfigError, ScheduleError
from flitwork.base.libraries import np
from flitwork.explain.names import CAUSE_OF_NUMBER, CAUSES
from flitwork.planning.specification import plan_of, with_tables
from flitwork.results.result import NEVER, Progress, Result, run_plan

if TYPE_CHECKING:
    from numpy.typing import NDArray

Ints: TypeAlias = "NDArray[np.int64]"
#: Numbers of the kinds of operations, by name.
KIND = {name: number for number, name in enumerate(_core.operation_kinds())}
#: Numbers of causes, by name.
CAUSE = {name: number for number, name in enumerate(CAUSES)}
#: What had not happened by the end, in arrays of records.
NOT_YET = -1
_KEYS = "[run.record] waits = true, operations = true"
_IN_PYTHON = "fw.Run(record=fw.Record(waits=True, operations=True))"


def with_records(result: Result, progress: Progress | None = None) -> Result:
    """``result`` with all records, if it has them; else that of the same simulation again, with recording.

    Nothing is recorded unless a run says so, and the same plan gives the same cycles: so what is missing is found by
    simulating once more. Raises :class:`flitwork.ConfigError` where that cannot be done.
    """
    if result.status == "interrupted":
        raise ConfigError("result.status", "interrupted", "a run that has ended", "let it end")
    needed = ["waits.packet", *(["operations.kind"] if result.has_schedule else [])]
    missing = [name for name in needed if name not in result.columns]
    if not missing or result.completion_cycles == 0:
        return result
    record = {"waits": True, "operations": result.has_schedule, "packets": True}
    keys = sorted({f"run.record.{name.split('.')[0]}" for name in missing})
    return simulated_again(result, record, keys, f"{_KEYS} (in Python {_IN_PYTHON})", progress)


def simulated_again(
    result: Result, record: Mapping[str, Any], missing: list[str], how: str, progress: Progress | None = None
) -> Result:
    """Simulates a result once more and records what ``record`` says.

    Raises :class:`flitwork.ConfigError` where what is stored does not suffice for that: it names the options that are
    ``missing``, and says how all that is needed is ``how``.
    """
    spec = with_tables(copy.deepcopy(result.spec), result.tables)
    spec["run"]["record"].update(record)
    if spec["run"].get("kernel") == "packet":
        spec["run"]["kernel"] = "auto"
    again = f"simulate it with {how}"
    try:
        found = run_plan(plan_of(spec), progress)
    except ConfigError as error:
        raise _lacks(missing, f"it cannot be simulated again from what is stored ({error.path}): {again}") from None
    except ScheduleError:
        # Ranks ask what to do, and nobody answers.
        hint = f"what its ranks did was told by a program: run it with flitwork mpi simulate --explain, or {again}"
        raise _lacks(missing, hint) from None
    if found.digest != result.digest:
        hint = f"it is of version {result.version}, and this is {found.version}: {again}"
        raise _lacks(missing, hint)
    return found


def result_in(result: Any) -> Result:
    """A result, that of a file, or that of what has one; else a :class:`flitwork.ConfigError`."""
    if isinstance(result, (str, os.PathLike)):
        result = Result.load(os.fspath(result))
    for inner in ("simulation", "result"):
        if not isinstance(result, Result) and isinstance(getattr(result, inner, None), Result):
            result = getattr(result, inner)
    if not isinstance(result, Result):
        hint = "what fw.simulate returns, or the name of a file that it was saved in"
        raise ConfigError("result", repr(result)[:80], "a result of a network with routers", hint)
    return result


def _lacks(missing: list[str], hint: str) -> ConfigError:
    return ConfigError("result", f"recorded without {' and '.join(missing)}", "a result with these records", hint)


def _cycles(values: NDArray[np.uint64], start: int) -> Ints:
    happened = values != NEVER
    shifted: Ints = np.where(happened, values, 0).astype(np.int64) - start
    return np.where(happened, shifted, NOT_YET)


@dataclass(frozen=True)
class Packets:
    """All packets, one entry each; cycles count from t = 0."""

    source: Ints
    port: Ints
    flits: Ints
    created: Ints
    injected: Ints
    arrived: Ints
    head_arrived: Ints
    background: NDArray[np.bool_]
    #: Whether it went by the bus: then ``created`` is when the bus took its transfer.
    bus: NDArray[np.bool_]
    #: The operation that sent it, as an index into :class:`Operations`; ``-1`` of traffic.
    operation: Ints
    #: Cycles at its injection port without a credit: of its head, and of all of it.
    head_source_waits: Ints
    source_waits: Ints

    @cached_property
    def taken(self) -> Ints:
        """The cycle in which its injection port took it."""
        return self.injected - self.head_source_waits

    @cached_property
    def left(self) -> Ints:
        """The cycle after the one in which its last flit left its terminal; by the bus: of its arrival."""
        return np.where(self.bus, self.arrived, self.taken + self.flits + self.source_waits)

    @cached_property
    def before(self) -> Ints:
        """The packet that its injection port took before it; ``-1`` of the first."""
        order = np.lexsort((np.arange(len(self.source)), self.taken, self.port, self.source))
        found = np.full(len(order), -1, dtype=np.int64)
        one, two = order[:-1], order[1:]
        same = (self.source[one] == self.source[two]) & (self.port[one] == self.port[two])
        found[two[same]] = one[same]
        return found


@dataclass(frozen=True)
class Waits:
    """Cycles of packets by cause and place, those that count in the time of their packet."""

    packet: Ints
    cause: Ints
    router: Ints
    port: Ints
    at_source: NDArray[np.bool_]
    #: Whether its head had gone on: a gap between its flits.
    body: NDArray[np.bool_]
    cycles: Ints


@dataclass(frozen=True)
class Operations:
    """All operations, in order of rank and program; cycles count from t = 0."""

    rank: Ints
    number: Ints
    kind: Ints
    peer: Ints
    tag: Ints
    step: Ints
    amount: Ints
    passed: Ints
    began: Ints
    ended: Ints
    arrived: Ints
    from_operation: Ints
    #: What operation ``i`` waits for: ``waits_for[first[i]:first[i + 1]]``, as indices into these arrays.
    first: Ints
    waits_for: Ints
    #: The first operation of each rank, and the number of operations.
    of_rank: Ints

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return len(self.of_rank) - 1

    def index(self, rank: int, number: int) -> int:
        """The index of an operation of a rank."""
        return int(self.of_rank[rank]) + number


class Records:
    """All that is known of a run: ``packets``, ``waits`` and, where ranks ran, ``operations``."""

    def __init__(self, result: Result) -> None:
        self.result = result
        self.end = result.completion_cycles

    def _column(self, name: str) -> NDArray[Any]:
        return self.result.columns.get(name, np.empty(0, dtype=np.uint64))

    @cached_property
    def operations(self) -> Operations | None:
        """What ranks did; ``None`` of traffic."""
        if "operations.kind" not in self.result.columns:
            return None

        def of(name: str) -> Ints:
            found: Ints = self._column(f"operations.{name}").astype(np.int64)
            return found

        def when(name: str) -> Ints:
            return _cycles(self._column(f"operations.{name}_cycle"), self.result.start_cycle)

        rank, counts = of("rank"), of("waits_for")
        of_rank = np.searchsorted(rank, np.arange(int(rank.max(initial=-1)) + 2))
        first = np.concatenate([[0], np.cumsum(counts)])
        waits_for = self._column("waits_for").astype(np.int64) + np.repeat(of_rank[rank], counts)
        return Operations(
            rank, of("operation"), of("kind"), of("peer"), of("tag"), of("step"), of("amount"),
            when("passed"), when("began"), when("ended"), when("arrived"), of("from_operation"),
            first, waits_for, of_rank,
        )  # fmt: skip

    @cached_property
    def _raw_waits(self) -> dict[str, Ints]:
        names = ("packet", "hop", "router", "port", "reason", "body", "cycles")
        return {name: self._column(f"waits.{name}").astype(np.int64) for name in names}

    @cached_property
    def packets(self) -> Packets:
        """Every packet."""
        start = self.result.start_cycle

        def of(name: str) -> Ints:
            found: Ints = self._column(f"packets.{name}").astype(np.int64)
            return found

        def when(name: str) -> Ints:
            return _cycles(self._column(f"packets.{name}_cycle"), start)

        count, waits = len(of("src")), self._raw_waits
        source = waits["hop"] == 0
        head = source & (waits["body"] == 0)
        operation = np.full(count, -1, dtype=np.int64)
        if self.operations is not None and "packets.rank" in self.result.columns:
            rank, number = of("rank"), of("operation")
            known = rank < self.operations.ranks
            operation[known] = self.operations.of_rank[rank[known]] + number[known]
        arrived = when("arrived")
        recorded = "packets.head_arrived_cycle" in self.result.columns
        head_arrived = when("head_arrived") if recorded else np.full(count, NOT_YET)
        # No router sees signals on the wires of a barrier tree: it is one flit, its own head.
        head_arrived = np.where(went_by("barrier_tree", self.result), arrived, head_arrived)
        return Packets(
            of("src"), of("injection_port"), of("flits"), when("created"), when("injected"), arrived, head_arrived,
            self._column("packets.background").astype(bool), went_by("bus", self.result), operation,
            _summed(waits["packet"][head], waits["cycles"][head], count),
            _summed(waits["packet"][source], waits["cycles"][source], count),
        )  # fmt: skip

    @cached_property
    def terminal_of_rank(self) -> Ints:
        """The terminal of each rank, as its messages say; -1 of ranks without any."""
        ops, packets = self.operations, self.packets
        if ops is None:
            return np.empty(0, dtype=np.int64)
        found = np.full(ops.ranks, -1, dtype=np.int64)
        mine = packets.operation >= 0
        if not mine.any():
            return found
        sender = packets.operation[mine]
        found[ops.rank[sender]] = packets.source[mine]
        to = ops.peer[sender]
        known = to < ops.ranks
        found[to[known]] = self._column("packets.dst").astype(np.int64)[mine][known]
        return found

    @cached_property
    def waits(self) -> Waits:
        """What packets waited for, of those that have arrived.

        All cycles of a head, and of the flits behind it those that made the last one come later than one a cycle after
        the head: gaps are followed from the last router towards the source, and count where the flits stood still.
        """
        raw, packets = self._raw_waits, self.packets
        cycles = _counted(raw, packets)
        kept = (cycles > 0) & (packets.arrived[raw["packet"]] != NOT_YET)
        causes = np.array([CAUSE[cause] for cause in CAUSE_OF_NUMBER])
        return Waits(
            raw["packet"][kept], causes[raw["reason"][kept]], raw["router"][kept], raw["port"][kept],
            (raw["hop"] == 0)[kept], (raw["body"] != 0)[kept], cycles[kept],
        )  # fmt: skip

    @cached_property
    def serialisation(self) -> Ints:
        """For each packet the cycles in which its flits arrive one after the other, behind the first."""
        waits, packets = self.waits, self.packets
        gaps = _summed(waits.packet[waits.body], waits.cycles[waits.body], len(packets.source))
        found: Ints = packets.arrived - packets.head_arrived - gaps
        return found

    def source_place(self, packet: int) -> tuple[int, int]:
        """Router and port of the waits of a packet at its source."""
        raw = self._raw_waits
        first = int(np.searchsorted(raw["packet"], packet))
        end = int(np.searchsorted(raw["packet"], packet, side="right"))
        row = first + int(np.argmax(raw["hop"][first:end] == 0))
        return int(raw["router"][row]), int(raw["port"][row])

    @cached_property
    def first_wait(self) -> Ints:
        """The waits of packet ``i`` are ``first_wait[i]:first_wait[i + 1]``."""
        return np.searchsorted(self.waits.packet, np.arange(len(self.packets.source) + 1))


def went_by(beside: str, result: Result) -> NDArray[np.bool_]:
    """For each packet whether it went by the ``bus``, or by the ``barrier_tree``.

    Their injection port is the first behind those of the NIC, or the second.
    """
    network, port = result.spec["network"], result.columns.get("packets.injection_port", np.empty(0, dtype=np.uint32))
    number = (network["nic"].get("ports") or 1) + ("bus", "barrier_tree").index(beside)
    return port == number if network.get(beside) else np.zeros(len(port), dtype=np.bool_)


def _summed(index: Ints, values: Ints, count: int) -> Ints:
    return np.bincount(index, values, count).astype(np.int64) if len(index) else np.zeros(count, dtype=np.int64)


def _counted(raw: dict[str, Ints], packets: Packets) -> Ints:
    """Of each wait the cycles that count in the time of its packet."""
    cycles = raw["cycles"].copy()
    rows = np.flatnonzero(raw["body"])
    if not len(rows):
        return cycles
    # From the last router to the source, the longest wait first.
    rows = rows[np.lexsort((-cycles[rows], -raw["hop"][rows], raw["packet"][rows]))]
    packet = raw["packet"][rows]
    gaps = np.maximum(packets.arrived - packets.head_arrived - packets.flits + 1, 0)[packet]
    summed = np.cumsum(cycles[rows])
    first = np.searchsorted(packet, packet)
    before = np.where(first > 0, summed[first - 1], 0)
    upto = np.minimum(summed - before, gaps)
    cycles[rows] = upto - np.minimum(summed - before - cycles[rows], gaps)
    return cycles
