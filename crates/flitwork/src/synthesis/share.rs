//! How the messages of a square are shared out to its four quadrants, and circuits through those of a quadrant.

use super::geometry::Vector;
use super::random::Random;

/// How the vectors of a square are shared out to its quadrants, `++`, `--`, `+-` and `-+`.
pub(super) struct Share {
    size: u16,
    /// Which lengths go with half a ring, in the first two quadrants and in the others.
    halves: [Vec<u16>; 2],
    /// Which lines do so.
    lines: [Vec<u16>; 2],
}

const SIGNS: [[i32; 2]; 4] = [[1, 1], [-1, -1], [1, -1], [-1, 1]];

impl Share {
    /// Draws one; `even`: both pairs of quadrants get about as much.
    pub(super) fn new(size: u32, even: bool, random: &mut Random) -> Self {
        let whole = (size as u16 - 1) / 2;
        let mut draw = |least: usize| {
            let mut all: Vec<u16> = (1..=whole).collect();
            random.shuffle(&mut all);
            let about =
                if even { (usize::from(whole) + random.below(2)) / 2 } else { random.below(usize::from(whole) + 1) };
            let rest = all.split_off(about.max(least));
            [all, rest]
        };
        Share { size: size as u16, halves: draw(1), lines: draw(0) }
    }

    /// Longest length that is not half a ring.
    pub(super) fn whole(&self) -> u16 {
        (self.size - 1) / 2
    }

    /// Lengths of the messages of a quadrant.
    pub(super) fn edges(&self, quadrant: usize) -> Vec<(u16, u16)> {
        let (half, whole) = (self.size / 2, self.whole());
        let mut edges: Vec<(u16, u16)> = (1..=whole).flat_map(|a| (1..=whole).map(move |b| (a, b))).collect();
        if half > whole {
            edges.extend(self.halves[quadrant / 2].iter().flat_map(|&b| [(half, b), (b, half)]));
            if quadrant == 0 {
                edges.push((half, half));
            }
        }
        edges
    }

    /// Lengths of its lines, each along both dimensions.
    pub(super) fn lines(&self, quadrant: usize) -> Vec<u16> {
        let half = (quadrant == 1 && self.size / 2 > self.whole()).then_some(self.size / 2);
        self.lines[quadrant / 2].iter().copied().chain(half).collect()
    }

    /// Slots of a quadrant.
    pub(super) fn slots(&self, quadrant: usize) -> u32 {
        let messages: u32 = self.edges(quadrant).iter().map(|e| u32::from(e.0)).sum();
        messages + self.lines(quadrant).iter().map(|&z| u32::from(z)).sum::<u32>()
    }

    /// Whether closed walks can have as many slots as the ring has nodes, with so many idle slots: (m, m) of an even
    /// ring takes half of them, and no other message goes with it, so that lines of as many slots must be there.
    pub(super) fn can_be_cut(&self, idle: u32) -> bool {
        let half = usize::from(self.size / 2);
        let mut sums = vec![false; half + 1];
        sums[0] = true;
        for z in self.lines(0).into_iter().map(usize::from) {
            for sum in (z..=half).rev() {
                sums[sum] |= sums[sum - z];
            }
        }
        self.size % 2 == 1 || (0..=half.min(idle as usize)).any(|idle| sums[half - idle])
    }

    /// A vector of a quadrant.
    pub(super) fn vector(&self, quadrant: usize, x: u16, y: u16) -> Vector {
        let mut vector = Vector::default();
        vector[..2].copy_from_slice(&[SIGNS[quadrant][0] * i32::from(x), SIGNS[quadrant][1] * i32::from(y)]);
        vector
    }
}

/// A random Eulerian circuit through edges (from, to), as the vertices in their order, the first one at both ends.
pub(super) fn circuit(edges: &[(u16, u16)], first: u16, random: &mut Random) -> Vec<u16> {
    let most = edges.iter().map(|e| usize::from(e.0)).max().unwrap_or(0);
    let mut out = vec![Vec::new(); most + 1];
    for &(from, to) in edges {
        out[usize::from(from)].push(to);
    }
    for edges in &mut out {
        random.shuffle(edges);
    }
    let (mut path, mut circuit) = (vec![first], Vec::new());
    while let Some(&at) = path.last() {
        match out[usize::from(at)].pop() {
            Some(to) => path.push(to),
            None => circuit.extend(path.pop()),
        }
    }
    circuit.reverse();
    circuit
}
