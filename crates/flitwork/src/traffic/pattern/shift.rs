//! Patterns that add the same to the number of every terminal, or to the coordinates of every router (Dally and Towles
//! 2004, section 3.2).

use super::Destinations;
use super::rule::{Context, Rule};
use crate::error::{Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// In each dimension almost half-way round: x + ceil(size / 2) - 1 (one terminal a router).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tornado {}

/// In each dimension one further: x + 1 (one terminal a router).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Neighbour {}

/// Terminal `i` sends to terminal `i + by`, round the end.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shift {
    /// Distance to the destination \[terminals], from 1 to the number of terminals less 1. With the terminals of a
    /// group each group of a dragonfly sends to the next one, with the terminals of a router each router does.
    #[schemars(range(min = 1))]
    pub by: u32,
}

impl Rule for Shift {
    fn lacks(&self, on: &Context<'_>) -> Option<String> {
        (on.terminals() < 2).then(|| "two terminals".to_string())
    }

    fn destinations(&self, on: &Context<'_>) -> Result<Destinations> {
        let (by, n) = (self.by, on.terminals());
        if !(1..n).contains(&by) {
            let expected = format!("1 to {}, less than there are terminals", n - 1);
            return Err(Error::config("workload.pattern.by", by, expected, ""));
        }
        Ok(Destinations::Fixed((0..n).map(|i| if i >= n - by { i - (n - by) } else { i + by }).collect()))
    }

    fn is_permutation(&self) -> bool {
        true
    }

    #[cfg(test)]
    fn example(_terminals: u32) -> Self {
        Shift { by: 1 }
    }
}

impl Rule for Tornado {
    fn lacks(&self, on: &Context<'_>) -> Option<String> {
        lacks(on)
    }

    fn destinations(&self, on: &Context<'_>) -> Result<Destinations> {
        shifted(on, "tornado", |size| size.div_ceil(2) - 1)
    }

    fn is_permutation(&self) -> bool {
        true
    }
}

impl Rule for Neighbour {
    fn lacks(&self, on: &Context<'_>) -> Option<String> {
        lacks(on)
    }

    fn destinations(&self, on: &Context<'_>) -> Result<Destinations> {
        shifted(on, "neighbour", |_| 1)
    }

    fn is_permutation(&self) -> bool {
        true
    }
}

fn lacks(on: &Context<'_>) -> Option<String> {
    if on.fabric.grid().is_none() {
        return Some("the coordinates of a grid".to_string());
    }
    (!on.fabric.has_one_terminal_each()).then(|| "one terminal a router".to_string())
}

/// Every router sends to the one so many further in each dimension, by its size.
fn shifted(on: &Context<'_>, name: &str, by: impl Fn(u32) -> u32) -> Result<Destinations> {
    let grid = on.fabric.needs_grid("workload.pattern.kind", name)?;
    let to = |i: u32| {
        let mut c = grid.coords(i);
        (0..grid.dims()).for_each(|d| c[d] = (c[d] + by(grid.size(d))) % grid.size(d));
        grid.id(&c)
    };
    Ok(Destinations::Fixed((0..grid.routers()).map(to).collect()))
}
