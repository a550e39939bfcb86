//! A graph of channels that wait for each other, and the search for a cycle in it.
//!
//! Besides channels there are *passages*: a packet at a router on its way from one channel to others. An edge from
//! channel `a` through passages to channel `b` says the same as one from `a` to `b`, and it takes far less memory where
//! many channels lead to many.

use std::collections::VecDeque;

/// A node: a channel, or a passage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Node {
    /// One that was named by the caller; its edges may be added at any time.
    Named(u32),
    /// One whose edges are added all at once.
    Passage(u32),
}

/// Passages have this bit.
const PASSAGE: u32 = 1 << 31;

impl Node {
    fn code(self) -> u32 {
        match self {
            Node::Named(n) => n,
            Node::Passage(n) => n | PASSAGE,
        }
    }

    fn of(code: u32) -> Self {
        if code & PASSAGE == 0 { Node::Named(code) } else { Node::Passage(code & !PASSAGE) }
    }
}

/// The graph.
#[derive(Debug, Default)]
pub(super) struct ChannelGraph {
    /// What each named node leads to.
    named: Vec<Vec<u32>>,
    /// The first edge of each passage, in `edges`.
    first: Vec<u32>,
    edges: Vec<u32>,
    /// Edges of named nodes.
    count: usize,
}

impl ChannelGraph {
    /// Adds a named node and returns its number.
    pub fn name(&mut self) -> u32 {
        self.named.push(Vec::new());
        self.named.len() as u32 - 1
    }

    /// The number that the next passage will have.
    pub fn passages(&self) -> u32 {
        self.first.len() as u32
    }

    /// Adds a passage with all its edges.
    pub fn pass(&mut self, to: impl Iterator<Item = Node>) {
        self.first.push(self.edges.len() as u32);
        self.edges.extend(to.map(Node::code));
    }

    /// An edge from a named node, unless there is one.
    pub fn lead(&mut self, from: u32, to: Node) {
        let (next, to) = (&mut self.named[from as usize], to.code());
        // Passages are new each time; of channels there are only those of one router.
        if next.last() != Some(&to) && (to & PASSAGE != 0 || !next.contains(&to)) {
            next.push(to);
            self.count += 1;
        }
    }

    /// Memory that it takes, and the search in it \[bytes].
    pub fn bytes(&self) -> u64 {
        (64 * self.named.len() + 8 * self.count + 8 * self.first.len() + 4 * self.edges.len()) as u64
    }

    /// Whether there is room for the numbers of more passages and edges.
    pub fn has_numbers(&self) -> bool {
        self.edges.len() < 1 << 31 && self.first.len() < 1 << 30
    }

    fn next(&self, node: u32) -> &[u32] {
        match Node::of(node) {
            Node::Named(n) => &self.named[n as usize],
            Node::Passage(n) => {
                let end = self.first.get(n as usize + 1).map_or(self.edges.len(), |&end| end as usize);
                &self.edges[self.first[n as usize] as usize..end]
            }
        }
    }

    fn index(&self, node: u32) -> usize {
        match Node::of(node) {
            Node::Named(n) => n as usize,
            Node::Passage(n) => self.named.len() + n as usize,
        }
    }

    fn all(&self) -> impl Iterator<Item = u32> + use<> {
        (0..self.named.len() as u32).chain((0..self.first.len() as u32).map(|n| n | PASSAGE))
    }

    /// What a named node leads to.
    pub fn behind(&self, from: u32) -> impl Iterator<Item = Node> {
        self.named[from as usize].iter().map(|&code| Node::of(code))
    }

    /// A cycle, the shortest through one of its nodes, without its passages; `None` if there is none.
    pub fn cycle(&self) -> Option<Vec<u32>> {
        let left = self.behind_cycles()?;
        let start = self.on_a_cycle(&left);
        let named = |&node: &u32| if let Node::Named(n) = Node::of(node) { Some(n) } else { None };
        Some(self.shortest_cycle(start).iter().filter_map(named).collect())
    }

    /// The nodes that are on cycles or behind them: those that are left after taking out, again and again, whatever
    /// nothing leads to.
    fn behind_cycles(&self) -> Option<Vec<bool>> {
        let nodes = self.named.len() + self.first.len();
        let mut leading_here = vec![0u32; nodes];
        for node in self.all() {
            self.next(node).iter().for_each(|&next| leading_here[self.index(next)] += 1);
        }
        let mut free: Vec<u32> = self.all().filter(|&node| leading_here[self.index(node)] == 0).collect();
        let mut taken_out = 0;
        while let Some(node) = free.pop() {
            taken_out += 1;
            for &next in self.next(node) {
                let count = &mut leading_here[self.index(next)];
                *count -= 1;
                if *count == 0 {
                    free.push(next);
                }
            }
        }
        (taken_out < nodes).then(|| leading_here.iter().map(|&count| count > 0).collect())
    }

    /// A node on a cycle, a named one if the cycle has one. Something leads to each of the nodes that are `left`, from
    /// one of them: going backwards from any comes to a cycle.
    fn on_a_cycle(&self, left: &[bool]) -> u32 {
        let mut before = vec![u32::MAX; left.len()];
        let is_left = |&node: &u32| left[self.index(node)];
        for node in self.all().filter(is_left) {
            self.next(node).iter().filter(|next| is_left(next)).for_each(|&next| before[self.index(next)] = node);
        }
        let mut node = self.all().find(is_left).unwrap_or(0);
        for _ in 0..left.len() {
            node = before[self.index(node)];
        }
        let round = std::iter::successors(Some(node), |&at| Some(before[self.index(at)]).filter(|&at| at != node));
        let named = round.clone().find(|&node| node & PASSAGE == 0);
        named.unwrap_or(node)
    }

    /// The shortest way from a node that is on a cycle back to itself.
    fn shortest_cycle(&self, start: u32) -> Vec<u32> {
        let mut before = vec![u32::MAX; self.named.len() + self.first.len()];
        let mut open = VecDeque::from([start]);
        while let Some(node) = open.pop_front() {
            for &next in self.next(node) {
                if next == start {
                    let back = std::iter::successors(Some(node), |&at| (at != start).then(|| before[self.index(at)]));
                    let mut cycle: Vec<u32> = back.collect();
                    cycle.reverse();
                    return cycle;
                }
                if before[self.index(next)] == u32::MAX {
                    before[self.index(next)] = node;
                    open.push_back(next);
                }
            }
        }
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(nodes: u32, edges: &[(u32, u32)]) -> ChannelGraph {
        let mut graph = ChannelGraph::default();
        (0..nodes).for_each(|_| _ = graph.name());
        edges.iter().for_each(|&(a, b)| graph.lead(a, Node::Named(b)));
        graph
    }

    #[test]
    fn a_cycle_is_found_wherever_it_is() {
        assert_eq!(graph(4, &[(0, 1), (1, 2), (0, 2), (2, 3)]).cycle(), None);
        assert_eq!(graph(1, &[(0, 0)]).cycle(), Some(vec![0]));
        // 0 leads to the cycle 2, 3, which leads to 1.
        let mut cycle = graph(4, &[(0, 2), (2, 3), (3, 2), (3, 1)]).cycle().unwrap();
        cycle.sort_unstable();
        assert_eq!(cycle, [2, 3]);
    }

    #[test]
    fn the_cycle_is_the_shortest_through_its_node() {
        let mut edges: Vec<(u32, u32)> = (0..8).map(|i| (i, (i + 1) % 8)).collect();
        assert_eq!(graph(8, &edges).cycle().unwrap().len(), 8);
        edges.extend((0..8).map(|i| (i, (i + 3) % 8)));
        // Two steps of 3 and two of 1.
        assert_eq!(graph(8, &edges).cycle().unwrap().len(), 4);
    }

    #[test]
    fn a_passage_is_passed_through() {
        let mut open = graph(3, &[(1, 2)]);
        let first = Node::Passage(open.passages());
        open.lead(0, first);
        let second = Node::Passage(open.passages() + 1);
        open.pass([second, Node::Named(2)].into_iter());
        open.pass([Node::Named(1)].into_iter());
        assert_eq!(open.cycle(), None);
        open.lead(2, first);
        let mut cycle = open.cycle().unwrap();
        assert!(cycle.contains(&2), "2 leads back to itself: {cycle:?}");
        open = graph(3, &[(1, 2), (2, 0)]);
        open.lead(0, first);
        open.pass([second].into_iter());
        open.pass([Node::Named(1)].into_iter());
        cycle = open.cycle().unwrap();
        cycle.sort_unstable();
        assert_eq!(cycle, [0, 1, 2]);
    }

    #[test]
    fn a_random_graph_has_the_cycles_that_a_search_finds() {
        let mut state = 1u64;
        let mut draw = |below: u32| {
            state = crate::mix::mix(state);
            (state % u64::from(below)) as u32
        };
        let (mut with, mut without) = (0, 0);
        for _ in 0..400 {
            let nodes = 2 + draw(8);
            let edges: Vec<(u32, u32)> = (0..draw(2 * nodes)).map(|_| (draw(nodes), draw(nodes))).collect();
            // Whether a node reaches itself: paths of every length, one by one.
            let mut reaches = vec![false; (nodes * nodes) as usize];
            edges.iter().for_each(|&(a, b)| reaches[(a * nodes + b) as usize] = true);
            for (k, a, b) in (0..nodes).flat_map(|k| (0..nodes).flat_map(move |a| (0..nodes).map(move |b| (k, a, b)))) {
                let via = reaches[(a * nodes + k) as usize] && reaches[(k * nodes + b) as usize];
                reaches[(a * nodes + b) as usize] |= via;
            }
            let expected = (0..nodes).any(|a| reaches[(a * nodes + a) as usize]);
            let cycle = graph(nodes, &edges).cycle();
            assert_eq!(cycle.is_some(), expected, "{edges:?}");
            if let Some(cycle) = cycle {
                with += 1;
                for (i, &node) in cycle.iter().enumerate() {
                    assert!(edges.contains(&(node, cycle[(i + 1) % cycle.len()])), "{cycle:?} {edges:?}");
                }
            } else {
                without += 1;
            }
        }
        assert!(with > 50 && without > 50, "{with} {without}");
    }
}
