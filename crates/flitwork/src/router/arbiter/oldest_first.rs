//! Oldest first: the packet that was created first, wherever it came from.
//!
//! D. Abts and D. Weisser, "Age-based packet arbitration in large-radix k-ary n-cubes", SC'07, 2007: it makes a network
//! globally fair.

use super::Waiting;

/// The creation; of the same cycle the lower source, then the lower number there.
pub(super) fn priority(packet: &Waiting) -> u128 {
    u128::from(packet.created) << 64 | u128::from(packet.src) << 32 | u128::from(packet.sequence)
}
