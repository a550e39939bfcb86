//! What the file of a pattern answers.

use super::Destinations;
use crate::error::Result;
use crate::mix::draw_below;
use crate::topology::Fabric;
use crate::traffic::{Attached, terminal_rng};
use rand_pcg::rand_core::Rng;

/// The network that a pattern is resolved for.
pub(super) struct Context<'a> {
    pub fabric: &'a Fabric,
    /// Seed of the run.
    pub seed: u64,
}

impl Context<'_> {
    /// Terminals of the network.
    pub fn terminals(&self) -> u32 {
        self.fabric.terminals()
    }

    /// Random numbers for what is drawn once for the run, apart from those of the terminals.
    pub fn rng(&self) -> impl Rng + use<> {
        terminal_rng(self.seed, u64::MAX)
    }

    /// The terminals in random order (Fisher and Yates).
    pub fn shuffled(&self) -> Vec<u32> {
        let mut rng = self.rng();
        let mut order: Vec<u32> = (0..self.terminals()).collect();
        for i in (1..order.len()).rev() {
            order.swap(i, draw_below(rng.next_u64(), i as u64 + 1) as usize);
        }
        order
    }
}

/// What users write of a pattern, and what it means.
pub(super) trait Rule {
    /// What the pattern needs and this network does not have, such as "a square, not 3 x 5"; `None` where it is
    /// defined.
    fn lacks(&self, _on: &Context<'_>) -> Option<String> {
        None
    }

    /// The destinations on a network for which it is defined.
    ///
    /// # Errors
    /// [`crate::Error::Config`] with the path of a field that makes no sense.
    fn destinations(&self, on: &Context<'_>) -> Result<Destinations>;

    /// Whether every terminal is the destination of exactly one: the conformance test holds it to that.
    fn is_permutation(&self) -> bool {
        false
    }

    /// The table of numbers that comes with the specification, if it has one.
    fn attached(&self) -> Option<&Attached> {
        None
    }

    /// The same, to be filled.
    fn attached_mut(&mut self) -> Option<&mut Attached> {
        None
    }

    /// One for the conformance test on a network of so many terminals, where the default is not enough.
    #[cfg(test)]
    fn example(_terminals: u32) -> Self
    where
        Self: Default,
    {
        Self::default()
    }
}
