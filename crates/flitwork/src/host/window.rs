//! The operations of a rank that its program has read and that may not be complete: which of them wait for which.
//!
//! Operations are numbered in program order. All before the window are complete, so nothing of them is kept.

use crate::schedule::{After, OpId};
use std::collections::VecDeque;

const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
struct Live {
    /// Operations that it still waits for.
    waits_for: u32,
    /// First of the list of those that wait for it.
    dependents: u32,
    complete: bool,
}

/// `op` waits for the operation in whose list this stands.
#[derive(Debug, Clone, Copy)]
struct Edge {
    op: OpId,
    next: u32,
}

#[derive(Debug)]
pub(super) struct Window {
    /// Number of the first operation in the window.
    first: OpId,
    live: VecDeque<Live>,
    edges: Vec<Edge>,
    /// First of the list of unused edges.
    free: u32,
    /// (operation that is not read yet, operation that waits for it).
    ahead: Vec<(OpId, OpId)>,
}

impl Default for Window {
    fn default() -> Self {
        // Room for what most ranks need, so that nothing is allocated after warm-up.
        let (live, edges) = (VecDeque::with_capacity(64), Vec::with_capacity(32));
        Window { first: 0, live, edges, free: NONE, ahead: Vec::new() }
    }
}

impl Window {
    /// The number that the next operation gets.
    fn next(&self) -> OpId {
        self.first + self.live.len() as OpId
    }

    /// Operations in the window.
    pub fn len(&self) -> usize {
        self.live.len()
    }

    /// The next operation of the program, which waits for `after`.
    pub fn push(&mut self, after: &After) -> OpId {
        let op = self.next();
        self.live.push_back(Live { waits_for: 0, dependents: NONE, complete: false });
        for dep in after.iter() {
            if dep > op {
                self.ahead.push((dep, op));
                self.live[(op - self.first) as usize].waits_for += 1;
            } else if dep < op && !self.is_complete(dep) {
                self.link(dep, op);
                self.live[(op - self.first) as usize].waits_for += 1;
            }
        }
        if !self.ahead.is_empty() {
            let due: Vec<OpId> = self.ahead.iter().filter(|(dep, _)| *dep == op).map(|&(_, waiting)| waiting).collect();
            self.ahead.retain(|(dep, _)| *dep != op);
            due.into_iter().for_each(|waiting| self.link(op, waiting));
        }
        op
    }

    /// The next operation, which waits for any one of `of`; for nothing if one of them is complete.
    pub fn push_any(&mut self, of: &[OpId]) -> OpId {
        let op = self.next();
        let waits = of.iter().all(|&dep| dep < op && !self.is_complete(dep));
        self.live.push_back(Live { waits_for: u32::from(waits), dependents: NONE, complete: false });
        if waits {
            of.iter().for_each(|&dep| self.link(dep, op));
        }
        op
    }

    fn link(&mut self, dep: OpId, op: OpId) {
        let head = &mut self.live[(dep - self.first) as usize].dependents;
        let edge = Edge { op, next: *head };
        if self.free == NONE {
            *head = self.edges.len() as u32;
            self.edges.push(edge);
        } else {
            *head = self.free;
            let place = &mut self.edges[self.free as usize];
            self.free = place.next;
            *place = edge;
        }
    }

    /// Whether an operation that was read waits for another one.
    pub fn waits(&self, op: OpId) -> bool {
        op >= self.first && self.live[(op - self.first) as usize].waits_for > 0
    }

    /// Whether an operation that was read is complete.
    pub fn is_complete(&self, op: OpId) -> bool {
        op < self.first || self.live[(op - self.first) as usize].complete
    }

    /// Marks an operation complete; calls `released` for each that need not wait any more.
    pub fn complete(&mut self, op: OpId, mut released: impl FnMut(OpId)) {
        let live = &mut self.live[(op - self.first) as usize];
        live.complete = true;
        let mut at = std::mem::replace(&mut live.dependents, NONE);
        while at != NONE {
            let Edge { op, next } = self.edges[at as usize];
            // One that waits for any of several may have been released, and be complete, before the others are.
            let live = op.checked_sub(self.first).map(|place| &mut self.live[place as usize]);
            if let Some(live) = live.filter(|live| live.waits_for > 0) {
                live.waits_for -= 1;
                if live.waits_for == 0 {
                    released(op);
                }
            }
            self.edges[at as usize].next = self.free;
            self.free = at;
            at = next;
        }
        while self.live.front().is_some_and(|live| live.complete) {
            self.live.pop_front();
            self.first += 1;
        }
    }

    /// The first operation that `op` waits for.
    pub fn awaited(&self, op: OpId) -> Option<OpId> {
        let waits = |live: &Live| {
            let mut at = live.dependents;
            std::iter::from_fn(move || {
                let edge = self.edges.get(at as usize)?;
                at = edge.next;
                Some(edge.op)
            })
            .any(|dependent| dependent == op)
        };
        let here = self.live.iter().position(waits).map(|i| self.first + i as OpId);
        here.or_else(|| self.ahead.iter().find(|(_, waiting)| *waiting == op).map(|&(dep, _)| dep))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::Cow;

    fn after(list: &[OpId]) -> After<'_> {
        After::List(Cow::Borrowed(list))
    }

    #[test]
    fn one_of_several_is_enough() {
        let mut window = Window::default();
        let (a, b) = (window.push(&after(&[])), window.push(&after(&[])));
        let any = window.push_any(&[a, b]);
        assert!(window.waits(any));
        let mut released = Vec::new();
        window.complete(a, |op| released.push(op));
        assert!(released == [any] && !window.waits(any));
        window.complete(any, |_| unreachable!("nothing waits for it"));
        window.complete(b, |_| unreachable!("it has been released"));
        let late = window.push_any(&[a, b]);
        assert!(window.len() == 1 && !window.waits(late), "they are complete");
    }

    #[test]
    fn what_is_complete_is_forgotten_from_the_front() {
        let mut window = Window::default();
        for list in [&[] as &[_], &[], &[0, 1], &[4], &[]] {
            window.push(&after(list));
        }
        assert_eq!((window.len(), window.waits(2), window.waits(3), window.waits(4)), (5, true, true, false));
        assert_eq!((window.awaited(2), window.awaited(3)), (Some(0), Some(4)));
        let mut released = Vec::new();
        window.complete(1, |op| released.push(op));
        window.complete(4, |op| released.push(op));
        assert_eq!((released.as_slice(), window.len()), (&[3][..], 5));
        window.complete(0, |op| released.push(op));
        assert_eq!((released.as_slice(), window.len()), (&[3, 2][..], 3));
        assert!(window.is_complete(0) && window.is_complete(4) && !window.is_complete(2));
        let last = window.push(&after(&[0, 1, 4]));
        assert!(!window.waits(last), "all of them are complete");
    }
}
