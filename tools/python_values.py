"""Writes the modules of the package that follow from the schema of the simulator.

python tools/python_values.py            write the modules
python tools/python_values.py --check    exit with 1 if one is not what would be written

``values/tables.py`` has a class for each table, ``values/routing.py`` (and so for any table with kinds) one for each
kind, and ``networks/constructors.py`` a constructor for each topology and the types of flat options.
"""

from __future__ import annotations

import importlib.util
import keyword
import re
import sys
import textwrap
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# The parts of the package that are needed, without the package itself: that imports the module which is written here.
_found = importlib.util.find_spec("flitwork")
_package = types.ModuleType("flitwork")
_package.__path__ = list(_found.submodule_search_locations or ()) if _found else []
sys.modules["flitwork"] = _package

from flitwork.values.flat import FLAT  # noqa: E402
from flitwork.values.schema import fields, is_physical, kinds, node, resolve, sizes_apart, tables  # noqa: E402

PACKAGE = Path(__file__).resolve().parents[1] / "python" / "flitwork"
Node = dict[str, Any]
#: How the class of a table is called where that is not the name of its definition without ``Spec``.
CLASSES: dict[str, str] = {"PlacementRule": "Placement"}
#: Tables of the network that are no value: each kind of topology has a constructor.
CONSTRUCTED = "topology"

HEAD = '''\
"""{about}

Written by tools/python_values.py from the schema of the simulator. Do not edit: change the comments of the fields in
crates/flitwork/src and run the tool again.
"""

# fmt: off
# ruff: noqa: B008, E501, F401, RUF100
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal{typing}

{imports}
'''


@dataclass
class Table:
    """A table that becomes a class, or several with one base."""

    name: str
    schema: Node
    paths: list[str] = field(default_factory=list)


def class_name(definition: Node) -> str:
    """The class of a table, from the reference to its definition."""
    reference = definition.get("$ref") or definition.get("allOf", [{}])[0].get("$ref", "")
    name = reference.rsplit("/", 1)[-1]
    return CLASSES.get(name, name.removesuffix("Spec"))


def camel(name: str) -> str:
    """``min_adapt`` as ``MinAdapt``."""
    return name.title().replace("_", "")


def is_table(one: Node) -> bool:
    """Whether a field is a table with named fields; numbers that come beside the specification are none."""
    return "x-numbers" not in one and bool(class_name(one)) and bool(fields(one))


def found_tables() -> dict[str, Table]:
    """Every table of the network (but the topology), of the hosts and of the run, those inside others first."""
    found: dict[str, Table] = {}

    def visit(path: str, one: Node) -> None:
        for name, inner in fields(one).items():
            if is_table(inner):
                visit(f"{path}.{name}", inner)
        known = found.setdefault(class_name(one), Table(class_name(one), one))
        known.paths.append(path)

    for name, one in tables("network").items():
        if name != CONSTRUCTED and is_table(one):
            visit(f"network.{name}", one)
    for section in ("host", "run"):
        visit(section, node(section))
    return found


def words(one: Node) -> list[str]:
    """The words that a field may be."""
    inner = resolve(one)
    found = [word for word in inner.get("enum", ()) if isinstance(word, str)]
    for choice in inner.get("oneOf", ()):
        found += [choice["const"]] if "const" in choice else choice.get("enum", ())
    return found


def literal(choices: list[str]) -> str:
    """A type of words."""
    return f"Literal[{', '.join(quoted(word) for word in choices)}]"


def quoted(word: str) -> str:
    """A string as the formatter writes it."""
    return f'"{word}"'


def annotation(one: Node) -> str:
    """The type of a field."""
    inner = resolve(one)
    if "x-numbers" in one:
        return "Any"
    if is_physical(one):
        return "float | str | Sequence[float | str]"
    if is_table(one):
        known = list(kinds(one)) or words(fields(one)["kind"]) if "kind" in fields(one) else []
        return " | ".join([class_name(one), *([literal(known)] if known else []), "Mapping[str, Any]"])
    if words(one):
        return literal(words(one))
    if "anyOf" in inner:
        return " | ".join(annotation(choice) for choice in inner["anyOf"])
    kind = inner.get("type")
    if kind == "array":
        return f"Sequence[{annotation(inner['items'])}]"
    known_types = {
        "boolean": "bool",
        "integer": "int",
        "number": "float",
        "string": "str",
        "object": "Mapping[str, Any]",
    }
    return known_types.get(str(kind), "Any") + (" | str" if "x-text" in inner else "")


def default_of(one: Node) -> str:
    """The default of a field, as Python."""
    value = one.get("default")
    if "x-numbers" in one:
        return "None"
    if is_table(one):
        return f"{class_name(one)}()" if value is not None and not kinds(one) else "None"
    if value is None:
        # Of a field that is left out of a plan at its default the schema has none, the description does.
        told = re.search(r"Default: ([\w.]+)\.$", " ".join(one.get("description", "").split()))
        word = told[1] if told else ""
        if word in words(one):
            value = word
        elif word in ("true", "false"):
            value = word == "true"
        elif word.isdecimal():
            value = int(word)
    if isinstance(value, list):
        return repr(tuple(value))
    return quoted(value) if isinstance(value, str) else repr(value)


def sentence(text: str) -> str:
    """A description in one line."""
    return " ".join(text.split()).replace("\\", "\\\\")


def wrapped(text: str, first: str, rest: str) -> list[str]:
    """Text in lines of at most 120 characters."""
    return textwrap.wrap(text, 119, initial_indent=first, subsequent_indent=rest, break_long_words=False)


def docstring(about: str, options: Mapping[str, Node]) -> Iterator[str]:
    """What a class or function is, and its fields."""
    lines = wrapped(f'"""{about}', "    ", "    ")
    if not options:
        yield from [*lines[:-1], lines[-1] + '"""']
        return
    yield from [*lines, ""]
    for name, one in options.items():
        said = one.get("description") or resolve(one).get("description", "")
        yield from wrapped(f"* ``{name}``: {sentence(said).replace('`', '``')}", "    ", "      ")
    yield '    """'


def fields_of_table(one: Node) -> dict[str, Node]:
    """The fields of a table or variant, without its kind; those that are required first."""
    instead = {inner.get("x-physical") for inner in fields(one).values()}
    required = set(resolve(one).get("required", ())) - instead
    found = {name: inner for name, inner in fields(one).items() if name != "kind" or not is_tag(inner)}
    return dict(sorted(found.items(), key=lambda item: item[0] not in required))


def is_tag(one: Node) -> bool:
    """Whether a field is the constant that tells a variant."""
    return "const" in one


def class_text(name: str, base: str, one: Node, paths: list[str], kind: str = "") -> Iterator[str]:
    """A class for a table or for one of its kinds."""
    options, required = fields_of_table(one), resolve(one).get("required", ())
    about = sentence(one.get("description") or resolve(one).get("description", ""))
    about = about if base != "Value" or not resolve(one).get("description") else sentence(resolve(one)["description"])
    yield from ["", "", "@value", f"class {name}({base}):", *docstring(about, options), ""]
    if kind:
        yield f"    KIND = {quoted(kind)}"
    else:
        yield f"    TABLES = ({', '.join(map(quoted, paths))},)"
    for option, inner in options.items():
        assert not keyword.iskeyword(option), option
        # What may be said in ns instead is missing only where neither is said, which the simulator finds.
        needed = option in required and option not in {other.get("x-physical") for other in options.values()}
        what = "" if needed else f" = default({default_of(inner)})"
        yield f"    {option}: {annotation(inner)}{what}"


def table_text(table: Table) -> Iterator[str]:
    """The class of a table, or the base and the classes of its kinds and where to find them."""
    of_kinds = kinds(table.schema)
    if not of_kinds:
        yield from class_text(table.name, "Value", table.schema, table.paths)
        return
    about = sentence(resolve(table.schema).get("description", ""))
    yield from [
        "",
        "",
        f"class {table.name}(Value):",
        *docstring(f"{about} Each kind is a class of this module.", {}),
        "",
    ]
    yield f"    TABLES = ({', '.join(map(quoted, table.paths))},)"
    for kind, one in of_kinds.items():
        yield from class_text(camel(kind), table.name, one, table.paths, kind)


def options_text() -> Iterator[str]:
    """The flat options, as types."""
    options = {name for one in kinds(tables("network")[CONSTRUCTED]).values() for name in fields(one)}
    flat = {name: path for name, path in FLAT["network"].items() if name not in options | {*table_types()}}
    yield from ["", "", "class FlatOptions(TypedDict, total=False):"]
    yield '    """The flat options of a network that are no arguments of their own; see :mod:`flitwork.values.flat`."""'
    yield ""
    yield from (f"    {name}: {annotation(node('.'.join(('network', *path))))}" for name, path in flat.items())
    yield from ["", "", "class NetworkOptions(FlatOptions, total=False):"]
    yield '    """All options of a network: its tables, the flat options of grids, those of every network."""'
    yield ""
    yield from (f"    {name}: {kind}" for name, kind in table_types().items())
    for name in sorted(options & {*FLAT["network"]}):
        yield f"    {name}: {annotation(node('.'.join(('network', *FLAT['network'][name]))))}"
    yield from ["", "", "class RunOptions(TypedDict, total=False):"]
    yield '    """The flat options of a run, except the seed; ``steady={}`` is all defaults."""'
    yield ""
    for name, path in FLAT["run"].items():
        if name != "seed":
            yield f"    {name}: {annotation(node('.'.join(('run', *path))))}"


def table_types() -> dict[str, str]:
    """The tables of a network that are arguments, with their types."""
    return {name: annotation(one) for name, one in tables("network").items() if name != CONSTRUCTED}


def constructor(kind: str, one: Node) -> Iterator[str]:
    """The function that makes a network of one topology."""
    options, required = fields_of_table(one), resolve(one).get("required", ())
    apart = sizes_apart(kind)
    yield from ["", "", f"def {camel(kind)}("]
    arguments = ["*size: int | Sequence[int]"] if apart else []
    if not apart and "size" in options:
        arguments.append(f"size: {annotation(options['size'])}")
    arguments += [] if apart else ["*"]
    for name, inner in options.items():
        if name != "size":
            what = "" if name in required else f" = default({default_of(inner)})"
            arguments.append(f"{name}: {annotation(inner)}{what}")
    arguments += [f"{name}: {types} = default(None)" for name, types in table_types().items()]
    yield from (f"    {argument}," for argument in [*arguments, "**flat: Unpack[FlatOptions]"])
    yield ") -> Network:"
    about = {name: inner for name, inner in options.items()} | {name: tables("network")[name] for name in table_types()}
    yield from docstring(sentence(one.get("description", "")), about)
    yield "    return Network("
    yield f"        {quoted(kind)},"
    for name in [*options, *table_types()]:
        yield f"        {name}={'sizes(size)' if apart and name == 'size' else name},"
    yield from ["        **flat,", "    )"]


def imported(where: str, names: list[str]) -> str:
    """An import, on several lines where one would be too long."""
    line = f"from {where} import {', '.join(names)}"
    return line if len(line) <= 120 else "\n".join([f"from {where} import (", *(f"    {name}," for name in names), ")"])


def module(about: str, imports: list[str], names: list[str], body: list[str], typing: str = "") -> str:
    """The text of a module that exports ``names``."""
    listed = ["", "__all__ = [", *(f"    {quoted(name)}," for name in sorted(names)), "]"]
    head = HEAD.format(about=about, typing=typing, imports="\n".join(imports)).rstrip("\n")
    return "\n".join([head, *listed, *body]) + "\n"


def modules() -> dict[str, str]:
    """The modules as they should be, by file."""
    found = found_tables()
    alone = {name: table for name, table in found.items() if not kinds(table.schema)}
    base = ["from flitwork.values.value import Value, default, value"]
    text = [line for table in alone.values() for line in table_text(table)]
    about = "Values: the tables of a specification as frozen objects with typed fields."
    inside = [name for name in found if name not in alone and any(re.search(rf": {name} \|", line) for line in text)]
    used = sorted([*base, *(f"from flitwork.values.{name.lower()} import {name}" for name in inside)])
    written = {"values/tables.py": module(about, used, [*alone], text)}
    imports = [imported("flitwork.values.tables", sorted(alone))]
    for name, table in found.items():
        if name not in alone:
            about = f"The kinds of ``{table.paths[0]}``, each a value: {sentence(resolve(table.schema)['description'])}"
            names = [name, *map(camel, kinds(table.schema))]
            written[f"values/{name.lower()}.py"] = module(about, base, names, [*table_text(table)])
            if name not in inside:
                imports.append(f"from flitwork.values.{name.lower()} import {name}")
    topologies = kinds(tables("network")[CONSTRUCTED])
    text = [*options_text(), *(line for kind, one in topologies.items() for line in constructor(kind, one))]
    imports = sorted(
        [*imports, "from flitwork.networks.network import Network, sizes", "from flitwork.values.value import default"]
    )
    about = "A constructor for each topology, and the types of flat options."
    imports = ["from typing_extensions import Unpack", "", *imports]
    options = ["FlatOptions", "NetworkOptions", "RunOptions"]
    written["networks/constructors.py"] = module(
        about, imports, [*options, *map(camel, topologies)], text, ", TypedDict"
    )
    return written


def main() -> int:
    """Writes or checks the modules."""
    stale = []
    for name, wanted in modules().items():
        file = PACKAGE / name
        if not file.exists() or file.read_text(encoding="utf-8") != wanted:
            stale.append(name)
            if "--check" not in sys.argv[1:]:
                file.write_text(wanted, encoding="utf-8")
    if stale and "--check" in sys.argv[1:]:
        print(f"{', '.join(stale)}: out of date; run python tools/python_values.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
