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
    /// In the order in which their dependencies are complete, those of one cycle in program order: none holds up
    /// another.
    AsReady,
}

/// What a rank does with the first send behind an operation that waits until a time, when the program comes to it after
/// that time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LateSends {
    /// It is sent at once.
    #[default]
    Send,
    /// It is kept, and sent when the program ends or comes to something that has to wait for other operations. So it
    /// does not meet the messages of others that are on time.
    Keep,
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
    /// As listed. Terminals may be left out. With one rank a terminal (`ranks_per_terminal` = 1, the default) the
    /// workload has as many ranks as the list entries.
    List {
        /// The terminal of each rank.
        terminals: Vec<u32>,
    },
    /// So many ranks on each terminal, those of terminal 0 first, then those of terminal 1, ... The workload has as
    /// many ranks as these are together.
    Counts {
        /// The ranks of each terminal, one number for each, 1 to 1000.
        ranks: Vec<u32>,
    },
}

/// Most ranks of a terminal.
const MOST_COUNT: u32 = 1000;

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

    /// `ranks` ranks on a network of `terminals`, by a rule; `each` is how many a terminal has by the block rule, at
    /// least 1.
    ///
    /// # Errors
    /// [`Error::Config`] if a list has not one entry for each rank, or names a terminal that does not exist; if there
    /// is not one count for each terminal, one is 0, or all together are not the ranks.
    pub fn new(rule: &PlacementRule, ranks: u32, terminals: u32, each: u32) -> Result<Self> {
        let terminal_of: Vec<u32> = match rule {
            PlacementRule::Block => (0..ranks).map(|rank| rank / each.max(1)).collect(),
            PlacementRule::RoundRobin => (0..ranks).map(|rank| rank % terminals.max(1)).collect(),
            PlacementRule::List { terminals } => terminals.clone(),
            PlacementRule::Counts { ranks: counts } => counted(counts, ranks, terminals)?,
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

/// The terminal of each rank by the number of ranks of each terminal.
fn counted(counts: &[u32], ranks: u32, terminals: u32) -> Result<Vec<u32>> {
    let path = "host.placement.ranks";
    if counts.len() != terminals as usize {
        let expected = format!("{terminals} entries, one for each terminal of the network");
        let hint = "kind = \"list\" leaves terminals out";
        return Err(Error::config(path, format!("{} entries", counts.len()), expected, hint));
    }
    if let Some((terminal, &bad)) = counts.iter().enumerate().find(|(_, count)| !(1..=MOST_COUNT).contains(*count)) {
        let hint = if bad == 0 { "a server has at least one rank; kind = \"list\" leaves terminals out" } else { "" };
        return Err(Error::config(format!("{path}[{terminal}]"), bad, format!("1 to {MOST_COUNT} ranks"), hint));
    }
    let all: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    if all != u64::from(ranks) {
        let expected = format!("{ranks} ranks together, as many as the workload has");
        return Err(Error::config(path, format!("{all} ranks"), expected, ""));
    }
    let of = |(terminal, &count): (u32, &u32)| std::iter::repeat_n(terminal, count as usize);
    Ok((0..).zip(counts).flat_map(of).collect())
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

    #[test]
    fn counts_place_ranks_one_terminal_after_the_other() {
        let place = |counts: &[u32], ranks| {
            let rule = PlacementRule::Counts { ranks: counts.to_vec() };
            Placement::new(&rule, ranks, 3, 1).map(|p| p.terminal_of).map_err(|error| error.to_string())
        };
        assert_eq!(place(&[3, 1, 2], 6).unwrap(), [0, 0, 0, 1, 2, 2]);
        let refused = |counts: &[u32], ranks| place(counts, ranks).unwrap_err();
        assert!(refused(&[3, 3], 6).contains("host.placement.ranks = 2 entries: expected 3 entries, one for each"));
        let none = refused(&[3, 0, 3], 6);
        assert!(
            none.contains("host.placement.ranks[1] = 0: expected 1 to 1000 ranks") && none.contains("list"),
            "{none}"
        );
        assert!(refused(&[3, 1001, 3], 1007).contains("ranks[1] = 1001"));
        assert!(refused(&[3, 1, 2], 5).contains("= 6 ranks: expected 5 ranks together"));
    }
}
