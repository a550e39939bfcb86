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
    Without,
)
from flitwork.values.value import default

__all__ = [
    "Circulant",
    "Crossbar",
    "Dragonfly",
    "DragonflyPlus",
    "FlatOptions",
    "FlattenedButterfly",
    "Graph",
    "Grid",
    "Hypercube",
    "Hyperx",
    "KAryNTree",
    "Mesh",
    "NetworkOptions",
    "RailOptimized",
    "RandomRegular",
    "RunOptions",
    "SlimFly",
    "Torus",
    "TwistedTorus",
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
    routing: Routing | Literal["dimension_order", "duato", "duato_misrouting", "cross_line", "valiant", "romm", "min_adapt", "o1turn", "structured_pool", "shortest_path", "lash", "up_down", "table", "relation", "hop_classes", "graph_valiant", "graph_ugal", "ecmp", "spray", "dragonfly_minimal", "dragonfly_valiant", "dragonfly_ugal", "d_mod_k", "s_mod_k", "random_up", "adaptive_up"] | Mapping[str, Any]
    units: Units | Mapping[str, Any]
    without: Without | Mapping[str, Any]
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
    routing: Routing | Literal["dimension_order", "duato", "duato_misrouting", "cross_line", "valiant", "romm", "min_adapt", "o1turn", "structured_pool", "shortest_path", "lash", "up_down", "table", "relation", "hop_classes", "graph_valiant", "graph_ugal", "ecmp", "spray", "dragonfly_minimal", "dragonfly_valiant", "dragonfly_ugal", "d_mod_k", "s_mod_k", "random_up", "adaptive_up"] | Mapping[str, Any] = default(None),
    units: Units | Mapping[str, Any] = default(None),
    without: Without | Mapping[str, Any] = default(None),
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
      dragonfly_minimal on a dragonfly; on any other network shortest_path, or where that can deadlock lash or
      hop_classes, whichever needs fewer virtual channels.
    * ``units``: What a flit carries and how long a cycle takes: only for what is said in bytes, ns or bytes/s, and for
      results in them.
    * ``without``: Faults: cables, routers and terminals that do not work. Default: none.
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
        without=without,
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
    routing: Routing | Literal["dimension_order", "duato", "duato_misrouting", "cross_line", "valiant", "romm", "min_adapt", "o1turn", "structured_pool", "shortest_path", "lash", "up_down", "table", "relation", "hop_classes", "graph_valiant", "graph_ugal", "ecmp", "spray", "dragonfly_minimal", "dragonfly_valiant", "dragonfly_ugal", "d_mod_k", "s_mod_k", "random_up", "adaptive_up"] | Mapping[str, Any] = default(None),
    units: Units | Mapping[str, Any] = default(None),
    without: Without | Mapping[str, Any] = default(None),
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
      dragonfly_minimal on a dragonfly; on any other network shortest_path, or where that can deadlock lash or
      hop_classes, whichever needs fewer virtual channels.
    * ``units``: What a flit carries and how long a cycle takes: only for what is said in bytes, ns or bytes/s, and for
      results in them.
    * ``without``: Faults: cables, routers and terminals that do not work. Default: none.
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
        without=without,
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
    routing: Routing | Literal["dimension_order", "duato", "duato_misrouting", "cross_line", "valiant", "romm", "min_adapt", "o1turn", "structured_pool", "shortest_path", "lash", "up_down", "table", "relation", "hop_classes", "graph_valiant", "graph_ugal", "ecmp", "spray", "dragonfly_minimal", "dragonfly_valiant", "dragonfly_ugal", "d_mod_k", "s_mod_k", "random_up", "adaptive_up"] | Mapping[str, Any] = default(None),
    units: Units | Mapping[str, Any] = default(None),
    without: Without | Mapping[str, Any] = default(None),
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
      dragonfly_minimal on a dragonfly; on any other network shortest_path, or where that can deadlock lash or
      hop_classes, whichever needs fewer virtual channels.
    * ``units``: What a flit carries and how long a cycle takes: only for what is said in bytes, ns or bytes/s, and for
      results in them.
    * ``without``: Faults: cables, routers and terminals that do not work. Default: none.
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
        without=without,
        **flat,
    )


def Graph(
    *,
    cable_cycles_per_flit: Sequence[int] = default(1),
    cable_latency_cycles: Sequence[int] = default(None),
    cable_latency_ns: float | str | Sequence[float | str] = default(None),
    cables: Sequence[Sequence[int | str]] = default(None),
    channel_cycles_per_flit: Sequence[int] = default(1),
    channel_latency_cycles: Sequence[int] = default(None),
    channel_latency_ns: float | str | Sequence[float | str] = default(None),
    channels: Sequence[Sequence[int | str]] = default(None),
    file: str = default(None),
    names: Sequence[str] = default(None),
    positions: Sequence[Sequence[float]] = default(None),
    routers: int = default(None),
    terminal_names: Sequence[str] = default(None),
    terminals: Sequence[int] = default(None),
    terminals_per_router: int = default(1),
    barrier_tree: BarrierTree | Mapping[str, Any] = default(None),
    bus: Bus | Mapping[str, Any] = default(None),
    channel: Channel | Mapping[str, Any] = default(None),
    nic: Nic | Mapping[str, Any] = default(None),
    router: Router | Mapping[str, Any] = default(None),
    routing: Routing | Literal["dimension_order", "duato", "duato_misrouting", "cross_line", "valiant", "romm", "min_adapt", "o1turn", "structured_pool", "shortest_path", "lash", "up_down", "table", "relation", "hop_classes", "graph_valiant", "graph_ugal", "ecmp", "spray", "dragonfly_minimal", "dragonfly_valiant", "dragonfly_ugal", "d_mod_k", "s_mod_k", "random_up", "adaptive_up"] | Mapping[str, Any] = default(None),
    units: Units | Mapping[str, Any] = default(None),
    without: Without | Mapping[str, Any] = default(None),
    **flat: Unpack[FlatOptions],
) -> Network:
    """Any network, written down cable by cable, or read from a file.

    * ``cable_cycles_per_flit``: Cycles per flit of each cable, 1 to 10000, in the order of ``cables``: a cable of a
      quarter of the width takes 4. Default: 1.
    * ``cable_latency_cycles``: Latency of each cable [cycles], 0 to 10000, in the order of ``cables``. Default:
      ``network.channel.latency_cycles``.
    * ``cable_latency_ns``: ``cable_latency_cycles`` in ns, each; or text with a unit.
    * ``cables``: Cables, each a pair of routers [a, b], by number from 0 or by name. A cable is a channel in each
      direction. Parallel cables are listed several times.
    * ``channel_cycles_per_flit``: Cycles per flit of each channel, 1 to 10000, in the order of ``channels``. Default:
      1.
    * ``channel_latency_cycles``: Latency of each channel [cycles], 0 to 10000, in the order of ``channels``. Default:
      ``network.channel.latency_cycles``.
    * ``channel_latency_ns``: ``channel_latency_cycles`` in ns, each; or text with a unit.
    * ``channels``: Channels in one direction, each [from router, to router], besides the cables.
    * ``file``: A file with the network instead of the lists: GraphML, an edge list in CSV, what ``ibnetdiscover``
      prints, BookSim's anynet, a fat tree of htsim, or a network of ASTRA-sim. It is read before a plan is made.
    * ``names``: Names of the routers, all different, for messages and pictures. Default: as the cables name them, in
      the order in which they do so first; else their numbers.
    * ``positions``: Place of each router on a page, [x, y]. Default: a circle.
    * ``routers``: Number of routers. Default: the highest number in the lists, plus 1.
    * ``terminal_names``: Names of the terminals, all different, in the order of the routers that they are at. Default:
      their numbers.
    * ``terminals``: Terminals at each router, one number per router, instead of ``terminals_per_router``.
    * ``terminals_per_router``: Terminals at each router. Default: 1.
    * ``barrier_tree``: Wires for barriers beside routers and channels. Default: none.
    * ``bus``: A bus beside routers and channels. Default: none.
    * ``channel``: The channels between routers.
    * ``nic``: The network interfaces.
    * ``router``: The input-queued virtual-channel router.
    * ``routing``: Which route packets take. Default: dimension order, x first, on a grid; d_mod_k on a fat tree;
      dragonfly_minimal on a dragonfly; on any other network shortest_path, or where that can deadlock lash or
      hop_classes, whichever needs fewer virtual channels.
    * ``units``: What a flit carries and how long a cycle takes: only for what is said in bytes, ns or bytes/s, and for
      results in them.
    * ``without``: Faults: cables, routers and terminals that do not work. Default: none.
    """
    return Network(
        "graph",
        cable_cycles_per_flit=cable_cycles_per_flit,
        cable_latency_cycles=cable_latency_cycles,
        cable_latency_ns=cable_latency_ns,
        cables=cables,
        channel_cycles_per_flit=channel_cycles_per_flit,
        channel_latency_cycles=channel_latency_cycles,
        channel_latency_ns=channel_latency_ns,
        channels=channels,
        file=file,
        names=names,
        positions=positions,
        routers=routers,
        terminal_names=terminal_names,
        terminals=terminals,
        terminals_per_router=terminals_per_router,
        barrier_tree=barrier_tree,
        bus=bus,
        channel=channel,
        nic=nic,
        router=router,
        routing=routing,
        units=units,
        without=without,
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
    routing: Routing | Literal["dimension_order", "duato", "duato_misrouting", "cross_line", "valiant", "romm", "min_adapt", "o1turn", "structured_pool", "shortest_path", "lash", "up_down", "table", "relation", "hop_classes", "graph_valiant", "graph_ugal", "ecmp", "spray", "dragonfly_minimal", "dragonfly_valiant", "dragonfly_ugal", "d_mod_k", "s_mod_k", "random_up", "adaptive_up"] | Mapping[str, Any] = default(None),
    units: Units | Mapping[str, Any] = default(None),
    without: Without | Mapping[str, Any] = default(None),
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
      dragonfly_minimal on a dragonfly; on any other network shortest_path, or where that can deadlock lash or
      hop_classes, whichever needs fewer virtual channels.
    * ``units``: What a flit carries and how long a cycle takes: only for what is said in bytes, ns or bytes/s, and for
      results in them.
    * ``without``: Faults: cables, routers and terminals that do not work. Default: none.
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
        without=without,
        **flat,
    )


def Dragonfly(
    *,
    global_channels_per_router: int,
    routers_per_group: int,
    arrangement: Literal["absolute", "relative", "circulant"] = default("absolute"),
    global_latency_cycles: int = default(None),
    global_latency_ns: float | str | Sequence[float | str] = default(None),
    groups: int = default(None),
    terminals_per_router: int = default(1),
    barrier_tree: BarrierTree | Mapping[str, Any] = default(None),
    bus: Bus | Mapping[str, Any] = default(None),
    channel: Channel | Mapping[str, Any] = default(None),
    nic: Nic | Mapping[str, Any] = default(None),
    router: Router | Mapping[str, Any] = default(None),
    routing: Routing | Literal["dimension_order", "duato", "duato_misrouting", "cross_line", "valiant", "romm", "min_adapt", "o1turn", "structured_pool", "shortest_path", "lash", "up_down", "table", "relation", "hop_classes", "graph_valiant", "graph_ugal", "ecmp", "spray", "dragonfly_minimal", "dragonfly_valiant", "dragonfly_ugal", "d_mod_k", "s_mod_k", "random_up", "adaptive_up"] | Mapping[str, Any] = default(None),
    units: Units | Mapping[str, Any] = default(None),
    without: Without | Mapping[str, Any] = default(None),
    **flat: Unpack[FlatOptions],
) -> Network:
    """A dragonfly: groups of routers that are joined each to each, and groups that are joined each to each.

    * ``global_channels_per_router``: Global channels of each router, h: 1 to 63.
    * ``routers_per_group``: Routers in each group, a: 1 to 64.
    * ``arrangement``: In which order the global channels of a group, from its first router on, lead to the other
      groups. Default: absolute.
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
      dragonfly_minimal on a dragonfly; on any other network shortest_path, or where that can deadlock lash or
      hop_classes, whichever needs fewer virtual channels.
    * ``units``: What a flit carries and how long a cycle takes: only for what is said in bytes, ns or bytes/s, and for
      results in them.
    * ``without``: Faults: cables, routers and terminals that do not work. Default: none.
    """
    return Network(
        "dragonfly",
        global_channels_per_router=global_channels_per_router,
        routers_per_group=routers_per_group,
        arrangement=arrangement,
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
        without=without,
        **flat,
    )


def DragonflyPlus(
    *,
    global_channels_per_spine: int,
    leaves_per_group: int,
    spines_per_group: int,
    groups: int = default(None),
    terminals_per_leaf: int = default(1),
    barrier_tree: BarrierTree | Mapping[str, Any] = default(None),
    bus: Bus | Mapping[str, Any] = default(None),
    channel: Channel | Mapping[str, Any] = default(None),
    nic: Nic | Mapping[str, Any] = default(None),
    router: Router | Mapping[str, Any] = default(None),
    routing: Routing | Literal["dimension_order", "duato", "duato_misrouting", "cross_line", "valiant", "romm", "min_adapt", "o1turn", "structured_pool", "shortest_path", "lash", "up_down", "table", "relation", "hop_classes", "graph_valiant", "graph_ugal", "ecmp", "spray", "dragonfly_minimal", "dragonfly_valiant", "dragonfly_ugal", "d_mod_k", "s_mod_k", "random_up", "adaptive_up"] | Mapping[str, Any] = default(None),
    units: Units | Mapping[str, Any] = default(None),
    without: Without | Mapping[str, Any] = default(None),
    **flat: Unpack[FlatOptions],
) -> Network:
    """A Dragonfly+ (Megafly): groups of leaf and spine routers, the spines joined to other groups.

    * ``global_channels_per_spine``: Global channels of each spine router, h: 1 to 63. With the leaves of its group it
      has at most 64 ports.
    * ``leaves_per_group``: Leaf routers in each group: 1 to 63.
    * ``spines_per_group``: Spine routers in each group: 1 to 63. Each has a cable to every leaf router of its group.
    * ``groups``: Groups, g: 2 to s h + 1, where s is the number of spines in a group. Default: s h + 1, the most there
      can be.
    * ``terminals_per_leaf``: Terminals at each leaf router, at least 1. Spine routers have none. Default: 1.
    * ``barrier_tree``: Wires for barriers beside routers and channels. Default: none.
    * ``bus``: A bus beside routers and channels. Default: none.
    * ``channel``: The channels between routers.
    * ``nic``: The network interfaces.
    * ``router``: The input-queued virtual-channel router.
    * ``routing``: Which route packets take. Default: dimension order, x first, on a grid; d_mod_k on a fat tree;
      dragonfly_minimal on a dragonfly; on any other network shortest_path, or where that can deadlock lash or
      hop_classes, whichever needs fewer virtual channels.
    * ``units``: What a flit carries and how long a cycle takes: only for what is said in bytes, ns or bytes/s, and for
      results in them.
    * ``without``: Faults: cables, routers and terminals that do not work. Default: none.
    """
    return Network(
        "dragonfly_plus",
        global_channels_per_spine=global_channels_per_spine,
        leaves_per_group=leaves_per_group,
        spines_per_group=spines_per_group,
        groups=groups,
        terminals_per_leaf=terminals_per_leaf,
        barrier_tree=barrier_tree,
        bus=bus,
        channel=channel,
        nic=nic,
        router=router,
        routing=routing,
        units=units,
        without=without,
        **flat,
    )


def SlimFly(
    *,
    q: int,
    terminals_per_router: int = default(None),
    barrier_tree: BarrierTree | Mapping[str, Any] = default(None),
    bus: Bus | Mapping[str, Any] = default(None),
    channel: Channel | Mapping[str, Any] = default(None),
    nic: Nic | Mapping[str, Any] = default(None),
    router: Router | Mapping[str, Any] = default(None),
    routing: Routing | Literal["dimension_order", "duato", "duato_misrouting", "cross_line", "valiant", "romm", "min_adapt", "o1turn", "structured_pool", "shortest_path", "lash", "up_down", "table", "relation", "hop_classes", "graph_valiant", "graph_ugal", "ecmp", "spray", "dragonfly_minimal", "dragonfly_valiant", "dragonfly_ugal", "d_mod_k", "s_mod_k", "random_up", "adaptive_up"] | Mapping[str, Any] = default(None),
    units: Units | Mapping[str, Any] = default(None),
    without: Without | Mapping[str, Any] = default(None),
    **flat: Unpack[FlatOptions],
) -> Network:
    """A Slim Fly: diameter two with nearly the largest possible number of routers.

    * ``q``: Size of the field, q: a power of a prime from 3 to 41. There are ``2 q^2`` routers with ``(3 q - d) / 2``
      channels, where d is -1, 0 or 1 and q - d a multiple of 4.
    * ``terminals_per_router``: Terminals at each router, at least 1. Default: half the number of its channels, rounded
      up, as in the paper. Set it for q above 27, where the default exceeds the 64 ports of a router.
    * ``barrier_tree``: Wires for barriers beside routers and channels. Default: none.
    * ``bus``: A bus beside routers and channels. Default: none.
    * ``channel``: The channels between routers.
    * ``nic``: The network interfaces.
    * ``router``: The input-queued virtual-channel router.
    * ``routing``: Which route packets take. Default: dimension order, x first, on a grid; d_mod_k on a fat tree;
      dragonfly_minimal on a dragonfly; on any other network shortest_path, or where that can deadlock lash or
      hop_classes, whichever needs fewer virtual channels.
    * ``units``: What a flit carries and how long a cycle takes: only for what is said in bytes, ns or bytes/s, and for
      results in them.
    * ``without``: Faults: cables, routers and terminals that do not work. Default: none.
    """
    return Network(
        "slim_fly",
        q=q,
        terminals_per_router=terminals_per_router,
        barrier_tree=barrier_tree,
        bus=bus,
        channel=channel,
        nic=nic,
        router=router,
        routing=routing,
        units=units,
        without=without,
        **flat,
    )


def Hyperx(
    *size: int | Sequence[int],
    terminals_per_router: int = default(1),
    width: Sequence[int] = default(1),
    barrier_tree: BarrierTree | Mapping[str, Any] = default(None),
    bus: Bus | Mapping[str, Any] = default(None),
    channel: Channel | Mapping[str, Any] = default(None),
    nic: Nic | Mapping[str, Any] = default(None),
    router: Router | Mapping[str, Any] = default(None),
    routing: Routing | Literal["dimension_order", "duato", "duato_misrouting", "cross_line", "valiant", "romm", "min_adapt", "o1turn", "structured_pool", "shortest_path", "lash", "up_down", "table", "relation", "hop_classes", "graph_valiant", "graph_ugal", "ecmp", "spray", "dragonfly_minimal", "dragonfly_valiant", "dragonfly_ugal", "d_mod_k", "s_mod_k", "random_up", "adaptive_up"] | Mapping[str, Any] = default(None),
    units: Units | Mapping[str, Any] = default(None),
    without: Without | Mapping[str, Any] = default(None),
    **flat: Unpack[FlatOptions],
) -> Network:
    """HyperX: routers in rows and columns, each joined to all others of its row in every dimension.

    * ``size``: Routers along each dimension, S_1 to S_L: 1 to 17 sizes, each at least 2. A router has at most 63
      channels.
    * ``terminals_per_router``: Terminals at each router, T: at least 1. Default: 1.
    * ``width``: Cables between each two routers of a row, K_1 to K_L, one number per dimension, each at least 1.
      Default: 1.
    * ``barrier_tree``: Wires for barriers beside routers and channels. Default: none.
    * ``bus``: A bus beside routers and channels. Default: none.
    * ``channel``: The channels between routers.
    * ``nic``: The network interfaces.
    * ``router``: The input-queued virtual-channel router.
    * ``routing``: Which route packets take. Default: dimension order, x first, on a grid; d_mod_k on a fat tree;
      dragonfly_minimal on a dragonfly; on any other network shortest_path, or where that can deadlock lash or
      hop_classes, whichever needs fewer virtual channels.
    * ``units``: What a flit carries and how long a cycle takes: only for what is said in bytes, ns or bytes/s, and for
      results in them.
    * ``without``: Faults: cables, routers and terminals that do not work. Default: none.
    """
    return Network(
        "hyperx",
        size=sizes(size),
        terminals_per_router=terminals_per_router,
        width=width,
        barrier_tree=barrier_tree,
        bus=bus,
        channel=channel,
        nic=nic,
        router=router,
        routing=routing,
        units=units,
        without=without,
        **flat,
    )


def FlattenedButterfly(
    *,
    k: int,
    n: int,
    terminals_per_router: int = default(None),
    barrier_tree: BarrierTree | Mapping[str, Any] = default(None),
    bus: Bus | Mapping[str, Any] = default(None),
    channel: Channel | Mapping[str, Any] = default(None),
    nic: Nic | Mapping[str, Any] = default(None),
    router: Router | Mapping[str, Any] = default(None),
    routing: Routing | Literal["dimension_order", "duato", "duato_misrouting", "cross_line", "valiant", "romm", "min_adapt", "o1turn", "structured_pool", "shortest_path", "lash", "up_down", "table", "relation", "hop_classes", "graph_valiant", "graph_ugal", "ecmp", "spray", "dragonfly_minimal", "dragonfly_valiant", "dragonfly_ugal", "d_mod_k", "s_mod_k", "random_up", "adaptive_up"] | Mapping[str, Any] = default(None),
    units: Units | Mapping[str, Any] = default(None),
    without: Without | Mapping[str, Any] = default(None),
    **flat: Unpack[FlatOptions],
) -> Network:
    """A k-ary n-flat: a flattened butterfly of `n - 1` dimensions of k routers.

    * ``k``: Routers along each dimension, k: 2 to 64. A router has at most 64 ports, with those of its terminals.
    * ``n``: Stages of the butterfly that is flattened, n: 2 to 18. There are ``n - 1`` dimensions and ``k^(n-1)``
      routers.
    * ``terminals_per_router``: Terminals at each router, at least 1. Default: k.
    * ``barrier_tree``: Wires for barriers beside routers and channels. Default: none.
    * ``bus``: A bus beside routers and channels. Default: none.
    * ``channel``: The channels between routers.
    * ``nic``: The network interfaces.
    * ``router``: The input-queued virtual-channel router.
    * ``routing``: Which route packets take. Default: dimension order, x first, on a grid; d_mod_k on a fat tree;
      dragonfly_minimal on a dragonfly; on any other network shortest_path, or where that can deadlock lash or
      hop_classes, whichever needs fewer virtual channels.
    * ``units``: What a flit carries and how long a cycle takes: only for what is said in bytes, ns or bytes/s, and for
      results in them.
    * ``without``: Faults: cables, routers and terminals that do not work. Default: none.
    """
    return Network(
        "flattened_butterfly",
        k=k,
        n=n,
        terminals_per_router=terminals_per_router,
        barrier_tree=barrier_tree,
        bus=bus,
        channel=channel,
        nic=nic,
        router=router,
        routing=routing,
        units=units,
        without=without,
        **flat,
    )


def Hypercube(
    *,
    dimensions: int,
    terminals_per_router: int = default(1),
    barrier_tree: BarrierTree | Mapping[str, Any] = default(None),
    bus: Bus | Mapping[str, Any] = default(None),
    channel: Channel | Mapping[str, Any] = default(None),
    nic: Nic | Mapping[str, Any] = default(None),
    router: Router | Mapping[str, Any] = default(None),
    routing: Routing | Literal["dimension_order", "duato", "duato_misrouting", "cross_line", "valiant", "romm", "min_adapt", "o1turn", "structured_pool", "shortest_path", "lash", "up_down", "table", "relation", "hop_classes", "graph_valiant", "graph_ugal", "ecmp", "spray", "dragonfly_minimal", "dragonfly_valiant", "dragonfly_ugal", "d_mod_k", "s_mod_k", "random_up", "adaptive_up"] | Mapping[str, Any] = default(None),
    units: Units | Mapping[str, Any] = default(None),
    without: Without | Mapping[str, Any] = default(None),
    **flat: Unpack[FlatOptions],
) -> Network:
    """A hypercube: routers whose numbers differ in one bit are joined.

    * ``dimensions``: Dimensions, n: 1 to 6. There are ``2^n`` routers. For more dimensions use ``hyperx`` with ``size
      = [2, 2, ...]``.
    * ``terminals_per_router``: Terminals at each router, at least 1. Default: 1.
    * ``barrier_tree``: Wires for barriers beside routers and channels. Default: none.
    * ``bus``: A bus beside routers and channels. Default: none.
    * ``channel``: The channels between routers.
    * ``nic``: The network interfaces.
    * ``router``: The input-queued virtual-channel router.
    * ``routing``: Which route packets take. Default: dimension order, x first, on a grid; d_mod_k on a fat tree;
      dragonfly_minimal on a dragonfly; on any other network shortest_path, or where that can deadlock lash or
      hop_classes, whichever needs fewer virtual channels.
    * ``units``: What a flit carries and how long a cycle takes: only for what is said in bytes, ns or bytes/s, and for
      results in them.
    * ``without``: Faults: cables, routers and terminals that do not work. Default: none.
    """
    return Network(
        "hypercube",
        dimensions=dimensions,
        terminals_per_router=terminals_per_router,
        barrier_tree=barrier_tree,
        bus=bus,
        channel=channel,
        nic=nic,
        router=router,
        routing=routing,
        units=units,
        without=without,
        **flat,
    )


def TwistedTorus(
    *size: int | Sequence[int],
    terminals_per_router: int = default(1),
    twist: Sequence[Sequence[int]] = default(None),
    barrier_tree: BarrierTree | Mapping[str, Any] = default(None),
    bus: Bus | Mapping[str, Any] = default(None),
    channel: Channel | Mapping[str, Any] = default(None),
    nic: Nic | Mapping[str, Any] = default(None),
    router: Router | Mapping[str, Any] = default(None),
    routing: Routing | Literal["dimension_order", "duato", "duato_misrouting", "cross_line", "valiant", "romm", "min_adapt", "o1turn", "structured_pool", "shortest_path", "lash", "up_down", "table", "relation", "hop_classes", "graph_valiant", "graph_ugal", "ecmp", "spray", "dragonfly_minimal", "dragonfly_valiant", "dragonfly_ugal", "d_mod_k", "s_mod_k", "random_up", "adaptive_up"] | Mapping[str, Any] = default(None),
    units: Units | Mapping[str, Any] = default(None),
    without: Without | Mapping[str, Any] = default(None),
    **flat: Unpack[FlatOptions],
) -> Network:
    """A twisted torus: channels that wrap in one dimension lead to other coordinates in the others.

    * ``size``: Routers along each dimension: 2 to 6 sizes, each at least 2.
    * ``terminals_per_router``: Terminals at each router, at least 1. Default: 1.
    * ``twist``: One row per dimension, with one number per dimension: row d is added to the coordinates of a channel
      that wraps in dimension d in the plus direction, and subtracted in the minus direction. Entry d of row d is 0,
      and each entry is less than the size of its dimension. Default: where sizes are k and 2k in two or three
      dimensions, wrapping in a dimension of size k adds k in each dimension of size 2k.
    * ``barrier_tree``: Wires for barriers beside routers and channels. Default: none.
    * ``bus``: A bus beside routers and channels. Default: none.
    * ``channel``: The channels between routers.
    * ``nic``: The network interfaces.
    * ``router``: The input-queued virtual-channel router.
    * ``routing``: Which route packets take. Default: dimension order, x first, on a grid; d_mod_k on a fat tree;
      dragonfly_minimal on a dragonfly; on any other network shortest_path, or where that can deadlock lash or
      hop_classes, whichever needs fewer virtual channels.
    * ``units``: What a flit carries and how long a cycle takes: only for what is said in bytes, ns or bytes/s, and for
      results in them.
    * ``without``: Faults: cables, routers and terminals that do not work. Default: none.
    """
    return Network(
        "twisted_torus",
        size=sizes(size),
        terminals_per_router=terminals_per_router,
        twist=twist,
        barrier_tree=barrier_tree,
        bus=bus,
        channel=channel,
        nic=nic,
        router=router,
        routing=routing,
        units=units,
        without=without,
        **flat,
    )


def Circulant(
    *,
    routers: int,
    strides: Sequence[int],
    terminals_per_router: int = default(1),
    barrier_tree: BarrierTree | Mapping[str, Any] = default(None),
    bus: Bus | Mapping[str, Any] = default(None),
    channel: Channel | Mapping[str, Any] = default(None),
    nic: Nic | Mapping[str, Any] = default(None),
    router: Router | Mapping[str, Any] = default(None),
    routing: Routing | Literal["dimension_order", "duato", "duato_misrouting", "cross_line", "valiant", "romm", "min_adapt", "o1turn", "structured_pool", "shortest_path", "lash", "up_down", "table", "relation", "hop_classes", "graph_valiant", "graph_ugal", "ecmp", "spray", "dragonfly_minimal", "dragonfly_valiant", "dragonfly_ugal", "d_mod_k", "s_mod_k", "random_up", "adaptive_up"] | Mapping[str, Any] = default(None),
    units: Units | Mapping[str, Any] = default(None),
    without: Without | Mapping[str, Any] = default(None),
    **flat: Unpack[FlatOptions],
) -> Network:
    """A circulant network: a ring with chords of the same strides at every router.

    * ``routers``: Routers, 2 to 1000000.
    * ``strides``: Strides, all different, each from 1 to half the number of routers: router i has cables to routers i
      + s and i - s for every stride s. Together they must reach every router.
    * ``terminals_per_router``: Terminals at each router, at least 1. Default: 1.
    * ``barrier_tree``: Wires for barriers beside routers and channels. Default: none.
    * ``bus``: A bus beside routers and channels. Default: none.
    * ``channel``: The channels between routers.
    * ``nic``: The network interfaces.
    * ``router``: The input-queued virtual-channel router.
    * ``routing``: Which route packets take. Default: dimension order, x first, on a grid; d_mod_k on a fat tree;
      dragonfly_minimal on a dragonfly; on any other network shortest_path, or where that can deadlock lash or
      hop_classes, whichever needs fewer virtual channels.
    * ``units``: What a flit carries and how long a cycle takes: only for what is said in bytes, ns or bytes/s, and for
      results in them.
    * ``without``: Faults: cables, routers and terminals that do not work. Default: none.
    """
    return Network(
        "circulant",
        routers=routers,
        strides=strides,
        terminals_per_router=terminals_per_router,
        barrier_tree=barrier_tree,
        bus=bus,
        channel=channel,
        nic=nic,
        router=router,
        routing=routing,
        units=units,
        without=without,
        **flat,
    )


def RailOptimized(
    *,
    servers_per_leaf: int,
    cores: int = default(0),
    gpus_per_server: int = default(8),
    leaves_per_rail: int = default(1),
    network_cycles_per_flit: int = default(1),
    network_latency_cycles: int = default(None),
    network_latency_ns: float | str | Sequence[float | str] = default(None),
    pods: int = default(1),
    spines: int = default(0),
    barrier_tree: BarrierTree | Mapping[str, Any] = default(None),
    bus: Bus | Mapping[str, Any] = default(None),
    channel: Channel | Mapping[str, Any] = default(None),
    nic: Nic | Mapping[str, Any] = default(None),
    router: Router | Mapping[str, Any] = default(None),
    routing: Routing | Literal["dimension_order", "duato", "duato_misrouting", "cross_line", "valiant", "romm", "min_adapt", "o1turn", "structured_pool", "shortest_path", "lash", "up_down", "table", "relation", "hop_classes", "graph_valiant", "graph_ugal", "ecmp", "spray", "dragonfly_minimal", "dragonfly_valiant", "dragonfly_ugal", "d_mod_k", "s_mod_k", "random_up", "adaptive_up"] | Mapping[str, Any] = default(None),
    units: Units | Mapping[str, Any] = default(None),
    without: Without | Mapping[str, Any] = default(None),
    **flat: Unpack[FlatOptions],
) -> Network:
    """A rail-optimised cluster: servers of GPUs, a leaf switch for each rail, spine and core switches.

    * ``servers_per_leaf``: Servers below each leaf switch: 1 to 64. They are a unit, with a leaf for each rail.
    * ``cores``: Core switches, each with a cable to each spine. Default: 0; then there is one pod.
    * ``gpus_per_server``: GPUs in each server, each a terminal with a cable to its server's switch and to the leaf of
      its rail: 1 to 64. Default: 8.
    * ``leaves_per_rail``: Leaf switches of each rail in each pod, which is the number of units in it. Default: 1.
    * ``network_cycles_per_flit``: Cycles that a flit takes on each cable outside the servers: how many times slower
      these are than the ones inside. Default: 1.
    * ``network_latency_cycles``: Latency of the cables outside the servers [cycles]. Default: that of all channels.
    * ``network_latency_ns``: ``network_latency_cycles`` in ns; or text with a unit.
    * ``pods``: Pods. Default: 1.
    * ``spines``: Spine switches in each pod, each with a cable to each leaf of the pod. Default: 0, rails that meet in
      the servers alone; then there is one unit.
    * ``barrier_tree``: Wires for barriers beside routers and channels. Default: none.
    * ``bus``: A bus beside routers and channels. Default: none.
    * ``channel``: The channels between routers.
    * ``nic``: The network interfaces.
    * ``router``: The input-queued virtual-channel router.
    * ``routing``: Which route packets take. Default: dimension order, x first, on a grid; d_mod_k on a fat tree;
      dragonfly_minimal on a dragonfly; on any other network shortest_path, or where that can deadlock lash or
      hop_classes, whichever needs fewer virtual channels.
    * ``units``: What a flit carries and how long a cycle takes: only for what is said in bytes, ns or bytes/s, and for
      results in them.
    * ``without``: Faults: cables, routers and terminals that do not work. Default: none.
    """
    return Network(
        "rail_optimized",
        servers_per_leaf=servers_per_leaf,
        cores=cores,
        gpus_per_server=gpus_per_server,
        leaves_per_rail=leaves_per_rail,
        network_cycles_per_flit=network_cycles_per_flit,
        network_latency_cycles=network_latency_cycles,
        network_latency_ns=network_latency_ns,
        pods=pods,
        spines=spines,
        barrier_tree=barrier_tree,
        bus=bus,
        channel=channel,
        nic=nic,
        router=router,
        routing=routing,
        units=units,
        without=without,
        **flat,
    )


def RandomRegular(
    *,
    degree: int,
    routers: int,
    seed: int = default(1),
    terminals_per_router: int = default(1),
    barrier_tree: BarrierTree | Mapping[str, Any] = default(None),
    bus: Bus | Mapping[str, Any] = default(None),
    channel: Channel | Mapping[str, Any] = default(None),
    nic: Nic | Mapping[str, Any] = default(None),
    router: Router | Mapping[str, Any] = default(None),
    routing: Routing | Literal["dimension_order", "duato", "duato_misrouting", "cross_line", "valiant", "romm", "min_adapt", "o1turn", "structured_pool", "shortest_path", "lash", "up_down", "table", "relation", "hop_classes", "graph_valiant", "graph_ugal", "ecmp", "spray", "dragonfly_minimal", "dragonfly_valiant", "dragonfly_ugal", "d_mod_k", "s_mod_k", "random_up", "adaptive_up"] | Mapping[str, Any] = default(None),
    units: Units | Mapping[str, Any] = default(None),
    without: Without | Mapping[str, Any] = default(None),
    **flat: Unpack[FlatOptions],
) -> Network:
    """A random regular network: every router has the same number of cables, to random other routers.

    * ``degree``: Cables of each router: 3 to 63, fewer than there are routers. Routers times degree must be even.
    * ``routers``: Routers, 4 to 1000000.
    * ``seed``: Seed of the draw. Default: 1.
    * ``terminals_per_router``: Terminals at each router, at least 1. Default: 1.
    * ``barrier_tree``: Wires for barriers beside routers and channels. Default: none.
    * ``bus``: A bus beside routers and channels. Default: none.
    * ``channel``: The channels between routers.
    * ``nic``: The network interfaces.
    * ``router``: The input-queued virtual-channel router.
    * ``routing``: Which route packets take. Default: dimension order, x first, on a grid; d_mod_k on a fat tree;
      dragonfly_minimal on a dragonfly; on any other network shortest_path, or where that can deadlock lash or
      hop_classes, whichever needs fewer virtual channels.
    * ``units``: What a flit carries and how long a cycle takes: only for what is said in bytes, ns or bytes/s, and for
      results in them.
    * ``without``: Faults: cables, routers and terminals that do not work. Default: none.
    """
    return Network(
        "random_regular",
        degree=degree,
        routers=routers,
        seed=seed,
        terminals_per_router=terminals_per_router,
        barrier_tree=barrier_tree,
        bus=bus,
        channel=channel,
        nic=nic,
        router=router,
        routing=routing,
        units=units,
        without=without,
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
    routing: Routing | Literal["dimension_order", "duato", "duato_misrouting", "cross_line", "valiant", "romm", "min_adapt", "o1turn", "structured_pool", "shortest_path", "lash", "up_down", "table", "relation", "hop_classes", "graph_valiant", "graph_ugal", "ecmp", "spray", "dragonfly_minimal", "dragonfly_valiant", "dragonfly_ugal", "d_mod_k", "s_mod_k", "random_up", "adaptive_up"] | Mapping[str, Any] = default(None),
    units: Units | Mapping[str, Any] = default(None),
    without: Without | Mapping[str, Any] = default(None),
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
      dragonfly_minimal on a dragonfly; on any other network shortest_path, or where that can deadlock lash or
      hop_classes, whichever needs fewer virtual channels.
    * ``units``: What a flit carries and how long a cycle takes: only for what is said in bytes, ns or bytes/s, and for
      results in them.
    * ``without``: Faults: cables, routers and terminals that do not work. Default: none.
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
        without=without,
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
    routing: Routing | Literal["dimension_order", "duato", "duato_misrouting", "cross_line", "valiant", "romm", "min_adapt", "o1turn", "structured_pool", "shortest_path", "lash", "up_down", "table", "relation", "hop_classes", "graph_valiant", "graph_ugal", "ecmp", "spray", "dragonfly_minimal", "dragonfly_valiant", "dragonfly_ugal", "d_mod_k", "s_mod_k", "random_up", "adaptive_up"] | Mapping[str, Any] = default(None),
    units: Units | Mapping[str, Any] = default(None),
    without: Without | Mapping[str, Any] = default(None),
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
      dragonfly_minimal on a dragonfly; on any other network shortest_path, or where that can deadlock lash or
      hop_classes, whichever needs fewer virtual channels.
    * ``units``: What a flit carries and how long a cycle takes: only for what is said in bytes, ns or bytes/s, and for
      results in them.
    * ``without``: Faults: cables, routers and terminals that do not work. Default: none.
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
        without=without,
        **flat,
    )
