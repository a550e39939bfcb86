"""The flat names of options: ``fw.Torus(8, 8, vcs=4)`` for ``router=fw.Router(vcs=4)``.

**These tables are closed.** A flat name is the name of its field, wherever that stands. A field that is new in the
simulator gets no flat name: it is written in its table, as a value.
"""

from __future__ import annotations

from collections.abc import Mapping

Path = tuple[str, ...]

_NETWORK = {
    "topology": ("terminals_per_router", "ring2"),
    "routing": (
        *("order", "tie", "classes", "selection", "productive", "adaptive_vcs", "adaptive_tie", "misroutes"),
        *("patience_cycles", "information", "news_delay_cycles"),
    ),
    "router": (
        *("vcs", "vc_policy", "buffer_flits", "switching", "vc_allocator", "sw_allocator", "hold_switch_for_packet"),
        *("speculative", "wait_for_tail_credit", "vc_busy_when_full", "shared_middle_vc", "input_speedup"),
        *("output_speedup", "routing_delay_cycles", "vc_alloc_delay_cycles", "sw_alloc_delay_cycles"),
        *("st_delay_cycles", "pipelined_stages"),
    ),
    "channel": ("latency_cycles", "local_latency_cycles", "credit_delay_cycles"),
    "nic": ("ports", "injection_vc", "ejection_port", "source_queue"),
}
_RUN = {
    "": (
        *("seed", "warmup_cycles", "measurement_cycles", "max_cycles", "watchdog_cycles", "deadlock_check"),
        *("memory_limit_mb", "steady"),
    ),
    "record": ("packets", "channel_window_cycles", "delivery_window_cycles", "stalls"),
}
#: Fields that stand in a table within the one that is named above.
_MOVED: Mapping[Path, Path] = {
    ("router", "shared_middle_vc"): ("router", "compat", "shared_middle_vc"),
    ("router", "pipelined_stages"): ("router", "compat", "pipelined_stages"),
    ("routing", "productive"): ("router", "compat", "productive"),
    ("routing", "adaptive_vcs"): ("router", "compat", "adaptive_vcs"),
    ("routing", "adaptive_tie"): ("router", "compat", "adaptive_tie"),
}


def _places(tables: Mapping[str, tuple[str, ...]]) -> dict[str, Path]:
    found = {name: (*((table,) if table else ()), name) for table, names in tables.items() for name in names}
    return {name: _MOVED.get(path, path) for name, path in found.items()}


#: Every flat name and its place in the table ``network`` or ``run``; ``routing`` is the kind of its table.
FLAT: Mapping[str, Mapping[str, Path]] = {
    "network": {**_places(_NETWORK), "routing": ("routing", "kind")},
    "run": _places(_RUN),
}
