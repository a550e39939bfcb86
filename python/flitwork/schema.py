"""The schema of a specification, as the simulator states it, and the flat keywords that follow from it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from flitwork import _core

Path = tuple[str, ...]

#: Fields that are never written flat: each constructor of a network states them itself.
_GIVEN = ("kind", "size", "wrap")


@lru_cache(maxsize=1)
def schema() -> dict[str, Any]:
    """The JSON Schema of a simulation: network, workload, run."""
    loaded: dict[str, Any] = json.loads(_core.schema())
    return loaded


def _resolve(node: dict[str, Any]) -> dict[str, Any]:
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
    node = _resolve(node)
    found: dict[str, dict[str, Any]] = dict(node.get("properties", {}))
    for variant in node.get("oneOf", ()):
        found.update({name: field for name, field in variant.get("properties", {}).items() if name not in found})
    return found


def kinds(node: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The variants of a table with a ``kind``, by kind."""
    variants = _resolve(node).get("oneOf", ())
    return {v["properties"]["kind"]["const"]: v for v in variants if "kind" in v.get("properties", {})}


@lru_cache(maxsize=1)
def largest() -> tuple[int, int]:
    """Most dimensions of a network [dimensions], and most routers along one of them [routers]."""
    size = fields(tables("network")["topology"])["size"]
    return int(size["maxItems"]), int(size["items"]["maximum"])


def tables(section: str) -> dict[str, dict[str, Any]]:
    """The fields of ``network`` or ``run``."""
    return fields(schema()["properties"][section])


def _flat(section: str) -> Iterator[tuple[str, Path]]:
    required = _resolve(schema()["properties"][section]).get("required", ())
    for name, field in tables(section).items():
        inner = fields(field)
        # A table that may be missing is written whole: its presence means something.
        if not inner or ("default" not in field and name not in required):
            yield name, (name,)
            continue
        if "kind" in inner and name != "topology":
            yield name, (name, "kind")
        for key, below in inner.items():
            if key in _GIVEN:
                continue
            deeper = fields(below)
            # A table of options, not one with a kind: those are written whole.
            if deeper and "kind" not in deeper:
                yield from ((option, (name, key, option)) for option in deeper)
            else:
                yield key, (name, key)


@lru_cache(maxsize=64)
def choices(section: str, path: Path) -> tuple[str, ...]:
    """The words that the field at ``path`` of ``network`` or ``run`` may be; none where it is not a word.

    Those of a table with a ``kind`` are its kinds: ``routing`` and ``routing.kind`` have the same.
    """
    inside, field = tables(section), dict[str, Any]()
    for name in path:
        if name == "kind" and kinds(field):
            break
        field = inside[name]
        inside = fields(field)
    if "kind" in inside and not kinds(field):
        field = inside["kind"]
    words = (word.get("const") for word in _resolve(field).get("oneOf", ()))
    return tuple(kinds(field)) or tuple(word for word in words if word)


@lru_cache(maxsize=2)
def flat_keywords(section: str) -> dict[str, Path]:
    """Every keyword of ``network`` or ``run`` that may be written flat, with its place in the nested specification.

    ``vcs`` stands for ``router.vcs``, ``ports`` for ``nic.ports``, ``routing`` for ``routing.kind``.
    """
    found: dict[str, Path] = {}
    for name, path in _flat(section):
        if name in found:
            raise AssertionError(f"{section}: {name} means {found[name]} and {path}")
        found[name] = path
    return found
