"""``fw.simulate``: a network, a workload, a result; ``fw.Simulation``: paused, continued, told what ranks do."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from typing_extensions import Unpack

from flitwork import _core
from flitwork.base.arguments import whole
from flitwork.base.libraries import np
from flitwork.base.physical import Units
from flitwork.planning.bound import Bound
from flitwork.planning.specification import Host, Network, Run, RunOptions, nest_run, plan_of
from flitwork.planning.specification import simulation as specification
from flitwork.results.result import Progress, Result, run_plan
from flitwork.running.packets_file import checked, recording, run_to_file
from flitwork.workloads.operations import Operation, plain_operations
from flitwork.workloads.workload import Workload

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_RANK = 2**32 - 1
#: The numbers of what a rank can be told. ``WAIT_ANY`` goes on when one of the operations that it waits for is
#: complete, ``PROBE`` when there is a message that a receive would take, ``POLL`` when an operation completes, a
#: message comes that no receive takes, or its time is over. ``SEND_SYNCHRONOUSLY`` is complete when its message has
#: been received.
Kind = _core.Kind
#: What a rank does, unchecked: kind (of :class:`Kind`), other rank, bytes or cycles, tag, context, what it waits for.
Told = tuple[int, int | None, int, int | None, int, Sequence[int]]
#: A rank and what it does next; with nothing it is at its end.
Answer = tuple[int, Sequence[Told]]
#: Rank, operation, cycle; of a receive the rank and the operation that sent its message.
Completed = tuple[int, int, int, int | None, int]
_MOST_CYCLE = 2**64 - 1


def simulate(
    network: Network,
    workload: Workload,
    *,
    background: Workload | None = None,
    host: Host | Mapping[str, Any] | None = None,
    run: Run | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
    packets_file: str | Path | None = None,
    **options: Unpack[RunOptions],
) -> Result:
    """Simulates a workload on a network, flit by flit.

    ``background`` is open-loop traffic that runs beside the workload and is measured on its own: ``result.background``.
    Beside a workload that completes it starts ``warmup_cycles`` before it. ``host`` says which ranks of a schedule run
    where, and in which order their messages leave: ``host=fw.Host(ranks_per_terminal=2, send_queue="as_ready")``.

    ``run=fw.Run(max_cycles=100_000, record=fw.Record(packets=True))`` says how, or the same flat:
    ``max_cycles=100_000, packets=True``. ``seed`` is 1 where nothing says it. ``progress(cycle, done, total)`` is
    called about 20 times a second and may return ``False`` to stop. Ctrl-C stops within a fraction of a second.

    ``packets_file="packets.parquet"`` records every packet in that file while the run lasts, and none in the result:
    memory does not grow with the run. The rows are those of ``result.packets`` without latencies, in order of arrival.
    A file that is there is replaced.
    """
    if packets_file is None:
        return run_plan(_plan(network, workload, background, host, seed, run, options), progress)
    path = checked(packets_file)
    return run_to_file(_plan(network, workload, background, host, seed, run, options, path), path, progress)


def _plan(
    network: Network,
    workload: Workload,
    background: Workload | None,
    host: Host | Mapping[str, Any] | None,
    seed: int | None,
    run: Run | None,
    options: RunOptions,
    packets_file: Path | None = None,
) -> _core.Plan:
    seeded = {} if seed is None else {"seed": seed}
    how = {"seed": 1, **nest_run(run, {**options, **seeded})}
    spec = specification(network, workload, how, background, host)
    return plan_of(recording(spec, packets_file) if packets_file else spec)


class Simulation:
    """A simulation that can be advanced, paused and continued.

    With :func:`flitwork.programs` as workload, ranks ask what to do next; whoever drives the simulation answers:

    >>> sim = fw.Simulation(fw.Torus(4, 4), fw.programs())
    >>> while sim.advance() == "asked":
    ...     for rank in sim.asking:
    ...         sim.give(rank, program(rank, sim.now))  # an empty list: the rank is at its end
    >>> result = sim.result()

    Operations of a rank are numbered from 0 in the order in which they are given. What is given takes effect in the
    current cycle. Arguments as for :func:`simulate`.
    """

    def __init__(
        self,
        network: Network,
        workload: Workload,
        *,
        background: Workload | None = None,
        host: Host | Mapping[str, Any] | None = None,
        run: Run | None = None,
        seed: int | None = None,
        **options: Unpack[RunOptions],
    ) -> None:
        self._plan = _plan(network, workload, background, host, seed, run, options)
        self._running = _core.Simulation(self._plan)
        self._seconds = 0.0

    @property
    def now(self) -> int:
        """The current cycle."""
        return self._running.now

    @property
    def cycle_ns(self) -> float:
        """Length of a cycle [ns]; NaN where ``network.units`` does not say it."""
        return Units(**self._plan.units).cycle_ns or math.nan

    @property
    def host(self) -> dict[str, Any]:
        """The table ``host``, with its defaults."""
        said: dict[str, Any] = self._plan.contents()["spec"].get("host", {})
        return {"reduce_cycles_per_flit": 0.0, **said}

    @property
    def software(self) -> tuple[list[int], int, int]:
        """Software times of ``host`` [cycles]: when each rank starts (empty: together), what sends and receives cost.

        Whoever drives ranks adds them, as computations: a rank's start first, the cost of a send before it, that of a
        receive, and the time in which its message is copied (:meth:`copied`), when it has waited for it.
        """
        return self._running.software

    def copied(self, sizes: Sequence[int]) -> int:
        """How long messages of so many bytes are copied that a rank has received together [cycles]."""
        return self._running.copied(sizes)

    @property
    def placement(self) -> list[int]:
        """The terminal of each rank."""
        return self._running.placement

    @property
    def asking(self) -> list[int]:
        """Ranks that ask what to do next, in the order in which they began to."""
        return self._running.asking

    def advance(self, until: int | None = None) -> str:
        """Simulates all cycles before ``until`` (all, without it), unless there is a reason to pause earlier.

        Returns why it paused: ``asked``, ``reached`` or ``ended``.
        """
        before = None if until is None else whole("until", until, 0, _MOST_CYCLE)
        started = perf_counter()
        try:
            return self._running.advance(before)
        finally:
            self._seconds += perf_counter() - started

    def last_cycles(self) -> NDArray[np.uint64]:
        """The cycle in which each rank has completed an operation last, from the start of the ranks on."""
        return self._running.last_cycles()

    def give(self, rank: int, operations: Iterable[Operation]) -> None:
        """Answers a rank that asks: what it does next. With nothing it is at its end.

        Raises :class:`flitwork.ScheduleError` where the rank does not ask, or an operation makes no sense in the
        schedule, and :class:`flitwork.ConfigError` where a field cannot be used: ``operations[0].flits``.
        """
        self._running.give(whole("rank", rank, 0, _MOST_RANK), [one.row for one in plain_operations(operations)])

    def turn(
        self, answers: Sequence[Answer], progress: Progress | None = None
    ) -> tuple[str, int, list[int], list[Completed]]:
        """Answers ranks and advances as far as possible, in one call: for drivers that are called millions of times.

        Returns why it paused, the cycle, the ranks that ask, and the sends and receives that have completed since the
        last call: rank, operation, cycle, and of a receive the rank and the operation that sent its message.
        """
        started = perf_counter()
        try:
            return self._running.turn(answers, progress)
        finally:
            self._seconds += perf_counter() - started

    def probe(self, rank: int, source: int | None, tag: int | None, context: int) -> tuple[int, int] | None:
        """The message that a receive of ``rank`` would take now, by the rank and the operation that sent it."""
        return self._running.probe(rank, source, tag, context)

    def cancel(self, rank: int, operation: int) -> bool:
        """Takes back a receive, if it has no message; whether it could be."""
        return self._running.cancel(rank, operation)

    def stop(self, *, complete: bool = False) -> None:
        """Ends the run in its current cycle.

        ``complete``: the caller knows that nothing more can happen, although receives or messages are left that match
        nothing. The status of the result is ``complete`` then.
        """
        self._running.stop(complete=complete)

    def result(self) -> Result:
        """The outcome; the simulation cannot go on after it. One that has not ended counts as cut short."""
        values, columns = self._running.finish()
        bound = Bound.of(self._plan)
        return Result(self._plan.contents(), json.loads(values), columns, bound, self._seconds, self._plan.tables)
