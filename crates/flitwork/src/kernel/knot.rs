//! Knots: virtual channels that can only wait for each other, while the rest of the network may still move.
//!
//! The front packet of an input VC waits for one of several things: for an output VC that another input VC owns, for
//! room in the buffer behind an output VC, or, where its own buffer is empty, for its next flits. Each is an
//! *alternative*. An input VC is *stuck* if all its alternatives lead to VCs that are stuck: then none of them can move
//! first, so none ever moves. With a choice of outputs a cycle is therefore not enough: every alternative must be
//! closed. Whatever a network cannot tell for certain counts as open, so nothing is called stuck that can move; what is
//! on its way has arrived when the loop looks again.
//!
//! Each part of a network adds what its own VCs wait for to one list ([`Waits`]); alternatives may lead to VCs of other
//! parts. A [`Search`] keeps the list and what it derives from it, so that looking again takes no new memory.

use crate::transit::NONE;

/// What the front packet of an input VC waits for. VCs are numbered as in the whole network.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Alternative {
    /// Another input VC releases the output VC that it owns.
    Release(u32),
    /// This input VC, whose buffer has `flits` flits, sends one. If it has fewer, the others, or their credits, are on
    /// their way.
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
    alternatives: u32,
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
    alternatives: Vec<Alternative>,
    feeders: Vec<Feeder>,
}

impl Waits {
    /// An input VC has a packet, and `flits` flits in its buffer. `alternatives` adds its alternatives to the list; it
    /// returns false if one of them is open.
    pub fn occupied(&mut self, vc: u32, flits: u32, alternatives: impl FnOnce(&mut Vec<Alternative>) -> bool) {
        self.occupied += 1;
        let first = self.alternatives.len() as u32;
        if alternatives(&mut self.alternatives) {
            self.waiting.push(Waiting { vc, flits, alternatives: first });
        } else {
            self.alternatives.truncate(first as usize);
        }
    }

    /// Input VC `from` sends a packet to input VC `to`; `unreturned` of its flits have left it and their credits have
    /// not come back.
    pub fn feeds(&mut self, from: u32, to: u32, unreturned: u32) {
        self.feeders.push(Feeder { from, to, is_quiet: unreturned == 0 });
    }

    fn clear(&mut self) {
        self.occupied = 0;
        self.waiting.clear();
        self.alternatives.clear();
        self.feeders.clear();
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

/// An alternative that is open.
const OPEN: u32 = u32::MAX;

/// The lists of a search, kept from one to the next.
#[derive(Debug, Default)]
pub(super) struct Search {
    waits: Waits,
    /// By number of a VC: its place in the list, and who sends to it. Others are [`OPEN`] and [`NONE`].
    place: Vec<u32>,
    feeder: Vec<u32>,
    /// Where each alternative leads: to a VC, by its place in the list, or it is [`OPEN`].
    ends: Vec<u32>,
    /// Who has an alternative that leads to each VC: lists one behind the other.
    first: Vec<u32>,
    waits_for: Vec<u32>,
    is_stuck: Vec<bool>,
    free: Vec<u32>,
}

impl Search {
    /// The knot of a network, if there is one; `list` adds what its parts wait for. What it says does not depend on how
    /// the network is cut.
    pub fn knot(&mut self, list: impl FnOnce(&mut Waits)) -> Option<Knot> {
        self.waits.clear();
        list(&mut self.waits);
        if self.waits.waiting.is_empty() {
            return None;
        }
        self.find_ends();
        self.find_stuck();
        let first = self.is_stuck.iter().position(|&stuck| stuck)?;
        let stuck = self.is_stuck.iter().filter(|&&stuck| stuck).count();
        let cycle = self.waits.cycle(first, &self.ends).into_iter().map(|i| self.waits.waiting[i].vc).collect();
        Some(Knot { cycle, stuck, others: self.waits.occupied - stuck })
    }

    /// Where each alternative leads.
    fn find_ends(&mut self) {
        let Search { waits, place, feeder, ends, .. } = self;
        let named = waits.waiting.iter().map(|w| w.vc);
        let size = named.chain(waits.feeders.iter().map(|f| f.to)).max().map_or(0, |last| last as usize + 1);
        fill(place, size, OPEN);
        waits.waiting.iter().zip(0..).for_each(|(w, i)| place[w.vc as usize] = i);
        if waits.alternatives.iter().any(|alternative| matches!(alternative, Alternative::Flits)) {
            fill(feeder, size, NONE);
            waits.feeders.iter().zip(0..).for_each(|(f, i)| feeder[f.to as usize] = i);
        }
        let listed = |vc: u32| place.get(vc as usize).copied().unwrap_or(OPEN);
        ends.clear();
        for (i, waiting) in waits.waiting.iter().enumerate() {
            for alternative in &waits.alternatives[waits.alternatives_of(i)] {
                ends.push(match *alternative {
                    Alternative::Release(vc) => listed(vc),
                    Alternative::Room { vc, flits } => {
                        let end = listed(vc);
                        let is_there = |&end: &u32| end != OPEN && waits.waiting[end as usize].flits == flits;
                        Some(end).filter(is_there).unwrap_or(OPEN)
                    }
                    Alternative::Flits => {
                        let feeder = feeder[waiting.vc as usize];
                        let feeder = waits.feeders.get(feeder as usize).filter(|f| f.is_quiet);
                        feeder.map_or(OPEN, |feeder| listed(feeder.from))
                    }
                });
            }
        }
    }

    /// Which VCs of the list are stuck: those from which no alternatives lead to an open one.
    fn find_stuck(&mut self) {
        let Search { waits, ends, first, waits_for, is_stuck, free, .. } = self;
        let count = waits.waiting.len();
        fill(first, count + 2, 0);
        ends.iter().filter(|&&end| end != OPEN).for_each(|&end| first[end as usize + 2] += 1);
        (2..count + 2).for_each(|i| first[i] += first[i - 1]);
        fill(waits_for, first[count + 1] as usize, 0);
        fill(is_stuck, count, true);
        free.clear();
        for i in 0..count {
            for &end in &ends[waits.alternatives_of(i)] {
                if end == OPEN {
                    if std::mem::replace(&mut is_stuck[i], false) {
                        free.push(i as u32);
                    }
                } else {
                    let place = &mut first[end as usize + 1];
                    waits_for[*place as usize] = i as u32;
                    *place += 1;
                }
            }
        }
        while let Some(i) = free.pop() {
            for &other in &waits_for[first[i as usize] as usize..first[i as usize + 1] as usize] {
                if std::mem::replace(&mut is_stuck[other as usize], false) {
                    free.push(other);
                }
            }
        }
    }
}

/// Makes a list one of `size` times `value`.
fn fill<T: Clone>(list: &mut Vec<T>, size: usize, value: T) {
    list.clear();
    list.resize(size, value);
}

impl Waits {
    /// The alternatives of the VC at a place in the list.
    fn alternatives_of(&self, i: usize) -> std::ops::Range<usize> {
        self.waiting[i].alternatives as usize
            ..self.waiting.get(i + 1).map_or(self.alternatives.len(), |next| next.alternatives as usize)
    }

    /// From a VC that is stuck along the first alternative of each: the VCs of the list that come round again.
    fn cycle(&self, from: usize, ends: &[u32]) -> Vec<usize> {
        let mut place = vec![usize::MAX; self.waiting.len()];
        let (mut path, mut at) = (Vec::new(), from);
        loop {
            if place[at] != usize::MAX {
                return path.split_off(place[at]);
            }
            place[at] = path.len();
            path.push(at);
            match ends.get(self.alternatives_of(at).start).filter(|_| !self.alternatives_of(at).is_empty()) {
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

    type Part<'a> = &'a [(u32, u32, &'a [Alternative])];

    /// Adds input VCs: each with its flits and alternatives.
    fn add(waits: &mut Waits, vcs: Part) {
        vcs.iter().for_each(|&(vc, flits, alternatives)| {
            waits.occupied(vc, flits, |list| {
                list.extend(alternatives);
                true
            });
        });
    }

    fn knot(vcs: Part) -> Option<Knot> {
        Search::default().knot(|waits| add(waits, vcs))
    }

    fn room(vc: u32) -> Alternative {
        Alternative::Room { vc, flits: 2 }
    }

    #[test]
    fn a_ring_is_stuck_and_so_is_who_waits_for_it() {
        let ring: Part =
            &[(3, 2, &[room(5)]), (5, 2, &[room(9)]), (9, 2, &[room(3)]), (1, 1, &[Alternative::Release(5)])];
        assert_eq!(knot(ring), Some(Knot { cycle: vec![3, 5, 9], stuck: 4, others: 0 }));
        // Another one moves.
        let more = Search::default().knot(|waits| {
            add(waits, ring);
            waits.occupied(2, 1, |_| false);
        });
        assert_eq!(more.map(|knot| knot.others), Some(1));
    }

    #[test]
    fn one_open_alternative_is_enough() {
        assert_eq!(knot(&[(3, 2, &[room(5), Alternative::Release(7)]), (5, 2, &[room(3)])]), None);
        let closed = knot(&[(3, 2, &[room(5), Alternative::Release(7)]), (5, 2, &[room(3)]), (7, 2, &[room(3)])]);
        assert_eq!(closed, Some(Knot { cycle: vec![3, 5], stuck: 3, others: 0 }));
    }

    #[test]
    fn what_is_on_its_way_is_an_open_alternative() {
        assert_eq!(knot(&[(3, 2, &[room(5)]), (5, 1, &[room(3)])]), None);
        // An empty buffer whose packet comes from 3, which waits for 5 behind it.
        let chain = |unreturned| {
            Search::default().knot(|waits| {
                add(waits, &[(3, 2, &[Alternative::Release(4)]), (4, 0, &[Alternative::Flits])]);
                waits.feeds(3, 4, unreturned);
            })
        };
        assert_eq!(chain(1), None);
        assert_eq!(chain(0).map(|knot| knot.cycle), Some(vec![3, 4]));
    }

    #[test]
    fn parts_are_joined_and_a_search_starts_anew() {
        let parts: [Part; 2] = [&[(1, 2, &[room(7)])], &[(7, 2, &[room(1)]), (8, 2, &[room(7)])]];
        let mut search = Search::default();
        for _ in 0..2 {
            let both = search.knot(|waits| parts.iter().for_each(|part| add(waits, part)));
            assert_eq!(both, Some(Knot { cycle: vec![1, 7], stuck: 3, others: 0 }));
            assert_eq!(search.knot(|waits| add(waits, parts[0])), None);
        }
    }
}
