//! Where the operations of a rank come from: a schedule (stored or made on the way), or a program that drives it.

use super::requests::Task;
use crate::schedule::{Feed, Operation};
use std::collections::VecDeque;

#[derive(Debug)]
pub(super) enum Source {
    Feed(Feed),
    /// What the driving program has supplied, and whether it supplies nothing more.
    Driven {
        supplied: VecDeque<Task>,
        ended: bool,
    },
}

/// What a rank does next.
pub(super) enum Next<'s> {
    Operation(Operation<'s>),
    Task(Task),
    /// The driving program has not supplied it yet.
    Request,
    End,
}

impl Source {
    pub fn driven() -> Self {
        Source::Driven { supplied: VecDeque::new(), ended: false }
    }

    pub fn next(&mut self) -> Next<'_> {
        match self {
            Source::Feed(feed) => feed.next().map_or(Next::End, Next::Operation),
            Source::Driven { supplied, ended } => match supplied.pop_front() {
                Some(task) => Next::Task(task),
                None if *ended => Next::End,
                None => Next::Request,
            },
        }
    }
}
