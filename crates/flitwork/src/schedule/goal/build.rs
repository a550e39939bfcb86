//! Building a GOAL program rank by rank, and the check that its dependencies have no cycle.

use super::{Goal, GoalOp, Until};

/// Builds a [`Goal`]: the operations and dependencies of rank 0, [`GoalBuilder::end_rank`], those of rank 1, and so on.
#[derive(Debug)]
pub struct GoalBuilder {
    goal: Goal,
    /// Dependencies of the rank that is built: of, on, until.
    pending: Vec<(u32, u32, Until)>,
}

impl Default for GoalBuilder {
    fn default() -> Self {
        let goal = Goal { lists: vec![0], ranks: vec![0], ..Goal::default() };
        GoalBuilder { goal, pending: Vec::new() }
    }
}

impl GoalBuilder {
    /// A program without ranks.
    pub fn new() -> Self {
        GoalBuilder::default()
    }

    /// Adds an operation; its number in its rank.
    pub fn op(&mut self, op: GoalOp) -> u32 {
        self.goal.ops.push(op);
        (self.in_rank() - 1) as u32
    }

    /// Number of operations of the rank so far.
    pub fn in_rank(&self) -> usize {
        self.goal.ops.len() - self.first()
    }

    /// Number of operations of all ranks so far.
    pub fn in_all(&self) -> usize {
        self.goal.ops.len()
    }

    /// How many dependencies each operation of the rank that ended last has.
    pub(super) fn needs_of_last(&self) -> &[u32] {
        let ranks = &self.goal.ranks;
        let first = ranks.len().checked_sub(2).map_or(0, |last| ranks[last]);
        &self.goal.needs[first..]
    }

    fn first(&self) -> usize {
        self.goal.ranks.last().copied().unwrap_or_default()
    }

    /// Operation `op` waits for operation `on` of the rank.
    pub fn depend(&mut self, op: u32, on: u32, until: Until) {
        self.pending.push((op, on, until));
    }

    /// Ends a rank.
    ///
    /// # Errors
    /// Operations that wait for each other in a ring, each for the next one, the last for the first.
    pub fn end_rank(&mut self) -> Result<(), Vec<u32>> {
        let (first, count) = (self.first(), self.in_rank());
        let base = self.goal.dependants.len();
        let list = |on: u32, until: Until| 2 * on as usize + usize::from(until == Until::Started);
        // A stable counting sort by what is waited for.
        let mut at = vec![0; 2 * count + 1];
        self.goal.needs.resize(first + count, 0);
        for &(op, on, until) in &self.pending {
            at[list(on, until) + 1] += 1;
            self.goal.needs[first + op as usize] += 1;
        }
        for i in 1..at.len() {
            at[i] += at[i - 1];
        }
        self.goal.lists.extend(at[1..].iter().map(|end| base + end));
        self.goal.dependants.resize(base + self.pending.len(), 0);
        for &(op, on, until) in &self.pending {
            let place = &mut at[list(on, until)];
            self.goal.dependants[base + *place] = op;
            *place += 1;
        }
        self.goal.ranks.push(first + count);
        let ring = self.ring(first, count);
        self.pending.clear();
        if ring.is_empty() { Ok(()) } else { Err(ring) }
    }

    /// Operations of the rank that wait for each other in a ring; nothing if there are none.
    fn ring(&self, first: usize, count: usize) -> Vec<u32> {
        let goal = &self.goal;
        let mut left = goal.needs[first..].to_vec();
        let mut free: Vec<u32> = (0..count as u32).filter(|&op| left[op as usize] == 0).collect();
        let mut freed = 0;
        while let Some(op) = free.pop() {
            freed += 1;
            let lists = 2 * (first + op as usize);
            for &next in &goal.dependants[goal.lists[lists]..goal.lists[lists + 2]] {
                left[next as usize] -= 1;
                if left[next as usize] == 0 {
                    free.push(next);
                }
            }
        }
        if freed == count {
            return Vec::new();
        }
        // Each that is left waits for one that is left: walk until one comes again.
        let mut waits_for = vec![u32::MAX; count];
        for &(op, on, _) in &self.pending {
            if left[op as usize] > 0 && left[on as usize] > 0 {
                waits_for[op as usize] = on;
            }
        }
        let mut seen = vec![false; count];
        let mut op = left.iter().position(|&n| n > 0).unwrap_or_default() as u32;
        while !std::mem::replace(&mut seen[op as usize], true) {
            op = waits_for[op as usize];
        }
        let mut ring = vec![op];
        let mut next = waits_for[op as usize];
        while next != op {
            ring.push(next);
            next = waits_for[next as usize];
        }
        ring
    }

    /// The program.
    pub fn build(self) -> Goal {
        self.goal
    }
}
