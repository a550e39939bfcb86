"""Why ranks cannot go on, or what is left at the end: who, for whom, and in which line of its program."""

from __future__ import annotations

from types import FrameType

from flitwork.base.errors import ScheduleError, SimulationError

from flitwork_mpi.programs.errors import ProgramDeadlock, ProgramError, ProgramUnfinished, UnmatchedMessages
from flitwork_mpi.programs.world import Fiber, Operation, Place, Process, World, user_frame

#: Ranks, or messages, that a report names.
_NAMED = 16


def unfinished(world: World, error: ScheduleError | SimulationError) -> ProgramError | None:
    """The error for a simulation in which nothing can happen any more, or that has come to its limit.

    None where all that is left are messages of functions that are called at exit: who gets them may have ended before.
    """
    blocked = [process for process in world.processes if not process.main.done or process.helpers]
    if not blocked:
        if isinstance(error, SimulationError):
            # What is under way may find its match behind the limit.
            return ProgramUnfinished(f"{error}; all ranks have ended")
        left = _left_over(world)
        at_exit = any(process.leaving is not None and process.outbox for process in world.processes)
        return left if left or at_exit else ProgramDeadlock(str(error))
    lines = [_line(process) for process in blocked[:_NAMED]]
    if isinstance(error, SimulationError):
        return ProgramUnfinished("\n".join([f"{error}; where ranks are:", *lines]))
    if len(blocked) > _NAMED:
        lines.append(f"  ... and {len(blocked) - _NAMED} more")
    lines += _ended(world, blocked)
    circle = _circle(blocked)
    if circle:
        lines.append("  in a circle: " + " -> ".join(f"rank {rank}" for rank in circle))
    count = f"{len(blocked)} of {len(world.processes)} ranks"
    return ProgramDeadlock("\n".join([f"deadlock in cycle {world.now}: {count} cannot go on", *lines]))


def _ended(world: World, blocked: list[Process]) -> list[str]:
    """Those that have ended though others wait for them."""
    missed = {one.peer for process in blocked for one in _waited(process, _blocked_fiber(process))}
    ended = [process for process in world.processes if process not in blocked and process.rank in missed]
    codes = [f" with exit code {process.exit_code}" if process.exit_code else "" for process in ended]
    return [f"  rank {process.rank} has ended{code}" for process, code in zip(ended, codes, strict=True)][:_NAMED]


def _blocked_fiber(process: Process) -> Fiber:
    """The fiber that keeps a rank."""
    return process.helpers[0] if process.main.done else process.main


def _left_over(world: World) -> ProgramError | None:
    lines, receives = [], []
    for process in world.processes:
        for number, message in process.outbox.items():
            if process.leaving is not None and number >= process.leaving:
                continue
            # Tags in the contexts of collectives are numbers of calls; their messages say of which.
            kind = f"in {message.data[0]}" if message.context % 2 == 0 else _tagged(message.tag)
            what = f"{kind}, {message.nbytes} bytes, sent{_at(message.place)}"
            lines.append(f"  a message of rank {process.rank} to rank {message.to}, {what}")
        receives += [
            f"  a receive of rank {process.rank} {_from(one)}, posted{_at(one.place)}"
            for one in process.pending.values()
            if not one.sends
        ]
    messages = bool(lines)
    lines += receives
    if not lines:
        return None
    more = [f"  ... and {len(lines) - _NAMED} more"] if len(lines) > _NAMED else []
    found = UnmatchedMessages.left("", messages=messages)
    hint = (
        ['  with unmatched="ignored" (--unmatched ignored) this is a note']
        if found.is_error(world.unmatched_is)
        else []
    )
    text = "\n".join(["all ranks have ended, and these found no match:", *lines[:_NAMED], *more, *hint])
    return UnmatchedMessages.left(text, messages=messages)


def _at(place: Place) -> str:
    """A line of a program, behind what was done there."""
    if isinstance(place, str):
        return f" at {place}" if place else ""
    code, offset = place
    lines = (line for first, end, line in code.co_lines() if first <= offset < end and line is not None)
    return f" at {code.co_filename}:{next(lines, code.co_firstlineno)}"


def _line(process: Process) -> str:
    fiber = _blocked_fiber(process)
    call, where = _call(fiber)
    waits = [*dict.fromkeys(_described(process, one) for one in _waited(process, fiber))]
    started = [one for one in fiber.waits if isinstance(one, Fiber)]
    if started:
        call = f"{call} for {started[0].name} of {started[0].where}"
    what = ", ".join(waits[:4]) + (", ..." if len(waits) > 4 else "")
    return f"  rank {process.rank}: {call or 'waits'}{' at ' + where if where else ''}" + (f": {what}" if what else "")


def _waited(process: Process, fiber: Fiber) -> list[Operation]:
    """The operations that keep a fiber, or those that it waits for."""
    found: list[Operation] = []
    for one in fiber.waits:
        if isinstance(one, Operation):
            found += [] if one.done else [one]
        elif not one.done:
            found += _waited(process, one)
    return found


def _described(process: Process, one: Operation) -> str:
    if one.context in process.world.store.get("windows", ()):
        return f"waits for the window of rank {one.peer}"
    if one.sends:
        return f"waits to send to rank {one.peer}, {_of_collective(one) or _tagged(one.tag)}"
    return f"waits for a message {_from(one)}"


def _from(one: Operation) -> str:
    source = "any rank" if one.peer is None else f"rank {one.peer}"
    return f"from {source}, {_of_collective(one) or _tagged(one.tag)}"


def _of_collective(one: Operation) -> str:
    """Tags in the contexts of collectives are numbers of calls, which tell a reader nothing."""
    return "in a collective" if one.context % 2 == 0 else ""


def _tagged(tag: int | None) -> str:
    return "any tag" if tag is None else f"tag {tag}"


def _call(fiber: Fiber) -> tuple[str, str]:
    """The call that a program is in, and the line."""
    frame: FrameType | None = fiber.greenlet.gr_frame
    user = user_frame(frame)
    if user is None or fiber.where:
        return fiber.name, fiber.where
    inner = frame
    while inner is not None and inner.f_back is not user:
        inner = inner.f_back
    name = inner.f_code.co_name if inner else ""
    return name, f"{user.f_code.co_filename}:{user.f_lineno}"


def _circle(blocked: list[Process]) -> list[int]:
    """Ranks that wait for each other in a circle, where each waits for one rank only."""
    waits_for: dict[int, int] = {}
    for process in blocked:
        peers = {
            one.peer for one in _waited(process, _blocked_fiber(process)) if not one.sends and one.peer is not None
        }
        if len(peers) == 1:
            waits_for[process.rank] = peers.pop()
    for start in waits_for:
        seen: list[int] = []
        at: int | None = start
        while at is not None and at not in seen:
            seen.append(at)
            at = waits_for.get(at)
        if at is not None:
            found = seen[seen.index(at) :]
            return [*found, at]
    return []
