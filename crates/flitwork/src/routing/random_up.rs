//! Random up: to a nearest common ancestor that is drawn on the way, port by port.
//!
//! Valiant's idea without detours: every nearest common ancestor is equally likely, whatever the traffic is. It is the routing `nca` of
//! BookSim's fat tree (W. J. Dally and B. Towles, Principles and Practices of Interconnection Networks, 2004) and the random NCA
//! routing of G. Rodriguez et al., "Oblivious routing schemes in extended generalized fat tree networks", IEEE CLUSTER 2009.

use super::Routing;
use super::hop_by_hop::HopByHop;
use super::kind::{AnyOptions, Network};
use super::on_tree::{self, UpRule};
use crate::error::Result;
use crate::mix::{draw_below, mix};
use crate::topology::Fabric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Options of random up: none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomUpOptions {}

/// Any up port, by random bits of the packet.
#[derive(Debug, Clone, Copy)]
struct Random;

impl UpRule for Random {
    #[inline]
    fn up(&self, _label: u32, parents: u32, _copies: u32) -> u64 {
        any_of(parents)
    }

    #[inline]
    fn drawn(&self, up: u64, at: u32, bits: &dyn Fn() -> u64) -> u64 {
        1 << draw_below(draw(bits(), at, 0), u64::from(up.count_ones()))
    }
}

/// All up ports of a router with so many parents.
pub(super) fn any_of(parents: u32) -> u64 {
    if parents >= 64 { !0 } else { (1 << parents) - 1 }
}

/// Number `i` of the numbers that a packet with these bits draws at a router.
#[inline]
pub(crate) fn draw(bits: u64, router: u32, i: u32) -> u64 {
    mix(bits ^ mix(u64::from(router) << 32 | u64::from(i)))
}

impl AnyOptions for RandomUpOptions {
    fn resolve(&mut self, network: &Network) -> Result<()> {
        on_tree::check(network, "random_up")
    }

    fn routing(&self, network: &Network) -> Routing {
        on_tree::routing(network, Random)
    }

    fn representative(&self, network: &Network) -> Option<(Fabric, Arc<dyn HopByHop>)> {
        on_tree::representative(network, Random)
    }
}
