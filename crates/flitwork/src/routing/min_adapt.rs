//! Minimal adaptive routing with an escape network that is not left again.
//!
//! All minimal directions on the adaptive virtual channels, and the dimension-order way on the escape channels (one on a mesh,
//! two dateline classes on a torus). A packet that has taken an escape channel stays in the escape network up to its destination, so
//! only the escape channels' own dependencies matter. As BookSim 2's `min_adapt` does it, the default is to ask for everything at
//! once (W. J. Dally and B. Towles, Principles and Practices of Interconnection Networks, 2004, section 14.2).
//! With [`Productive::First`] the adaptive channels are those of one direction alone: what BookSim 2 runs under that name. Its torus
//! has one adaptive channel a port and always takes it to minus at a tie: [`MinAdapt::with_adaptive`].

use super::kind::{Context, Options, check_tie, parity, resolve_order};
use super::scheme::{Choice, Division, Place, Scheme, Start, Trip, port_of, productive, still_crosses};
use super::{AdaptiveTie, DimensionOrder, Header, MAX_VCS, Productive, Selection, Tie, classes, tie_starts};
use crate::error::{Error, Result};
use crate::topology::{Coords, Grid};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Options of minimal adaptive routing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MinAdaptOptions {
    /// Dimensions in the order in which the escape network walks them. Default (empty): 0, 1, 2, ...
    #[serde(default)]
    pub order: Vec<usize>,
    /// What to do at half a ring of even length; not split. Default: parity.
    #[serde(default = "parity")]
    pub tie: Tie,
    /// Which of several ports a packet asks for. Default: all.
    #[serde(default = "all")]
    pub selection: Selection,
    /// Which productive ports are offered; first: the dimension-order one alone, which is what BookSim 2 runs. Default: all.
    #[serde(default)]
    pub productive: Productive,
    /// Adaptive virtual channels, numbers that follow each other, above the escape channels; those that are neither are used at
    /// injection and ejection only. Default (empty): all but the escape channels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub adaptive_vcs: Vec<u32>,
    /// Which way adaptive channels lead where both ways round a ring are equally long. Default: same.
    #[serde(default, skip_serializing_if = "AdaptiveTie::is_same")]
    pub adaptive_tie: AdaptiveTie,
}

fn all() -> Selection {
    Selection::All
}

impl Options for MinAdaptOptions {
    fn resolve(&mut self, context: &Context) -> Result<()> {
        resolve_order(&mut self.order, context.grid)?;
        check_tie(self.tie)?;
        check_adaptive_vcs(&self.adaptive_vcs, classes(context.grid).into())
    }

    fn scheme(&self, context: &Context) -> Arc<dyn Scheme> {
        let order = DimensionOrder::of(&self.order, self.tie, context.grid);
        let scheme = MinAdapt::new(context.grid, order, self.selection, self.productive);
        Arc::new(scheme.with_adaptive(&self.adaptive_vcs, self.adaptive_tie))
    }
}

/// They are a range above the escape channels. Whether a port has so many is a question of the number of VCs.
fn check_adaptive_vcs(vcs: &[u32], escapes: u32) -> Result<()> {
    let follow = vcs.windows(2).all(|pair| pair[0].checked_add(1) == Some(pair[1]));
    if follow && vcs.iter().all(|v| (escapes..MAX_VCS).contains(v)) {
        return Ok(());
    }
    let expected = format!("numbers from {escapes} to {} that follow each other", MAX_VCS - 1);
    let hint = "the escape channels have the lowest numbers";
    Err(Error::config("network.routing.adaptive_vcs", format!("{vcs:?}"), expected, hint))
}

/// Minimal adaptive routing.
#[derive(Debug, Clone)]
pub struct MinAdapt {
    /// The way of the escape network.
    pub order: DimensionOrder,
    /// Which port is asked for.
    pub selection: Selection,
    /// Which directions the adaptive channels lead in.
    pub productive: Productive,
    division: Division,
    adaptive_tie: AdaptiveTie,
    escapes: u8,
}

impl MinAdapt {
    /// For a network.
    pub fn new(grid: &Grid, order: DimensionOrder, selection: Selection, productive: Productive) -> Self {
        let escapes = classes(grid);
        let (division, adaptive_tie) = (Division::Escape(escapes), AdaptiveTie::Same);
        MinAdapt { order, selection, productive, division, adaptive_tie, escapes }
    }

    /// With the VCs `vcs` (ascending, without a gap) as adaptive channels, all but the escape channels if there are none, and a
    /// direction of their own at a tie.
    pub fn with_adaptive(self, vcs: &[u32], tie: AdaptiveTie) -> Self {
        let division = match vcs {
            [] => self.division,
            [first, ..] => {
                Division::EscapeAndSome { escapes: self.escapes, first: *first, end: first + vcs.len() as u32 }
            }
        };
        MinAdapt { division, adaptive_tie: tie, ..self }
    }

    /// The directions of the adaptive channels, where `header` has those of the escape channels.
    fn adaptive(&self, grid: &Grid, header: Header, at: &Coords, to: &Coords) -> Header {
        let minus = match self.adaptive_tie {
            AdaptiveTie::Same => return header,
            AdaptiveTie::Plus => 0,
            AdaptiveTie::Minus => u8::MAX,
        };
        let hops = |d: usize, plus: bool| grid.distance(d, at[d], to[d], plus);
        let ties = (0..grid.dims()).filter(|&d| at[d] != to[d] && hops(d, true) == hops(d, false));
        let ties = ties.fold(0u8, |ties, d| ties | 1 << d);
        Header { minus: header.minus & !ties | minus & ties, ..header }
    }
}

impl Scheme for MinAdapt {
    fn division(&self) -> Division {
        self.division
    }

    fn start(&self, grid: &Grid, src: &Coords, dst: &Coords, bits: u64) -> Start {
        let header = self.order.header(grid, src, dst, bits as u8);
        Start { to: *dst, trip: Trip { header, ..Trip::default() } }
    }

    fn starts(&self, grid: &Grid, src: &Coords, dst: &Coords) -> Vec<Start> {
        tie_starts(self, &self.order, grid, src, dst)
    }

    fn fixed_way(&self) -> Option<&DimensionOrder> {
        (self.productive == Productive::First && self.adaptive_tie.is_same()).then_some(&self.order)
    }

    fn enter(&self, grid: &Grid, at: &Coords, dst: &Coords, start: &mut Start, _bits: &dyn Fn() -> u64) {
        if self.adaptive_tie.is_same() {
            return;
        }
        // A packet that left a tie by an adaptive channel, against the direction of the escape channel, goes on that way. Only one of
        // the two ways from a tie crosses the dateline.
        let header = &mut start.trip.header;
        for d in 0..grid.dims() {
            let plus = header.minus >> d & 1 == 0;
            let (ahead, back) = (grid.distance(d, at[d], dst[d], plus), grid.distance(d, at[d], dst[d], !plus));
            if ahead.zip(back).is_some_and(|(ahead, back)| ahead > back) {
                header.minus ^= 1 << d;
                header.wraps ^= 1 << d;
            }
        }
    }

    fn choice(&self, grid: &Grid, place: &Place, start: &Start) -> Choice {
        let (at, to, header) = (&place.at, &start.to, start.trip.header);
        let Some(d) = self.order.first_dimension(at, to) else { return Choice::default() };
        let escaped = place.set.filter(|&set| set < self.escapes);
        // The class is fixed on entering a ring, or on entering the escape network within one.
        let class = match (escaped, place.port) {
            (Some(set), Some(port)) if port as usize / 2 == d => set,
            _ => u8::from(self.escapes > 1 && grid.wraps(d) && still_crosses(header, at, to, d)),
        };
        let first = port_of(header, d);
        let ports = match self.productive {
            _ if escaped.is_some() => 0,
            Productive::All => productive(grid, self.adaptive(grid, header, at, to), at, to),
            Productive::First => 1 << port_of(self.adaptive(grid, header, at, to), d),
        };
        Choice { ports, set: self.escapes, escape: Some((first as u8, class)), ..Choice::default() }
    }

    fn selection(&self) -> Selection {
        self.selection
    }
}
