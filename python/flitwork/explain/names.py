"""The causes, and the names of places in a network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from flitwork import _core
from flitwork.networks.faults import working_topology
from flitwork.networks.files import terminal_names_of, without_physical
from flitwork.results.columns import WAIT_REASONS
from flitwork.results.result import Result

if TYPE_CHECKING:
    from flitwork.explain.records import Records

#: Every cause: its name, and what it says of the time that it takes.
CAUSES: Mapping[str, str] = {
    "serialisation": "sent the flits of a packet, one after the other",
    "hops": "travelled through routers and channels with nothing in its way",
    "no_credit": "waited for a virtual channel or a credit: the buffer ahead was full",
    "lost_arbitration": "lost the arbitration for a virtual channel or the switch",
    "behind_packet": "waited in a buffer behind another packet",
    "ejection_busy": "waited for a busy ejection port",
    "source_busy": "waited at its network interface, which was sending other messages",
    "bus": "was sent over the bus, or waited for its turn in its transfer",
    "bus_busy": "waited for the bus, which others held",
    "message_overhead": "waited for its network interface to begin a message: overhead and start jitter",
    "rendezvous": "asked the receiver whether the message may go: the way of the request and of the answer",
    "reading": "was read from memory, or waited for the messages that are read before it",
    "copying": "was copied in the memory of its terminal, or waited for its turn there",
    "pacing": "paused between packets, as pacing says",
    "computing": "computed, or spent software time",
    "late_start": "waited for a rank that started late",
    "os_noise": "stood still in detours of the operating system",
    "timetable": "waited for the time that its timetable says",
    "other": "waited for something that has no record",
}
#: The cause that each reason of a wait counts as.
CAUSE_OF_REASON: Mapping[str, str] = {
    "no_vc": "no_credit",
    "no_credit": "no_credit",
    "source_no_credit": "no_credit",
    "lost_vc_allocation": "lost_arbitration",
    "lost_switch": "lost_arbitration",
    "input_port_busy": "lost_arbitration",
    "behind_packet": "behind_packet",
    "ejection_port_busy": "ejection_busy",
    "no_ejection_vc": "ejection_busy",
}
#: Causes of a packet that is in the network.
IN_NETWORK = ("no_credit", "lost_arbitration", "behind_packet", "ejection_busy")
#: The same by number of the reason; what does not occur is the last cause.
CAUSE_OF_NUMBER = tuple(CAUSE_OF_REASON.get(reason, "other") for reason in WAIT_REASONS)


class Places:
    """Names of the channels and ports of a network, and of ranks, where they left ``records``."""

    def __init__(self, result: Result, records: Records | None = None) -> None:
        self._result, self._records = result, records
        topology = result.spec["network"]["topology"]
        self._size = list(topology.get("size", ()))
        self._names: Sequence[str] = topology.get("names") or ()

    @cached_property
    def channel_of(self) -> dict[tuple[int, int], int]:
        """The number of each channel, by router and output port."""
        columns = self._result.columns
        ends = zip(columns["channels.router"].tolist(), columns["channels.port"].tolist(), strict=True)
        return {end: number for number, end in enumerate(ends)}

    @cached_property
    def _terminals(self) -> _Terminals | None:
        topology = working_topology(self._result.spec["network"])
        if not topology.get("terminal_names"):
            return None
        at = _core.terminals(without_physical(topology))
        routers = at["router"].tolist()
        at_router: dict[int, list[str]] = {}
        names = terminal_names_of(topology, routers)
        for router, name in zip(routers, names, strict=True):
            at_router.setdefault(router, []).append(name)
        return _Terminals(names, at_router, at["network_ports"].tolist())

    def router(self, router: int) -> str:
        """``(3,1)`` where routers have coordinates; the name that the user gave it; else its number."""
        if router < len(self._names):
            return self._names[router]
        if not self._size:
            return str(router)
        at, left = [], router
        for size in self._size:
            at.append(left % size)
            left //= size
        return f"({','.join(map(str, at))})"

    def rank(self, rank: int) -> str:
        """``3``, or ``3 (node17)`` where it runs on a terminal with a name."""
        if (found := self._terminals) is None or self._records is None:
            return str(rank)
        terminal = int(self._records.terminal_of_rank[rank])
        return str(rank) if terminal < 0 else f"{rank} ({found.names[terminal]})"

    def name(self, router: int, port: int, reason_at_source: bool = False) -> str:
        """``channel (3,1) +x``, ``channel leaf1 to spine2`` or ``an ejection port of router 7``."""
        if reason_at_source:
            return f"an injection port of {self._terminal_at(router, port)}"
        channel = self.channel_of.get((router, port))
        if channel is None:
            return f"an ejection port of {self._terminal_at(router, port)}"
        if self._names:
            far = int(self._result.columns["channels.to_router"][channel])
            return f"channel {self.router(router)} to {self.router(far)}"
        names = self._result.described["channel_classes"]
        return f"channel {self.router(router)} {names[int(self._result.columns['channels.class'][channel])]}"

    def _terminal_at(self, router: int, port: int) -> str:
        """The terminal at a port, where terminals have names; else its router."""
        if found := self._terminals:
            number: int = (port - found.network_ports[router]) // self._result.described["nic_ports"]
            return found.at_router[router][number]
        return f"router {self.router(router)}"


@dataclass(frozen=True)
class _Terminals:
    """Terminals with names: all that work, and those of each router."""

    names: Sequence[str]
    at_router: Mapping[int, Sequence[str]]
    #: Of each router; the ports of its terminals come behind them.
    network_ports: Sequence[int]
