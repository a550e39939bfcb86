//! Traffic patterns: where each terminal sends to.
//!
//! Bit patterns act on the binary address of a terminal, which in two dimensions is the bits of y followed by those of x; they
//! are defined for powers of two. Their formulas are those of Dally and Towles 2004, section 3.2; `shuffle` rotates left and
//! `bit_rotation` right, so the two are each other's inverse.

use super::table::no_file;
use super::{Attached, Matrix, terminal_rng};
use crate::error::{Error, Result};
use crate::mix::draw_below;
use crate::topology::{Fabric, Grid};
use rand_pcg::rand_core::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Where each terminal sends to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Pattern {
    /// A terminal drawn uniformly for each packet.
    Uniform {
        /// Whether a terminal may draw itself. Default: true.
        #[serde(default = "yes")]
        include_self: bool,
    },
    /// (x, y) sends to (y, x) on a square; elsewhere the halves of the address change places (2^even terminals).
    Transpose,
    /// The address rotated left by one bit (2^n terminals).
    Shuffle,
    /// The address with every bit inverted (2^n terminals).
    BitComplement,
    /// The address read backwards (2^n terminals).
    BitReverse,
    /// The address rotated right by one bit (2^n terminals).
    BitRotation,
    /// In each dimension almost half-way round: x + ceil(size / 2) - 1 (one terminal a router).
    Tornado,
    /// In each dimension one further: x + 1 (one terminal a router).
    Neighbour,
    /// A permutation drawn once for the run.
    RandomPermutation,
    /// Pairs of terminals drawn once for the run send to each other (an even number of terminals).
    RandomPairs,
    /// A destination drawn once for each terminal; several may draw the same.
    RandomSelection,
    /// Some terminals receive everything.
    Hotspot {
        /// Terminals that receive, at least one.
        terminals: Vec<u32>,
        /// How much each of them receives, relative to the others, more than 0. Default: all the same.
        #[serde(default)]
        shares: Vec<f64>,
    },
    /// Terminal `i` sends to `destinations[i]`, a permutation.
    Permutation {
        /// One destination for each terminal, each once. Default: those of `file`.
        #[serde(default)]
        destinations: Vec<u32>,
        /// A file with the destinations in the order of the terminals: CSV or NumPy (.npy).
        #[serde(default, skip_serializing_if = "String::is_empty")]
        file: String,
    },
    /// A destination drawn for each packet by the weights of its source's row. An open loop has `offered_load` as the mean over all
    /// terminals, each in proportion to the sum of its row; in a burst all terminals with weights send the same number of packets.
    Matrix {
        /// The weights, at least 0: a row for each source, a column for each destination. Written as a list of rows; in a plan they
        /// are a digest. Default: those of `file`.
        #[serde(default)]
        weights: Attached,
        /// A file with the matrix, a row for each source: CSV or NumPy (.npy).
        #[serde(default, skip_serializing_if = "String::is_empty")]
        file: String,
    },
}

fn yes() -> bool {
    true
}

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

impl Pattern {
    /// The destinations on a network.
    ///
    /// # Errors
    /// [`Error::Config`] where the pattern is not defined for this network.
    pub fn resolve(&self, fabric: &Fabric, seed: u64) -> Result<Destinations> {
        let n = fabric.terminals();
        let fixed = |f: &dyn Fn(u32) -> u32| Ok(Destinations::Fixed((0..n).map(f).collect()));
        match self {
            Pattern::Uniform { include_self } => {
                if !include_self && n < 2 {
                    let path = "workload.pattern.include_self";
                    return Err(Error::config(path, false, "true where there is one terminal", ""));
                }
                Ok(Destinations::Uniform { include_self: *include_self })
            }
            Pattern::Transpose => transpose(fabric),
            Pattern::Shuffle => self.bits(n).and_then(|b| fixed(&|i| (i << 1 | i >> (b - 1)) & (n - 1))),
            Pattern::BitComplement => self.bits(n).and_then(|_| fixed(&|i| !i & (n - 1))),
            Pattern::BitReverse => self.bits(n).and_then(|b| fixed(&|i| i.reverse_bits() >> (32 - b))),
            Pattern::BitRotation => self.bits(n).and_then(|b| fixed(&|i| (i >> 1 | i << (b - 1)) & (n - 1))),
            Pattern::Tornado => shift(fabric, "tornado", |size| size.div_ceil(2) - 1),
            Pattern::Neighbour => shift(fabric, "neighbour", |_| 1),
            Pattern::RandomPermutation => Ok(Destinations::Fixed(shuffled(n, seed))),
            Pattern::RandomPairs => pairs(n, seed),
            Pattern::RandomSelection => {
                let mut rng = terminal_rng(seed, PATTERN_STREAM);
                Ok(Destinations::Fixed((0..n).map(|_| draw_below(rng.next_u64(), u64::from(n)) as u32).collect()))
            }
            Pattern::Hotspot { terminals, shares } => hotspot(n, terminals, shares),
            Pattern::Permutation { destinations, file } => {
                no_file("workload.pattern", file, "destinations")?;
                permutation(n, destinations)
            }
            Pattern::Matrix { weights, file } => {
                no_file("workload.pattern", file, "weights")?;
                matrix(n, weights)
            }
        }
    }

    /// The table that comes beside the specification, if it has one.
    pub(crate) fn table(&mut self) -> Option<&mut Attached> {
        match self {
            Pattern::Matrix { weights, .. } => Some(weights),
            _ => None,
        }
    }

    /// Bits of an address.
    fn bits(&self, terminals: u32) -> Result<u32> {
        if terminals.is_power_of_two() && terminals > 1 {
            return Ok(terminals.trailing_zeros());
        }
        let name = serde_json::to_value(self).ok().and_then(|v| v["kind"].as_str().map(str::to_string));
        Err(undefined(&name.unwrap_or_default(), format!("a power of two of terminals, not {terminals}")))
    }
}

/// The random stream that patterns are drawn from, apart from those of terminals.
const PATTERN_STREAM: u64 = u64::MAX;

fn undefined(kind: &str, needs: String) -> Error {
    let kind = format!("{kind:?}");
    Error::config("workload.pattern.kind", kind, format!("a pattern that is defined here: this one needs {needs}"), "")
}

fn transpose(fabric: &Fabric) -> Result<Destinations> {
    let n = fabric.terminals();
    let square = |grid: &&Grid| grid.dims() == 2 && grid.size(0) == grid.size(1) && fabric.has_one_terminal_each();
    if let Some(grid) = fabric.grid().filter(square) {
        let size = grid.size(0);
        return Ok(Destinations::Fixed((0..n).map(|i| i % size * size + i / size).collect()));
    }
    let bits = n.trailing_zeros();
    if !n.is_power_of_two() || bits % 2 == 1 {
        return Err(undefined("transpose", format!("a square or 2^even terminals, not {n}")));
    }
    let half = bits / 2;
    Ok(Destinations::Fixed((0..n).map(|i| (i >> half | i << half) & (n - 1)).collect()))
}

fn shift(fabric: &Fabric, name: &str, by: impl Fn(u32) -> u32) -> Result<Destinations> {
    let grid = fabric.needs_grid("workload.pattern.kind", name)?;
    if !fabric.has_one_terminal_each() {
        return Err(undefined(name, "one terminal a router".to_string()));
    }
    let shifted = |i: u32| {
        let mut c = grid.coords(i);
        (0..grid.dims()).for_each(|d| c[d] = (c[d] + by(grid.size(d))) % grid.size(d));
        grid.id(&c)
    };
    Ok(Destinations::Fixed((0..grid.routers()).map(shifted).collect()))
}

/// The numbers below `n` in random order (Fisher and Yates).
fn shuffled(n: u32, seed: u64) -> Vec<u32> {
    let mut rng = terminal_rng(seed, PATTERN_STREAM);
    let mut order: Vec<u32> = (0..n).collect();
    for i in (1..order.len()).rev() {
        order.swap(i, draw_below(rng.next_u64(), i as u64 + 1) as usize);
    }
    order
}

fn pairs(n: u32, seed: u64) -> Result<Destinations> {
    if n % 2 == 1 {
        return Err(undefined("random_pairs", format!("an even number of terminals, not {n}")));
    }
    let mut partner = vec![0; n as usize];
    for pair in shuffled(n, seed).chunks(2) {
        partner[pair[0] as usize] = pair[1];
        partner[pair[1] as usize] = pair[0];
    }
    Ok(Destinations::Fixed(partner))
}

fn hotspot(n: u32, terminals: &[u32], shares: &[f64]) -> Result<Destinations> {
    let path = |field: &str| format!("workload.pattern.{field}");
    if terminals.is_empty() {
        return Err(Error::config(path("terminals"), "[]", "at least one terminal", ""));
    }
    if let Some(i) = terminals.iter().position(|&t| t >= n) {
        let path = format!("{}[{i}]", path("terminals"));
        return Err(Error::config(path, terminals[i], format!("a terminal, 0 to {}", n - 1), ""));
    }
    if !shares.is_empty() && shares.len() != terminals.len() {
        let expected = format!("{} shares, one for each terminal", terminals.len());
        return Err(Error::config(path("shares"), format!("{shares:?}"), expected, ""));
    }
    super::check_shares(shares, |i| format!("{}[{i}]", path("shares")))?;
    let weights = if shares.is_empty() { vec![1.0; terminals.len()] } else { shares.to_vec() };
    Ok(Destinations::Weighted { terminals: terminals.to_vec(), cumulative: super::cumulative(&weights) })
}

fn permutation(n: u32, destinations: &[u32]) -> Result<Destinations> {
    let path = "workload.pattern.destinations";
    if destinations.len() != n as usize {
        let expected = format!("{n} destinations, one for each terminal");
        let hint = if destinations.is_empty() { "give destinations, or a file" } else { "" };
        return Err(Error::config(path, format!("{} destinations", destinations.len()), expected, hint));
    }
    let mut seen = vec![false; n as usize];
    for (i, &d) in destinations.iter().enumerate() {
        if d >= n || std::mem::replace(&mut seen[d as usize], true) {
            let expected = format!("each of 0 to {} once", n - 1);
            return Err(Error::config(format!("{path}[{i}]"), d, expected, "this is no permutation"));
        }
    }
    Ok(Destinations::Fixed(destinations.to_vec()))
}

fn matrix(n: u32, weights: &Attached) -> Result<Destinations> {
    let path = "workload.pattern.weights";
    let matrix = weights.matrix(path)?;
    if matrix.size() != n as usize {
        let value = format!("{0} rows and columns", matrix.size());
        return Err(Error::config(path, value, format!("{n} rows and columns, one for each terminal"), ""));
    }
    Ok(Destinations::Matrix(Arc::clone(matrix)))
}

impl Destinations {
    /// The destination of a packet from `terminal`, given 56 random bits.
    #[inline]
    pub(crate) fn draw(&self, terminal: u32, terminals: u32, bits: u64) -> u32 {
        match self {
            Destinations::Uniform { include_self } => {
                let choices = if *include_self { terminals } else { terminals - 1 };
                // Fixed-point multiplication (Lemire 2019): the bias is below 2^-26.
                let dst = ((u128::from(bits) * u128::from(choices)) >> 56) as u32;
                if !include_self && dst >= terminal { dst + 1 } else { dst }
            }
            Destinations::Fixed(destinations) => destinations[terminal as usize],
            Destinations::Weighted { terminals, cumulative } => terminals[super::draw_by_share(cumulative, bits)],
            Destinations::Matrix(matrix) => matrix.draw(terminal, bits),
        }
    }

    /// Who sends how much of its traffic where: (source, destination, share); `None` for uniform traffic. The shares of a source
    /// are 1 together.
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

#[cfg(test)]
mod tests;
