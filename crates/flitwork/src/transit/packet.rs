//! The packets in the network: a pool of fixed records, reused.
//!
//! A record has two halves in two arrays. A hop reads and writes one of them, [`Packet`]; the other, [`Origin`], is
//! asked at the ends of a packet's way and by few rules between them. So twice as many packets fit the part of a cache
//! that they get.

use super::NONE;
use crate::measure::{Arrival, Origin};
use crate::routing::{Head, Header, Trip};
use crate::unchecked::{at, at_mut};

/// A packet under way, as far as routers ask for it; half a cache line.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(32))]
pub(crate) struct Packet {
    /// The router that it walks to: its coordinates, packed in routing order (see `RouteTable`); where the route is
    /// decided hop by hop, its number, and above it the number that the routing gave the packet.
    pub key: u64,
    /// The packet behind it in the buffer in which its head waits.
    pub next: u32,
    /// Cycle in which its head arrived at the router where it is now, lowest 32 bits; kept where an arbiter asks for
    /// it.
    pub here: u32,
    /// Destination terminal.
    pub dst: u32,
    /// Length \[flits].
    pub flits: u16,
    /// Channels between routers on its route; where the route is decided hop by hop, those that it has taken.
    pub hops: u16,
    /// Directions, one bit a dimension.
    pub minus: u8,
    /// Dateline classes, one bit a dimension.
    pub wraps: u8,
    /// Datelines crossed, mode and detours left: see `Trip`.
    pub crossed: u8,
    pub mode: u8,
    pub misroutes: u8,
    /// Injection port of its NIC that sends it.
    pub injection_port: u8,
    /// Whether the packet belongs to the background.
    pub background: bool,
}

impl Packet {
    /// What stands for a router and the number that the routing gives a packet.
    #[inline(always)]
    pub fn key(router: u64, label: u32) -> u64 {
        router | u64::from(label) << 32
    }

    /// The number of the router that it walks to, and the number of its own, where the route is decided hop by hop.
    #[inline(always)]
    pub fn walks_to(&self) -> (u32, u32) {
        (self.key as u32, (self.key >> 32) as u32)
    }

    /// The head of the packet, where the route is decided hop by hop.
    #[inline(always)]
    pub fn head(&self) -> Head {
        let (to, label) = self.walks_to();
        Head { to, label, trip: self.trip() }
    }

    /// Makes it carry `head`.
    #[inline(always)]
    pub fn set_head(&mut self, head: Head) {
        self.key = Packet::key(u64::from(head.to), head.label);
        self.set_trip(head.trip);
    }

    /// What the routing has it carry.
    pub fn trip(&self) -> Trip {
        let header = Header { minus: self.minus, wraps: self.wraps };
        Trip { header, crossed: self.crossed, mode: self.mode, misroutes: self.misroutes }
    }

    /// Makes it carry `trip`.
    pub fn set_trip(&mut self, trip: Trip) {
        (self.minus, self.wraps) = (trip.header.minus, trip.header.wraps);
        (self.crossed, self.mode, self.misroutes) = (trip.crossed, trip.mode, trip.misroutes);
    }
}

/// Records in use and free ones.
#[derive(Debug)]
pub(crate) struct PacketPool {
    packets: Vec<Packet>,
    /// As many.
    origins: Vec<Origin>,
    free: u32,
    live: usize,
}

impl PacketPool {
    /// Bytes of a record.
    pub const RECORD_BYTES: usize = size_of::<Packet>() + size_of::<Origin>();

    /// A pool with room for `capacity` packets before it has to grow.
    pub fn new(capacity: usize) -> Self {
        let (packets, origins) = (Vec::with_capacity(capacity), Vec::with_capacity(capacity));
        PacketPool { packets, origins, free: NONE, live: 0 }
    }

    /// Stores a packet.
    #[inline]
    pub fn insert(&mut self, packet: Packet, origin: Origin) -> u32 {
        self.live += 1;
        if self.free == NONE {
            self.packets.push(packet);
            self.origins.push(origin);
            return self.packets.len() as u32 - 1;
        }
        let id = self.free;
        let place = at_mut(&mut self.packets, id as usize);
        self.free = place.next;
        *place = packet;
        *self.origin_mut(id) = origin;
        id
    }

    /// Gives a record back.
    #[inline]
    pub fn remove(&mut self, id: u32) {
        self.live -= 1;
        at_mut(&mut self.packets, id as usize).next = self.free;
        self.free = id;
    }

    /// Packets in use.
    pub fn live(&self) -> usize {
        self.live
    }

    /// Where a packet comes from.
    #[inline(always)]
    pub fn origin(&self, id: u32) -> &Origin {
        at(&self.origins, id as usize)
    }

    /// The origin of a packet, to be changed.
    #[inline(always)]
    pub fn origin_mut(&mut self, id: u32) -> &mut Origin {
        at_mut(&mut self.origins, id as usize)
    }

    /// A packet that its route changes, with its origin.
    #[inline(always)]
    pub fn with_origin(&mut self, id: u32) -> (&mut Packet, &Origin) {
        (at_mut(&mut self.packets, id as usize), at(&self.origins, id as usize))
    }

    /// What the log wants to know when the tail of a packet arrives.
    #[inline]
    pub fn arrival(&self, id: u32) -> Arrival {
        let packet = &self[id];
        Arrival {
            origin: *self.origin(id),
            dst: packet.dst,
            hops: u32::from(packet.hops),
            flits: u32::from(packet.flits),
            background: packet.background,
        }
    }
}

impl std::ops::Index<u32> for PacketPool {
    type Output = Packet;
    #[inline(always)]
    fn index(&self, id: u32) -> &Packet {
        at(&self.packets, id as usize)
    }
}

impl std::ops::IndexMut<u32> for PacketPool {
    #[inline(always)]
    fn index_mut(&mut self, id: u32) -> &mut Packet {
        at_mut(&mut self.packets, id as usize)
    }
}
