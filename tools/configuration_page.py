"""Writes docs/configuration.md from the schema of the simulator.

python tools/configuration_page.py            write the page
python tools/configuration_page.py --check    exit with 1 if the page is not what would be written
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from flitwork import _core
from flitwork.values.schema import is_physical

PAGE = Path(__file__).resolve().parents[1] / "docs" / "configuration.md"
Node = dict[str, Any]

INTRODUCTION = """\
<!-- Written by tools/configuration_page.py from the schema of the simulator. Do not edit: change the comments in
crates/flitwork/src/spec/ and run the tool again. -->

# Configuration

One simulation is a **specification** of three tables: `network` (what the machine is), `workload` (what is sent) and
`run` (seed, limits, what to record). This page lists every field. An unknown field, a wrong type or a value out of
range is an error that names the field, its value and what was expected.

* In a **study file** (TOML) the tables stand under `base`: `[base.network.router]` with `vcs = 4`. A path such as
  `"network.router.vcs" = [2, 4, 8]` in the grid of an experiment sweeps over a field.
* In **Python** each table is a value: `fw.Torus(9, 9, router=fw.Router(vcs=4), nic=fw.Nic(...))`,
  `routing=fw.routing.Duato(...)`, `fw.simulate(net, work, run=fw.Run(max_cycles=100_000, record=fw.Record(...)))`.
  The fields of version 0.1 may be written flat: `fw.Torus(9, 9, vcs=4)`, `fw.simulate(net, work, stalls=True)`.
* On the **command line**: `flitwork simulate a2at --size 9x9 --set vcs=4`.
* In **physical units**: a field whose name ends in `cycles` or `flits` may be written in ns or bytes by the name that
  ends in `ns` or `bytes`, `latency_ns` for `latency_cycles`; `offered_load` and `rate` in bytes/s. See
  [units.md](units.md).

`flitwork schema` prints the same as JSON Schema. [model.md](model.md) says what each option does, cycle by cycle. A
table with a `kind` has other fields for each kind.
"""


class Page:
    """Renders the tables of a schema, outermost first."""

    def __init__(self, schema: Node) -> None:
        self.schema = schema
        self.seen: dict[str, str] = {}

    def text(self) -> str:
        """The whole page."""
        parts = [INTRODUCTION]
        for name, node in _required_first(self.schema):
            parts += self.table(name, node)
        return "\n".join(parts)

    def resolve(self, node: Node) -> Node:
        """What a reference points to."""
        return self.schema["$defs"][node["$ref"].rsplit("/", 1)[-1]] if "$ref" in node else node

    def table(self, path: str, node: Node) -> Iterator[str]:
        """A table and those inside it."""
        inner = self.resolve(node)
        yield f"{'##' if '.' not in path else '###'} `{path}`\n"
        yield f"{_sentence(node.get('description', inner.get('description', '')))}\n"
        kinds = [kind for kind in inner.get("oneOf", ()) if "properties" in kind]
        if self.is_known(path, node):
            yield f"The same fields as `{self.seen[node['$ref']]}`.\n"
            return
        for kind in kinds:
            name = kind["properties"]["kind"]["const"]
            yield f'**`kind = "{name}"`**: {_cell(kind.get("description", ""))}\n'
            fields = {key: field for key, field in kind["properties"].items() if key != "kind"}
            yield from self.rows(fields, kind.get("required", ()))
        if not kinds:
            yield from self.rows(inner["properties"], inner.get("required", ()))
        for key, field in _required_first(inner):
            if self.is_table(field):
                yield from self.table(f"{path}.{key}", field)
        inside = {key: field for kind in kinds for key, field in kind["properties"].items() if self.is_table(field)}
        for key, field in inside.items():
            yield from self.table(f"{path}.{key}", field)

    def is_known(self, path: str, node: Node) -> bool:
        """Whether what a node refers to has been explained; notes that it is now."""
        known = node.get("$ref") in self.seen
        if "$ref" in node:
            self.seen.setdefault(node["$ref"], path)
        return known

    def is_table(self, node: Node) -> bool:
        """Whether a field is a table that has a section of its own."""
        inner = self.resolve(node)
        return "properties" in inner or any("properties" in kind for kind in inner.get("oneOf", ()))

    def rows(self, fields: dict[str, Node], required: object) -> Iterator[str]:
        """The fields that are values, then what the words among them mean."""
        fields = {key: field for key, field in fields.items() if not self.is_table(field) and not is_physical(field)}
        if not fields:
            return
        lines = ["| field | type | default | meaning |", "|---|---|---|---|"]
        notes: list[str] = []
        for key, field in fields.items():
            inner = self.resolve(field)
            meaning = field.get("description", inner.get("description", ""))
            # Of a field that is left out of a plan at its default the schema has none, the description does.
            told = re.search(r"\s*Default: ([\w.]+)\.$", meaning)
            default = json.dumps(field["default"]) if "default" in field else told[1] if told else ""
            default = "required" if key in required else default and f"`{default}`"
            meaning = (meaning[: told.start()] if told else meaning) + _limits(inner)
            lines.append(f"| `{key}` | {self.type(field)} | {default} | {_cell(meaning)} |")
            words = [word for word in inner.get("oneOf", ()) if "const" in word]
            if words and not self.is_known(key, field):
                notes.append(f"`{key}`:\n")
                notes += [f'* `"{word["const"]}"`: {_cell(word.get("description", ""))}' for word in words]
                notes.append("")
        yield "\n".join(lines) + "\n"
        if notes:
            yield "\n".join(notes)

    def type(self, node: Node) -> str:
        """The type of a value, in words."""
        inner = self.resolve(node)
        words = [word["const"] for word in inner.get("oneOf", ()) if "const" in word]
        if words:
            return " or ".join(f'`"{word}"`' for word in words)
        if "anyOf" in inner:
            return " or ".join(self.type(one) for one in inner["anyOf"])
        if inner.get("type") == "array":
            return f"list of {self.type(inner['items'])}"
        if inner.get("type") == "object":
            shown = {key: field for key, field in inner["properties"].items() if not is_physical(field)}
            fields = (f"`{key}`: {self.type(field)}" for key, field in shown.items())
            return f"table of {', '.join(fields)}"
        words = {"boolean": "true or false", "number": "number", "integer": "integer", "string": "text"}
        return words[inner["type"]] + (" or text" if "x-text" in inner else "")


def _required_first(table: Node) -> list[tuple[str, Node]]:
    required = table.get("required", ())
    return sorted(table.get("properties", {}).items(), key=lambda field: field[0] not in required)


def _limits(field: Node) -> str:
    """How many entries a list may have, and between which numbers each lies, where the schema says so."""
    if "maxItems" not in field:
        return ""
    each = field["items"]
    between = f" of {each['minimum']} to {each['maximum']}" if "maximum" in each else ""
    return f" {field['minItems']} to {field['maxItems']} entries{between}."


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _sentence(text: str) -> str:
    return " ".join(text.split())


def page() -> str:
    """The page as it should be."""
    return Page(json.loads(_core.schema())).text().rstrip() + "\n"


def main() -> int:
    """Writes or checks the page."""
    wanted = page()
    if "--check" in sys.argv[1:]:
        current = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
        if current != wanted:
            print(f"{PAGE} is out of date: run python tools/configuration_page.py", file=sys.stderr)
            return 1
        return 0
    PAGE.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
