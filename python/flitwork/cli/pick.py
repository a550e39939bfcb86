"""``flitwork pick``: the fastest algorithm of a collective operation on a machine, and why it is."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from flitwork.base.output_files import writable_file
from flitwork.cli.heartbeat import alive
from flitwork.cli.options import (
    AsJson,
    Jobs,
    Machine,
    Overwrite,
    PacketFlits,
)
from flitwork.cli.output import escape, guarded, note, print_json, print_table, say
from flitwork.cli.progress import watcher
from flitwork.cli.what_is_simulated import NetworkOptions, bytes_of, machine_of, with_options
from flitwork.experiment import Job, Watcher
from flitwork.experiment.display import duration
from flitwork.experiment.engines import available_cores
from flitwork.experiment.execute import Status
from flitwork.questions.candidates import OPERATION
from flitwork.questions.pick import Contest, Pick, check_saved
from flitwork.results.result import Result

#: After so long it is said how long it takes, if that is longer: by then the speed of this machine is known.
_LONG_SECONDS = 2.0
_SHOWN = {
    "candidate": "algorithm",
    "completion_cycles": "cycles",
    "completion_ns": "ns",
    "ratio_to_bound": "ratio to bound",
    "slower": "slower by",
    "own_bound_cycles": "bound of its messages",
    "steps": "steps",
    "flit_hops": "flit-hops",
}


@guarded
@with_options
def pick(
    machine: Machine = None,
    operation: Annotated[
        str, typer.Option(metavar="NAME", help="The operation (`flitwork list collectives`).")
    ] = OPERATION,
    message_bytes: Annotated[
        str | None, typer.Option(metavar="BYTES", help="Length of a message: a block, or the whole vector.")
    ] = None,
    message_flits: Annotated[int | None, typer.Option(help="The same in flits.")] = None,
    packet_flits: PacketFlits = None,
    algorithms: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Candidates, with commas [default: all of the operation].")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Each candidate runs with so many seeds: 1, 2, ...")] = 1,
    options: NetworkOptions = NetworkOptions(),  # noqa: B008
    jobs: Jobs = None,
    save: Annotated[Path | None, typer.Option(help="Store the table (.csv), or all of it (.json).")] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Simulate the algorithms of a collective on a machine: the fastest, its time, the bound, and why it wins.

    Algorithms that are not defined for the ranks, the servers or the network are listed with the reason. Ctrl-C prints
    what is finished.

    Examples:

      flitwork pick machine.toml --message-bytes 65536

      flitwork pick --size 4x4 --message-flits 256 --packet-flits 64 --operation allreduce

      flitwork pick --topology crossbar --set terminals=4 --set host.ranks_per_terminal=4 --message-flits 64
    """
    if save:
        writable_file(check_saved(save, "--save"), "--save", overwrite)
    with alive("planning"):
        contest = _contest(
            machine, options, operation, algorithms, seeds,
            message_bytes=bytes_of(message_bytes), message_flits=message_flits, packet_flits=packet_flits,
        )  # fmt: skip
    try:
        contest.run(jobs=jobs, watcher=_announced(contest, jobs))
    except KeyboardInterrupt:
        if contest.finished:
            _show(contest.picked(explained=False), as_json, save)
        raise
    _show(contest.picked(), as_json, save)


def _contest(
    machine: Path | None,
    options: NetworkOptions,
    operation: str,
    algorithms: str | None,
    seeds: int,
    **sent: object,
) -> Contest:
    network, host, run, fields = machine_of(machine, options, **sent)
    named = None if algorithms is None else [name.strip() for name in algorithms.split(",") if name.strip()]
    return Contest.of(network, operation, host=host or None, algorithms=named, seeds=seeds, run=run, **fields)


class _Announcer(Watcher):
    """Says once how long it will take, by what was done in the first seconds; passes on what it is told."""

    def __init__(self, watcher: Watcher, seconds: float) -> None:
        #: ``seconds``: by the plans alone.
        self.watcher, self.seconds = watcher, seconds
        self.is_due = True

    def begin(self, status: Status) -> None:
        """Nothing is known yet."""
        self.watcher.begin(status)

    def tick(self, status: Status) -> None:
        """Announces what is left, when it is time to."""
        elapsed = time.monotonic() - status.started
        if self.is_due and elapsed >= _LONG_SECONDS:
            self.is_due = False
            known = status.seconds_left
            left = max(self.seconds - elapsed, 0.0) if known is None else known
            if left >= _LONG_SECONDS:
                note(f"{status.total} simulations: about {duration(left)} left (an estimate)")
        self.watcher.tick(status)

    def finished(self, job: Job, result: Result) -> None:
        """Notes that a candidate is finished."""
        self.watcher.finished(job, result)

    def end(self, status: Status) -> None:
        """All are finished, or it was interrupted."""
        self.watcher.end(status)


def _announced(contest: Contest, jobs: int | None) -> Watcher:
    """The watcher of a contest, which says how long it will take, if that is long."""
    count = sum(len(one.jobs) for one in contest.candidates)
    at_once = max(min(jobs or available_cores(), count), 1)
    return _Announcer(watcher(patient=True), contest.seconds / at_once)


def _show(found: Pick, as_json: bool, save: Path | None) -> None:
    if save:
        found.save(save)
    if as_json:
        print_json(found.to_dict())
        return
    shown = [name for name in _SHOWN if not found.table[name].isna().all()]
    rows = [
        [f"{value:+.1%}" if name == "slower" else value for name, value in zip(shown, row, strict=True)]
        for row in found.table[shown].itertuples(index=False, name=None)
    ]
    print_table([_SHOWN[name] for name in shown], rows, found.title)
    if found.left_out:
        print_table(("left out", "why"), list(found.left_out.items()))
    say(f"[bold green]{escape(found.best)}[/]")
    say(escape(found.reason))
    if save:
        say(f"stored in {escape(str(save))}")
