"""Forwarding tables of InfiniBand switches, as ``ibroute``, ``dump_lfts.sh``, ``dump_fts`` and opensm print them.

A block for each switch: ``Unicast lids [0x1-0x6] of switch Lid 4 guid 0x0002c902400d8 (spine):``, then a line for each
LID with the port that packets for it leave by, ``0x0001 001 : (Channel Adapter portguid 0x...: 'host')``, and at the
end ``6 valid lids dumped``. Beside what ``ibnetdiscover`` prints of the same fabric they become the routing ``table``:
the output port by router and destination terminal. Packets go to the first LID of a port; its others (LMC) are checked
and not used.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from flitwork.base.errors import ConfigError
from flitwork.networks.files import infiniband

_BLOCK = re.compile(
    r"Unicast lids \[(0x)?[0-9a-fA-F]{1,8}-(?:0x)?([0-9a-fA-F]{1,8})\] of switch "
    r"(?:Lid (\d{1,5})|.*?) guid 0x([0-9a-fA-F]{1,16}) \((.*)\):\s*"
)
_ENTRY = re.compile(r"0x([0-9a-fA-F]{4})\s+(\d{1,3})(?:\s+(.*))?")
_END = re.compile(r"(\d{1,8}) (?:valid )?lids dumped\s*")
_TITLES = re.compile(r"\s*(Lid\s+Out\s+Destination|Port\s+Info)\s*")
#: How entries without a path are marked, and entries whose LID the tool did not find in the fabric, which are not read.
_NO_PATH, _NO_NODE = "illegal port", ("unknown node", "node info not available")
#: The port of an entry without a path.
_NO_PORT = 255


@dataclass
class _Table:
    guid: int
    lid: int | None
    line: int
    #: By LID: the port, and the line.
    entries: dict[int, tuple[int, int]] = field(default_factory=dict)


@dataclass
class _Terminal:
    """A connected port of an adapter: its first LID, and where it is."""

    lid: int
    name: str
    switch: str
    port: int


def looks_like(text: str) -> bool:
    """Whether the text has a line that begins the table of a switch."""
    return re.search(r"(?m)^(Unicast|Multicast) m?lids \[", text) is not None


def output_ports(tables: str, fabric: str, where: str, of_fabric: str) -> list[list[int]]:
    """The output port, by router and destination terminal; ``fabric`` is what ``ibnetdiscover`` prints.

    -1 at the router of a terminal. ``where`` and ``of_fabric`` start the errors over the one and the other text.
    """
    nodes = infiniband.nodes_of(fabric, of_fabric)
    switches, names = infiniband.switches_of(nodes, of_fabric)
    owners = _owners(nodes, of_fabric)
    by_switch = _by_switch(_tables(tables, where), switches, names, where)
    terminals = _terminals(nodes, switches, of_fabric)
    ours = _ports(switches, nodes)
    found = []
    for switch in switches:
        table, name = by_switch[switch.ident], names[switch.ident]
        _check_entries(table, switch, name, owners, where)
        found.append([_output(one, table, switch, (nodes, names, ours), where) for one in terminals])
    for terminal in terminals:
        _check_loop(terminal, terminals, by_switch, nodes, names, where)
    return found


def _output(
    terminal: _Terminal,
    table: _Table,
    switch: infiniband.Node,
    known: tuple[dict[str, infiniband.Node], dict[str, str], dict[tuple[str, int], int]],
    where: str,
) -> int:
    """The port of a router for a terminal; -1 where the terminal is."""
    nodes, names, ours = known
    to = f"LID {terminal.lid} ({terminal.name})"
    if terminal.lid not in table.entries:
        raise ConfigError(where, f"the table of {names[switch.ident]} (line {table.line})", f"an entry for {to}")
    port, line = table.entries[terminal.lid]
    entry = f"{to} by port {port} of {names[switch.ident]} (line {line})"
    if terminal.switch == switch.ident:
        if port != terminal.port:
            raise ConfigError(where, entry, f"port {terminal.port}, where it is")
        return -1
    if (switch.ident, port) not in ours:
        what = f"leads to {nodes[switch.ports[port][0]].described}" if port else "is the switch itself"
        raise ConfigError(where, entry, f"a port to another switch; this one {what}")
    return ours[switch.ident, port]


def _tables(text: str, where: str) -> list[_Table]:
    """The table of each switch."""
    found: list[_Table] = []
    now: _Table | None = None
    counted = hexadecimal = last = 0

    def ended(place: str) -> None:
        if now is not None:
            value = f"no end of the table in line {now.line} before {place}"
            raise ConfigError(where, value, 'a last line "6 valid lids dumped"', "is the text cut short?")

    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#") or _TITLES.fullmatch(line):
            continue
        if match := _BLOCK.fullmatch(line):
            ended(f"line {number}")
            hexadecimal = bool(match[1])
            last = int(match[2], 16) if hexadecimal or not match[2].isdecimal() else int(match[2])
            now = _Table(int(match[4], 16), int(match[3]) if match[3] else None, number)
            counted = 0
        elif now is not None and (match := _ENTRY.fullmatch(line)):
            lid, port, about = int(match[1], 16), int(match[2]), match[3] or ""
            counted += 1
            if _NO_PATH in about or port == _NO_PORT or any(mark in about for mark in _NO_NODE):
                continue
            if lid in now.entries:
                expected = f"LID {lid} once in a table; it is in line {now.entries[lid][1]}"
                raise ConfigError(where, f"0x{lid:04x} (line {number})", expected)
            now.entries[lid] = (port, number)
        elif now is not None and (match := _END.fullmatch(line)):
            # opensm prints the highest LID there, the other tools the number of lines.
            if int(match[1]) != (counted if hexadecimal else last):
                expected = f"{counted} lids dumped, as the table in line {now.line} has {counted} entries"
                raise ConfigError(where, f"{line.strip()} (line {number})", expected, "are lines missing?")
            found.append(now)
            now = None
        else:
            expected = "the table of a switch: Unicast lids [...] of switch ..., then entries such as 0x0001 002"
            raise ConfigError(where, f"{line.strip()[:60]} (line {number})", expected, "is the text cut short here?")
    ended("the end of the text")
    return found


def _by_switch(
    tables: list[_Table], switches: list[infiniband.Node], names: dict[str, str], where: str
) -> dict[str, _Table]:
    """The table of each switch by its identifier, which has its GUID."""
    by_guid = {_guid(switch.ident): switch for switch in switches}
    found: dict[str, _Table] = {}
    for table in tables:
        switch = by_guid.get(table.guid)
        if switch is None:
            expected = "the GUID of a switch of the fabric"
            raise ConfigError(where, f"guid 0x{table.guid:016x} (line {table.line})", expected, _SAME)
        if switch.ident in found:
            expected = f"one table for each switch; {names[switch.ident]} has one in line {found[switch.ident].line}"
            raise ConfigError(where, f"guid 0x{table.guid:016x} (line {table.line})", expected)
        lids = switch.lids.get(0)
        if table.lid is not None and lids and table.lid not in lids:
            expected = f"Lid {lids[0]}, which {names[switch.ident]} has in the fabric"
            raise ConfigError(where, f"Lid {table.lid} (line {table.line})", expected, _SAME)
        found[switch.ident] = table
    for switch in switches:
        if switch.ident not in found:
            value = f"no table of {names[switch.ident]}"
            raise ConfigError(where, value, f"a table for each of {len(switches)} switches", "is the text complete?")
    return found


_SAME = "are both texts of one fabric, at one time?"


def _guid(ident: str) -> int:
    """``S-0002c902400d0`` as a number; -1 where it is none."""
    match = re.fullmatch(r"S-([0-9a-fA-F]{1,16})", ident)
    return int(match[1], 16) if match else -1


def _owners(nodes: dict[str, infiniband.Node], where: str) -> dict[int, tuple[str, int]]:
    """Whose each LID is: a node and its port."""
    found: dict[int, tuple[str, int]] = {}
    for node in nodes.values():
        for port, lids in node.lids.items():
            for lid in lids:
                if lid and found.setdefault(lid, (node.ident, port)) != (node.ident, port):
                    other = nodes[found[lid][0]]
                    expected = f"each LID once; {other.described} has it, too (line {other.line})"
                    raise ConfigError(where, f"LID {lid} of {node.described} (line {node.line})", expected)
    return found


def _terminals(nodes: dict[str, infiniband.Node], switches: list[infiniband.Node], where: str) -> list[_Terminal]:
    """The terminals in the order of their numbers: by switch and port."""
    found = []
    for switch in switches:
        for switch_port, (ident, port, _, _) in sorted(switch.ports.items()):
            node = nodes[ident]
            if node.is_switch:
                continue
            lids = node.lids.get(port)
            if not lids or not lids[0]:
                value = f"no LID of {node.described} port {port} (line {node.ports[port][3]})"
                hint = "nets of ibsim have none: run ibnetdiscover on the simulated fabric"
                raise ConfigError(where, value, 'the LID of each adapter, as ibnetdiscover prints it: "# lid 4"', hint)
            found.append(_Terminal(lids[0], node.described, switch.ident, switch_port))
    return found


def _ports(switches: list[infiniband.Node], nodes: dict[str, infiniband.Node]) -> dict[tuple[str, int], int]:
    """The port of the simulator for each port between switches: they count from 0 in the order of the cables."""
    found: dict[tuple[str, int], int] = {}
    used: Counter[str] = Counter()
    for one, port, other, other_port in infiniband.cables_of(switches, nodes):
        for end in ((one, port), (other, other_port)):
            found[end] = used[end[0]]
            used[end[0]] += 1
    return found


def _check_entries(
    table: _Table, switch: infiniband.Node, name: str, owners: dict[int, tuple[str, int]], where: str
) -> None:
    """Every entry has a LID of the fabric and a port that is connected."""
    for lid, (port, line) in table.entries.items():
        if lid not in owners:
            raise ConfigError(where, f"LID {lid} (0x{lid:04x}, line {line})", "a LID of the fabric", _SAME)
        if port and port not in switch.ports:
            expected = f"a port of {name} with a cable in the fabric"
            raise ConfigError(where, f"LID {lid} by port {port} (line {line})", expected, _SAME)
        if not port and owners[lid] != (switch.ident, 0):
            raise ConfigError(where, f"LID {lid} by port 0 (line {line})", "port 0 for the LID of the switch only")


def _check_loop(
    terminal: _Terminal,
    terminals: list[_Terminal],
    tables: dict[str, _Table],
    nodes: dict[str, infiniband.Node],
    names: dict[str, str],
    where: str,
) -> None:
    """Packets for a terminal arrive from the switch of every other one."""
    arrives = {terminal.switch}
    for start in terminals:
        walked: dict[str, None] = {}
        at = start.switch
        while at not in arrives and at not in walked:
            walked[at] = None
            at = nodes[at].ports[tables[at].entries[terminal.lid][0]][0]
        if at in walked:
            way = [*walked][[*walked].index(at) :]
            value = " - ".join(names[ident] for ident in [*way, at])
            line = tables[at].entries[terminal.lid][1]
            what = f"LID {terminal.lid} ({terminal.name}) goes round {value} (line {line})"
            raise ConfigError(where, what, f"a way to {names[terminal.switch]}")
        arrives.update(walked)
