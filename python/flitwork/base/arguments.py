"""Arguments of functions: what is no number or no list is an error that names the argument."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping
from typing import Any

from flitwork.base.errors import ConfigError
from flitwork.base.libraries import np


def number(name: str, value: Any, expected: str, hint: str = "") -> float:
    """``value`` if it is a number at all; its range is left to the caller."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ConfigError(name, repr(value), expected, hint)
    return float(value)


def several(name: str, values: Any, expected: str, hint: str = "") -> list[Any]:
    """``values`` as a list; text and tables are none, though one can go through them."""
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        single = "" if isinstance(values, (str, bytes, Mapping)) else f"write {name.rpartition('.')[2]}=[{values!r}]"
        raise ConfigError(name, repr(values), expected, hint or single)
    return list(values)


def whole(name: str, value: Any, least: int, most: int, hint: str = "") -> int:
    """``value`` if it is a whole number in that range, both ends included."""
    # Nearly all are; they come by the million.
    if type(value) is int and least <= value <= most:
        return value
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not least <= value <= most:
        raise ConfigError(name, repr(value), f"a whole number from {least} to {most}", hint)
    return int(value)


def floats(name: str, values: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """An array of numbers of any shape."""
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise ConfigError(name, repr(values), "numbers in a list or an array") from None
