//! Channel dependencies that never close a cycle: paths are added one by one, and one that would close a cycle is left
//! out.
//!
//! The channels are kept in an order in which every dependency leads forward, which is repaired where a new one leads
//! back: D. J. Pearce and P. H. J. Kelly, "A dynamic topological sort algorithm for directed acyclic graphs", ACM J.
//! Experimental Algorithmics 11, 2006.

use crate::topology::Fabric;

/// Channels, the dependencies between them, and an order in which these lead forward. A channel is
/// `router * ports + port`.
#[derive(Debug)]
pub(super) struct Acyclic {
    ports: usize,
    /// Behind each channel, the output ports of the router at its far end that packets go on by, as bits.
    goes_on: Vec<u64>,
    /// Those by which a packet cannot go on without closing a cycle: as dependencies are only ever added, it never can.
    closes: Vec<u64>,
    /// The place of each channel in the order.
    place: Vec<u32>,
}

impl Acyclic {
    /// No dependencies yet.
    pub(super) fn new(fabric: &Fabric) -> Self {
        let ports = fabric.network_ports();
        let channels = fabric.routers() as usize * ports;
        let place = (0..channels as u32).collect();
        Acyclic { ports, goes_on: vec![0; channels], closes: vec![0; channels], place }
    }

    /// Adds the dependencies of a path, a list of router and output port; if one of them would close a cycle, none is
    /// added and the answer is `false`.
    pub(super) fn add(&mut self, fabric: &Fabric, path: &[(u32, usize)]) -> bool {
        let pairs = || path.windows(2).map(|pair| (self.number(pair[0]), pair[1].1));
        if pairs().any(|(before, port)| self.closes[before] >> port & 1 == 1) {
            return false;
        }
        let mut added: Vec<(usize, usize)> = Vec::new();
        for pair in path.windows(2) {
            let (before, after, port) = (self.number(pair[0]), self.number(pair[1]), pair[1].1);
            if self.goes_on[before] >> port & 1 == 1 {
                continue;
            }
            if !self.put_in_order(fabric, before, after) {
                added.iter().for_each(|&(channel, port)| self.goes_on[channel] &= !(1 << port));
                // Others of this path may have closed the cycle with it.
                if added.is_empty() || !self.put_in_order(fabric, before, after) {
                    self.closes[before] |= 1 << port;
                }
                return false;
            }
            self.goes_on[before] |= 1 << port;
            added.push((before, port));
        }
        true
    }

    fn number(&self, (router, port): (u32, usize)) -> usize {
        router as usize * self.ports + port
    }

    /// Changes the order so that `before` comes before `after`; `false` where `after` leads to `before` already.
    fn put_in_order(&mut self, fabric: &Fabric, before: usize, after: usize) -> bool {
        let (first, last) = (self.place[after], self.place[before]);
        if last < first {
            return true;
        }
        let Some(behind) =
            self.reached(after, Some(before), |place| place < last, |from, list| self.next(fabric, from, list))
        else {
            return false;
        };
        let ahead = self.reached(before, None, |place| place > first, |from, list| self.previous(fabric, from, list));
        let moved: Vec<usize> = ahead.into_iter().flatten().chain(behind).collect();
        let mut places: Vec<u32> = moved.iter().map(|&channel| self.place[channel]).collect();
        places.sort_unstable();
        for (channel, place) in moved.into_iter().zip(places) {
            self.place[channel] = place;
        }
        true
    }

    /// The channels that a search from `start` reaches at places that are `within`, `start` included, in their order;
    /// `None` where it reaches `goal`.
    fn reached(
        &self,
        start: usize,
        goal: Option<usize>,
        within: impl Fn(u32) -> bool,
        neighbours: impl Fn(usize, &mut Vec<usize>),
    ) -> Option<Vec<usize>> {
        let mut found = vec![start];
        let mut seen = std::collections::HashSet::from([start]);
        let (mut next, mut list) = (0, Vec::new());
        while let Some(&at) = found.get(next) {
            next += 1;
            list.clear();
            neighbours(at, &mut list);
            for &channel in &list {
                if Some(channel) == goal {
                    return None;
                }
                if within(self.place[channel]) && seen.insert(channel) {
                    found.push(channel);
                }
            }
        }
        found.sort_unstable_by_key(|&channel| self.place[channel]);
        Some(found)
    }

    /// The channels that packets go on by from a channel.
    fn next(&self, fabric: &Fabric, channel: usize, list: &mut Vec<usize>) {
        let Some((far, _)) = fabric.peer((channel / self.ports) as u32, channel % self.ports) else { return };
        let mut left = self.goes_on[channel];
        while left != 0 {
            list.push(far as usize * self.ports + left.trailing_zeros() as usize);
            left &= left - 1;
        }
    }

    /// The channels from which packets go on by a channel.
    fn previous(&self, fabric: &Fabric, channel: usize, list: &mut Vec<usize>) {
        let (router, port) = ((channel / self.ports) as u32, channel % self.ports);
        let feeders = (0..self.ports).filter_map(|input| fabric.feeder(router, input));
        let feeders = feeders.map(|(feeder, output)| feeder as usize * self.ports + output);
        list.extend(feeders.filter(|&feeder| self.goes_on[feeder] >> port & 1 == 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::graph;

    /// Random routers and channels, and random walks on them: one is accepted just where a search through all
    /// dependencies accepts it.
    #[test]
    fn paths_are_accepted_as_a_plain_search_accepts_them() {
        let mut state = 7u64;
        let mut draw = move |n: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % n
        };
        let (mut accepted, mut refused) = (0, 0);
        for _ in 0..40 {
            let routers = 3 + draw(6) as u32;
            let ends: Vec<_> = (0..2 * routers).map(|_| [(); 2].map(|()| draw(routers as usize) as u32)).collect();
            let cables: Vec<_> = ends.into_iter().filter(|[a, b]| a != b).chain([[0, routers - 1]]).collect();
            let fabric = graph(&cables, &vec![1; routers as usize]);
            let mut tested = Acyclic::new(&fabric);
            let mut plain: Vec<(usize, usize)> = Vec::new();
            for _ in 0..30 {
                let mut path = Vec::new();
                let mut at = draw(routers as usize) as u32;
                for _ in 0..2 + draw(4) {
                    let outputs: Vec<usize> =
                        (0..fabric.network_ports()).filter(|&port| fabric.peer(at, port).is_some()).collect();
                    if outputs.is_empty() {
                        break;
                    }
                    let port = outputs[draw(outputs.len())];
                    path.push((at, port));
                    at = fabric.peer(at, port).unwrap().0;
                }
                let mut with = plain.clone();
                with.extend(path.windows(2).map(|pair| (tested.number(pair[0]), tested.number(pair[1]))));
                let free = !has_cycle(&with, fabric.routers() as usize * fabric.network_ports());
                assert_eq!(tested.add(&fabric, &path), free);
                *(if free { &mut accepted } else { &mut refused }) += 1;
                if free {
                    plain = with;
                }
            }
        }
        assert!(accepted > 100 && refused > 100, "{accepted} accepted, {refused} refused");
    }

    /// Takes out channels that nothing leads to until none is left.
    fn has_cycle(edges: &[(usize, usize)], channels: usize) -> bool {
        let mut left: Vec<(usize, usize)> = edges.to_vec();
        for _ in 0..channels {
            let entered: Vec<usize> = left.iter().map(|edge| edge.1).collect();
            left.retain(|edge| entered.contains(&edge.0));
        }
        !left.is_empty()
    }
}
