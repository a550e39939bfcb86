"""Specifications whose network is in a file: ``network.topology.file``, and ``network.routing.file`` of tables."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from flitwork.base.errors import ConfigError
from flitwork.base.table_file import check_size, first_wrong, read_csv, read_npy, shape_of, short, shown_cell
from flitwork.networks.files.read import topology_fields

_CACHED = 8
#: Bytes that reading takes at most, for each byte of a file.
_PER_BYTE = 5


def with_network_files(network: Mapping[str, Any]) -> dict[str, Any]:
    """The table ``network`` of a specification, with the contents of its files in their place."""
    found = dict(network)
    topology, routing = found.get("topology"), found.get("routing")
    if isinstance(topology, Mapping) and topology.get("kind") == "graph" and "file" in topology:
        found["topology"] = _topology(topology)
    if isinstance(routing, Mapping) and routing.get("kind") == "table" and "file" in routing:
        if "next" in routing:
            raise ConfigError(
                "network.routing.file", routing["file"], "either a file or next", "take one of the two out"
            )
        rest = {key: value for key, value in routing.items() if key != "file"}
        found["routing"] = {**rest, "next": _table(_named(routing["file"], "network.routing.file"))}
    return found


def _topology(topology: Mapping[str, Any]) -> dict[str, Any]:
    """The table ``network.topology`` of kind ``graph``, with what its file says in its place."""
    where = "network.topology.file"
    rest = {key: value for key, value in topology.items() if key != "file"}
    file = _named(topology["file"], where)
    read = _read_once(file, _version(file, where))
    twice = [key for key in read if key in rest]
    if twice:
        hint = f"{twice[0]} is in the file"
        raise ConfigError(f"network.topology.{twice[0]}", short(rest[twice[0]]), "it once", hint)
    return {**rest, **read}


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
def _read_once(file: Path, version: tuple[int, int, int]) -> dict[str, Any]:
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
