//! Duato's protocol: fully adaptive, with an escape network of dimension order; minimal, or with a budget of detours.
//!
//! J. Duato, "A new theory of deadlock-free adaptive routing in wormhole networks", IEEE Trans. Parallel and
//! Distributed Systems 4(12), 1993. A packet asks for an adaptive virtual channel in any minimal direction; if none can
//! be had, for the escape channel of its dimension-order route. From an escape channel it may return to adaptive ones.
//!
//! The class of an escape channel on a torus of `n` wrapped dimensions is memoryless: `n` minus the datelines that the
//! rest of the dimension-order route still crosses behind this channel. That equals counting crossings, anchored at the
//! end of the route, so it is valid for a packet that enters the escape network anywhere.
//!
//! With `misroutes` the adaptive channels of non-minimal directions may be taken too, never straight back, and only
//! when neither a minimal nor the escape channel can be had. The budget makes livelock impossible; the escape channel
//! can always be asked for.

use super::kind::{Context, Options, check_tie, one, parity, resolve_order};
use super::scheme::{
    Choice, Division, Place, Scheme, Start, Trip, crosses, datelines, forget_all_but_directions, port_of, productive,
    still_crosses,
};
use super::{DimensionOrder, Selection, Tie, tie_starts};
use crate::error::{Error, Result};
use crate::topology::{Coords, Grid};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Options of Duato's protocol, minimal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DuatoOptions {
    /// Dimensions in the order in which the escape network walks them. Default (empty): 0, 1, 2, ...
    #[serde(default)]
    pub order: Vec<usize>,
    /// What to do at half a ring of even length; not split or by_message. Default: parity.
    #[serde(default = "parity")]
    pub tie: Tie,
    /// Which of several ports a packet asks for. Default: most_credits.
    #[serde(default)]
    pub selection: Selection,
}

/// Options of Duato's protocol with detours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DuatoMisroutingOptions {
    /// Dimensions in the order in which the escape network walks them. Default (empty): 0, 1, 2, ...
    #[serde(default)]
    pub order: Vec<usize>,
    /// What to do at half a ring of even length; not split or by_message. Default: parity.
    #[serde(default = "parity")]
    pub tie: Tie,
    /// Which of several ports a packet asks for; not all. Default: most_credits.
    #[serde(default)]
    pub selection: Selection,
    /// Hops away from its destination that a packet may make, 1 to 255. Default: 4.
    #[serde(default = "four")]
    #[schemars(range(min = 1, max = 255))]
    pub misroutes: u32,
    /// Cycles that a packet waits before it makes one \[cycles]. Default: 1.
    #[serde(default = "one")]
    pub patience_cycles: u32,
}

fn four() -> u32 {
    4
}

impl Options for DuatoOptions {
    fn resolve(&mut self, context: &Context) -> Result<()> {
        resolve_order(&mut self.order, context.grid)?;
        check_tie(self.tie)
    }

    fn scheme(&self, context: &Context) -> Arc<dyn Scheme> {
        let order = DimensionOrder::of(&self.order, self.tie, context.grid);
        Arc::new(Duato::new(context.grid, order, self.selection, 0, 0))
    }
}

impl Options for DuatoMisroutingOptions {
    fn resolve(&mut self, context: &Context) -> Result<()> {
        resolve_order(&mut self.order, context.grid)?;
        check_tie(self.tie)?;
        if !(1..=255).contains(&self.misroutes) {
            let hint = "use kind = \"duato\" for minimal routing";
            return Err(Error::config("network.routing.misroutes", self.misroutes, "1 to 255 hops", hint));
        }
        if self.selection == Selection::All {
            let expected = "most_credits, random or round_robin";
            return Err(Error::config("network.routing.selection", "all", expected, "a detour is a last resort"));
        }
        Ok(())
    }

    fn scheme(&self, context: &Context) -> Arc<dyn Scheme> {
        let order = DimensionOrder::of(&self.order, self.tie, context.grid);
        Arc::new(Duato::new(context.grid, order, self.selection, self.misroutes as u8, self.patience_cycles))
    }
}

/// Duato's protocol.
#[derive(Debug, Clone)]
pub struct Duato {
    /// The route of the escape network.
    pub order: DimensionOrder,
    /// Which adaptive port is asked for.
    pub selection: Selection,
    /// Hops away from the destination that a packet may make.
    pub misroutes: u8,
    /// Cycles that it waits for a minimal or an escape channel before it makes one.
    pub patience_cycles: u32,
    escapes: u8,
}

impl Duato {
    /// For a network.
    pub fn new(grid: &Grid, order: DimensionOrder, selection: Selection, misroutes: u8, patience_cycles: u32) -> Self {
        Duato { order, selection, misroutes, patience_cycles, escapes: datelines(grid) + 1 }
    }

    /// Escape port and class at `at`.
    fn escape(&self, grid: &Grid, at: &Coords, start: &Start) -> Option<(u8, u8)> {
        let header = start.trip.header;
        let port = port_of(header, self.order.first_dimension(at, &start.to)?);
        let wrapped = |d: &usize| grid.wraps(*d) && still_crosses(header, at, &start.to, *d);
        let left = (0..grid.dims()).filter(wrapped).count() as u8 - u8::from(crosses(grid, at, port));
        Some((port as u8, self.escapes - 1 - left))
    }

    /// Ports that lead away from the destination, but not back to where the packet came from.
    fn sideways(&self, grid: &Grid, place: &Place, minimal: u64) -> u16 {
        let router = grid.id(&place.at);
        (0..grid.network_ports())
            .filter(|&q| place.port != Some(q as u8) && minimal >> q & 1 == 0 && grid.neighbour(router, q).is_some())
            .fold(0, |ports, q| ports | 1 << q)
    }
}

impl Scheme for Duato {
    fn division(&self) -> Division {
        Division::Escape(self.escapes)
    }

    fn start(&self, grid: &Grid, src: &Coords, dst: &Coords, bits: u64) -> Start {
        let header = self.order.header(grid, src, dst, bits as u8);
        Start { to: *dst, trip: Trip { header, misroutes: self.misroutes, ..Trip::default() } }
    }

    fn starts(&self, grid: &Grid, src: &Coords, dst: &Coords) -> Vec<Start> {
        tie_starts(self, &self.order, grid, src, dst)
    }

    fn forget(&self, grid: &Grid, place: &mut Place, start: &mut Start) {
        // The port that it came by is the one that it makes no detour to.
        let port = place.port.filter(|_| start.trip.misroutes > 0);
        forget_all_but_directions(grid, place, start);
        (place.port, place.set) = (port, port.map(|_| 0));
    }

    fn bits_on_entering(&self, grid: &Grid) -> u32 {
        if self.misroutes > 0 && self.order.tie == Tie::Random { grid.dims() as u32 } else { 0 }
    }

    fn enter(&self, grid: &Grid, at: &Coords, _dst: &Coords, start: &mut Start, bits: &dyn Fn() -> u64) {
        // Behind a detour, and only there, the shortest route may be another one. `mode` counts the detours seen. A tie
        // decided anew on every hop would change the number of datelines to cross, and with it the class of the escape
        // channel.
        let detours = self.misroutes - start.trip.misroutes;
        if start.trip.mode != detours {
            start.trip.mode = detours;
            start.trip.header = self.order.header(grid, at, &start.to, bits() as u8);
        }
    }

    fn choice(&self, grid: &Grid, place: &Place, start: &Start) -> Choice {
        let ports = productive(grid, start.trip.header, &place.at, &start.to);
        let sideways = if start.trip.misroutes > 0 { self.sideways(grid, place, ports) } else { 0 };
        Choice {
            ports,
            set: self.escapes,
            crossing: 0,
            escape: self.escape(grid, &place.at, start),
            sideways,
            ..Choice::default()
        }
    }

    fn selection(&self) -> Selection {
        self.selection
    }

    fn patience_cycles(&self) -> u32 {
        self.patience_cycles
    }
}
