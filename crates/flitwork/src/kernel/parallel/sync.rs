//! What [`super::handoff`] takes from the standard library; its model takes the same from loom.

pub use std::hint::spin_loop;
pub use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
pub use std::sync::{Arc, Mutex};
pub use std::thread::{JoinHandle, park, spawn, yield_now};

/// How often a thread looks before it lets others go first, and how often then before it sleeps.
pub const SPINS: u32 = 1000;
pub const YIELDS: u32 = 100;
