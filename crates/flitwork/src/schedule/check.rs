//! Is a schedule what it claims to be? Every message matched, nobody waiting for ever, every pair exactly once.

mod matching;
mod progress;

use super::{OpKind, Schedule};
use crate::error::Error;
use serde::Serialize;

pub use matching::match_messages;
pub use progress::check_progress;

/// What a checked schedule amounts to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ExchangeReport {
    /// Number of ranks.
    pub ranks: u32,
    /// Number of messages.
    pub messages: u64,
    /// Length of all messages together [flits].
    pub flits: u64,
    /// Longest message [flits].
    pub longest_flits: u32,
    /// Shortest message [flits].
    pub shortest_flits: u32,
    /// Number of phases: 1 more than the largest phase of a message.
    pub phases: u32,
}

/// Checks that every ordered pair of distinct ranks exchanges exactly one message, on top of [`check_complete`].
pub fn check_exchange(s: &Schedule) -> Result<ExchangeReport, Error> {
    let report = check_complete(s)?;
    // seen[to] is 1 + the last sender that was seen sending there.
    let mut seen = vec![0u32; s.ranks() as usize];
    for rank in 0..s.ranks() {
        let mut sent = 0;
        for op in &s.ops[s.rank_start[rank as usize] as usize..s.rank_start[rank as usize + 1] as usize] {
            let OpKind::Send { to, .. } = op.kind else { continue };
            if to == rank {
                return Err(fault(s, format!("rank {rank} sends a message to itself")));
            }
            if seen[to as usize] == rank + 1 {
                return Err(fault(s, format!("rank {rank} sends more than one message to rank {to}")));
            }
            seen[to as usize] = rank + 1;
            sent += 1;
        }
        if sent + 1 < s.ranks() {
            let missing = (0..s.ranks()).find(|&to| to != rank && seen[to as usize] != rank + 1);
            let missing = missing.unwrap_or_default();
            return Err(fault(s, format!("rank {rank} sends no message to rank {missing}")));
        }
    }
    Ok(report)
}

/// Checks any schedule: it is well formed, sends and receives match one to one, and every rank can finish.
pub fn check_complete(s: &Schedule) -> Result<ExchangeReport, Error> {
    check_form(s)?;
    check_progress(s, &match_messages(s)?)?;
    let mut report = ExchangeReport {
        ranks: s.ranks(),
        messages: 0,
        flits: 0,
        longest_flits: 0,
        shortest_flits: u32::MAX,
        phases: 0,
    };
    for (_, _, flits, phase) in s.messages() {
        report.messages += 1;
        report.flits += u64::from(flits);
        report.longest_flits = report.longest_flits.max(flits);
        report.shortest_flits = report.shortest_flits.min(flits);
        report.phases = report.phases.max(phase + 1);
    }
    if report.messages == 0 {
        report.shortest_flits = 0;
    }
    Ok(report)
}

/// Indices in range, lengths at least 1, dependencies on earlier operations or receives of the same rank.
fn check_form(s: &Schedule) -> Result<(), Error> {
    let starts_fit = |start: &[u32], end: usize| {
        start.first() == Some(&0) && start.is_sorted() && start.last().is_some_and(|&l| l as usize == end)
    };
    if !starts_fit(&s.rank_start, s.ops.len()) {
        return Err(fault(s, "rank_start does not divide the operations among the ranks".into()));
    }
    if s.dep_start.len() != s.ops.len() + 1 || !starts_fit(&s.dep_start, s.deps.len()) {
        return Err(fault(s, "dep_start does not divide the dependencies among the operations".into()));
    }
    for rank in 0..s.ranks() {
        let own = s.ops_of(rank);
        for i in own.clone() {
            match s.ops[i as usize].kind {
                OpKind::Send { to: peer, flits, .. } | OpKind::Receive { from: peer, flits, .. } => {
                    if peer >= s.ranks() {
                        return Err(fault(s, format!("{} names rank {peer} of {}", name(s, rank, i), s.ranks())));
                    }
                    if flits == 0 {
                        return Err(fault(s, format!("{} has a message of 0 flits", name(s, rank, i))));
                    }
                }
                OpKind::Compute { .. } | OpKind::Wait => {}
            }
            for &dep in s.deps_of(i) {
                let allowed = own.contains(&dep)
                    && dep != i
                    && (dep < i || matches!(s.ops[dep as usize].kind, OpKind::Receive { .. }));
                if !allowed {
                    let what = "neither an earlier operation nor a receive of its rank";
                    return Err(fault(s, format!("{} depends on operation {dep}: {what}", name(s, rank, i))));
                }
            }
        }
    }
    Ok(())
}

/// Names an operation of `rank` in messages.
fn name(s: &Schedule, rank: u32, op: u32) -> String {
    let what = match s.ops[op as usize].kind {
        OpKind::Send { to, tag, .. } => format!("send to rank {to}, tag {tag}"),
        OpKind::Receive { from, tag, .. } => format!("receive from rank {from}, tag {tag}"),
        OpKind::Compute { cycles } => format!("compute {cycles} cycles"),
        OpKind::Wait => "wait".into(),
    };
    format!("rank {rank} operation {} ({what})", op - s.rank_start[rank as usize])
}

fn fault(s: &Schedule, fault: String) -> Error {
    Error::Schedule { name: s.name.clone(), fault }
}

#[cfg(test)]
mod tests {
    use super::super::ScheduleBuilder;
    use super::*;

    fn send(to: u32, flits: u32) -> OpKind {
        OpKind::Send { to, flits, tag: 0 }
    }

    fn receive(from: u32, flits: u32) -> OpKind {
        OpKind::Receive { from, flits, tag: 0 }
    }

    fn build(ranks: &[&[(OpKind, &[u32])]]) -> Schedule {
        let mut b = ScheduleBuilder::new("test");
        for ops in ranks {
            for (kind, after) in *ops {
                b.op(*kind, 0, after);
            }
            b.end_rank();
        }
        b.build()
    }

    fn fault_of(s: &Schedule) -> String {
        check_exchange(s).unwrap_err().to_string()
    }

    #[test]
    fn a_swap_is_an_exchange() {
        let s = build(&[&[(receive(1, 3), &[]), (send(1, 4), &[])], &[(receive(0, 4), &[]), (send(0, 3), &[2])]]);
        let report = check_exchange(&s).unwrap();
        assert_eq!((report.messages, report.flits, report.phases), (2, 7, 1));
        assert_eq!((report.shortest_flits, report.longest_flits), (3, 4));
    }

    #[test]
    fn a_missing_pair_is_no_exchange_but_complete() {
        let s = build(&[&[(send(1, 4), &[])], &[(receive(0, 4), &[])]]);
        assert!(check_complete(&s).is_ok());
        assert!(fault_of(&s).contains("rank 1 sends no message to rank 0"));
    }

    #[test]
    fn an_unmatched_send_is_named() {
        let s = build(&[&[(send(1, 4), &[])], &[(send(0, 4), &[])]]);
        assert!(fault_of(&s).contains("rank 0 operation 0 (send to rank 1, tag 0) has no receive"));
    }

    #[test]
    fn an_unmatched_receive_is_named() {
        let s = build(&[&[], &[(receive(0, 4), &[])]]);
        assert!(fault_of(&s).contains("rank 1 operation 0 (receive from rank 0, tag 0) has no send"));
    }

    #[test]
    fn lengths_must_agree() {
        let s = build(&[&[(send(1, 4), &[])], &[(receive(0, 5), &[])]]);
        assert!(fault_of(&s).contains("4 flits, but 5"));
    }

    #[test]
    fn two_messages_of_one_tag_cannot_be_told_apart() {
        let s = build(&[&[(send(1, 4), &[]), (send(1, 4), &[])], &[(receive(0, 4), &[]), (receive(0, 4), &[])]]);
        assert!(fault_of(&s).contains("twice"));
    }

    #[test]
    fn a_message_to_oneself_and_a_duplicate_are_no_exchange() {
        let s = build(&[&[(send(0, 4), &[]), (receive(0, 4), &[])]]);
        assert!(fault_of(&s).contains("itself"));
        let twice = |tag| OpKind::Send { to: 1, flits: 1, tag };
        let take = |tag| OpKind::Receive { from: 0, flits: 1, tag };
        let s = build(&[&[(twice(0), &[]), (twice(1), &[])], &[(take(0), &[]), (take(1), &[])]]);
        assert!(fault_of(&s).contains("more than one message to rank 1"));
    }

    #[test]
    fn a_circle_of_waits_is_found() {
        let s = build(&[
            &[(receive(1, 1), &[]), (OpKind::Wait, &[0]), (send(1, 1), &[])],
            &[(receive(0, 1), &[]), (send(0, 1), &[3])],
        ]);
        let fault = fault_of(&s);
        assert!(fault.contains("2 of 2 ranks cannot finish"), "{fault}");
        assert!(fault.contains("rank 0 operation 1 (wait) waits for rank 0 operation 0"), "{fault}");
    }

    #[test]
    fn a_message_that_waits_holds_up_those_behind_it() {
        // Rank 0's first message waits for rank 1, which waits for rank 0's second one.
        let s = build(&[
            &[(receive(1, 1), &[]), (send(2, 1), &[0]), (send(1, 1), &[])],
            &[(receive(0, 1), &[]), (send(0, 1), &[3])],
            &[(receive(0, 1), &[])],
        ]);
        assert!(fault_of(&s).contains("3 of 3 ranks cannot finish"));
    }

    #[test]
    fn bad_dependencies_are_refused() {
        for after in [[1], [2], [9]] {
            let s = build(&[
                &[(receive(1, 1), &[]), (OpKind::Wait, &after), (send(1, 1), &[])],
                &[(receive(0, 1), &[]), (send(0, 1), &[])],
            ]);
            assert!(fault_of(&s).contains("depends on operation"), "{after:?}");
        }
        let s = build(&[
            &[(OpKind::Wait, &[1]), (receive(1, 1), &[]), (send(1, 1), &[])],
            &[(receive(0, 1), &[]), (send(0, 1), &[])],
        ]);
        assert!(check_exchange(&s).is_ok(), "a receive posted later may be waited for");
    }

    #[test]
    fn ranks_out_of_range_and_empty_messages_are_refused() {
        assert!(fault_of(&build(&[&[(send(3, 1), &[])]])).contains("names rank 3 of 1"));
        assert!(fault_of(&build(&[&[(send(1, 0), &[])], &[]])).contains("0 flits"));
    }
}
