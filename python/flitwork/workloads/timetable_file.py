"""Timetables in files: JSON, as ``flitwork synthesise`` writes it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flitwork import _core
from flitwork.base import input_files
from flitwork.base.errors import ConfigError, in_file
from flitwork.base.table_file import short

#: Bytes that reading takes at most, for each byte of a file.
_PER_BYTE = 40


def read_timetable(file: Path, path: str) -> _core.Table:
    """The timetable in a file; ``path`` is that of the table that names the file."""
    where, expected = f"{path}.file", "a timetable in JSON"
    data = input_files.read_bytes(file, where, expected, "flitwork synthesise writes one", per_byte=_PER_BYTE)
    with input_files.reading(file, where, expected, "flitwork synthesise writes one"):
        text = data.decode()
    with in_file(file):
        return _core.timetable(text, f"{path}.timetable")


def timetable_of(value: Any, path: str) -> _core.Table:
    """A timetable from its table, as JSON has it, or from that text."""
    if isinstance(value, Mapping):
        try:
            value = json.dumps(value)
        except (TypeError, ValueError) as error:
            raise ConfigError(path, short(value), f"a timetable as JSON has it ({error})") from None
    if not isinstance(value, str):
        raise ConfigError(path, short(value), "a timetable as JSON has it", "fw.Timetable.read reads files")
    return _core.timetable(value, path)
