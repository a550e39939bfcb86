"""A routing written as a Python function, as the table that the simulator runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from flitwork import _core
from flitwork.base.errors import ConfigError
from flitwork.base.libraries import np
from flitwork.networks.faults import working_topology
from flitwork.networks.network import Network, check_network
from flitwork.values.routing import Relation

__all__ = ["compile_routing"]

#: What the function answers: the next router, the next router and the set there, or several of these.
Answer: TypeAlias = "int | tuple[int, int] | Iterable[int | tuple[int, int]]"
#: Router, the router before and the set (both -1 from a terminal).
_Place: TypeAlias = tuple[int, int, int]


def compile_routing(
    network: Network,
    route: Callable[[int, int | None, int | None, int], Answer],
    /,
    *,
    sets: int = 1,
    selection: str | None = None,
) -> Relation:
    """The routing that a function describes, for ``network``: ``net.replace(routing=fw.compile_routing(net, route))``.

    ``route(router, came_from, vc_set, destination)`` is called once for each place to which a packet can come on its
    way to each destination router with terminals. ``router``, ``came_from`` and ``destination`` are numbers of routers,
    ``vc_set`` is the set of virtual channels by which the packet came; ``came_from`` and ``vc_set`` are None where it
    comes from a terminal. It returns the next router, or the next router and the set of virtual channels there (0 if it
    names none), or a list of these: alternatives of one set, of which a packet takes one by ``selection``
    (``"most_credits"`` is the default), and behind them at most one channel of another set, the escape channel, for
    when none of the others has a virtual channel to give.

    ``sets``: into how many equal sets the virtual channels of each port are divided. Parallel cables to the next router
    are alternatives. Whatever the function knows besides, such as coordinates, it takes from its surroundings.

    :class:`flitwork.ConfigError` if it names a router that is not next to the one where the packet is, or nothing. The
    simulator refuses a routing by which a packet cannot arrive, or by which packets can wait for each other for ever.
    """
    check_network(network)
    if not callable(route):
        raise ConfigError("route", repr(route)[:80], "a function of router, came_from, vc_set and destination")
    if not isinstance(sets, int) or isinstance(sets, bool) or sets < 1:
        raise ConfigError("sets", repr(sets), "a whole number of at least 1")
    topology = json.dumps(working_topology(network.spec))
    channels = _core.channels(topology)
    beside: dict[int, set[int]] = {}
    for tail, head in zip(channels["router"].tolist(), channels["to_router"].tolist(), strict=True):
        beside.setdefault(tail, set()).add(head)
    ends: list[int] = np.unique(_core.terminals(topology)["router"]).tolist()
    rows: list[list[int]] = []
    for destination in ends:
        places: list[_Place] = [(router, -1, -1) for router in ends if router != destination]
        known = set(places)
        for place in places:
            router, before, in_set = place
            from_terminal = before < 0
            answer = route(router, None if from_terminal else before, None if from_terminal else in_set, destination)
            for to, to_set in _candidates(answer, (place, destination), beside.get(router, set()), sets):
                rows.append([*place, destination, to, to_set])
                behind = (to, router, to_set)
                if to != destination and behind not in known:
                    known.add(behind)
                    places.append(behind)
    options: dict[str, Any] = {} if selection is None else {"selection": selection}
    return Relation(sets=sets, rows=rows, **options)


def _candidates(answer: Any, where: tuple[_Place, int], beside: set[int], sets: int) -> list[tuple[int, int]]:
    """What a function answered, as routers and sets."""
    (router, before, in_set), destination = where
    came = "None, None" if before < 0 else f"{before}, {in_set}"
    call = f"route({router}, {came}, {destination})"
    one = _candidate(answer)
    several = [one] if one else [_candidate(each) for each in answer] if isinstance(answer, Iterable) else []
    expected = "a router, a pair of router and set, or several of these"
    found = [each for each in several if each]
    if not several or len(found) != len(several):
        raise ConfigError(call, repr(answer)[:80], expected, "it is where packets come to on the way")
    for to, to_set in found:
        if to not in beside:
            near = ", ".join(map(str, sorted(beside)[:16]))
            raise ConfigError(call, repr(answer)[:80], f"a router next to router {router}: {near}")
        if not 0 <= to_set < sets:
            raise ConfigError(call, repr(answer)[:80], f"a set from 0 to {sets - 1}", f"sets = {sets}")
    return found


def _candidate(one: Any) -> tuple[int, int] | None:
    """A router, or a router and a set in a tuple."""
    if _is_whole(one):
        return int(one), 0
    if isinstance(one, tuple) and len(one) == 2 and all(map(_is_whole, one)):
        return int(one[0]), int(one[1])
    return None


def _is_whole(one: Any) -> bool:
    return isinstance(one, (int, np.integer)) and not isinstance(one, bool)
