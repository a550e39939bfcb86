"""What BookSim takes from a list and from parameters in parentheses.

Its tokeniser takes the braces around the first parameter as the list of all parameters: ``hotspot({11,55})`` has the
parameters 11 and 55, ``hotspot({{11,55}})`` has one. Without braces the first parameter is read and no other. Of what
stands behind the first list all is lost but the entries in between. A list that is the value of a key itself has an
entry for each class of traffic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from flitwork.booksim.config_file import Call, Value, written


@dataclass(frozen=True)
class Parameters:
    """A name with the parameters that BookSim finds, and those that it does not."""

    name: str
    found: tuple[Value, ...] = ()
    lost: tuple[Value, ...] = ()


def parameters(value: Value) -> Parameters:
    """The parameters of a word or a call; a word has none."""
    if not isinstance(value, Call):
        return Parameters(written(value))
    if not value.arguments:
        return Parameters(value.name)
    first, *rest = value.arguments
    if isinstance(first, list):
        return Parameters(value.name, (*first, *rest[:-1]), tuple(rest[-1:]))
    return Parameters(value.name, (first,), tuple(rest))


def first_class(entries: list[Value]) -> Value:
    """What a list says of the first class of traffic, the only one here.

    BookSim divides the list at every comma outside inner braces, those in parentheses too.
    """
    first = entries[0]
    return Call(first.name, first.arguments[:1]) if isinstance(first, Call) else first


def parameter_notes(value: Value) -> list[str]:
    """Where BookSim surely does not read what was meant."""
    read = parameters(value)
    unread = [*read.found[_USED.get(read.name, 0) :], *read.lost]
    is_rate = read.name == "hotspot" and len(read.found) > 1 and not isinstance(read.found[0], list)
    if read.name == "hotspot" and len(read.found) > 1 and _count(read.found[1]) > _count(read.found[0]):
        return [f"{value}: more rates than nodes: the last ones are not used"]
    if not isinstance(value, Call) or not (unread or is_rate):
        return []
    effect = _EFFECTS[read.name](read.found) if read.name in _EFFECTS else read.name
    lost = f" ({', '.join(map(written, unread))}: not read)" if unread else ""
    return [f"{value} is {effect}{lost}, as in BookSim{_meaning(value)}"]


def _count(value: Value) -> int:
    return len(value) if isinstance(value, list) else 1


def _hotspot(found: tuple[Value, ...]) -> str:
    several = ["s" if isinstance(one, list) else "" for one in found]
    rate = f" with rate{several[1]} {written(found[1])}" if len(found) > 1 else ""
    return f"node{several[0]} {written(found[0])}{rate}"


def _on_off(found: tuple[Value, ...]) -> str:
    return ", ".join(f"{key} = {written(one)}" for key, one in zip(("alpha", "beta", "r1"), found, strict=False))


def _meaning(call: Call) -> str:
    """The call with the braces that BookSim wants around all parameters, and around a list of nodes."""
    first = call.arguments[0]
    if call.name not in _USED or (isinstance(first, list) and any(isinstance(one, list) for one in first)):
        return ""
    arguments = ",".join(map(written, call.arguments))
    if call.name in _OF_NODES and not isinstance(first, list):
        arguments = f"{{{arguments}}}"
    return f"; all of it is {call.name}({{{arguments}}})"


#: How many parameters BookSim uses; of the fourth of ``on_off`` nothing is left after the warm-up.
_USED = {"hotspot": 2, "background": 1, "randperm": 1, "tornado": 3, "neighbor": 3, "on_off": 4}
_OF_NODES = ("hotspot", "background")
#: What the parameters come to, of those whose short form misleads.
_EFFECTS: dict[str, Callable[[tuple[Value, ...]], str]] = {
    "hotspot": _hotspot,
    "background": lambda found: f"all nodes but {written(found[0])}",
    "on_off": _on_off,
}
