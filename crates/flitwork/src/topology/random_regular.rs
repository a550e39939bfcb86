//! Random regular networks, known as Jellyfish: A. Singla, C.-Y. Hong, L. Popa and P. B. Godfrey, "Jellyfish:
//! networking data centers randomly", NSDI 2012.
//!
//! As there, two random routers with free ports that are not joined yet are joined, until no such pair is left. Where
//! ports remain, a random cable makes way: instead of the cable from x to y, two cables join x and y to routers with
//! free ports. Such a cable always exists, so every router gets all of its cables. A network that is not connected is
//! drawn again.
//!
//! Ports are in the order in which cables are drawn, so the lowest port on a shortest path is a random one. A seed
//! gives the same network on every machine.

use super::cables::{Cables, MOST_PORTS, MOST_ROUTERS, check_terminals, checked_routers, drawing, refuse};
use super::drawing::on_circle;
use super::kind::{Topology, one};
use super::{Fabric, Graph};
use crate::error::Result;
use crate::mix::{draw_below, mix};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Fewest cables of a router: with two, the network is hardly ever connected.
const LEAST_DEGREE: u32 = 3;
/// Most networks that are drawn until one is connected. Of large ones the first nearly always is; of the smallest ones,
/// most are.
const MOST_DRAWS: u64 = 100;
/// Pairs that are drawn in vain before all pairs are looked at.
const MOST_MISSES: u32 = 64;

/// A random regular network: every router has the same number of cables, to random other routers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomRegular {
    /// Routers, 4 to 1000000.
    #[schemars(range(min = LEAST_DEGREE + 1, max = MOST_ROUTERS))]
    pub routers: u32,
    /// Cables of each router: 3 to 63, fewer than there are routers. Routers times degree must be even.
    #[schemars(range(min = LEAST_DEGREE, max = MOST_PORTS - 1))]
    pub degree: u32,
    /// Seed of the draw. Default: 1.
    #[serde(default = "first_seed")]
    pub seed: u64,
    /// Terminals at each router, at least 1. Default: 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub terminals_per_router: u32,
}

/// The default of `seed`.
fn first_seed() -> u64 {
    1
}

impl Topology for RandomRegular {
    fn fabric(&self) -> Result<Fabric> {
        self.check()?;
        let routers = self.routers;
        let mut cables = Cables::new(routers);
        for [one, other] in self.draw()? {
            cables.lay(one, other, 0);
        }
        let channels = cables.channels();
        Fabric::of_graph(&Graph {
            terminals: vec![self.terminals_per_router; routers as usize],
            classes: vec!["random".to_string()],
            drawing: drawing(routers, |router| on_circle(router, routers), &channels, ""),
            channels,
        })
    }
}

impl RandomRegular {
    fn check(&self) -> Result<()> {
        let &RandomRegular { routers, degree, .. } = self;
        if !(LEAST_DEGREE + 1..=MOST_ROUTERS).contains(&routers) {
            return refuse("routers", routers, format!("{} to {MOST_ROUTERS} routers", LEAST_DEGREE + 1), "");
        }
        let most = (MOST_PORTS - 1).min(routers - 1);
        if !(LEAST_DEGREE..=most).contains(&degree) {
            let expected =
                format!("{LEAST_DEGREE} to {most}: at most {} cables, one to each other router", MOST_PORTS - 1);
            return refuse("degree", degree, expected, "");
        }
        if routers % 2 == 1 && degree % 2 == 1 {
            let expected = format!("an even number: a cable has two ends, and there are {routers} routers");
            return refuse("degree", degree, expected, "or use an even number of routers");
        }
        checked_routers("routers", routers, Some(routers.into()), degree)?;
        check_terminals("terminals_per_router", self.terminals_per_router, degree)
    }

    /// The cables of a connected network.
    fn draw(&self) -> Result<Vec<[u32; 2]>> {
        let mut networks = (0..MOST_DRAWS).filter_map(|draw| Wiring::new(self, draw).complete());
        match networks.find(Wiring::is_connected) {
            Some(network) => Ok(network.cables),
            None => refuse("seed", self.seed, "a seed that gives a connected network", "use another seed"),
        }
    }
}

/// A network that is being drawn.
struct Wiring {
    /// The routers with free ports, each as often as it has free ports.
    free: Vec<u32>,
    cables: Vec<[u32; 2]>,
    /// The routers that each router is joined to.
    joined: Vec<Vec<u32>>,
    /// What random numbers depend on, and how many were drawn.
    key: u64,
    drawn: u64,
}

impl Wiring {
    fn new(network: &RandomRegular, draw: u64) -> Self {
        let &RandomRegular { routers, degree, seed, .. } = network;
        Wiring {
            free: (0..routers).flat_map(|router| std::iter::repeat_n(router, degree as usize)).collect(),
            cables: Vec::new(),
            joined: vec![Vec::with_capacity(degree as usize); routers as usize],
            key: mix(mix(seed ^ 0x6a65_6c6c_7966_6973) ^ draw),
            drawn: 0,
        }
    }

    /// A random number below `n`.
    fn below(&mut self, n: usize) -> usize {
        self.drawn += 1;
        draw_below(mix(self.key ^ self.drawn), n as u64) as usize
    }

    /// The network with all of its cables.
    fn complete(mut self) -> Option<Self> {
        let mut misses = 0;
        while self.free.len() >= 2 {
            let one = self.below(self.free.len());
            let other = self.below(self.free.len() - 1);
            let pair = [one, if other < one { other } else { other + 1 }];
            if self.may_join(pair.map(|i| self.free[i])) {
                self.join_free(pair);
                misses = 0;
            } else if misses < MOST_MISSES {
                misses += 1;
            } else {
                // No pair of many, or one of few.
                match self.any_pair() {
                    Some(pair) => self.join_free(pair),
                    None => self.make_way()?,
                }
            }
        }
        Some(self)
    }

    /// Whether two routers may be joined.
    fn may_join(&self, [one, other]: [u32; 2]) -> bool {
        one != other && !self.joined[one as usize].contains(&other)
    }

    fn join(&mut self, [one, other]: [u32; 2]) {
        self.joined[one as usize].push(other);
        self.joined[other as usize].push(one);
        self.cables.push([one, other]);
    }

    /// Joins the routers of two free ports.
    fn join_free(&mut self, ports: [usize; 2]) {
        self.join(ports.map(|i| self.free[i]));
        self.free.swap_remove(ports[0].max(ports[1]));
        self.free.swap_remove(ports[0].min(ports[1]));
    }

    /// The first two free ports whose routers may be joined.
    fn any_pair(&self) -> Option<[usize; 2]> {
        let pairs = (1..self.free.len()).flat_map(|one| (0..one).map(move |other| [one, other]));
        pairs.into_iter().find(|pair| self.may_join(pair.map(|i| self.free[i])))
    }

    /// Takes out a random cable whose ends the routers of the first two free ports may be joined to, and joins them.
    ///
    /// There is one: let p and q be these routers. All routers with free ports are joined to each other, so a router x
    /// that is not joined to p has no free port: it has `degree` cables, none to p. Fewer than `degree` routers other
    /// than p are q or joined to q. So x is joined to some y that is not q and not joined to q.
    fn make_way(&mut self) -> Option<()> {
        let (p, q) = (self.free[0], self.free[1]);
        let (all, first) = (self.cables.len(), self.below(self.cables.len()));
        let both_ways = |i: usize| {
            let [x, y] = self.cables[i];
            [(i, x, y), (i, y, x)]
        };
        let mut ends = (0..all).flat_map(|i| both_ways((first + i) % all));
        let (cable, x, y) = ends.find(|&(_, x, y)| self.may_join([p, x]) && self.may_join([q, y]))?;
        self.cables.swap_remove(cable);
        self.joined[x as usize].retain(|&other| other != y);
        self.joined[y as usize].retain(|&other| other != x);
        self.join([p, x]);
        self.join([q, y]);
        self.free.swap_remove(1);
        self.free.swap_remove(0);
        Some(())
    }

    fn is_connected(&self) -> bool {
        let mut reached = vec![false; self.joined.len()];
        reached[0] = true;
        let mut next = vec![0u32];
        let mut count = 1;
        while let Some(router) = next.pop() {
            for &far in &self.joined[router as usize] {
                if !std::mem::replace(&mut reached[far as usize], true) {
                    count += 1;
                    next.push(far);
                }
            }
        }
        count == reached.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(routers: u32, degree: u32, seed: u64) -> RandomRegular {
        RandomRegular { routers, degree, seed, terminals_per_router: 1 }
    }

    fn sorted(network: &RandomRegular) -> Vec<[u32; 2]> {
        let mut cables = network.draw().unwrap();
        cables.iter_mut().for_each(|cable| cable.sort_unstable());
        cables.sort_unstable();
        cables
    }

    #[test]
    fn all_routers_have_their_cables_to_different_others() {
        for (routers, degree) in [(4, 3), (5, 4), (6, 3), (6, 4), (7, 4), (8, 3), (64, 63), (50, 47), (100, 3)] {
            for seed in 0..20 {
                let network = random(routers, degree, seed);
                assert!(Wiring::new(&network, 0).complete().is_some(), "there is a cable that can make way");
                let cables = sorted(&network);
                assert_eq!(cables.len() as u32, routers * degree / 2);
                assert!(cables.windows(2).all(|pair| pair[0] != pair[1]));
                let of = |router| cables.iter().filter(|&&[a, b]| (a == router) != (b == router)).count() as u32;
                assert!((0..routers).all(|router| of(router) == degree), "{routers} {degree} {seed}");
            }
        }
    }

    /// The cables of a seed stay what they are: results depend on them.
    #[test]
    fn a_seed_gives_the_same_network_everywhere() {
        let cables = sorted(&random(8, 3, 1));
        let expected = [[0, 1], [0, 3], [0, 4], [1, 4], [1, 5], [2, 5], [2, 6], [2, 7], [3, 5], [3, 7], [4, 6], [6, 7]];
        assert_eq!(cables, expected);
        assert_ne!(cables, sorted(&random(8, 3, 2)));
        let fabric = random(8, 3, 1).fabric().unwrap();
        assert_eq!((fabric.routers(), fabric.network_ports(), fabric.channels().count()), (8, 3, 24));
    }

    #[test]
    fn numbers_that_make_no_network_are_named() {
        let refused = |routers, degree, terminals_per_router| {
            let network = RandomRegular { terminals_per_router, ..random(routers, degree, 1) };
            network.fabric().unwrap_err().to_string()
        };
        for (error, expected) in [
            (refused(3, 3, 1), "routers = 3: expected 4 to 1000000 routers"),
            (refused(u32::MAX, 3, 1), "routers = 4294967295: expected 4 to 1000000 routers"),
            (refused(1_000_000, 10, 1), "routers = 1000000: expected at most 419430 routers with 10 channels"),
            (refused(10, 2, 1), "degree = 2: expected 3 to 9"),
            (refused(10, 10, 1), "degree = 10: expected 3 to 9"),
            (refused(100, 64, 1), "degree = 64: expected 3 to 63"),
            (refused(9, 3, 1), "degree = 3: expected an even number: a cable has two ends, and there are 9 routers"),
            (refused(10, 3, 0), "terminals_per_router = 0: expected 1 to 61"),
            (refused(10, 3, 62), "terminals_per_router = 62: expected 1 to 61"),
        ] {
            assert!(error.starts_with(&format!("network.topology.{expected}")), "{error}");
        }
    }
}
