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

#: A flit of 16 bytes on a link of 4 GB/s.
_FLIT_BYTES, _CYCLE_NS = 16, 4
#: Wire of a hop, so that it and the 4 cycles of the router are 26 cycles (104 ns) or 22 (88 ns).
_WIRE_CYCLES = {"additive": 22, "inclusive": 18}
#: 200 ns.
_CALL_CYCLES = 50


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
) -> Machine:
    """The torus of Shibamura et al. 2012 (table 1), in cycles of 4 ns and flits of 16 bytes.

    * Links of 4 GB/s: 1 flit/cycle. Packets of at most 2 KiB with the header: ``packet_flits=128``.
    * Route computation, VC allocation, switch allocation and traversal of 4 ns each: 1 cycle each.
    * A hop is 16 + 78 (switch) + 10 (cable) = 104 ns, 26 cycles, if the switch latency is added to the four stages
      (``hop="additive"``, our reading), and 88 ns, 22 cycles, if it contains them (``"inclusive"``). The paper says
      neither.
    * Two VCs of 8 KiB (512 flits) a channel, virtual cut-through of whole packets, first come first served, dimension
      order with a dateline. The paper says nothing of half a ring: ``tie``.
    * A call of MPI takes 200 ns (50 cycles) on either side; a send 32 cycles more, in which DMA at 16 GB/s brings the
      first packet to the network interface.

    Ours beside it: the router at the destination works, too, so a message of one packet takes 4 cycles more than its
    ``h`` hops, its flits and its calls do. And a class has one VC, which is allocated anew for each packet: between the
    packets of a message 2 cycles pass (1.6 % at 128 flits).
    """
    if hop not in _WIRE_CYCLES:
        raise ConfigError(
            "hop", repr(hop), "additive or inclusive", "is the switch latency beside the router's stages?"
        )
    first_come = Allocator(kind="separable_input_first", arbiter="fcfs")
    network = networks.Torus(
        *size,
        routing=DimensionOrder(tie=tie),
        router=Router(
            vcs=2,
            buffer_flits=512,
            switching="virtual_cut_through",
            hold_switch_until_tail=True,
            routing_delay_cycles=1,
            vc_alloc_delay_cycles=1,
            sw_alloc_delay_cycles=1,
            st_delay_cycles=1,
            vc_allocator=first_come,
            sw_allocator=first_come,
        ),
        channel=Channel(latency_cycles=_WIRE_CYCLES[hop]),
        nic=Nic(pacing=pacing) if pacing else Nic(),
        units=Units(flit_bytes=_FLIT_BYTES, cycle_ns=_CYCLE_NS),
    )
    return Machine(network, Host(send_overhead_cycles=_CALL_CYCLES + 32, receive_overhead_cycles=_CALL_CYCLES))
