"""TOML files read strictly: an unknown key, a wrong type or a missing value is an error with its path and a hint."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from flitwork.base import input_files
from flitwork.base.errors import ConfigError, unknown_key


class Table(BaseModel):
    """A TOML table that knows its keys."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


T = TypeVar("T", bound=Table)


def read_toml(path: Path) -> dict[str, Any]:
    """The TOML file ``path``; an error names the file and the line."""
    inside = path / "study.toml"
    with contextlib.suppress(OSError):
        if inside.exists():
            raise ConfigError("file", path, "a TOML file, not a folder", f"did you mean {inside}?")
    return input_files.read_toml(path)


def validate(model: type[T], data: Any, path: str = "") -> T:
    """``data`` as ``model``; the first fault as a :class:`ConfigError`."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        faults = error.errors(include_url=False)
        unknown = [f for f in faults if f["type"] == "extra_forbidden"]
        raise _explain(model, dict((unknown or faults)[0]), path) from None


def _explain(model: type[Table], fault: dict[str, Any], prefix: str) -> ConfigError:
    where = _dotted(fault["loc"], prefix)
    if fault["type"] == "extra_forbidden":
        *table, key = fault["loc"]
        return unknown_key(_dotted(table, prefix), str(key), _keys_at(model, table))
    if fault["type"] == "missing":
        return ConfigError(where, "nothing", "a value", f"add {fault['loc'][-1]}")
    if fault["type"] in ("too_short", "too_long"):
        return ConfigError(where, fault["input"], _length(fault["ctx"]))
    value = fault["input"]
    shown = f'"{value}"' if isinstance(value, str) else value
    text = fault["msg"].removeprefix("Value error, ")
    return ConfigError(where, shown, text.removeprefix("Input should be ").removeprefix("a valid "))


def _length(limits: dict[str, Any]) -> str:
    """What a list of a wrong length should be."""
    least = "min_length" in limits
    count = limits["min_length" if least else "max_length"]
    return f"a list of at {'least' if least else 'most'} {count} value{'s' if count > 1 else ''}"


def _dotted(parts: Sequence[int | str], prefix: str) -> str:
    path = prefix
    for part in parts:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else str(part)
    return path


def _keys_at(model: type[Table], table: Sequence[int | str]) -> list[str]:
    """The keys that the table at ``table`` inside ``model`` may have."""
    for part in table:
        if isinstance(part, int):
            continue
        field = next((f for n, f in model.model_fields.items() if part in (n, f.alias)), None)
        inner = _table_in(field.annotation) if field else None
        if inner is None:
            break
        model = inner
    return [field.alias or name for name, field in model.model_fields.items()]


def _table_in(annotation: Any) -> type[Table] | None:
    if isinstance(annotation, type) and issubclass(annotation, Table):
        return annotation
    for argument in getattr(annotation, "__args__", ()):
        found = _table_in(argument)
        if found:
            return found
    return None
