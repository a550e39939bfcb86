"""A machine in a file: tables `network`, and perhaps `host` and `run`, as in a study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flitwork import renamed
from flitwork.errors import ConfigError, unknown_key
from flitwork.files import in_folder
from flitwork.formats import check_format
from flitwork.network import Network
from flitwork.strict import tomllib

_TABLES = ("network", "host", "run")


def network_file(path: Path, option: str = "--network") -> tuple[Network, dict[str, Any], dict[str, Any]]:
    """The network that a file describes, its host, and the options of the run."""
    try:
        found: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(option, path, "a TOML file that can be read", error.strerror or "") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        if path.suffix.lower() != ".toml":
            check_format(path, option, "a TOML file with a table `network`")
        raise ConfigError(option, path, "a TOML file", str(error)) from None
    for key in found:
        if key not in _TABLES:
            raise unknown_key("", key, _TABLES, "tables")
    if "network" not in found:
        raise ConfigError(option, path, "a table `network` in it", "as in a study file")
    tables = renamed.specification(found)
    table = tables["network"]
    topology = table.get("topology")
    if not isinstance(topology, dict) or "kind" not in topology:
        loggops = table.get("kind") == "loggops"
        hint = "loggops has none, and runs GOAL: flitwork run" if loggops else "flitwork list topologies"
        raise ConfigError("network.topology", topology, "a table with a kind", hint)
    own = {key: value for key, value in topology.items() if key != "kind"}
    others = {key: value for key, value in table.items() if key != "topology"}
    run = {"run": tables["run"]} if "run" in tables else {}
    return Network(topology["kind"], **own, **others), dict(in_folder(tables.get("host", {}), path.parent)), run
