"""Results that were stored in format 3: read with the names of today, and with counts of the channels that exist."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from typing import Any, TypeAlias

from flitwork import _core
from flitwork.base.libraries import np
from flitwork.values import renamed

_COLUMNS = {
    "link_flits": "channel_flits",
    "measured_link_flits": "measured_channel_flits",
    "link_windows": "channel_windows",
    "packets.controller": "packets.injection_port",
}
#: Counts that had a place for every port of every router.
_BY_PORT = ("channel_flits", "measured_channel_flits", "channel_windows")
_BOUND = {
    "link_load_cycles": "channel_load_cycles",
    "load_flits_per_cycle": "saturation_load_flits_per_cycle",
}
_LIMIT = {"link_load": "channel_load"}

Columns: TypeAlias = "dict[str, np.ndarray[Any, Any]]"


def plan(stored: Mapping[str, Any]) -> dict[str, Any]:
    """The plan, whose specification has the old names, with what a plan says of itself today."""
    with warnings.catch_warnings():
        # Whoever reads the file did not write them.
        warnings.simplefilter("ignore", FutureWarning)
        spec = renamed.specification(stored["spec"])
    workload = spec["workload"]
    # A workload of the simplest kind stands for the stored one, whose tables are not in the file.
    simple = {
        "network": spec["network"],
        "workload": {"kind": "uniform", "offered_load": 1e-6},
        "run": {"deadlock_check": False},
    }
    described = json.loads(_core.Plan(json.dumps(simple)).json)["described"]
    described["workload"] = workload.get("algorithm") or workload.get("pattern", workload)["kind"]
    described["has_schedule"] = "algorithm" in workload
    described["runs_to_completion"] = "offered_load" not in workload
    return {**stored, "spec": spec, "described": described}


def columns(stored: Mapping[str, np.ndarray[Any, Any]], plan: Mapping[str, Any]) -> Columns:
    """The long columns."""
    found = {_COLUMNS.get(name, name): column for name, column in stored.items()}
    derived, channels = plan["derived"], _core.channels(json.dumps(plan["spec"]["network"]["topology"]))
    ports = derived["network_ports"]
    places = channels["router"].astype(int) * ports + channels["port"]
    for name in _BY_PORT:
        if name in found:
            found[name] = found[name].reshape(-1, derived["routers"] * ports)[:, places].ravel()
    return {**found, **{f"channels.{name}": column for name, column in channels.items()}}


def bound(stored: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the bound."""
    found = {_BOUND.get(name, name): value for name, value in stored.items()}
    return {**found, "tightest": _LIMIT.get(found["tightest"], found["tightest"])} if "tightest" in found else found
