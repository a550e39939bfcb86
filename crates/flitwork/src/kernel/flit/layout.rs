//! How VCs are numbered across routers, for those who do not know the kernel's compile-time sizes.

use super::state::Router;
use crate::plan::Params;

/// Strides of VC numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Slots of a router.
    pub slots: usize,
    /// Slots of a port.
    pub vcs: usize,
}

/// Sizes that kernels are compiled for: (ports, VCs a port). The first that has room is taken.
pub(super) const SIZES: [(usize, usize); 7] = [(8, 2), (8, 8), (8, 16), (16, 8), (64, 64), (8, 1024), (64, 1024)];

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

    /// Slots of a router of this network.
    pub fn slots_of(p: &Params) -> usize {
        let (ports, vcs) = sizes(p);
        ports * vcs
    }

    /// Bytes of a router's state.
    pub fn router_bytes(p: &Params) -> usize {
        match sizes(p) {
            (8, 2) => size_of::<Router<u64, 8, 16, 1>>(),
            (8, 8) => size_of::<Router<u64, 8, 64, 1>>(),
            (8, 16) => size_of::<Router<u64, 8, 128, 2>>(),
            (16, 8) => size_of::<Router<u64, 16, 128, 2>>(),
            (64, 64) => size_of::<Router<u64, 64, 4096, 64>>(),
            (8, _) => size_of::<Router<[u64; 10], 8, 8192, 128>>(),
            _ => size_of::<Router<[u64; 10], 64, 65_536, 1024>>(),
        }
    }
}

/// The compiled size for a network.
pub(super) fn sizes(p: &Params) -> (usize, usize) {
    let fits = SIZES.iter().find(|&&(ports, vcs)| p.ports <= ports && p.vcs <= vcs);
    *fits.unwrap_or(&SIZES[SIZES.len() - 1])
}
