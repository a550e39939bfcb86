use super::*;
use crate::schedule::{ANY, Operation, ScheduleBuilder, Via};

fn send(to: u32) -> OpKind {
    OpKind::Send { to, size: 5, tag: 0 }
}

fn receive(from: u32) -> OpKind {
    OpKind::Receive { from, size: 5, tag: 0 }
}

fn hosts(schedule: &Schedule) -> Hosts {
    Hosts::new(schedule, &Placement::one_each(schedule.ranks()), SendQueue::ProgramOrder).unwrap()
}

/// A message arrives at the beginning of a cycle, where it is not received before all of the cycle have arrived; the
/// terminals woken.
fn land(p: &mut Hosts, message: Message, now: u64) -> Vec<u32> {
    assert_eq!(p.arrived(message.id, 5, now), None);
    let mut woken = Vec::new();
    p.begin_cycle(now, |terminal| woken.push(terminal));
    woken
}

/// Rank 0 sends, computes, then sends again after an answer; rank 1 answers.
fn ping_pong() -> Schedule {
    let mut b = ScheduleBuilder::new("ping-pong");
    let answer = b.op(receive(1), 0, &[]);
    b.op(send(1), 0, &[]);
    b.op(OpKind::Compute { time: 10 }, 0, &[]);
    b.op(OpKind::Wait, 0, &[answer]);
    b.op(OpKind::Send { to: 1, size: 5, tag: 1 }, 1, &[]);
    b.end_rank();
    let ping = b.op(receive(0), 0, &[]);
    b.op(OpKind::Receive { from: 0, size: 5, tag: 1 }, 1, &[]);
    b.op(send(0), 0, &[ping]);
    b.end_rank();
    b.build()
}

#[test]
fn a_program_waits_for_messages_and_time() {
    let mut p = hosts(&ping_pong());
    (0..2).for_each(|r| p.advance(r, 0));
    let first = p.take(0).unwrap();
    assert_eq!((first.to, p.take(0), p.take(1)), (1, None, None));
    assert_eq!(p.arrived(first.id, 3, 1), None, "two flits are missing");
    assert_eq!(p.arrived(first.id, 2, 2), Some(1));
    let answer = p.take(1).unwrap();
    p.arrived(answer.id, 5, 4);
    p.advance(0, 4);
    assert_eq!(p.take(0), None, "still computing");
    p.begin_cycle(10, |_| {});
    p.advance(0, 10);
    let last = p.take(0).unwrap();
    assert_eq!((last.number, p.messages()), (1, (3, 1)));
    p.arrived(last.id, 5, 20);
    p.advance(1, 20);
    assert!(p.is_complete());
}

#[test]
fn a_send_comes_when_all_it_depends_on_is_complete() {
    let mut p = hosts(&ping_pong());
    p.note_ready_cycles();
    (0..2).for_each(|r| p.advance(r, 3));
    assert_eq!((p.next_ready(0), p.next_ready(1)), (Some(3), None));
    let ping = p.take(0).unwrap();
    assert!(!p.is_stuck(), "rank 0 computes");
    p.arrived(ping.id, 5, 8);
    assert_eq!(p.next_ready(1), Some(8));
    p.begin_cycle(13, |_| {});
    p.advance(0, 13);
    let answer = p.take(1).unwrap();
    assert!(p.is_stuck(), "all wait, and what is under way is not for the hosts to know");
    assert!(p.why_stuck().contains("rank 0 operation 3 (wait) waits for rank 0 operation 0"), "{}", p.why_stuck());
    p.arrived(answer.id, 5, 15);
    assert!(!p.is_stuck());
    p.advance(0, 15);
    assert_eq!(p.next_ready(0), Some(15));
}

#[test]
fn a_send_without_a_receive_is_an_error() {
    let mut b = ScheduleBuilder::new("lost");
    b.op(send(1), 0, &[]);
    b.end_rank();
    b.end_rank();
    let placement = Placement::one_each(2);
    assert!(Hosts::new(&b.build(), &placement, SendQueue::ProgramOrder).is_err());
}

/// Two messages of one tag: the second, though it arrives first, is not received before the first.
#[test]
fn a_message_does_not_overtake_another_of_its_tag() {
    let mut b = ScheduleBuilder::new("overtaking");
    b.op(send(1), 0, &[]);
    b.op(OpKind::Send { to: 1, size: 5, tag: 9 }, 0, &[]);
    b.op(send(1), 0, &[]);
    b.end_rank();
    let [first, other, second] = [0, 9, 0].map(|tag| b.op(OpKind::Receive { from: 0, size: 5, tag }, 0, &[]));
    for after in [first, other, second] {
        b.op(send(2), 0, &[after]);
    }
    b.end_rank();
    (0..3).for_each(|_| {
        b.op(receive(1), 0, &[]);
    });
    b.end_rank();
    let mut p = Hosts::new(&b.build(), &Placement::one_each(3), SendQueue::AsReady).unwrap();
    (0..3).for_each(|r| p.advance(r, 0));
    let taken: Vec<Message> = std::iter::from_fn(|| p.take(0)).collect();
    assert_eq!(p.arrived(taken[2].id, 5, 10), None, "the first one is still under way");
    assert_eq!(p.arrived(taken[1].id, 5, 11), Some(1), "another tag is another matter");
    assert_eq!(p.take(1).map(|m| m.number), Some(1));
    assert_eq!(p.arrived(taken[0].id, 5, 12), Some(1));
    assert_eq!((p.take(1).map(|m| m.number), p.take(1).map(|m| m.number)), (Some(0), Some(2)));
}

#[test]
fn receives_that_leave_their_sender_open_take_what_comes_first() {
    let mut b = ScheduleBuilder::new("any");
    for _ in 0..2 {
        b.op(send(2), 0, &[]);
        b.end_rank();
    }
    b.op(OpKind::Compute { time: 50 }, 0, &[]);
    let any = b.op(OpKind::Receive { from: ANY, size: 5, tag: ANY }, 0, &[]);
    let zero = b.op(receive(0), 0, &[]);
    b.op(OpKind::Wait, 0, &[any]);
    b.op(OpKind::Wait, 0, &[zero]);
    b.end_rank();
    let mut p = hosts(&b.build());
    (0..3).for_each(|r| p.advance(r, 0));
    let [zero, one] = [p.take(0).unwrap(), p.take(1).unwrap()];
    p.arrived(one.id, 5, 7);
    p.begin_cycle(50, |_| {});
    p.advance(2, 50);
    assert!(!p.is_complete(), "the message of rank 0 is missing");
    assert_eq!(land(&mut p, zero, 60), [2]);
    p.advance(2, 60);
    assert!(p.is_complete());
}

#[test]
fn ranks_of_one_terminal_take_turns() {
    let mut b = ScheduleBuilder::new("shared");
    for rank in 0..4u32 {
        for tag in 0..2 {
            b.op(OpKind::Send { to: rank ^ 1, size: u64::from(rank) + 1, tag }, 0, &[]);
            b.op(OpKind::Receive { from: rank ^ 1, size: 9, tag }, 0, &[]);
        }
        b.end_rank();
    }
    let placement = Placement::new(&crate::schedule::PlacementRule::Block, 4, 2, 2).unwrap();
    let mut p = Hosts::new(&b.build(), &placement, SendQueue::ProgramOrder).unwrap();
    (0..2).for_each(|t| p.advance(t, 0));
    let taken: Vec<(u32, u64, u32)> = std::iter::from_fn(|| p.take(1)).map(|m| (m.to, m.flits, m.number)).collect();
    assert_eq!(taken, [(1, 3, 0), (1, 4, 0), (1, 3, 1), (1, 4, 1)]);
    assert!(p.has_unsent(0) && !p.has_unsent(1));
}

/// Two ranks that a program drives.
#[test]
fn ranks_ask_what_to_do_next() {
    let operation =
        |kind, after| Operation { kind, via: Via::Network, step: 0, after: crate::schedule::After::Range(after) };
    let mut p = hosts(&Schedule::driven("driven", 2));
    (0..2).for_each(|r| p.advance(r, 0));
    assert_eq!((requests(&mut p), requests(&mut p), p.is_stuck()), (vec![0, 1], vec![], false));
    p.supply(0, [operation(send(1), 0..0)]);
    p.supply(1, [operation(receive(0), 0..0), operation(OpKind::Wait, 0..1)]);
    (0..2).for_each(|r| p.advance(r, 1));
    assert_eq!(requests(&mut p), [0], "rank 1 waits");
    p.end(0);
    p.advance(0, 2);
    let message = p.take(0).unwrap();
    assert_eq!(land(&mut p, message, 9), [1]);
    p.advance(1, 9);
    assert_eq!((requests(&mut p), p.is_complete()), (vec![1], false));
    p.end(1);
    p.advance(1, 9);
    assert!(p.is_complete());
    assert_eq!(p.messages(), (1, 0));
}

fn requests(hosts: &mut Hosts) -> Vec<u32> {
    let mut requests = Vec::new();
    hosts.take_requests(&mut requests);
    requests
}
