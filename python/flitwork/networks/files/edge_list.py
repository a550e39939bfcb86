"""Edge lists in CSV: a cable or a channel a line.

The first two columns are the routers at both ends. Under the names ``from`` and ``to`` a line is a channel in that
direction, under any other names (or without a header) a cable. Further columns: ``latency_cycles``, ``latency_ns``,
``cycles_per_flit``, ``cables`` (parallel ones, default 1).
"""

from __future__ import annotations

import csv
import re
from typing import Any

from flitwork.base.errors import ConfigError, did_you_mean
from flitwork.networks.files.listed import OF_LINKS, Listed

_COLUMNS = (*OF_LINKS, "cables")
_NUMBER = re.compile(r"\s*\d+\s*")
#: Most parallel cables in a line: a router has no more ports.
_MOST_PARALLEL = 512


def looks_like(text: str) -> bool:
    """Whether the first line has two columns or more, separated by commas."""
    return "," in text.lstrip().split("\n", 1)[0]


def read(text: str, where: str) -> Listed:
    """The network in the text of a file."""
    found = Listed(where)
    rows = [(number, row) for number, row in enumerate(csv.reader(text.splitlines()), 1) if any(map(str.strip, row))]
    first = [cell.strip() for cell in rows[0][1]] if rows else []
    names: list[str] = []
    if first and not (_NUMBER.fullmatch(first[0]) and len(first) > 1 and _NUMBER.fullmatch(first[1])):
        names, rows = first, rows[1:]
        for name in names[2:]:
            if name not in _COLUMNS:
                hint = did_you_mean(name, _COLUMNS)
                raise ConfigError(where, f'column "{name}" (line 1)', f"one of {', '.join(_COLUMNS)}", hint)
    directed = [name.lower() for name in names[:2]] == ["from", "to"]
    width = len(names) or 2
    for line, row in rows:
        cells = [cell.strip() for cell in row]
        place = f"line {line}"
        if len(cells) != width or not all(cells[:2]):
            expected = f"{width} cells, the first two the routers at both ends"
            raise ConfigError(where, f"{','.join(cells)} ({place})", expected)
        own = {name: _number(name, cell, where, place) for name, cell in zip(names[2:], cells[2:], strict=True)}
        for _ in range(own.pop("cables", 1)):
            (found.channel if directed else found.cable)(cells[0], cells[1], place, **own)
    return found


def _number(name: str, cell: str, where: str, place: str) -> Any:
    try:
        number = float(cell) if name == "latency_ns" else int(cell)
    except ValueError:
        number = -1
    if number < 0 or (name == "cables" and not 1 <= number <= _MOST_PARALLEL):
        expected = f"1 to {_MOST_PARALLEL}" if name == "cables" else "a number of at least 0"
        raise ConfigError(where, f'{name} = "{cell}" ({place})', expected)
    return number
