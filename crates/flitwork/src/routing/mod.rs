//! Routing: which channels, and which classes of virtual channels, a packet may take.

mod deadlock;
mod dimension_order;

pub use deadlock::check_deadlock_free;
pub use dimension_order::{DimensionOrder, Header, Tie};
