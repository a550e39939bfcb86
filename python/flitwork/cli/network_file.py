"""A machine in a file: tables `network`, and perhaps `host` and `run`, as in a study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flitwork.base.errors import ConfigError, in_file, unknown_key
from flitwork.base.input_files import read_toml
from flitwork.base.output_files import in_folder
from flitwork.networks.network import Network

_TABLES = ("network", "host", "run")


def network_file(path: Path, option: str = "--network") -> tuple[Network, dict[str, Any], dict[str, Any]]:
    """The network that a file describes, its host, and the options of the run."""
    if path.suffix.lower() != ".toml":
        return Network("graph", file=path), {}, {}
    found = read_toml(path, option)
    if "network" not in found and {*found} <= {*_TABLES}:
        raise ConfigError(option, path, "a table `network` in it", "as in a study file")
    with in_file(path):
        return _machine(found, path)


def _machine(found: dict[str, Any], path: Path) -> tuple[Network, dict[str, Any], dict[str, Any]]:
    for key, value in found.items():
        if key not in _TABLES:
            raise unknown_key("", key, _TABLES, "tables")
        if not isinstance(value, dict):
            raise ConfigError(key, value, "a table", f"write [{key}] above its fields")
    table = in_folder(found["network"], path.parent)
    topology = table.get("topology")
    if not isinstance(topology, dict) or "kind" not in topology:
        loggops = table.get("kind") == "loggops"
        hint = "loggops has none, and runs GOAL: flitwork run" if loggops else "flitwork list topologies"
        shown = "nothing" if topology is None else topology
        raise ConfigError("network.topology", shown, "a table with a kind", hint)
    topology_fields = {key: value for key, value in topology.items() if key != "kind"}
    others = {key: value for key, value in table.items() if key != "topology"}
    run = {"run": found["run"]} if "run" in found else {}
    return (
        Network(topology["kind"], **topology_fields, **others),
        dict(in_folder(found.get("host", {}), path.parent)),
        run,
    )
