//! Parts of the input-queued router that stand on their own: arbiters and allocators.

mod allocator;
mod arbiter;
mod options;

pub(crate) use allocator::{Allocator, Request, YIELDS};
pub use arbiter::ArbiterKind;
pub(crate) use arbiter::{ARBITERS, Priority, Waiting};
pub(crate) use options::ALLOCATORS;
pub use options::{AllocatorKind, AllocatorSpec, IterationCount};
