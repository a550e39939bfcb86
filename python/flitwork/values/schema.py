"""The schema of a specification, as the simulator states it."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from flitwork import _core


@lru_cache(maxsize=1)
def schema() -> dict[str, Any]:
    """The JSON Schema of a simulation: network, workload, run."""
    loaded: dict[str, Any] = json.loads(_core.schema())
    return loaded


def resolve(node: dict[str, Any]) -> dict[str, Any]:
    """Follows ``$ref``, also where it stands alone in an ``allOf`` or beside a default."""
    while True:
        if "$ref" in node:
            node = schema()["$defs"][node["$ref"].rsplit("/", 1)[-1]]
        elif len(node.get("allOf", ())) == 1:
            node = node["allOf"][0]
        else:
            return node


def fields(node: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The fields of a table; of a table with a ``kind``, those of every kind together."""
    node = resolve(node)
    found: dict[str, dict[str, Any]] = dict(node.get("properties", {}))
    for variant in node.get("oneOf", ()):
        found.update({name: field for name, field in variant.get("properties", {}).items() if name not in found})
    return found


def kinds(node: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The variants of a table with a ``kind``, by kind."""
    variants = resolve(node).get("oneOf", ())
    return {v["properties"]["kind"]["const"]: v for v in variants if "kind" in v.get("properties", {})}


def is_physical(field: dict[str, Any]) -> bool:
    """Whether a field is another by its physical name, ``latency_ns`` for ``latency_cycles``."""
    return "x-physical" in field


def is_open_loop(kind: object) -> bool:
    """Whether a workload of that kind has a load and no end; what completes, and what is no kind, has none."""
    return isinstance(kind, str) and bool(kinds(schema()["properties"]["workload"]).get(kind, {}).get("x-open-loop"))


def sizes_apart(topology: str) -> bool:
    """Whether the constructor of a topology takes its sizes one by one, ``fw.Torus(8, 8)``: it needs nothing else."""
    needed = kinds(tables("network")["topology"])[topology].get("required", ())
    return set(needed) == {"kind", "size"}


@lru_cache(maxsize=1)
def number_fields() -> dict[str, tuple[str, str]]:
    """By kind of table the field whose numbers may come from a file or an array, and what they are.

    That is ``destinations``, a ``matrix``, ``packets``, a ``schedule`` or ``detours``.
    """
    workloads = kinds(schema()["properties"]["workload"])
    found = {}
    patterns, noises = kinds(fields(workloads["traffic"])["pattern"]), kinds(node("host.noise"))
    for kind, table in {**workloads, **patterns, **noises}.items():
        for name, field in fields(table).items():
            if "x-numbers" in field:
                found[kind] = (name, str(field["x-numbers"]))
    return found


@lru_cache(maxsize=1)
def largest() -> tuple[int, int]:
    """Most dimensions of a network [dimensions], and most routers along one of them [routers]."""
    size = fields(tables("network")["topology"])["size"]
    return int(size["maxItems"]), int(size["items"]["maximum"])


def tables(section: str) -> dict[str, dict[str, Any]]:
    """The fields of ``network`` or ``run``."""
    return fields(schema()["properties"][section])


def node(path: str) -> dict[str, Any]:
    """What the schema says of the table or field ``network.router.vcs``; nothing where there is none."""
    section, *names = path.split(".")
    found: dict[str, Any] = schema()["properties"].get(section, {})
    for name in names:
        found = fields(found).get(name, {})
    return found


@lru_cache(maxsize=1024)
def has_kind(path: str) -> bool:
    """Whether the table at ``path`` has a ``kind``: it may be written as that alone, ``"wavefront"``."""
    return "kind" in fields(node(path))
