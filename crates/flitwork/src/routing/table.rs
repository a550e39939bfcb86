//! Routes from a table that the user gives: for each router and destination router the next router, or for each router
//! and destination terminal the output port.
//!
//! As forwarding tables of switches have them, by destination: all packets for it go on the same way from where they
//! meet. Nothing is done against deadlock; the dependencies of all channels are looked at when a run is planned.

use super::Routing;
use super::hop_by_hop::{At, GoesBy, Head, HopByHop};
use super::kind::{AnyOptions, Network};
use super::port_table::{PortTable, at_work, check_size, with_terminals};
use super::scheme::{Choice, Division, Trip};
use crate::error::{Error, Result};
use crate::topology::{End, Fabric};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of routes from a table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TableOptions {
    /// The next router: a row for each router, in it a column for each destination router, each the number of a
    /// router next to that of the row. A router's own column is ignored. Of parallel cables destination d takes number
    /// d modulo their number, in the order of their ports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<Vec<u32>>,
    /// The output port instead of the next router: a row for each router, in it a column for each destination terminal,
    /// each the number of a port of the router of that row. -1 where no packet for that terminal comes, and at its own
    /// router. Ports count from 0 in the order in which the cables of the router are listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<Vec<i32>>,
    /// A file with the table: `next` as CSV or NumPy (.npy), a row for each router, or `ports` as the forwarding tables
    /// of the fabric that `ibnetdiscover` prints. It is read before a plan is made.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub file: String,
}

impl AnyOptions for TableOptions {
    fn resolve(&mut self, network: &Network) -> Result<()> {
        check_size(network.fabric)
    }

    fn routing(&self, network: &Network) -> Result<Routing> {
        if self.ports.is_empty() {
            return Ok(at_work(network.fabric, self.table(network.fabric)?));
        }
        if !self.next.is_empty() {
            return Err(Error::config("network.routing.ports", "a table beside next", "one of the two", ""));
        }
        Ok(at_work(network.fabric, TerminalTable::new(network.fabric, &self.ports)?))
    }
}

impl TableOptions {
    /// The ports of the table, if every packet arrives.
    fn table(&self, fabric: &Fabric) -> Result<PortTable> {
        if !self.file.is_empty() {
            let expected = "next: files are read before a plan is made";
            return Err(Error::config("network.routing.file", &self.file, expected, "the command line reads them"));
        }
        let routers = fabric.routers();
        let fault = |path: String, value: String, expected: String| Err(Error::config(path, value, expected, ""));
        if self.next.len() != routers as usize {
            let expected = format!("{routers} rows, one per router");
            return fault("network.routing.next".into(), format!("{} rows", self.next.len()), expected);
        }
        if let Some((row, list)) = self.next.iter().enumerate().find(|(_, list)| list.len() != routers as usize) {
            let expected = format!("{routers} columns, one per destination router");
            return fault(format!("network.routing.next[{row}]"), format!("{} columns", list.len()), expected);
        }
        let mut table = PortTable::empty(routers);
        for dst in with_terminals(fabric) {
            let mut named = vec![false; routers as usize];
            for (from, row) in (0..).zip(&self.next).filter(|&(from, _)| from != dst) {
                if let Some(named) = named.get_mut(row[dst as usize] as usize).filter(|_| from != row[dst as usize]) {
                    *named = true;
                }
            }
            let mut column = table.towards(dst);
            for router in (0..routers).filter(|&router| router != dst) {
                let to = self.next[router as usize][dst as usize];
                let leads = |&port: &usize| fabric.peer(router, port).is_some_and(|(far, _)| far == to);
                let ports: Vec<usize> = (0..fabric.network_ports()).filter(leads).collect();
                match ports.get(dst as usize % ports.len().max(1)) {
                    Some(&port) => column.set(router, port),
                    // No packet comes to a router without terminals that no row names.
                    None if fabric.terminals_at(router).is_empty() && !named[router as usize] => {}
                    None => {
                        let expected = format!("a router next to {}", fabric.router_name(router));
                        return fault(format!("network.routing.next[{router}][{dst}]"), to.to_string(), expected);
                    }
                }
            }
            let next = |router: u32| table.next(router, dst);
            check_arrival(fabric, "network.routing.next", (dst, fabric.router_name(dst)), next)?;
        }
        Ok(table)
    }
}

/// Refuses a table by which packets for a router, or a terminal of it, do not arrive: they come to a router without a
/// port for them, or to one again.
fn check_arrival(
    fabric: &Fabric,
    field: &str,
    (router, name): (u32, String),
    next: impl Fn(u32) -> Option<u8>,
) -> Result<()> {
    // Routers from which packets arrive, and those that this walk came by.
    let mut arrives = vec![false; fabric.routers() as usize];
    arrives[router as usize] = true;
    for src in with_terminals(fabric) {
        let (mut at, mut walked) = (src, Vec::new());
        while !arrives[at as usize] {
            let far = next(at).and_then(|port| fabric.peer(at, port.into()));
            let Some((far, _)) = far.filter(|_| walked.len() <= fabric.routers() as usize) else {
                let value = format!("{} on the way to {name}", fabric.router_name(at));
                let expected = match far {
                    Some(_) => "a table by which every packet arrives; packets come to this router again",
                    None => "a port: packets come to this router",
                };
                return Err(Error::config(field, value, expected, ""));
            };
            walked.push(at);
            at = far;
        }
        walked.into_iter().for_each(|router| arrives[router as usize] = true);
    }
    Ok(())
}

/// The output port of every router for every destination terminal.
#[derive(Debug)]
pub struct TerminalTable {
    routers: u32,
    /// Terminals of each router: the first, and the one behind the last.
    terminals: Vec<(u32, u32)>,
    /// By `terminal * routers + router`; [`NO_PORT`] where no packet comes.
    ports: Vec<u8>,
}

const NO_PORT: u8 = u8::MAX;

impl TerminalTable {
    /// The table of rows, if every packet arrives.
    fn new(fabric: &Fabric, rows: &[Vec<i32>]) -> Result<Self> {
        let (routers, terminals) = (fabric.routers(), fabric.terminals());
        let fault = |path: String, value: String, expected: String| Err(Error::config(path, value, expected, ""));
        if rows.len() != routers as usize {
            let expected = format!("{routers} rows, one per router");
            return fault("network.routing.ports".into(), format!("{} rows", rows.len()), expected);
        }
        let mut ports = vec![NO_PORT; routers as usize * terminals as usize];
        for (router, row) in (0..routers).zip(rows) {
            if row.len() != terminals as usize {
                let expected = format!("{terminals} columns, one per terminal");
                return fault(format!("network.routing.ports[{router}]"), format!("{} columns", row.len()), expected);
            }
            for (terminal, &port) in (0..terminals).zip(row).filter(|&(t, _)| fabric.router_of(t) != router) {
                let known = usize::try_from(port).ok().filter(|&port| port < fabric.network_ports());
                let known = known.filter(|&port| fabric.peer(router, port).is_some());
                if known.is_none() && port != -1 {
                    let expected = format!("a port of {} with a cable, or -1", fabric.router_name(router));
                    return fault(format!("network.routing.ports[{router}][{terminal}]"), port.to_string(), expected);
                }
                ports[terminal as usize * routers as usize + router as usize] =
                    known.map_or(NO_PORT, |port| port as u8);
            }
        }
        let of = |router: u32| fabric.terminals_at(router);
        let terminals = (0..routers).map(|router| (of(router).start, of(router).end)).collect();
        let table = TerminalTable { routers, terminals, ports };
        for terminal in 0..fabric.terminals() {
            let to = (fabric.router_of(terminal), format!("terminal {terminal}"));
            check_arrival(fabric, "network.routing.ports", to, |router| table.next(router, terminal))?;
        }
        Ok(table)
    }

    #[inline]
    fn next(&self, router: u32, terminal: u32) -> Option<u8> {
        let port = self.ports[terminal as usize * self.routers as usize + router as usize];
        (port != NO_PORT).then_some(port)
    }

    fn head(dst: u32, terminal: u32) -> Head {
        Head { to: dst, label: terminal, trip: Trip::default() }
    }
}

impl HopByHop for TerminalTable {
    fn division(&self) -> Division {
        Division::Equal(1)
    }

    fn start(&self, _src: End, dst: End, _bits: u64) -> Head {
        TerminalTable::head(dst.router, dst.terminal)
    }

    fn starts(&self, _src: u32, dst: u32) -> Vec<Head> {
        let (first, end) = self.terminals[dst as usize];
        (first..end).map(|terminal| TerminalTable::head(dst, terminal)).collect()
    }

    fn forget(&self, at: &mut At, _head: &mut Head) {
        (at.port, at.set) = (None, None);
    }

    fn choice(&self, at: &At, head: &Head) -> Choice {
        Choice { escape: self.next(at.router, head.label).map(|port| (port, 0)), ..Choice::default() }
    }

    fn is_fixed(&self) -> bool {
        true
    }

    fn goes_by(&self) -> GoesBy {
        GoesBy::Destination
    }

    fn requests_one_port(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::graph;

    /// A ring of four, or of four with two cables between routers 0 and 1.
    fn ring(parallel: bool) -> Fabric {
        let cables = [[0, 1], [1, 2], [2, 3], [3, 0], [0, 1]];
        graph(&cables[..if parallel { 5 } else { 4 }], &[])
    }

    /// Always on to the router of the next number.
    fn round() -> Vec<Vec<u32>> {
        (0..4).map(|router| vec![(router + 1) % 4; 4]).collect()
    }

    #[test]
    fn packets_take_the_routers_of_the_table() {
        let fabric = ring(true);
        let options = TableOptions { next: round(), ..TableOptions::default() };
        let routing = options.routing(&Network { fabric: &fabric }).unwrap();
        let path = |src, dst| -> Vec<(u32, usize)> {
            let path = routing.path(&fabric, fabric.end(src), fabric.end(dst), 0);
            path.into_iter().map(|(router, port, _)| (router, port)).collect()
        };
        // The two cables from router 0 to router 1 are ports 0 and 2.
        assert_eq!(path(3, 2), [(3, 1), (0, 0), (1, 1)]);
        assert_eq!(path(0, 3), [(0, 2), (1, 1), (2, 1)]);
    }

    #[test]
    fn a_table_that_leads_nowhere_is_named() {
        let fabric = ring(false);
        let refused = |next| {
            let options = TableOptions { next, ..TableOptions::default() };
            options.routing(&Network { fabric: &fabric }).unwrap_err().to_string()
        };
        assert!(refused(vec![vec![0; 4]; 3]).starts_with("network.routing.next = 3 rows: expected 4 rows"));
        let mut short = round();
        short[2].pop();
        assert!(refused(short).starts_with("network.routing.next[2] = 3 columns: expected 4 columns"));
        let mut beyond = round();
        beyond[0][3] = 2;
        assert!(refused(beyond).starts_with("network.routing.next[0][3] = 2: expected a router next to router 0"));
        let mut looping = round();
        looping[1][3] = 0;
        let error = refused(looping);
        assert!(error.contains("on the way to router 3: expected a table by which every packet arrives"), "{error}");
    }

    /// Two terminals at router 2 of a ring, one each way from router 0.
    #[test]
    fn a_table_of_ports_tells_terminals_apart() {
        let fabric = graph(&[[0, 1], [1, 2], [2, 3], [3, 0]], &[1, 0, 2, 0]);
        let mut ports = vec![vec![-1, 0, 1], vec![0, 1, 1], vec![0, -1, -1], vec![1, 0, 0]];
        let routing = |ports: &Vec<Vec<i32>>| {
            let options = TableOptions { ports: ports.clone(), ..TableOptions::default() };
            options.routing(&Network { fabric: &fabric })
        };
        let path = |to: u32| -> Vec<u32> {
            let path = routing(&ports).unwrap().path(&fabric, fabric.end(0), fabric.end(to), 0);
            path.into_iter().map(|(router, _, _)| router).collect()
        };
        assert_eq!([path(1), path(2)], [[0, 1], [0, 3]]);
        let refused = |ports: &Vec<Vec<i32>>| routing(ports).unwrap_err().to_string();
        assert!(refused(&vec![vec![0; 3]; 3]).starts_with("network.routing.ports = 3 rows: expected 4 rows"));
        assert!(refused(&vec![vec![0; 2]; 4]).starts_with("network.routing.ports[0] = 2 columns: expected 3 columns"));
        ports[3][2] = 1;
        assert!(refused(&ports).contains("on the way to terminal 2: expected a table by which every packet arrives"));
        ports[3][2] = -1;
        assert!(
            refused(&ports).starts_with("network.routing.ports = router 3 on the way to terminal 2: expected a port")
        );
        ports[3][2] = 2;
        assert!(
            refused(&ports).starts_with("network.routing.ports[3][2] = 2: expected a port of router 3 with a cable")
        );
    }
}
