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
    CompiledSize { ports: 8, vcs: 2, router_bytes: 768 },
    CompiledSize { ports: 8, vcs: 4, router_bytes: 1152 },
    CompiledSize { ports: 8, vcs: 8, router_bytes: 1920 },
    CompiledSize { ports: 8, vcs: 16, router_bytes: 3456 },
    CompiledSize { ports: 16, vcs: 8, router_bytes: 3776 },
    CompiledSize { ports: 16, vcs: 16, router_bytes: 6912 },
    CompiledSize { ports: 32, vcs: 8, router_bytes: 7552 },
    CompiledSize { ports: 64, vcs: 8, router_bytes: 15_040 },
    CompiledSize { ports: 32, vcs: 32, router_bytes: 26_176 },
    CompiledSize { ports: 64, vcs: 16, router_bytes: 27_456 },
    CompiledSize { ports: 64, vcs: 32, router_bytes: 52_288 },
    CompiledSize { ports: 64, vcs: 64, router_bytes: 101_952 },
    CompiledSize { ports: 8, vcs: 1024, router_bytes: 199_808 },
    CompiledSize { ports: 16, vcs: 1024, router_bytes: 399_552 },
    CompiledSize { ports: 32, vcs: 1024, router_bytes: 799_040 },
    CompiledSize::LARGEST,
];

impl CompiledSize {
    /// Has room for every valid network.
    const LARGEST: CompiledSize = CompiledSize { ports: 64, vcs: 1024, router_bytes: 1_598_016 };

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
