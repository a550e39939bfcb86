"""BookSim's anynet files: a router a line, and what it is joined to.

``router 0 node 0 node 1 router 1 15 router 2`` has nodes 0 and 1 (terminals) at router 0, a channel of 15 cycles from
router 0 to router 1 and one of 1 cycle to router 2. Two routers that are joined have a channel each way. A latency is
of one direction, and 1 where none is written. What is written last counts.
"""

from __future__ import annotations

import re

from flitwork.base.errors import ConfigError
from flitwork.base.notices import warn_user
from flitwork.networks.files.listed import Listed

_FIRST = re.compile(r"(?m)\A\s*(router|node)\s+\d+\s+(router|node)\s+\d+")
_WHOLE = re.compile(r"[0-9]{1,9}")


def looks_like(text: str) -> bool:
    """Whether the text begins as such a file does."""
    return _FIRST.match(text) is not None


def read(text: str, where: str) -> Listed:
    """The network in the text of a file."""
    latencies: dict[tuple[int, int], tuple[int, str]] = {}
    router_of: dict[int, int] = {}
    routers: dict[int, None] = {}
    for number, line in enumerate(text.splitlines(), 1):
        place = f"line {number}"
        words = line.split()
        if not words:
            continue
        (kind, head), *rest = _ends(words, where, place)
        if not rest:
            raise ConfigError(where, f"{line.strip()} ({place})", "what it is joined to behind it")
        for other_kind, (other, latency) in rest:
            ends = {kind: head[0], other_kind: other}
            if kind == other_kind == "router":
                routers.setdefault(head[0])
                routers.setdefault(other)
                latencies[head[0], other] = (latency, place)
            elif len(ends) == 2:
                if latency > 1:
                    warn_user(
                        f"anynet: the latency of node {ends['node']} ({place}) is not used: all terminals are alike"
                    )
                routers.setdefault(ends["router"])
                if router_of.setdefault(ends["node"], ends["router"]) != ends["router"]:
                    expected = f"a node at one router; it is at router {router_of[ends['node']]}"
                    raise ConfigError(where, f"node {ends['node']} ({place})", expected)
            else:
                raise ConfigError(where, f"{line.strip()} ({place})", "a router at one of two ends")
    return _listed(latencies, router_of, routers, where)


def _ends(words: list[str], where: str, place: str) -> list[tuple[str, tuple[int, int]]]:
    """``router 0 15`` as a kind, a number and a latency, which is 1 where none is written."""
    found = []
    at = 0
    while at < len(words):
        kind, number = words[at], words[at + 1] if at + 1 < len(words) else ""
        if kind not in ("router", "node") or not _WHOLE.fullmatch(number):
            expected = '"router" or "node" and its number'
            raise ConfigError(
                where, f"{' '.join(words[at : at + 2])} ({place})", expected, "for example router 0 node 1"
            )
        at += 2
        latency = 1
        if at < len(words) and _WHOLE.fullmatch(words[at]):
            latency, at = int(words[at]), at + 1
        found.append((kind, (int(number), latency)))
    return found


def _listed(
    latencies: dict[tuple[int, int], tuple[int, str]], router_of: dict[int, int], routers: dict[int, None], where: str
) -> Listed:
    found = Listed(where)
    for numbers, kind in ((sorted(routers), "routers"), (sorted(router_of), "nodes")):
        if numbers != [*range(len(numbers))]:
            missing = next(number for number, one in enumerate(numbers) if one != number)
            raise ConfigError(where, f"no number {missing} among the {kind}", f"{kind} numbered 0, 1, 2, ...")
    for router in sorted(routers):
        found.router(router)
    for (source, target), (latency, place) in latencies.items():
        found.channel(source, target, place, latency_cycles=latency)
        if (target, source) not in latencies:
            found.channel(target, source, place, latency_cycles=1)
    found.join_directions()
    for node in sorted(router_of):
        found.hosts.append((router_of[node], f"node {node}"))
    return found
