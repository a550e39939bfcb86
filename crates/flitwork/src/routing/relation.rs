//! A routing relation that the user gives: for each router, input and destination the channels that a packet may take.
//!
//! W. J. Dally and B. Towles, Principles and Practices of Interconnection Networks, 2004, section 8.3: a relation maps
//! the node or channel where a packet is, and its destination, to channels. Here a row says one of them. Rows for the
//! same place and destination are alternatives: those with the set of the first row are adaptive, and one with another
//! set is the escape channel, which a packet asks for when none of the others has a virtual channel to give.
//!
//! All rows are looked at when a run is planned: from each place that a packet can come to, it must have somewhere to
//! go, and its destination must be in reach. Deadlock is checked as for any routing.

use super::hop_by_hop::{At, Head, HopByHop};
use super::kind::{AnyOptions, Network};
use super::port_table::{at_work, check, with_terminals};
use super::scheme::{Choice, Division, MOST_SETS, Trip};
use super::{Routing, Selection};
use crate::error::{Error, Result};
use crate::topology::{End, Fabric};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Most entries of the table, one for each place and destination.
const MOST_ENTRIES: usize = 1 << 28;

/// Options of a routing relation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RelationOptions {
    /// Sets into which the virtual channels of each port are divided, 1 to 255. Default: 1.
    #[serde(default = "one_set")]
    #[schemars(range(min = 1, max = MOST_SETS))]
    pub sets: u32,
    /// The channels that packets may take, a row each: router, the router that the packet came from, the set that it
    /// came in (both -1 from a terminal), its destination router, the next router, the set there.
    #[serde(default)]
    pub rows: Vec<[i64; 6]>,
    /// Which of several channels with a virtual channel to give a packet asks for. Default: most_credits.
    #[serde(default)]
    pub selection: Selection,
}

impl Default for RelationOptions {
    fn default() -> Self {
        RelationOptions { sets: one_set(), rows: Vec::new(), selection: Selection::default() }
    }
}

fn one_set() -> u32 {
    1
}

impl AnyOptions for RelationOptions {
    fn resolve(&mut self, network: &Network) -> Result<()> {
        if !(1..=MOST_SETS).contains(&self.sets) {
            let expected = format!("1 to {MOST_SETS} sets of virtual channels");
            return Err(Error::config("network.routing.sets", self.sets, expected, ""));
        }
        check(network.fabric)
    }

    fn routing(&self, network: &Network) -> Result<Routing> {
        Ok(at_work(network.fabric, Relation::new(network.fabric, self)?))
    }
}

/// No place, or no choice.
const NONE: u32 = u32::MAX;

/// Where a packet is: the router, and the input port and set that it came by.
type Place = (u32, Option<(u8, u8)>);

/// The choices of all places that rows name.
#[derive(Debug)]
pub struct Relation {
    sets: u8,
    ports: usize,
    routers: u32,
    selection: Selection,
    /// The number of a place, by `(router * (ports + 1) + port) * sets + set`; the last port is that of terminals.
    number: Vec<u32>,
    /// How many places have numbers.
    places: usize,
    choices: Vec<Choice>,
    /// Most channels of a choice.
    most_ports: usize,
    /// Which choice, by `place * routers + destination`.
    index: Vec<u32>,
}

/// A row whose numbers make sense.
struct Row {
    router: u32,
    /// Input ports of the channels from the router before, with the set; `None`: from a terminal.
    from: Option<(Vec<u8>, u8)>,
    dst: u32,
    ports: Vec<u8>,
    set: u8,
}

impl Relation {
    /// The relation of a network in which all routers with terminals are joined.
    ///
    /// # Errors
    /// [`Error::Config`] with the row that makes no sense, or the place from which a packet cannot arrive.
    pub fn new(fabric: &Fabric, options: &RelationOptions) -> Result<Self> {
        let (ports, routers, sets) = (fabric.network_ports(), fabric.routers(), options.sets as u8);
        let mut relation = Relation {
            sets,
            ports,
            routers,
            selection: options.selection,
            number: vec![NONE; routers as usize * (ports + 1) * usize::from(sets)],
            places: 0,
            choices: Vec::new(),
            most_ports: 1,
            index: Vec::new(),
        };
        if routers == 1 {
            return Ok(relation);
        }
        let mut known = HashMap::new();
        for (i, row) in options.rows.iter().enumerate() {
            relation.add(i, row, Row::of(fabric, options, (i, row))?, &mut known)?;
        }
        let mut numbers: HashMap<Choice, u32> = HashMap::new();
        relation.index = vec![NONE; relation.places * routers as usize];
        for (entry, choice) in known {
            relation.index[entry] = *numbers.entry(choice).or_insert_with(|| {
                relation.choices.push(choice);
                relation.choices.len() as u32 - 1
            });
        }
        relation.most_ports = relation.choices.iter().map(|choice| channels(choice).count()).max().unwrap_or(1);
        relation.check_arrival(fabric)?;
        Ok(relation)
    }

    /// Adds a row to the choice of its place.
    fn add(&mut self, i: usize, row: &[i64; 6], meant: Row, known: &mut HashMap<usize, Choice>) -> Result<()> {
        let entered: Vec<Option<(u8, u8)>> = match meant.from {
            None => vec![None],
            Some((ports, set)) => ports.into_iter().map(|port| Some((port, set))).collect(),
        };
        for entered in entered {
            let key = self.key(meant.router, entered);
            if self.number[key] == NONE {
                self.number[key] = self.places as u32;
                self.places += 1;
            }
            if self.places * self.routers as usize > MOST_ENTRIES {
                let expected = format!("at most {MOST_ENTRIES} pairs of a place and a destination");
                return Err(Error::config("network.routing.rows", "more", expected, "use a smaller network"));
            }
            let entry = self.number[key] as usize * self.routers as usize + meant.dst as usize;
            let bits = meant.ports.iter().fold(0u64, |bits, &port| bits | 1 << port);
            let Some(choice) = known.get_mut(&entry) else {
                known.insert(entry, Choice { ports: bits, set: meant.set, ..Choice::default() });
                continue;
            };
            if choice.set == meant.set {
                choice.ports |= bits;
            } else if choice.escape.is_none() {
                choice.escape = Some((meant.ports[meant.dst as usize % meant.ports.len()], meant.set));
            } else {
                let expected = "one channel of another set, the escape channel, beside those of the first row's set";
                return Err(fault(i, row, expected));
            }
        }
        Ok(())
    }

    fn key(&self, router: u32, entered: Option<(u8, u8)>) -> usize {
        let (port, set) = entered.map_or((self.ports, 0), |(port, set)| (usize::from(port), usize::from(set)));
        (router as usize * (self.ports + 1) + port) * usize::from(self.sets) + set
    }

    /// What a packet for `dst` may take, if a row says so.
    #[inline]
    fn find(&self, (router, entered): Place, dst: u32) -> Option<&Choice> {
        let place = *self.number.get(self.key(router, entered))?;
        let entry = (place != NONE).then(|| place as usize * self.routers as usize + dst as usize)?;
        self.choices.get(*self.index.get(entry)? as usize)
    }

    /// Refuses a place where packets come to and have nowhere to go, and one from which they cannot arrive.
    fn check_arrival(&self, fabric: &Fabric) -> Result<()> {
        for dst in with_terminals(fabric) {
            let mut places: Vec<Place> =
                with_terminals(fabric).filter(|&src| src != dst).map(|src| (src, None)).collect();
            let mut numbers: HashMap<Place, usize> = places.iter().copied().zip(0..).collect();
            let mut before: Vec<Vec<usize>> = vec![Vec::new(); places.len()];
            let mut arrived = Vec::new();
            let mut at = 0;
            while let Some(&place) = places.get(at) {
                let expected = "a row for each place that packets come to";
                let choice = self.find(place, dst).ok_or_else(|| self.lost(fabric, (place, dst), expected))?;
                for (port, set) in channels(choice) {
                    let Some((next, input)) = fabric.peer(place.0, usize::from(port)) else { continue };
                    if next == dst {
                        arrived.push(at);
                        continue;
                    }
                    let number = *numbers.entry((next, Some((input as u8, set)))).or_insert_with(|| {
                        places.push((next, Some((input as u8, set))));
                        before.push(Vec::new());
                        places.len() - 1
                    });
                    before[number].push(at);
                }
                at += 1;
            }
            let mut arrives = vec![false; places.len()];
            while let Some(number) = arrived.pop() {
                if !std::mem::replace(&mut arrives[number], true) {
                    arrived.append(&mut before[number]);
                }
            }
            if let Some(stray) = arrives.iter().position(|&arrives| !arrives) {
                let expected = "rows by which every packet can arrive; from here none does";
                return Err(self.lost(fabric, (places[stray], dst), expected));
            }
        }
        Ok(())
    }

    fn lost(&self, fabric: &Fabric, ((router, entered), dst): (Place, u32), expected: &str) -> Error {
        let came = match entered.and_then(|(port, set)| Some((fabric.feeder(router, usize::from(port))?.0, set))) {
            Some((from, set)) => format!("from {} in set {set}", fabric.router_name(from)),
            None => "from a terminal".to_string(),
        };
        let value = format!("a packet at {}, {came}, for {}", fabric.router_name(router), fabric.router_name(dst));
        Error::config("network.routing.rows", value, expected, "")
    }
}

impl Row {
    fn of(fabric: &Fabric, options: &RelationOptions, (i, row): (usize, &[i64; 6])) -> Result<Self> {
        let &[router, from, from_set, dst, to, set] = row;
        let known = |number: i64| u32::try_from(number).ok().filter(|&router| router < fabric.routers());
        let a_set = |number: i64| u32::try_from(number).ok().filter(|&set| set < options.sets).map(|set| set as u8);
        let routers = || format!("router, destination and next router from 0 to {}", fabric.routers() - 1);
        let [Some(router), Some(dst), Some(to)] = [router, dst, to].map(known) else {
            return Err(fault(i, row, routers()));
        };
        let sets = format!("sets from 0 to {}", options.sets - 1);
        let set = a_set(set).ok_or_else(|| fault(i, row, sets.clone()))?;
        let all_ports = || 0..fabric.network_ports();
        let from = match (from, from_set) {
            (-1, -1) => None,
            _ => {
                let before = known(from).ok_or_else(|| fault(i, row, routers()))?;
                let feeds = |&port: &usize| fabric.feeder(router, port).is_some_and(|(far, _)| far == before);
                let ports: Vec<u8> = all_ports().filter(feeds).map(|port| port as u8).collect();
                if ports.is_empty() {
                    let name = fabric.router_name(router);
                    return Err(fault(i, row, format!("a router with a channel to {name}, or -1, as the second")));
                }
                Some((ports, a_set(from_set).ok_or_else(|| fault(i, row, sets))?))
            }
        };
        let leads = |&port: &usize| fabric.peer(router, port).is_some_and(|(far, _)| far == to);
        let ports: Vec<u8> = all_ports().filter(leads).map(|port| port as u8).collect();
        if ports.is_empty() {
            let expected = format!("a router next to {} as the fifth", fabric.router_name(router));
            return Err(fault(i, row, expected));
        }
        Ok(Row { router, from, dst, ports, set })
    }
}

/// The error for a row.
fn fault(i: usize, row: &[i64; 6], expected: impl Into<String>) -> Error {
    Error::config(format!("network.routing.rows[{i}]"), format!("{row:?}"), expected, "")
}

/// All channels of a choice, with their sets.
fn channels(choice: &Choice) -> impl Iterator<Item = (u8, u8)> + '_ {
    let adaptive = (0..64).filter(|&port| choice.ports >> port & 1 == 1).map(|port| (port, choice.set));
    adaptive.chain(choice.escape)
}

impl HopByHop for Relation {
    fn division(&self) -> Division {
        Division::Equal(self.sets)
    }

    fn start(&self, _src: End, dst: End, _bits: u64) -> Head {
        Head { to: dst.router, label: 0, trip: Trip::default() }
    }

    fn starts(&self, _src: u32, dst: u32) -> Vec<Head> {
        vec![Head { to: dst, label: 0, trip: Trip::default() }]
    }

    fn choice(&self, at: &At, head: &Head) -> Choice {
        self.find((at.router, at.port.zip(at.set)), head.to).copied().unwrap_or_default()
    }

    fn most_ports(&self) -> usize {
        self.most_ports
    }

    fn is_fixed(&self) -> bool {
        self.most_ports == 1
    }

    fn selection(&self) -> Selection {
        self.selection
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::{Buffers, Finding, find_cycle};
    use crate::topology::ring;
    use std::sync::Arc;

    /// Round a ring of four upwards, in set 1 behind the channel from router 3 to router 0.
    fn round() -> RelationOptions {
        let mut rows = Vec::new();
        for (router, dst) in (0..4).flat_map(|router| (0..4).map(move |dst| (router, dst))).filter(|(r, d)| r != d) {
            let (before, next) = ((router + 3) % 4, (router + 1) % 4);
            let crossed = i64::from(router == 3);
            rows.push([router, -1, -1, dst, next, crossed]);
            rows.extend((0..2).map(|set| [router, before, set, dst, next, set.max(crossed)]));
        }
        RelationOptions { sets: 2, rows, ..RelationOptions::default() }
    }

    #[test]
    fn packets_take_the_channels_of_the_rows() {
        let fabric = ring(4);
        let relation = Relation::new(&fabric, &round()).unwrap();
        assert!(relation.is_fixed());
        assert_eq!(find_cycle(&fabric, &relation, Buffers::Shared, false), Finding::Free);
        let routing = Routing::HopByHop(Arc::new(relation));
        let path = routing.path(&fabric, fabric.end(2), fabric.end(1), 0);
        assert_eq!(path.iter().map(|hop| (hop.0, hop.2)).collect::<Vec<_>>(), [(2, 0), (3, 1), (0, 1)]);
    }

    #[test]
    fn a_ring_in_one_set_can_deadlock() {
        let fabric = ring(4);
        let rows =
            round().rows.into_iter().filter(|row| row[2] < 1).map(|row| [row[0], row[1], row[2], row[3], row[4], 0]);
        let options = RelationOptions { rows: rows.collect(), ..RelationOptions::default() };
        let relation = Relation::new(&fabric, &options).unwrap();
        assert!(matches!(find_cycle(&fabric, &relation, Buffers::Shared, false), Finding::Cycle(_)));
    }

    #[test]
    fn alternatives_have_one_set_and_an_escape_channel_another() {
        let fabric = ring(4);
        let mut options = round();
        options.rows.push([0, -1, -1, 2, 3, 0]);
        let at = At { router: 0, port: None, set: None };
        let head = Head { to: 2, label: 0, trip: Trip::default() };
        // A packet that came downwards has no row yet.
        let error = Relation::new(&fabric, &options).unwrap_err().to_string();
        let expected =
            "network.routing.rows = a packet at router 3, from router 0 in set 0, for router 2: expected a row";
        assert!(error.starts_with(expected), "{error}");
        options.rows.push([3, 0, 0, 2, 2, 0]);
        let choice = Relation::new(&fabric, &options).unwrap().choice(&at, &head);
        assert_eq!((choice.ports.count_ones(), choice.set, choice.escape), (2, 0, None));
        options.rows.push([0, -1, -1, 2, 1, 1]);
        let relation = Relation::new(&fabric, &options).unwrap();
        let choice = relation.choice(&at, &head);
        assert_eq!((choice.ports.count_ones(), choice.escape.map(|escape| escape.1)), (2, Some(1)));
        assert!(!relation.is_fixed() && relation.most_ports() == 3);
        options.rows.push([0, -1, -1, 2, 3, 1]);
        let error = Relation::new(&fabric, &options).unwrap_err().to_string();
        assert!(error.contains("expected one channel of another set, the escape channel"), "{error}");
    }

    #[test]
    fn rows_that_make_no_sense_are_named() {
        let fabric = ring(4);
        let refused = |change: fn(&mut RelationOptions)| {
            let mut options = round();
            change(&mut options);
            Relation::new(&fabric, &options).unwrap_err().to_string()
        };
        for (error, expected) in [
            (refused(|o| o.rows[0][4] = 2), "rows[0] = [0, -1, -1, 1, 2, 0]: expected a router next to router 0"),
            (
                refused(|o| o.rows[0][0] = 4),
                "rows[0] = [4, -1, -1, 1, 1, 0]: expected router, destination and next router from 0 to 3",
            ),
            (refused(|o| o.rows[0][5] = 2), "rows[0] = [0, -1, -1, 1, 1, 2]: expected sets from 0 to 1"),
            (
                refused(|o| o.rows[1][1] = 2),
                "rows[1] = [0, 2, 0, 1, 1, 0]: expected a router with a channel to router 0",
            ),
            (refused(|o| o.rows.clear()), "rows = a packet at router 1, from a terminal, for router 0: expected a row"),
            (
                refused(|o| o.rows.iter_mut().filter(|row| row[3] == 2).for_each(|row| row[4] = (row[0] + 3) % 4)),
                "rows = a packet at router 3, from router 0 in set 0, for router 2: expected a row",
            ),
        ] {
            assert!(error.starts_with(&format!("network.routing.{expected}")), "{error}");
        }
        // There and back for ever.
        let rows = (0..4).flat_map(|dst| (0..4).map(move |router| (router, dst))).filter(|(r, d)| r != d);
        let rows = rows.flat_map(|(router, dst)| {
            let next = router ^ 1;
            [[router, -1, -1, dst, next, 0], [router, next, 0, dst, next, 0]]
        });
        let options = RelationOptions { rows: rows.collect(), ..RelationOptions::default() };
        let error = Relation::new(&fabric, &options).unwrap_err().to_string();
        assert!(error.contains("for router 0: expected rows by which every packet can arrive"), "{error}");
    }
}
