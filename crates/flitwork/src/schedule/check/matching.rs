//! Which receive takes which message, where that does not depend on time.

use super::{fault, name};
use crate::error::Error;
use crate::schedule::{ANY, OpId, OpKind, Schedule};

/// A message: the send and its receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Match {
    /// Sending rank.
    pub from: u32,
    /// The send, among the operations of `from`.
    pub send: OpId,
    /// Receiving rank.
    pub to: u32,
    /// The receive, among the operations of `to`.
    pub receive: OpId,
}

/// One end of a message; of one (sender, receiver, tag) in program order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct End {
    from: u32,
    to: u32,
    tag: u32,
    op: OpId,
    size: u64,
}

impl End {
    fn key(&self) -> (u32, u32, u32) {
        (self.from, self.to, self.tag)
    }
}

/// The messages of a schedule, in order of (sender, receiver, tag): the k-th send with the k-th receive of the same
/// three. `None` if a receive leaves its sender or tag open: then it depends on time.
///
/// # Errors
/// [`Error::Schedule`] names a send without a receive, a receive without a send, or a message that is longer than its
/// receive.
pub fn match_messages(s: &Schedule) -> Result<Option<Vec<Match>>, Error> {
    let (mut sends, mut receives) = (Vec::new(), Vec::new());
    for rank in 0..s.ranks() {
        for (i, op) in s.operations(rank).enumerate() {
            match op.kind {
                OpKind::Receive { from: ANY, .. } | OpKind::Receive { tag: ANY, .. } => return Ok(None),
                OpKind::Send { to, size, tag } => sends.push(End { from: rank, to, tag, op: i as OpId, size }),
                OpKind::Receive { from, size, tag } => receives.push(End { from, to: rank, tag, op: i as OpId, size }),
                OpKind::Compute { .. }
                | OpKind::Wait
                | OpKind::WaitUntil { .. }
                | OpKind::Task { .. }
                | OpKind::Started => {}
            }
        }
    }
    sends.sort_unstable();
    receives.sort_unstable();
    let named = |rank: u32, op: OpId| {
        let kind = s.operations(rank).nth(op as usize).map_or(OpKind::Wait, |op| op.kind);
        name(rank, op, &kind)
    };
    let mut matches = Vec::with_capacity(sends.len());
    for i in 0..sends.len().max(receives.len()) {
        let (send, receive) = match (sends.get(i), receives.get(i)) {
            (Some(send), Some(receive)) if send.key() == receive.key() => (send, receive),
            (Some(send), receive) if receive.is_none_or(|receive| send.key() < receive.key()) => {
                return Err(fault(s, format!("{} has no receive", named(send.from, send.op))));
            }
            (_, Some(receive)) => return Err(fault(s, format!("{} has no send", named(receive.to, receive.op)))),
            (_, None) => break,
        };
        if send.size > receive.size {
            let (what, taker) = (named(send.from, send.op), named(receive.to, receive.op));
            return Err(fault(s, format!("{what} is {} long, but {taker} takes {}", send.size, receive.size)));
        }
        matches.push(Match { from: send.from, send: send.op, to: send.to, receive: receive.op });
    }
    Ok(Some(matches))
}
