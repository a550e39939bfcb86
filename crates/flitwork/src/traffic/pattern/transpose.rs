//! Matrix transpose (Dally and Towles 2004, section 3.2).

use super::Destinations;
use super::rule::{Context, Rule};
use crate::error::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// (x, y) sends to (y, x) on a square; elsewhere the halves of the address change places (2^even terminals).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Transpose {}

/// Routers along each side, where the network is a square of routers with one terminal each.
fn side(on: &Context<'_>) -> Option<u32> {
    let grid = on.fabric.grid()?;
    (grid.dims() == 2 && grid.size(0) == grid.size(1) && on.fabric.has_one_terminal_each()).then(|| grid.size(0))
}

impl Rule for Transpose {
    fn lacks(&self, on: &Context<'_>) -> Option<String> {
        let n = on.terminals();
        let halves = n.is_power_of_two() && n.trailing_zeros().is_multiple_of(2);
        (side(on).is_none() && !halves).then(|| format!("a square or 2^even terminals, not {n}"))
    }

    fn destinations(&self, on: &Context<'_>) -> Result<Destinations> {
        let n = on.terminals();
        let half = n.trailing_zeros() / 2;
        let to = |i: u32| match side(on) {
            Some(side) => i % side * side + i / side,
            None => (i >> half | i << half) & (n - 1),
        };
        Ok(Destinations::Fixed((0..n).map(to).collect()))
    }

    fn is_permutation(&self) -> bool {
        true
    }
}
