//! Routes from a table that the user gives: for each router and destination the next router.
//!
//! As forwarding tables of switches have them, by destination: all packets for a router go on the same way from where
//! they meet. Nothing is done against deadlock; the dependencies of all channels are looked at when a run is planned.

use super::Routing;
use super::hop_by_hop::HopByHop;
use super::kind::{AnyOptions, Network};
use super::port_table::{PortTable, at_work, check_size, with_terminals};
use crate::error::{Error, Result};
use crate::topology::Fabric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Options of routes from a table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TableOptions {
    /// The next router: a row for each router, in it a column for each destination router, each the number of a
    /// router next to that of the row. A router's own column is ignored. Of parallel cables destination d takes number
    /// d modulo their number, in the order of their ports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<Vec<u32>>,
    /// A file with the table instead of `next`, a row for each router: CSV or NumPy (.npy). It is read before a plan is
    /// made.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub file: String,
}

impl AnyOptions for TableOptions {
    fn resolve(&mut self, network: &Network) -> Result<()> {
        check_size(network.fabric)
    }

    fn routing(&self, network: &Network) -> Result<Routing> {
        Ok(at_work(network.fabric, self.table(network.fabric)?))
    }

    fn representative(&self, _network: &Network, _level: usize) -> Option<(Fabric, Arc<dyn HopByHop>)> {
        None
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
            self.check_arrival(fabric, &table, dst)?;
        }
        Ok(table)
    }

    /// Refuses a loop on the way to a destination.
    fn check_arrival(&self, fabric: &Fabric, table: &PortTable, dst: u32) -> Result<()> {
        // Routers from which packets arrive, and those that this walk came by.
        let mut arrives = vec![false; fabric.routers() as usize];
        arrives[dst as usize] = true;
        for src in with_terminals(fabric) {
            let mut walked = Vec::new();
            let mut at = src;
            while !arrives[at as usize] {
                if walked.len() > fabric.routers() as usize {
                    let value = format!("{} on the way to {}", fabric.router_name(at), fabric.router_name(dst));
                    let expected = "a table by which every packet arrives; packets come to this router again";
                    return Err(Error::config("network.routing.next", value, expected, ""));
                }
                walked.push(at);
                let next = table.next(at, dst).and_then(|port| fabric.peer(at, port.into()));
                let Some((far, _)) = next else { break };
                at = far;
            }
            walked.into_iter().for_each(|router| arrives[router as usize] = true);
        }
        Ok(())
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
}
