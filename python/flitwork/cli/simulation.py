"""How the network and the workload of one simulation are read from the options of a command."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

from flitwork.base.dotted_keys import parts as names_of
from flitwork.base.errors import ConfigError, did_you_mean
from flitwork.base.formats import check_format
from flitwork.base.input_files import tomllib
from flitwork.cli.options import components, is_study, sent_alone, workload_names
from flitwork.networks import aliases
from flitwork.networks.network import put
from flitwork.planning.specification import Network, RunOptions, nest_run, plan_of, simulation
from flitwork.values.flat import FLAT
from flitwork.values.plain import checked
from flitwork.values.schema import fields, is_open_loop, kinds, largest, schema, tables
from flitwork.values.tables import Run
from flitwork.workloads.workload import PacketFlits, Spec, Workload, burst_workload, make_workload, patterns

_DIMENSIONS = "xyz"
_SIZE, _DIGITS = "8x8", 20
#: The topologies that options stand for.
_TOPOLOGIES = {"": "torus", "--mesh": "mesh", "--wrap": "grid"}
_UNITS = {"flits": "flits", "cycles": "cycles", "mb": "MB"}
_WITH_UNIT = re.compile(r"[-+]?[\d._]+\s*[a-zA-Zµ]+")
#: Fields that have an option of their own, and how it is written.
_OPTIONS = {
    "offered_load": "--load",
    "message_flits": "--message-flits",
    "packet_flits": "--packet-flits",
    "sync": "--sync",
}
#: What a burst is told by options of its own.
_OF_BURSTS = {
    "packets": "--packets",
    "rate": "--rate",
    "process": "--rate",
    "offered_load": "--packets (and --background-load)",
    "seed": "--first-seed",
}
#: Tables beside network and workload; their fields are told by place, ``--set host.send_queue=as_ready``.
_SECTIONS = ("host", "run")
#: Where so many fields or fewer have the name of an unknown key, the hint says their places.
_MOST_PLACES = 3
#: What an option of its own says of the topology.
_OPTION_OF = {"size": "--size", "kind": "--topology", "topology": "--topology", "wrap": "--wrap"}
T = TypeVar("T")
_EXAMPLES = {"process": "'process={kind=\"on_off\", mean_on_cycles=40, mean_off_cycles=160}'"}


def parse_size(text: str) -> list[int]:
    """``9x9`` as ``[9, 9]``."""
    _, most = largest()
    parts = text.lower().replace("×", "x").replace(",", "x").split("x")
    if all(part.strip().isdecimal() and len(part) <= _DIGITS and 1 <= int(part) <= most for part in parts):
        return [int(part) for part in parts]
    expected = f"whole numbers of at least 1 and at most {most}, joined by x"
    raise ConfigError("--size", f'"{text}"', expected, "for example 9x9 or 8x8x4")


def network_table(size: str | None, mesh: bool, wrap: str | None, kind: str | None = None) -> dict[str, Any]:
    """The table ``network.topology`` that the options say; fields without an option come by ``--set``."""
    if kind is not None:
        return _named(kind, size, mesh, wrap)
    routers = parse_size(_SIZE if size is None else size)
    if wrap is None:
        return {"kind": _TOPOLOGIES["--mesh" if mesh else ""], "size": routers}
    if mesh:
        raise ConfigError("--wrap", wrap, "no --mesh beside it", "in a mesh no dimension wraps")
    return {"kind": _TOPOLOGIES["--wrap"], "size": routers, "wrap": _wrapped(wrap, len(routers))}


def _named(kind: str, size: str | None, mesh: bool, wrap: str | None) -> dict[str, Any]:
    if not aliases.is_known(kind) and (Path(kind).suffix or Path(kind).is_file()):
        return {**_named("graph", size, mesh, wrap), "file": kind}
    if not aliases.is_known(kind):
        raise aliases.unknown(kind, "--topology")
    if mesh or wrap is not None:
        option = "--mesh" if mesh else "--wrap"
        raise ConfigError(option, "given", "no --topology beside it", f"{option} is a topology by itself")
    own = _own_fields(kind)
    if "size" in own:
        return {"kind": kind, "size": parse_size(_SIZE if size is None else size)}
    if size is not None:
        hint = f"it has {', '.join(own)}: --set {own[0]}=VALUE" if own else ""
        raise ConfigError("--size", f'"{size}"', f"no --size for the topology {kind}", hint)
    return {"kind": kind}


def _own_fields(kind: str) -> list[str]:
    """The fields of a topology, or those that an alias may have."""
    if kind in aliases.ALIASES:
        return aliases.fields_of_alias(kind)
    return [name for name in fields(kinds(tables("network")["topology"])[kind]) if name != "kind"]


def _wrapped(text: str, dimensions: int) -> list[bool]:
    names = [*_DIMENSIONS[:dimensions], *map(str, range(dimensions))]
    chosen = [name.strip() for name in (text.split(",") if "," in text else text.strip())]
    if not chosen or not set(chosen) <= set(names):
        expected = f"some of the dimensions {', '.join(names)}"
        raise ConfigError("--wrap", f'"{text}"', expected, "for example --size 8x8x4 --wrap xy, or --wrap 0,1")
    wrapped = [_DIMENSIONS.index(name) if name in _DIMENSIONS else int(name) for name in chosen]
    if len(set(wrapped)) < len(wrapped):
        raise ConfigError("--wrap", f'"{text}"', "each dimension once")
    return [d in wrapped for d in range(dimensions)]


def network(table: dict[str, Any], options: dict[str, Any]) -> Network:
    """The network of a table ``topology``, the fields of it that have no option, and flat options."""
    of_topology = {key: value for key, value in table.items() if key != "kind"}
    return _in_options(lambda: Network(table["kind"], **of_topology, **options))


def topology_name(table: dict[str, Any]) -> str:
    """``torus 8x8``, or ``grid 8x8 that wraps in x``."""
    name = " ".join([table["kind"], *(["x".join(map(str, table["size"]))] if "size" in table else [])])
    wraps = [_DIMENSIONS[d] if d < len(_DIMENSIONS) else str(d) for d, w in enumerate(table.get("wrap", ())) if w]
    return f"{name} that wraps in {', '.join(wraps)}" if wraps else name


def default_folder(command: str, what: str, table: dict[str, Any], spec: Spec) -> Path:
    """``results/curve-uniform-torus-8x8-1f0c93ab``: whatever else ``spec`` says differs in the last part."""
    names = [command, what, *topology_name(table).replace(",", "").split(), plan_of(spec).hash[:8]]
    return Path("results") / "-".join(names)


def one_simulation(
    what: str,
    table: dict[str, Any],
    settings: list[str] | None = None,
    ports: int | None = None,
    **workload: object,
) -> Spec:
    """The specification that the options of a command describe; ``table`` is that of the topology."""
    own = {section: _settings_of(section, settings or []) for section in _SECTIONS}
    others = [text for text in settings or [] if text.partition(".")[0] not in _SECTIONS]
    net, work, run = parts(what, table, others, ports, **workload)
    spec = simulation(net, work, nest_run(run), host=own["host"] or None)
    for name, value in own["run"].items():
        put(spec["run"], [name], value, "run")
    return {**spec, "run": checked("run", spec["run"])}


def _settings_of(section: str, settings: list[str]) -> dict[str, Any]:
    """What ``--set`` says of a table outside the network: ``run.kernel=flit``."""
    parsed = _settings([text for text in settings if text.partition(".")[0] == section])
    nested: dict[str, Any] = {}
    for key, value in parsed.items():
        _, *place = names_of(key, "--set")
        if not place:
            raise ConfigError(f"--set {key}", value, "one of its fields", f"such as {section}.FIELD=VALUE")
        put(nested, place, value, section)
    return nested


def parts(
    what: str,
    table: dict[str, Any],
    settings: list[str] | None = None,
    ports: int | None = None,
    **workload: object,
) -> tuple[Network, Workload, dict[str, Any]]:
    """Network, workload and the options of the run, flat."""
    _check_what(what)
    sent = {key: value for key, value in workload.items() if value is not None}
    options, run = _divided(what, table, settings, _workload_fields(what), sent, ports)
    return network(table, options), _work(what, sent), run


def machine_parts(
    table: dict[str, Any] | None,
    file: tuple[Network, dict[str, Any], dict[str, Any]] | None,
    settings: list[str] | None,
    ports: int | None,
    **workload: object,
) -> tuple[Network, dict[str, Any], Run | None, dict[str, Any]]:
    """The parts of a collective without an algorithm: network, host, run, and the fields of the workload.

    The machine is the table ``topology``, or what :func:`flitwork.cli.network_file.network_file` has read.
    """
    own = {section: _settings_of(section, settings or []) for section in _SECTIONS}
    others = [text for text in settings or [] if text.partition(".")[0] not in _SECTIONS]
    sent = {key: value for key, value in workload.items() if value is not None}
    of_workload = _workload_fields("collective") - {"operation", "algorithm"}
    net, host, run = file or (None, {}, {})
    topology = table if net is None else {"kind": net.kind}
    assert topology is not None
    options, flat = _divided("collective", topology, others, of_workload, sent, ports)
    if net is None:
        net = network(topology, options)
    else:
        spec = net.spec
        whole = {name: _merged(spec.get(name, {}), one) for name, one in options.items() if isinstance(one, dict)}
        net = net.replace(**{**options, **whole})
    parsed = _merged(_merged(run.get("run", {}), nest_run(cast(RunOptions, flat))), own["run"])
    return net, _merged(host, own["host"]), Run(**parsed) if parsed else None, _as_in_python(sent)


def _merged(table: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """A table with changes; of tables in it only what they say. One of another kind takes the place of all."""
    found = dict(table)
    for key, one in changes.items():
        both = isinstance(one, dict) and isinstance(found.get(key), dict) and "kind" not in one
        found[key] = _merged(found[key], one) if both else one
    return found


def burst_parts(
    pattern: str,
    table: dict[str, Any],
    settings: list[str] | None,
    ports: int | None,
    packet_flits: int | None,
) -> tuple[Network, dict[str, Any], PacketFlits, RunOptions]:
    """The parts of a burst: network, parameters of the pattern, length of packets, and options of the run."""
    known = patterns()
    if pattern not in known:
        expected = f"a traffic pattern: {', '.join(known)}"
        raise ConfigError("PATTERN", pattern, expected, did_you_mean(pattern, known))
    given = {text.partition("=")[0].strip() for text in settings or []}
    for key, instead in _OF_BURSTS.items():
        if key in given:
            raise ConfigError(f"--set {key}", "given", f"{instead} instead")
    sent: dict[str, Any] = {} if packet_flits is None else {"packet_flits": packet_flits}
    of_pattern = {*fields(known[pattern])} - {"kind"}
    options, run = _divided(pattern, table, settings, of_pattern | {"packet_flits"}, sent, ports)
    lengths = _as_in_python(sent).get("packet_flits", 1)
    parameters = {key: sent[key] for key in of_pattern & set(sent)}
    # What is missing or wrong in the pattern is said in words of the command line.
    _in_options(lambda: burst_workload(pattern, packets=1, packet_flits=lengths, **parameters))
    return network(table, options), parameters, lengths, cast(RunOptions, run)


def _divided(
    what: str,
    table: dict[str, Any],
    settings: list[str] | None,
    of_workload: set[str],
    sent: dict[str, Any],
    ports: int | None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What ``--set`` says of the network and of the run, flat; what it says of the workload goes into ``sent``."""
    parsed = _settings(settings or [])
    topology = _of_topology(table, parsed, of_workload)
    in_tables = _in_tables(parsed)
    given = dict(parsed)
    for key in [key for key in given if key in of_workload and key not in _network_or_run()]:
        if key in sent:
            raise ConfigError(f"--set {key}", given[key], f"it once: there is {_OPTIONS[key]} already")
        sent[key] = given.pop(key)
    run = {key: given.pop(key) for key in list(given) if key in FLAT["run"]}
    if ports is not None:
        if "ports" in given:
            raise ConfigError("--set ports", given["ports"], "it once: there is --ports already")
        given["ports"] = ports
    for key in given:
        if key not in FLAT["network"]:
            raise _unknown(key, what, of_workload | _fields_of(table))
    if "routing" in given and "routing" in in_tables:
        put(in_tables, ["routing", "kind"], given.pop("routing"), "network")
    return {**given, **topology, **in_tables}, run


def _in_tables(parsed: dict[str, Any]) -> dict[str, Any]:
    """Takes what ``--set`` says of a field by its place, such as ``router.injection_priority``."""
    found: dict[str, Any] = {}
    for key in [key for key in parsed if key.partition(".")[0] in {*tables("network")} - {"topology"} and "." in key]:
        put(found, key.split("."), parsed.pop(key), "network")
    return found


def _fields_of(table: dict[str, Any]) -> set[str]:
    """The fields of a topology that no option says."""
    return {*_own_fields(table["kind"])} - {*table}


def _of_topology(table: dict[str, Any], parsed: dict[str, Any], of_workload: set[str]) -> dict[str, Any]:
    """Takes what ``--set`` says of the topology: ``topology.terminals``, or ``terminals`` alone."""
    found = {}
    for name in _fields_of(table) - {*FLAT["network"]}:
        for key in (f"topology.{name}", *([name] if name not in of_workload else [])):
            if key in parsed:
                found[name] = parsed.pop(key)
    # From here on the table has the name of what it is.
    table["kind"] = aliases.resolved(table["kind"], {*found, *table})
    return found


def _unknown(key: str, what: str, of_workload: set[str]) -> ConfigError:
    """The error for a key of ``--set`` that nothing here has; its hint names what has it."""
    known = sorted(_network_or_run() | of_workload)
    others = [name for name in workload_names() if key in _workload_fields(name)]
    hint = f"{', '.join(others)}: what is sent may be told so, not {what}" if others else did_you_mean(key, known)
    bare = key.removeprefix("network.")
    if (field := bare.removeprefix("topology.")) in _OPTION_OF:
        hint = f"{_OPTION_OF[field]} says it"
    elif bare != key:
        hint = f"without network: --set {bare}=VALUE" if bare in known or _places(bare) else did_you_mean(bare, known)
    elif key in tables("network"):
        hint = f"it is a table: --set {key}.FIELD=VALUE"
    elif 1 <= len(places := _places(key)) <= _MOST_PLACES:
        hint = f"by its place: {' or '.join(f'--set {place}=VALUE' for place in places)}"
    return ConfigError(f"--set {key}", "unknown key", f"one of the options {', '.join(known)}", hint)


def _places(key: str) -> list[str]:
    """Where there are fields of that name, ``sl_to_vl`` or ``sw_allocator.kind``, by their places."""
    within = {"": {name: node for name, node in tables("network").items() if name != "topology"}}
    within |= {f"{section}.": tables(section) for section in _SECTIONS}
    return [
        place for before, nodes in within.items() for place in _below(before, nodes) if f".{place}".endswith(f".{key}")
    ]


def _below(before: str, nodes: dict[str, dict[str, Any]]) -> Iterator[str]:
    """The places of all fields and of those within them."""
    for name, node in nodes.items():
        yield f"{before}{name}"
        yield from _below(f"{before}{name}.", fields(node))


def _network_or_run() -> set[str]:
    return {*FLAT["network"], *FLAT["run"]}


def _check_what(what: str) -> None:
    names = workload_names()
    if what in names:
        return
    algorithms, traffic = ([row["name"] for row in components()[kind]] for kind in ("algorithms", "patterns"))
    others = ", ".join(name for name in sent_alone() if name not in traffic)
    expected = (
        f"an all-to-all algorithm ({', '.join(algorithms)}), a traffic pattern ({', '.join(traffic)}), or {others}"
    )
    hint = file_hint(Path(what)) if is_study(what) else did_you_mean(what, names)
    operations = [row["operation"] for row in components()["collectives"] if row["name"] == what]
    if operations:
        hint = f"collective --set operation={operations[0]} --set algorithm={what}"
    if is_study(what) and Path(what).suffix.lower() != ".toml":
        check_format(Path(what), "WHAT", "what is sent, by name", ("a table",))
    raise ConfigError("WHAT", what, expected, hint)


def file_hint(path: Path) -> str:
    """Which command takes a file that stands where something to send should stand."""
    if not path.is_file():
        return f"there is no file {path}" if path.suffix else ""
    if path.suffix in (".goal", ".bin"):
        return f"for a GOAL program: flitwork run {path}"
    if path.suffix == ".xml":
        return f"for an MSCCL program: flitwork run {path}"
    if path.suffix != ".toml":
        return did_you_mean(str(path), workload_names())
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return "it is no TOML file"
    if "network" in found and not {"study", "experiments", "base"} & {*found}:
        return f"the file describes a machine: flitwork pick {path} --message-bytes 4096"
    return f"for a study file: flitwork run {path}"


def _workload_fields(what: str) -> set[str]:
    """What may be set of the workload: its own fields, and the parameters of its pattern."""
    kind, choice = _workload_of(what)
    own = {*fields(kinds(schema()["properties"]["workload"])[kind])}
    return (own | ({*fields(patterns()[what])} if choice == "pattern" else set())) - {"kind", choice}


def _workload_of(what: str) -> tuple[str, str]:
    """The kind of workload that WHAT stands for, and its field in which WHAT is named; empty where it is the kind."""
    if what in sent_alone():
        return what, ""
    workloads = kinds(schema()["properties"]["workload"])
    if what in patterns():
        return next(
            kind for kind in workloads if is_open_loop(kind) and "pattern" in fields(workloads[kind])
        ), "pattern"
    return next(kind for kind in workloads if "algorithm" in fields(workloads[kind])), "algorithm"


def _work(what: str, given: dict[str, Any]) -> Workload:
    return _in_options(lambda: _make(what, _as_in_python(given)))


def _in_options(make: Callable[[], T]) -> T:
    """What ``make`` makes; where it misses a field, the hint says how that is written on the command line."""
    try:
        return make()
    except ConfigError as error:
        if error.value != "nothing":
            raise
        hint = f"add {_how(error.path)}"
        raise ConfigError(error.path, error.value, error.expected, hint) from None


def _how(path: str) -> str:
    """How a field of the workload, or of the topology, is written on the command line."""
    _, field, *inner = path.split(".")
    if field in _OPTIONS:
        return f"{_OPTIONS[field]} VALUE"
    return f"--set {_EXAMPLES[field]}" if field in _EXAMPLES else f"--set {(inner or [field])[-1]}=VALUE"


def _as_in_python(given: dict[str, Any]) -> dict[str, Any]:
    """``process=on_off`` and ``packet_flits={1=0.8, 9=0.2}`` as the tables that they stand for."""
    found = dict(given)
    if isinstance(found.get("process"), str):
        found["process"] = {"kind": found["process"]}
    lengths = found.get("packet_flits")
    if isinstance(lengths, dict):
        if not all(flits.isdecimal() for flits in lengths):
            raise ConfigError(
                "--set packet_flits", lengths, "shares by length", "for example packet_flits={1=0.8, 9=0.2}"
            )
        found["packet_flits"] = [{"flits": int(flits), "share": share} for flits, share in lengths.items()]
    return found


def _make(what: str, given: dict[str, Any]) -> Workload:
    kind, choice = _workload_of(what)
    if choice == "pattern":
        parameters = {key: given.pop(key) for key in list(given) if key in fields(patterns()[what])}
        return make_workload(kind, {choice: {"kind": what, **parameters}, **given})
    if isinstance(given.get("sizes"), str):
        # As in Python, the name of a file stands for its numbers.
        if "file" in given:
            raise ConfigError("--set sizes", given["sizes"], "it once: there is file already", "they say the same")
        given["file"] = given.pop("sizes")
    return make_workload(kind, {choice: what, **given} if choice else given)


def _settings(texts: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for text in texts:
        key, value = _setting(text)
        if key in found:
            raise ConfigError(f"--set {key}", value, "each key once", f"it is {found[key]} already")
        found[key] = value
    return found


def _setting(text: str) -> tuple[str, Any]:
    key, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not key or not value:
        raise ConfigError("--set", f'"{text}"', "KEY=VALUE", "for example --set vcs=4")
    names_of(key, "--set")
    unit = _UNITS.get(key.rsplit("_", 1)[-1])
    if unit and _WITH_UNIT.fullmatch(value):
        raise ConfigError(f"--set {key}", value, f"a number of {unit}", "write the number alone, without a unit")
    try:
        return key, tomllib.loads(f"value = {value}")["value"]
    except ValueError:
        # Not TOML, or a number of thousands of digits.
        return key, value
    except RecursionError:
        raise ConfigError(f"--set {key}", value, "fewer tables or lists within each other") from None
