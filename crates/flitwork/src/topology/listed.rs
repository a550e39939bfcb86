//! Any network, written down cable by cable: what users write of a [`Graph`].
//!
//! Routers count from 0. Ports are given in the order of the lists, cables first: a cable takes the same port for both
//! of its directions at each end, a channel the next output port of one router and the next input port of the other.

use super::cables::{self, MOST_PORTS, MOST_ROUTERS, refuse};
use super::drawing::on_circle;
use super::fabric::MOST_CHANNEL_CYCLES;
use super::kind::{Topology, one};
use super::{Channel, Drawing, Fabric, Graph};
use crate::error::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Any network: the cables between routers, and the terminals at each router.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListedGraph {
    /// Cables, each a pair of routers [a, b], by number from 0 or by name. A cable is a channel in each direction.
    /// Parallel cables are listed several times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-named" = true))]
    pub cables: Vec<[u32; 2]>,
    /// Channels in one direction, each [from router, to router], besides the cables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-named" = true))]
    pub channels: Vec<[u32; 2]>,
    /// Number of routers. Default: the highest number in the lists, plus 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", range(min = 1, max = MOST_ROUTERS))]
    pub routers: Option<u32>,
    /// Terminals at each router. Default: 1.
    #[serde(default = "one")]
    pub terminals_per_router: u32,
    /// Terminals at each router, one number per router, instead of `terminals_per_router`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub terminals: Vec<u32>,
    /// Latency of each cable \[cycles], 0 to 10000, in the order of `cables`. Default:
    /// `network.channel.latency_cycles`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cable_latency_cycles: Vec<u32>,
    /// Cycles per flit of each cable, 1 to 10000, in the order of `cables`: a cable of a quarter of the width takes 4.
    /// Default: 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cable_cycles_per_flit: Vec<u32>,
    /// Latency of each channel \[cycles], 0 to 10000, in the order of `channels`. Default:
    /// `network.channel.latency_cycles`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub channel_latency_cycles: Vec<u32>,
    /// Cycles per flit of each channel, 1 to 10000, in the order of `channels`. Default: 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub channel_cycles_per_flit: Vec<u32>,
    /// A file with the network instead of the lists: GraphML, an edge list in CSV, what `ibnetdiscover` prints,
    /// BookSim's anynet, a fat tree of htsim, or a network of ASTRA-sim. It is read before a plan is made.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub file: String,
    /// Names of the routers, all different, for messages and pictures. Default: as the cables name them, in the order
    /// in which they do so first; else their numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// Names of the terminals, all different, in the order of the routers that they are at. Default: their numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub terminal_names: Vec<String>,
    /// Place of each router on a page, [x, y]. Default: a circle.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub positions: Vec<[f64; 2]>,
}

impl Topology for ListedGraph {
    fn fabric(&self) -> Result<Fabric> {
        if !self.file.is_empty() {
            let expected = "lists of cables and channels: files are read before a plan is made";
            return refuse("file", &self.file, expected, "the command line reads them");
        }
        let routers = self.checked_routers()?;
        let terminals = self.checked_terminals(routers)?;
        self.check_times()?;
        check_names("names", &self.names, "router")?;
        check_names("terminal_names", &self.terminal_names, "terminal")?;
        let all = terminals.iter().map(|&n| n as usize).sum();
        check_length("terminal_names", self.terminal_names.len(), all, "terminal")?;
        let channels = self.connected(routers)?;
        let drawing = self.drawing(routers, &channels)?;
        let classes = vec!["channel".to_string()];
        Ok(Fabric::of_graph(&Graph { terminals, channels, classes, drawing })?.with_names(&self.names))
    }
}

impl ListedGraph {
    /// The number of routers, of lists whose numbers fit.
    fn checked_routers(&self) -> Result<u32> {
        let listed = self.cables.iter().chain(&self.channels).flatten().max();
        let named = [self.terminals.len(), self.names.len(), self.positions.len()].into_iter().max().unwrap_or(0);
        let implied = listed.map_or(1, |&highest| highest.saturating_add(1)).max(named.min(u32::MAX as usize) as u32);
        if listed.is_none() && named == 0 && self.routers.is_none() {
            let hint = "for example cables = [[0, 1], [1, 2]], or file = \"net.csv\"";
            return refuse("cables", "nothing", "the cables of the network, or a file", hint);
        }
        let routers = self.routers.unwrap_or(implied);
        if !(1..=MOST_ROUTERS).contains(&routers) {
            return refuse("routers", routers, format!("1 to {MOST_ROUTERS} routers"), "");
        }
        for (field, list) in [("cables", &self.cables), ("channels", &self.channels)] {
            for (i, pair) in list.iter().enumerate() {
                let path = format!("{field}[{i}]");
                if pair.iter().any(|&router| router >= routers) {
                    let expected = format!("routers from 0 to {}: there are {routers}", routers - 1);
                    return refuse(&path, format!("{pair:?}"), expected, "routers count from 0");
                }
                if pair[0] == pair[1] {
                    return refuse(&path, format!("{pair:?}"), "two different routers", "take it out");
                }
            }
        }
        for (field, entries) in [("names", self.names.len()), ("positions", self.positions.len())] {
            check_length(field, entries, routers as usize, "router")?;
        }
        Ok(routers)
    }

    fn checked_terminals(&self, routers: u32) -> Result<Vec<u32>> {
        check_length("terminals", self.terminals.len(), routers as usize, "router")?;
        let each = self.terminals_per_router;
        if self.terminals.is_empty() {
            return match (1..=MOST_PORTS).contains(&each) {
                true => Ok(vec![each; routers as usize]),
                false => refuse("terminals_per_router", each, format!("1 to {MOST_PORTS} terminals"), ""),
            };
        }
        if each != one() {
            let hint = "take one of the two out";
            return refuse("terminals_per_router", each, "either this or a list of terminals", hint);
        }
        if let Some(router) = self.terminals.iter().position(|&n| n > MOST_PORTS) {
            let path = format!("terminals[{router}]");
            return refuse(&path, self.terminals[router], format!("0 to {MOST_PORTS} terminals"), "");
        }
        Ok(self.terminals.clone())
    }

    fn check_times(&self) -> Result<()> {
        let (cables, channels) = (self.cables.len(), self.channels.len());
        for (field, list, entries, of, least) in [
            ("cable_latency_cycles", &self.cable_latency_cycles, cables, "cable", 0),
            ("cable_cycles_per_flit", &self.cable_cycles_per_flit, cables, "cable", 1),
            ("channel_latency_cycles", &self.channel_latency_cycles, channels, "channel", 0),
            ("channel_cycles_per_flit", &self.channel_cycles_per_flit, channels, "channel", 1),
        ] {
            check_length(field, list.len(), entries, of)?;
            let fits = |value: &u32| (least..=MOST_CHANNEL_CYCLES).contains(value);
            if let Some(i) = list.iter().position(|value| !fits(value)) {
                let expected = format!("{least} to {MOST_CHANNEL_CYCLES} cycles");
                return refuse(&format!("{field}[{i}]"), list[i], expected, "");
            }
        }
        Ok(())
    }

    /// The channels with their ports.
    fn connected(&self, routers: u32) -> Result<Vec<Channel>> {
        let mut outputs = vec![0usize; routers as usize];
        let time = |list: &[u32], i: usize| list.get(i).copied();
        let mut made = Vec::with_capacity(2 * self.cables.len() + self.channels.len());
        for (i, &[a, b]) in self.cables.iter().enumerate() {
            let ports = [a, b].map(|router| {
                outputs[router as usize] += 1;
                outputs[router as usize] - 1
            });
            for channel in Channel::cable((a, ports[0]), (b, ports[1]), 0) {
                made.push(Channel {
                    latency_cycles: time(&self.cable_latency_cycles, i),
                    cycles_per_flit: time(&self.cable_cycles_per_flit, i).unwrap_or(1),
                    ..channel
                });
            }
        }
        let mut inputs = outputs.clone();
        for (i, &[from, to]) in self.channels.iter().enumerate() {
            let (output, input) = (outputs[from as usize], inputs[to as usize]);
            outputs[from as usize] += 1;
            inputs[to as usize] += 1;
            made.push(Channel {
                latency_cycles: time(&self.channel_latency_cycles, i),
                cycles_per_flit: time(&self.channel_cycles_per_flit, i).unwrap_or(1),
                ..Channel::new((from, output), (to, input), 0)
            });
        }
        let most = |counts: &[usize]| counts.iter().position(|&ports| ports > MOST_PORTS as usize);
        if let Some(router) = most(&outputs).or(most(&inputs)) {
            let ports = outputs[router].max(inputs[router]);
            let expected = format!("at most {MOST_PORTS} cables and channels at a router");
            return refuse("cables", format!("{ports} at {}", self.name_of(router)), expected, "");
        }
        Ok(made)
    }

    fn name_of(&self, router: usize) -> String {
        self.names.get(router).map_or(format!("router {router}"), |name| format!("router {router} \"{name}\""))
    }

    fn drawing(&self, routers: u32, channels: &[Channel]) -> Result<Option<Drawing>> {
        if let Some(i) = self.positions.iter().position(|place| !place.iter().all(|x| x.is_finite())) {
            return refuse(&format!("positions[{i}]"), format!("{:?}", self.positions[i]), "two finite numbers", "");
        }
        let place = |router: u32| self.positions.get(router as usize).copied().unwrap_or(on_circle(router, routers));
        Ok(cables::drawing(routers, place, channels, ""))
    }
}

/// Lists that are there have an entry for each.
fn check_length(field: &str, entries: usize, expected: usize, of: &str) -> Result<()> {
    if entries == 0 || entries == expected {
        return Ok(());
    }
    refuse(field, format!("{entries} entries"), format!("{expected} entries, one per {of}"), "")
}

/// No two are the same.
fn check_names(field: &str, names: &[String], of: &str) -> Result<()> {
    let mut known = HashMap::new();
    for (i, name) in names.iter().enumerate() {
        if let Some(first) = known.insert(name.as_str(), i) {
            let expected = format!("a name that no other {of} has; {of} {first} has it");
            return refuse(&format!("{field}[{i}]"), format!("\"{name}\""), expected, "");
        }
    }
    Ok(())
}

/// A network of these cables, for tests; a terminal at each router unless said.
#[cfg(test)]
pub(crate) fn graph(cables: &[[u32; 2]], terminals: &[u32]) -> Fabric {
    let (cables, terminals) = (cables.to_vec(), terminals.to_vec());
    let listed = ListedGraph { cables, terminals, terminals_per_router: one(), ..ListedGraph::default() };
    listed.fabric().expect("a network")
}

/// A ring of so many routers, for tests.
#[cfg(test)]
pub(crate) fn ring(routers: u32) -> Fabric {
    graph(&(0..routers).map(|router| [router, (router + 1) % routers]).collect::<Vec<_>>(), &[])
}

#[cfg(test)]
/// A ring with cables across, parallel ones among them, and terminals at some routers.
pub(crate) fn random(seed: u64) -> Fabric {
    use crate::mix::{draw_below, mix};
    let mut drawn = 0;
    let mut draw = |n: u32| {
        drawn += 1;
        draw_below(mix(seed ^ mix(drawn)), u64::from(n)) as u32
    };
    let routers = 3 + draw(12);
    let across: Vec<_> = (0..draw(2 * routers)).map(|_| (draw(routers), draw(routers))).collect();
    let pairs = (0..routers).map(|router| (router, (router + 1) % routers)).chain(across);
    let cables: Vec<_> = pairs.filter(|(a, b)| a != b).map(|(a, b)| [a, b]).collect();
    let mut terminals: Vec<u32> = (0..routers).map(|_| draw(3)).collect();
    terminals[0] = 1;
    graph(&cables, &terminals)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn fabric(graph: Value) -> Result<Fabric> {
        serde_json::from_value::<ListedGraph>(graph).unwrap().fabric()
    }

    #[test]
    fn cables_and_channels_have_ports_in_their_order() {
        let made = fabric(json!({
            "cables": [[0, 1], [1, 2], [0, 1]], "channels": [[2, 0]], "terminals": [2, 0, 1],
            "cable_latency_cycles": [1, 2, 3], "channel_cycles_per_flit": [4],
        }));
        let made = made.unwrap();
        assert_eq!((made.routers(), made.terminals(), made.network_ports()), (3, 3, 3));
        assert_eq!((made.peer(0, 0), made.peer(0, 1), made.peer(0, 2)), (Some((1, 0)), Some((1, 2)), None));
        assert_eq!((made.peer(1, 1), made.peer(2, 0)), (Some((2, 0)), Some((1, 1))));
        assert_eq!((made.peer(2, 1), made.feeder(0, 2)), (Some((0, 2)), Some((2, 1))));
        assert_eq!((made.latency_cycles(1, 2), made.latency_cycles(2, 1)), (Some(3), None));
        assert_eq!((made.cycles_per_flit(0, 0), made.cycles_per_flit(2, 1)), (1, 4));
        assert_eq!(made.drawing().unwrap().segments.len(), 7);
    }

    #[test]
    fn routers_keep_their_names() {
        let made = fabric(json!({ "cables": [[0, 1]], "names": ["leaf-1", "spine-1"] })).unwrap();
        assert_eq!(made.router_name(1), "router 1 \"spine-1\"");
        assert_eq!(made.channel_name(0, 0), "router 0 \"leaf-1\" port 0 to router 1 \"spine-1\"");
        assert_eq!(fabric(json!({ "cables": [[0, 1]] })).unwrap().router_name(1), "router 1");
    }

    #[test]
    fn what_makes_no_network_is_named() {
        for (graph, expected) in [
            (json!({ "cables": [[0, 3]], "routers": 3 }), "cables[0] = [0, 3]: expected routers from 0 to 2"),
            (json!({ "cables": [[0, 1], [1, 1]] }), "cables[1] = [1, 1]: expected two different routers"),
            (json!({ "channels": [[4294967295u32, 1]] }), "routers = 4294967295: expected 1 to 1000000"),
            (json!({}), "cables = nothing: expected the cables of the network, or a file"),
            (json!({ "cables": [[0, 1]], "routers": 0 }), "routers = 0: expected 1 to 1000000"),
            (
                json!({ "cables": [[0, 1]], "terminals": [1] }),
                "terminals = 1 entries: expected 2 entries, one per router",
            ),
            (json!({ "cables": [[0, 1]], "terminals": [1, 65] }), "terminals[1] = 65: expected 0 to 64"),
            (json!({ "cables": [[0, 1]], "terminals_per_router": 0 }), "terminals_per_router = 0: expected 1 to 64"),
            (json!({ "cables": [[0, 1]], "terminals": [1, 1], "terminals_per_router": 2 }), "terminals_per_router = 2"),
            (
                json!({ "cables": [[0, 1]], "cable_latency_cycles": [1, 2] }),
                "cable_latency_cycles = 2 entries: expected 1",
            ),
            (
                json!({ "cables": [[0, 1]], "cable_latency_cycles": [10001] }),
                "cable_latency_cycles[0] = 10001: expected 0",
            ),
            (
                json!({ "cables": [[0, 1]], "cable_cycles_per_flit": [0] }),
                "cable_cycles_per_flit[0] = 0: expected 1 to",
            ),
            (json!({ "cables": [[0, 1]], "names": ["a", "a"] }), "names[1] = \"a\": expected a name that no other"),
            (json!({ "cables": [[0, 1]], "names": ["a"] }), "names = 1 entries: expected 2 entries"),
            (json!({ "cables": [[0, 1]], "terminal_names": ["a"] }), "terminal_names = 1 entries: expected 2 entries"),
            (
                json!({ "file": "net.graphml" }),
                "file = net.graphml: expected lists of cables and channels: files are read",
            ),
            (json!({ "cables": vec![[0, 1]; 65] }), "cables = 65 at router 0: expected at most 64"),
            (json!({ "cables": [[0, 1]], "terminals": [0, 0] }), " = 2 routers: expected a network with terminals"),
        ] {
            let error = fabric(graph).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
