//! Routing: which channels, and which sets of virtual channels, a packet may take.
//!
//! A routing is a file with its options, their checks and its [`Scheme`], and a row in `kind.rs`. The other files are
//! common to all: what a scheme is, whether it can deadlock, how one of several ports is chosen.

mod acyclic;
mod adaptive_up;
mod at_source;
mod channel_graph;
mod cross_line;
mod crossings;
mod d_mod_k;
mod deadlock;
mod dependencies;
mod dimension_order;
mod dragonfly_minimal;
mod dragonfly_ugal;
mod dragonfly_valiant;
mod duato;
mod ecmp;
mod equal_paths;
mod graph_ugal;
mod graph_valiant;
mod hop_by_hop;
mod hop_classes;
mod kind;
mod lash;
mod min_adapt;
mod o1turn;
mod on_grid;
mod on_tree;
mod port_table;
mod random_up;
mod relation;
mod s_mod_k;
mod scheme;
mod selection;
mod shortest_path;
mod spray;
mod structured_pool;
mod table;
mod tree_steps;
mod two_phase;
mod up_down;
mod walks;

pub use adaptive_up::AdaptiveUpOptions;
pub use at_source::{AtSource, Keys};
pub use cross_line::{CrossLine, CrossLineOptions};
pub use crossings::Crossings;
pub use d_mod_k::DModKOptions;
pub use deadlock::{RingClasses, check_deadlock_free};
pub use dependencies::{Buffers, Finding, Limits, find_cycle, find_cycle_within};
pub use dimension_order::{DatelineClasses, DimensionOrder, DimensionOrderOptions, Header, Tie};
pub use dragonfly_minimal::{DragonflyMinimal, DragonflyMinimalOptions};
pub use dragonfly_ugal::{DragonflyUgal, DragonflyUgalOptions};
pub use dragonfly_valiant::{DragonflyValiant, DragonflyValiantOptions};
pub use duato::{Duato, DuatoMisroutingOptions, DuatoOptions};
pub use ecmp::EcmpOptions;
pub use graph_ugal::{GraphUgal, GraphUgalOptions};
pub use graph_valiant::{GraphValiant, GraphValiantOptions};
pub use hop_by_hop::{At, GoesBy, Head, HopByHop};
pub use hop_classes::{HopClasses, HopClassesOptions};
pub(crate) use kind::ROUTINGS;
pub use kind::{Context, Network, RoutingSpec};
pub use lash::{Lash, LashOptions};
pub use min_adapt::{MinAdapt, MinAdaptOptions};
pub use o1turn::{O1Turn, O1TurnOptions};
pub use on_grid::{OnGrid, representative};
pub use port_table::PortTable;
pub use random_up::RandomUpOptions;
pub use relation::{Relation, RelationOptions};
pub use s_mod_k::SModKOptions;
pub use scheme::{Choice, CongestionSpread, Division, Place, Scheme, Start, Trip, datelines};
pub(crate) use scheme::{port_of, productive};
pub use selection::{Information, Selection};
pub use shortest_path::ShortestPathOptions;
pub use spray::SprayOptions;
pub use structured_pool::{RingDirections, StructuredPoolOptions};
pub use table::TableOptions;
pub(crate) use tree_steps::draw;
pub use tree_steps::{TreeStep, TreeSteps};
pub use two_phase::{Intermediate, RommOptions, TwoPhase, ValiantOptions};
pub use up_down::{UpDown, UpDownOptions};

use crate::topology::{Coords, End, Fabric, Grid};
use std::sync::Arc;

/// Most virtual channels of a port.
pub(crate) const MAX_VCS: u32 = 640;

/// The routing of a network.
#[derive(Debug, Clone)]
pub enum Routing {
    /// Everything is decided at the source.
    AtSource(AtSource),
    /// Each router decides.
    HopByHop(Arc<dyn HopByHop>),
}

impl Routing {
    /// Plain dimension order.
    pub fn dimension_order(grid: &Grid, order: DimensionOrder) -> Self {
        Routing::AtSource(AtSource::dimension_order(grid, order))
    }

    /// A scheme that was made for a grid.
    pub fn on_grid(grid: &Grid, scheme: Arc<dyn Scheme>) -> Self {
        Routing::HopByHop(Arc::new(OnGrid::new(grid, scheme)))
    }

    /// What is decided at the source, if everything is.
    pub fn at_source(&self) -> Option<&AtSource> {
        match self {
            Routing::AtSource(routing) => Some(routing),
            Routing::HopByHop(_) => None,
        }
    }

    /// What decides at each router, if that is how it is.
    pub fn hop_by_hop(&self) -> Option<&Arc<dyn HopByHop>> {
        match self {
            Routing::AtSource(_) => None,
            Routing::HopByHop(routing) => Some(routing),
        }
    }

    /// The dimension order that all packets walk in, if they do.
    pub fn fixed_order(&self) -> Option<&DimensionOrder> {
        match self {
            Routing::AtSource(routing) => routing.order(),
            Routing::HopByHop(routing) => routing.fixed_order(),
        }
    }

    /// Whether the routes are known before a run, but for ties that are drawn.
    pub fn is_fixed(&self) -> bool {
        match self {
            Routing::AtSource(_) => true,
            Routing::HopByHop(routing) => routing.is_fixed(),
        }
    }

    /// Whether packets are cut in two at a tie.
    pub fn splits(&self) -> bool {
        self.at_source().is_some_and(AtSource::splits)
    }

    /// How a packet from `src` to `dst` starts, and the number of hops that are known then: all of them where
    /// everything is decided now, else none. `tie_bits` decide ties in the first case, `bits` all else.
    #[inline(always)]
    pub fn start(&self, src: End, dst: End, tie_bits: u8, bits: impl FnOnce() -> u64) -> (Head, u32) {
        match self {
            Routing::AtSource(routing) => routing.start(src.router, dst.router, tie_bits),
            Routing::HopByHop(routing) => (routing.start(src, dst, bits()), 0),
        }
    }

    /// The dateline classes of a packet, a bit a dimension, as it carries them.
    #[inline]
    pub fn classes(&self, header: Header) -> u8 {
        match self {
            Routing::AtSource(routing) => routing.classes(header),
            Routing::HopByHop(_) => header.wraps,
        }
    }

    /// What tells its routes apart besides the routers at both ends, if they are fixed.
    pub fn goes_by(&self) -> GoesBy {
        self.hop_by_hop().map_or(GoesBy::Routers, |routing| routing.goes_by())
    }

    /// The route of a packet between two terminals: (router, output port, set or class of VCs) of each hop. Ties are
    /// decided by `bits`, and of several minimal ports the lowest is taken.
    pub fn path(&self, fabric: &Fabric, src: End, dst: End, bits: u64) -> Vec<(u32, usize, u8)> {
        let routing = match self {
            Routing::AtSource(routing) => return routing.path(src.router, dst.router, bits as u8),
            Routing::HopByHop(routing) => routing,
        };
        let mut head = routing.start(src, dst, bits);
        let (mut at, mut entered, mut path) = (src.router, None::<(u8, u8)>, Vec::new());
        loop {
            let place = At { router: at, port: entered.map(|c| c.0), set: entered.map(|c| c.1) };
            let Some(choice) = routing.next(&place, dst.router, &mut head, &|| bits) else { return path };
            let choice = choice.decided(false);
            let (port, set) = match (choice.ports, choice.escape) {
                (0, None) => return path,
                (0, Some((port, set))) => (port as usize, set),
                (ports, _) => {
                    let port = ports.trailing_zeros() as usize;
                    (port, choice.set_of(port))
                }
            };
            head.trip.crossed += choice.counted(port);
            path.push((at, port, set));
            let Some((next, input)) = fabric.peer(at, port) else { return path };
            (at, entered) = (next, Some((input as u8, set)));
        }
    }
}

/// Dateline classes that dimension order needs: two where a dimension wraps.
fn classes(grid: &Grid) -> u8 {
    1 + u8::from(datelines(grid) > 0)
}

/// The dateline class of a walk in dimension `d`, fixed on entering the ring.
fn class_of(grid: &Grid, header: Header, d: usize) -> u8 {
    if grid.wraps(d) { header.wraps >> d & 1 } else { 0 }
}

/// Every start of a scheme that leaves nothing but ties to chance.
fn tie_starts(scheme: &dyn Scheme, order: &DimensionOrder, grid: &Grid, src: &Coords, dst: &Coords) -> Vec<Start> {
    let combinations = if order.tie == Tie::Random { 1 << grid.dims() } else { 1u64 };
    let mut starts: Vec<Start> = Vec::new();
    for tie_bits in 0..combinations {
        let start = scheme.start(grid, src, dst, tie_bits);
        if !starts.contains(&start) {
            starts.push(start);
        }
    }
    starts
}

#[cfg(test)]
mod tests;
