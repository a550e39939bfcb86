//! The routes of a network on which every pair of terminals has one, for timetables: which ports and channels a block
//! uses, and when.

use super::timetable_search::stages_cycles;
use super::{Params, Plan};
use crate::error::{Error, Result};
use crate::routing::{Routing, RoutingSpec};
use crate::spec::NetworkSpec;
use crate::timetable::Routes;
use crate::topology::Fabric;

/// Sources whose routes are looked at for draws.
const MOST_SOURCES: u32 = 256;

/// The routes of a network, and the times of its hops.
pub struct FixedRoutes<'a> {
    fabric: &'a Fabric,
    routing: &'a Routing,
    /// From the front of a buffer to the start of a channel, and to its end without its own latency \[cycles].
    hop_cycles: u32,
    /// Latency of channels that have none of their own \[cycles].
    common_cycles: u32,
}

impl<'a> FixedRoutes<'a> {
    /// Those of a network.
    ///
    /// # Errors
    /// [`Error::Config`] where the routes of packets are not known before a run, or channels are slower than a flit a
    /// cycle.
    pub(super) fn of(
        network: &NetworkSpec,
        fabric: &'a Fabric,
        routing: &'a Routing,
        params: &Params,
    ) -> Result<FixedRoutes<'a>> {
        let common_cycles = network.channel.latency_cycles;
        let hop_cycles = stages_cycles(network) + params.hop_cycles;
        let routes = FixedRoutes { fabric, routing, hop_cycles: hop_cycles - common_cycles, common_cycles };
        if let Some((router, port)) = fabric.slow_channel() {
            let value = format!("{} cycles a flit", fabric.cycles_per_flit(router, port));
            let expected = "channels that all take a flit in every cycle: timetables of others are not made yet";
            return Err(Error::config(fabric.channel_name(router, port), value, expected, ""));
        }
        // Where ties are drawn, they are at many sources alike.
        let sources = (0..fabric.terminals()).step_by(1 + (fabric.terminals() / MOST_SOURCES) as usize);
        let mut pairs = sources.flat_map(|from| (0..fabric.terminals()).map(move |to| (from, to)));
        let mut drawn = || pairs.any(|(from, to)| routes.path(from, to, 0) != routes.path(from, to, u64::MAX));
        if !routing.is_fixed() || routing.splits() || drawn() {
            let kind = network.routing.as_ref().map_or("none", RoutingSpec::kind);
            let expected = "a routing by which all packets of a pair take the same route, without draws at ties";
            let hint =
                "use dimension_order with tie = \"parity\" on a grid, d_mod_k on a tree, shortest_path elsewhere";
            return Err(Error::config("network.routing.kind", kind, expected, hint));
        }
        Ok(routes)
    }

    /// Ways to write the numbers of terminals as digits by which the network may be alike at all of them, by their
    /// radices, the lowest digit first: sizes of a grid, children of the levels of a tree, bits, or the number itself.
    pub fn terminal_radices(&self) -> Vec<Vec<u32>> {
        let terminals = self.fabric.terminals();
        let mut radices = Vec::new();
        if let Some(grid) = self.fabric.grid() {
            let each = self.fabric.most_terminals();
            radices.push(std::iter::once(each).chain(grid.sizes().iter().copied()).collect());
        }
        if let Some(tree) = self.fabric.tree() {
            radices.push((1..=tree.levels()).map(|level| tree.children(level)).collect());
        }
        if terminals.is_power_of_two() {
            radices.push(vec![2; terminals.trailing_zeros() as usize]);
        }
        radices.push(vec![terminals]);
        radices
    }

    fn path(&self, from: u32, to: u32, bits: u64) -> Vec<(u32, usize, u8)> {
        self.routing.path(self.fabric, self.fabric.end(from), self.fabric.end(to), bits)
    }
}

impl Routes for FixedRoutes<'_> {
    fn terminals(&self) -> u32 {
        self.fabric.terminals()
    }

    fn parts(&self) -> u32 {
        2 * self.fabric.terminals() + self.fabric.routers() * self.fabric.network_ports() as u32
    }

    fn visit(&self, from: u32, to: u32, visit: &mut dyn FnMut(u32, u32)) {
        let (terminals, ports) = (self.fabric.terminals(), self.fabric.network_ports() as u32);
        visit(from, 0);
        let mut after = 0;
        for (router, port, _) in self.path(from, to, 0) {
            visit(2 * terminals + router * ports + port as u32, after);
            after += self.hop_cycles + self.fabric.latency_cycles(router, port).unwrap_or(self.common_cycles);
        }
        visit(terminals + to, after);
    }

    fn name(&self, part: u32) -> String {
        let (terminals, ports) = (self.fabric.terminals(), self.fabric.network_ports() as u32);
        match part.checked_sub(2 * terminals) {
            Some(channel) => {
                let name = self.fabric.channel_name(channel / ports, (channel % ports) as usize);
                format!("the channel {name}")
            }
            None if part >= terminals => format!("the ejection port of terminal {}", part - terminals),
            None => format!("the injection port of terminal {part}"),
        }
    }
}

impl Plan {
    /// The routes of its network, for timetables.
    ///
    /// # Errors
    /// [`Error::Config`] where the routes of packets are not known before a run, or channels are slower than a flit a
    /// cycle.
    pub fn fixed_routes(&self) -> Result<FixedRoutes<'_>> {
        FixedRoutes::of(&self.spec.network, &self.fabric, &self.routing, &self.params)
    }
}
