//! What terminals create, regardless of how the network copes: where packets go (patterns), when they are created (processes,
//! one file each) and how long they are; or all of it, packet by packet (traces).

mod bernoulli;
mod geometric;
mod length;
mod matrix;
mod on_off;
mod pattern;
mod source;
mod table;
mod trace;

pub use bernoulli::Bernoulli;
pub use length::{Lengths, PacketFlits, PacketShare};
pub use matrix::Matrix;
pub use on_off::OnOff;
pub use pattern::{Destinations, Pattern};
pub use source::{Created, Drawn, Packets, Process, Processes, Traffic};
pub(crate) use source::{Source, terminal_rng};
pub(crate) use table::no_file;
pub use table::{Attached, Table};
pub use trace::{Trace, TraceColumns, TracePacket};

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
