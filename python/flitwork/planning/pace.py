"""``fw.pace``: how the messages of each step overlap, and how long a NIC would pause for it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from flitwork import _core
from flitwork.base.libraries import pd
from flitwork.planning.bound import plan
from flitwork.planning.specification import Host, Network
from flitwork.workloads.workload import Workload

#: The columns of :attr:`Pace.steps`, with what they count.
COLUMNS = {
    "step": "number of the step",
    "messages": "messages between routers",
    "most_of_a_terminal": "the most of them that one terminal sends",
    "longest_flits": "length of the longest",
    "overlap": "the most of them on one channel: the message-overlap degree (MOD)",
    "hops": "the most hops of one of them",
    "mod_gap_packets": "pause by MOD, in packets",
    "hops_gap_packets": "pause by hops, in packets",
    "unpaced_cycles": "time to inject the messages of a terminal, each as long as the longest, without a pause",
    "mod_cycles": "the same with the pauses by MOD",
    "hops_cycles": "the same with the pauses by hops",
}


@dataclass(frozen=True)
class Pace:
    """What pacing does to each step of a schedule. ``steps``: a row a step that sends over channels."""

    steps: pd.DataFrame
    packet_flits: int

    @property
    def overlap_sum(self) -> float:
        """Sum of the message-overlap degrees: the messages on the busiest channel of each step, step after step."""
        return float(self.steps["overlap"].sum())

    def cycles(self, kind: Literal["unpaced", "mod", "hops"]) -> int:
        """Time to inject all steps one after the other with the pauses of ``kind`` [cycles]; no contention, no latency.

        A run that waits between its steps takes at least as long.
        """
        return int(self.steps[f"{kind}_cycles"].sum())

    def __repr__(self) -> str:
        return (
            f"<{len(self.steps):,} steps: overlap {self.steps['overlap'].mean():.2f} on the average, "
            f"{self.steps['overlap'].max():g} at most>"
            if len(self.steps)
            else "<no message crosses a channel>"
        )


def pace(
    network: Network,
    workload: Workload,
    *,
    over: Literal["step", "schedule"] = "step",
    aggregate: bool = False,
    host: Host | Mapping[str, Any] | None = None,
) -> Pace:
    """The message-overlap degree of each step (Shibamura et al. 2012), and the pauses that follow from it.

    >>> fw.pace(fw.Torus(16, 8), fw.all_to_all("a2a")).steps

    ``over`` and ``aggregate`` as in ``network.nic.pacing``, which makes the simulator pause:
    ``fw.Torus(16, 8, nic=fw.Nic(pacing="mod"))``.

    Raises :class:`flitwork.ConfigError` where the workload is no schedule, or the routing leaves a choice of channels.
    """
    return pace_plan(plan(network, workload, host), over, aggregate)


def pace_plan(planned: _core.Plan, over: str, aggregate: bool) -> Pace:
    """:func:`pace` of a plan that exists."""
    rows = json.loads(planned.overlap(over, aggregate))
    # A workload that is no schedule has been refused.
    packet_flits, ports = planned.packet_flits or 1, planned.nic_ports
    steps = pd.DataFrame(rows, columns=[*COLUMNS][:8])
    # Between the packets of a message, and behind the last one where the messages of a NIC share the pause.
    packets = -(-steps["longest_flits"] // packet_flits)
    each = -(-steps["most_of_a_terminal"] // ports)
    pauses = packets * each - 1 if aggregate else (packets - 1) * each
    steps["unpaced_cycles"] = steps["longest_flits"] * each
    for kind in ("mod", "hops"):
        steps[f"{kind}_cycles"] = steps["unpaced_cycles"] + pauses * steps[f"{kind}_gap_packets"] * packet_flits
    return Pace(steps, packet_flits)
