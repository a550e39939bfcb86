//! A schedule several times in a row, with computation between: the skeleton of a program that computes and
//! communicates in turns.
//!
//! Each time a rank first computes, then carries out its operations. It begins again when all that it has begun is
//! complete; ranks do not wait for each other but through their messages, which match in the order in which they were
//! sent. Steps are counted on.

use super::{After, Feed, Maker, OpId, OpKind, Operation, Operations, Promises, Schedule, Via};

/// How often, and what is between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repeats {
    /// How often, at least 1.
    pub times: u32,
    /// What each rank computes before each time, in the unit of the schedule's times.
    pub compute: u64,
    /// Steps of the schedule.
    pub steps: u32,
}

impl Schedule {
    /// The schedule so often; it must be in flits, and not ask.
    #[must_use]
    pub fn repeated(self, repeats: Repeats) -> Schedule {
        if repeats.times <= 1 && repeats.compute == 0 {
            return self;
        }
        debug_assert!(!self.is_driven());
        let (name, ranks) = (self.name().to_string(), self.ranks());
        Schedule::made(name, ranks, Repeated { inner: self, repeats })
    }
}

#[derive(Debug)]
struct Repeated {
    inner: Schedule,
    repeats: Repeats,
}

impl Maker for Repeated {
    fn operations(&self, rank: u32) -> Operations<'static> {
        let inner = self.inner.clone();
        let mut program = Program { rank, repeats: self.repeats, time: 0, first: 0, next: 0, feed: None, inner };
        Box::new(std::iter::from_fn(move || program.next()))
    }

    fn messages(&self, rank: u32) -> u64 {
        u64::from(self.repeats.times) * self.inner.messages_of(rank)
    }

    fn promises(&self) -> Promises {
        let never_computes = self.repeats.compute == 0 && self.inner.can_be_read_late();
        Promises { never_computes, names_all: self.inner.names_all(), alike: self.inner.is_alike() }
    }
}

/// Where the reading of a rank stands.
struct Program {
    inner: Schedule,
    rank: u32,
    repeats: Repeats,
    /// How often the schedule has begun, and the number of the first operation of this time.
    time: u32,
    first: OpId,
    next: OpId,
    feed: Option<Feed>,
}

impl Program {
    fn next(&mut self) -> Option<Operation<'static>> {
        loop {
            if let Some(op) = self.feed.as_mut().and_then(Feed::next) {
                let after = match op.after {
                    After::Range(range) => After::Range(range.start + self.first..range.end + self.first),
                    After::List(list) => After::List(list.iter().map(|dep| dep + self.first).collect()),
                };
                let step = op.step + (self.time - 1) * self.repeats.steps;
                let operation = Operation { kind: op.kind, via: op.via, step, after };
                self.next += 1;
                return Some(operation);
            }
            if self.time == self.repeats.times {
                return None;
            }
            let begins = self.begin();
            if begins.is_some() {
                return begins;
            }
        }
    }

    /// Begins once more, behind all of the time before.
    fn begin(&mut self) -> Option<Operation<'static>> {
        let after = After::Range(self.first..self.next);
        let kind = match self.repeats.compute {
            0 => OpKind::Wait,
            time => OpKind::Compute { time },
        };
        let needed = self.repeats.compute > 0 || self.time > 0;
        let step = self.time * self.repeats.steps;
        self.time += 1;
        self.next += u32::from(needed);
        self.first = self.next;
        self.feed = Some(self.inner.feed(self.rank));
        needed.then_some(Operation { kind, via: Via::Network, step, after })
    }
}

#[cfg(test)]
mod tests {
    use super::super::ScheduleBuilder;
    use super::*;
    use crate::host::check_complete;

    fn pair() -> Schedule {
        let mut b = ScheduleBuilder::new("pair");
        for other in [1, 0] {
            let came = b.op(OpKind::Receive { from: other, size: 5, tag: 0 }, 0, &[]);
            let sent = b.op(OpKind::Send { to: other, size: 5, tag: 0 }, 1, &[]);
            b.op(OpKind::Wait, 1, &[came, sent]);
            b.end_rank();
        }
        b.build()
    }

    #[test]
    fn each_time_begins_with_a_computation_behind_the_one_before() {
        let made = pair().repeated(Repeats { times: 2, compute: 7, steps: 2 });
        check_complete(&made).unwrap();
        assert_eq!((made.messages_of(0), made.messages().count()), (2, 4));
        let found: Vec<_> = made.operations(0).map(|op| (op.step, op.after.iter().collect::<Vec<_>>())).collect();
        let expected = [
            (0, vec![]),
            (0, vec![]),
            (1, vec![]),
            (1, vec![1, 2]),
            (2, vec![1, 2, 3]),
            (2, vec![]),
            (3, vec![]),
            (3, vec![5, 6]),
        ];
        assert_eq!(found, expected);
        let computes = made.operations(1).filter(|op| op.kind == OpKind::Compute { time: 7 }).count();
        assert_eq!(computes, 2);
    }

    #[test]
    fn without_computation_there_is_a_wait_between() {
        let made = pair().repeated(Repeats { times: 3, compute: 0, steps: 2 });
        let kinds: Vec<_> = made.operations(0).map(|op| op.kind == OpKind::Wait).collect();
        let one = [false, false, true];
        assert_eq!(kinds, [&one[..], &[true], &one, &[true], &one].concat());
        assert!(!pair().repeated(Repeats { times: 1, compute: 0, steps: 2 }).is_made());
    }
}
