//! Where the operations of a rank come from: a schedule (stored or made on the way), or somebody who is asked.

use crate::schedule::{Feed, Operation};
use std::collections::VecDeque;

#[derive(Debug)]
pub(super) enum Source {
    Feed(Feed),
    Asked { given: VecDeque<Operation<'static>>, ended: bool },
}

/// What a rank does next.
pub(super) enum Next<'s> {
    Operation(Operation<'s>),
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
                Some(operation) => Next::Operation(operation),
                None if *ended => Next::End,
                None => Next::Ask,
            },
        }
    }
}
