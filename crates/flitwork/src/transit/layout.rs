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

/// The first that has room is taken. Each has at most twice the bytes of the one before.
const SIZES: [CompiledSize; 16] = [
    CompiledSize::new(8, 2),
    CompiledSize::new(8, 4),
    CompiledSize::new(8, 8),
    CompiledSize::new(8, 16),
    CompiledSize::new(16, 8),
    CompiledSize::new(16, 16),
    CompiledSize::new(32, 8),
    CompiledSize::new(64, 8),
    CompiledSize::new(32, 32),
    CompiledSize::new(64, 16),
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
        // Three sets of slots, with a word more where there are many; two of ports; ports with a set of VCs each; and what VCs have.
        let words = slots.div_ceil(64);
        let sets = 3 * 8 * (if words > 4 { words + 1 } else { words }) + 16;
        let port = if vcs <= 64 { 32 + 8 } else { 128 + 8 };
        let bytes = sets + ports * port + slots * 24;
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

    #[test]
    fn memory_follows_ports_and_virtual_channels_without_a_leap() {
        let bytes: Vec<usize> = CompiledSize::all().iter().map(|size| size.router_bytes).collect();
        assert!(bytes.windows(2).all(|pair| pair[0] < pair[1] && pair[1] <= 2 * pair[0]), "{bytes:?}");
        let size = |ports, vcs| (CompiledSize::for_router(ports, vcs).ports, CompiledSize::for_router(ports, vcs).vcs);
        assert_eq!((size(17, 4), size(36, 8), size(64, 9), size(20, 20)), ((32, 8), (64, 8), (64, 16), (32, 32)));
        assert_eq!((size(5, 3), size(16, 16), size(9, 65), size(33, 577)), ((8, 4), (16, 16), (16, 1024), (64, 1024)));
    }
}
