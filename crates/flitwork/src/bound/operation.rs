//! What any algorithm for a collective operation needs: the data that has to leave and to enter each terminal, and to
//! cross the network.
//!
//! Ranks of one terminal share what comes to it and add up what leaves it for nothing. With `n` ranks at a terminal,
//! `P` in all on `T` terminals, and a block, or a vector, of length `m`:
//!
//! | operation | leaves a terminal at least | enters a terminal at least |
//! |---|---|---|
//! | all-to-all | `n (P - n) m` | the same |
//! | scatter | `(P - n) m` at the root's | `n m` elsewhere |
//! | gather | `n m` elsewhere | `(P - n) m` at the root's |
//! | allgather | `n m` | `(P - n) m` |
//! | reduce-scatter | `(P - n) m` | `n m` |
//! | broadcast, reduce | `m` | `m` |
//! | scan | `m` at rank 0's | `m` elsewhere |
//! | allreduce | `2 (T - 1) / T m` at some terminal: Patarasuk and Yuan, JPDC 69 (2), 2009 | the same |
//!
//! It is assumed that data is added up by ranks only. The data of an all-to-all crosses every cut once, however it is
//! packed.

use super::messages_of_the_cut;
use super::terminals::TerminalLimits;
use crate::collective::{Operation, World};
use crate::schedule::Placement;
use crate::topology::Fabric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Lower bounds for an operation, whatever the algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OperationBound {
    /// What the terminals need to send \[cycles].
    pub injection_cycles: f64,
    /// What the terminals need to receive \[cycles].
    pub ejection_cycles: f64,
    /// What the narrowest cut needs \[cycles]; absent unless it is an all-to-all on a grid.
    pub bisection_cycles: Option<f64>,
    /// The largest of them \[cycles].
    pub cycles: f64,
    /// Rounds in which every rank sends and receives one message at most that any algorithm needs.
    pub rounds: u32,
}

/// Bounds an operation whose blocks, or vector, are of `length_flits`; a fraction where they are in bytes.
pub fn operation_bound(
    fabric: &Fabric,
    operation: Operation,
    world: &World,
    length_flits: f64,
    placement: &Placement,
    limits: &TerminalLimits,
) -> OperationBound {
    let mut ranks_of = vec![0u32; placement.terminals() as usize];
    placement.terminal_of().iter().for_each(|&t| ranks_of[t as usize] += 1);
    // Of a prefix sum it is rank 0, whose contribution all need.
    let root = if operation == Operation::Scan { 0 } else { world.root };
    let root = placement.terminal_of()[root as usize];
    let used = ranks_of.iter().filter(|&&ranks| ranks > 0).count() as f64;
    let needs = (0u32..).zip(&ranks_of).filter(|&(_, &ranks)| ranks > 0).map(|(terminal, &ranks)| {
        let (local, others) = (f64::from(ranks), f64::from(world.ranks - ranks));
        blocks(operation, local, others, used, terminal == root)
    });
    let (sent, received) = needs.fold((0.0, 0.0), |most: (f64, f64), one| (most.0.max(one.0), most.1.max(one.1)));
    let injection_cycles = sent * length_flits / limits.injection_flits_per_cycle.min(f64::from(limits.ports));
    let ejection_cycles = received * length_flits / limits.ejection_flits_per_cycle;
    let cut = Some(()).filter(|()| operation == Operation::AllToAll);
    let messages = cut.and_then(|()| messages_of_the_cut(fabric, placement.terminal_of()));
    let bisection_cycles = messages.map(|messages| messages * length_flits);
    let cycles = injection_cycles.max(ejection_cycles).max(bisection_cycles.unwrap_or(0.0));
    OperationBound { injection_cycles, ejection_cycles, bisection_cycles, cycles, rounds: world.bits() }
}

/// What leaves and what enters a terminal with `own` ranks, in blocks or vectors: `others` are elsewhere, on `used`
/// terminals with this one.
fn blocks(operation: Operation, local: f64, others: f64, used: f64, has_root: bool) -> (f64, f64) {
    let away = if others > 0.0 { 1.0 } else { 0.0 };
    match operation {
        Operation::AllToAll => (local * others, local * others),
        Operation::Scatter if has_root => (others, 0.0),
        Operation::Scatter => (0.0, local),
        Operation::Gather if has_root => (0.0, others),
        Operation::Gather => (local, 0.0),
        Operation::Allgather => (local * away, others),
        Operation::ReduceScatter => (others, local * away),
        Operation::Broadcast if has_root => (away, 0.0),
        Operation::Broadcast => (0.0, 1.0),
        Operation::Reduce if has_root => (0.0, away),
        Operation::Reduce => (1.0, 0.0),
        Operation::Scan if has_root => (away, 0.0),
        Operation::Scan => (0.0, 1.0),
        Operation::Allreduce => (2.0 * (used - 1.0) / used, 2.0 * (used - 1.0) / used),
        Operation::Barrier => (away, away),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bound::{bound, tests::dor};
    use crate::collective::{Between, COLLECTIVES, Length, Servers, schedule};
    use crate::routing::Tie;
    use crate::schedule::PlacementRule;
    use crate::topology::Grid;

    /// No algorithm needs less than its operation, wherever its ranks are.
    #[test]
    fn no_algorithm_beats_its_operation() {
        let (fabric, routing) = dor(&Grid::torus(&[4, 2]), 1, vec![0, 1], Tie::Random);
        for row in COLLECTIVES {
            for ranks in [5, 8, 16, 24] {
                for rule in [PlacementRule::Block, PlacementRule::RoundRobin] {
                    let placement = Placement::new(&rule, ranks, 8, ranks.div_ceil(8)).unwrap();
                    let world = World { root: ranks / 2, ..World::on(Servers::of_terminals(placement.terminal_of())) };
                    if row.check(&world).is_err() {
                        continue;
                    }
                    let limits = TerminalLimits::of_ports(1);
                    let made = schedule(row, &world, Length::Flits(30), Between::default()).unwrap();
                    let scheduled = bound(&fabric, &routing, &made, &placement, &limits).unwrap();
                    let length = if row.operation.has_data() { 30.0 } else { 1.0 };
                    let any = operation_bound(&fabric, row.promises(&world), &world, length, &placement, &limits);
                    let name = format!("{} {} {ranks} {rule:?}: {any:?} {scheduled:?}", row.operation.name(), row.name);
                    assert!(any.injection_cycles <= scheduled.injection_cycles + 1e-9, "{name}");
                    assert!(any.ejection_cycles <= scheduled.ejection_cycles + 1e-9, "{name}");
                    assert!(any.bisection_cycles.unwrap_or(0.0) <= scheduled.channel_load_cycles + 1e-9, "{name}");
                    assert!(any.cycles > 0.0 && any.rounds <= (row.steps)(&world), "{name}");
                }
            }
        }
    }
}
