"""Schedules: are they what they claim to be, and how do they load the channels?"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from typing_extensions import Unpack

from flitwork import _core
from flitwork.base.arguments import several
from flitwork.base.errors import ConfigError
from flitwork.base.libraries import pd
from flitwork.planning.bound import Bound, plan
from flitwork.planning.specification import Host, Network, NetworkOptions
from flitwork.workloads.workload import Workload, all_to_all


@dataclass(frozen=True)
class Check:
    """A schedule that was checked: every rank can finish, and the data of its operation is where it belongs.

    Of an all-to-all by coordinates, every rank sends exactly one message to every other. Of a collective, ``placement``
    has what was proven by following every block: ``steps``, ``messages``, ``blocks_moved`` and the ``operation``.
    """

    name: str
    network: str
    ports: int
    bound: Bound
    exchange: Mapping[str, Any]
    loads: Mapping[str, Any]
    terminals: Mapping[str, Any]
    placement: Mapping[str, Any] | None = None

    @property
    def message_flits(self) -> int:
        """Length of the longest message [flits]."""
        return int(self.exchange["longest_flits"])

    @property
    def channel_classes(self) -> list[str]:
        """Names of the classes of channels: ``+x``, ``-x``, ``+y``, ..."""
        return [c["class"] for c in self.loads["classes"]]

    @property
    def phases(self) -> pd.DataFrame:
        """A row for each phase (as many messages as a NIC has ports): largest load by class of channels [flits]."""
        rows = [[p["group"], *p["class_max_flits"], p["max_flits"]] for p in self.loads["phases"]]
        return pd.DataFrame(rows, columns=["phase", *(f"{c}_flits" for c in self.channel_classes), "max_flits"])

    @property
    def phase_sum_flits(self) -> float:
        """Sum over the phases of the most loaded channel [flits], which is also cycles at 1 flit a cycle."""
        return float(self.loads["phase_sum_flits"])

    @property
    def terminal_phases(self) -> pd.DataFrame:
        """A row for each phase: the most that a terminal sends to others, and receives from them [flits]."""
        rows = [[p["group"], p["sent_flits"], p["received_flits"]] for p in self.terminals["phases"]]
        return pd.DataFrame(rows, columns=["phase", "sent_flits", "received_flits"])

    @property
    def terminal_sum_flits(self) -> float:
        """Sum over the phases of the most that a terminal sends or receives [flits]."""
        return float(self.terminal_phases[["sent_flits", "received_flits"]].max(axis="columns").sum())

    @property
    def terminal_bound_flits(self) -> float:
        """The most that a terminal sends or receives in all [flits]: no order of these messages has a smaller sum."""
        return float(max(self.terminals["sent_flits"], self.terminals["received_flits"]))

    @property
    def phase_sum_over_bound(self) -> float:
        """The sum over the phases, divided by the lower bound of the channels: 1 where the schedule is as good as any.

        On a network without channels between routers, such as a crossbar, both are those of the terminals.
        """
        if not self.has_channels:
            return self.terminal_sum_flits / self.terminal_bound_flits if self.terminal_bound_flits else 1.0
        channels = self.channel_bound_cycles
        return self.phase_sum_flits / channels if channels else 1.0

    @property
    def has_channels(self) -> bool:
        """Whether there are channels between routers."""
        return bool(self.channel_classes)

    @property
    def channel_bound_cycles(self) -> float:
        """The lower bound of the channels: the most loaded one, or the bisection where that is known [cycles]."""
        # A bisection that is not known is NaN, which no comparison takes.
        return max(self.bound.channel_load_cycles, self.bound.bisection_cycles)

    def __repr__(self) -> str:
        messages = f"{self.exchange['messages']:,} messages, {self.proven}"
        return f"<{self.name} on {self.network}: {messages}, phases {self.phase_sum_over_bound:.3f} times the bound>"

    @property
    def proven(self) -> str:
        """What was proven, in words."""
        if self.placement is None:
            return "every ordered pair exactly once"
        return f"every block of the {self.placement['operation']} where it belongs"


def check(
    algorithm: str | Workload,
    network: Network | None = None,
    *,
    size: Sequence[int] | None = None,
    topology: str | None = None,
    message_flits: int = 100,
    host: Host | Mapping[str, Any] | None = None,
    **options: Unpack[NetworkOptions],
) -> Check:
    """Proves that a schedule does what it promises, and adds up the load of each channel class by phase.

    An all-to-all by its name has to exchange every pair exactly once. A collective, given as a workload, has to bring
    every block to where it belongs; then the lengths are its own and ``message_flits`` is not used. The network is a
    grid of a ``size`` (a torus, if no ``topology`` is named), or any ``network``. ``host`` as for
    :func:`flitwork.simulate`: how many ranks each terminal has.

    >>> fw.check("a2at", size=(9, 9), ports=4).phase_sum_over_bound
    >>> fw.check(fw.collective("allreduce", "ring"), size=(4, 4)).placement["blocks_moved"]
    >>> fw.check(fw.collective("all_to_all", "birkhoff"), fw.Crossbar(terminals=8), host=fw.Host(ranks_per_terminal=4))

    Raises :class:`flitwork.ScheduleError` that names the fault where the schedule is not what it claims to be.
    """
    work = all_to_all(algorithm, message_flits=message_flits) if isinstance(algorithm, str) else algorithm
    if network is not None:
        of_grid = [*(["size"] if size is not None else []), *(["topology"] if topology is not None else []), *options]
        if of_grid:
            hint = "a network has its own; take one of the two out"
            raise ConfigError(of_grid[0], "there", "nothing beside a network", hint)
        planned = plan(network, work, host)
        described = planned.contents()["described"]
        return check_plan(planned, f"{described['topology']['kind']} {described['size']}")
    if size is None:
        raise ConfigError("size", "nothing", "a size for each dimension, or a network", "for example size=(9, 9)")
    sizes = several("size", size, "a size for each dimension", "for example (9, 9)")
    kind = topology if topology is not None else "torus"
    planned = plan(Network(kind, size=sizes, **options), work, host)
    return check_plan(planned, f"{kind} {'x'.join(map(str, sizes))}")


def check_plan(planned: _core.Plan, network: str) -> Check:
    """:func:`check` of a plan that exists; ``network`` is for the reader."""
    found, described = json.loads(planned.check()), planned.contents()["described"]
    return Check(
        name=described["workload"],
        network=network,
        ports=int(described["nic_ports"]),
        bound=Bound.of(planned),
        exchange=found["exchange"],
        loads=found["loads"],
        terminals=found["terminals"],
        placement=found["placement"],
    )
