"""``fw.mpi.run``: a function, or a script, on simulated ranks."""

from __future__ import annotations

import gc
import json
import math
import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from flitwork.base.arguments import whole
from flitwork.base.errors import ConfigError
from flitwork.networks.constructors import Torus
from flitwork.networks.faults import working_topology
from flitwork.networks.network import Network, check_network, nest_run
from flitwork.planning.specification import Host, Run
from flitwork.results.result import Progress
from flitwork.running.simulation import Simulation
from flitwork.values.tables import Units
from flitwork.workloads.workload import programs

from flitwork_mpi.programs import algorithms as collective_algorithms
from flitwork_mpi.programs.comm import COMM_WORLD
from flitwork_mpi.programs.exits import exits_of_ranks
from flitwork_mpi.programs.modules import Modules
from flitwork_mpi.programs.output import Labelled
from flitwork_mpi.programs.per_rank import registered_by_ranks
from flitwork_mpi.programs.result import RunResult
from flitwork_mpi.programs.script import Script
from flitwork_mpi.programs.software import Software
from flitwork_mpi.programs.timing import process_type, slept_by_ranks
from flitwork_mpi.programs.world import Process, World

#: Of a network that does not say: 16 bytes a flit and 1 ns a cycle, so channels of 16 GB/s.
DEFAULT_FLIT_BYTES, DEFAULT_CYCLE_NS = 16, 1.0
_MOST_RANKS = 2**20
#: What is an error at the end: messages that nobody has received, receives that got none, too, or nothing.
UNMATCHED = ("messages", "error", "ignored")
#: When a run ends that says nothing of it [cycles]: a program may compute long. Ranks that wait in vain are there soon.
_MOST_CYCLES = 10**12


def run(
    program: Callable[..., Any] | str | Path,
    *args: Any,
    ranks: int,
    network: Network | None = None,
    host: Host | Mapping[str, Any] | None = None,
    compute: str = "zero",
    compute_scale: float = 1.0,
    algorithms: Mapping[str, str] | None = None,
    packet_flits: int = 100,
    poll_cycles: int = 1000,
    label: bool | None = None,
    data: bool = True,
    unmatched: str = "messages",
    seed: int = 1,
    run: Run | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> RunResult:
    """Runs a program on ``ranks`` simulated ranks, which send their messages through ``network``.

    ``program`` is a function, called on each rank as ``program(comm, *args)``, or a script that imports mpi4py, with
    ``args`` as its ``sys.argv[1:]``. ``network`` is a torus as square as it gets, if it is left out. It says in
    ``units`` how many bytes a flit carries and how long a cycle is: 16 bytes and 1 ns where it does not.

    ``compute``: what the time between two calls costs. ``zero``: nothing but ``flitwork.mpi.compute(ns)``;
    ``measured``: the processor time that it took here, times ``compute_scale``, and ``flitwork.mpi.compute``.
    ``algorithms`` chooses those of collectives, ``{"bcast": "binomial"}``. A test or a probe that finds nothing goes on
    when something happens to the rank, at the latest after ``poll_cycles``, and a thousandth later each time.
    ``label``: whether lines that ranks print stand behind their number, ``[3] text`` (those of scripts do). Without
    ``data`` messages of buffers bring their lengths only: buffers are neither read nor written, and objects travel as
    ever.
    ``unmatched``: what is an error at the end of all ranks. ``messages``: messages that nobody has received; receives
    that were posted and got none are a warning, as real MPI ends well with them. ``error``: these, too. ``ignored``:
    neither. ``RunResult.unmatched`` has what was left and is no error. ``progress(cycle, done, total)`` is called while
    the ranks run, as in :func:`flitwork.simulate`; ``total`` is ``None``, because what ranks will send is not known.
    ``run`` and more options as in :func:`flitwork.simulate`; the default limit is 10^12 cycles.

    Raises :class:`flitwork.ConfigError` where arguments do not fit, :class:`flitwork.mpi.ProgramError` where a rank
    raises, :class:`flitwork.mpi.ProgramDeadlock` where ranks wait for each other, and
    :class:`flitwork.mpi.UnmatchedMessages` where messages are left at the end.
    """
    ranks = whole("ranks", ranks, 1, _MOST_RANKS)
    kind = process_type(compute, compute_scale)
    chosen = collective_algorithms.checked(algorithms or {})
    if unmatched not in UNMATCHED:
        raise ConfigError("unmatched", repr(unmatched), f"one of {', '.join(UNMATCHED)}")
    machine = with_units(default_network(ranks) if network is None else network)
    how = nest_run(run, options)
    if "max_ns" not in how:
        how.setdefault("max_cycles", _MOST_CYCLES)
    simulation = Simulation(
        machine, programs(packet_flits=packet_flits, software_times=True), host=host, run=Run(**how), seed=seed
    )
    placed = simulation.placement
    if len(placed) < ranks:
        hint = "a larger network, or more ranks on a terminal: host=fw.Host(ranks_per_terminal=...)"
        raise ConfigError("ranks", ranks, f"at most {len(placed)} on this network", hint)
    script = None if callable(program) else Script(Path(program), [str(one) for one in args])
    modules = Modules(script.folder if script else None, seed)

    def work(process: Process) -> Any:
        if script is not None:
            return script.run(process, modules)
        return program(COMM_WORLD, *args)  # type: ignore[operator]

    in_order = all(terminal == rank for rank, terminal in enumerate(placed))
    world = World(
        simulation, ranks, work, kind, cycle_ns=simulation.cycle_ns, poll_cycles=poll_cycles, algorithms=chosen,
        terminals=placed, topology=json.dumps(working_topology(machine.spec)) if in_order else None,
        carries=data, unmatched=unmatched, flit_bytes=machine.spec["units"]["flit_bytes"],
        reduce_cycles_per_flit=simulation.host["reduce_cycles_per_flit"], software=Software.of(simulation),
        progress=progress,
    )  # fmt: skip
    _carried_out(world, modules, script is not None if label is None else label)
    if world.unmatched and unmatched == "messages":
        warnings.warn(world.unmatched, stacklevel=2)
    return RunResult.of(world, script.exit_codes if script else {})


def _carried_out(world: World, modules: Modules, label: bool) -> None:
    """Runs the world, with the imports and the output of ranks."""
    kept, argv, path = (sys.stdout, sys.stderr), sys.argv, [*sys.path]
    streams = [Labelled(stream) for stream in kept] if label else []
    modules.install()
    # What is there stays: the garbage collector need not look at it, nor every 700 messages at what comes and goes.
    collected = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(100_000, *collected[1:])
    world.enter = modules.enter
    if streams:
        sys.stdout, sys.stderr = streams  # type: ignore[assignment]
    try:
        with (
            exits_of_ranks(),
            slept_by_ranks(),
            modules.state.changed_by_ranks(),
            registered_by_ranks(modules.names_of_ranks),
        ):
            world.run()
    finally:
        sys.stdout, sys.stderr = kept
        sys.path[:] = path
        for stream in streams:
            stream.finish()
        modules.remove()
        gc.set_threshold(*collected)
        gc.unfreeze()
        sys.argv = argv


def default_network(ranks: int) -> Network:
    """A torus of two dimensions, as square as it gets, with a terminal for each rank at least."""
    rows = max(math.isqrt(max(ranks - 1, 1)) + 1, 2)
    return Torus(rows, max(-(-ranks // rows), 2))


def with_units(network: Network) -> Network:
    """A network that says what a flit carries and how long a cycle is."""
    check_network(network)
    said = network.spec.get("units") or {}
    if len(said) > 1:
        return network
    defaults = {"flit_bytes": DEFAULT_FLIT_BYTES, "cycle_ns": DEFAULT_CYCLE_NS}
    if "channel_bytes_per_s" in said:
        del defaults["cycle_ns"]
    return network.replace(units=Units(**{**defaults, **said}))
