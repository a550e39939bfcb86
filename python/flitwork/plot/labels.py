"""What stands at an axis or in a legend for a column: its name in words, with its unit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from flitwork.results.columns import RESULT_COLUMNS
from flitwork.values.schema import fields, schema

#: Units by the end of a column's name; the first that fits. Columns of a result say their unit themselves.
_UNITS = {
    "_flits_per_cycle": "flits/cycle",
    "_flit_cycles": "flit-cycles",
    "_cycles": "cycles",
    "_flits": "flits",
    "_seconds": "s",
    "_bytes_per_s": "bytes/s",
    "_bytes": "bytes",
    "_ns": "ns",
}
_UNIT = re.compile(r"\[([^\]]+)\]")


def simulated(name: str, plan: Mapping[str, Any]) -> str:
    """``uniform on torus 8x8: dimension_order, 4 VCs of 16 flits, packets of 4 flits``, of a plan."""
    spec, described = plan["spec"], plan["described"]
    router, routing = (spec["network"][key] for key in ("router", "routing"))
    lengths = spec["workload"]["packet_flits"]
    packets = f"packets of {lengths} flits" if isinstance(lengths, int) else "packets of several lengths"
    packets = "packets of 1 flit" if lengths == 1 else packets
    background = spec.get("background")
    beside = f", beside {background['offered_load']:g} flits/cycle/terminal" if background else ""
    vcs = f"{router['vcs']} VCs of {router['buffer_flits']} flits"
    return f"{name} on {described['topology']['kind']} {described['size']}: {routing['kind']}, {vcs}, {packets}{beside}"


def label(name: str) -> str:
    """``packet latency mean [cycles]`` for ``packet_latency_mean_cycles``, ``vcs`` for ``network.router.vcs``."""
    for ending, unit in _UNITS.items():
        if name.endswith(ending):
            words = short(name).removesuffix(ending.replace("_", " "))
            known = RESULT_COLUMNS[name].unit if name in RESULT_COLUMNS else ""
            return f"{words} [{known or (unit + '/terminal' if words.endswith('load') else unit)}]"
    unit = _unit(name) if "." in name else ""
    return f"{short(name)} [{unit}]" if unit else short(name)


def short(name: str) -> str:
    """``vcs`` for ``network.router.vcs``, ``topology`` for ``network.topology.kind``; a background's says so."""
    parts = name.split(".")
    last = parts[-2] if parts[-1] == "kind" and len(parts) > 2 else parts[-1]
    return f"{'background ' if parts[0] == 'background' else ''}{last.replace('_', ' ')}"


def _unit(name: str) -> str:
    """The unit in the description of a field; empty if it has none."""
    section, *path = name.split(".")
    node = schema()["properties"].get(section, {})
    for part in path:
        node = fields(node).get(part, {})
    found = _UNIT.search(node.get("description", ""))
    return found[1] if found else ""
