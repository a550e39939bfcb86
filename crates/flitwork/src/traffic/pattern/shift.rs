//! Patterns that add the same to the coordinates of every router (Dally and Towles 2004, section 3.2).

use super::Destinations;
use super::rule::{Context, Rule};
use crate::error::Result;
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
