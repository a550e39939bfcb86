"""GOAL programs, and the ideal machine of the LogGOPS model that they are published for.

>>> goal = fw.read_goal("allreduce.goal")
>>> fw.run_goal(goal, fw.loggops(L=1000, o=200)).completion_ns

``docs/goal.md`` says what the format has and what the machine does.
"""

from __future__ import annotations

import functools
import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from flitwork import _core
from flitwork.base import input_files, parquet
from flitwork.base.errors import ConfigError
from flitwork.base.formats import check_format
from flitwork.base.libraries import np, pd
from flitwork.base.output_files import write_atomically, write_csv
from flitwork.networks.network import Network, check_network, not_a
from flitwork.planning.specification import plan_of, simulation
from flitwork.results.result import Result
from flitwork.running.simulation import Simulation
from flitwork.values.plain import plain
from flitwork.values.tables import Host, Run
from flitwork.values.value import as_written, default, given
from flitwork.workloads.schedule import Schedule
from flitwork.workloads.timetable import Timetable
from flitwork.workloads.workload import Workload

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: What stores the table of a result, by the ending of the file.
SAVED = (".csv", ".parquet")
#: What a run to completion may take where nothing says it.
_USUAL_MOST_CYCLES = 10**9


class Goal:
    """A GOAL program: what each rank does, and what waits for what. Read it with :func:`read_goal`.

    It has neither labels nor comments of its file: written again, its operations are ``l1``, ``l2``, ...
    Two are equal if their operations and dependencies are, in the same order.
    """

    def __init__(self, text: str | bytes, *, name: str = "goal") -> None:
        data = text.encode() if isinstance(text, str) else text
        if not isinstance(data, bytes):
            raise ConfigError("goal", repr(text), "GOAL as text or bytes", "fw.read_goal(path) reads a file")
        self._core = _core.Goal.read(data, name)

    @classmethod
    def of(cls, network: Network, workload: Workload, *, host: Host | Mapping[str, Any] | None = None) -> Goal:
        """What the ranks of a workload do, as a GOAL program: of an all-to-all, a collective, a ``fw.Schedule`` or a
        ``fw.Timetable``.

        Of the network only its size counts, and ``units``: what bytes and ns flits and cycles are. What blocks a rank
        is a calc of 0 ns that all behind it wait for; where messages leave in program order each waits for the start of
        the one before. GOAL has no clock: of a timetable the order remains (:meth:`flitwork.Timetable.schedule`).
        """
        if isinstance(workload, Timetable):
            check_network(network)
            ports = network.spec.get("nic", {}).get("ports", 1)
            workload = workload.schedule(ports=min(ports, max(workload.terminals - 1, 1)))
        spec = simulation(network, workload, {}, host=host)
        routing = spec["network"].get("routing", {})
        if routing.get("tie") == "by_message":
            # Only the messages of a timetable say which way they go; no route counts here.
            spec = {**spec, "network": {**spec["network"], "routing": {**routing, "tie": "parity"}}}
        goal = cls.__new__(cls)
        goal._core = plan_of(spec).goal()
        return goal

    @property
    def name(self) -> str:
        """The name of the program: that of its file."""
        return self._core.name

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return self._core.ranks

    @property
    def operations(self) -> int:
        """Number of operations of all ranks."""
        return self._core.operations

    @property
    def dependencies(self) -> int:
        """Number of dependencies of all operations."""
        return self._core.dependencies

    @property
    def messages(self) -> int:
        """Number of messages of all ranks."""
        return self._core.messages

    @property
    def text(self) -> str:
        """The program as GOAL text."""
        return self._core.to_bytes(False).decode()

    def write(self, path: str | os.PathLike[str], binary: bool = False) -> Path:
        """Writes the program to a file, as text or as binary; returns its path. A file that is there is replaced."""
        return write_atomically(Path(path), lambda file: file.write(self._core.to_bytes(binary)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Goal) and self._core == other._core

    def __hash__(self) -> int:
        return hash(self._core)

    def __repr__(self) -> str:
        return f"<GOAL {self.name}: {self.ranks} ranks, {self.operations:,} operations>"


def read_goal(path: str | os.PathLike[str]) -> Goal:
    """Reads a GOAL file, text or binary (what it is shows in its first bytes).

    Raises :class:`flitwork.ConfigError` with line and column, or byte, of what is wrong.
    """
    file = Path(path)
    data = input_files.read_bytes(file, "file", "a GOAL file")
    try:
        return Goal(data, name=file.name)
    except ConfigError:
        if file.suffix.lower() not in (".goal", ".bin", ".txt", ""):
            check_format(file, "file", "a GOAL program", ("a GOAL program",))
        raise


@dataclass(frozen=True, kw_only=True, repr=False)
class LogGOPS:
    """The ideal machine: no topology and no contention. Made by :func:`loggops`."""

    #: Latency of a message [ns].
    L: int = default(2500)
    #: Overhead of a send and of an arrival at a CPU [ns].
    o: int = default(1500)
    #: Gap between messages at a NIC [ns].
    g: int = default(1000)
    #: Gap per byte at a NIC [ns/byte].
    G: float = default(6)
    #: Overhead per byte at a CPU [ns/byte].
    O: float = default(0)  # noqa: E741
    #: Longer messages wait for their receive [bytes].
    S: int = default(65535)
    #: For those who take it for a network with routers.
    runs_instead: ClassVar[str] = "loggops runs programs: fw.run_goal(fw.Goal.of(network, workload), machine)"

    def __post_init__(self) -> None:
        found = json.loads(_core.check_loggops(json.dumps(plain(given(vars(self)), "loggops"))))
        for name, one in found.items():
            object.__setattr__(self, name, int(one) if isinstance(one, float) and one.is_integer() else one)

    @property
    def spec(self) -> dict[str, Any]:
        """The table ``network`` that says the same in a file."""
        return {"kind": "loggops", **vars(self)}

    def __repr__(self) -> str:
        return f"loggops({', '.join(f'{name}={one!r}' for name, one in vars(self).items())})"


PARAMETERS = tuple(field.name for field in fields(LogGOPS))


def loggops(**parameters: Any) -> LogGOPS:
    """The ideal machine of the LogGOPS model; its times are those of LogGOPSim, to the nanosecond.

    ``L`` latency, ``o`` overhead, ``g`` gap between messages [ns]; ``G`` gap and ``O`` overhead per byte [ns/byte, may
    have a fraction]; ``S`` longest message that does not wait for its receive [bytes]. What is left out is as in
    LogGOPSim: L=2500, o=1500, g=1000, G=6, O=0, S=65535.

    Hoefler, Schneider, Lumsdaine: LogGOPSim, simulating large-scale applications in the LogGOPS model (HPDC 2010).
    """
    unknown = {name: one for name, one in parameters.items() if name not in PARAMETERS}
    if unknown:
        # The simulator says what there is.
        _core.check_loggops(json.dumps(plain(unknown, "loggops")))
    return LogGOPS(**parameters)


@dataclass(frozen=True)
class GoalResult:
    """What came out of a GOAL program on a network."""

    goal: Goal
    network: LogGOPS | Network
    #: When each rank has finished, in order of ranks [ns].
    finish_ns: NDArray[np.uint64] | NDArray[np.float64]
    #: Messages that were sent.
    messages: int
    #: Whether it ran by the rules of LogGOPSim; a program that cannot end by them runs without two of them.
    as_loggopsim: bool = False
    #: The result of the simulation; ``None`` on the ideal machine.
    simulation: Result | None = None

    @functools.cached_property
    def completion_ns(self) -> int | float:
        """When the last rank has finished [ns]."""
        last: int | float = self.finish_ns.max().item()
        return last

    @property
    def table(self) -> pd.DataFrame:
        """A row for each rank: ``rank``, ``finish_ns``."""
        return pd.DataFrame({"rank": np.arange(len(self.finish_ns)), "finish_ns": self.finish_ns})

    @property
    def row(self) -> dict[str, Any]:
        """What came out, in one row; on a network with routers also what :attr:`simulation` has."""
        simulated = self.simulation.row if self.simulation else {"as_loggopsim": self.as_loggopsim}
        return {
            "program": self.goal.name,
            "status": "complete",
            "network": "loggops" if isinstance(self.network, LogGOPS) else self.network.kind,
            "ranks": self.goal.ranks,
            "operations": self.goal.operations,
            "messages": self.messages,
            "completion_ns": self.completion_ns,
            "first_finish_ns": self.finish_ns.min().item(),
            "mean_finish_ns": self.finish_ns.mean().item(),
            **{name: one for name, one in simulated.items() if name not in ("messages", "completion_ns")},
        }

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes :attr:`table` to a file .csv or .parquet. A file that is there is replaced."""
        file = Path(path)
        if file.suffix.lower() == ".csv":
            return write_csv(self.table, file)
        if file.suffix.lower() == ".parquet":
            return write_atomically(file, lambda out: out.write(parquet.to_bytes(self.table)))
        raise ConfigError("file", file, "a file .csv or .parquet", "the ending of its name says what it is")

    def __repr__(self) -> str:
        return f"<{self.goal.name} on {self.network}: {self.completion_ns:,} ns>"


def run_goal(
    goal: Goal,
    network: LogGOPS | Network | Mapping[str, Any] | None = None,
    *,
    packet_flits: int = 0,
    host: Host | Mapping[str, Any] | None = None,
    run: Run | None = None,
) -> GoalResult:
    """Executes a GOAL program on a network: :func:`loggops` (default), its table, or any network with routers.

    A network with routers says by ``units`` what a flit carries and how long a cycle takes
    (``units=fw.Units(flit_bytes=16, cycle_ns=1)``). Rank r runs on terminal r unless ``host`` says otherwise; messages
    leave as they are ready. ``packet_flits`` is the longest packet (0: the longest message). Without ``run.max_cycles``
    a program may take 10^9 cycles, and, where it computes for more than half of that, what it computes on top.

    Raises :class:`flitwork.ScheduleError` for a program that cannot end: which operations get no message, and which
    messages are never received; :class:`flitwork.ConfigError` for a network that does not fit it.
    """
    if not isinstance(goal, Goal):
        raise ConfigError("goal", repr(goal), "a GOAL program", "such as fw.read_goal('a.goal')")
    if isinstance(network, Network):
        return _simulated(goal, network, packet_flits, host, run)
    machine = _machine(network)
    if packet_flits or host is not None or run is not None:
        raise ConfigError("network", machine, "a network with routers", "packet_flits, host and run go with one")
    times, messages, _, as_loggopsim = goal._core.loggops(json.dumps(vars(machine)))
    return GoalResult(goal, machine, times, messages, as_loggopsim)


def _simulated(
    goal: Goal, network: Network, packet_flits: int, host: Host | Mapping[str, Any] | None, run: Run | None
) -> GoalResult:
    given = dict(as_written("host", host)) if host is not None else {}
    work = Schedule.of_core(goal._core.schedule(), packet_flits)
    hosts = {"send_queue": "as_ready", **given}
    running = Simulation(network, work, host=hosts, run=run)
    run = run or Run()
    if run.max_cycles == 0 and run.max_ns is None:
        computed = _computed_cycles(goal, running.cycle_ns)
        if computed > _USUAL_MOST_CYCLES // 2:
            longer = run.replace(max_cycles=_USUAL_MOST_CYCLES + computed)
            running = Simulation(network, work, host=hosts, run=longer)
    running.advance()
    cycles = running.last_cycles()
    result = running.result()
    cycle_ns = result.described["units"]["cycle_ns"]
    whole = float(cycle_ns).is_integer()
    times = cycles.astype(np.float64) * float(cycle_ns)
    return GoalResult(goal, network, times.astype(np.uint64) if whole else times, goal.messages, simulation=result)


def _computed_cycles(goal: Goal, cycle_ns: float) -> int:
    """How long the program takes where messages take no time."""
    return math.ceil(run_goal(goal, LogGOPS(L=0, o=0, g=0, G=0, O=0)).completion_ns / cycle_ns)


def _machine(network: LogGOPS | Mapping[str, Any] | None) -> LogGOPS:
    if network is None:
        return loggops()
    if isinstance(network, Mapping) and network.get("kind") == "loggops":
        return loggops(**{name: one for name, one in network.items() if name != "kind"})
    if not isinstance(network, LogGOPS):
        hint = "for example fw.loggops(L=1000, G=0.1)"
        raise not_a("fw.loggops(...), or a network such as fw.Torus(8, 8)", "network", network, hint)
    return network
