"""What users write in Python: networks, plain values whose ``spec`` is the nested specification, and simulations."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict

import numpy as np
from typing_extensions import Unpack

from flitwork import _core, renamed
from flitwork.arguments import several
from flitwork.errors import ConfigError, did_you_mean, unknown_key
from flitwork.numbers import located, with_numbers
from flitwork.schema import choices, flat_keywords
from flitwork.workloads import Spec, Workload, is_silent

Allocator = str | Mapping[str, object]


class NetworkOptions(TypedDict, total=False):
    """The options of a network, flat; ``flitwork schema`` says what each means, its unit and its default."""

    terminals_per_router: int
    ring2: Literal["double", "single"]
    routing: str | Mapping[str, Any]
    order: Sequence[int]
    tie: Literal["plus", "parity", "random", "split"]
    classes: Literal["entered", "crossed"]
    selection: Literal["most_credits", "random", "round_robin", "all"]
    productive: Literal["all", "first"]
    adaptive_vcs: Sequence[int]
    adaptive_tie: Literal["same", "plus", "minus"]
    misroutes: int
    patience_cycles: int
    information: Literal["cross", "local", "none"]
    news_delay_cycles: int
    vcs: int
    vc_policy: Literal["dateline", "destination"]
    buffer_flits: int
    switching: Literal["wormhole", "virtual_cut_through"]
    vc_allocator: Allocator
    sw_allocator: Allocator
    hold_switch_for_packet: bool
    speculative: bool
    wait_for_tail_credit: bool
    vc_busy_when_full: bool
    shared_middle_vc: bool
    input_speedup: int
    output_speedup: int
    routing_delay_cycles: int
    vc_alloc_delay_cycles: int
    sw_alloc_delay_cycles: int
    st_delay_cycles: int
    pipelined_stages: bool
    latency_cycles: int
    local_latency_cycles: int
    credit_delay_cycles: int
    ports: int
    injection_vc: Literal["emptiest", "round_robin"]
    ejection_port: Literal["any", "same_port", "by_source"]
    source_queue: Literal["fifo", "alternate"]


class RunOptions(TypedDict, total=False):
    """The options of a run, flat, except the seed; ``steady`` is a table of its own (``{}``: all defaults)."""

    warmup_cycles: int
    measurement_cycles: int
    max_cycles: int
    watchdog_cycles: int
    deadlock_check: bool
    memory_limit_mb: int
    steady: Mapping[str, Any]
    packets: bool
    channel_window_cycles: int
    delivery_window_cycles: int
    stalls: bool


def nest(section: str, options: Mapping[str, Any]) -> Spec:
    """Flat keywords as the nested table ``section`` of a specification."""
    known = flat_keywords(section)
    if not isinstance(options, Mapping):
        raise ConfigError(section, repr(options), "options by name", 'for example {"max_cycles": 100_000}')
    nested: Spec = {}
    for key, value in _with_new_names(section, options).items():
        if key not in known:
            raise unknown_key(section, key, known, "options")
        *tables, name = known[key]
        place = nested
        for table in tables:
            place = place.setdefault(table, {})
        _check_word(value, section, known[key])
        if isinstance(value, Mapping) and name == "kind":
            _merge(place, value, ".".join([section, *tables]))
        else:
            place[name] = {"kind": value} if key.endswith("_allocator") and isinstance(value, str) else value
    return nested


def _with_new_names(section: str, options: Mapping[str, Any]) -> Spec:
    """Flat keywords, of which some may be the old names of fields or words."""
    known = flat_keywords(section)
    found = renamed.keywords(section, options, known)
    return {key: renamed.word(".".join([section, *known.get(key, ())]), value) for key, value in found.items()}


def _check_word(value: Any, section: str, path: Sequence[str]) -> None:
    known = choices(section, tuple(path))
    if isinstance(value, str) and known and value not in known:
        where = ".".join([section, *path])
        raise ConfigError(where, f'"{value}"', f"one of {', '.join(known)}", did_you_mean(value, known))


def _merge(place: Spec, table: Mapping[str, Any], path: str) -> None:
    """``routing={"kind": ..., "tie": ...}`` beside flat options of the same table; each may be given once."""
    for name, value in table.items():
        if name in place:
            raise ConfigError(f"{path}.{name}", repr(value), "it once", f"it is {place[name]!r} already")
        place[name] = value


@dataclass(frozen=True)
class Network:
    """What the machine is. Make one with :func:`Torus`, :func:`Mesh` or :func:`Grid`."""

    topology: Mapping[str, Any]
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def spec(self) -> Spec:
        """The nested table ``network`` of a specification."""
        nested = nest("network", self.options)
        nested["topology"] = {**self.topology, **nested.get("topology", {})}
        if set(nested.get("routing", ())) - {"kind"}:
            nested["routing"].setdefault("kind", "dimension_order")
        return nested

    def replace(self, **options: Unpack[NetworkOptions]) -> Network:
        """The same network with some options changed."""
        return make_network(self.topology, {**self.options, **_with_new_names("network", options)})

    def __repr__(self) -> str:
        name = str(self.topology["kind"]).capitalize()
        size = ", ".join(str(n) for n in self.topology["size"])
        rest = [f"{k}={v!r}" for k, v in {**self.topology, **self.options}.items() if k not in ("kind", "size")]
        return f"{name}({', '.join([size if name != 'Grid' else f'({size})', *rest])})"


def make_network(topology: Mapping[str, Any], options: Mapping[str, Any]) -> Network:
    """A network from its table ``topology`` and flat options; a misspelt option or word is an error here."""
    _check_size(topology["size"])
    network = Network(topology, _with_new_names("network", options))
    _ = network.spec
    return network


def _size(size: tuple[int | Sequence[int], ...]) -> list[int]:
    if len(size) == 1 and isinstance(size[0], (Sequence, np.ndarray)) and not isinstance(size[0], str):
        return list(size[0])
    return list(size)  # type: ignore[arg-type]


def _check_size(size: Sequence[Any]) -> None:
    path, hint = "network.topology.size", "for example fw.Torus(8, 8)"
    if not size:
        raise ConfigError(path, "[]", "1 to 6 dimensions", hint)
    for i, routers in enumerate(size):
        if isinstance(routers, bool) or not isinstance(routers, (int, np.integer)):
            raise ConfigError(f"{path}[{i}]", repr(routers), "a whole number of routers", hint)


def Torus(*size: int | Sequence[int], **options: Unpack[NetworkOptions]) -> Network:
    """A torus: ``Torus(9, 9, vcs=2, buffer_flits=20)``. Every dimension wraps; 1 to 6 dimensions of any size."""
    return make_network({"kind": "torus", "size": _size(size)}, options)


def Mesh(*size: int | Sequence[int], **options: Unpack[NetworkOptions]) -> Network:
    """A mesh: ``Mesh(8, 8, vcs=4)``. No dimension wraps; 1 to 6 dimensions of any size."""
    return make_network({"kind": "mesh", "size": _size(size)}, options)


def Grid(size: Sequence[int], *, wrap: Sequence[bool], **options: Unpack[NetworkOptions]) -> Network:
    """A grid in which each dimension wraps or not: ``Grid((8, 8, 4), wrap=(True, True, False))``."""
    sizes = several("network.topology.size", size, "a size for each dimension", "for example (8, 8)")
    wraps = several("network.topology.wrap", wrap, "true or false for each dimension", "for example (True, False)")
    return make_network({"kind": "grid", "size": sizes, "wrap": wraps}, options)


def simulation(
    network: Network, workload: Workload, run: Spec | None = None, background: Workload | None = None
) -> Spec:
    """The complete specification of one simulation."""
    given = (("network", network, Network), ("workload", workload, Workload), ("background", background, Workload))
    for name, value, kind in given:
        if not isinstance(value, kind) and not (name == "background" and value is None):
            raise ConfigError(name, repr(value), f"a {kind.__name__}", "for example fw.Torus(5, 5), fw.all_to_all()")
    spec = {"network": network.spec, "workload": workload.spec, "run": run or {}}
    return {**spec, "background": background.spec} if background and not is_silent(background.spec) else spec


@dataclass(frozen=True)
class Prepared:
    """A specification as the simulator takes it: JSON, and the tables of numbers that it names."""

    text: str
    tables: tuple[_core.Table, ...] = ()

    def plan(self) -> _core.Plan:
        """Its plan."""
        return _core.Plan(self.text, list(self.tables))


def prepare(spec: Mapping[str, Any]) -> tuple[Prepared, _core.Plan]:
    """A specification with its files read, and its plan; what is wrong with numbers from a file names their place."""
    complete, read = with_numbers(spec)
    complete = renamed.specification(complete)
    prepared = Prepared(to_json(complete), tuple(_tables(complete)))
    try:
        return prepared, prepared.plan()
    except ConfigError as error:
        raise located(error, read) from None


def plan_of(spec: Mapping[str, Any]) -> _core.Plan:
    """The plan of a specification."""
    return prepare(spec)[1]


def _tables(value: Any) -> Iterator[_core.Table]:
    if isinstance(value, _core.Table):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _tables(inner)


def to_json(spec: Mapping[str, Any]) -> str:
    """A specification as JSON; a value that no specification can hold is an error with its path."""
    return json.dumps(_plain(spec, ""))


def _plain(value: Any, path: str) -> Any:
    """``value`` in terms of JSON; NumPy numbers become Python's."""
    if isinstance(value, Mapping):
        return {str(k): _plain(v, f"{path}.{k}" if path else str(k)) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v, f"{path}[{i}]") for i, v in enumerate(value)]
    if isinstance(value, _core.Table):
        return {"sha256": value.sha256, "rows": value.rows}
    if hasattr(value, "tolist"):
        return _plain(value.tolist(), path)
    if isinstance(value, float) and not math.isfinite(value):
        raise ConfigError(path, value, "a finite number")
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    raise ConfigError(path, repr(value), "a number, a string, true or false, a list or a table")
