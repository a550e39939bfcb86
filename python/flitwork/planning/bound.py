"""What no run can beat."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from flitwork import _core
from flitwork.base.physical import Units, physical_name
from flitwork.planning.specification import Host, Network, plan_of, simulation
from flitwork.workloads.workload import Workload


@dataclass(frozen=True)
class Bound:
    """Limits of a network under a workload, latency left out: they hold for every router.

    A workload that completes has lower bounds on its completion time (``bisection_cycles``, ``channel_load_cycles``,
    ``injection_cycles``, ``ejection_cycles``, the largest of them as ``tightest_cycles``) and, beside them, the time of
    the phase model (``phase_model_cycles``), which is an estimate and no bound. An open loop has ``saturation_load``,
    up to which all that is offered can be accepted, and ``accepted_load``: no run accepts more on the average.
    """

    values: Mapping[str, Any]
    units: Units = field(default_factory=Units)

    @classmethod
    def of(cls, planned: _core.Plan) -> Bound:
        """The bound of a plan."""
        return cls(planned.bound(), Units(**planned.units))

    @property
    def physical(self) -> dict[str, float]:
        """The bounds in ns and bytes/s; empty where ``units`` do not say.

        The names end in the unit: ``tightest_ns``, ``saturation_load_bytes_per_s``, ...
        """
        found = {}
        for name, value in self.values.items():
            named = physical_name(name)
            factor = self.units.factor(named[1]) if named else None
            if named and factor is not None and value is not None:
                found[named[0]] = value * factor
        return found

    @property
    def runs_to_completion(self) -> bool:
        """Whether this bounds a completion time (and not a load)."""
        return bool(self.values["kind"] == "completion")

    def _cycles(self, name: str) -> float:
        value = self.values.get(name)
        return math.nan if value is None else float(value)

    @property
    def bisection_cycles(self) -> float:
        """What any routing needs to bring the messages across the narrowest cut."""
        return self._cycles("bisection_cycles")

    @property
    def channel_load_cycles(self) -> float:
        """What the most loaded channel needs under the routing; of routes that are drawn, what no draw avoids."""
        return self._cycles("channel_load_cycles")

    @property
    def injection_cycles(self) -> float:
        """What the terminals need to send."""
        return self._cycles("injection_cycles")

    @property
    def ejection_cycles(self) -> float:
        """What the terminals need to receive."""
        return self._cycles("ejection_cycles")

    @property
    def tightest_cycles(self) -> float:
        """The largest lower bound of a workload that completes."""
        return self._cycles("tightest_cycles")

    @property
    def tightest(self) -> str:
        """Which it is: bisection, channel_load, injection, ejection or none; of an open loop channels or terminals."""
        if self.runs_to_completion:
            return str(self.values["tightest"] or "none")
        terminals = self.values["terminal_load_flits_per_cycle"]
        return "terminals" if self.saturation_load >= terminals else "channels"

    @property
    def phase_model_cycles(self) -> float:
        """Sum over the phases of the most loaded channel: not a bound."""
        return self._cycles("phase_model_cycles")

    @property
    def operation(self) -> Mapping[str, Any]:
        """What any algorithm for the same collective operation needs, whatever it sends; empty for other workloads.

        ``injection_cycles``, ``ejection_cycles``, ``bisection_cycles`` (all-to-all on a grid), the largest of them as
        ``cycles``, and ``rounds``: how many it takes if a rank sends and receives one message in each.
        """
        return dict(self.values.get("operation") or {})

    @property
    def saturation_load(self) -> float:
        """Open loop: up to this load channels and terminals can carry all that is offered [flits/cycle/terminal].

        Beyond it some source gets less than it offers. Others may go on: see :attr:`accepted_load`.
        """
        return self._cycles("saturation_load_flits_per_cycle")

    @property
    def accepted_load(self) -> float:
        """Open loop: no run accepts more than this at any offered load [flits/cycle, the mean over all terminals].

        Never less than :attr:`saturation_load`; more where the packets of some sources meet few others.
        """
        return self._cycles("accepted_load_flits_per_cycle")


def plan(network: Network, workload: Workload, host: Host | Mapping[str, Any] | None = None) -> _core.Plan:
    """The plan of a network and a workload with the defaults of a run; ``host`` as for :func:`flitwork.simulate`."""
    return plan_of(simulation(network, workload, host=host))


def bound(network: Network, workload: Workload, *, host: Host | Mapping[str, Any] | None = None) -> Bound:
    """The limits of a workload on a network: ``fw.bound(fw.Torus(9, 9), fw.all_to_all()).tightest_cycles``.

    ``host`` as for :func:`flitwork.simulate`.
    """
    return Bound.of(plan(network, workload, host))
