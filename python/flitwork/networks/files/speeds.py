"""Cables of several speeds: a slower cable takes more cycles per flit than the fastest one."""

from __future__ import annotations

from collections.abc import Iterable

from flitwork.base.notices import warn_user


class Speeds:
    """Speeds of the cables of a network, in any ``unit``; 0 is unknown and counts as the fastest."""

    def __init__(self, speeds: Iterable[float], unit: str) -> None:
        known = [*speeds]
        self.fastest = max(known, default=0)
        self._differ = any(0 < speed < self.fastest for speed in known)
        self._unit = unit
        self._rounded: set[str] = set()
        if 0 in known and self._differ:
            warn_user("some cables have no rate in the text: they count as the fastest")

    def of(self, speed: float) -> dict[str, int]:
        """``cycles_per_flit`` of a cable; nothing if all are alike."""
        if not self._differ:
            return {}
        cycles = max(1, round(self.fastest / (speed or self.fastest)))
        if speed and cycles * speed != self.fastest:
            self._rounded.add(f"{speed:g} of {self.fastest:g} {self._unit} as 1/{cycles}")
        return {"cycles_per_flit": cycles}

    def warn(self, ends: str, speeds: Iterable[float]) -> None:
        """Warns of speeds that were rounded, and if some of the terminals (``ends``) are slower than the fastest."""
        if self._rounded:
            warn_user(f"cables take a whole number of cycles per flit: {', '.join(sorted(self._rounded))}")
        if any(0 < speed < self.fastest for speed in speeds):
            warn_user(f"some {ends} are slower than the fastest cable: all terminals take a flit in every cycle")
