"""Networks of ASTRA-sim's analytical backend: a shape for each dimension, in a small part of YAML.

A line for each of ``topology``, ``npus_count``, ``bandwidth`` [GB/s, of 2^30 bytes] and ``latency`` [ns], each a list
with an entry for each dimension. NPUs are routers with a terminal each; NPU numbers count along the first dimension
first. ``Ring`` joins the NPUs of a dimension in a ring (two NPUs: one cable), ``FullyConnected`` each to each, and
``Switch`` each to a router without terminals. An NPU sends and receives a flit a cycle at the speed of the fastest
dimension.
"""

from __future__ import annotations

import itertools
import math
import re

from flitwork.base.errors import ConfigError, did_you_mean
from flitwork.networks.files.listed import Listed
from flitwork.networks.files.speeds import Speeds

_KEYS = ("topology", "npus_count", "bandwidth", "latency")
_SHAPES = ("Ring", "FullyConnected", "Switch")
_LINE = re.compile(r"(\w+)[ \t]*:[ \t]*(?:\[([^\[\]]*)\]|([^\[\]{},:]+))[ \t]*")
_NUMBER = re.compile(r"[0-9]{1,12}(\.[0-9]{0,12})?([eE][+-]?[0-9]{1,2})?")
_WHOLE = re.compile(r"[0-9]{1,9}")
#: Bytes of a GB there.
_GB = 1 << 30


def looks_like(text: str) -> bool:
    """Whether the text has a key of such a file."""
    key = r"(?m)^\s*npus_count\s*:|^\s*topology\s*:\s*\[?\s*[\"']?(Ring|FullyConnected|Switch)\b"
    return bool(re.search(key, text))


def read(text: str, where: str) -> Listed:
    """The network in the text of a file."""
    lists = _lists(text, where)
    shapes, place = lists["topology"]
    for shape in shapes:
        if shape not in _SHAPES:
            expected = f"one of {', '.join(_SHAPES)} for each dimension"
            raise ConfigError(where, f"topology {shape} ({place})", expected, did_you_mean(shape, _SHAPES))
    for key in _KEYS[1:]:
        values, place = lists[key]
        if len(values) != len(shapes):
            expected = f"{len(shapes)}, one for each dimension of topology"
            raise ConfigError(where, f"{len(values)} entries of {key} ({place})", expected)
    sizes = [int(_number("npus_count", value, where, lists["npus_count"][1])) for value in lists["npus_count"][0]]
    bandwidths, latencies = (
        [_number(key, value, where, lists[key][1]) for value in lists[key][0]] for key in ("bandwidth", "latency")
    )
    npus = math.prod(sizes)
    routers, cables = npus, 0
    for shape, size in zip(shapes, sizes, strict=True):
        routers += npus // size if shape == "Switch" else 0
        cables += npus // size * _cables(shape, size)
    found = Listed(where)
    found.check_size(routers, cables, lists["npus_count"][1])
    for npu in range(npus):
        found.router(f"npu_{npu}")
        found.terminals[f"npu_{npu}"] = 1
    speeds = Speeds(bandwidths, "GB/s")
    stride = 1
    for dimension, (shape, size) in enumerate(zip(shapes, sizes, strict=True)):
        own = {"latency_ns": latencies[dimension], **speeds.of(bandwidths[dimension])}
        groups = (first for first in range(npus) if first // stride % size == 0)
        for group, first in enumerate(groups):
            members = [f"npu_{first + i * stride}" for i in range(size)]
            for one, other in _pairs(shape, members, f"switch_{dimension}_{group}"):
                found.cable(one, other, place, **own)
        stride *= size
    speeds.warn("NPUs", ())
    found.beside = {"units": {"channel_bytes_per_s": speeds.fastest * _GB}}
    return found


def _cables(shape: str, size: int) -> int:
    """Cables of a group of so many NPUs."""
    if shape == "FullyConnected":
        return size * (size - 1) // 2
    return 1 if shape == "Ring" and size == 2 else size


def _pairs(shape: str, members: list[str], switch: str) -> list[tuple[str, str]]:
    """Which routers of a group the cables of a dimension join."""
    if shape == "Switch":
        return [(npu, switch) for npu in members]
    if shape == "FullyConnected":
        return [(one, other) for i, one in enumerate(members) for other in members[i + 1 :]]
    pairs = [*itertools.pairwise(members)]
    return pairs if len(members) == 2 else [*pairs, (members[-1], members[0])]


def _lists(text: str, where: str) -> dict[str, tuple[list[str], str]]:
    """The entries of each key, and the place of the key."""
    found: dict[str, tuple[list[str], str]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        bare, place = line.partition("#")[0].rstrip(), f"line {number}"
        if not bare.strip():
            continue
        match = _LINE.fullmatch(bare)
        if match is None:
            expected = "a key and its values, for example npus_count: [2, 8, 4]"
            raise ConfigError(where, f"{bare.strip()[:60]} ({place})", expected, "is the text cut short here?")
        key, several, one = match.groups()
        if key not in _KEYS:
            expected = f"one of {', '.join(_KEYS)}"
            raise ConfigError(where, f"{key} ({place})", expected, did_you_mean(key, _KEYS))
        if key in found:
            raise ConfigError(where, f"{key} ({place})", f"{key} once; it is in {found[key][1]}")
        values = [_unquoted(value.strip()) for value in (several if one is None else one).split(",")]
        if not all(values):
            raise ConfigError(where, f"{bare.strip()[:60]} ({place})", "a value for each dimension between the commas")
        found[key] = (values, place)
    for key in _KEYS:
        if key not in found:
            value = f"no {key} in {len(text.splitlines())} lines"
            raise ConfigError(where, value, f"a line {key}: [...]", "is the text cut short?")
    return found


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) > 2 and value[0] == value[-1] and value[0] in "\"'" else value


def _number(key: str, value: str, where: str, place: str) -> float:
    whole = key == "npus_count"
    number = float(value) if (_WHOLE if whole else _NUMBER).fullmatch(value) else -1
    if number < {"npus_count": 2, "bandwidth": 1e-9, "latency": 0}[key]:
        expected = {"npus_count": "a whole number of at least 2", "bandwidth": "GB/s, more than 0"}
        raise ConfigError(where, f"{key} {value[:60]} ({place})", expected.get(key, "ns, at least 0"))
    return number
