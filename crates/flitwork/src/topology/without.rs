//! Faults: cables, routers and terminals that a network has to do without.
//!
//! What is left keeps its numbers but for terminals, which are counted anew; ports keep theirs too. It is no grid, tree
//! or dragonfly any more, because what goes by coordinates, levels or groups counts on every channel: it runs under the
//! routings of any network. A network that falls into parts is refused.

use super::{Channel, Drawing, Fabric, Graph, Shape};
use crate::error::{Error, Result};
use crate::mix::mix;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Where the field stands.
const PATH: &str = "network.without";

/// What is drawn of routers and of cables is told apart.
const ROUTERS: u64 = 0x726f_7574_6572_7300;
const CABLES: u64 = 0x6361_626c_6573_0000;

/// Most routers of a network that is drawn on a page.
const MOST_DRAWN: u32 = 1 << 14;

/// Faults: cables, routers and terminals that do not work, listed or drawn by a seed.
///
/// With one seed a larger number of faults includes the smaller one, so a sweep over the number adds faults.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Without {
    /// Faulty cables, each as the two routers that it joins, by number or name; both directions fail. Of parallel
    /// cables each entry removes one. Default: none.
    #[schemars(extend("x-named" = true))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cables: Vec<[u32; 2]>,
    /// Faulty routers, by number or name. Their cables and terminals fail too. Default: none.
    #[schemars(extend("x-named" = true))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub routers: Vec<u32>,
    /// Faulty terminals (adapters), by name or by their numbers in the network without faults. Default: none.
    #[schemars(extend("x-named" = true))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub terminals: Vec<u32>,
    /// Number of further faulty routers, drawn at random. Default: 0.
    #[serde(skip_serializing_if = "is_zero")]
    pub random_routers: u32,
    /// Number of further faulty cables, drawn at random. Default: 0.
    #[serde(skip_serializing_if = "is_zero")]
    pub random_cables: u32,
    /// Probability that a cable fails, 0 to 1. Default: 0.
    #[schemars(range(min = 0, max = 1))]
    #[serde(skip_serializing_if = "is_never")]
    pub cable_rate: f64,
    /// Seed of the random faults. Default: 1.
    pub seed: u64,
}

impl Default for Without {
    fn default() -> Self {
        Without {
            cables: Vec::new(),
            routers: Vec::new(),
            terminals: Vec::new(),
            random_routers: 0,
            random_cables: 0,
            cable_rate: 0.0,
            seed: 1,
        }
    }
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

fn is_never(rate: &f64) -> bool {
    *rate == 0.0
}

/// Router and port.
type Port = (u32, usize);

impl Without {
    /// Whether nothing is out of order.
    pub fn is_nothing(&self) -> bool {
        *self == Without { seed: self.seed, ..Without::default() }
    }

    /// What is left of a network.
    ///
    /// # Errors
    /// [`Error::Config`] for what the network does not have, and where what is left falls into parts.
    pub fn of(&self, whole: &Fabric) -> Result<Fabric> {
        if self.is_nothing() {
            return Ok(whole.clone());
        }
        let mut left = Left::of(whole);
        self.take_listed(&mut left)?;
        self.take_random(&mut left)?;
        let fabric = left.fabric(whole)?;
        match fabric.without_path() {
            None => Ok(fabric),
            Some((from, to)) => {
                let value = format!("no path from {} to {}", fabric.router_name(from), fabric.router_name(to));
                let hint = "take fewer cables out, or its terminals too; of random ones use another seed";
                Err(Error::config(PATH, value, "a path between all routers with terminals", hint))
            }
        }
    }

    fn take_listed(&self, left: &mut Left) -> Result<()> {
        take("router", &self.routers, &mut left.routers)?;
        take("terminal", &self.terminals, &mut left.terminals)?;
        let mut between: HashMap<[u32; 2], Vec<usize>> = HashMap::new();
        for (number, cable) in left.cables.iter().enumerate().rev() {
            between.entry(cable.ends).or_default().push(number);
        }
        for (i, &[a, b]) in self.cables.iter().enumerate() {
            let ends = [a.min(b), a.max(b)];
            let Some(number) = between.get_mut(&ends).and_then(Vec::pop) else {
                let known = self.cables[..i].iter().any(|&[c, d]| [c.min(d), c.max(d)] == ends);
                let expected = match known {
                    true => "two routers with another cable between them; the entries before took those out",
                    false => "two routers with a cable between them",
                };
                return refuse(&format!("cables[{i}]"), format!("[{a}, {b}]"), expected.into(), "");
            };
            left.cables[number].works = false;
        }
        Ok(())
    }

    fn take_random(&self, left: &mut Left) -> Result<()> {
        if !(0.0..=1.0).contains(&self.cable_rate) {
            return refuse("cable_rate", self.cable_rate, "a probability, 0 to 1".into(), "");
        }
        let routers: Vec<usize> = (0..left.routers.len()).filter(|&router| left.routers[router]).collect();
        for router in self.drawn("random_routers", self.random_routers, (routers, ROUTERS))? {
            left.routers[router] = false;
        }
        let cables: Vec<usize> = (0..left.cables.len()).filter(|&number| left.has(&left.cables[number])).collect();
        for number in self.drawn("random_cables", self.random_cables, (cables, CABLES))? {
            left.cables[number].works = false;
        }
        for (number, cable) in left.cables.iter_mut().enumerate() {
            // The highest 53 bits: as many as a number between 0 and 1 has.
            cable.works &= (self.key(CABLES, number) >> 11) as f64 / (1u64 << 53) as f64 >= self.cable_rate;
        }
        Ok(())
    }

    /// So many of these, by the order of their keys.
    fn drawn(&self, field: &str, count: u32, (mut from, tag): (Vec<usize>, u64)) -> Result<Vec<usize>> {
        if count as usize > from.len() {
            return refuse(field, count, format!("at most the {} that are left", from.len()), "");
        }
        from.sort_by_key(|&number| (self.key(tag, number), number));
        from.truncate(count as usize);
        Ok(from)
    }

    /// Random bits of a router or a cable.
    fn key(&self, tag: u64, number: usize) -> u64 {
        mix(mix(self.seed ^ tag) ^ number as u64)
    }
}

/// Takes out what is listed.
fn take(what: &str, listed: &[u32], works: &mut [bool]) -> Result<()> {
    for (i, &number) in listed.iter().enumerate() {
        let field = format!("{what}s[{i}]");
        let Some(works) = works.get_mut(number as usize) else {
            return refuse(&field, number, format!("a {what}, 0 to {}", works.len() - 1), "");
        };
        if !std::mem::replace(works, false) {
            return refuse(&field, number, format!("each {what} once"), "");
        }
    }
    Ok(())
}

/// A cable: one channel, or one in each direction by the same ports.
struct Cable {
    /// The routers at its ends, the lower one first.
    ends: [u32; 2],
    /// Output ports.
    channels: Vec<Port>,
    works: bool,
}

/// What still works.
struct Left {
    routers: Vec<bool>,
    terminals: Vec<bool>,
    cables: Vec<Cable>,
}

impl Left {
    /// Everything.
    fn of(whole: &Fabric) -> Self {
        let mut cables = Vec::new();
        for (router, port) in whole.channels() {
            let Some(far) = whole.peer(router, port) else { continue };
            let has_back = whole.peer(far.0, far.1) == Some((router, port));
            // A cable is met first at its lower end.
            if has_back && (far.0, far.1) < (router, port) {
                continue;
            }
            let ends = [router.min(far.0), router.max(far.0)];
            let channels = if has_back { vec![(router, port), far] } else { vec![(router, port)] };
            cables.push(Cable { ends, channels, works: true });
        }
        Left {
            routers: vec![true; whole.routers() as usize],
            terminals: vec![true; whole.terminals() as usize],
            cables,
        }
    }

    /// Whether a cable works, and the routers at both its ends.
    fn has(&self, cable: &Cable) -> bool {
        cable.works && cable.ends.iter().all(|&router| self.routers[router as usize])
    }

    fn fabric(&self, whole: &Fabric) -> Result<Fabric> {
        let works = |router: u32, terminal: u32| self.routers[router as usize] && self.terminals[terminal as usize];
        let at = |router: u32| whole.terminals_at(router).filter(|&terminal| works(router, terminal)).count() as u32;
        let terminals: Vec<u32> = (0..whole.routers()).map(at).collect();
        if terminals.iter().all(|&n| n == 0) {
            return Err(Error::config(PATH, "no terminal is left", "a terminal that works", "take fewer out"));
        }
        let mut ports: Vec<Port> =
            self.cables.iter().filter(|cable| self.has(cable)).flat_map(|cable| cable.channels.clone()).collect();
        ports.sort_unstable();
        let channel = |&(router, port): &Port| {
            let to = whole.peer(router, port)?;
            Some(Channel {
                latency_cycles: whole.latency_cycles(router, port),
                cycles_per_flit: whole.cycles_per_flit(router, port),
                ..Channel::new((router, port), to, whole.class_of(router, port))
            })
        };
        let channels = ports.iter().filter_map(channel).collect();
        let drawing = (whole.routers() <= MOST_DRAWN).then(|| whole.drawing()).flatten();
        let drawing = drawing.map(|drawing| Drawing {
            terminals: (0..whole.terminals())
                .zip(&drawing.terminals)
                .filter(|&(terminal, _)| works(whole.router_of(terminal), terminal))
                .map(|(_, &place)| place)
                .collect(),
            segments: drawing
                .segments
                .iter()
                .filter(|segment| ports.binary_search(&(segment.router, segment.port as usize)).is_ok())
                .copied()
                .collect(),
            ..drawing
        });
        let left = Fabric::of_graph(&Graph { terminals, channels, classes: whole.classes().to_vec(), drawing })?;
        Ok(match whole.shape() {
            Shape::Grid(grid) => {
                let name = |router: u32| format!("{:?}", &grid.coords(router)[..grid.dims()]);
                left.with_names(&(0..whole.routers()).map(name).collect::<Vec<_>>())
            }
            Shape::Tree(_) | Shape::Groups(_) | Shape::Graph => left.with_names(whole.names()),
        })
    }
}

fn refuse<T>(field: &str, value: impl ToString, expected: String, hint: &str) -> Result<T> {
    Err(Error::config(format!("{PATH}.{field}"), value.to_string(), expected, hint))
}

#[cfg(test)]
mod tests {
    use super::super::{TopologySpec, random};
    use super::*;

    fn whole(json: &str) -> Fabric {
        serde_json::from_str::<TopologySpec>(json).unwrap().fabric().unwrap()
    }

    fn without(json: &str) -> Without {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn what_is_left_keeps_its_place() {
        let torus = whole(r#"{"kind": "torus", "size": [4, 4], "terminals_per_router": 2}"#);
        let left = without(r#"{"cables": [[1, 0]], "routers": [5], "terminals": [0, 31]}"#).of(&torus).unwrap();
        assert_eq!((left.routers(), left.terminals()), (16, 32 - 2 - 2));
        // One cable and the four of the router, two channels each.
        assert_eq!(left.channels().count(), 64 - 2 - 8);
        let works = |router: u32, port: usize| torus.peer(router, port).is_some_and(|(far, _)| router != 5 && far != 5);
        for (router, port) in torus.channels() {
            let cut = [(0, 0), (1, 1)].contains(&(router, port));
            let expected = if works(router, port) && !cut { torus.peer(router, port) } else { None };
            let port_is_there = port < left.network_ports();
            assert_eq!(if port_is_there { left.peer(router, port) } else { None }, expected, "{router} {port}");
        }
        assert_eq!((left.terminals_at(0), left.terminals_at(1)), (0..1, 1..3));
        assert!(left.terminals_at(5).is_empty());
        assert_eq!(left.router_name(6), "router 6 \"[2, 1]\"");
        let drawing = left.drawing().unwrap();
        assert_eq!(drawing.routers.len(), 16);
        assert!(drawing.segments.iter().all(|s| left.peer(s.router, s.port as usize).is_some()));
        assert_eq!(without("{}").of(&torus).unwrap(), torus);
    }

    #[test]
    fn more_random_faults_are_the_same_and_some_more() {
        let torus = whole(r#"{"kind": "torus", "size": [6, 6]}"#);
        let cables = |text: String| {
            let left = without(&text).of(&torus).unwrap();
            left.channels().collect::<std::collections::HashSet<_>>()
        };
        for seed in 1..5 {
            let counted: Vec<_> =
                (0..8).map(|n| cables(format!(r#"{{"random_cables": {n}, "seed": {seed}}}"#))).collect();
            for (n, pair) in counted.windows(2).enumerate() {
                assert_eq!(pair[0].len(), 144 - 2 * n);
                assert!(pair[1].is_subset(&pair[0]));
            }
            let rare = cables(format!(r#"{{"cable_rate": 0.02, "seed": {seed}}}"#));
            let often = cables(format!(r#"{{"cable_rate": 0.1, "seed": {seed}}}"#));
            assert!(often.is_subset(&rare) && often.len() < 144);
        }
        let one = cables(r#"{"random_cables": 3}"#.into());
        assert_ne!(one, cables(r#"{"random_cables": 3, "seed": 2}"#.into()));
    }

    /// However it is cut, what is left is joined, or the error says that it is not.
    #[test]
    fn random_networks_are_joined_or_refused() {
        let (mut joined, mut refused) = (0, 0);
        for seed in 0..200 {
            let fabric = random(seed);
            let faults = Without { cable_rate: 0.04 * (1 + seed % 8) as f64, seed, ..Without::default() };
            match faults.of(&fabric) {
                Ok(left) => {
                    joined += 1;
                    assert_eq!(left.terminals(), fabric.terminals());
                    for router in (0..left.terminals()).map(|terminal| left.router_of(terminal)) {
                        let reached = left.reached(router, Fabric::peer);
                        assert!((0..left.terminals()).all(|other| reached[left.router_of(other) as usize]));
                    }
                }
                Err(error) => {
                    refused += 1;
                    assert!(error.to_string().starts_with("network.without = no path from router"), "{error}");
                }
            }
        }
        assert!(joined > 20 && refused > 20, "{joined} {refused}");
    }

    #[test]
    fn what_the_network_does_not_have_is_named() {
        let mesh = whole(r#"{"kind": "mesh", "size": [3, 3]}"#);
        for (json, expected) in [
            (r#"{"cables": [[0, 4]]}"#, "cables[0] = [0, 4]: expected two routers with a cable between them"),
            (r#"{"cables": [[0, 1], [1, 0]]}"#, "cables[1] = [1, 0]: expected two routers with another cable"),
            (r#"{"cables": [[0, 9]]}"#, "cables[0] = [0, 9]: expected two routers with a cable"),
            (r#"{"routers": [9]}"#, "routers[0] = 9: expected a router, 0 to 8"),
            (r#"{"routers": [1, 1]}"#, "routers[1] = 1: expected each router once"),
            (r#"{"terminals": [9]}"#, "terminals[0] = 9: expected a terminal, 0 to 8"),
            (r#"{"terminals": [3, 3]}"#, "terminals[1] = 3: expected each terminal once"),
            (r#"{"random_routers": 10}"#, "random_routers = 10: expected at most the 9 that are left"),
            (r#"{"random_cables": 13}"#, "random_cables = 13: expected at most the 12 that are left"),
            (r#"{"cable_rate": 1.5}"#, "cable_rate = 1.5: expected a probability"),
        ] {
            let error = without(json).of(&mesh).unwrap_err().to_string();
            assert!(error.starts_with(&format!("network.without.{expected}")), "{error}");
        }
        let cut = without(r#"{"cables": [[0, 1], [0, 3]]}"#).of(&mesh).unwrap_err().to_string();
        let said = "network.without = no path from router 1 \"[1, 0]\" to router 0 \"[0, 0]\": expected a path";
        assert!(cut.starts_with(said), "{cut}");
        let none = without(r#"{"random_routers": 9}"#).of(&mesh).unwrap_err().to_string();
        assert!(none.starts_with("network.without = no terminal is left"), "{none}");
    }

    #[test]
    fn parallel_cables_go_one_by_one() {
        let ring = whole(r#"{"kind": "torus", "size": [2, 3]}"#);
        let left = |json: &str| without(json).of(&ring).map(|left| left.channels().count());
        assert_eq!(left(r#"{"cables": [[0, 1]]}"#).unwrap(), 24 - 2);
        assert_eq!(left(r#"{"cables": [[0, 1], [0, 1]]}"#).unwrap(), 24 - 4);
        assert!(left(r#"{"cables": [[0, 1], [0, 1], [0, 1]]}"#).is_err());
    }
}
