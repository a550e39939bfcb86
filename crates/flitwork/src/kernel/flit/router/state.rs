//! The state of one router.
//!
//! Flits are not objects. A virtual channel's buffer is a count of flits and a list of packets: the packet at the
//! front, with the number of its flits that have yet to leave, and the packets behind it, linked through the packet
//! pool. That is enough, because flits of one packet enter and leave a virtual channel in order and without others
//! between them. A packet waits behind another in at most one buffer (the one its head is in), so one link a packet
//! suffices.
//!
//! What the allocators read each cycle is kept as sets of VCs that change only when the answer changes: which input VCs
//! wait for an output VC, which output VCs are free, and which input VCs have a flit and a credit for it (`ready`).
//!
//! A VC has a *slot* within its router, `port * VCS + vc`. `PORTS` and `VCS` are known at compile time, at least what
//! the network has. The order of slots is the order of the model's numbers, which is all that round robin needs. Where
//! ports and VCs are kept, `memory.rs` says.

use crate::kernel::flit::router::{Memory, SlotNumber, SlotSet};
use crate::kernel::flit::{Env, VcMask};
use crate::plan::Params;
use crate::topology::Fabric;
use crate::transit::{Layout, NONE};

/// The front packet owns an output VC and may request the switch.
pub(crate) const ACTIVE: u8 = 1;
/// The front packet's head has not left yet.
pub(crate) const HEAD: u8 = 2;
/// The front packet waits for an output VC.
pub(crate) const WAITING: u8 = 4;
/// The front packet is at its destination router.
pub(crate) const EJECTING: u8 = 8;
/// The front packet owns an output VC.
pub(crate) const GRANTED: u8 = 16;
/// The front packet needs a VC of dateline class 1.
pub(crate) const UPPER_CLASS: u8 = 32;
/// The front packet has yet to select an output port.
pub(crate) const UNDECIDED: u8 = 64;

/// An input virtual channel: a quarter of a cache line.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct InputVc {
    /// Packet at the front, or [`NONE`].
    pub front: u32,
    /// Last packet behind it, or [`NONE`]. Its link leads to the first: the list is a ring.
    pub behind_last: u32,
    /// Flits of the front packet that have not left this buffer.
    pub left: u16,
    /// Flits in the buffer, of all packets.
    pub occupied: u16,
    /// Output VC (slot) that the front packet owns, or, while it owns none, the one that was accepted last: there the
    /// pointer of iSLIP of this input VC is. [`FREE`] before the first.
    pub output: u16,
    /// Output port that the front packet wants or uses.
    pub port: u8,
    pub flags: u8,
}

impl InputVc {
    pub(crate) const EMPTY: InputVc =
        InputVc { front: NONE, behind_last: NONE, left: 0, occupied: 0, output: FREE, port: 0, flags: 0 };
}

/// An output virtual channel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutputVc<S> {
    pub credits: u16,
    /// Input VC (slot) that was given it last, and owns it unless it is among the free ones of its port;
    /// [`SlotNumber::NONE`] before the first. It is the pointer of iSLIP: the next search starts behind it.
    granted_last: S,
}

impl<S: SlotNumber> OutputVc<S> {
    /// Without owner.
    pub fn new(credits: u16) -> Self {
        OutputVc { credits, granted_last: S::NONE }
    }

    /// The input VC that it grants first. It may be one past the last: the search then starts over.
    #[inline(always)]
    pub fn grants_first(&self) -> u16 {
        self.granted_last.next() as u16
    }

    /// Gives the output VC to an input VC.
    #[inline(always)]
    pub fn grant(&mut self, slot: usize) {
        self.granted_last = S::of(slot);
    }
}

/// No output VC: none was accepted yet.
const FREE: u16 = u16::MAX;

/// The state of one port, input and output side, but for its input VCs. For ports of 8 VCs it is one cache line, so
/// that a hop touches two of them: that of the port it comes in by, and that of the port it leaves by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Port<M: VcMask> {
    /// Flits sent over the channel behind this output port.
    pub flits: u64,
    /// Output VCs without owner.
    pub free: M,
    /// First input VC at the other end of the channel behind this output port; [`NONE`] where there is no channel.
    pub far_end: u32,
    /// First output VC at the other end of the channel before this input port; [`NONE`] where there is no channel.
    pub feeder: u32,
    /// First injection VC behind this port, among those of all terminals, and the terminal; [`NONE`] where there is
    /// none.
    pub injection: u32,
    pub terminal: u32,
    /// Credits that have come back to this output port, lowest 32 bits; counted only where packets compare ports.
    pub returned: u32,
    /// VC of this input port that the switch sent last; [`SlotNumber::NONE`] before the first, as [`NO_PORT`] below.
    pub sent_last: M::Slot,
    /// Input port that this output port granted last.
    pub granted_last: u8,
    /// Output port that this input port accepted last.
    pub accepted_last: u8,
}

/// No port; the one behind it is the first.
const NO_PORT: u8 = u8::MAX;

impl<M: VcMask> Port<M> {
    /// Without channels, all VCs free.
    pub fn new(vcs: usize) -> Self {
        Port {
            flits: 0,
            free: M::range(0, vcs),
            far_end: NONE,
            feeder: NONE,
            injection: NONE,
            terminal: NONE,
            returned: 0,
            sent_last: M::Slot::NONE,
            granted_last: NO_PORT,
            accepted_last: NO_PORT,
        }
    }
}

/// A router.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
pub(crate) struct Router<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool> {
    // First, so that ports begin where cache lines do.
    pub memory: M::Memory<PORTS, VCS>,
    /// Input VCs that wait for an output VC.
    pub waiting: SlotSet<WORDS>,
    /// Input VCs with a flit and a credit for it.
    pub ready: SlotSet<WORDS>,
    /// Input VCs whose front packet ends a stage of one cycle: from the next cycle on it waits, or, in `allocated`, it
    /// is ready. Empty between cycles. `routed` also has those whose packet selects a port in this cycle, the last of
    /// its routing stage, however long.
    pub routed: SlotSet<WORDS>,
    pub allocated: SlotSet<WORDS>,
    /// Output ports that packets wait for, kept where packets move whole; and those that more than one waits for, kept
    /// for allocation by bit masks alone. Where flits move one by one all that wait are visited anyway.
    pub requested_ports: u64,
    pub contended_ports: u64,
    /// Input VCs, as bits, of which no two want the same output port, where one word holds all VCs; kept by
    /// `vc_allocation/single_flit.rs`.
    pub conflict_free: u64,
}

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Router<M, PORTS, VCS, WORDS, PACKETS>
{
    /// VCs that are numbered in a router.
    #[inline(always)]
    pub fn slots(&self) -> usize {
        self.memory.ports() * VCS
    }

    /// VCs that are numbered in each router of a network.
    #[inline(always)]
    pub fn slots_in(env: &Env) -> usize {
        if M::Memory::<PORTS, VCS>::COUNTED { env.slots } else { PORTS * VCS }
    }

    /// The number of a VC in the network.
    #[inline(always)]
    pub fn number(&self, me: usize, slot: usize) -> usize {
        me * self.slots() + slot
    }

    /// The number of a port in the network.
    #[inline(always)]
    pub fn port_number(&self, me: usize, port: usize) -> usize {
        me * self.memory.ports() + port
    }

    /// Routers of a network from `first_router` on, empty; VCs are numbered from the first of these on.
    pub fn all(p: &Params, fabric: &Fabric, first_router: usize) -> Vec<Self> {
        let port = Port::new(p.vcs);
        let credits = (p.buffer_flits + p.shared_buffer_flits) as u16;
        let empty = Router {
            memory: Memory::new(p.ports, p.vcs, port, OutputVc::new(credits)),
            waiting: SlotSet::EMPTY,
            ready: SlotSet::EMPTY,
            routed: SlotSet::EMPTY,
            allocated: SlotSet::EMPTY,
            requested_ports: 0,
            contended_ports: 0,
            conflict_free: 0,
        };
        let layout = Layout { slots: empty.slots(), vcs: VCS };
        let mut routers = vec![empty; p.routers];
        let first_vc = layout.vc(first_router, 0) as u32;
        for (r, router) in routers.iter_mut().enumerate() {
            let r = (first_router + r) as u32;
            for port in 0..p.network_ports {
                let first = |(far, port): (u32, usize)| {
                    (layout.vc(far as usize, layout.slot(port, 0)) as u32).wrapping_sub(first_vc)
                };
                router.port(port).far_end = fabric.peer(r, port).map_or(NONE, first);
                router.port(port).feeder = fabric.feeder(r, port).map_or(NONE, first);
            }
            let of_nics = fabric.terminals_at(r).flat_map(|terminal| (0..p.nic_ports).map(move |nic| (terminal, nic)));
            for (port, (terminal, nic)) in (fabric.network_ports_of(r)..).zip(of_nics) {
                router.port(port).injection = ((terminal as usize * p.nic_ports + nic) * p.vcs) as u32;
                router.port(port).terminal = terminal;
            }
        }
        routers
    }

    #[inline(always)]
    pub fn slot(port: usize, vc: usize) -> usize {
        port * VCS + vc
    }

    #[inline(always)]
    pub fn port_and_vc(slot: usize) -> (usize, usize) {
        (slot / VCS, slot % VCS)
    }

    #[inline(always)]
    pub fn input(&mut self, slot: usize) -> &mut InputVc {
        self.memory.input(slot)
    }

    #[inline(always)]
    pub fn output(&mut self, slot: usize) -> &mut OutputVc<M::Slot> {
        self.output_of(Self::port_and_vc(slot))
    }

    /// An output VC by its port and its number there, as it is known nearly always: the number of the slot need not be
    /// taken apart.
    #[inline(always)]
    pub fn output_of(&mut self, (port, vc): (usize, usize)) -> &mut OutputVc<M::Slot> {
        self.memory.output(port, vc)
    }

    /// An output VC by its slot, read only.
    #[inline(always)]
    pub fn output_at(&self, slot: usize) -> &OutputVc<M::Slot> {
        let (port, vc) = Self::port_and_vc(slot);
        self.memory.output_at(port, vc)
    }

    /// An input VC by its slot, read only.
    #[inline(always)]
    pub fn input_at(&self, slot: usize) -> &InputVc {
        self.memory.input_at(slot)
    }

    /// The input VC that owns an output VC.
    #[inline(always)]
    pub fn owner(&self, output: usize) -> Option<usize> {
        let (port, vc) = Self::port_and_vc(output);
        let last = self.memory.output_at(port, vc).granted_last;
        // A router in one block has places for more VCs than the network, which are never free.
        (!self.port_at(port).free.contains(vc) && last != SlotNumber::NONE).then(|| last.get())
    }

    #[inline(always)]
    pub fn port(&mut self, port: usize) -> &mut Port<M> {
        self.memory.port(port)
    }

    /// A port, read only.
    #[inline(always)]
    pub fn port_at(&self, port: usize) -> &Port<M> {
        self.memory.port_at(port)
    }

    /// The output VC that an input VC accepts first. It may be one past the last.
    #[inline(always)]
    pub fn accepts_first(&self, slot: usize) -> usize {
        usize::from(self.input_at(slot).output.wrapping_add(1))
    }

    /// The input port that an output port grants first.
    #[inline(always)]
    pub fn port_grants_first(&self, port: usize) -> usize {
        usize::from(self.port_at(port).granted_last.wrapping_add(1)) % PORTS
    }

    /// The output port that an input port accepts first.
    #[inline(always)]
    pub fn port_accepts_first(&self, port: usize) -> usize {
        usize::from(self.port_at(port).accepted_last.wrapping_add(1) & 63)
    }

    /// The VC of an input port that the switch sends first.
    #[inline(always)]
    pub fn sends_first(&self, port: usize) -> usize {
        self.port_at(port).sent_last.next() % VCS
    }

    /// The VCs of an input port that are ready to send to `port`.
    #[inline(always)]
    pub fn sendable(&mut self, in_port: usize, port: usize) -> M {
        let ready: M = self.ready.of_port(in_port, VCS);
        let mut sendable = ready;
        ready.for_each(|vc| {
            if self.input(Self::slot(in_port, vc)).port as usize != port {
                sendable.remove(vc);
            }
        });
        sendable
    }

    /// Whether there is anything to do for the allocators.
    #[inline(always)]
    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.ready.is_empty()
    }
}
