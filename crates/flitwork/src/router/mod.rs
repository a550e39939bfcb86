//! Parts of the input-queued router that stand on their own: arbiters and allocators.

mod allocator;
mod arbiter;

pub(crate) use allocator::{Allocator, Request};
