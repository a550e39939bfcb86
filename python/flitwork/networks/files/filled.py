"""Specifications whose network is in a file: ``network.topology.file``, and ``network.routing.file`` of tables."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from flitwork.base import input_files
from flitwork.base.errors import ConfigError
from flitwork.base.libraries import np
from flitwork.networks.files.read import topology_fields

_CACHED = 8
#: Most characters of a value that an error shows.
_SHOWN = 80


def with_network_files(network: Mapping[str, Any]) -> dict[str, Any]:
    """The table ``network`` of a specification, with the contents of its files in their place."""
    found = dict(network)
    topology, routing = found.get("topology"), found.get("routing")
    if isinstance(topology, Mapping) and topology.get("kind") == "graph" and "file" in topology:
        found["topology"] = topology_from_file(topology)
    if isinstance(routing, Mapping) and routing.get("kind") == "table" and "file" in routing:
        if "next" in routing:
            raise ConfigError(
                "network.routing.file", routing["file"], "either a file or next", "take one of the two out"
            )
        rest = {key: value for key, value in routing.items() if key != "file"}
        found["routing"] = {**rest, "next": _table(_named(routing["file"], "network.routing.file"))}
    return found


def topology_from_file(topology: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a network of kind ``graph``, with what their file says in its place."""
    where = "network.topology.file"
    rest = {key: value for key, value in topology.items() if key != "file"}
    file = _named(topology["file"], where)
    read = _read_once(file, _version(file, where))
    twice = [key for key in read if key in rest]
    if twice:
        hint = f"{twice[0]} is in the file"
        raise ConfigError(f"network.topology.{twice[0]}", shortened(rest[twice[0]]), "it once", hint)
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
    """A matrix of whole numbers."""
    where = "network.routing.file"
    if file.suffix.lower() == ".npy":
        input_files.check_memory(file, where, 5 * input_files.checked(file, where, "a file"))
        with input_files.reading(file, where, "an array of NumPy", "numpy.save writes one"):
            array = np.load(file, allow_pickle=False)
            if getattr(array, "ndim", 0) != 2 or array.dtype.kind not in "iu":
                raise ConfigError(where, file, "a matrix of whole numbers, a row for each router")
            numbered = enumerate(array.tolist())
            return [[router if to == router else cell for to, cell in enumerate(row)] for router, row in numbered]
    text = input_files.read_text(file, where, "a table in CSV, a row for each router", most=1 << 28)
    rows: list[list[int]] = []
    reader = csv.reader(text.splitlines(), strict=True)
    try:
        for row in reader:
            if any(map(str.strip, row)):
                rows.append(_cells(row, len(rows), f"line {reader.line_num}", where))
    except csv.Error as error:
        raise ConfigError(where, f"line {reader.line_num}", f"cells separated by commas ({error})") from None
    return rows


def _cells(row: list[str], router: int, place: str, where: str) -> list[int]:
    """The next routers of a router; what stands in its own column does not count."""
    try:
        found = [int(cell[:18]) for cell in row]
    except ValueError:
        shown = ",".join(row)[:40]
        expected = "whole numbers, the next router for each destination"
        raise ConfigError(where, f"{shown} ({place})", expected) from None
    return [router if to == router else cell for to, cell in enumerate(found)]


def shortened(value: Any) -> str:
    """A value as an error shows it: of long lists the number of entries."""
    text = repr(value)
    return text if len(text) <= _SHOWN or not hasattr(value, "__len__") else f"{len(value)} entries"
