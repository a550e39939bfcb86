"""From BookSim's settings to a specification: the one place that says which field stands for which key."""

from __future__ import annotations

from typing import Any

from flitwork.base.errors import ConfigError, did_you_mean
from flitwork.booksim.config_file import Call, written
from flitwork.booksim.idle import speculates
from flitwork.booksim.keys import KEYS
from flitwork.booksim.phases import Phases
from flitwork.booksim.settings import Settings
from flitwork.booksim.traffic import traffic_notes, workload
from flitwork.values.plain import Spec
from flitwork.values.schema import largest

#: The routing of BookSim's functions, by topology, and what BookSim has besides.
_ROUTINGS = {
    "mesh": {
        "dor": "dimension_order",
        "dim_order": "dimension_order",
        "xy_yx": "o1turn",
        "romm": "romm",
        "min_adapt": "min_adapt",
        "valiant": "valiant",
    },
    "torus": {"dim_order": "dimension_order", "min_adapt": "min_adapt", "valiant": "valiant"},
    "fattree": {"nca": "random_up", "anca": "adaptive_up"},
}
#: Those that divide the VCs into two halves.
_HALVED = {"mesh": ("xy_yx", "romm", "valiant"), "torus": ("dim_order",)}
_OTHER_ROUTINGS = {
    "mesh": ("dim_order_ni", "dim_order_pni", "adaptive_xy_yx", "romm_ni", "planar_adapt", "chaos"),
    "torus": ("dim_order_ni", "dim_order_bal", "valiant_ni", "chaos"),
    "fattree": (),
}
#: Most levels, children of a router and nodes of a fat tree.
_LARGEST_TREE = (16, 32, 2**20)
_SEPARABLE = ("separable_input_first", "separable_output_first")
_ALLOCATORS = "islip, islip(n), wavefront, " + ", ".join(
    f"{name}, {name}(round_robin), {name}(matrix)" for name in _SEPARABLE
)
_OTHER_ALLOCATORS = ("pim", "loa", "rr_wavefront", "select", "max_size", "piggyback")
_OTHER_BUFFER_POLICIES = ("limited", "dynamic", "shifting", "feedback", "simplefeedback")
_SWITCHES = ("hold_switch_for_packet", "wait_for_tail_credit", "vc_busy_when_full")


def specification(settings: Settings, phases: Phases | None = None, seed: int | None = None) -> Spec:
    """The specification of one simulation; ``phases`` and ``seed`` replace those of the settings."""
    phases = phases or Phases.of(settings)
    return {
        "network": network(settings),
        "workload": workload(settings, settings["k"] ** settings["n"]),
        "run": {
            **phases.run,
            "seed": settings["seed"] if seed is None else seed,
            # BookSim checks nothing: what may deadlock there runs here too, with a note, until it does.
            "deadlock_check": not _may_deadlock(settings),
        },
    }


def notes(settings: Settings) -> list[str]:
    """What to say to the user before a run: keys without effect, and where BookSim does not do what it says."""
    found = [*settings.notes(), *traffic_notes(settings)]
    if _has_escape_alone(settings):
        place = settings.place("routing_function")
        found.append(f"{place}: with one VC there is the escape channel alone: dimension order, as in BookSim")
    elif settings["routing_function"] == "min_adapt":
        found.append(
            f"{settings.place('routing_function')}: asks for the first productive dimension's port and the escape "
            "channel, as BookSim does in effect (docs/booksim.md)"
        )
    if _may_deadlock(settings):
        what = f"an odd num_vcs with {settings['routing_function']}" if _shares_middle(settings) else "min_adapt"
        where = f"{what} on a {settings['topology']}"
        found.append(f"{where} can deadlock unless wait_for_tail_credit = 1; such a run ends with an error")
    return found


def _may_deadlock(settings: Settings) -> bool:
    """Whether packets can wait for each other on adaptive channels of a ring, or on a VC of both halves."""
    adaptive = settings["routing_function"] == "min_adapt" and settings["topology"] == "torus"
    return (adaptive or _shares_middle(settings)) and not settings["wait_for_tail_credit"]


def _has_escape_alone(settings: Settings) -> bool:
    """Whether min_adapt has no adaptive channel: on a mesh BookSim runs even that."""
    setting = settings["routing_function"], settings["topology"], settings["num_vcs"]
    return setting == ("min_adapt", "mesh", 1)


def _shares_middle(settings: Settings) -> bool:
    """Whether BookSim's two halves of the VCs both have the one in the middle."""
    halved = settings["routing_function"] in _HALVED.get(settings["topology"], ()) and settings["k"] > 1
    return halved and settings["num_vcs"] > 1 and settings["num_vcs"] % 2 == 1


def network(settings: Settings) -> Spec:
    """The table ``network``."""
    kind: str = settings["topology"]
    *most_of_each, most_nodes = _LARGEST_TREE if kind == "fattree" else (*largest(), 8192**6)
    for name, most in zip(("n", "k"), most_of_each, strict=True):
        if not 1 <= settings[name] <= most:
            raise settings.error(name, f"1 to {most}: {KEYS[name].note}")
    if settings["k"] ** settings["n"] > most_nodes:
        raise settings.error("n", f"at most {most_nodes} nodes, k to the power of n")
    routing = _routing(settings, kind)
    return {
        "topology": _topology(settings, kind),
        "routing": routing,
        "router": _router(settings, kind, routing),
        "channel": {
            # A torus laid out with equal wires has channels of twice the length.
            "latency_cycles": 2 if kind == "torus" and settings["use_noc_latency"] else 1,
            "local_latency_cycles": 1,
            "credit_delay_cycles": max(settings["credit_delay"], 0),
        },
        "nic": {"injection_vc": "round_robin"},
    }


def _topology(settings: Settings, kind: str) -> Spec:
    if kind == "fattree":
        return {"kind": "k_ary_n_tree", "k": settings["k"], "levels": settings["n"]}
    return {"kind": kind, "size": [settings["k"]] * settings["n"]}


def explained(settings: Settings, error: ConfigError) -> ConfigError:
    """An error of the specification in terms of the keys that set the field."""
    fields = {key.field for key in KEYS.values() if key.field and error.path.startswith(key.field)}
    if not fields:
        return error
    names = [key.name for key in KEYS.values() if key.field == max(fields, key=len)]
    if error.path.startswith("workload.process") and isinstance(settings["injection_process"], Call):
        names = ["injection_process"]  # on_off(alpha,beta,r1) wins over the keys of the same names
    given = [name for name in names if name in settings.given] or names[:1]
    value = ", ".join(written(settings.value(name)) for name in given)
    if value != error.value:
        value = f"{value} ({error.path} = {error.value})"
    return ConfigError(", ".join(map(settings.place, given)), value, error.expected, error.hint)


def _routing(settings: Settings, topology: str) -> Spec:
    if settings["routing_function"] == "none":
        known = ", ".join(_ROUTINGS[topology])
        raise settings.error("routing_function", f"for a {topology} one of {known}", "BookSim has no default either")
    name = settings.known("routing_function", _ROUTINGS[topology], _OTHER_ROUTINGS[topology])
    if _has_escape_alone(settings):
        name = "dim_order"
    if name == "anca":
        # It looks at two random ports.
        return {"kind": _ROUTINGS[topology][name], "candidates": 2}
    if topology == "fattree":
        return {"kind": _ROUTINGS[topology][name]}
    # BookSim draws the direction where both ways round a ring are equally long.
    return {"kind": _ROUTINGS[topology][name], "tie": "random"}


def _compat(settings: Settings, topology: str, routing: Spec, st_delay: int) -> Spec:
    """The rules that only BookSim has; those that make no difference are left out."""
    rules: Spec = {"shared_middle_vc": True} if _shares_middle(settings) else {}
    # With delays of one cycle a stage of BookSim's is never busy, and nothing is different.
    if max(settings["routing_delay"], st_delay) > 1:
        rules["pipelined_stages"] = False
    if routing["kind"] == "min_adapt":
        rules["productive"] = "first"
        # On a torus its adaptive requests name VC 3 alone, and minus at a tie; only the escape channels draw.
        if speculates(settings):
            rules["speculation_needs_all_sets"] = True
        if topology == "torus":
            rules.update(adaptive_vcs=[3], adaptive_tie="minus")
    return rules


def _buffers(settings: Settings) -> Spec:
    """Places of a virtual channel, and those that the virtual channels of a port share."""
    size, vcs = settings["buf_size"], settings["num_vcs"]
    if settings.known("buffer_policy", ("private", "shared"), _OTHER_BUFFER_POLICIES) == "private":
        if 0 <= size < vcs:
            raise settings.error("buf_size", f"at least num_vcs, {vcs} places, or below 0: num_vcs times vc_buf_size")
        return {"buffer_flits": size // vcs if size > 0 < vcs else settings["vc_buf_size"]}
    places = size if size >= 0 else vcs * settings["vc_buf_size"]
    listed = settings.all_of("private_buf_size")
    private = listed[0] if isinstance(listed, list) else listed
    if isinstance(listed, list) and set(listed[:vcs]) != {private}:
        raise settings.error("private_buf_size", "the same for each VC: flitwork has nothing else")
    if listed == private < 0 < vcs:
        private = places // vcs
    if private < 1:
        raise settings.error("private_buf_size", "at least 1: a virtual channel keeps a place of its own")
    if vcs * private > places:
        given = [name for name in ("private_buf_size", "buf_size", "vc_buf_size", "num_vcs") if name in settings.given]
        expected = f"num_vcs times private_buf_size, {vcs * private} places, within the {places} places of a port"
        raise settings.error(given[0], expected, "set a larger buf_size, or a smaller private_buf_size")
    return {"buffer_flits": private, "shared_buffer_flits": places - vcs * private}


def _router(settings: Settings, topology: str, routing: Spec) -> Spec:
    for name in ("vc_alloc_delay", "sw_alloc_delay"):
        if settings[name] < 1:
            raise settings.error(name, "at least 1, as in BookSim")
    if speculates(settings) and settings["vc_alloc_delay"] > settings["sw_alloc_delay"]:
        raise settings.error("vc_alloc_delay", "at most sw_alloc_delay where speculative = 1")
    for name in ("st_prepare_delay", "st_final_delay"):
        if settings[name] < 0:
            raise settings.error(name, "at least 0")
    st_delay = settings["st_prepare_delay"] + settings["st_final_delay"]
    rules = _compat(settings, topology, routing, st_delay)
    return {
        "vcs": settings["num_vcs"],
        **_buffers(settings),
        "vc_allocator": _allocator(settings, "vc_allocator"),
        "sw_allocator": _allocator(settings, "sw_allocator"),
        "speculative": speculates(settings),
        **{name: settings[name] for name in _SWITCHES},
        "input_speedup": settings["input_speedup"],
        "output_speedup": settings["output_speedup"],
        "routing_delay_cycles": settings["routing_delay"],
        "vc_alloc_delay_cycles": settings["vc_alloc_delay"],
        "sw_alloc_delay_cycles": settings["sw_alloc_delay"],
        "st_delay_cycles": st_delay,
        **({"compat": rules} if rules else {}),
    }


def _allocator(settings: Settings, key: str) -> Spec:
    """``islip(2)`` as ``{kind = "islip", iterations = 2}``, ``separable_input_first(matrix)`` with its arbiter."""
    value = settings[key]
    name, arguments = (value, ()) if isinstance(value, str) else (value.name, value.arguments)
    if name in _OTHER_ALLOCATORS:
        raise settings.error(key, f"one of {_ALLOCATORS}", f"flitwork does not have BookSim's {name}")
    spec: dict[str, Any] = {"kind": name}
    if name == "islip" and (not arguments or (len(arguments) == 1 and isinstance(arguments[0], int))):
        return {**spec, "iterations": arguments[0] if arguments else 1}
    if name in _SEPARABLE and (not arguments or arguments in (("round_robin",), ("matrix",))):
        return {**spec, "arbiter": arguments[0] if arguments else "round_robin"}
    if name == "wavefront" and not arguments:
        return spec
    names = ("islip", "wavefront", *_SEPARABLE)
    raise settings.error(key, f"one of {_ALLOCATORS}", "" if name in names else did_you_mean(name, names))
