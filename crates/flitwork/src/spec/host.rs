//! The hosts: which ranks run where, and in which order their messages leave.

use super::NoiseSpec;
use crate::error::{Error, Result};
use crate::schedule::{LateSends, Placement, PlacementRule, SendQueue, StartSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most ranks on a terminal.
pub(crate) const MAX_RANKS_PER_TERMINAL: u32 = 1000;

/// What executes a schedule: only for workloads that are one, such as all_to_all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HostSpec {
    /// In which order the messages of a rank leave: program_order (a message that waits for its dependencies holds up
    /// those behind it) or as_ready (none holds up another). Default: program_order.
    pub send_queue: SendQueue,
    /// Ranks on each terminal, 1 to 1000: the workload has so many times as many ranks as the network has terminals,
    /// unless the placement says how many. All ranks of a terminal are a server to algorithms that know servers; those
    /// that go by coordinates need 1. Default: 1.
    #[schemars(range(min = 1, max = MAX_RANKS_PER_TERMINAL))]
    pub ranks_per_terminal: u32,
    /// Which terminal each rank runs on. Default: block, rank r on terminal r / ranks_per_terminal.
    pub placement: PlacementRule,
    /// Software time of a send: so long its rank computes before the message joins the send queue \[cycles].
    /// Default: 0.
    #[serde(skip_serializing_if = "is_zero")]
    pub send_overhead_cycles: u32,
    /// Software time of a receive: so long its rank computes when it has waited for it \[cycles]. Default: 0.
    #[serde(skip_serializing_if = "is_zero")]
    pub receive_overhead_cycles: u32,
    /// Longest message that is sent at once \[flits]. A longer one goes by rendezvous: its send sends a request, the
    /// receiver answers when the receive is posted, and then the data goes. Default: none, all are sent at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    pub eager_limit_flits: Option<u64>,
    /// Length of the request and of the answer of a rendezvous, one packet each \[flits], at least 1. Default: 1.
    #[serde(skip_serializing_if = "is_one")]
    #[schemars(range(min = 1))]
    pub control_flits: u32,
    /// Most that is copied between the ranks of a terminal, all of them together [flits/cycle], more than 0: their
    /// messages are copied in memory and do not enter the network. Default: they go through the router, as packets of
    /// the terminal to itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64", range(min = 0), extend("x-rate" = "copy_bytes_per_s"))]
    pub copy_flits_per_cycle: Option<f64>,
    /// Most that is read from the memory of a terminal for its messages that are sent [flits/cycle], more than 0: they
    /// are read one after the other, and a packet is sent when all of it has been read. Default: memory takes no time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64", range(min = 0), extend("x-rate" = "read_bytes_per_s"))]
    pub read_flits_per_cycle: Option<f64>,
    /// Most that a rank copies of messages that it has received [flits/cycle], more than 0: so long it computes when it
    /// has waited for one that was sent at once. Default: nothing is copied.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64", range(min = 0), extend("x-rate" = "receive_copy_bytes_per_s"))]
    pub receive_copy_flits_per_cycle: Option<f64>,
    /// Time in which a rank adds up what a message of a reduction brings [cycles/flit], at least 0: so long it computes
    /// when it has waited for it. Of collectives and rank programs. Default: 0.
    #[serde(skip_serializing_if = "is_nothing")]
    #[schemars(range(min = 0))]
    pub reduce_cycles_per_flit: f64,
    /// When ranks begin. Default: together.
    #[serde(skip_serializing_if = "StartSpec::is_default")]
    pub start: StartSpec,
    /// What a rank does with a send whose time is over. Default: send.
    #[serde(skip_serializing_if = "sends_late")]
    pub late_sends: LateSends,
    /// Where late sends are kept: one that is late by no more than this is sent at once \[cycles]. Default: 0.
    #[serde(skip_serializing_if = "is_zero")]
    pub late_tolerance_cycles: u32,
    /// Times in which ranks have no CPU. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "NoiseSpec")]
    pub noise: Option<NoiseSpec>,
}

/// What is left out of a plan, so that only plans that say it have another hash.
fn is_zero(value: &u32) -> bool {
    *value == 0
}

fn sends_late(rule: &LateSends) -> bool {
    *rule == LateSends::Send
}

fn is_one(value: &u32) -> bool {
    *value == 1
}

/// The same of a rate.
fn is_nothing(value: &f64) -> bool {
    *value == 0.0
}

impl Default for HostSpec {
    fn default() -> Self {
        HostSpec {
            send_queue: SendQueue::default(),
            ranks_per_terminal: 1,
            placement: PlacementRule::default(),
            send_overhead_cycles: 0,
            receive_overhead_cycles: 0,
            copy_flits_per_cycle: None,
            read_flits_per_cycle: None,
            receive_copy_flits_per_cycle: None,
            reduce_cycles_per_flit: 0.0,
            start: StartSpec::default(),
            late_sends: LateSends::default(),
            late_tolerance_cycles: 0,
            noise: None,
            eager_limit_flits: None,
            control_flits: 1,
        }
    }
}

impl HostSpec {
    /// How many ranks there are: the placement may say so, else it is so many on each of the terminals.
    ///
    /// # Errors
    /// [`Error::Config`] where both say how many ranks a terminal has.
    pub(crate) fn ranks(&self, terminals: u32) -> Result<usize> {
        let each = self.ranks_per_terminal;
        match &self.placement {
            PlacementRule::Counts { .. } if each != 1 => {
                let expected = "nothing: host.placement.ranks says how many ranks each terminal has";
                Err(Error::config("host.ranks_per_terminal", each, expected, "take one of the two out"))
            }
            PlacementRule::Counts { ranks } => Ok(ranks.iter().map(|&ranks| ranks as usize).sum()),
            // Where both are said they must agree, which the placement finds.
            PlacementRule::List { terminals } if each == 1 => Ok(terminals.len()),
            PlacementRule::Block | PlacementRule::RoundRobin | PlacementRule::List { .. } => {
                Ok(terminals as usize * each as usize)
            }
        }
    }

    /// How late a send may be that is not kept, where late sends are kept \[cycles].
    ///
    /// # Errors
    /// [`Error::Config`] if there is a tolerance for sends that are not kept.
    pub(crate) fn tolerance_cycles(&self) -> Result<Option<u64>> {
        let tolerance = self.late_tolerance_cycles;
        if self.late_sends == LateSends::Send && tolerance > 0 {
            let expected = "0: late sends are sent at once";
            let hint = "set host.late_sends = \"keep\"";
            return Err(Error::config("host.late_tolerance_cycles", tolerance, expected, hint));
        }
        Ok((self.late_sends == LateSends::Keep).then_some(tolerance.into()))
    }

    /// The terminal of each of so many ranks.
    ///
    /// # Errors
    /// As [`Placement::new`].
    pub(crate) fn placed(&self, ranks: u32, terminals: u32) -> Result<Placement> {
        Placement::new(&self.placement, ranks, terminals, self.ranks_per_terminal)
    }

    /// Whether ranks start late, or sends or receives cost them time.
    pub(crate) fn has_software_times(&self) -> bool {
        let overheads = self.send_overhead_cycles > 0 || self.receive_overhead_cycles > 0;
        !self.start.is_default() || overheads || self.receive_copy_flits_per_cycle.is_some()
    }

    /// Whether nothing in it was said: then plans do without it.
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
