"""A constructor for each topology, and the types of flat options.

Written by tools/python_values.py from the schema of the simulator. Do not edit: change the comments of the fields in
crates/flitwork/src and run the tool again.
"""

# fmt: off
# ruff: noqa: B008, E501, F401, RUF100
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

from typing_extensions import Unpack

from flitwork.networks.network import Network, sizes
from flitwork.values.routing import Routing
from flitwork.values.tables import (
    Allocator,
    BarrierTree,
    Bus,
    Channel,
    Compat,
    Host,
    Nic,
    Pacing,
    Record,
    Router,
    Run,
    Service,
    Start,
    Steady,
    Units,
)
from flitwork.values.value import default

__all__ = [
    "Crossbar",
    "Dragonfly",
    "FlatOptions",
    "Grid",
    "KAryNTree",
    "Mesh",
    "NetworkOptions",
    "RunOptions",
    "Torus",
    "Xgft",
]


class FlatOptions(TypedDict, total=False):
    """The flat options of a network that are no arguments of their own; see :mod:`flitwork.values.flat`."""

    order: Sequence[int]
    tie: Literal["plus", "parity", "random", "split", "by_message"]
    classes: Literal["entered", "crossed", "at_dateline"]
    selection: Literal["most_credits", "random", "round_robin", "all"]
    productive: Literal["all", "first"]
    adaptive_vcs: Sequence[int]
    adaptive_tie: Literal["same", "plus", "minus"]
    misroutes: int
    patience_cycles: int
    information: Literal["cross", "local", "none"]
    news_delay_cycles: int
    vcs: int
    vc_policy: Literal["dateline", "destination", "service_level", "virtual_output_queues"]
    buffer_flits: int
    switching: Literal["wormhole", "virtual_cut_through"]
    vc_allocator: Allocator | Literal["islip", "separable_input_first", "separable_output_first", "wavefront"] | Mapping[str, Any]
    sw_allocator: Allocator | Literal["islip", "separable_input_first", "separable_output_first", "wavefront"] | Mapping[str, Any]
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


class NetworkOptions(FlatOptions, total=False):
    """All options of a network: its tables, the flat options of grids, those of every network."""

    barrier_tree: BarrierTree | Mapping[str, Any]
    bus: Bus | Mapping[str, Any]
    channel: Channel | Mapping[str, Any]
    nic: Nic | Mapping[str, Any]
    router: Router | Mapping[str, Any]
    routing: Routing | Literal["dimension_order", "duato", "duato_misrouting", "cross_line", "valiant", "romm", "min_adapt", "o1turn", "structured_pool", "shortest_path", "hop_classes", "dragonfly_minimal", "d_mod_k", "s_mod_k", "random_up", "adaptive_up"] | Mapping[str, Any]
    units: Units | Mapping[str, Any]
    ring2: Literal["double", "single"]
    terminals_per_router: int


class RunOptions(TypedDict, total=False):
    """The flat options of a run, except the seed; ``steady={}`` is all defaults."""

    warmup_cycles: int
    measurement_cycles: int
    max_cycles: int
    watchdog_cycles: int
    deadlock_check: bool
    memory_limit_mb: int
    steady: Steady | Mapping[str, Any]
    packets: bool
    channel_window_cycles: int
    delivery_window_cycles: int
    stalls: bool


def Torus(
    *size: int | Sequence[int],
    ring2: Literal["double", "single"] = default("double"),
    terminals_per_router: int = default(1),
    barrier_tree: BarrierTree | Mapping[str, Any] = default(None),
    bus: Bus | Mapping[str, Any] = default(None),
    channel: Channel | Mapping[str, Any] = default(None),
    nic: Nic | Mapping[str, Any] = default(None),
    router: Router | Mapping[str, Any] = default(None),
    routing: Routing | Literal["dimension_order", "duato", "duato_misrouting", "cross_line", "valiant", "romm", "min_adapt", "o1turn", "structured_pool", "shortest_path", "hop_classes", "dragonfly_minimal", "d_mod_k", "s_mod_k", "random_up", "adaptive_up"] | Mapping[str, Any] = default(None),
    units: Units | Mapping[str, Any] = default(None),
    **flat: Unpack[FlatOptions],
) -> Network:
    """A torus: every dimension wraps.

    * ``size``: Routers along each dimension [routers].
    * ``ring2``: Cables between the two routers of a ring of length 2. Default: double.
    * ``terminals_per_router``: Terminals at each router, at least 1. Default: 1.
    * ``barrier_tree``: Wires for barriers beside routers and channels. Default: none.
    * ``bus``: A bus beside routers and channels. Default: none.
    * ``channel``: The channels between routers.
    * ``nic``: The network interfaces.
    * ``router``: The input-queued virtual-channel router.
    * ``routing``: Which route packets take. Default: dimension order, x first, on a grid; d_mod_k on a fat tree;
      dragonfly_minimal on a dragonfly; on any other network shortest_path, or hop_classes where that can deadlock.
    * ``units``: What a flit carries and how long a cycle takes: only for what is said in bytes, ns or bytes/s, and for
      results in them.
    """
    return Network(
        "torus",
        size=sizes(size),
        ring2=ring2,
        terminals_per_router=terminals_per_router,
        barrier_tree=barrier_tree,
        bus=bus,
        channel=channel,
        nic=nic,
        router=router,
        routing=routing,
        units=units,
        **flat,
    )


def Mesh(
    *size: int | Sequence[int],
    terminals_per_router: int = default(1),
    barrier_tree: BarrierTree | Mapping[str, Any] = default(None),
    bus: Bus | Mapping[str, Any] = default(None),
    channel: Channel | Mapping[str, Any] = default(None),
    nic: Nic | Mapping[str, Any] = default(None),
    router: Router | Mapping[str, Any] = default(None),
    routing: Routing | Literal["dimension_order", "duato", "duato_misrouting", "cross_line", "valiant", "romm", "min_adapt", "o1turn", "structured_pool", "shortest_path", "hop_classes", "dragonfly_minimal", "d_mod_k", "s_mod_k", "random_up", "adaptive_up"] | Mapping[str, Any] = default(None),
    units: Units | Mapping[str, Any] = default(None),
    **flat: Unpack[FlatOptions],
) -> Network:
    """A mesh: no dimension wraps.

    * ``size``: Routers along each dimension [routers].
    * ``terminals_per_router``: Terminals at each router, at least 1. Default: 1.
    * ``barrier_tree``: Wires for barriers beside routers and channels. Default: none.
    * ``bus``: A bus beside routers and channels. Default: none.
    * ``channel``: The channels between routers.
    * ``nic``: The network interfaces.
    * ``router``: The input-queued virtual-channel router.
    * ``routing``: Which route packets take. Default: dimension order, x first, on a grid; d_mod_k on a fat tree;
      dragonfly_minimal on a dragonfly; on any other network shortest_path, or hop_classes where that can deadlock.
    * ``units``: What a flit carries and how long a cycle takes: only for what is said in bytes, ns or bytes/s, and for
      results in them.
    """
    return Network(
        "mesh",
        size=sizes(size),
        terminals_per_router=terminals_per_router,
        barrier_tree=barrier_tree,
        bus=bus,
        channel=channel,
        nic=nic,
        router=router,
        routing=routing,
        units=units,
        **flat,
    )


def Grid(
    size: Sequence[int],
    *,
    wrap: Sequence[bool],
    ring2: Literal["double", "single"] = default("double"),
    terminals_per_router: int = default(1),
    barrier_tree: BarrierTree | Mapping[str, Any] = default(None),
    bus: Bus | Mapping[str, Any] = default(None),
    channel: Channel | Mapping[str, Any] = default(None),
    nic: Nic | Mapping[str, Any] = default(None),
    router: Router | Mapping[str, Any] = default(None),
    routing: Routing | Literal["dimension_order", "duato", "duato_misrouting", "cross_line", "valiant", "romm", "min_adapt", "o1turn", "structured_pool", "shortest_path", "hop_classes", "dragonfly_minimal", "d_mod_k", "s_mod_k", "random_up", "adaptive_up"] | Mapping[str, Any] = default(None),
    units: Units | Mapping[str, Any] = default(None),
    **flat: Unpack[FlatOptions],
) -> Network:
    """A grid in which each dimension wraps or does not.

    * ``size``: Routers along each dimension [routers].
    * ``wrap``: Whether each dimension wraps; as many as ``size`` has.
    * ``ring2``: Cables between the two routers of a wrapped ring of length 2. Default: double.
    * ``terminals_per_router``: Terminals at each router, at least 1. Default: 1.
    * ``barrier_tree``: Wires for barriers beside routers and channels. Default: none.
    * ``bus``: A bus beside routers and channels. Default: none.
    * ``channel``: The channels between routers.
    * ``nic``: The network interfaces.
    * ``router``: The input-queued virtual-channel router.
    * ``routing``: Which route packets take. Default: dimension order, x first, on a grid; d_mod_k on a fat tree;
      dragonfly_minimal on a dragonfly; on any other network shortest_path, or hop_classes where that can deadlock.
    * ``units``: What a flit carries and how long a cycle takes: only for what is said in bytes, ns or bytes/s, and for
      results in them.
    """
    return Network(
        "grid",
        size=size,
        wrap=wrap,
        ring2=ring2,
        terminals_per_router=terminals_per_router,
        barrier_tree=barrier_tree,
        bus=bus,
        channel=channel,
        nic=nic,
        router=router,
        routing=routing,
        units=units,
        **flat,
    )


def Crossbar(
    *,
    terminals: int,
    barrier_tree: BarrierTree | Mapping[str, Any] = default(None),
    bus: Bus | Mapping[str, Any] = default(None),
    channel: Channel | Mapping[str, Any] = default(None),
    nic: Nic | Mapping[str, Any] = default(None),
    router: Router | Mapping[str, Any] = default(None),
    routing: Routing | Literal["dimension_order", "duato", "duato_misrouting", "cross_line", "valiant", "romm", "min_adapt", "o1turn", "structured_pool", "shortest_path", "hop_classes", "dragonfly_minimal", "d_mod_k", "s_mod_k", "random_up", "adaptive_up"] | Mapping[str, Any] = default(None),
    units: Units | Mapping[str, Any] = default(None),
    **flat: Unpack[FlatOptions],
) -> Network:
    """A single crossbar: one router with all terminals at it.

    * ``terminals``: Terminals at the router, 2 to 64.
    * ``barrier_tree``: Wires for barriers beside routers and channels. Default: none.
    * ``bus``: A bus beside routers and channels. Default: none.
    * ``channel``: The channels between routers.
    * ``nic``: The network interfaces.
    * ``router``: The input-queued virtual-channel router.
    * ``routing``: Which route packets take. Default: dimension order, x first, on a grid; d_mod_k on a fat tree;
      dragonfly_minimal on a dragonfly; on any other network shortest_path, or hop_classes where that can deadlock.
    * ``units``: What a flit carries and how long a cycle takes: only for what is said in bytes, ns or bytes/s, and for
      results in them.
    """
    return Network(
        "crossbar",
        terminals=terminals,
        barrier_tree=barrier_tree,
        bus=bus,
        channel=channel,
        nic=nic,
        router=router,
        routing=routing,
        units=units,
        **flat,
    )


def Dragonfly(
    *,
    global_channels_per_router: int,
    routers_per_group: int,
    global_latency_cycles: int = default(None),
    global_latency_ns: float | str | Sequence[float | str] = default(None),
    groups: int = default(None),
    terminals_per_router: int = default(1),
    barrier_tree: BarrierTree | Mapping[str, Any] = default(None),
    bus: Bus | Mapping[str, Any] = default(None),
    channel: Channel | Mapping[str, Any] = default(None),
    nic: Nic | Mapping[str, Any] = default(None),
    router: Router | Mapping[str, Any] = default(None),
    routing: Routing | Literal["dimension_order", "duato", "duato_misrouting", "cross_line", "valiant", "romm", "min_adapt", "o1turn", "structured_pool", "shortest_path", "hop_classes", "dragonfly_minimal", "d_mod_k", "s_mod_k", "random_up", "adaptive_up"] | Mapping[str, Any] = default(None),
    units: Units | Mapping[str, Any] = default(None),
    **flat: Unpack[FlatOptions],
) -> Network:
    """A dragonfly: groups of routers that are joined each to each, and groups that are joined each to each.

    * ``global_channels_per_router``: Global channels of each router, h: 1 to 63.
    * ``routers_per_group``: Routers in each group, a: 1 to 64.
    * ``global_latency_cycles``: Latency of global channels [cycles], 0 to 10000. Default: that of
      ``network.channel.latency_cycles``.
    * ``global_latency_ns``: ``global_latency_cycles`` in ns; or text with a unit.
    * ``groups``: Groups, g: 2 to a h + 1. Default: a h + 1, the most there can be.
    * ``terminals_per_router``: Terminals at each router, p: at least 1. Default: 1.
    * ``barrier_tree``: Wires for barriers beside routers and channels. Default: none.
    * ``bus``: A bus beside routers and channels. Default: none.
    * ``channel``: The channels between routers.
    * ``nic``: The network interfaces.
    * ``router``: The input-queued virtual-channel router.
    * ``routing``: Which route packets take. Default: dimension order, x first, on a grid; d_mod_k on a fat tree;
      dragonfly_minimal on a dragonfly; on any other network shortest_path, or hop_classes where that can deadlock.
    * ``units``: What a flit carries and how long a cycle takes: only for what is said in bytes, ns or bytes/s, and for
      results in them.
    """
    return Network(
        "dragonfly",
        global_channels_per_router=global_channels_per_router,
        routers_per_group=routers_per_group,
        global_latency_cycles=global_latency_cycles,
        global_latency_ns=global_latency_ns,
        groups=groups,
        terminals_per_router=terminals_per_router,
        barrier_tree=barrier_tree,
        bus=bus,
        channel=channel,
        nic=nic,
        router=router,
        routing=routing,
        units=units,
        **flat,
    )


def KAryNTree(
    *,
    k: int,
    levels: int,
    barrier_tree: BarrierTree | Mapping[str, Any] = default(None),
    bus: Bus | Mapping[str, Any] = default(None),
    channel: Channel | Mapping[str, Any] = default(None),
    nic: Nic | Mapping[str, Any] = default(None),
    router: Router | Mapping[str, Any] = default(None),
    routing: Routing | Literal["dimension_order", "duato", "duato_misrouting", "cross_line", "valiant", "romm", "min_adapt", "o1turn", "structured_pool", "shortest_path", "hop_classes", "dragonfly_minimal", "d_mod_k", "s_mod_k", "random_up", "adaptive_up"] | Mapping[str, Any] = default(None),
    units: Units | Mapping[str, Any] = default(None),
    **flat: Unpack[FlatOptions],
) -> Network:
    """A k-ary n-tree: a fat tree whose routers have k children and, below the top, k parents.

    * ``k``: Children of each router, and parents of each below the top: 1 to 32, to 64 where there is one level.
    * ``levels``: Levels of routers, n: 1 to 16. There are ``k^n`` terminals, at most 2^20.
    * ``barrier_tree``: Wires for barriers beside routers and channels. Default: none.
    * ``bus``: A bus beside routers and channels. Default: none.
    * ``channel``: The channels between routers.
    * ``nic``: The network interfaces.
    * ``router``: The input-queued virtual-channel router.
    * ``routing``: Which route packets take. Default: dimension order, x first, on a grid; d_mod_k on a fat tree;
      dragonfly_minimal on a dragonfly; on any other network shortest_path, or hop_classes where that can deadlock.
    * ``units``: What a flit carries and how long a cycle takes: only for what is said in bytes, ns or bytes/s, and for
      results in them.
    """
    return Network(
        "k_ary_n_tree",
        k=k,
        levels=levels,
        barrier_tree=barrier_tree,
        bus=bus,
        channel=channel,
        nic=nic,
        router=router,
        routing=routing,
        units=units,
        **flat,
    )


def Xgft(
    *,
    children: Sequence[int],
    parents: Sequence[int],
    barrier_tree: BarrierTree | Mapping[str, Any] = default(None),
    bus: Bus | Mapping[str, Any] = default(None),
    channel: Channel | Mapping[str, Any] = default(None),
    nic: Nic | Mapping[str, Any] = default(None),
    router: Router | Mapping[str, Any] = default(None),
    routing: Routing | Literal["dimension_order", "duato", "duato_misrouting", "cross_line", "valiant", "romm", "min_adapt", "o1turn", "structured_pool", "shortest_path", "hop_classes", "dragonfly_minimal", "d_mod_k", "s_mod_k", "random_up", "adaptive_up"] | Mapping[str, Any] = default(None),
    units: Units | Mapping[str, Any] = default(None),
    **flat: Unpack[FlatOptions],
) -> Network:
    """An extended generalized fat tree, XGFT(h; m_1, ..., m_h; w_1, ..., w_h): any children and parents at each level.

    * ``children``: Children of a router of each level from below, m_1, ..., m_h; the first are terminals.
    * ``parents``: Parents of what is below each level, w_1, ..., w_h: the first, those of a terminal, is 1; a router
      of level l has the (l+1)-th. A level is oversubscribed where a router has fewer parents than children.
    * ``barrier_tree``: Wires for barriers beside routers and channels. Default: none.
    * ``bus``: A bus beside routers and channels. Default: none.
    * ``channel``: The channels between routers.
    * ``nic``: The network interfaces.
    * ``router``: The input-queued virtual-channel router.
    * ``routing``: Which route packets take. Default: dimension order, x first, on a grid; d_mod_k on a fat tree;
      dragonfly_minimal on a dragonfly; on any other network shortest_path, or hop_classes where that can deadlock.
    * ``units``: What a flit carries and how long a cycle takes: only for what is said in bytes, ns or bytes/s, and for
      results in them.
    """
    return Network(
        "xgft",
        children=children,
        parents=parents,
        barrier_tree=barrier_tree,
        bus=bus,
        channel=channel,
        nic=nic,
        router=router,
        routing=routing,
        units=units,
        **flat,
    )
