"""BookSim's traffic: where packets go, how long they are, how many there are."""

from __future__ import annotations

from flitwork.booksim.config_file import Call, Value, written
from flitwork.booksim.permutation import random_permutation
from flitwork.booksim.settings import Settings, numbers
from flitwork.errors import did_you_mean
from flitwork.workloads import Spec

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
    "hotspot({nodes})",
    "hotspot({nodes},{rates})",
    "background({excluded})",
)
#: Most nodes of a network whose traffic names each of them.
_MOST_NAMED = 2**22
_OTHER = ("diagonal", "asymmetric", "taper64", "badperm_yarc", "bad_dragon")


def workload(settings: Settings, nodes: int) -> Spec:
    """The table ``workload`` for so many nodes."""
    flits, mean_flits = _packet_flits(settings)
    rate = settings["injection_rate"]
    common = {
        "packet_flits": flits,
        "offered_load": rate if settings["injection_rate_uses_flits"] else rate * mean_flits,
        "process": _process(settings),
    }
    pattern = _pattern(settings, nodes)
    if pattern["kind"] == "uniform":
        return {"kind": "uniform", "include_self": True, **common}
    return {"kind": "traffic", "pattern": pattern, **common}


def _packet_flits(settings: Settings) -> tuple[int | list[Spec], float]:
    """``packet_flits`` and its mean: one length, or a mixture with ``packet_size_rate`` as its weights."""
    sizes = numbers(settings["packet_size"], int)
    if sizes is None:
        raise settings.error("packet_size", "a whole number of flits, or {{sizes}}")
    weights = numbers(settings["packet_size_rate"], int)
    if weights is None or len(weights) not in (1, len(sizes)) or min(weights) < 1:
        raise settings.error("packet_size_rate", f"a weight of at least 1 for each of {len(sizes)} packet sizes")
    if len(sizes) == 1:
        return sizes[0], sizes[0]
    weights = weights * len(sizes) if len(weights) == 1 else weights
    mean = sum(size * weight for size, weight in zip(sizes, weights, strict=True)) / sum(weights)
    return [{"flits": size, "share": float(w)} for size, w in zip(sizes, weights, strict=True)], mean


def _process(settings: Settings) -> Spec:
    """When packets are created: ``bernoulli``, ``on_off``, or ``on_off(alpha,beta)``."""
    value = settings["injection_process"]
    name, arguments = (value.name, value.arguments) if isinstance(value, Call) else (value, ())
    if name == "bernoulli" and not arguments:
        return {"kind": "bernoulli"}
    keys = ("burst_alpha", "burst_beta", "burst_r1")
    if name != "on_off" or len(arguments) > len(keys):
        near = did_you_mean(name, ("bernoulli", "on_off"))
        raise settings.error("injection_process", "bernoulli, on_off or on_off(alpha,beta)", near)
    found = []
    for i, key in enumerate(keys):
        one, where = (arguments[i], "injection_process") if i < len(arguments) else (settings[key], key)
        if not isinstance(one, (int, float)) or not (one < 0 if key == "burst_r1" else 0 < one <= 1):
            expected = "-1.0: the rate in bursts follows" if key == "burst_r1" else "more than 0 and at most 1"
            raise settings.error(where, f"{key} {expected}")
        found.append(one)
    return {"kind": "on_off", "mean_burst_cycles": 1 / found[1], "mean_idle_cycles": 1 / found[0]}


def _pattern(settings: Settings, nodes: int) -> Spec:
    value = settings["traffic"]
    name, arguments = (value.name, value.arguments) if isinstance(value, Call) else (str(value), ())
    if name in _PLAIN and not arguments:
        return {"kind": _PLAIN[name]}
    if name == "randperm" and len(arguments) <= 1:
        return _permutation(settings, arguments, nodes)
    if name == "hotspot":
        return _hotspot(settings, arguments, nodes)
    if name == "background" and len(arguments) == 1:
        _check_named(settings, nodes)
        excluded = set(_nodes(settings, arguments[0], nodes))
        others = [node for node in range(nodes) if node not in excluded]
        if not others:
            raise settings.error("traffic", "at least one node that is not excluded")
        return {"kind": "hotspot", "terminals": others}
    theirs = f"flitwork does not have BookSim's {name} yet" if name in _OTHER else did_you_mean(name, _PLAIN)
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


def _hotspot(settings: Settings, arguments: tuple[Value, ...], nodes: int) -> Spec:
    if not 1 <= len(arguments) <= 2:
        raise settings.error("traffic", "hotspot({nodes}) or hotspot({nodes},{rates})", "name the nodes")
    terminals = _nodes(settings, arguments[0], nodes)
    rates = numbers(arguments[1], int) if len(arguments) == 2 else [1] * len(terminals)
    if rates is None or len(rates) != len(terminals) or min(rates, default=0) < 0:
        shown = written(arguments[-1])
        raise settings.error("traffic", f"a rate of at least 0 for each of {len(terminals)} nodes, not {shown}")
    if not any(rates):
        raise settings.error("traffic", "a rate above 0 for at least one node", f"the rates are {written(rates)}")
    chosen = [(node, rate) for node, rate in zip(terminals, rates, strict=True) if rate]
    return {"kind": "hotspot", "terminals": [n for n, _ in chosen], "shares": [float(r) for _, r in chosen]}


def _nodes(settings: Settings, value: Value, nodes: int) -> list[int]:
    found = numbers(value, int)
    if found is None or not all(0 <= node < nodes for node in found):
        raise settings.error("traffic", f"nodes from 0 to {nodes - 1}")
    return found
