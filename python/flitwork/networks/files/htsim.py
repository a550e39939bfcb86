"""Topologies of htsim: fat trees of two or three tiers.

The header has ``Nodes`` (hosts), ``Tiers`` and ``Podsize`` (hosts in a pod). Then each tier has a block, from tier 0,
whose switches have the hosts, up to the top. In a pod each switch of tier 0 is joined to each of tier 1; of three tiers
number i of tier 1 in its pod is joined to every switch of tier 2 whose number is i modulo the switches of tier 1 in a
pod. ``Bundle`` of a tier counts the cables to each switch below. Latency and speed of a tier are those of its cables
downwards. Buffers (``Queue_Up``, ``Queue_Down``) are not read: htsim drops packets, routers here do not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from flitwork.base.errors import ConfigError, did_you_mean
from flitwork.base.notices import warn_user
from flitwork.networks.files.listed import Listed
from flitwork.networks.files.speeds import Speeds

_HEADER = ("Nodes", "Tiers", "Podsize")
_SPEED, _UP, _DOWN, _LATENCY = "Downlink_speed_Gbps", "Radix_Up", "Radix_Down", "Downlink_Latency_ns"
_SWITCH, _BUNDLE, _OVERSUBSCRIBED = "Switch_Latency_ns", "Bundle", "Oversubscribed"
_OF_TIER = (_SPEED, _UP, _DOWN, _LATENCY, _SWITCH, _BUNDLE, _OVERSUBSCRIBED, "Queue_Up", "Queue_Down")
#: Settings that may be 0.
_FROM_ZERO = (_LATENCY, _SWITCH, "Queue_Up", "Queue_Down")
_WHOLE = re.compile(r"[0-9]{1,9}")
_MOST_TIERS = 3


def looks_like(text: str) -> bool:
    """Whether the text has lines of such a header."""
    return all(re.search(rf"(?im)^[ \t]*{name}[ \t]+\w", text) for name in ("nodes", "(tiers?|podsize)"))


@dataclass
class _Block:
    """The header, or a tier: its settings and their lines."""

    title: str
    line: int
    where: str
    values: dict[str, int] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)

    def get(self, name: str, default: int | None = None) -> int:
        found = self.values.get(name, default)
        if found is None:
            value = f"no {name} in {self.title} (line {self.line})"
            raise ConfigError(self.where, value, f"a line {name} with its number", "is the text cut short?")
        return found

    def refuse(self, name: str, expected: str) -> ConfigError:
        line = self.lines.get(name, self.line)
        value = f"{name} {self.values[name]}" if name in self.values else f"no {name}"
        return ConfigError(self.where, f"{value} in {self.title} (line {line})", expected)


def read(text: str, where: str) -> Listed:
    """The network in the text of a file."""
    header, tiers = _blocks(text, where)
    nodes, pod = header.get("Nodes"), header.get("Podsize")
    if nodes % pod or (len(tiers) == 2 and nodes != pod):
        raise header.refuse("Podsize", f"Nodes {nodes}" if len(tiers) == 2 else f"a divisor of Nodes {nodes}")
    pods, down = nodes // pod, [tier.get(_DOWN) for tier in tiers]
    up = [tier.get(_UP) for tier in tiers[:-1]]
    bundles = [tier.get(_BUNDLE, 1) for tier in tiers]
    if bundles[0] != 1:
        raise tiers[0].refuse(_BUNDLE, "Bundle 1 in tier 0: a host has one cable")
    if pod % down[0]:
        raise tiers[0].refuse(_DOWN, f"a divisor of Podsize {pod}")
    for tier, radix, bundle in zip(tiers, up, bundles[1:], strict=False):
        if radix % bundle:
            raise tier.refuse(_UP, f"a multiple of Bundle {bundle} in the tier above")
    # Switches in a pod; those of the top tier in all.
    lower = pod // down[0]
    middle = up[0] // bundles[1]
    _check_down(tiers[1], lower, bundles[1], "switches of tier 0 in a pod")
    if len(tiers) == _MOST_TIERS:
        _check_down(tiers[2], pods, bundles[2], "pods")
    speeds = Speeds([tier.get(_SPEED) for tier in tiers], "Gbit/s")
    for tier, above, radix in zip(tiers, tiers[1:], up, strict=False):
        _check_oversubscribed(tier, radix, tier.get(_SPEED), above.get(_SPEED))
    found = Listed(where)
    top = middle * (up[1] // bundles[2]) if len(tiers) == _MOST_TIERS else 0
    cables = pods * (lower * up[0] + (middle * up[1] if top else 0))
    found.check_size(pods * (lower + middle) + top, cables, f"line {header.lines['Nodes']}")
    for tor in range(pods * lower):
        found.router(f"T0_{tor}")
        found.terminals[f"T0_{tor}"] = down[0]
    for number in range(pods * middle):
        found.router(f"T1_{number}")
    for number in range(top):
        found.router(f"T2_{number}")

    def join(tier: int, one: int, other: int) -> None:
        own = {"latency_ns": tiers[tier].get(_LATENCY), **speeds.of(tiers[tier].get(_SPEED))}
        for _ in range(bundles[tier]):
            found.cable(f"T{tier - 1}_{one}", f"T{tier}_{other}", f"line {tiers[tier].line}", **own)

    for tor in range(pods * lower):
        for i in range(middle):
            join(1, tor, tor // lower * middle + i)
    for number in range(pods * middle if top else 0):
        for core in range(number % middle, top, middle):
            join(2, number, core)
    speeds.warn("hosts", [tiers[0].get(_SPEED)])
    found.beside = {
        "units": {"channel_bytes_per_s": speeds.fastest * 1e9 / 8},
        "channel": {"local_latency_ns": tiers[0].get(_LATENCY)},
        **_switch_latency(tiers),
    }
    return found


def _blocks(text: str, where: str) -> tuple[_Block, list[_Block]]:
    """The header and the tiers, from 0, each setting once."""
    header = now = _Block("the header", 1, where)
    tiers: dict[int, _Block] = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        name = words[0].lower()
        if len(words) != 2 or not _WHOLE.fullmatch(words[1]):
            known = name == "tier" or name in (one.lower() for one in (*_HEADER, *_OF_TIER))
            expected = "a name and a whole number" if known else f"one of {', '.join((*_HEADER, 'Tier', *_OF_TIER))}"
            raise ConfigError(where, f"{line.strip()[:60]} (line {number})", expected)
        count = int(words[1])
        if name == "tier":
            if not 0 <= count < _MOST_TIERS or count in tiers:
                expected = f"tier {count} once" if count in tiers else "tiers 0, 1 and 2"
                raise ConfigError(where, f"Tier {count} (line {number})", expected)
            now = tiers[count] = _Block(f"tier {count}", number, where)
            continue
        names = _HEADER if now is header else _OF_TIER
        found = next((one for one in names if one.lower() == name), None)
        if found is None:
            expected = f"one of {', '.join(names)} in {now.title}"
            raise ConfigError(where, f"{words[0]} (line {number})", expected, did_you_mean(words[0], names))
        if found in now.values:
            expected = f"{found} once in {now.title}; it is in line {now.lines[found]}"
            raise ConfigError(where, f"{found} {count} (line {number})", expected)
        now.values[found], now.lines[found] = count, number
        if count == 0 and found not in _FROM_ZERO:
            raise now.refuse(found, "at least 1")
    count = header.get("Tiers")
    if not 2 <= count <= _MOST_TIERS:
        raise header.refuse("Tiers", "2 or 3")
    if missing := [number for number in range(count) if number not in tiers]:
        value = f"no Tier {missing[0]} in {len(text.splitlines())} lines"
        raise ConfigError(where, value, f"a block for each of {count} tiers", "is the text cut short?")
    if len(tiers) > count:
        raise ConfigError(where, f"Tier {count} (line {tiers[count].line})", f"Tiers {count + 1} in the header")
    if _UP in tiers[count - 1].values:
        raise tiers[count - 1].refuse(_UP, "no Radix_Up in the top tier")
    return header, [tiers[number] for number in range(count)]


def _check_down(tier: _Block, below: int, bundle: int, what: str) -> None:
    if tier.get(_DOWN) != below * bundle:
        raise tier.refuse(_DOWN, f"{below * bundle}: {below} {what}, Bundle {bundle}")


def _check_oversubscribed(tier: _Block, up: int, speed: int, speed_up: int) -> None:
    """What is said of it agrees with the ports, or with their bandwidth."""
    if _OVERSUBSCRIBED not in tier.values:
        return
    said, down = tier.get(_OVERSUBSCRIBED), tier.get(_DOWN)
    if said * up != down and said * up * speed_up != down * speed:
        raise tier.refuse(_OVERSUBSCRIBED, f"{down / up:g}: {down} ports down, {up} up")


def _switch_latency(tiers: list[_Block]) -> dict[str, dict[str, float]]:
    """The delay of the routers, if it is the same in all tiers."""
    delays = [tier.get(_SWITCH, 0) for tier in tiers]
    if len({*delays}) == 1:
        return {"router": {"st_delay_ns": delays[0]}} if delays[0] else {}
    said = ", ".join(f"{tier.get(_SWITCH, 0)} ns in {tier.title}" for tier in tiers)
    warn_user(f"Switch_Latency_ns is not used, as it differs between tiers: {said}; set router.st_delay_ns for all")
    return {}
