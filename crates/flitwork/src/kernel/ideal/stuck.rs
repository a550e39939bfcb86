//! Why a program cannot end, in words.

use super::machine::Machine;

/// Most things that are told.
const SHOWN: usize = 6;

/// Which receives have no message, and which messages no receive.
pub(super) fn describe(machine: &Machine<'_>) -> String {
    let goal = machine.goal;
    let mut reasons = Vec::new();
    for rank in 0..goal.ranks() {
        let number = |rank: u32, op: u32| op as usize - goal.first(rank) + 1;
        for receive in machine.posted[rank as usize].first(SHOWN) {
            let what = goal.ops()[receive.op as usize].describe();
            reasons.push(format!("rank {rank}: operation {} ({what}) gets no message", number(rank, receive.op)));
        }
        for message in machine.unexpected[rank as usize].first(SHOWN) {
            let what = goal.ops()[message.op as usize].describe();
            let from = message.from;
            reasons.push(format!("rank {from}: operation {} ({what}) is never received", number(from, message.op)));
        }
        if reasons.len() > SHOWN {
            break;
        }
    }
    if reasons.is_empty() {
        // Every message was received: a send by rendezvous ended for nobody.
        reasons.push("operations wait for sends that never end".into());
    }
    let more = reasons.len() > SHOWN;
    reasons.truncate(SHOWN);
    format!("cannot end: {}{}", reasons.join("; "), if more { "; ..." } else { "" })
}
