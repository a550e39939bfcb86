"""``fw.any_routing``: what the channels need whatever routes the packets take, and what the routing of a network costs.

From above: the simulator's crate searches for a split of all traffic over routes and for weights of the channels that
prove how good it is; this module compares both with the routing of the network.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flitwork import _core
from flitwork.base.arguments import number, whole
from flitwork.base.errors import ConfigError
from flitwork.base.libraries import np, pd
from flitwork.planning.bound import Bound, plan
from flitwork.planning.specification import Host, Network
from flitwork.workloads.workload import Workload

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The gap at which a search ends if nothing else is said, and its steps at most.
DEFAULT_GAP = 0.01
DEFAULT_STEPS = 1000
_MOST_STEPS = 2**32 - 1

#: Called with the steps done, the time that is proved and the time of the split so far [cycles].
Progress = Callable[[int, float, float], object]


@dataclass(frozen=True)
class AnyRouting:
    """What no routing can beat on a network, and a split of the traffic over routes that comes near it.

    ``proved_cycles``: the busiest channel needs at least this time, whatever routes the packets take, shortest or not.
    ``reached_cycles``: the time of the busiest channel in the split that was found. The truth is between the two.
    In an open loop, both are for 1 flit from each terminal, so the loads are their inverses: ``proved_load`` and
    ``reached_load``. ``bound`` is the bound under the routing of the network (:func:`flitwork.bound`).

    Injection and ejection are left out. ``loads_are_known``: whether the load under the routing of the network is known
    before a run; it is not where packets choose among routes as they go. ``interrupted``: the search was stopped, and
    this is the best so far.
    """

    bound: Bound
    proved_cycles: float
    reached_cycles: float
    steps: int
    interrupted: bool
    loads_are_known: bool
    _described: Mapping[str, Any] = field(repr=False)
    _weights: NDArray[np.uint32] = field(repr=False)
    _flits: NDArray[np.float64] = field(repr=False)

    @property
    def gap(self) -> float:
        """How much longer the split takes than what is proved, as a share of that."""
        return self.reached_cycles / self.proved_cycles - 1 if self.proved_cycles else 0.0

    @property
    def proved_load(self) -> float:
        """Open loop: no routing accepts more of all terminals alike [flits/cycle/terminal]; NaN for other workloads."""
        return self._load(self.proved_cycles)

    @property
    def reached_load(self) -> float:
        """Open loop: the load at which the split saturates [flits/cycle/terminal]; NaN for other workloads."""
        return self._load(self.reached_cycles)

    def _load(self, cycles: float) -> float:
        if self.bound.runs_to_completion:
            return math.nan
        return 1 / cycles if cycles else math.inf

    @property
    def routing_cycles(self) -> float:
        """The time of the busiest channel under the routing of the network [cycles]; open loop: for 1 flit of each.

        NaN where ``loads_are_known`` is false.
        """
        if not self.loads_are_known:
            return math.nan
        if self.bound.runs_to_completion:
            return self.bound.channel_load_cycles
        load = self.bound.values["channels"]["load_flits_per_cycle"]
        return 1 / load if load else 0.0

    @property
    def routing_over_split(self) -> float:
        """Time of the busiest channel under the routing of the network, over that in the split.

        NaN without traffic, and where ``loads_are_known`` is false.

        1.5: other routes would cut the time by a third, or raise the load of saturation by half. Below 1 by up to
        :attr:`gap` if the routing is as good as any.
        """
        return self.routing_cycles / self.reached_cycles if self.reached_cycles else math.nan

    def table(self) -> pd.DataFrame:
        """A row per channel: ``router``, ``port``, ``to_router``, ``class``, ``flits`` in the split, and ``weight``.

        The channels with the largest weights (0 to 1) limit all routings: to widen them helps most.
        """
        channels = _core.channels(json.dumps(self._described["topology"]))
        ends = {name: channels[name] for name in ("router", "port", "to_router")}
        classes = np.array(self._described["channel_classes"], dtype=object)[channels["class"]]
        heaviest = max(int(self._weights.max(initial=0)), 1)
        return pd.DataFrame({**ends, "class": classes, "flits": self._flits, "weight": self._weights / heaviest})

    def to_dict(self) -> dict[str, Any]:
        """The numbers as plain data, for JSON."""
        loads = (
            {}
            if self.bound.runs_to_completion
            else {"proved_load": self.proved_load, "reached_load": self.reached_load}
        )
        return {
            "proved_cycles": self.proved_cycles,
            "reached_cycles": self.reached_cycles,
            **loads,
            "gap": self.gap,
            "loads_are_known": self.loads_are_known,
            "routing_cycles": _known(self.routing_cycles),
            "routing_over_split": _known(self.routing_over_split),
            "steps": self.steps,
            "interrupted": self.interrupted,
        }


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def any_routing(
    network: Network,
    workload: Workload,
    *,
    host: Host | Mapping[str, Any] | None = None,
    gap: float = DEFAULT_GAP,
    budget_steps: int = DEFAULT_STEPS,
    progress: Progress | None = None,
) -> AnyRouting:
    """Bounds what any routing can do on a network: the maximum concurrent flow of a workload.

    >>> found = fw.any_routing(fw.Dragonfly(routers_per_group=4), fw.uniform(offered_load=0.1))
    >>> print(found.proved_load, found.reached_load, found.routing_over_split)

    ``host`` as for :func:`flitwork.simulate`. The search ends when the split takes at most ``gap`` longer than what is
    proved, or after ``budget_steps``; Ctrl-C, or ``progress`` that returns ``False``, ends it with the best so far. The
    same arguments give the same result.

    Raises :class:`flitwork.ConfigError` for a gap that is not between 0 and 1.
    """
    gap = number("gap", gap, "a share between 0 and 1")
    if not 0 <= gap <= 1:
        raise ConfigError("gap", gap, "a share between 0 and 1, such as 0.01")
    budget_steps = whole("budget_steps", budget_steps, 1, _MOST_STEPS)
    if progress is not None and not callable(progress):
        raise ConfigError("progress", repr(progress), "a function of steps, proved and reached cycles, or None")
    return any_routing_of(plan(network, workload, host), gap, budget_steps, progress)


def any_routing_of(
    planned: _core.Plan, gap: float = DEFAULT_GAP, budget_steps: int = DEFAULT_STEPS, progress: Progress | None = None
) -> AnyRouting:
    """The same question about a plan."""

    def goes_on(steps: int, proved: float, reached: float) -> bool:
        return progress is None or progress(steps, proved, reached) is not False

    found = _core.any_routing(planned, gap, budget_steps, goes_on)
    return AnyRouting(
        bound=Bound.of(planned),
        proved_cycles=found["proved_cycles"],
        reached_cycles=found["reached_cycles"],
        steps=found["steps"],
        interrupted=found["interrupted"],
        loads_are_known=found["loads_are_known"],
        _described=planned.contents()["described"],
        _weights=found["weights"],
        _flits=found["flits"],
    )
