//! The single crossbar: one router with all terminals at it.
//!
//! Its virtual channels are queues, first in, first out: with one of them a port, and uniform traffic, it is the
//! input-queued switch of M. J. Karol, M. G. Hluchyj and S. P. Morgan, "Input versus output queueing on a
//! space-division packet switch", IEEE Trans. Communications 35(12), 1987, which saturates at `2 - sqrt(2)` of the load
//! for many ports.

use super::kind::Topology;
use super::{Drawing, Fabric, Graph};
use crate::error::{Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most terminals: the ports that a router may have.
const MOST_TERMINALS: u32 = 64;

/// A single crossbar: one router with all terminals at it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Crossbar {
    /// Terminals at the router, 2 to 64.
    #[schemars(range(min = 2, max = MOST_TERMINALS))]
    pub terminals: u32,
}

impl Topology for Crossbar {
    fn fabric(&self) -> Result<Fabric> {
        let n = self.terminals;
        if !(2..=MOST_TERMINALS).contains(&n) {
            return Err(Error::config("network.topology.terminals", n, format!("2 to {MOST_TERMINALS} terminals"), ""));
        }
        let drawing = Drawing {
            routers: vec![[0.0, 0.0]],
            terminals: (0..n).map(|terminal| super::drawing::on_circle(terminal, n)).collect(),
            note: "terminals around the router".to_string(),
            ..Drawing::default()
        };
        Fabric::of_graph(&Graph { terminals: vec![n], drawing: Some(drawing), ..Graph::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_one_router_without_channels() {
        let fabric = Crossbar { terminals: 5 }.fabric().unwrap();
        assert_eq!((fabric.routers(), fabric.terminals(), fabric.network_ports()), (1, 5, 0));
        assert_eq!((fabric.channels().count(), fabric.terminals_at(0)), (0, 0..5));
        assert_eq!(fabric.drawing().unwrap().terminals.len(), 5);
    }

    #[test]
    fn a_number_of_terminals_that_does_not_fit_is_named() {
        for terminals in [0, 1, 65] {
            let error = Crossbar { terminals }.fabric().unwrap_err().to_string();
            let expected = format!("network.topology.terminals = {terminals}: expected 2 to 64 terminals");
            assert!(error.starts_with(&expected), "{error}");
        }
    }
}
