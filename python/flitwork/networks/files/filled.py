"""Specifications whose network is in a file: ``network.topology.file``, and ``network.routing.file`` of tables.

A table is a matrix of next routers, or forwarding tables beside a topology that ``ibnetdiscover`` prints.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from flitwork import _core
from flitwork.base.errors import ConfigError
from flitwork.base.table_file import check_size, first_wrong, read_csv, read_npy, shape_of, short, shown_cell
from flitwork.networks.files.read import are_forwarding_tables, forwarding_tables, topology_fields
from flitwork.values.plain import to_json

_CACHED = 8
#: Fields of the tables ``topology`` and ``without`` with numbers of routers and terminals.
WITH_NUMBERS = ("cables", "channels", "routers", "terminals")
#: Bytes that reading takes at most, for each byte of a file.
_PER_BYTE = 5
#: Size of a flit [bytes] if a file says how fast a channel is, and the network nothing of flits and cycles.
_FLIT_BYTES = 64


def with_network_files(network: Mapping[str, Any]) -> dict[str, Any]:
    """The table ``network`` of a specification, with the contents of its files, and numbers in the place of names.

    Raises :class:`~flitwork.ConfigError` for a file that cannot be read, and for names that the network does not have.
    """
    found = dict(network)
    topology, routing = found.get("topology"), found.get("routing")
    if isinstance(topology, Mapping) and topology.get("kind") == "graph" and "file" in topology:
        found["topology"], beside = _topology(topology)
        found |= _with_beside(found, beside)
    if isinstance(routing, Mapping) and routing.get("kind") == "table" and "file" in routing:
        for name in ("next", "ports"):
            if name in routing:
                expected = f"either a file or {name}"
                raise ConfigError("network.routing.file", routing["file"], expected, "take one of the two out")
        rest = {key: value for key, value in routing.items() if key != "file"}
        file = _named(routing["file"], "network.routing.file")
        read = {"ports": _forwarding(file, topology)} if are_forwarding_tables(file) else {"next": _table(file)}
        found["routing"] = {**rest, **read}
    return _numbered(found)


def _numbered(network: dict[str, Any]) -> dict[str, Any]:
    """The network with the numbers of its routers and terminals where their names stand."""
    tables = {name: network[name] for name in ("topology", "without") if isinstance(network.get(name), Mapping)}
    if not any(_has_text(tables[name].get(field)) for name in tables for field in WITH_NUMBERS):
        return network
    return {**network, **json.loads(_core.number_names(to_json(tables)))}


def _has_text(entries: object) -> bool:
    """Whether there is text in a list, or in a list of it."""
    return isinstance(entries, (list, tuple)) and any(isinstance(one, str) or _has_text(one) for one in entries)


def _with_beside(network: Mapping[str, Any], beside: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    """The tables of a network with what a file says beside its topology, where the network does not say it."""
    found = {}
    for name, fields in beside.items():
        said = network.get(name, {})
        if not isinstance(said, Mapping):
            continue
        if name != "units":
            known = {key.removesuffix("_cycles").removesuffix("_ns") for key in said}
            found[name] = {**{key: one for key, one in fields.items() if key.removesuffix("_ns") not in known}, **said}
            continue
        units = dict(said)
        # Any two of the three give the third.
        for key, one in (*fields.items(), ("flit_bytes", _FLIT_BYTES)):
            if len(units.keys() & {"flit_bytes", "cycle_ns", "channel_bytes_per_s"}) < 2:
                units.setdefault(key, one)
        found[name] = units
    return found


def _forwarding(file: Path, topology: Any) -> list[list[int]]:
    """The table of output ports of forwarding tables, beside the file of the fabric."""
    fabric = topology.get("file") if isinstance(topology, Mapping) else None
    if fabric is None:
        expected = "what ibnetdiscover prints as network.topology.file beside forwarding tables"
        raise ConfigError("network.routing.file", file, expected)
    of_fabric = _named(fabric, "network.topology.file")
    versions = _version(file, "network.routing.file"), _version(of_fabric, "network.topology.file")
    return _forwarding_once(file, of_fabric, versions)


@lru_cache(maxsize=_CACHED)
def _forwarding_once(file: Path, fabric: Path, versions: tuple[tuple[int, int, int], ...]) -> list[list[int]]:
    """The table of output ports; ``versions`` change with the contents of the files."""
    return forwarding_tables(file, fabric)


def _topology(topology: Mapping[str, Any]) -> tuple[dict[str, Any], Mapping[str, Any]]:
    """The table ``network.topology`` with what its file says in its place, and what the file says of other tables."""
    where = "network.topology.file"
    rest = {key: value for key, value in topology.items() if key != "file"}
    file = _named(topology["file"], where)
    read, beside = _read_once(file, _version(file, where))
    twice = [key for key in read if key in rest]
    if twice:
        hint = f"{twice[0]} is in the file"
        raise ConfigError(f"network.topology.{twice[0]}", short(rest[twice[0]]), "it once", hint)
    return {**rest, **read}, beside


def _named(file: Any, where: str) -> Path:
    if not isinstance(file, (str, os.PathLike)):
        raise ConfigError(where, repr(file), "the name of a file")
    return Path(file)


def _version(file: Path, where: str) -> tuple[int, int, int]:
    try:
        found = file.stat()
    except (OSError, ValueError) as error:
        because = getattr(error, "strerror", None) or str(error)
        raise ConfigError(where, file, f"a file that can be read ({because})", "check the name") from None
    return found.st_mtime_ns, found.st_size, found.st_ino


@lru_cache(maxsize=_CACHED)
def _read_once(file: Path, version: tuple[int, int, int]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the file says; ``version`` changes with its contents."""
    return topology_fields(file)


def _table(file: Path) -> list[list[int]]:
    """A matrix of whole numbers; what stands in a router's own column does not count."""
    where, expected = "network.routing.file", "a matrix of whole numbers, a row for each router"
    if file.suffix.lower() == ".npy":
        array = read_npy(file, "network.routing", _PER_BYTE)
    else:
        check_size(file, "network.routing", _PER_BYTE)
        table = read_csv(file, "network.routing", expected, "the file is empty")
        for column in table.columns:
            row = first_wrong(table[column])
            if row is not None:
                value = f"{shown_cell(table[column].iloc[row])} (line {row + 1}, column {int(column) + 1})"
                raise ConfigError(where, value, "the number of a router")
        array = table.to_numpy()
    if array.ndim != 2 or array.dtype.kind not in "iu":
        raise ConfigError(where, f"{shape_of(array)} of {array.dtype} ({file.name})", expected)
    for router in range(min(array.shape)):
        array[router, router] = router
    return [[int(cell) for cell in row] for row in array.tolist()]
