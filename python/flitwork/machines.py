"""``fw.machines``: networks and hosts of machines that papers describe, with what each number was taken from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from flitwork import networks
from flitwork.errors import ConfigError
from flitwork.network import Network
from flitwork.routing import DimensionOrder
from flitwork.values import Allocator, Channel, Host, Nic, Pacing, Router, Units

__all__ = ["Machine", "nsim"]

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
) -> Machine:
    """The torus of Shibamura et al. 2012 (table 1), in flits of 16 bytes, which are cycles of 4 ns.

    * Links of 4 GB/s. Packets of at most 2 KiB with the header: ``packet_bytes=2048``.
    * Route computation, VC allocation, switch allocation and traversal of 4 ns each.
    * A hop is 16 + 78 (switch) + 10 (cable) = 104 ns, 26 cycles, if the switch latency is added to the four stages
      (``hop="additive"``, our reading), and 88 ns, 22 cycles, if it contains them (``"inclusive"``). The paper says
      neither.
    * Two VCs of 8 KiB (512 flits) a channel, virtual cut-through of whole packets, first come first served, dimension
      order with a dateline. The paper says nothing of half a ring: ``tie``.
    * A call of MPI takes 200 ns on either side. DMA brings packets to the network interface at 16 GB/s, four times the
      rate of a link, so only the first packet of a message waits for it: 128 ns, if it is one of 2 KiB. With
      ``dma="overhead"`` each send takes so much longer, whatever its length; with ``dma="read"`` the interface reads
      what it sends (``host.read_bytes_per_s``): a shorter first packet takes less, and the rank goes on meanwhile.
      A message of 2 KiB or more that is sent alone takes the same time.

    Ours beside it: the router at the destination works, too, so a message of one packet takes 4 cycles more than its
    ``h`` hops, its flits and its calls do. And a class has one VC, which is allocated anew for each packet: between the
    packets of a message 2 cycles pass (1.6 % at 128 flits).
    """
    if hop not in _HOP:
        raise ConfigError(
            "hop", repr(hop), "additive or inclusive", "is the switch latency beside the router's stages?"
        )
    if dma not in ("overhead", "read"):
        raise ConfigError(
            "dma", repr(dma), "overhead or read", "who waits for DMA: the rank, or the network interface?"
        )
    first_come = Allocator(kind="separable_input_first", arbiter="fcfs")
    network = networks.Torus(
        *size,
        routing=DimensionOrder(tie=tie),
        router=Router(
            vcs=2,
            buffer_bytes="8 KiB",
            switching="virtual_cut_through",
            hold_switch_until_tail=True,
            routing_delay_ns=_STAGE,
            vc_alloc_delay_ns=_STAGE,
            sw_alloc_delay_ns=_STAGE,
            st_delay_ns=_STAGE,
            vc_allocator=first_come,
            sw_allocator=first_come,
        ),
        channel=Channel(latency_ns=_HOP[hop]),
        nic=Nic(pacing=pacing) if pacing else Nic(),
        units=Units(flit_bytes=16, channel_bytes_per_s="4 GB/s"),
    )
    if dma == "read":
        return Machine(network, Host(send_overhead_ns=_CALL, receive_overhead_ns=_CALL, read_bytes_per_s=_MEMORY))
    return Machine(network, Host(send_overhead_ns=[_CALL, _DMA], receive_overhead_ns=_CALL))
