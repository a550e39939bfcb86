//! Stages of several cycles that are not pipelined: `pipelined_stages = false`.
//!
//! Such a stage of a router holds one batch. Whatever becomes ready while a batch is in it waits, and all of it enters
//! together in the cycle after the batch has left. BookSim 2 keeps each stage's work in a queue and begins at its
//! front, up to the first entry that is in the stage already; with a delay of one cycle there never is any.

use super::CompatSpec;

/// One stage of all routers.
#[derive(Debug, Clone)]
pub(crate) struct BatchStage {
    cycles: u64,
    /// The cycle in which each router's latest batch has left; the batch enters `cycles` before, perhaps in the future.
    left: Vec<u64>,
}

impl BatchStage {
    /// A stage of `cycles` in each of `routers`, if it is one that takes a batch at a time.
    pub fn new(rules: &CompatSpec, cycles: u32, routers: usize) -> Option<Self> {
        rules.has_batches(cycles).then(|| BatchStage { cycles: cycles.into(), left: vec![0; routers] })
    }

    /// The cycle in which something that is ready in cycle `ready` enters the stage of `router`. Calls come in the
    /// sequence of their `ready`; asking twice changes nothing.
    pub fn enter(&mut self, router: usize, ready: u64) -> u64 {
        let left = &mut self.left[router];
        if *left < ready + self.cycles {
            *left = ready.max(*left) + self.cycles;
        }
        *left - self.cycles
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_while_a_batch_is_in_the_stage_enters_together_behind_it() {
        let mut stage = BatchStage { cycles: 3, left: vec![0; 2] };
        let enters = [0, 0, 1, 2, 3, 4, 10, 11, 15, 16].map(|ready| stage.enter(1, ready));
        assert_eq!(enters, [0, 0, 3, 3, 3, 6, 10, 13, 16, 16]);
        assert_eq!(stage.enter(0, 7), 7, "routers have nothing to do with each other");
    }
}
