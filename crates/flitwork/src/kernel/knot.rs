//! Knots: virtual channels that can only wait for each other, while the rest of the network may still move.
//!
//! The front packet of an input VC waits for one of several things: for an output VC that another input VC owns, for room in the buffer behind
//! an output VC, or, where its own buffer is empty, for its next flits. Each is a *way out*. An input VC is *stuck* if all its ways out lead to
//! VCs that are stuck: then none of them can move first, so none ever moves. With a choice of outputs a cycle is therefore not enough:
//! every way out must be closed. Whatever a network cannot tell for certain counts as open, so nothing is called stuck that can move; what is
//! on its way has arrived when the loop looks again.
//!
//! Each part of a network lists what its own VCs wait for ([`Waits`]); ways may lead to VCs of other parts. [`Knot::of`] joins the lists.

use crate::transit::NONE;

/// What the front packet of an input VC waits for. VCs are numbered as in the whole network.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Way {
    /// Another input VC releases the output VC that it owns.
    Release(u32),
    /// This input VC, whose buffer has `flits` flits, sends one. If it has fewer, the others, or their credits, are on their way.
    Room { vc: u32, flits: u32 },
    /// The input VC upstream sends more flits of the packet.
    Flits,
}

/// An input VC whose front packet may be stuck.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    vc: u32,
    /// Flits in its buffer.
    flits: u32,
    /// The first of its ways in the list; the last one is before those of the next VC.
    ways: u32,
}

/// An input VC that sends a packet to another one, and whether flits or credits between them are on their way.
#[derive(Debug, Clone, Copy)]
struct Feeder {
    from: u32,
    to: u32,
    is_quiet: bool,
}

/// What the input VCs of a network, or of a part of it, wait for.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    /// Input VCs with a packet.
    occupied: usize,
    waiting: Vec<Waiting>,
    ways: Vec<Way>,
    feeders: Vec<Feeder>,
}

impl Waits {
    /// An input VC has a packet, and `flits` flits in its buffer. `ways` adds its ways out to the list; it returns false if one of them is open.
    pub fn occupied(&mut self, vc: u32, flits: u32, ways: impl FnOnce(&mut Vec<Way>) -> bool) {
        self.occupied += 1;
        let first = self.ways.len() as u32;
        if ways(&mut self.ways) {
            self.waiting.push(Waiting { vc, flits, ways: first });
        } else {
            self.ways.truncate(first as usize);
        }
    }

    /// Input VC `from` sends a packet to input VC `to`; `unreturned` of its flits have left it and their credits have not come back.
    pub fn feeds(&mut self, from: u32, to: u32, unreturned: u32) {
        self.feeders.push(Feeder { from, to, is_quiet: unreturned == 0 });
    }

    /// Adds the list of another part.
    fn absorb(&mut self, more: Waits) {
        let ways = self.ways.len() as u32;
        self.occupied += more.occupied;
        self.waiting.extend(more.waiting.into_iter().map(|w| Waiting { ways: w.ways + ways, ..w }));
        self.ways.extend(more.ways);
        self.feeders.extend(more.feeders);
    }
}

/// Input VCs that wait for each other for ever.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Knot {
    /// Some of them, each of which waits for the next and the last for the first.
    pub cycle: Vec<u32>,
    /// How many there are.
    pub stuck: usize,
    /// Other input VCs with a packet.
    pub others: usize,
}

/// A way out that is open.
const OPEN: u32 = u32::MAX;

impl Knot {
    /// The knot of a network in parts, if there is one. What it says does not depend on how the network is cut.
    pub fn of(parts: impl IntoIterator<Item = Waits>) -> Option<Self> {
        let mut waits = Waits::default();
        parts.into_iter().for_each(|part| waits.absorb(part));
        if waits.waiting.is_empty() {
            return None;
        }
        let ends = waits.ends();
        let stuck = waits.stuck(&ends);
        let first = stuck.iter().position(|&stuck| stuck)?;
        let count = stuck.iter().filter(|&&stuck| stuck).count();
        let cycle = waits.cycle(first, &ends).into_iter().map(|i| waits.waiting[i].vc).collect();
        Some(Knot { cycle, stuck: count, others: waits.occupied - count })
    }
}

impl Waits {
    /// The ways of the VC with number `i` in the list.
    fn ways_of(&self, i: usize) -> std::ops::Range<usize> {
        self.waiting[i].ways as usize..self.waiting.get(i + 1).map_or(self.ways.len(), |next| next.ways as usize)
    }

    /// Where each way leads: to a VC in the list, by its number there, or it is [`OPEN`].
    fn ends(&self) -> Vec<u32> {
        let named = self.waiting.iter().map(|w| w.vc);
        let size = named.chain(self.feeders.iter().map(|f| f.to)).max().map_or(0, |last| last as usize + 1);
        let mut number = vec![OPEN; size];
        self.waiting.iter().zip(0..).for_each(|(w, i)| number[w.vc as usize] = i);
        let mut feeder = Vec::new();
        if self.ways.iter().any(|way| matches!(way, Way::Flits)) {
            feeder = vec![NONE; size];
            self.feeders.iter().zip(0..).for_each(|(f, i)| feeder[f.to as usize] = i);
        }
        let listed = |vc: u32| number.get(vc as usize).copied().unwrap_or(OPEN);
        let mut ends = Vec::with_capacity(self.ways.len());
        for i in 0..self.waiting.len() {
            for way in &self.ways[self.ways_of(i)] {
                ends.push(match *way {
                    Way::Release(vc) => listed(vc),
                    Way::Room { vc, flits } => {
                        let end = listed(vc);
                        let is_there = |&end: &u32| end != OPEN && self.waiting[end as usize].flits == flits;
                        Some(end).filter(is_there).unwrap_or(OPEN)
                    }
                    Way::Flits => {
                        let feeder = feeder[self.waiting[i].vc as usize];
                        let feeder = self.feeders.get(feeder as usize).filter(|f| f.is_quiet);
                        feeder.map_or(OPEN, |feeder| listed(feeder.from))
                    }
                });
            }
        }
        ends
    }

    /// Which VCs of the list are stuck: those from which no ways lead to an open one.
    fn stuck(&self, ends: &[u32]) -> Vec<bool> {
        let count = self.waiting.len();
        // Who has a way to each VC: lists one behind the other.
        let mut first = vec![0u32; count + 2];
        ends.iter().filter(|&&end| end != OPEN).for_each(|&end| first[end as usize + 2] += 1);
        (2..count + 2).for_each(|i| first[i] += first[i - 1]);
        let mut waits_for = vec![0u32; first[count + 1] as usize];
        let mut stuck = vec![true; count];
        let mut free = Vec::new();
        for i in 0..count {
            for &end in &ends[self.ways_of(i)] {
                if end == OPEN {
                    if std::mem::replace(&mut stuck[i], false) {
                        free.push(i);
                    }
                } else {
                    let place = &mut first[end as usize + 1];
                    waits_for[*place as usize] = i as u32;
                    *place += 1;
                }
            }
        }
        while let Some(i) = free.pop() {
            for &other in &waits_for[first[i] as usize..first[i + 1] as usize] {
                if std::mem::replace(&mut stuck[other as usize], false) {
                    free.push(other as usize);
                }
            }
        }
        stuck
    }

    /// From a VC that is stuck along the first way of each: the VCs of the list that come round again.
    fn cycle(&self, from: usize, ends: &[u32]) -> Vec<usize> {
        let mut place = vec![usize::MAX; self.waiting.len()];
        let (mut path, mut at) = (Vec::new(), from);
        loop {
            if place[at] != usize::MAX {
                return path.split_off(place[at]);
            }
            place[at] = path.len();
            path.push(at);
            match ends.get(self.ways_of(at).start).filter(|_| !self.ways_of(at).is_empty()) {
                Some(&end) => at = end as usize,
                // It has nothing to wait for.
                None => return path,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of input VCs: each with its flits and ways.
    fn waits(vcs: &[(u32, u32, &[Way])]) -> Waits {
        let mut waits = Waits::default();
        vcs.iter().for_each(|&(vc, flits, ways)| {
            waits.occupied(vc, flits, |list| {
                list.extend(ways);
                true
            });
        });
        waits
    }

    fn room(vc: u32) -> Way {
        Way::Room { vc, flits: 2 }
    }

    #[test]
    fn a_ring_is_stuck_and_so_is_who_waits_for_it() {
        let ring = || waits(&[(3, 2, &[room(5)]), (5, 2, &[room(9)]), (9, 2, &[room(3)]), (1, 1, &[Way::Release(5)])]);
        assert_eq!(Knot::of([ring()]), Some(Knot { cycle: vec![3, 5, 9], stuck: 4, others: 0 }));
        // Another one moves.
        let mut more = ring();
        more.occupied(2, 1, |_| false);
        assert_eq!(Knot::of([more]).map(|knot| knot.others), Some(1));
    }

    #[test]
    fn one_way_out_is_enough() {
        let open = waits(&[(3, 2, &[room(5), Way::Release(7)]), (5, 2, &[room(3)])]);
        assert_eq!(Knot::of([open]), None);
        let closed = waits(&[(3, 2, &[room(5), Way::Release(7)]), (5, 2, &[room(3)]), (7, 2, &[room(3)])]);
        assert_eq!(Knot::of([closed]), Some(Knot { cycle: vec![3, 5], stuck: 3, others: 0 }));
    }

    #[test]
    fn what_is_on_its_way_is_a_way_out() {
        let under_way = waits(&[(3, 2, &[room(5)]), (5, 1, &[room(3)])]);
        assert_eq!(Knot::of([under_way]), None);
        // An empty buffer whose packet comes from 3, which waits for 5 behind it.
        let chain = |unreturned| {
            let mut waits = waits(&[(3, 2, &[Way::Release(4)]), (4, 0, &[Way::Flits])]);
            waits.feeds(3, 4, unreturned);
            Knot::of([waits])
        };
        assert_eq!(chain(1), None);
        assert_eq!(chain(0).map(|knot| knot.cycle), Some(vec![3, 4]));
    }

    #[test]
    fn parts_are_joined() {
        let parts = || [waits(&[(1, 2, &[room(7)])]), waits(&[(7, 2, &[room(1)]), (8, 2, &[room(7)])])];
        assert_eq!(Knot::of(parts()), Some(Knot { cycle: vec![1, 7], stuck: 3, others: 0 }));
        let [first, _] = parts();
        assert_eq!(Knot::of([first]), None);
    }
}
