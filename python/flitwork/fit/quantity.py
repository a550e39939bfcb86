"""Numbers with their units as people read them: 12.3 us, 40 ns/B, 25 MB/s."""

from __future__ import annotations

import math

_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"), (1e-12, "ps"))
_RATES = ((1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s"))
_SIZES = ((2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "B"))


def quantity(value: float, unit: str) -> str:
    """``value`` in the largest multiple of ``unit`` (s, s/B, B/s, B, ...) that leaves a number of at least 1."""
    if math.isnan(value):
        return "-"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    # As it is shown: 999.99 ns are 1 us.
    value = float(f"{value:.4g}")
    top, slash, below = unit.partition("/")
    if unit == "B/s":
        factor, shown = _multiple(value, _RATES)
    elif top == "s":
        factor, shown = _multiple(value, _TIMES)
        shown += slash + below
    elif unit == "B":
        factor, shown = _multiple(value, _SIZES)
    else:
        factor, shown = 1.0, unit
    return f"{value / factor:,.4g} {shown}"


def _multiple(value: float, multiples: tuple[tuple[float, str], ...]) -> tuple[float, str]:
    return next(
        (one for one in multiples if abs(value) >= one[0] * (1 - 1e-12)), multiples[-1] if value else multiples[0]
    )
