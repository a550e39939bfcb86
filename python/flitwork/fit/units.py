"""Units of columns: what their names say, and files that do not agree."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from flitwork.base.errors import ConfigError
from flitwork.base.libraries import np, pd
from flitwork.measurements import check_numbers

_TIMES = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "usec": 1e-6, "microseconds": 1e-6, "nanoseconds": 1e-9, "ms": 1e-3,
          "msec": 1e-3, "milliseconds": 1e-3, "s": 1.0, "sec": 1.0, "seconds": 1.0}  # fmt: skip
_SIZES = {"bytes": 1.0, "kib": 2.0**10, "mib": 2.0**20, "gib": 2.0**30, "kb": 1e3, "mb": 1e6, "gb": 1e9}
#: How many seconds or bytes the last word of a name stands for, by column.
FACTORS: Mapping[str, Mapping[str, float]] = {"seconds": _TIMES, "bytes": _SIZES, "total_bytes": _SIZES}
_NO_UNIT = ("cycles", "flits")
_WITH_UNIT = re.compile(r"^\s*[-+]?[\d.]+([eE][-+]?\d+)?\s*([A-Za-zµ]+)\s*$")
#: Bits, or what looks like them: of `size_kb`, all in lower case, the b says nothing.
_BITS = re.compile(r"([KMGT]i?b|bits?)$")
#: Files whose times differ by one of these, or nearly, are in other units.
_STEPS = (1e3, 1e6, 1e9)
_NEARLY = 2.0
_SHARED = 2


def converted(column: pd.Series[Any], name: str, source: str, file: str, about: str) -> pd.Series[Any]:
    """The column ``source`` of a file in seconds or bytes, by the last word of its name."""
    end = _last_word(source)
    if name in FACTORS and end in _NO_UNIT:
        expected = f"a column in {'bytes' if 'bytes' in name else 's, ms, us or ns'}"
        raise ConfigError(f"{file}: {source}", end, expected, "network.units say what a cycle and a flit are")
    if "bytes" in name and _BITS.search(source.rstrip(")] ")):
        expected = "a column in bytes: its name ends in bytes, kB, KiB, MB or MiB"
        raise ConfigError(f"{file}: {source}", "bits", expected, "a bit is written b or bit, a byte B")
    factor = FACTORS.get(name, {}).get(end, 1.0)
    if factor == 1.0:
        return column
    check_numbers(column, source, file, about=about)
    return column.astype(float) * factor


def refuse_name(name: str, names: Sequence[str], known: Mapping[str, str], file: str) -> None:
    """A column of times or sizes in other units: mixed with ours, or to be named."""
    for ours in ("seconds", "bytes"):
        if name in known or _last_word(name) not in FACTORS[ours]:
            continue
        if ours in names:
            raise ConfigError(f"{file}: {name}", f"mixed units: beside {ours}", f"one column, {ours}", "leave one out")
        raise ConfigError(
            f"{file}: {name}", "unknown column", known[ours], f"--column {shlex.quote(f'{ours}={name}')} converts it"
        )


def refuse_cells(column: pd.Series[Any], name: str, file: str, about: str) -> None:
    """A cell with a unit in it."""
    for row, value in enumerate(column, 1):
        if isinstance(value, str) and (match := _WITH_UNIT.match(value)):
            unit = "a number in s" if name == "seconds" else "a number in bytes" if "bytes" in name else "a number"
            found = f'"{value}" (mixed units: {match[2]})'
            raise ConfigError(f"{file}: row {row}: {name}", found, f"{unit}, as in the other rows", about)


def refuse_files(tables: Sequence[tuple[str, pd.DataFrame]], conditions: Sequence[str]) -> None:
    """Two files with times under the same conditions, all of which differ as seconds and microseconds do."""
    means = [(file, table.groupby(list(conditions), dropna=False)["seconds"].median()) for file, table in tables]
    for (one, first), (other, second) in itertools.combinations(means, 2):
        ratio = (second / first).dropna().to_numpy()
        for step in _STEPS if len(ratio) >= _SHARED else ():
            for near in (ratio / step, 1 / ratio / step):
                if ((near > 1 / _NEARLY) & (near < _NEARLY)).all():
                    found = (
                        f"mixed units: times differ from those of {one} by a factor of {np.median(near) * step:,.0f}"
                    )
                    raise ConfigError(
                        f"{other}: seconds", found, "times in s in all files", f"{len(ratio)} conditions are in both"
                    )


def _last_word(name: str) -> str:
    return re.split(r"[_\s(\[]+", name.lower().rstrip(")]"))[-1]
