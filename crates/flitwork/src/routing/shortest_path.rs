//! A shortest path on any network: at each router the lowest output port that leads on one, from a table.
//!
//! All packets between two routers take the same route. Nothing is done against deadlock, so the dependencies of all
//! channels are looked at when a run is planned: trees, stars and full meshes are free of them, rings are not. For
//! these there is [`super::HopClasses`].

use super::hop_by_hop::{At, Head, HopByHop};
use super::kind::{AnyOptions, Network};
use super::scheme::{Choice, Division, Trip};
use super::{AtSource, Routing};
use crate::error::{Error, Result};
use crate::topology::{End, Fabric};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Options of shortest paths: none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShortestPathOptions {}

/// Most routers: the table has an entry for every pair.
const MOST_ROUTERS: u32 = 16_384;

/// No port.
const NONE: u8 = u8::MAX;

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

/// The next port of every router for every destination.
#[derive(Debug)]
pub struct ShortestPath {
    routers: u32,
    /// By `destination * routers + router`.
    ports: Vec<u8>,
}

impl ShortestPath {
    /// For a network.
    pub fn new(fabric: &Fabric) -> Self {
        let routers = fabric.routers();
        let mut ports = vec![NONE; routers as usize * routers as usize];
        let mut hops = vec![0u32; routers as usize];
        for (dst, ports) in ports.chunks_mut(routers as usize).enumerate() {
            // Distances against the direction of the channels, then the lowest port one hop nearer.
            hops.fill(u32::MAX);
            hops[dst] = 0;
            let mut reached = vec![dst as u32];
            let mut next = 0;
            while let Some(&at) = reached.get(next) {
                next += 1;
                let feeders = (0..fabric.network_ports()).filter_map(|port| fabric.feeder(at, port));
                for (feeder, _) in feeders {
                    if hops[feeder as usize] == u32::MAX {
                        hops[feeder as usize] = hops[at as usize] + 1;
                        reached.push(feeder);
                    }
                }
            }
            for &router in reached.iter().filter(|&&router| router as usize != dst) {
                let nearer = |&port: &usize| {
                    let peer = fabric.peer(router, port);
                    peer.is_some_and(|(far, _)| hops[far as usize] + 1 == hops[router as usize])
                };
                let port = (0..fabric.network_ports()).find(nearer);
                ports[router as usize] = port.map_or(NONE, |port| port as u8);
            }
        }
        ShortestPath { routers, ports }
    }

    /// For a network that a user has named.
    ///
    /// # Errors
    /// More routers than the table may have, or routers with terminals that no path joins.
    pub(super) fn checked(fabric: &Fabric) -> Result<Self> {
        if fabric.routers() > MOST_ROUTERS {
            let hint = "use a smaller network, or a routing that knows its shape";
            return Err(fabric.too_large(format!("at most {MOST_ROUTERS} routers for shortest paths"), hint));
        }
        let table = ShortestPath::new(fabric);
        for dst in with_terminals(fabric) {
            if let Some(src) = with_terminals(fabric).find(|&src| src != dst && table.next(src, dst).is_none()) {
                let expected = "a path between all routers with terminals";
                let value = format!("no path from router {src} to router {dst}");
                return Err(Error::config("network.topology", value, expected, ""));
            }
        }
        Ok(table)
    }

    /// Channels of the longest route between two routers with terminals, of a network in which all are joined.
    pub(super) fn longest_route(&self, fabric: &Fabric) -> u32 {
        let mut hops = vec![0u32; self.routers as usize];
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
        let port = self.ports[dst as usize * self.routers as usize + router as usize];
        (port != NONE).then_some(port)
    }
}

/// The routers with terminals.
fn with_terminals(fabric: &Fabric) -> impl Iterator<Item = u32> {
    (0..fabric.routers()).filter(|&router| !fabric.terminals_at(router).is_empty())
}

impl HopByHop for ShortestPath {
    fn division(&self) -> Division {
        Division::Equal(1)
    }

    fn start(&self, _src: End, dst: End, _bits: u64) -> Head {
        Head { to: dst.router, label: 0, trip: Trip::default() }
    }

    fn starts(&self, _src: u32, dst: u32) -> Vec<Head> {
        vec![Head { to: dst, label: 0, trip: Trip::default() }]
    }

    fn forget(&self, at: &mut At, _head: &mut Head) {
        (at.port, at.set) = (None, None);
    }

    fn choice(&self, at: &At, head: &Head) -> Choice {
        // The last resort is all there is: it may be any of 64 ports.
        Choice { escape: self.next(at.router, head.to).map(|port| (port, 0)), ..Choice::default() }
    }

    fn is_fixed(&self) -> bool {
        true
    }

    fn requests_one_port(&self) -> bool {
        true
    }
}
