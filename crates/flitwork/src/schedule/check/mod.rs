//! Is a schedule well formed, and does every message have a receive? Whether every rank can finish is found out by
//! running it, see [`crate::host::check_complete`].

mod matching;

use super::{ANY, OpKind, Schedule, SizeUnit, Via};
use crate::error::Error;

pub use matching::{Match, match_messages};

/// Checks each operation by itself: ranks in range, no empty message (in flits; 0 bytes are one flit), dependencies on
/// earlier operations of the same rank, or of a send on a receive that is posted later, what waits for a start behind
/// what starts, and what goes with a message on the bus behind it.
///
/// # Errors
/// [`Error::Schedule`] names the rank and the operation.
pub fn check_form(s: &Schedule) -> Result<(), Error> {
    let mut receives = Vec::new();
    for rank in 0..s.ranks() {
        receives.clear();
        receives.extend(s.operations(rank).map(|op| matches!(op.kind, OpKind::Receive { .. })));
        let mut starts = false;
        // Whether a transfer on a bus has begun that the program has not been held up behind.
        let mut on_bus = false;
        // The size of the message before on the bus.
        let mut before = 0;
        for (i, op) in s.operations(rank).enumerate() {
            let at = |what: String| Err(fault(s, format!("{} {what}", name(rank, i as u32, &op.kind))));
            let (peer, size) = match op.kind {
                OpKind::Send { to, tag: ANY, .. } => return at(format!("has no tag; rank {to} could not name it")),
                OpKind::Send { to, size, .. } => (to, size),
                OpKind::Receive { from, size, .. } => (if from == ANY { 0 } else { from }, size),
                OpKind::Compute { .. }
                | OpKind::Wait
                | OpKind::WaitUntil { .. }
                | OpKind::Task { .. }
                | OpKind::Started => (0, 1),
            };
            if peer >= s.ranks() {
                return at(format!("names rank {peer} of {}", s.ranks()));
            }
            let is_send = matches!(op.kind, OpKind::Send { .. });
            if is_send && op.via.is_joined() && !(on_bus && op.after.iter().next().is_none()) {
                let what = "has no message before it on the bus that it could go with (nothing may hold it up)";
                return at(what.into());
            }
            if is_send && op.via == Via::BusSame && size != before {
                return at(format!("goes together with a message of {before} and cannot be of another size"));
            }
            if is_send && op.via.is_bus() {
                before = size;
            }
            if is_send && op.via.is_tree() && size > 1 {
                return at("sends more than 1 flit, or byte, by the barrier tree, which carries signals alone".into());
            }
            on_bus |= is_send && op.via == Via::Bus;
            on_bus &= !matches!(op.kind, OpKind::Wait | OpKind::WaitUntil { .. } | OpKind::Compute { .. });
            if size == 0 && s.sizes() == SizeUnit::Flits {
                return at("has a message of 0 flits".into());
            }
            if op.kind == OpKind::Started && !(starts && op.after.iter().next().is_none()) {
                return at("does not stand alone behind a send, a receive or a task".into());
            }
            starts = matches!(op.kind, OpKind::Send { .. } | OpKind::Receive { .. } | OpKind::Task { .. });
            let allowed = |dep: u32| {
                (dep as usize) < i || is_send && dep as usize > i && receives.get(dep as usize) == Some(&true)
            };
            if let Some(dep) = op.after.iter().find(|&dep| !allowed(dep)) {
                let expected = if is_send { "an earlier operation or a receive" } else { "an earlier operation" };
                return at(format!("depends on operation {dep} of its rank, which is not {expected}"));
            }
        }
    }
    Ok(())
}

/// Names an operation of `rank` in messages.
pub(crate) fn name(rank: u32, op: u32, kind: &OpKind) -> String {
    format!("rank {rank} operation {op} ({})", kind.describe())
}

pub(crate) fn fault(s: &Schedule, fault: String) -> Error {
    Error::Schedule { name: s.name().to_string(), fault }
}
