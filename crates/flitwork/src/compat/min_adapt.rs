//! Minimal adaptive routing with fewer adaptive channels: `productive`, `adaptive_vcs` and `adaptive_tie`.
//!
//! What BookSim 2 runs as `min_adapt` asks for the adaptive channels of one direction alone. On a torus it has one
//! adaptive channel a port, and that leads to minus wherever both directions round a ring are equally long.

use super::{AdaptiveTie, CompatSpec, Productive};
use crate::routing::{
    Choice, DimensionOrder, Division, Header, MinAdapt, Place, Scheme, Selection, Start, port_of, productive,
};
use crate::topology::{Coords, Grid};

/// Minimal adaptive routing, narrowed.
#[derive(Debug)]
pub(super) struct Narrowed {
    scheme: MinAdapt,
    productive: Productive,
    adaptive_tie: AdaptiveTie,
    division: Division,
}

impl Narrowed {
    pub fn new(scheme: MinAdapt, rules: &CompatSpec) -> Self {
        let division = match rules.adaptive_vcs[..] {
            [] => scheme.division(),
            [first, ..] => {
                let end = first + rules.adaptive_vcs.len() as u32;
                Division::EscapeAndSome { escapes: scheme.escapes, first, end }
            }
        };
        Narrowed { scheme, productive: rules.productive, adaptive_tie: rules.adaptive_tie, division }
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

impl Scheme for Narrowed {
    fn division(&self) -> Division {
        self.division
    }

    fn start(&self, grid: &Grid, src: &Coords, dst: &Coords, bits: u64) -> Start {
        self.scheme.start(grid, src, dst, bits)
    }

    fn starts(&self, grid: &Grid, src: &Coords, dst: &Coords) -> Vec<Start> {
        self.scheme.starts(grid, src, dst)
    }

    fn fixed_route(&self) -> Option<&DimensionOrder> {
        (self.productive == Productive::First && self.adaptive_tie.is_same()).then_some(&self.scheme.order)
    }

    fn forget(&self, grid: &Grid, place: &mut Place, start: &mut Start) {
        self.scheme.forget(grid, place, start);
    }

    fn enter(&self, grid: &Grid, at: &Coords, dst: &Coords, start: &mut Start, _bits: &dyn Fn() -> u64) {
        if self.adaptive_tie.is_same() {
            return;
        }
        // A packet that left a tie by an adaptive channel, against the direction of the escape channel, goes on in that
        // direction. Only one of the two directions from a tie crosses the dateline.
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
        let choice = self.scheme.choice(grid, place, start);
        let (at, to) = (&place.at, &start.to);
        // No adaptive port: it has arrived, or stays in the escape network.
        let (true, Some(d)) = (choice.ports != 0, self.scheme.order.first_dimension(at, to)) else { return choice };
        let header = self.adaptive(grid, start.trip.header, at, to);
        let ports = match self.productive {
            Productive::All => productive(grid, header, at, to),
            Productive::First => 1 << port_of(header, d),
        };
        Choice { ports, ..choice }
    }

    fn selection(&self) -> Selection {
        self.scheme.selection()
    }
}
