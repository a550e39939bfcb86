//! The search for a split and the weights that prove it good: a smooth maximum of the times of all channels is
//! minimised, a block of sources at a time (Frank and Wolfe's method with pairwise steps; Lacoste-Julien et al. 2013).
//!
//! The weight of a channel is the gradient of the smooth maximum: the busier the channel, the heavier. In each step
//! every block is routed over its shortest routes by the present weights, which become one of its ways, and flow moves
//! from its longest way to its shortest. At the end of a step the weights are evaluated: what they prove, and what the
//! split needs. The maximum becomes sharper where that brings nothing more.

use super::split::Split;
use super::{Channels, Demands};
use crate::topology::Fabric;

/// The weight of the busiest channel. That of every other is less, and at least 1: no distance is 0.
const MOST_WEIGHT: f64 = (1 << 20) as f64;
/// Weights may grow to so many times as much within a step.
const MOST_GROWTH: f64 = 1000.0;
/// A step that leaves more than this part of the gap brings nothing more; the error of the maximum shrinks to that
/// part.
const LITTLE: f64 = 0.99;
const SHRINK: f64 = 0.9;
/// The error of the smooth maximum need not be less than this share of the gap. Where it is much less, only the busiest
/// channels have a weight, flow that leaves them fills others, and the search stands still.
const SHARP_ENOUGH: f64 = 0.3;
/// The least error of the smooth maximum, as a share of it.
const LEAST_ERROR: f64 = 1e-6;

/// What no routing beats, and a split that comes near it.
#[derive(Debug, Clone, PartialEq)]
pub struct AnyRouting {
    /// The time that the weights prove \[cycles, or those of a unit]: every routing needs at least that.
    pub proved_cycles: f64,
    /// What the busiest channel of the split needs \[cycles, or those of a unit].
    pub reached_cycles: f64,
    /// The weights that prove it, by channel in the order of [`Fabric::channels`].
    pub weights: Vec<u32>,
    /// What each channel carries in the split \[flits, or units].
    pub flits: Vec<f64>,
    /// Steps that were done.
    pub steps: u32,
}

impl AnyRouting {
    /// How much more the split needs than what is proved, as a share of that; infinite where nothing is proved.
    pub fn gap(&self) -> f64 {
        if self.reached_cycles > 0.0 { self.reached_cycles / self.proved_cycles - 1.0 } else { 0.0 }
    }
}

/// How far a search is.
#[derive(Debug, Clone, Copy)]
pub struct SearchProgress {
    /// Steps done.
    pub steps: u32,
    /// The time that is proved so far \[cycles, or those of a unit].
    pub proved_cycles: f64,
    /// What the split needs so far \[cycles, or those of a unit].
    pub reached_cycles: f64,
}

/// Searches until the gap is at most `gap`, or for `most_steps`. `progress` is asked for each block whether to go on;
/// if not, the best so far is returned, which is proved as well.
pub fn any_routing(
    fabric: &Fabric,
    demands: &Demands,
    gap: f64,
    most_steps: u32,
    progress: &mut dyn FnMut(SearchProgress) -> bool,
) -> AnyRouting {
    let channels = Channels::new(fabric);
    let mut split = Split::new(&channels, demands);
    let mut weights = vec![1; channels.len()];
    let proved_cycles = split.begin(&weights);
    let reached_cycles = channels.busiest(&split.flits);
    let mut found =
        AnyRouting { proved_cycles, reached_cycles, weights: weights.clone(), flits: split.flits.clone(), steps: 1 };
    let mut error = found.gap().min(1.0);
    while found.gap() > gap && found.steps < most_steps {
        let AnyRouting { steps, proved_cycles, reached_cycles, .. } = found;
        let mut go_on = || progress(SearchProgress { steps, proved_cycles, reached_cycles });
        let sharpness = (channels.len() as f64).ln() / (error.max(LEAST_ERROR) * reached_cycles);
        if !split.improve(&Smooth::new(&channels, &split.flits, sharpness), &mut go_on) {
            break;
        }
        let before = found.gap();
        let busiest = channels.busiest(&split.flits);
        if busiest < found.reached_cycles {
            found.reached_cycles = busiest;
            found.flits.clone_from(&split.flits);
        }
        Smooth::new(&channels, &split.flits, sharpness).weigh(&channels, &split.flits, &mut weights);
        let proved = demands.proved_by(&channels, &weights);
        if proved > found.proved_cycles {
            found.proved_cycles = proved;
            found.weights.clone_from(&weights);
        }
        if found.gap() > LITTLE * before {
            error = (error * SHRINK).max(SHARP_ENOUGH * found.gap().min(1.0));
        }
        found.steps += 1;
    }
    found
}

impl Channels {
    /// The time that the busiest channel needs.
    fn busiest(&self, flits: &[f64]) -> f64 {
        flits.iter().enumerate().map(|(channel, &flits)| self.time(channel, flits)).fold(0.0, f64::max)
    }

    /// The time that a channel needs for flits: one cycle for the first.
    pub(super) fn time(&self, channel: usize, flits: f64) -> f64 {
        let cycles = f64::from(self.cycles_per_flit[channel]);
        flits * cycles - (cycles - 1.0)
    }
}

/// The smooth maximum of times: `ln(sum of exp(sharpness * time)) / sharpness`.
pub(super) struct Smooth {
    pub sharpness: f64,
    /// A channel that needs so long has the weight of the busiest.
    most: f64,
}

impl Smooth {
    fn new(channels: &Channels, flits: &[f64], sharpness: f64) -> Self {
        Smooth { sharpness, most: channels.busiest(flits) }
    }

    /// The gradient for a channel that needs so long, in whole numbers.
    pub fn weight(&self, time: f64) -> u32 {
        let weight = MOST_WEIGHT * (self.sharpness * (time - self.most)).exp();
        weight.round().clamp(1.0, MOST_WEIGHT * MOST_GROWTH) as u32
    }

    /// The weights of all channels.
    pub fn weigh(&self, channels: &Channels, flits: &[f64], weights: &mut [u32]) {
        for (channel, (weight, &flits)) in weights.iter_mut().zip(flits).enumerate() {
            *weight = self.weight(channels.time(channel, flits));
        }
    }
}
