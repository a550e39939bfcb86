"""Edge lists in CSV: a cable or a channel a line.

The first two columns are the routers at both ends. A first line with the names of columns may stand above them: under
``from`` and ``to`` a line is a channel in that direction, else a cable. Further columns: ``latency_cycles``,
``latency_ns``, ``cycles_per_flit``, ``cables`` (parallel ones, default 1).
"""

from __future__ import annotations

import csv
from typing import Any

from flitwork.base.errors import ConfigError, did_you_mean
from flitwork.base.notices import warn_user
from flitwork.networks.files.listed import OF_LINKS, Listed

_COLUMNS = (*OF_LINKS, "cables")
#: What the first two columns may be called: by these names alone a first line is known as one of names.
_ENDS = (("a", "b"), ("from", "to"), ("source", "target"), ("src", "dst"), ("node1", "node2"), ("u", "v"))
#: Most parallel cables in a line: a router has no more ports.
_MOST_PARALLEL = 512
#: Most digits of a number that are read.
_DIGITS = 18


def looks_like(text: str) -> bool:
    """Whether the first line has two columns or more, separated by commas."""
    return "," in text.lstrip().split("\n", 1)[0]


def read(text: str, where: str) -> Listed:
    """The network in the text of a file."""
    found = Listed(where)
    rows = _rows(text, where)
    first = tuple(cell.lower() for cell in rows[0][1]) if rows else ()
    names: list[str] = []
    if first[:2] in _ENDS or {*first[2:]} & {*_COLUMNS}:
        names, rows = [*first], rows[1:]
        for name in names[2:]:
            if name not in _COLUMNS:
                hint = did_you_mean(name, _COLUMNS)
                raise ConfigError(where, f'column "{name}" (line 1)', f"one of {', '.join(_COLUMNS)}", hint)
    if first[:2] == ("to", "from"):
        raise ConfigError(where, "columns to,from (line 1)", "from,to")
    directed = first[:2] == ("from", "to")
    width = len(names) or 2
    for line, cells in rows:
        place = f"line {line}"
        if len(cells) != width or not all(cells[:2]):
            expected = f"{width} cells, the first two the routers at both ends"
            raise ConfigError(where, f"{','.join(cells)} ({place})", expected)
        own = {name: _number(name, cell, where, place) for name, cell in zip(names[2:], cells[2:], strict=True)}
        for _ in range(own.pop("cables", 1)):
            (found.channel if directed else found.cable)(cells[0], cells[1], place, **own)
    ends = {(one, other) for one, other, _, _ in found.cables}
    if len(ends) > 1 and all((other, one) in ends for one, other in ends):
        warn_user(
            "each cable is listed in both directions and counts twice: name the columns from,to if these are channels"
        )
    return found


def _rows(text: str, where: str) -> list[tuple[int, list[str]]]:
    """The lines that are not empty, each with its number."""
    reader = csv.reader(text.splitlines(), strict=True)
    try:
        return [(reader.line_num, [cell.strip() for cell in row]) for row in reader if any(map(str.strip, row))]
    except csv.Error as error:
        raise ConfigError(where, f"line {reader.line_num}", f"cells separated by commas ({error})") from None


def _number(name: str, cell: str, where: str, place: str) -> Any:
    try:
        number = float(cell) if name == "latency_ns" else int(cell[:_DIGITS])
    except ValueError:
        number = -1
    if number < 0 or (name == "cables" and not 1 <= number <= _MOST_PARALLEL):
        expected = f"1 to {_MOST_PARALLEL}" if name == "cables" else "a number of at least 0"
        raise ConfigError(where, f'{name} = "{cell}" ({place})', expected)
    return number
