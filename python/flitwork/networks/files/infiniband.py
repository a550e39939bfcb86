"""What ``ibnetdiscover`` prints of an InfiniBand fabric, and ibsim's nets, which are written alike.

Switches become routers, channel adapters terminals: a terminal for each port of an adapter that is connected. Routers
and terminals keep the node descriptions as their names. Every cable is written at both ends; one that is not, or whose
ends disagree, is an error, because the text is cut short then. Slower cables take more cycles per flit, the quotient of
the rates rounded to a whole number.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from flitwork.base.errors import ConfigError
from flitwork.networks.files.listed import Listed
from flitwork.networks.files.speeds import Speeds

_NODE = re.compile(r'^(Switch|Ca|Hca|Rt)\s+(\d+)\s+"([^"]*)"\s*(?:#\s*"([^"]*)")?')
_EXTERNAL = r"(?:\[ext \d+\])?(?:\([0-9a-fA-F]+\))?"
_PORT = re.compile(
    rf'^\[(\d{{1,4}})\]{_EXTERNAL}\s+"([^"]*)"\s*\[(\d{{1,4}})\]{_EXTERNAL}\s*(?:w=\d+\s*)?(?:#\s*(.*))?$'
)
#: In the line of a switch the kind of its port 0 comes first.
_LIDS = re.compile(r"[^\"]*?\blid (\d{1,5})\b(?: lmc ([0-7])\b)?")
_RATE = re.compile(r"\b(\d+)x(SDR|DDR|QDR|FDR10|FDR|EDR|HDR|NDR|XDR)\b")
#: Of a lane [Gbit/s].
_OF_LANE = {"SDR": 2.5, "DDR": 5, "QDR": 10, "FDR10": 10, "FDR": 14, "EDR": 25, "HDR": 50, "NDR": 100, "XDR": 200}


@dataclass
class Node:
    """A switch or an adapter, as the text has it."""

    kind: str
    ident: str
    described: str
    line: int
    #: By port: the node and port at the other end, and the rate [Gbit/s], 0 if it is not written.
    ports: dict[int, tuple[str, int, float, int]] = field(default_factory=dict)
    #: The LIDs of each port that has some; a switch has them at port 0.
    lids: dict[int, range] = field(default_factory=dict)

    @property
    def is_switch(self) -> bool:
        """Whether it becomes a router."""
        return self.kind in ("Switch", "Rt")

    def add_lids(self, port: int, text: str) -> None:
        """The LIDs of a port, if the text says them first: ``lid 5 lmc 1`` is 5 and 6."""
        if match := _LIDS.match(text):
            lid = int(match[1])
            self.lids[port] = range(lid, lid + (1 << int(match[2] or 0)))


def looks_like(text: str) -> bool:
    """Whether some line names a switch as such a text does."""
    return re.search(r'(?m)^(Switch|Ca|Hca|Rt)\s+\d+\s+"', text) is not None


def read(text: str, where: str) -> Listed:
    """The network in the text of a file."""
    nodes = nodes_of(text, where)
    switches, names = switches_of(nodes, where)
    speeds = Speeds((port[2] for node in nodes.values() for port in node.ports.values()), "Gbit/s")
    found = Listed(where)
    for switch in switches:
        found.router(names[switch.ident])
    for one, port, other, _ in cables_of(switches, nodes):
        _, _, rate, line = nodes[one].ports[port]
        found.cable(names[one], names[other], f"line {line}", **speeds.of(rate))
    hosts = [node for node in nodes.values() if not node.is_switch]
    speeds.warn("adapters", (port[2] for host in hosts for port in host.ports.values()))
    called = unique(hosts)
    for switch in switches:
        for _, (other, other_port, _, _) in sorted(switch.ports.items()):
            if not nodes[other].is_switch:
                several = len(nodes[other].ports) > 1
                name = f"{called[other]} port {other_port}" if several else called[other]
                found.hosts.append((names[switch.ident], name))
    for host in hosts:
        for other, _, _, line in host.ports.values():
            if not nodes[other].is_switch:
                raise ConfigError(
                    where, f"{called[host.ident]} to {called[other]} (line {line})", "a cable to a switch"
                )
    if not found.hosts:
        raise ConfigError(
            where, "no adapter at a switch", "lines that begin with Ca for the hosts", "is the text complete?"
        )
    return found


def switches_of(nodes: dict[str, Node], where: str) -> tuple[list[Node], dict[str, str]]:
    """The switches in the order of the routers, and the names of these by identifier."""
    switches = [node for node in nodes.values() if node.is_switch]
    if not switches:
        raise ConfigError(where, "no switch", "a line that begins with Switch for each switch")
    return switches, unique(switches)


def cables_of(switches: list[Node], nodes: dict[str, Node]) -> Iterator[tuple[str, int, str, int]]:
    """The cables between switches in the order of the network: identifier and port of both ends."""
    for switch in switches:
        for port, (other, other_port, _, _) in sorted(switch.ports.items()):
            if nodes[other].is_switch and (switch.ident, port) < (other, other_port):
                yield switch.ident, port, other, other_port


def nodes_of(text: str, where: str) -> dict[str, Node]:
    """The switches and adapters by identifier, with every cable at both ends."""
    nodes = _nodes(text, where)
    _check_ends(nodes, where)
    return nodes


def _nodes(text: str, where: str) -> dict[str, Node]:
    nodes: dict[str, Node] = {}
    now: Node | None = None
    for number, line in enumerate(text.splitlines(), 1):
        if match := _NODE.match(line):
            kind, _, ident, described = match.groups()
            if ident in nodes:
                expected = f"each node once; it is in line {nodes[ident].line}"
                raise ConfigError(where, f'"{ident}" (line {number})', expected)
            now = nodes[ident] = Node(kind, ident, described or ident, number)
            now.add_lids(0, line[match.end() :])
        elif line.startswith("["):
            match = _PORT.match(line.rstrip())
            if match is None:
                expected = 'a port as [1] "S-0002c902400d17b8"[5] # ...'
                raise ConfigError(
                    where, f"{line[:60].rstrip()} (line {number})", expected, "is the text cut short here?"
                )
            if now is None:
                raise ConfigError(where, f"a port (line {number})", "the line of its switch or adapter before it")
            port, other, other_port, comment = match.groups()
            if int(port) in now.ports:
                raise ConfigError(where, f"port {port} of {now.described} (line {number})", "each port once")
            rate = _RATE.search(comment or "")
            speed = int(rate[1]) * _OF_LANE[rate[2]] if rate else 0.0
            now.ports[int(port)] = (other, int(other_port), speed, number)
            if not now.is_switch:
                now.add_lids(int(port), comment or "")
        elif not line.strip():
            # A blank line ends the ports of a node.
            now = None
    return nodes


def _check_ends(nodes: dict[str, Node], where: str) -> None:
    """Every cable is written at both ends."""
    for node in nodes.values():
        for port, (other, other_port, rate, line) in node.ports.items():
            there = nodes.get(other)
            if there is None:
                expected = f'a node "{other}", which the other end of this cable is'
                raise ConfigError(
                    where, f"{node.described} port {port} (line {line})", expected, "is the text cut short?"
                )
            if (other, other_port) == (node.ident, port):
                raise ConfigError(where, f"{node.described} port {port} (line {line})", "a cable to another port")
            back = there.ports.get(other_port)
            if back is None or back[:2] != (node.ident, port):
                found = (
                    f"to port {back[1]} of {nodes[back[0]].described if back[0] in nodes else back[0]}"
                    if back
                    else "to nothing"
                )
                expected = f"the same cable at both ends; {there.described} port {other_port} leads {found}"
                raise ConfigError(
                    where, f"{node.described} port {port} (line {line})", expected, "is the text cut short?"
                )
            if rate and back[2] not in (0, rate):
                expected = f"one rate at both ends of a cable; line {back[3]} has another"
                raise ConfigError(where, f"{rate:g} Gbit/s (line {line})", expected)


def unique(nodes: list[Node]) -> dict[str, str]:
    """The descriptions, where they are different; else with the identifiers behind them."""
    counts = Counter(node.described for node in nodes)
    return {
        node.ident: node.described if counts[node.described] == 1 else f"{node.described} {node.ident}"
        for node in nodes
    }
