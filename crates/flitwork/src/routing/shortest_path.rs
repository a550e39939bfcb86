//! A shortest path on any network: at each router the lowest output port that leads on one, from a table.
//!
//! All packets between two routers take the same route. Nothing is done against deadlock, so the dependencies of all
//! channels are looked at when a run is planned: trees, stars and full meshes are free of them, rings are not. For
//! these there is [`super::HopClasses`].

use super::hop_by_hop::{At, Head, HopByHop};
use super::kind::{AnyOptions, Network};
use super::port_table::{PortTable, check_size, distances, no_path, with_terminals};
use super::scheme::{Choice, Division};
use super::{AtSource, Routing};
use crate::error::Result;
use crate::topology::{End, Fabric};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Options of shortest paths: none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShortestPathOptions {}

impl AnyOptions for ShortestPathOptions {
    fn resolve(&mut self, network: &Network) -> Result<()> {
        ShortestPath::checked(network.fabric).map(|_| ())
    }

    fn routing(&self, network: &Network) -> Routing {
        if network.fabric.routers() == 1 {
            return Routing::AtSource(AtSource::one_router());
        }
        Routing::HopByHop(Arc::new(ShortestPath::new(network.fabric)))
    }

    fn representative(&self, _network: &Network, _level: usize) -> Option<(Fabric, Arc<dyn HopByHop>)> {
        None
    }
}

/// The lowest port on a shortest path, for every router and destination.
#[derive(Debug)]
pub struct ShortestPath(PortTable);

impl ShortestPath {
    /// For a network.
    pub fn new(fabric: &Fabric) -> Self {
        let mut table = PortTable::empty(fabric.routers());
        let mut hops = Vec::new();
        for dst in 0..fabric.routers() {
            distances(fabric, dst, &mut hops, |_, _| true);
            let mut column = table.towards(dst);
            let reached = |&router: &u32| router != dst && hops[router as usize] != u32::MAX;
            for router in (0..fabric.routers()).filter(reached) {
                let nearer = |&port: &usize| {
                    let peer = fabric.peer(router, port);
                    peer.is_some_and(|(far, _)| hops[far as usize].checked_add(1) == Some(hops[router as usize]))
                };
                if let Some(port) = (0..fabric.network_ports()).find(nearer) {
                    column.set(router, port);
                }
            }
        }
        ShortestPath(table)
    }

    /// For a network that a user has named.
    ///
    /// # Errors
    /// More routers than the table may have, or routers with terminals that no path joins.
    pub(super) fn checked(fabric: &Fabric) -> Result<Self> {
        check_size(fabric)?;
        let table = ShortestPath::new(fabric);
        for dst in with_terminals(fabric) {
            if let Some(src) = with_terminals(fabric).find(|&src| src != dst && table.next(src, dst).is_none()) {
                return Err(no_path(fabric, src, dst));
            }
        }
        Ok(table)
    }

    /// Channels of the longest route between two routers with terminals, of a network in which all are joined.
    pub(super) fn longest_route(&self, fabric: &Fabric) -> u32 {
        let mut hops = vec![0u32; fabric.routers() as usize];
        let mut walked = Vec::new();
        let mut longest = 0;
        for dst in with_terminals(fabric) {
            // What is known of routers on the way is not looked at again.
            hops.fill(u32::MAX);
            hops[dst as usize] = 0;
            for src in with_terminals(fabric) {
                let mut at = src;
                while hops[at as usize] == u32::MAX {
                    walked.push(at);
                    let Some((next, _)) = self.next(at, dst).and_then(|port| fabric.peer(at, port.into())) else {
                        break;
                    };
                    at = next;
                }
                let known = hops[at as usize];
                for (more, router) in (1..).zip(walked.drain(..).rev()) {
                    hops[router as usize] = known.saturating_add(more);
                }
                longest = longest.max(hops[src as usize]);
            }
        }
        longest
    }

    /// The port of `router` on the way to `dst`; `None` where there is no way.
    #[inline]
    pub(super) fn next(&self, router: u32, dst: u32) -> Option<u8> {
        self.0.next(router, dst)
    }
}

impl HopByHop for ShortestPath {
    fn division(&self) -> Division {
        self.0.division()
    }

    fn start(&self, src: End, dst: End, bits: u64) -> Head {
        self.0.start(src, dst, bits)
    }

    fn starts(&self, src: u32, dst: u32) -> Vec<Head> {
        self.0.starts(src, dst)
    }

    fn forget(&self, at: &mut At, head: &mut Head) {
        self.0.forget(at, head);
    }

    fn choice(&self, at: &At, head: &Head) -> Choice {
        self.0.choice(at, head)
    }

    fn is_fixed(&self) -> bool {
        true
    }

    fn requests_one_port(&self) -> bool {
        true
    }
}
