//! The handoff without fences.

#[path = "../../src/kernel/parallel/handoff.rs"]
mod handoff;

mod sync {
    pub use loom::hint::spin_loop;
    pub use loom::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
    pub use loom::sync::{Arc, Mutex};
    pub use loom::thread::{JoinHandle, park, spawn, yield_now};
    pub const SPINS: u32 = 1;
    pub const YIELDS: u32 = 0;

    pub fn fence(_: Ordering) {}
}

pub mod model {
    model!();
}
