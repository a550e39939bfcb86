"""The compiled half of flitwork; use the functions of the package instead."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

__version__: str

#: What a rank is told: kind, other rank, size or time, tag, context, what it waits for. Behind them whether the amount
#: is in bytes or ns, and the number of the network. Without these two sends are in bytes, times in cycles, and a
#: receive takes a message of any length.
_ShortRow: TypeAlias = tuple[int, int | None, int, int | None, int, Sequence[int]]
_Row: TypeAlias = _ShortRow | tuple[int, int | None, int, int | None, int, Sequence[int], bool, int]

__all__ = [
    "CollectiveSteps",
    "Goal",
    "Kind",
    "Operations",
    "ParquetFile",
    "ParquetWriter",
    "Plan",
    "Simulation",
    "Table",
    "__version__",
    "all_to_alls",
    "any_routing",
    "channels",
    "check_loggops",
    "check_table",
    "components",
    "default_routing",
    "drawing",
    "find_timetable",
    "message_networks",
    "mpi_library_files",
    "number_names",
    "operation_kinds",
    "parquet_bytes",
    "schema",
    "stall_reasons",
    "student_t",
    "terminals",
    "timetable",
    "timetable_json",
    "timetable_order",
    "uniform_capacity",
    "usable_memory",
]

def schema() -> str:
    """The JSON Schema of a specification."""

def check_table(path: str, table: str) -> None:
    """Checks the table of a specification (JSON) that stands at ``path``, as it would be checked in its place."""

def number_names(network: str) -> str:
    """The table ``network`` (JSON) with numbers of routers and terminals in the place of their names."""

def components() -> str:
    """Every component that can be named in a specification, by table, as JSON."""

def student_t(confidence: float, freedom: int) -> float:
    """Two-sided quantile of Student's t for a confidence between 0 and 1; infinite without degrees of freedom."""

def channels(topology: str) -> dict[str, NDArray[Any]]:
    """The channels of a topology (JSON), ascending: ``router``, ``port``, ``to_router``, ``to_port``, ``class``.

    ``latency_cycles`` is -1 where a channel has none of its own; ``cycles_per_flit`` is 1 but for slow channels.
    """

def drawing(topology: str) -> dict[str, Any] | None:
    """Where a topology (JSON) lies on a page.

    ``routers``, ``segments`` and their ``channel``, ``terminals`` and their ``router_of_terminal``, ``axes``, ``note``.
    """

def terminals(topology: str) -> dict[str, NDArray[np.uint32]]:
    """Where the terminals of a topology (JSON) are: ``router`` of each, and ``network_ports`` of each router.

    The ports of a router to others come before those of its terminals. ``size`` has the sizes of a grid, else nothing.
    """

def default_routing(topology: str) -> str:
    """The kind of the routing that a topology (JSON) has where its user names none."""

def any_routing(
    plan: Plan, gap: float, most_steps: int, progress: Callable[[int, float, float], object] | None
) -> dict[str, Any]:
    """What the channels need for a plan whatever the routing: ``proved_cycles``, ``reached_cycles``, ``steps``,
    ``interrupted``, ``loads_are_known``, and by channel ``weights`` and ``flits``. ``progress`` gets steps, proved and
    reached cycles."""

def find_timetable(
    plan: Plan,
    seed: int,
    budget_steps: int,
    progress: Callable[[int, int, int], object] | None,
) -> tuple[Table, int, int, int, int, bool]:
    """Searches for a timetable: the best, the shortest period possible, its time, flits of a message, steps, whether
    it was interrupted. ``progress`` gets the length of blocks, steps and period."""

def timetable(text: str, path: str) -> Table:
    """A timetable from JSON; ``path`` is that of the field that has it."""

def timetable_json(table: Table) -> str:
    """A timetable as JSON."""

def timetable_order(table: Table) -> NDArray[np.uint32]:
    """To whom each terminal sends, in the order of its times: a row for each terminal."""

def uniform_capacity(topology: str) -> float | None:
    """The load of uniform traffic that uses up the middle of a topology (JSON); ``None`` where it is not known."""

def mpi_library_files() -> dict[str, bytes]:
    """The files from which the MPI library is compiled (``mpi/`` of the project), by their paths."""

def operation_kinds() -> list[str]:
    """Names of what an operation does, in the order of their numbers, which are those of :class:`Kind`."""

def message_networks() -> list[str]:
    """Networks of a machine that a message may go by, in the order of their numbers."""

def usable_memory() -> tuple[int, str]:
    """Memory that this process may use, three quarters of what there is [bytes], and what limits it."""

def stall_reasons() -> str:
    """The reasons for a flit to stand still, in the order of their counters, as JSON."""

def all_to_alls() -> list[tuple[str, str]]:
    """The name and the summary of every all-to-all."""

@final
class CollectiveSteps:
    """The steps of a collective for so many ranks."""

    def __new__(
        cls,
        operation: str,
        algorithm: str,
        ranks: int,
        root: int = 0,
        topology: str | None = None,
        terminals: Sequence[int] | None = None,
        required: bool = False,
        radix: int | None = None,
        leaders: int | None = None,
        descending: bool = False,
    ) -> CollectiveSteps:
        """The algorithm of this name; where it is not defined for these ranks, the one that takes its place.

        That only if it is not ``required``. ``topology`` (JSON): a network that has the ranks in their order, for
        algorithms that go by coordinates. ``terminals``: that of each rank, for algorithms that know servers.
        All-to-alls are those of ``all_to_alls``.
        """

    @property
    def name(self) -> str:
        """The algorithm."""

    @property
    def direct(self) -> bool:
        """Whether each block of an all-to-all goes from its source to its destination as a message of its own."""

    @property
    def steps(self) -> int:
        """Number of steps."""

    @property
    def pieces(self) -> int:
        """Into how many pieces it cuts a vector; of operations on blocks their number."""

    @property
    def in_order(self) -> bool:
        """Whether whatever is sent is the sum of consecutive ranks."""

    def step(
        self, rank: int, step: int
    ) -> tuple[int | None, Sequence[int] | None, int | None, Sequence[int] | None, bool, bool]:
        """What a rank does in a step.

        To whom it sends which blocks, from whom it receives which, whether it adds these to what it has, and whether it
        waits.
        """

@final
class Kind:
    """The numbers of what an operation does: in rows, in columns and in records of runs."""

    SEND: Final[int]
    RECEIVE: Final[int]
    COMPUTE: Final[int]
    WAIT: Final[int]
    TASK: Final[int]
    STARTED: Final[int]
    WAIT_ANY: Final[int]
    PROBE: Final[int]
    POLL: Final[int]
    LATE_START: Final[int]
    WAIT_UNTIL: Final[int]
    SEND_SYNCHRONOUSLY: Final[int]
    #: The time of a poll without an end.
    FOREVER: Final[int]

@final
class Operations:
    """The operations of a schedule as columns: those of rank 0, then those of rank 1."""

    def __new__(
        cls,
        operations: NDArray[np.uint64],
        kind: NDArray[np.uint8],
        peer: NDArray[np.uint32],
        amount: NDArray[np.uint64],
        tag: NDArray[np.uint32],
        step: NDArray[np.uint32],
        via: NDArray[np.uint8],
        dependencies: NDArray[np.uint32],
        after: NDArray[np.uint32],
    ) -> Operations:
        """From columns, with the meanings of the properties."""

    @property
    def operations(self) -> NDArray[np.uint64]:
        """Operations of each rank."""

    @property
    def kind(self) -> NDArray[np.uint8]:
        """What each does: a number of :class:`Kind`."""

    @property
    def peer(self) -> NDArray[np.uint32]:
        """The other rank of a message, 2^32 - 1 for any; of a task its CPU."""

    @property
    def amount(self) -> NDArray[np.uint64]:
        """Size or time, in the units of the schedule."""

    @property
    def tag(self) -> NDArray[np.uint32]:
        """Tag, 2^32 - 1 for any."""

    @property
    def step(self) -> NDArray[np.uint32]:
        """Step of the algorithm."""

    @property
    def via(self) -> NDArray[np.uint8]:
        """By which network it goes: a place in ``message_networks()``."""

    @property
    def dependencies(self) -> NDArray[np.uint32]:
        """How many operations of its rank each waits for."""

    @property
    def after(self) -> NDArray[np.uint32]:
        """All that operations wait for, one operation's behind the other's."""

    def __len__(self) -> int: ...

@final
class Table:
    """Numbers that are too many for JSON; a specification names them by ``sha256``."""

    @staticmethod
    def matrix(weights: NDArray[np.float64]) -> Table:
        """A traffic matrix: rows are sources, columns destinations."""

    @staticmethod
    def trace(
        cycle: NDArray[np.int64],
        source: NDArray[np.int64],
        destination: NDArray[np.int64],
        flits: NDArray[np.int64],
    ) -> Table:
        """A trace, a packet a row; cycles do not fall."""

    @staticmethod
    def detours(rank: NDArray[np.int64], start: NDArray[np.int64], duration: NDArray[np.int64]) -> Table:
        """Detours of ranks, one a row."""

    @staticmethod
    def schedule(name: str, in_units: tuple[bool, bool], operations: Operations) -> Table:
        """A schedule. ``in_units``: whether sizes are in bytes, and times in ns."""

    def operations(self) -> Operations:
        """The operations of a schedule."""

    @property
    def name(self) -> str:
        """The name of a schedule."""

    @property
    def ranks(self) -> int:
        """The ranks of a schedule."""

    @property
    def in_units(self) -> tuple[bool, bool]:
        """Of a schedule: whether sizes are in bytes, and times in ns."""

    def check(self) -> str:
        """Checks a schedule: sends and receives match, and every rank can finish. What it amounts to, as JSON."""

    @staticmethod
    def from_bytes(data: bytes) -> Table:
        """What ``to_bytes`` wrote."""

    @property
    def sha256(self) -> str:
        """SHA-256 of the contents."""

    @property
    def rows(self) -> int:
        """Rows of the table."""

    def to_bytes(self) -> bytes:
        """The contents as bytes."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __copy__(self) -> Table: ...
    def __deepcopy__(self, _memo: object) -> Table: ...
    def __reduce__(self) -> tuple[Callable[[bytes], Table], tuple[bytes]]: ...

def check_loggops(parameters: str) -> str:
    """Checks the parameters of the ideal machine (JSON); all of them, with the defaults, as JSON."""

@final
class Goal:
    """A GOAL program."""

    @staticmethod
    def read(data: bytes, name: str) -> Goal:
        """The program in a file, text or binary; ``name`` is what errors call it."""

    @property
    def name(self) -> str:
        """The name of the algorithm."""

    @property
    def ranks(self) -> int:
        """Number of ranks."""

    @property
    def operations(self) -> int:
        """Number of operations."""

    @property
    def messages(self) -> int:
        """Number of messages."""

    @property
    def dependencies(self) -> int:
        """Number of dependencies."""

    def to_bytes(self, binary: bool) -> bytes:
        """The program as a file, text or binary."""

    def loggops(self, parameters: str) -> tuple[NDArray[np.uint64], int, int, bool]:
        """Executes it on the ideal machine with these parameters (JSON).

        Finish times of the ranks [ns], messages, events, whether by the rules of LogGOPSim.
        """

    def schedule(self) -> Table:
        """The program as a schedule in bytes and ns, for networks with routers."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Callable[[bytes, str], Goal], tuple[bytes, str]]: ...

@final
class Plan:
    """A validated simulation."""

    def __new__(cls, spec: str, tables: Sequence[Table] = ...) -> Plan:
        """Resolves and validates a specification (JSON); ``tables`` are those that it names."""

    @property
    def json(self) -> str:
        """The resolved specification and what follows from it, as JSON."""

    @property
    def tables(self) -> list[Table]:
        """The tables that the specification names."""

    def contents(self) -> dict[str, Any]:
        """What ``json`` says, as a table of its own: the form in which a result keeps its plan."""

    @property
    def memory_bytes(self) -> int:
        """Memory of the run, roughly [bytes]."""

    @property
    def own_bytes(self) -> int:
        """Memory of the plan itself, roughly, without its tables [bytes]."""

    @property
    def estimated_work(self) -> tuple[float, float]:
        """Hops of flits that the run takes, roughly, and how long one core takes for it [s]."""

    @property
    def fixed_cycles(self) -> int | None:
        """Cycles that an open loop with a fixed measurement lasts at least."""

    @property
    def records_to_file(self) -> bool:
        """Whether packets are recorded in a file while the run lasts."""

    @property
    def units(self) -> dict[str, float]:
        """What a flit carries and how long a cycle takes, as far as that is known: ``flit_bytes``, ``cycle_ns``."""

    @property
    def uniform_capacity(self) -> float | None:
        """The load of uniform traffic that uses up the middle of the network [flits/cycle/terminal]."""

    @property
    def terminals(self) -> int:
        """Number of terminals."""

    @property
    def nic_ports(self) -> int:
        """Ports of a network interface."""

    @property
    def packet_flits(self) -> int | None:
        """The longest packet of a schedule [flits]; ``None`` of other workloads."""

    @property
    def rounded(self) -> list[tuple[str, float, float, float]]:
        """The times in ns that were rounded to whole cycles.

        The field, what was given, what is simulated [ns], and how much longer that is, as a share.
        """

    @property
    def hash(self) -> str:
        """Fingerprint of the resolved specification and the version."""

    def goal(self) -> Goal:
        """The schedule of its workload as a GOAL program."""

    def bound(self) -> dict[str, Any]:
        """What no run of this plan can beat: of a schedule its completion time, of traffic the load.

        The values of :class:`flitwork.Bound`, in which Python reads them.
        """

    def check(self) -> str:
        """Checks that every pair is exchanged once, or that a collective moves its data to where it belongs; adds up
        the loads of the channels by phase. JSON."""

    def overlap(self, over: str, aggregate: bool) -> str:
        """How the messages of each step overlap, and the pauses that follow, by MOD and by hops; JSON."""

    def messages(self) -> dict[str, NDArray[np.uint32]]:
        """The messages in order of (sender, send order): columns ``from``, ``to``, ``flits``, ``phase``."""

    def router_of_terminal(self) -> NDArray[np.uint32]:
        """The router of each terminal."""

    def terminal_of_rank(self) -> NDArray[np.uint32]:
        """The terminal of each rank."""

    def path(self, source: int, destination: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]:
        """The routers, output ports and sets of virtual channels on the way of a packet between two routers."""

    @property
    def threads(self) -> int:
        """The threads that share its network among them."""

    def threads_that_pay(self, most: int) -> int:
        """Number of threads that have enough to do, ``most`` at most; one where the network cannot be cut in parts."""

    def on_threads(self, threads: int) -> Plan:
        """The same plan on another number of threads."""

    def simulate(
        self, progress: Callable[[int, int, int | None], object] | None = None
    ) -> tuple[str, dict[str, NDArray[Any]]]:
        """Runs the plan without the GIL; the summary as JSON and the long columns as arrays."""

@final
class ParquetFile:
    """A Parquet file that is open: its columns are read one by one.

    What is wrong with it is an :class:`OSError`, or a :class:`ValueError` that names the column.
    """

    def __new__(cls, path: Path) -> ParquetFile:
        """Reads the metadata of a file."""

    @property
    def rows(self) -> int:
        """Rows of the table."""

    @property
    def row_groups(self) -> int:
        """Groups of rows that are stored one after the other."""

    @property
    def unpacked_bytes(self) -> int:
        """What the columns take when they are unpacked, as the file says [bytes]."""

    @property
    def columns(self) -> list[tuple[str, str | None, bool]]:
        """Name of each column, the kind of its values, and whether each row has a list of them.

        Kinds have the names of Apache Arrow; ``None`` is one that no table has.
        """

    @property
    def metadata(self) -> dict[str, str]:
        """Keys and values of the metadata."""

    def read(
        self, column: int, most_bytes: int
    ) -> tuple[NDArray[Any], NDArray[np.bool_] | None, NDArray[np.int64] | None]:
        """Values of a column, which rows have one (``None``: all), and of lists how many each row has.

        Values, their texts and what is unpacked together take ``most_bytes`` at most, each.
        """

@final
class ParquetWriter:
    """A Parquet file that grows by groups of rows: whole numbers as differences, without compression."""

    def __new__(
        cls, path: Path, columns: Sequence[tuple[str, str, bool, bool]], metadata: Sequence[tuple[str, str]]
    ) -> ParquetWriter:
        """Begins a file; what is there is replaced.

        Of each column its name, the kind of its values, whether they may be missing, whether each row has a list.
        """

    def write(self, values: Sequence[tuple[Any, Any, Any]]) -> None:
        """Adds a group of rows: of each column values, which are there (``None``: all), and lengths of lists."""

    def close(self) -> None:
        """Ends the file, which can be read then."""

def parquet_bytes(
    columns: Sequence[tuple[str, str, bool, bool]],
    values: Sequence[tuple[Any, Any, Any]],
    metadata: Sequence[tuple[str, str]],
) -> bytes:
    """A table as the bytes of a Parquet file; columns and values as :class:`ParquetWriter` takes them."""

@final
class Simulation:
    """A simulation in progress."""

    def __new__(cls, plan: Plan, tally: bool = False, flits: bool = False) -> Simulation:
        """A simulation of a plan, before its first cycle.

        With ``tally`` it counts traffic by terminal, and the caller decides when it ends; with ``flits`` it also counts
        when each flit leaves and arrives.
        """

    @property
    def now(self) -> int:
        """The current cycle."""

    @property
    def placement(self) -> list[int]:
        """The terminal of each rank."""

    @property
    def software(self) -> tuple[list[int], int, int]:
        """The software times of the host [cycles]: when each rank starts, what a send and what a receive costs."""

    def copied(self, bytes: Sequence[int]) -> int:
        """How long messages of so many bytes are copied that a rank has received together [cycles]."""

    @property
    def asking(self) -> list[int]:
        """Ranks that ask what to do next, in the order in which they began to."""

    @property
    def tally(self) -> dict[str, Any]:
        """What has been counted before this cycle, by name: numbers, and lists with an entry for each terminal."""

    def stop(self, *, complete: bool = False) -> None:
        """Ends the run before its current cycle, and with it the measurement; its workload may be ``complete``."""

    def extend(self, plan: Plan) -> None:
        """Goes on as a simulation of a plan that measures longer; it must be at the end of its measurement."""

    def advance(
        self, until: int | None = None, progress: Callable[[int, int, int | None], object] | None = None
    ) -> str:
        """Simulates all cycles before ``until``; says why it paused: ``asked``, ``reached`` or ``ended``."""

    def give(self, rank: int, operations: Sequence[_Row]) -> None:
        """Tells a rank that asks what it does next; with nothing it is at its end."""

    def turn(
        self,
        answers: Sequence[tuple[int, Sequence[_Row]]],
        progress: Callable[[int, int, int | None], object] | None = None,
    ) -> tuple[str, int, list[int], list[tuple[int, int, int, int | None, int]]]:
        """Answers ranks, then advances: why it paused, the cycle, who asks, and what has completed since."""

    def probe(self, rank: int, source: int | None, tag: int | None, context: int) -> tuple[int, int] | None:
        """The message that a receive would take now, by its sender and its send operation."""

    def cancel(self, rank: int, operation: int) -> bool:
        """Takes back a receive that has no message; whether it could be."""

    def last_cycles(self) -> NDArray[np.uint64]:
        """The cycle in which each rank has completed an operation last."""

    def take_packets(self) -> dict[str, NDArray[Any]]:
        """The packets that have arrived since the last call as columns, for plans with ``record.to_file``."""

    def finish(self, arrays: bool = True) -> tuple[str, dict[str, Any]]:
        """Ends the simulation: the summary as JSON and the long columns as arrays.

        Without ``arrays`` of the columns only ``ejected_flits``, as a list.
        """
