"""What ``ibnetdiscover`` prints of an InfiniBand fabric, and ibsim's nets, which are written alike.

Switches become routers, channel adapters terminals: a terminal for each port of an adapter that is connected. Routers
and terminals keep the node descriptions as their names. Every cable is written at both ends; one that is not, or whose
ends disagree, is an error, because the text is cut short then. Slower cables take more cycles per flit, the quotient of
the rates rounded to a whole number.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from flitwork.base.errors import ConfigError
from flitwork.base.notices import warn_user
from flitwork.networks.files.listed import Listed

_NODE = re.compile(r'^(Switch|Ca|Hca|Rt)\s+(\d+)\s+"([^"]*)"\s*(?:#\s*"([^"]*)")?')
_EXTERNAL = r"(?:\[ext \d+\])?(?:\([0-9a-fA-F]+\))?"
_PORT = re.compile(
    rf'^\[(\d{{1,4}})\]{_EXTERNAL}\s+"([^"]*)"\s*\[(\d{{1,4}})\]{_EXTERNAL}\s*(?:w=\d+\s*)?(?:#\s*(.*))?$'
)
_RATE = re.compile(r"\b(\d+)x(SDR|DDR|QDR|FDR10|FDR|EDR|HDR|NDR|XDR)\b")
#: Of a lane [Gbit/s].
_OF_LANE = {"SDR": 2.5, "DDR": 5, "QDR": 10, "FDR10": 10, "FDR": 14, "EDR": 25, "HDR": 50, "NDR": 100, "XDR": 200}


@dataclass
class _Node:
    kind: str
    ident: str
    described: str
    line: int
    #: By port: the node and port at the other end, and the rate [Gbit/s], 0 if it is not written.
    ports: dict[int, tuple[str, int, float, int]] = field(default_factory=dict)


def looks_like(text: str) -> bool:
    """Whether some line names a switch as such a text does."""
    return re.search(r'(?m)^(Switch|Ca|Hca|Rt)\s+\d+\s+"', text) is not None


def read(text: str, where: str) -> Listed:
    """The network in the text of a file."""
    nodes = _nodes(text, where)
    _check_ends(nodes, where)
    switches = [node for node in nodes.values() if node.kind in ("Switch", "Rt")]
    if not switches:
        raise ConfigError(where, "no switch", "a line that begins with Switch for each switch")
    names = _unique(switches)
    rates = [port[2] for node in nodes.values() for port in node.ports.values()]
    fastest = max(rates, default=0)
    differ = any(0 < rate < fastest for rate in rates)
    if 0 in rates and differ:
        warn_user("some cables have no rate in the text: they count as the fastest")
    found = Listed(where)
    for switch in switches:
        found.router(names[switch.ident])
    uneven = set()
    for switch in switches:
        for port, (other, other_port, rate, line) in sorted(switch.ports.items()):
            if nodes[other].kind in ("Switch", "Rt") and (switch.ident, port) < (other, other_port):
                own = {}
                if differ:
                    own["cycles_per_flit"] = max(1, round(fastest / (rate or fastest)))
                    if rate and own["cycles_per_flit"] * rate != fastest:
                        uneven.add(f"{rate:g} of {fastest:g} Gbit/s as 1/{own['cycles_per_flit']}")
                found.cable(names[switch.ident], names[other], f"line {line}", **own)
    if uneven:
        warn_user(f"cables take a whole number of cycles per flit: {', '.join(sorted(uneven))}")
    if any(
        0 < port[2] < fastest for node in nodes.values() if node.kind in ("Ca", "Hca") for port in node.ports.values()
    ):
        warn_user("some adapters are slower than the fastest cable: all terminals take a flit in every cycle")
    hosts = [node for node in nodes.values() if node.kind in ("Ca", "Hca")]
    called = _unique(hosts)
    for switch in switches:
        for _, (other, other_port, _, _) in sorted(switch.ports.items()):
            if nodes[other].kind in ("Ca", "Hca"):
                several = len(nodes[other].ports) > 1
                name = f"{called[other]} port {other_port}" if several else called[other]
                found.hosts.append((names[switch.ident], name))
    for host in hosts:
        for other, _, _, line in host.ports.values():
            if nodes[other].kind in ("Ca", "Hca"):
                raise ConfigError(
                    where, f"{called[host.ident]} to {called[other]} (line {line})", "a cable to a switch"
                )
    if not found.hosts:
        raise ConfigError(
            where, "no adapter at a switch", "lines that begin with Ca for the hosts", "is the text complete?"
        )
    return found


def _nodes(text: str, where: str) -> dict[str, _Node]:
    nodes: dict[str, _Node] = {}
    now: _Node | None = None
    for number, line in enumerate(text.splitlines(), 1):
        if match := _NODE.match(line):
            kind, _, ident, described = match.groups()
            if ident in nodes:
                expected = f"each node once; it is in line {nodes[ident].line}"
                raise ConfigError(where, f'"{ident}" (line {number})', expected)
            now = nodes[ident] = _Node(kind, ident, described or ident, number)
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
        elif not line.strip():
            # A blank line ends the ports of a node.
            now = None
    return nodes


def _check_ends(nodes: dict[str, _Node], where: str) -> None:
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


def _unique(nodes: list[_Node]) -> dict[str, str]:
    """The descriptions, where they are different; else with the identifiers behind them."""
    counts = Counter(node.described for node in nodes)
    return {
        node.ident: node.described if counts[node.described] == 1 else f"{node.described} {node.ident}"
        for node in nodes
    }
