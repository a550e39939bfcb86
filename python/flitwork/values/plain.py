"""Specifications as plain data, and the one check of what stands in them, which is the simulator's."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from typing import Any

from flitwork import _core
from flitwork.base.errors import ConfigError

Spec = dict[str, Any]
#: Tables and lists within each other.
_DEEPEST = 100


def to_json(spec: Mapping[str, Any]) -> str:
    """A specification as JSON; a value that no specification can hold is an error with its path."""
    return json.dumps(_plain(spec, "specification", ""))


def _plain(value: Any, what: str, path: str) -> Any:
    """The same, where too many tables or lists within each other are an error about ``what``."""
    try:
        return plain(value, path)
    except RecursionError:
        raise ConfigError(what, "nested too deeply", "fewer tables or lists within each other") from None


def plain(value: Any, path: str = "", depth: int = 0) -> Any:
    """``value`` in terms of JSON; NumPy numbers become Python's.

    Raises :class:`RecursionError` where it is nested more deeply than JSON is read.
    """
    if depth > _DEEPEST:
        raise RecursionError
    if isinstance(value, str) and not value.isascii():
        _check_text(value, path)
    if isinstance(value, Mapping):
        return {str(k): plain(v, f"{path}.{k}" if path else str(k), depth + 1) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v, f"{path}[{i}]", depth + 1) for i, v in enumerate(value)]
    if isinstance(value, _core.Table):
        return {"sha256": value.sha256, "rows": value.rows}
    if isinstance(value, os.PathLike):
        return str(value)
    if hasattr(value, "tolist"):
        return plain(value.tolist(), path, depth)
    if isinstance(value, float) and not math.isfinite(value):
        raise ConfigError(path, value, "a finite number")
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    raise ConfigError(path, repr(value), "a number, a string, true or false, a list or a table")


def _check_text(text: str, path: str) -> None:
    """Refuses what is no text: bytes of a command line, or of the name of a file, that are no UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        is_file = path.rpartition(".")[2] == "file"
        hint = "rename the file: its name is no text" if is_file else "write it in UTF-8"
        raise ConfigError(path, ascii(text), "text in Unicode", hint) from None


def checked(path: str, table: Mapping[str, Any]) -> Spec:
    """The table at ``path`` of a specification as plain data, if it is one by the schema: fields, words, types, ranges.

    How fields go together is checked when a simulation is planned.
    """
    found: Spec = _plain(table, path, path)
    _core.check_table(path, json.dumps(found))
    return found
