"""Results in ns, bytes and bytes/s: what stands beside cycles and flits where the network says what these are.

Nothing of it is stored: whatever has a name in cycles or flits (``completion_cycles``, ``flits_per_cycle``) gets its
physical name from that (``completion_ns``, ``bytes_per_s``), and its value by one factor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flitwork.base.libraries import pd

#: Ends of names in the units of the simulator, and what they are in physical units; the first that fits.
_ENDS = {
    "flit_cycles": "",
    "flits_per_cycle": "bytes_per_s",
    "cycles": "ns",
    "cycle": "ns",
    "flits": "bytes",
}
#: Units in tables and labels.
UNITS = {"ns": "ns", "bytes": "bytes", "bytes_per_s": "bytes/s"}


@dataclass(frozen=True)
class Units:
    """What a flit carries [bytes] and how long a cycle takes [ns], where that is known."""

    flit_bytes: float | None = None
    cycle_ns: float | None = None

    @classmethod
    def of(cls, described: Mapping[str, Any]) -> Units:
        """The units of a plan, as it describes itself."""
        return cls(**described.get("units", {}))

    @classmethod
    def stated(cls, table: object) -> Units:
        """The units that the table ``network.units`` states, as far as they are known before a plan: 1 for each."""
        said = set(table) if isinstance(table, Mapping) else set()
        two = len(said & {"flit_bytes", "cycle_ns", "channel_bytes_per_s"}) > 1
        return cls(*(1.0 if two or name in said else None for name in ("flit_bytes", "cycle_ns")))

    def factor(self, unit: str) -> float | None:
        """By how much a number in cycles, flits or flits/cycle is multiplied; ``None`` where that is not known."""
        if unit == "ns":
            return self.cycle_ns
        if unit == "bytes":
            return self.flit_bytes
        if self.flit_bytes is None or self.cycle_ns is None:
            return None
        return self.flit_bytes / self.cycle_ns * 1e9


def physical_name(name: str) -> tuple[str, str] | None:
    """The physical name of a column and its unit, ``("completion_ns", "ns")``; nothing where it has none."""
    for end, unit in _ENDS.items():
        if name == end or name.endswith(f"_{end}"):
            return (name.removesuffix(end) + unit, unit) if unit else None
    return None


def scaled(value: Any, factor: float) -> Any:
    """A number, or a column of numbers, times a factor; what is missing stays so."""
    return None if value is None else value * factor


def with_units(table: pd.DataFrame, units: Units) -> pd.DataFrame:
    """A table with a physical column behind each that has one, as far as the units are known."""
    found = {}
    for name in table.columns:
        found[name] = table[name]
        physical = physical_name(name)
        factor = units.factor(physical[1]) if physical else None
        if physical and factor is not None:
            found[physical[0]] = scaled(table[name], factor)
    return table if len(found) == len(table.columns) else pd.DataFrame(found)
