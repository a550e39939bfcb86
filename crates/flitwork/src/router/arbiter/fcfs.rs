//! First come, first served: the packet whose head arrived at this router first.

use super::Waiting;

/// The arrival; of the same cycle the lower port, then the lower virtual channel.
pub(super) fn priority(packet: &Waiting) -> u128 {
    u128::from(packet.arrived) << 64 | u128::from(packet.slot)
}
