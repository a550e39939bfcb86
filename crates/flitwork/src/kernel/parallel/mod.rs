//! Several threads for one run: the network is cut into parts, and each part is advanced by a thread of its own, window
//! by window.
//!
//! Routers hear of each other only through channels: what one sends, another has no earlier than after the delay of a
//! channel. So all parts may advance by that many cycles, a window, without a word between them; then what has left a
//! part for another (flits, with the records of the packets whose heads are among them, and credits, each with its
//! cycle) changes hands, and the next window begins. That is bulk-synchronous with the lookahead of a channel. A window
//! is shorter where the run may end in it, or a measurement begins or ends.
//!
//! A part ([`part`]) is a range of routers with their terminals. It is a network of its own to the loop
//! ([`Simulation`]), with its own NICs and its own log; its routers and VCs are numbered from its first one on, so
//! nothing in the hot path knows of parts. A flit or a credit for a VC that is not in range goes to the [`border`].
//! Everything else is local: allocation, arbiters, injection, the random stream of each terminal. Statistics are sums
//! of whole numbers, so the order in which parts are added up cannot matter, and the result is the same for any number
//! of threads, bit by bit.
//!
//! Who advances a part owns it ([`team`]): it is moved to the thread and back, every window ([`handoff`]). No memory is
//! shared but what hands it over. Between windows the loop has all parts, so ends, measurements and limits are decided
//! in one place, as ever.
//!
//! Whether threads pay depends on who else uses the machine: [`pace`] tries both ways from time to time, and takes the
//! faster one.

pub(super) mod border;
mod gather;
mod handoff;
mod pace;
mod part;
mod sync;
mod team;
mod window;

pub(crate) use border::Border;
pub(super) use gather::gather;
pub(crate) use part::Part;
pub(super) use team::Team;
pub(super) use window::Summary;

use super::Progress;
use super::flit::{self, Variation};
use super::simulation::{Attached, Simulation};
use crate::error::Result;
use crate::plan::Plan;
use std::time::Duration;

/// How long one way of running is watched before it is compared with the other.
pub(super) const EPOCH: Duration = Duration::from_millis(10);

/// Runs a plan that may run in parts on so many threads.
///
/// # Errors
/// See [`crate::simulate`].
pub(super) fn simulate(
    plan: &Plan,
    threads: usize,
    epoch: Duration,
    progress: &mut dyn FnMut(Progress) -> bool,
) -> Result<crate::measure::SimulationResult> {
    let mut simulation = simulation(plan, threads, epoch)?;
    simulation.run(progress)?;
    Ok(simulation.into_result())
}

/// The simulation of a plan that may run in parts, before its first cycle.
///
/// # Errors
/// See [`Simulation::on`].
pub(super) fn simulation(plan: &Plan, threads: usize, epoch: Duration) -> Result<Simulation> {
    let part = |number| Part { number, of: threads };
    let network = |number| flit::network(plan, Variation { part: Some(part(number)), ..Variation::default() });
    let mut simulation = Simulation::on(plan, network(0)?)?;
    for number in 1..threads {
        simulation.attach(plan, network(number)?);
    }
    for (number, Attached { nics, summary, .. }) in simulation.networks.iter_mut().enumerate() {
        let router_range = part(number).routers(plan.params.routers);
        nics.keep(|terminal| router_range.contains(&(plan.fabric.router_of(terminal) as usize)));
        *summary = Some(Summary::new(threads, nics.all_taken()));
    }
    simulation.parts = threads;
    simulation.team = Some(Team::new(threads, epoch, plan.window_cycles()));
    Ok(simulation)
}

#[cfg(test)]
mod tests;
