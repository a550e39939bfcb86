"""Networks: what the machine is. A topology, and for each other table a value or flat names."""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flitwork import _core
from flitwork.base.errors import ConfigError, unknown_key
from flitwork.base.libraries import np
from flitwork.networks import aliases
from flitwork.networks.faults import working_topology
from flitwork.networks.files import with_network_files
from flitwork.values.flat import FLAT, Path
from flitwork.values.plain import Spec, checked
from flitwork.values.schema import fields, kinds, schema, sizes_apart, tables
from flitwork.values.value import Value, as_written, given

#: The tables that are values of one class, which is called so with a capital letter.
_VALUES = ("router", "nic", "channel", "units", "bus")
#: Most characters of a value that an error shows.
_SHOWN = 80


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Network:
    """What the machine is: a topology by name, with its fields, and the other tables.

    ``fw.Network("torus", size=(8, 8), router=fw.Router(vcs=4))`` is ``fw.Torus(8, 8, router=fw.Router(vcs=4))``; every
    topology that ``flitwork list topologies`` names can be made so. Two networks are equal if the same is written in
    them, flat or not.
    """

    kind: str
    options: Mapping[str, Any]
    _spec: Spec

    def __init__(self, kind: str, /, **options: Any) -> None:
        if not isinstance(kind, str):
            raise not_a("the name of a topology", "network.topology.kind", kind, "flitwork list topologies")
        set_options = given(options)
        object.__setattr__(self, "kind", aliases.resolved(kind, set_options))
        object.__setattr__(self, "options", set_options)
        object.__setattr__(self, "_spec", checked("network", self._nested()))

    @property
    def spec(self) -> Spec:
        """The nested table ``network`` of a specification."""
        return copy.deepcopy(self._spec)

    def _nested(self) -> Spec:
        of_kinds = kinds(tables("network")["topology"])
        if self.kind not in of_kinds:
            raise aliases.unknown(self.kind)
        of_topology = {name: ("topology", name) for name in fields(of_kinds[self.kind]) if name != "kind"}
        whole = {name: (name,) for name in tables("network") if name != "topology"}
        nested: Spec = {"topology": {"kind": self.kind}}
        put_all("network", nested, self.options, {**FLAT["network"], **whole, **of_topology})
        nested = with_network_files(nested)
        routing = nested.get("routing")
        # What is no table is refused where tables are checked.
        if isinstance(routing, dict) and "kind" not in routing:
            routing["kind"] = self._default_routing(nested)
            self._check_routing(routing)
        return nested

    def _default_routing(self, nested: Spec) -> str:
        """The routing of this network where flat names say a part of its table and nothing its kind."""
        tables_of = [name for name in ("topology", "without") if name in nested]
        known: Spec = {name: checked(f"network.{name}", nested[name]) for name in tables_of}
        return _core.default_routing(json.dumps(working_topology(known)))

    def _check_routing(self, routing: Spec) -> None:
        """Checks a table whose kind nobody wrote: its errors say where the kind comes from."""
        try:
            checked("network.routing", routing)
        except ConfigError as error:
            hint = error.hint or f"routing is {routing['kind']} on this network where nothing is said of it"
            raise ConfigError(error.path, error.value, error.expected, hint) from None

    @property
    def topology(self) -> Spec:
        """The table ``topology`` of the network."""
        found: Spec = self.spec["topology"]
        return found

    def replace(self, **options: Any) -> Network:
        """This network with some options changed; ``router=...`` replaces all that was said of the router."""
        changes = given(options)
        # A kind alone, ``routing="duato"``, leaves the rest of its table.
        whole = {name for name, one in changes.items() if isinstance(one, (Value, Mapping))}
        kept = {name: one for name, one in self.options.items() if _table_of(name) not in whole or name in changes}
        for name in [name for name in changes if name not in kept]:
            table = _table_of(name)
            if isinstance(kept.get(table), (Value, Mapping)) and table not in changes:
                kept[table] = _changed(kept[table], FLAT["network"][name], changes.pop(name))
        return Network(self.kind, **{**kept, **changes})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Network) and self.spec == other.spec

    def __hash__(self) -> int:
        return hash(json.dumps(self._spec, sort_keys=True))

    def __repr__(self) -> str:
        size = [int(n) for n in self.options.get("size", ())]
        several = f"({', '.join(map(str, size))}{',' * (len(size) == 1)})"
        first = list(map(str, size)) if sizes_apart(self.kind) else [several] if size else []
        rest = [f"{name}={_short(one)}" for name, one in self.options.items() if name != "size"]
        return f"{self.kind.title().replace('_', '')}({', '.join([*first, *rest])})"


def _short(value: Any) -> str:
    """A value as code, a long list as its number of entries."""
    text = repr(value)
    return text if len(text) <= _SHOWN or not isinstance(value, (list, tuple)) else f"[{len(value)} entries]"


def check_network(value: object) -> None:
    """``value`` is a network; of a machine the error says which parts of it to give."""
    if not isinstance(value, Network):
        raise not_a("a Network", "network", value, getattr(value, "runs_instead", "for example fw.Torus(5, 5)"))


def not_a(expected: str, path: str, value: object, hint: str) -> ConfigError:
    """The error for a value of a wrong type; of a machine it says which parts of it to give."""
    if isinstance(getattr(value, "network", None), Network) and hasattr(value, "host"):
        parts = {"network": "machine.network, and where ranks run host=machine.host", "host": "host=machine.host"}
        return ConfigError(path, "a machine", expected, f"write {parts[path]}" if path in parts else hint)
    shown = repr(value)
    return ConfigError(path, shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 3]}...", expected, hint)


def _table_of(name: str) -> str:
    """The argument that has all of the table of which an option is a part; of a kind alone it is the option itself."""
    table, *_ = FLAT["network"].get(name, ("",))
    return "" if name == table else table


def _changed(table: Value | Mapping[str, Any], place: Path, one: Any) -> Value | Spec:
    """A table with the field at ``place`` changed."""
    first, *inner = place[1:]
    if inner or isinstance(table, Mapping):
        spec: Spec = copy.deepcopy(as_written(f"network.{place[0]}", table))
        *way, last = place[1:]
        functools.reduce(lambda inside, key: inside.setdefault(key, {}), way, spec)[last] = one
        return spec
    return table.replace(**{first: one})


def put_all(section: str, nested: Spec, options: Mapping[str, Any], places: Mapping[str, Path]) -> None:
    """Puts options into the nested table ``section``, each where ``places`` says; none may be said twice."""
    for name, one in options.items():
        if name not in places:
            raise unknown_key(section, name, places, "options", _table_with(section, name))
        place = places[name]
        if one is None:
            raise ConfigError(".".join((section, *place)), "None", "a value", "leave it out for its default")
        # ``routing`` is a kind, or all of the table.
        if place[-1] == "kind" and not isinstance(one, str):
            place = place[:-1]
        put(nested, place, as_written(".".join((section, *place)), one), section)


def _table_with(section: str, name: str) -> str:
    """How a field is written that has no flat name, in its table; nothing where no table has it."""
    if section == "run":
        run = fields(schema()["properties"]["run"])
        if name in fields(run["record"]):
            return f"run=fw.Run(record=fw.Record({name}=...))"
        return f"run=fw.Run({name}=...)" if name in run else ""
    found = next((table for table in _VALUES if name in fields(tables("network")[table])), None)
    return f"{found}=fw.{found.capitalize()}({name}=...)" if found else ""


def put(table: Spec, place: Sequence[str], one: Any, path: str) -> None:
    """Puts a value at a place into nested tables, of which ``path`` is the outermost; nothing may be said twice."""
    name, *inner = place
    path = f"{path}.{name}"
    if inner:
        holder = table.setdefault(name, {})
        if not isinstance(holder, dict):
            raise ConfigError(path, repr(holder), "a table", f"{inner[0]} = {one!r} is to stand in it")
        put(holder, inner, one, path)
    elif isinstance(one, Mapping) and isinstance(table.get(name), dict):
        for key, value in one.items():
            put(table[name], [key], value, path)
    elif name in table:
        hint = f"it is {table[name]!r} already: write it flat or in its table, not both"
        raise ConfigError(path, repr(one), "it once", hint)
    else:
        table[name] = dict(one) if isinstance(one, Mapping) else one


def sizes(size: Sequence[int | Sequence[int]]) -> list[int]:
    """``8, 8`` or ``(8, 8)`` as a list."""
    if len(size) == 1 and isinstance(size[0], (Sequence, np.ndarray)) and not isinstance(size[0], str):
        return list(size[0])
    return list(size)  # type: ignore[arg-type]


def nest_run(run: Value | Mapping[str, Any] | None, options: Mapping[str, Any] | None = None) -> Spec:
    """The nested table ``run``, from a value or flat options and more flat options."""
    nested: Spec = {}
    if isinstance(run, (Value, type)):
        put({"run": nested}, ["run"], as_written("run", run), "")
    elif run is not None and not isinstance(run, Mapping):
        raise ConfigError("run", repr(run), "fw.Run(...), or options by name", 'for example {"max_cycles": 100_000}')
    if isinstance(run, Mapping):
        # As a file has them, which may be tables within tables.
        of_run = fields(schema()["properties"]["run"])
        for key in [key for key in run if key in of_run and key not in FLAT["run"]]:
            put(nested, [key], run[key], "run")
        run = {key: one for key, one in run.items() if key not in nested}
    for flat in (run, options):
        if isinstance(flat, Mapping):
            put_all("run", nested, flat, FLAT["run"])
    return checked("run", nested)
