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
        raise ConfigError(f"network.topology.{twice[0]}", rest[twice[0]], "it once", hint)
    return {**rest, **read}


def _named(file: Any, where: str) -> Path:
    if not isinstance(file, (str, os.PathLike)):
        raise ConfigError(where, repr(file), "the name of a file")
    return Path(file)


def _version(file: Path, where: str) -> tuple[int, int, int]:
    try:
        found = file.stat()
    except OSError as error:
        because = error.strerror or str(error)
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
            return [[int(cell) for cell in row] for row in array.tolist()]
    text = input_files.read_text(file, where, "a table in CSV, a row for each router", most=1 << 28)
    rows = []
    for number, row in enumerate(csv.reader(text.splitlines()), 1):
        try:
            rows.append([int(cell) for cell in row])
        except ValueError:
            shown = ",".join(row)[:40]
            raise ConfigError(
                where, f"{shown} (line {number})", "whole numbers, the next router for each destination"
            ) from None
    return rows
