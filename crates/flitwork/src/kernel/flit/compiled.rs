//! The network of a plan: the kernel compiled for the smallest size that has room for its routers.

use crate::error::Result;
use crate::kernel::Progress;
use crate::kernel::flit::{Kernel, VcMask};
use crate::kernel::network::Network;
use crate::kernel::parallel::{self, Part};
use crate::kernel::simulation::Simulation;
use crate::measure::{KernelName, SimulationResult};
use crate::plan::Plan;
use crate::transit::CompiledSize;

/// Choices that must not change a result; tests vary them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Variation {
    /// Visit routers in an order shuffled with this seed; 0: ascending.
    pub shuffle: u64,
    /// Take the general path through allocation where the fast one applies.
    pub general: bool,
    /// Count the routers where a compiled size suffices, and number VCs as if ports had at least this number of VCs; 0:
    /// as the plan needs.
    pub counted: usize,
    /// Move flits one by one where packets could move whole.
    pub flits: bool,
    /// Ask for lines of memory ahead where the network would fit the caches.
    pub ahead: bool,
    /// Only this part of the network.
    pub part: Option<Part>,
}

/// Runs a plan. `progress` is called every few milliseconds; it returns false to stop the run.
///
/// # Errors
/// Deadlock, the limit of cycles, or interruption.
pub(crate) fn simulate(
    plan: &Plan,
    variation: Variation,
    progress: &mut dyn FnMut(Progress) -> bool,
) -> Result<SimulationResult> {
    let threads = plan.threads();
    if threads > 1 {
        return parallel::simulate(plan, threads, parallel::EPOCH, progress);
    }
    let mut simulation = Simulation::on(plan, network(plan, variation)?)?;
    simulation.run(progress)?;
    Ok(simulation.into_result())
}

/// The network of a plan, at rest.
pub(crate) fn network(plan: &Plan, variation: Variation) -> Result<Box<dyn Network>> {
    match plan.kernel() {
        KernelName::Packet if !variation.flits => of_size::<true>(plan, variation),
        KernelName::Packet | KernelName::Flit => of_size::<false>(plan, variation),
    }
}

/// The network compiled for routers of the plan's size.
fn of_size<const PACKETS: bool>(plan: &Plan, variation: Variation) -> Result<Box<dyn Network>> {
    let (ports, vcs) = (plan.params.ports, plan.params.vcs);
    let size = match variation.counted {
        0 => CompiledSize::for_router(ports, vcs),
        more => CompiledSize::counted(ports, vcs.max(more)),
    };
    #[cfg(not(any(test, feature = "few-sizes")))]
    if let Some(network) = of_further_size::<PACKETS>(size, plan, variation)? {
        return Ok(network);
    }
    Ok(match (size.counted, size.ports, size.vcs) {
        (false, 8, 8) => kernel::<u8, 8, 8, 1, PACKETS>(size, plan, variation)?,
        (true, _, 16) => kernel::<u64, 64, 16, 17, PACKETS>(size, plan, variation)?,
        _ => kernel::<[u64; 10], 64, 640, 641, PACKETS>(size, plan, variation)?,
    })
}

/// The network compiled for one of the sizes that development builds and unit tests leave out.
#[cfg(not(any(test, feature = "few-sizes")))]
fn of_further_size<const PACKETS: bool>(
    size: CompiledSize,
    plan: &Plan,
    variation: Variation,
) -> Result<Option<Box<dyn Network>>> {
    Ok(Some(match (size.counted, size.ports, size.vcs) {
        (false, 8, 2) => kernel::<u8, 8, 2, 1, PACKETS>(size, plan, variation)?,
        (false, 8, 4) => kernel::<u8, 8, 4, 1, PACKETS>(size, plan, variation)?,
        (false, 8, 16) => kernel::<u16, 8, 16, 2, PACKETS>(size, plan, variation)?,
        (false, 16, 2) => kernel::<u8, 16, 2, 1, PACKETS>(size, plan, variation)?,
        (false, 16, 4) => kernel::<u8, 16, 4, 1, PACKETS>(size, plan, variation)?,
        (false, 16, 8) => kernel::<u8, 16, 8, 2, PACKETS>(size, plan, variation)?,
        (false, 32, 2) => kernel::<u8, 32, 2, 1, PACKETS>(size, plan, variation)?,
        (false, 32, 4) => kernel::<u8, 32, 4, 2, PACKETS>(size, plan, variation)?,
        (false, 64, 2) => kernel::<u8, 64, 2, 2, PACKETS>(size, plan, variation)?,
        (true, _, 8) => kernel::<u64, 64, 8, 9, PACKETS>(size, plan, variation)?,
        (true, _, 32) => kernel::<u64, 64, 32, 33, PACKETS>(size, plan, variation)?,
        (true, _, 64) => kernel::<u64, 64, 64, 65, PACKETS>(size, plan, variation)?,
        (true, _, 128) => kernel::<[u64; 2], 64, 128, 129, PACKETS>(size, plan, variation)?,
        (true, _, 256) => kernel::<[u64; 4], 64, 256, 257, PACKETS>(size, plan, variation)?,
        (true, _, 512) => kernel::<[u64; 8], 64, 512, 513, PACKETS>(size, plan, variation)?,
        _ => return Ok(None),
    }))
}

/// The network compiled for one size, which is that of the plan.
fn kernel<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>(
    size: CompiledSize,
    plan: &Plan,
    variation: Variation,
) -> Result<Box<dyn Network>> {
    // Another one that has room gives the same result, and takes its time.
    debug_assert_eq!((PORTS, VCS), (if size.counted { 64 } else { size.ports }, size.vcs));
    Ok(Box::new(Kernel::<M, PORTS, VCS, WORDS, PACKETS>::new(plan, variation)?))
}
