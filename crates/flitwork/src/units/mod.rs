//! Physical units: exact arithmetic of ns, bytes and bytes/s, and what they are in cycles and flits.
//!
//! Everything here is a fraction of whole numbers: 78 ns are exactly 19.5 cycles of 4 ns, and together with 10 ns they
//! are exactly 22. There is one clock, [`Units`], made once from `network.units`; whoever converts asks it.

mod clock;
mod exact;
mod names;
mod quantity;
mod rate;
#[cfg(test)]
mod spellings;

pub use clock::Units;
pub use exact::Exact;
pub(crate) use exact::{multiplied, nearest, shown, whole};
pub(crate) use quantity::Dimension;
pub use rate::Rate;
