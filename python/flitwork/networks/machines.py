"""``fw.machines``: networks and hosts of machines that papers describe, with what each number was taken from."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from flitwork.base.errors import ConfigError, did_you_mean
from flitwork.networks import constructors
from flitwork.networks.network import Network, sizes
from flitwork.values.placement import List
from flitwork.values.routing import DimensionOrder, StructuredPool
from flitwork.values.tables import Allocator, BarrierTree, Bus, Channel, Host, Nic, Pacing, Router, Service, Units

__all__ = ["Machine", "ap1000", "nsim"]

#: A stage of the router, the switch and the cable [ns].
_STAGE, _SWITCH, _CABLE = 4, 78, 10
#: What a hop takes besides the stages of the router, in parts [ns]: the sum divides, the parts do not.
_HOP = {"additive": [_SWITCH, _CABLE], "inclusive": [_SWITCH - 4 * _STAGE, _CABLE]}
#: A call of MPI, and how long DMA at 16 GB/s takes for the first packet of 2 KiB [ns].
_CALL, _DMA = 200, 128
_MEMORY = "16 GB/s"


@dataclass(frozen=True)
class Machine:
    """A network and what runs its ranks: ``fw.simulate(machine.network, work, host=machine.host)``."""

    network: Network
    host: Host


def nsim(
    *size: int,
    hop: Literal["additive", "inclusive"] = "additive",
    tie: Literal["plus", "parity", "random", "split"] = "plus",
    pacing: Pacing | None = None,
    dma: Literal["overhead", "read"] = "overhead",
    pipeline: Literal["at_front", "pipelined"] = "pipelined",
    classes: Literal["entered", "crossed", "at_dateline"] = "at_dateline",
    nic: Literal["fifo", "interleaved", "own_inputs"] = "fifo",
) -> Machine:
    """The torus of Shibamura et al. 2012 (table 1), in flits of 16 bytes, which are cycles of 4 ns.

    * Links of 4 GB/s. Packets of at most 2 KiB with the header: ``packet_bytes=2048``.
    * Route computation, VC allocation, switch allocation and traversal of 4 ns each.
    * A hop is 16 + 78 (switch) + 10 (cable) = 104 ns, 26 cycles, if the switch latency is added to the four stages
      (``hop="additive"``, our reading), and 88 ns, 22 cycles, if it contains them (``"inclusive"``). The paper says
      neither.
    * Two VCs of 8 KiB (512 flits) a channel, virtual cut-through of whole packets, first come first served, dimension
      order with a dateline. The paper says nothing of half a ring: ``tie``.
    * ``pipeline``: the paper gives route computation and VC allocation as times of 4 ns. We read them as latencies:
      with ``"pipelined"`` they add to the latency of a hop and leave no gap between packets. With ``"at_front"`` a
      packet waits for both when it has come to the front of its buffer: 2 cycles pass between the packets of a message
      (1.6 % at 128 flits).
    * ``classes``: how the dateline divides the two VCs. ``"at_dateline"`` is the textbook's scheme: VC 0 until the
      dateline of a dimension, VC 1 from there on. ``"entered"`` fixes the VC when a packet enters a ring. ``"crossed"``
      needs more than two VCs (table 1 has two); a torus of ``n`` dimensions gets ``n + 1``.
    * ``nic``: which packet the interface sends next. ``"fifo"``: it finishes a message before it takes the next one.
      ``"interleaved"``: the packets of all messages under way take turns. ``"own_inputs"`` is ``"fifo"`` with an input
      of the crossbar for each VC of a port: packets in different VCs of a port can cross the switch in the same cycle,
      to different output ports.
    * A call of MPI takes 200 ns on either side. DMA brings packets to the network interface at 16 GB/s, four times the
      rate of a link, so only the first packet of a message waits for it: 128 ns, if it is one of 2 KiB. With
      ``dma="overhead"`` each send takes so much longer, whatever its length; with ``dma="read"`` the interface reads
      what it sends (``host.read_bytes_per_s``): a shorter first packet takes less, and the rank goes on meanwhile.
      A message of 2 KiB or more that is sent alone takes the same time.

    Ours beside it: the router at the destination works, too, so a message of one packet takes 4 cycles more than its
    ``h`` hops, its flits and its calls do.
    """
    for name, value, values, hint in (
        ("hop", hop, tuple(_HOP), "is the switch latency beside the router's stages?"),
        ("dma", dma, ("overhead", "read"), "who waits for DMA: the rank, or the network interface?"),
        ("pipeline", pipeline, ("at_front", "pipelined"), "do the router's stages begin when a head arrives?"),
        ("classes", classes, ("entered", "crossed", "at_dateline"), "how does the dateline divide the VCs?"),
        ("nic", nic, ("fifo", "interleaved", "own_inputs"), "which packet does the network interface send next?"),
    ):
        if value not in values:
            expected = f"{', '.join(values[:-1])} or {values[-1]}"
            raise ConfigError(name, repr(value), expected, did_you_mean(str(value), values) or hint)
    dims = len(sizes(size))
    vcs = dims + 1 if classes == "crossed" else 2
    turns = Service(order="round_robin") if nic == "interleaved" else Service()
    first_come = Allocator(kind="separable_input_first", arbiter="fcfs")
    network = constructors.Torus(
        *size,
        routing=DimensionOrder(tie=tie, classes=classes),
        router=Router(
            vcs=vcs,
            buffer_bytes="8 KiB",
            switching="virtual_cut_through",
            hold_switch_until_tail=True,
            pipeline=pipeline,
            input_speedup=vcs if nic == "own_inputs" else 1,
            routing_delay_ns=_STAGE,
            vc_alloc_delay_ns=_STAGE,
            sw_alloc_delay_ns=_STAGE,
            st_delay_ns=_STAGE,
            vc_allocator=first_come,
            sw_allocator=first_come,
        ),
        channel=Channel(latency_ns=_HOP[hop]),
        nic=Nic(pacing=pacing, service=turns) if pacing else Nic(service=turns),
        units=Units(flit_bytes=16, channel_bytes_per_s="4 GB/s"),
    )
    if dma == "read":
        return Machine(network, Host(send_overhead_ns=_CALL, receive_overhead_ns=_CALL, read_bytes_per_s=_MEMORY))
    return Machine(network, Host(send_overhead_ns=[_CALL, _DMA], receive_overhead_ns=_CALL))


#: Physical floors of the AP1000: a channel of the T-Net, and the B-Net; cells of the largest machine.
_T_NET, _B_NET, _MOST_CELLS = "25 MB/s", "50 MB/s", 1024
#: A flit of 4 bytes on the T-Net [ns].
_T_CYCLE = 160
#: The longest software time of a message, and the longest arbitration, that the simulator counts in cycles [ns].
_MOST_STARTUP, _MOST_ARBITRATION = 1e12, 10_000 * _T_CYCLE


def ap1000(
    *size: int,
    host: bool = False,
    ways: Literal["shortest", "plus"] = "shortest",
    startup_ns: float = 50_000,
    arbitration_ns: float = 0,
    buffer_flits: int = 16,
    memory_bytes_per_s: float | str | None = None,
) -> Machine:
    """The Fujitsu AP1000 (1991), by default 8 x 2 cells: three networks, each with its operations.

    * T-Net: a torus of channels of 25 MB/s, in flits of 4 bytes, which are cycles of 160 ns. Wormhole, dimension
      order, a structured buffer pool: a set of buffers for each channel of a route. One cycle a hop.
    * B-Net: a bus of 50 MB/s that all cells and the host share, with functions for broadcast, scatter and gather: these
      operations go over it.
    * S-Net: wires for barriers, one cycle from cell to cell in the tree of a barrier (free: we have no source).

    ``size``: columns and rows, at most 1,024 cells. ``host``: whether there is one more rank, the last one, which is
    the host. It has a station of its own on the bus, and stands at cell 0 otherwise: let it send by the bus alone.

    Free parameters, for which we have no source; times become whole cycles:

    * ``startup_ns``: software time of a message, half of it at the sender and half at the receiver.
    * ``arbitration_ns``: what each transfer of the bus takes besides its bytes, rounded to cycles of 160 ns.
    * ``buffer_flits``: each buffer of the pool.
    * ``memory_bytes_per_s``: at which rate a cell reads what it sends by the T-Net; not said: as fast as a channel.
    * ``ways``: rings in the direction of the shortest route, or towards plus alone.

    No message is faster than the hardware: 40 ns a byte on the T-Net, 20 ns on the B-Net.

    Raises :class:`flitwork.ConfigError` for more than two dimensions, or more than 1,024 cells.
    """
    cells = tuple(sizes(size)) or (8, 2)
    if len(cells) > 2 or not all(isinstance(n, int) and n > 0 for n in cells) or math.prod(cells) > _MOST_CELLS:
        expected = f"columns and rows, at most {_MOST_CELLS:,} cells"
        raise ConfigError("size", "x".join(map(str, cells)), expected, "for example ap1000(32, 32)")
    times = (("startup_ns", startup_ns, _MOST_STARTUP), ("arbitration_ns", arbitration_ns, _MOST_ARBITRATION))
    for name, value, most in times:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= most:
            raise ConfigError(name, repr(value), f"a number of ns, 0 to {most:g}", f"for example {name}=1000")
    if not isinstance(host, bool):
        raise ConfigError("host", repr(host), "True or False", "host=True: one more rank, which is the host")
    ranks = math.prod(cells)
    longest = sum(n - 1 if ways == "plus" else n // 2 for n in cells)
    network = constructors.Torus(
        *cells,
        routing=StructuredPool(ways=ways),
        router=Router(vcs=max(longest, 1), buffer_flits=buffer_flits),
        bus=Bus(
            bytes_per_s=_B_NET,
            arbitration_cycles=round(arbitration_ns / _T_CYCLE),
            operations=("broadcast", "scatter", "gather"),
        ),
        barrier_tree=BarrierTree(),
        units=Units(flit_bytes=4, channel_bytes_per_s=_T_NET),
    )
    half = round(startup_ns / 2 / _T_CYCLE)
    software: dict[str, Any] = {"send_overhead_cycles": half, "receive_overhead_cycles": half}
    if memory_bytes_per_s is not None:
        software["read_bytes_per_s"] = memory_bytes_per_s
    if host:
        software["placement"] = List(terminals=[*range(ranks), 0])
    return Machine(network, Host(**software))
