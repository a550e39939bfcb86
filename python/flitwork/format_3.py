"""Results that were stored in format 3: read with the names of today."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from flitwork import renamed

_COLUMNS = {
    "link_flits": "channel_flits",
    "measured_link_flits": "measured_channel_flits",
    "link_windows": "channel_windows",
    "packets.controller": "packets.injection_port",
}
_BOUND = {"link_load_cycles": "channel_load_cycles"}
_LIMIT = {"link_load": "channel_load"}

Columns = Mapping[str, np.ndarray[Any, Any]]


def plan(stored: Mapping[str, Any]) -> dict[str, Any]:
    """The plan, whose specification has the old names."""
    with warnings.catch_warnings():
        # Whoever reads the file did not write them.
        warnings.simplefilter("ignore", FutureWarning)
        return {**stored, "spec": renamed.specification(stored["spec"])}


def columns(stored: Columns) -> dict[str, np.ndarray[Any, Any]]:
    """The long columns."""
    return {_COLUMNS.get(name, name): column for name, column in stored.items()}


def bound(stored: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the bound."""
    found = {_BOUND.get(name, name): value for name, value in stored.items()}
    return {**found, "tightest": _LIMIT.get(found["tightest"], found["tightest"])} if "tightest" in found else found
