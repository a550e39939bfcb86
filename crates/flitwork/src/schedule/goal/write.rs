//! Writing GOAL text.
//!
//! A dependency is written behind the later of its two operations, as schedule generators do. Where that would change
//! the order of those that wait for one operation, it is written later.

use super::{ANY, Goal, GoalKind, Until};
use std::fmt::Write;

/// The program as text; the operations of each rank are labelled `l1`, `l2`, ...
pub(super) fn to_text(goal: &Goal) -> String {
    let mut text = format!("num_ranks {}\n", goal.ranks());
    for rank in 0..goal.ranks() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\nrank {rank} {{");
        rank_to_text(goal, rank, &mut text);
        text.push_str("}\n");
    }
    text
}

fn rank_to_text(goal: &Goal, rank: u32, text: &mut String) {
    let first = goal.first(rank);
    // Behind which operation each dependency is written: (behind, on, of, until).
    let mut dependencies: Vec<(u32, u32, u32, Until)> = Vec::new();
    for on in 0..goal.of_rank(rank).len() as u32 {
        for until in [Until::Finished, Until::Started] {
            let mut behind = on;
            for &of in goal.waiting_for(first + on as usize, until) {
                behind = behind.max(of);
                dependencies.push((behind, on, of, until));
            }
        }
    }
    dependencies.sort_by_key(|&(behind, ..)| behind);
    let mut dependencies = dependencies.into_iter().peekable();
    for (number, op) in goal.of_rank(rank).iter().enumerate() {
        let _ = write!(text, "l{}: ", number + 1);
        let peer = if op.peer == ANY { "-1".into() } else { op.peer.to_string() };
        let tag = if op.tag == ANY { "-1".into() } else { op.tag.to_string() };
        let _ = match op.kind {
            GoalKind::Send => write!(text, "send {}b to {peer} tag {tag}", op.size),
            GoalKind::Receive => write!(text, "recv {}b from {peer} tag {tag}", op.size),
            GoalKind::Calc => write!(text, "calc {}", op.size),
        };
        if op.cpu > 0 {
            let _ = write!(text, " cpu {}", op.cpu);
        }
        if op.nic > 0 {
            let _ = write!(text, " nic {}", op.nic);
        }
        text.push('\n');
        while let Some((_, on, of, until)) = dependencies.next_if(|line| line.0 as usize == number) {
            let word = if until == Until::Finished { "requires" } else { "irequires" };
            let _ = writeln!(text, "l{} {word} l{}", of + 1, on + 1);
        }
    }
}
