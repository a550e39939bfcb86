//! The operations of a rank that its program has read and that may not be complete: which of them wait for which.
//!
//! Operations are numbered in program order. All before the window are complete, so nothing of them is kept.

use crate::schedule::{After, OpId};
use std::collections::VecDeque;

/// No edge.
const NONE: u32 = ALONE - 1;
/// One operation waits, as most have it: the lower bits say how far behind it is.
const ALONE: u32 = 1 << 31;
/// In the place of the operations that one waits for: it is complete.
const COMPLETE: u32 = u32::MAX;

/// What is kept of an operation: little, as a rank may have thousands that are not complete, and they complete in any
/// order.
#[derive(Debug, Clone, Copy)]
struct Live {
    /// Operations that it still waits for, or [`COMPLETE`].
    waits_for: u32,
    /// Those that wait for it: [`NONE`], one ([`ALONE`]), or the first of a list of edges.
    dependents: u32,
}

impl Live {
    fn is_complete(self) -> bool {
        self.waits_for == COMPLETE
    }

    fn waits(self) -> bool {
        self.waits_for > 0 && !self.is_complete()
    }
}

/// The only operation that waits for `dep`, as it is kept.
fn alone(dep: OpId, op: OpId) -> u32 {
    ALONE | op.wrapping_sub(dep) & NONE
}

/// The operation that [`alone`] kept.
fn kept_alone(dep: OpId, dependents: u32) -> OpId {
    dep.wrapping_add_signed((dependents << 1).cast_signed() >> 1)
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
        self.live.push_back(Live { waits_for: 0, dependents: NONE });
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
        self.live.push_back(Live { waits_for: u32::from(waits), dependents: NONE });
        if waits {
            of.iter().for_each(|&dep| self.link(dep, op));
        }
        op
    }

    fn link(&mut self, dep: OpId, op: OpId) {
        let place = (dep - self.first) as usize;
        let before = self.live[place].dependents;
        self.live[place].dependents = if before == NONE {
            alone(dep, op)
        } else {
            let next =
                if before & ALONE == 0 { before } else { self.edge(Edge { op: kept_alone(dep, before), next: NONE }) };
            self.edge(Edge { op, next })
        };
    }

    /// A place for an edge.
    fn edge(&mut self, edge: Edge) -> u32 {
        let place = self.free;
        match self.edges.get_mut(place as usize) {
            Some(unused) => {
                self.free = unused.next;
                *unused = edge;
                place
            }
            None => {
                self.edges.push(edge);
                self.edges.len() as u32 - 1
            }
        }
    }

    /// Whether an operation that was read waits for another one.
    pub fn waits(&self, op: OpId) -> bool {
        op >= self.first && self.live[(op - self.first) as usize].waits()
    }

    /// Whether an operation that was read is complete.
    pub fn is_complete(&self, op: OpId) -> bool {
        op < self.first || self.live[(op - self.first) as usize].is_complete()
    }

    /// Marks an operation complete; calls `released` for each that need not wait any more.
    pub fn complete(&mut self, op: OpId, mut released: impl FnMut(OpId)) {
        let place = (op - self.first) as usize;
        let complete = Live { waits_for: COMPLETE, dependents: NONE };
        let mut at = std::mem::replace(&mut self.live[place], complete).dependents;
        if at & ALONE != 0 {
            self.release_dependent(kept_alone(op, at), &mut released);
            at = NONE;
        }
        while at != NONE {
            let Edge { op, next } = self.edges[at as usize];
            self.release_dependent(op, &mut released);
            self.edges[at as usize].next = self.free;
            self.free = at;
            at = next;
        }
        if place == 0 {
            while self.live.front().is_some_and(|live| live.is_complete()) {
                self.live.pop_front();
                self.first += 1;
            }
        }
    }

    /// One of those that an operation waits for is complete.
    fn release_dependent(&mut self, op: OpId, released: &mut impl FnMut(OpId)) {
        // One that waits for any of several may have been released, and be complete, before the others are.
        let live = op.checked_sub(self.first).map(|place| &mut self.live[place as usize]);
        if let Some(live) = live.filter(|live| live.waits()) {
            live.waits_for -= 1;
            if live.waits_for == 0 {
                released(op);
            }
        }
    }

    /// The first operation that `op` waits for.
    pub fn awaited(&self, op: OpId) -> Option<OpId> {
        let waits = |&(dep, live): &(OpId, &Live)| {
            let mut at = live.dependents;
            if at & ALONE != 0 {
                return kept_alone(dep, at) == op;
            }
            std::iter::from_fn(move || {
                let edge = self.edges.get(at as usize)?;
                at = edge.next;
                Some(edge.op)
            })
            .any(|dependent| dependent == op)
        };
        let here = (self.first..).zip(&self.live).find(waits).map(|(dep, _)| dep);
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
    fn several_may_wait_for_one_and_before_it() {
        let mut window = Window::default();
        for list in [&[2][..], &[2, 4], &[], &[2], &[], &[2, 2]] {
            window.push(&after(list));
        }
        assert_eq!([0, 1, 3, 5].map(|op| window.awaited(op)), [Some(2); 4]);
        let mut released = Vec::new();
        window.complete(2, |op| released.push(op));
        assert_eq!((released.as_slice(), window.awaited(1)), (&[5, 3, 0][..], Some(4)));
        assert!(window.is_complete(2) && !window.waits(2) && window.waits(1));
        released.clear();
        window.complete(4, |op| released.push(op));
        window.complete(0, |_| unreachable!("nothing waits for it"));
        assert_eq!((released.as_slice(), window.len()), (&[1][..], 5));
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
