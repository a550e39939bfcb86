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
    /// Most ports of a router.
    pub ports: usize,
    /// Most VCs of a port.
    pub vcs: usize,
    /// State of a router [bytes]. Plans estimate memory with it; a test of the kernel compares it with the real size.
    pub router_bytes: usize,
}

/// The first that has room is taken: they ascend in bytes. Up to 64 VCs, there is a size for each power of two of ports and of VCs, so
/// that one port or one VC more takes at most twice the bytes. Three steps are longer: routers with more than 8 ports have room for 8 VCs
/// at least, and ports with more VCs than a word has bits share the last four sizes. From 128 VCs of a router on their numbers take two bytes
/// instead of one: that step is 2.3 at most.
const SIZES: [CompiledSize; 22] = [
    CompiledSize::new(8, 2),
    CompiledSize::new(8, 4),
    CompiledSize::new(8, 8),
    CompiledSize::new(8, 16),
    CompiledSize::new(16, 8),
    CompiledSize::new(8, 32),
    CompiledSize::new(16, 16),
    CompiledSize::new(32, 8),
    CompiledSize::new(8, 64),
    CompiledSize::new(16, 32),
    CompiledSize::new(32, 16),
    CompiledSize::new(64, 8),
    CompiledSize::new(16, 64),
    CompiledSize::new(32, 32),
    CompiledSize::new(64, 16),
    CompiledSize::new(32, 64),
    CompiledSize::new(64, 32),
    CompiledSize::new(64, 64),
    CompiledSize::new(8, 1024),
    CompiledSize::new(16, 1024),
    CompiledSize::new(32, 1024),
    CompiledSize::LARGEST,
];

impl CompiledSize {
    const fn new(ports: usize, vcs: usize) -> Self {
        let slots = ports * vcs;
        // Four sets of slots, with a word more where there are many; two of ports.
        let words = slots.div_ceil(64);
        let sets = 4 * 8 * (if words > 4 { words + 1 } else { words }) + 16;
        // Numbers of slots take one byte in small routers. Behind a port: two pointers of each VC, its owner and its credits.
        let (set, number) = match (vcs, slots) {
            (..=8, ..=128) => (1, 1),
            (..=16, ..=128) => (2, 1),
            (..=64, _) => (8, 2),
            _ => (80, 2),
        };
        let port: usize = 22 + set + number + vcs * (2 + 3 * number);
        let bytes = ports * port.next_multiple_of(8) + slots * 16 + sets;
        CompiledSize { ports, vcs, router_bytes: bytes.next_multiple_of(64) }
    }

    /// Has room for every valid network.
    const LARGEST: CompiledSize = CompiledSize::new(64, 1024);

    /// The size for routers of so many ports and VCs a port.
    pub fn for_router(ports: usize, vcs: usize) -> CompiledSize {
        SIZES.into_iter().find(|size| ports <= size.ports && vcs <= size.vcs).unwrap_or(CompiledSize::LARGEST)
    }

    #[cfg(test)]
    pub fn all() -> &'static [CompiledSize] {
        &SIZES
    }

    /// Places for VCs in a router.
    pub fn slots(&self) -> usize {
        self.ports * self.vcs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::MAX_VCS;

    fn bytes(ports: usize, vcs: usize) -> usize {
        CompiledSize::for_router(ports, vcs).router_bytes
    }

    #[test]
    fn sizes_ascend_so_that_the_first_with_room_is_the_smallest() {
        let bytes: Vec<usize> = CompiledSize::all().iter().map(|size| size.router_bytes).collect();
        assert!(bytes.windows(2).all(|pair| pair[0] < pair[1]), "{bytes:?}");
    }

    /// How many times the bytes a router takes with one port or one VC more, at most.
    fn longest_step(ports: usize, vcs: usize) -> f64 {
        match (ports, vcs) {
            (8, ..=2) => 5.0,
            (8, ..=4) => 3.34,
            // From 128 VCs of a router on their numbers take two bytes instead of one.
            _ if CompiledSize::for_router(ports, vcs).slots() == 128 => 2.31,
            (_, 64) => 15.8,
            _ => 2.0,
        }
    }

    #[test]
    fn one_port_or_one_virtual_channel_more_takes_at_most_twice_the_memory_but_for_named_steps() {
        for (ports, vcs) in (1..=64).flat_map(|ports| (1..=MAX_VCS as usize).map(move |vcs| (ports, vcs))) {
            let (here, size) = (bytes(ports, vcs), CompiledSize::for_router(ports, vcs));
            assert!(size.ports >= ports && size.vcs >= vcs, "{ports} ports, {vcs} VCs: {size:?}");
            let most = here as f64 * longest_step(ports, vcs);
            let wider = bytes((ports + 1).min(64), vcs) as f64;
            let deeper = bytes(ports, (vcs + 1).min(MAX_VCS as usize)) as f64;
            assert!(wider <= most, "{ports} ports and one more, {vcs} VCs: {} times", wider / here as f64);
            assert!(deeper <= most, "{ports} ports, {vcs} VCs and one more: {} times", deeper / here as f64);
        }
    }

    #[test]
    fn a_router_gets_the_smallest_size_with_room() {
        let size = |ports, vcs| (CompiledSize::for_router(ports, vcs).ports, CompiledSize::for_router(ports, vcs).vcs);
        assert_eq!((size(17, 4), size(36, 8), size(64, 9), size(20, 20)), ((32, 8), (64, 8), (64, 16), (32, 32)));
        assert_eq!((size(5, 3), size(16, 16), size(9, 65), size(33, 577)), ((8, 4), (16, 16), (16, 1024), (64, 1024)));
        assert_eq!((size(8, 17), size(8, 33), size(9, 17), size(16, 33)), ((8, 32), (8, 64), (16, 32), (16, 64)));
        assert_eq!((size(17, 9), size(17, 33)), ((32, 16), (32, 64)));
    }
}
