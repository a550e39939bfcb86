//! What terminals create, regardless of how the network copes: where packets go (patterns), when they are created
//! (processes, one file each) and how long they are; or all of it, packet by packet (traces).

mod bernoulli;
mod geometric;
mod length;
mod matrix;
mod on_off;
pub mod pattern;
mod source;
mod table;
mod trace;

pub use bernoulli::Bernoulli;
pub(crate) use geometric::Geometric;
pub use length::{Lengths, PacketFlits, PacketShare};
pub use matrix::Matrix;
pub use on_off::OnOff;
pub(crate) use pattern::PATTERNS;
pub use pattern::{Destinations, Pattern};
pub use source::{Created, Drawn, Packets, Process, Processes, Traffic};
pub(crate) use source::{Source, terminal_rng};
pub(crate) use table::no_file;
pub use table::{Attached, Table};
pub use trace::{Trace, TraceColumns, TracePacket};

use crate::error::{Error, Result};

/// Refuses shares, the field `path(i)` each, that are not more than 0, or whose sum no number can hold.
fn check_shares(shares: &[f64], path: impl Fn(usize) -> String) -> Result<()> {
    let mut sum = 0.0;
    for (i, &share) in shares.iter().enumerate() {
        sum += share;
        if !(share > 0.0 && sum < f64::INFINITY) {
            let shown = format!("{share:?}"); // Not with 300 digits.
            return Err(Error::config(path(i), shown, "more than 0, in all less than 1e308", ""));
        }
    }
    Ok(())
}

/// Sums of the shares of a list up to each entry, scaled so that the last is 1.
fn cumulative(shares: &[f64]) -> Vec<f64> {
    let total: f64 = shares.iter().sum();
    let mut sum = 0.0;
    let mut cumulative: Vec<f64> = shares
        .iter()
        .map(|share| {
            sum += share / total;
            sum
        })
        .collect();
    if let Some(last) = cumulative.last_mut() {
        *last = 1.0;
    }
    cumulative
}

/// The entry that 56 random bits fall on, by the sums of the shares.
#[inline]
fn draw_by_share(cumulative: &[f64], bits: u64) -> usize {
    let u = bits as f64 * (1.0 / (1u64 << 56) as f64);
    cumulative.partition_point(|&c| c <= u).min(cumulative.len() - 1)
}
