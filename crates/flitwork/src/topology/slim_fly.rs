//! The Slim Fly: M. Besta and T. Hoefler, "Slim Fly: a cost effective low-diameter network topology", SC 2014. Its
//! routers and cables are the graphs of B. D. McKay, M. Miller and J. Širáň, "A note on large graphs of diameter two
//! and given maximum degree", J. Combinatorial Theory B 74(1), 1998.
//!
//! Let q be a power of a prime, `q = 4w + δ` with δ = -1, 0 or 1, and ξ a primitive element of the field with q
//! elements. There are `2 q^2` routers (0, x, y) and (1, m, c). Router (0, x, y) is joined to (0, x, y') if `y - y'` is
//! in the set X, router (1, m, c) to (1, m, c') if `c - c'` is in X', and (0, x, y) to (1, m, c) if `y = m x + c`. The
//! sets have `(q - δ) / 2` elements each, powers of ξ with these exponents:
//!
//! | δ | X | X' |
//! |---|---|---|
//! | 1 | 0, 2, ..., q - 3 | 1, 3, ..., q - 2 |
//! | 0 | 0, 2, ..., q - 2 | 1, 3, ..., q - 1 |
//! | -1 | 0, 2, ..., 2w - 2 and 2w - 1, 2w + 1, ..., 4w - 3 | 1, 3, ..., 2w - 1 and 2w, 2w + 2, ..., 4w - 2 |
//!
//! No two routers are more than two channels apart. Router (s, a, b) has number `s q^2 + a q + b`. Ports to the same
//! subgroup (the same s and a) come first, then those to the other half, both in the order of the other router.

use super::cables::{Cables, check_terminals, drawing, in_group, refuse};
use super::drawing::on_circle;
use super::kind::Topology;
use super::{Channel, Fabric, Graph};
use crate::error::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Smallest and largest q: with 43 a router has 65 channels.
const LEAST_Q: u32 = 3;
const MOST_Q: u32 = 41;

/// A Slim Fly: diameter two with nearly the largest possible number of routers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SlimFly {
    /// Size of the field, q: a power of a prime from 3 to 41. There are `2 q^2` routers with `(3 q - d) / 2` channels,
    /// where d is -1, 0 or 1 and q - d a multiple of 4.
    #[schemars(range(min = LEAST_Q, max = MOST_Q))]
    pub q: u32,
    /// Terminals at each router, at least 1. Default: half the number of its channels, rounded up, as in the paper. Set
    /// it for q above 27, where the default exceeds the 64 ports of a router.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", range(min = 1))]
    pub terminals_per_router: Option<u32>,
}

impl Topology for SlimFly {
    fn fabric(&self) -> Result<Fabric> {
        let q = self.q;
        let field = (LEAST_Q..=MOST_Q).contains(&q).then(|| Field::of(q)).flatten();
        let Some(field) = field else {
            let expected = format!("a power of a prime from {LEAST_Q} to {MOST_Q}");
            return refuse("q", q, expected, &neighbours_of(q));
        };
        let sets = field.generators();
        let degree = q + sets[0].len() as u32;
        let terminals = self.terminals_per_router.unwrap_or(degree.div_ceil(2));
        check_terminals("terminals_per_router", terminals, degree)?;
        let routers = 2 * q * q;
        let channels = cabled(&field, &sets);
        // A subgroup is next to the one of the other half with the same number.
        let place = |router: u32| {
            let (half, subgroup) = (router / (q * q), router / q % q);
            in_group(2 * subgroup + half, 2 * q, f64::from(q) / 3.0 + 2.0, on_circle(router % q, q))
        };
        Fabric::of_graph(&Graph {
            terminals: vec![terminals; routers as usize],
            classes: vec!["local".to_string(), "global".to_string()],
            drawing: drawing(routers, place, &channels, "subgroups on a circle; terminals are not drawn"),
            channels,
        })
    }
}

/// The channels.
fn cabled(field: &Field, sets: &[Vec<u32>; 2]) -> Vec<Channel> {
    let q = field.size;
    let mut cables = Cables::new(2 * q * q);
    for (half, set) in (0..).zip(sets) {
        for first in (0..q).map(|subgroup| half * q * q + subgroup * q) {
            let pairs = (0..q).flat_map(|b| (0..b).map(move |a| (a, b)));
            for (a, b) in pairs.filter(|&(a, b)| set.contains(&field.minus(b, a))) {
                cables.lay(first + b, first + a, 0);
            }
        }
    }
    for (x, y, m) in (0..q * q).flat_map(|router| (0..q).map(move |m| (router / q, router % q, m))) {
        let c = field.minus(y, field.times(m, x));
        cables.lay(x * q + y, q * q + m * q + c, 1);
    }
    cables.channels()
}

/// What else may be q.
fn neighbours_of(q: u32) -> String {
    let is_power = |q: &u32| Field::of(*q).is_some();
    let below = (LEAST_Q..q.min(MOST_Q + 1)).rev().find(is_power);
    let above = (q.max(LEAST_Q)..=MOST_Q).find(is_power);
    let found: Vec<String> = below.into_iter().chain(above).map(|q| q.to_string()).collect();
    format!("use {}", found.join(" or "))
}

/// A finite field. Its elements are numbers below its size: polynomials whose coefficients are the digits to the base
/// of the characteristic.
struct Field {
    size: u32,
    characteristic: u32,
    /// The powers of a primitive element, from 0 to `size - 2`.
    powers: Vec<u32>,
    /// The exponent of each element but 0.
    exponents: Vec<u32>,
}

impl Field {
    /// The field of so many elements, at least 2; `None` where there is none.
    fn of(size: u32) -> Option<Field> {
        let characteristic = (2..=size).find(|p| size.is_multiple_of(*p))?;
        let mut rest = size;
        while rest.is_multiple_of(characteristic) {
            rest /= characteristic;
        }
        if rest != 1 {
            return None;
        }
        (0..size).find_map(|modulus| Field::with_modulus(size, characteristic, modulus))
    }

    /// The field of polynomials modulo one whose coefficients are 1 at the top and the digits of `modulus` below;
    /// `None` where the powers of the polynomial z are not all elements but 0.
    fn with_modulus(size: u32, characteristic: u32, modulus: u32) -> Option<Field> {
        let mut field = Field { size, characteristic, powers: vec![1], exponents: vec![0; size as usize] };
        let top = size / characteristic;
        for exponent in 1..size {
            let last = field.powers[exponent as usize - 1];
            let (leading, shifted) = (last / top, last % top * characteristic);
            let power = field.add(shifted, modulus, characteristic - leading);
            if exponent == size - 1 {
                return (power == 1).then_some(field);
            }
            if power <= 1 {
                return None;
            }
            field.exponents[power as usize] = exponent;
            field.powers.push(power);
        }
        None
    }

    /// `a + factor b`, for a factor of at most the characteristic.
    fn add(&self, a: u32, b: u32, factor: u32) -> u32 {
        let p = self.characteristic;
        let (mut place, mut sum) = (1, 0);
        while place < self.size {
            sum += (a / place + factor * (b / place % p)) % p * place;
            place *= p;
        }
        sum
    }

    /// `a - b`.
    fn minus(&self, a: u32, b: u32) -> u32 {
        self.add(a, b, self.characteristic - 1)
    }

    /// `a b`.
    fn times(&self, a: u32, b: u32) -> u32 {
        if a == 0 || b == 0 {
            return 0;
        }
        self.power(self.exponents[a as usize] + self.exponents[b as usize])
    }

    fn power(&self, exponent: u32) -> u32 {
        self.powers[(exponent % (self.size - 1)) as usize]
    }

    /// The sets X and X', for a size of at least 3.
    fn generators(&self) -> [Vec<u32>; 2] {
        let q = self.size;
        let w = q.div_ceil(4);
        let every_second = |from: u32, to: u32| (from..=to).step_by(2).map(|exponent| self.power(exponent));
        match q % 4 {
            3 => [
                every_second(0, 2 * w - 2).chain(every_second(2 * w - 1, 4 * w - 3)).collect(),
                every_second(1, 2 * w - 1).chain(every_second(2 * w, 4 * w - 2)).collect(),
            ],
            _ => [every_second(0, q - 2).collect(), every_second(1, q - 1).collect()],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [u32; 19] = [3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29, 31, 32, 37, 41];

    #[test]
    fn fields_are_fields() {
        for q in 2..=MOST_Q {
            let Some(field) = Field::of(q) else {
                assert!(!ALL.contains(&q));
                continue;
            };
            assert!(q == 2 || ALL.contains(&q), "{q}");
            let mut powers = field.powers.clone();
            powers.sort_unstable();
            assert_eq!(powers, (1..q).collect::<Vec<_>>(), "{q}");
            let plus = |a, b| field.add(a, b, 1);
            for (a, b) in (0..q).flat_map(|a| (0..q).map(move |b| (a, b))) {
                assert_eq!((field.times(a, 1), field.minus(a, a), plus(field.minus(a, b), b)), (a, 0, a));
                for c in 0..q {
                    assert_eq!(field.times(a, plus(b, c)), plus(field.times(a, b), field.times(a, c)), "{q}");
                }
            }
        }
    }

    #[test]
    fn every_router_is_at_most_two_channels_from_every_other() {
        for q in ALL {
            let fabric = SlimFly { q, terminals_per_router: Some(1) }.fabric().unwrap();
            let (routers, ports) = (fabric.routers(), fabric.network_ports());
            let delta = match q % 4 {
                0 => 0,
                1 => 1,
                _ => -1,
            };
            assert_eq!((routers, ports as i32), (2 * q * q, (3 * q as i32 - delta) / 2));
            assert_eq!(fabric.channels().count(), routers as usize * ports, "all ports have channels");
            let peers = |router: u32| (0..ports).map(move |port| (router, port));
            // The network is the same from all routers of a subgroup.
            for from in (0..routers).step_by(q as usize) {
                let mut near = vec![false; routers as usize];
                near[from as usize] = true;
                for (one, _) in peers(from).filter_map(|(router, port)| fabric.peer(router, port)) {
                    near[one as usize] = true;
                    for (two, _) in peers(one).filter_map(|(router, port)| fabric.peer(router, port)) {
                        near[two as usize] = true;
                    }
                }
                assert!(near.iter().all(|&near| near), "q = {q}");
            }
        }
    }

    #[test]
    fn half_of_the_channels_are_matched_by_terminals() {
        for (q, terminals) in [(4, 3), (5, 4), (7, 6), (27, 21)] {
            let fabric = SlimFly { q, terminals_per_router: None }.fabric().unwrap();
            assert_eq!(fabric.terminals(), 2 * q * q * terminals);
        }
        let fabric = SlimFly { q: 5, terminals_per_router: None }.fabric().unwrap();
        assert_eq!(fabric.drawing().unwrap().segments.len(), 350);
        assert_eq!((0..7).map(|port| fabric.class_of(0, port)).collect::<Vec<_>>(), [0, 0, 1, 1, 1, 1, 1]);
    }

    #[test]
    fn numbers_that_make_no_network_are_named() {
        let refused = |q, terminals_per_router| SlimFly { q, terminals_per_router }.fabric().unwrap_err().to_string();
        for (error, expected) in [
            (refused(0, None), "q = 0: expected a power of a prime from 3 to 41; use 3"),
            (refused(2, None), "q = 2: expected a power of a prime from 3 to 41; use 3"),
            (refused(6, None), "q = 6: expected a power of a prime from 3 to 41; use 5 or 7"),
            (refused(43, None), "q = 43: expected a power of a prime from 3 to 41; use 41"),
            (refused(u32::MAX, None), "q = 4294967295: expected a power of a prime from 3 to 41; use 41"),
            (refused(29, None), "terminals_per_router = 22: expected 1 to 21"),
            (refused(5, Some(0)), "terminals_per_router = 0: expected 1 to 57"),
            (refused(5, Some(58)), "terminals_per_router = 58: expected 1 to 57"),
        ] {
            assert!(error.starts_with(&format!("network.topology.{expected}")), "{error}");
        }
    }
}
