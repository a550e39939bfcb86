use super::*;
use crate::schedule::{ANY, ScheduleBuilder, SizeUnit, TimeUnit};

fn send(to: u32, size: u64) -> OpKind {
    OpKind::Send { to, size, tag: 0 }
}

fn receive(from: u32, size: u64) -> OpKind {
    OpKind::Receive { from, size, tag: 0 }
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
    let s = build(&[&[(receive(1, 3), &[]), (send(1, 4), &[])], &[(receive(0, 4), &[]), (send(0, 3), &[0])]]);
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
    let s = build(&[&[(send(1, 4), &[]), (send(1, 4), &[])], &[(receive(ANY, 4), &[])]]);
    let fault = check_complete(&s).unwrap_err().to_string();
    assert!(fault.contains("rank 0 operation 1 (send to rank 1, tag 0) has no receive"), "{fault}");
}

#[test]
fn an_unmatched_receive_is_named() {
    let s = build(&[&[], &[(receive(0, 4), &[])]]);
    assert!(fault_of(&s).contains("rank 1 operation 0 (receive from rank 0, tag 0) has no send"));
    let s = build(&[&[], &[(receive(ANY, 4), &[])]]);
    assert!(fault_of(&s).contains("rank 1 operation 0 (receive from any rank, tag 0) has no message"));
}

#[test]
fn a_receive_must_have_room_for_its_message() {
    let s = build(&[&[(send(1, 4), &[])], &[(receive(0, 5), &[])]]);
    assert!(check_complete(&s).is_ok());
    let s = build(&[&[(send(1, 6), &[])], &[(receive(0, 5), &[])]]);
    let fault = fault_of(&s);
    assert!(fault.contains("rank 0 operation 0 (send to rank 1, tag 0) is 6 long"), "{fault}");
    assert!(fault.contains("rank 1 operation 0 (receive from rank 0, tag 0) takes 5"), "{fault}");
    let s = build(&[&[(send(1, 6), &[])], &[(receive(ANY, 5), &[])]]);
    assert!(fault_of(&s).contains("a message of 6 flits from rank 0 to rank 1 matches a receive of 5"));
}

#[test]
fn messages_of_one_tag_match_in_order() {
    let s = build(&[&[(send(1, 4), &[]), (send(1, 7), &[])], &[(receive(0, 4), &[]), (receive(0, 7), &[])]]);
    assert!(check_complete(&s).is_ok());
    let s = build(&[&[(send(1, 7), &[]), (send(1, 4), &[])], &[(receive(0, 4), &[]), (receive(0, 7), &[])]]);
    assert!(fault_of(&s).contains("rank 0 operation 0 (send to rank 1, tag 0) is 7 long"));
}

#[test]
fn a_message_to_oneself_and_a_duplicate_are_no_exchange() {
    let s = build(&[&[(send(0, 4), &[]), (receive(0, 4), &[])]]);
    assert!(fault_of(&s).contains("itself"));
    let twice = |tag| OpKind::Send { to: 1, size: 1, tag };
    let take = |tag| OpKind::Receive { from: 0, size: 1, tag };
    let s = build(&[&[(twice(0), &[]), (twice(1), &[])], &[(take(0), &[]), (take(1), &[])]]);
    assert!(fault_of(&s).contains("more than one message to rank 1"));
}

#[test]
fn a_circle_of_waits_is_found() {
    let s = build(&[
        &[(receive(1, 1), &[]), (OpKind::Wait, &[0]), (send(1, 1), &[])],
        &[(receive(0, 1), &[]), (send(0, 1), &[0])],
    ]);
    let fault = fault_of(&s);
    assert!(fault.contains("2 of 2 ranks cannot finish (0, 1)"), "{fault}");
    assert!(fault.contains("rank 0 operation 1 (wait) waits for rank 0 operation 0"), "{fault}");
    assert!(fault.contains("rank 1 operation 1 (send to rank 0, tag 0) waits for rank 1 operation 0"), "{fault}");
}

/// Rank 0's first message waits for rank 1, which waits for rank 0's second one.
#[test]
fn a_message_that_waits_holds_up_those_behind_it_in_program_order_only() {
    let s = build(&[
        &[(receive(1, 1), &[]), (send(2, 1), &[0]), (send(1, 1), &[])],
        &[(receive(0, 1), &[]), (send(0, 1), &[0])],
        &[(receive(0, 1), &[])],
    ]);
    let fault = fault_of(&s);
    assert!(fault.contains("3 of 3 ranks cannot finish"), "{fault}");
    assert!(check_complete_under(&s, SendQueue::AsReady).is_ok());
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
    let later = |kind| build(&[&[(kind, &[1]), (receive(1, 1), &[])], &[(receive(0, 1), &[]), (send(0, 1), &[])]]);
    assert!(check_exchange(&later(send(1, 1))).is_ok(), "a send may wait for a receive that is posted later");
    assert!(fault_of(&later(OpKind::Wait)).contains("is not an earlier operation"), "it would never be posted");
}

#[test]
fn ranks_out_of_range_and_empty_messages_are_refused() {
    assert!(fault_of(&build(&[&[(send(3, 1), &[])]])).contains("names rank 3 of 1"));
    assert!(fault_of(&build(&[&[(send(1, 0), &[])], &[]])).contains("0 flits"));
    let nothing = OpKind::Send { to: 0, size: 1, tag: ANY };
    assert!(fault_of(&build(&[&[(nothing, &[])]])).contains("has no tag"));
}

#[test]
fn a_message_of_0_bytes_is_a_message() {
    let mut b = ScheduleBuilder::new("bytes").in_units(SizeUnit::Bytes, TimeUnit::Ns);
    b.op(send(1, 0), 0, &[]);
    b.end_rank();
    b.op(receive(0, 0), 0, &[]);
    b.end_rank();
    assert_eq!(check_complete(&b.build()).unwrap().messages, 1);
}

#[test]
fn computing_takes_time_but_nothing_else() {
    let s = build(&[
        &[(OpKind::Compute { time: 70 }, &[]), (send(1, 1), &[0]), (OpKind::Compute { time: 0 }, &[])],
        &[(receive(0, 1), &[]), (OpKind::Compute { time: 5 }, &[0])],
    ]);
    assert!(check_complete(&s).is_ok());
}

fn pairwise(ranks: u32, sync: crate::collective::Sync) -> Schedule {
    let options = crate::collective::AllToAllOptions { message_flits: 1, sync, nic_ports: 4 };
    crate::collective::all_to_all("a2a", &crate::topology::Grid::mesh(&[ranks]), &options).unwrap()
}

/// What is in memory of an all-to-all does not grow with the number of its messages.
#[test]
fn few_operations_of_an_all_to_all_are_in_memory() {
    use crate::collective::Sync;
    for ranks in [20, 80] {
        for sync in [Sync::Async, Sync::Local, Sync::LocalSliding] {
            let most = run(&pairwise(ranks, sync), SendQueue::ProgramOrder).unwrap();
            assert!(most <= 12 * ranks as usize, "{sync:?}: {most} operations of {ranks} ranks");
        }
    }
}

/// 33.5 million operations in less than 500 MB. Full lane only: it takes a minute.
#[test]
fn an_all_to_all_of_4096_ranks_needs_little_memory() {
    if !std::env::var("FLITWORK_FULL").is_ok_and(|v| v == "1") {
        return;
    }
    let s = pairwise(4096, crate::collective::Sync::Async);
    assert_eq!(check_exchange(&s).unwrap().messages, 4096 * 4095);
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak_kb: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak_kb < 500_000, "{peak_kb} kB");
}
