"""Ranks in execution: greenlets that run until they block, and the one loop that drives the simulation.

A rank is a *process*. What it does runs in *fibers*: its program in one, each non-blocking collective in another. A
fiber that has to wait says for which operations and gives up control; when no fiber of a process can go on, the
simulator is told all that its fibers have started, and one operation that blocks the rank. So fibers go on
while their rank is in a call that waits, as in an MPI library without a thread of its own for progress.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from threading import get_ident
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, TypeAlias

from flitwork.base.errors import DeadlockError, ScheduleError, SimulationError
from flitwork.results.result import Progress
from flitwork.running.simulation import Answer, Completed, Kind, Simulation, Told
from greenlet import GreenletExit, getcurrent, greenlet

from flitwork_mpi.programs.errors import Abort, Exited, ProgramError, UnmatchedMessages

if TYPE_CHECKING:
    from flitwork_mpi.programs.software import Software

#: What a fiber waits for.
ALL, ANY, CORE = range(3)
_NONE: tuple[int, ...] = ()
#: How many times as long as the one before a poll is, and the longest [cycles].
_LONGER, _LONGEST_POLL = 1.001, 2.0**32


#: A line of a program: its code and where in it; or as text.
Place: TypeAlias = "tuple[CodeType, int] | str"


class Message:
    """What a send takes along: it arrives with the flits."""

    __slots__ = ("context", "data", "nbytes", "place", "signature", "source", "tag", "to")

    #: Where the program sent it.
    place: Place

    def __init__(
        self, source: int, to: int, tag: int, context: int, nbytes: int, data: Any, signature: str | None
    ) -> None:
        self.source, self.to, self.tag, self.context = source, to, tag, context
        self.nbytes, self.data, self.signature = nbytes, data, signature


class Operation:
    """A send or a receive that the simulator has been told of."""

    __slots__ = ("context", "done", "message", "number", "paid", "peer", "place", "sends", "tag")

    #: Where the program posted it, if it is a receive.
    place: Place

    def __init__(self, number: int, sends: bool, peer: int | None, tag: int | None, context: int) -> None:
        self.number, self.sends, self.peer, self.tag, self.context = number, sends, peer, tag, context
        #: ``paid``: whether the software time of a receive has been spent.
        self.done = self.paid = False
        self.message: Message | None = None


class Fiber:
    """Something that a process does, and what it waits for. Others can wait for a fiber: it is done at its end."""

    __slots__ = ("done", "greenlet", "mode", "name", "result", "waits", "where")

    def __init__(self, work: Callable[[Fiber], None], hub: greenlet, name: str = "") -> None:
        self.greenlet = greenlet(work, hub)
        self.mode = CORE
        self.waits: Sequence[Operation | Fiber] = ()
        self.done = False
        self.name, self.where = name, ""
        self.result: Any = None

    @property
    def ready(self) -> bool:
        """Whether the fiber can go on."""
        if self.mode == ALL:
            return all(one.done for one in self.waits)
        return self.mode == CORE or any(one.done for one in self.waits)


class Clock:
    """Lets time pass for a rank that does nothing but ask for the time: it waits for a moment that would never come."""

    #: So often in a row a line may ask and get the same answer.
    PATIENCE = 1000

    __slots__ = ("calls", "issued", "place")

    def __init__(self) -> None:
        self.place: tuple[object, ...] = ()
        self.calls, self.issued = 0, -1

    def count_call(self, process: Process, frame: FrameType) -> None:
        """A line of the program has asked; lines are told apart with those that have called their functions."""
        before = frame.f_back
        place = (frame.f_code, frame.f_lasti, *((before.f_code, before.f_lasti) if before else ()))
        if process.issued != self.issued or place != self.place:
            self.place, self.issued, self.calls = place, process.issued, 0
            return
        self.calls += 1
        if self.calls >= self.PATIENCE:
            process.flush()
            process.poll_again()
            self.issued = process.issued


class Process:
    """A rank: what it has started, and its fibers."""

    def __init__(self, world: World, rank: int) -> None:
        self.world, self.rank = world, rank
        self.hub = world.hub
        self.tasks: list[Told] = []
        #: Operations that the simulator has been told of so far.
        self.issued = 0
        #: How long it polls the next time, if nothing happens [cycles].
        self.patience = float(world.poll_cycles)
        self.pending: dict[int, Operation] = {}
        self.outbox: dict[int, Message] = {}
        self.main = Fiber(self._run, self.hub)
        self.fiber = self.main
        self.helpers: list[Fiber] = []
        self.value: Any = None
        self.finish_cycle: int | None = None
        #: Whatever layers above keep of a rank.
        self.store: dict[Any, Any] = {}
        #: What is left to do when its program has ended: to give up what it has not given up itself.
        self.at_end: list[Callable[[], None]] = []
        self.finalized = False
        #: The first of its operations that what it has registered for its exit has started.
        self.leaving: int | None = None
        self.clock = Clock()
        #: What its calls cost, if they do.
        self.software = world.software
        #: With which its program has ended.
        self.exit_code = 0

    def send(self, message: Message, synchronous: bool = False, place: Place | None = None) -> Operation:
        """Starts to send a message, at a place of the program if that is known."""
        if self.software is not None:
            self._spend(self.software.send)
        number = self.issued
        self.issued = number + 1
        kind = Kind.SEND_SYNCHRONOUSLY if synchronous else Kind.SEND
        to = message.to
        self.tasks.append((kind, to, message.nbytes, message.tag, message.context, _NONE))
        operation = Operation(number, True, to, message.tag, message.context)
        self.pending[number] = operation
        self.outbox[number] = message
        message.place = self.place() if place is None else place
        return operation

    def receive(self, source: int | None, tag: int | None, context: int, place: Place | None = None) -> Operation:
        """Posts a receive; ``None``: any."""
        number = self.issued
        self.issued = number + 1
        self.tasks.append((Kind.RECEIVE, source, 0, tag, context, _NONE))
        operation = Operation(number, False, source, tag, context)
        operation.place = self.place() if place is None else place
        self.pending[number] = operation
        return operation

    def place(self) -> Place:
        """Where the program is that has called; of a fiber where it was started."""
        frame = user_frame(sys._getframe(2))
        return self.fiber.where if frame is None else (frame.f_code, frame.f_lasti)

    def wait(self, *operations: Operation | Fiber) -> None:
        """Goes on when all of them are complete; receives cost their software time then."""
        for one in operations:
            if not one.done:
                self._block(ALL, operations)
                break
        self.received(operations)

    def wait_any(self, operations: Sequence[Operation | Fiber]) -> None:
        """Goes on when one of them is complete."""
        for one in operations:
            if one.done:
                return
        self._block(ANY, operations)

    def received(self, operations: Sequence[Operation | Fiber]) -> None:
        """The rank has seen that they are complete: receives cost their software time, once."""
        if self.software is not None:
            self._spend(self.software.of_receives(operations))

    def _spend(self, cycles: int) -> None:
        """The rank computes so long before all that it does next; its program sees it when it looks at the time."""
        if cycles:
            self.tasks.append((Kind.COMPUTE, None, cycles, None, 0, _NONE))
            self.issued += 1

    def compute(self, cycles: int) -> None:
        """Occupies the rank, with all its fibers."""
        self._tell(Kind.COMPUTE, cycles)

    def poll(self, cycles: int) -> None:
        """Goes on at the next thing that happens to the rank, at most so many cycles later."""
        self._tell(Kind.POLL, cycles)

    def poll_again(self) -> None:
        """Polls as :meth:`poll`, for the time that the run says, a thousandth longer each time until something happens.

        A rank that waits long by polling asks seldom, and one that waits for ever comes to the end of the run soon.
        """
        cycles = self.patience
        self.patience = min(cycles * _LONGER, _LONGEST_POLL)
        self.poll(round(cycles))

    def found(self, source: int | None, tag: int | None, context: int) -> Message | None:
        """The message that a receive would take now."""
        # Receives that have not been told of come first.
        self.flush()
        found = self.world.simulation.probe(self.rank, source, tag, context)
        return self.world.processes[found[0]].outbox[found[1]] if found else None

    def probe(self, source: int | None, tag: int | None, context: int) -> Message:
        """Waits for a message that a receive would take."""
        while True:
            message = self.found(source, tag, context)
            if message is not None:
                return message
            if self.helpers:
                self.poll(Kind.FOREVER)
            else:
                self._tell(Kind.PROBE, 0, source, tag, context)

    def flush(self) -> None:
        """Tells the simulator what has been started; the rank goes on in the same cycle."""
        if self.tasks:
            self._block(CORE, ())

    def settle(self) -> None:
        """The clock is up to date: the time between two calls costs nothing here, but calls may have cost some."""
        if self.software is not None:
            self.flush()

    def cancel(self, operation: Operation) -> bool:
        """Takes a receive back; whether that was possible."""
        self.flush()
        if operation.done or not self.world.simulation.cancel(self.rank, operation.number):
            return False
        del self.pending[operation.number]
        operation.done = True
        return True

    def spawn(self, work: Callable[[], Any], name: str) -> Fiber:
        """Starts a fiber beside the one that runs; it begins at once."""

        def run(fiber: Fiber) -> None:
            try:
                fiber.result = work()
            except GreenletExit:
                return
            except BaseException as error:
                self.world.fail(self, error)
            fiber.done = True

        fiber = Fiber(run, self.hub, name)
        fiber.where = user_line(sys._getframe(1))
        caller = self.fiber
        # It comes back here when it waits first.
        fiber.greenlet.parent = getcurrent()
        self.fiber = fiber
        self.hub = getcurrent()
        try:
            fiber.greenlet.switch(fiber)
        finally:
            self.hub = self.world.hub
            self.fiber = caller
        if not fiber.done:
            fiber.greenlet.parent = self.hub
            self.helpers.append(fiber)
        return fiber

    def _tell(
        self, kind: int, amount: int, source: int | None = None, tag: int | None = None, context: int = 0
    ) -> None:
        self.tasks.append((kind, source, amount, tag, context, _NONE))
        self.issued += 1
        self._block(CORE, ())

    def _block(self, mode: int, operations: Sequence[Operation | Fiber]) -> None:
        fiber = self.fiber
        fiber.mode, fiber.waits = mode, operations
        self.hub.switch()

    def _run(self, fiber: Fiber) -> None:
        try:
            if self.software is not None and self.software.starts:
                self.compute(self.software.starts[self.rank])
            self.value = self.world.program(self)
            for one in [*self.at_end]:
                one()
        except GreenletExit:
            return
        except BaseException as error:
            self.world.fail(self, error)
        fiber.done = True

    def go(self) -> None:
        """Lets its fibers go on as far as they can, and ends ``tasks`` with an operation that blocks it."""
        main = self.main
        if self.helpers:
            self._go_all()
        elif not main.done:
            main.greenlet.switch(main)
        if main.done and not self.helpers:
            if not self.tasks:
                self.finish_cycle = self.world.now
        elif self.helpers:
            if main.done or main.mode != CORE:
                self._end_with(Kind.POLL, Kind.FOREVER, _NONE)
        elif main.mode == ALL:
            self._end_with(Kind.WAIT, 0, [one.number for one in main.waits if not one.done])  # type: ignore[union-attr]
        elif main.mode == ANY:
            self._end_with(Kind.WAIT_ANY, 0, [one.number for one in main.waits])  # type: ignore[union-attr]

    def _go_all(self) -> None:
        """All fibers that can go on, the program last: what it tells the simulator may block the rank."""
        while True:
            went = False
            for fiber in self.helpers:
                if fiber.ready:
                    went = True
                    self._switch(fiber)
            self.helpers = [fiber for fiber in self.helpers if not fiber.done]
            if went:
                continue
            if self.main.done or not self.main.ready:
                return
            self._switch(self.main)
            if self.main.mode == CORE:
                return

    def _switch(self, fiber: Fiber) -> None:
        self.fiber = fiber
        fiber.greenlet.switch(fiber)
        self.fiber = self.main

    def _end_with(self, kind: int, amount: int, after: Sequence[int]) -> None:
        self.tasks.append((kind, None, amount, None, 0, after))
        self.issued += 1


class World:
    """All ranks of a run, and the loop that drives them. One at a time in a process: :data:`here` is it."""

    def __init__(
        self,
        simulation: Simulation,
        ranks: int,
        program: Callable[[Process], Any],
        kind: type[Process] = Process,
        *,
        cycle_ns: float = 1.0,
        poll_cycles: int = 1000,
        algorithms: Mapping[str, str] | None = None,
        terminals: Sequence[int] = (),
        topology: str | None = None,
        carries: bool = True,
        unmatched: str = "messages",
        flit_bytes: int = 1,
        reduce_cycles_per_flit: float = 0.0,
        software: Software | None = None,
        progress: Progress | None = None,
    ) -> None:
        #: Is told how far the network is, about 20 times a second.
        self.progress = progress
        self.simulation, self.program, self.cycle_ns = simulation, program, cycle_ns
        #: How long a rank goes without looking again at what it polls, where nothing happens.
        self.poll_cycles = poll_cycles
        #: Algorithms of collectives that are not chosen by size.
        self.algorithms = algorithms or {}
        self.terminals = terminals
        #: That of the network (JSON), where rank r is on terminal r.
        self.topology = topology
        #: Whether messages of buffers bring their data; else only their lengths.
        self.carries = carries
        #: What is an error at the end (:data:`flitwork_mpi.programs.run.UNMATCHED`); what was left that is none.
        self.unmatched_is, self.unmatched = unmatched, ""
        #: What a flit carries, and how long a rank takes to combine so much of a reduction.
        self.flit_bytes, self.reduce_cycles_per_flit = flit_bytes, reduce_cycles_per_flit
        #: What the machine's software adds to calls, if it does.
        self.software = software
        self.hub, self.thread, self.pid = getcurrent(), get_ident(), os.getpid()
        self.now = 0
        self.messages = self.bytes = 0
        #: Bytes that ranks have read from files and written to them.
        self.file_bytes = 0
        self.failure: tuple[Process, BaseException] | None = None
        self.processes = [kind(self, rank) for rank in range(ranks)]
        #: What layers above keep of a run.
        self.store: dict[Any, Any] = {}
        #: Called when another rank goes on.
        self.enter: Callable[[Process], None] | None = None

    def terminal_of(self, rank: int) -> int:
        """The terminal that a rank runs on."""
        return self.terminals[rank] if self.terminals else rank

    def flits(self, nbytes: int) -> int:
        """How many flits a message of so many bytes is."""
        return max(-(-nbytes // self.flit_bytes), 1)

    def fail(self, process: Process, error: BaseException) -> None:
        """A rank has raised: the run ends."""
        if self.failure is None:
            self.failure = (process, error)

    def run(self) -> None:
        """Runs all ranks to their ends."""
        if here.world is not None:
            raise ProgramError("a program is running already: one run at a time in a process")
        here.world = self
        try:
            self._loop()
        except DeadlockError:
            raise
        except (ScheduleError, SimulationError) as error:
            if self.failure is None:
                # The report needs to see where ranks are.
                from flitwork_mpi.programs.report import unfinished

                self._stop()
                found = unfinished(self, error)
                if isinstance(found, UnmatchedMessages) and not found.is_error(self.unmatched_is):
                    self.unmatched = str(found)
                elif found is not None:
                    raise found from None
        finally:
            self._end()
            here.world, here.process = None, None
        if self.failure is not None:
            process, raised = self.failure
            if isinstance(raised, (Abort, Exited, KeyboardInterrupt)):
                raise raised
            raise ProgramError.of(process.rank, raised) from raised

    def _loop(self) -> None:
        turn, processes = self.simulation.turn, self.processes
        answers: list[Answer] = []
        issued = None if self.progress is None else self._report_progress
        while True:
            status, self.now, waiting, completed = turn(answers, issued)
            self._complete(completed)
            if status != "asked":
                return
            answers = []
            for rank in waiting:
                if rank >= len(processes):
                    answers.append((rank, ()))
                    continue
                process = here.process = processes[rank]
                if self.enter is not None:
                    self.enter(process)
                process.go()
                if self.failure is not None:
                    return
                answers.append((rank, process.tasks))
                process.tasks = []

    def _complete(self, completed: Sequence[Completed]) -> None:
        """Notes which operations are complete, and hands receives their messages."""
        processes, poll_cycles = self.processes, float(self.poll_cycles)
        for rank, number, _, sender, send in completed:
            process = processes[rank]
            process.patience = poll_cycles
            operation = process.pending.pop(number)
            operation.done = True
            if sender is not None:
                message = processes[sender].outbox.pop(send)
                operation.message = message
                self.messages += 1
                self.bytes += message.nbytes

    def _stop(self) -> None:
        """Ends a simulation in which nothing more happens, and notes what was completed in its last turn."""
        # A turn that raises says nothing of what it has completed; one of a simulation that has ended does.
        self.simulation.stop(complete=all(process.main.done for process in self.processes))
        _, self.now, _, completed = self.simulation.turn(())
        self._complete(completed)

    def _report_progress(self, cycle: int, done: int, total: int | None) -> object:
        """Passes on how far the network is; what is printed then is not of a rank."""
        assert self.progress is not None
        process, here.process = here.process, None
        try:
            return self.progress(cycle, done, total)
        finally:
            here.process = process

    def _end(self) -> None:
        """Ends all fibers, so that what they hold is given up."""
        for process in self.processes:
            here.process = process
            process.hub = getcurrent()
            for fiber in (process.main, *process.helpers):
                if not fiber.greenlet.dead:
                    fiber.greenlet.throw()


class _Here:
    """The rank whose program runs now."""

    __slots__ = ("process", "world")

    def __init__(self) -> None:
        self.process: Process | None = None
        self.world: World | None = None


here = _Here()


def me() -> Process:
    """The rank that runs."""
    process = here.process
    if process is None or process.world.thread != get_ident():
        if process is not None:
            raise ProgramError("ranks have one thread each: another one calls MPI, which is not supported")
        raise ProgramError("no rank program is running: start one with fw.mpi.run, or with flitwork mpi simulate")
    return process


def user_line(frame: FrameType | None) -> str:
    """Where a program is: the innermost line that is not in this package, as ``file:line``."""
    found = user_frame(frame)
    return f"{found.f_code.co_filename}:{found.f_lineno}" if found else ""


def user_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost frame that is not in this package."""
    while frame is not None and frame.f_globals.get("__name__", "").startswith("flitwork_mpi.programs"):
        frame = frame.f_back
    return frame
