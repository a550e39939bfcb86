//! The handoff with a gate that orders nothing.

#[path = "../../src/kernel/parallel/handoff.rs"]
mod handoff;

mod sync {
    pub use loom::hint::spin_loop;
    pub use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
    pub use loom::sync::{Arc, Mutex};
    pub use loom::thread::{JoinHandle, park, spawn, yield_now};
    pub const SPINS: u32 = 1;
    pub const YIELDS: u32 = 0;

    /// Of the three atomics only the gate is one of these.
    pub struct AtomicU64(loom::sync::atomic::AtomicU64);

    impl AtomicU64 {
        pub fn new(value: u64) -> Self {
            AtomicU64(loom::sync::atomic::AtomicU64::new(value))
        }

        pub fn load(&self, _: Ordering) -> u64 {
            self.0.load(Ordering::Relaxed)
        }

        pub fn fetch_add(&self, value: u64, _: Ordering) -> u64 {
            self.0.fetch_add(value, Ordering::Relaxed)
        }
    }
}

pub mod model {
    model!();
}
