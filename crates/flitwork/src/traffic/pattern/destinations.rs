//! A pattern resolved for a network: what is drawn for each packet.

use crate::traffic::{Matrix, draw_by_share};
use std::sync::Arc;

/// A pattern resolved for a network.
#[derive(Debug, Clone, PartialEq)]
pub enum Destinations {
    /// Drawn uniformly for each packet.
    Uniform {
        /// Whether a terminal may draw itself.
        include_self: bool,
    },
    /// One for each terminal.
    Fixed(Vec<u32>),
    /// Drawn for each packet by weight.
    Weighted {
        /// Terminals that receive.
        terminals: Vec<u32>,
        /// Sum of the shares up to each of them; the last is 1.
        cumulative: Vec<f64>,
    },
    /// Drawn for each packet by the row of its source.
    Matrix(Arc<Matrix>),
}

impl Destinations {
    /// The destination of a packet from `terminal`, given 56 random bits.
    #[inline(always)]
    pub(crate) fn draw(&self, terminal: u32, terminals: u32, bits: u64) -> u32 {
        match self {
            Destinations::Uniform { include_self } => {
                let possible = if *include_self { terminals } else { terminals - 1 };
                // Fixed-point multiplication (Lemire 2019): the bias is below 2^-26.
                let dst = ((u128::from(bits) * u128::from(possible)) >> 56) as u32;
                if !include_self && dst >= terminal { dst + 1 } else { dst }
            }
            Destinations::Fixed(destinations) => destinations[terminal as usize],
            Destinations::Weighted { terminals, cumulative } => terminals[draw_by_share(cumulative, bits)],
            Destinations::Matrix(matrix) => matrix.draw(terminal, bits),
        }
    }

    /// Who sends how much of its traffic where: (source, destination, share); `None` for uniform traffic. The shares of
    /// a source are 1 together.
    pub fn flows(&self, terminals: u32) -> Option<Vec<(u32, u32, f64)>> {
        match self {
            Destinations::Uniform { .. } => None,
            Destinations::Fixed(to) => Some(to.iter().enumerate().map(|(from, &to)| (from as u32, to, 1.0)).collect()),
            Destinations::Weighted { terminals: hot, cumulative } => {
                let share = |i: usize| cumulative[i] - if i == 0 { 0.0 } else { cumulative[i - 1] };
                let of = |from| hot.iter().enumerate().map(move |(i, &to)| (from, to, share(i)));
                Some((0..terminals).flat_map(of).collect())
            }
            Destinations::Matrix(matrix) => {
                let of = |from| matrix.shares(from).map(move |(to, share)| (from, to, share));
                Some((0..terminals).flat_map(of).collect())
            }
        }
    }

    /// What a terminal sends in an open loop, as a multiple of the offered load.
    pub fn relative_load(&self, terminal: u32) -> f64 {
        match self {
            Destinations::Matrix(matrix) => matrix.relative_load(terminal),
            _ => 1.0,
        }
    }
}
