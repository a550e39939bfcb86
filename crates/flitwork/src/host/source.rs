//! Where the operations of a rank come from: a schedule (stored or made on the way), or somebody who is asked.

use super::asked::Task;
use crate::schedule::{Feed, Operation};
use std::collections::VecDeque;

#[derive(Debug)]
pub(super) enum Source {
    Feed(Feed),
    Asked { given: VecDeque<Task>, ended: bool },
}

/// What a rank does next.
pub(super) enum Next<'s> {
    Operation(Operation<'s>),
    Task(Task),
    /// Nobody has said so yet.
    Ask,
    End,
}

impl Source {
    pub fn asked() -> Self {
        Source::Asked { given: VecDeque::new(), ended: false }
    }

    pub fn next(&mut self) -> Next<'_> {
        match self {
            Source::Feed(feed) => feed.next().map_or(Next::End, Next::Operation),
            Source::Asked { given, ended } => match given.pop_front() {
                Some(task) => Next::Task(task),
                None if *ended => Next::End,
                None => Next::Ask,
            },
        }
    }
}
