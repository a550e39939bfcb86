//! Credits that come back one a cycle: how many there are is a subtraction.

/// The credits of one VC, as of whole packets: `all` of them, the last of which comes back in cycle `complete`, and
/// each other one a cycle before the next.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Credits {
    pub all: u16,
    pub complete: u64,
}

impl Credits {
    /// Credits that have come back by cycle `now`.
    #[inline(always)]
    pub fn by(self, now: u64) -> u16 {
        self.all - self.complete.saturating_sub(now) as u16
    }

    /// The cycle from which on there are `needed`, if they are coming.
    #[inline(always)]
    pub fn enough_from(self, needed: u16) -> Option<u64> {
        (self.all >= needed).then(|| self.complete.saturating_sub(u64::from(self.all - needed)))
    }
}

/// The cycle in which the last of `flits` credits comes back, the first of which does so in cycle `now`.
pub(super) fn complete_from(now: u64, flits: u16) -> u64 {
    now + u64::from(flits) - 1
}
