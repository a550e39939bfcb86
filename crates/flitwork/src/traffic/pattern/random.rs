//! Patterns that are drawn once for the run.

use super::Destinations;
use super::rule::{Context, Rule};
use crate::error::Result;
use crate::mix::draw_below;
use rand_pcg::rand_core::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A permutation drawn once for the run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomPermutation {}

/// Pairs of terminals drawn once for the run send to each other (an even number of terminals).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomPairs {}

/// A destination drawn once for each terminal; several may draw the same.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomSelection {}

impl Rule for RandomPermutation {
    fn destinations(&self, on: &Context<'_>) -> Result<Destinations> {
        Ok(Destinations::Fixed(on.shuffled()))
    }

    fn is_permutation(&self) -> bool {
        true
    }
}

impl Rule for RandomPairs {
    fn lacks(&self, on: &Context<'_>) -> Option<String> {
        let n = on.terminals();
        (n % 2 == 1).then(|| format!("an even number of terminals, not {n}"))
    }

    fn destinations(&self, on: &Context<'_>) -> Result<Destinations> {
        let mut partner = vec![0; on.terminals() as usize];
        for pair in on.shuffled().chunks(2) {
            partner[pair[0] as usize] = pair[1];
            partner[pair[1] as usize] = pair[0];
        }
        Ok(Destinations::Fixed(partner))
    }

    fn is_permutation(&self) -> bool {
        true
    }
}

impl Rule for RandomSelection {
    fn destinations(&self, on: &Context<'_>) -> Result<Destinations> {
        let (n, mut rng) = (on.terminals(), on.rng());
        Ok(Destinations::Fixed((0..n).map(|_| draw_below(rng.next_u64(), u64::from(n)) as u32).collect()))
    }
}
