"""A network while it is being read: routers and hosts by name, and the cables between them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from flitwork.base.errors import ConfigError

#: What a cable or a channel may have of its own, and the fields of the topology that list it.
OF_LINKS = ("latency_cycles", "latency_ns", "cycles_per_flit")
#: Most routers and cables of a network: what the simulator takes. Checked where a short text makes many of them.
_MOST_ROUTERS, _MOST_CABLES = 1_000_000, 1 << 21


@dataclass
class Listed:
    """Routers are numbered in the order in which they are named first, unless their names are 0, 1, 2, ...

    ``where`` starts every error: the path of the field that names the file.
    """

    where: str = "network.topology.file"
    routers: dict[Hashable, None] = field(default_factory=dict)
    #: Router and name of each host, in order.
    hosts: list[tuple[Hashable, str]] = field(default_factory=list)
    #: Terminals without names, by router.
    terminals: dict[Hashable, int] = field(default_factory=dict)
    #: Channels in one direction: from, to, what they have of their own, and the place in the file for errors.
    channels: list[tuple[Hashable, Hashable, dict[str, Any], str]] = field(default_factory=list)
    cables: list[tuple[Hashable, Hashable, dict[str, Any], str]] = field(default_factory=list)
    positions: dict[Hashable, tuple[float, float]] = field(default_factory=dict)
    #: The number of each router, where a graph says it.
    numbers: dict[Hashable, int] = field(default_factory=dict)
    #: Fields that are written as they are: ``routers``, ``terminals_per_router``.
    said: dict[str, int] = field(default_factory=dict)
    #: Fields of other tables of the network, such as ``units``, which count where the network does not say them.
    beside: dict[str, dict[str, float]] = field(default_factory=dict)

    def router(self, name: Hashable) -> None:
        """Names a router."""
        self.routers.setdefault(name)

    def cable(self, one: Hashable, other: Hashable, place: str, **own: Any) -> None:
        """A cable: a channel in each direction."""
        self.router(one)
        self.router(other)
        self.cables.append((one, other, own, place))

    def channel(self, source: Hashable, target: Hashable, place: str, **own: Any) -> None:
        """A channel in one direction."""
        self.router(source)
        self.router(target)
        self.channels.append((source, target, own, place))

    def check_size(self, routers: int, cables: int, place: str) -> None:
        """Refuses a network that is too large before it is made."""
        for count, most, what in ((routers, _MOST_ROUTERS, "routers"), (cables, _MOST_CABLES, "cables")):
            if count > most:
                raise ConfigError(self.where, f"{count:,} {what} ({place})", f"at most {most:,} {what}")

    def join_directions(self) -> None:
        """Makes cables of channels that run in opposite directions between two routers and are alike."""
        waiting: dict[Any, list[int]] = {}
        partner: dict[int, int] = {}
        for i, (source, target, own, _) in enumerate(self.channels):
            key = tuple(sorted(own.items()))
            others = waiting.get((target, source, key))
            if others:
                partner[others.pop(0)] = i
            else:
                waiting.setdefault((source, target, key), []).append(i)
        second = {*partner.values()}
        self.cables += [self.channels[i] for i in sorted(partner)]
        self.channels = [one for i, one in enumerate(self.channels) if i not in partner and i not in second]

    def fields(self) -> dict[str, Any]:
        """The fields of the topology ``graph``."""
        if not self.routers:
            raise ConfigError(self.where, "no router", "a network with routers and cables")
        numbered = self.numbered()
        order = sorted(self.routers, key=numbered.__getitem__)
        found: dict[str, Any] = {}
        for kind, links in (("cable", self.cables), ("channel", self.channels)):
            if links:
                found[f"{kind}s"] = [[numbered[one], numbered[other]] for one, other, _, _ in links]
                found.update(self._own(kind, links))
        if self.hosts or self.terminals:
            hosts = sorted(self.hosts, key=lambda host: numbered[host[0]])
            counts = [0] * len(order)
            for router, _ in hosts:
                counts[numbered[router]] += 1
            for router, count in self.terminals.items():
                counts[numbered[router]] += count
            found["terminals"] = counts
            if hosts and not self.terminals:
                found["terminal_names"] = [name for _, name in hosts]
        if [str(name) for name in order] != [str(number) for number in range(len(order))]:
            found["names"] = [str(name) for name in order]
        if len(self.positions) == len(order):
            found["positions"] = [[*self.positions[name]] for name in order]
        ends = [end for links in (self.cables, self.channels) for one, other, _, _ in links for end in (one, other)]
        implied = max([numbered[end] for end in ends], default=0) + 1
        if (implied < len(order) or not ends) and not found.keys() & {"terminals", "names", "positions"}:
            found["routers"] = len(order)
        return {**found, **self.said}

    def numbered(self) -> dict[Hashable, int]:
        """The number of each router."""
        if sorted(self.numbers.get(name, -1) for name in self.routers) == [*range(len(self.routers))]:
            return {name: self.numbers[name] for name in self.routers}
        texts = {str(name): name for name in self.routers}
        if len(texts) == len(self.routers) and all(str(number) in texts for number in range(len(texts))):
            return {texts[str(number)]: number for number in range(len(texts))}
        return {name: number for number, name in enumerate(self.routers)}

    def _own(self, kind: str, links: list[tuple[Hashable, Hashable, dict[str, Any], str]]) -> dict[str, list[Any]]:
        found = {}
        for name in OF_LINKS:
            having = [name in own for _, _, own, _ in links]
            if not any(having):
                continue
            if not all(having):
                one, other, _, place = links[having.index(False)]
                value = f"no {name} between {one} and {other} ({place})"
                raise ConfigError(self.where, value, f"{name} for each {kind}, or for none")
            found[f"{kind}_{name}"] = [own[name] for _, _, own, _ in links]
        return found
