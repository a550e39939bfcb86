//! How VCs are numbered across routers, and the sizes of routers that kernels are compiled for.

/// Strides of VC numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Slots of a router.
    pub slots: usize,
    /// Slots of a port.
    pub vcs: usize,
}

impl Layout {
    /// Number of a VC in its router.
    #[inline(always)]
    pub fn slot(&self, port: usize, vc: usize) -> usize {
        port * self.vcs + vc
    }

    /// Number of a VC in the network.
    #[inline(always)]
    pub fn vc(&self, router: usize, slot: usize) -> usize {
        router * self.slots + slot
    }
}

/// A size that the flit kernel is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CompiledSize {
    /// Places for ports.
    pub ports: usize,
    /// Distance of ports in the numbers of VCs.
    pub vcs: usize,
    /// State of a router \[bytes]. Plans estimate memory with it; a test of the kernel compares it with the real size.
    pub router_bytes: usize,
    /// Ports, and the places for their VCs, are counted when the network is made; the kernel is compiled for the
    /// distance alone.
    pub counted: bool,
}

/// Development builds and unit tests are compiled for few of the sizes below; the tests beside the oracle for all.
const FEW: bool = cfg!(any(test, feature = "few-sizes"));

/// Routers of up to 128 VCs are compiled for, with a size for each power of two of ports and of VCs. The first that has
/// room is taken: they ascend in bytes. A router of the next size has at most twice the bytes. The tests beside the
/// oracle name a router for each of these sizes and of the distances below.
const SIZES: [CompiledSize; 10] = [
    CompiledSize::new(8, 2),
    CompiledSize::new(8, 4),
    CompiledSize::new(16, 2),
    CompiledSize::new(8, 8),
    CompiledSize::new(16, 4),
    CompiledSize::new(32, 2),
    CompiledSize::new(8, 16),
    CompiledSize::new(16, 8),
    CompiledSize::new(32, 4),
    CompiledSize::new(64, 2),
];

/// Distances of ports in the numbers of VCs of larger routers, up to the most VCs that a port may have.
const DISTANCES: [usize; 8] = [8, 16, 32, 64, 128, 256, 512, 640];

impl CompiledSize {
    /// A router in one block.
    const fn new(ports: usize, vcs: usize) -> Self {
        // A set of the VCs of a port takes one byte, or two. Behind a port: the credits of each VC and its pointer,
        // with a byte between VCs.
        let port: usize = 31 + vcs.div_ceil(8) + vcs * 4;
        // Four sets of slots; two of ports; and one word of slots.
        let sets = 4 * 8 * (ports * vcs).div_ceil(64) + 24;
        let bytes = ports * port.next_multiple_of(8) + ports * vcs * 16 + sets;
        CompiledSize { ports, vcs, router_bytes: bytes.next_multiple_of(64), counted: false }
    }

    /// A router with places for as many ports and VCs as it has. The sets of its slots have room for 64 ports.
    pub fn counted(ports: usize, vcs: usize) -> Self {
        CompiledSize::counted_of(ports, vcs, FEW)
    }

    fn counted_of(ports: usize, vcs: usize, few: bool) -> Self {
        let compiled = |distance: usize| !few || matches!(distance, 16 | 640);
        let room = DISTANCES.into_iter().find(|&distance| vcs <= distance && compiled(distance));
        let distance = room.unwrap_or(DISTANCES[DISTANCES.len() - 1]);
        // Numbers of slots take two bytes.
        let port = (32 + 8 * distance.div_ceil(64)) + vcs * (16 + 4);
        let sets = 4 * 8 * (distance + 1) + 24;
        let block = (sets + 9 * 8).next_multiple_of(64);
        CompiledSize { ports, vcs: distance, router_bytes: block + ports * port, counted: true }
    }

    /// The size for routers of so many ports and VCs a port.
    pub fn for_router(ports: usize, vcs: usize) -> CompiledSize {
        CompiledSize::of(ports, vcs, FEW)
    }

    fn of(ports: usize, vcs: usize, few: bool) -> CompiledSize {
        let compiled = |size: &CompiledSize| !few || (size.ports, size.vcs) == (8, 8);
        let room = |size: &CompiledSize| ports <= size.ports && vcs <= size.vcs;
        let within = SIZES.into_iter().find(|size| room(size) && compiled(size));
        within.unwrap_or_else(|| CompiledSize::counted_of(ports, vcs, few))
    }

    /// The size for such routers where the kernel is compiled for all.
    #[cfg(test)]
    pub fn of_all(ports: usize, vcs: usize) -> CompiledSize {
        CompiledSize::of(ports, vcs, false)
    }

    #[cfg(test)]
    pub fn all() -> &'static [CompiledSize] {
        &SIZES
    }

    /// VCs that are numbered in a router.
    pub fn slots(&self) -> usize {
        self.ports * self.vcs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::MAX_VCS;

    fn bytes(ports: usize, vcs: usize) -> usize {
        CompiledSize::of_all(ports, vcs).router_bytes
    }

    #[test]
    fn sizes_ascend_so_that_the_first_with_room_is_the_smallest() {
        let bytes: Vec<usize> = CompiledSize::all().iter().map(|size| size.router_bytes).collect();
        assert!(bytes.windows(2).all(|pair| pair[0] < pair[1]), "{bytes:?}");
    }

    #[test]
    fn one_port_or_one_virtual_channel_more_takes_at_most_twice_the_memory() {
        let most_vcs = MAX_VCS as usize;
        for (ports, vcs) in (1..=64).flat_map(|ports| (1..=most_vcs).map(move |vcs| (ports, vcs))) {
            let (here, size) = (bytes(ports, vcs), CompiledSize::of_all(ports, vcs));
            assert!(size.ports >= ports && size.vcs >= vcs, "{ports} ports, {vcs} VCs: {size:?}");
            let (wider, deeper) = (bytes((ports + 1).min(64), vcs), bytes(ports, (vcs + 1).min(most_vcs)));
            assert!(wider <= 2 * here, "{ports} ports and one more, {vcs} VCs: {wider} bytes after {here}");
            assert!(deeper <= 2 * here, "{ports} ports, {vcs} VCs and one more: {deeper} bytes after {here}");
        }
    }

    #[test]
    fn a_router_gets_the_smallest_size_with_room() {
        let size = |ports, vcs| {
            let size = CompiledSize::of_all(ports, vcs);
            (size.counted, size.ports, size.vcs)
        };
        let within = [size(5, 3), size(24, 1), size(16, 8), size(9, 2), size(8, 16), size(64, 1)];
        let sizes = [(8, 4), (32, 2), (16, 8), (16, 2), (8, 16), (64, 2)];
        assert_eq!(within, sizes.map(|(ports, vcs)| (false, ports, vcs)));
        let counted = [size(36, 8), size(64, 9), size(20, 20), size(9, 65), size(33, 577), size(2, 640), size(8, 17)];
        let sizes = [(36, 8), (64, 16), (20, 32), (9, 128), (33, 640), (2, 640), (8, 32)];
        assert_eq!(counted, sizes.map(|(ports, vcs)| (true, ports, vcs)));
    }
}
