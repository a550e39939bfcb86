//! Which terminal a rank runs on, and in which order its messages leave.

use crate::error::{Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// In which order the messages of a rank leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SendQueue {
    /// In program order: a message that waits for its dependencies holds up those behind it.
    #[default]
    ProgramOrder,
    /// In the order in which their dependencies are complete, those of one cycle in program order: none holds up another.
    AsReady,
}

/// Which terminal each rank runs on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum PlacementRule {
    /// Rank `r` on terminal `r / ranks_per_terminal`.
    #[default]
    Block,
    /// Rank `r` on terminal `r` modulo the number of terminals.
    RoundRobin,
    /// As listed.
    List {
        /// The terminal of each rank.
        terminals: Vec<u32>,
    },
}

/// The terminal of each rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    terminal_of: Vec<u32>,
    terminals: u32,
}

impl Placement {
    /// Rank = terminal.
    pub fn one_each(terminals: u32) -> Self {
        Placement { terminal_of: (0..terminals).collect(), terminals }
    }

    /// `ranks` ranks on a network of `terminals`, by a rule; `each` is how many a terminal has by the block rule, at least 1.
    ///
    /// # Errors
    /// [`Error::Config`] if a list has not one entry for each rank, or names a terminal that does not exist.
    pub fn new(rule: &PlacementRule, ranks: u32, terminals: u32, each: u32) -> Result<Self> {
        let terminal_of: Vec<u32> = match rule {
            PlacementRule::Block => (0..ranks).map(|rank| rank / each.max(1)).collect(),
            PlacementRule::RoundRobin => (0..ranks).map(|rank| rank % terminals.max(1)).collect(),
            PlacementRule::List { terminals } => terminals.clone(),
        };
        let path = "host.placement.terminals";
        if terminal_of.len() != ranks as usize {
            let hint = "one terminal for each rank, in their order";
            return Err(Error::config(
                path,
                format!("{} entries", terminal_of.len()),
                format!("{ranks} entries"),
                hint,
            ));
        }
        if let Some((rank, &bad)) = terminal_of.iter().enumerate().find(|(_, t)| **t >= terminals) {
            let expected = format!("a terminal, 0 to {}", terminals.saturating_sub(1));
            return Err(Error::config(format!("{path}[{rank}]"), bad, expected, "terminals count from 0"));
        }
        Ok(Placement { terminal_of, terminals })
    }

    /// Number of terminals.
    pub fn terminals(&self) -> u32 {
        self.terminals
    }

    /// The terminal of each rank.
    pub fn terminal_of(&self) -> &[u32] {
        &self.terminal_of
    }

    /// The ranks of each terminal, in ascending order.
    pub fn ranks_of(&self) -> Vec<Vec<u32>> {
        let mut ranks = vec![Vec::new(); self.terminals as usize];
        for (rank, &terminal) in self.terminal_of.iter().enumerate() {
            ranks[terminal as usize].push(rank as u32);
        }
        ranks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_place_ranks() {
        let place = |rule: &PlacementRule| Placement::new(rule, 6, 3, 2).map(|p| p.terminal_of);
        assert_eq!(place(&PlacementRule::Block).unwrap(), [0, 0, 1, 1, 2, 2]);
        assert_eq!(place(&PlacementRule::RoundRobin).unwrap(), [0, 1, 2, 0, 1, 2]);
        let list = |terminals: &[u32]| PlacementRule::List { terminals: terminals.to_vec() };
        assert_eq!(place(&list(&[2, 2, 2, 0, 1, 0])).unwrap(), [2, 2, 2, 0, 1, 0]);
        assert!(place(&list(&[0])).unwrap_err().to_string().contains("6 entries"));
        let bad = place(&list(&[0, 0, 3, 0, 0, 0])).unwrap_err().to_string();
        assert!(bad.contains("terminals[2] = 3: expected a terminal, 0 to 2"), "{bad}");
        let ranks = Placement::new(&PlacementRule::RoundRobin, 6, 3, 2).unwrap().ranks_of();
        assert_eq!(ranks, [[0, 3], [1, 4], [2, 5]]);
    }
}
