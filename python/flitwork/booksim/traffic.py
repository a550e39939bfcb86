"""BookSim's traffic: where packets go, how long they are, how many there are."""

from __future__ import annotations

import math

from flitwork.base.errors import did_you_mean
from flitwork.base.libraries import np
from flitwork.booksim.config_file import Value, written
from flitwork.booksim.idle import OF_DIGITS
from flitwork.booksim.injection import Injection, injection
from flitwork.booksim.parameters import Parameters, parameter_notes, parameters
from flitwork.booksim.permutation import random_permutation
from flitwork.booksim.settings import Settings, numbers
from flitwork.values.plain import Spec

#: Patterns without parameters.
_PLAIN = {
    "uniform": "uniform",
    "bitcomp": "bit_complement",
    "bitrev": "bit_reverse",
    "shuffle": "shuffle",
    "transpose": "transpose",
    "tornado": "tornado",
    "neighbor": "neighbour",
}
_KNOWN = (
    *_PLAIN,
    "randperm",
    "randperm(seed)",
    "hotspot({{nodes}})",
    "hotspot({{nodes},{rates}})",
    "background({{excluded}})",
)
#: Most nodes of a network whose traffic names each of them.
_MOST_NAMED = 2**22
#: Of numbers of at least two digits that many are enough for all of them.
_MOST_DIGITS = 22
_OTHER = ("diagonal", "asymmetric", "taper64", "badperm_yarc", "bad_dragon")


def workload(settings: Settings, nodes: int) -> Spec:
    """The table ``workload`` for so many nodes."""
    flits, mean_flits = _packet_flits(settings)
    rate = settings["injection_rate"]
    found = _injection(settings)
    offered = rate if settings["injection_rate_uses_flits"] else rate * mean_flits
    common = {
        "packet_flits": flits,
        "offered_load": offered if found.packets_per_cycle is None else found.packets_per_cycle * mean_flits,
        "process": found.process,
    }
    pattern = _pattern(settings, nodes)
    if pattern["kind"] == "uniform":
        return {"kind": "uniform", "include_self": True, **common}
    return {"kind": "traffic", "pattern": pattern, **common}


def packets_per_cycle(settings: Settings) -> float:
    """The rate that is asked for [packets/cycle/node]."""
    rate = settings["injection_rate"]
    return float(rate / _packet_flits(settings)[1] if settings["injection_rate_uses_flits"] else rate)


def traffic_notes(settings: Settings) -> list[str]:
    """Where the load, a pattern or a mixture is not what it looks like."""
    found = [
        f"{settings.place(key)}: {note}"
        for key in ("traffic", "injection_process")
        for note in parameter_notes(settings[key])
    ]
    sizes, weights = (settings[key] for key in ("packet_size", "packet_size_rate"))
    if isinstance(weights, list) and len(weights) > (len(sizes) if isinstance(sizes, list) else 1):
        found.append(f"{settings.place('packet_size_rate')}: more weights than sizes: the last ones are not used")
    note = _injection(settings).note
    return [*found, note] if note else found


def _injection(settings: Settings) -> Injection:
    return injection(settings, packets_per_cycle(settings))


def _packet_flits(settings: Settings) -> tuple[int | list[Spec], float]:
    """``packet_flits`` and its mean: one length, or a mixture with ``packet_size_rate`` as its weights."""
    sizes = numbers(settings["packet_size"], int)
    if sizes is None:
        raise settings.error("packet_size", "a whole number of flits, or {{sizes}}")
    if min(sizes) < 1:
        raise settings.error("packet_size", "at least 1 flit")
    weights = _filled(settings["packet_size_rate"], len(sizes))
    if weights is None:
        raise settings.error("packet_size_rate", "weights of at least 0, one for each size")
    if len(sizes) == 1:
        return sizes[0], sizes[0]
    if not any(weights):
        raise settings.error("packet_size_rate", "a weight above 0 for at least one packet size")
    mean = sum(size * weight for size, weight in zip(sizes, weights, strict=True)) / sum(weights)
    drawn: list[Spec] = [{"flits": s, "share": float(w)} for s, w in zip(sizes, weights, strict=True) if w]
    return drawn if len(drawn) > 1 else drawn[0]["flits"], mean


def _filled(value: Value, count: int) -> list[int] | None:
    """Weights, of which the last one stands for those that are missing; ``None`` if they are none."""
    weights = numbers(value, int)
    if weights is None or min(weights) < 0:
        return None
    return (weights + weights[-1:] * (count - len(weights)))[:count]


def _pattern(settings: Settings, nodes: int) -> Spec:
    read = parameters(settings["traffic"])
    if read.name in OF_DIGITS:
        return _of_digits(settings, read, nodes)
    if read.name in _PLAIN:
        return {"kind": _PLAIN[read.name]}
    if read.name == "randperm":
        return _permutation(settings, read.found, nodes)
    if read.name == "hotspot":
        return _hotspot(settings, read.found, nodes)
    if read.name == "background" and read.found:
        _check_named(settings, nodes)
        excluded = set(_nodes(settings, read.found[0], nodes))
        others = [node for node in range(nodes) if node not in excluded]
        if not others:
            raise settings.error("traffic", "at least one node that is not excluded")
        return {"kind": "hotspot", "terminals": others}
    known = read.name in _OTHER
    theirs = f"flitwork does not have BookSim's {read.name} yet" if known else did_you_mean(read.name, _PLAIN)
    raise settings.error("traffic", f"one of {', '.join(_KNOWN)}", theirs)


def _permutation(settings: Settings, arguments: tuple[Value, ...], nodes: int) -> Spec:
    """BookSim's permutation of a seed; one in ``traffic`` wins over ``perm_seed``."""
    seed = arguments[0] if arguments else settings["perm_seed"]
    if not isinstance(seed, int) or not -(2**31) <= seed < 2**31:
        raise settings.error("traffic" if arguments else "perm_seed", "a seed from -2147483648 to 2147483647")
    _check_named(settings, nodes)
    return {"kind": "permutation", "destinations": random_permutation(seed, nodes)}


def _check_named(settings: Settings, nodes: int) -> None:
    """Refuses a pattern that is a list of nodes where the list alone would fill the memory."""
    if nodes > _MOST_NAMED:
        raise settings.error("traffic", f"at most {_MOST_NAMED} nodes", f"there are {nodes}, and it names each of them")


def _of_digits(settings: Settings, read: Parameters, nodes: int) -> Spec:
    """``tornado`` and ``neighbor``: a pattern of the network's digits, or the permutation of those that are named."""
    k, n, *more = found = [*read.found[:3], *(settings[key] for key in ("k", "n", "xr")[len(read.found) :])]
    on_grid = settings["topology"] != "fattree"
    if on_grid and found == [settings["k"], settings["n"], 1]:
        return {"kind": _PLAIN[read.name]}
    _check_named(settings, nodes)
    if not all(isinstance(one, int) and 1 <= one <= nodes for one in found) or n > _MOST_DIGITS:
        raise settings.error("traffic", f"{read.name}({{k,n}}) with whole numbers of 1 and more")
    size, places = int(k) * math.prod(more), int(n)
    if size**places != nodes:
        hint = f"flitwork has no {read.name} that leaves nodes out"
        raise settings.error("traffic", f"digits of which there are {nodes} numbers, as there are nodes", hint)
    step = (size + 1) // 2 - 1 if read.name == "tornado" else 1
    here, to = np.arange(nodes), np.zeros(nodes, np.int64)
    for place in range(places):
        to += (here // size**place % size + step) % size * size**place
    return {"kind": "permutation", "destinations": to.tolist()}


def _hotspot(settings: Settings, found: tuple[Value, ...], nodes: int) -> Spec:
    named = numbers(found[0], int) if found else None
    if not found or (named is not None and min(named) < 0):
        hint = "BookSim draws a node where none is named or it is below 0, with numbers that flitwork does not have"
        raise settings.error("traffic", f"hotspot({{{{nodes}}}}) with nodes from 0 to {nodes - 1}", hint)
    terminals = _nodes(settings, found[0], nodes)
    rates = _filled(found[1], len(terminals)) if len(found) > 1 else [1] * len(terminals)
    if rates is None:
        raise settings.error("traffic", f"rates of at least 0, not {written(found[1])}")
    if not any(rates):
        raise settings.error("traffic", "a rate above 0 for at least one node", f"the rates are {written([*rates])}")
    chosen = [(node, rate) for node, rate in zip(terminals, rates, strict=True) if rate]
    return {"kind": "hotspot", "terminals": [n for n, _ in chosen], "shares": [float(r) for _, r in chosen]}


def _nodes(settings: Settings, value: Value, nodes: int) -> list[int]:
    found = numbers(value, int)
    if found is None or not all(0 <= node < nodes for node in found):
        raise settings.error("traffic", f"nodes from 0 to {nodes - 1}")
    return found
