"""Packets that have the network for themselves: each takes exactly the sum of its delays."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from flitwork.booksim.config_file import parse, read_config
from flitwork.booksim.mapping import network as booksim_spec
from flitwork.booksim.settings import Settings
from flitwork.planning.specification import Network, NetworkOptions
from flitwork.results.result import Result
from flitwork.running.simulation import simulate
from flitwork.workloads.workload import Spec, uniform


def booksim_network(topology: str, setting: str = "") -> Spec:
    """The table ``network`` of the curves, with one of BookSim's settings changed: ``vc_buf_size = 4``."""
    routing = {"mesh": "dor", "torus": "dim_order"}[topology]
    curve = parse(f"topology = {topology}; routing_function = {routing};", "the curve")
    changed = parse(setting and f"{setting};", "the setting")
    return booksim_spec(Settings([*read_config(Path(__file__).with_name("booksim.cfg")), *curve, *changed]))


def _options(spec: Spec) -> dict[str, Any]:
    """The flat options of a table ``network``."""
    tables = ("routing", "router", "channel", "nic")
    options = {key: value for table in tables for key, value in spec[table].items() if key != "kind"}
    compat = options.pop("compat", {})
    return {**options, **compat}


#: The router of the curves.
ROUTER: NetworkOptions = _options(booksim_network("mesh"))  # type: ignore[assignment]
_LAST_CREDIT_CYCLES = 50


class Measured(NamedTuple):
    """What BookSim measured for packets alone: ``cycles`` over ``hops`` channels, with one setting changed."""

    setting: str
    topology: str
    hops: int
    flits: int
    cycles: int

    @property
    def network(self) -> Network:
        """The network of the setting."""
        return network(self.topology, _options(booksim_network(self.topology, self.setting)))  # type: ignore[arg-type]


MEASURED = (
    Measured("", "torus", 0, 1, 7),
    Measured("", "torus", 2, 1, 17),
    Measured("", "torus", 2, 4, 20),
    Measured("", "torus", 2, 8, 24),
    Measured("", "torus", 6, 1, 37),
    Measured("use_noc_latency = 1", "torus", 6, 1, 43),
    Measured("routing_delay = 0", "torus", 6, 1, 30),
    Measured("speculative = 1", "torus", 6, 1, 30),
    Measured("routing_delay = 0; speculative = 1", "torus", 6, 1, 23),
    Measured("st_final_delay = 2", "torus", 6, 1, 44),
    Measured("routing_delay = 3", "torus", 6, 1, 51),
    Measured("vc_buf_size = 1", "torus", 6, 8, 72),
    Measured("vc_buf_size = 4", "torus", 6, 8, 45),
    Measured("vc_buf_size = 5", "torus", 6, 8, 44),
    Measured("", "mesh", 2, 1, 17),
    Measured("", "mesh", 2, 4, 20),
    Measured("", "mesh", 14, 1, 77),
    Measured("", "mesh", 14, 4, 80),
)


def network(topology: str, options: NetworkOptions, *size: int) -> Network:
    """A mesh or torus (8 x 8) of :data:`ROUTER`, changed by ``options``."""
    return Network(topology, size=size or (8, 8), **ROUTER).replace(**options)


def traffic(net: Network, packet_flits: int, cycles: int = 400_000) -> Result:
    """Uniform traffic with a packet every 250 cycles, somewhere in the network; every packet is recorded."""
    load = packet_flits / (250 * int(np.prod(net.topology["size"])))
    work = uniform(offered_load=load, packet_flits=packet_flits)
    return simulate(net, work, warmup_cycles=0, measurement_cycles=cycles, packets=True)


def alone(packets: pd.DataFrame) -> pd.DataFrame:
    """Those packets in whose time no other was under way, credits included."""
    ordered = packets.sort_values("created_cycle", ignore_index=True).astype(
        {"created_cycle": float, "arrived_cycle": float}
    )
    before = ordered["arrived_cycle"].cummax().shift(fill_value=-np.inf) + _LAST_CREDIT_CYCLES
    after = ordered["created_cycle"].shift(-1, fill_value=np.inf) - _LAST_CREDIT_CYCLES
    return ordered[(before < ordered["created_cycle"]) & (ordered["arrived_cycle"] < after)]


def formula(net: Network, hops: pd.Series[int], packet_flits: int) -> pd.Series[int]:
    """BookSim's latency of a packet alone, where the buffers cover the credit loop.

    ``(H + 1) t_r + H t_ch + t_inj + t_ej + 1 + (L - 1)`` with ``t_r`` cycles in each of the ``H + 1`` routers.
    """
    o: dict[str, Any] = {**ROUTER, **net.options}
    allocation = 0 if o.get("speculative") else o["vc_alloc_delay_cycles"]
    t_r = o["routing_delay_cycles"] + allocation + o["sw_alloc_delay_cycles"] + o["st_delay_cycles"]
    hop, ends = t_r + o["latency_cycles"], t_r + 2 * o["local_latency_cycles"]
    return hops * int(hop) + int(ends) + packet_flits


def ours(case: Measured) -> set[int]:
    """The latencies of all packets alone that fit the case: one value."""
    packets = alone(traffic(case.network, case.flits).packets)
    return set(packets.loc[packets["hops"] == case.hops, "packet_latency_cycles"].astype(int))
