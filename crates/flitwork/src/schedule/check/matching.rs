//! Which receive takes which message.

use super::{OpKind, Schedule, fault, name};
use crate::error::Error;
use crate::schedule::OpId;

/// For each operation that is a send, the receive that it matches, and the other way round; `OpId::MAX` for others.
///
/// A send matches the receive of its peer with the same tag and length; there must be exactly one. Indices must be in range
/// (see [`super::check_complete`], which checks it first).
///
/// No hashing: receives are brought into order of (sender, receiver) by counting, each sender's sends are sorted, and the
/// two lists are walked side by side.
pub fn match_messages(s: &Schedule) -> Result<Vec<OpId>, Error> {
    let receives = receives_by_sender(s);
    let mut partner = vec![OpId::MAX; s.ops.len()];
    let mut sends = Vec::new();
    let mut rest = &receives[..];
    for rank in 0..s.ranks() {
        let own = rest.partition_point(|r| r.from <= rank);
        let (mine, others) = rest.split_at(own);
        rest = others;
        let mut mine: Vec<(u32, u32, OpId)> = mine.iter().map(|r| (r.to, r.tag, r.op)).collect();
        mine.sort_unstable();
        sends.clear();
        sends.extend(s.ops_of(rank).filter_map(|i| match s.ops[i as usize].kind {
            OpKind::Send { to, tag, .. } => Some((to, tag, i)),
            _ => None,
        }));
        sends.sort_unstable();
        pair_up(s, rank, &sends, &mine, &mut partner)?;
    }
    Ok(partner)
}

/// Walks one rank's sends and the receives that name it, both in order of (receiver, tag).
fn pair_up(
    s: &Schedule,
    rank: u32,
    sends: &[(u32, u32, OpId)],
    receives: &[(u32, u32, OpId)],
    partner: &mut [OpId],
) -> Result<(), Error> {
    for list in [sends, receives] {
        if let Some(w) = list.windows(2).find(|w| (w[0].0, w[0].1) == (w[1].0, w[1].1)) {
            let (to, tag, _) = w[0];
            return Err(fault(s, format!("tag {tag} is used twice for messages from rank {rank} to rank {to}")));
        }
    }
    let key = |list: &[(u32, u32, OpId)], i: usize| list.get(i).map_or((u32::MAX, u32::MAX), |m| (m.0, m.1));
    for i in 0..sends.len().max(receives.len()) {
        let (sent, taken) = (key(sends, i), key(receives, i));
        if sent < taken || i >= receives.len() {
            return Err(fault(s, format!("{} has no receive", name(s, rank, sends[i].2))));
        }
        if taken < sent || i >= sends.len() {
            return Err(fault(s, format!("{} has no send", name(s, receives[i].0, receives[i].2))));
        }
        let (a, b) = (sends[i].2, receives[i].2);
        let (left, arriving) = (flits(s, a), flits(s, b));
        if left != arriving {
            let what = name(s, rank, a);
            return Err(fault(s, format!("{what} has {left} flits, but {arriving} are received")));
        }
        partner[a as usize] = b;
        partner[b as usize] = a;
    }
    Ok(())
}

/// A receive, seen from its sender.
#[derive(Clone, Copy)]
struct Receive {
    from: u32,
    to: u32,
    tag: u32,
    op: OpId,
}

/// All receives in order of (sender, receiver): a counting sort, which keeps the order of the receiving ranks.
fn receives_by_sender(s: &Schedule) -> Vec<Receive> {
    let mut next = vec![0usize; s.ranks() as usize + 1];
    for op in &s.ops {
        if let OpKind::Receive { from, .. } = op.kind {
            next[from as usize + 1] += 1;
        }
    }
    for i in 1..next.len() {
        next[i] += next[i - 1];
    }
    let total = next.last().copied().unwrap_or(0);
    let mut sorted = vec![Receive { from: 0, to: 0, tag: 0, op: 0 }; total];
    for to in 0..s.ranks() {
        for op in s.ops_of(to) {
            if let OpKind::Receive { from, tag, .. } = s.ops[op as usize].kind {
                sorted[next[from as usize]] = Receive { from, to, tag, op };
                next[from as usize] += 1;
            }
        }
    }
    sorted
}

/// Length of the message of a send or receive [flits].
fn flits(s: &Schedule, op: OpId) -> u32 {
    match s.ops[op as usize].kind {
        OpKind::Send { flits, .. } | OpKind::Receive { flits, .. } => flits,
        _ => 0,
    }
}
